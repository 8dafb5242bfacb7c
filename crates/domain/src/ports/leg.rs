//! Legs of calls: one party on a telephone, whatever carries it. SIP trunks implement this port
//! (`telephony::sip`), and so does the sandbox (`telephony::loopback`); a carrier with an HTTP API or a browser
//! phone would be further implementations.

use std::sync::Arc;
use std::time::Duration;

use super::Answer;
use crate::call::Fact;
use crate::phone::Phone;

/// Samples of one tick: 20 ms of 16-bit linear PCM, mono, 8000 Hz.
pub const FRAME: usize = 160;

/// Time of a key press with the pause after it, milliseconds.
pub const KEY_MS: u64 = 200;
/// Time of a pause between keys, milliseconds.
pub const KEY_PAUSE_MS: u64 = 500;

/// Audio of one tick.
pub type Frame = [i16; FRAME];

/// One tick of a leg's audio, 20 ms.
#[derive(Debug, Clone, Copy)]
pub struct Tick<'a> {
    /// Received audio; none when nothing arrived for this tick (packet loss, jitter, hold, silence).
    pub heard: Option<&'a Frame>,
    /// Sent audio; none when the playout queue was empty.
    pub said: Option<&'a Frame>,
    /// Scheduling delay of the tick, milliseconds.
    pub late_ms: u32,
}

/// Receives a leg's audio, on the media thread: it must not block, and should hardly allocate.
pub trait Ear: Send {
    /// Called for every tick from the start of the media to its end, in order.
    fn tick(&mut self, tick: Tick<'_>);

    /// A DTMF key was pressed: `0`-`9`, `*`, `#`, `A`-`D`. Called once a press, however many packets carried it.
    fn digit(&mut self, key: char);

    /// No media has arrived for this long, in milliseconds; called once a second from the fifth second on, unless
    /// the leg is on hold.
    fn starved(&mut self, ms: u32);

    /// The media has ended: no further tick follows.
    fn closed(&mut self) {}
}

/// The playout queue of a leg. Audio is 16-bit linear PCM, mono, 8000 Hz. No method may block.
pub trait Mouth: Send + Sync {
    /// Queues samples for playout.
    fn play(&self, samples: &[i16]);

    /// Empties the queue and returns how many samples were dropped.
    fn clear(&self) -> usize;

    /// Queued audio that is not sent yet, milliseconds.
    fn queued_ms(&self) -> u32;

    /// Presses DTMF keys, in order: `0`-`9`, `*`, `#`, `A`-`D`, each for [`KEY_MS`] with its pause; `w` and `,` are a pause of
    /// [`KEY_PAUSE_MS`]. Queued audio waits meanwhile. False when the leg takes none: its media has ended, it cannot send
    /// keys, or too many wait.
    #[must_use]
    fn send_digits(&self, keys: &str) -> bool;
}

/// The media of a leg: its playout queue, until one of the two sides closes it. The media ends when the leg does, or
/// when the last reference is dropped.
pub trait LegMedia: Mouth {
    /// Whether the media has ended.
    fn is_closed(&self) -> bool;
}

/// A leg to dial.
#[derive(Debug, Clone)]
pub struct LegOrder {
    /// The caller's id of this leg. The carrier's id of the call begins with it, so that the call can be found in the
    /// carrier's records.
    pub id: String,
    /// The number to dial.
    pub to: Phone,
    /// The caller id, E.164; empty for the carrier's own.
    pub from: String,
    /// The carrier to dial over; `None` for the first one. No other carrier is tried.
    pub carrier: Option<String>,
    /// Unanswered, the dial is cancelled after this; `None` for the configured timeout.
    pub ring_timeout: Option<Duration>,
}

/// Why a leg was not dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialFailed {
    /// The carrier refused or is unreachable, before any phone rang (docs/contract/telephony.md#answers-of-a-carrier).
    ProviderErrorBeforeRing {
        /// The last final status, if there was one.
        status: Option<u16>,
        /// For logs: each trunk that was tried, and why it failed.
        reason: String,
    },
    /// The dial was sent and no response arrived: whether a phone rings is unknown. Nothing else was tried, and a late
    /// answer is hung up on.
    Uncertain { reason: String },
}

/// What happens on a leg. The last event is [`LegEvent::Ended`], always and once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LegEvent {
    /// The callee's phone rings; at most once.
    Ringing,
    /// The callee picked up, and there is media.
    Answered,
    /// The peer has put this side on hold (`true`), or resumed.
    Held(bool),
    /// Outcome of a referral: the third party answered, or the final status (408 after a timeout).
    TransferDone(Result<(), u16>),
    /// The leg is over.
    Ended(LegEnd),
}

/// Which side ended a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    Us,
    /// The peer: it hung up, cancelled, or refused the dial.
    Them,
    /// A timeout: nobody picked up, or the peer has vanished.
    Timeout,
    /// The connection broke.
    Transport,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegEnd {
    /// The final status of the dial, as a SIP status code, if there was one; 200 for a call that was answered.
    pub status: Option<u16>,
    /// The Q.850 cause, as received.
    pub q850: Option<u16>,
    /// Which side ended it.
    pub by: EndedBy,
    /// What it means for the call. [`Fact::AgentFailed`]: the callee picked up, but no media could be agreed on. A
    /// hang-up of this side is `api_hangup`; the owner of the leg knows the reason.
    pub fact: Fact,
}

/// Controls a leg. Nothing has an effect once the leg is over. When the last reference is dropped, the leg is hung up.
pub trait LegControl: Send + Sync {
    /// The carrier's id of the call.
    fn provider_call(&self) -> &str;

    /// Hangs up: cancels the dial before the answer, ends the call after it. Returns once the request is sent, or
    /// queued until the carrier's first response; [`LegEvent::Ended`] follows.
    fn hang_up(&self) -> Answer<'_, ()>;

    /// Refers the peer to a number or address (blind transfer). [`LegEvent::TransferDone`] follows; the leg stays until
    /// one side hangs up.
    fn refer<'a>(&'a self, to: &'a str) -> Answer<'a, ()>;

    /// Starts the media: `ear` receives every tick from here on. `None` before there is media, after the end, and the
    /// second time.
    fn connect(&self, ear: Box<dyn Ear>) -> Option<Arc<dyn LegMedia>>;

    /// The media, while it runs.
    fn media(&self) -> Option<Arc<dyn LegMedia>>;
}

/// Events of a leg, in order.
pub trait LegEvents: Send + Sync {
    /// The next event; `None` after the last one. Dropping the future loses no event.
    fn next(&mut self) -> Answer<'_, Option<LegEvent>>;
}

/// A leg with its events.
pub struct Leg {
    /// Controls it; cheap to clone.
    pub control: Arc<dyn LegControl>,
    pub events: Box<dyn LegEvents>,
}

impl std::fmt::Debug for Leg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leg").field("provider_call", &self.control.provider_call()).finish_non_exhaustive()
    }
}

/// Why an incoming call could not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFailed {
    /// The caller has hung up.
    Gone,
    /// There is no common codec; the caller was sent 488.
    NoMedia,
    /// The caller never acknowledged the answer; the call is over.
    NotAcknowledged,
}

/// An incoming call that is not answered yet. Dropped without a decision, it is declined with 480.
pub trait IncomingLeg: Send {
    /// The caller's number as the carrier writes it; empty if withheld.
    fn from(&self) -> &str;

    /// The called number as the carrier writes it.
    fn to(&self) -> &str;

    /// The carrier's id of the call.
    fn provider_call(&self) -> &str;

    /// The carrier that it came from, by its name in the settings.
    fn carrier(&self) -> &str;

    /// Sends ringback (180).
    fn ring(&self);

    /// Waits until the caller gives up before the answer.
    fn cancelled(&mut self) -> Answer<'_, ()>;

    /// Declines it with a final SIP status from 300 to 699; any other counts as 480.
    fn reject(self: Box<Self>, status: u16);

    /// Answers it. Returns once the caller has acknowledged the answer; media starts then.
    fn answer(self: Box<Self>, ear: Box<dyn Ear>) -> Answer<'static, Result<Leg, AnswerFailed>>;

    /// Sends no response at all, as a network that loses the call.
    fn ignore(self: Box<Self>);
}

pub trait IncomingLegs: Send + Sync {
    /// A carrier delivers a call. Called on the task that reads signalling: hand the call over and return.
    fn incoming(&self, call: Box<dyn IncomingLeg>);
}

/// Dials legs over the carriers of this node. Incoming calls reach the [`IncomingLegs`] that it was opened with.
pub trait LegGateway: Send + Sync {
    /// Names of the carriers that it dials over, as in the settings. The first one is for orders that name none.
    fn carriers(&self) -> Vec<String>;

    /// Dials, and returns when the carrier took the call. Dropping the future hangs up.
    ///
    /// # Errors
    /// [`DialFailed`]
    fn dial(&self, order: LegOrder) -> Answer<'_, Result<Leg, DialFailed>>;

    /// While draining, incoming calls are declined, so that the carrier delivers them to another node. Live calls and
    /// outgoing dials go on.
    fn drain(&self, draining: bool);

    /// Hangs up every leg and closes the gateway, within seconds. May be called again.
    fn stop(&self) -> Answer<'_, ()>;
}

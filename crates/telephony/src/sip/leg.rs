//! Handle and events of a leg.

use std::sync::Arc;

use domain::ports::{AnswerFailed, Ear, LegEnd};
use tokio::sync::{mpsc, oneshot};

use super::sound::{Connection, Sound};
use crate::media::Line;
use crate::settings::Trunk;

/// What happens on a leg. The last one is [`LegEvent::Ended`], always and once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LegEvent {
    /// The callee's phone rings (a 18x; at most once).
    Ringing,
    /// Sound flows before the answer (a 183 with SDP: an announcement or the ringing tone). Nobody has picked
    /// up, nothing is billed.
    EarlyMedia(Connection),
    /// Somebody picked up. Comes only with sound: a 2xx without usable SDP ends the leg instead.
    Answered(Connection),
    /// The other side has put us on hold (true), or taken us back.
    Held(bool),
    /// A key that came by SIP INFO. Keys in the sound come through [`Ear::digit`].
    Digit(char),
    /// How the transfer goes that the other side was asked for: a status below 200.
    TransferProgress(u16),
    /// The transfer is over: the third party answered, or the final status (408 if no news came).
    TransferDone(Result<(), u16>),
    /// The leg is over.
    Ended(LegEnd),
}

/// A leg with its events.
#[derive(Debug)]
pub struct Leg {
    /// What can be done to it. When the last clone is dropped, the leg is hung up.
    pub control: LegControl,
    /// What happens on it.
    pub events: mpsc::UnboundedReceiver<LegEvent>,
}

/// Controls a leg. Nothing has an effect once the leg is over.
#[derive(Clone)]
pub struct LegControl(Arc<Shared>);

struct Shared {
    call_id: String,
    trunk: String,
    carrier: String,
    sound: Arc<Sound>,
    commands: mpsc::UnboundedSender<Command>,
}

impl std::fmt::Debug for LegControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LegControl").field("call_id", &self.0.call_id).finish_non_exhaustive()
    }
}

/// What the owner of a leg asks of its task.
pub(super) enum Command {
    /// Answered when the CANCEL or BYE is on its way.
    HangUp(oneshot::Sender<()>),
    Refer(String),
    Hold(bool),
    /// For incoming calls before the answer.
    Decide(Decision),
}

/// What becomes of an incoming call.
pub(super) enum Decision {
    Ring,
    Answer(oneshot::Sender<Result<(), AnswerFailed>>),
    Reject(u16),
    Ignore,
}

impl LegControl {
    pub(super) fn new(
        call_id: String,
        trunk: &Trunk,
        sound: Arc<Sound>,
    ) -> (Self, mpsc::UnboundedReceiver<Command>) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let (trunk, carrier) = (trunk.name.clone(), trunk.carrier.clone());
        (Self(Arc::new(Shared { call_id, trunk, carrier, sound, commands })), receiver)
    }

    /// The Call-ID, which the carrier knows the call by.
    pub fn provider_call(&self) -> &str {
        &self.0.call_id
    }

    /// The trunk that carries it.
    pub fn trunk(&self) -> &str {
        &self.0.trunk
    }

    /// The carrier of that trunk.
    pub fn carrier(&self) -> &str {
        &self.0.carrier
    }

    /// Ends the leg: CANCEL before the answer, BYE after it. Returns when that is on its way (or
    /// delayed until the trunk has answered for the first time, as RFC 3261 section 9.1 demands); [`LegEvent::Ended`] tells when
    /// it is over. An answer that crosses the CANCEL is acknowledged and ended.
    pub async fn hang_up(&self) {
        let (done, sent) = oneshot::channel();
        if self.0.commands.send(Command::HangUp(done)).is_ok() {
            drop(sent.await);
        }
    }

    /// Asks the other side to call `to` instead (REFER): a number, or a SIP address.
    /// [`LegEvent::TransferDone`] tells how it went; the leg stays until one side hangs up.
    pub async fn refer(&self, to: &str) {
        drop(self.0.commands.send(Command::Refer(to.to_owned())));
    }

    /// Puts the other side on hold, or takes it back (a re-INVITE). Our sound stops at once.
    pub async fn hold(&self, hold: bool) {
        drop(self.0.commands.send(Command::Hold(hold)));
    }

    /// Starts the sound: `ear` hears every tick from here on. `None` before the answer or early media, after
    /// the end, and the second time.
    pub fn connect(&self, ear: Box<dyn Ear>) -> Option<Line> {
        self.0.sound.connect(ear)
    }

    /// The line, while there is sound.
    pub fn line(&self) -> Option<Line> {
        self.0.sound.line()
    }

    pub(super) fn decide(&self, decision: Decision) -> bool {
        self.0.commands.send(Command::Decide(decision)).is_ok()
    }
}

/// What became of a try on one trunk.
pub(super) enum First {
    Taken,
    Refused { status: Option<u16>, reason: String, after: Option<u64> },
    Uncertain,
}

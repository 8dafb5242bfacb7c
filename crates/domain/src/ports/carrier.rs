//! Placing calls.

use super::Answer;
use crate::call::{DialError, HangupRequest, Network, refusal};
use crate::ids::{Call, Id, ProviderCall};
use crate::phone::Phone;
use crate::tenant::Tenant;

/// A call to be dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialOrder {
    /// The workspace that the call belongs to.
    pub workspace: Tenant,
    /// The call's id. A carrier that is asked twice with the same id dials once.
    pub call: Id<Call>,
    pub to: Phone,
    /// The caller's number, E.164.
    pub from: String,
    /// The carrier that this number goes out on, by its name in the settings; `None` for the first one.
    pub carrier: Option<String>,
    /// The simulated network that plays the phone, as stored with the call; `None` for a real line.
    pub network: Option<Network>,
}

/// What a carrier knows about a dial whose answer was lost, after a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialStatus {
    /// It accepted the call, under this id.
    Taken(String),
    /// This node is still asking it, and will store its answer.
    Unheard,
    /// It does not know.
    Unknown,
    /// This node is asking it still, and will store what it says.
    OnItsWay,
}

/// A hang-up failed; the call is still live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HangUpFailed;

/// Places calls. What happens to a call after [`Carrier::dial`] is reported as [`crate::call::Fact`]s, but
/// not before [`Carrier::settled`].
pub trait Carrier: Send + Sync {
    /// Whether its calls are simulated: the magic numbers apply (docs/contract/sandbox.md#magic-numbers).
    fn simulated(&self) -> bool {
        false
    }

    /// The simulated network that plays a call to this number, unless the call takes a line. The service
    /// itself then plays what the phone does.
    fn network(&self, to: Phone) -> Option<Network> {
        let _ = to;
        None
    }

    /// Whether a call to this number takes a line of [`Carrier::network`] when one is free.
    fn takes_line(&self, to: Phone) -> bool {
        let _ = to;
        false
    }

    /// Reserves a line of [`Carrier::network`] for a call that is being stored. Returns whether one was free. An unused
    /// reservation is released after a while.
    fn reserve_line(&self) -> bool {
        false
    }

    /// How long a node's lease of a call on a real line lasts, in milliseconds. When it expires, the node has
    /// died, and the call with it. `None` when calls need no lease.
    fn lease(&self) -> Option<i64> {
        None
    }

    /// Starts a dial and returns the carrier's id for it. Not called again for the same order unless the
    /// carrier said [`DialStatus::Unheard`].
    fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>>;

    /// What happened to a dial whose answer was lost.
    fn ask(&self, order: DialOrder) -> Answer<'_, DialStatus>;

    /// The outcome of a dial is stored, so facts about the call may be reported now. If it is not `kept`, the
    /// call has been ended meanwhile and the line must be dropped.
    fn settled(&self, call: Id<Call>, kept: bool) {
        let _ = (call, kept);
    }

    /// Ends a call that rings or is connected. The end is reported as a fact. A call on another node is ended by that
    /// node, which finds the hang-up request in the store.
    fn hang_up(&self, provider_call: &str) -> Answer<'_, Result<(), HangUpFailed>>;

    /// Ends a call on a real line as requested. Every node is notified, repeatedly until the call is over; the node
    /// that holds the line ends it.
    fn carry_out(&self, call: Id<Call>, wish: HangupRequest) {
        let _ = (call, wish);
    }
}

/// The carrier of a simulated network. It accepts every call except those to magic numbers that refuse.
#[derive(Debug, Clone, Copy)]
pub struct Scripted(pub Network);

impl Scripted {
    fn look(&self, order: &DialOrder) -> Result<String, DialError> {
        match refusal(self.0, order.to) {
            Some(error) => Err(error),
            None => Ok(Id::<ProviderCall>::from_bits(order.call.bits()).to_string()),
        }
    }
}

impl Carrier for Scripted {
    fn simulated(&self) -> bool {
        true
    }

    fn network(&self, _: Phone) -> Option<Network> {
        Some(self.0)
    }

    fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>> {
        Box::pin(std::future::ready(self.look(&order)))
    }

    fn ask(&self, order: DialOrder) -> Answer<'_, DialStatus> {
        let standing = match self.look(&order) {
            Ok(provider_call) => DialStatus::Taken(provider_call),
            Err(DialError::ProviderErrorBeforeRing) => DialStatus::Unheard,
            Err(DialError::Uncertain) => DialStatus::Unknown,
        };
        Box::pin(std::future::ready(standing))
    }

    fn hang_up(&self, _: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

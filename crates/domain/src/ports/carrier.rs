//! Who places calls.

use super::Answer;
use crate::call::{Network, Wish, refusal};
use crate::ids::{Call, Id, ProviderCall};
use crate::phone::Phone;
use crate::tenant::Tenant;

/// A call to be dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialOrder {
    /// Whose call it is.
    pub workspace: Tenant,
    /// The call's id; a carrier that is asked twice for one id dials once.
    pub call: Id<Call>,
    /// Whom to ring.
    pub to: Phone,
    /// The number that is shown, E.164.
    pub from: String,
    /// The table that plays the phone, as the call was written down; `None` for a real line.
    pub network: Option<Network>,
}

/// Why a dial did not come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialError {
    /// The carrier refused before any ring: nobody was called.
    ProviderErrorBeforeRing,
    /// It cannot be known whether a dial went out.
    Uncertain,
}

/// What a carrier knows of a dial whose answer was lost, after a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It took the call under this id of its own.
    Taken(String),
    /// It never heard of it.
    Unheard,
    /// It cannot tell.
    Unknown,
}

/// A hang-up was not carried out; the call is still live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HangUpFailed;

/// Who places calls. What becomes of a call after [`Carrier::dial`] is reported as [`crate::call::Fact`]s,
/// but not before [`Carrier::settled`].
pub trait Carrier: Send + Sync {
    /// Whether it rings nobody: the magic numbers hold (docs/contract/sandbox.md#magic-numbers).
    fn simulated(&self) -> bool {
        false
    }

    /// The table that plays a call to this number, unless the call takes a line; then the store itself plays
    /// what the phone does.
    fn network(&self, to: Phone) -> Option<Network> {
        let _ = to;
        None
    }

    /// Whether a call to this number takes a line of [`Carrier::network`] when one is free.
    fn takes_line(&self, to: Phone) -> bool {
        let _ = to;
        false
    }

    /// Reserves a line of [`Carrier::network`] for a call that is being written down; whether one was free. A
    /// reservation that no call takes up is given back after a while.
    fn reserve_line(&self) -> bool {
        false
    }

    /// For how long a call on a real line counts as held after the node that holds it last said so, in
    /// milliseconds. After that the node has died and the call with it. `None` when nobody says so.
    fn lease(&self) -> Option<i64> {
        None
    }

    /// Starts a dial and gives the carrier's id of it. Never called twice for one order unless the carrier
    /// said [`Standing::Unheard`].
    fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>>;

    /// What became of a dial whose answer was lost.
    fn ask(&self, order: DialOrder) -> Answer<'_, Standing>;

    /// The outcome of a dial is stored: what becomes of the call may be reported now. When it is not `kept`,
    /// somebody else has ended the call meanwhile and the line is to be dropped.
    fn settled(&self, call: Id<Call>, kept: bool) {
        let _ = (call, kept);
    }

    /// Ends a call that rings or is connected. Its end is reported as a fact. A call that another node holds
    /// is ended by that node, which finds the wish in the store.
    fn hang_up(&self, provider_call: &str) -> Answer<'_, Result<(), HangUpFailed>>;

    /// Somebody wants a call on a real line ended. Every node is told, and again until the call is over; the
    /// one that holds it ends it.
    fn carry_out(&self, call: Id<Call>, wish: Wish) {
        let _ = (call, wish);
    }
}

/// The carrier of a network that is a table: it takes every call but those to magic numbers that refuse.
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

    fn ask(&self, order: DialOrder) -> Answer<'_, Standing> {
        let standing = match self.look(&order) {
            Ok(provider_call) => Standing::Taken(provider_call),
            Err(DialError::ProviderErrorBeforeRing) => Standing::Unheard,
            Err(DialError::Uncertain) => Standing::Unknown,
        };
        Box::pin(std::future::ready(standing))
    }

    fn hang_up(&self, _: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

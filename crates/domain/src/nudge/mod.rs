//! A nudge: one on-demand call to one number, with its own states and a single final result
//! (docs/contract/nudges.md).
//!
//! [`admit`] decides the first state of a nudge, [`step`] the effect of every later event. Both only decide:
//! the caller stores the [`Nudge`] if its version is unchanged, together with the webhook events among the
//! [`Action`]s, and performs the other actions after the commit.

mod admit;
mod codes;
mod retry;
mod step;
#[cfg(test)]
mod tests;
mod variables;

pub use admit::{Admitted, MAX_LIFE, Refused, Request, SKEW, admit};
pub use codes::{EndCause, OutsideWindow, Refusal, ResultCode, Status, StatusReason};
pub use retry::{Retry, RetryError, RetryOn};
pub use step::{BALANCE_RECHECK, CHECKS, Event, Transition, step};
pub use variables::{
    InvalidVariable, MAX_COUNT as MAX_VARIABLES, MAX_TOTAL as MAX_VARIABLES_BYTES, accept_variables,
};

use crate::compliance::Gate;
pub use crate::due_dial::{
    DueFacts, EventOutcome, LINES_RECHECK, PROVIDER_RECHECK, PlacementFailure, WhyIgnored,
};
use crate::time::{HOUR, Timestamp};

closed_sets::words! {
    /// How far the dial of the current attempt has got.
    pub enum Flight {
        /// No attempt is being dialled.
        None = "none",
        /// Set before the dial: the carrier is being asked, or was being asked when the process died.
        Placing = "placing",
        /// The carrier accepted the call; the phone may be ringing.
        Ringing = "ringing",
    }
}

/// The hold that clients were last notified of. It decides whether the next one needs a `nudge.scheduled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Announced {
    /// Its `statusReason`; `None` for a future `scheduledAt`.
    pub reason: Option<StatusReason>,
    /// Its `nextAttemptAt`.
    pub at: Timestamp,
}

/// The state of a nudge, for the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nudge {
    /// Bits of its id; they spread the releases of held nudges.
    pub key: u128,
    pub status: Status,
    /// Set when finished, and then never changed.
    pub result: Option<ResultCode>,
    /// Why it is held or how it ended.
    pub status_reason: Option<StatusReason>,
    /// The gate that refused it.
    pub block_reason: Option<Gate>,
    /// How far the current dial has got. While `status` is `queued`, this distinguishes waiting from ringing.
    pub flight: Flight,
    /// Number of dials. Holds, and dials that the provider refused before the phone rang, do not count.
    pub attempts: u8,
    /// When it is due next; `None` while a dial is in flight and once finished.
    pub next_attempt_at: Option<Timestamp>,
    /// It is not dialled after this.
    pub expires_at: Timestamp,
    /// As the client requested.
    pub scheduled_at: Option<Timestamp>,
    /// What to do when the window is closed.
    pub outside_window: OutsideWindow,
    /// When an unanswered dial is repeated.
    pub retry: Retry,
    /// How the last dial ended, while another one is due.
    pub last_result: Option<ResultCode>,
    /// The hold that clients know about.
    pub announced: Option<Announced>,
    /// The callee asked not to be called; the result at the end of the call is `opted_out`.
    pub opted_out: bool,
    /// The person was erased: no further dial, and events show `[erased]`.
    pub erased: bool,
    /// Whether `callId` shows the last attempt's call (docs/contract/nudges.md#states).
    pub shows_call: bool,
    pub finished_at: Option<Timestamp>,
}

impl Nudge {
    /// Whether a dial has ever gone out. Then the result is never `expired`.
    pub fn ever_dialled(&self) -> bool {
        self.attempts > 0
    }

    /// Whether it waits, and so can be cancelled: queued without a dial in flight, or scheduled.
    pub fn is_pending(&self) -> bool {
        match self.status {
            Status::Queued => self.flight == Flight::None,
            Status::Scheduled => true,
            Status::Dialing | Status::InProgress | Status::Finished => false,
        }
    }

    /// Holds it until `at`. The actions include an event for clients when a hold starts, when its reason
    /// changes, or when its time has moved by more than an hour from the time that they know
    /// (docs/contract/nudges.md#holds).
    fn hold(&mut self, reason: Option<StatusReason>, at: Timestamp, actions: &mut Vec<Action>) {
        self.wait(reason, at);
        let told = reason.map(StatusReason::told);
        let news = self.announced.is_none_or(|known| {
            known.reason != told || at.0.saturating_sub(known.at.0).saturating_abs() > HOUR
        });
        if news {
            self.announced = Some(Announced { reason: told, at });
            actions.push(Action::Emit(Notice::Scheduled));
        }
        actions.push(Action::WakeAt(at));
    }

    fn wait(&mut self, reason: Option<StatusReason>, at: Timestamp) {
        self.status = Status::Scheduled;
        self.status_reason = reason;
        self.flight = Flight::None;
        self.next_attempt_at = Some(at);
        self.shows_call = false;
    }

    fn finish(
        &mut self,
        result: ResultCode,
        reason: Option<StatusReason>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        self.status = Status::Finished;
        self.result = Some(result);
        self.status_reason = reason.map(StatusReason::told);
        self.flight = Flight::None;
        self.next_attempt_at = None;
        self.finished_at = Some(now);
        actions.push(Action::Emit(Notice::Finished));
    }
}

/// A webhook event of a nudge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notice {
    /// `nudge.scheduled`
    Scheduled,
    /// `nudge.dialing`
    Dialing,
    /// `nudge.attempt_ended`
    AttemptEnded,
    /// `nudge.finished`
    Finished,
}

/// What the caller owes after a decision. Webhook events go into the outbox in the same transaction; the rest
/// follows the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Write a webhook event with the new nudge.
    Emit(Notice),
    /// Ask the carrier to dial, after the commit.
    Place,
    /// Send [`Event::Due`] at this moment.
    WakeAt(Timestamp),
    /// Put the number on the workspace's do-not-call list.
    AddToDoNotCall,
}

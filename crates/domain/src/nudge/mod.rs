//! A nudge: one on-demand call to one number, with a life of its own and a single final result
//! (docs/contract/nudges.md).
//!
//! [`admit`] decides what a new one starts as, [`step`] what every later event does to it. Both only decide:
//! the caller stores [`Nudge`] against its version together with the events of the [`Action`]s, and performs
//! the rest of them after the commit.

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
pub use step::{
    BALANCE_RECHECK, DueFacts, Event, LINES_RECHECK, PROVIDER_RECHECK, PlacementFailure, Step, Verdict,
    WhyIgnored, step,
};
pub use variables::{
    InvalidVariable, MAX_COUNT as MAX_VARIABLES, MAX_TOTAL as MAX_VARIABLES_BYTES, accept_variables,
};

use crate::compliance::Gate;
use crate::time::{HOUR, Timestamp};

/// How far the dial of the current attempt has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flight {
    /// No attempt is being dialled.
    None,
    /// The mark before the dial: the carrier is being asked, or was when the process died.
    Placing,
    /// The carrier took the call; the phone may be ringing.
    Ringing,
}

impl Flight {
    /// The word in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Flight::None => "none",
            Flight::Placing => "placing",
            Flight::Ringing => "ringing",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        [Flight::None, Flight::Placing, Flight::Ringing].into_iter().find(|flight| flight.as_str() == text)
    }
}

/// The hold that clients were last told of; decides whether the next one is worth a `nudge.scheduled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Announced {
    /// Its `statusReason`; `None` for a future `scheduledAt`.
    pub reason: Option<StatusReason>,
    /// Its `nextAttemptAt`.
    pub at: Timestamp,
}

/// Everything that the rules need to know of a nudge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nudge {
    /// Bits of its id; spreads the releases of held nudges.
    pub key: u128,
    /// Where it is.
    pub status: Status,
    /// Set when finished, and then never changed.
    pub result: Option<ResultCode>,
    /// Why it is held or how it ended.
    pub status_reason: Option<StatusReason>,
    /// The gate that refused it.
    pub block_reason: Option<Gate>,
    /// How far the current dial has got; while `status` is `queued` it tells waiting from ringing.
    pub flight: Flight,
    /// Dials made. Holds and dials that the provider refused before any ring are none.
    pub attempts: u8,
    /// When it is looked at again; `None` while a dial is in flight and once finished.
    pub next_attempt_at: Option<Timestamp>,
    /// After this it is not dialled any more.
    pub expires_at: Timestamp,
    /// As the client asked.
    pub scheduled_at: Option<Timestamp>,
    /// Wait for the window or not.
    pub outside_window: OutsideWindow,
    /// When an unanswered dial is repeated.
    pub retry: Retry,
    /// How the last dial ended, while another one is due.
    pub last_result: Option<ResultCode>,
    /// The hold that clients know of.
    pub announced: Option<Announced>,
    /// The callee asked not to be called; the result at the end of the call is `opted_out`.
    pub opted_out: bool,
    /// The person was erased: no further dial, and events show `[erased]`.
    pub erased: bool,
    /// Whether `callId` shows the last attempt's call (docs/contract/nudges.md#states).
    pub shows_call: bool,
    /// When it finished.
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

    /// Holds it until `at`. The actions say whether clients hear of it: when a hold starts, its reason
    /// changes or its time has moved by more than an hour from the time that they know
    /// (docs/contract/nudges.md#holds).
    fn hold(&mut self, reason: Option<StatusReason>, at: Timestamp, actions: &mut Vec<Action>) {
        self.wait(reason, at);
        let news = self.announced.is_none_or(|known| {
            known.reason != reason || at.0.saturating_sub(known.at.0).saturating_abs() > HOUR
        });
        if news {
            self.announced = Some(Announced { reason, at });
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
        self.status_reason = reason;
        self.flight = Flight::None;
        self.next_attempt_at = None;
        self.finished_at = Some(now);
        actions.push(Action::Emit(Notice::Finished));
    }
}

/// A webhook event that a nudge owes.
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

impl Notice {
    /// The event's type.
    pub fn as_str(self) -> &'static str {
        match self {
            Notice::Scheduled => "nudge.scheduled",
            Notice::Dialing => "nudge.dialing",
            Notice::AttemptEnded => "nudge.attempt_ended",
            Notice::Finished => "nudge.finished",
        }
    }
}

/// What the caller owes after a decision. Events go into the outbox in the same transaction; the rest follows
/// the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Write a webhook event with the new nudge.
    Emit(Notice),
    /// Ask the carrier to dial, after the commit.
    Place,
    /// Look at the nudge again at this moment, with [`Event::Due`].
    WakeAt(Timestamp),
    /// Put the number on the workspace's do-not-call list.
    AddToDoNotCall,
}

//! A call at a set time (docs/contract/scheduled-calls.md#states): it waits, is tried when due, and ends
//! placed, failed or cancelled. Once `placed`, the call has its own states.
//!
//! A try is counted each time it comes due inside the calling hours. A move to the next opening does not
//! count, nor a wait for the end of a call with the same number, because nothing was tried. Low balance, no free line and a provider's refusal count, and the third try that ends
//! so fails the call.

use std::fmt;

use crate::compliance::Gate;
use crate::due_dial::{Act, Check, Obstacle};
pub use crate::due_dial::{DueFacts, EventOutcome, PlacementFailure, WhyIgnored};
pub use crate::nudge::Refusal;
use crate::time::{DAY, MINUTE, SECOND, Timestamp};

/// How far ahead a call can be scheduled, in milliseconds.
pub const MAX_AHEAD: i64 = 30 * DAY;

/// A time at most this far in the past still means now, in milliseconds. It allows for the client's clock and
/// the network's delay.
pub const SKEW: i64 = crate::nudge::SKEW;

/// Tries until it fails.
pub const MAX_TRIES: u8 = 3;

/// Time between two tries, in milliseconds.
pub const RETRY_AFTER: i64 = crate::due_dial::PROVIDER_RECHECK;

/// How long it waits for the end of a call with the same number before it is looked at again, in milliseconds.
pub const ON_CALL_RECHECK: i64 = crate::due_dial::LINES_RECHECK;

closed_sets::words! {
    /// Where a scheduled call is.
    pub enum Status {
        /// Waiting, or being dialled.
        Scheduled = "scheduled",
        /// The carrier took the call.
        Placed = "placed",
        Failed = "failed",
        /// Deleted, or the number must not be called.
        Cancelled = "cancelled",
    }
}

/// `reason`: why it waits, failed or was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It waits for the pack's next opening, or there is none.
    OutsideCallingWindow,
    /// The wallet cannot cover the call.
    InsufficientBalance,
    /// Too many calls in progress.
    ConcurrencyFull,
    /// The workspace had used up its calls of a minute: a word of rows that were held before lines alone paced them.
    RateLimited,
    /// The provider refused before any ring.
    ProviderError,
    /// A gate refused: `dnd` and `opt_out` cancel, the others fail.
    Blocked(Gate),
    /// A check of agent or workspace refused.
    Refused(Refusal),
    /// `fromNumber` is no longer an active number of the workspace.
    FromNumberUnavailable,
    /// No India-resident voice providers are configured.
    IndiaResidencyUnavailable,
    /// It is unknown whether a dial went out; it is never dialled again.
    PossiblyPlaced,
    Erased,
    /// The key that scheduled it no longer works.
    ApiKeyRevoked,
}

impl Reason {
    const PLAIN: [Reason; 10] = [
        Reason::OutsideCallingWindow,
        Reason::InsufficientBalance,
        Reason::ConcurrencyFull,
        Reason::RateLimited,
        Reason::ProviderError,
        Reason::FromNumberUnavailable,
        Reason::IndiaResidencyUnavailable,
        Reason::PossiblyPlaced,
        Reason::Erased,
        Reason::ApiKeyRevoked,
    ];

    /// The word of the API; the same codes as a nudge's `statusReason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::OutsideCallingWindow => "outside_calling_window",
            Reason::InsufficientBalance => "insufficient_balance",
            Reason::ConcurrencyFull => "concurrency_full",
            Reason::RateLimited => "rate_limited",
            Reason::ProviderError => "provider_error",
            Reason::Blocked(gate) => gate.as_str(),
            Reason::Refused(refusal) => refusal.as_str(),
            Reason::FromNumberUnavailable => "from_number_unavailable",
            Reason::IndiaResidencyUnavailable => "india_residency_unavailable",
            Reason::PossiblyPlaced => "possibly_placed",
            Reason::Erased => "erased",
            Reason::ApiKeyRevoked => "api_key_revoked",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let plain = Self::PLAIN.into_iter().find(|reason| reason.as_str() == text);
        plain
            .or_else(|| Gate::parse(text).map(Reason::Blocked))
            .or_else(|| Refusal::parse(text).map(Reason::Refused))
    }
}

/// Everything that the rules need to know about a scheduled call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledCall {
    pub status: Status,
    /// Set before the dial: the carrier is being asked, or was being asked when the process died.
    pub dialling: bool,
    /// As the client asked.
    pub scheduled_at: Timestamp,
    /// When it is tried next; `None` while being dialled and at the end.
    pub next_attempt_at: Option<Timestamp>,
    /// Tries so far.
    pub attempts: u8,
    /// Why it waits, failed or was cancelled; `None` when a client deleted it.
    pub reason: Option<Reason>,
    /// The person was erased while it was being dialled: no further try.
    pub erased: bool,
}

/// A time that cannot be scheduled (400).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleError {
    /// `scheduled_at_in_past`
    InPast,
    /// `scheduled_at_too_far`
    TooFar,
}

impl ScheduleError {
    pub fn code(self) -> &'static str {
        match self {
            ScheduleError::InPast => "scheduled_at_in_past",
            ScheduleError::TooFar => "scheduled_at_too_far",
        }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScheduleError::InPast => "scheduledAt must not be in the past",
            ScheduleError::TooFar => "scheduledAt must be at most 30 days from now",
        })
    }
}

impl std::error::Error for ScheduleError {}

/// A new scheduled call; the caller sends [`Event::Due`] at `next_attempt_at`.
///
/// # Errors
/// [`ScheduleError`] for a time in the past or more than 30 days ahead.
pub fn schedule(scheduled_at: Timestamp, now: Timestamp) -> Result<ScheduledCall, ScheduleError> {
    if scheduled_at < now.plus(-SKEW) {
        return Err(ScheduleError::InPast);
    }
    if scheduled_at > now.plus(MAX_AHEAD) {
        return Err(ScheduleError::TooFar);
    }
    let next_attempt_at = Some(scheduled_at.max(now));
    Ok(ScheduledCall {
        status: Status::Scheduled,
        dialling: false,
        scheduled_at,
        next_attempt_at,
        attempts: 0,
        reason: None,
        erased: false,
    })
}

/// What is checked before a scheduled call is dialled, in this order
/// (docs/contract/scheduled-calls.md#states).
pub const CHECKS: &[Check] = &[
    Check::Key,
    Check::PersonAndHours,
    Check::AgentAndWorkspace,
    Check::OwnNumber,
    Check::Providers,
    Check::Gates,
    Check::Balance,
    Check::Line,
    Check::NumberFree,
    Check::Carrier,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Its time has come.
    Due(DueFacts),
    /// The carrier took the call.
    Placed,
    /// The carrier did not take the call; after a crash in the middle of a dial, `Uncertain` unless the
    /// carrier can tell.
    PlacementFailed(PlacementFailure),
    /// `DELETE`.
    Cancel,
    Erased,
    /// The key that scheduled it was revoked. A dial that is under way goes on.
    KeyRevoked,
}

/// Side effects after the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Ask the carrier to dial.
    Place,
    /// Send [`Event::Due`] again at this moment.
    WakeAt(Timestamp),
}

/// The decision about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The scheduled call afterwards; the same as before unless applied.
    pub next: ScheduledCall,
    /// Side effects.
    pub action: Option<Action>,
    /// Whether the event applied.
    pub outcome: EventOutcome,
}

impl Transition {
    /// The side effect of a due dial.
    pub fn act(&self) -> Act {
        match (self.action, self.next.reason, self.next.status) {
            (Some(Action::Place), ..) => Act::Place,
            (_, Some(Reason::Blocked(gate)), Status::Failed | Status::Cancelled) => Act::Block(gate),
            _ => Act::Store,
        }
    }
}

/// The effect of an event on a scheduled call.
pub fn step(call: &ScheduledCall, event: Event, now: Timestamp) -> Transition {
    let unchanged = |outcome| Transition { next: *call, action: None, outcome };
    match (call.status, call.dialling, event) {
        (Status::Placed | Status::Failed | Status::Cancelled, _, Event::Cancel)
        | (Status::Scheduled, true, Event::Cancel) => unchanged(EventOutcome::NotCancellable),
        (
            Status::Placed | Status::Failed | Status::Cancelled,
            _,
            Event::Due(_) | Event::Placed | Event::PlacementFailed(_) | Event::Erased | Event::KeyRevoked,
        ) => unchanged(EventOutcome::Ignored(WhyIgnored::Finished)),
        (Status::Scheduled, false, Event::Due(_)) if call.next_attempt_at.is_some_and(|at| at > now) => {
            unchanged(EventOutcome::Ignored(WhyIgnored::NotDue))
        }
        (Status::Scheduled, false, Event::Due(facts)) => due(call, &facts, now),
        (Status::Scheduled, false, Event::Cancel) => end(call, Status::Cancelled, None),
        (Status::Scheduled, false, Event::Erased) => {
            end(&ScheduledCall { erased: true, ..*call }, Status::Cancelled, Some(Reason::Erased))
        }
        (Status::Scheduled, false, Event::KeyRevoked) => {
            end(call, Status::Cancelled, Some(Reason::ApiKeyRevoked))
        }
        (Status::Scheduled, false, Event::Placed | Event::PlacementFailed(_)) => {
            unchanged(EventOutcome::Ignored(WhyIgnored::NotInFlight))
        }
        (Status::Scheduled, true, Event::Due(_) | Event::KeyRevoked) => {
            unchanged(EventOutcome::Ignored(WhyIgnored::InFlight))
        }
        (Status::Scheduled, true, Event::Placed) => end(call, Status::Placed, None),
        (Status::Scheduled, true, Event::Erased) => Transition {
            next: ScheduledCall { erased: true, ..*call },
            action: None,
            outcome: EventOutcome::Applied,
        },
        (Status::Scheduled, true, Event::PlacementFailed(failure)) => placement_failed(call, failure, now),
    }
}

fn due(waiting: &ScheduledCall, facts: &DueFacts, now: Timestamp) -> Transition {
    let call = &tried(waiting);
    let failed = |reason| end(call, Status::Failed, Some(reason));
    match facts.obstacle(CHECKS) {
        None => {
            let next = ScheduledCall { dialling: true, next_attempt_at: None, reason: None, ..*call };
            Transition { next, action: Some(Action::Place), outcome: EventOutcome::Applied }
        }
        // Nothing was tried in these four cases, so they are not counted: a call that goes on may last longer than all
        // tries together.
        Some(Obstacle::KeyRevoked) => end(waiting, Status::Cancelled, Some(Reason::ApiKeyRevoked)),
        Some(Obstacle::Blocked(Gate::CallingWindow)) => window_closed(waiting, facts.opening, now),
        Some(Obstacle::OnCall) => hold(waiting, Reason::ConcurrencyFull, now.plus(ON_CALL_RECHECK)),
        Some(Obstacle::CarrierRests) => hold(waiting, Reason::ProviderError, now.plus(MINUTE)),
        Some(Obstacle::Blocked(gate @ (Gate::Dnd | Gate::OptOut))) => {
            end(call, Status::Cancelled, Some(Reason::Blocked(gate)))
        }
        Some(Obstacle::Blocked(gate @ (Gate::FrequencyCap | Gate::Consent | Gate::NumberSeries))) => {
            failed(Reason::Blocked(gate))
        }
        Some(Obstacle::Refused(refusal)) => failed(Reason::Refused(refusal)),
        Some(Obstacle::OwnNumber) => failed(Reason::FromNumberUnavailable),
        Some(Obstacle::Providers) => failed(Reason::IndiaResidencyUnavailable),
        Some(Obstacle::Balance) => again(call, Reason::InsufficientBalance, now),
        Some(Obstacle::Line) => again(call, Reason::ConcurrencyFull, now),
        // Not among the checks: a scheduled call is on no calling list.
        Some(Obstacle::Unfit(_) | Obstacle::CallerIds(_)) => {
            failed(Reason::Refused(Refusal::PlacementRefused))
        }
    }
}

fn window_closed(call: &ScheduledCall, opening: Option<Timestamp>, now: Timestamp) -> Transition {
    match opening {
        // An opening in the past would come due again at once, in an endless loop.
        Some(opening) => hold(call, Reason::OutsideCallingWindow, opening.max(now.plus(SECOND))),
        None => end(call, Status::Failed, Some(Reason::OutsideCallingWindow)),
    }
}

fn placement_failed(call: &ScheduledCall, failure: PlacementFailure, now: Timestamp) -> Transition {
    match failure {
        PlacementFailure::ProviderErrorBeforeRing if call.erased => {
            end(call, Status::Cancelled, Some(Reason::Erased))
        }
        PlacementFailure::ProviderErrorBeforeRing => again(call, Reason::ProviderError, now),
        PlacementFailure::Uncertain => end(call, Status::Failed, Some(Reason::PossiblyPlaced)),
        PlacementFailure::Refused(refusal) => end(call, Status::Failed, Some(Reason::Refused(refusal))),
    }
}

fn tried(call: &ScheduledCall) -> ScheduledCall {
    ScheduledCall { attempts: call.attempts.saturating_add(1), ..*call }
}

/// Another try in 15 minutes, unless this was the third.
fn again(call: &ScheduledCall, reason: Reason, now: Timestamp) -> Transition {
    if call.attempts >= MAX_TRIES {
        end(call, Status::Failed, Some(reason))
    } else {
        hold(call, reason, now.plus(RETRY_AFTER))
    }
}

fn hold(call: &ScheduledCall, reason: Reason, at: Timestamp) -> Transition {
    let next = ScheduledCall { dialling: false, next_attempt_at: Some(at), reason: Some(reason), ..*call };
    Transition { next, action: Some(Action::WakeAt(at)), outcome: EventOutcome::Applied }
}

fn end(call: &ScheduledCall, status: Status, reason: Option<Reason>) -> Transition {
    let next = ScheduledCall { status, dialling: false, next_attempt_at: None, reason, ..*call };
    Transition { next, action: None, outcome: EventOutcome::Applied }
}

#[cfg(test)]
mod tests;

//! The effect of an event on a nudge. Every state handles every event: it changes, ignores the event with a
//! reason (carriers report late and more than once), or refuses it.

use super::codes::{EndCause, OutsideWindow, Refusal, ResultCode, Status, StatusReason};
use super::{Action, Flight, Notice, Nudge};
use crate::compliance::Gate;
use crate::due_dial::{
    Act, Check, DueFacts, EventOutcome, LINES_RECHECK, Obstacle, PROVIDER_RECHECK, PlacementFailure,
    WhyIgnored,
};
use crate::time::{MINUTE, SECOND, Timestamp};
use crate::window::Release;

/// How long a nudge is held for an empty wallet, in milliseconds (docs/contract/nudges.md#holds).
pub const BALANCE_RECHECK: i64 = 15 * MINUTE;

/// What is checked before a nudge is dialled, in this order (docs/contract/nudges.md#when-it-is-due).
pub const CHECKS: &[Check] = &[
    Check::Key,
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
    /// It is due, or the dialler has a reason to check earlier.
    Due(DueFacts),
    /// The carrier took the call.
    Placed,
    /// The carrier did not take the call.
    PlacementFailed(PlacementFailure),
    /// The callee picked up.
    Answered,
    /// The agent is on the line.
    AgentConnected,
    /// The callee picked up but the agent could not be connected.
    AgentFailedToStart,
    Ended(EndCause),
    /// A machine answered, and the call is over.
    Voicemail,
    /// Nobody picked up.
    NoAnswer,
    /// The line was busy.
    Busy,
    /// The number does not exist.
    InvalidNumber,
    /// The callee rejected the call.
    Rejected,
    /// The carrier ended the dial with this final SIP status, after it began.
    Sip(u16),
    /// The callee asked not to be called again. The result follows at the end of the call.
    OptedOut,
    /// `POST …/cancel`.
    Cancel,
    /// The API key that made it was revoked.
    KeyRevoked,
    Erased,
    /// `expiresAt` has passed.
    Expire,
    /// There will be no further report of the dial or call.
    Unsettled,
    /// The record of the call is gone.
    CallRecordMissing,
}

/// The decision about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The nudge afterwards; the same as before unless applied.
    pub next: Nudge,
    /// Side effects, in order.
    pub actions: Vec<Action>,
    /// Whether the event applied.
    pub outcome: EventOutcome,
}

impl Transition {
    /// The side effect of a due dial.
    pub fn act(&self) -> Act {
        if self.actions.contains(&Action::Place) {
            return Act::Place;
        }
        self.next.block_reason.map_or(Act::Store, Act::Block)
    }
}

/// The phase of a nudge, as far as events are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    /// The carrier is being asked, or the phone rings.
    Calling,
    Answered,
    Live,
    Finished,
}

fn phase(nudge: &Nudge) -> Phase {
    match (nudge.status, nudge.flight) {
        (Status::Queued, Flight::None) | (Status::Scheduled, _) => Phase::Waiting,
        (Status::Queued, Flight::Placing | Flight::Ringing) => Phase::Calling,
        (Status::Dialing, _) => Phase::Answered,
        (Status::InProgress, _) => Phase::Live,
        (Status::Finished, _) => Phase::Finished,
    }
}

/// Decides what an event does to a nudge at a moment. Pure: the same arguments give the same decision.
pub fn step(nudge: &Nudge, event: Event, now: Timestamp) -> Transition {
    let mut builder = TransitionBuilder { next: *nudge, actions: Vec::new(), now };
    let outcome = builder.take(event);
    match outcome {
        EventOutcome::Applied => Transition { next: builder.next, actions: builder.actions, outcome },
        EventOutcome::Ignored(_) | EventOutcome::NotCancellable => {
            Transition { next: *nudge, actions: Vec::new(), outcome }
        }
    }
}

/// A decision being made.
struct TransitionBuilder {
    next: Nudge,
    actions: Vec<Action>,
    now: Timestamp,
}

impl TransitionBuilder {
    fn take(&mut self, event: Event) -> EventOutcome {
        match event {
            Event::Due(facts) => self.due(&facts),
            Event::Placed => self.placed(),
            Event::PlacementFailed(failure) => self.placement_failed(failure),
            Event::Answered => self.answered(),
            Event::AgentConnected => self.agent_connected(),
            Event::AgentFailedToStart => self.agent_failed_to_start(),
            Event::Ended(cause) => self.ended(cause),
            Event::Voicemail => self.over(ResultCode::Voicemail, StatusReason::Ended(EndCause::AgentEnded)),
            Event::NoAnswer => self.unanswered(ResultCode::NoAnswer),
            Event::Busy => self.unanswered(ResultCode::Busy),
            Event::InvalidNumber => self.not_connectable(StatusReason::InvalidNumber),
            Event::Rejected => self.not_connectable(StatusReason::Rejected),
            Event::Sip(status) => self.sip(status),
            Event::OptedOut => self.opted_out(),
            Event::Cancel => self.cancel(),
            Event::KeyRevoked => self.stop_waiting(StatusReason::ApiKeyRevoked),
            Event::Erased => self.erased(),
            Event::Expire => self.expire(),
            Event::Unsettled => self.unsettled(),
            Event::CallRecordMissing => self.call_record_missing(),
        }
    }

    // ---- before the dial

    fn due(&mut self, facts: &DueFacts) -> EventOutcome {
        let nudge = &self.next;
        match phase(nudge) {
            Phase::Waiting => {}
            Phase::Calling | Phase::Answered | Phase::Live => {
                return EventOutcome::Ignored(WhyIgnored::InFlight);
            }
            Phase::Finished => return EventOutcome::Ignored(WhyIgnored::Finished),
        }
        let may_come_early = nudge.status_reason.is_some_and(StatusReason::waits_for_resources);
        if !may_come_early && nudge.next_attempt_at.is_some_and(|at| at > self.now) {
            return EventOutcome::Ignored(WhyIgnored::NotDue);
        }
        if self.now > nudge.expires_at {
            return self.give_up();
        }
        match facts.obstacle(CHECKS) {
            None => self.place(),
            Some(obstacle) => self.prevented_by(obstacle, facts),
        }
    }

    fn prevented_by(&mut self, obstacle: Obstacle, facts: &DueFacts) -> EventOutcome {
        use StatusReason as Reason;
        match obstacle {
            Obstacle::KeyRevoked => self.finish(ResultCode::Cancelled, Reason::ApiKeyRevoked),
            Obstacle::Refused(refusal) => self.finish(ResultCode::Failed, Reason::Refused(refusal)),
            Obstacle::OwnNumber => self.finish(ResultCode::Failed, Reason::FromNumberUnavailable),
            Obstacle::Providers => self.finish(ResultCode::Failed, Reason::IndiaResidencyUnavailable),
            Obstacle::Blocked(Gate::CallingWindow) => self.window_closed(facts.release),
            Obstacle::Blocked(
                gate @ (Gate::Dnd | Gate::OptOut | Gate::FrequencyCap | Gate::Consent | Gate::NumberSeries),
            ) => self.blocked(gate, None),
            Obstacle::Balance => self.wait_for(Reason::InsufficientBalance, BALANCE_RECHECK),
            Obstacle::Line => self.wait_for(Reason::ConcurrencyFull, LINES_RECHECK),
            Obstacle::OnCall => self.wait_for(Reason::NumberOnCall, LINES_RECHECK),
            // As if the carrier had been asked and had refused before any ring.
            Obstacle::CarrierRests => self.wait_for(Reason::ProviderError, PROVIDER_RECHECK),
            // Not among the checks: nudges are on no calling list.
            Obstacle::Unfit(_) | Obstacle::CallerIds(_) => {
                self.finish(ResultCode::Failed, Reason::Refused(Refusal::PlacementRefused))
            }
        }
    }

    fn place(&mut self) -> EventOutcome {
        self.next.status = Status::Queued;
        self.next.status_reason = None;
        self.next.flight = Flight::Placing;
        self.next.next_attempt_at = None;
        self.actions.push(Action::Place);
        EventOutcome::Applied
    }

    /// Holds for something that may become available at any time. The last check is at `expiresAt` itself.
    fn wait_for(&mut self, reason: StatusReason, recheck: i64) -> EventOutcome {
        let expires_at = self.next.expires_at;
        if self.now >= expires_at {
            return self.cannot_happen(reason);
        }
        self.next.hold(Some(reason), self.now.plus(recheck).min(expires_at), &mut self.actions);
        EventOutcome::Applied
    }

    fn window_closed(&mut self, opening: Option<Release>) -> EventOutcome {
        let reason = StatusReason::OutsideCallingWindow;
        let expires_at = self.next.expires_at;
        match (self.next.outside_window, opening) {
            (OutsideWindow::Reject, _) if self.next.ever_dialled() => self.cannot_happen(reason),
            (OutsideWindow::Reject, _) => self.blocked(Gate::CallingWindow, Some(reason)),
            (OutsideWindow::Queue, Some(release)) if release.opening <= expires_at => {
                // An opening in the past would come due again at once, in an endless loop.
                let at = release.at(self.next.key, expires_at).max(self.now.plus(SECOND));
                self.next.hold(Some(reason), at, &mut self.actions);
                EventOutcome::Applied
            }
            (OutsideWindow::Queue, Some(_) | None) => self.cannot_happen(reason),
        }
    }

    fn blocked(&mut self, gate: Gate, reason: Option<StatusReason>) -> EventOutcome {
        self.next.block_reason = Some(gate);
        self.next.finish(ResultCode::Blocked, reason, self.now, &mut self.actions);
        EventOutcome::Applied
    }

    /// There will be no further dial: `expired` when none ever went out, otherwise the last dial's result
    /// with the reason why no other follows.
    fn cannot_happen(&mut self, why: StatusReason) -> EventOutcome {
        if self.next.ever_dialled() {
            self.finish(self.next.last_result.unwrap_or(ResultCode::Failed), why)
        } else {
            self.finish(ResultCode::Expired, StatusReason::Expired)
        }
    }

    /// It expired while it waited. A hold gives what it waited for as the reason, a retry after an unanswered
    /// dial gives `expired`.
    fn give_up(&mut self) -> EventOutcome {
        let held_for = self
            .next
            .status_reason
            .filter(|reason| reason.waits_for_resources() || *reason == StatusReason::OutsideCallingWindow);
        self.cannot_happen(held_for.unwrap_or(StatusReason::Expired))
    }

    fn expire(&mut self) -> EventOutcome {
        match phase(&self.next) {
            Phase::Waiting if self.now < self.next.expires_at => EventOutcome::Ignored(WhyIgnored::NotDue),
            // A dial that is due at exactly this moment is still in time.
            Phase::Waiting
                if self.now == self.next.expires_at && self.next.next_attempt_at == Some(self.now) =>
            {
                EventOutcome::Ignored(WhyIgnored::NotDue)
            }
            Phase::Waiting => self.give_up(),
            Phase::Calling | Phase::Answered | Phase::Live => EventOutcome::Ignored(WhyIgnored::InFlight),
            Phase::Finished => EventOutcome::Ignored(WhyIgnored::Finished),
        }
    }

    fn cancel(&mut self) -> EventOutcome {
        match phase(&self.next) {
            Phase::Waiting => self.finish(ResultCode::Cancelled, StatusReason::Cancelled),
            Phase::Calling | Phase::Answered | Phase::Live | Phase::Finished => EventOutcome::NotCancellable,
        }
    }

    fn stop_waiting(&mut self, reason: StatusReason) -> EventOutcome {
        match phase(&self.next) {
            Phase::Waiting => self.finish(ResultCode::Cancelled, reason),
            Phase::Calling | Phase::Answered | Phase::Live => EventOutcome::Ignored(WhyIgnored::InFlight),
            Phase::Finished => EventOutcome::Ignored(WhyIgnored::Finished),
        }
    }

    fn erased(&mut self) -> EventOutcome {
        match phase(&self.next) {
            Phase::Finished => EventOutcome::Ignored(WhyIgnored::Finished),
            Phase::Waiting => {
                self.next.erased = true;
                self.finish(ResultCode::Cancelled, StatusReason::Erased)
            }
            Phase::Calling | Phase::Answered | Phase::Live => {
                self.next.erased = true;
                EventOutcome::Applied
            }
        }
    }

    // ---- the dial

    fn placed(&mut self) -> EventOutcome {
        match (phase(&self.next), self.next.flight) {
            (Phase::Calling, Flight::Placing) => {
                self.dial_went_out();
                EventOutcome::Applied
            }
            (Phase::Calling | Phase::Answered | Phase::Live, _) => {
                EventOutcome::Ignored(WhyIgnored::AlreadyPast)
            }
            (Phase::Waiting, _) => EventOutcome::Ignored(WhyIgnored::NotInFlight),
            (Phase::Finished, _) => EventOutcome::Ignored(WhyIgnored::Finished),
        }
    }

    /// Counts the attempt once. Any later report of the carrier proves the dial, even if `Placed` was lost.
    fn dial_went_out(&mut self) {
        if self.next.flight == Flight::Placing {
            self.next.attempts = self.next.attempts.saturating_add(1);
            self.next.flight = Flight::Ringing;
        }
    }

    fn placement_failed(&mut self, failure: PlacementFailure) -> EventOutcome {
        if let Some(ignored) = self.unless_calling() {
            return ignored;
        }
        match failure {
            PlacementFailure::ProviderErrorBeforeRing => self.provider_error(),
            PlacementFailure::Uncertain => {
                self.dial_went_out();
                self.over_now(ResultCode::Failed, StatusReason::PossiblyPlaced)
            }
            PlacementFailure::Refused(refusal) => {
                self.finish(ResultCode::Failed, StatusReason::Refused(refusal))
            }
        }
    }

    /// The phone did not ring, so this is not an attempt, even if the carrier had accepted the call first.
    fn provider_error(&mut self) -> EventOutcome {
        if self.next.flight == Flight::Ringing {
            self.next.attempts = self.next.attempts.saturating_sub(1);
        }
        if self.next.erased {
            return self.finish(ResultCode::Cancelled, StatusReason::Erased);
        }
        if self.next.opted_out {
            return self.finish(ResultCode::OptedOut, StatusReason::ProviderError);
        }
        self.wait_for(StatusReason::ProviderError, PROVIDER_RECHECK)
    }

    fn unanswered(&mut self, result: ResultCode) -> EventOutcome {
        if let Some(ignored) = self.unless_calling() {
            return ignored;
        }
        self.dial_went_out();
        let cause = if result == ResultCode::Busy { EndCause::Busy } else { EndCause::NoAnswer };
        self.again_or_over(result, StatusReason::Retry, StatusReason::Ended(cause))
    }

    fn agent_failed_to_start(&mut self) -> EventOutcome {
        match phase(&self.next) {
            Phase::Calling | Phase::Answered => {
                self.dial_went_out();
                self.again_or_over(ResultCode::Failed, StatusReason::NotConnected, StatusReason::NotConnected)
            }
            Phase::Live => EventOutcome::Ignored(WhyIgnored::AlreadyPast),
            Phase::Waiting => EventOutcome::Ignored(WhyIgnored::NotInFlight),
            Phase::Finished => EventOutcome::Ignored(WhyIgnored::Finished),
        }
    }

    fn again_or_over(&mut self, result: ResultCode, held: StatusReason, over: StatusReason) -> EventOutcome {
        let nudge = &mut self.next;
        let again = nudge.retry.next(result, nudge.attempts, self.now, nudge.expires_at);
        match again.filter(|_| !nudge.erased && !nudge.opted_out) {
            Some(at) => {
                nudge.last_result = Some(result);
                nudge.wait(Some(held), at);
                // `nudge.attempt_ended` already announces this hold.
                nudge.announced = Some(super::Announced { reason: Some(held), at });
                self.actions.push(Action::Emit(Notice::AttemptEnded));
                self.actions.push(Action::WakeAt(at));
                EventOutcome::Applied
            }
            None => self.over_now(result, over),
        }
    }

    fn not_connectable(&mut self, reason: StatusReason) -> EventOutcome {
        if let Some(ignored) = self.unless_calling() {
            return ignored;
        }
        self.dial_went_out();
        self.over_now(ResultCode::Failed, reason)
    }

    /// Some final SIP statuses have their own word.
    fn sip(&mut self, status: u16) -> EventOutcome {
        match status {
            486 | 600 => self.unanswered(ResultCode::Busy),
            408 | 480 | 487 => self.unanswered(ResultCode::NoAnswer),
            404 | 484 | 604 => self.not_connectable(StatusReason::InvalidNumber),
            603 => self.not_connectable(StatusReason::Rejected),
            _ => self.not_connectable(StatusReason::Sip(status)),
        }
    }

    fn unless_calling(&self) -> Option<EventOutcome> {
        match phase(&self.next) {
            Phase::Calling => None,
            Phase::Answered | Phase::Live => Some(EventOutcome::Ignored(WhyIgnored::AlreadyPast)),
            Phase::Waiting => Some(EventOutcome::Ignored(WhyIgnored::NotInFlight)),
            Phase::Finished => Some(EventOutcome::Ignored(WhyIgnored::Finished)),
        }
    }

    // ---- the call

    fn answered(&mut self) -> EventOutcome {
        if let Some(ignored) = self.unless_calling() {
            return ignored;
        }
        self.dial_went_out();
        self.next.status = Status::Dialing;
        self.next.status_reason = None;
        self.next.shows_call = true;
        self.actions.push(Action::Emit(Notice::Dialing));
        EventOutcome::Applied
    }

    fn agent_connected(&mut self) -> EventOutcome {
        match phase(&self.next) {
            Phase::Calling | Phase::Answered => {
                // The report of the answer may be missing, but the callee has picked up.
                let _ = self.answered();
                self.next.status = Status::InProgress;
                EventOutcome::Applied
            }
            Phase::Live => EventOutcome::Ignored(WhyIgnored::AlreadyPast),
            Phase::Waiting => EventOutcome::Ignored(WhyIgnored::NotInFlight),
            Phase::Finished => EventOutcome::Ignored(WhyIgnored::Finished),
        }
    }

    fn ended(&mut self, cause: EndCause) -> EventOutcome {
        match (phase(&self.next), cause) {
            (Phase::Calling, EndCause::NoAnswer) => self.unanswered(ResultCode::NoAnswer),
            (Phase::Calling, EndCause::Busy) => self.unanswered(ResultCode::Busy),
            // A screening assistant or an announcement picked up, and no person came.
            (Phase::Answered | Phase::Live, EndCause::NoAnswer | EndCause::Busy) => {
                let busy = cause == EndCause::Busy;
                let result = if busy { ResultCode::Busy } else { ResultCode::NoAnswer };
                self.again_or_over(result, StatusReason::Retry, StatusReason::Ended(cause))
            }
            // Ended before anybody answered.
            (Phase::Calling, EndCause::ApiHangup | EndCause::Error) => {
                self.not_connectable(StatusReason::Ended(cause))
            }
            // Only an answered call ends like this, so the report of the answer was lost.
            (
                Phase::Calling,
                EndCause::AgentEnded
                | EndCause::CallerHangup
                | EndCause::SilenceTimeout
                | EndCause::MaxDuration
                | EndCause::TransferHandoff,
            )
            | (Phase::Answered | Phase::Live | Phase::Waiting | Phase::Finished, _) => {
                self.over(ResultCode::Connected, StatusReason::Ended(cause))
            }
        }
    }

    /// Ends the current dial or call with this result, in any phase.
    fn over(&mut self, result: ResultCode, reason: StatusReason) -> EventOutcome {
        match phase(&self.next) {
            Phase::Calling | Phase::Answered | Phase::Live => {
                self.dial_went_out();
                self.over_now(result, reason)
            }
            Phase::Waiting => EventOutcome::Ignored(WhyIgnored::NotInFlight),
            Phase::Finished => EventOutcome::Ignored(WhyIgnored::Finished),
        }
    }

    fn over_now(&mut self, result: ResultCode, reason: StatusReason) -> EventOutcome {
        self.next.shows_call = true;
        self.finish(if self.next.opted_out { ResultCode::OptedOut } else { result }, reason)
    }

    /// The number goes on the list at once. The result is set at the end of the call, because it includes the
    /// call's end cause and length. An opt-out that is found after the call (in its transcript) also goes on
    /// the list, but does not change the result.
    fn opted_out(&mut self) -> EventOutcome {
        if self.next.opted_out {
            return EventOutcome::Ignored(WhyIgnored::AlreadyPast);
        }
        match phase(&self.next) {
            Phase::Waiting | Phase::Finished if !self.next.ever_dialled() => {
                return EventOutcome::Ignored(WhyIgnored::NotInFlight);
            }
            Phase::Calling | Phase::Answered | Phase::Live | Phase::Finished => {
                self.next.opted_out = true;
                self.actions.push(Action::AddToDoNotCall);
            }
            Phase::Waiting => {
                self.next.opted_out = true;
                self.actions.push(Action::AddToDoNotCall);
                self.next.finish(ResultCode::OptedOut, None, self.now, &mut self.actions);
            }
        }
        EventOutcome::Applied
    }

    fn unsettled(&mut self) -> EventOutcome {
        match phase(&self.next) {
            Phase::Answered | Phase::Live => self.over(ResultCode::Connected, StatusReason::Unsettled),
            Phase::Calling | Phase::Waiting | Phase::Finished => {
                self.over(ResultCode::Failed, StatusReason::Unsettled)
            }
        }
    }

    fn call_record_missing(&mut self) -> EventOutcome {
        let outcome = self.over(ResultCode::Failed, StatusReason::CallRecordMissing);
        // There is no call that `callId` could show.
        self.next.shows_call = false;
        outcome
    }

    fn finish(&mut self, result: ResultCode, reason: StatusReason) -> EventOutcome {
        self.next.finish(result, Some(reason), self.now, &mut self.actions);
        EventOutcome::Applied
    }
}

//! What an event does to a nudge. Every state answers every event: it moves, says why it ignores it (carriers
//! repeat themselves and answer late), or refuses it.

use super::codes::{EndCause, OutsideWindow, Refusal, ResultCode, Status, StatusReason};
use super::{Action, Flight, Notice, Nudge};
use crate::compliance::Gate;
use crate::time::{MINUTE, SECOND, Timestamp};
use crate::window::Release;

/// An empty wallet is looked at again after this time, milliseconds (docs/contract/nudges.md#holds).
pub const BALANCE_RECHECK: i64 = 15 * MINUTE;

/// Full lines are looked at again after this time, milliseconds: a call frees its line within minutes, and
/// the dialler may look earlier when it knows that one is free.
pub const LINES_RECHECK: i64 = 30 * SECOND;

/// A provider that refused before any ring is asked again after this time, milliseconds; scheduled calls wait
/// as long.
pub const PROVIDER_RECHECK: i64 = 15 * MINUTE;

/// What is known when a nudge is due, gathered in the transaction that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueFacts {
    /// The API key that made it is revoked or expired.
    pub key_revoked: bool,
    /// The first check of agent and workspace that fails.
    pub refusal: Option<Refusal>,
    /// `fromNumber`, when given, is still an active number of the workspace.
    pub from_number_ok: bool,
    /// India-resident voice providers are configured.
    pub providers_ok: bool,
    /// The first gate that refuses ([`crate::compliance::Judgement::block`]).
    pub block: Option<Gate>,
    /// The window's next opening ([`crate::window::NudgeWindow::release`]); read when the window is what
    /// blocks.
    pub opening: Option<Release>,
    /// The wallet covers the call, calls in flight counted.
    pub balance_ok: bool,
    /// The workspace and the platform have a line free.
    pub line_free: bool,
}

impl DueFacts {
    /// Nothing stands in the way.
    pub const CLEAR: DueFacts = DueFacts {
        key_revoked: false,
        refusal: None,
        from_number_ok: true,
        providers_ok: true,
        block: None,
        opening: None,
        balance_ok: true,
        line_free: true,
    };
}

/// How asking the carrier to dial failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementFailure {
    /// The provider refused, and nobody was rung: held, not an attempt.
    ProviderErrorBeforeRing,
    /// It cannot be known whether a dial went out (also after a crash): never redialled.
    Uncertain,
    /// A last check refused before the dial.
    Refused(Refusal),
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Its time has come, or the dialler has a reason to look earlier.
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
    /// The call ended.
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
    /// The person was erased.
    Erased,
    /// `expiresAt` has passed.
    Expire,
    /// Nothing more will be heard of the dial or call.
    Unsettled,
    /// The record of the call is gone.
    CallRecordMissing,
}

/// Why an event changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyIgnored {
    /// It is already finished.
    Finished,
    /// A dial or call is under way; the event concerns waiting nudges.
    InFlight,
    /// No dial is under way; a late or repeated answer of a carrier.
    NotInFlight,
    /// The call is already past this point.
    AlreadyPast,
    /// It is not time yet.
    NotDue,
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The nudge may have changed: store it and act.
    Applied,
    /// Nothing changed, and nothing needed to.
    Ignored(WhyIgnored),
    /// 409 `nudge_not_cancellable`.
    NotCancellable,
}

/// The decision about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The nudge afterwards; the same as before unless applied.
    pub next: Nudge,
    /// What the caller owes, in order.
    pub actions: Vec<Action>,
    /// Whether the event applied.
    pub verdict: Verdict,
}

/// Where a nudge stands, as events see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    /// Asking the carrier, or the phone rings.
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
pub fn step(nudge: &Nudge, event: Event, now: Timestamp) -> Step {
    let mut turn = Turn { next: *nudge, actions: Vec::new(), now };
    let verdict = turn.take(event);
    match verdict {
        Verdict::Applied => Step { next: turn.next, actions: turn.actions, verdict },
        Verdict::Ignored(_) | Verdict::NotCancellable => Step { next: *nudge, actions: Vec::new(), verdict },
    }
}

/// One decision in the making.
struct Turn {
    next: Nudge,
    actions: Vec<Action>,
    now: Timestamp,
}

impl Turn {
    fn take(&mut self, event: Event) -> Verdict {
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

    fn due(&mut self, facts: &DueFacts) -> Verdict {
        let nudge = &self.next;
        match phase(nudge) {
            Phase::Waiting => {}
            Phase::Calling | Phase::Answered | Phase::Live => return Verdict::Ignored(WhyIgnored::InFlight),
            Phase::Finished => return Verdict::Ignored(WhyIgnored::Finished),
        }
        let may_come_early = nudge.status_reason.is_some_and(StatusReason::waits_for_resources);
        if !may_come_early && nudge.next_attempt_at.is_some_and(|at| at > self.now) {
            return Verdict::Ignored(WhyIgnored::NotDue);
        }
        if self.now > nudge.expires_at {
            return self.give_up();
        }
        if facts.key_revoked {
            return self.finish(ResultCode::Cancelled, StatusReason::ApiKeyRevoked);
        }
        if let Some(refusal) = facts.refusal {
            return self.finish(ResultCode::Failed, StatusReason::Refused(refusal));
        }
        if !facts.from_number_ok {
            return self.finish(ResultCode::Failed, StatusReason::FromNumberUnavailable);
        }
        if !facts.providers_ok {
            return self.finish(ResultCode::Failed, StatusReason::IndiaResidencyUnavailable);
        }
        match facts.block {
            None => self.dial_or_wait(facts),
            Some(Gate::CallingWindow) => self.window_closed(facts.opening),
            Some(gate @ (Gate::Dnd | Gate::OptOut | Gate::FrequencyCap | Gate::Consent)) => {
                self.blocked(gate, None)
            }
        }
    }

    fn dial_or_wait(&mut self, facts: &DueFacts) -> Verdict {
        if !facts.balance_ok {
            return self.wait_for(StatusReason::InsufficientBalance, BALANCE_RECHECK);
        }
        if !facts.line_free {
            return self.wait_for(StatusReason::ConcurrencyFull, LINES_RECHECK);
        }
        self.next.status = Status::Queued;
        self.next.status_reason = None;
        self.next.flight = Flight::Placing;
        self.next.next_attempt_at = None;
        self.actions.push(Action::Place);
        Verdict::Applied
    }

    /// Holds for something that may come at any time; the last look is at `expiresAt` itself.
    fn wait_for(&mut self, reason: StatusReason, recheck: i64) -> Verdict {
        let expires_at = self.next.expires_at;
        if self.now >= expires_at {
            return self.cannot_happen(reason);
        }
        self.next.hold(Some(reason), self.now.plus(recheck).min(expires_at), &mut self.actions);
        Verdict::Applied
    }

    fn window_closed(&mut self, opening: Option<Release>) -> Verdict {
        let reason = StatusReason::OutsideCallingWindow;
        let expires_at = self.next.expires_at;
        match (self.next.outside_window, opening) {
            (OutsideWindow::Reject, _) if self.next.ever_dialled() => self.cannot_happen(reason),
            (OutsideWindow::Reject, _) => self.blocked(Gate::CallingWindow, Some(reason)),
            (OutsideWindow::Queue, Some(release)) if release.opening <= expires_at => {
                // An opening that is already past would be asked for again at once and for ever.
                let at = release.at(self.next.key, expires_at).max(self.now.plus(SECOND));
                self.next.hold(Some(reason), at, &mut self.actions);
                Verdict::Applied
            }
            (OutsideWindow::Queue, Some(_) | None) => self.cannot_happen(reason),
        }
    }

    fn blocked(&mut self, gate: Gate, reason: Option<StatusReason>) -> Verdict {
        self.next.block_reason = Some(gate);
        self.next.finish(ResultCode::Blocked, reason, self.now, &mut self.actions);
        Verdict::Applied
    }

    /// The next dial will never come: `expired` when none ever went out, else the last dial's result and why
    /// no other follows.
    fn cannot_happen(&mut self, why: StatusReason) -> Verdict {
        if self.next.ever_dialled() {
            self.finish(self.next.last_result.unwrap_or(ResultCode::Failed), why)
        } else {
            self.finish(ResultCode::Expired, StatusReason::Expired)
        }
    }

    /// Its time is over while it waited: a hold says what it waited for, a retry that nobody picked up says
    /// `expired`.
    fn give_up(&mut self) -> Verdict {
        let held_for = self
            .next
            .status_reason
            .filter(|reason| reason.waits_for_resources() || *reason == StatusReason::OutsideCallingWindow);
        self.cannot_happen(held_for.unwrap_or(StatusReason::Expired))
    }

    fn expire(&mut self) -> Verdict {
        match phase(&self.next) {
            Phase::Waiting if self.now < self.next.expires_at => Verdict::Ignored(WhyIgnored::NotDue),
            // A dial that is due at this very moment is still in time.
            Phase::Waiting
                if self.now == self.next.expires_at && self.next.next_attempt_at == Some(self.now) =>
            {
                Verdict::Ignored(WhyIgnored::NotDue)
            }
            Phase::Waiting => self.give_up(),
            Phase::Calling | Phase::Answered | Phase::Live => Verdict::Ignored(WhyIgnored::InFlight),
            Phase::Finished => Verdict::Ignored(WhyIgnored::Finished),
        }
    }

    fn cancel(&mut self) -> Verdict {
        match phase(&self.next) {
            Phase::Waiting => self.finish(ResultCode::Cancelled, StatusReason::Cancelled),
            Phase::Calling | Phase::Answered | Phase::Live | Phase::Finished => Verdict::NotCancellable,
        }
    }

    fn stop_waiting(&mut self, reason: StatusReason) -> Verdict {
        match phase(&self.next) {
            Phase::Waiting => self.finish(ResultCode::Cancelled, reason),
            Phase::Calling | Phase::Answered | Phase::Live => Verdict::Ignored(WhyIgnored::InFlight),
            Phase::Finished => Verdict::Ignored(WhyIgnored::Finished),
        }
    }

    fn erased(&mut self) -> Verdict {
        match phase(&self.next) {
            Phase::Finished => Verdict::Ignored(WhyIgnored::Finished),
            Phase::Waiting => {
                self.next.erased = true;
                self.finish(ResultCode::Cancelled, StatusReason::Erased)
            }
            Phase::Calling | Phase::Answered | Phase::Live => {
                self.next.erased = true;
                Verdict::Applied
            }
        }
    }

    // ---- the dial

    fn placed(&mut self) -> Verdict {
        match (phase(&self.next), self.next.flight) {
            (Phase::Calling, Flight::Placing) => {
                self.dial_went_out();
                Verdict::Applied
            }
            (Phase::Calling | Phase::Answered | Phase::Live, _) => Verdict::Ignored(WhyIgnored::AlreadyPast),
            (Phase::Waiting, _) => Verdict::Ignored(WhyIgnored::NotInFlight),
            (Phase::Finished, _) => Verdict::Ignored(WhyIgnored::Finished),
        }
    }

    /// Counts the attempt, once: any later word of the carrier proves the dial even when `Placed` was lost.
    fn dial_went_out(&mut self) {
        if self.next.flight == Flight::Placing {
            self.next.attempts = self.next.attempts.saturating_add(1);
            self.next.flight = Flight::Ringing;
        }
    }

    fn placement_failed(&mut self, failure: PlacementFailure) -> Verdict {
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

    /// Nobody was rung, so it was no attempt, also when the carrier had taken the call first.
    fn provider_error(&mut self) -> Verdict {
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

    fn unanswered(&mut self, result: ResultCode) -> Verdict {
        if let Some(ignored) = self.unless_calling() {
            return ignored;
        }
        self.dial_went_out();
        let cause = if result == ResultCode::Busy { EndCause::Busy } else { EndCause::NoAnswer };
        self.again_or_over(result, StatusReason::Retry, StatusReason::Ended(cause))
    }

    fn agent_failed_to_start(&mut self) -> Verdict {
        match phase(&self.next) {
            Phase::Calling | Phase::Answered => {
                self.dial_went_out();
                self.again_or_over(ResultCode::Failed, StatusReason::NotConnected, StatusReason::NotConnected)
            }
            Phase::Live => Verdict::Ignored(WhyIgnored::AlreadyPast),
            Phase::Waiting => Verdict::Ignored(WhyIgnored::NotInFlight),
            Phase::Finished => Verdict::Ignored(WhyIgnored::Finished),
        }
    }

    fn again_or_over(&mut self, result: ResultCode, held: StatusReason, over: StatusReason) -> Verdict {
        let nudge = &mut self.next;
        let again = nudge.retry.next(result, nudge.attempts, self.now, nudge.expires_at);
        match again.filter(|_| !nudge.erased && !nudge.opted_out) {
            Some(at) => {
                nudge.last_result = Some(result);
                nudge.wait(Some(held), at);
                // `nudge.attempt_ended` tells of this hold.
                nudge.announced = Some(super::Announced { reason: Some(held), at });
                self.actions.push(Action::Emit(Notice::AttemptEnded));
                self.actions.push(Action::WakeAt(at));
                Verdict::Applied
            }
            None => self.over_now(result, over),
        }
    }

    fn not_connectable(&mut self, reason: StatusReason) -> Verdict {
        if let Some(ignored) = self.unless_calling() {
            return ignored;
        }
        self.dial_went_out();
        self.over_now(ResultCode::Failed, reason)
    }

    /// Final SIP statuses that have a word of their own get it.
    fn sip(&mut self, status: u16) -> Verdict {
        match status {
            486 | 600 => self.unanswered(ResultCode::Busy),
            408 | 480 | 487 => self.unanswered(ResultCode::NoAnswer),
            404 | 484 | 604 => self.not_connectable(StatusReason::InvalidNumber),
            603 => self.not_connectable(StatusReason::Rejected),
            _ => self.not_connectable(StatusReason::Sip(status)),
        }
    }

    fn unless_calling(&self) -> Option<Verdict> {
        match phase(&self.next) {
            Phase::Calling => None,
            Phase::Answered | Phase::Live => Some(Verdict::Ignored(WhyIgnored::AlreadyPast)),
            Phase::Waiting => Some(Verdict::Ignored(WhyIgnored::NotInFlight)),
            Phase::Finished => Some(Verdict::Ignored(WhyIgnored::Finished)),
        }
    }

    // ---- the call

    fn answered(&mut self) -> Verdict {
        if let Some(ignored) = self.unless_calling() {
            return ignored;
        }
        self.dial_went_out();
        self.next.status = Status::Dialing;
        self.next.status_reason = None;
        self.next.shows_call = true;
        self.actions.push(Action::Emit(Notice::Dialing));
        Verdict::Applied
    }

    fn agent_connected(&mut self) -> Verdict {
        match phase(&self.next) {
            Phase::Calling | Phase::Answered => {
                // Without the carrier's answer seen first, the callee has picked up all the same.
                let _ = self.answered();
                self.next.status = Status::InProgress;
                Verdict::Applied
            }
            Phase::Live => Verdict::Ignored(WhyIgnored::AlreadyPast),
            Phase::Waiting => Verdict::Ignored(WhyIgnored::NotInFlight),
            Phase::Finished => Verdict::Ignored(WhyIgnored::Finished),
        }
    }

    fn ended(&mut self, cause: EndCause) -> Verdict {
        match (phase(&self.next), cause) {
            (Phase::Calling, EndCause::NoAnswer) => self.unanswered(ResultCode::NoAnswer),
            (Phase::Calling, EndCause::Busy) => self.unanswered(ResultCode::Busy),
            // Ended before anybody answered.
            (Phase::Calling, EndCause::ApiHangup | EndCause::Error) => {
                self.not_connectable(StatusReason::Ended(cause))
            }
            // Only an answered call ends like this; the answer itself was lost.
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

    /// The current dial or call is over with this result, whatever phase it was in.
    fn over(&mut self, result: ResultCode, reason: StatusReason) -> Verdict {
        match phase(&self.next) {
            Phase::Calling | Phase::Answered | Phase::Live => {
                self.dial_went_out();
                self.over_now(result, reason)
            }
            Phase::Waiting => Verdict::Ignored(WhyIgnored::NotInFlight),
            Phase::Finished => Verdict::Ignored(WhyIgnored::Finished),
        }
    }

    fn over_now(&mut self, result: ResultCode, reason: StatusReason) -> Verdict {
        self.next.shows_call = true;
        self.finish(if self.next.opted_out { ResultCode::OptedOut } else { result }, reason)
    }

    /// The list is served at once and the result at the end of the call, whose end cause and length belong to
    /// it. A wish that is found after the call (in its transcript) is kept too; it does not rewrite the
    /// result.
    fn opted_out(&mut self) -> Verdict {
        if self.next.opted_out {
            return Verdict::Ignored(WhyIgnored::AlreadyPast);
        }
        match phase(&self.next) {
            Phase::Waiting | Phase::Finished if !self.next.ever_dialled() => {
                return Verdict::Ignored(WhyIgnored::NotInFlight);
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
        Verdict::Applied
    }

    fn unsettled(&mut self) -> Verdict {
        match phase(&self.next) {
            Phase::Answered | Phase::Live => self.over(ResultCode::Connected, StatusReason::Unsettled),
            Phase::Calling | Phase::Waiting | Phase::Finished => {
                self.over(ResultCode::Failed, StatusReason::Unsettled)
            }
        }
    }

    fn call_record_missing(&mut self) -> Verdict {
        let verdict = self.over(ResultCode::Failed, StatusReason::CallRecordMissing);
        // There is nothing that `callId` could show.
        self.next.shows_call = false;
        verdict
    }

    fn finish(&mut self, result: ResultCode, reason: StatusReason) -> Verdict {
        self.next.finish(result, Some(reason), self.now, &mut self.actions);
        Verdict::Applied
    }
}

//! The state machine of a row of a calling list (docs/contract/campaigns.md#rows). Pure: the same row, event and time
//! give the same decision. What blocks the whole campaign (its schedule, the wallet, lines, the agent) is checked
//! before and changes no row.

use super::codes::{HeldReason, RowFailure, RowState};
use super::list::{CountedState, Tally};
use crate::call::{EndCause, Progress, Stage, Status};
use crate::compliance::Gate;
pub use crate::due_dial::{Act as Action, DueFacts, PROVIDER_RECHECK};
use crate::due_dial::{Check, Obstacle};
use crate::time::{DAY, HOUR, MINUTE, SECOND, Timestamp};

/// Retries of a row that the carrier refuses before any ring, at least; as for scheduled calls.
pub const PROVIDER_RETRIES: u8 = 2;

/// Recheck interval of a row whose number is in a call, milliseconds.
pub const ON_CALL_RECHECK: i64 = crate::due_dial::LINES_RECHECK;

/// Longest interval until the dialler checks whether the call of a row still lives, milliseconds. Facts of the call
/// come by themselves; this is for lost ones.
pub const IN_FLIGHT_LOOK: i64 = 15 * MINUTE;

/// A row in the form of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub standing: CountedState,
    /// Status of the last call; `blocked` when a gate refused it.
    pub dial_status: Option<Status>,
    /// Why it waits, while it is held.
    pub held_reason: Option<HeldReason>,
    /// Dials, including the current one.
    pub attempts: i64,
    /// Dials in a row that the carrier refused before any ring; they are not attempts.
    pub refusals: i64,
    /// Why it was given up without a call.
    pub failure: Option<RowFailure>,
    /// The last of them.
    pub last_attempt_at: Option<Timestamp>,
    /// Its next check; `None` when nothing is left to do.
    pub look_at: Option<Timestamp>,
    /// The person was erased: it is never dialled again.
    pub erased: bool,
}

/// How often and when an attempt is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Attempts after the first one.
    pub count: u8,
    /// From the end of one to the next, minutes.
    pub cooldown_minutes: i64,
}

/// Checks of the whole campaign, before the row's own; of a row that lacks nothing.
pub const CAMPAIGN_CHECKS: &[Check] = &[Check::AgentAndWorkspace, Check::OwnNumber, Check::Providers];

/// Checks of a row before it is dialled, in this order.
pub const CHECKS: &[Check] = &[Check::Row, Check::Gates, Check::NumberFree, Check::CallerIds];

/// What a row needs from the campaign's workspace and carrier; without it the campaign stops.
pub const MEANS: &[Check] = &[Check::Balance, Check::Line, Check::Carrier];

/// The decision about a due row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// The row is stored as decided.
    Row(Step),
    /// The campaign stops for now, and the row is unchanged.
    Stop(Obstacle),
}

/// Decides about a due row: first what blocks the campaign, then the row; `None` when the row is not due.
pub fn decide(row: &Row, facts: &DueFacts, retries: Retries, now: Timestamp) -> Option<Due> {
    let campaign = facts.obstacle(CAMPAIGN_CHECKS).filter(|_| facts.unfit.is_none());
    // Its own number is wrong for everybody on the list.
    let series = Obstacle::Blocked(Gate::NumberSeries);
    let means = || match facts.obstacle(CHECKS) {
        _ if !retries.allow(row.attempts) => None,
        None => facts.obstacle(MEANS),
        Some(obstacle) => Some(obstacle).filter(|obstacle| *obstacle == series),
    };
    match campaign.or_else(means) {
        Some(obstacle) => Some(Due::Stop(obstacle)),
        None => step(row, Event::Due(*facts), retries, now).map(Due::Row),
    }
}

/// How a call of a row ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Answered,
    /// Nobody answered, the line was busy, a machine answered, or the network or the agent failed.
    NotReached,
    /// A retry is pointless: no such number, rejected, hung up on request, or opted out.
    Hopeless,
    /// It is unknown whether a dial went out.
    PossiblyPlaced,
}

impl Ending {
    /// How a call ended; `None` while it lives.
    pub fn of(call: &Progress) -> Option<Self> {
        if call.status.stage() != Stage::Ended {
            return None;
        }
        let cause = call.end_cause.as_deref().unwrap_or_default();
        let again = if call.opted_out { Ending::Hopeless } else { Ending::NotReached };
        Some(match call.status {
            Status::Completed if call.met_no_person() => again,
            Status::Completed => Ending::Answered,
            Status::Cancelled => Ending::Hopeless,
            Status::NoAnswer | Status::Busy => again,
            Status::Failed => match cause {
                "possibly_placed" => Ending::PossiblyPlaced,
                "rejected" | "invalid_number" | "sip_404" | "sip_484" | "sip_603" | "sip_604" => {
                    Ending::Hopeless
                }
                _ if cause == EndCause::ApiHangup.as_str() => Ending::Hopeless,
                _ => again,
            },
            // Not ended.
            Status::Queued | Status::Ringing | Status::InProgress | Status::Blocked => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It is due, and nothing blocks the campaign.
    Due(DueFacts),
    /// Its call goes on and has this status now.
    Lives(Status),
    /// The carrier refused before any ring: nobody was called, and this was no attempt.
    NotPlaced,
    /// Its call is over, with this status.
    Over(Ending, Status),
    /// There is no record of its call any more.
    CallMissing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub next: Row,
    /// Side effects for the caller.
    pub action: Action,
}

impl Retries {
    /// Of somebody who is never called again.
    pub const NONE: Self = Self { count: 0, cooldown_minutes: 0 };

    /// Whether another attempt is allowed after this many.
    pub fn allow(self, attempts: i64) -> bool {
        attempts <= i64::from(self.count)
    }

    /// When the next attempt is due after one that ended then.
    fn due(self, ended_at: Timestamp) -> Timestamp {
        ended_at.plus(self.cooldown_minutes.saturating_mul(MINUTE))
    }
}

impl Row {
    /// Whether it waits to be dialled.
    pub fn waits(&self) -> bool {
        match self.standing.state {
            RowState::Queued | RowState::Held => true,
            RowState::Unreached => self.standing.retryable,
            RowState::InProgress | RowState::Reached | RowState::Invalid => false,
        }
    }

    fn at(self, state: RowState) -> Self {
        Self {
            standing: CountedState { state, retryable: false, blocked: false },
            held_reason: None,
            failure: None,
            look_at: None,
            ..self
        }
    }

    fn given_up(self, why: RowFailure) -> Self {
        Self { dial_status: Some(Status::Failed), failure: Some(why), ..self.at(RowState::Unreached) }
    }

    fn held(self, reason: HeldReason, until: Timestamp, now: Timestamp) -> Self {
        // A time in the past would be due again at once, in an endless loop.
        let until = until.max(now.plus(SECOND));
        Self { held_reason: Some(reason), look_at: Some(until), ..self.at(RowState::Held) }
    }
}

/// Whether nobody on a list can still be reached by its campaign. An empty list is not exhausted.
pub fn is_exhausted(rows: &Tally) -> bool {
    rows.total > 0 && rows.queued + rows.held + rows.in_progress + rows.retryable == 0
}

/// The effect of an event on a row; `None` when it changes nothing.
pub fn step(row: &Row, event: Event, retries: Retries, now: Timestamp) -> Option<Step> {
    let store = |next: Row| Some(Step { next, action: Action::Store });
    if let Event::Due(facts) = event {
        let due = row.waits() && !row.erased && row.look_at.is_some_and(|at| at <= now);
        return if due { Some(when_due(row, &facts, retries, now)) } else { None };
    }
    if row.standing.state != RowState::InProgress {
        // A late or repeated report.
        return None;
    }
    match event {
        Event::Due(_) => None,
        Event::Lives(status) => {
            // A planned time stays unless it has come.
            let look_at = row.look_at.filter(|at| *at > now).unwrap_or(now.plus(IN_FLIGHT_LOOK));
            store(Row { dial_status: Some(status), look_at: Some(look_at), refusals: 0, ..*row })
        }
        Event::NotPlaced => {
            let attempts = (row.attempts - 1).max(0);
            let last_attempt_at = row.last_attempt_at.filter(|_| attempts > 0);
            let refusals = row.refusals.saturating_add(1);
            let row = Row { attempts, refusals, last_attempt_at, dial_status: None, ..*row };
            store(match (row.erased, attempts) {
                (false, _) if refusals > i64::from(retries.count.max(PROVIDER_RETRIES)) => {
                    row.given_up(RowFailure::Provider)
                }
                (false, _) => row.held(HeldReason::Provider, now.plus(PROVIDER_RECHECK), now),
                (true, 0) => row.at(RowState::Invalid),
                (true, _) => row.at(RowState::Unreached),
            })
        }
        Event::Over(ending, status) => {
            let row = Row { dial_status: Some(status), refusals: 0, ..*row };
            store(over(row, ending, retries, now))
        }
        Event::CallMissing => {
            let row = Row { dial_status: Some(Status::Failed), ..*row };
            store(over(row, Ending::PossiblyPlaced, retries, now))
        }
    }
}

fn when_due(row: &Row, facts: &DueFacts, retries: Retries, now: Timestamp) -> Step {
    let store = |next: Row| Step { next, action: Action::Store };
    if !retries.allow(row.attempts) {
        // Fewer attempts are allowed than when the last one ended.
        return store(row.at(RowState::Unreached));
    }
    match facts.obstacle(CHECKS) {
        Some(obstacle) => prevented_by(row, obstacle, facts, now),
        None => place(row, now),
    }
}

fn prevented_by(row: &Row, obstacle: Obstacle, facts: &DueFacts, now: Timestamp) -> Step {
    let store = |next: Row| Step { next, action: Action::Store };
    match obstacle {
        Obstacle::Unfit(why) => store(row.given_up(why)),
        Obstacle::Blocked(gate @ (Gate::Dnd | Gate::OptOut | Gate::Consent)) => {
            let next = Row { dial_status: Some(Status::Blocked), ..row.at(RowState::Unreached) };
            // Who was called before counts as called.
            let standing = CountedState { blocked: row.attempts == 0, ..next.standing };
            Step { next: Row { standing, ..next }, action: Action::Block(gate) }
        }
        Obstacle::Blocked(Gate::CallingWindow) => {
            // Hours without any opening are checked again: the pack may change.
            let opening = facts.opening.unwrap_or(now.plus(DAY));
            store(row.held(HeldReason::CallingWindow, opening, now))
        }
        Obstacle::Blocked(gate @ Gate::FrequencyCap) => {
            let next = row.held(HeldReason::Frequency, facts.cap_ends.unwrap_or(now.plus(HOUR)), now);
            Step { next: Row { dial_status: Some(Status::Blocked), ..next }, action: Action::Block(gate) }
        }
        // It blocks the campaign ([`decide`]).
        Obstacle::Blocked(Gate::NumberSeries) => store(Row { look_at: Some(now.plus(HOUR)), ..*row }),
        Obstacle::OnCall => store(Row { look_at: Some(now.plus(ON_CALL_RECHECK)), ..*row }),
        Obstacle::CallerIds(until) => store(row.held(HeldReason::CallerIds, until, now)),
        // Not among the checks of a row: they block the campaign, and the row waits for it.
        Obstacle::KeyRevoked
        | Obstacle::Refused(_)
        | Obstacle::OwnNumber
        | Obstacle::Providers
        | Obstacle::Balance
        | Obstacle::Line
        | Obstacle::CarrierRests => store(*row),
    }
}

fn place(row: &Row, now: Timestamp) -> Step {
    let next = Row {
        dial_status: Some(Status::Queued),
        attempts: row.attempts + 1,
        last_attempt_at: Some(now),
        look_at: Some(now.plus(IN_FLIGHT_LOOK)),
        ..row.at(RowState::InProgress)
    };
    Step { next, action: Action::Place }
}

fn over(row: Row, ending: Ending, retries: Retries, now: Timestamp) -> Row {
    let again = match ending {
        Ending::Answered => return row.at(RowState::Reached),
        Ending::NotReached => !row.erased && retries.allow(row.attempts),
        Ending::Hopeless | Ending::PossiblyPlaced => false,
    };
    let next = row.at(RowState::Unreached);
    if !again {
        return next;
    }
    retryable(next, retries.due(now))
}

fn retryable(row: Row, at: Timestamp) -> Row {
    Row { standing: CountedState { retryable: true, ..row.standing }, look_at: Some(at), ..row }
}

/// The effect of changed retry settings on a row that was tried before; `None`: nothing. `last` is how and when its
/// last call ended, if there is a record of it.
pub fn retuned(row: &Row, last: Option<(Ending, Timestamp)>, retries: Retries) -> Option<Row> {
    if row.erased || row.attempts == 0 {
        return None;
    }
    let next = match row.standing.state {
        RowState::Held if !retries.allow(row.attempts) => row.at(RowState::Unreached),
        // A gate's refusal is final.
        RowState::Unreached if row.dial_status != Some(Status::Blocked) => {
            let Some((Ending::NotReached, ended_at)) = last else { return None };
            let given_up = row.at(RowState::Unreached);
            if retries.allow(row.attempts) { retryable(given_up, retries.due(ended_at)) } else { given_up }
        }
        RowState::Held
        | RowState::Unreached
        | RowState::Queued
        | RowState::InProgress
        | RowState::Reached
        | RowState::Invalid => return None,
    };
    (next != *row).then_some(next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::call::{Fact, step as call_step};

    const NOW: Timestamp = Timestamp(1_800_000_000_000);
    const TWO: Retries = Retries { count: 2, cooldown_minutes: 30 };

    fn queued() -> Row {
        Row {
            standing: CountedState::fresh(true),
            dial_status: None,
            held_reason: None,
            attempts: 0,
            refusals: 0,
            failure: None,
            last_attempt_at: None,
            look_at: Some(Timestamp(0)),
            erased: false,
        }
    }

    fn due(facts: DueFacts) -> Step {
        step(&queued(), Event::Due(facts), TWO, NOW).unwrap()
    }

    fn blocked(gate: Gate) -> DueFacts {
        DueFacts { block: Some(gate), ..DueFacts::default() }
    }

    fn dialled() -> Row {
        let placed = due(DueFacts::default());
        assert_eq!(placed.action, Action::Place);
        placed.next
    }

    fn told(row: &Row, event: Event, retries: Retries) -> Row {
        step(row, event, retries, NOW).unwrap().next
    }

    fn shown(row: &Row) -> (&'static str, Option<&'static str>, i64, bool, bool) {
        let CountedState { state, retryable, blocked } = row.standing;
        (state.as_str(), row.dial_status.map(Status::as_str), row.attempts, retryable, blocked)
    }

    #[test]
    fn a_free_way_is_dialled() {
        let row = dialled();
        assert_eq!(shown(&row), ("in_progress", Some("queued"), 1, false, false));
        assert_eq!((row.last_attempt_at, row.look_at), (Some(NOW), Some(NOW.plus(IN_FLIGHT_LOOK))));
    }

    #[test]
    fn gates_refuse_for_good_or_for_a_while() {
        for gate in [Gate::Dnd, Gate::OptOut, Gate::Consent] {
            let step = due(blocked(gate));
            assert_eq!(step.action, Action::Block(gate));
            assert_eq!(shown(&step.next), ("unreached", Some("blocked"), 0, false, true));
            assert_eq!(step.next.look_at, None);
        }
        let opening = Some(NOW.plus(HOUR));
        let window = due(DueFacts { opening, ..blocked(Gate::CallingWindow) });
        assert_eq!(window.action, Action::Store, "it is not a refused dial");
        assert_eq!(shown(&window.next), ("held", None, 0, false, false));
        assert_eq!(
            (window.next.held_reason, window.next.look_at),
            (Some(HeldReason::CallingWindow), opening)
        );
        let cap = due(DueFacts { cap_ends: opening, ..blocked(Gate::FrequencyCap) });
        assert_eq!(cap.action, Action::Block(Gate::FrequencyCap));
        assert_eq!(shown(&cap.next), ("held", Some("blocked"), 0, false, false));
        assert_eq!((cap.next.held_reason, cap.next.look_at), (Some(HeldReason::Frequency), opening));
    }

    #[test]
    fn a_number_of_another_series_stops_the_campaign_and_leaves_its_list() {
        let facts = blocked(Gate::NumberSeries);
        let stop = Some(Due::Stop(Obstacle::Blocked(Gate::NumberSeries)));
        assert_eq!(decide(&queued(), &facts, TWO, NOW), stop);
        // What concerns the person alone comes first, and who is called no more stops nobody.
        let refused = decide(&queued(), &blocked(Gate::OptOut), TWO, NOW);
        assert!(matches!(refused, Some(Due::Row(_))), "{refused:?}");
        let tried = Row { attempts: 9, ..queued() };
        assert!(matches!(decide(&tried, &facts, TWO, NOW), Some(Due::Row(_))));
    }

    #[test]
    fn who_was_called_once_is_not_blocked() {
        let row = told(&dialled(), Event::Over(Ending::NotReached, Status::NoAnswer), TWO);
        let later = NOW.plus(30 * MINUTE);
        let refused = step(&row, Event::Due(blocked(Gate::OptOut)), TWO, later).unwrap();
        assert_eq!(shown(&refused.next), ("unreached", Some("blocked"), 1, false, false));
    }

    #[test]
    fn an_opening_in_the_past_does_not_come_due_at_once() {
        let past = DueFacts { opening: Some(NOW.plus(-5)), ..blocked(Gate::CallingWindow) };
        assert_eq!(due(past).next.look_at, Some(NOW.plus(SECOND)));
        assert_eq!(due(blocked(Gate::CallingWindow)).next.look_at, Some(NOW.plus(DAY)));
    }

    #[test]
    fn own_numbers_at_their_caps_hold_it_until_the_next_day() {
        let until = NOW.plus(8 * HOUR);
        let held = due(DueFacts { callers_rest_until: Some(until), ..DueFacts::default() }).next;
        assert_eq!((held.held_reason, held.look_at), (Some(HeldReason::CallerIds), Some(until)));
    }

    #[test]
    fn without_what_the_agent_needs_it_is_given_up() {
        let step =
            due(DueFacts { unfit: Some(RowFailure::MissingVariables), ..blocked(Gate::CallingWindow) });
        assert_eq!(shown(&step.next), ("unreached", Some("failed"), 0, false, false));
        assert_eq!((step.action, step.next.look_at), (Action::Store, None));
        assert_eq!(step.next.failure, Some(RowFailure::MissingVariables));
    }

    #[test]
    fn it_is_not_dialled_before_its_time_or_twice_at_once() {
        let early = Row { look_at: Some(NOW.plus(1)), ..queued() };
        assert_eq!(step(&early, Event::Due(DueFacts::default()), TWO, NOW), None);
        let later = NOW.plus(IN_FLIGHT_LOOK);
        assert_eq!(step(&dialled(), Event::Due(DueFacts::default()), TWO, later), None);
    }

    #[test]
    fn facts_of_its_call() {
        let row = told(&dialled(), Event::Lives(Status::Ringing), TWO);
        assert_eq!(shown(&row), ("in_progress", Some("ringing"), 1, false, false));
        assert_eq!(row.look_at, dialled().look_at);
        let late = step(&row, Event::Lives(Status::InProgress), TWO, NOW.plus(IN_FLIGHT_LOOK)).unwrap().next;
        assert_eq!(late.look_at, Some(NOW.plus(2 * IN_FLIGHT_LOOK)), "a look that has come is planned anew");
        let reached = told(&row, Event::Over(Ending::Answered, Status::Completed), TWO);
        assert_eq!(shown(&reached), ("reached", Some("completed"), 1, false, false));
        assert_eq!(reached.look_at, None);
    }

    #[test]
    fn a_refusal_before_any_ring_is_no_attempt() {
        let held = told(&dialled(), Event::NotPlaced, TWO);
        assert_eq!(shown(&held), ("held", None, 0, false, false));
        assert_eq!(
            (held.held_reason, held.look_at, held.last_attempt_at),
            (Some(HeldReason::Provider), Some(NOW.plus(PROVIDER_RECHECK)), None)
        );
    }

    #[test]
    fn who_cannot_be_called_by_this_carrier_is_given_up_after_some_tries() {
        for (count, tries) in [(0, 3), (2, 3), (5, 6)] {
            let retries = Retries { count, cooldown_minutes: 0 };
            let (mut row, mut now, mut dials) = (queued(), NOW, 0);
            while row.look_at.is_some() {
                row = step(&row, Event::Due(DueFacts::default()), retries, now).unwrap().next;
                row = step(&row, Event::NotPlaced, retries, now).unwrap().next;
                (dials, now) = (dials + 1, now.plus(PROVIDER_RECHECK));
            }
            assert_eq!(dials, tries, "{count}");
            assert_eq!(shown(&row), ("unreached", Some("failed"), 0, false, false));
            assert_eq!(row.failure, Some(RowFailure::Provider));
        }
        let refused = told(&dialled(), Event::NotPlaced, TWO);
        let dialled = step(&refused, Event::Due(DueFacts::default()), TWO, NOW.plus(HOUR)).unwrap().next;
        assert_eq!((refused.refusals, dialled.refusals), (1, 1));
        assert_eq!(told(&dialled, Event::Lives(Status::Ringing), TWO).refusals, 0, "the carrier took it");
    }

    #[test]
    fn who_is_in_a_call_is_called_afterwards() {
        let talks = DueFacts { on_call: true, ..DueFacts::default() };
        let waits = due(talks);
        assert_eq!(waits.action, Action::Store);
        assert_eq!(waits.next, Row { look_at: Some(NOW.plus(ON_CALL_RECHECK)), ..queued() });
        let refused = due(DueFacts { on_call: true, ..blocked(Gate::Dnd) });
        assert_eq!(refused.action, Action::Block(Gate::Dnd), "what is for good is said at once");
        assert!(talks.obstacle(CHECKS).is_some() && DueFacts::default().obstacle(CHECKS).is_none());
    }

    #[test]
    fn other_retry_settings_hold_for_who_was_tried() {
        let retries = |count, cooldown_minutes| Retries { count, cooldown_minutes };
        let last = Some((Ending::NotReached, NOW));
        let again = told(&dialled(), Event::Over(Ending::NotReached, Status::Busy), TWO);
        let given_up = told(&dialled(), Event::Over(Ending::NotReached, Status::Busy), retries(0, 0));
        assert_eq!(retuned(&again, last, retries(0, 30)), Some(given_up));
        assert_eq!(retuned(&given_up, last, TWO), Some(again));
        let sooner = retuned(&again, last, retries(2, 5)).unwrap();
        assert_eq!(sooner.look_at, Some(NOW.plus(5 * MINUTE)));
        assert_eq!(retuned(&again, last, TWO), None, "nothing changes");
        for never in [Some((Ending::Hopeless, NOW)), Some((Ending::PossiblyPlaced, NOW)), None] {
            assert_eq!(retuned(&given_up, never, TWO), None);
        }
        let later = NOW.plus(30 * MINUTE);
        let closed = step(&again, Event::Due(blocked(Gate::CallingWindow)), TWO, later).unwrap().next;
        assert_eq!(retuned(&closed, last, retries(1, 30)), None, "it goes on waiting");
        assert_eq!(shown(&retuned(&closed, last, retries(0, 30)).unwrap()).0, "unreached");
        let refused = step(&again, Event::Due(blocked(Gate::OptOut)), TWO, later).unwrap().next;
        for untouched in [queued(), dialled(), refused, Row { erased: true, ..again }] {
            assert_eq!(retuned(&untouched, last, retries(10, 0)), None);
        }
    }

    #[test]
    fn who_was_tried_as_often_as_is_asked_now_is_not_tried_again() {
        let again = told(&dialled(), Event::Over(Ending::NotReached, Status::Busy), TWO);
        let later = NOW.plus(30 * MINUTE);
        let none = Retries { count: 0, cooldown_minutes: 0 };
        let step = step(&again, Event::Due(DueFacts::default()), none, later).unwrap();
        assert_eq!(step.action, Action::Store);
        assert_eq!(shown(&step.next), ("unreached", Some("busy"), 1, false, false));
    }

    #[test]
    fn attempts_are_repeated_as_often_as_asked_after_the_cooldown() {
        let mut row = queued();
        let mut now = NOW;
        for attempt in 1..=3 {
            row = step(&row, Event::Due(DueFacts::default()), TWO, now).unwrap().next;
            row = step(&row, Event::Over(Ending::NotReached, Status::Busy), TWO, now).unwrap().next;
            assert_eq!(shown(&row), ("unreached", Some("busy"), attempt, attempt < 3, false));
            assert_eq!(row.look_at, (attempt < 3).then(|| now.plus(30 * MINUTE)));
            now = now.plus(30 * MINUTE);
        }
        assert_eq!(step(&row, Event::Due(DueFacts::default()), TWO, now), None);
    }

    #[test]
    fn what_is_never_repeated() {
        for (event, status) in [
            (Event::Over(Ending::PossiblyPlaced, Status::Failed), "failed"),
            (Event::Over(Ending::Hopeless, Status::Cancelled), "cancelled"),
            (Event::CallMissing, "failed"),
        ] {
            let row = told(&dialled(), event, TWO);
            assert_eq!(shown(&row), ("unreached", Some(status), 1, false, false));
            assert_eq!(row.look_at, None);
        }
    }

    #[test]
    fn who_is_erased_in_a_call_is_not_called_again() {
        let row = Row { erased: true, ..dialled() };
        for (event, state) in [
            (Event::NotPlaced, RowState::Invalid),
            (Event::Over(Ending::Answered, Status::Completed), RowState::Reached),
            (Event::Over(Ending::NotReached, Status::Busy), RowState::Unreached),
            (Event::CallMissing, RowState::Unreached),
        ] {
            let next = told(&row, event, TWO);
            assert_eq!(
                (next.standing, next.look_at),
                (CountedState { state, ..CountedState::fresh(true) }, None)
            );
        }
        let waiting = Row { erased: true, ..queued() };
        assert_eq!(step(&waiting, Event::Due(DueFacts::default()), TWO, NOW), None);
    }

    #[test]
    fn endings_of_calls() {
        let ending = |facts: &[Fact]| {
            let mut call = Progress::placing();
            for fact in facts {
                call = call_step(&call, *fact, NOW).map_or(call, |(next, _)| next);
            }
            Ending::of(&call)
        };
        use Ending::{Answered, Hopeless, NotReached, PossiblyPlaced};
        for (facts, expected) in [
            (&[Fact::Ringing][..], None),
            (&[Fact::Ringing, Fact::Answered], None),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::AgentEnded)], Some(Answered)),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::CallerHangup)], Some(Answered)),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::SilenceTimeout)], Some(Answered)),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::MaxDuration)], Some(Answered)),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::TransferHandoff)], Some(Answered)),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::Error)], Some(Answered)),
            (
                &[Fact::Ringing, Fact::Answered, Fact::OptOutSaid, Fact::Ended(EndCause::AgentEnded)],
                Some(Answered),
            ),
            (&[Fact::Ringing, Fact::Answered, Fact::Lost], Some(Answered)),
            (&[Fact::Ringing, Fact::Answered, Fact::Voicemail], Some(NotReached)),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::NoAnswer)], Some(NotReached)),
            (&[Fact::Ringing, Fact::Answered, Fact::Ended(EndCause::Busy)], Some(NotReached)),
            (&[Fact::Ringing, Fact::Answered, Fact::AgentFailed], Some(NotReached)),
            (&[Fact::Ringing, Fact::Voicemail], Some(NotReached)),
            (&[Fact::Ringing, Fact::NoAnswer], Some(NotReached)),
            (&[Fact::Ringing, Fact::Busy], Some(NotReached)),
            (&[Fact::Ringing, Fact::OptOutSaid, Fact::NoAnswer], Some(Hopeless)),
            (&[Fact::Ringing, Fact::Sip(503)], Some(NotReached)),
            (&[Fact::Ringing, Fact::Sip(480)], Some(NotReached)),
            (&[Fact::Ringing, Fact::Sip(404)], Some(Hopeless)),
            (&[Fact::Ringing, Fact::Sip(603)], Some(Hopeless)),
            (&[Fact::Ringing, Fact::Rejected], Some(Hopeless)),
            (&[Fact::Ringing, Fact::InvalidNumber], Some(Hopeless)),
            (&[Fact::Ringing, Fact::Ended(EndCause::ApiHangup)], Some(Hopeless)),
            (&[Fact::Ringing, Fact::Ended(EndCause::Error)], Some(NotReached)),
            (&[Fact::Ringing, Fact::NotPlaced], Some(NotReached)),
            (&[Fact::Ringing, Fact::Lost], Some(NotReached)),
            (&[Fact::Uncertain], Some(PossiblyPlaced)),
        ] {
            assert_eq!(ending(facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn an_exhausted_list() {
        let tally = |rows: &[Row]| {
            let mut tally = Tally::default();
            rows.iter().for_each(|row| tally.enter(row.standing));
            tally
        };
        let over = told(&dialled(), Event::Over(Ending::Hopeless, Status::Failed), TWO);
        let again = told(&dialled(), Event::Over(Ending::NotReached, Status::Busy), TWO);
        assert!(is_exhausted(&tally(&[over])));
        for open in [queued(), dialled(), again] {
            assert!(!is_exhausted(&tally(&[over, open])));
        }
        assert!(!is_exhausted(&Tally::default()));
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let gate = prop::option::weighted(0.3, prop::sample::select(Gate::ALL.to_vec()));
        let moment = || prop::option::of((-2 * HOUR..48 * HOUR).prop_map(|by| NOW.plus(by)));
        let facts = (
            prop::option::weighted(0.05, Just(RowFailure::MissingVariables)),
            gate,
            moment(),
            moment(),
            prop::option::weighted(0.1, Just(NOW)),
            prop::bool::weighted(0.1),
        );
        let status = || prop::sample::select(Status::ALL.to_vec());
        let ending = prop::sample::select(vec![
            Ending::Answered,
            Ending::NotReached,
            Ending::NotReached,
            Ending::Hopeless,
            Ending::PossiblyPlaced,
        ]);
        prop_oneof![
            6 => facts.prop_map(|(unfit, block, opening, cap_ends, callers_rest_until, on_call)| {
                Event::Due(DueFacts { unfit, block, opening, cap_ends, callers_rest_until, on_call, ..DueFacts::CLEAR })
            }),
            2 => status().prop_map(Event::Lives),
            1 => Just(Event::NotPlaced),
            4 => (ending, status()).prop_map(|(ending, status)| Event::Over(ending, status)),
            1 => Just(Event::CallMissing),
        ]
    }

    proptest! {
        #[test]
        fn a_row_keeps_its_promises(
            events in prop::collection::vec((any_event(), 0i64..3 * HOUR), 0..60),
            count in 0u8..=10,
            cooldown_minutes in 0i64..200,
        ) {
            let retries = Retries { count, cooldown_minutes };
            let (mut row, mut now, mut dials, mut tally) = (queued(), NOW, 0, Tally::default());
            tally.enter(row.standing);
            for (event, later) in events {
                now = now.plus(later);
                let Some(Step { next, action }) = step(&row, event, retries, now) else { continue };
                let terminal = row.look_at.is_none();
                prop_assert!(!terminal, "what has nothing left to do does not change");
                if action == Action::Place {
                    prop_assert!(row.waits() && row.look_at <= Some(now));
                    dials += 1;
                }
                if matches!(event, Event::NotPlaced) {
                    dials -= 1;
                }
                tally.add(&Tally::moved(row.standing, next.standing));
                row = next;
                let CountedState { state, retryable, blocked } = row.standing;
                prop_assert_eq!(row.attempts, dials);
                prop_assert!(row.attempts <= i64::from(count) + 1);
                prop_assert_eq!(row.held_reason.is_some(), state == RowState::Held);
                prop_assert_eq!(row.look_at.is_some(), row.waits() || state == RowState::InProgress);
                prop_assert!(!retryable || state == RowState::Unreached && row.attempts > 0);
                prop_assert!(!blocked || state == RowState::Unreached && row.attempts == 0 && !retryable);
                prop_assert!(state != RowState::Held || row.look_at > Some(now));
                prop_assert!(row.refusals <= i64::from(count.max(PROVIDER_RETRIES)) + 1);
                let mut recount = Tally::default();
                recount.enter(row.standing);
                prop_assert_eq!(tally, recount);
                prop_assert_eq!(is_exhausted(&tally), row.look_at.is_none());
            }
        }
    }
}

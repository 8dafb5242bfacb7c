//! One test a row of docs/contract/scheduled-calls.md#states, and the promises that hold for every sequence
//! of events.

use proptest::prelude::*;

use super::*;
use crate::time::HOUR;

const NOON: Timestamp = Timestamp(1_795_415_400_000);
const CLEAR: Event = Event::Due(DueFacts::CLEAR);
const REFUSED_BY_PROVIDER: Event = Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing);

fn new() -> ScheduledCall {
    schedule(NOON, NOON).unwrap()
}

fn play(call: ScheduledCall, events: &[(Event, Timestamp)]) -> Transition {
    let mut last = Transition { next: call, action: None, outcome: EventOutcome::Applied };
    for (event, now) in events {
        last = step(&last.next, *event, *now);
        assert_eq!(last.outcome, EventOutcome::Applied, "{event:?}");
    }
    last
}

#[track_caller]
fn assert_is(step: &Transition, status: Status, reason: Option<&str>, attempts: u8, next: Option<Timestamp>) {
    let call = &step.next;
    assert_eq!(
        (call.status, call.reason.map(Reason::as_str), call.attempts, call.next_attempt_at),
        (status, reason, attempts, next)
    );
    assert_eq!(step.action, next.map(Action::WakeAt));
}

#[test]
fn a_time_from_now_to_30_days_ahead_is_scheduled() {
    for (ms, expected) in [
        (0, Ok(0)),
        (-5_000, Ok(0)),
        (-5_001, Err(ScheduleError::InPast)),
        (MAX_AHEAD, Ok(MAX_AHEAD)),
        (MAX_AHEAD + 1, Err(ScheduleError::TooFar)),
    ] {
        let call = schedule(NOON.plus(ms), NOON);
        assert_eq!(call.map(|call| call.next_attempt_at), expected.map(|ms| Some(NOON.plus(ms))), "{ms}");
    }
    assert_eq!(
        (ScheduleError::InPast.code(), ScheduleError::TooFar.code()),
        ("scheduled_at_in_past", "scheduled_at_too_far")
    );
    assert_eq!((new().status, new().attempts, new().reason), (Status::Scheduled, 0, None));
}

#[test]
fn due_with_all_checks_passed_is_placed() {
    let placing = play(new(), &[(CLEAR, NOON)]);
    assert_eq!(
        (placing.action, placing.next.dialling, placing.next.status),
        (Some(Action::Place), true, Status::Scheduled)
    );
    assert_is(&play(placing.next, &[(Event::Placed, NOON)]), Status::Placed, None, 1, None);
}

#[test]
fn before_its_time_nothing_happens() {
    let call = schedule(NOON.plus(HOUR), NOON).unwrap();
    assert_eq!(step(&call, CLEAR, NOON).outcome, EventOutcome::Ignored(WhyIgnored::NotDue));
}

#[test]
fn outside_the_hours_it_moves_to_the_opening_without_a_try() {
    let opening = NOON.plus(21 * HOUR);
    let facts = DueFacts { block: Some(Gate::CallingWindow), opening: Some(opening), ..DueFacts::CLEAR };
    let moved = play(new(), &[(Event::Due(facts), NOON)]);
    assert_is(&moved, Status::Scheduled, Some("outside_calling_window"), 0, Some(opening));
    assert_eq!(play(moved.next, &[(CLEAR, opening)]).action, Some(Action::Place));
    let never = DueFacts { opening: None, ..facts };
    assert_is(
        &play(new(), &[(Event::Due(never), NOON)]),
        Status::Failed,
        Some("outside_calling_window"),
        0,
        None,
    );
}

#[test]
fn low_wallet_full_lines_and_provider_errors_are_retried_after_15_minutes_and_fail_at_the_third_try() {
    let broke = DueFacts { balance_ok: false, ..DueFacts::CLEAR };
    let full = DueFacts { line_free: false, ..DueFacts::CLEAR };
    for (events, reason) in [
        (vec![Event::Due(broke)], "insufficient_balance"),
        (vec![Event::Due(full)], "concurrency_full"),
        (vec![CLEAR, REFUSED_BY_PROVIDER], "provider_error"),
    ] {
        let (mut call, mut now) = (new(), NOON);
        for tries in 1..=2 {
            let timed: Vec<_> = events.iter().map(|event| (*event, now)).collect();
            let held = play(call, &timed);
            assert_is(&held, Status::Scheduled, Some(reason), tries, Some(now.plus(15 * MINUTE)));
            (call, now) = (held.next, now.plus(15 * MINUTE));
        }
        let timed: Vec<_> = events.iter().map(|event| (*event, now)).collect();
        assert_is(&play(call, &timed), Status::Failed, Some(reason), 3, None);
    }
}

#[test]
fn a_number_that_must_not_be_called_is_cancelled() {
    for gate in [Gate::Dnd, Gate::OptOut] {
        let facts = DueFacts { block: Some(gate), ..DueFacts::CLEAR };
        assert_is(
            &play(new(), &[(Event::Due(facts), NOON)]),
            Status::Cancelled,
            Some(gate.as_str()),
            1,
            None,
        );
    }
}

#[test]
fn anything_else_fails_with_its_reason() {
    for refusal in Refusal::ALL {
        let facts = DueFacts { refusal: Some(*refusal), ..DueFacts::CLEAR };
        assert_is(
            &play(new(), &[(Event::Due(facts), NOON)]),
            Status::Failed,
            Some(refusal.as_str()),
            1,
            None,
        );
        let late = Event::PlacementFailed(PlacementFailure::Refused(*refusal));
        assert_is(
            &play(new(), &[(CLEAR, NOON), (late, NOON)]),
            Status::Failed,
            Some(refusal.as_str()),
            1,
            None,
        );
    }
    for (facts, reason) in [
        (DueFacts { block: Some(Gate::FrequencyCap), ..DueFacts::CLEAR }, "frequency_cap"),
        (DueFacts { block: Some(Gate::Consent), ..DueFacts::CLEAR }, "consent"),
        (DueFacts { from_number_ok: false, ..DueFacts::CLEAR }, "from_number_unavailable"),
        (DueFacts { providers_ok: false, ..DueFacts::CLEAR }, "india_residency_unavailable"),
    ] {
        assert_is(&play(new(), &[(Event::Due(facts), NOON)]), Status::Failed, Some(reason), 1, None);
    }
}

#[test]
fn a_carrier_that_rests_is_waited_for_and_nothing_is_counted() {
    let rests = Event::Due(DueFacts { carrier_rests: true, ..DueFacts::CLEAR });
    let mut call = new();
    for minute in 0..10 {
        let held = step(&call, rests, NOON.plus(minute * MINUTE));
        assert_is(
            &held,
            Status::Scheduled,
            Some("provider_error"),
            0,
            Some(NOON.plus((minute + 1) * MINUTE)),
        );
        call = held.next;
    }
}

#[test]
fn an_uncertain_dial_fails_and_is_never_retried() {
    let uncertain = Event::PlacementFailed(PlacementFailure::Uncertain);
    let failed = play(new(), &[(CLEAR, NOON), (uncertain, NOON)]);
    assert_is(&failed, Status::Failed, Some("possibly_placed"), 1, None);
    assert_eq!(
        step(&failed.next, CLEAR, NOON.plus(HOUR)).outcome,
        EventOutcome::Ignored(WhyIgnored::Finished)
    );
}

#[test]
fn delete_cancels_while_it_waits() {
    assert_is(&play(new(), &[(Event::Cancel, NOON)]), Status::Cancelled, None, 0, None);
    let held = play(new(), &[(CLEAR, NOON), (REFUSED_BY_PROVIDER, NOON)]).next;
    assert_is(&play(held, &[(Event::Cancel, NOON)]), Status::Cancelled, None, 1, None);
}

#[test]
fn dialled_and_ended_calls_are_not_cancellable() {
    let dialling = play(new(), &[(CLEAR, NOON)]).next;
    let placed = play(dialling, &[(Event::Placed, NOON)]).next;
    let failed = play(dialling, &[(Event::PlacementFailed(PlacementFailure::Uncertain), NOON)]).next;
    let cancelled = play(new(), &[(Event::Cancel, NOON)]).next;
    for call in [dialling, placed, failed, cancelled] {
        let refused = step(&call, Event::Cancel, NOON);
        assert_eq!((refused.outcome, refused.next), (EventOutcome::NotCancellable, call));
    }
}

#[test]
fn erasure_cancels_and_stops_further_tries() {
    assert_is(&play(new(), &[(Event::Erased, NOON)]), Status::Cancelled, Some("erased"), 0, None);
    let dialling = play(new(), &[(CLEAR, NOON), (Event::Erased, NOON)]).next;
    assert_is(&play(dialling, &[(REFUSED_BY_PROVIDER, NOON)]), Status::Cancelled, Some("erased"), 1, None);
    assert_is(&play(dialling, &[(Event::Placed, NOON)]), Status::Placed, None, 1, None);
}

#[test]
fn a_revoked_key_cancels_what_waits_and_stops_no_dial_under_way() {
    assert_is(
        &play(new(), &[(Event::KeyRevoked, NOON)]),
        Status::Cancelled,
        Some("api_key_revoked"),
        0,
        None,
    );
    let revoked = Event::Due(DueFacts { key_revoked: true, block: Some(Gate::Dnd), ..DueFacts::CLEAR });
    assert_is(&play(new(), &[(revoked, NOON)]), Status::Cancelled, Some("api_key_revoked"), 0, None);
    let dialling = play(new(), &[(CLEAR, NOON)]).next;
    assert_eq!(step(&dialling, Event::KeyRevoked, NOON).outcome, EventOutcome::Ignored(WhyIgnored::InFlight));
    let refused = play(dialling, &[(REFUSED_BY_PROVIDER, NOON)]).next;
    assert_is(
        &play(refused, &[(revoked, NOON.plus(RETRY_AFTER))]),
        Status::Cancelled,
        Some("api_key_revoked"),
        1,
        None,
    );
}

#[test]
fn a_number_that_is_in_a_call_is_waited_for_without_a_try() {
    let talks = Event::Due(DueFacts { on_call: true, ..DueFacts::CLEAR });
    let next = NOON.plus(ON_CALL_RECHECK);
    assert_is(&play(new(), &[(talks, NOON)]), Status::Scheduled, Some("concurrency_full"), 0, Some(next));
    // A permanent obstacle is reported at once.
    let gone =
        Event::Due(DueFacts { on_call: true, refusal: Some(Refusal::AgentNotFound), ..DueFacts::CLEAR });
    assert_is(&play(new(), &[(gone, NOON)]), Status::Failed, Some("agent_not_found"), 1, None);
}

#[test]
fn late_and_repeated_answers_change_nothing() {
    let dialling = play(new(), &[(CLEAR, NOON)]).next;
    assert_eq!(step(&dialling, CLEAR, NOON).outcome, EventOutcome::Ignored(WhyIgnored::InFlight));
    assert_eq!(step(&new(), Event::Placed, NOON).outcome, EventOutcome::Ignored(WhyIgnored::NotInFlight));
    assert_eq!(
        step(&new(), REFUSED_BY_PROVIDER, NOON).outcome,
        EventOutcome::Ignored(WhyIgnored::NotInFlight)
    );
    let placed = play(dialling, &[(Event::Placed, NOON)]).next;
    for event in [CLEAR, Event::Placed, REFUSED_BY_PROVIDER, Event::Erased, Event::KeyRevoked] {
        assert_eq!(step(&placed, event, NOON).outcome, EventOutcome::Ignored(WhyIgnored::Finished));
    }
}

#[test]
fn words_come_and_go() {
    for &status in Status::ALL {
        assert_eq!(Status::parse(status.as_str()), Some(status));
    }
    let reasons = Reason::PLAIN
        .into_iter()
        .chain(Gate::ALL.iter().copied().map(Reason::Blocked))
        .chain(Refusal::ALL.iter().copied().map(Reason::Refused));
    for reason in reasons {
        assert_eq!(Reason::parse(reason.as_str()), Some(reason));
    }
    assert_eq!(Reason::parse("because"), None);
}

fn event() -> impl Strategy<Value = Event> {
    let due = (
        prop::option::weighted(0.2, prop::sample::select(Gate::ALL)),
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::option::of(0i64..48),
        any::<bool>(),
    )
        .prop_map(|(block, balance_ok, line_free, opening, on_call)| {
            let opening = opening.map(|hours| NOON.plus(hours * HOUR));
            Event::Due(DueFacts { block, balance_ok, line_free, opening, on_call, ..DueFacts::CLEAR })
        });
    let failure = prop::sample::select(vec![
        PlacementFailure::ProviderErrorBeforeRing,
        PlacementFailure::Uncertain,
        PlacementFailure::Refused(Refusal::FlowNotReady),
    ]);
    prop_oneof![6 => due, 2 => Just(REFUSED_BY_PROVIDER), 1 => failure.prop_map(Event::PlacementFailed), 1 => prop::sample::select(vec![Event::Placed, Event::Cancel, Event::Erased, Event::KeyRevoked])]
}

proptest! {
    #[test]
    fn every_history_keeps_the_promises(history in prop::collection::vec((event(), prop_oneof![Just(0i64), Just(15 * MINUTE), 0..DAY]), 1..40)) {
        let (mut call, mut now, mut dials) = (new(), NOON, 0);
        for (event, pause) in history {
            now = now.plus(pause);
            let step = step(&call, event, now);
            let over = call.status != Status::Scheduled;
            prop_assert!(!over || step.next == call, "what is over stays as it is");
            prop_assert!(step.outcome == EventOutcome::Applied || (step.next == call && step.action.is_none()));
            prop_assert!(step.next.attempts <= MAX_TRIES);
            prop_assert_eq!(step.next.next_attempt_at.is_some(), step.next.status == Status::Scheduled && !step.next.dialling);
            if step.action == Some(Action::Place) {
                let Event::Due(facts) = event else { panic!("only a due call is dialled") };
                prop_assert!(!call.dialling && !call.erased && facts.block.is_none() && facts.balance_ok && facts.line_free && !facts.on_call);
                dials += 1;
            }
            call = step.next;
        }
        prop_assert!(dials <= MAX_TRIES);
    }
}

//! Invariants of every sequence of events.

use proptest::prelude::*;

use super::*;

fn due_facts() -> impl Strategy<Value = DueFacts> {
    let gate = prop_oneof![6 => Just(None), 1 => prop::sample::select(Gate::ALL).prop_map(Some)];
    let refusal = prop_oneof![9 => Just(None), 1 => prop::sample::select(Refusal::ALL).prop_map(Some)];
    (
        prop::bool::weighted(0.05),
        refusal,
        prop::bool::weighted(0.95),
        prop::bool::weighted(0.95),
        gate,
        prop::option::of(0i64..48),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |(
                key_revoked,
                refusal,
                from_number_ok,
                providers_ok,
                block,
                opening,
                balance_ok,
                line_free,
                on_call,
            )| {
                let opening = opening
                    .map(|hours| NOON.plus(hours * HOUR))
                    .map(|opening| Release { opening, closing: opening.plus(HOUR) });
                DueFacts {
                    key_revoked,
                    refusal,
                    from_number_ok,
                    providers_ok,
                    block,
                    release: opening,
                    balance_ok,
                    line_free,
                    on_call,
                    ..DueFacts::CLEAR
                }
            },
        )
}

fn event() -> impl Strategy<Value = Event> {
    let plain = [
        Event::Placed,
        Event::Answered,
        Event::AgentConnected,
        Event::AgentFailedToStart,
        Event::Voicemail,
        Event::NoAnswer,
        Event::Busy,
        Event::InvalidNumber,
        Event::Rejected,
        Event::OptedOut,
        Event::Cancel,
        Event::KeyRevoked,
        Event::Erased,
        Event::Expire,
        Event::Unsettled,
        Event::CallRecordMissing,
        Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing),
        Event::PlacementFailed(PlacementFailure::Uncertain),
        Event::PlacementFailed(PlacementFailure::Refused(Refusal::PlacementRefused)),
    ];
    prop_oneof![
        12 => due_facts().prop_map(Event::Due),
        6 => prop::sample::select(vec![Event::Placed, Event::NoAnswer, Event::Busy, Event::AgentFailedToStart, plain[16]]),
        4 => prop::sample::select(plain.to_vec()),
        1 => prop::sample::select(EndCause::ALL).prop_map(Event::Ended),
        1 => (100u16..700).prop_map(Event::Sip),
    ]
}

fn check(before: &Nudge, event: Event, now: Timestamp, step: &Transition) {
    let after = &step.next;
    let finishes = step.actions.iter().filter(|action| **action == Action::Emit(Notice::Finished)).count();
    let was_finished = before.status == Status::Finished;
    assert_eq!(
        finishes,
        usize::from(!was_finished && after.status == Status::Finished),
        "one finished event, at the finish"
    );
    if was_finished {
        assert_eq!(
            (after.status, after.result, after.status_reason, after.finished_at),
            (before.status, before.result, before.status_reason, before.finished_at)
        );
    }
    if step.outcome != EventOutcome::Applied {
        assert_eq!((after, step.actions.len()), (before, 0));
    }
    assert_eq!(after.result.is_some(), after.status == Status::Finished);
    assert_eq!(after.next_attempt_at.is_some(), after.is_pending());
    assert!(after.attempts <= 1 + after.retry.max_retries());
    assert!(
        !(after.ever_dialled() && after.result == Some(ResultCode::Expired)),
        "a dialled nudge never expires"
    );
    assert_eq!(after.block_reason.is_some(), after.result == Some(ResultCode::Blocked));
    if step.actions.contains(&Action::Place) {
        let Event::Due(facts) = event else { panic!("only a due nudge is dialled") };
        assert!(before.is_pending() && !before.erased && !before.opted_out && now <= before.expires_at);
        assert!(facts.block.is_none() && !facts.key_revoked && facts.refusal.is_none());
        assert!(facts.from_number_ok && facts.providers_ok && facts.balance_ok && facts.line_free);
        assert_eq!((after.status, after.flight), (Status::Queued, Flight::Placing));
    }
    if after.status == Status::Scheduled && step.outcome == EventOutcome::Applied {
        assert!(
            step.actions.iter().any(|action| Some(*action) == after.next_attempt_at.map(Action::WakeAt)),
            "every hold wakes"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_history_keeps_the_promises(
        max_retries in 0i64..=2, reject in any::<bool>(), life in 1i64..72,
        history in prop::collection::vec((event(), prop_oneof![Just(0i64), 0..HOUR, Just(30 * MINUTE)]), 1..60),
    ) {
        let hours = hours();
        let outside_window = if reject { OutsideWindow::Reject } else { OutsideWindow::Queue };
        let request = Request { expires_at: Some(NOON.plus(life * HOUR)), outside_window, retry: retrying(max_retries), ..request(&hours) };
        let mut nudge = admit(&request, NOON).unwrap().nudge;
        let (mut now, mut finishes, mut dials) = (NOON, 0, 0);
        for (event, pause) in history {
            now = now.plus(pause);
            let step = step(&nudge, event, now);
            check(&nudge, event, now, &step);
            finishes += step.actions.iter().filter(|action| **action == Action::Emit(Notice::Finished)).count();
            dials += step.actions.iter().filter(|action| **action == Action::Place).count();
            nudge = step.next;
        }
        prop_assert!(finishes <= 1);
        prop_assert!(usize::from(nudge.attempts) <= dials);
    }

    #[test]
    fn every_request_is_answered(scheduled in prop::option::of(any::<i64>()), expires in prop::option::of(any::<i64>()), now in any::<i64>(), key in any::<u128>(), reject in any::<bool>()) {
        let hours = hours();
        let outside_window = if reject { OutsideWindow::Reject } else { OutsideWindow::Queue };
        let near = |ms: i64| Timestamp(now).plus(ms % (100 * HOUR));
        let request = Request { key, scheduled_at: scheduled.map(near), expires_at: expires.map(near), outside_window, ..request(&hours) };
        if let Ok(admitted) = admit(&request, Timestamp(now)) {
            prop_assert_eq!(admitted.nudge.next_attempt_at.is_some(), admitted.nudge.is_pending());
            prop_assert_eq!(admitted.nudge.result.is_some(), admitted.nudge.status == Status::Finished);
            prop_assert!(admitted.nudge.next_attempt_at.is_none_or(|next| next <= admitted.nudge.expires_at));
        }
    }
}

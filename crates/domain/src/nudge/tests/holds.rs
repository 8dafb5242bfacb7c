//! The rows about holds and expiry.

use super::*;

fn broke() -> Event {
    Event::Due(DueFacts { balance_ok: false, ..DueFacts::CLEAR })
}

fn full() -> Event {
    Event::Due(DueFacts { line_free: false, ..DueFacts::CLEAR })
}

#[track_caller]
fn assert_held(step: &Transition, reason: &str, at: Timestamp, announced: bool) {
    assert_eq!(seen(&step.next), ("scheduled", None, Some(reason.to_owned())));
    assert_eq!(step.next.next_attempt_at, Some(at));
    let mut actions = vec![Action::WakeAt(at)];
    if announced {
        actions.insert(0, Action::Emit(Notice::Scheduled));
    }
    assert_eq!(step.actions, actions);
}

#[test]
fn a_closed_window_holds_until_the_spread_opening() {
    let opening = at("2026-11-24T09:00");
    let now = at("2026-11-23T20:56");
    let held = play(queued(0), &[(Event::Due(closed(opening)), now)]);
    let next = held.next.next_attempt_at.unwrap();
    assert_held(&held, "outside_calling_window", next, true);
    assert!(next >= opening && next < opening.plus(15 * MINUTE));
    assert_eq!(held.next.attempts, 0);
    assert_eq!(step(&held.next, CLEAR, opening.plus(-1)).outcome, EventOutcome::Ignored(WhyIgnored::NotDue));
    assert_eq!(play(held.next, &[(CLEAR, next)]).actions, [Action::Place]);
}

#[test]
fn a_low_balance_is_rechecked_every_15_minutes_and_announced_once_an_hour_at_most() {
    let mut held = play(queued(0), &[(broke(), NOON)]);
    assert_held(&held, "insufficient_balance", NOON.plus(15 * MINUTE), true);
    for recheck in 1..=8 {
        let now = NOON.plus(recheck * 15 * MINUTE);
        held = play(held.next, &[(broke(), now)]);
        // Announced at 12:15; the first time more than an hour from it is 13:30.
        assert_held(&held, "insufficient_balance", now.plus(15 * MINUTE), recheck == 5);
    }
}

#[test]
fn full_lines_are_rechecked_soon_and_may_be_looked_at_earlier() {
    let held = play(queued(0), &[(full(), NOON)]);
    assert_held(&held, "concurrency_full", NOON.plus(LINES_RECHECK), true);
    assert_held(
        &play(held.next, &[(full(), NOON.plus(LINES_RECHECK))]),
        "concurrency_full",
        NOON.plus(2 * LINES_RECHECK),
        false,
    );
    assert_eq!(play(held.next, &[(CLEAR, NOON.plus(1))]).actions, [Action::Place]);
}

#[test]
fn a_provider_error_before_any_ring_is_a_hold_and_no_attempt() {
    let refused = Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing);
    let held = play(queued(0), &[(CLEAR, NOON), (refused, NOON)]);
    assert_held(&held, "provider_error", NOON.plus(PROVIDER_RECHECK), true);
    assert_eq!(held.next.attempts, 0);
    let now = NOON.plus(PROVIDER_RECHECK);
    assert_held(
        &play(held.next, &[(CLEAR, now), (refused, now)]),
        "provider_error",
        now.plus(PROVIDER_RECHECK),
        false,
    );
    let ringing = play(queued(0), &[(CLEAR, NOON), (Event::Placed, NOON)]).next;
    assert_eq!(play(ringing, &[(refused, NOON)]).next.attempts, 0);
}

#[test]
fn another_reason_is_announced() {
    let held = play(queued(0), &[(full(), NOON)]).next;
    assert_held(
        &play(held, &[(broke(), NOON.plus(MINUTE))]),
        "insufficient_balance",
        NOON.plus(16 * MINUTE),
        true,
    );
}

#[test]
fn a_time_that_moves_by_more_than_an_hour_is_announced() {
    let opening = at("2026-11-24T09:00");
    let held = play(queued(0), &[(Event::Due(closed(opening)), NOON)]).next;
    let next = held.next_attempt_at.unwrap();
    for (later, announced) in [(opening.plus(HOUR), false), (opening.plus(HOUR + 1), true), (opening, false)]
    {
        let mut nudge = held;
        nudge.expires_at = NOON.plus(72 * HOUR);
        let again = play(nudge, &[(Event::Due(closed(later)), next)]);
        assert_eq!(again.actions.contains(&Action::Emit(Notice::Scheduled)), announced, "{later}");
    }
}

#[test]
fn the_last_look_is_at_the_expiry_itself() {
    let mut nudge = queued(0);
    nudge.expires_at = NOON.plus(5 * MINUTE);
    let held = play(nudge, &[(broke(), NOON)]);
    assert_held(&held, "insufficient_balance", nudge.expires_at, true);
    assert_eq!(play(held.next, &[(CLEAR, nudge.expires_at)]).actions, [Action::Place]);
    assert_finished(&play(held.next, &[(broke(), nudge.expires_at)]), "expired", "expired");
}

#[test]
fn never_dialled_and_out_of_time_is_expired() {
    let nudge = queued(2);
    assert_eq!(
        step(&nudge, Event::Expire, nudge.expires_at.plus(-1)).outcome,
        EventOutcome::Ignored(WhyIgnored::NotDue)
    );
    assert_finished(&play(nudge, &[(Event::Expire, nudge.expires_at)]), "expired", "expired");
    assert_finished(&play(nudge, &[(CLEAR, nudge.expires_at.plus(1))]), "expired", "expired");
    let held = play(nudge, &[(broke(), NOON)]).next;
    assert_finished(&play(held, &[(Event::Expire, nudge.expires_at)]), "expired", "expired");
    let refused = Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing);
    assert_finished(&play(nudge, &[(CLEAR, NOON), (refused, nudge.expires_at)]), "expired", "expired");
}

#[test]
fn a_window_that_opens_after_the_expiry_ends_it_at_once() {
    let nudge = queued(2);
    let facts = closed(nudge.expires_at.plus(1));
    assert_finished(&play(nudge, &[(Event::Due(facts), NOON)]), "expired", "expired");
    let never = DueFacts { release: None, ..facts };
    assert_finished(
        &play(held_retry(1), &[(Event::Due(never), NOON.plus(30 * MINUTE))]),
        "no_answer",
        "outside_calling_window",
    );
}

#[test]
fn a_held_retry_out_of_time_has_the_last_result_and_says_why() {
    let due = NOON.plus(30 * MINUTE);
    let expiry = NOON.plus(24 * HOUR);
    assert_finished(&play(held_retry(1), &[(Event::Expire, expiry)]), "no_answer", "expired");
    for (event, reason) in [
        (broke(), "insufficient_balance"),
        (full(), "concurrency_full"),
        (Event::Due(closed(at("2026-11-24T09:00"))), "outside_calling_window"),
    ] {
        let held = play(held_retry(1), &[(event, due)]).next;
        let step = play(held, &[(Event::Expire, expiry)]);
        assert_finished(&step, "no_answer", reason);
        assert!(!step.next.shows_call, "it finished without another dial");
    }
    let refused = Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing);
    let held = play(held_retry(1), &[(CLEAR, due), (refused, due)]).next;
    assert_finished(&play(held, &[(Event::Expire, expiry)]), "no_answer", "provider_error");
    let not_connected = play(queued(1), &[(CLEAR, NOON), (Event::AgentFailedToStart, NOON)]).next;
    assert_finished(&play(not_connected, &[(Event::Expire, expiry)]), "failed", "expired");
}

#[test]
fn a_held_retry_with_reject_ends_when_the_window_is_closed() {
    let mut nudge = held_retry(1);
    nudge.outside_window = OutsideWindow::Reject;
    assert_finished(
        &play(nudge, &[(Event::Due(closed(at("2026-11-24T09:00"))), NOON.plus(30 * MINUTE))]),
        "no_answer",
        "outside_calling_window",
    );
}

#[test]
fn a_first_dial_with_reject_that_meets_a_closed_window_is_blocked() {
    let mut nudge = queued(0);
    nudge.outside_window = OutsideWindow::Reject;
    let step = play(nudge, &[(Event::Due(closed(at("2026-11-24T09:00"))), NOON)]);
    assert_finished(&step, "blocked", "outside_calling_window");
    assert_eq!(step.next.block_reason, Some(Gate::CallingWindow));
}

#[test]
fn a_nudge_in_flight_does_not_expire() {
    let placing = play(queued(0), &[(CLEAR, NOON)]).next;
    let live = play(placing, &[(Event::Answered, NOON)]).next;
    for nudge in [placing, live] {
        assert_eq!(
            step(&nudge, Event::Expire, nudge.expires_at.plus(HOUR)).outcome,
            EventOutcome::Ignored(WhyIgnored::InFlight)
        );
    }
}

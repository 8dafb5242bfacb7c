//! The rows for the creation of a nudge.

use super::*;

#[test]
fn due_now_inside_the_window_is_queued() {
    let hours = hours();
    let admitted = admit(&request(&hours), NOON).unwrap();
    assert_eq!(seen(&admitted.nudge), ("queued", None, None));
    assert_eq!(
        (admitted.nudge.attempts, admitted.nudge.next_attempt_at, admitted.nudge.expires_at),
        (0, Some(NOON), NOON.plus(24 * HOUR))
    );
    assert_eq!(admitted.actions, [Action::WakeAt(NOON)]);
}

#[test]
fn a_future_time_is_scheduled_and_announced() {
    let hours = hours();
    let later = NOON.plus(2 * HOUR);
    let admitted = admit(&Request { scheduled_at: Some(later), ..request(&hours) }, NOON).unwrap();
    assert_eq!(seen(&admitted.nudge), ("scheduled", None, None));
    assert_eq!(admitted.nudge.next_attempt_at, Some(later));
    assert_eq!(admitted.actions, [Action::Emit(Notice::Scheduled), Action::WakeAt(later)]);
}

#[test]
fn outside_the_window_it_waits_for_the_opening() {
    let hours = hours();
    let admitted = admit(&request(&hours), at("2026-11-23T20:55")).unwrap();
    assert_eq!(seen(&admitted.nudge), ("scheduled", None, Some("outside_calling_window".to_owned())));
    let next = admitted.nudge.next_attempt_at.unwrap();
    let opening = at("2026-11-24T09:00");
    assert!(next >= opening && next < opening.plus(15 * MINUTE));
    assert_eq!(admitted.actions, [Action::Emit(Notice::Scheduled), Action::WakeAt(next)]);
}

#[test]
fn outside_the_window_with_reject_nothing_is_created() {
    let hours = hours();
    let reject = Request { outside_window: OutsideWindow::Reject, ..request(&hours) };
    let refused = Err(Refused::OutsideCallingWindow { next_window_at: Some(at("2026-11-24T09:00")) });
    assert_eq!(admit(&reject, at("2026-11-23T22:00")), refused);
    // What counts is the time of the dial, not that of the request.
    assert_eq!(admit(&Request { scheduled_at: Some(at("2026-11-23T22:00")), ..reject }, NOON), refused);
    let tomorrow = Request { scheduled_at: Some(at("2026-11-24T10:00")), ..reject };
    assert_eq!(admit(&tomorrow, at("2026-11-23T22:00")).unwrap().nudge.status, Status::Scheduled);
}

#[test]
fn an_opening_after_the_expiry_is_expired_at_once() {
    let hours = hours();
    let night = Request { expires_at: Some(at("2026-11-24T08:59")), ..request(&hours) };
    let admitted = admit(&night, at("2026-11-23T22:00")).unwrap();
    assert_eq!(seen(&admitted.nudge), ("finished", Some("expired"), Some("expired".to_owned())));
    assert_eq!(admitted.actions, [Action::Emit(Notice::Finished)]);
    let never = CallingHours::default();
    assert_eq!(admit(&request(&never), NOON).unwrap().nudge.result, Some(ResultCode::Expired));
}

#[test]
fn a_release_is_not_spread_beyond_the_expiry() {
    let hours = hours();
    let opening = at("2026-11-24T09:00");
    for key in 0..200 {
        let request = Request { key, expires_at: Some(opening.plus(MINUTE)), ..request(&hours) };
        let next = admit(&request, at("2026-11-23T22:00")).unwrap().nudge.next_attempt_at.unwrap();
        assert!(next >= opening && next <= opening.plus(MINUTE));
    }
}

#[test]
fn invalid_schedules_are_refused() {
    let hours = hours();
    let base = request(&hours);
    for (scheduled, expires) in [
        (Some(-6_000), None),
        (Some(24 * HOUR), None),
        (Some(48 * HOUR), None),
        (Some(2 * HOUR), Some(2 * HOUR)),
        (Some(3 * HOUR), Some(2 * HOUR)),
        (None, Some(0)),
        (None, Some(-1)),
        (None, Some(72 * HOUR + 1)),
    ] {
        let request = Request {
            scheduled_at: scheduled.map(|ms| NOON.plus(ms)),
            expires_at: expires.map(|ms| NOON.plus(ms)),
            ..base
        };
        assert!(
            matches!(admit(&request, NOON), Err(Refused::InvalidSchedule(_))),
            "{scheduled:?} {expires:?}"
        );
    }
}

#[test]
fn the_edges_of_a_valid_schedule_are_accepted() {
    let hours = hours();
    let base = request(&hours);
    for (scheduled, expires, status) in [
        (Some(0), None, Status::Queued),
        (Some(-4_000), None, Status::Queued),
        (Some(1), None, Status::Scheduled),
        (Some(24 * HOUR - 1), None, Status::Scheduled),
        (Some(48 * HOUR), Some(72 * HOUR), Status::Scheduled),
        (None, Some(1), Status::Queued),
    ] {
        let request = Request {
            scheduled_at: scheduled.map(|ms| NOON.plus(ms)),
            expires_at: expires.map(|ms| NOON.plus(ms)),
            ..base
        };
        assert_eq!(
            admit(&request, NOON).map(|admitted| admitted.nudge.status),
            Ok(status),
            "{scheduled:?} {expires:?}"
        );
    }
}

//! One test for each row of docs/contract/nudges.md#states, and the invariants of every sequence of events.

mod create;
mod holds;
mod properties;
mod rows;

use super::*;
use crate::time::{HOUR, MINUTE};
use crate::window::{CallingHours, Release, Span};

/// Noon of a Monday in India.
pub(super) const NOON: Timestamp = Timestamp(1_795_415_400_000);

pub(super) fn at(text: &str) -> Timestamp {
    Timestamp::parse(&format!("{text}+05:30")).unwrap()
}

pub(super) fn hours() -> CallingHours {
    CallingHours::daily(Span::new(9 * 60, 21 * 60).unwrap())
}

pub(super) fn request(hours: &CallingHours) -> Request<'_> {
    Request {
        key: 7 << 100 | 99,
        scheduled_at: None,
        expires_at: None,
        outside_window: OutsideWindow::Queue,
        retry: Retry::default(),
        hours,
    }
}

pub(super) fn retrying(max_retries: i64) -> Retry {
    Retry::new(max_retries, RetryOn::default(), 30).unwrap()
}

/// A nudge queued at noon, with this many retries.
pub(super) fn queued(max_retries: i64) -> Nudge {
    let hours = hours();
    admit(&Request { retry: retrying(max_retries), ..request(&hours) }, NOON).unwrap().nudge
}

/// Applies events, all of which must apply, and returns the last step.
pub(super) fn play(nudge: Nudge, events: &[(Event, Timestamp)]) -> Transition {
    let mut last = Transition { next: nudge, actions: Vec::new(), outcome: EventOutcome::Applied };
    for (event, now) in events {
        last = step(&last.next, *event, *now);
        assert_eq!(last.outcome, EventOutcome::Applied, "{event:?}");
    }
    last
}

pub(super) const CLEAR: Event = Event::Due(DueFacts::CLEAR);

/// Status, result and statusReason as clients see them.
pub(super) fn seen(nudge: &Nudge) -> (&'static str, Option<&'static str>, Option<String>) {
    (
        nudge.status.as_str(),
        nudge.result.map(ResultCode::as_str),
        nudge.status_reason.map(|reason| reason.to_string()),
    )
}

#[track_caller]
pub(super) fn assert_finished(step: &Transition, result: &str, reason: &str) {
    assert_eq!(seen(&step.next), ("finished", Some(result), Some(reason.to_owned())));
    assert!(step.actions.contains(&Action::Emit(Notice::Finished)));
    assert_eq!(step.next.next_attempt_at, None);
    assert!(step.next.finished_at.is_some());
}

/// A nudge whose first dial was not answered, held for its retry at 12:30.
pub(super) fn held_retry(max_retries: i64) -> Nudge {
    play(queued(max_retries), &[(CLEAR, NOON), (Event::Placed, NOON), (Event::NoAnswer, NOON)]).next
}

pub(super) fn closed(opening: Timestamp) -> DueFacts {
    DueFacts {
        block: Some(Gate::CallingWindow),
        release: Some(Release { opening, closing: opening.plus(11 * HOUR) }),
        ..DueFacts::CLEAR
    }
}

#[test]
fn noon_is_noon() {
    assert_eq!(NOON, at("2026-11-23T12:00"));
    assert_eq!(held_retry(1).next_attempt_at, Some(NOON.plus(30 * MINUTE)));
}

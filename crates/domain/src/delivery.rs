//! The retry schedule of webhook deliveries (docs/contract/webhooks.md#deliveries).
//!
//! The times are gaps after the end of the previous attempt. There is no attempt later than 24 hours after
//! the delivery was created: when the next one would be, the delivery fails as soon as the previous attempt
//! ends. When every attempt ends at once, the tenth, 23 h 42 m 30 s after the first, is the last. A replay
//! restarts the schedule: the caller passes the time of the replay as `created_at` and counts attempts from
//! there.

use crate::time::{DAY, HOUR, MINUTE, SECOND, Timestamp};

/// Gaps after the first, second, … attempt, in milliseconds. The last one repeats.
const GAPS: [i64; 8] =
    [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];

/// There is no attempt later than this, in milliseconds after the delivery was created.
pub const MAX_AGE: i64 = DAY;

/// How long an endpoint may take to answer, in milliseconds (docs/contract/webhooks.md#deliveries).
pub const ANSWER_WITHIN: i64 = 10 * SECOND;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint answered 2xx in time.
    Accepted,
    /// Anything else: another status (a redirect included), no connection, no answer in ten seconds.
    Failed,
}

impl Outcome {
    /// Reads an HTTP status: 2xx is accepted, everything else failed.
    pub fn of_status(status: u16) -> Self {
        if (200..300).contains(&status) { Outcome::Accepted } else { Outcome::Failed }
    }
}

/// The next state of the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Delivered: `succeeded`.
    Succeeded,
    /// Still `pending`; the next attempt is at this moment.
    RetryAt(Timestamp),
    /// Given up: `failed`. It stays in the log and can be replayed.
    Failed,
}

/// Decides after an attempt. `attempts_made` counts this one too (0 is read as 1); `created_at` is when the
/// delivery was created or last replayed.
pub fn after_attempt(
    created_at: Timestamp,
    attempts_made: u32,
    attempt_ended_at: Timestamp,
    outcome: Outcome,
) -> Next {
    match outcome {
        Outcome::Accepted => Next::Succeeded,
        Outcome::Failed => {
            let index = usize::try_from(attempts_made.saturating_sub(1)).unwrap_or(usize::MAX);
            let gap = GAPS.get(index).copied().unwrap_or(8 * HOUR);
            let next = attempt_ended_at.plus(gap);
            if next > created_at.plus(MAX_AGE) { Next::Failed } else { Next::RetryAt(next) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_schedule_when_attempts_end_at_once() {
        let created = Timestamp(1_763_700_000_000);
        let mut moments = Vec::new();
        let (mut now, mut made) = (created, 0);
        loop {
            made += 1;
            match after_attempt(created, made, now, Outcome::Failed) {
                Next::RetryAt(next) => {
                    moments.push((next.0 - created.0) / SECOND);
                    now = next;
                }
                Next::Failed => break,
                Next::Succeeded => unreachable!("a failed attempt cannot succeed"),
            }
        }
        let h = |hours: i64, minutes: i64, seconds: i64| hours * 3600 + minutes * 60 + seconds;
        assert_eq!(
            moments,
            [
                h(0, 0, 30),
                h(0, 2, 30),
                h(0, 12, 30),
                h(0, 42, 30),
                h(1, 42, 30),
                h(3, 42, 30),
                h(7, 42, 30),
                h(15, 42, 30),
                h(23, 42, 30)
            ]
        );
        assert_eq!(made, 10);
    }

    #[test]
    fn an_attempt_at_exactly_24_hours_is_made_and_a_later_one_is_not() {
        let created = Timestamp(0);
        assert_eq!(
            after_attempt(created, 9, Timestamp(16 * HOUR), Outcome::Failed),
            Next::RetryAt(Timestamp(DAY))
        );
        assert_eq!(after_attempt(created, 9, Timestamp(16 * HOUR + 1), Outcome::Failed), Next::Failed);
        // A service that was down for two days tries once more and then gives up.
        assert_eq!(after_attempt(created, 1, Timestamp(2 * DAY), Outcome::Failed), Next::Failed);
    }

    #[test]
    fn slow_attempts_move_the_schedule() {
        let ended = Timestamp(ANSWER_WITHIN);
        assert_eq!(
            after_attempt(Timestamp(0), 1, ended, Outcome::Failed),
            Next::RetryAt(Timestamp(40 * SECOND))
        );
    }

    #[test]
    fn only_2xx_is_accepted() {
        for (status, outcome) in [
            (200, Outcome::Accepted),
            (204, Outcome::Accepted),
            (299, Outcome::Accepted),
            (199, Outcome::Failed),
            (301, Outcome::Failed),
            (410, Outcome::Failed),
            (500, Outcome::Failed),
        ] {
            assert_eq!(Outcome::of_status(status), outcome, "{status}");
        }
        assert_eq!(after_attempt(Timestamp(0), 3, Timestamp(i64::MAX), Outcome::Accepted), Next::Succeeded);
    }

    proptest::proptest! {
        #[test]
        fn a_retry_is_later_and_never_too_old(created in proptest::num::i64::ANY, made in proptest::num::u32::ANY, took in 0i64..2 * DAY) {
            let ended = Timestamp(created).plus(took);
            if let Next::RetryAt(next) = after_attempt(Timestamp(created), made, ended, Outcome::Failed) {
                proptest::prop_assert!(next >= ended && next <= Timestamp(created).plus(MAX_AGE));
            }
        }
    }
}

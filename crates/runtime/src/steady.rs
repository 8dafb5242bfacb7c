//! The system's time without sudden steps. If somebody sets the machine's clock an hour forward and back, times of the
//! future would stay in the store: calls that ring for an hour, and due times that have not come. So a step is followed
//! only after it has persisted for a minute; until then time goes on by the monotonic clock.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Differences up to this are small corrections, which are followed at once, milliseconds.
const SMALL: i64 = 2_000;
/// How long a step must persist before it is followed, milliseconds.
const STANDS: i64 = 60_000;

/// The system's time without sudden steps.
pub(crate) struct Steady {
    started: Instant,
    course: Mutex<Course>,
}

/// The last readings of the two clocks, in milliseconds: since 1970, and since the start.
#[derive(Debug, Clone, Copy)]
struct Course {
    system: i64,
    elapsed: i64,
    step: Option<Step>,
}

/// A step of the system's clock that is not followed yet: its size, and when it was first seen.
#[derive(Debug, Clone, Copy)]
struct Step {
    by: i64,
    since: i64,
}

impl Steady {
    /// Begins at this system time, milliseconds since 1970.
    pub(crate) fn new(system: i64) -> Self {
        Self { started: Instant::now(), course: Mutex::new(Course { system, elapsed: 0, step: None }) }
    }

    /// The current time, milliseconds since 1970, where the system's clock shows `system`.
    pub(crate) fn now(&self, system: i64) -> i64 {
        let elapsed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.course.lock().unwrap_or_else(PoisonError::into_inner).at(system, elapsed)
    }
}

impl Course {
    fn at(&mut self, system: i64, elapsed: i64) -> i64 {
        let expected = self.system.saturating_add(elapsed - self.elapsed);
        let by = system.saturating_sub(expected);
        let step = match self.step {
            Some(step) if (by - step.by).abs() <= SMALL => step,
            _ => Step { by, since: elapsed },
        };
        let small = by.abs() <= SMALL;
        if small || elapsed - step.since >= STANDS {
            if !small {
                tracing::warn!(
                    by_ms = by,
                    "the machine's clock was set, and has stood for a minute: it is followed"
                );
            }
            *self = Self { system, elapsed, step: None };
            return system;
        }
        if self.step.is_none() {
            tracing::warn!(
                by_ms = by,
                "the machine's clock was set; it is followed when it has stood for a minute"
            );
        }
        self.step = Some(step);
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_clock_that_is_set_forward_and_back_leaves_no_trace() {
        let mut course = Course { system: 1_000_000, elapsed: 0, step: None };
        assert_eq!(course.at(1_010_000, 10_000), 1_010_000);
        // Small corrections are followed, both ways.
        assert_eq!(course.at(1_021_500, 20_000), 1_021_500);
        assert_eq!(course.at(1_030_000, 30_000), 1_030_000);
        for second in 31..89 {
            assert_eq!(
                course.at(1_000_000 + HOUR + second * 1_000, second * 1_000),
                1_000_000 + second * 1_000
            );
        }
        assert_eq!(course.at(1_090_000, 90_000), 1_090_000);
        // A step that persists is followed, forward and back.
        for by in [HOUR, -HOUR] {
            let (from, elapsed) = (course.system, course.elapsed);
            assert_eq!(course.at(from + by, elapsed), from);
            assert_eq!(course.at(from + by + 59_999, elapsed + 59_999), from + 59_999);
            assert_eq!(course.at(from + by + 60_000, elapsed + 60_000), from + by + 60_000);
            assert_eq!(course.at(from + by + 61_000, elapsed + 61_000), from + by + 61_000);
        }
        // Another step starts its own minute.
        let (from, elapsed) = (course.system, course.elapsed);
        assert_eq!(course.at(from + HOUR, elapsed), from);
        assert_eq!(course.at(from + 2 * HOUR + 50_000, elapsed + 50_000), from + 50_000);
        assert_eq!(course.at(from + 2 * HOUR + 100_000, elapsed + 100_000), from + 100_000);
        assert_eq!(course.at(from + 2 * HOUR + 110_000, elapsed + 110_000), from + 2 * HOUR + 110_000);
    }
}

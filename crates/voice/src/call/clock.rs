//! The clock of a call, in milliseconds of media: maximum duration and hold.

use std::sync::Arc;
use std::time::Duration;

use crate::ear::EarState;

/// Reads the line's time and applies the limits of the whole call.
pub(crate) struct Clock {
    ear: Arc<EarState>,
    answered_at: u64,
    max_duration_ms: u64,
    end_after_ms: Option<u64>,
    held_since: Option<u64>,
}

impl Clock {
    /// The call is answered now.
    pub fn start(ear: Arc<EarState>, max_duration: Duration, end_after: Option<Duration>) -> Self {
        Self {
            answered_at: ear.now(),
            ear,
            max_duration_ms: millis(max_duration),
            end_after_ms: end_after.map(millis),
            held_since: None,
        }
    }

    /// Time of the line.
    pub fn now(&self) -> u64 {
        self.ear.now()
    }

    /// Time of the line at the answer.
    pub fn answered_at(&self) -> u64 {
        self.answered_at
    }

    /// Milliseconds since the answer.
    pub fn age(&self) -> u64 {
        self.since_answer(self.now())
    }

    /// Milliseconds from the answer to a time of the line.
    pub fn since_answer(&self, at: u64) -> u64 {
        at.saturating_sub(self.answered_at)
    }

    /// When the maximum duration is reached.
    pub fn longest_at(&self) -> u64 {
        self.answered_at + self.max_duration_ms
    }

    /// Whether the maximum duration is reached.
    pub fn max_duration_reached(&self) -> bool {
        self.age() >= self.max_duration_ms
    }

    /// Whether the order requested a polite end by now.
    pub fn end_after_reached(&self) -> bool {
        self.end_after_ms.is_some_and(|after| self.age() >= after)
    }

    /// Times at which a limit is reached.
    pub fn due(&self) -> impl Iterator<Item = u64> {
        let end_after = self.end_after_ms.map(|after| self.answered_at + after);
        [self.longest_at()].into_iter().chain(end_after)
    }

    /// Whether the customer has put the call on hold.
    pub fn held(&self) -> bool {
        self.held_since.is_some()
    }

    /// The customer puts the call on hold; false if it is already.
    pub fn hold(&mut self) -> bool {
        let begins = self.held_since.is_none();
        self.held_since = self.held_since.or(Some(self.now()));
        begins
    }

    /// The customer takes the call back. Returns how long the hold took, milliseconds; none if there was none.
    pub fn take_back(&mut self) -> Option<u64> {
        let since = self.held_since.take()?;
        Some(self.now().saturating_sub(since))
    }
}

/// Milliseconds between two times of the line, for what is stored.
pub(crate) fn since(now: u64, then: u64) -> i64 {
    i64::try_from(now.saturating_sub(then)).unwrap_or(i64::MAX)
}

/// A duration in milliseconds of the line; far in the future if it does not fit.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX / 4)
}

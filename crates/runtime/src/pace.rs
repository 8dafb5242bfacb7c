//! Rate limit of a job, so that work which arrives meanwhile is batched.

use std::sync::atomic::{AtomicI64, Ordering};

use domain::time::Timestamp;

use crate::clock::Clock;

/// The interval between the starts of two rounds of a job.
#[derive(Debug)]
pub struct Pace {
    pause: i64,
    last: AtomicI64,
}

impl Pace {
    /// Rounds that begin at least this many milliseconds apart.
    pub const fn new(pause: i64) -> Self {
        Self { pause, last: AtomicI64::new(0) }
    }

    /// Waits until the next round may begin, or the service stops.
    pub async fn turn(&self, clock: &Clock) {
        let next = Timestamp(self.last.load(Ordering::Relaxed)).plus(self.pause);
        // A clock that was set back does not delay the job.
        let next = next.min(clock.now().plus(self.pause));
        clock.sleep_until(next).await;
        self.last.store(clock.now().0, Ordering::Relaxed);
    }
}

//! A bound on how often a job works, so that what comes meanwhile is worked together.

use std::sync::atomic::{AtomicI64, Ordering};

use domain::time::Timestamp;

use crate::clock::Clock;

/// The time between the beginnings of two turns of a job.
#[derive(Debug)]
pub struct Pace {
    pause: i64,
    last: AtomicI64,
}

impl Pace {
    /// Turns that begin at least so many milliseconds after each other.
    pub const fn new(pause: i64) -> Self {
        Self { pause, last: AtomicI64::new(0) }
    }

    /// Waits until the next turn may begin, or the service stops.
    pub async fn turn(&self, clock: &Clock) {
        let next = Timestamp(self.last.load(Ordering::Relaxed)).plus(self.pause);
        // A clock that was set back does not hold the job up.
        let next = next.min(clock.now().plus(self.pause));
        clock.sleep_until(next).await;
        self.last.store(clock.now().0, Ordering::Relaxed);
    }
}

//! A monotonic clock for time-outs and breakers.

use std::sync::Arc;
use std::time::Duration;

/// A monotonic clock with any start. Tests replace it.
pub type Monotonic = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The clock of the machine, from now on.
pub fn monotonic() -> Monotonic {
    let started = tokio::time::Instant::now();
    Arc::new(move || started.elapsed())
}

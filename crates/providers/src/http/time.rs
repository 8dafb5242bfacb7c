//! Time as networks see it: a monotonic clock for time-outs and breakers, and the wall clock that signed
//! requests must carry.

use std::sync::Arc;
use std::time::Duration;

/// A clock that only goes forward, from any beginning. Tests put their own in its place.
pub type Monotonic = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The clock of the machine, from now on.
pub fn monotonic() -> Monotonic {
    let started = tokio::time::Instant::now();
    Arc::new(move || started.elapsed())
}

/// Seconds since 1970 by the wall clock. Signed requests carry it, and the service that is asked compares it
/// with its own: the service's manual clock would be refused there.
#[allow(clippy::disallowed_methods)]
pub fn unix_seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

//! Free space on the disk of the data folder. Requests that store something are refused while there is too little, so
//! that calls, deliveries and erasures in progress still have some.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use api::error_codes;
use tokio::time::Instant;

use super::{App, Failure};

/// How long a reading of the operating system is cached.
const HOLDS: Duration = Duration::from_secs(2);

/// The last reading, and its time.
#[derive(Default)]
struct Last(Mutex<Option<(Instant, u64)>>);

/// Reads the free bytes, once in a while, and updates the metrics. `None` where the system does not report it.
pub fn free(app: &App) -> Option<u64> {
    let last = app.state.of(Last::default);
    let mut last = last.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, free)) = last.filter(|(asked, _)| asked.elapsed() < HOLDS) {
        return Some(free);
    }
    let (free, size) = runtime::files::room(&app.config.data)?;
    app.metrics.disk_free.set(i64::try_from(free).unwrap_or(i64::MAX));
    app.metrics.disk_size.set(i64::try_from(size).unwrap_or(i64::MAX));
    *last = Some((Instant::now(), free));
    Some(free)
}

/// Refuses requests that store something while less than `limits.disk_reserve_mb` is free.
///
/// # Errors
/// `unavailable`.
pub fn has_room(app: &App) -> Result<(), Failure> {
    let reserve = app.config.limits.disk_reserve;
    if reserve == 0 || free(app).is_none_or(|free| free >= reserve) {
        return Ok(());
    }
    let message = "the disk of the service is nearly full; nothing was changed, try again when the operator has \
                   freed space";
    Err(Failure { retry_after: Some(60), ..Failure::new(error_codes::UNAVAILABLE, message) })
}

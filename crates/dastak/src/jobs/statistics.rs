//! Keeps PostgreSQL's statistics of fast-growing tables up to date ([`store::statistics`]). Each node runs the job; one
//! of them at a time works on a table.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use crate::app::{App, Failure};

/// Time between two polls.
const PACE: i64 = 2 * SECOND;

/// Refreshes outdated statistics. Returns the time of the next poll.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    if let Err(why) = store::statistics::refresh(&app.store).await {
        Failure::from(why).log("what the database knows of its tables could not be refreshed");
    }
    Some(app.clock.now().plus(PACE))
}

//! Keeps what PostgreSQL knows of tables that grow fast up to date ([`store::statistics`]). Each node does so; a table is
//! looked at by one of them at a time.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use crate::app::{App, Failure};

/// Time between two looks.
const PACE: i64 = 2 * SECOND;

/// Refreshes what is out of date. Returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    if let Err(why) = store::statistics::refresh(&app.store).await {
        Failure::from(why).log("what the database knows of its tables could not be refreshed");
    }
    Some(app.clock.now().plus(PACE))
}

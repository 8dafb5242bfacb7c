//! Maintains knowledge bases on this node: removes the rows of deleted ones, and updates the indexes in use when their
//! bases change, before the next query.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next poll after an error of the store, and where a notification of another node may be lost.
const AGAIN: i64 = 30 * SECOND;

/// Removes a bounded batch of deleted rows, and updates indexes. Returns the time of the next poll.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let now = app.clock.now();
    let again = now.plus(AGAIN);
    match ::knowledge::look_after(&app).await {
        Ok(true) => next_look(&app, None, again),
        // There is more to remove.
        Ok(false) => Some(now),
        Err(failure) => {
            failure.warn("knowledge bases could not be looked after");
            Some(again)
        }
    }
}

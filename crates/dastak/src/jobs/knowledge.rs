//! Looks after knowledge bases on this node: removes what deleted ones leave behind, and lets the indexes that
//! are in use follow their bases before somebody asks.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 30 * SECOND;

/// Removes a bounded part of what is deleted, and brings indexes up to date. Returns when to look again.
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

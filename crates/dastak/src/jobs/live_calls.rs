//! Plays the calls of networks that are tables, and finds placements whose outcome was not stored.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::{App, calls};

/// Time until the next look after the store failed, and between two looks when other nodes may have placed
/// calls unheard.
const AGAIN: i64 = 5 * SECOND;

/// Works everything that is due. Returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    loop {
        app.clock.outside(app.burst.over()).await;
        match calls::work_due(&app).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) => {
                failure.log("a look at due calls failed");
                return Some(again);
            }
        }
    }
    match calls::next_due(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(_) => Some(again),
    }
}

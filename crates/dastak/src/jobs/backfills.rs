//! Puts earlier records of streams on lists where the node that began it is gone.

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next look when the store may be away or another node's wake-up lost.
const AGAIN: i64 = 10 * MINUTE;

/// Finishes what was given up; when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    match ::streams::backfill::finish_abandoned(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(failure) => {
            failure.warn("earlier records of a stream could not be put on a list");
            Some(again)
        }
    }
}

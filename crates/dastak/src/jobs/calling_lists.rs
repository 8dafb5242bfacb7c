//! Removes rows of calling lists that were replaced, deleted or given up, in batches.

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next look when the store may be away or another node's wake-up lost.
const AGAIN: i64 = 10 * MINUTE;

/// Removes all that is to be removed; when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    match campaigns::list::sweep(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(_) => Some(again),
    }
}

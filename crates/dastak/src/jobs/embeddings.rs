//! Makes vectors of passages that have none (docs/knowledge.md#vectors).

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next look after the store failed, and where another node's wake-up may be lost.
const AGAIN: i64 = MINUTE;

/// Makes a bounded part of what is missing, and returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    match ::knowledge::embed(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(failure) => {
            failure.warn("vectors of passages could not be made");
            Some(again)
        }
    }
}

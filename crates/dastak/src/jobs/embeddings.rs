//! Computes embeddings of passages that have none (docs/knowledge.md#vectors).

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next poll after an error of the store, and where a notification of another node may be lost.
const AGAIN: i64 = MINUTE;

/// Embeds a bounded batch, and returns the time of the next poll.
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

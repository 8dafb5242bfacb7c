//! Deletes the files of deleted documents, and of uploads that were never accepted.

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use super::next_look;
use crate::app::App;

/// Longest time between two polls of a shared store, and after an error of the store.
const AGAIN: i64 = MINUTE;

/// Deletes what is due and returns the time of the next poll.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = |app: &App| app.clock.now().plus(AGAIN);
    match chats::drop_due(&app).await {
        Ok(due) => next_look(&app, due, again(&app)),
        Err(why) => {
            tracing::warn!(%why, "files of documents could not be looked at");
            Some(again(&app))
        }
    }
}

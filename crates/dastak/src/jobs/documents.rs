//! Drops the files of documents that are gone, and of uploads that were never accepted.

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use super::next_look;
use crate::app::App;

/// Longest wait on a store that other nodes share, and after a failure of the store.
const AGAIN: i64 = MINUTE;

/// Drops what is due and returns when to look again.
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

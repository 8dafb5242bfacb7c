//! Carries out what columns of boards owe for cards that came into them. Any node may: an action and its end
//! are one transaction.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};
use tokio::task::JoinSet;

use super::next_look;
use crate::app::App;

/// Transactions at once; on the embedded store they share commits.
const AT_ONCE: usize = 16;
/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

/// Carries out one fair batch of those that are due. Returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    let Ok(batch) = ::boards::claim(&app).await else { return Some(again) };
    let mut running = JoinSet::new();
    let mut failed = false;
    for due in batch {
        if running.len() >= AT_ONCE {
            failed |= !matches!(running.join_next().await, Some(Ok(true)));
        }
        let app = app.clone();
        running.spawn(async move {
            ::boards::carry_out(&app, due)
                .await
                .inspect_err(|failure| failure.warn("an automation of a board could not be carried out"))
                .is_ok()
        });
    }
    while let Some(done) = running.join_next().await {
        failed |= !matches!(done, Ok(true));
    }
    match ::boards::next_due(&app).await {
        // What failed stays due: come back, but not at once.
        Ok(due) if failed => Some(due.map_or(again, |due| due.max(again))),
        Ok(due) => next_look(&app, due, again),
        Err(_) => Some(again),
    }
}

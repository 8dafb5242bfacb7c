//! Plays the calls of networks that are tables, and finds placements whose outcome nobody stored.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use crate::app::{App, calls};
use crate::runtime::clock::{Job, Woken};

/// Time until the next look after the store failed, and between two looks when other nodes may have placed
/// calls unheard.
const AGAIN: i64 = 5 * SECOND;

/// Runs until the service stops.
pub async fn run(app: Arc<App>, mut job: Job) {
    loop {
        let due = look(&app).await;
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

/// Works everything that is due; when to look again.
async fn look(app: &App) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    loop {
        app.clock.outside(app.burst.over()).await;
        match calls::work_due(app).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) => {
                tracing::error!(
                    code = failure.error.code,
                    cause = failure.cause,
                    "a look at due calls failed"
                );
                return Some(again);
            }
        }
    }
    match calls::next_due(app).await {
        // A wake-up of another node can get lost; a manual clock belongs to one node.
        Ok(due) if app.store.shared() && !app.clock.is_manual() => {
            Some(due.map_or(again, |due| due.min(again)))
        }
        Ok(due) => due,
        Err(_) => Some(again),
    }
}

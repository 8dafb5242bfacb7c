//! Packs hours of calls that have gone quiet, so that figures over a long time read few bytes.

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use crate::app::{App, analytics};
use crate::runtime::clock::{Job, Woken};

/// Time until the next look after the store failed, and between two looks at a store that others write to.
const AGAIN: i64 = MINUTE;

/// Runs until the service stops.
pub async fn run(app: Arc<App>, mut job: Job) {
    loop {
        let due = look(&app).await;
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

async fn look(app: &App) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    loop {
        match analytics::pack_due(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => break,
            Err(failure) => {
                tracing::error!(
                    code = failure.error.code,
                    cause = failure.cause,
                    "packing hours of calls failed"
                );
                return Some(again);
            }
        }
    }
    match analytics::next_pack(app).await {
        Ok(due) if app.store.shared() && !app.clock.is_manual() => {
            Some(due.map_or(again, |due| due.min(again)))
        }
        Ok(due) => due,
        Err(_) => Some(again),
    }
}

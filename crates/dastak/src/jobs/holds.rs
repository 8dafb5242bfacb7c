//! Lets what live calls hold of the wallet grow, minute by minute.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use crate::app::{App, calls};
use crate::runtime::clock::{Job, Woken};

/// Time until the next look after the store failed.
const AGAIN: i64 = SECOND;
/// Longest time between two looks when other nodes may have answered calls unheard: a call's first growth is
/// later than that.
const UNHEARD: i64 = 30 * SECOND;

/// Runs until the service stops. A burst of dials does not keep it waiting: the minutes go on.
pub async fn run(app: Arc<App>, mut job: Job) {
    loop {
        let due = look(&app).await;
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

async fn look(app: &App) -> Option<Timestamp> {
    let now = app.clock.now();
    loop {
        match calls::next_growth(app).await {
            Ok(Some(due)) if due <= now.plus(SECOND) => {}
            // A manual clock belongs to one node.
            Ok(due) if app.store.shared() && !app.clock.is_manual() => {
                return Some(due.map_or(now.plus(UNHEARD), |due| due.min(now.plus(UNHEARD))));
            }
            Ok(due) => return due,
            Err(failure) => return again(app, &failure),
        }
        if let Err(failure) = calls::grow_due(app).await {
            return again(app, &failure);
        }
    }
}

fn again(app: &App, failure: &crate::app::Failure) -> Option<Timestamp> {
    tracing::error!(
        code = failure.error.code,
        cause = failure.cause,
        "the holds of live calls could not be looked at"
    );
    Some(app.clock.now().plus(AGAIN))
}

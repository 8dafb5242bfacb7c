//! Drops what is no longer needed: idempotency keys after their 24 hours, events and delivery logs after 30
//! days.

use std::sync::Arc;

use domain::time::{DAY, HOUR, Timestamp};
use store::{DbError, idempotency};

use crate::app::App;
use crate::runtime::clock::{Job, Woken};

/// Rows dropped in one transaction.
const BATCH: i64 = 500;

/// Runs until the service stops.
pub async fn run(app: Arc<App>, mut job: Job) {
    loop {
        let due = sweep(&app).await.unwrap_or_else(|why| {
            if matches!(why, DbError::Internal(_)) {
                tracing::error!(%why, "cleanup failed");
            }
            // The store may be away.
            app.clock.now().plus(HOUR)
        });
        if job.wait(Some(due)).await == Woken::Stop {
            return;
        }
    }
}

/// Drops everything that is old enough; when to come again.
async fn sweep(app: &App) -> Result<Timestamp, DbError> {
    let now = app.clock.now();
    app.webhooks.sweep().await?;
    let files_left = super::after_calls::sweep(app).await;
    loop {
        // Keys that are made from now on are not old before tomorrow.
        let due = match app.store.read(idempotency::oldest).await? {
            Some(oldest) => oldest.plus(idempotency::KEPT).min(now.plus(DAY)),
            None => now.plus(DAY),
        };
        if due > now {
            // A round an hour is often enough for keys of all hours.
            return Ok(if files_left { now.plus(HOUR) } else { due.max(now.plus(HOUR)) });
        }
        app.store.tx(move |tx| idempotency::sweep(tx, now, BATCH)).await?;
    }
}

//! Drops what is no longer needed: idempotency keys after their 24 hours, old rate windows, events and delivery logs after 30 days.

use std::sync::Arc;

use domain::time::{HOUR, MINUTE};
use store::{DbError, idempotency, rate_windows};

use crate::app::App;
use crate::runtime::clock::{Job, Woken};

/// Rows dropped in one transaction.
const BATCH: i64 = 500;
/// Time between two rounds.
const EVERY: i64 = HOUR;

/// Runs until the service stops.
pub async fn run(app: Arc<App>, mut job: Job) {
    loop {
        let now = app.clock.now();
        let mut more = app.store.read(move |tx| idempotency::sweepable(tx, now)).await.unwrap_or(false) || app.store.shared();
        while more {
            let swept = app
                .store
                .tx(move |tx| {
                    rate_windows::sweep(tx, now.0 - 10 * MINUTE)?;
                    idempotency::sweep(tx, now, BATCH)
                })
                .await;
            match swept {
                Ok(count) => more = count >= BATCH as u64,
                Err(why) => {
                    if matches!(why, DbError::Internal(_)) {
                        tracing::error!(%why, "cleanup failed");
                    }
                    // The store may be away; the next round comes anyway.
                    more = false;
                }
            }
        }
        if let Err(why) = super::webhooks::sweep(&app).await
            && matches!(why, DbError::Internal(_))
        {
            tracing::error!(%why, "cleanup of events failed");
        }
        if job.wait(Some(now.plus(EVERY))).await == Woken::Stop {
            return;
        }
    }
}

//! Drops what is no longer needed: idempotency keys after their 24 hours, old rate windows.

use std::sync::Arc;

use domain::time::MINUTE;
use store::{DbError, idempotency, rate_windows};

use crate::app::App;
use crate::runtime::clock::{Job, Woken};

/// Rows dropped in one transaction.
const BATCH: i64 = 500;
/// Time between two rounds.
const EVERY: i64 = 5 * MINUTE;

/// Runs until the service stops.
pub async fn run(app: Arc<App>, mut job: Job) {
    loop {
        let now = app.clock.now();
        loop {
            let swept = app
                .store
                .tx(move |tx| {
                    rate_windows::sweep(tx, now.0 - 10 * MINUTE)?;
                    idempotency::sweep(tx, now, BATCH)
                })
                .await;
            match swept {
                Ok(count) if count >= BATCH as u64 => {}
                Ok(_) => break,
                Err(why @ DbError::Internal(_)) => {
                    tracing::error!(%why, "cleanup failed");
                    break;
                }
                // The store is away; the next round comes anyway.
                Err(_) => break,
            }
        }
        if job.wait(Some(now.plus(EVERY))).await == Woken::Stop {
            return;
        }
    }
}

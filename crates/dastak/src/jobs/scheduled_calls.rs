//! Tries scheduled calls that are due. Any node may: the one that holds the row when its state changes dials.

use std::sync::Arc;

use super::Polled;
use crate::app::scheduled_calls::Due;
use crate::app::{App, calls, scheduled_calls};

/// Transactions at once; on the embedded store they share commits.
const AT_ONCE: usize = 32;

/// Tries one fair batch of those that are due.
pub async fn poll(app: &Arc<App>) -> Polled {
    super::work_due(app, AT_ONCE, attempt).await
}

/// Tries one; returns whether it was looked at.
async fn attempt(app: Arc<App>, due: Due) -> bool {
    match scheduled_calls::try_due(&app, due).await {
        Ok(Some(call)) => {
            let dialler = app.clone();
            app.clock.spawn(async move {
                if let Err(failure) = calls::start_dial(&dialler, Arc::new(call)).await
                    && failure.error.status == 500
                {
                    failure.log("the outcome of a dial was not stored");
                }
            });
            true
        }
        Ok(None) => true,
        Err(failure) => {
            if failure.error.status == 500 {
                failure.log("a scheduled call could not be tried");
            }
            false
        }
    }
}

//! Retention of stream records: redacts old records, and removes those of deleted streams.

use crate::app::App;

/// Works everything that is old enough. What fails is retried in the next round.
pub async fn sweep(app: &App) {
    loop {
        match ::streams::retention::sweep(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => return,
            Err(failure) => return failure.warn("old records of streams could not be emptied"),
        }
    }
}

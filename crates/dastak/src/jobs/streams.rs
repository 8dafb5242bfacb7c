//! What is taken out of the records of streams with age, and those of streams that were deleted.

use crate::app::App;

/// Takes out everything that is old enough. What fails is left for the next round.
pub async fn sweep(app: &App) {
    loop {
        match ::streams::retention::sweep(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => return,
            Err(failure) => return failure.warn("old records of streams could not be emptied"),
        }
    }
}

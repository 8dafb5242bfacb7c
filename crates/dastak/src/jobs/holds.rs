//! Increases the wallet holds of live calls, minute by minute.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::{App, calls};

/// Time until the next poll after an error of the store.
const AGAIN: i64 = SECOND;
/// Longest time between two polls when a notification of another node's answered call may be lost: a call's first
/// increase is later than that.
const UNHEARD: i64 = 30 * SECOND;

/// Increases the holds that are due; returns the time of the next poll. A burst of dials does not delay it, since the
/// minutes of calls continue.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let now = app.clock.now();
    loop {
        match calls::next_growth(&app).await {
            Ok(Some(due)) if due <= now.plus(SECOND) => {}
            Ok(due) => return next_look(&app, due, now.plus(UNHEARD)),
            Err(failure) => return again(&app, &failure),
        }
        if let Err(failure) = calls::grow_due(&app).await {
            return again(&app, &failure);
        }
    }
}

fn again(app: &App, failure: &crate::app::Failure) -> Option<Timestamp> {
    failure.log("the holds of live calls could not be looked at");
    Some(app.clock.now().plus(AGAIN))
}

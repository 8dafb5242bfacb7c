//! Lets what live calls hold of the wallet grow, minute by minute.

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::{App, calls};

/// Time until the next look after the store failed.
const AGAIN: i64 = SECOND;
/// Longest time between two looks when other nodes may have answered calls unheard: a call's first growth is
/// later than that.
const UNHEARD: i64 = 30 * SECOND;

/// Lets holds grow that are due; when to look again. A burst of dials does not delay it, since minutes go on.
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

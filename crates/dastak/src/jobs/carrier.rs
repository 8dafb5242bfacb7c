//! Hears of refusals of the carrier on other nodes, and claims the one dial after a pause (`docs/dialler.md`).

use std::sync::Arc;

use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::{App, due_dials};

/// Time between two looks: the wake-up of another node can get lost.
const AGAIN: i64 = 5 * SECOND;

/// Looks once; when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    match due_dials::look_at_refusals(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(failure) => {
            failure.log("refusals of the carrier could not be looked at");
            Some(again)
        }
    }
}

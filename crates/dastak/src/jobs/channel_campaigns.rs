//! Hands the messages of campaigns over (docs/contract/campaigns.md#sending).

use std::sync::Arc;

use channel::campaigns::sending;
use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

/// One fair round over those that are due; when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    match sending::look(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(failure) => {
            failure.warn("the messages of campaigns could not be handed over");
            Some(again)
        }
    }
}

//! Sends what waits on the messaging channel (docs/contract/channel-messages.md#sending).

use std::sync::Arc;

use channel::send_queue;
use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

/// Sends what is due and returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    match send_queue::look(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(failure) => {
            failure.warn("a look at messages to be sent failed");
            Some(again)
        }
    }
}

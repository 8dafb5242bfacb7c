//! Sends what waits on the messaging channel, fetches the files of received messages and drops those that are to go
//! (docs/contract/channel-messages.md#sending).

use std::sync::Arc;

use channel::{media, send};
use domain::time::{SECOND, Timestamp};

use super::next_look;
use crate::app::App;

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

/// Sends what is due and returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let looked = send::look(&app).await;
    after(&app, looked, "a look at messages to be sent failed")
}

/// Fetches and drops files that are due and returns when to look again.
pub async fn look_at_media(app: Arc<App>) -> Option<Timestamp> {
    let looked = media::look(&app).await;
    after(&app, looked, "a look at received files failed")
}

fn after(app: &App, looked: Result<Option<Timestamp>, crate::app::Failure>, what: &str) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    match looked {
        Ok(due) => next_look(app, due, again),
        Err(failure) => {
            failure.warn(what);
            Some(again)
        }
    }
}

//! Looks at the accounts of the messaging channel once a day (docs/contract/channel.md#upkeep).

use std::sync::Arc;

use channel::upkeep;
use domain::time::{MINUTE, Timestamp};
use tokio::task::JoinSet;

use super::next_look;
use crate::app::App;

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = MINUTE;

/// Looks at those whose time has come; when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    loop {
        let taken = match upkeep::take(&app).await {
            Ok(taken) => taken,
            Err(failure) => {
                failure.warn("a look at accounts of the messaging channel failed");
                return Some(again);
            }
        };
        if taken.is_empty() {
            break;
        }
        // Each is work of its own, which waits for the provider outside; the job waits for them.
        let mut looks = JoinSet::new();
        for connection in taken {
            looks.spawn(app.clock.counted(upkeep::look(app.clone(), connection)));
        }
        app.clock.outside(looks.join_all()).await;
    }
    match upkeep::next(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(_) => Some(again),
    }
}

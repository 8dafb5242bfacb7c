//! On PostgreSQL, makes the parts of the coming weeks of the tables whose rows die by age, and drops those that are over
//! ([`store::weeks`]). Each node does so; one is at it at a time.

use std::sync::Arc;

use domain::time::{DAY, MINUTE, Timestamp};

use crate::app::{App, Failure, node};

/// Time between two looks, and after one that failed.
const PACE: i64 = DAY;
const AGAIN: i64 = 5 * MINUTE;

/// One round; when to come again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let now = app.clock.now();
    let kept = store::weeks::keep(&app.store, now, now.plus(-webhooks::KEPT)).await;
    match &kept {
        Ok(kept) if kept.made + kept.dropped > 0 => {
            tracing::info!(made = kept.made, dropped = kept.dropped, "weeks of tables that die by age");
        }
        Ok(_) => {}
        Err(why) => Failure::from(why.clone()).log("weeks could not be made or dropped; it is tried again"),
    }
    let told = node::look_at_weeks(&app).await;
    Some(now.plus(if kept.is_ok() && told.is_ok_and(|complete| complete) { PACE } else { AGAIN }))
}

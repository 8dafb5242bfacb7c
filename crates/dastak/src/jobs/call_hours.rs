//! Packs hours of calls that have gone quiet, so that figures over a long time read few bytes.

use std::sync::Arc;

use domain::time::{MINUTE, Timestamp};

use super::next_look;
use crate::app::{App, analytics};

/// Time until the next look after the store failed, and between two looks at a store that others write to.
const AGAIN: i64 = MINUTE;

/// Packs what is due. Returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    loop {
        match analytics::pack_due(&app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => break,
            Err(failure) => {
                failure.log("packing hours of calls failed");
                return Some(again);
            }
        }
    }
    match analytics::next_pack(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(_) => Some(again),
    }
}

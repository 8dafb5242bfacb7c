//! Tells the carrier which calls are to end, because of a request, a suspension or an empty wallet. Every
//! node tells its own; the one that holds a call ends it.

use std::sync::Arc;

use domain::tenant::Mode;
use domain::time::{SECOND, Timestamp};

use crate::app::{App, calls};

/// Time until the next poll after an error of the store.
const AGAIN: i64 = SECOND;

/// Tells the carrier what is wanted; when to look again. What a lost wake-up would leave undone is found when
/// the node says which calls it holds (`jobs/lines`).
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let carrier = app.carriers.in_mode(Mode::Live)?;
    match calls::wishes(&app).await {
        Ok(wishes) => {
            wishes.into_iter().for_each(|(call, wish)| carrier.carry_out(call, wish));
            None
        }
        Err(failure) => {
            failure.log("the calls that are to end could not be looked at");
            Some(app.clock.now().plus(AGAIN))
        }
    }
}

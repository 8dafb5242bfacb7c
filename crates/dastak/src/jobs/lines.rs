//! Renews the leases of the calls that this node holds, and ends the calls that are over in the store.

use std::sync::Arc;

use domain::call::EndCause;
use domain::time::{SECOND, Timestamp};

use super::repeat;
use crate::app::{App, Failure, calls};
use crate::lines::{LEASE, Lines};

/// Time between two renewals of the leases; a lease survives two that fail.
const SAY: i64 = 15 * SECOND;
/// The same after a failed renewal. When the store is back after an outage, the leases are renewed well before any node
/// judges them (`live_calls::PATIENCE`).
const SAY_AGAIN: i64 = 3 * SECOND;

pub fn start(app: &Arc<App>, lines: Arc<Lines>) {
    let app_ = app.clone();
    let look = move || look(app_.clone(), lines.clone());
    app.clock.start_job(app.clock.signal(), move |job| repeat(job, look));
}

async fn look(app: Arc<App>, lines: Arc<Lines>) -> Option<Timestamp> {
    let now = app.clock.now();
    let Err(failure) = say(&app, &lines).await else { return Some(now.plus(SAY)) };
    failure.log("the calls of this node could not be looked at");
    Some(app.clock.now().plus(SAY_AGAIN))
}

/// Renews the leases of all calls of this node, including those that it is dialling: an answer may take longer than the
/// lease with which they were stored.
async fn say(app: &App, lines: &Lines) -> Result<(), Failure> {
    let held = lines.in_hand();
    if held.is_empty() {
        return Ok(());
    }
    let looked = calls::keep_holding(app, held, app.clock.now().plus(LEASE)).await?;
    for (id, wish) in looked.wishes {
        lines.carry_out(id, wish);
    }
    for id in looked.over {
        tracing::warn!(call = %id, "a call is over in the store; dropping its line");
        lines.end(id, EndCause::Error);
    }
    Ok(())
}

//! Tells the carrier which calls somebody wants ended: a request, a suspension, an empty wallet. Every node
//! tells its own; the one that holds a call ends it.

use std::sync::Arc;

use domain::tenant::Mode;
use domain::time::{SECOND, Timestamp};

use crate::app::{App, calls};
use crate::runtime::clock::{Job, Woken};

/// Time until the next look after the store failed.
const AGAIN: i64 = SECOND;

/// Runs until the service stops. What a lost wake-up would leave undone is found when the node says which
/// calls it holds (`jobs/lines`).
pub async fn run(app: Arc<App>, mut job: Job) {
    loop {
        let due = look(&app).await;
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

async fn look(app: &App) -> Option<Timestamp> {
    let carrier = app.carriers.in_mode(Mode::Live)?;
    match calls::wishes(app).await {
        Ok(wishes) => {
            wishes.into_iter().for_each(|(call, wish)| carrier.carry_out(call, wish));
            None
        }
        Err(failure) => {
            tracing::error!(
                code = failure.error.code,
                cause = failure.cause,
                "the calls that are to end could not be looked at"
            );
            Some(app.clock.now().plus(AGAIN))
        }
    }
}

//! Says which calls this node still holds, and ends those that it need not hold any more.

use std::sync::Arc;

use domain::call::EndCause;
use domain::time::SECOND;

use crate::app::{App, calls};
use crate::lines::{LEASE, Lines};
use crate::runtime::clock::{Job, Woken};

/// Time between two times that it is said; a lease bridges two that fail.
const SAY: i64 = 15 * SECOND;

/// Runs until the service stops.
pub async fn run(app: Arc<App>, lines: Arc<Lines>, mut job: Job) {
    loop {
        let now = app.clock.now();
        if let Err(failure) = say(&app, &lines).await {
            tracing::error!(
                code = failure.error.code,
                cause = failure.cause,
                "the calls of this node could not be looked at"
            );
        }
        if job.wait(Some(now.plus(SAY))).await == Woken::Stop {
            return;
        }
    }
}

/// Keeps the leases of all calls of this node.
async fn say(app: &App, lines: &Lines) -> Result<(), crate::app::Failure> {
    let held = lines.held();
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

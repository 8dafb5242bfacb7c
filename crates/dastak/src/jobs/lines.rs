//! Says which calls this node still holds, and ends those that somebody wants ended.

use std::sync::Arc;

use domain::call::EndCause;
use domain::time::SECOND;

use crate::app::{App, calls};
use crate::lines::{LEASE, Lines};
use crate::runtime::clock::{Job, Woken};

/// Time between two times that it is said; a lease bridges two that fail.
const SAY: i64 = 15 * SECOND;

/// Runs until the service stops. Hang-ups are looked for at every wake-up of a call.
pub async fn run(app: Arc<App>, lines: Arc<Lines>, mut job: Job) {
    let mut said = app.clock.now();
    loop {
        let now = app.clock.now();
        let again = if now.0 - said.0 >= SAY {
            said = now;
            say(&app, &lines).await
        } else {
            look(&app, &lines).await
        };
        if let Err(failure) = again {
            tracing::error!(code = failure.error.code, cause = failure.cause, "the calls of this node could not be looked at");
        }
        if job.wait(Some(said.plus(SAY))).await == Woken::Stop {
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
    for id in looked.to_hang_up {
        lines.end(id, EndCause::ApiHangup);
    }
    for id in looked.over {
        tracing::warn!(call = %id, "a call is over in the store; dropping its line");
        lines.end(id, EndCause::Error);
    }
    Ok(())
}

/// Ends the calls of this node that somebody wants ended, whichever node was asked.
async fn look(app: &App, lines: &Lines) -> Result<(), crate::app::Failure> {
    if lines.held().is_empty() {
        return Ok(());
    }
    for id in calls::to_hang_up(app).await? {
        lines.end(id, EndCause::ApiHangup);
    }
    Ok(())
}

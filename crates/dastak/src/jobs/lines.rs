//! Renews the leases of the calls that this node holds, and ends the calls that are over in the store.

use domain::call::EndCause;
use domain::time::SECOND;

use super::{Next, NodeParts, Poll, poll};
use crate::app::{App, Failure, calls};
use crate::lines::{LEASE, Lines};

/// Time between two renewals of the leases; a lease survives two that fail.
pub const RENEWAL: i64 = 15 * SECOND;
/// The same after a failed renewal. When the store is back after an outage, the leases are renewed well before any node
/// judges them (`live_calls::PATIENCE`).
pub const RETRY: i64 = 3 * SECOND;

pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let lines = node.lines?.clone();
    poll(move |app| {
        let lines = lines.clone();
        async move {
            let now = app.clock.now();
            renew(&app, &lines).await?;
            Ok(Next::At(Some(now.plus(RENEWAL))))
        }
    })
}

/// Renews the leases of all calls of this node, including those that it is dialling: an answer may take longer than the
/// lease with which they were stored.
async fn renew(app: &App, lines: &Lines) -> Result<(), Failure> {
    let held = lines.in_hand();
    if held.is_empty() {
        return Ok(());
    }
    let looked = calls::keep_holding(app, held, app.clock.now().plus(LEASE)).await?;
    for (id, request) in looked.hangup_requests {
        lines.carry_out(id, request);
    }
    for id in looked.over {
        tracing::warn!(call = %id, "a call is over in the store; dropping its line");
        lines.end(id, EndCause::Error);
    }
    Ok(())
}

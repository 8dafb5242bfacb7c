//! What becomes of the calls of which this node does not know whether they are stored ([`Undialled`]).

use std::sync::Arc;

use domain::call::Status;
use domain::ports::DialError;
use domain::time::{MINUTE, Timestamp};
use store::calls::{self, CallRow};

use super::together::store_it;
use crate::undialled::Undialled;
use crate::{App, Failure};

/// For how long after the end of its lease a call is looked for that is not there: a commit may wait for a standby that long
/// after its client has gone.
const LATE: i64 = 60 * MINUTE;

/// Looks whether calls that this node never dialled are stored, and takes those back. Returns whether it has to look again: what
/// is not there may still come.
///
/// # Errors
/// Those of the store. What was not settled then is settled by a later look.
pub async fn settle_undialled(app: &App) -> Result<bool, Failure> {
    let undialled = app.kept.of(Undialled::default);
    for call in undialled.all() {
        let (tenant, id, mode) = (call.workspace, call.id, call.mode);
        let stored = app.of(tenant).read(move |tx| calls::get(tx, mode, id)).await?;
        match stored {
            Some(row) if row.progress.status == Status::Queued => {
                let nobody = (Arc::new(Err(DialError::ProviderErrorBeforeRing)), None);
                // What the request was told is settled: the outer error is the store's.
                let _ = store_it(app, call, nobody, Arc::new(None)).await?;
                tracing::info!(call = %id, "a call whose storing was in doubt was there; it is taken back, nobody was dialled");
            }
            None if waits(&call, app.clock.now()) => continue,
            // Another node found it, or it was never stored.
            Some(_) | None => {}
        }
        undialled.settled(id);
    }
    Ok(!undialled.is_empty())
}

fn waits(call: &CallRow, now: Timestamp) -> bool {
    call.next_step_at.is_some_and(|lease| now < lease.plus(LATE))
}

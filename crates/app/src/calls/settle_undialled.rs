//! Settling the calls of which this node does not know whether they are stored ([`Undialled`]).

use std::sync::Arc;

use domain::call::Status;
use domain::ports::DialError;
use domain::time::{MINUTE, Timestamp};
use store::calls::{self, CallRow};

use super::outcome_batches::store_it;
use crate::undialled::Undialled;
use crate::{App, Failure};

/// How long after the end of its lease a missing call is searched: a commit may wait for a standby that long after its
/// client has gone.
const LATE: i64 = 60 * MINUTE;

/// Searches the store for calls that this node never dialled, and deletes those. Returns whether to search again: a
/// missing one may still appear.
///
/// # Errors
/// Those of the store. A later run settles the rest.
pub async fn settle_undialled(app: &App) -> Result<bool, Failure> {
    let undialled = app.state.of(Undialled::default);
    for call in undialled.all() {
        let (tenant, id, mode) = (call.workspace, call.id, call.mode);
        let stored = app.of(tenant).read(move |tx| calls::get(tx, mode, id)).await?;
        match stored {
            Some(row) if row.progress.status == Status::Queued => {
                let nobody = (Arc::new(Err(DialError::ProviderErrorBeforeRing)), None);
                // The response to the request is settled: the outer error is the store's.
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

//! Calls that this node wrote down without hearing whether they were stored: the connection was lost with the commit. None of
//! them is dialled, so whatever the store holds of them is taken back as soon as it can be looked at: nobody was called, and
//! the request may be repeated. Without that, the mark of a placement would be found when its lease is over, by a node that
//! cannot know whether somebody was dialled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::call::Status;
use domain::ids::{Call, Id};
use domain::ports::DialError;
use domain::time::{MINUTE, Timestamp};
use store::calls::{self, CallRow};

use super::together::store_it;
use crate::{App, Failure};

/// Most calls that are remembered. Of more than these the oldest are forgotten first: they end as if this node had died.
const MOST: usize = 1_000;
/// For how long after the end of its lease a call is looked for that is not there: a commit may wait for a standby that long
/// after its client has gone.
const LATE: i64 = 60 * MINUTE;

/// The calls, by their ids, which are ordered by time.
#[derive(Default)]
pub struct Undialled(Mutex<BTreeMap<Id<Call>, Arc<CallRow>>>);

impl Undialled {
    /// Remembers a call. The request or the round that wrote it down gets an error, so it never dials the call.
    pub(super) fn add(&self, call: Arc<CallRow>) {
        let mut all = self.lock();
        all.insert(call.id, call);
        while all.len() > MOST {
            all.pop_first();
        }
    }

    /// Whether this node knows that it never dialled this call.
    pub(super) fn has(&self, id: Id<Call>) -> bool {
        self.lock().contains_key(&id)
    }

    fn all(&self) -> Vec<Arc<CallRow>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Id<Call>, Arc<CallRow>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks whether calls that this node never dialled are stored, and takes those back. Returns whether it has to look again: what
/// is not there may still come.
///
/// # Errors
/// Those of the store. What was not settled then is settled by a later look.
pub async fn settle_undialled(app: &App) -> Result<bool, Failure> {
    let undialled = app.kept.of(Undialled::default);
    for call in undialled.all() {
        let (tenant, id, mode) = (call.workspace, call.id, call.mode);
        let stored = app.store.read(move |tx| calls::get(tx, tenant, mode, id)).await?;
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
        undialled.lock().remove(&id);
    }
    Ok(!undialled.lock().is_empty())
}

fn waits(call: &CallRow, now: Timestamp) -> bool {
    call.next_step_at.is_some_and(|lease| now < lease.plus(LATE))
}

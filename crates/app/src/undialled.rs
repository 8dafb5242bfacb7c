//! Calls that this node stored without an acknowledgement: the connection was lost with the commit. None of them is
//! dialled, so whatever the store has of them is deleted as soon as it answers: nobody was called, and the request may
//! be retried. Without that, the mark of a placement would be found when its lease expires, by a node that cannot know
//! whether somebody was dialled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::{Call, Id};
use store::calls::CallRow;

/// Most calls that are remembered. Of more than these the oldest are dropped first: they end as if this node had died.
const MOST: usize = 1_000;

/// The calls, by their ids, which are ordered by time.
#[derive(Default)]
pub struct Undialled(Mutex<BTreeMap<Id<Call>, Arc<CallRow>>>);

impl Undialled {
    /// Remembers a call. The request or the round that wrote it down gets an error, so it never dials the call.
    pub(crate) fn add(&self, call: Arc<CallRow>) {
        let mut all = self.lock();
        all.insert(call.id, call);
        while all.len() > MOST {
            all.pop_first();
        }
    }

    /// Whether this node knows that it never dialled this call.
    pub(crate) fn has(&self, id: Id<Call>) -> bool {
        self.lock().contains_key(&id)
    }

    pub(crate) fn all(&self) -> Vec<Arc<CallRow>> {
        self.lock().values().cloned().collect()
    }

    /// Drops a settled call.
    pub(crate) fn settled(&self, id: Id<Call>) {
        self.lock().remove(&id);
    }

    /// Whether no call is pending.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Id<Call>, Arc<CallRow>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What writes along in the transactions of one request, at the end of each: so that an entry about a change is stored
//! with the change, whoever opens the transaction.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;

use super::error::DbError;
use super::tx::Tx;
use super::work::{Kind, Work};

tokio::task_local! {
    static COMPANION: Arc<dyn Companion>;
}

/// Writes along in every transaction that a task opens ([`accompanied`]). Its methods may run again with the closure.
pub trait Companion: Send + Sync {
    /// Before the closure runs: leaves a note with [`Tx::set_note`] that the closure may add to.
    fn begin(&self, tx: &mut Tx<'_>);

    /// After the closure succeeded, in its transaction.
    ///
    /// # Errors
    /// Those of the store; the transaction is rolled back.
    fn end(&self, tx: &mut Tx<'_>) -> Result<(), DbError>;
}

/// Runs work whose transactions this companion accompanies. Tasks that the work spawns are not part of it.
pub async fn accompanied<F: Future>(companion: Arc<dyn Companion>, work: F) -> F::Output {
    COMPANION.scope(companion, work).await
}

/// Whether this task's transactions have a companion. Such work must not be batched with that of other tasks.
pub fn is_accompanied() -> bool {
    COMPANION.try_with(|_| ()).is_ok()
}

/// The closure with the companion of this task, and its kind: one that only inserts rows does more with a companion. A
/// single statement (`Store::tx_single`) reserves a place in a limit and has none.
pub(super) fn join(mut work: Work, kind: Kind) -> (Work, Kind) {
    let Some(companion) = COMPANION.try_with(Arc::clone).ok().filter(|_| kind != Kind::Single) else {
        return (work, kind);
    };
    let both: Work = Box::new(move |tx| {
        companion.begin(tx);
        work(tx)?;
        companion.end(tx).map_err(Into::into)
    });
    (both, if kind == Kind::Adding { Kind::Usual } else { kind })
}

impl Tx<'_> {
    /// Leaves a note in this transaction, in place of an earlier one.
    pub fn set_note<T: Any>(&mut self, note: T) {
        self.note = Some(Box::new(note));
    }

    /// The note of this transaction, if it has one of this type.
    pub fn note<T: Any>(&mut self) -> Option<&mut T> {
        self.note.as_mut()?.downcast_mut()
    }

    /// Takes the note out of this transaction, if it has one of this type.
    pub fn take_note<T: Any>(&mut self) -> Option<T> {
        self.note.take()?.downcast().ok().map(|note| *note)
    }
}

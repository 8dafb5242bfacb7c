//! Closures without their types. Callers bring closures with answers and errors of their own; the engines run
//! [`Work`], so that their code is compiled once rather than once for every closure.

use std::sync::{Arc, Mutex, PoisonError};

use super::{DbError, Tx};

/// A closure to run in a transaction. It may run more than once; the answer of its last run lies in its [`Slot`].
pub(super) type Work = Box<dyn FnMut(&mut Tx<'_>) -> Result<(), Refusal> + Send>;

/// Why a transaction has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The engine failed.
    Db(DbError),
    /// The closure refused: its own error lies in its [`Slot`].
    Own,
}

impl From<DbError> for Refusal {
    fn from(why: DbError) -> Self {
        Refusal::Db(why)
    }
}

/// Where a closure leaves the answer of its last run.
pub(super) struct Slot<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

/// Takes the types from `work`.
pub(super) fn erase<T, E>(
    mut work: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
) -> (Work, Slot<T, E>)
where
    T: Send + 'static,
    E: Send + 'static,
{
    let slot = Arc::new(Mutex::new(None));
    let left = slot.clone();
    let run = move |tx: &mut Tx<'_>| {
        let answer = work(tx);
        let outcome = if answer.is_ok() { Ok(()) } else { Err(Refusal::Own) };
        *left.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        outcome
    };
    (Box::new(run), Slot(slot))
}

impl<T, E: From<DbError>> Slot<T, E> {
    /// The answer of the closure once the engine is done with it.
    pub(super) fn answer(self, outcome: Result<(), Refusal>) -> Result<T, E> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (outcome, left) {
            (Err(Refusal::Db(why)), _) => Err(why.into()),
            (Ok(()), Some(Ok(value))) => Ok(value),
            (Err(Refusal::Own), Some(Err(own))) => Err(own),
            (Ok(()), _) | (Err(Refusal::Own), _) => {
                Err(DbError::Internal("a transaction left no answer".into()).into())
            }
        }
    }
}

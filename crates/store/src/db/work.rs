//! Type-erased closures. A caller's closure has its own result and error type; the engines run [`Work`], so that their
//! code is compiled once and not for every closure.

use std::sync::{Arc, Mutex, PoisonError};

use super::error::DbError;
use super::faults::{Fate, Faults};
use super::tx::Tx;

/// A closure to run in a transaction. It may run more than once; the result of its last run is in its [`Slot`].
pub(super) type Work = Box<dyn FnMut(&mut Tx<'_>) -> Result<(), Refusal> + Send>;

/// The kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Usual,
    /// On PostgreSQL it fails rather than wait long for a lock.
    Hasty,
    /// Large: on SQLite no other closure shares its transaction.
    Alone,
    /// Like `Alone`, and it may take minutes.
    Long,
    Single,
    /// It only inserts rows, as a rule.
    Adding,
    /// One statement outside of a transaction, which may take minutes.
    LongSingle,
}

/// The kind of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Short,
    /// It may take seconds.
    Long,
    /// Like `Long`, and it tolerates the replication lag.
    Far,
}

/// Why a transaction has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The engine failed.
    Db(DbError),
    /// The closure returned an error of its own, which is in its [`Slot`].
    Own,
}

impl From<DbError> for Refusal {
    fn from(why: DbError) -> Self {
        Refusal::Db(why)
    }
}

/// Holds the result of the last run of a closure.
pub(super) struct Slot<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

/// Erases the types of `work`.
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
    /// The result of the closure, given that of the engine.
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

/// The closure with statements that `faults` may change. If `fate` refuses it, it fails with that error and is rolled
/// back.
pub(super) fn with_faults(faults: Arc<dyn Faults>, fate: Fate, mut work: Work) -> Work {
    Box::new(move |tx| {
        tx.faults = Some(faults.clone());
        work(tx)?;
        match &fate {
            Fate::Refused(why) => Err(why.clone().into()),
            Fate::Untouched => Ok(()),
            Fate::Unheard => {
                let told = std::mem::take(&mut tx.uncertain);
                tx.after.extend(told);
                Ok(())
            }
        }
    })
}

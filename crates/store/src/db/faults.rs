//! A store that fails on purpose. The simulation (`docs/simulation.md`) puts it between the service and its
//! transactions; nothing else makes one.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;

use super::{DbError, Tx};

/// The line of the service that asked for a transaction.
pub type Place = &'static Location<'static>;

/// An answer that may take its time. One that never comes is a process that ended here.
pub type Pause<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What becomes of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It goes as it goes.
    Untouched,
    /// It runs and is rolled back in the end; its caller hears this.
    Refused(DbError),
    /// It is committed, but its caller hears [`DbError::Uncertain`].
    Unheard,
}

/// Decides what goes wrong.
pub trait Faults: Send + Sync {
    /// Asked before each transaction, on its caller's task.
    fn before(&self, place: Place) -> Pause<'_, Fate>;

    /// Told after each transaction, before its caller hears of it; `stored` says whether it was committed.
    fn after(&self, place: Place, stored: bool) -> Pause<'_, ()>;

    /// Asked before each read; an error is its answer.
    fn read(&self, place: Place) -> Option<DbError>;
}

/// The closure as it ends on a store that refuses it: what it wrote is rolled back.
pub(super) fn under<T, E: From<DbError>>(
    fate: Fate,
    mut work: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
) -> impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static {
    move |tx| {
        let done = work(tx)?;
        match &fate {
            Fate::Refused(why) => Err(why.clone().into()),
            Fate::Untouched | Fate::Unheard => Ok(done),
        }
    }
}

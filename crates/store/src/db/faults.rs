//! Fault injection, for tests only: the simulation (`docs/simulation.md`) makes transactions fail, and the test of the
//! tenant filters (`tests/it/tenants/`) changes statements.

use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;

use super::error::DbError;

/// The line of the service that started a transaction.
pub type CallSite = &'static Location<'static>;

/// A future result. One that stays pending simulates a process that died here.
pub type Pause<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The injected outcome of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// No fault.
    Untouched,
    /// It runs and is rolled back; its caller gets this error.
    Refused(DbError),
    /// It is committed, but its caller gets [`DbError::Uncertain`].
    Unheard,
}

/// Decides which faults to inject; none by default.
pub trait Faults: Send + Sync {
    /// Called before each transaction, on its caller's task.
    fn before(&self, _: CallSite) -> Pause<'_, Fate> {
        Box::pin(std::future::ready(Fate::Untouched))
    }

    /// Called after each transaction, before its caller gets the result; `stored`: it was committed.
    fn after(&self, _: CallSite, _stored: bool) -> Pause<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Called before each read, which fails with the returned error.
    fn read(&self, _: CallSite) -> Option<DbError> {
        None
    }

    /// Whether SQLite runs transactions and long reads on the calling thread, in one deterministic order, so that a run
    /// can be repeated.
    fn in_order(&self) -> bool {
        false
    }

    /// Called before each statement; the returned one runs instead.
    fn statement<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        sql.into()
    }
}

/// The statement to run in place of this one.
pub(super) fn statement<'a>(faults: Option<&dyn Faults>, sql: &'a str) -> Cow<'a, str> {
    match faults {
        Some(faults) => faults.statement(sql),
        None => sql.into(),
    }
}

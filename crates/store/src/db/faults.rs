//! A store that fails on purpose, for tests only: the simulation (`docs/simulation.md`) lets transactions
//! fail, and the test of the tenant filters (`tests/it/tenants/`) changes statements.

use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;

use super::DbError;
use super::work::Work;

/// The line of the service that asked for a transaction.
pub type Place = &'static Location<'static>;

/// An answer that may take time. One that never comes simulates a process that ended here.
pub type Pause<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What happens to one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Nothing is done to it.
    Untouched,
    /// It runs and is rolled back in the end; its caller gets this error.
    Refused(DbError),
    /// It is committed, but its caller gets [`DbError::Uncertain`].
    Unheard,
}

/// Decides what goes wrong. By default nothing does.
pub trait Faults: Send + Sync {
    /// Asked before each transaction, on its caller's task.
    fn before(&self, _: Place) -> Pause<'_, Fate> {
        Box::pin(std::future::ready(Fate::Untouched))
    }

    /// Told after each transaction, before its caller gets the answer; `stored` says whether it was committed.
    fn after(&self, _: Place, _stored: bool) -> Pause<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Asked before each read; an error is its answer.
    fn read(&self, _: Place) -> Option<DbError> {
        None
    }

    /// Whether a transaction of the embedded store is over before any other task of its thread goes on, and long
    /// reads run where they are asked for: one order of things, so that a run can be repeated.
    fn in_order(&self) -> bool {
        false
    }

    /// Asked before each statement; what it returns runs instead.
    fn statement<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        sql.into()
    }
}

/// The statement that runs instead of this one.
pub(super) fn statement<'a>(faults: Option<&dyn Faults>, sql: &'a str) -> Cow<'a, str> {
    match faults {
        Some(faults) => faults.statement(sql),
        None => sql.into(),
    }
}

/// The closure with faulty statements. When `fate` refuses it, it ends with that error, and what it wrote is
/// rolled back.
pub(super) fn under(faults: Arc<dyn Faults>, fate: Fate, mut work: Work) -> Work {
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

//! The platform do-not-call registry.

use domain::time::Timestamp;

use crate::db::{DbError, Tx};
use crate::params;

/// Adds a number; `false` when it is already there.
pub fn add(tx: &mut Tx<'_>, phone: &str, now: Timestamp) -> Result<bool, DbError> {
    Ok(tx.exec("insert into dnd_registry (phone, created_at) values (?1, ?2) on conflict (phone) do nothing", params![phone, now])? > 0)
}

/// Takes a number off; `false` when it was not there.
pub fn remove(tx: &mut Tx<'_>, phone: &str) -> Result<bool, DbError> {
    Ok(tx.exec("delete from dnd_registry where phone = ?1", params![phone])? > 0)
}

/// Whether a number is on the registry.
pub fn contains(tx: &mut Tx<'_>, phone: &str) -> Result<bool, DbError> {
    Ok(tx.one("select 1 from dnd_registry where phone = ?1", params![phone], |_| Ok(()))?.is_some())
}

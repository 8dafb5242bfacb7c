//! Small facts about the installation as a whole.

use crate::db::{DbError, Tx};
use crate::params;

/// The fact with this name.
pub fn get(tx: &mut Tx<'_>, name: &str) -> Result<Option<String>, DbError> {
    tx.one("select value from installation where name = ?1", params![name], |row| row.text(0))
}

/// Writes a fact unless it is there; returns what holds.
pub fn get_or_insert(tx: &mut Tx<'_>, name: &str, value: &str) -> Result<String, DbError> {
    tx.exec("insert into installation (name, value) values (?1, ?2) on conflict (name) do nothing", params![name, value])?;
    Ok(get(tx, name)?.unwrap_or_else(|| value.to_owned()))
}

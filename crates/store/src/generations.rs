//! Generation numbers, which validate a node's caches. A transaction that changes a subject increments its number; a
//! node that uses cached data reads the number again, or compares it at the commit
//! ([`Tx::unchanged`](crate::Tx::unchanged)). SQLite has one node, which is notified by its own commits.

use crate::db::{DbError, TenantTx, Tx, Value};

/// The subject of all keys and of the settings of workspaces.
const ACCESS: &str = "access";

const READ: &str = "select n from generations where subject = ?1";
const RAISE: &str = "insert into generations (subject, n) values (?1, 1) on conflict (subject) do update set n = generations.n + 1";

fn read(tx: &mut Tx<'_>, subject: Value<'_>) -> Result<u64, DbError> {
    Ok(tx.one(READ, &[subject])?.unwrap_or(0))
}

fn raise(tx: &mut Tx<'_>, subject: Value<'_>) -> Result<(), DbError> {
    if tx.shared() { tx.later(RAISE, &[subject]) } else { Ok(()) }
}

/// Across workspaces: the generation of all keys and workspace settings.
pub fn access(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    read(tx, ACCESS.into())
}

/// Across workspaces: increments the generation of keys and workspace settings.
pub fn access_changes(tx: &mut Tx<'_>) -> Result<(), DbError> {
    raise(tx, ACCESS.into())
}

/// The generation of a workspace's endpoints.
pub fn endpoints(tx: &mut TenantTx) -> Result<u64, DbError> {
    let tenant = tx.tenant();
    read(tx, tenant.into())
}

/// Increments the generation of a workspace's endpoints.
pub fn endpoints_change(tx: &mut TenantTx) -> Result<(), DbError> {
    let tenant = tx.tenant();
    raise(tx, tenant.into())
}

/// Retries the transaction if a workspace's endpoints have another generation.
pub fn endpoints_unchanged(tx: &mut TenantTx, number: u64) -> Result<(), DbError> {
    let subject = tx.tenant().to_string();
    tx.unchanged(&subject, number)
}

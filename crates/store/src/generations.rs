//! Numbers that say whether what a node remembers still holds. A transaction that changes something raises the
//! number of its subject. Code that uses what the node remembers reads the number again, or has the store compare it in
//! the transaction ([`Tx::unchanged`]). An embedded store has one node, which is told by its own commits.

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

/// Across workspaces: the number of all keys and of the settings of workspaces.
pub fn access(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    read(tx, ACCESS.into())
}

/// Across workspaces: a key or the settings of a workspace change.
pub fn access_changes(tx: &mut Tx<'_>) -> Result<(), DbError> {
    raise(tx, ACCESS.into())
}

/// The number of a workspace's endpoints.
pub fn endpoints(tx: &mut TenantTx) -> Result<u64, DbError> {
    let tenant = tx.tenant();
    read(tx, tenant.into())
}

/// A workspace's endpoints change.
pub fn endpoints_change(tx: &mut TenantTx) -> Result<(), DbError> {
    let tenant = tx.tenant();
    raise(tx, tenant.into())
}

/// The transaction runs again if the number of a workspace's endpoints is another one.
pub fn endpoints_unchanged(tx: &mut TenantTx, number: u64) -> Result<(), DbError> {
    let subject = tx.tenant().to_string();
    tx.unchanged(&subject, number)
}

/// What [`Tx::unchanged`] compares, by the engine: lists of subjects and of numbers. It divides by zero if one of
/// them differs.
pub(crate) const COMPARE: &str = "select 1 / (count(*) = 0)::int from unnest(?1::text[], ?2::bigint[]) as seen (subject, n) \
     left join lateral (select n from generations g where g.subject = seen.subject offset 0) g on true \
     where coalesce(g.n, 0) <> seen.n";

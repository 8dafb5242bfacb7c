//! The workspace's do-not-call list, keyed by a keyed hash of the number (`Keyring::hash_phone`), so that it outlives an erasure.

use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::{DbError, Tx};
use crate::params;

/// Adds a number; `false` when it is already listed. `id` orders the list.
pub fn add(tx: &mut Tx<'_>, tenant: Tenant, hash: &str, phone: &str, reason: &str, id: &str, now: Timestamp) -> Result<bool, DbError> {
    let added = tx.exec(
        "insert into do_not_call (workspace, phone_hash, phone, reason, id, created_at) values (?1, ?2, ?3, ?4, ?5, ?6) \
         on conflict (workspace, phone_hash) do nothing",
        params![tenant, hash, phone, reason, id, now],
    )?;
    Ok(added > 0)
}

/// Whether a number is listed.
pub fn contains(tx: &mut Tx<'_>, tenant: Tenant, hash: &str) -> Result<bool, DbError> {
    Ok(tx.one("select 1 from do_not_call where workspace = ?1 and phone_hash = ?2", params![tenant, hash], |_| Ok(()))?.is_some())
}

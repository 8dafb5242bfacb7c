//! Phones of staff that the operator has released from the platform registry, for transfers of one workspace.

use domain::time::Timestamp;

use crate::db::{DbError, TenantTx};
use crate::params;

/// Releases a number for transfers and returns when it was first released; `None` if the workspace has `most` others.
/// The caller has locked the workspace.
pub fn add(tx: &mut TenantTx, number: &str, most: i64, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
    if let Some(known) = tx.one::<Timestamp>(
        "select created_at from transfer_numbers where workspace = ?1 and number = ?2",
        params![number],
    )? {
        return Ok(Some(known));
    }
    let count = tx.one::<i64>("select count(*) from transfer_numbers where workspace = ?1", &[])?;
    if count.unwrap_or(0) >= most {
        return Ok(None);
    }
    tx.exec(
        "insert into transfer_numbers (workspace, number, created_at) values (?1, ?2, ?3)",
        params![number, now],
    )?;
    Ok(Some(now))
}

/// Takes a release back; `false` when there was none.
pub fn remove(tx: &mut TenantTx, number: &str) -> Result<bool, DbError> {
    Ok(tx.exec("delete from transfer_numbers where workspace = ?1 and number = ?2", params![number])? > 0)
}

/// Whether a number is released.
pub fn contains(tx: &mut TenantTx, number: &str) -> Result<bool, DbError> {
    let sql = "select 1 from transfer_numbers where workspace = ?1 and number = ?2";
    tx.exists(sql, params![number])
}

/// Every released number with the time of its release, ordered by number.
pub fn list(tx: &mut TenantTx) -> Result<Vec<(String, Timestamp)>, DbError> {
    let sql = "select number, created_at from transfer_numbers where workspace = ?1 order by number";
    tx.all(sql, &[])
}

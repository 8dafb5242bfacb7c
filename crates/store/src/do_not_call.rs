//! The workspace's do-not-call list, keyed by a keyed hash of the number (`Keyring::hash_phone`), so that it
//! outlives an erasure.

use std::collections::BTreeSet;

use const_format::formatcp;
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// An entry of the list.
    #[derive(Debug, Clone)]
    pub struct EntryRow {
        /// E.164; `None` once the person is erased.
        phone: Option<String>,
        /// Why it is listed.
        reason: String,
        created_at: Timestamp,
    }
}

const COLUMNS: &str = EntryRow::COLUMNS;
const INSERT: &str = "insert into do_not_call (workspace, phone_hash, phone, reason, seq, created_at) values (?1, ?2, ?3, ?4, ?5, ?6) \
    on conflict (workspace, phone_hash) do nothing";

/// Adds a number; `false` when it is already listed.
pub fn add(
    tx: &mut TenantTx,
    hash: &str,
    phone: &str,
    reason: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    tx.uncache(&name(tx.tenant(), hash));
    if contains(tx, hash)? {
        return Ok(false);
    }
    let seq = lock(tx)? + 1;
    let added = tx.exec(INSERT, params![hash, phone, reason, seq, now])?;
    if added > 0 {
        tx.later(
            "update do_not_call_heads set last_seq = ?2, total = total + 1 where workspace = ?1",
            params![seq],
        )?;
    }
    Ok(added > 0)
}

/// A number that is to be listed.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Keyed hash of the number.
    pub hash: String,
    /// E.164.
    pub phone: String,
    /// Why it is listed.
    pub reason: String,
}

/// Across workspaces: locks the lists of several workspaces and prefetches the reads of [`add_all`] with the same
/// numbers and the same `also`. Does nothing on SQLite.
pub fn prefetch_all<'a, R>(
    tx: &mut Tx<'_>,
    lists: impl Iterator<Item = (Tenant, &'a [NewEntry])> + Clone,
    also: impl Fn(&mut TenantTx, &'a [NewEntry]) -> Result<R, DbError>,
) -> Result<(), DbError> {
    for (tenant, _) in lists.clone() {
        open(&mut tx.of(tenant))?;
    }
    tx.prefetch(|tx| {
        for (tenant, _) in lists.clone() {
            let _ = last_seq(&mut tx.of(tenant));
        }
        for (tenant, entries) in lists {
            let _ = among(&mut tx.of(tenant), &hashes(entries));
            let _ = also(&mut tx.of(tenant), entries);
        }
    })
}

fn hashes(entries: &[NewEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.hash.as_str()).collect()
}

/// Adds distinct numbers, in their order. Returns whether each is new, and the result of `also`, whose reads are
/// pipelined with those of the list. The list is locked, unless it is already by [`prefetch_all`].
pub fn add_all<R>(
    tx: &mut TenantTx,
    entries: &[NewEntry],
    now: Timestamp,
    prefetched: bool,
    also: impl Fn(&mut TenantTx) -> Result<R, DbError>,
) -> Result<(Vec<bool>, R), DbError> {
    let mut last = if prefetched { last_seq(tx)?.unwrap_or(0) } else { lock(tx)? };
    if !prefetched {
        tx.pipeline_reads(|tx| {
            let _ = among(tx, &hashes(entries));
            let _ = also(tx);
        });
    }
    let hashes = hashes(entries);
    let listed: BTreeSet<String> = among(tx, &hashes)?.into_iter().collect();
    let more = also(tx)?;
    let new: Vec<bool> = entries.iter().map(|entry| !listed.contains(&entry.hash)).collect();
    let before = last;
    for entry in entries.iter().zip(&new).filter_map(|(entry, new)| new.then_some(entry)) {
        last += 1;
        tx.uncache(&name(tx.tenant(), &entry.hash));
        tx.add(INSERT, params![&*entry.hash, &*entry.phone, &*entry.reason, last, now])?;
    }
    if last > before {
        tx.change(
            "update do_not_call_heads set last_seq = ?2, total = total + ?3 where workspace = ?1",
            params![last, last - before],
            DbError::Internal("the list of a workspace is gone".into()),
        )?;
    }
    Ok((new, more))
}

/// Locks the list, so that the answers of [`contains`] stay true. Returns the position of its last entry.
fn lock(tx: &mut TenantTx) -> Result<i64, DbError> {
    open(tx)?;
    Ok(last_seq(tx)?.unwrap_or(0))
}

/// Creates the list if there is none.
fn open(tx: &mut TenantTx) -> Result<(), DbError> {
    tx.add(
        "insert into do_not_call_heads (workspace, last_seq, total) values (?1, 0, 0) on conflict do nothing",
        &[],
    )
}

/// The position of its last entry, which is locked.
fn last_seq(tx: &mut TenantTx) -> Result<Option<i64>, DbError> {
    let sql = "select last_seq from do_not_call_heads where workspace = ?1 /*pg for update*/";
    tx.one(sql, &[])
}

/// The cache key of a number's presence.
fn name(tenant: Tenant, hash: &str) -> String {
    format!("do not call {tenant} {hash}")
}

/// Reads and caches which of these numbers are listed, with one statement.
pub fn prefetch(tx: &mut TenantTx, hashes: &[String]) -> Result<(), DbError> {
    if hashes.is_empty() {
        return Ok(());
    }
    let listed = among(tx, hashes)?;
    for hash in hashes {
        tx.cache_row(name(tx.tenant(), hash), listed.contains(hash));
    }
    Ok(())
}

/// Whether a number is listed.
pub fn contains(tx: &mut TenantTx, hash: &str) -> Result<bool, DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached(&name(tx.tenant(), hash))
    {
        return Ok(known);
    }
    Ok(!among(tx, &[hash])?.is_empty())
}

/// The hashes that are on the list.
pub fn among(tx: &mut TenantTx, hashes: &[impl AsRef<str>]) -> Result<Vec<String>, DbError> {
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, hashes.iter().map(|hash| hash.as_ref().into()));
    tx.all(
        &format!("select phone_hash from do_not_call where workspace = ?1 and phone_hash in {list}"),
        &params,
    )
}

/// The entry of a number.
pub fn get(tx: &mut TenantTx, hash: &str) -> Result<Option<EntryRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from do_not_call where workspace = ?1 and phone_hash = ?2"),
        params![hash],
    )
}

/// Takes a number off; `false` when it was not listed.
pub fn remove(tx: &mut TenantTx, hash: &str) -> Result<bool, DbError> {
    tx.uncache(&name(tx.tenant(), hash));
    let head = "select 1 from do_not_call_heads where workspace = ?1 /*pg for update*/";
    tx.exists(head, &[])?;
    let gone = tx.one::<i64>(
        "delete from do_not_call where workspace = ?1 and phone_hash = ?2 returning seq",
        params![hash],
    )?;
    let Some(seq) = gone else { return Ok(false) };
    tx.later("insert into do_not_call_gaps (workspace, seq) values (?1, ?2)", params![seq])?;
    tx.later("update do_not_call_heads set total = total - 1 where workspace = ?1", &[])?;
    Ok(true)
}

/// Deletes the number and the reason of an entry; the hash stays, so that the person is not called again. Returns
/// whether there was an entry.
pub fn forget_phone(tx: &mut TenantTx, hash: &str) -> Result<bool, DbError> {
    Ok(tx.exec(
        "update do_not_call set phone = null, reason = '[erased]' where workspace = ?1 and phone_hash = ?2",
        params![hash],
    )? > 0)
}

/// A page of the list, newest first, and its length. Positions have no gaps except for removed entries, so a page is a
/// range of them at any depth.
pub fn list(tx: &mut TenantTx, limit: i64, offset: i64) -> Result<(Vec<EntryRow>, i64), DbError> {
    let head =
        tx.one::<(i64, i64)>("select last_seq, total from do_not_call_heads where workspace = ?1", &[])?;
    let Some((last, total)) = head else { return Ok((Vec::new(), 0)) };
    let gaps: Vec<i64> =
        tx.all("select seq from do_not_call_gaps where workspace = ?1 order by seq desc", &[])?;
    let rows = tx.all(
        formatcp!(
            "select {COLUMNS} from do_not_call where workspace = ?1 and seq <= ?2 order by seq desc limit ?3"
        ),
        params![position(last, offset, &gaps), limit],
    )?;
    Ok((rows, total))
}

/// The position of the entry that has `offset` newer ones; `gaps` are the positions without an entry, newest
/// first.
fn position(last: i64, offset: i64, gaps: &[i64]) -> i64 {
    let mut position = last - offset;
    for gap in gaps {
        if *gap < position {
            break;
        }
        position -= 1;
    }
    position
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn gaps_do_not_move_pages() {
        for gaps in [vec![], vec![5], vec![5, 4], vec![3], vec![4, 1], vec![5, 3, 2], vec![1]] {
            let listed: Vec<i64> = (1..=5).rev().filter(|seq| !gaps.contains(seq)).collect();
            for (offset, seq) in listed.iter().enumerate() {
                assert_eq!(position(5, offset as i64, &gaps), *seq, "gaps {gaps:?}, offset {offset}");
            }
            assert!(position(5, listed.len() as i64, &gaps) <= 0);
        }
    }
}

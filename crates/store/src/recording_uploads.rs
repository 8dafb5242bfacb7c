//! Recordings that are uploaded to a bucket during their calls. The holder of a row's lease is the only node that
//! writes to the bucket for it, and renews the lease before `held_until`. A discarded upload is marked; the holder
//! cleans up and deletes the row, or another node does after the lease.

use const_format::formatcp;
use domain::ids::{Call, Id, Recording};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::row::row;
use crate::db::{DbError, ROWS, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct UploadRow in "recording_uploads" {
        call: Id<Call>,
        workspace: Tenant,
        /// The recording, which may not have a row of its own yet.
        recording: Id<Recording>,
        /// The node that has the file.
        node: String,
        /// The node that may write to the bucket.
        holder: String,
        /// The end of the lease.
        held_until: Timestamp,
        /// When the node with the file last renewed the lease.
        seen_at: Timestamp,
        /// Whether nothing of it may stay.
        discarded: bool,
        /// Id of the multipart upload: empty while it is unknown whether it was begun.
        upload: Option<String>,
        /// Tags of its parts from the second on.
        tags: Json,
        /// Pieces in the bucket have smaller numbers.
        pieces: i64,
        /// When it was begun.
        created_at: Timestamp,
    }
}

const COLUMNS: &str = UploadRow::COLUMNS;

/// Adds an upload; a call has one at most.
pub fn insert(tx: &mut Tx<'_>, row: &UploadRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!("{} on conflict (call) do nothing", UploadRow::INSERT);
    tx.later(SQL, &row.values())
}

/// The upload of a call, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, call: Id<Call>) -> Result<Option<UploadRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from recording_uploads where workspace = ?1 and call = ?2 /*pg for update*/"
        ),
        params![call],
    )
}

/// Across workspaces: the uploads that a node has leased.
pub fn held_by(tx: &mut Tx<'_>, node: &str) -> Result<Vec<UploadRow>, DbError> {
    tx.all(
        formatcp!("select {COLUMNS} from recording_uploads where holder = ?1 order by call"),
        params![node],
    )
}

/// Across workspaces: renews the leases of a node, except for discarded uploads.
pub fn renew(tx: &mut Tx<'_>, node: &str, now: Timestamp, until: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update recording_uploads set held_until = ?3, seen_at = case when node = ?1 then ?2 else seen_at end \
         where holder = ?1 and discarded = 0 and held_until < ?3",
        params![node, now, until],
    )
}

/// Across workspaces: leases up to `limit` uploads whose lease expired: at `now` for discarded ones, and already at
/// `left` for the others, so that the node with the file may return first.
pub fn take(
    tx: &mut Tx<'_>,
    node: &str,
    now: Timestamp,
    left: Timestamp,
    until: Timestamp,
    limit: i64,
) -> Result<usize, DbError> {
    let found: Vec<(Id<Call>, Tenant)> = tx.all(
        "select call, workspace from recording_uploads where holder <> ?1 \
         and (held_until <= ?3 or (held_until <= ?2 and discarded = 1)) \
         order by held_until limit ?4 /*pg for update skip locked*/",
        params![node, now, left, limit],
    )?;
    for (call, tenant) in &found {
        tx.later(
            "update recording_uploads set holder = ?3, held_until = ?4 where workspace = ?1 and call = ?2",
            params![*tenant, *call, node, until],
        )?;
    }
    Ok(found.len())
}

/// Across workspaces: when the next upload of another node can be leased; see [`take`]. `patience` is in milliseconds.
pub fn next_due(tx: &mut Tx<'_>, node: &str, patience: i64) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(held_until + case when discarded = 1 then 0 else cast(?2 as bigint) end) \
               from recording_uploads where holder <> ?1";
    Ok(tx.one(sql, params![node, patience])?.flatten())
}

/// Extends the lease of an upload by the node with the file, and records how many parts may be in the bucket. The
/// caller has locked the row and checked its holder.
pub fn extend_lease(
    tx: &mut TenantTx,
    call: Id<Call>,
    now: Timestamp,
    until: Timestamp,
    pieces: i64,
) -> Result<(), DbError> {
    tx.later(
        "update recording_uploads set seen_at = ?3, held_until = ?4, pieces = ?5 where workspace = ?1 and call = ?2",
        params![call, now, until, pieces],
    )
}

/// Returns an upload to the node with the file; the lease ends at `now` unless that node renews it.
pub fn give_back(tx: &mut TenantTx, call: Id<Call>, holder: &str, now: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update recording_uploads set holder = node, held_until = ?4 where workspace = ?1 and call = ?2 and holder = ?3",
        params![call, holder, now],
    )
}

/// Records the progress of a multipart upload if the node still holds it and it is not discarded. Returns whether that
/// is so.
pub fn note_parts(
    tx: &mut TenantTx,
    call: Id<Call>,
    holder: &str,
    upload: Option<&str>,
    tags: &Json,
) -> Result<bool, DbError> {
    let noted = tx.exec(
        "update recording_uploads set upload = ?4, tags = ?5 \
         where workspace = ?1 and call = ?2 and holder = ?3 and discarded = 0",
        params![call, holder, upload, tags],
    )?;
    Ok(noted > 0)
}

/// Marks the uploads of these calls: nothing of them may stay.
pub fn discard(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<(), DbError> {
    for some in calls.chunks(ROWS) {
        let mut values = Vec::new();
        let ids = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql =
            format!("update recording_uploads set discarded = 1 where workspace = ?1 and call in {ids}");
        tx.later(&sql, &values)?;
    }
    Ok(())
}

/// Deletes an upload with nothing left in the bucket, if the node still holds it.
pub fn remove(tx: &mut TenantTx, call: Id<Call>, holder: &str) -> Result<(), DbError> {
    tx.later(
        "delete from recording_uploads where workspace = ?1 and call = ?2 and holder = ?3",
        params![call, holder],
    )
}

//! Recordings of calls, and whether they are stored as objects.

use const_format::formatcp;
use domain::ids::{Call, Id, Recording};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, ROWS, TenantTx, Tx};
use crate::params;

row! {
    /// A recording as stored. Without `kept_at` it is still a file of the node that owned the call.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RecordingRow in "recordings" {
        id: Id<Recording>,
        workspace: Tenant,
        call: Id<Call>,
        /// Content type of the object.
        content_type: String,
        /// Size of the object.
        bytes: Option<i64>,
        /// Length, milliseconds.
        duration_ms: i64,
        created_at: Timestamp,
        /// When it became an object.
        kept_at: Option<Timestamp>,
    }
}

const COLUMNS: &str = RecordingRow::COLUMNS;

/// Adds a recording; a call has one at most. Whether it was added.
pub fn insert(tx: &mut Tx<'_>, row: &RecordingRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict (workspace, call) do nothing", RecordingRow::INSERT);
    Ok(tx.exec(SQL, &row.values())? > 0)
}

pub fn get(tx: &mut TenantTx, id: Id<Recording>) -> Result<Option<RecordingRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from recordings where workspace = ?1 and id = ?2"), params![id])
}

/// Across workspaces: the recording that a signed link names. The link carries no key, so its signature is the
/// proof.
pub fn find(tx: &mut Tx<'_>, id: Id<Recording>) -> Result<Option<RecordingRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from recordings where id = ?1"), params![id])
}

/// The recording of a call.
pub fn of_call(tx: &mut TenantTx, call: Id<Call>) -> Result<Option<RecordingRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from recordings where workspace = ?1 and call = ?2"), params![call])
}

/// Marks a recording as stored in the bucket. Returns `false` if it is marked already or deleted.
pub fn keep(tx: &mut TenantTx, id: Id<Recording>, bytes: i64, now: Timestamp) -> Result<bool, DbError> {
    let kept = tx.exec(
        "update recordings set bytes = ?3, kept_at = ?4 where workspace = ?1 and id = ?2 and kept_at is null",
        params![id, bytes, now],
    )?;
    Ok(kept > 0)
}

/// Sets the duration of a recording that is not stored yet, milliseconds.
pub fn set_duration(tx: &mut TenantTx, id: Id<Recording>, duration_ms: i64) -> Result<(), DbError> {
    tx.later(
        "update recordings set duration_ms = ?3 where workspace = ?1 and id = ?2 and kept_at is null",
        params![id, duration_ms],
    )
}

/// Stores how loud a recording is ([`domain::call::peaks`]), unless the recording is gone.
pub fn keep_peaks(tx: &mut TenantTx, id: Id<Recording>, step_ms: i64, peaks: &[u8]) -> Result<(), DbError> {
    // Locked, so that none are stored while the recording is erased.
    let sql = "select 1 from recordings where workspace = ?1 and id = ?2 /*pg for update*/";
    if !tx.exists(sql, params![id])? {
        return Ok(());
    }
    tx.later(
        "insert into recording_peaks (workspace, recording, step_ms, peaks) values (?1, ?2, ?3, ?4) on conflict do nothing",
        params![id, step_ms, peaks],
    )
}

/// How loud a recording is: the length of a step, and two bytes for each.
pub fn peaks(tx: &mut TenantTx, id: Id<Recording>) -> Result<Option<(i64, Vec<u8>)>, DbError> {
    tx.one("select step_ms, peaks from recording_peaks where workspace = ?1 and recording = ?2", params![id])
}

pub fn remove(tx: &mut TenantTx, id: Id<Recording>) -> Result<(), DbError> {
    tx.later("delete from recording_peaks where workspace = ?1 and recording = ?2", params![id])?;
    tx.later("delete from recordings where workspace = ?1 and id = ?2", params![id])
}

/// Recordings of these calls, locked against other writers until the transaction ends.
pub fn of_calls(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<Vec<RecordingRow>, DbError> {
    let mut found = Vec::new();
    for some in calls.chunks(ROWS) {
        let mut values = Vec::new();
        let ids = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql = format!(
            "select {COLUMNS} from recordings where workspace = ?1 and call in {ids} order by id /*pg for update*/"
        );
        found.extend(tx.all::<RecordingRow>(&sql, &values)?);
    }
    Ok(found)
}

/// Across workspaces: recordings that were stored before a timestamp, oldest first, locked until the transaction ends.
pub fn kept_before(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<Vec<RecordingRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from recordings where kept_at is not null and kept_at < ?1 order by kept_at limit ?2 /*pg for update skip locked*/"
    );
    tx.all(sql, params![before, limit])
}

//! The jobs of a call after its end (analysis, transcript, recording, pushes): one row for each step. Taking a row
//! counts an attempt and leases it; [`finish`] and [`put_off`] change it only for the holder of that attempt.

use const_format::formatcp;
use domain::call::after::AfterCallStep;
use domain::ids::{Call, Id, Recording};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use serde_json::Value as Json;

use crate::calls::uncache_findings;
use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::params;

row! {
    /// A step of a call as stored.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StepRow in "after_calls" {
        call: Id<Call>,
        /// What is to be done.
        step: AfterCallStep,
        workspace: Tenant,
        /// The only node that can do it.
        node: Option<String>,
        /// The recording, for the steps about it.
        recording: Option<Id<Recording>>,
        /// The file on the node, or the key of the object to be dropped.
        file: Option<String>,
        /// How often it was tried.
        attempts: i64,
        /// When it is due.
        next_at: Timestamp,
        /// When it was added.
        created_at: Timestamp,
    }
}

const COLUMNS: &str = StepRow::COLUMNS;

/// Adds a step; one that exists stays as it is.
pub fn insert(tx: &mut Tx<'_>, row: &StepRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!("{} on conflict (call, step) do nothing", StepRow::INSERT);
    tx.later(SQL, &row.values())
}

/// Across workspaces: steps that upload recordings of this node's files.
pub fn recordings_of_node(tx: &mut Tx<'_>, node: &str) -> Result<Vec<StepRow>, DbError> {
    const SQL: &str = formatcp!("select {COLUMNS} from after_calls where node = ?1 and step = ?2");
    tx.all(SQL, params![node, AfterCallStep::Recording])
}

/// Updates the path of a step's file.
pub fn move_file(tx: &mut Tx<'_>, row: &StepRow, file: &str) -> Result<(), DbError> {
    tx.later(
        "update after_calls set file = ?4 where workspace = ?1 and call = ?2 and step = ?3",
        params![row.workspace, row.call, row.step, file],
    )
}

/// `and step in (…)` with its parameters.
fn among(steps: &[AfterCallStep], params: &mut Vec<Value<'static>>) -> String {
    let places: Vec<String> = steps
        .iter()
        .map(|step| {
            params.push((*step).into());
            format!("?{}", params.len())
        })
        .collect();
    format!("and step in ({})", places.join(", "))
}

/// Across workspaces: leases up to `limit` due steps of these kinds that this node can do, until `lease`. Each counts
/// an attempt. Any node may take the steps of a node that has not polled since `orphaned`.
pub fn take(
    tx: &mut Tx<'_>,
    node: &str,
    steps: &[AfterCallStep],
    now: Timestamp,
    lease: Timestamp,
    orphaned: Timestamp,
    limit: i64,
) -> Result<Vec<StepRow>, DbError> {
    let mut params: Vec<Value<'static>> =
        vec![now.into(), node.to_owned().into(), orphaned.into(), limit.into()];
    let among = among(steps, &mut params);
    let sql = format!(
        "select {COLUMNS} from after_calls where next_at <= ?1 and (node is null or node = ?2 or next_at <= ?3) {among} \
         order by next_at, call limit ?4 /*pg for update skip locked*/"
    );
    let mut rows: Vec<StepRow> = tx.all(&sql, &params)?;
    for row in &mut rows {
        row.attempts += 1;
        row.next_at = lease;
        tx.later(
            "update after_calls set attempts = ?3, next_at = ?4 where call = ?1 and step = ?2",
            params![row.call, row.step, row.attempts, lease],
        )?;
    }
    Ok(rows)
}

/// Across workspaces: when the next step of these kinds that this node can do is due. A step of another node
/// is due here `patience` (milliseconds) after its own time.
pub fn next_due(
    tx: &mut Tx<'_>,
    node: &str,
    steps: &[AfterCallStep],
    patience: i64,
) -> Result<Option<Timestamp>, DbError> {
    let mut params: Vec<Value<'static>> = vec![node.to_owned().into(), patience.into()];
    let among = among(steps, &mut params);
    let sql = format!(
        "select min(next_at + case when node is null or node = ?1 then 0 else cast(?2 as bigint) end) from after_calls where next_at is not null {among}"
    );
    Ok(tx.one(&sql, &params)?.flatten())
}

/// Deletes a step if its lease is still held. Returns whether it was deleted.
pub fn finish(tx: &mut TenantTx, row: &StepRow) -> Result<bool, DbError> {
    let gone = tx.exec(
        "delete from after_calls where workspace = ?1 and call = ?2 and step = ?3 and attempts = ?4",
        params![row.call, row.step, row.attempts],
    )?;
    Ok(gone > 0)
}

/// Reschedules a step to `next_at` if its lease is still held.
pub fn put_off(tx: &mut TenantTx, row: &StepRow, next_at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update after_calls set next_at = ?5 where workspace = ?1 and call = ?2 and step = ?3 and attempts = ?4",
        params![row.call, row.step, row.attempts, next_at],
    )
}

/// Whether a step of a call is still to be done.
pub fn waits(tx: &mut TenantTx, call: Id<Call>, step: AfterCallStep) -> Result<bool, DbError> {
    let sql = "select 1 from after_calls where workspace = ?1 and call = ?2 and step = ?3";
    tx.exists(sql, params![call, step])
}

/// The node that is to do a step of a call; `None` when no such step waits.
pub fn doer(
    tx: &mut TenantTx,
    call: Id<Call>,
    step: AfterCallStep,
) -> Result<Option<Option<String>>, DbError> {
    tx.one(
        "select node from after_calls where workspace = ?1 and call = ?2 and step = ?3",
        params![call, step],
    )
}

/// Writes what an analysis found, or that it found nothing (`status` is `done`, `failed` or `skipped`).
/// Outcome and sentiment are the row's own.
pub fn save_analysis(
    tx: &mut TenantTx,
    id: Id<Call>,
    status: &str,
    at: Timestamp,
    found: Option<(Option<&str>, &Json)>,
) -> Result<(), DbError> {
    uncache_findings(tx, id);
    if let Some((summary, extracted)) = found {
        tx.later(
            "update calls set summary = ?3, extracted = ?4 where workspace = ?1 and id = ?2",
            params![id, summary, extracted],
        )?;
    }
    tx.later(
        "update calls set analysis = ?3, analysed_at = ?4 where workspace = ?1 and id = ?2",
        params![id, status, at],
    )
}

/// Saves the status of the timed transcript while that is pending. Returns whether it was saved.
pub fn save_full_transcript(
    tx: &mut TenantTx,
    id: Id<Call>,
    status: &str,
    turns: Option<&Json>,
) -> Result<bool, DbError> {
    let saved = tx.exec(
        "update calls set full_status = ?3, full_turns = ?4 where workspace = ?1 and id = ?2 and full_status in ('pending', 'processing')",
        params![id, status, turns],
    )?;
    Ok(saved > 0)
}

/// Sets or clears the recording of a call.
pub fn set_recording(
    tx: &mut TenantTx,
    id: Id<Call>,
    recording: Option<Id<Recording>>,
) -> Result<(), DbError> {
    tx.later("update calls set recording = ?3 where workspace = ?1 and id = ?2", params![id, recording])
}

/// Writes the list of pushes to connected systems, newest first.
pub fn save_pushes(tx: &mut TenantTx, id: Id<Call>, pushes: &Json) -> Result<(), DbError> {
    tx.later("update calls set connector_pushes = ?3 where workspace = ?1 and id = ?2", params![id, pushes])
}

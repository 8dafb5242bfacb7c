//! What calls owe after their end, and what comes of it in the call: a row for each step, worked when its
//! time has come. Who takes a row counts its attempt and moves its time on by a lease; [`finish`] and
//! [`put_off`] change it only for the holder of that attempt.

use domain::call::after::AfterCallStep;
use domain::ids::{Call, Id, Recording};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use serde_json::Value as Json;

use crate::calls::Content;
use crate::db::{DbError, Row, Tx, Value};
use crate::params;

/// A step of a call as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// The call.
    pub call: Id<Call>,
    /// What is to be done.
    pub step: AfterCallStep,
    /// The workspace.
    pub workspace: Tenant,
    /// The only node that can do it.
    pub node: Option<String>,
    /// The recording, for the steps about it.
    pub recording: Option<Id<Recording>>,
    /// The file on the node, or the key of the object to be dropped.
    pub file: Option<String>,
    /// How often it was taken.
    pub attempts: i64,
    /// When it is due.
    pub next_at: Timestamp,
    /// When it was written down.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "call, step, workspace, node, recording, file, attempts, next_at, created_at";

fn read(row: &Row<'_>) -> Result<StepRow, DbError> {
    let step = row.text(1)?;
    Ok(StepRow {
        call: row.id(0)?,
        step: AfterCallStep::parse(&step)
            .ok_or_else(|| DbError::Internal(format!("unknown step after a call: {step}")))?,
        workspace: row.id(2)?,
        node: row.opt_text(3)?,
        recording: row.opt_id(4)?,
        file: row.opt_text(5)?,
        attempts: row.int(6)?,
        next_at: row.time(7)?,
        created_at: row.time(8)?,
    })
}

/// Writes a step down; one that is there already stays as it is.
pub fn insert(tx: &mut Tx<'_>, row: &StepRow) -> Result<(), DbError> {
    tx.later(
        "insert into after_calls (call, step, workspace, node, recording, file, attempts, next_at, created_at) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) on conflict (call, step) do nothing",
        params![
            row.call,
            row.step.as_str(),
            row.workspace,
            row.node.as_deref(),
            row.recording,
            row.file.as_deref(),
            row.attempts,
            row.next_at,
            row.created_at
        ],
    )
}

/// `and step in (…)` with its parameters.
fn among(steps: &[AfterCallStep], params: &mut Vec<Value<'static>>) -> String {
    let places: Vec<String> = steps
        .iter()
        .map(|step| {
            params.push(step.as_str().into());
            format!("?{}", params.len())
        })
        .collect();
    format!("and step in ({})", places.join(", "))
}

/// Takes up to `limit` due steps of these kinds that this node can do: each counts an attempt and is due
/// again at `lease`. Steps of a node that has not come for them since `orphaned` are anybody's.
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
    let mut rows = tx.all(&sql, &params, read)?;
    for row in &mut rows {
        row.attempts += 1;
        row.next_at = lease;
        tx.later(
            "update after_calls set attempts = ?3, next_at = ?4 where call = ?1 and step = ?2",
            params![row.call, row.step.as_str(), row.attempts, lease],
        )?;
    }
    Ok(rows)
}

/// When the next step of these kinds that this node can do is due. A step of another node is due here at
/// `patience` after its own time.
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
    Ok(tx.one(&sql, &params, |row| row.opt_time(0))?.flatten())
}

/// Strikes a step out, if its holder still holds it. Whether it did.
pub fn finish(tx: &mut Tx<'_>, tenant: Tenant, row: &StepRow) -> Result<bool, DbError> {
    let gone = tx.exec(
        "delete from after_calls where workspace = ?1 and call = ?2 and step = ?3 and attempts = ?4",
        params![tenant, row.call, row.step.as_str(), row.attempts],
    )?;
    Ok(gone > 0)
}

/// Makes a step due again at `next_at`, if its holder still holds it.
pub fn put_off(tx: &mut Tx<'_>, tenant: Tenant, row: &StepRow, next_at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update after_calls set next_at = ?5 where workspace = ?1 and call = ?2 and step = ?3 and attempts = ?4",
        params![tenant, row.call, row.step.as_str(), row.attempts, next_at],
    )
}

/// Whether a step of a call is still to be done.
pub fn waits(tx: &mut Tx<'_>, tenant: Tenant, call: Id<Call>, step: AfterCallStep) -> Result<bool, DbError> {
    let found = tx.one(
        "select 1 from after_calls where workspace = ?1 and call = ?2 and step = ?3",
        params![tenant, call, step.as_str()],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// Writes the times of a conversation, and which of the steps after it are to come. The caller knows that the
/// person is not erased.
pub fn save_times(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Call>, content: &Content) -> Result<(), DbError> {
    tx.later(
        "update calls set turns = ?3, latency = ?4, analysis = ?5, full_status = ?6 where workspace = ?1 and id = ?2",
        params![tenant, id, content.turns.as_ref(), content.latency.as_ref(), content.analysis.as_deref(), content.full_status.as_deref()],
    )
}

/// Writes what an analysis found, or that it found nothing (`status` is `done`, `failed` or `skipped`).
/// Outcome and sentiment are the row's own.
pub fn save_analysis(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Call>,
    status: &str,
    at: Timestamp,
    found: Option<(Option<&str>, &Json)>,
) -> Result<(), DbError> {
    if let Some((summary, extracted)) = found {
        tx.later(
            "update calls set summary = ?3, extracted = ?4 where workspace = ?1 and id = ?2",
            params![tenant, id, summary, extracted],
        )?;
    }
    tx.later(
        "update calls set analysis = ?3, analysed_at = ?4 where workspace = ?1 and id = ?2",
        params![tenant, id, status, at],
    )
}

/// Writes how far the transcript with times has got; only one that is being made goes on. Whether it did.
pub fn save_full_transcript(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Call>,
    status: &str,
    turns: Option<&Json>,
) -> Result<bool, DbError> {
    let saved = tx.exec(
        "update calls set full_status = ?3, full_turns = ?4 where workspace = ?1 and id = ?2 and full_status in ('pending', 'processing')",
        params![tenant, id, status, turns],
    )?;
    Ok(saved > 0)
}

/// Names the recording that is kept of a call, or that none is any more.
pub fn set_recording(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Call>,
    recording: Option<Id<Recording>>,
) -> Result<(), DbError> {
    tx.later(
        "update calls set recording = ?3 where workspace = ?1 and id = ?2",
        params![tenant, id, recording],
    )
}

/// Writes the list of pushes to connected systems, newest first.
pub fn save_pushes(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Call>, pushes: &Json) -> Result<(), DbError> {
    tx.later(
        "update calls set connector_pushes = ?3 where workspace = ?1 and id = ?2",
        params![tenant, id, pushes],
    )
}

//! Evaluations of finished conversations: one row for each run. Taking a run counts an attempt and leases it; what changes
//! it afterwards names that attempt. Criteria, sums by day, people's marks and sweeps are in files of their own.

pub mod criteria;
pub mod days;
pub mod marks;
pub mod sweeps;

use std::collections::HashMap;

use const_format::formatcp;
use domain::evaluation::{Cause, Graded, RunStatus, Trigger};
use domain::ids::{Agent, EvaluationRun, EvaluationSweep, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::row::{row, update};
use crate::db::{DbError, ROWS, TenantTx, Tx, Value, any_of};
use crate::params;

row! {
    /// An evaluation of one conversation.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RunRow in "evaluation_runs" {
        id: Id<EvaluationRun>,
        agent: Id<Agent>,
        kind: Graded,
        /// Id of the chat or the call.
        conversation: String,
        /// When that began.
        began_at: Timestamp,
        /// Its number among those of the conversation that have verdicts, from 1.
        run_no: Option<i64>,
        started_by: Trigger,
        sweep: Option<Id<EvaluationSweep>>,
        criteria_version: i64,
        /// Who asked for it ([`domain::actor::Actor`]).
        asked_by: Option<String>,
        status: RunStatus,
        cause: Option<Cause>,
        model: Option<String>,
        passed: i64,
        failed: i64,
        not_applicable: i64,
        /// List of [`domain::evaluation::CriterionResult`]; `None` until it has verdicts.
        results: Option<Json>,
        /// Minor units.
        charged: i64,
        attempts: i64,
        /// When it is due, or its lease ends; `None` once it is over.
        next_at: Option<Timestamp>,
        /// Whether a node has it.
        leased: bool,
        created_at: Timestamp,
        evaluated_at: Option<Timestamp>,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = RunRow::COLUMNS;

/// Adds a pending run. Returns whether it was added: not where one of the conversation is pending, or where it was
/// evaluated by itself before and is to be again.
pub fn insert(tx: &mut TenantTx, row: &RunRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict do nothing", RunRow::INSERT);
    Ok(tx.exec(SQL, &row.values())? > 0)
}

pub fn get(tx: &mut TenantTx, id: Id<EvaluationRun>) -> Result<Option<RunRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from evaluation_runs where workspace = ?1 and id = ?2"), params![id])
}

/// One run, locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<EvaluationRun>) -> Result<Option<RunRow>, DbError> {
    const SQL: &str =
        formatcp!("select {COLUMNS} from evaluation_runs where workspace = ?1 and id = ?2 /*pg for update*/");
    tx.one(SQL, params![id])
}

/// Runs of a conversation, newest first, older than the id `before`. Index `evaluation_runs_of_conversation`.
pub fn of_conversation(
    tx: &mut TenantTx,
    conversation: &str,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<RunRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from evaluation_runs where workspace = ?1 and conversation = ?2 and id < ?3 order by id desc limit ?4"
    );
    tx.all(SQL, params![conversation, before.unwrap_or("evr_~"), limit])
}

/// The pending run of a conversation. Index `one_evaluation_at_a_time`.
pub fn pending_of(tx: &mut TenantTx, conversation: &str) -> Result<Option<RunRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from evaluation_runs where workspace = ?1 and conversation = ?2 and next_at is not null"
    );
    tx.one(SQL, params![conversation])
}

/// How many runs a conversation has. Index `evaluation_runs_of_conversation`.
pub fn count_of(tx: &mut TenantTx, conversation: &str) -> Result<i64, DbError> {
    let sql = "select count(*) from evaluation_runs where workspace = ?1 and conversation = ?2";
    Ok(tx.one(sql, params![conversation])?.unwrap_or(0))
}

/// The last run of a conversation that has verdicts. Index `evaluation_run_numbers`.
pub fn last_of(tx: &mut TenantTx, conversation: &str) -> Result<Option<RunRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from evaluation_runs where workspace = ?1 and conversation = ?2 and run_no is not null order by run_no desc limit 1"
    );
    tx.one(SQL, params![conversation])
}

/// Across workspaces: how many runs of each workspace are leased. Index `evaluation_runs_leased`.
fn leased(tx: &mut Tx<'_>, now: Timestamp) -> Result<HashMap<Tenant, i64>, DbError> {
    let sql = "select workspace, count(*) from evaluation_runs where leased = 1 and next_at > ?1 group by workspace";
    Ok(tx.all::<(Tenant, i64)>(sql, params![now])?.into_iter().collect())
}

/// A condition that leaves out the workspaces of which `share` runs are leased.
fn others(leased: &HashMap<Tenant, i64>, share: i64, values: &mut Vec<Value<'static>>) -> String {
    let mut full: Vec<Tenant> =
        leased.iter().filter(|(_, count)| **count >= share).map(|(tenant, _)| *tenant).collect();
    if full.is_empty() {
        return "1 = 1".to_owned();
    }
    full.sort_unstable_by_key(Tenant::bits);
    format!("workspace not in {}", any_of(values, full.into_iter().map(Value::from)))
}

/// Across workspaces: leases up to `limit` due runs until `lease`, longest due first, so that no workspace has more than
/// `share` of them. Each counts an attempt. Index `evaluation_runs_due`.
pub fn take(
    tx: &mut Tx<'_>,
    now: Timestamp,
    lease: Timestamp,
    share: i64,
    limit: i64,
) -> Result<Vec<(Tenant, Id<EvaluationRun>, i64)>, DbError> {
    let mut leased = leased(tx, now)?;
    let mut values = vec![now.into(), limit.into()];
    let others = others(&leased, share, &mut values);
    let sql = format!(
        "select workspace, id, attempts from evaluation_runs where next_at is not null and next_at <= ?1 and {others} \
         order by next_at, id limit ?2 /*pg for update skip locked*/"
    );
    let mut taken = Vec::new();
    for (tenant, id, attempts) in tx.all::<(Tenant, Id<EvaluationRun>, i64)>(&sql, &values)? {
        let count = leased.entry(tenant).or_default();
        if *count >= share {
            continue;
        }
        *count += 1;
        tx.later(
            "update evaluation_runs set attempts = ?3, next_at = ?4, leased = 1 where workspace = ?1 and id = ?2",
            params![tenant, id, attempts + 1, lease],
        )?;
        taken.push((tenant, id, attempts + 1));
    }
    Ok(taken)
}

/// Across workspaces: when a run is due that [`take`] would lease, or the next lease ends.
pub fn next_due(tx: &mut Tx<'_>, now: Timestamp, share: i64) -> Result<Option<Timestamp>, DbError> {
    let leased = leased(tx, now)?;
    let mut values = vec![now.into()];
    let others = others(&leased, share, &mut values);
    let sql = format!(
        "select min(next_at) from evaluation_runs where next_at is not null and ((leased = 1 and next_at > ?1) or {others})"
    );
    Ok(tx.one(&sql, &values)?.flatten())
}

/// Reschedules a run to `next_at` if its attempt still holds the lease.
pub fn put_off(
    tx: &mut TenantTx,
    id: Id<EvaluationRun>,
    attempts: i64,
    next_at: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "update evaluation_runs set next_at = ?4, leased = 0 where workspace = ?1 and id = ?2 and attempts = ?3 and next_at is not null",
        params![id, attempts, next_at],
    )
}

/// Stores the end of a run that the transaction has locked.
pub fn save(tx: &mut TenantTx, row: &RunRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "evaluation_runs" of tenant set {
            run_no: row.run_no,
            status: row.status,
            cause: row.cause,
            model: row.model.as_deref(),
            passed: row.passed,
            failed: row.failed,
            not_applicable: row.not_applicable,
            results: row.results.as_ref(),
            charged: row.charged,
            next_at: row.next_at,
            leased: row.leased,
            evaluated_at: row.evaluated_at,
        }
        where "id = ?2", row.id
    );
    tx.later(sql, &values)
}

/// Deletes a pending run: what a node finds for it is not stored.
pub fn drop_pending(tx: &mut TenantTx, id: Id<EvaluationRun>) -> Result<(), DbError> {
    let sql = "delete from evaluation_runs where workspace = ?1 and id = ?2 and next_at is not null";
    tx.later(sql, params![id])
}

/// Deletes the pending runs of these conversations, and what people wrote of them; their marks stay. Returns the results of
/// the others.
pub fn erase(tx: &mut TenantTx, conversations: &[String]) -> Result<Vec<(Id<EvaluationRun>, Json)>, DbError> {
    let mut found = Vec::new();
    for some in conversations.chunks(ROWS) {
        let mut values = Vec::new();
        let list = tx.any_of(&mut values, some.iter().map(|id| id.as_str().into()));
        let of = format!("workspace = ?1 and conversation in {list}");
        tx.later(&format!("delete from evaluation_runs where {of} and next_at is not null"), &values)?;
        tx.later(
            &format!("update evaluation_marks set note = null where {of} and note is not null"),
            &values,
        )?;
        let sql = format!("select id, results from evaluation_runs where {of} and results is not null");
        found.extend(tx.all::<(Id<EvaluationRun>, Json)>(&sql, &values)?);
    }
    Ok(found)
}

/// Replaces the results of a run.
pub fn set_results(tx: &mut TenantTx, id: Id<EvaluationRun>, results: &Json) -> Result<(), DbError> {
    tx.later("update evaluation_runs set results = ?3 where workspace = ?1 and id = ?2", params![id, results])
}

/// Deletes all runs of a conversation, with what people say of it. The sums by day stay.
pub fn drop_conversation(tx: &mut TenantTx, conversation: &str) -> Result<(), DbError> {
    let of = params![conversation];
    tx.later("delete from evaluation_marks where workspace = ?1 and conversation = ?2", of)?;
    tx.later("delete from evaluation_runs where workspace = ?1 and conversation = ?2", of)
}

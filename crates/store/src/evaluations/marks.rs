//! People's own marks of evaluated conversations.

use const_format::formatcp;
use domain::evaluation::{Graded, Verdict};
use domain::ids::{Agent, EvaluationRun, Id, User};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    /// The mark of a person for a criterion.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MarkRow in "evaluation_marks" {
        run: Id<EvaluationRun>,
        criterion: String,
        member: Id<User>,
        conversation: String,
        agent: Id<Agent>,
        kind: Graded,
        /// When the conversation began.
        began_at: Timestamp,
        /// The verdict of the model.
        verdict: Verdict,
        /// The verdict of the person.
        mark: Verdict,
        note: Option<String>,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = MarkRow::COLUMNS;

/// Sets the mark of a person for a criterion of a run.
pub fn set(tx: &mut TenantTx, row: &MarkRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!(
        "{} on conflict (workspace, run, criterion, member) do update set mark = excluded.mark, note = excluded.note, updated_at = excluded.updated_at",
        MarkRow::INSERT
    );
    tx.later(SQL, &row.values())
}

/// Deletes the marks of a person of a run for other criteria than these.
pub fn keep_only(
    tx: &mut TenantTx,
    run: Id<EvaluationRun>,
    member: Id<User>,
    criteria: &[String],
) -> Result<(), DbError> {
    let mut values = params![run, member].to_vec();
    let others = if criteria.is_empty() {
        String::new()
    } else {
        let list = tx.any_of(&mut values, criteria.iter().map(|key| key.as_str().into()));
        format!("and criterion not in {list}")
    };
    let sql =
        format!("delete from evaluation_marks where workspace = ?1 and run = ?2 and member = ?3 {others}");
    tx.later(&sql, &values)
}

/// How many people have marked a run, without this one.
pub fn others_of_run(tx: &mut TenantTx, run: Id<EvaluationRun>, member: Id<User>) -> Result<i64, DbError> {
    let sql = "select count(distinct member) from evaluation_marks where workspace = ?1 and run = ?2 and member <> ?3";
    Ok(tx.one(sql, params![run, member])?.unwrap_or(0))
}

/// The marks of a run, by criterion and person.
pub fn of_run(tx: &mut TenantTx, run: Id<EvaluationRun>) -> Result<Vec<MarkRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from evaluation_marks where workspace = ?1 and run = ?2 order by criterion, member"
    );
    tx.all(SQL, params![run])
}

/// How often each pair of verdicts was given, by criterion: the model's and the person's. Of the conversations of an agent
/// that began from `from` on and before `to`. Index `evaluation_marks_of_agent`.
pub fn pairs(
    tx: &mut TenantTx,
    agent: Id<Agent>,
    (from, to): (Timestamp, Timestamp),
) -> Result<Vec<(String, Verdict, Verdict, i64)>, DbError> {
    tx.all(
        "select criterion, verdict, mark, count(*) from evaluation_marks where workspace = ?1 and agent = ?2 and began_at >= ?3 and began_at < ?4 \
         group by criterion, verdict, mark order by criterion, verdict, mark",
        params![agent, from, to],
    )
}

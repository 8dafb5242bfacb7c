//! Sums of verdicts by day: reports over a million evaluations read them in place of the runs. They hold no personal data
//! and stay when conversations are deleted.

use domain::evaluation::{CriterionResult, Graded, Verdict};
use domain::ids::{Agent, Id};

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

/// What is summed: the conversations of one kind of an agent on a day of India, counted from 1970.
#[derive(Debug, Clone, Copy)]
pub struct Day {
    pub agent: Id<Agent>,
    pub kind: Graded,
    pub day: i64,
}

/// Adds the results of an evaluation to their day, or takes them away with `times` -1. The rows are locked in the order of
/// the criteria's keys.
pub fn add(tx: &mut TenantTx, of: Day, results: &[CriterionResult], times: i64) -> Result<(), DbError> {
    let mut results: Vec<&CriterionResult> = results.iter().collect();
    results.sort_by(|one, other| one.criterion_key.cmp(&other.criterion_key));
    for result in results {
        let count = |verdict| if result.verdict == verdict { times } else { 0 };
        let scored = if result.score.is_some() { times } else { 0 };
        tx.later(
            "insert into evaluation_days (workspace, agent, kind, criterion, day, passed, failed, not_applicable, scored, score_sum) \
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) on conflict (workspace, agent, kind, criterion, day) do update set \
             passed = evaluation_days.passed + excluded.passed, failed = evaluation_days.failed + excluded.failed, \
             not_applicable = evaluation_days.not_applicable + excluded.not_applicable, \
             scored = evaluation_days.scored + excluded.scored, score_sum = evaluation_days.score_sum + excluded.score_sum",
            params![
                of.agent,
                of.kind,
                result.criterion_key.as_str(),
                of.day,
                count(Verdict::Pass),
                count(Verdict::Fail),
                count(Verdict::Na),
                scored,
                result.score.unwrap_or(0) * times
            ],
        )?;
    }
    Ok(())
}

row! {
    /// The sums of a criterion.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SumRow {
        criterion: String,
        passed: i64 as "cast(sum(passed) as bigint)",
        failed: i64 as "cast(sum(failed) as bigint)",
        not_applicable: i64 as "cast(sum(not_applicable) as bigint)",
        scored: i64 as "cast(sum(scored) as bigint)",
        score_sum: i64 as "cast(sum(score_sum) as bigint)",
    }
}

/// The sums of each criterion over the days from `first` to `last`. A range of the primary key for each criterion that the
/// agent ever had: at most 3,660 rows for each in ten years.
pub fn sums(
    tx: &mut TenantTx,
    agent: Id<Agent>,
    kind: Graded,
    (first, last): (i64, i64),
) -> Result<Vec<SumRow>, DbError> {
    let sql = format!(
        "select {} from evaluation_days where workspace = ?1 and agent = ?2 and kind = ?3 and day >= ?4 and day <= ?5 \
         group by criterion order by criterion",
        SumRow::COLUMNS
    );
    tx.all(&sql, params![agent, kind, first, last])
}

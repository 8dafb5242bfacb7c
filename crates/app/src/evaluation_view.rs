//! Evaluations in the form of the API, for the detail of calls and for the room of evaluation.

use api::evaluations::{Evaluation, EvaluationMark, EvaluationQuote, EvaluationResult};
use domain::evaluation::{CriterionResult, Graded};
use store::TenantTx;
use store::evaluations::RunRow;
use store::evaluations::marks::{self, MarkRow};

use crate::Failure;

/// Parses stored results.
///
/// # Errors
/// Internal only: what was stored can be read.
pub fn read_results(row: &RunRow) -> Result<Vec<CriterionResult>, Failure> {
    let Some(results) = &row.results else { return Ok(Vec::new()) };
    serde_json::from_value(results.clone())
        .map_err(|why| Failure::internal(format!("the stored results of an evaluation: {why}")))
}

/// The result of a criterion.
pub fn result(result: CriterionResult) -> EvaluationResult {
    let quote = |quote: domain::evaluation::Quote| EvaluationQuote { text: quote.text, line: quote.line };
    EvaluationResult {
        criterion_key: result.criterion_key,
        name: result.name,
        kind: result.kind,
        pass_threshold: result.pass_threshold,
        verdict: result.verdict,
        score: result.score,
        reasoning: result.reasoning,
        quotes: result.quotes.into_iter().map(quote).collect(),
    }
}

fn mark(row: MarkRow) -> EvaluationMark {
    EvaluationMark {
        criterion_key: row.criterion,
        user_id: row.member,
        verdict: row.mark,
        note: row.note,
        updated_at: row.updated_at,
    }
}

/// An evaluation with its marks.
pub fn view(tx: &mut TenantTx, row: RunRow) -> Result<Evaluation, Failure> {
    let results = read_results(&row)?.into_iter().map(result).collect();
    let marks = match row.run_no {
        Some(_) => marks::of_run(tx, row.id)?.into_iter().map(mark).collect(),
        None => Vec::new(),
    };
    let of = |kind: Graded| (row.kind == kind).then(|| row.conversation.clone());
    Ok(Evaluation {
        id: row.id,
        kind: row.kind,
        chat_id: of(Graded::Chat),
        call_id: of(Graded::Call),
        agent_id: row.agent,
        status: row.status,
        cause: row.cause,
        run_no: row.run_no,
        trigger: row.started_by,
        sweep_id: row.sweep,
        criteria_version: row.criteria_version,
        model: row.model,
        created_at: row.created_at,
        evaluated_at: row.evaluated_at,
        passed: row.passed,
        failed: row.failed,
        not_applicable: row.not_applicable,
        charged_minor: row.charged,
        results,
        marks,
    })
}

/// Evaluations of a conversation, newest first, older than the id `before`.
pub fn of_conversation(
    tx: &mut TenantTx,
    conversation: &str,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<Evaluation>, Failure> {
    let rows = store::evaluations::of_conversation(tx, conversation, before, limit)?;
    rows.into_iter().map(|row| view(tx, row)).collect()
}

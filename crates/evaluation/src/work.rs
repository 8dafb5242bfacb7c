//! Grading one conversation: lease, the model, and storing it once.

use std::sync::Arc;

use api::events::Event;
use api::events::chats::{CriterionResult as PublishedResult, EvaluatedChat};
use app::evaluation_view::read_results;
use app::events::{self, NewEvent};
use app::{App, Context, Failure, access, topics, wallet};
use domain::analytics::hour_of;
use domain::call::after::may_go_better;
use domain::evaluation::{
    Cause, Criterion, CriterionResult, Grades, LEASE, Line, RunStatus, Verdict, count, judge, retry_in,
    ungraded,
};
use domain::ids::{EvaluationRun, Id};
use domain::ports::GradeOrder;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::json;
use store::chats::ChatRow;
use store::evaluations::days::{self, Day};
use store::evaluations::sweeps::{self as sweep_rows, SweepRow};
use store::evaluations::{self, RunRow, criteria as versions};
use store::wallet::Floor;
use store::workspaces::WorkspaceRow;
use store::{DbError, TenantTx, Tx};

use crate::conversations::{self, Held};
use crate::{FEATURE, criteria, queue, sweeps};

/// Evaluations of a node at the same time.
pub const AT_ONCE: usize = 16;
/// Evaluations of one workspace at the same time, on all nodes: others are not kept waiting by a sweep.
const SHARE: i64 = 12;

/// A pending evaluation that this node has leased.
#[derive(Debug, Clone, Copy)]
pub struct Leased {
    tenant: Tenant,
    id: Id<EvaluationRun>,
    /// The attempt, from 1.
    attempt: i64,
}

/// Leases up to `limit` due evaluations.
pub async fn take(app: &App, limit: usize) -> Result<Vec<Leased>, DbError> {
    let (now, limit) = (app.clock.now(), i64::try_from(limit).unwrap_or(1));
    let taken = app.store.tx(move |tx| evaluations::take(tx, now, now.plus(LEASE), SHARE, limit)).await?;
    Ok(taken.into_iter().map(|(tenant, id, attempt)| Leased { tenant, id, attempt }).collect())
}

/// When the next evaluation is due.
pub async fn next_due(app: &App) -> Result<Option<Timestamp>, DbError> {
    let now = app.clock.now();
    app.store.read(move |tx| evaluations::next_due(tx, now, SHARE)).await
}

/// Grades one leased conversation. A failure is retried later, or given up.
pub async fn grade(app: &Arc<App>, leased: Leased) {
    if let Err(failure) = grade_once(app, leased).await {
        // Its lease ends, and it is taken again.
        failure.warn_about(leased.id, "an evaluation waits for its lease");
    }
}

/// What a model is given.
struct Input {
    criteria: Vec<Criterion>,
    lines: Vec<Line>,
    language: String,
}

/// What is known before the model is asked.
enum Before {
    /// It is not pending, or another node has it.
    Gone,
    /// It is not graded.
    Skip(Cause),
    Ask(Input),
}

/// How an evaluation ends.
#[derive(Clone)]
enum End {
    Graded(Grades),
    Failed(Cause),
    Skipped(Cause),
}

async fn grade_once(app: &Arc<App>, leased: Leased) -> Result<(), Failure> {
    let before = app.store.read(move |tx| look(tx, leased)).await?;
    let input = match before {
        Before::Gone => return Ok(()),
        Before::Skip(cause) => return settle(app, leased, End::Skipped(cause), Vec::new(), Vec::new()).await,
        Before::Ask(input) => input,
    };
    let Input { criteria, lines, language } = input;
    let Some(model) = &app.ports.language_model else {
        return settle(app, leased, End::Failed(Cause::NoModel), criteria, lines).await;
    };
    let order = GradeOrder {
        workspace: Some(leased.tenant),
        transcript: lines.clone(),
        criteria: criteria.clone(),
        language,
    };
    match app.clock.outside(model.grade(order)).await {
        Ok(grades) => settle(app, leased, End::Graded(grades), criteria, lines).await,
        Err(why) => {
            tracing::warn!(run = %leased.id, provider = why.provider, fault = ?why.fault, "a conversation could not be graded");
            match retry_in(leased.attempt).filter(|_| may_go_better(why.fault)) {
                Some(wait) => {
                    let at = app.clock.now().plus(wait);
                    let put_off = move |tx: &mut TenantTx| {
                        evaluations::put_off(tx, leased.id, leased.attempt, at)?;
                        tx.wake(topics::EVALUATIONS);
                        Ok::<_, DbError>(())
                    };
                    Ok(app.of(leased.tenant).tx(put_off).await?)
                }
                None => settle(app, leased, End::Failed(Cause::ModelFailed), criteria, lines).await,
            }
        }
    }
}

/// Why a workspace has no conversation graded now.
pub(crate) fn obstacle(workspace: &WorkspaceRow, price: i64) -> Option<Cause> {
    if workspace.suspended {
        Some(Cause::WorkspaceSuspended)
    } else if !access::feature_on(workspace, FEATURE) {
        Some(Cause::FeatureDisabled)
    } else {
        (queue::available(workspace) < price).then_some(Cause::InsufficientBalance)
    }
}

/// The price of a run: that of its sweep when the sweep began, otherwise the current one.
fn price(workspace: &WorkspaceRow, sweep: Option<&SweepRow>) -> i64 {
    sweep.map_or(workspace.cost_per_evaluation, |sweep| sweep.price)
}

fn look(tx: &mut Tx<'_>, leased: Leased) -> Result<Before, Failure> {
    let tenant = leased.tenant;
    let row = evaluations::get(&mut tx.of(tenant), leased.id)?;
    let Some(row) = row.filter(|row| holds(row, leased)) else { return Ok(Before::Gone) };
    let workspace = access::workspace(&mut tx.of(tenant))?;
    let sweep = match row.sweep {
        Some(sweep) => sweep_rows::get(&mut tx.of(tenant), sweep)?,
        None => None,
    };
    if let Some(cause) = obstacle(&workspace, price(&workspace, sweep.as_ref())) {
        return Ok(Before::Skip(cause));
    }
    let found = match conversations::read(tx, tenant, row.kind, &row.conversation) {
        Ok(found) => found,
        Err(failure) if failure.error.status == 404 => return Ok(Before::Skip(Cause::NothingToRead)),
        Err(failure) => return Err(failure),
    };
    if found.lines.is_empty() {
        return Ok(Before::Skip(Cause::NothingToRead));
    }
    let version = versions::version(&mut tx.of(tenant), row.agent, row.criteria_version)?;
    let Some(version) = version else { return Ok(Before::Skip(Cause::CriteriaGone)) };
    let criteria = criteria::stored(version)?;
    if criteria.is_empty() {
        return Ok(Before::Skip(Cause::CriteriaGone));
    }
    Ok(Before::Ask(Input { criteria, lines: found.lines, language: found.language }))
}

/// Whether this attempt has the run.
fn holds(row: &RunRow, leased: Leased) -> bool {
    row.status == RunStatus::Pending && row.attempts == leased.attempt
}

async fn settle(
    app: &Arc<App>,
    leased: Leased,
    end: End,
    criteria: Vec<Criterion>,
    lines: Vec<Line>,
) -> Result<(), Failure> {
    let results = match &end {
        End::Graded(grades) => judge(&criteria, &grades.grades, &lines),
        End::Failed(_) => ungraded(&criteria),
        End::Skipped(_) => Vec::new(),
    };
    let context = app.context();
    app.store.tx(move |tx| settle_in(tx, &context, leased, end.clone(), results.clone())).await
}

/// Stores the end of an evaluation with its charge and its event: once, by the attempt that holds the lease.
fn settle_in(
    tx: &mut Tx<'_>,
    context: &Context,
    leased: Leased,
    end: End,
    results: Vec<CriterionResult>,
) -> Result<(), Failure> {
    let tenant = leased.tenant;
    let Some(seen) = evaluations::get(&mut tx.of(tenant), leased.id)?.filter(|row| holds(row, leased)) else {
        return Ok(());
    };
    let held = conversations::hold(tx, tenant, seen.kind, &seen.conversation)?;
    let tx = &mut tx.of(tenant);
    let mut sweep = match seen.sweep {
        Some(sweep) => sweep_rows::get_for_update(tx, sweep)?,
        None => None,
    };
    let row = evaluations::get_for_update(tx, leased.id)?.filter(|row| holds(row, leased));
    let Some(mut row) = row else { return Ok(()) };
    tx.wake(topics::EVALUATIONS);
    row.next_at = None;
    row.leased = false;
    let Some(held) = held else {
        // Nothing of an erased person's conversation is stored.
        evaluations::drop_pending(tx, row.id)?;
        return sweeps::ended(tx, context, sweep.as_mut(), RunStatus::Skipped, None, 0);
    };
    let end = match end {
        End::Graded(grades) => match charge(tx, context, &mut row, sweep.as_ref())? {
            true => End::Graded(grades),
            false => End::Skipped(Cause::InsufficientBalance),
        },
        other => other,
    };
    (row.status, row.cause) = match &end {
        End::Graded(grades) => {
            row.model = Some(domain::storable::text(grades.model.clone()));
            (RunStatus::Graded, None)
        }
        End::Failed(cause) => (RunStatus::Failed, Some(*cause)),
        End::Skipped(cause) => (RunStatus::Skipped, Some(*cause)),
    };
    if row.status != RunStatus::Skipped {
        give_verdicts(tx, context, &mut row, &results)?;
        if let Held::Chat(chat) = &held {
            publish(tx, context, chat, &row, results)?;
        }
    }
    evaluations::save(tx, &row)?;
    sweeps::ended(tx, context, sweep.as_mut(), row.status, row.cause, row.charged)
}

/// Charges a graded conversation. Returns whether the wallet covers it beside what calls and chats in flight hold.
fn charge(
    tx: &mut TenantTx,
    context: &Context,
    row: &mut RunRow,
    sweep: Option<&SweepRow>,
) -> Result<bool, Failure> {
    let price = price(&access::workspace(tx)?, sweep);
    if price > 0 {
        let reference = row.id.to_string();
        if wallet::post(tx, context, CHARGE, -price, &reference, Floor::Reserved)?.is_none() {
            return Ok(false);
        }
    }
    row.charged = price;
    Ok(true)
}

/// The kind of a charge in the ledger.
pub(crate) const CHARGE: &str = "evaluation_charge";

/// Gives a run its number and verdicts, and counts them in the place of those of the run before.
fn give_verdicts(
    tx: &mut TenantTx,
    context: &Context,
    row: &mut RunRow,
    results: &[CriterionResult],
) -> Result<(), Failure> {
    let before = evaluations::last_of(tx, &row.conversation)?;
    let day = hour_of(row.began_at).div_euclid(24);
    if let Some(before) = &before {
        let of = Day { agent: before.agent, kind: before.kind, day };
        days::add(tx, of, &read_results(before)?, -1)?;
    }
    days::add(tx, Day { agent: row.agent, kind: row.kind, day }, results, 1)?;
    row.run_no = Some(before.and_then(|before| before.run_no).unwrap_or(0) + 1);
    row.passed = count(results, Verdict::Pass);
    row.failed = count(results, Verdict::Fail);
    row.not_applicable = count(results, Verdict::Na);
    row.results = Some(json!(results));
    row.evaluated_at = Some(context.now);
    Ok(())
}

/// Writes `chat.evaluated`.
fn publish(
    tx: &mut TenantTx,
    context: &Context,
    chat: &ChatRow,
    row: &RunRow,
    results: Vec<CriterionResult>,
) -> Result<(), Failure> {
    let published = |result: CriterionResult| PublishedResult {
        criterion_key: result.criterion_key,
        name: result.name,
        kind: result.kind,
        pass_threshold: result.pass_threshold,
        verdict: result.verdict,
        score: result.score,
        reasoning: result.reasoning,
    };
    let event = Event::ChatEvaluated(EvaluatedChat {
        chat_id: chat.id,
        channel: chat.channel,
        agent_id: chat.agent,
        contact_id: chat.contact,
        run_id: row.id,
        run_no: row.run_no.unwrap_or_default(),
        trigger: row.started_by,
        model: row.model.clone().unwrap_or_default(),
        evaluated_at: context.now,
        passed: row.passed,
        failed: row.failed,
        not_applicable: row.not_applicable,
        results: results.into_iter().map(published).collect(),
        is_test: false,
    });
    let (agent, contact) = (chat.agent.to_string(), chat.contact.map(|id| id.to_string()));
    let event = NewEvent { event, mode: Mode::Live, agent: Some(&agent), contact: contact.as_deref() };
    events::emit(tx, context, event)?;
    Ok(())
}

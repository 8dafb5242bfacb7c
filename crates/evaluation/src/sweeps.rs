//! Sweeps: past conversations of an agent that are graded again, at most so many of them pending at the same time.

use api::error_codes as codes;
use api::evaluations::{EvaluationSweep, NewEvaluationSweep, SweepPreview};
use app::due_rows::DueRow;
use app::idempotency::{Answer, Once};
use app::limits::pages;
use app::{App, Context, Failure, access, topics};
use domain::actor::Actor;
use domain::evaluation::{Cause, MAX_RUNS, MAX_SWEEP, MAX_SWEEP_RANGE, RunStatus, SweepStatus, Trigger};
use domain::ids::{Agent, EvaluationSweep as Sweep, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{SECOND, Timestamp};
use serde_json::json;
use store::evaluations::sweeps::{self as rows, SweepRow, Wanted};
use store::workspaces::WorkspaceRow;
use store::{DbError, TenantTx, Tx, agents, evaluations};

use crate::criteria;
use crate::queue::{Order, available, no_criteria, pending};
use crate::work::obstacle;

/// Pending evaluations of a sweep.
const IN_FLIGHT: i64 = 16;
/// Conversations that are looked at in one transaction.
const LOOK: i64 = 256;
/// How long a sweep rests while its evaluations are pending; the end of one wakes it.
const REST: i64 = 5 * SECOND;

fn view(row: SweepRow) -> EvaluationSweep {
    EvaluationSweep {
        id: row.id,
        agent_id: row.agent,
        kind: row.kind,
        from: row.from_at,
        to: row.to_at,
        outcome: row.outcome,
        only_ungraded: row.only_ungraded,
        criteria_version: row.criteria_version,
        status: row.status,
        cause: row.cause,
        conversations: row.conversations,
        graded: row.graded,
        failed: row.failed,
        skipped: row.skipped,
        charged_minor: row.charged,
        created_by: row.created_by,
        created_at: row.created_at,
        finished_at: row.finished_at,
    }
}

fn wanted_by(row: &SweepRow) -> Wanted {
    Wanted {
        agent: row.agent,
        kind: row.kind,
        from: row.from_at,
        to: row.to_at,
        outcome: row.outcome.clone(),
        only_ungraded: row.only_ungraded,
    }
}

/// The conversations that a request means. Those that begin later are never part of it.
///
/// # Errors
/// 400, 404.
fn wanted(body: NewEvaluationSweep, now: Timestamp) -> Result<Wanted, Failure> {
    let agent: Id<Agent> = body.agent_id.parse().map_err(|_| Failure::plain(codes::AGENT_NOT_FOUND))?;
    if body.from >= body.to {
        return Err(Failure::field("to", "must be after from"));
    }
    Ok(Wanted {
        agent,
        kind: body.kind,
        from: body.from,
        to: body.to.min(now.plus(1)),
        outcome: body.filters.outcome,
        only_ungraded: body.filters.only_ungraded,
    })
}

/// What a sweep would grade.
struct Plan {
    conversations: i64,
    version: i64,
    workspace: WorkspaceRow,
}

fn plan(tx: &mut TenantTx, wanted: &Wanted) -> Result<Plan, Failure> {
    let workspace = access::workspace(tx)?;
    agents::get(tx, wanted.agent)?.ok_or_else(|| Failure::plain(codes::AGENT_NOT_FOUND))?;
    let (version, _) = criteria::current(tx, wanted.agent)?.ok_or_else(no_criteria)?;
    let (conversations, looked) = rows::count(tx, wanted, MAX_SWEEP_RANGE + 1)?;
    if looked > MAX_SWEEP_RANGE {
        return Err(Failure::field(
            "to",
            format!("must leave at most {MAX_SWEEP_RANGE} conversations in the range"),
        ));
    }
    Ok(Plan { conversations, version, workspace })
}

/// Why a sweep cannot begin.
fn refusal(plan: &Plan) -> Option<Failure> {
    let total = plan.conversations.saturating_mul(plan.workspace.cost_per_evaluation);
    if plan.conversations == 0 {
        return Some(Failure::conflict("no conversation fits the range and the filters"));
    }
    if plan.conversations > MAX_SWEEP {
        let must = format!("must leave at most {MAX_SWEEP} conversations to grade");
        return Some(Failure::field("to", must));
    }
    (available(&plan.workspace) < total).then(|| {
        Failure::new(
            codes::INSUFFICIENT_BALANCE,
            "the wallet does not cover the sweep; narrow it, or ask the operator to top it up",
        )
    })
}

/// What a sweep would grade and cost.
///
/// # Errors
/// 400, 404, 409 without criteria.
pub async fn preview(app: &App, tenant: Tenant, body: NewEvaluationSweep) -> Result<SweepPreview, Failure> {
    let wanted = wanted(body, app.clock.now())?;
    let plan = app.of(tenant).read_long(move |tx| plan(tx, &wanted)).await?;
    Ok(SweepPreview {
        conversations: plan.conversations,
        criteria_version: plan.version,
        price_minor: plan.workspace.cost_per_evaluation,
        total_minor: plan.conversations.saturating_mul(plan.workspace.cost_per_evaluation),
        available_minor: available(&plan.workspace),
        obstacle: refusal(&plan).map(|failure| failure.message),
    })
}

/// Begins a sweep.
///
/// # Errors
/// 400, 402, 404, 409.
pub async fn start(
    app: &App,
    tenant: Tenant,
    actor: Actor,
    once: Once,
    body: NewEvaluationSweep,
) -> Result<Answer, Failure> {
    let wanted = wanted(body, app.clock.now())?;
    let counted = wanted.clone();
    // Outside of the transaction that writes: it may read many rows.
    let plan = app.of(tenant).read_long(move |tx| plan(tx, &counted)).await?;
    if let Some(failure) = refusal(&plan) {
        return Err(failure);
    }
    let context = app.context();
    let row = SweepRow {
        id: context.ids.make(),
        agent: wanted.agent,
        kind: wanted.kind,
        from_at: wanted.from,
        to_at: wanted.to,
        outcome: wanted.outcome,
        only_ungraded: wanted.only_ungraded,
        criteria_version: plan.version,
        status: SweepStatus::Running,
        cause: None,
        conversations: plan.conversations,
        queued: 0,
        graded: 0,
        failed: 0,
        skipped: 0,
        price: plan.workspace.cost_per_evaluation,
        charged: 0,
        position: String::new(),
        created_by: actor.to_string(),
        created_at: context.now,
        finished_at: None,
        next_at: Some(context.now),
    };
    once.run(app, 201, move |tx| {
        if !rows::insert(&mut tx.of(tenant), &row)? {
            return Err(Failure::conflict("a sweep of the agent is running; wait for it, or cancel it"));
        }
        tx.wake(topics::EVALUATIONS);
        Ok(json!({"data": view(row.clone())}))
    })
    .await
}

/// Sweeps of a workspace, newest first, with the cursor of the next page. A test key sees none.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<EvaluationSweep>, Option<String>), Failure> {
    if mode == Mode::Test {
        return Ok((Vec::new(), None));
    }
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let found = rows::list(&mut tx.of(tenant), before, limit)?;
            let next = pages::last(&found, limit, |row| row.id.to_string());
            Ok::<_, Failure>((found.into_iter().map(view).collect(), next))
        };
        pages::views(tx, limit, before.clone(), read, |view: &EvaluationSweep| view.id.to_string())
    });
    page.await
}

/// One sweep.
///
/// # Errors
/// 404.
pub async fn get(app: &App, tenant: Tenant, mode: Mode, id: Id<Sweep>) -> Result<EvaluationSweep, Failure> {
    let row = app.of(tenant).read(move |tx| rows::get(tx, id)).await?;
    row.filter(|_| mode == Mode::Live).map(view).ok_or_else(|| Failure::not_found("sweep"))
}

/// Cancels a sweep. Its pending evaluations are neither stored nor charged.
///
/// # Errors
/// 404.
pub async fn cancel(app: &App, tenant: Tenant, id: Id<Sweep>) -> Result<EvaluationSweep, Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            let mut row = rows::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("sweep"))?;
            if row.status == SweepStatus::Running {
                end(tx, &context, &mut row, SweepStatus::Cancelled, None)?;
            }
            Ok::<_, Failure>(view(row))
        })
        .await
}

/// Ends a sweep that the transaction has locked.
fn end(
    tx: &mut TenantTx,
    context: &Context,
    row: &mut SweepRow,
    status: SweepStatus,
    cause: Option<Cause>,
) -> Result<(), Failure> {
    rows::drop_pending(tx, row.id)?;
    (row.status, row.cause) = (status, cause);
    (row.finished_at, row.next_at) = (Some(context.now), None);
    Ok(rows::save(tx, row)?)
}

/// Counts the end of an evaluation of a sweep, which goes on at once. An obstacle that concerns every conversation stops
/// it.
pub(crate) fn ended(
    tx: &mut TenantTx,
    context: &Context,
    sweep: Option<&mut SweepRow>,
    status: RunStatus,
    cause: Option<Cause>,
    charged: i64,
) -> Result<(), Failure> {
    let Some(row) = sweep.filter(|row| row.status == SweepStatus::Running) else { return Ok(()) };
    match status {
        RunStatus::Graded => row.graded += 1,
        RunStatus::Failed => row.failed += 1,
        RunStatus::Skipped | RunStatus::Pending => row.skipped += 1,
    }
    row.charged = row.charged.saturating_add(charged);
    match cause {
        Some(
            Cause::InsufficientBalance
            | Cause::WorkspaceSuspended
            | Cause::FeatureDisabled
            | Cause::NoModel
            | Cause::CriteriaGone,
        ) => end(tx, context, row, SweepStatus::Stopped, cause),
        Some(Cause::ModelFailed | Cause::NothingToRead) | None => {
            row.next_at = Some(context.now);
            Ok(rows::save(tx, row)?)
        }
    }
}

/// A sweep that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    tenant: Tenant,
    id: Id<Sweep>,
}

impl Due {
    /// Its id, for the log.
    pub fn id(&self) -> Id<Sweep> {
        self.id
    }
}

impl DueRow for Due {
    fn tenant(&self) -> Tenant {
        self.tenant
    }

    fn due(tx: &mut Tx<'_>, now: Timestamp, without: &[Tenant], limit: i64) -> Result<Vec<Self>, DbError> {
        let due = rows::due(tx, now, without, limit)?;
        Ok(due.into_iter().map(|(tenant, id)| Self { tenant, id }).collect())
    }

    fn claim(&self, tx: &mut Tx<'_>, until: Timestamp) -> Result<(), DbError> {
        rows::claim(&mut tx.of(self.tenant), self.id, until)
    }

    fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
        rows::next_due(tx, now)
    }
}

/// Queues the next conversations of a sweep, and ends it after the last.
///
/// # Errors
/// The sweep stays due.
pub async fn advance(app: &App, due: Due) -> Result<(), Failure> {
    let context = app.context();
    app.of(due.tenant).tx(move |tx| advance_in(tx, &context, due.id)).await
}

fn advance_in(tx: &mut TenantTx, context: &Context, id: Id<Sweep>) -> Result<(), Failure> {
    let row = rows::get_for_update(tx, id)?;
    let Some(mut row) = row.filter(|row| row.next_at.is_some_and(|due| due <= context.now)) else {
        return Ok(());
    };
    let cause = obstacle(&access::workspace(tx)?, row.price);
    if cause.is_some() {
        return end(tx, context, &mut row, SweepStatus::Stopped, cause);
    }
    let waiting = rows::pending(tx, id)?;
    let room = (IN_FLIGHT - waiting).min(row.conversations - row.queued).max(0);
    let (mut queued, mut more) = (0, row.queued < row.conversations);
    if room > 0 {
        let (found, last) = rows::next(tx, &wanted_by(&row), &row.position, LOOK)?;
        more = last.is_some();
        let mut position = last;
        for (conversation, began_at) in found {
            if queued == room {
                // The rest is looked at again.
                (position, more) = (None, true);
                break;
            }
            row.position.clone_from(&conversation);
            queued += 1;
            if !enqueue(tx, context, &row, conversation, began_at)? {
                row.skipped += 1;
            }
        }
        if let Some(position) = position {
            row.position = position;
        }
        row.queued += queued;
        more &= row.queued < row.conversations;
    }
    if !more && rows::pending(tx, id)? == 0 {
        return end(tx, context, &mut row, SweepStatus::Finished, None);
    }
    // Where nothing was found among many, it goes on at once.
    let idle = more && waiting == 0 && queued == 0;
    row.next_at = Some(if idle { context.now } else { context.now.plus(REST) });
    rows::save(tx, &row)?;
    tx.wake(topics::EVALUATIONS);
    Ok(())
}

/// Queues a conversation of a sweep. Returns whether it will be graded.
fn enqueue(
    tx: &mut TenantTx,
    context: &Context,
    row: &SweepRow,
    conversation: String,
    began_at: Timestamp,
) -> Result<bool, Failure> {
    if evaluations::count_of(tx, &conversation)? >= MAX_RUNS {
        return Ok(false);
    }
    let order = Order {
        agent: row.agent,
        kind: row.kind,
        conversation,
        began_at,
        trigger: Trigger::Sweep,
        sweep: Some(row.id),
        version: row.criteria_version,
        asked_by: Some(row.created_by.clone()),
    };
    Ok(evaluations::insert(tx, &pending(context, order))?)
}

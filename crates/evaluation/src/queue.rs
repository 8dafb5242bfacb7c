//! Which conversations are graded: those that finish, by their agent's sampling rate, and those that are asked for.

use api::error_codes as codes;
use api::evaluations::Evaluation;
use app::evaluation_view::view;
use app::{App, Context, Failure, access, topics};
use domain::actor::Actor;
use domain::chat::{EndCause, Reading};
use domain::evaluation::{Graded, MAX_RUNS, RunStatus, Trigger, sampled};
use domain::ids::{Agent, EvaluationSweep, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::calls::CallRow;
use store::chats::ChatRow;
use store::evaluations::{self, RunRow, criteria as settings};
use store::workspaces::WorkspaceRow;
use store::{TenantTx, Tx};

use crate::{conversations, criteria};

/// A conversation that is to be graded.
pub(crate) struct Order {
    pub(crate) agent: Id<Agent>,
    pub(crate) kind: Graded,
    pub(crate) conversation: String,
    pub(crate) began_at: Timestamp,
    pub(crate) trigger: Trigger,
    pub(crate) sweep: Option<Id<EvaluationSweep>>,
    pub(crate) version: i64,
    pub(crate) asked_by: Option<String>,
}

/// A pending evaluation that is due now.
pub(crate) fn pending(context: &Context, order: Order) -> RunRow {
    RunRow {
        id: context.ids.make(),
        agent: order.agent,
        kind: order.kind,
        conversation: order.conversation,
        began_at: order.began_at,
        run_no: None,
        started_by: order.trigger,
        sweep: order.sweep,
        criteria_version: order.version,
        asked_by: order.asked_by,
        status: RunStatus::Pending,
        cause: None,
        model: None,
        passed: 0,
        failed: 0,
        not_applicable: 0,
        results: None,
        charged: 0,
        attempts: 0,
        next_at: Some(context.now),
        leased: false,
        created_at: context.now,
        evaluated_at: None,
    }
}

/// Queues a finished conversation if its agent's settings have it graded; `bits` are those of its id.
fn finished(
    tx: &mut TenantTx,
    context: &Context,
    kind: Graded,
    (agent, bits): (Id<Agent>, u128),
    (conversation, began_at): (String, Timestamp),
) -> Result<(), Failure> {
    let Some(settings) = settings::settings(tx, agent)?.filter(|settings| settings.enabled) else {
        return Ok(());
    };
    let per_million = match kind {
        Graded::Chat => settings.chats_per_million,
        Graded::Call => settings.calls_per_million,
    };
    if !sampled(bits, criteria::rate(per_million)) {
        return Ok(());
    }
    let order = Order {
        agent,
        kind,
        conversation,
        began_at,
        trigger: Trigger::Auto,
        sweep: None,
        version: settings.version,
        asked_by: None,
    };
    if evaluations::insert(tx, &pending(context, order))? {
        tx.wake(topics::EVALUATIONS);
    }
    Ok(())
}

/// A chat has ended and was analysed where it is to be. It may be told twice; the chat is graded once, and a test chat never.
pub fn chat_ended(tx: &mut TenantTx, context: &Context, chat: &ChatRow) -> Result<(), Failure> {
    // It is told again when it is analysed.
    let analysed = chat.analysis != Some(Reading::Pending);
    let of_a_test = chat.test_link.is_some();
    if of_a_test || chat.customer_messages == 0 || chat.end_cause == Some(EndCause::Erased) || !analysed {
        return Ok(());
    }
    let conversation = (chat.id.to_string(), chat.created_at);
    finished(tx, context, Graded::Chat, (chat.agent, chat.id.bits()), conversation)
}

/// A call is over and was analysed. Test calls are not graded.
pub fn call_analysed(tx: &mut TenantTx, context: &Context, call: &CallRow) -> Result<(), Failure> {
    let (Some(agent), Mode::Live) = (call.agent, call.mode) else { return Ok(()) };
    let conversation = (call.id.to_string(), call.started_at);
    finished(tx, context, Graded::Call, (agent, call.id.bits()), conversation)
}

/// What is free in the wallet, minor units.
pub(crate) fn available(workspace: &WorkspaceRow) -> i64 {
    workspace.balance.saturating_sub(workspace.reserved)
}

/// The failure of an agent without criteria.
pub(crate) fn no_criteria() -> Failure {
    Failure::conflict("the agent has no criteria; set them with PUT /v1/agents/{id}/evaluation")
}

/// `POST /v1/chats/{id}/evaluate` and `POST /v1/calls/{id}/evaluate`: queues a finished conversation, or returns its
/// pending evaluation.
///
/// # Errors
/// 402, 404, 409.
pub async fn evaluate(
    app: &App,
    tenant: Tenant,
    actor: Actor,
    kind: Graded,
    conversation: String,
) -> Result<Evaluation, Failure> {
    let context = app.context();
    app.store.tx(move |tx| evaluate_in(tx, &context, tenant, actor, kind, &conversation)).await
}

fn evaluate_in(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    actor: Actor,
    kind: Graded,
    id: &str,
) -> Result<Evaluation, Failure> {
    let workspace = access::workspace(&mut tx.of(tenant))?;
    let found = conversations::read(tx, tenant, kind, id)?;
    if found.lines.is_empty() {
        return Err(Failure::conflict("the customer said nothing, or nothing is left of the conversation"));
    }
    let tx = &mut tx.of(tenant);
    if let Some(row) = evaluations::pending_of(tx, id)? {
        return view(tx, row);
    }
    let (version, _) = criteria::current(tx, found.agent)?.ok_or_else(no_criteria)?;
    if available(&workspace) < workspace.cost_per_evaluation {
        return Err(Failure::new(
            codes::INSUFFICIENT_BALANCE,
            "the wallet does not cover the evaluation; ask the operator to top it up",
        ));
    }
    if evaluations::count_of(tx, id)? >= MAX_RUNS {
        return Err(Failure::conflict(format!(
            "the conversation has {MAX_RUNS} evaluations, which is the limit"
        )));
    }
    let order = Order {
        agent: found.agent,
        kind,
        conversation: id.to_owned(),
        began_at: found.began_at,
        trigger: Trigger::Manual,
        sweep: None,
        version,
        asked_by: Some(actor.to_string()),
    };
    let row = pending(context, order);
    let row = match evaluations::insert(tx, &row)? {
        true => row,
        // Another request was first.
        false => evaluations::pending_of(tx, id)?.ok_or_else(|| {
            Failure::conflict("the conversation was graded just now; send the request again")
        })?,
    };
    tx.wake(topics::EVALUATIONS);
    view(tx, row)
}

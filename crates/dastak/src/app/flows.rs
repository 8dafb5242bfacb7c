//! Flows of agents: drafts, publishing, and whether a published one can run (spec 2 «Flow», `gaps.md` «Flow graph»).

use std::sync::Arc;

use api::agents::{FlowBody, FlowSaved, FlowView};
use api::error_codes::{FLOW_CONFLICT, FLOW_NOT_READY};
use domain::conversation::{self, Channel, CheckFacts, Flow, Issue, blocks_publishing, is_plus_91};
use domain::ids::{Agent, Id};
use domain::phone::Phone;
use domain::tenant::Tenant;
use serde_json::{Value, json};
use store::Tx;
use store::agents::{self, AgentRow};

use super::{App, Failure, tools};

/// Largest graph, in bytes of JSON: every conversation reads its published graph, so one of megabytes would slow others down.
const MAX_GRAPH: usize = 1024 * 1024;

/// The flow that conversations of this agent run.
///
/// # Errors
/// Internal only: what was published can be read.
pub fn published_flow(row: &AgentRow) -> Result<Arc<Flow>, Failure> {
    read_stored(row, &row.published).map(|(_, flow)| Arc::new(flow))
}

/// Names that a call of this agent must bring a value for, in order.
///
/// # Errors
/// Internal only.
pub fn required_variables(row: &AgentRow) -> Result<Vec<String>, Failure> {
    Ok(published_flow(row)?.required_variables().into_iter().map(str::to_owned).collect())
}

/// The published flow of an agent, if everything that it uses is still there.
///
/// # Errors
/// 422 `flow_not_ready` with `meta.issues`.
pub fn flow_readiness(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<Arc<Flow>, Failure> {
    let flow = published_flow(row)?;
    let issues = issues(tx, tenant, row, &flow)?;
    if blocks_publishing(&issues) {
        return Err(not_ready("the agent's flow cannot run: something it uses is missing", &issues));
    }
    Ok(flow)
}

fn not_ready(message: &str, issues: &[Issue]) -> Failure {
    Failure::new(FLOW_NOT_READY, message).with_meta(json!({"issues": issues}))
}

fn read_stored(row: &AgentRow, text: &str) -> Result<(Value, Flow), Failure> {
    let graph: Value = serde_json::from_str(text).map_err(|why| Failure::internal(format!("flow of {}: {why}", row.id)))?;
    let flow = Flow::parse(&graph).map_err(|why| Failure::internal(format!("flow of {}: {why}", row.id)))?;
    Ok((graph, flow))
}

/// Whether a flow may name this transfer number: written as +91 and a subscriber's number.
fn is_transfer_number(number: &str) -> bool {
    is_plus_91(number) && Phone::normalize(number).is_ok()
}

fn issues(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow, flow: &Flow) -> Result<Vec<Issue>, Failure> {
    let channel = if row.channel == "chat" { Channel::Chat } else { Channel::Call };
    let tool_ids = tools::ids(tx, tenant)?;
    Ok(conversation::check(flow, &CheckFacts { channel, tool_ids: &tool_ids, is_indian: is_transfer_number }))
}

/// The draft with what there is to say about it.
struct Draft {
    graph: Value,
    issues: Vec<Issue>,
}

fn draft(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<Draft, Failure> {
    let text = agents::draft(tx, tenant, row.id)?.ok_or_else(|| Failure::not_found("agent"))?;
    let (graph, flow) = read_stored(row, &text)?;
    let issues = issues(tx, tenant, row, &flow)?;
    Ok(Draft { graph, issues })
}

/// Draft, published flow, and what keeps the draft from being published.
pub async fn get(app: &App, tenant: Tenant, id: Id<Agent>) -> Result<FlowView<Vec<Issue>>, Failure> {
    app.store
        .read(move |tx| {
            let row = super::agents::find(tx, tenant, id)?;
            let draft = draft(tx, tenant, &row)?;
            let (published, _) = read_stored(&row, &row.published)?;
            Ok(FlowView { draft: draft.graph, draft_version: row.draft_version, published, issues: draft.issues })
        })
        .await
}

/// Saves a draft over the version it was made from. It may be incomplete; what is not a flow graph at all is refused.
pub async fn save(app: &App, tenant: Tenant, id: Id<Agent>, body: FlowBody) -> Result<FlowSaved<Vec<Issue>>, Failure> {
    let flow = Flow::parse(&body.graph).map_err(|why| {
        let field = if why.field == "graph" { why.field } else { format!("graph.{}", why.field) };
        Failure::field(&field, why.message)
    })?;
    let (now, graph, base) = (app.clock.now(), body.graph.to_string(), body.base_version);
    if graph.len() > MAX_GRAPH {
        return Err(Failure::field("graph", "must be at most 1 MB of JSON"));
    }
    app.store
        .tx(move |tx| {
            let row = super::agents::find_writable(tx, tenant, id)?;
            let Some(draft_version) = agents::save_draft(tx, tenant, id, &graph, base, now)? else {
                let message = format!("the draft has version {} by now, not {base}; nothing was overwritten", row.draft_version);
                return Err(Failure::new(FLOW_CONFLICT, message).with_meta(json!({"draftVersion": row.draft_version})));
            };
            Ok(FlowSaved { draft_version, issues: issues(tx, tenant, &row, &flow)? })
        })
        .await
}

/// Makes the draft the flow that conversations run.
pub async fn publish(app: &App, tenant: Tenant, id: Id<Agent>) -> Result<FlowView<Vec<Issue>>, Failure> {
    let now = app.clock.now();
    app.store
        .tx(move |tx| {
            let row = super::agents::find_writable(tx, tenant, id)?;
            let draft = draft(tx, tenant, &row)?;
            if blocks_publishing(&draft.issues) {
                return Err(not_ready("the draft has errors that keep it from being published", &draft.issues));
            }
            if !agents::publish_draft(tx, tenant, id, row.draft_version, now)? {
                return Err(Failure::internal("a draft changed under its lock"));
            }
            Ok(FlowView { published: draft.graph.clone(), draft: draft.graph, draft_version: row.draft_version, issues: draft.issues })
        })
        .await
}

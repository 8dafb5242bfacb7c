//! Flows of agents: drafts and publishing (docs/contract/flows.md). A graph is parsed and checked outside of
//! transactions: the store has one writer for all, and a large graph takes many times as long as the rest of the work.

use std::collections::BTreeSet;

use api::agents::{Flow as FlowView, FlowEdit, MAX_GRAPH, SavedFlow};
use api::error_codes::{AGENT_LOCKED, FLOW_CONFLICT};
use api::flow_versions::{FlowEditor, FlowRestore};
use domain::actor::Actor;
use domain::conversation::{self, CheckFacts, Flow, Issue, blocks_publishing, is_plus_91};
use domain::ids::{Agent, Id};
use domain::phone::Phone;
use domain::tenant::Tenant;
use serde_json::{Value, json};
use store::DbError;
use store::agents::{self, AgentRow, DraftAuthor};

use super::published_flows::{Needs, new_id, not_ready, read_stored, stored_graph};
use super::{App, Failure, actions, flow_versions, tools};

/// Retries of checking a draft when another one is saved meanwhile.
const ATTEMPTS: usize = 4;

/// Whether a transfer number is valid in a flow: written as +91 and a subscriber's number.
fn is_transfer_number(number: &str) -> bool {
    is_plus_91(number) && Phone::normalize(number).is_ok()
}

fn issues(row: &AgentRow, tool_ids: &BTreeSet<String>, flow: &Flow) -> Vec<Issue> {
    let mut languages = super::agents::languages_of(row);
    if languages.len() == 1 {
        languages.clear();
    }
    let facts =
        CheckFacts { channel: row.channel, languages: &languages, tool_ids, is_indian: is_transfer_number };
    conversation::check(flow, &facts)
}

/// Draft, published flow, and the issues of the draft.
pub async fn get(app: &App, tenant: Tenant, id: Id<Agent>) -> Result<FlowView, Failure> {
    let now = app.clock.now();
    let (row, draft, published, tool_ids, edited, editing) = app
        .of(tenant)
        .read(move |tx| {
            let row = super::agents::find(tx, id)?;
            let draft = stored_graph(tx, &row.draft_flow)?;
            let published = if row.published_flow == row.draft_flow {
                None
            } else {
                Some(stored_graph(tx, &row.published_flow)?)
            };
            let tool_ids = tools::ids(tx)?;
            let edited = agents::draft_author(tx, id)?;
            let editing = flow_versions::editors(tx, id, now)?;
            Ok::<_, Failure>((row, draft, published, tool_ids, edited, editing))
        })
        .await?;
    let (draft, flow) = read_stored(&row.draft_flow, &draft)?;
    let published = match published {
        Some(text) => serde_json::from_str(&text)
            .map_err(|why| Failure::internal(format!("{}: {why}", row.published_flow)))?,
        None => draft.clone(),
    };
    let issues = issues(&row, &tool_ids, &flow);
    Ok(view(&row, draft, published, issues, edited, editing))
}

fn view(
    row: &AgentRow,
    draft: Value,
    published: Value,
    issues: Vec<Issue>,
    edited: DraftAuthor,
    editing: Vec<FlowEditor>,
) -> FlowView {
    FlowView {
        draft,
        draft_version: row.draft_version,
        published,
        published_version: row.published_version,
        issues,
        updated_by: edited.author,
        updated_by_name: edited.name,
        updated_at: edited.at,
        editing,
    }
}

/// Saves a draft over the version it was made from. It may be incomplete; a body that is no flow graph at all is
/// refused.
pub async fn save(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    by: Actor,
    body: FlowEdit,
) -> Result<SavedFlow, Failure> {
    let flow = Flow::parse(&body.graph).map_err(|why| {
        let field = if why.field == "graph" { why.field } else { format!("graph.{}", why.field) };
        Failure::field(&field, why.message)
    })?;
    let (context, graph, base) = (app.context(), body.graph.to_string(), body.base_version);
    if graph.len() > MAX_GRAPH {
        return Err(Failure::field("graph", "must be at most 1 MB of JSON"));
    }
    // Channel and tools only affect the issues of the draft; publishing checks it again.
    let found = app
        .store
        .read(move |tx| {
            Ok::<_, Failure>((super::agents::find(&mut tx.of(tenant), id)?, tools::ids(&mut tx.of(tenant))?))
        })
        .await?;
    let issues = issues(&found.0, &found.1, &flow);
    let draft_version = app
        .of(tenant)
        .tx(move |tx| {
            let row = super::agents::find_writable(tx, id)?;
            if row.draft_version != base {
                let message = format!(
                    "baseVersion is {base}, but the draft has version {}; read the flow again and \
                     repeat the edit",
                    row.draft_version
                );
                return Err(Failure::new(FLOW_CONFLICT, message)
                    .with_meta(json!({"draftVersion": row.draft_version})));
            }
            let flow = new_id(&context);
            agents::add_flow(tx, id, &flow, &graph, None)?;
            let name = flow_versions::name_of(tx, by)?;
            let author = (by.to_string(), name);
            let saved =
                agents::save_draft(tx, id, &flow, base, (&author.0, author.1.as_deref()), context.now)?;
            let draft_version = saved.ok_or_else(|| Failure::internal("a draft changed under its lock"))?;
            let version = |number: i64| json!({"draftVersion": number});
            actions::changed(tx, &version(base), &version(draft_version));
            if row.draft_flow != row.published_flow {
                agents::drop_flow(tx, &row.draft_flow)?;
            }
            Ok(draft_version)
        })
        .await?;
    Ok(SavedFlow { draft_version, issues })
}

/// Makes a version the draft.
///
/// # Errors
/// 404, 409 `flow_conflict`, 423.
pub async fn restore(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    by: Actor,
    number: i64,
    body: FlowRestore,
) -> Result<SavedFlow, Failure> {
    let text = app
        .of(tenant)
        .read(move |tx| {
            let agent = super::agents::find(tx, id)?;
            Ok::<_, Failure>(flow_versions::stored(tx, &agent, number)?.1)
        })
        .await?;
    let graph: Value =
        serde_json::from_str(&text).map_err(|why| Failure::internal(format!("a version of {id}: {why}")))?;
    save(app, tenant, id, by, body.with(graph)).await
}

/// Makes the draft the flow that conversations run, and keeps it as a version with this note. A draft that is published
/// already is not published again.
pub async fn publish(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    by: Actor,
    note: Option<String>,
) -> Result<FlowView, Failure> {
    let now = app.clock.now();
    for _ in 0..ATTEMPTS {
        let (row, text, tool_ids) = app
            .of(tenant)
            .read(move |tx| {
                let row = super::agents::find(tx, id)?;
                let text = stored_graph(tx, &row.draft_flow)?;
                Ok::<_, Failure>((row, text, tools::ids(tx)?))
            })
            .await?;
        if row.locked {
            return Err(Failure::plain(AGENT_LOCKED));
        }
        let (graph, flow) = read_stored(&row.draft_flow, &text)?;
        let issues = issues(&row, &tool_ids, &flow);
        if blocks_publishing(&issues) {
            return Err(not_ready("the draft has errors that keep it from being published", &issues));
        }
        let needs = Needs::of(&flow);
        let (text, judged, stored, note) = (needs.to_text()?, row.draft_flow, text, note.clone());
        let published = app
            .of(tenant)
            .tx(move |tx| {
                let mut row = super::agents::find_writable(tx, id)?;
                if row.draft_flow != judged || !needs.issues(tx)?.is_empty() {
                    return Ok::<_, Failure>(None);
                }
                flow_versions::keep_published(tx, &row)?;
                agents::set_needs(tx, &judged, &text)?;
                if !agents::publish_draft(tx, id, row.draft_version, now)? {
                    return Err(Failure::internal("a draft changed under its lock"));
                }
                if row.published_flow != judged {
                    agents::drop_flow(tx, &row.published_flow)?;
                    row.published_flow.clone_from(&judged);
                    row.published_version += 1;
                    let publication = flow_versions::Publication { by, note: note.as_deref(), now };
                    flow_versions::publish(tx, &row, &stored, &publication)?;
                }
                actions::changed(tx, &(), &json!({"publishedVersion": row.published_version}));
                let edited = agents::draft_author(tx, id)?;
                Ok(Some((row, edited, flow_versions::editors(tx, id, now)?)))
            })
            .await?;
        if let Some((row, edited, editing)) = published {
            let published = graph.clone();
            return Ok(view(&row, graph, published, issues, edited, editing));
        }
    }
    Err(DbError::Retry("the draft keeps changing".into()).into())
}

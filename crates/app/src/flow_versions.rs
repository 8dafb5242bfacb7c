//! Versions of flows (docs/contract/flows.md#versions): the graphs that an agent published, what changed between them, who
//! has the flow open, and how often its edges are taken. Graphs are read and compared outside of transactions.

use api::error_codes::CONFLICT;
use api::flow_versions::{
    EDITOR_LEASE, EdgeVisitCount, FlowDiff, FlowEditor, FlowEditors, FlowVersion, FlowVersionDetail,
    FlowVisits, MAX_EDITORS, MAX_VERSION_BYTES, MAX_VERSIONS,
};
use domain::actor::Actor;
use domain::conversation::{Flow, START, changes};
use domain::ids::{Agent, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use runtime::crypto::sha256;
use store::agents::{self, AgentRow};
use store::flow_versions::{self, FlowEditorRow, FlowVersionRow};
use store::{TenantTx, flow_visits, members};

use super::published_flows::{read_stored, stored_graph};
use super::{App, Failure};

/// The name that a member has now; `None` for a key and the operator.
pub(crate) fn name_of(tx: &mut TenantTx, by: Actor) -> Result<Option<String>, Failure> {
    match by {
        Actor::Member(id) => Ok(members::get(tx, id)?.map(|member| member.name)),
        Actor::Key(_) | Actor::Operator => Ok(None),
    }
}

/// What is written about a version that is published now.
pub(crate) struct Publication<'a> {
    pub by: Actor,
    pub note: Option<&'a str>,
    pub now: Timestamp,
}

/// Adds the published flow of an agent as a version, and drops old ones beyond the ceiling. `row` has the number and the
/// flow, whose graph is stored.
pub(crate) fn publish(
    tx: &mut TenantTx,
    row: &AgentRow,
    graph: &str,
    publication: &Publication<'_>,
) -> Result<(), Failure> {
    let note = publication.note.map(str::trim).filter(|note| !note.is_empty());
    let version = FlowVersionRow {
        number: row.published_version,
        flow: row.published_flow.clone(),
        bytes: graph.len() as i64,
        hash: sha256(graph.as_bytes()),
        author: Some(publication.by.to_string()),
        author_name: name_of(tx, publication.by)?,
        published_at: Some(publication.now),
        note: note.map(str::to_owned),
    };
    flow_versions::add(tx, row.id, &version)?;
    let (mut count, mut bytes) = (1, version.bytes);
    for (number, size) in flow_versions::sizes(tx, row.id)? {
        if number == version.number {
            continue;
        }
        count += 1;
        bytes += size;
        if count > MAX_VERSIONS || bytes > MAX_VERSION_BYTES {
            return Ok(flow_versions::drop_up_to(tx, row.id, number)?);
        }
    }
    Ok(())
}

/// Adds the flow that is published now as a version, if it was published before versions were kept. For a transaction
/// that publishes another one.
pub(crate) fn keep_published(tx: &mut TenantTx, row: &AgentRow) -> Result<(), Failure> {
    if flow_versions::get(tx, row.id, row.published_version)?.is_some() {
        return Ok(());
    }
    let graph = stored_graph(tx, &row.published_flow)?;
    Ok(flow_versions::add(tx, row.id, &unkept(row, &graph))?)
}

/// The published flow of before versions were kept.
fn unkept(row: &AgentRow, graph: &str) -> FlowVersionRow {
    FlowVersionRow {
        number: row.published_version,
        flow: row.published_flow.clone(),
        bytes: graph.len() as i64,
        hash: sha256(graph.as_bytes()),
        author: None,
        author_name: None,
        published_at: None,
        note: None,
    }
}

fn view(row: FlowVersionRow, published: i64) -> FlowVersion {
    FlowVersion {
        live: row.number == published,
        number: row.number,
        published_by: row.author,
        published_by_name: row.author_name,
        published_at: row.published_at,
        note: row.note,
        hash: row.hash,
        bytes: row.bytes,
    }
}

/// The versions of an agent, newest first, with the key of the next page.
///
/// # Errors
/// 404.
pub async fn list(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<FlowVersion>, Option<String>), Failure> {
    let before = before.map(|key| key.parse::<i64>()).transpose();
    let before = before.map_err(|why| Failure::internal(format!("a cursor of versions: {why}")))?;
    app.of(tenant)
        .read(move |tx| {
            let agent = agents::get(tx, id)?.ok_or_else(|| Failure::not_found("agent"))?;
            let mut rows = flow_versions::list(tx, id, before.unwrap_or(i64::MAX), limit + 1)?;
            if before.is_none() && rows.first().is_none_or(|row| row.number != agent.published_version) {
                let graph = stored_graph(tx, &agent.published_flow)?;
                rows.insert(0, unkept(&agent, &graph));
            }
            let more = rows.len() as i64 > limit;
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let next = rows.last().filter(|_| more).map(|row| row.number.to_string());
            Ok((rows.into_iter().map(|row| view(row, agent.published_version)).collect(), next))
        })
        .await
}

/// A version and its graph, as JSON text; those of the published flow also if it was published before versions were kept.
pub(crate) fn stored(
    tx: &mut TenantTx,
    agent: &AgentRow,
    number: i64,
) -> Result<(FlowVersionRow, String), Failure> {
    if let (Some(row), Some(graph)) =
        (flow_versions::get(tx, agent.id, number)?, flow_versions::graph(tx, agent.id, number)?)
    {
        return Ok((row, graph));
    }
    if number != agent.published_version {
        return Err(Failure::not_found("flow version"));
    }
    let graph = stored_graph(tx, &agent.published_flow)?;
    Ok((unkept(agent, &graph), graph))
}

/// One version with its graph.
///
/// # Errors
/// 404.
pub async fn get(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    number: i64,
) -> Result<FlowVersionDetail, Failure> {
    let (row, text, published) = app
        .of(tenant)
        .read(move |tx| {
            let agent = agents::get(tx, id)?.ok_or_else(|| Failure::not_found("agent"))?;
            let (row, text) = stored(tx, &agent, number)?;
            Ok::<_, Failure>((row, text, agent.published_version))
        })
        .await?;
    let graph =
        serde_json::from_str(&text).map_err(|why| Failure::internal(format!("{}: {why}", row.flow)))?;
    Ok(FlowVersionDetail { version: view(row, published), graph })
}

/// What changed from a version to another one, or to the draft.
///
/// # Errors
/// 404.
pub async fn diff(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    from: i64,
    to: Option<i64>,
) -> Result<FlowDiff, Failure> {
    let (before, after) = app
        .of(tenant)
        .read(move |tx| {
            let agent = agents::get(tx, id)?.ok_or_else(|| Failure::not_found("agent"))?;
            let (_, before) = stored(tx, &agent, from)?;
            let after = match to {
                Some(number) => stored(tx, &agent, number)?.1,
                None => stored_graph(tx, &agent.draft_flow)?,
            };
            Ok::<_, Failure>((before, after))
        })
        .await?;
    let (old, new) = (read_stored("a version", &before)?, read_stored("a version", &after)?);
    let (changes, more) = changes((&old.0, &old.1), (&new.0, &new.1));
    Ok(FlowDiff { from, to, changes, more })
}

/// How often the edges of a version were taken in the last `days` days of India.
///
/// # Errors
/// 404 for the agent, and for a number that it has not published yet.
pub async fn visits(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: Id<Agent>,
    version: Option<i64>,
    days: i64,
) -> Result<FlowVisits, Failure> {
    let first_day = flow_visits::day_of(app.clock.now()) - days + 1;
    let (version, rows, graph) = app
        .of(tenant)
        .read(move |tx| {
            let agent = agents::get(tx, id)?.ok_or_else(|| Failure::not_found("agent"))?;
            let version = version.unwrap_or(agent.published_version);
            if version > agent.published_version {
                return Err(Failure::not_found("flow version"));
            }
            let rows = flow_visits::of_version(tx, id, mode, version, first_day)?;
            let graph = match flow_versions::graph(tx, id, version)? {
                Some(graph) => Some(graph),
                None if version == agent.published_version => Some(stored_graph(tx, &agent.published_flow)?),
                None => None,
            };
            Ok((version, rows, graph))
        })
        .await?;
    let flow = graph.map(|text| read_stored("a version", &text)).transpose()?.map(|(_, flow)| flow);
    let conversations = rows.iter().filter(|row| row.node.is_empty()).map(|row| row.visits).sum();
    let edges = rows.into_iter().map(|row| EdgeVisitCount {
        to: flow.as_ref().and_then(|flow| leads_to(flow, &row.node, &row.edge)),
        from: Some(row.node).filter(|node| !node.is_empty()),
        edge: row.edge,
        visits: row.visits,
    });
    Ok(FlowVisits { version, days, conversations, edges: edges.collect() })
}

fn leads_to(flow: &Flow, node: &str, edge: &str) -> Option<String> {
    if node.is_empty() {
        return flow.start_node_id.clone().filter(|_| edge == START);
    }
    let edges = flow.node(node)?.edges();
    edges.into_iter().find(|known| known.field == edge)?.to.map(str::to_owned)
}

/// Those who have the flow open now.
pub(crate) fn editors(tx: &mut TenantTx, id: Id<Agent>, now: Timestamp) -> Result<Vec<FlowEditor>, Failure> {
    let view = |row: FlowEditorRow| FlowEditor { member: row.member, name: row.name, since: row.since };
    Ok(flow_versions::editors(tx, id, now)?.into_iter().take(MAX_EDITORS).map(view).collect())
}

/// A member has the flow open for the time of a lease, or closes it.
///
/// # Errors
/// 404; 409 `conflict` when as many others have it open as are shown.
pub async fn set_presence(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    member: Id<User>,
    open: bool,
) -> Result<FlowEditors, Failure> {
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            // The agent's row orders those who come at the same moment.
            agents::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("agent"))?;
            if !open {
                flow_versions::close(tx, id, member)?;
                return Ok(FlowEditors { editing: editors(tx, id, now)? });
            }
            let there = flow_versions::editors(tx, id, now)?;
            if there.len() >= MAX_EDITORS && !there.iter().any(|row| row.member == member) {
                return Err(Failure::new(
                    CONFLICT,
                    format!(
                        "{MAX_EDITORS} other members have the flow open; try again when one has closed it"
                    ),
                ));
            }
            let name = members::get(tx, member)?.map(|row| row.name).unwrap_or_default();
            let row = FlowEditorRow { member, name, since: now, until: now.plus(EDITOR_LEASE) };
            flow_versions::open(tx, id, &row, now)?;
            Ok(FlowEditors { editing: editors(tx, id, now)? })
        })
        .await
}

/// Forgets visits that are older than [`flow_visits::KEPT_DAYS`] and members whose lease is over.
pub async fn sweep(app: &App) -> Result<(), Failure> {
    let now = app.clock.now();
    let before = flow_visits::day_of(now) - flow_visits::KEPT_DAYS;
    loop {
        let dropped = app
            .store
            .tx(move |tx| {
                let visits = flow_visits::sweep(tx, before, SWEPT_AT_ONCE)?;
                Ok::<_, Failure>(visits.max(flow_versions::sweep_editors(tx, now, SWEPT_AT_ONCE)?))
            })
            .await?;
        if dropped < SWEPT_AT_ONCE as u64 {
            return Ok(());
        }
    }
}

/// Rows that one transaction of [`sweep`] drops.
const SWEPT_AT_ONCE: i64 = 1000;

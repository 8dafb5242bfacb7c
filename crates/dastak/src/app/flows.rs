//! Flows of agents: drafts, publishing, and whether a published one can run (docs/contract/flows.md). A graph
//! is read and checked outside of transactions: the store has one writer for all, and a large graph takes
//! many times as long as what others want of it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use api::agents::{Flow as FlowView, FlowEdit, MAX_GRAPH, SavedFlow};
use api::error_codes::{AGENT_LOCKED, FLOW_CONFLICT, FLOW_NOT_READY};
use domain::conversation::{
    self, Channel, CheckFacts, Flow, Issue, Level, blocks_publishing, is_plus_91, one_step,
};
use domain::ids::{Agent, Id};
use domain::phone::Phone;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::agents::{self, AgentRow};
use store::{DbError, Tx};

use super::{App, Context, Failure, tools};

/// Bytes of graphs whose flows are remembered, and of what is remembered of other graphs.
const FLOWS_REMEMBERED: usize = 32 << 20;
const NEEDS_REMEMBERED: usize = 16 << 20;
/// Bytes of graphs that one batch of due calls brings to mind.
const FLOWS_OF_BATCH: i64 = 8 << 20;
/// How often a draft is judged anew when somebody saves another one meanwhile.
const ATTEMPTS: usize = 4;

/// What a call needs of a published flow: worked out when it is published, so that nobody who places a call
/// has to read the graph.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// Names that a call must bring a value for, in order.
    pub required: Vec<String>,
    /// Tools that it uses.
    tools: Vec<ToolUse>,
}

/// A tool, and the first node that uses it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ToolUse {
    tool: String,
    node: String,
    title: String,
}

impl Needs {
    fn of(flow: &Flow) -> Self {
        let (mut tools, mut known) = (Vec::new(), BTreeSet::new());
        for node in &flow.nodes {
            let ids: &[String] = match &node.kind {
                conversation::NodeKind::Tool(fields) => std::slice::from_ref(&fields.tool_id),
                conversation::NodeKind::Converse(fields) => &fields.tool_ids,
                _ => &[],
            };
            for id in ids.iter().filter(|id| known.insert((*id).clone())) {
                let title = node
                    .name
                    .as_deref()
                    .filter(|name| !name.trim().is_empty())
                    .unwrap_or(&node.id)
                    .to_owned();
                tools.push(ToolUse { tool: id.clone(), node: node.id.clone(), title });
            }
        }
        Self { required: flow.required_variables().into_iter().map(str::to_owned).collect(), tools }
    }

    /// What keeps the flow from running now: tools that are gone.
    fn issues(&self, tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<Issue>, Failure> {
        if self.tools.is_empty() {
            return Ok(Vec::new());
        }
        let there = tools::ids(tx, tenant)?;
        let issue = |used: &ToolUse| Issue {
            level: Level::Error,
            code: "unknown_tool",
            message: format!("{}: the tool {} does not exist", used.title, used.tool),
            node_id: Some(used.node.clone()),
        };
        Ok(self.tools.iter().filter(|used| !there.contains(&used.tool)).map(issue).collect())
    }

    fn to_text(&self) -> Result<String, Failure> {
        serde_json::to_string(self).map_err(|why| Failure::internal(why.to_string()))
    }
}

/// Things by the id of a flow, up to so many bytes; those that came first go first.
struct Memory<T> {
    known: HashMap<String, (Arc<T>, usize)>,
    order: VecDeque<String>,
    bytes: usize,
    most: usize,
}

impl<T> Memory<T> {
    fn new(most: usize) -> Mutex<Self> {
        Mutex::new(Self { known: HashMap::new(), order: VecDeque::new(), bytes: 0, most })
    }

    fn get(memory: &Mutex<Self>, id: &str) -> Option<Arc<T>> {
        memory.lock().unwrap_or_else(PoisonError::into_inner).known.get(id).map(|(thing, _)| thing.clone())
    }

    fn put(memory: &Mutex<Self>, id: &str, thing: T, bytes: usize) -> Arc<T> {
        let (thing, bytes) = (Arc::new(thing), bytes + 200);
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.known.insert(id.to_owned(), (thing.clone(), bytes)).is_none() {
            memory.order.push_back(id.to_owned());
            memory.bytes += bytes;
        }
        while memory.bytes > memory.most {
            let Some(first) = memory.order.pop_front() else { break };
            let gone = memory.known.remove(&first).map_or(0, |(_, bytes)| bytes);
            memory.bytes -= gone;
        }
        thing
    }
}

/// What this process has worked out. The id of a flow never gets another graph, so it is true for ever,
/// whichever transaction read it.
static FLOWS: LazyLock<Mutex<Memory<Flow>>> = LazyLock::new(|| Memory::new(FLOWS_REMEMBERED));
static NEEDS: LazyLock<Mutex<Memory<Needs>>> = LazyLock::new(|| Memory::new(NEEDS_REMEMBERED));

fn read_stored(id: &str, text: &str) -> Result<(Value, Flow), Failure> {
    let graph: Value = serde_json::from_str(text).map_err(|why| Failure::internal(format!("{id}: {why}")))?;
    let flow = Flow::parse(&graph).map_err(|why| Failure::internal(format!("{id}: {why}")))?;
    Ok((graph, flow))
}

fn stored_graph(tx: &mut Tx<'_>, tenant: Tenant, id: &str) -> Result<String, Failure> {
    agents::graph(tx, tenant, id)?.ok_or_else(|| Failure::internal(format!("{id}: there is no such flow")))
}

/// The flow that conversations of this agent run. Whoever holds the writer brings it to mind first
/// ([`of_due`]).
///
/// # Errors
/// Internal only: what was published can be read.
pub fn published_flow(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<Arc<Flow>, Failure> {
    if let Some(flow) = Memory::get(&FLOWS, &row.published_flow) {
        return Ok(flow);
    }
    let text = stored_graph(tx, tenant, &row.published_flow)?;
    let (_, flow) = read_stored(&row.published_flow, &text)?;
    Ok(Memory::put(&FLOWS, &row.published_flow, flow, text.len()))
}

/// What a call of this agent needs.
///
/// # Errors
/// Internal only.
pub fn needs(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<Arc<Needs>, Failure> {
    if let Some(needs) = Memory::get(&NEEDS, &row.published_flow) {
        return Ok(needs);
    }
    let (needs, bytes) = match agents::needs(tx, tenant, &row.published_flow)? {
        Some(text) => {
            let needs = serde_json::from_str(&text)
                .map_err(|why| Failure::internal(format!("{}: {why}", row.published_flow)))?;
            (needs, text.len())
        }
        // Published before needs were written down; a node reads it once.
        None => {
            let needs = Needs::of(&*published_flow(tx, tenant, row)?);
            let bytes = needs.to_text()?.len();
            (needs, bytes)
        }
    };
    Ok(Memory::put(&NEEDS, &row.published_flow, needs, bytes))
}

/// Names that a call of this agent must bring a value for, in order.
///
/// # Errors
/// Internal only.
pub fn required_variables(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<Vec<String>, Failure> {
    Ok(needs(tx, tenant, row)?.required.clone())
}

/// Whether everything that the published flow of an agent uses is still there.
///
/// # Errors
/// 422 `flow_not_ready` with `meta.issues`.
pub fn flow_readiness(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<(), Failure> {
    let issues = needs(tx, tenant, row)?.issues(tx, tenant)?;
    if blocks_publishing(&issues) {
        return Err(not_ready("the agent's flow cannot run: something it uses is missing", &issues));
    }
    Ok(())
}

/// How many of the calls that are due can be looked at together: the flows of their agents are brought to
/// mind here, outside of the transaction, as many as may be at once.
///
/// # Errors
/// Those of the store.
pub async fn of_due(app: &App, now: Timestamp, most: i64) -> Result<i64, Failure> {
    let due = app.store.read(move |tx| agents::flows_of_due(tx, now, most)).await?;
    let (mut together, mut bytes) = (0, 0);
    for flow in due {
        let unknown = flow.filter(|(_, id, _)| Memory::get(&FLOWS, id).is_none());
        if let Some((tenant, id, length)) = unknown {
            bytes += length;
            if together > 0 && bytes > FLOWS_OF_BATCH {
                return Ok(together);
            }
            let wanted = id.clone();
            if let Some(text) = app.store.read(move |tx| agents::graph(tx, tenant, &wanted)).await? {
                let (_, flow) = read_stored(&id, &text)?;
                Memory::put(&FLOWS, &id, flow, text.len());
            }
        }
        together += 1;
    }
    Ok(most)
}

fn not_ready(message: &str, issues: &[Issue]) -> Failure {
    Failure::new(FLOW_NOT_READY, message).with_meta(json!({"issues": issues}))
}

/// Whether a flow may name this transfer number: written as +91 and a subscriber's number.
fn is_transfer_number(number: &str) -> bool {
    is_plus_91(number) && Phone::normalize(number).is_ok()
}

fn issues(row: &AgentRow, tool_ids: &BTreeSet<String>, flow: &Flow) -> Vec<Issue> {
    let channel = if row.channel == "chat" { Channel::Chat } else { Channel::Call };
    conversation::check(flow, &CheckFacts { channel, tool_ids, is_indian: is_transfer_number })
}

/// The flow of an agent that nobody edited as a flow, and the settings that it was made of.
#[derive(Clone)]
pub struct OwnFlow {
    prompt: String,
    tool_ids: Value,
    knowledge_base: Option<String>,
    graph: String,
    needs: String,
}

impl OwnFlow {
    /// The flow of an agent with these settings.
    ///
    /// # Errors
    /// Internal only.
    pub fn of(row: &AgentRow) -> Result<Self, Failure> {
        let tool_ids: Vec<String> = row
            .tool_ids
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let flow = one_step(&row.system_prompt, &tool_ids, row.knowledge_base.is_some());
        Ok(Self {
            prompt: row.system_prompt.clone(),
            tool_ids: row.tool_ids.clone(),
            knowledge_base: row.knowledge_base.clone(),
            graph: flow.to_json().to_string(),
            needs: Needs::of(&flow).to_text()?,
        })
    }

    /// Whether it is the flow of an agent with these settings.
    pub fn fits(&self, row: &AgentRow) -> bool {
        self.prompt == row.system_prompt
            && self.tool_ids == row.tool_ids
            && self.knowledge_base == row.knowledge_base
    }

    /// Stores it; its id.
    ///
    /// # Errors
    /// Those of the store.
    pub fn store(
        &self,
        tx: &mut Tx<'_>,
        context: &Context,
        tenant: Tenant,
        agent: Id<Agent>,
    ) -> Result<String, Failure> {
        let id = new_id(context);
        agents::add_flow(tx, tenant, agent, &id, &self.graph, Some(&self.needs))?;
        Ok(id)
    }
}

fn new_id(context: &Context) -> String {
    format!("flow_{}", context.ids.random_text(26))
}

/// Draft, published flow, and what keeps the draft from being published.
pub async fn get(app: &App, tenant: Tenant, id: Id<Agent>) -> Result<FlowView, Failure> {
    let (row, draft, published, tool_ids) = app
        .store
        .read(move |tx| {
            let row = super::agents::find(tx, tenant, id)?;
            let draft = stored_graph(tx, tenant, &row.draft_flow)?;
            let published = if row.published_flow == row.draft_flow {
                None
            } else {
                Some(stored_graph(tx, tenant, &row.published_flow)?)
            };
            let tool_ids = tools::ids(tx, tenant)?;
            Ok::<_, Failure>((row, draft, published, tool_ids))
        })
        .await?;
    let (draft, flow) = read_stored(&row.draft_flow, &draft)?;
    let published = match published {
        Some(text) => serde_json::from_str(&text)
            .map_err(|why| Failure::internal(format!("{}: {why}", row.published_flow)))?,
        None => draft.clone(),
    };
    let issues = issues(&row, &tool_ids, &flow);
    Ok(FlowView { draft, draft_version: row.draft_version, published, issues })
}

/// Saves a draft over the version it was made from. It may be incomplete; what is not a flow graph at all is
/// refused.
pub async fn save(app: &App, tenant: Tenant, id: Id<Agent>, body: FlowEdit) -> Result<SavedFlow, Failure> {
    let flow = Flow::parse(&body.graph).map_err(|why| {
        let field = if why.field == "graph" { why.field } else { format!("graph.{}", why.field) };
        Failure::field(&field, why.message)
    })?;
    let (context, graph, base) = (app.context(), body.graph.to_string(), body.base_version);
    if graph.len() > MAX_GRAPH {
        return Err(Failure::field("graph", "must be at most 1 MB of JSON"));
    }
    // Channel and tools only shape what is said about the draft; publishing judges it again.
    let found = app
        .store
        .read(move |tx| Ok::<_, Failure>((super::agents::find(tx, tenant, id)?, tools::ids(tx, tenant)?)))
        .await?;
    let issues = issues(&found.0, &found.1, &flow);
    let draft_version = app
        .store
        .tx(move |tx| {
            let row = super::agents::find_writable(tx, tenant, id)?;
            if row.draft_version != base {
                let message = format!(
                    "the draft has version {} by now, not {base}; nothing was overwritten",
                    row.draft_version
                );
                return Err(Failure::new(FLOW_CONFLICT, message)
                    .with_meta(json!({"draftVersion": row.draft_version})));
            }
            let flow = new_id(&context);
            agents::add_flow(tx, tenant, id, &flow, &graph, None)?;
            let saved = agents::save_draft(tx, tenant, id, &flow, base, context.now)?;
            let draft_version = saved.ok_or_else(|| Failure::internal("a draft changed under its lock"))?;
            if row.draft_flow != row.published_flow {
                agents::drop_flow(tx, tenant, &row.draft_flow)?;
            }
            Ok(draft_version)
        })
        .await?;
    Ok(SavedFlow { draft_version, issues })
}

/// Makes the draft the flow that conversations run.
pub async fn publish(app: &App, tenant: Tenant, id: Id<Agent>) -> Result<FlowView, Failure> {
    let now = app.clock.now();
    for _ in 0..ATTEMPTS {
        let (row, text, tool_ids) = app
            .store
            .read(move |tx| {
                let row = super::agents::find(tx, tenant, id)?;
                let text = stored_graph(tx, tenant, &row.draft_flow)?;
                Ok::<_, Failure>((row, text, tools::ids(tx, tenant)?))
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
        let (text, judged) = (needs.to_text()?, row.draft_flow);
        let published = app
            .store
            .tx(move |tx| {
                let row = super::agents::find_writable(tx, tenant, id)?;
                if row.draft_flow != judged || !needs.issues(tx, tenant)?.is_empty() {
                    return Ok::<_, Failure>(None);
                }
                agents::set_needs(tx, tenant, &judged, &text)?;
                if !agents::publish_draft(tx, tenant, id, row.draft_version, now)? {
                    return Err(Failure::internal("a draft changed under its lock"));
                }
                if row.published_flow != judged {
                    agents::drop_flow(tx, tenant, &row.published_flow)?;
                }
                Ok(Some(row.draft_version))
            })
            .await?;
        if let Some(draft_version) = published {
            return Ok(FlowView { published: graph.clone(), draft: graph, draft_version, issues });
        }
    }
    Err(DbError::Retry("the draft keeps changing".into()).into())
}

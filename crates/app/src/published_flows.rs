//! Published flows: the flow of conversations, what a call needs of it, and the flow of an agent that nobody edited as
//! a flow. A graph is parsed outside of transactions: the store has one writer for all, and a large graph takes many
//! times as long as the rest of the work.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use api::error_codes::FLOW_NOT_READY;
use domain::conversation::{self, Flow, Issue, Level, blocks_publishing, one_step};
use domain::ids::{Agent, Id};

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::TenantTx;
use store::agents::{self, AgentRow};

use super::{App, Context, Failure, tools};

/// Bytes of graphs whose flows are cached, and of cached data about other graphs.
const FLOWS_REMEMBERED: usize = 32 << 20;
const NEEDS_REMEMBERED: usize = 16 << 20;
/// Bytes of graphs that are loaded for one batch of due calls.
const FLOWS_OF_BATCH: i64 = 8 << 20;

/// What a call needs of a published flow. It is computed when the flow is published, so that placing a call does not
/// parse the graph.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// Names that a call must bring a value for, in order.
    pub required: Vec<String>,
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
    pub(crate) fn of(flow: &Flow) -> Self {
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
    pub(crate) fn issues(&self, tx: &mut TenantTx) -> Result<Vec<Issue>, Failure> {
        if self.tools.is_empty() {
            return Ok(Vec::new());
        }
        let there = tools::ids(tx)?;
        let issue = |used: &ToolUse| Issue {
            level: Level::Error,
            code: "unknown_tool",
            message: format!("{}: the tool {} does not exist", used.title, used.tool),
            node_id: Some(used.node.clone()),
        };
        Ok(self.tools.iter().filter(|used| !there.contains(&used.tool)).map(issue).collect())
    }

    pub(crate) fn to_text(&self) -> Result<String, Failure> {
        serde_json::to_string(self).map_err(|why| Failure::internal(why.to_string()))
    }
}

/// A cache by the id of a flow, bounded in bytes; the oldest entry is dropped first.
struct FlowCache<T> {
    known: HashMap<String, (Arc<T>, usize)>,
    order: VecDeque<String>,
    bytes: usize,
    most: usize,
}

impl<T> FlowCache<T> {
    fn new(most: usize) -> Mutex<Self> {
        Mutex::new(Self { known: HashMap::new(), order: VecDeque::new(), bytes: 0, most })
    }

    fn get(cache: &Mutex<Self>, id: &str) -> Option<Arc<T>> {
        cache.lock().unwrap_or_else(PoisonError::into_inner).known.get(id).map(|(thing, _)| thing.clone())
    }

    fn put(cache: &Mutex<Self>, id: &str, thing: T, bytes: usize) -> Arc<T> {
        let (thing, bytes) = (Arc::new(thing), bytes + 200);
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.known.insert(id.to_owned(), (thing.clone(), bytes)).is_none() {
            cache.order.push_back(id.to_owned());
            cache.bytes += bytes;
        }
        while cache.bytes > cache.most {
            let Some(first) = cache.order.pop_front() else { break };
            let gone = cache.known.remove(&first).map_or(0, |(_, bytes)| bytes);
            cache.bytes -= gone;
        }
        thing
    }
}

/// The process's cache. A flow's graph never changes under its id, so an entry stays valid, whichever transaction read
/// it.
static FLOWS: LazyLock<Mutex<FlowCache<Flow>>> = LazyLock::new(|| FlowCache::new(FLOWS_REMEMBERED));
static NEEDS: LazyLock<Mutex<FlowCache<Needs>>> = LazyLock::new(|| FlowCache::new(NEEDS_REMEMBERED));

pub(crate) fn read_stored(id: &str, text: &str) -> Result<(Value, Flow), Failure> {
    let graph: Value = serde_json::from_str(text).map_err(|why| Failure::internal(format!("{id}: {why}")))?;
    let flow = Flow::parse(&graph).map_err(|why| Failure::internal(format!("{id}: {why}")))?;
    Ok((graph, flow))
}

pub(crate) fn stored_graph(tx: &mut TenantTx, id: &str) -> Result<String, Failure> {
    agents::graph(tx, id)?.ok_or_else(|| Failure::internal(format!("{id}: there is no such flow")))
}

/// The flow of this agent's conversations. Code that holds the writer loads it beforehand ([`of_due`]).
///
/// # Errors
/// Internal only: what was published can be read.
pub fn published_flow(tx: &mut TenantTx, row: &AgentRow) -> Result<Arc<Flow>, Failure> {
    flow_of_id(tx, &row.published_flow)
}

/// The flow of this id, which may not be the published one any more.
///
/// # Errors
/// Internal only: what runs a flow keeps it.
pub fn flow_of_id(tx: &mut TenantTx, id: &str) -> Result<Arc<Flow>, Failure> {
    if let Some(flow) = FlowCache::get(&FLOWS, id) {
        return Ok(flow);
    }
    let text = stored_graph(tx, id)?;
    let (_, flow) = read_stored(id, &text)?;
    Ok(FlowCache::put(&FLOWS, id, flow, text.len()))
}

/// What a call of this agent needs.
///
/// # Errors
/// Internal only.
pub fn needs(tx: &mut TenantTx, row: &AgentRow) -> Result<Arc<Needs>, Failure> {
    if let Some(needs) = FlowCache::get(&NEEDS, &row.published_flow) {
        return Ok(needs);
    }
    let (needs, bytes) = match agents::needs(tx, &row.published_flow)? {
        Some(text) => {
            let needs = serde_json::from_str(&text)
                .map_err(|why| Failure::internal(format!("{}: {why}", row.published_flow)))?;
            (needs, text.len())
        }
        // Published before needs were written down; a node reads it once.
        None => {
            let needs = Needs::of(&*published_flow(tx, row)?);
            let bytes = needs.to_text()?.len();
            (needs, bytes)
        }
    };
    Ok(FlowCache::put(&NEEDS, &row.published_flow, needs, bytes))
}

/// Names that a call of this agent must bring a value for, in order.
///
/// # Errors
/// Internal only.
pub fn required_variables(tx: &mut TenantTx, row: &AgentRow) -> Result<Vec<String>, Failure> {
    Ok(needs(tx, row)?.required.clone())
}

/// Whether everything that the published flow of an agent uses is still there.
///
/// # Errors
/// 422 `flow_not_ready` with `meta.issues`.
pub fn flow_readiness(tx: &mut TenantTx, row: &AgentRow) -> Result<(), Failure> {
    let issues = needs(tx, row)?.issues(tx)?;
    if blocks_publishing(&issues) {
        return Err(not_ready("the agent's flow cannot run: something it uses is missing", &issues));
    }
    Ok(())
}

/// How many of the due calls can be checked in one batch: the flows of their agents are loaded here, outside of the
/// transaction, up to the bound of a batch.
pub async fn of_due(app: &App, now: Timestamp, most: i64) -> Result<i64, Failure> {
    let due = app.store.read(move |tx| agents::flows_of_due(tx, now, most)).await?;
    let (mut together, mut bytes) = (0, 0);
    for flow in due {
        let unknown = flow.filter(|(_, id, _)| FlowCache::get(&FLOWS, id).is_none());
        if let Some((tenant, id, length)) = unknown {
            bytes += length;
            if together > 0 && bytes > FLOWS_OF_BATCH {
                return Ok(together);
            }
            let wanted = id.clone();
            if let Some(text) = app.of(tenant).read(move |tx| agents::graph(tx, &wanted)).await? {
                let (_, flow) = read_stored(&id, &text)?;
                FlowCache::put(&FLOWS, &id, flow, text.len());
            }
        }
        together += 1;
    }
    Ok(most)
}

pub(crate) fn not_ready(message: &str, issues: &[Issue]) -> Failure {
    Failure::new(FLOW_NOT_READY, message).with_meta(json!({"issues": issues}))
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

    /// Its graph, as JSON text.
    pub(crate) fn graph(&self) -> &str {
        &self.graph
    }

    /// Stores it; its id.
    pub fn store(&self, tx: &mut TenantTx, context: &Context, agent: Id<Agent>) -> Result<String, Failure> {
        let id = new_id(context);
        agents::add_flow(tx, agent, &id, &self.graph, Some(&self.needs))?;
        Ok(id)
    }
}

pub(crate) fn new_id(context: &Context) -> String {
    format!("flow_{}", context.ids.random_text(26))
}

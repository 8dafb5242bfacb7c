//! Runs of a flow by its author, in writing (docs/contract/flows.md#trying-a-flow). They use the interpreter and the
//! model of chats. Tools are not called, nobody is messaged, nothing is charged, and no event is written.

use std::collections::VecDeque;
use std::sync::Arc;

use api::agents::{AgentModels, MAX_GRAPH};
use api::error_codes as codes;
use api::flow_tries::{
    FlowTryView, IDLE, MAX_LOG, MAX_OPEN, MAX_SAID, MAX_TURNS, NewFlowTry, NewTryMessage, TryBack, TryEdge,
    TrySaid, TryStop, TryToolCall, TryToolResult, TryTurn,
};
use app::agents::languages_of;
use app::calls::setting;
use app::{App, Failure, access, tool_calls};
use domain::actor::Actor;
use domain::agent::Channel as AgentChannel;
use domain::chat::PATIENCE;
use domain::conversation::{Conversation, EndCause, Ended, Flow, Input, NodeKind, Output};
use domain::ids::{Agent, FlowTry, Id};
use domain::tenant::Tenant;
use serde_json::{Map, Value, json};
use store::flow_tries::{self, FlowTryRow};
use store::{TenantTx, agents, workspaces};

use crate::feed::Feed;
use crate::model::{Asking, Listener};
use crate::reply::take_room;
use crate::tries_log::{Log, LoggedTool, LoggedTurn, Played, Replayed, sentence, step, turn_at};
use crate::written::Trouble;

/// The answer at a secret question: what the author writes there is kept nowhere.
const MADE_UP: &str = "1234";

/// What the author says about tools and people for one turn.
struct Outcomes {
    tools: Vec<TryToolResult>,
    transfer: bool,
}

impl Outcomes {
    fn of(tools: Option<Vec<TryToolResult>>, transfer: Option<bool>) -> Result<Self, Failure> {
        let tools = tools.unwrap_or_default();
        for (index, one) in tools.iter().enumerate() {
            if one.value.is_some() && one.error.is_some() {
                let field = format!("toolResults[{index}]");
                return Err(Failure::field(&field, "must have value or error, not both"));
            }
        }
        Ok(Self { tools, transfer: transfer.unwrap_or(true) })
    }

    /// The answer of a tool: result, whether it failed, whether it is a sample.
    fn of_tool(&self, tool: &str) -> (Value, bool, bool) {
        match self.tools.iter().find(|one| one.tool_id == tool) {
            Some(TryToolResult { error: Some(error), .. }) => (Value::from(error.as_str()), true, false),
            Some(given) => (given.value.clone().map_or(Value::Null, Value::Object), false, false),
            None => (json!({"sample": true}), false, true),
        }
    }
}

/// What a turn needs of the agent.
struct Standing {
    models: AgentModels,
    base: Option<String>,
}

/// A turn that is played.
struct Turn<'a> {
    app: &'a Arc<App>,
    tenant: Tenant,
    id: Id<FlowTry>,
    standing: &'a Standing,
    outcomes: &'a Outcomes,
    conversation: Conversation,
    queue: VecDeque<Output>,
    played: Played,
    logged: LoggedTurn,
}

impl Turn<'_> {
    fn take(&mut self, input: Input) {
        let outputs = step(&mut self.conversation, &mut self.played, input.clone());
        self.logged.inputs.push(input);
        self.queue.extend(outputs);
    }

    /// Answers what the interpreter asks for until it waits for the customer or is over.
    async fn run(&mut self) -> Result<(), Failure> {
        while let Some(output) = self.queue.pop_front() {
            match output {
                Output::AskModel { .. } => self.ask_model(output).await?,
                Output::CallTool { request, node_id, tool_id, arguments } => {
                    if self.call_tool(request, node_id, tool_id, arguments) {
                        break;
                    }
                }
                Output::Transfer { request, .. } if self.outcomes.transfer => {
                    self.take(Input::TransferDone { request });
                }
                Output::Transfer { request, .. } => self.take(Input::TransferFailed { request }),
                Output::Say { .. } | Output::StopSaying | Output::Listen { .. } => {}
                Output::SendMessage { .. } | Output::AskDocument { .. } | Output::End { .. } => {}
            }
        }
        self.logged.step = self.conversation.at().map(str::to_owned);
        Ok(())
    }

    async fn ask_model(&mut self, asked: Output) -> Result<(), Failure> {
        let Output::AskModel { request, ref node_id, .. } = asked else { return Ok(()) };
        if self.app.ports.language_model.is_none() {
            let message = format!("the step {node_id} needs a language model, and none is set up");
            return Err(Failure::new(codes::BRAIN_UNAVAILABLE, message).with_meta(json!({"nodeId": node_id})));
        }
        let asking = Asking {
            app: self.app,
            tenant: self.tenant,
            models: &self.standing.models,
            base: self.standing.base.as_deref(),
            background: None,
            language: self.conversation.language().to_owned(),
        };
        let (feed, until) = (Feed::silent(), self.app.clock.now().plus(PATIENCE));
        let listener = Listener { about: &self.id, feed: &feed, until };
        match asking.reply(asked, &listener).await {
            Ok(reply) => {
                self.take(reply.into_input(request));
                Ok(())
            }
            Err(Trouble::Store(failure)) => Err(failure),
            Err(Trouble::Model { .. } | Trouble::Late | Trouble::Unavailable | Trouble::Gone) => {
                Err(Failure::new(
                    codes::REPLY_FAILED,
                    "the language model did not answer; nothing was changed, try again",
                ))
            }
        }
    }

    /// Has a tool answer; whether the conversation is over with that.
    fn call_tool(&mut self, request: u64, node: String, tool: String, arguments: Map<String, Value>) -> bool {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
        let answer = |turn: &mut Self, result: Value, failed: bool, sample: bool| {
            turn.logged.tools.push(LoggedTool {
                step: node.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                result: result.clone(),
                failed,
                sample,
            });
        };
        match tool.as_str() {
            "end_call" => {
                answer(self, Value::Null, false, false);
                self.logged.ended = Some(Ended { outcome: text("outcome"), cause: EndCause::AgentEnded });
                return true;
            }
            "transfer_to_human" => {
                answer(self, Value::Null, false, false);
                self.logged.ended =
                    Some(Ended { outcome: Some("transferred".into()), cause: EndCause::TransferHandoff });
                return true;
            }
            "chatapp_message" => {
                answer(self, Value::from("sent"), false, true);
                if let Some(words) = text("text").filter(|words| !words.trim().is_empty()) {
                    self.played.say(Some(node.clone()), &words);
                    self.logged.written.push((node.clone(), words));
                }
                self.take(Input::ToolAnswered { request, value: Value::from("sent") });
            }
            tool_calls::PRESS_KEYS => {
                let reason = "keys can be pressed on a telephone call only".to_owned();
                answer(self, Value::from(reason.as_str()), true, true);
                self.take(Input::ToolFailed { request, reason });
            }
            _ => {
                let (result, failed, sample) = self.outcomes.of_tool(&tool);
                answer(self, result.clone(), failed, sample);
                self.take(match result {
                    Value::String(reason) if failed => Input::ToolFailed { request, reason },
                    value => Input::ToolAnswered { request, value },
                });
            }
        }
        false
    }
}

/// The run and its graph, read outside of the transaction that saves it.
struct Loaded {
    row: FlowTryRow,
    flow: Arc<Flow>,
    log: Log,
    replayed: Replayed,
    standing: Standing,
}

async fn load(app: &App, tenant: Tenant, agent: Id<Agent>, id: Id<FlowTry>) -> Result<Loaded, Failure> {
    let now = app.clock.now();
    let (row, found) = app
        .of(tenant)
        .read(move |tx| {
            let found = app::agents::find(tx, agent)?;
            let row =
                flow_tries::get(tx, agent, id, now)?.ok_or_else(|| Failure::not_found("run of a flow"))?;
            Ok::<_, Failure>((row, found))
        })
        .await?;
    let standing = Standing { models: setting(&found.models), base: found.knowledge_base };
    in_background(move || {
        let flow = read_flow(&row.graph)?;
        let log = Log::read(&row.log)?;
        let replayed = log.replay(flow.clone());
        Ok(Loaded { row, flow, log, replayed, standing })
    })
    .await
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    runtime::blocking::run(work).await.map_err(|why| Failure::internal(why.to_string()))?
}

fn read_flow(graph: &str) -> Result<Arc<Flow>, Failure> {
    let graph: Value =
        serde_json::from_str(graph).map_err(|why| Failure::internal(format!("the graph of a run: {why}")))?;
    Flow::parse(&graph).map(Arc::new).map_err(|why| Failure::internal(format!("the graph of a run: {why}")))
}

fn view(row: &FlowTryRow, log: &Log, flow: &Flow, conversation: &Conversation, last: Played) -> FlowTryView {
    let ended = log.ended(conversation);
    let newest = log.turns.last().cloned().unwrap_or_default();
    let stopped = conversation.stopped().map(|stopped| {
        let (code, message) = sentence(flow, stopped);
        let path = Some(stopped.edge.clone()).filter(|edge| !edge.is_empty());
        TryStop { code, step_id: stopped.node_id.clone(), path, message }
    });
    let edges = last.edges.into_iter().map(|edge| TryEdge {
        from: Some(edge.from).filter(|from| !from.is_empty()),
        edge: edge.edge,
        to: edge.to,
    });
    let tool_calls = newest.tools.into_iter().map(|tool| TryToolCall {
        step_id: tool.step,
        tool_id: tool.tool,
        arguments: tool.arguments,
        result: tool.result,
        failed: tool.failed,
        sample: tool.sample,
    });
    FlowTryView {
        id: row.id,
        agent_id: row.agent,
        step_id: newest.step.filter(|_| ended.is_none()),
        extracted: conversation.extracted().clone(),
        sample_variables: log.samples.clone(),
        turns: log.turns.len() as i64,
        turn: TryTurn {
            turn: log.turns.len() as i64 - 1,
            heard: newest.heard,
            said: last.said.into_iter().map(|(step_id, text)| TrySaid { step_id, text }).collect(),
            edges: edges.collect(),
            tool_calls: tool_calls.collect(),
        },
        ended: ended.is_some(),
        outcome: ended.as_ref().and_then(|ended| ended.outcome.clone()),
        end_cause: ended.map(|ended| ended.cause),
        stopped,
        expires_at: row.until,
    }
}

/// Whether a run has room for another turn.
fn full() -> Failure {
    Failure::new(codes::SESSION_ENDED, "the run is full; start another one")
}

/// `POST /v1/agents/{id}/flow/try`.
///
/// # Errors
/// docs/contract/flows.md#trying-a-flow
pub async fn begin(
    app: &Arc<App>,
    tenant: Tenant,
    agent: Id<Agent>,
    by: Actor,
    body: NewFlowTry,
) -> Result<FlowTryView, Failure> {
    let outcomes = Outcomes::of(body.tool_results, body.transfer)?;
    let (found, draft) = app
        .of(tenant)
        .read(move |tx| {
            let row = app::agents::find(tx, agent)?;
            let draft = agents::graph(tx, &row.draft_flow)?;
            Ok::<_, Failure>((row, draft))
        })
        .await?;
    let graph = match body.graph {
        Some(graph) => {
            Flow::parse(&graph).map_err(|why| {
                let field = if why.field == "graph" { why.field } else { format!("graph.{}", why.field) };
                Failure::field(&field, why.message)
            })?;
            graph.to_string()
        }
        None => {
            draft.ok_or_else(|| Failure::internal(format!("{}: there is no such flow", found.draft_flow)))?
        }
    };
    if graph.len() > MAX_GRAPH {
        return Err(Failure::field("graph", "must be at most 1 MB of JSON"));
    }
    let flow = read_flow(&graph)?;
    let mut variables = body.variables.unwrap_or_default();
    let missing = |name: &&&str| variables.get(**name).is_none_or(Value::is_null);
    let required = flow.required_variables();
    let samples: Vec<String> = required.iter().filter(missing).map(|name| (*name).to_owned()).collect();
    variables.extend(samples.iter().map(|name| (name.clone(), Value::from(name.as_str()))));
    let log = Log {
        channel: found.channel,
        languages: languages_of(&found),
        redact: app::agents::redacts(&found),
        variables,
        samples,
        turns: Vec::new(),
    };
    let _room = take_room(app, tenant)?;
    let now = app.clock.now();
    let row = FlowTryRow {
        id: app.ids.make(),
        agent,
        author: by.to_string(),
        graph,
        log: String::new(),
        version: 0,
        ended: false,
        created_at: now,
        until: now.plus(IDLE),
    };
    let standing = Standing { models: setting(&found.models), base: found.knowledge_base };
    let replayed = log.replay(flow.clone());
    let loaded = Loaded { row, flow, log, replayed, standing };
    let (row, shown) = play(app, tenant, loaded, &outcomes, turn_at(now, None), vec![Input::Started]).await?;
    app.of(tenant)
        .tx(move |tx| {
            // Orders those who begin at the same moment.
            workspaces::get_for_update(tx)?.ok_or_else(|| Failure::not_found("workspace"))?;
            app::agents::find(tx, agent)?;
            if flow_tries::count(tx, now)? >= MAX_OPEN {
                return Err(Failure::conflict(format!(
                    "the workspace has {MAX_OPEN} runs of flows open; close one first"
                )));
            }
            Ok(flow_tries::insert(tx, &row)?)
        })
        .await?;
    Ok(shown)
}

/// Plays a turn; the row to store, and the run as it is then.
async fn play(
    app: &Arc<App>,
    tenant: Tenant,
    loaded: Loaded,
    outcomes: &Outcomes,
    logged: LoggedTurn,
    inputs: Vec<Input>,
) -> Result<(FlowTryRow, FlowTryView), Failure> {
    let Loaded { mut row, flow, mut log, replayed, standing } = loaded;
    let mut turn = Turn {
        app,
        tenant,
        id: row.id,
        standing: &standing,
        outcomes,
        conversation: replayed.conversation,
        queue: VecDeque::new(),
        played: Played::default(),
        logged,
    };
    turn.conversation.set_now(turn.logged.at);
    for input in inputs {
        turn.take(input);
    }
    // The manual clock waits for the model.
    app.clock.counted(Box::pin(turn.run())).await?;
    let Turn { conversation, played, logged, .. } = turn;
    log.turns.push(logged);
    row.log = log.write()?;
    if row.log.len() > MAX_LOG {
        return Err(full());
    }
    row.ended = log.ended(&conversation).is_some();
    row.until = app.clock.now().plus(IDLE);
    let shown = view(&row, &log, &flow, &conversation, played);
    Ok((row, shown))
}

/// Stores a changed run.
async fn save(app: &App, tenant: Tenant, row: FlowTryRow) -> Result<(), Failure> {
    app.of(tenant)
        .tx(move |tx: &mut TenantTx| {
            access::workspace(tx)?;
            if flow_tries::save(tx, &row)? { Ok(()) } else { Err(Failure::plain(codes::REPLY_IN_PROGRESS)) }
        })
        .await
}

/// `GET /v1/agents/{id}/flow/try/{try}`.
///
/// # Errors
/// 404.
pub async fn get(
    app: &App,
    tenant: Tenant,
    agent: Id<Agent>,
    id: Id<FlowTry>,
) -> Result<FlowTryView, Failure> {
    let Loaded { row, flow, log, replayed, .. } = load(app, tenant, agent, id).await?;
    Ok(view(&row, &log, &flow, &replayed.conversation, replayed.last))
}

/// `POST /v1/agents/{id}/flow/try/{try}/messages`.
///
/// # Errors
/// docs/contract/flows.md#trying-a-flow
pub async fn say(
    app: &Arc<App>,
    tenant: Tenant,
    agent: Id<Agent>,
    id: Id<FlowTry>,
    body: NewTryMessage,
) -> Result<FlowTryView, Failure> {
    let outcomes = Outcomes::of(body.tool_results, body.transfer)?;
    let text = body.text.map(|text| text.trim().to_owned());
    match (&text, body.document) {
        (Some(text), None) if text.is_empty() => return Err(Failure::field("text", "must not be blank")),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::field("text", "must be sent, or document in its place"));
        }
        _ => {}
    }
    let _room = take_room(app, tenant)?;
    let loaded = load(app, tenant, agent, id).await?;
    if loaded.row.ended {
        return Err(Failure::plain(codes::SESSION_ENDED));
    }
    if loaded.log.turns.len() > MAX_TURNS || loaded.replayed.bytes > MAX_SAID {
        return Err(full());
    }
    let conversation = &loaded.replayed.conversation;
    let (heard, inputs) = match (text, body.document) {
        (Some(_), _) if conversation.awaits_secret() => {
            (Some(MADE_UP.to_owned()), made_up(loaded.log.channel))
        }
        (Some(text), _) => (Some(text.clone()), vec![Input::Heard { text }]),
        (None, accepted) => {
            let fields = document_fields(conversation).ok_or_else(|| {
                Failure::field("document", "must not be sent: the flow does not wait for a document")
            })?;
            (None, vec![Input::DocumentChecked { accepted: accepted.unwrap_or(true), fields }])
        }
    };
    let logged = turn_at(app.clock.now(), heard);
    let (row, shown) = play(app, tenant, loaded, &outcomes, logged, inputs).await?;
    save(app, tenant, row).await?;
    Ok(shown)
}

/// The made-up answer to a secret question: keyed on a call.
fn made_up(channel: AgentChannel) -> Vec<Input> {
    match channel {
        AgentChannel::Chat => vec![Input::Heard { text: MADE_UP.to_owned() }],
        AgentChannel::Call => {
            let keys = MADE_UP.chars().chain(['#']);
            keys.map(|key| Input::Digit { key }).collect()
        }
    }
}

/// Made-up details of the document that is waited for.
fn document_fields(conversation: &Conversation) -> Option<Map<String, Value>> {
    let asked = conversation.at().and_then(|id| conversation.flow().node(id))?;
    let NodeKind::Document(document) = &asked.kind else { return None };
    Some(document.fields.iter().map(|key| (key.clone(), Value::from("sample"))).collect())
}

/// `POST /v1/agents/{id}/flow/try/{try}/back`.
///
/// # Errors
/// 404; 400 for a point that the run does not have.
pub async fn back(
    app: &Arc<App>,
    tenant: Tenant,
    agent: Id<Agent>,
    id: Id<FlowTry>,
    body: TryBack,
) -> Result<FlowTryView, Failure> {
    let Loaded { mut row, flow, mut log, .. } = load(app, tenant, agent, id).await?;
    let keep = match (body.turn, body.to_step) {
        (Some(turn), None) => usize::try_from(turn)
            .ok()
            .filter(|turn| *turn < log.turns.len())
            .ok_or_else(|| Failure::field("turn", format!("must be at most {}", log.turns.len() - 1)))?,
        (None, Some(step)) => log
            .turns
            .iter()
            .rposition(|turn| turn.step.as_deref() == Some(step.as_str()))
            .ok_or_else(|| Failure::field("toStep", "must be a step at which the run has waited"))?,
        _ => return Err(Failure::field("turn", "must be sent, or toStep in its place")),
    };
    log.turns.truncate(keep + 1);
    row.log = log.write()?;
    row.until = app.clock.now().plus(IDLE);
    let (log, flow, replayed) = in_background(move || {
        let replayed = log.replay(flow.clone());
        Ok((log, flow, replayed))
    })
    .await?;
    row.ended = log.ended(&replayed.conversation).is_some();
    let shown = view(&row, &log, &flow, &replayed.conversation, replayed.last);
    save(app, tenant, row).await?;
    Ok(shown)
}

/// `DELETE /v1/agents/{id}/flow/try/{try}`.
///
/// # Errors
/// 404.
pub async fn close(app: &App, tenant: Tenant, agent: Id<Agent>, id: Id<FlowTry>) -> Result<(), Failure> {
    let removed = app.of(tenant).tx(move |tx| flow_tries::remove(tx, agent, id)).await?;
    if removed { Ok(()) } else { Err(Failure::not_found("run of a flow")) }
}

/// Forgets runs whose time is over.
pub async fn sweep(app: &App) -> Result<(), Failure> {
    let now = app.clock.now();
    while app.store.tx(move |tx| flow_tries::sweep(tx, now, SWEPT_AT_ONCE)).await? == SWEPT_AT_ONCE as u64 {}
    Ok(())
}

/// Runs that one transaction of [`sweep`] drops.
const SWEPT_AT_ONCE: i64 = 100;

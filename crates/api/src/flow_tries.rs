//! Trying a flow in writing before anybody talks with it (docs/contract/flows.md#trying-a-flow).

use domain::chat::MAX_TEXT;
use domain::conversation::EndCause;
use domain::ids::{Agent, FlowTry, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agents::FlowGraph;
use crate::envelope::Deleted;
use crate::error_codes::{BRAIN_UNAVAILABLE, CONFLICT, REPLY_FAILED, REPLY_IN_PROGRESS, SESSION_ENDED};
use crate::operation::Method::{self, DELETE, GET, POST};
use crate::operation::{Operation, RateClass, operation};
use crate::schema::{data, request};
use crate::scopes::{AGENTS_READ, AGENTS_WRITE};

/// Most runs that a workspace has open.
pub const MAX_OPEN: i64 = 20;
/// Most messages of a run.
pub const MAX_TURNS: usize = 100;
/// Most bytes that are stored of what was said in a run, its graph aside.
pub const MAX_LOG: usize = 64 * 1024;
/// Most bytes that the agent says in a run.
pub const MAX_SAID: usize = 1024 * 1024;
/// How long a run is kept after the last request, milliseconds.
pub const IDLE: i64 = 30 * 60 * 1000;

/// The answer of a tool in a run: tools are never called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TryToolResult {
    /// Id of the tool, as `GET /v1/tools` lists it.
    #[schemars(length(min = 1, max = 64))]
    pub tool_id: String,
    /// What the tool answers, any JSON of at most 8 KB; null by default.
    #[schemars(extend("maxProperties" = 100, "x-maxBytes" = 8192))]
    pub value: Option<Map<String, Value>>,
    /// Why the tool fails, if it does.
    #[schemars(length(min = 1, max = 500))]
    pub error: Option<String>,
}

/// The run of a flow that is begun.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewFlowTry {
    /// The graph to run; the draft by default. It is not saved.
    #[schemars(with = "Option<FlowGraph>")]
    pub graph: Option<Value>,
    /// Values of the variables. One that is required and missing gets its own name as its value.
    #[schemars(extend("maxProperties" = 100, "x-maxBytes" = 16_384))]
    pub variables: Option<Map<String, Value>>,
    /// What tools answer; a tool that is not listed answers `{"sample": true}`.
    #[schemars(length(max = 20))]
    pub tool_results: Option<Vec<TryToolResult>>,
    /// Whether a person takes the conversation at a `transfer` step.
    #[schemars(extend("default" = true))]
    pub transfer: Option<bool>,
}

/// What the customer does next in a run: `text` or `document`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTryMessage {
    /// The words of the customer, not blank. At a secret question a made-up answer takes their place, and they are not
    /// kept.
    #[schemars(length(min = 1, max = MAX_TEXT))]
    pub text: Option<String>,
    /// Whether the document that the flow asks for is accepted; its details are made up.
    pub document: Option<bool>,
    /// What tools answer in this turn; a tool that is not listed answers `{"sample": true}`.
    #[schemars(length(max = 20))]
    pub tool_results: Option<Vec<TryToolResult>>,
    /// Whether a person takes the conversation at a `transfer` step.
    #[schemars(extend("default" = true))]
    pub transfer: Option<bool>,
}

/// The point to which a run goes back: `turn` or `toStep`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TryBack {
    /// Number of the turn after which it goes on; 0 is the opening.
    #[schemars(range(min = 0, max = 100))]
    pub turn: Option<i64>,
    /// Id of the step at which it waits again: the last turn that ended there.
    #[schemars(length(min = 1, max = 64))]
    pub to_step: Option<String>,
}

/// A text that the agent says in a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrySaid {
    /// Id of the step that it belongs to; null for the apology before an error.
    pub step_id: Option<String>,
    /// What the agent says, as text.
    pub text: String,
}

/// An edge that a run took.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TryEdge {
    /// Id of the step that it leaves; null for the beginning.
    pub from: Option<String>,
    /// The field that holds it, such as `next` or `exits[0].next`; `start` for the beginning.
    pub edge: String,
    /// Id of the step that it enters.
    pub to: String,
}

/// A tool that a conversation would have called.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TryToolCall {
    /// Id of the step that calls it.
    pub step_id: String,
    /// Id of the tool, as `GET /v1/tools` lists it.
    pub tool_id: String,
    /// What it would have been given.
    pub arguments: Map<String, Value>,
    /// What it answered, or why it failed.
    pub result: Value,
    /// Whether the tool failed, as the request says.
    pub failed: bool,
    /// Whether the answer is a sample, because the request had none for it.
    pub sample: bool,
}

/// A message of a run and what the agent did about it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TryTurn {
    /// Number of the turn in the run; 0 is the opening.
    pub turn: i64,
    /// The words of the customer as they were taken; null for the opening and a document.
    pub heard: Option<String>,
    /// What the agent says, in order.
    pub said: Vec<TrySaid>,
    /// The edges that it took, in order.
    pub edges: Vec<TryEdge>,
    /// The tools that it would have called, in order. None was called.
    pub tool_calls: Vec<TryToolCall>,
}

/// Why a run cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TryStopCode {
    /// The flow does not say with which step it starts.
    NoStart,
    /// An edge of the step leads nowhere.
    MissingEdge,
    /// An edge of the step names a step that does not exist.
    UnknownStep,
    /// A step would be entered twice without anything in between.
    EndlessLoop,
    /// There were more than 50 requests to models and tools without a word of the customer.
    TooManyRequests,
    /// The step at which it waited is gone.
    StepGone,
}

/// Where a run stopped because the flow is not complete.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TryStop {
    /// What is wrong with the flow, as a word.
    pub code: TryStopCode,
    /// Id of the step; null where it is about none.
    pub step_id: Option<String>,
    /// The field of the step, such as `next`; null where it is about none.
    pub path: Option<String>,
    /// A sentence that names the step, for people.
    pub message: String,
}

/// A run of a flow, with its newest turn. Nobody is messaged, nothing is charged, and no event is sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowTryView {
    /// Id of the run, `try_…`.
    pub id: Id<FlowTry>,
    /// Id of the agent, `agt_…`.
    pub agent_id: Id<Agent>,
    /// Id of the step at which it waits for the customer; null once it is over.
    pub step_id: Option<String>,
    /// Values that the flow captured so far, by key.
    pub extracted: Map<String, Value>,
    /// Names of variables that are required and were not given: each has its own name as its value.
    pub sample_variables: Vec<String>,
    /// Number of turns so far, the opening included.
    pub turns: i64,
    /// The newest turn of the run.
    pub turn: TryTurn,
    /// Whether the conversation is over.
    pub ended: bool,
    /// The disposition, once it is over with one.
    pub outcome: Option<String>,
    /// Why it ended; null while it goes on.
    #[schemars(with = "Option<TryEndCause>")]
    pub end_cause: Option<EndCause>,
    /// Where the flow could not go on; null if it could.
    pub stopped: Option<TryStop>,
    /// When the run is forgotten: 30 minutes after the last request.
    pub expires_at: Timestamp,
}

/// Why the conversation of a run ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TryEndCause {
    /// The agent ended it.
    AgentEnded,
    /// The customer left.
    CallerHangup,
    /// The customer said nothing for too long.
    SilenceTimeout,
    /// A person took it over.
    TransferHandoff,
    /// The language model failed repeatedly.
    ModelUnavailable,
    /// The flow could not go on.
    Error,
}

const fn row(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(method, path, id, "Agents", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(POST, "/v1/agents/{id}/flow/try", "tryFlow", "Run the draft of a flow, or a graph, as a chat")
        .about(
            "Answers what the agent says first. Tools are not called: they answer what `toolResults` says, or a sample. \
             409 `conflict` when the workspace has 20 runs open. 422 `brain_unavailable` when a step needs a language \
             model and there is none; 502 `reply_failed` when the model failed, and nothing was changed.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .rate(RateClass::FlowTries)
        .optional_body(request::<NewFlowTry>)
        .answers(&[(201, Some(data::<FlowTryView>))])
        .errors(&[CONFLICT, BRAIN_UNAVAILABLE, REPLY_FAILED]),
    row(GET, "/v1/agents/{id}/flow/try/{try}", "getFlowTry", "A run of a flow with its newest turn")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<FlowTryView>))]),
    row(POST, "/v1/agents/{id}/flow/try/{try}/messages", "sendTryMessage", "Say something in a run of a flow")
        .about(
            "Answers the turn. 409 `session_ended` when the run is over or full (100 turns, 64 KB), 409 \
             `reply_in_progress` when another request changed it meanwhile.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .rate(RateClass::FlowTries)
        .body(request::<NewTryMessage>)
        .answers(&[(200, Some(data::<FlowTryView>))])
        .errors(&[SESSION_ENDED, REPLY_IN_PROGRESS, BRAIN_UNAVAILABLE, REPLY_FAILED]),
    row(POST, "/v1/agents/{id}/flow/try/{try}/back", "goBackInTry", "Go back to an earlier point of a run")
        .about("Later turns are forgotten. 409 `reply_in_progress` when another request changed the run meanwhile.")
        .scope(AGENTS_WRITE)
        .live_only()
        .rate(RateClass::FlowTries)
        .body(request::<TryBack>)
        .answers(&[(200, Some(data::<FlowTryView>))])
        .errors(&[REPLY_IN_PROGRESS]),
    row(DELETE, "/v1/agents/{id}/flow/try/{try}", "endFlowTry", "Close a run of a flow")
        .scope(AGENTS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))]),
];

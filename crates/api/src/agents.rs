//! Agents, their flows and voices (docs/contract/agents.md, docs/contract/flows.md).

use std::borrow::Cow;
use std::collections::BTreeMap;

use domain::agent::{Channel, Status};
use domain::call::Direction;
use domain::compliance::{Communication, Vertical, WorkflowTemplate};
use domain::conversation::Issue;
use domain::ids::{self, Id};
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::envelope::Deleted;
use crate::error_codes::{
    AGENT_IN_USE, AGENT_LOCKED, AGENT_USES_FLOW, COMPLIANCE_PACK_INVALID, FLOW_CONFLICT, FLOW_NOT_READY,
    KNOWLEDGE_BASE_NOT_FOUND, VERTICAL_NOT_ALLOWED, WORKFLOW_TEMPLATE_INVALID,
};
use crate::operation::Method::{DELETE, GET, POST, PUT};
use crate::operation::{Operation, operation};
use crate::schema::{Field, Schema, data, given, list, request};
use crate::scopes::{AGENTS_READ, AGENTS_WRITE};

/// Languages that agents speak, with what people call them.
pub const LANGUAGES: &[(&str, &str)] = &[
    ("en", "English"),
    ("hi", "Hindi"),
    ("bn", "Bengali"),
    ("gu", "Gujarati"),
    ("kn", "Kannada"),
    ("ml", "Malayalam"),
    ("mr", "Marathi"),
    ("or", "Odia"),
    ("pa", "Punjabi"),
    ("ta", "Tamil"),
    ("te", "Telugu"),
];

/// The code of one of [`LANGUAGES`].
pub enum LanguageCode {}

impl JsonSchema for LanguageCode {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("LanguageCode")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        let codes: Vec<&str> = LANGUAGES.iter().map(|(code, _)| *code).collect();
        json_schema!({"type": "string", "enum": codes, "description": "A language that agents speak."})
    }
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agent {
    /// Its id.
    pub id: Id<ids::Agent>,
    /// Name.
    pub name: String,
    /// Voice id, or empty for the default voice.
    pub voice: String,
    /// Language.
    #[schemars(with = "LanguageCode")]
    pub language: String,
    /// Whether it is published.
    pub status: Status,
    /// Whether it speaks or writes.
    pub channel: Channel,
    /// Whether it calls or is called.
    pub direction: Direction,
}

/// An agent with all its settings.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDetail {
    /// What a list shows.
    #[serde(flatten)]
    pub summary: Agent,
    /// Instructions.
    pub system_prompt: String,
    /// How its conversation is laid out.
    #[schemars(with = "WorkflowTemplate")]
    pub workflow_template: String,
    /// What its calls are about.
    #[schemars(with = "Vertical")]
    pub vertical: String,
    /// Compliance pack.
    pub policy_ref: String,
    /// The kind of commercial communication that its calls are.
    pub communication: Communication,
    /// Numbers to which it may transfer, E.164.
    #[schemars(with = "Vec<String>")]
    pub allowed_transfer_numbers: Value,
    /// What to extract from its conversations.
    #[schemars(with = "Vec<Extraction>")]
    pub extraction_schema: Value,
    /// Knowledge base.
    pub knowledge_base_id: Option<String>,
    /// Ids of its tools.
    #[schemars(with = "Vec<String>")]
    pub tool_ids: Value,
    /// Whether its voice is given numbers, sums, dates and the like in words.
    pub speakable: bool,
    /// Words that its voice says in another way than they are written.
    #[schemars(with = "Vec<Pronunciation>")]
    pub pronunciations: Value,
    /// Why it calls, said to assistants that screen calls.
    pub call_reason: String,
    /// Whether card numbers, CVVs, OTPs, Aadhaar and PAN numbers and account numbers are taken out of what is kept of its
    /// conversations.
    pub redact: bool,
    /// Languages that it speaks: its own, and those that it follows the customer into.
    #[schemars(with = "Vec<LanguageCode>")]
    pub languages: Vec<String>,
    /// Voices by language; `voice` speaks the others.
    #[schemars(with = "BTreeMap<String, String>")]
    pub voices: Value,
    /// The providers that its conversations prefer.
    #[schemars(with = "AgentModels")]
    pub models: Value,
}

/// The providers that the conversations of an agent prefer, by the names of `GET /v1/voices`. One that fails is
/// replaced by the others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentModels {
    /// Speech recognition on calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub recogniser: Option<String>,
    /// Speech output on calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub synthesiser: Option<String>,
    /// The language model, on calls and in chats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub language_model: Option<String>,
}

/// Words that a voice says in another way than they are written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Pronunciation {
    /// As texts write it; found as whole words, in capitals or not. Each at most once in a list.
    #[schemars(length(min = 1, max = 60))]
    pub written: String,
    /// As the voice is given it, in any script.
    #[schemars(length(min = 1, max = 200))]
    pub spoken: String,
}

/// Something to extract from conversations.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Extraction {
    /// Key in the extracted fields.
    #[schemars(length(min = 1, max = 64))]
    pub key: String,
    /// What it is, for people and for the model.
    #[schemars(length(max = 200))]
    pub label: String,
    /// What kind of value it is.
    #[schemars(with = "ExtractionType")]
    pub r#type: String,
}

/// A kind of extracted value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractionType {
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
}

/// Settings of an agent. A new agent has defaults for what is absent; a change leaves it as it is.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSettings {
    /// Name.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Instructions.
    #[schemars(length(max = 16_000), extend("default" = ""))]
    pub system_prompt: Option<String>,
    /// An id of `/v1/voices`; empty for the default voice.
    #[schemars(length(max = 80), extend("default" = ""))]
    pub voice: Option<String>,
    /// Language.
    #[schemars(with = "Option<LanguageCode>", extend("default" = "en"))]
    pub language: Option<String>,
    /// How its conversation is laid out.
    #[schemars(with = "Option<WorkflowTemplate>", extend("default" = "prompt-driven"))]
    pub workflow_template: Option<String>,
    /// What its calls are about.
    #[schemars(with = "Option<Vertical>", extend("default" = "general"))]
    pub vertical: Option<String>,
    /// A built-in compliance pack, or a custom one (`cpk_…`).
    #[schemars(length(min = 1, max = 120), extend("default" = "generic-safe@1"))]
    pub policy_ref: Option<String>,
    /// The kind of commercial communication that its calls are; the rules of the pack on number series and registered
    /// ids go by it.
    #[schemars(extend("default" = "service"))]
    pub communication: Option<Communication>,
    /// Ids of `/v1/tools`.
    #[schemars(length(max = 50), inner(length(min = 1, max = 64)), extend("default" = []))]
    pub tool_ids: Option<Vec<String>>,
    /// Indian numbers; stored as +91…
    #[schemars(length(max = 50), inner(length(min = 1, max = 20)), extend("default" = []))]
    pub allowed_transfer_numbers: Option<Vec<String>>,
    /// What to extract from its conversations.
    #[schemars(length(max = 50), extend("default" = []))]
    pub extraction_schema: Option<Vec<Extraction>>,
    /// Whether the voice is given numbers, sums, dates, times, addresses and abbreviations in words. Off where the
    /// provider does it better. The transcript stays as written.
    #[schemars(extend("default" = true))]
    pub speakable: Option<bool>,
    /// Words that the voice says in another way; they apply before everything else, and with `speakable: false`.
    #[schemars(length(max = 100), extend("default" = []))]
    pub pronunciations: Option<Vec<Pronunciation>>,
    /// Why it calls, in a sentence of the agent's language: said to an assistant that screens calls, after the names of
    /// the agent and the company. `{{name}}` is filled in from the call's variables. Empty: it would like to speak to the
    /// person.
    #[schemars(length(max = 200), extend("default" = ""))]
    pub call_reason: Option<String>,
    /// Whether card numbers, CVVs, OTPs, Aadhaar and PAN numbers and account numbers are taken out of what is kept of its
    /// conversations. On by default for every vertical but `general`.
    pub redact: Option<bool>,
    /// Languages that it speaks. When the customer surely speaks one of them in a turn, the conversation goes on in it;
    /// the agent's own is always among them.
    #[schemars(with = "Option<Vec<LanguageCode>>", length(max = 11), extend("default" = []))]
    pub languages: Option<Vec<String>>,
    /// Ids of `/v1/voices` by language; `voice` speaks the others.
    #[schemars(extend("default" = {}, "maxProperties" = 11, "x-maxBytes" = 2048))]
    pub voices: Option<BTreeMap<String, String>>,
    /// The providers that its conversations prefer.
    #[schemars(extend("default" = {}))]
    pub models: Option<AgentModels>,
    /// Knowledge base; null for none.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 64), extend("x-nullable" = true, "default" = null))]
    pub knowledge_base_id: Option<Option<String>>,
    /// Fixed once created: another value than the agent's is refused.
    #[schemars(extend("default" = "call"))]
    pub channel: Option<Channel>,
    /// `outbound` by default; chat agents are always inbound. Fixed once created: another value than the agent's
    /// is refused.
    pub direction: Option<Direction>,
}

/// Whether an agent is to be published.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AgentStatusChange {
    /// The status to be.
    pub status: Status,
}

/// Largest flow graph, bytes of JSON.
pub const MAX_GRAPH: usize = 1024 * 1024;
/// Largest version number: the largest whole number that every JSON reader keeps exact.
const MAX_VERSION: i64 = (1 << 53) - 1;

/// A draft of a flow, to be saved.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowEdit {
    /// `{startNodeId, nodes, variables}`, at most 1 MB; kept as it is sent. A draft may be incomplete.
    #[schemars(with = "FlowGraph")]
    pub graph: Value,
    /// The `draftVersion` that the graph was made from.
    #[schemars(range(min = 0, max = MAX_VERSION))]
    pub base_version: i64,
}

/// The graph of a flow: what a conversation does, node by node.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = true, "x-maxBytes" = 2 * MAX_GRAPH))]
pub struct FlowGraph {
    /// The node that a conversation starts with.
    pub start_node_id: Option<Value>,
    /// The nodes.
    pub nodes: Value,
    /// Variables that a conversation can use.
    pub variables: Option<Value>,
}

/// A flow: its draft and what conversations run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flow {
    /// The graph being edited.
    #[schemars(with = "Map<String, Value>")]
    pub draft: Value,
    /// Counts drafts.
    #[schemars(range(min = 1, max = MAX_VERSION))]
    pub draft_version: i64,
    /// The graph that conversations run.
    #[schemars(with = "Map<String, Value>")]
    pub published: Value,
    /// What the author of the draft should know.
    pub issues: Vec<Issue>,
}

/// A draft that was saved.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedFlow {
    /// The new version.
    #[schemars(range(min = 1, max = MAX_VERSION))]
    pub draft_version: i64,
    /// What the author of the draft should know.
    pub issues: Vec<Issue>,
}

/// A voice; every voice speaks every language.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Voice {
    /// What agents name in `voice`.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// How it sounds.
    #[schemars(extend("enum" = ["female", "male"]))]
    pub gender: String,
}

/// A language that agents speak.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Language {
    /// What agents name in `language`.
    #[schemars(with = "LanguageCode")]
    pub code: &'static str,
    /// Its name, for people.
    pub label: &'static str,
}

/// Voices and languages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Voices {
    /// Voices.
    pub voices: Vec<Voice>,
    /// The voice of an agent that names none.
    pub default_voice: String,
    /// Languages.
    pub languages: Vec<Language>,
    /// What agents name in `models`.
    pub models: KnownModels,
}

/// The providers of this installation that agents can prefer, in its own order.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnownModels {
    /// Speech recognition.
    pub recognisers: Vec<String>,
    /// Speech output.
    pub synthesisers: Vec<String>,
    /// Language models.
    pub language_models: Vec<String>,
}

/// Body of `POST /v1/agents`.
pub fn new_agent() -> Schema {
    request::<AgentSettings>()
        .variant("NewAgent", |field| Some(Field { required: field.name == "name", ..field }))
}

fn agent_change() -> Schema {
    request::<AgentSettings>().variant("AgentChange", |field| Some(Field { default: None, ..field }))
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Agents", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/agents", "listAgents", "All agents, newest first")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(list::<Agent>))]),
    row(POST, "/v1/agents", "createAgent", "Create an agent, as a draft with a one-step flow")
        .scope(AGENTS_WRITE)
        .live_only()
        .body(new_agent)
        .answers(&[(201, Some(data::<AgentDetail>))])
        .errors(&[
            KNOWLEDGE_BASE_NOT_FOUND,
            VERTICAL_NOT_ALLOWED,
            WORKFLOW_TEMPLATE_INVALID,
            COMPLIANCE_PACK_INVALID,
        ]),
    row(GET, "/v1/agents/{id}", "getAgent", "One agent")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<AgentDetail>))]),
    row(PUT, "/v1/agents/{id}", "updateAgent", "Change what the body names")
        .scope(AGENTS_WRITE)
        .live_only()
        .body(agent_change)
        .answers(&[(200, Some(data::<AgentDetail>))])
        .errors(&[
            KNOWLEDGE_BASE_NOT_FOUND,
            VERTICAL_NOT_ALLOWED,
            AGENT_USES_FLOW,
            WORKFLOW_TEMPLATE_INVALID,
            COMPLIANCE_PACK_INVALID,
            AGENT_LOCKED,
        ]),
    row(DELETE, "/v1/agents/{id}", "deleteAgent", "Delete an agent that nothing uses")
        .scope(AGENTS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))])
        .errors(&[AGENT_IN_USE, AGENT_LOCKED]),
    row(POST, "/v1/agents/{id}/status", "setAgentStatus", "Publish or unpublish an agent")
        .scope(AGENTS_WRITE)
        .live_only()
        .body(request::<AgentStatusChange>)
        .answers(&[(200, Some(data::<AgentDetail>))])
        .errors(&[
            VERTICAL_NOT_ALLOWED,
            WORKFLOW_TEMPLATE_INVALID,
            COMPLIANCE_PACK_INVALID,
            FLOW_NOT_READY,
            AGENT_LOCKED,
        ]),
    row(
        GET,
        "/v1/agents/{id}/flow",
        "getFlow",
        "The flow: its draft, its published graph, what keeps the draft from being published",
    )
    .scope(AGENTS_READ)
    .answers(&[(200, Some(data::<Flow>))]),
    row(
        PUT,
        "/v1/agents/{id}/flow",
        "saveFlow",
        "Save a draft; conversations are unaffected until it is published",
    )
    .scope(AGENTS_WRITE)
    .live_only()
    .body(request::<FlowEdit>)
    .answers(&[(200, Some(data::<SavedFlow>))])
    .errors(&[FLOW_CONFLICT, AGENT_LOCKED]),
    row(
        POST,
        "/v1/agents/{id}/flow/publish",
        "publishFlow",
        "Make the draft the flow that conversations run",
    )
    .scope(AGENTS_WRITE)
    .live_only()
    .answers(&[(200, Some(data::<Flow>))])
    .errors(&[FLOW_NOT_READY, AGENT_LOCKED]),
    row(GET, "/v1/voices", "listVoices", "Voices and languages")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<Voices>))]),
];

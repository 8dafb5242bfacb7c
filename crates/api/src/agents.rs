//! Agents, their flows and voices (docs/contract/agents.md, docs/contract/flows.md).

use std::borrow::Cow;
use std::collections::BTreeMap;

use domain::agent::{Channel, Status};
use domain::call::Direction;
use domain::compliance::{Communication, Vertical, WorkflowTemplate};
use domain::conversation::Issue;
use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::envelope::Deleted;
use crate::error_codes::{
    AGENT_IN_USE, AGENT_LOCKED, AGENT_USES_FLOW, COMPLIANCE_PACK_INVALID, FLOW_CONFLICT, FLOW_NOT_READY,
    KNOWLEDGE_BASE_NOT_FOUND, VERTICAL_NOT_ALLOWED, WORKFLOW_TEMPLATE_INVALID,
};
use crate::flow_versions::{FlowEditor, FlowPublication};
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
        json_schema!({"type": "string", "enum": codes, "description": "Code of a language that agents speak and write."})
    }
}

/// An agent, as a list shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agent {
    /// Id of the agent, `agt_…`.
    pub id: Id<ids::Agent>,
    /// The name of the agent, for people.
    pub name: String,
    /// Id of a voice of `GET /v1/voices`; empty for the default voice.
    pub voice: String,
    /// Code of the language that the agent speaks and writes.
    #[schemars(with = "LanguageCode")]
    pub language: String,
    /// `active` (published: it can call and answer) or `draft`.
    pub status: Status,
    /// `call` for an agent that speaks, `chat` for one that writes. Fixed once created.
    pub channel: Channel,
    /// `outbound` if the agent places calls, `inbound` if it answers them. Fixed once created; a chat agent
    /// is always `inbound`.
    pub direction: Direction,
}

/// An agent with all its settings.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub summary: Agent,
    /// Instructions for the language model. Once the flow was edited as a flow, calls and chats run that flow
    /// instead.
    pub system_prompt: String,
    /// The kind of conversation; it names the columns of the agent's outcome board.
    #[schemars(with = "WorkflowTemplate")]
    pub workflow_template: String,
    /// The business field of the conversations; every value but `general` is regulated.
    #[schemars(with = "Vertical")]
    pub vertical: String,
    /// Id of the compliance pack whose gates every dial must pass, such as `generic-safe@1` or `cpk_…`.
    pub policy_ref: String,
    /// The kind of commercial communication that its calls are.
    pub communication: Communication,
    /// Numbers to which it may transfer, E.164.
    #[schemars(with = "Vec<String>")]
    pub allowed_transfer_numbers: Value,
    /// The values that the analysis extracts from a conversation.
    #[schemars(with = "Vec<Extraction>")]
    pub extraction_schema: Value,
    /// Id of the knowledge base that the agent answers from; null if it has none.
    pub knowledge_base_id: Option<String>,
    /// Ids of the tools that the agent may use, as `GET /v1/tools` lists them.
    #[schemars(with = "Vec<String>")]
    pub tool_ids: Value,
    /// Whether the voice is given numbers, sums, dates, times, addresses and abbreviations in words.
    pub speakable: bool,
    /// Words that the voice says differently from how they are written.
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
    /// Name of the preferred provider of speech recognition on calls, one of `recognisers` of `GET /v1/voices`;
    /// absent for the order of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub recogniser: Option<String>,
    /// Name of the preferred provider of speech output on calls, one of `synthesisers` of `GET /v1/voices`; absent
    /// for the order of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub synthesiser: Option<String>,
    /// Name of the preferred provider of language models on calls and in chats, one of `languageModels` of `GET
    /// /v1/voices`; absent for the order of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub language_model: Option<String>,
}

/// How the voice says a word or phrase.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Pronunciation {
    /// The written form, found as whole words and without regard to case; unique within the list.
    #[schemars(length(min = 1, max = 60))]
    pub written: String,
    /// What the voice says instead, in any script.
    #[schemars(length(min = 1, max = 200))]
    pub spoken: String,
}

/// A value that the analysis extracts from a conversation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Extraction {
    /// The key of the value in `extracted`; unique within the list.
    #[schemars(length(min = 1, max = 64))]
    pub key: String,
    /// What the value means, for people and for the language model.
    #[schemars(length(max = 200))]
    pub label: String,
    /// `text`, `boolean` or `number`: the type of the value in `extracted`.
    #[schemars(with = "ExtractionType")]
    pub r#type: String,
}

/// The type of an extracted value.
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

/// Settings of an agent. In `POST`, an absent field gets its default; in `PUT`, it is not changed.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSettings {
    /// The name of the agent, for people; required for a new agent.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Instructions for the language model. Cannot change once the flow was edited as a flow (409
    /// `agent_uses_flow`).
    #[schemars(length(max = 16_000), extend("default" = ""))]
    pub system_prompt: Option<String>,
    /// Id of a voice of `GET /v1/voices`; empty for the default voice.
    #[schemars(length(max = 80), extend("default" = ""))]
    pub voice: Option<String>,
    /// Code of the language that the agent speaks and writes.
    #[schemars(with = "Option<LanguageCode>", extend("default" = "en"))]
    pub language: Option<String>,
    /// The kind of conversation; it must fit `vertical` (422 `workflow_template_invalid`).
    #[schemars(with = "Option<WorkflowTemplate>", extend("default" = "prompt-driven"))]
    pub workflow_template: Option<String>,
    /// The business field of the conversations; every value but `general` is regulated and needs a pack of
    /// its family in `policyRef`.
    #[schemars(with = "Option<Vertical>", extend("default" = "general"))]
    pub vertical: Option<String>,
    /// Id of a built-in compliance pack, or of a custom one (`cpk_…`).
    #[schemars(length(min = 1, max = 120), extend("default" = "generic-safe@1"))]
    pub policy_ref: Option<String>,
    /// The kind of commercial communication that its calls are; the rules of the pack on number series and registered
    /// ids go by it.
    #[schemars(extend("default" = "service"))]
    pub communication: Option<Communication>,
    /// Ids of its tools, from `GET /v1/tools`.
    #[schemars(length(max = 50), inner(length(min = 1, max = 64)), extend("default" = []))]
    pub tool_ids: Option<Vec<String>>,
    /// Indian numbers to which a call may be transferred, in any usual notation; stored as `+91…`.
    #[schemars(length(max = 50), inner(length(min = 1, max = 20)), extend("default" = []))]
    pub allowed_transfer_numbers: Option<Vec<String>>,
    /// The values that the analysis extracts from a conversation; each `key` at most once.
    #[schemars(length(max = 50), extend("default" = []))]
    pub extraction_schema: Option<Vec<Extraction>>,
    /// Whether the voice is given numbers, sums, dates, times, addresses and abbreviations in words.
    /// Transcripts keep the text as written. Set it to `false` where the speech provider does this better.
    #[schemars(extend("default" = true))]
    pub speakable: Option<bool>,
    /// Words that the voice says differently from how they are written. They apply before everything else,
    /// also with `speakable: false`.
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
    /// `call` or `chat`. Fixed once created: another value is 400.
    #[schemars(extend("default" = "call"))]
    pub channel: Option<Channel>,
    /// `outbound` (default) or `inbound`; a chat agent is always `inbound`. Fixed once created: another value
    /// is 400.
    pub direction: Option<Direction>,
}

/// The status that an agent gets.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AgentStatusChange {
    /// `active` publishes the agent, `draft` unpublishes it. The current status is accepted, too.
    pub status: Status,
}

/// Largest flow graph, bytes of JSON.
pub const MAX_GRAPH: usize = 1024 * 1024;
/// Largest version number: the largest whole number that every JSON reader keeps exact.
const MAX_VERSION: i64 = (1 << 53) - 1;

/// A draft of a flow that is saved.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowEdit {
    /// The graph, at most 1 MB as JSON; stored as it is sent, unknown fields included. A draft may be
    /// incomplete.
    #[schemars(with = "FlowGraph")]
    pub graph: Value,
    /// The `draftVersion` on which the edit is based; another one than the current is 409 `flow_conflict`.
    #[schemars(range(min = 0, max = MAX_VERSION))]
    pub base_version: i64,
}

/// The graph of a flow: the nodes of a conversation and the edges between them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = true, "x-maxBytes" = 2 * MAX_GRAPH))]
pub struct FlowGraph {
    /// Id of the node with which a conversation starts.
    pub start_node_id: Option<Value>,
    /// The nodes, at most 500. Each has a unique `id` and a `type`.
    pub nodes: Value,
    /// Variables of the flow, `{name, required?, default?, description?}`; at most 3,000.
    pub variables: Option<Value>,
}

/// The flow of an agent: its draft and the published graph.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flow {
    /// The draft graph; conversations do not run it before it is published.
    #[schemars(with = "Map<String, Value>")]
    pub draft: Value,
    /// Version of the draft; each save increments it. Send it back as `baseVersion`.
    #[schemars(range(min = 1, max = MAX_VERSION))]
    pub draft_version: i64,
    /// The published graph, which conversations run.
    #[schemars(with = "Map<String, Value>")]
    pub published: Value,
    /// Number of the published flow among the versions.
    pub published_version: i64,
    /// Problems of the draft. An issue of level `error` blocks publishing, a `warning` does not.
    pub issues: Vec<Issue>,
    /// Who saved the draft last: a key (`key_…`), a member (`usr_…`) or `operator`; null for one that was made of the
    /// agent's settings, and for one from before this was kept.
    pub updated_by: Option<String>,
    /// The name that the member had then; null if no member saved it.
    pub updated_by_name: Option<String>,
    /// When the draft was saved; null like `updatedBy`.
    pub updated_at: Option<Timestamp>,
    /// Members who have the flow open now; at most 20.
    pub editing: Vec<FlowEditor>,
}

/// The result of saving a draft.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedFlow {
    /// The new version of the draft; the next save sends it as `baseVersion`.
    #[schemars(range(min = 1, max = MAX_VERSION))]
    pub draft_version: i64,
    /// Problems of the draft. An issue of level `error` blocks publishing, a `warning` does not.
    pub issues: Vec<Issue>,
}

/// A voice of agents; every voice speaks every language.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Voice {
    /// Id of the voice, which an agent has in `voice`.
    pub id: String,
    /// The name of the voice, for people.
    pub name: String,
    /// Whether the voice sounds female or male.
    #[schemars(extend("enum" = ["female", "male"]))]
    pub gender: String,
}

/// A language that agents speak and write.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Language {
    /// Code of the language, which an agent has in `language`.
    #[schemars(with = "LanguageCode")]
    pub code: &'static str,
    /// English name of the language, for people.
    pub label: &'static str,
}

/// The voices and languages that agents can have.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Voices {
    /// All voices: the offline ones and those of the configured speech providers.
    pub voices: Vec<Voice>,
    /// Id of the voice that an agent has whose `voice` is empty.
    pub default_voice: String,
    /// All languages that agents can have.
    pub languages: Vec<Language>,
    /// What agents name in `models`.
    pub models: KnownModels,
}

/// The providers of this installation that agents can prefer, in its own order.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnownModels {
    /// Names of the providers of speech recognition.
    pub recognisers: Vec<String>,
    /// Names of the providers of speech output.
    pub synthesisers: Vec<String>,
    /// Names of the providers of language models.
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
        .about("Without paging.")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(list::<Agent>))]),
    row(POST, "/v1/agents", "createAgent", "Create an agent as a draft with a one-step flow")
        .about(
            "The flow is published at once; the agent is not. A repeat creates another agent. A \
             regulated vertical that the template or the compliance pack does not fit is 422.",
        )
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
    row(GET, "/v1/agents/{id}", "getAgent", "One agent with all its settings")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<AgentDetail>))]),
    row(PUT, "/v1/agents/{id}", "updateAgent", "Change settings of an agent")
        .about(
            "Only fields in the body change. While the flow was never edited as a flow, a change of \
             `systemPrompt`, `toolIds` or `knowledgeBaseId` publishes a new one-step flow; afterwards \
             `systemPrompt` is 409 `agent_uses_flow`. A locked agent is 423.",
        )
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
    row(DELETE, "/v1/agents/{id}", "deleteAgent", "Delete an agent")
        .role(Role::Owner)
        .about(
            "409 `agent_in_use` while it answers a number or an unfinished campaign uses it. Past calls \
             keep its id. Waiting nudges of the agent fail when they are due.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))])
        .errors(&[AGENT_IN_USE, AGENT_LOCKED]),
    row(POST, "/v1/agents/{id}/status", "setAgentStatus", "Publish or unpublish an agent")
        .role(Role::Admin)
        .about(
            "Publishing checks the vertical, the compliance pack and the published flow (422). The \
             status that the agent already has is accepted.",
        )
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
        "The flow of an agent: draft, published graph and issues of the draft",
    )
    .scope(AGENTS_READ)
    .answers(&[(200, Some(data::<Flow>))]),
    row(PUT, "/v1/agents/{id}/flow", "saveFlow", "Save a draft of an agent's flow")
        .about(
            "Conversations run the published graph until the draft is published. If `baseVersion` is \
             not the current version, nothing is saved: 409 `flow_conflict` with `meta.draftVersion`.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .body(request::<FlowEdit>)
        .answers(&[(200, Some(data::<SavedFlow>))])
        .errors(&[FLOW_CONFLICT, AGENT_LOCKED]),
    row(POST, "/v1/agents/{id}/flow/publish", "publishFlow", "Publish the draft of an agent's flow")
        .role(Role::Admin)
        .about(
            "Calls that begin later run it; live calls are not affected. A draft with an issue of level \
             `error` is 422 `flow_not_ready` with `meta.issues`. A draft that is published already gets no new version.",
        )
        .scope(AGENTS_WRITE)
        .live_only()
        .optional_body(request::<FlowPublication>)
        .answers(&[(200, Some(data::<Flow>))])
        .errors(&[FLOW_NOT_READY, AGENT_LOCKED]),
    row(GET, "/v1/voices", "listVoices", "All voices and languages of agents")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<Voices>))]),
];

//! Agents, their flows and voices (docs/contract/agents.md, docs/contract/flows.md).

use domain::ids::{Agent, Id};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::error_codes::{
    AGENT_IN_USE, AGENT_LOCKED, AGENT_USES_FLOW, COMPLIANCE_PACK_INVALID, FLOW_CONFLICT, FLOW_NOT_READY,
    KNOWLEDGE_BASE_NOT_FOUND, VERTICAL_NOT_ALLOWED, WORKFLOW_TEMPLATE_INVALID,
};
use crate::operations::Method::{DELETE, GET, POST, PUT};
use crate::operations::{Operation, operation};
use crate::schema::{
    Field, Schema, any, boolean, choice, data, id, integer, list, list_of, may, need, object, open_object,
    or, text, text_of,
};
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

/// An agent in a list.
#[derive(Debug, Serialize)]
pub struct AgentSummary {
    /// Its id.
    pub id: Id<Agent>,
    /// Name.
    pub name: String,
    /// Voice id, or empty for the default voice.
    pub voice: String,
    /// Language code.
    pub language: String,
    /// `draft` or `active`.
    pub status: String,
    /// `call` or `chat`.
    pub channel: String,
    /// `outbound` or `inbound`.
    pub direction: String,
}

/// An agent with all its settings.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDetail {
    /// What the list shows, too.
    #[serde(flatten)]
    pub summary: AgentSummary,
    /// Instructions.
    pub system_prompt: String,
    /// `collections`, `onboarding` or `prompt-driven`.
    pub workflow_template: String,
    /// What its calls are about.
    pub vertical: String,
    /// Compliance pack.
    pub policy_ref: String,
    /// Numbers it may transfer to, E.164.
    pub allowed_transfer_numbers: Value,
    /// What to extract, `[{key, label, type}]`.
    pub extraction_schema: Value,
    /// Knowledge base.
    pub knowledge_base_id: Option<String>,
    /// Tools, ids.
    pub tool_ids: Value,
}

/// Something to extract from conversations.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Extraction {
    /// Key in the extracted fields.
    pub key: String,
    /// For people.
    pub label: String,
    /// `text`, `boolean` or `number`.
    pub r#type: String,
}

/// Body of `POST /v1/agents` (defaults filled in by its schema) and of `PUT /v1/agents/{id}` (what is absent
/// stays).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentBody {
    /// Name.
    pub name: Option<String>,
    /// Instructions.
    pub system_prompt: Option<String>,
    /// Voice id, or empty.
    pub voice: Option<String>,
    /// Language code.
    pub language: Option<String>,
    /// `collections`, `onboarding` or `prompt-driven`.
    pub workflow_template: Option<String>,
    /// What its calls are about.
    pub vertical: Option<String>,
    /// Compliance pack.
    pub policy_ref: Option<String>,
    /// Tools, ids.
    pub tool_ids: Option<Vec<String>>,
    /// Numbers it may transfer to.
    pub allowed_transfer_numbers: Option<Vec<String>>,
    /// What to extract.
    pub extraction_schema: Option<Vec<Extraction>>,
    /// Knowledge base; null for none.
    #[serde(deserialize_with = "given")]
    pub knowledge_base_id: Option<Option<String>>,
    /// `call` or `chat`; fixed once created.
    pub channel: Option<String>,
    /// `outbound` or `inbound`; fixed once created.
    pub direction: Option<String>,
}

/// A field that was given, null included.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// Body of `PUT /v1/agents/{id}/flow`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowBody {
    /// The graph, kept as it was sent.
    pub graph: Value,
    /// The version that the graph was made from.
    pub base_version: i64,
}

/// Answer of `GET /v1/agents/{id}/flow` and of publishing.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowView<I> {
    /// The graph being edited.
    pub draft: Value,
    /// Counts drafts.
    pub draft_version: i64,
    /// The graph that conversations run.
    pub published: Value,
    /// What there is to say about the draft.
    pub issues: I,
}

/// Answer of `PUT /v1/agents/{id}/flow`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowSaved<I> {
    /// The new version.
    pub draft_version: i64,
    /// What there is to say about the draft.
    pub issues: I,
}

/// A voice.
#[derive(Debug, Clone, Serialize)]
pub struct Voice {
    /// What agents name in `voice`.
    pub id: String,
    /// For people.
    pub name: String,
    /// `female` or `male`.
    pub gender: String,
}

/// A language.
#[derive(Debug, Clone, Serialize)]
pub struct Language {
    /// What agents name in `language`.
    pub code: &'static str,
    /// For people.
    pub label: &'static str,
}

/// Answer of `GET /v1/voices`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Voices {
    /// Every voice speaks every language.
    pub voices: Vec<Voice>,
    /// The voice of an agent that names none.
    pub default_voice: String,
    /// Languages.
    pub languages: Vec<Language>,
}

fn language() -> Schema {
    choice(&LANGUAGES.iter().map(|(code, _)| *code).collect::<Vec<_>>())
}

fn status() -> Schema {
    choice(&["draft", "active"])
}

fn channel() -> Schema {
    choice(&["call", "chat"])
}

fn direction() -> Schema {
    choice(&["outbound", "inbound"])
}

fn workflow_template() -> Schema {
    choice(&["collections", "onboarding", "prompt-driven"])
}

fn vertical() -> Schema {
    choice(&["general", "collections", "lending", "financial_services", "debt_recovery"])
}

fn extraction() -> Schema {
    object(vec![
        need("key", text_of(1, 64)),
        need("label", text_of(0, 200)),
        need("type", choice(&["text", "boolean", "number"])),
    ])
}

fn summary() -> Schema {
    object(vec![
        need("id", id::<Agent>()),
        need("name", text()),
        need("voice", text()),
        need("language", language()),
        need("status", status()),
        need("channel", channel()),
        need("direction", direction()),
    ])
}

/// Shape of [`AgentDetail`].
pub fn agent() -> Schema {
    summary().and(vec![
        need("systemPrompt", text()),
        need("workflowTemplate", workflow_template()),
        need("vertical", vertical()),
        need("policyRef", text()),
        need("allowedTransferNumbers", list(text())),
        need("extractionSchema", list(extraction())),
        need("knowledgeBaseId", text().or_null()),
        need("toolIds", list(text())),
    ])
}

fn agent_answer() -> Schema {
    data(agent())
}

fn agents_answer() -> Schema {
    data(list(summary()))
}

/// The settings beside `name`, with their defaults (docs/contract/agents.md#fields).
fn settings() -> Vec<Field> {
    vec![
        or("systemPrompt", text_of(0, 16_000), json!("")),
        or("voice", text_of(0, 80).doc("An id of `/v1/voices`; empty for the default voice."), json!("")),
        or("language", language(), json!("en")),
        or("workflowTemplate", workflow_template(), json!("prompt-driven")),
        or("vertical", vertical(), json!("general")),
        or(
            "policyRef",
            text_of(1, 120).doc("A built-in compliance pack, or a custom one (`cpk_…`)."),
            json!("generic-safe@1"),
        ),
        or("toolIds", list_of(text_of(1, 64), 0, 50).doc("Ids of `/v1/tools`."), json!([])),
        or(
            "allowedTransferNumbers",
            list_of(text_of(1, 20), 0, 50).doc("Indian numbers; stored as +91…"),
            json!([]),
        ),
        or("extractionSchema", list_of(extraction(), 0, 50), json!([])),
        or("knowledgeBaseId", text_of(1, 64).or_null(), Value::Null),
    ]
}

/// Body of `POST /v1/agents`.
pub fn new_agent() -> Schema {
    let fixed = vec![
        or("channel", channel().doc("Fixed once created."), json!("call")),
        may(
            "direction",
            direction().doc("`outbound` by default; chat agents are always inbound. Fixed once created."),
        ),
    ];
    object(vec![need("name", text_of(1, 120))]).and(settings()).and(fixed)
}

fn agent_change() -> Schema {
    let settings = settings().into_iter().map(|field| Field { default: None, ..field }).collect();
    let fixed = vec![
        may("channel", channel().doc("Fixed: another value than the agent's is refused.")),
        may("direction", direction().doc("Fixed: another value than the agent's is refused.")),
    ];
    object(vec![may("name", text_of(1, 120))]).and(settings).and(fixed)
}

fn status_body() -> Schema {
    object(vec![need("status", status())])
}

fn deleted_answer() -> Schema {
    data(object(vec![need("id", id::<Agent>()), need("deleted", boolean())]))
}

/// Largest flow graph, bytes of JSON.
pub const MAX_GRAPH: usize = 1024 * 1024;
/// Largest version number: the largest whole number that every JSON reader keeps exact.
const MAX_VERSION: i64 = (1 << 53) - 1;

fn flow_body() -> Schema {
    let graph = open_object(vec![may("startNodeId", any()), need("nodes", any()), may("variables", any())])
        .within(2 * MAX_GRAPH);
    object(vec![
        need("graph", graph.doc("`{startNodeId, nodes, variables}`, at most 1 MB; kept as it is sent. A draft may be incomplete.")),
        need("baseVersion", integer(0, MAX_VERSION).doc("The `draftVersion` that the graph was made from.")),
    ])
}

/// Shape of an item of `issues`.
pub fn issue() -> Schema {
    let level = choice(&["error", "warning"]);
    object(vec![
        need("level", level),
        need("code", text()),
        need("message", text()),
        need("nodeId", text().or_null()),
    ])
}

fn flow_answer() -> Schema {
    data(object(vec![
        need("draft", object(vec![])),
        need("draftVersion", integer(1, MAX_VERSION)),
        need("published", object(vec![])),
        need("issues", list(issue())),
    ]))
}

fn flow_saved_answer() -> Schema {
    data(object(vec![need("draftVersion", integer(1, MAX_VERSION)), need("issues", list(issue()))]))
}

fn voices_answer() -> Schema {
    data(object(vec![
        need(
            "voices",
            list(object(vec![
                need("id", text()),
                need("name", text()),
                need("gender", choice(&["female", "male"])),
            ])),
        ),
        need("defaultVoice", text()),
        need("languages", list(object(vec![need("code", language()), need("label", text())]))),
    ]))
}

const fn row(
    method: crate::operations::Method,
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
        .answers(&[(200, Some(agents_answer))]),
    row(POST, "/v1/agents", "createAgent", "Create an agent, as a draft with a one-step flow")
        .scope(AGENTS_WRITE)
        .live_only()
        .body(new_agent)
        .answers(&[(201, Some(agent_answer))])
        .errors(&[
            KNOWLEDGE_BASE_NOT_FOUND,
            VERTICAL_NOT_ALLOWED,
            WORKFLOW_TEMPLATE_INVALID,
            COMPLIANCE_PACK_INVALID,
        ]),
    row(GET, "/v1/agents/{id}", "getAgent", "One agent")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(agent_answer))]),
    row(PUT, "/v1/agents/{id}", "updateAgent", "Change what the body names")
        .scope(AGENTS_WRITE)
        .live_only()
        .body(agent_change)
        .answers(&[(200, Some(agent_answer))])
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
        .answers(&[(200, Some(deleted_answer))])
        .errors(&[AGENT_IN_USE, AGENT_LOCKED]),
    row(POST, "/v1/agents/{id}/status", "setAgentStatus", "Publish or unpublish an agent")
        .scope(AGENTS_WRITE)
        .live_only()
        .body(status_body)
        .answers(&[(200, Some(agent_answer))])
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
    .answers(&[(200, Some(flow_answer))]),
    row(
        PUT,
        "/v1/agents/{id}/flow",
        "saveFlow",
        "Save a draft; conversations are unaffected until it is published",
    )
    .scope(AGENTS_WRITE)
    .live_only()
    .body(flow_body)
    .answers(&[(200, Some(flow_saved_answer))])
    .errors(&[FLOW_CONFLICT, AGENT_LOCKED]),
    row(
        POST,
        "/v1/agents/{id}/flow/publish",
        "publishFlow",
        "Make the draft the flow that conversations run",
    )
    .scope(AGENTS_WRITE)
    .live_only()
    .answers(&[(200, Some(flow_answer))])
    .errors(&[FLOW_NOT_READY, AGENT_LOCKED]),
    row(GET, "/v1/voices", "listVoices", "Voices and languages")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(voices_answer))]),
];

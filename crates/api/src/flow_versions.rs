//! Versions of an agent's flow, who edits its draft, and how often its edges are taken (docs/contract/flows.md#versions).

use domain::conversation::FlowChange;
use domain::ids::{Id, User};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agents::{FlowEdit, SavedFlow};
use crate::error_codes::{AGENT_LOCKED, CONFLICT, FLOW_CONFLICT};
use crate::operation::Method::{self, GET, POST, PUT};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, cursor, data, integer, limit, may, or, page, request, text_of};
use crate::scopes::{AGENTS_READ, AGENTS_WRITE};

/// Most versions of a flow that are kept.
pub const MAX_VERSIONS: usize = 500;
/// Most bytes of graphs of an agent's versions.
pub const MAX_VERSION_BYTES: i64 = 64 << 20;
/// Longest note of a version, characters.
pub const MAX_NOTE: usize = 500;
/// Most members of whom a flow is shown to be open.
pub const MAX_EDITORS: usize = 20;
/// How long a flow is shown to be open after the last request that said so, milliseconds.
pub const EDITOR_LEASE: i64 = 30_000;

/// What is said about a version when it is published.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct FlowPublication {
    /// What is new, for people; kept with the version.
    #[schemars(length(max = MAX_NOTE))]
    pub note: Option<String>,
}

/// A flow that was published.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowVersion {
    /// Number of the version, from 1; calls and chats name it as `flowVersion`.
    pub number: i64,
    /// Whether conversations that begin now run it.
    pub live: bool,
    /// Who published it: a key (`key_…`), a member (`usr_…`) or `operator`; null for a version from before versions
    /// were kept.
    pub published_by: Option<String>,
    /// The name that the member had then; null if no member published it.
    pub published_by_name: Option<String>,
    /// When it was published; null for a version from before versions were kept.
    pub published_at: Option<Timestamp>,
    /// What was said when it was published; null without a note.
    pub note: Option<String>,
    /// SHA-256 of the graph as it is stored, 64 hexadecimal digits: equal graphs have equal ones.
    pub hash: String,
    /// Size of the graph, bytes of JSON.
    pub bytes: i64,
}

/// A flow that was published, with its graph.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowVersionDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub version: FlowVersion,
    /// The graph, as it was sent.
    #[schemars(with = "Map<String, Value>")]
    pub graph: Value,
}

/// What changed from one version of a flow to another one, or to the draft.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowDiff {
    /// Number of the version that it begins with.
    pub from: i64,
    /// Number of the version that it leads to; null for the draft.
    pub to: Option<i64>,
    /// The changes, at most 2,000: the first step, then the steps with their edges, then variables, then fields that the
    /// service does not know.
    pub changes: Vec<FlowChange>,
    /// Whether there are more changes than are listed.
    pub more: bool,
}

/// The draft that a version becomes again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowRestore {
    /// The `draftVersion` that is replaced; another one than the current is 409 `flow_conflict`.
    #[schemars(range(min = 0, max = (1_i64 << 53) - 1))]
    pub base_version: i64,
}

impl FlowRestore {
    /// The same as a save of this graph.
    pub fn with(self, graph: Value) -> FlowEdit {
        FlowEdit { graph, base_version: self.base_version }
    }
}

/// A member who has the flow open.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowEditor {
    /// Id of the member, `usr_…`.
    pub member: Id<User>,
    /// The name of the member.
    pub name: String,
    /// Since when the member has it open.
    pub since: Timestamp,
}

/// Whether a member has the flow open.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct FlowPresence {
    /// `false` when the member closes it; `true` holds for 30 seconds.
    #[schemars(extend("default" = true))]
    pub open: Option<bool>,
}

/// Those who have the flow open.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowEditors {
    /// The members, the one who opened it first at the beginning; at most 20.
    pub editing: Vec<FlowEditor>,
}

/// How often an edge was taken.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeVisitCount {
    /// Id of the step that it leaves; null for the beginning of a conversation.
    pub from: Option<String>,
    /// The field that holds it, such as `next` or `exits[0].next`; `start` for the beginning of a conversation.
    pub edge: String,
    /// Id of the step that it enters; null if the version is not kept any more.
    pub to: Option<String>,
    /// Number of times that conversations took the edge.
    pub visits: i64,
}

/// How often the edges of a version were taken.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowVisits {
    /// Number of the version.
    pub version: i64,
    /// Number of days that are counted, in India's time, today included.
    pub days: i64,
    /// Number of conversations that began.
    pub conversations: i64,
    /// The edges that were taken at least once, by the step that they leave.
    pub edges: Vec<EdgeVisitCount>,
}

fn versions_query() -> Vec<Field> {
    vec![limit(100), cursor()]
}

fn diff_query() -> Vec<Field> {
    vec![may(
        "to",
        text_of(1, 16).doc("Number of the version to compare with, or `draft`; `draft` by default."),
    )]
}

fn visits_query() -> Vec<Field> {
    vec![
        may("version", integer(1, 1 << 53).doc("Number of the version; the published one by default.")),
        or("days", integer(1, 90).doc("Number of days, today included."), 7.into()),
    ]
}

const fn row(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(method, path, id, "Agents", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/agents/{id}/flow/versions", "listFlowVersions", "Published flows of an agent, newest first")
        .scope(AGENTS_READ)
        .query(versions_query)
        .answers(&[(200, Some(page::<FlowVersion>))]),
    row(GET, "/v1/agents/{id}/flow/versions/{number}", "getFlowVersion", "One published flow with its graph")
        .scope(AGENTS_READ)
        .answers(&[(200, Some(data::<FlowVersionDetail>))]),
    row(
        GET,
        "/v1/agents/{id}/flow/versions/{number}/diff",
        "compareFlowVersions",
        "What changed from a published flow to another one or the draft",
    )
    .scope(AGENTS_READ)
    .query(diff_query)
    .answers(&[(200, Some(data::<FlowDiff>))]),
    row(
        POST,
        "/v1/agents/{id}/flow/versions/{number}/restore",
        "restoreFlowVersion",
        "Make a published flow the draft again",
    )
    .about(
        "The draft is replaced, as by saving it; conversations run the published flow until it is published. If \
         `baseVersion` is not the current version, nothing is changed: 409 `flow_conflict` with `meta.draftVersion`.",
    )
    .scope(AGENTS_WRITE)
    .live_only()
    .body(request::<FlowRestore>)
    .answers(&[(200, Some(data::<SavedFlow>))])
    .errors(&[FLOW_CONFLICT, AGENT_LOCKED]),
    row(
        GET,
        "/v1/agents/{id}/flow/visits",
        "getFlowVisits",
        "How often conversations took each edge of a version of the flow",
    )
    .about(
        "Counted when a conversation ends: calls and chats with a live key, simulated calls with a test key. Test chats \
         and runs of a draft are not counted.",
    )
    .scope(AGENTS_READ)
    .query(visits_query)
    .answers(&[(200, Some(data::<FlowVisits>))]),
    row(
        PUT,
        "/v1/agents/{id}/flow/presence",
        "setFlowPresence",
        "Say that you have the flow of an agent open",
    )
    .about(
        "It holds for 30 seconds, so a console repeats it. For members; 409 `conflict` when 20 others have it open.",
    )
    .access(Access::Member)
    .role(Role::Editor)
    .body(request::<FlowPresence>)
    .answers(&[(200, Some(data::<FlowEditors>))])
    .errors(&[CONFLICT]),
];

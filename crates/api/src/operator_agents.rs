//! The operator API's part about agents: locks, tools, compliance packs
//! (docs/contract/operator.md#operator-api).

use domain::compliance::{Communication, EntityClass, Series, Vertical};
use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::agents::LanguageCode;
use crate::envelope::Deleted;
use crate::operation::Method::{DELETE, GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{data, list, request};
use crate::tools::Tool;

/// Whether an agent is locked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentLock {
    /// Id of the agent, `agt_…`.
    pub id: Id<ids::Agent>,
    /// True if every change over the API is 423 `agent_locked`.
    pub locked: bool,
}

/// The request to create a tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NewTool {
    /// Type of the tool: `webhook` sends its arguments to an address, `mcp` is a tool of an MCP server.
    #[schemars(extend("enum" = ["webhook", "mcp"]))]
    pub r#type: String,
    /// Name of the tool, shown to the language model.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// When an agent should use the tool, for the language model. Of an `mcp` tool the default is what the server says of
    /// it.
    #[schemars(length(max = 1024), extend("default" = ""))]
    pub description: String,
    /// How the tool is called; stored encrypted and never shown.
    pub config: WebhookConfig,
}

// Its headers may hold secrets, so it is stored encrypted and never shown again.
/// How a tool is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookConfig {
    /// Public https:// address of the tool, or of the MCP server.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// Of type `mcp`: the name of the tool at its server. Each tool of a server that agents may use is a tool of its own
    /// here, so one that the server adds later is offered to nobody.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128), extend("x-nullable" = true, "default" = null))]
    pub tool: Option<String>,
    /// HTTP method of a webhook; `GET` sends the arguments as query parameters, the others as JSON.
    #[schemars(extend("enum" = ["GET", "POST", "PUT", "PATCH"], "default" = "POST"))]
    pub method: String,
    /// Headers of every request, name to value; they may hold secrets. At most 32 KB in all.
    #[schemars(with = "HeaderValues", extend("default" = {}))]
    pub headers: Map<String, Value>,
    /// JSON Schema of the arguments, shown to the language model; invalid arguments are not sent. Of an `mcp` tool it is
    /// read from the server when the tool is made, and stays as it was then.
    #[schemars(with = "Map<String, Value>")]
    #[schemars(extend("maxProperties" = 100, "x-maxBytes" = 64 * 1024))]
    #[schemars(extend("default" = json!({"type": "object", "properties": {}})))]
    pub parameters: Value,
    /// Time within which the tool must answer, in seconds.
    #[schemars(range(min = 1, max = 20), extend("default" = 8))]
    pub timeout_seconds: i64,
    /// Whether a request may be retried: the tool recognises its `Idempotency-Key`, or a repeat changes
    /// nothing.
    #[serde(default)]
    #[schemars(extend("default" = false))]
    pub idempotent: bool,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("maxProperties" = 50, "x-maxBytes" = 32 * 1024))]
#[allow(dead_code, reason = "only its schema is used")]
struct HeaderValues(std::collections::BTreeMap<String, HeaderText>);

#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "only its schema is used")]
struct HeaderText(#[schemars(length(max = 4096))] String);

/// The request to create a compliance pack, which cannot be changed or deleted.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCompliancePack {
    /// The name of the pack, for people.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// Calling hours; days that no entry names are closed. At most 50 entries.
    #[schemars(length(min = 1, max = 100))]
    pub hours: Vec<PackHours>,
    /// Days on which nobody is called, `YYYY-MM-DD`.
    #[schemars(with = "Vec<Day>", length(max = 1000), extend("default" = []))]
    pub holidays: Vec<String>,
    /// How often one number may be dialled.
    #[schemars(extend("default" = json!({"perDay": null, "perWeek": null})))]
    pub caps: PackCaps,
    /// Whether a contact without a recorded consent is not called.
    #[schemars(extend("default" = false))]
    pub require_consent: bool,
    /// Regulated verticals whose agents may use the pack.
    #[schemars(length(max = 50), inner(length(max = 40)), extend("default" = []))]
    pub families: Vec<String>,
    /// Which series of numbers calls must show; the first rule that concerns a call decides.
    #[schemars(length(max = 50), extend("default" = []))]
    pub number_series: Vec<PackSeriesRule>,
    /// The registered ids (DLT) that a promotional campaign needs; null when it needs none.
    #[schemars(extend("x-nullable" = true, "default" = null))]
    pub dlt: Option<PackDlt>,
    /// What must be said in the first seconds of a call.
    #[schemars(extend("x-nullable" = true, "default" = null))]
    pub disclosure: Option<PackDisclosure>,
}

/// A rule on the series of the number that calls show.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackSeriesRule {
    /// What must be shown.
    pub series: Series,
    /// Kinds of communication that it concerns; empty for all.
    #[schemars(length(max = 50), extend("default" = []))]
    pub communications: Vec<Communication>,
    /// Verticals that it concerns; empty for all.
    #[schemars(length(max = 50), extend("default" = []))]
    pub verticals: Vec<Vertical>,
    /// Classes of entities (`regulatedAs`) that it concerns; empty for all.
    #[schemars(length(max = 50), extend("default" = []))]
    pub entities: Vec<EntityClass>,
    /// The first day on which it warns, `YYYY-MM-DD` in India; null for every day.
    #[schemars(with = "Option<Day>", extend("x-nullable" = true, "default" = null))]
    pub warn_from: Option<String>,
    /// The first day on which it is law, `YYYY-MM-DD` in India.
    #[schemars(with = "Option<Day>", extend("x-nullable" = true, "default" = null))]
    pub since: Option<String>,
    /// Whether a call that shows another number is refused from `since` on; otherwise it stays a warning.
    #[schemars(extend("default" = false))]
    pub refuses: bool,
    /// Where the rule is written.
    #[schemars(length(max = 300), extend("default" = ""))]
    pub source: String,
}

/// How many digits the registered ids of promotional campaigns have.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackDlt {
    /// Fewest digits that an id may have.
    #[schemars(range(min = 1, max = 64), extend("default" = 1))]
    pub min_digits: i64,
    /// Most digits that an id may have.
    #[schemars(range(min = 1, max = 64), extend("default" = 64))]
    pub max_digits: i64,
}

/// What must be said in the first seconds of a call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackDisclosure {
    /// Seconds after the answer by which it must have been said.
    #[schemars(range(min = 1, max = 120))]
    pub within_seconds: i64,
    /// It is kept when one of these is said.
    #[schemars(length(min = 1, max = 33))]
    pub texts: Vec<PackDisclosureText>,
    /// Where it is required.
    #[schemars(length(max = 300), extend("default" = ""))]
    pub source: String,
}

/// What an agent must say in one language.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PackDisclosureText {
    /// Language of the text, by code.
    #[schemars(with = "LanguageCode")]
    pub language: String,
    /// What must be said. `…` matches up to 12 words; a word that ends with `~` matches all that begin with it.
    #[schemars(length(min = 1, max = 500))]
    pub text: String,
}

/// Calling hours on some days of the week, India time.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PackHours {
    /// Days of the week, 0 (Monday) to 6 (Sunday).
    #[schemars(length(min = 1, max = 7), inner(range(min = 0, max = 6)))]
    pub days: Vec<i64>,
    /// Start of the calling hours, `HH:MM` in India time.
    #[schemars(length(max = 5))]
    pub from: String,
    /// End of the calling hours, `HH:MM` in India time up to `24:00`, after `from`; the end is excluded.
    #[schemars(length(max = 5))]
    pub to: String,
}

/// How often one number may be dialled.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackCaps {
    /// Most dials to one number in a rolling 24 hours; null for no limit.
    #[schemars(range(min = 1, max = 1000), extend("x-nullable" = true, "default" = null))]
    pub per_day: Option<i64>,
    /// Most dials to one number in rolling 7 days; null for no limit.
    #[schemars(range(min = 1, max = 1000), extend("x-nullable" = true, "default" = null))]
    pub per_week: Option<i64>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("format" = "date"))]
#[allow(dead_code, reason = "only its schema is used")]
struct Day(String);

/// A compliance pack of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompliancePack {
    /// Id of the pack, `cpk_…`; an agent has it in `policyRef`.
    pub id: Id<ids::CompliancePack>,
    /// The fields of the request.
    #[serde(flatten)]
    #[schemars(with = "NewCompliancePack")]
    pub body: Map<String, Value>,
    /// When the pack was created.
    pub created_at: Timestamp,
}

/// Names of the fields of a pack.
pub fn pack_field_names() -> Vec<String> {
    request::<NewCompliancePack>().fields().iter().map(|field| field.name.to_string()).collect()
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Operator", summary).access(Access::Operator)
}

/// The rows of these nouns.
pub const OPERATIONS: &[Operation] = &[
    row(
        POST,
        "/operator/v1/workspaces/{ws}/agents/{id}/lock",
        "lockAgent",
        "Lock an agent: every change over the API is 423",
    )
    .about("Its calls continue. A repeat changes nothing.")
    .answers(&[(200, Some(data::<AgentLock>))]),
    row(POST, "/operator/v1/workspaces/{ws}/agents/{id}/unlock", "unlockAgent", "Unlock an agent")
        .about("A repeat changes nothing.")
        .answers(&[(200, Some(data::<AgentLock>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/tools",
        "createTool",
        "Create a tool for the agents of a workspace",
    )
    .role(Role::Admin)
    .body(request::<NewTool>)
    .answers(&[(201, Some(data::<Tool>))]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/tools",
        "listWorkspaceTools",
        "All tools of a workspace, built-in ones first",
    )
    .role(Role::Admin)
    .answers(&[(200, Some(list::<Tool>))]),
    row(DELETE, "/operator/v1/workspaces/{ws}/tools/{id}", "deleteTool", "Delete a tool")
        .role(Role::Admin)
        .about("Flows that use it are not ready any more: placing calls with them is 422 `flow_not_ready`.")
        .answers(&[(200, Some(data::<Deleted>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/compliance-packs",
        "createCompliancePack",
        "Create a compliance pack for a workspace",
    )
    .about("A pack cannot be changed or deleted.")
    .body(request::<NewCompliancePack>)
    .answers(&[(201, Some(data::<CompliancePack>))]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/compliance-packs",
        "listCompliancePacks",
        "All custom compliance packs of a workspace",
    )
    .role(Role::Viewer)
    .answers(&[(200, Some(list::<CompliancePack>))]),
];

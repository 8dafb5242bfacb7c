//! The operator API's part about agents: locks, tools, compliance packs
//! (docs/contract/operator.md#operator-api).

use domain::ids::{Agent, CompliancePack, Id, Tool};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::operations::Method::{DELETE, GET, POST};
use crate::operations::{Access, Operation, operation};
use crate::schema::{
    Schema, any, boolean, choice, data, date, id, integer, list, list_of, map_of, need, object, or, text_of,
    time,
};
use crate::tools::tool;

/// Body of `POST …/tools`.
#[derive(Debug, Clone, Deserialize)]
pub struct NewTool {
    /// `webhook`.
    pub r#type: String,
    /// Name.
    pub name: String,
    /// When an agent should use it.
    pub description: String,
    /// How it is called.
    pub config: WebhookConfig,
}

/// How a webhook tool is called. Its headers may hold secrets, so it is stored encrypted and never shown
/// again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookConfig {
    /// Where the request goes.
    pub url: String,
    /// HTTP method: `POST`, `PUT` and `PATCH` carry the arguments as JSON, `GET` as query parameters.
    pub method: String,
    /// Headers to send.
    pub headers: serde_json::Map<String, Value>,
    /// JSON Schema of the arguments, for the language model.
    pub parameters: Value,
    /// Longest wait for the answer, seconds.
    pub timeout_seconds: i64,
}

/// A compliance pack of a workspace.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackView {
    /// What agents name in `policyRef`.
    pub id: Id<CompliancePack>,
    /// The pack as it was written.
    #[serde(flatten)]
    pub body: serde_json::Map<String, Value>,
    /// When it was made.
    pub created_at: Timestamp,
}

fn lock_answer() -> Schema {
    data(object(vec![need("id", id::<Agent>()), need("locked", boolean())]))
}

fn config() -> Schema {
    object(vec![
        need("url", text_of(1, 2048).doc("https:// and public.")),
        or("method", choice(&["GET", "POST", "PUT", "PATCH"]), json!("POST")),
        or(
            "headers",
            map_of(text_of(0, 4096), 50).within(32 * 1024).doc("Sent with every request; may hold secrets."),
            json!({}),
        ),
        or(
            "parameters",
            map_of(any(), 100).within(64 * 1024).doc("JSON Schema of the arguments, for the model."),
            json!({"type": "object", "properties": {}}),
        ),
        or("timeoutSeconds", integer(1, 20), json!(8)),
    ])
}

fn new_tool() -> Schema {
    object(vec![
        need("type", choice(&["webhook"])),
        need("name", text_of(1, 64)),
        or("description", text_of(0, 1024), json!("")),
        need("config", config()),
    ])
}

fn tool_answer() -> Schema {
    data(tool())
}

fn tools_answer() -> Schema {
    data(list(tool()))
}

fn deleted_answer() -> Schema {
    data(object(vec![need("id", id::<Tool>()), need("deleted", boolean())]))
}

fn pack_fields() -> Schema {
    let span = object(vec![
        need("days", list_of(integer(0, 6), 1, 7).doc("Monday is 0.")),
        need("from", text_of(0, 5).doc("HH:MM, India time.")),
        need("to", text_of(0, 5).doc("HH:MM, up to 24:00.")),
    ]);
    let cap = || integer(1, 1000).or_null();
    let caps = object(vec![or("perDay", cap(), Value::Null), or("perWeek", cap(), Value::Null)]);
    object(vec![
        need("name", text_of(1, 120)),
        need("hours", list_of(span, 1, 100)),
        or("holidays", list_of(date(), 0, 1000), json!([])),
        or("caps", caps, json!({"perDay": null, "perWeek": null})),
        or("requireConsent", boolean(), json!(false)),
        or(
            "families",
            list_of(text_of(0, 40), 0, 50).doc("Regulated verticals whose agents may use the pack."),
            json!([]),
        ),
    ])
}

fn pack() -> Schema {
    object(vec![need("id", id::<CompliancePack>())])
        .and(pack_fields().fields().to_vec())
        .and(vec![need("createdAt", time())])
}

fn pack_answer() -> Schema {
    data(pack())
}

fn packs_answer() -> Schema {
    data(list(pack()))
}

/// Names of the fields of a pack.
pub fn pack_field_names() -> Vec<&'static str> {
    pack_fields().fields().iter().map(|field| field.name).collect()
}

const fn row(
    method: crate::operations::Method,
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
        "Refuse every change of an agent through the API",
    )
    .answers(&[(200, Some(lock_answer))]),
    row(POST, "/operator/v1/workspaces/{ws}/agents/{id}/unlock", "unlockAgent", "Allow changes again")
        .answers(&[(200, Some(lock_answer))]),
    row(POST, "/operator/v1/workspaces/{ws}/tools", "createTool", "Make a tool that agents may use")
        .body(new_tool)
        .answers(&[(201, Some(tool_answer))]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/tools",
        "listWorkspaceTools",
        "Tools of a workspace, built-in ones first",
    )
    .answers(&[(200, Some(tools_answer))]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/tools/{id}",
        "deleteTool",
        "Delete a tool; flows that use it are not ready any more",
    )
    .answers(&[(200, Some(deleted_answer))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/compliance-packs",
        "createCompliancePack",
        "Make a compliance pack",
    )
    .body(pack_fields)
    .answers(&[(201, Some(pack_answer))]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/compliance-packs",
        "listCompliancePacks",
        "The compliance packs that were made for a workspace",
    )
    .answers(&[(200, Some(packs_answer))]),
];

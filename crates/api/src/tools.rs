//! Tools that agents may use (docs/contract/agents.md#tools).

use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{Method::GET, Operation, operation};
use crate::schema::list;
use crate::scopes::AGENTS_READ;

/// A tool that agents may use.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tool {
    /// Id of the tool, `tool_…`; a built-in tool has its type as id.
    pub id: String,
    /// `transfer_to_human`, `end_call`, `chatapp_message`, `press_keys`, `webhook` or `mcp`; more types may be added.
    pub r#type: String,
    /// The name of the tool.
    pub name: String,
    /// When an agent should use the tool.
    pub description: String,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/tools",
    "listTools",
    "Agents",
    "Tools that agents may use: built-in tools and those of the workspace",
)
.scope(AGENTS_READ)
.answers(&[(200, Some(list::<Tool>))])];

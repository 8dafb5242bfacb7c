//! Tools that agents may use (docs/contract/agents.md#tools).

use serde::Serialize;

use crate::operations::{Method::GET, Operation, operation};
use crate::schema::{Schema, data, list, need, object, text};
use crate::scopes::AGENTS_READ;

/// A tool.
#[derive(Debug, Clone, Serialize)]
pub struct ToolView {
    /// `tool_…`, or the type of a built-in one.
    pub id: String,
    /// `transfer_to_human`, `end_call`, `chatapp_message` or `webhook`; the list of types is open.
    pub r#type: String,
    /// Name.
    pub name: String,
    /// When an agent should use it.
    pub description: String,
}

/// Shape of [`ToolView`].
pub fn tool() -> Schema {
    object(vec![
        need("id", text()),
        need(
            "type",
            text().doc("`transfer_to_human`, `end_call`, `chatapp_message` or `webhook`; more may come."),
        ),
        need("name", text()),
        need("description", text()),
    ])
}

fn tools_answer() -> Schema {
    data(list(tool()))
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/tools",
    "listTools",
    "Agents",
    "Tools that agents may use: built-in ones and those of the workspace",
)
.scope(AGENTS_READ)
.answers(&[(200, Some(tools_answer))])];

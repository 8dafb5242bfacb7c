//! `POST /mcp`: a message of the Model Context Protocol (docs/contract/mcp.md). The protocol describes itself, so the row is in no
//! OpenAPI document and no client has a command for it.

use std::borrow::Cow;

use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::error_codes::CROSS_SITE;
use crate::operation::{Method::POST, Operation, operation};
use crate::schema::{answer, request};

/// Name of the operation.
pub const ID: &str = "mcp";

/// Most bytes of names and texts in a message.
const BYTES: usize = 1 << 20;

/// A JSON-RPC 2.0 message of a client: a request or a notification.
pub enum McpMessage {}

impl JsonSchema for McpMessage {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("McpMessage")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "x-maxBytes": BYTES,
            "description": "A JSON-RPC 2.0 message of a client: a request or a notification.",
        })
    }
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] =
    &[operation(POST, "/mcp", ID, "MCP", "A message of the Model Context Protocol")
        .about("What a tool does is done by the operation that it stands for, with all its checks.")
        .keys_only()
        .traffic()
        .raw_body(request::<McpMessage>)
        .answers(&[
            (200, Some(answer::<Map<String, Value>>)),
            (202, None),
            (400, Some(answer::<Map<String, Value>>)),
            (404, Some(answer::<Map<String, Value>>)),
        ])
        .errors(&[CROSS_SITE])];

//! The node that is asked, for its operator (docs/contract/operator.md#nodes).

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error_codes::CONFLICT;
use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::data;

/// What a node is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    /// Everything.
    InService,
    /// Calls that are on, requests and deliveries; no new calls.
    Draining,
    /// Calls that are on, until they end or `shutdown_grace` is over.
    Stopping,
}

/// The node that was asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its name, which it keeps with its data folder.
    pub name: String,
    /// What it is there for.
    pub status: NodeStatus,
    /// Since when.
    pub since: Timestamp,
    /// Calls over telephone lines that it holds, and dials that are on their way.
    pub calls_held: usize,
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Operator", summary).access(Access::Operator)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(
        GET,
        "/operator/v1/node",
        "getNode",
        "The node that is asked: whether it is in service, and its calls",
    )
    .answers(&[(200, Some(data::<Node>))]),
    row(POST, "/operator/v1/node/drain", "drain", "Let the node that is asked take no new calls")
        .answers(&[(200, Some(data::<Node>))]),
    row(POST, "/operator/v1/node/undrain", "undrain", "Put the node that is asked in service again")
        .answers(&[(200, Some(data::<Node>))])
        .errors(&[CONFLICT]),
];

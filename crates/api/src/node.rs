//! The node that is asked, for its operator (docs/contract/operator.md#nodes).

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error_codes::CONFLICT;
use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::data;

/// Whether a node takes new calls: `in_service`, `draining` (no new calls; live calls, requests and
/// deliveries continue) or `stopping` (only live calls, until `shutdown_grace` is over).
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

/// The node that answers the request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Name of the node, stored in its data folder.
    pub name: String,
    /// `in_service`, `draining` or `stopping`.
    pub status: NodeStatus,
    /// When the node got this status.
    pub since: Timestamp,
    /// Number of live calls over telephone lines on this node, and of dials in progress.
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
    row(GET, "/operator/v1/node", "getNode", "Status of the node that answers, and its live calls")
        .answers(&[(200, Some(data::<Node>))]),
    row(POST, "/operator/v1/node/drain", "drain", "Drain the node that answers: it takes no new calls")
        .about("Live calls, requests and deliveries continue. A repeat changes nothing.")
        .answers(&[(200, Some(data::<Node>))]),
    row(POST, "/operator/v1/node/undrain", "undrain", "Put the node that answers back in service")
        .about("A repeat changes nothing. 409 `conflict` if the node is stopping.")
        .answers(&[(200, Some(data::<Node>))])
        .errors(&[CONFLICT]),
];

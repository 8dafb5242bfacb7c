//! Health, metrics and the API's own description.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::operation::{Access, Method::GET, Operation, operation};
use crate::schema::answer;

/// How the process is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// Whether it can serve.
    pub ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Health of the SIP trunks, for callers that may see the figures; a trunk that is down does not make a node
    /// unready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trunks: Option<Vec<TrunkHealth>>,
    /// What the operator should look at, in words, for callers that may see the figures; it does not make a node
    /// unready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
    /// Milliseconds by which the clock of this machine is ahead of PostgreSQL's, for callers that may see the figures.
    #[serde(rename = "clockSkewMs", skip_serializing_if = "Option::is_none")]
    pub clock_skew_ms: Option<i64>,
}

/// How a SIP trunk is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrunkHealth {
    /// Its name.
    pub name: String,
    /// The carrier that it leads to.
    pub carrier: String,
    /// Whether it answers; null until it was asked.
    pub healthy: Option<bool>,
    /// Whether this node is registered there; null if no node is to be. Of several nodes one is.
    pub registered: Option<bool>,
    /// Calls of this node over it.
    pub calls: u32,
    /// How many calls this node may carry over it: its `channels`, or what this node has of them now if several nodes
    /// share it.
    pub channels: u32,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/openapi.json", "getOpenApi", "System", "This description")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Map<String, Value>>)), (304, None)]),
    operation(GET, "/operator/v1/openapi.json", "getOperatorOpenApi", "System", "This description")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Map<String, Value>>)), (304, None)]),
    operation(GET, "/healthz", "getHealth", "System", "The process lives")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Health>))]),
    operation(GET, "/readyz", "getReadiness", "System", "The store answers and its schema is current")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Health>)), (503, Some(answer::<Health>))]),
    operation(GET, "/metrics", "getMetrics", "System", "Prometheus text")
        .access(Access::Figures)
        .answers(&[(200, None)])
        .content_type("text/plain; version=0.0.4"),
    operation(GET, "/docs", "getDocs", "System", "The API reference, to be read")
        .access(Access::Public)
        .answers(&[(200, None)])
        .content_type("text/html"),
];

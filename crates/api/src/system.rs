//! Health, metrics and the API's own description.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::operation::{Access, Method::GET, Operation, operation};
use crate::schema::answer;

/// Whether the process can serve requests.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// True if the process is running (`/healthz`) or ready (`/readyz`).
    pub ok: bool,
    /// Why the process is not ready, for people; absent if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// State of the SIP trunks, for callers with access to the metrics. A trunk that is down does not make a
    /// node unready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trunks: Option<Vec<TrunkHealth>>,
    /// Conditions that the operator should correct, for callers with access to the metrics; they do not make
    /// a node unready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
    /// Milliseconds by which this machine's clock is ahead of PostgreSQL's, for callers with access to the
    /// metrics.
    #[serde(rename = "clockSkewMs", skip_serializing_if = "Option::is_none")]
    pub clock_skew_ms: Option<i64>,
}

/// State of a SIP trunk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrunkHealth {
    /// Name of the trunk in the settings.
    pub name: String,
    /// Name of the carrier that the trunk leads to.
    pub carrier: String,
    /// Whether the trunk answers; null before its first check.
    pub healthy: Option<bool>,
    /// Whether this node is registered at the trunk; null if the trunk needs no registration. Only one of
    /// several nodes is.
    pub registered: Option<bool>,
    /// Number of this node's calls over the trunk.
    pub calls: u32,
    /// Most calls of this node over the trunk: `channels` of the settings, or this node's share of them.
    pub channels: u32,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/openapi.json", "getOpenApi", "System", "This document, OpenAPI 3.1")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Map<String, Value>>)), (304, None)]),
    operation(GET, "/operator/v1/openapi.json", "getOperatorOpenApi", "System", "This document, OpenAPI 3.1")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Map<String, Value>>)), (304, None)]),
    operation(GET, "/healthz", "getHealth", "System", "Whether the process is running")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Health>))]),
    operation(GET, "/readyz", "getReadiness", "System", "Whether the node can serve requests")
        .about(
            "200 if the store can be reached and written and its schema is current; otherwise, and on a \
             drained node, 503 with the reason.",
        )
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Health>)), (503, Some(answer::<Health>))]),
    operation(GET, "/metrics", "getMetrics", "System", "Metrics in the Prometheus text format")
        .access(Access::Figures)
        .answers(&[(200, None)])
        .content_type("text/plain; version=0.0.4"),
    operation(GET, "/docs", "getDocs", "System", "The documentation as web pages")
        .access(Access::Public)
        .answers(&[(200, None)])
        .content_type("text/html"),
];

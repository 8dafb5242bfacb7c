//! Health, metrics and the API's own description.

use crate::operations::{Access, Method::GET, Operation, operation};
use crate::schema::{Schema, any, boolean, list, map, may, need, object, text};

fn health() -> Schema {
    object(vec![
        need("ok", boolean()),
        may("reason", text()),
        may("trunks", list(trunk()).doc("Health of the SIP trunks, for who may see the figures; a trunk that is down does not make a node unready.")),
    ])
}

fn trunk() -> Schema {
    object(vec![need("name", text()), need("healthy", boolean().or_null())])
}

fn free_object() -> Schema {
    map(any())
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/openapi.json", "getOpenApi", "System", "This description")
        .access(Access::Public)
        .answers(&[(200, Some(free_object)), (304, None)]),
    operation(GET, "/operator/v1/openapi.json", "getOperatorOpenApi", "System", "This description")
        .access(Access::Public)
        .answers(&[(200, Some(free_object)), (304, None)]),
    operation(GET, "/healthz", "getHealth", "System", "The process lives")
        .access(Access::Public)
        .answers(&[(200, Some(health))]),
    operation(GET, "/readyz", "getReadiness", "System", "The store answers and its schema is current")
        .access(Access::Public)
        .answers(&[(200, Some(health)), (503, Some(health))]),
    operation(GET, "/metrics", "getMetrics", "System", "Prometheus text")
        .access(Access::Figures)
        .answers(&[(200, None)])
        .content_type("text/plain; version=0.0.4"),
    operation(GET, "/docs", "getDocs", "System", "The API reference, to be read")
        .access(Access::Public)
        .answers(&[(200, None)])
        .content_type("text/html"),
];

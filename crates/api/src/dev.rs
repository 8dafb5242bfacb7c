//! `/dev`: the manual clock (docs/contract/sandbox.md#clock). Not part of the OpenAPI documents.

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{answer, request};

/// The manual clock.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Clock {
    /// The time that it shows.
    pub now: Timestamp,
}

/// A move of the manual clock.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockChange {
    /// Seconds to go on.
    #[schemars(range(min = 0, max = 10_000_000_000_i64))]
    pub advance_seconds: Option<i64>,
    /// The time to show.
    pub set: Option<Timestamp>,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/dev/clock", "getClock", "Development", "The manual clock")
        .access(Access::Public)
        .answers(&[(200, Some(answer::<Clock>))]),
    operation(POST, "/dev/clock", "setClock", "Development", "Move the manual clock")
        .access(Access::Public)
        .body(request::<ClockChange>)
        .answers(&[(200, Some(answer::<Clock>))]),
];

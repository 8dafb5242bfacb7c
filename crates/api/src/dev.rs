//! `/dev`: the manual clock (docs/contract/sandbox.md#clock). Not part of the OpenAPI documents.

use crate::operations::Method::{GET, POST};
use crate::operations::{Access, Operation, operation};
use crate::schema::{Schema, integer, may, need, object, time};

fn clock() -> Schema {
    object(vec![need("now", time())])
}

fn clock_change() -> Schema {
    object(vec![may("advanceSeconds", integer(0, 10_000_000_000)), may("set", time())])
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/dev/clock", "getClock", "Development", "The manual clock")
        .access(Access::Public)
        .answers(&[(200, Some(clock))]),
    operation(POST, "/dev/clock", "setClock", "Development", "Move the manual clock")
        .access(Access::Public)
        .body(clock_change)
        .answers(&[(200, Some(clock))]),
];

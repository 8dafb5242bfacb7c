//! The platform do-not-call registry, as the operator keeps it: single numbers, and imports of the whole
//! registry in pieces that take effect in one moment (docs/contract/operator.md#registry).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::do_not_call::AddedNumbers;
use crate::envelope::Removed;
use crate::error_codes::{CONFLICT, NOT_FOUND};
use crate::operation::Method::{DELETE, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{data, request};

/// Most numbers in one piece of an import.
pub const MAX_PIECE: usize = 50_000;

/// Numbers for the registry.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewDndNumbers {
    /// The numbers, in any usual writing.
    #[schemars(length(min = 1, max = 10_000), inner(length(min = 1, max = 40)))]
    pub phones: Vec<String>,
}

/// A piece of the whole registry.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DndImportPiece {
    /// The numbers, in any usual writing.
    #[schemars(length(min = 1, max = MAX_PIECE), inner(length(max = 64)))]
    pub phones: Vec<String>,
}

/// An import under way.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DndImport {
    /// Its number.
    pub import_id: i64,
}

/// What became of one piece.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DndImported {
    /// Numbers that are new in this import.
    pub added: u64,
    /// Numbers that were in the import before.
    pub repeated: u64,
    /// Places in the piece, from 0, of what is no valid Indian number.
    pub invalid: Vec<usize>,
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
    row(POST, "/operator/v1/dnd", "addDnd", "Add numbers to the platform do-not-call registry")
        .body(request::<NewDndNumbers>)
        .answers(&[(200, Some(data::<AddedNumbers>))]),
    row(DELETE, "/operator/v1/dnd/{phone}", "removeDnd", "Take a number off the registry")
        .answers(&[(200, Some(data::<Removed>))])
        .errors(&[NOT_FOUND]),
    row(
        POST,
        "/operator/v1/dnd-imports",
        "startDndImport",
        "Start an import that will replace the imported registry",
    )
    .answers(&[(201, Some(data::<DndImport>))])
    .errors(&[CONFLICT]),
    row(
        POST,
        "/operator/v1/dnd-imports/{import}/numbers",
        "addDndImportNumbers",
        "Add a piece of the registry to an import",
    )
    .body(request::<DndImportPiece>)
    .answers(&[(200, Some(data::<DndImported>))]),
    row(
        POST,
        "/operator/v1/dnd-imports/{import}/finish",
        "finishDndImport",
        "Make an import the registry in force, in one moment",
    )
    .answers(&[(200, Some(data::<DndImport>))]),
    row(
        DELETE,
        "/operator/v1/dnd-imports/{import}",
        "cancelDndImport",
        "Give an import up; the registry stays as it was",
    )
    .answers(&[(200, Some(data::<Removed>))]),
];

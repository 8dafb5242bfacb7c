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

/// Numbers that are added to the platform's do-not-call registry.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewDndNumbers {
    /// The numbers, in any usual notation.
    #[schemars(length(min = 1, max = 10_000), inner(length(min = 1, max = 40)))]
    pub phones: Vec<String>,
}

/// A piece of a registry that is imported.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DndImportPiece {
    /// The numbers, in any usual notation; a piece may be sent again.
    #[schemars(length(min = 1, max = MAX_PIECE), inner(length(max = 64)))]
    pub phones: Vec<String>,
}

/// An import of a registry that was begun.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DndImport {
    /// Number of the import; it is in the path of its other requests.
    pub import_id: i64,
}

/// The result of one piece.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DndImported {
    /// Number of numbers that are new in this import.
    pub added: u64,
    /// Number of numbers that the import had before.
    pub repeated: u64,
    /// Indexes in the piece, from 0, of texts that are not Indian numbers.
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
    row(POST, "/operator/v1/dnd", "addDnd", "Add numbers to the platform's do-not-call registry")
        .about("Numbers that are listed already change nothing.")
        .body(request::<NewDndNumbers>)
        .answers(&[(200, Some(data::<AddedNumbers>))]),
    row(
        DELETE,
        "/operator/v1/dnd/{phone}",
        "removeDnd",
        "Remove a number from the platform's do-not-call registry",
    )
    .about("404 if it is not listed.")
    .answers(&[(200, Some(data::<Removed>))])
    .errors(&[NOT_FOUND]),
    row(
        POST,
        "/operator/v1/dnd-imports",
        "startDndImport",
        "Begin an import that replaces the imported registry",
    )
    .about(
        "One import at a time: another one is 409 `conflict`, unless the first got no piece for an \
         hour.",
    )
    .answers(&[(201, Some(data::<DndImport>))])
    .errors(&[CONFLICT]),
    row(
        POST,
        "/operator/v1/dnd-imports/{import}/numbers",
        "addDndImportNumbers",
        "Add numbers to an import of the registry",
    )
    .about("A piece may be sent again.")
    .body(request::<DndImportPiece>)
    .answers(&[(200, Some(data::<DndImported>))]),
    row(
        POST,
        "/operator/v1/dnd-imports/{import}/finish",
        "finishDndImport",
        "Replace the imported registry with the import",
    )
    .about("Atomic. Numbers that were added one by one are kept.")
    .answers(&[(200, Some(data::<DndImport>))]),
    row(
        DELETE,
        "/operator/v1/dnd-imports/{import}",
        "cancelDndImport",
        "Delete an unfinished import of the registry",
    )
    .about("The registry is not affected.")
    .answers(&[(200, Some(data::<Removed>))]),
];

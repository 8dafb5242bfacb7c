//! The platform do-not-call registry, as the operator keeps it: single numbers, and imports of the whole
//! registry in pieces that take effect in one moment (docs/contract/operator.md#registry).

use serde::{Deserialize, Serialize};

use crate::error_codes::{CONFLICT, NOT_FOUND};
use crate::operations::Method::{DELETE, POST};
use crate::operations::{Access, Operation, operation};
use crate::schema::{Schema, boolean, count, data, list, list_of, need, object, text, text_of};

/// Most numbers in one piece of an import.
pub const MAX_PIECE: usize = 50_000;

/// Numbers in any usual writing.
#[derive(Debug, Deserialize)]
pub struct Phones {
    /// The numbers.
    pub phones: Vec<String>,
}

/// An import under way.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// Its number.
    pub import_id: i64,
}

/// What became of one piece.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// New in this import.
    pub added: u64,
    /// Twice in the import.
    pub repeated: u64,
    /// Places in the piece, from 0, of what is no valid Indian number.
    pub invalid: Vec<usize>,
}

fn add_body() -> Schema {
    object(vec![need("phones", list_of(text_of(1, 40), 1, 10_000))])
}

fn add_answer() -> Schema {
    data(object(vec![need("added", count()), need("alreadyListed", count()), need("invalid", list(text()))]))
}

fn piece_body() -> Schema {
    object(vec![need("phones", list_of(text_of(0, 64), 1, MAX_PIECE))])
}

fn deleted() -> Schema {
    data(object(vec![need("deleted", boolean())]))
}

fn import_answer() -> Schema {
    data(object(vec![need("importId", count())]))
}

fn piece_answer() -> Schema {
    data(object(vec![need("added", count()), need("repeated", count()), need("invalid", list(count()))]))
}

const fn row(
    method: crate::operations::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Operator", summary).access(Access::Operator)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(POST, "/operator/v1/dnd", "addDnd", "Add numbers to the platform do-not-call registry")
        .body(add_body)
        .answers(&[(200, Some(add_answer))]),
    row(DELETE, "/operator/v1/dnd/{phone}", "removeDnd", "Take a number off the registry")
        .answers(&[(200, Some(deleted))])
        .errors(&[NOT_FOUND]),
    row(
        POST,
        "/operator/v1/dnd-imports",
        "startDndImport",
        "Start an import that will replace the imported registry",
    )
    .answers(&[(201, Some(import_answer))])
    .errors(&[CONFLICT]),
    row(
        POST,
        "/operator/v1/dnd-imports/{import}/numbers",
        "addDndImportNumbers",
        "Add a piece of the registry to an import",
    )
    .body(piece_body)
    .answers(&[(200, Some(piece_answer))]),
    row(
        POST,
        "/operator/v1/dnd-imports/{import}/finish",
        "finishDndImport",
        "Make an import the registry in force, in one moment",
    )
    .answers(&[(200, Some(import_answer))]),
    row(
        DELETE,
        "/operator/v1/dnd-imports/{import}",
        "cancelDndImport",
        "Give an import up; the registry stays as it was",
    )
    .answers(&[(200, Some(deleted))]),
];

//! Phones of staff that the operator releases from the platform registry, for transfers of one workspace
//! (docs/contract/operator.md#operator-api).

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error_codes::CONFLICT;
use crate::operations::Method::{DELETE, GET, POST};
use crate::operations::{Access, Operation, operation};
use crate::schema::{Schema, boolean, data, list, need, object, text, text_of, time};

/// Most released numbers of a workspace.
pub const MOST: i64 = 1000;

/// Body of `POST /operator/v1/workspaces/{ws}/transfer-numbers`.
#[derive(Debug, Deserialize)]
pub struct NewTransferNumber {
    /// The number in any usual writing.
    pub number: String,
}

/// A released number.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferNumber {
    /// E.164.
    pub number: String,
    /// Since when.
    pub created_at: Timestamp,
}

fn body() -> Schema {
    object(vec![need(
        "number",
        text_of(1, 40).doc(
            "An Indian (+91) number; transfers of this workspace may ring it although it is on the registry.",
        ),
    )])
}

fn released() -> Schema {
    object(vec![need("number", text()), need("createdAt", time())])
}

fn answer() -> Schema {
    data(released())
}

fn answers() -> Schema {
    data(list(released()))
}

fn deleted() -> Schema {
    data(object(vec![need("deleted", boolean())]))
}

const PATH: &str = "/operator/v1/workspaces/{ws}/transfer-numbers";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(
        POST,
        PATH,
        "createTransferNumber",
        "Operator",
        "Release a staff phone from the do-not-call registry for transfers",
    )
    .access(Access::Operator)
    .body(body)
    .answers(&[(201, Some(answer))])
    .errors(&[CONFLICT]),
    operation(GET, PATH, "listTransferNumbers", "Operator", "Staff phones that are released for transfers")
        .access(Access::Operator)
        .answers(&[(200, Some(answers))]),
    operation(
        DELETE,
        "/operator/v1/workspaces/{ws}/transfer-numbers/{number}",
        "deleteTransferNumber",
        "Operator",
        "Take the release of a staff phone back",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(deleted))]),
];

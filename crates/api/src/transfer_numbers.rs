//! Phones of staff that the operator releases from the platform registry, for transfers of one workspace
//! (docs/contract/operator.md#operator-api).

use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::Removed;
use crate::error_codes::CONFLICT;
use crate::operation::Method::{DELETE, GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{data, list, request};

/// Most released numbers of a workspace.
pub const MOST: i64 = 1000;

/// A staff phone that is released for transfers.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewTransferNumber {
    /// An Indian (+91) number. Transfers of this workspace may call it although it is on the do-not-call
    /// registry.
    #[schemars(length(min = 1, max = 40))]
    pub number: String,
}

/// A staff phone that is released for transfers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransferNumber {
    /// The phone number, E.164.
    pub number: String,
    /// When the number was released.
    pub created_at: Timestamp,
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
    .role(Role::Admin)
    .access(Access::Operator)
    .body(request::<NewTransferNumber>)
    .answers(&[(201, Some(data::<TransferNumber>))])
    .errors(&[CONFLICT]),
    operation(GET, PATH, "listTransferNumbers", "Operator", "Staff phones that are released for transfers")
        .role(Role::Admin)
        .access(Access::Operator)
        .answers(&[(200, Some(list::<TransferNumber>))]),
    operation(
        DELETE,
        "/operator/v1/workspaces/{ws}/transfer-numbers/{number}",
        "deleteTransferNumber",
        "Operator",
        "Revoke the release of a staff phone",
    )
    .role(Role::Admin)
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Removed>))]),
];

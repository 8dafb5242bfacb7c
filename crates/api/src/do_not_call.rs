//! The workspace's do-not-call list (docs/contract/contacts.md#do-not-call-list), and what only the operator
//! may do with it.

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contacts::Contact;
use crate::envelope::Removed;
use crate::error_codes::{CONTACT_ERASED, NO_VALID_NUMBERS};
use crate::operation::Method::{DELETE, GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, counted, data, limit, may, offset, request, text_of};
use crate::scopes::{CONTACTS_READ, CONTACTS_WRITE};

/// An entry of the workspace's do-not-call list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoNotCallEntry {
    /// The number, E.164; null once the contact is erased, after which the entry remains effective.
    pub phone: Option<String>,
    /// Why the number is listed; `[erased]` once the contact is erased.
    pub reason: String,
    /// When the number was added.
    pub created_at: Timestamp,
}

/// Numbers that are added to the workspace's do-not-call list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewDoNotCallNumbers {
    /// The numbers, in any usual notation; invalid ones are reported in `invalid`.
    #[schemars(length(max = 1000), inner(length(max = 200)))]
    pub phones: Vec<String>,
    /// Why the numbers are listed; null or absent for a default text.
    #[schemars(length(min = 1, max = 500), extend("x-nullable" = true))]
    pub reason: Option<String>,
}

/// The result of adding numbers to a do-not-call list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedNumbers {
    /// Number of numbers that are new on the list.
    pub added: u64,
    /// Number of numbers that were listed before, or are twice in the request.
    pub already_listed: u64,
    /// Texts that are not Indian numbers, as they were sent.
    pub invalid: Vec<String>,
}

fn list_query() -> Vec<Field> {
    vec![
        may("phone", text_of(1, 40).doc("Only the entry of this number; empty if it is not listed.")),
        limit(200),
        offset(),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(
        GET,
        "/v1/dnc",
        "listDoNotCall",
        "Do-not-call list",
        "Entries of the do-not-call list, newest first",
    )
    .scope(CONTACTS_READ)
    .query(list_query)
    .answers(&[(200, Some(counted::<DoNotCallEntry>))]),
    operation(POST, "/v1/dnc", "addDoNotCall", "Do-not-call list", "Add numbers to the do-not-call list")
        .about(
            "Their contacts are opted out. Numbers that are listed already change nothing. They cannot \
             be removed over this API.",
        )
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(request::<NewDoNotCallNumbers>)
        .answers(&[(200, Some(data::<AddedNumbers>))])
        .errors(&[NO_VALID_NUMBERS]),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/contacts/{id}/lift-opt-out",
        "liftOptOut",
        "Operator",
        "Lift the opt-out of a contact",
    )
    .about(
        "Its number is removed from the workspace's do-not-call list. A repeat changes nothing; \
         410 once the contact is erased.",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Contact>))])
    .errors(&[CONTACT_ERASED]),
    operation(
        DELETE,
        "/operator/v1/workspaces/{ws}/dnc/{phone}",
        "removeDoNotCall",
        "Operator",
        "Remove a number from a workspace's do-not-call list",
    )
    .about("The opt-out of its contact is lifted. 404 if it is not listed.")
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Removed>))]),
];

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

/// An entry of the do-not-call list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoNotCallEntry {
    /// The number, E.164; null once the person is erased: the entry still works.
    pub phone: Option<String>,
    /// Why it is listed.
    pub reason: String,
    /// Since when.
    pub created_at: Timestamp,
}

/// Numbers for the do-not-call list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewDoNotCallNumbers {
    /// The numbers, in any usual writing.
    #[schemars(length(max = 1000), inner(length(max = 200)))]
    pub phones: Vec<String>,
    /// Why they are listed.
    #[schemars(length(min = 1, max = 500), extend("x-nullable" = true))]
    pub reason: Option<String>,
}

/// What became of numbers that were to be listed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedNumbers {
    /// Numbers that are new on the list.
    pub added: u64,
    /// Numbers that were there before, or twice in the request.
    pub already_listed: u64,
    /// What is no valid Indian number, as it was sent.
    pub invalid: Vec<String>,
}

fn list_query() -> Vec<Field> {
    vec![may("phone", text_of(1, 40).doc("Checks one number.")), limit(200), offset()]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(
        GET,
        "/v1/dnc",
        "listDoNotCall",
        "Do-not-call list",
        "The list, newest first, or one number of it",
    )
    .scope(CONTACTS_READ)
    .query(list_query)
    .answers(&[(200, Some(counted::<DoNotCallEntry>))]),
    operation(
        POST,
        "/v1/dnc",
        "addDoNotCall",
        "Do-not-call list",
        "Add numbers; their contacts are marked opted out",
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
        "Let a contact be called again: its opt-out is lifted, its number leaves the do-not-call list",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Contact>))])
    .errors(&[CONTACT_ERASED]),
    operation(
        DELETE,
        "/operator/v1/workspaces/{ws}/dnc/{phone}",
        "removeDoNotCall",
        "Operator",
        "Take a number off a workspace's do-not-call list",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(data::<Removed>))]),
];

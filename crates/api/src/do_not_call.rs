//! The workspace's do-not-call list (docs/contract/contacts.md#do-not-call-list), and what only the operator
//! may do with it.

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::contacts::contact;
use crate::error_codes::{CONTACT_ERASED, NO_VALID_NUMBERS};
use crate::operations::Method::{DELETE, GET, POST};
use crate::operations::{Access, Operation, operation};
use crate::schema::{
    Field, Schema, boolean, count, data, limit, list, list_of, may, need, object, offset, text, text_of, time,
};
use crate::scopes::{CONTACTS_READ, CONTACTS_WRITE};

/// An entry of the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// E.164; null once the person is erased (the entry still works).
    pub phone: Option<String>,
    /// Why it is listed.
    pub reason: String,
    /// Since when.
    pub created_at: Timestamp,
}

/// Body of `POST /v1/dnc`.
#[derive(Debug, Deserialize)]
pub struct NewNumbers {
    /// Numbers in any usual writing.
    pub phones: Vec<String>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What became of the numbers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Added {
    /// New on the list.
    pub added: u64,
    /// There before, or twice in the request.
    pub already_listed: u64,
    /// Not valid Indian numbers, as they were sent.
    pub invalid: Vec<String>,
}

fn list_query() -> Vec<Field> {
    vec![may("phone", text_of(1, 40).doc("Checks one number.")), limit(200), offset()]
}

fn list_answer() -> Schema {
    object(vec![
        need(
            "data",
            list(object(vec![
                need("phone", text().or_null().doc("Null once the person is erased; the entry still works.")),
                need("reason", text()),
                need("createdAt", time()),
            ])),
        ),
        need("total", count()),
    ])
}

fn add_body() -> Schema {
    object(vec![need("phones", list_of(text_of(0, 200), 0, 1000)), may("reason", text_of(1, 500).or_null())])
}

fn add_answer() -> Schema {
    data(object(vec![need("added", count()), need("alreadyListed", count()), need("invalid", list(text()))]))
}

fn lifted() -> Schema {
    data(contact())
}

fn deleted() -> Schema {
    data(object(vec![need("deleted", boolean())]))
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
    .answers(&[(200, Some(list_answer))]),
    operation(
        POST,
        "/v1/dnc",
        "addDoNotCall",
        "Do-not-call list",
        "Add numbers; their contacts are marked opted out",
    )
    .scope(CONTACTS_WRITE)
    .live_only()
    .body(add_body)
    .answers(&[(200, Some(add_answer))])
    .errors(&[NO_VALID_NUMBERS]),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/contacts/{id}/lift-opt-out",
        "liftOptOut",
        "Operator",
        "Let a contact be called again: its opt-out is lifted, its number leaves the do-not-call list",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(lifted))])
    .errors(&[CONTACT_ERASED]),
    operation(
        DELETE,
        "/operator/v1/workspaces/{ws}/dnc/{phone}",
        "removeDoNotCall",
        "Operator",
        "Take a number off a workspace's do-not-call list",
    )
    .access(Access::Operator)
    .answers(&[(200, Some(deleted))]),
];

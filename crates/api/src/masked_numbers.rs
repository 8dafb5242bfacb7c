//! Numbers of people, which members see masked (docs/contract/audit.md#masked-numbers).

use domain::tenant::Role;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error_codes::{CONTACT_ERASED, RATE_LIMITED};
use crate::operation::Method::POST;
use crate::operation::{Access, Operation, operation};
use crate::schema::data;

/// The whole number of a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RevealedNumber {
    /// The number, with its country code.
    pub number: String,
}

const fn row(path: &'static str, id: &'static str, tag: &'static str, summary: &'static str) -> Operation {
    operation(POST, path, id, tag, summary)
        .about(
            "The log of actions records who saw it. A member may see 60 numbers in a minute and 1,000 in a day.",
        )
        .access(Access::Member)
        .role(Role::Editor)
        .answers(&[(200, Some(data::<RevealedNumber>))])
        .errors(&[CONTACT_ERASED, RATE_LIMITED])
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row("/v1/contacts/{id}/reveal", "revealContact", "Contacts", "The whole number of a contact"),
    row("/v1/calls/{id}/reveal", "revealCall", "Calls", "The whole number of the person of a call"),
    row(
        "/v1/chatapp/conversations/{id}/reveal",
        "revealConversation",
        "Messaging channel",
        "The whole number of the customer of a conversation",
    ),
];

//! Phone numbers of a workspace (docs/contract/numbers.md).

use domain::compliance::Series;
use domain::ids::{self, Id};
use domain::tenant::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_codes::{AGENT_NOT_INBOUND, NUMBER_AGENT_NOT_CALL, NUMBER_AGENT_NOT_PUBLISHED};
use crate::operation::{Method::GET, Method::PUT, Operation, operation};
use crate::schema::{data, list, request};
use crate::scopes::{NUMBERS_READ, NUMBERS_WRITE};

/// A phone number of a workspace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Number {
    /// Id of the number, `num_…`.
    pub id: Id<ids::Number>,
    /// The phone number, E.164.
    pub number: String,
    /// Country of the number; always `IN`.
    pub country: &'static str,
    /// `mobile` or `landline`: the kind of number.
    pub r#type: &'static str,
    /// The series that it belongs to; null for an ordinary number.
    pub series: Option<Series>,
    /// Status of the number: `active` or `released`.
    pub status: String,
    /// Whether calls can be placed and received; always true.
    pub voice_enabled: bool,
    /// Whether text messages can be sent; always false.
    pub sms_enabled: bool,
    /// Id of the agent that answers calls to the number; null if none does.
    pub inbound_agent_id: Option<String>,
    /// Name of the carrier over which the number's calls are dialled; null for the first carrier of the
    /// settings.
    pub carrier: Option<String>,
}

/// The agent that answers calls to a number.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboundAgent {
    /// Id of a published, inbound call agent; null to answer no calls.
    #[schemars(required, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub agent_id: Option<String>,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/numbers", "listNumbers", "Phone numbers", "All active phone numbers, oldest first")
        .scope(NUMBERS_READ)
        .answers(&[(200, Some(list::<Number>))]),
    operation(
        PUT,
        "/v1/numbers/{id}/inbound-agent",
        "setInboundAgent",
        "Phone numbers",
        "Choose the agent that answers a phone number",
    )
    .role(Role::Admin)
    .about("Replaces the current agent; null stops answering.")
    .scope(NUMBERS_WRITE)
    .live_only()
    .body(request::<InboundAgent>)
    .answers(&[(200, Some(data::<Number>))])
    .errors(&[NUMBER_AGENT_NOT_PUBLISHED, NUMBER_AGENT_NOT_CALL, AGENT_NOT_INBOUND]),
];

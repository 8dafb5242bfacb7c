//! Phone numbers of a workspace (docs/contract/numbers.md).

use domain::compliance::Series;
use domain::ids::{self, Id};
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
    /// Its id.
    pub id: Id<ids::Number>,
    /// The number, E.164.
    pub number: String,
    /// `IN`.
    pub country: &'static str,
    /// `mobile` or `landline`.
    pub r#type: &'static str,
    /// The series that it belongs to; null for an ordinary number.
    pub series: Option<Series>,
    /// `active` or `released`.
    pub status: String,
    /// Calls can go out and come in.
    pub voice_enabled: bool,
    /// Text messages; not supported.
    pub sms_enabled: bool,
    /// The agent that answers it.
    pub inbound_agent_id: Option<String>,
    /// The carrier that calls from it go out on, by its name in the operator's settings; null for the first one.
    pub carrier: Option<String>,
}

/// Which agent answers a number.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboundAgent {
    /// A published agent for inbound calls; null stops answering.
    #[schemars(required, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub agent_id: Option<String>,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/numbers", "listNumbers", "Phone numbers", "Every number of the workspace")
        .scope(NUMBERS_READ)
        .answers(&[(200, Some(list::<Number>))]),
    operation(
        PUT,
        "/v1/numbers/{id}/inbound-agent",
        "setInboundAgent",
        "Phone numbers",
        "Choose the agent that answers a number",
    )
    .scope(NUMBERS_WRITE)
    .live_only()
    .body(request::<InboundAgent>)
    .answers(&[(200, Some(data::<Number>))])
    .errors(&[NUMBER_AGENT_NOT_PUBLISHED, NUMBER_AGENT_NOT_CALL, AGENT_NOT_INBOUND]),
];

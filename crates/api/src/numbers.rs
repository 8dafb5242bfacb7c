//! Phone numbers of a workspace (docs/contract/numbers.md).

use domain::ids::{Id, Number};
use serde::{Deserialize, Serialize};

use crate::error_codes::{AGENT_NOT_INBOUND, NUMBER_AGENT_NOT_CALL, NUMBER_AGENT_NOT_PUBLISHED};
use crate::operations::{Method::GET, Method::PUT, Operation, operation};
use crate::schema::{Schema, boolean, data, id, list, need, object, text, text_of};
use crate::scopes::{NUMBERS_READ, NUMBERS_WRITE};

/// A phone number.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NumberView {
    /// Its id.
    pub id: Id<Number>,
    /// E.164.
    pub number: String,
    /// `IN`.
    pub country: &'static str,
    /// `mobile` or `landline`.
    pub r#type: &'static str,
    /// `active` or `released`.
    pub status: String,
    /// Calls can go out and come in.
    pub voice_enabled: bool,
    /// Text messages; not supported.
    pub sms_enabled: bool,
    /// The agent that answers it.
    pub inbound_agent_id: Option<String>,
}

/// Body of `PUT /v1/numbers/{id}/inbound-agent`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboundAgent {
    /// The agent that is to answer; `None` stops answering.
    pub agent_id: Option<String>,
}

/// Shape of [`NumberView`].
pub fn number() -> Schema {
    object(vec![
        need("id", id::<Number>()),
        need("number", text()),
        need("country", text()),
        need("type", text()),
        need("status", text()),
        need("voiceEnabled", boolean()),
        need("smsEnabled", boolean()),
        need("inboundAgentId", text().or_null()),
    ])
}

/// `{data: number}`.
pub fn number_answer() -> Schema {
    data(number())
}

/// `{data: [number]}`.
pub fn numbers_answer() -> Schema {
    data(list(number()))
}

fn inbound_agent() -> Schema {
    object(vec![need(
        "agentId",
        text_of(1, 64).or_null().doc("A published agent for inbound calls; null stops answering."),
    )])
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/numbers", "listNumbers", "Phone numbers", "Every number of the workspace")
        .scope(NUMBERS_READ)
        .answers(&[(200, Some(numbers_answer))]),
    operation(
        PUT,
        "/v1/numbers/{id}/inbound-agent",
        "setInboundAgent",
        "Phone numbers",
        "Choose the agent that answers a number",
    )
    .scope(NUMBERS_WRITE)
    .live_only()
    .body(inbound_agent)
    .answers(&[(200, Some(number_answer))])
    .errors(&[NUMBER_AGENT_NOT_PUBLISHED, NUMBER_AGENT_NOT_CALL, AGENT_NOT_INBOUND]),
];

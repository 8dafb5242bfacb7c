//! Calls: placing, reading, hanging up (docs/contract/calls.md).

use domain::call::{Stage, Status, Warning, variables};
use domain::ids::{Agent, Call, Campaign, Contact, Id};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error_codes as codes;
use crate::operations::Method::{GET, POST};
use crate::operations::{Idempotency, Operation, RateClass, operation};
use crate::schema::{
    Field, Schema, any, boolean, choice, count, cursor, data, id, limit, list, map, map_of, may, need,
    number, object, or, page, text, text_of, time,
};
use crate::scopes::{CALLS_READ, CALLS_WRITE};

/// What a call is placed with; scheduled calls and nudges have the same fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewCall {
    /// The agent that talks.
    pub agent_id: String,
    /// Whom to call, in any usual writing.
    pub to_number: String,
    /// Own number to show; the first active one when absent.
    #[serde(default)]
    pub from_number: Option<String>,
    /// The client's own id of the person.
    #[serde(default)]
    pub external_ref: Option<String>,
    /// Values of the conversation.
    #[serde(default)]
    pub variables: Map<String, Value>,
    /// The client's notes.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// Answer of `POST /v1/calls`, without the envelope.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Placed {
    /// True.
    pub placed: bool,
    /// The call's id.
    pub interaction_id: Id<Call>,
    /// The carrier's id of it.
    pub provider_call_id: String,
    /// What was over a limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A call in a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallView {
    /// Its id.
    pub id: Id<Call>,
    /// Who is called.
    pub contact_id: Option<Id<Contact>>,
    /// The campaign that dialled it.
    pub campaign_id: Option<Id<Campaign>>,
    /// Who talks.
    pub agent_id: Option<Id<Agent>>,
    /// `voice`
    pub channel: &'static str,
    /// `outbound` or `inbound`.
    pub direction: String,
    /// Raw status.
    pub status: &'static str,
    /// `ringing`, `in_progress`, `ended` or `blocked`.
    pub state: &'static str,
    /// The agent's disposition.
    pub outcome: Option<String>,
    /// Number dialled.
    pub to_number: String,
    /// Own number.
    pub from_number: String,
    /// Whether somebody picked up.
    pub answered: bool,
    /// When.
    pub answered_at: Option<Timestamp>,
    /// Why it ended.
    pub end_cause: Option<String>,
    /// When it was placed.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Talk time; null while live and when nobody picked up.
    pub duration_seconds: Option<i64>,
    /// The client's notes.
    pub metadata: Value,
}

/// A call with everything that is known of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallDetail {
    /// The list shape.
    #[serde(flatten)]
    pub call: CallView,
    /// Analysis in a few sentences.
    pub summary: Option<String>,
    /// `{role, text}` of every turn.
    pub transcript: Value,
    /// Captured fields.
    pub extracted: Value,
    /// Short-lived link.
    pub recording_url: Option<String>,
    /// `{status, turns}`.
    pub full_transcript: Value,
    /// `{provider, status, error, createdAt}`, newest first.
    pub connector_pushes: Value,
    /// `{turn, endpointMs, transcriptMs, firstTokenMs, firstAudioMs, firstPacketMs}` of every answer of the
    /// agent.
    pub latency: Value,
}

/// Variables of a call: what is over the usual limits is told in warnings, what is over these is refused
/// (docs/contract/calls.md#variables).
fn variables() -> Schema {
    let doc = "Name to string, number or boolean; overrides the contact's saved values for this call.";
    map_of(any(), variables::CEILING_COUNT)
        .within(variables::CEILING_BYTES)
        .refused_as(codes::INVALID_VARIABLES)
        .doc(doc)
}

/// Metadata of a call or a nudge; its limits are those of [`domain::call::check_metadata`].
pub fn metadata(doc: &'static str) -> Schema {
    map_of(any(), variables::MAX_KEYS).within(2 * variables::MAX_BYTES).doc(doc)
}

/// Fields of a placement.
pub fn placement_fields() -> Vec<Field> {
    vec![
        need("agentId", text_of(1, 200).doc("A published, outbound call agent.")),
        need("toNumber", text_of(8, 20).doc("Indian (+91) subscriber number; local formats are normalized.")),
        may("fromNumber", text_of(1, 40).doc("An active number of the workspace; default the first one.")),
        may("externalRef", text_of(1, 120).doc("Your own id of the person: the same contact across calls.")),
        may("variables", variables()),
        or(
            "metadata",
            metadata("Kept on the call and sent with its webhooks; the agent never sees it."),
            json!({}),
        ),
    ]
}

fn new_call() -> Schema {
    object(placement_fields())
}

/// Shape of a warning about variables.
pub fn warnings() -> Schema {
    list(object(vec![
        need("code", choice(&["variable_truncated", "variables_over_limit"])),
        need("field", text()),
        need("message", text()),
    ]))
}

fn placed() -> Schema {
    object(vec![
        need("placed", boolean()),
        need("interactionId", id::<Call>()),
        need("providerCallId", text()),
        may("warnings", warnings()),
    ])
}

fn words<T, const N: usize>(all: [T; N], word: fn(T) -> &'static str) -> Vec<&'static str> {
    all.into_iter().map(word).collect()
}

/// Shape of a call in a list.
pub fn call() -> Schema {
    object(vec![
        need("id", id::<Call>()),
        need("contactId", id::<Contact>().or_null()),
        need("campaignId", id::<Campaign>().or_null()),
        need("agentId", id::<Agent>().or_null()),
        need("channel", choice(&["voice"])),
        need("direction", choice(&["outbound", "inbound"])),
        need("status", choice(&words(Status::ALL, Status::as_str)).doc("Raw stored status; prefer `state`.")),
        need("state", choice(&words(Stage::ALL, Stage::as_str))),
        need("outcome", text().or_null()),
        need("toNumber", text()),
        need("fromNumber", text()),
        need("answered", boolean()),
        need("answeredAt", time().or_null()),
        need("endCause", text().or_null()),
        need("startedAt", time()),
        need("endedAt", time().or_null()),
        need("durationSeconds", count().or_null().doc("Talk time, answer to end.")),
        need("metadata", map(any())),
    ])
}

fn detail() -> Schema {
    let turn = object(vec![need("role", choice(&["agent", "customer"])), need("text", text())]);
    let spoken = object(vec![need("speaker", text()), need("text", text()), need("start", number())]);
    let status = choice(&["pending", "processing", "done", "failed"]).or_null();
    let push = object(vec![
        need("provider", text()),
        need("status", choice(&["success", "failed", "skipped"])),
        need("error", text().or_null()),
        need("createdAt", time()),
    ]);
    let since = |meaning: &'static str| count().or_null().doc(meaning);
    let latency = object(vec![
        need("turn", count().doc("The agent's answer, counted from 0 among all turns of the transcript.")),
        need(
            "endpointMs",
            count()
                .doc("Milliseconds after the customer's last sound at which the turn was judged to be over."),
        ),
        need("transcriptMs", since("… at which the words were there.")),
        need("firstTokenMs", since("… of the language model's first word; null when none was asked.")),
        need("firstAudioMs", since("… of the first synthesised sound.")),
        need("firstPacketMs", since("… at which the first packet left.")),
    ]);
    data(call().and(vec![
        need("summary", text().or_null()),
        need("transcript", list(turn)),
        need("extracted", map(any())),
        need(
            "recordingUrl",
            text().or_null().doc("Signed link that works for five minutes without a key; null while the recording is processed and without one."),
        ),
        need("fullTranscript", object(vec![need("status", status), need("turns", list(spoken).or_null())])),
        need("connectorPushes", list(push)),
        need("latency", list(latency).doc("Where the time between the end of what the customer said and the agent's first sound went.")),
    ]))
}

fn calls_page() -> Schema {
    page(call())
}

fn ending() -> Schema {
    data(object(vec![need("id", id::<Call>()), need("state", choice(&["ending"]))]))
}

fn list_query() -> Vec<Field> {
    vec![
        limit(200),
        cursor(),
        may("state", choice(&words(Stage::ALL, Stage::as_str))),
        may("agentId", text_of(1, 200)),
        may("campaignId", text_of(1, 200)),
        may("contactId", text_of(1, 200)),
        may("direction", choice(&["outbound", "inbound"])),
        may("from", time().doc("Started at or after.")),
        may("to", time().doc("Started before.")),
        may("status", text_of(1, 40).doc("Raw stored status.")),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, "/v1/calls", "placeCall", "Calls", "Place a call now")
        .scope(CALLS_WRITE)
        .rate(RateClass::Calls)
        .idempotent(Idempotency::Optional)
        .body(new_call)
        .answers(&[(200, Some(placed))])
        .errors(PLACING),
    operation(GET, "/v1/calls", "listCalls", "Calls", "Calls, newest first")
        .scope(CALLS_READ)
        .query(list_query)
        .answers(&[(200, Some(calls_page))]),
    operation(GET, "/v1/calls/{id}", "getCall", "Calls", "One call with transcript and captured fields")
        .scope(CALLS_READ)
        .answers(&[(200, Some(detail))]),
    operation(POST, "/v1/calls/{id}/hangup", "hangUpCall", "Calls", "End a live call")
        .scope(CALLS_WRITE)
        .answers(&[(202, Some(ending))])
        .errors(&[codes::CALL_NOT_ACTIVE, codes::HANGUP_FAILED, codes::HANGUP_UNAVAILABLE]),
];

/// Errors of placing a call in the order in which they are looked for (docs/contract/calls.md#refusals).
pub const PLACING: &[&codes::ErrorCode] = &[
    codes::NOT_FOUND,
    codes::AGENT_NOT_PUBLISHED,
    codes::AGENT_NOT_CALL,
    codes::AGENT_NOT_OUTBOUND,
    codes::INVALID_VARIABLES,
    codes::MISSING_REQUIRED_VARIABLES,
    codes::FLOW_NOT_READY,
    codes::WORKSPACE_SUSPENDED,
    codes::KYB_REQUIRED,
    codes::FROM_NUMBER_NOT_OWNED,
    codes::NO_PHONE_NUMBER,
    codes::INSUFFICIENT_BALANCE,
    codes::CALL_BLOCKED,
    codes::CONCURRENCY_LIMIT,
    codes::VOICE_UNAVAILABLE,
    codes::CALL_NOT_PLACED,
    codes::POSSIBLY_PLACED,
];

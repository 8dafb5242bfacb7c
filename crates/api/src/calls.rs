//! Calls: placing, reading, hanging up (docs/contract/calls.md).

use domain::call::{AnsweredBy, Direction, Stage, Status, Warning, variables};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agents::LanguageCode;
use crate::error_codes as codes;
use crate::operation::Method::{GET, POST};
use crate::operation::{Idempotency, Operation, RateClass, operation};
use crate::schema::{Field, answer, cursor, data, limit, may, page, request, text_of, time};
use crate::scopes::{CALLS_READ, CALLS_WRITE};

/// The request to place a call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCall {
    /// Id of a published, outbound call agent, `agt_…`.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// The Indian (+91) subscriber number to call, in any usual notation.
    #[schemars(length(min = 8, max = 20))]
    pub to_number: String,
    /// The caller id: an active number of the workspace. Absent: the first active one.
    #[schemars(length(min = 1, max = 40))]
    pub from_number: Option<String>,
    /// Your own id of the contact. A contact with this reference is called; otherwise one is found by the
    /// number or created.
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: Option<String>,
    /// Name to string, number or boolean; overrides the contact's saved values for this call.
    // Values over the usual limits give warnings, values over these ceilings are refused
    // (docs/contract/calls.md#variables).
    /// Values for the agent's flow: name to text, number or boolean. They override the contact's saved values
    /// for this call.
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::CEILING_COUNT, "x-maxBytes" = variables::CEILING_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables"))]
    pub variables: Map<String, Value>,
    /// Kept on the call and sent with its webhooks; the agent never sees it.
    // Its limits are those of `domain::call::check_metadata`.
    /// Your own data: up to 20 keys of text, number, boolean or null, 4 KB as JSON. Returned with the call
    /// and its events; the agent never sees it.
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::MAX_KEYS, "x-maxBytes" = 2 * variables::MAX_BYTES))]
    pub metadata: Map<String, Value>,
}

/// A call that the carrier has accepted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacedCall {
    /// Always true; a refused placement is an error.
    pub placed: bool,
    /// Id of the call, `call_…`; fetch it with `GET /v1/calls/{id}`.
    pub interaction_id: Id<ids::Call>,
    /// The carrier's own id of the call.
    pub provider_call_id: String,
    /// Variables that exceed a limit and were shortened or used unchanged; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A call, as a list shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Id of the call, `call_…`.
    pub id: Id<ids::Call>,
    /// Id of the contact; null for an incoming call whose caller is unknown.
    pub contact_id: Option<Id<ids::Contact>>,
    /// Id of the campaign that placed the call; null for any other call.
    pub campaign_id: Option<Id<ids::Campaign>>,
    /// Id of the agent on the call; null for a declined call that no agent answers.
    pub agent_id: Option<Id<ids::Agent>>,
    /// The channel of the conversation; always `voice`.
    #[schemars(extend("enum" = ["voice"]))]
    pub channel: &'static str,
    /// `outbound` if the agent called, `inbound` if the customer did.
    pub direction: Direction,
    /// Raw status of the call; branch on `state` instead.
    pub status: Status,
    /// State of the call: `ringing`, `in_progress`, `ended` or `blocked`.
    pub state: Stage,
    /// The agent's disposition as a key, such as `callback_requested`; null until it is known, and for calls
    /// that nobody or a machine answered.
    pub outcome: Option<String>,
    /// The number that was called, E.164; `[erased]` if it was the contact's and the contact was erased.
    pub to_number: String,
    /// The number that called, E.164; `[erased]` if it was the contact's and the contact was erased.
    pub from_number: String,
    /// Whether a person or a machine picked up.
    pub answered: bool,
    /// When the call was picked up; null until then.
    pub answered_at: Option<Timestamp>,
    /// Who picked up. Null while that is not known, when nobody did, and for incoming calls. It stays when a person takes
    /// over from a screening assistant or an announcement.
    pub answered_by: Option<AnsweredBy>,
    /// Why the call ended; null until then.
    pub end_cause: Option<String>,
    /// When the call was placed, or came in.
    pub started_at: Timestamp,
    /// When the call ended; null while it is live.
    pub ended_at: Option<Timestamp>,
    /// Talk time in seconds, from answer to end; null while the call is live and when nobody picked up.
    pub duration_seconds: Option<i64>,
    /// The `metadata` of the request; empty once the contact is erased.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
}

/// A call with the results of its conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub call: Call,
    /// Name of the carrier that the call came in on, or that its own number is dialled out on; null for the
    /// first carrier of the settings.
    pub carrier: Option<String>,
    /// Summary of the conversation, at most 4,000 characters; null until the analysis is done, and without a
    /// language model.
    pub summary: Option<String>,
    /// The turns of the conversation, oldest first; empty until the call has ended.
    #[schemars(with = "Vec<CallTurn>")]
    pub transcript: Value,
    /// Values that the flow captured and the analysis extracted, by key; empty until there are any.
    #[schemars(with = "Map<String, Value>")]
    pub extracted: Value,
    /// Signed link to the recording, which needs no key and works for five minutes; null while the recording
    /// is processed and when there is none.
    pub recording_url: Option<String>,
    /// Transcript of the recording, with times.
    #[schemars(with = "FullTranscript")]
    pub full_transcript: Value,
    /// Write-backs of the call to connected systems, newest first; at most 50.
    #[schemars(with = "Vec<ConnectorPush>")]
    pub connector_pushes: Value,
    /// Response times of the agent: one entry for each of its answers.
    #[schemars(with = "Vec<CallLatency>")]
    pub latency: Value,
    /// Whether the disclosure of the compliance pack was said; null where none was required, and where the call was over
    /// before the time for it was.
    #[schemars(with = "Option<CallDisclosure>")]
    pub disclosure: Option<Value>,
}

/// Whether a disclosure was said.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallDisclosure {
    /// Whether it was said in time.
    pub result: DisclosureWord,
    /// The language in which it was; null when it was not.
    pub language: Option<String>,
    /// Seconds after the answer by which it had to be said.
    pub within_seconds: i64,
    /// The compliance pack that required it.
    pub pack: String,
}

/// The result of a disclosure.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisclosureWord {
    /// It was said in time.
    Kept,
    /// It was not.
    Missed,
}

/// Who said a turn of the transcript.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The agent.
    Agent,
    /// The person.
    Customer,
}

/// A turn of the conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallTurn {
    /// Who spoke: `agent` or `customer`.
    pub role: Speaker,
    /// The words of the turn; of an interrupted one only those that were heard.
    pub text: String,
    /// The language in which the conversation goes on because of this turn; absent where it does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<LanguageCode>")]
    pub language: Option<String>,
}

/// The transcript of a call's recording.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FullTranscript {
    /// Progress of the transcript; null if there is none, because the feature is off or nothing was said.
    pub status: Option<FullTranscriptStatus>,
    /// The turns with their times, oldest first; null until `status` is `done`.
    pub turns: Option<Vec<TranscriptTurn>>,
}

/// Progress of a transcript: `pending`, `processing`, `done`, or `failed` when it could not be made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullTranscriptStatus {
    /// It waits.
    Pending,
    /// It is being made.
    Processing,
    /// It is there.
    Done,
    /// It could not be made.
    Failed,
}

/// A turn of the recording.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TranscriptTurn {
    /// Who spoke: `agent` or `customer`.
    pub speaker: String,
    /// The words of the turn.
    pub text: String,
    /// When the turn starts, in seconds after the answer.
    pub start: f64,
}

/// A write-back of a call to a connected system.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorPush {
    /// The system: `hubspot`, `salesforce`, `zoho` or `shopify`.
    pub provider: String,
    /// `success` if the system took it, `failed` if it did not, `skipped` if there was nothing to write.
    pub status: ConnectorPushStatus,
    /// Why it failed, for people; null otherwise.
    pub error: Option<String>,
    /// When the result was recorded.
    pub created_at: Timestamp,
}

/// Result of a write-back to a connected system.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorPushStatus {
    /// It was taken.
    Success,
    /// It was not.
    Failed,
    /// There was nothing to send.
    Skipped,
}

/// Response time of one answer of the agent, in milliseconds after the customer stopped speaking.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallLatency {
    /// Index of the answer among all turns of the transcript, from 0.
    pub turn: i64,
    /// When the customer's turn was judged to be over, in milliseconds.
    pub endpoint_ms: i64,
    /// When the recognised words were available, in milliseconds; null if there was no such step.
    pub transcript_ms: Option<i64>,
    /// When the language model returned its first word, in milliseconds; null if no model was asked.
    pub first_token_ms: Option<i64>,
    /// When the first sound was synthesised, in milliseconds; null if there was none.
    pub first_audio_ms: Option<i64>,
    /// When the first sound packet was sent, in milliseconds; null if there was none.
    pub first_packet_ms: Option<i64>,
}

/// A call that is being hung up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EndingCall {
    /// Id of the call, `call_…`.
    pub id: Id<ids::Call>,
    /// Always `ending`; the call's own `state` is `ended` once it is over.
    #[schemars(extend("enum" = ["ending"]))]
    pub state: &'static str,
}

fn list_query() -> Vec<Field> {
    vec![
        limit(200),
        cursor(),
        may("state", request::<Stage>().doc("Only calls in this state.")),
        may("agentId", text_of(1, 200).doc("Only calls of this agent.")),
        may("campaignId", text_of(1, 200).doc("Only calls of this campaign.")),
        may("contactId", text_of(1, 200).doc("Only calls with this contact.")),
        may("direction", request::<Direction>().doc("Only calls in this direction.")),
        may("from", time().doc("Only calls that started at or after this time.")),
        may("to", time().doc("Only calls that started before this time.")),
        may(
            "status",
            text_of(1, 40).doc("Only calls with this raw status; an unknown one gives an empty list."),
        ),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, "/v1/calls", "placeCall", "Calls", "Place a call now")
        .about(
            "Answers when the carrier has accepted the call, not when somebody answers; the result \
             follows in events. The call is dialled once: send an `Idempotency-Key` and repeat the \
             request after a lost answer. 502 `call_not_placed`: nobody was called. 502 \
             `possibly_placed`: the phone may have rung, and the call is never repeated. 422 \
             `call_blocked`: a compliance gate refused.",
        )
        .scope(CALLS_WRITE)
        .rate(RateClass::Calls)
        .idempotent(Idempotency::Optional)
        .body(request::<NewCall>)
        .answers(&[(200, Some(answer::<PlacedCall>))])
        .errors(PLACING),
    operation(GET, "/v1/calls", "listCalls", "Calls", "Calls of the key's mode, newest first")
        .scope(CALLS_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<Call>))]),
    operation(GET, "/v1/calls/{id}", "getCall", "Calls", "One call with transcript, analysis and recording")
        .about(
            "Results of the conversation follow its end within seconds or minutes; until then they are \
             null or empty.",
        )
        .scope(CALLS_READ)
        .answers(&[(200, Some(data::<CallDetail>))]),
    operation(POST, "/v1/calls/{id}/hangup", "hangUpCall", "Calls", "Hang up a live call")
        .about(
            "Answers 202 while the call rings or is answered, and again while it is ending. The end \
             follows as the event `call.completed`, or `call.failed` if nobody had answered, with \
             `endCause` `api_hangup`.",
        )
        .scope(CALLS_WRITE)
        .answers(&[(202, Some(data::<EndingCall>))])
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

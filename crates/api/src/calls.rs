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

/// What a call is placed with.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCall {
    /// A published, outbound call agent.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// Indian (+91) subscriber number; local formats are normalized.
    #[schemars(length(min = 8, max = 20))]
    pub to_number: String,
    /// An active number of the workspace; default the first one.
    #[schemars(length(min = 1, max = 40))]
    pub from_number: Option<String>,
    /// Your own id of the person: the same contact across calls.
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: Option<String>,
    /// Name to string, number or boolean; overrides the contact's saved values for this call.
    // What is over the usual limits is told in warnings, what is over these is refused
    // (docs/contract/calls.md#variables).
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::CEILING_COUNT, "x-maxBytes" = variables::CEILING_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables"))]
    pub variables: Map<String, Value>,
    /// Kept on the call and sent with its webhooks; the agent never sees it.
    // Its limits are those of `domain::call::check_metadata`.
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::MAX_KEYS, "x-maxBytes" = 2 * variables::MAX_BYTES))]
    pub metadata: Map<String, Value>,
}

/// A call that the carrier took.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacedCall {
    /// Always true.
    pub placed: bool,
    /// The call's id.
    pub interaction_id: Id<ids::Call>,
    /// The carrier's id of the call.
    pub provider_call_id: String,
    /// What was over a limit; absent when nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Its id.
    pub id: Id<ids::Call>,
    /// The person.
    pub contact_id: Option<Id<ids::Contact>>,
    /// The campaign that dialled it.
    pub campaign_id: Option<Id<ids::Campaign>>,
    /// The agent that talks.
    pub agent_id: Option<Id<ids::Agent>>,
    /// Always `voice`.
    #[schemars(extend("enum" = ["voice"]))]
    pub channel: &'static str,
    /// Who called whom.
    pub direction: Direction,
    /// Raw stored status; prefer `state`.
    pub status: Status,
    /// Where it is.
    pub state: Stage,
    /// The agent's disposition.
    pub outcome: Option<String>,
    /// The number that was dialled.
    pub to_number: String,
    /// The number that was shown.
    pub from_number: String,
    /// Whether somebody picked up.
    pub answered: bool,
    /// When somebody picked up.
    pub answered_at: Option<Timestamp>,
    /// Who picked up. Null while that is not known, when nobody did, and for incoming calls. It stays when a person takes
    /// over from a screening assistant or an announcement.
    pub answered_by: Option<AnsweredBy>,
    /// Why it ended.
    pub end_cause: Option<String>,
    /// When it was placed.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Talk time, answer to end; null while live and when nobody picked up.
    pub duration_seconds: Option<i64>,
    /// What the client gave as `metadata`.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
}

/// A call with everything that is known of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallDetail {
    /// What a list shows.
    #[serde(flatten)]
    pub call: Call,
    /// The carrier that it came in on, or that its own number goes out on; null for the first one of the settings.
    pub carrier: Option<String>,
    /// Analysis in a few sentences.
    pub summary: Option<String>,
    /// What was said, turn by turn.
    #[schemars(with = "Vec<CallTurn>")]
    pub transcript: Value,
    /// Captured fields.
    #[schemars(with = "Map<String, Value>")]
    pub extracted: Value,
    /// Signed link that works for five minutes without a key; null while the recording is processed and without
    /// one.
    pub recording_url: Option<String>,
    /// The transcript of the recording.
    #[schemars(with = "FullTranscript")]
    pub full_transcript: Value,
    /// What was sent to connected accounts, newest first.
    #[schemars(with = "Vec<ConnectorPush>")]
    pub connector_pushes: Value,
    /// Where the time between the end of what the customer said and the agent's first sound went.
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

/// Who speaks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The agent.
    Agent,
    /// The person.
    Customer,
}

/// A turn of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallTurn {
    /// Who said it.
    pub role: Speaker,
    /// What was said.
    pub text: String,
    /// The language in which the conversation goes on because of this turn; absent where it does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<LanguageCode>")]
    pub language: Option<String>,
}

/// The transcript of a recording.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FullTranscript {
    /// How far it is; null without a recording.
    pub status: Option<FullTranscriptStatus>,
    /// What was said; null until it is done.
    pub turns: Option<Vec<TranscriptTurn>>,
}

/// How far a transcript is.
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

/// A turn with its time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TranscriptTurn {
    /// Who said it.
    pub speaker: String,
    /// What was said.
    pub text: String,
    /// Seconds after the beginning of the recording.
    pub start: f64,
}

/// What became of a call's data at a connected account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorPush {
    /// The account's provider.
    pub provider: String,
    /// How it went.
    pub status: ConnectorPushStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// When it was sent.
    pub created_at: Timestamp,
}

/// How sending to a connected account went.
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

/// How long an answer of the agent took.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallLatency {
    /// The agent's answer, counted from 0 among all turns of the transcript.
    pub turn: i64,
    /// Milliseconds after the customer's last sound at which the turn was judged to be over.
    pub endpoint_ms: i64,
    /// … at which the words were there.
    pub transcript_ms: Option<i64>,
    /// … of the language model's first word; null when none was asked.
    pub first_token_ms: Option<i64>,
    /// … of the first synthesised sound.
    pub first_audio_ms: Option<i64>,
    /// … at which the first packet left.
    pub first_packet_ms: Option<i64>,
}

/// A call that is being ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EndingCall {
    /// Its id.
    pub id: Id<ids::Call>,
    /// Always `ending`.
    #[schemars(extend("enum" = ["ending"]))]
    pub state: &'static str,
}

fn list_query() -> Vec<Field> {
    vec![
        limit(200),
        cursor(),
        may("state", request::<Stage>()),
        may("agentId", text_of(1, 200)),
        may("campaignId", text_of(1, 200)),
        may("contactId", text_of(1, 200)),
        may("direction", request::<Direction>()),
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
        .body(request::<NewCall>)
        .answers(&[(200, Some(answer::<PlacedCall>))])
        .errors(PLACING),
    operation(GET, "/v1/calls", "listCalls", "Calls", "Calls, newest first")
        .scope(CALLS_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<Call>))]),
    operation(GET, "/v1/calls/{id}", "getCall", "Calls", "One call with transcript and captured fields")
        .scope(CALLS_READ)
        .answers(&[(200, Some(data::<CallDetail>))]),
    operation(POST, "/v1/calls/{id}/hangup", "hangUpCall", "Calls", "End a live call")
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

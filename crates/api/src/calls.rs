//! Calls: placing, reading, hanging up (docs/contract/calls.md).

use domain::call::{AnsweredBy, Direction, Stage, Status, Warning, variables};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agents::LanguageCode;
use crate::error_codes as codes;
use crate::evaluations::Evaluation;
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

/// A call as it is stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StoredCall")]
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
    /// The number that was called, E.164; `[erased]` if it was the contact's and the contact was erased, `[expired]` if the call
    /// has expired.
    pub to_number: String,
    /// The number that called, E.164; `[erased]` if it was the contact's and the contact was erased, `[expired]` if the call
    /// has expired.
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
    /// Number of the flow version that the conversation ran; null until it is over, when nobody was talked with, and for
    /// calls from before versions were kept.
    pub flow_version: Option<i64>,
}

/// A call, as a list shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Call")]
pub struct ListedCall {
    /// The call without names and charges.
    #[serde(flatten)]
    pub call: Call,
    /// The contact's name; null when it is not known, and once the contact is erased.
    pub contact_name: Option<String>,
    /// The agent's name, kept after its deletion; null for a call without an agent.
    pub agent_name: Option<String>,
    /// What the call cost in minor units, those of a transfer included; null while it is live, 0 for calls that are not
    /// charged.
    pub charged_minor: Option<i64>,
}

/// Number of calls with one value of a property.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallFacet {
    /// The value, as the filter of the list takes it.
    pub value: String,
    /// The name of an agent or a campaign, kept after its deletion; null for other properties.
    pub name: Option<String>,
    /// Number of calls with this value.
    pub count: u64,
}

/// Number of calls that began on one day in India (UTC+05:30).
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallsOfDay {
    /// The day in India, `YYYY-MM-DD`.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// Number of calls that began on this day.
    pub count: u64,
}

/// How many calls a list has, in all and by property. Each property has at most 200 values, the most frequent first; calls
/// without a value are in `total` only.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallCounts {
    /// Number of calls that the filters admit.
    pub total: u64,
    /// Number of calls by `state`.
    pub state: Vec<CallFacet>,
    /// Number of calls by `direction`.
    pub direction: Vec<CallFacet>,
    /// Number of calls by `outcome`.
    pub outcome: Vec<CallFacet>,
    /// Number of calls by `endCause`.
    pub end_cause: Vec<CallFacet>,
    /// Number of calls by agent; the value is its id.
    pub agent: Vec<CallFacet>,
    /// Number of calls by campaign; the value is its id.
    pub campaign: Vec<CallFacet>,
    /// Number of calls by day, in order; days without calls are left out.
    pub days: Vec<CallsOfDay>,
}

/// What the agent's reaction consists of, each part in milliseconds. The parts add up to `total`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReactionParts {
    /// Until the words of the customer were recognised.
    pub recognition: i64,
    /// From there until the customer's turn was judged to be over.
    pub endpointing: i64,
    /// From there until the language model's first word; 0 when none was asked.
    pub model: i64,
    /// From there until the first sound was synthesised.
    pub synthesis: i64,
    /// From there until the first sound packet was sent.
    pub playout: i64,
    /// From the end of what the customer said to the first sound packet.
    pub total: i64,
}

/// A tool that was called in a turn.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnTool {
    /// Id or name of the tool.
    pub tool: String,
    /// When it was called, in seconds after the answer.
    pub at: f64,
    /// How long it took, in milliseconds; null if the call was over first.
    pub took_ms: Option<i64>,
    /// Whether it answered; null if the call was over first.
    pub ok: Option<bool>,
}

/// A turn of a call with its times and what happened in it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnOfCall {
    /// Index of the turn in the transcript, from 0.
    pub turn: usize,
    /// Who spoke: `agent` or `customer`.
    #[schemars(with = "Speaker")]
    pub role: domain::conversation::Role,
    /// The words of the turn; of an interrupted one only those that were heard.
    pub text: String,
    /// When it began, in seconds after the answer.
    pub start: f64,
    /// When it ended, in seconds after the answer.
    pub end: f64,
    /// Until when the customer heard the agent, in seconds after the answer; null when the turn was heard to its end, and
    /// for turns of the customer.
    pub heard_until: Option<f64>,
    /// The agent's reaction in this turn; null where it was not measured.
    pub reaction: Option<ReactionParts>,
    /// Tools that were called in this turn.
    pub tools: Vec<TurnTool>,
    /// Fields that were captured in this turn; their values are in `extracted` of the call.
    pub captures: Vec<String>,
}

/// The providers that took part in a call, as the settings name them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProvidersOfCall {
    /// The recogniser of speech; null when it is not known.
    pub recognition: Option<String>,
    /// The language model; null when none was asked.
    pub model: Option<String>,
    /// The synthesiser of speech; null when it is not known.
    pub synthesis: Option<String>,
}

/// What was said on a call, turn by turn, with its times.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnsOfCall {
    /// Id of the call whose turns these are, `call_…`.
    pub call_id: Id<ids::Call>,
    /// The providers that took part.
    pub providers: ProvidersOfCall,
    /// The turns, oldest first; empty until the call has ended, and once the contact is erased.
    pub turns: Vec<TurnOfCall>,
}

/// How loud both sides of a recording are, for a picture of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Peaks {
    /// Length of a step in milliseconds, from 100.
    pub step_ms: i64,
    /// The loudest sample of the customer in each step, from 0 to 255; at most 2,000 steps.
    pub customer: Vec<u8>,
    /// The loudest sample of the agent in each step, from 0 to 255.
    pub agent: Vec<u8>,
}

/// The peaks of a call's recording.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeaksOfCall {
    /// Id of the call whose recording was measured, `call_…`.
    pub call_id: Id<ids::Call>,
    /// Null while the recording is processed, and when there is none.
    pub peaks: Option<Peaks>,
}

/// A call with the results of its conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub call: ListedCall,
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
    /// The last 20 evaluations of the call, newest first.
    pub evaluations: Vec<Evaluation>,
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
    /// What was said in the turn.
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
    let mut query = vec![limit(200), cursor()];
    query.extend(filters());
    query
}

fn filters() -> Vec<Field> {
    vec![
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
        may("outcome", text_of(1, 120).doc("Only calls with this `outcome`.")),
        may("endCause", text_of(1, 120).doc("Only calls with this `endCause`.")),
        may("number", text_of(8, 40).doc("Only calls with this whole number of a person, in any usual notation.")),
        may(
            "q",
            text_of(1, 120).doc(
                "Only calls with people whose name has words that begin so, or whose reference begins so. A whole \
                 number is looked up as `number`. With more than 200,000 calls between `from` and `to`, narrow those first.",
            ),
        ),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, "/v1/calls", "placeCall", "Calls", "Place a call now")
        .traffic()
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
        .about(
            "With `outcome`, `endCause` or `q` a page may be short or empty although `nextCursor` is set.",
        )
        .answers(&[(200, Some(page::<ListedCall>))]),
    operation(GET, "/v1/calls/counts", "countCalls", "Calls", "How many calls a list has, in all and by property")
        .about(
            "Takes the filters of the list, and all of them apply to every count. Exact. Calls of test keys are counted \
             up to 200,000 between `from` and `to`.",
        )
        .scope(CALLS_READ)
        .query(filters)
        .answers(&[(200, Some(data::<CallCounts>))]),
    operation(GET, "/v1/calls/{id}/turns", "getCallTurns", "Calls", "The turns of a call with times, tools and captures")
        .scope(CALLS_READ)
        .answers(&[(200, Some(data::<TurnsOfCall>))]),
    operation(GET, "/v1/calls/{id}/peaks", "getCallPeaks", "Calls", "How loud both sides of a call's recording are")
        .about("For a picture of the recording. It has no words.")
        .scope(CALLS_READ)
        .answers(&[(200, Some(data::<PeaksOfCall>))]),
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

//! Nudges: one on-demand call to one number, with a life of its own (docs/contract/nudges.md).

use domain::ids::{Agent, Call, Id, Nudge as NudgeKind};
use domain::nudge::{MAX_VARIABLES, MAX_VARIABLES_BYTES, ResultCode, Status};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::calls::metadata;
use crate::error_codes as codes;
use crate::operations::Method::{GET, POST};
use crate::operations::{Idempotency, Operation, RateClass, operation};
use crate::schema::{
    Field, Schema, any, boolean, choice, closed_object, count, cursor, data, id, integer, limit, list,
    list_of, map, map_of, may, need, object, or, page, text, text_of, time,
};
use crate::scopes::{NUDGES_READ, NUDGES_WRITE};

/// Most ids of `POST /v1/nudges/cancel`.
const MOST_IDS: usize = 1_000;
/// Words of `retry.on`.
const RETRY_ON: &[&str] = &["no_answer", "busy"];

/// Body of `POST /v1/nudges`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewNudge {
    /// The agent that talks.
    pub agent_id: String,
    /// Whom to call, in any usual writing.
    pub to_number: String,
    /// Own number to show; the first active one when absent.
    #[serde(default)]
    pub from_number: Option<String>,
    /// The client's own id of the nudge.
    #[serde(default)]
    pub external_ref: Option<String>,
    /// Values of the conversation.
    #[serde(default)]
    pub variables: Map<String, Value>,
    /// The client's notes.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Dial no earlier than this.
    #[serde(default)]
    pub scheduled_at: Option<String>,
    /// `queue` or `reject`.
    pub outside_window: String,
    /// Give up after this.
    #[serde(default)]
    pub expires_at: Option<String>,
    /// When an unanswered dial is repeated.
    pub retry: RetryBody,
}

/// Retry policy on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryBody {
    /// Dials after the first, 0 to 2.
    pub max_retries: i64,
    /// `no_answer`, `busy`.
    pub on: Vec<String>,
    /// Minutes between a dial's end and the next dial, 10 to 240.
    pub delay_minutes: i64,
}

/// A nudge as clients see it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Nudge {
    /// Its id.
    pub id: Id<NudgeKind>,
    /// Who talks.
    pub agent_id: Id<Agent>,
    /// Where it is now.
    pub status: &'static str,
    /// How it ended, once finished.
    pub result: Option<&'static str>,
    /// Why it is held, or how it ended.
    pub status_reason: Option<String>,
    /// The gate that refused it.
    pub block_reason: Option<&'static str>,
    /// E.164, or `[erased]`.
    pub to_number: String,
    /// Own number, E.164; null when the workspace had none.
    pub from_number: Option<String>,
    /// The client's own id.
    pub external_ref: Option<String>,
    /// As supplied, every value as text.
    pub variables: Value,
    /// As supplied.
    pub metadata: Value,
    /// `queue` or `reject`.
    pub outside_window: &'static str,
    /// Dial no earlier than this.
    pub scheduled_at: Option<Timestamp>,
    /// While queued or scheduled.
    pub next_attempt_at: Option<Timestamp>,
    /// Give up after this.
    pub expires_at: Timestamp,
    /// Retry policy.
    pub retry: RetryBody,
    /// Dials made so far.
    pub attempts: u8,
    /// Call of the attempt that is live, or of the last one.
    pub call_id: Option<Id<Call>>,
    /// False for nudges of a test key.
    pub livemode: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

/// One dial of a nudge.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Its call.
    pub call_id: Id<Call>,
    /// When it was placed.
    pub started_at: Timestamp,
    /// When somebody picked up.
    pub answered_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_cause: Option<String>,
    /// Talk time.
    pub duration_seconds: Option<i64>,
    /// The agent's disposition.
    pub outcome: Option<String>,
    /// Analysis in a few sentences.
    pub summary: Option<String>,
    /// Captured fields.
    pub extracted: Option<Value>,
}

/// Answer of `GET /v1/nudges/{id}`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NudgeDetail {
    /// The nudge.
    #[serde(flatten)]
    pub nudge: Nudge,
    /// Its dials, the first one first.
    pub attempts_list: Vec<Attempt>,
    /// Short-lived link.
    pub recording_url: Option<String>,
}

/// Body of `POST /v1/nudges/cancel`.
#[derive(Debug, Deserialize)]
pub struct BulkCancel {
    /// These.
    #[serde(default)]
    pub ids: Option<Vec<String>>,
    /// Everything that waits.
    #[serde(default)]
    pub all: Option<bool>,
}

/// Answer of `POST /v1/nudges/cancel`.
#[derive(Debug, Default, Serialize)]
pub struct Cancelled {
    /// How many.
    pub cancelled: usize,
    /// Which.
    pub ids: Vec<Id<NudgeKind>>,
}

/// Body of `POST /v1/nudges/preflight`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreflightBody {
    /// The agent that would talk.
    pub agent_id: String,
    /// Whom it would call.
    pub to_number: String,
}

/// Answer of `POST /v1/nudges/preflight`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// E.164.
    pub to_number: String,
    /// A compliance gate would refuse.
    pub blocked: bool,
    /// Which.
    pub block_reason: Option<&'static str>,
    /// A dial could start now.
    pub inside_window: bool,
    /// When the window next opens.
    pub next_window_at: Option<Timestamp>,
}

/// A decision about a nudge.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// When.
    pub at: Timestamp,
    /// What asked for it.
    pub event: String,
    /// `{check, ok, …}` of everything that was looked at, with the value seen.
    pub checks: Value,
    /// `queue`, `hold`, `dial`, `ring`, `connect`, `talk`, `note` or `finish`.
    pub decision: String,
    /// Status afterwards.
    pub status: String,
    /// Why it waits or ended.
    pub reason: Option<String>,
    /// Until when it waits.
    pub until: Option<Timestamp>,
    /// The call that it is about.
    pub call_id: Option<Id<Call>>,
    /// How often the same was decided in a row.
    pub times: i64,
    /// When last.
    pub last_at: Timestamp,
}

fn statuses() -> Vec<&'static str> {
    Status::ALL.iter().map(|status| status.as_str()).collect()
}

fn results() -> Vec<&'static str> {
    ResultCode::ALL.iter().map(|result| result.as_str()).collect()
}

fn retry_body() -> Schema {
    closed_object(vec![
        or("maxRetries", integer(0, 2), json!(0)),
        or("on", list_of(choice(RETRY_ON), 1, 20), json!(RETRY_ON)),
        or("delayMinutes", integer(10, 240), json!(30)),
    ])
}

fn variables() -> Schema {
    let doc = "Name to string, number or boolean; overrides the contact's saved values for this call.";
    map_of(any(), MAX_VARIABLES).within(2 * MAX_VARIABLES_BYTES).refused_as(codes::INVALID_VARIABLES).doc(doc)
}

fn new_nudge() -> Schema {
    closed_object(vec![
        need("agentId", text_of(1, 200).doc("A published, outbound call agent.")),
        need("toNumber", text_of(8, 20).doc("Indian (+91) subscriber number; local formats are normalized.")),
        may("fromNumber", text_of(1, 40).doc("An active number of the workspace; default the first one.")),
        may("externalRef", text_of(1, 120).doc("Your own id of the nudge; never written onto the contact.")),
        may("variables", variables()),
        may("metadata", metadata("Kept on the nudge and its calls; the agent never sees it.")),
        may("scheduledAt", time().doc("Dial no earlier than this.")),
        or(
            "outsideWindow",
            choice(&["queue", "reject"]).doc("Wait for the calling window, or do not call outside it."),
            json!("queue"),
        ),
        may("expiresAt", time().doc("Give up after this; default 24 hours from now, at most 72 hours.")),
        or("retry", retry_body(), json!({"maxRetries": 0, "on": RETRY_ON, "delayMinutes": 30})),
    ])
}

fn nudge() -> Schema {
    object(vec![
        need("id", id::<NudgeKind>()),
        need("agentId", id::<Agent>()),
        need("status", choice(&statuses())),
        need("result", choice(&results()).or_null()),
        need("statusReason", text().or_null()),
        need("blockReason", text().or_null()),
        need("toNumber", text()),
        need("fromNumber", text().or_null()),
        need("externalRef", text().or_null()),
        need("variables", map(text())),
        need("metadata", map(any())),
        need("outsideWindow", choice(&["queue", "reject"])),
        need("scheduledAt", time().or_null()),
        need("nextAttemptAt", time().or_null()),
        need("expiresAt", time()),
        need(
            "retry",
            object(vec![
                need("maxRetries", count()),
                need("on", list(choice(RETRY_ON))),
                need("delayMinutes", count()),
            ]),
        ),
        need("attempts", count()),
        need("callId", id::<Call>().or_null()),
        need("livemode", boolean()),
        need("createdAt", time()),
        need("finishedAt", time().or_null()),
    ])
}

fn attempt() -> Schema {
    object(vec![
        need("callId", id::<Call>()),
        need("startedAt", time()),
        need("answeredAt", time().or_null()),
        need("endedAt", time().or_null()),
        need("endCause", text().or_null()),
        need("durationSeconds", count().or_null()),
        need("outcome", text().or_null()),
        need("summary", text().or_null()),
        need("extracted", map(any()).or_null()),
    ])
}

fn nudge_answer() -> Schema {
    data(nudge())
}

fn detail_answer() -> Schema {
    data(nudge().and(vec![need("attemptsList", list(attempt())), need("recordingUrl", text().or_null())]))
}

fn page_answer() -> Schema {
    page(nudge())
}

fn list_query() -> Vec<Field> {
    vec![
        may("status", choice(&statuses())),
        may("result", choice(&results())),
        may("agentId", text_of(1, 200)),
        may("externalRef", text_of(1, 120)),
        may("toNumber", text_of(1, 40).doc("The exact number.")),
        may("createdAfter", time().doc("Made at or after.")),
        may("createdBefore", time().doc("Made before.")),
        limit(200),
        cursor(),
    ]
}

fn bulk_body() -> Schema {
    object(vec![may("ids", list_of(text_of(0, 200), 0, MOST_IDS)), may("all", boolean())])
}

fn bulk_answer() -> Schema {
    data(object(vec![need("cancelled", count()), need("ids", list(id::<NudgeKind>()))]))
}

fn preflight_body() -> Schema {
    object(vec![need("agentId", text_of(1, 200)), need("toNumber", text_of(8, 20))])
}

fn preflight_answer() -> Schema {
    data(object(vec![
        need("toNumber", text()),
        need("blocked", boolean()),
        need("blockReason", text().or_null()),
        need("insideWindow", boolean()),
        need("nextWindowAt", time().or_null()),
    ]))
}

fn timeline_answer() -> Schema {
    data(list(object(vec![
        need("at", time()),
        need("event", text()),
        need("checks", list(map(any()))),
        need("decision", choice(&["queue", "hold", "dial", "ring", "connect", "talk", "note", "finish"])),
        need("status", choice(&statuses())),
        need("reason", text().or_null()),
        need("until", time().or_null()),
        need("callId", id::<Call>().or_null()),
        need("times", count()),
        need("lastAt", time()),
    ])))
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(
        POST,
        "/v1/nudges",
        "createNudge",
        "Nudges",
        "Call a number once, soon or at a set time, within the calling window",
    )
    .scope(NUDGES_WRITE)
    .rate(RateClass::Nudges)
    .idempotent(Idempotency::Required)
    .body(new_nudge)
    .answers(&[(201, Some(nudge_answer))])
    .errors(&[
        codes::UNKNOWN_FIELD,
        codes::INVALID_VARIABLES,
        codes::FROM_NUMBER_NOT_OWNED,
        codes::NOT_FOUND,
        codes::NUDGE_IN_FLIGHT,
        codes::CONTACT_ERASED,
        codes::AGENT_NOT_PUBLISHED,
        codes::AGENT_NOT_CALL,
        codes::AGENT_NOT_OUTBOUND,
        codes::MISSING_REQUIRED_VARIABLES,
        codes::FLOW_NOT_READY,
        codes::INVALID_SCHEDULE,
        codes::OUTSIDE_CALLING_WINDOW,
        codes::PENDING_LIMIT,
    ]),
    operation(GET, "/v1/nudges", "listNudges", "Nudges", "Nudges of the key's mode, newest first")
        .scope(NUDGES_READ)
        .query(list_query)
        .answers(&[(200, Some(page_answer))]),
    operation(POST, "/v1/nudges/cancel", "cancelNudges", "Nudges", "Cancel many nudges that wait")
        .scope(NUDGES_WRITE)
        .body(bulk_body)
        .answers(&[(200, Some(bulk_answer))]),
    operation(
        POST,
        "/v1/nudges/preflight",
        "preflightNudge",
        "Nudges",
        "Whether a nudge could be dialled now; nothing is stored",
    )
    .scope(NUDGES_READ)
    .body(preflight_body)
    .answers(&[(200, Some(preflight_answer))])
    .errors(&[
        codes::NOT_FOUND,
        codes::AGENT_NOT_PUBLISHED,
        codes::AGENT_NOT_CALL,
        codes::AGENT_NOT_OUTBOUND,
    ]),
    operation(GET, "/v1/nudges/{id}", "getNudge", "Nudges", "One nudge with its attempts")
        .scope(NUDGES_READ)
        .answers(&[(200, Some(detail_answer))]),
    operation(POST, "/v1/nudges/{id}/cancel", "cancelNudge", "Nudges", "Cancel a nudge that waits")
        .scope(NUDGES_WRITE)
        .answers(&[(200, Some(nudge_answer))])
        .errors(&[codes::NUDGE_NOT_CANCELLABLE]),
    operation(
        GET,
        "/v1/nudges/{id}/timeline",
        "getNudgeTimeline",
        "Nudges",
        "Every decision about a nudge, in order: what was checked and why it waits",
    )
    .scope(NUDGES_READ)
    .answers(&[(200, Some(timeline_answer))]),
];

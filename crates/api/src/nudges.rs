//! Nudges: one on-demand call to one number, with a life of its own (docs/contract/nudges.md).

use std::collections::BTreeMap;

use domain::call::variables;
use domain::ids::{self, Id};
use domain::nudge::{MAX_VARIABLES, MAX_VARIABLES_BYTES, OutsideWindow, ResultCode, Status};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error_codes as codes;
use crate::operation::Method::{GET, POST};
use crate::operation::{Idempotency, Operation, RateClass, operation};
use crate::schema::{Field, cursor, data, limit, list, may, page, request, text_of, time};
use crate::scopes::{NUDGES_READ, NUDGES_WRITE};

/// What a nudge is made with.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NewNudge {
    /// A published, outbound call agent.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// Indian (+91) subscriber number; local formats are normalized.
    #[schemars(length(min = 8, max = 20))]
    pub to_number: String,
    /// An active number of the workspace; default the first one.
    #[schemars(length(min = 1, max = 40))]
    pub from_number: Option<String>,
    /// Your own id of the nudge; never written onto the contact.
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: Option<String>,
    /// Name to string, number or boolean; overrides the contact's saved values for this call.
    #[serde(default)]
    #[schemars(extend("maxProperties" = MAX_VARIABLES, "x-maxBytes" = 2 * MAX_VARIABLES_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables"))]
    pub variables: Map<String, Value>,
    /// Kept on the nudge and its calls; the agent never sees it.
    // Its limits are those of `domain::call::check_metadata`.
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::MAX_KEYS, "x-maxBytes" = 2 * variables::MAX_BYTES))]
    pub metadata: Map<String, Value>,
    /// Dial no earlier than this.
    #[schemars(with = "Option<Timestamp>")]
    pub scheduled_at: Option<String>,
    /// Wait for the calling window, or do not call outside it.
    #[schemars(with = "OutsideWindow", extend("default" = "queue"))]
    pub outside_window: String,
    /// Give up after this; default 24 hours from now, at most 72 hours.
    #[schemars(with = "Option<Timestamp>")]
    pub expires_at: Option<String>,
    /// When an unanswered dial is repeated; never by default.
    #[schemars(extend("default" = json!({"maxRetries": 0, "on": ["no_answer", "busy"], "delayMinutes": 30})))]
    pub retry: NewNudgeRetry,
}

/// When an unanswered dial is to be repeated.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NewNudgeRetry {
    /// Dials after the first.
    #[schemars(range(min = 0, max = 2), extend("default" = 0))]
    pub max_retries: i64,
    /// After which results.
    #[schemars(with = "Vec<RetryOn>", length(min = 1, max = 20), extend("default" = ["no_answer", "busy"]))]
    pub on: Vec<String>,
    /// Minutes between a dial's end and the next dial.
    #[schemars(range(min = 10, max = 240), extend("default" = 30))]
    pub delay_minutes: i64,
}

/// A result after which a dial can be repeated.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryOn {
    /// Nobody answered.
    NoAnswer,
    /// The line was busy.
    Busy,
}

/// When an unanswered dial is repeated.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeRetry {
    /// Dials after the first.
    pub max_retries: i64,
    /// After which results.
    #[schemars(with = "Vec<RetryOn>")]
    pub on: Vec<&'static str>,
    /// Minutes between a dial's end and the next dial.
    pub delay_minutes: i64,
}

/// One on-demand call to one number.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nudge {
    /// Its id.
    pub id: Id<ids::Nudge>,
    /// The agent that talks.
    pub agent_id: Id<ids::Agent>,
    /// Where it is now.
    pub status: Status,
    /// How it ended; null until it is finished.
    pub result: Option<ResultCode>,
    /// Why it is held, or how it ended.
    pub status_reason: Option<String>,
    /// The compliance gate that refused it.
    pub block_reason: Option<&'static str>,
    /// The number to call, E.164, or `[erased]`.
    pub to_number: String,
    /// The number to show, E.164; null when the workspace had none.
    pub from_number: Option<String>,
    /// Your own id of the nudge.
    pub external_ref: Option<String>,
    /// Values of the conversation, as text.
    #[schemars(with = "BTreeMap<String, String>")]
    pub variables: Value,
    /// What the client gave as `metadata`.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
    /// Whether it waits for the calling window.
    pub outside_window: OutsideWindow,
    /// Dial no earlier than this.
    pub scheduled_at: Option<Timestamp>,
    /// When it is looked at next, while it is queued or scheduled.
    pub next_attempt_at: Option<Timestamp>,
    /// Give up after this.
    pub expires_at: Timestamp,
    /// When an unanswered dial is repeated.
    pub retry: NudgeRetry,
    /// Dials made so far.
    pub attempts: u8,
    /// Call of the attempt that is live, or of the last one.
    pub call_id: Option<Id<ids::Call>>,
    /// False for nudges of a test key.
    pub livemode: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

/// One dial of a nudge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeAttempt {
    /// Its call.
    pub call_id: Id<ids::Call>,
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
    /// Analysis in a few sentences; null for a key without `calls:read`.
    pub summary: Option<String>,
    /// Captured fields; null for a key without `calls:read`.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub extracted: Option<Value>,
}

/// A nudge with its attempts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeDetail {
    /// What a list shows.
    #[serde(flatten)]
    pub nudge: Nudge,
    /// Its dials, the first one first.
    pub attempts_list: Vec<NudgeAttempt>,
    /// Signed link that works for five minutes without a key.
    pub recording_url: Option<String>,
}

/// Which nudges are to be cancelled.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NudgeCancellation {
    /// Ids of nudges.
    #[schemars(length(max = 1_000), inner(length(max = 200)))]
    pub ids: Option<Vec<String>>,
    /// Whether everything that waits is.
    pub all: Option<bool>,
}

/// What was cancelled.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct CancelledNudges {
    /// How many.
    pub cancelled: usize,
    /// Their ids.
    pub ids: Vec<Id<ids::Nudge>>,
}

/// A nudge that could be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgePreflight {
    /// The agent that would talk.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// The number that it would call.
    #[schemars(length(min = 8, max = 20))]
    pub to_number: String,
    /// The own number that it would show; the first one of the workspace otherwise.
    #[schemars(length(min = 1, max = 40), extend("x-nullable" = true))]
    pub from_number: Option<String>,
}

/// What a compliance gate lets through and objects to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateWarning {
    /// The gate.
    pub gate: &'static str,
    /// What it objects to, for people.
    pub message: String,
}

/// What would become of a nudge.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeForecast {
    /// The number, E.164.
    pub to_number: String,
    /// Whether a compliance gate would refuse it.
    pub blocked: bool,
    /// The gate.
    pub block_reason: Option<&'static str>,
    /// What the refusal demands, for people; null when the gate says it all.
    pub block_message: Option<String>,
    /// What would go out and stand in the decision log with a warning.
    pub warnings: Vec<GateWarning>,
    /// Whether the calling window is open.
    pub inside_window: bool,
    /// When the calling window opens next.
    pub next_window_at: Option<Timestamp>,
}

/// A decision about a nudge.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeTimelineEntry {
    /// When it was made.
    pub at: Timestamp,
    /// What asked for a decision.
    pub event: String,
    /// What was checked and the value seen.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub checks: Value,
    /// What was decided.
    #[schemars(with = "NudgeDecision")]
    pub decision: String,
    /// Status afterwards.
    #[schemars(with = "Status")]
    pub status: String,
    /// Why it waits or ended.
    pub reason: Option<String>,
    /// How long it waits.
    pub until: Option<Timestamp>,
    /// The call that it is about.
    pub call_id: Option<Id<ids::Call>>,
    /// How often the same was decided in a row.
    pub times: i64,
    /// When it was decided last.
    pub last_at: Timestamp,
}

/// What is decided about a nudge.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NudgeDecision {
    /// It is due.
    Queue,
    /// It waits.
    Hold,
    /// It is dialled.
    Dial,
    /// The phone rings.
    Ring,
    /// Somebody picked up.
    Connect,
    /// The call is live.
    Talk,
    /// Nothing changes.
    Note,
    /// It is over.
    Finish,
}

fn list_query() -> Vec<Field> {
    vec![
        may("status", request::<Status>()),
        may("result", request::<ResultCode>()),
        may("agentId", text_of(1, 200)),
        may("externalRef", text_of(1, 120)),
        may("toNumber", text_of(1, 40).doc("The exact number.")),
        may("createdAfter", time().doc("Made at or after.")),
        may("createdBefore", time().doc("Made before.")),
        limit(200),
        cursor(),
    ]
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
    .body(request::<NewNudge>)
    .answers(&[(201, Some(data::<Nudge>))])
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
        .answers(&[(200, Some(page::<Nudge>))]),
    operation(POST, "/v1/nudges/cancel", "cancelNudges", "Nudges", "Cancel many nudges that wait")
        .scope(NUDGES_WRITE)
        .body(request::<NudgeCancellation>)
        .answers(&[(200, Some(data::<CancelledNudges>))]),
    operation(
        POST,
        "/v1/nudges/preflight",
        "preflightNudge",
        "Nudges",
        "Whether a nudge could be dialled now; nothing is stored",
    )
    .scope(NUDGES_READ)
    .body(request::<NudgePreflight>)
    .answers(&[(200, Some(data::<NudgeForecast>))])
    .errors(&[
        codes::NOT_FOUND,
        codes::AGENT_NOT_PUBLISHED,
        codes::AGENT_NOT_CALL,
        codes::AGENT_NOT_OUTBOUND,
        codes::FROM_NUMBER_NOT_OWNED,
    ]),
    operation(GET, "/v1/nudges/{id}", "getNudge", "Nudges", "One nudge with its attempts")
        .scope(NUDGES_READ)
        .answers(&[(200, Some(data::<NudgeDetail>))]),
    operation(POST, "/v1/nudges/{id}/cancel", "cancelNudge", "Nudges", "Cancel a nudge that waits")
        .scope(NUDGES_WRITE)
        .answers(&[(200, Some(data::<Nudge>))])
        .errors(&[codes::NUDGE_NOT_CANCELLABLE]),
    operation(
        GET,
        "/v1/nudges/{id}/timeline",
        "getNudgeTimeline",
        "Nudges",
        "Every decision about a nudge, in order: what was checked and why it waits",
    )
    .scope(NUDGES_READ)
    .answers(&[(200, Some(list::<NudgeTimelineEntry>))]),
];

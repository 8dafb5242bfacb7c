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

/// The request to create a nudge. Unknown fields are refused with 400 `unknown_field`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NewNudge {
    /// Id of a published, outbound call agent, `agt_…`.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// The Indian (+91) subscriber number to call, in any usual notation.
    #[schemars(length(min = 8, max = 20))]
    pub to_number: String,
    /// The caller id: an active number of the workspace. Absent: the first active one.
    #[schemars(length(min = 1, max = 40))]
    pub from_number: Option<String>,
    /// Your own id of the nudge; it is not stored on the contact.
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: Option<String>,
    /// Values for the agent's flow: name to text of at most 120 characters, number or boolean. They override
    /// the contact's saved values for this call.
    #[serde(default)]
    #[schemars(extend("maxProperties" = MAX_VARIABLES, "x-maxBytes" = 2 * MAX_VARIABLES_BYTES))]
    #[schemars(extend("x-refusedAs" = "invalid_variables"))]
    pub variables: Map<String, Value>,
    /// Kept on the nudge and its calls; the agent never sees it.
    // Its limits are those of `domain::call::check_metadata`.
    /// Your own data: up to 20 keys of text, number, boolean or null, 4 KB as JSON. Returned with the nudge
    /// and its events; the agent never sees it.
    #[serde(default)]
    #[schemars(extend("maxProperties" = variables::MAX_KEYS, "x-maxBytes" = 2 * variables::MAX_BYTES))]
    pub metadata: Map<String, Value>,
    /// Dial no earlier than this time; up to 5 seconds in the past means now.
    #[schemars(with = "Option<Timestamp>")]
    pub scheduled_at: Option<String>,
    /// `queue`: wait for the calling window; `reject`: do not call outside it (422 `outside_calling_window`).
    #[schemars(with = "OutsideWindow", extend("default" = "queue"))]
    pub outside_window: String,
    /// Give up after this time. Absent: 24 hours from now; at most 72 hours ahead.
    #[schemars(with = "Option<Timestamp>")]
    pub expires_at: Option<String>,
    /// When an unanswered dial is retried; by default never.
    #[schemars(extend("default" = json!({"maxRetries": 0, "on": ["no_answer", "busy"], "delayMinutes": 30})))]
    pub retry: NewNudgeRetry,
}

/// When an unanswered dial is retried. Unknown fields are refused.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NewNudgeRetry {
    /// Number of dials after the first one.
    #[schemars(range(min = 0, max = 2), extend("default" = 0))]
    pub max_retries: i64,
    /// Results after which the nudge is dialled again.
    #[schemars(with = "Vec<RetryOn>", length(min = 1, max = 20), extend("default" = ["no_answer", "busy"]))]
    pub on: Vec<String>,
    /// Minutes between the end of a dial and the next dial.
    #[schemars(range(min = 10, max = 240), extend("default" = 30))]
    pub delay_minutes: i64,
}

/// A result after which a dial is retried: `no_answer` or `busy`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryOn {
    /// Nobody answered.
    NoAnswer,
    /// The line was busy.
    Busy,
}

/// When an unanswered dial is retried.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeRetry {
    /// Number of dials after the first one.
    pub max_retries: i64,
    /// Results after which the nudge is dialled again.
    #[schemars(with = "Vec<RetryOn>")]
    pub on: Vec<&'static str>,
    /// Minutes between the end of a dial and the next dial.
    pub delay_minutes: i64,
}

/// A nudge: one on-demand call to one number.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nudge {
    /// Id of the nudge, `ndg_…`.
    pub id: Id<ids::Nudge>,
    /// Id of the agent that calls, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// `queued` (due), `scheduled` (held until `nextAttemptAt`), `dialing` (picked up), `in_progress` or
    /// `finished`.
    pub status: Status,
    /// The final result; null until the nudge is finished.
    pub result: Option<ResultCode>,
    /// While it waits, why; once finished, how it ended. Null while it waits for `scheduledAt`, and with
    /// `blockReason`.
    pub status_reason: Option<String>,
    /// The compliance gate that refused the call: `dnd`, `opt_out`, `frequency_cap`, `consent` or
    /// `calling_window`; null otherwise.
    pub block_reason: Option<&'static str>,
    /// The number to call, E.164; `[erased]` once the contact is erased.
    pub to_number: String,
    /// The caller id, E.164; null if the workspace had no number.
    pub from_number: Option<String>,
    /// Your own id of the nudge; null without one and once the contact is erased.
    pub external_ref: Option<String>,
    /// Values for the agent's flow, as text; empty once the contact is erased.
    #[schemars(with = "BTreeMap<String, String>")]
    pub variables: Value,
    /// The `metadata` of the request; empty once the contact is erased.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
    /// `queue` or `reject`: what happens outside the calling window.
    pub outside_window: OutsideWindow,
    /// Dial no earlier than this time; null for at once.
    pub scheduled_at: Option<Timestamp>,
    /// When the nudge is dialled or checked next; null unless it waits.
    pub next_attempt_at: Option<Timestamp>,
    /// The nudge gives up after this time.
    pub expires_at: Timestamp,
    /// When an unanswered dial is retried.
    pub retry: NudgeRetry,
    /// Number of dials so far; holds do not count.
    pub attempts: u8,
    /// Id of the answered call, and after the end of the last call; null while the nudge waits.
    pub call_id: Option<Id<ids::Call>>,
    /// False for a nudge of a test key, whose call is simulated.
    pub livemode: bool,
    /// When the nudge was created.
    pub created_at: Timestamp,
    /// When the nudge finished; null before that.
    pub finished_at: Option<Timestamp>,
}

/// One dial of a nudge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeAttempt {
    /// Id of the call, `call_…`; fetch it with `GET /v1/calls/{id}`.
    pub call_id: Id<ids::Call>,
    /// When the call was placed.
    pub started_at: Timestamp,
    /// When the call was picked up; null if it was not.
    pub answered_at: Option<Timestamp>,
    /// When the call ended; null while it is live.
    pub ended_at: Option<Timestamp>,
    /// Why the call ended; null while it is live.
    pub end_cause: Option<String>,
    /// Talk time in seconds; null while the call is live and when nobody picked up.
    pub duration_seconds: Option<i64>,
    /// The agent's disposition as a key; null until it is known.
    pub outcome: Option<String>,
    /// Summary of the conversation; null until the analysis is done, and for a key without `calls:read`.
    pub summary: Option<String>,
    /// Captured and extracted values by key; null for a key without `calls:read`.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub extracted: Option<Value>,
}

/// A nudge with its dials.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub nudge: Nudge,
    /// The dials, first one first.
    pub attempts_list: Vec<NudgeAttempt>,
    /// Signed link to the newest recording, which needs no key and works for five minutes; null without one,
    /// and for a key without `calls:read`.
    pub recording_url: Option<String>,
}

/// The nudges to cancel: exactly one of `ids` and `all`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NudgeCancellation {
    /// Ids of nudges; those that do not wait are skipped.
    #[schemars(length(max = 1_000), inner(length(max = 200)))]
    pub ids: Option<Vec<String>>,
    /// `true` cancels every nudge that waits in the key's mode.
    pub all: Option<bool>,
}

/// The nudges that were cancelled.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct CancelledNudges {
    /// Number of nudges that were cancelled.
    pub cancelled: usize,
    /// Ids of the cancelled nudges.
    pub ids: Vec<Id<ids::Nudge>>,
}

/// A nudge to be checked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgePreflight {
    /// Id of a published, outbound call agent, `agt_…`.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// The number that would be called, in any usual notation.
    #[schemars(length(min = 8, max = 20))]
    pub to_number: String,
    /// The own number that it would show; the first one of the workspace otherwise.
    #[schemars(length(min = 1, max = 40), extend("x-nullable" = true))]
    pub from_number: Option<String>,
}

/// What a compliance gate lets through and objects to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateWarning {
    /// Name of the compliance gate.
    pub gate: &'static str,
    /// What the gate objects to, as a sentence.
    pub message: String,
}

/// What would happen to a nudge now. Nothing is stored or dialled.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeForecast {
    /// The number that would be called, E.164.
    pub to_number: String,
    /// True if a compliance gate other than the calling window would refuse the call.
    pub blocked: bool,
    /// The first gate that would refuse the call; null if none would.
    pub block_reason: Option<&'static str>,
    /// What the refusal demands, for people; null when the gate says it all.
    pub block_message: Option<String>,
    /// What would go out and stand in the decision log with a warning.
    pub warnings: Vec<GateWarning>,
    /// Whether the calling window is open.
    pub inside_window: bool,
    /// The next opening of the calling window after now; null if there is none in the next 400 days.
    pub next_window_at: Option<Timestamp>,
}

/// A decision about a nudge.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeTimelineEntry {
    /// When the decision was made.
    pub at: Timestamp,
    /// What caused the decision, such as `created` or `due`.
    pub event: String,
    /// The conditions that were checked, each with its value and `ok`.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub checks: Value,
    /// The decision that was made.
    #[schemars(with = "NudgeDecision")]
    pub decision: String,
    /// Status of the nudge after the decision.
    #[schemars(with = "Status")]
    pub status: String,
    /// Why the nudge waits or ended; null otherwise.
    pub reason: Option<String>,
    /// Until when the nudge waits; null unless the decision is `hold`.
    pub until: Option<Timestamp>,
    /// Id of the call that the decision is about; null without one.
    pub call_id: Option<Id<ids::Call>>,
    /// How often the same decision was made in a row.
    pub times: i64,
    /// When the same decision was made last.
    pub last_at: Timestamp,
}

/// A decision about a nudge: `queue` (it is due), `hold` (it waits), `dial`, `ring`, `connect` (picked up),
/// `talk`, `note` (nothing changes) or `finish`.
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
        may("status", request::<Status>().doc("Only nudges with this status.")),
        may("result", request::<ResultCode>().doc("Only nudges with this result.")),
        may("agentId", text_of(1, 200).doc("Only nudges of this agent.")),
        may("externalRef", text_of(1, 120).doc("Only nudges with this reference of yours.")),
        may("toNumber", text_of(1, 40).doc("Only nudges to this number, in any usual notation.")),
        may("createdAfter", time().doc("Only nudges that were created at or after this time.")),
        may("createdBefore", time().doc("Only nudges that were created before this time.")),
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
        "Call a number once, now or later, within the calling window",
    )
    .traffic()
    .about(
        "Stores the nudge and dials when it is due. Money, lines and compliance gates are checked \
         then. A number has one live nudge: another one is 409 `nudge_in_flight` with \
         `meta.nudgeId`. Unknown fields are 400.",
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
        .about(
            "`summary`, `extracted` and `recordingUrl` are shown only to keys that also have \
             `calls:read`.",
        )
        .scope(NUDGES_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<Nudge>))]),
    operation(POST, "/v1/nudges/cancel", "cancelNudges", "Nudges", "Cancel many waiting nudges")
        .about(
            "Nudges that are being dialled, live, finished or unknown are skipped. Works in durable \
             steps of 200: after a lost answer, repeat the request.",
        )
        .scope(NUDGES_WRITE)
        .body(request::<NudgeCancellation>)
        .answers(&[(200, Some(data::<CancelledNudges>))]),
    operation(
        POST,
        "/v1/nudges/preflight",
        "preflightNudge",
        "Nudges",
        "Check whether a nudge could be dialled now",
    )
    .about("Nothing is stored or dialled.")
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
    operation(GET, "/v1/nudges/{id}", "getNudge", "Nudges", "One nudge with its dials")
        .about("`summary`, `extracted` and `recordingUrl` are null for keys without `calls:read`.")
        .scope(NUDGES_READ)
        .answers(&[(200, Some(data::<NudgeDetail>))]),
    operation(POST, "/v1/nudges/{id}/cancel", "cancelNudge", "Nudges", "Cancel a waiting nudge")
        .about("409 `nudge_not_cancellable` if it is being dialled, live or finished.")
        .scope(NUDGES_WRITE)
        .answers(&[(200, Some(data::<Nudge>))])
        .errors(&[codes::NUDGE_NOT_CANCELLABLE]),
    operation(
        GET,
        "/v1/nudges/{id}/timeline",
        "getNudgeTimeline",
        "Nudges",
        "Every decision about a nudge, in order",
    )
    .about("Holds no personal data.")
    .scope(NUDGES_READ)
    .answers(&[(200, Some(list::<NudgeTimelineEntry>))]),
];

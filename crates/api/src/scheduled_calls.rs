//! Calls at a set time (docs/contract/scheduled-calls.md), and their timelines.

use domain::call::Warning;
use domain::ids::{Agent, Call, Id, ScheduledCall};
use domain::scheduled_call::Status;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::{NewCall, placement_fields, warnings};
use crate::error_codes as codes;
use crate::operations::Method::{DELETE, GET, POST};
use crate::operations::{Idempotency, Operation, operation};
use crate::schema::{
    Field, Schema, any, choice, data, id, integer, limit, list, map, may, need, object, offset, text, time,
};
use crate::scopes::{CALLS_READ, CALLS_WRITE};

/// Body of `POST /v1/scheduled-calls`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewScheduledCall {
    /// What the call is placed with.
    #[serde(flatten)]
    pub call: NewCall,
    /// When.
    pub scheduled_at: Timestamp,
}

/// A scheduled call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledCallView {
    /// Its id.
    pub id: Id<ScheduledCall>,
    /// Who will talk.
    pub agent_id: Id<Agent>,
    /// `scheduled`, `placed`, `failed` or `cancelled`.
    pub status: &'static str,
    /// As the client asked.
    pub scheduled_at: Timestamp,
    /// When it is tried next.
    pub next_attempt_at: Option<Timestamp>,
    /// Tries so far.
    pub attempts: u8,
    /// The call, once placed.
    pub call_id: Option<Id<Call>>,
    /// Why it waits, failed or was cancelled.
    pub reason: Option<&'static str>,
    /// Whom to call.
    pub to_number: String,
    /// Own number, if the client chose one.
    pub from_number: Option<String>,
    /// The client's own id of the person.
    pub external_ref: Option<String>,
    /// Values of the conversation.
    pub variables: Value,
    /// The client's notes.
    pub metadata: Value,
    /// When it was made.
    pub created_at: Timestamp,
}

/// `{data, warnings?}`.
#[derive(Debug, Serialize)]
pub struct Scheduled {
    /// The scheduled call.
    pub data: ScheduledCallView,
    /// What was over a limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Shape of [`ScheduledCallView`].
pub fn scheduled_call() -> Schema {
    object(vec![
        need("id", id::<ScheduledCall>()),
        need("agentId", id::<Agent>()),
        need("status", choice(&Status::ALL.map(Status::as_str))),
        need("scheduledAt", time()),
        need("nextAttemptAt", time().or_null().doc("When it is tried next; null while it is being dialled and at the end.")),
        need("attempts", integer(0, 3)),
        need("callId", id::<Call>().or_null().doc("Null until placed.")),
        need("reason", text().or_null().doc("Why it waits, failed or was cancelled; the codes of a nudge's `statusReason`, and `rate_limited` while it waits for the next minute.")),
        need("toNumber", text()),
        need("fromNumber", text().or_null()),
        need("externalRef", text().or_null()),
        need("variables", map(any())),
        need("metadata", map(any())),
        need("createdAt", time()),
    ])
}

fn new_scheduled_call() -> Schema {
    let at = time().doc("From now up to 30 days ahead.");
    object(placement_fields()).and(vec![need("scheduledAt", at)])
}

fn one() -> Schema {
    data(scheduled_call())
}

fn made() -> Schema {
    data(scheduled_call()).and(vec![may("warnings", warnings())])
}

fn many() -> Schema {
    data(list(scheduled_call()))
}

fn list_query() -> Vec<Field> {
    vec![may("status", choice(&Status::ALL.map(Status::as_str))), limit(200), offset()]
}

/// Shape of a timeline, the same as a nudge's: every decision in order, first one first.
pub fn timeline() -> Schema {
    data(list(object(vec![
        need("at", time()),
        need("event", text().doc("What asked for a decision: created, due, placed, answered, ended, …")),
        need("checks", list(map(any())).doc("What was checked and the value seen.")),
        need("decision", choice(&["hold", "dial", "ring", "talk", "finish"])),
        need("status", text().doc("Status or state afterwards.")),
        need("reason", text().or_null()),
        need("until", time().or_null().doc("How long it waits.")),
        need("callId", id::<Call>().or_null()),
        need("times", integer(1, i64::MAX)),
        need("lastAt", time()),
    ])))
}

/// Errors of scheduling a call: those of a placement that concern agent, variables, workspace and numbers,
/// and the time.
const SCHEDULING: &[&codes::ErrorCode] = &[
    codes::NOT_FOUND,
    codes::AGENT_NOT_PUBLISHED,
    codes::AGENT_NOT_CALL,
    codes::AGENT_NOT_OUTBOUND,
    codes::INVALID_VARIABLES,
    codes::MISSING_REQUIRED_VARIABLES,
    codes::FLOW_NOT_READY,
    codes::KYB_REQUIRED,
    codes::FROM_NUMBER_NOT_OWNED,
    codes::NO_PHONE_NUMBER,
    codes::SCHEDULED_AT_IN_PAST,
    codes::SCHEDULED_AT_TOO_FAR,
];

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(POST, "/v1/scheduled-calls", "scheduleCall", "Scheduled calls", "Place a call at a set time")
        .scope(CALLS_WRITE)
        .idempotent(Idempotency::Optional)
        .body(new_scheduled_call)
        .answers(&[(201, Some(made))])
        .errors(SCHEDULING),
    operation(
        GET,
        "/v1/scheduled-calls",
        "listScheduledCalls",
        "Scheduled calls",
        "Scheduled calls, newest first",
    )
    .scope(CALLS_READ)
    .query(list_query)
    .answers(&[(200, Some(many))]),
    operation(GET, "/v1/scheduled-calls/{id}", "getScheduledCall", "Scheduled calls", "One scheduled call")
        .scope(CALLS_READ)
        .answers(&[(200, Some(one))]),
    operation(
        DELETE,
        "/v1/scheduled-calls/{id}",
        "cancelScheduledCall",
        "Scheduled calls",
        "Cancel a call that is not placed yet",
    )
    .scope(CALLS_WRITE)
    .answers(&[(200, Some(one))])
    .errors(&[codes::SCHEDULED_CALL_NOT_CANCELLABLE]),
    operation(
        GET,
        "/v1/scheduled-calls/{id}/timeline",
        "getScheduledCallTimeline",
        "Scheduled calls",
        "Every decision about it, in order",
    )
    .scope(CALLS_READ)
    .answers(&[(200, Some(timeline))]),
    operation(
        GET,
        "/v1/calls/{id}/timeline",
        "getCallTimeline",
        "Calls",
        "What was checked and what happened, in order",
    )
    .scope(CALLS_READ)
    .answers(&[(200, Some(timeline))]),
];

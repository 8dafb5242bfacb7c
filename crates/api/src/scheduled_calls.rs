//! Calls at a set time (docs/contract/scheduled-calls.md), and their timelines.

use domain::call::Warning;
use domain::ids::{self, Id};
use domain::scheduled_call::Status;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::calls::NewCall;
use crate::error_codes as codes;
use crate::operation::Method::{DELETE, GET, POST};
use crate::operation::{Idempotency, Operation, operation};
use crate::schema::{Field, answer, data, limit, list, may, offset, request};
use crate::scopes::{CALLS_READ, CALLS_WRITE};

/// What a call at a set time is placed with.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewScheduledCall {
    /// What the call is placed with.
    #[serde(flatten)]
    pub call: NewCall,
    /// From now up to 30 days ahead.
    pub scheduled_at: Timestamp,
}

/// A call at a set time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledCall {
    /// Its id.
    pub id: Id<ids::ScheduledCall>,
    /// The agent that will talk.
    pub agent_id: Id<ids::Agent>,
    /// Where it is.
    pub status: Status,
    /// When it is to be placed, as the client asked.
    pub scheduled_at: Timestamp,
    /// When it is tried next; null while it is being dialled and at the end.
    pub next_attempt_at: Option<Timestamp>,
    /// Tries so far.
    #[schemars(range(min = 0, max = 3))]
    pub attempts: u8,
    /// The call; null until it is placed.
    pub call_id: Option<Id<ids::Call>>,
    /// Why it waits, failed or was cancelled; the codes of a nudge's `statusReason`.
    pub reason: Option<&'static str>,
    /// The number to call.
    pub to_number: String,
    /// The number to show, if the client chose one.
    pub from_number: Option<String>,
    /// Your own id of the person.
    pub external_ref: Option<String>,
    /// Values of the conversation.
    #[schemars(with = "Map<String, Value>")]
    pub variables: Value,
    /// What the client gave as `metadata`.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A scheduled call that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScheduledCallMade {
    /// The scheduled call.
    pub data: ScheduledCall,
    /// What was over a limit; absent when nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A decision about a call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallTimelineEntry {
    /// When it was made.
    pub at: Timestamp,
    /// What asked for a decision: created, due, placed, answered, ended, …
    pub event: String,
    /// What was checked and the value seen.
    pub checks: Vec<Map<String, Value>>,
    /// What was decided.
    pub decision: CallDecision,
    /// Status or state afterwards.
    pub status: String,
    /// Why it waits or ended.
    pub reason: Option<String>,
    /// How long it waits.
    pub until: Option<Timestamp>,
    /// The call that it is about.
    pub call_id: Option<Id<ids::Call>>,
    /// How often the same was decided in a row.
    #[schemars(range(min = 1))]
    pub times: i64,
    /// When it was decided last.
    pub last_at: Timestamp,
}

/// What is decided about a call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallDecision {
    /// It waits.
    Hold,
    /// It is dialled.
    Dial,
    /// The phone rings.
    Ring,
    /// Somebody picked up.
    Talk,
    /// It is over.
    Finish,
}

/// A page of scheduled calls.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledCallPage {
    /// The calls, newest first.
    pub data: Vec<ScheduledCall>,
    /// The `offset` of the next page; null on the last one.
    pub next_offset: Option<i64>,
}

fn list_query() -> Vec<Field> {
    vec![may("status", request::<Status>()), limit(200), offset()]
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
        .body(request::<NewScheduledCall>)
        .answers(&[(201, Some(answer::<ScheduledCallMade>))])
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
    .answers(&[(200, Some(answer::<ScheduledCallPage>))]),
    operation(GET, "/v1/scheduled-calls/{id}", "getScheduledCall", "Scheduled calls", "One scheduled call")
        .scope(CALLS_READ)
        .answers(&[(200, Some(data::<ScheduledCall>))]),
    operation(
        DELETE,
        "/v1/scheduled-calls/{id}",
        "cancelScheduledCall",
        "Scheduled calls",
        "Cancel a call that is not placed yet",
    )
    .scope(CALLS_WRITE)
    .answers(&[(200, Some(data::<ScheduledCall>))])
    .errors(&[codes::SCHEDULED_CALL_NOT_CANCELLABLE]),
    operation(
        GET,
        "/v1/scheduled-calls/{id}/timeline",
        "getScheduledCallTimeline",
        "Scheduled calls",
        "Every decision about it, in order",
    )
    .scope(CALLS_READ)
    .answers(&[(200, Some(list::<CallTimelineEntry>))]),
    operation(
        GET,
        "/v1/calls/{id}/timeline",
        "getCallTimeline",
        "Calls",
        "What was checked and what happened, in order",
    )
    .scope(CALLS_READ)
    .answers(&[(200, Some(list::<CallTimelineEntry>))]),
];

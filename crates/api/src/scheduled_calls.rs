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

/// The request to schedule a call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewScheduledCall {
    /// The fields of a placement.
    #[serde(flatten)]
    pub call: NewCall,
    /// When to place the call: up to 30 days ahead; up to 5 seconds in the past means now.
    pub scheduled_at: Timestamp,
}

/// A call that is placed at a set time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledCall {
    /// Id of the scheduled call, `scall_…`.
    pub id: Id<ids::ScheduledCall>,
    /// Id of the agent that calls, `agt_…`.
    pub agent_id: Id<ids::Agent>,
    /// `scheduled`, `placed`, `failed` or `cancelled`.
    pub status: Status,
    /// When the call is to be placed, as requested.
    pub scheduled_at: Timestamp,
    /// When the call is tried next; null while it is dialled and once it is over.
    pub next_attempt_at: Option<Timestamp>,
    /// Number of tries so far, at most three; waiting for the calling hours does not count.
    #[schemars(range(min = 0, max = 3))]
    pub attempts: u8,
    /// Id of the call, `call_…`; null until it is placed.
    pub call_id: Option<Id<ids::Call>>,
    /// Why it waits, failed or was cancelled: a code as in `statusReason` of a nudge; null otherwise.
    pub reason: Option<&'static str>,
    /// The number to call, E.164; `[erased]` once the contact is erased.
    pub to_number: String,
    /// The caller id that was requested, E.164; null for the first active number of the workspace.
    pub from_number: Option<String>,
    /// Your own id of the contact; null without one and once the contact is erased.
    pub external_ref: Option<String>,
    /// Values for the agent's flow, as they will be used; empty once the contact is erased.
    #[schemars(with = "Map<String, Value>")]
    pub variables: Value,
    /// The `metadata` of the request; empty once the contact is erased.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
    /// When the scheduled call was created.
    pub created_at: Timestamp,
}

/// A call that was scheduled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScheduledCallMade {
    /// The scheduled call that was created.
    pub data: ScheduledCall,
    /// Variables that exceed a limit and were shortened or used unchanged; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A decision about a call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallTimelineEntry {
    /// When the decision was made.
    pub at: Timestamp,
    /// What caused the decision, such as `created`, `due`, `placed`, `answered` or `ended`.
    pub event: String,
    /// The conditions that were checked, each with its value and `ok`.
    pub checks: Vec<Map<String, Value>>,
    /// The decision that was made.
    pub decision: CallDecision,
    /// Status or state after the decision.
    pub status: String,
    /// Why the call waits or ended; null otherwise.
    pub reason: Option<String>,
    /// Until when the call waits; null unless the decision is `hold`.
    pub until: Option<Timestamp>,
    /// Id of the call that the decision is about; null without one.
    pub call_id: Option<Id<ids::Call>>,
    /// How often the same decision was made in a row.
    #[schemars(range(min = 1))]
    pub times: i64,
    /// When the same decision was made last.
    pub last_at: Timestamp,
}

/// A decision about a call: `hold` (it waits), `dial`, `ring`, `talk` (picked up) or `finish`.
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
    /// The scheduled calls of this page, newest first.
    pub data: Vec<ScheduledCall>,
    /// `offset` of the next page; null on the last page.
    pub next_offset: Option<i64>,
}

fn list_query() -> Vec<Field> {
    vec![
        may("status", request::<Status>().doc("Only scheduled calls with this status.")),
        limit(200),
        offset(),
    ]
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
        .traffic()
        .about(
            "Agent, variables, verification and numbers are checked at once, with the refusals of a \
             placement; money, lines and compliance gates when the call is due. Outside the calling \
             hours it waits for the next opening.",
        )
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
        "Cancel a scheduled call",
    )
    .about(
        "409 `scheduled_call_not_cancellable` with `meta.status` once it is placed, failed or \
         cancelled, or while it is being dialled.",
    )
    .scope(CALLS_WRITE)
    .answers(&[(200, Some(data::<ScheduledCall>))])
    .errors(&[codes::SCHEDULED_CALL_NOT_CANCELLABLE]),
    operation(
        GET,
        "/v1/scheduled-calls/{id}/timeline",
        "getScheduledCallTimeline",
        "Scheduled calls",
        "Every decision about a scheduled call and its call, in order",
    )
    .scope(CALLS_READ)
    .answers(&[(200, Some(list::<CallTimelineEntry>))]),
    operation(
        GET,
        "/v1/calls/{id}/timeline",
        "getCallTimeline",
        "Calls",
        "Every decision about a call, in order",
    )
    .about("Holds no personal data.")
    .scope(CALLS_READ)
    .answers(&[(200, Some(list::<CallTimelineEntry>))]),
];

//! Events of nudges (docs/contract/webhooks.md#nudge-data).

use domain::ids::{self, Id};
use domain::nudge::{OutsideWindow, ResultCode, Status};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::samples::{AGENT, BUSINESS, CALL, PHONE, at, id};
use crate::nudges::{Nudge, NudgeAttempt, NudgeRetry};

/// A nudge whose dial ended unanswered and that will be dialled again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndedAttempt {
    #[serde(flatten)]
    pub nudge: Nudge,
    /// The dial that ended; absent if there was no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<NudgeAttempt>,
}

/// A nudge that has its final result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FinishedNudge {
    #[serde(flatten)]
    nudge: Nudge,
    #[serde(flatten)]
    last: Option<LastAttempt>,
    /// The last dial; absent if there was no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<NudgeAttempt>,
}

/// The members of the last dial beside those of the nudge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LastAttempt {
    /// When the last call was placed.
    started_at: Timestamp,
    /// When the last call was picked up; null if it was not.
    answered_at: Option<Timestamp>,
    /// When the last call ended.
    ended_at: Option<Timestamp>,
    /// Why the last call ended.
    end_cause: Option<String>,
    /// Talk time in seconds; null when nobody picked up.
    duration_seconds: Option<i64>,
    /// The agent's disposition as a key; null until it is known.
    outcome: Option<String>,
    /// Summary of the conversation; null until the analysis is done.
    summary: Option<String>,
    /// Captured and extracted values by key; null without any.
    #[schemars(with = "Option<Map<String, Value>>")]
    extracted: Option<Value>,
}

impl FinishedNudge {
    /// A finished nudge with its last dial. `callId` names that dial, also where the nudge itself shows none because it
    /// finished without another one.
    pub fn new(nudge: Nudge, attempt: Option<NudgeAttempt>) -> Self {
        let call_id: Option<Id<ids::Call>> =
            attempt.as_ref().map(|attempt| attempt.call_id).or(nudge.call_id);
        let last = attempt.clone().map(|attempt| LastAttempt {
            started_at: attempt.started_at,
            answered_at: attempt.answered_at,
            ended_at: attempt.ended_at,
            end_cause: attempt.end_cause,
            duration_seconds: attempt.duration_seconds,
            outcome: attempt.outcome,
            summary: attempt.summary,
            extracted: attempt.extracted,
        });
        Self { nudge: Nudge { call_id, ..nudge }, last, attempt }
    }

    pub(super) fn sample() -> Self {
        let nudge = Nudge {
            status: Status::Finished,
            result: Some(ResultCode::Connected),
            status_reason: Some("agent_ended".into()),
            next_attempt_at: None,
            attempts: 1,
            finished_at: Some(at("2026-01-16T03:30:44.000Z")),
            ..scheduled()
        };
        Self::new(nudge, Some(attempt()))
    }
}

pub(super) fn scheduled() -> Nudge {
    Nudge {
        id: id("ndg_01k9v5x2m8e6fs4v0q3n7w1y33"),
        agent_id: id(AGENT),
        status: Status::Scheduled,
        result: None,
        status_reason: Some("outside_calling_window".into()),
        block_reason: None,
        to_number: PHONE.into(),
        from_number: Some(BUSINESS.into()),
        external_ref: Some("order_77".into()),
        variables: json!({"name": "Asha"}),
        metadata: json!({}),
        outside_window: OutsideWindow::Queue,
        scheduled_at: None,
        next_attempt_at: Some(at("2026-01-16T03:30:00.000Z")),
        expires_at: at("2026-01-16T16:00:00.000Z"),
        retry: NudgeRetry { max_retries: 1, on: vec!["no_answer", "busy"], delay_minutes: 30 },
        attempts: 0,
        call_id: None,
        livemode: false,
        created_at: at("2026-01-15T16:00:00.000Z"),
        finished_at: None,
    }
}

pub(super) fn dialing() -> Nudge {
    Nudge {
        status: Status::Dialing,
        status_reason: None,
        next_attempt_at: None,
        attempts: 1,
        call_id: Some(id(CALL)),
        ..scheduled()
    }
}

fn attempt() -> NudgeAttempt {
    NudgeAttempt {
        call_id: id(CALL),
        started_at: at("2026-01-16T03:30:00.000Z"),
        answered_at: Some(at("2026-01-16T03:30:02.000Z")),
        ended_at: Some(at("2026-01-16T03:30:44.000Z")),
        end_cause: Some("agent_ended".into()),
        duration_seconds: Some(42),
        outcome: Some("interested".into()),
        summary: Some("Asha will pay on Friday.".into()),
        extracted: Some(json!({"payment_date": "2026-01-16"})),
    }
}

impl EndedAttempt {
    pub(super) fn sample() -> Self {
        let unanswered = NudgeAttempt {
            answered_at: None,
            end_cause: Some("no_answer".into()),
            duration_seconds: None,
            outcome: None,
            summary: None,
            extracted: Some(json!({})),
            ..attempt()
        };
        let nudge = Nudge { status_reason: Some("retry".into()), attempts: 1, ..scheduled() };
        Self { nudge, attempt: Some(unanswered) }
    }
}

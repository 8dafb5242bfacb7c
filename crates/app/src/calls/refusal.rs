//! Why a call is not placed (docs/contract/calls.md#refusals).

use api::error_codes as codes;
use domain::compliance::{Gate, SeriesDemand};
use domain::nudge::Refusal;
use serde_json::{Value, json};

use crate::Failure;

/// `Retry-After` without a line, seconds.
const LINES_RETRY: i64 = 10;
/// `Retry-After` while real carriers are not used, seconds.
const REST_RETRY: i64 = 30;

/// Why a call is not placed, in the order of the checks.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    /// 404
    AgentNotFound,
    /// 422
    AgentNotPublished,
    /// 422
    AgentNotCall,
    /// 422
    AgentNotOutbound,
    /// 400; the name of the variable.
    InvalidVariables(String),
    /// 422; their names.
    MissingVariables(Vec<String>),
    /// 422; the issues.
    FlowNotReady(Value),
    /// 403
    WorkspaceSuspended,
    /// 403
    KybRequired,
    /// 400
    InvalidNumber,
    /// 400
    FromNumberNotOwned,
    /// 400
    NoNumber,
    /// 402
    InsufficientBalance,
    /// 422; the gate, and the series that `number_series` wants.
    Blocked(Gate, Option<SeriesDemand>),
    /// 429; whether it is the platform's cap.
    LinesFull {
        /// The platform's lines, not the workspace's.
        platform: bool,
    },
    /// 503
    NoCarrier,
    /// 503; real carriers are not used now.
    CarrierRests,
}

impl Refused {
    /// The refusal of a due dial that only the client can fix; `None` for what has a fact of its own
    /// ([`domain::due_dial::DueFacts`]).
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Refused::AgentNotFound => Some(Refusal::AgentNotFound),
            Refused::AgentNotPublished => Some(Refusal::AgentNotPublished),
            Refused::AgentNotCall => Some(Refusal::AgentNotCall),
            Refused::AgentNotOutbound => Some(Refusal::AgentNotOutbound),
            Refused::MissingVariables(_) => Some(Refusal::MissingRequiredVariables),
            Refused::FlowNotReady(_) => Some(Refusal::FlowNotReady),
            Refused::WorkspaceSuspended => Some(Refusal::WorkspaceSuspended),
            Refused::KybRequired => Some(Refusal::KybRequired),
            Refused::NoNumber => Some(Refusal::NoCallerId),
            Refused::InvalidVariables(_) | Refused::InvalidNumber => Some(Refusal::PlacementRefused),
            Refused::FromNumberNotOwned
            | Refused::InsufficientBalance
            | Refused::Blocked(..)
            | Refused::LinesFull { .. }
            | Refused::NoCarrier
            | Refused::CarrierRests => None,
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::AgentNotFound => Failure::not_found("agent"),
            Refused::AgentNotPublished => Failure::plain(codes::AGENT_NOT_PUBLISHED),
            Refused::AgentNotCall => Failure::plain(codes::AGENT_NOT_CALL),
            Refused::AgentNotOutbound => Failure::plain(codes::AGENT_NOT_OUTBOUND),
            Refused::InvalidVariables(key) => {
                let message = format!("variables.{key} must be a string, a number or a boolean");
                Failure::new(codes::INVALID_VARIABLES, message)
                    .with_meta(json!({"key": key, "field": format!("variables.{key}")}))
            }
            Refused::MissingVariables(missing) => {
                let message = format!(
                    "variables must have values that the agent's flow requires: {}",
                    missing.join(", ")
                );
                Failure::new(codes::MISSING_REQUIRED_VARIABLES, message)
                    .with_meta(json!({"missing": missing}))
            }
            Refused::FlowNotReady(issues) => {
                Failure::plain(codes::FLOW_NOT_READY).with_meta(json!({"issues": issues}))
            }
            Refused::WorkspaceSuspended => Failure::plain(codes::WORKSPACE_SUSPENDED),
            Refused::KybRequired => Failure::new(
                codes::KYB_REQUIRED,
                "the workspace is not verified (KYB), so it cannot place live calls; ask the operator \
                 to verify it, or use a test key",
            ),
            Refused::InvalidNumber => {
                Failure::field("toNumber", "must be a valid Indian (+91) subscriber number")
            }
            Refused::FromNumberNotOwned => Failure::new(
                codes::FROM_NUMBER_NOT_OWNED,
                "fromNumber must be an active number of the workspace, see GET /v1/numbers",
            )
            .with_meta(json!({"field": "fromNumber"})),
            Refused::NoNumber => {
                Failure::new(codes::NO_PHONE_NUMBER, "buy a phone number before placing calls")
            }
            Refused::InsufficientBalance => {
                Failure::new(codes::INSUFFICIENT_BALANCE, "the wallet balance cannot cover this call")
            }
            Refused::Blocked(gate, series) => {
                let mut message = format!("call blocked by compliance: {}", gate.as_str());
                let mut meta = json!({"reason": gate.as_str(), "blockReason": gate.as_str()});
                if let Some(demand) = series {
                    message.extend(demand.message().map(|why| format!(": {why}")));
                    meta["series"] = json!(demand.series);
                    meta["since"] = json!(demand.since.map(|day| day.to_string()));
                }
                Failure::new(codes::CALL_BLOCKED, message).with_meta(meta)
            }
            Refused::LinesFull { platform } => {
                let message = if platform {
                    "the platform is at capacity; try again shortly"
                } else {
                    "concurrent-call limit reached; try again shortly"
                };
                Failure { retry_after: Some(LINES_RETRY), ..Failure::new(codes::CONCURRENCY_LIMIT, message) }
            }
            Refused::NoCarrier => Failure::new(
                codes::VOICE_UNAVAILABLE,
                "no carrier or no speech provider that keeps data in India is available; ask the \
                 operator to configure one",
            ),
            Refused::CarrierRests => Failure {
                retry_after: Some(REST_RETRY),
                ..Failure::new(
                    codes::VOICE_UNAVAILABLE,
                    "live calls are not placed now, because the database could lose their records; \
                     the operator has a warning about it",
                )
            },
        }
    }
}

//! Events of calls (docs/contract/webhooks.md#call-data).

use domain::call::{AnsweredBy, Direction};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::agents::LanguageCode;

use super::samples::{AGENT, BUSINESS, CALL, CONTACT, CUSTOMER_REF, PHONE, Sometimes, at, id};

/// A call, as events show it; values that are not known yet are null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallData {
    /// Id of the call, `call_…`; fetch it with `GET /v1/calls/{id}`.
    pub call_id: Id<ids::Call>,
    /// Id of the agent on the call; null if there is none.
    pub agent_id: Option<Id<ids::Agent>>,
    /// Id of the campaign that placed the call; null for any other call.
    pub campaign_id: Option<Id<ids::Campaign>>,
    /// Id of the contact; null for an incoming call whose caller is unknown.
    pub contact_id: Option<Id<ids::Contact>>,
    /// Your own id of the contact; null without one.
    pub external_ref: Option<String>,
    /// `outbound` if the agent called, `inbound` if the customer did.
    pub direction: Direction,
    /// The number that was called, E.164, or `[erased]`.
    pub to_number: String,
    /// The number that called, E.164, or `[erased]`.
    pub from_number: String,
    /// When the call was picked up; null if it was not.
    pub answered_at: Option<Timestamp>,
    /// Who picked up the call; null if nobody did, or if that is not known.
    pub answered_by: Option<AnsweredBy>,
    /// Time at which the call ended; null until then.
    pub ended_at: Option<Timestamp>,
    /// Talk time in seconds; null while the call is live and when nobody picked up.
    pub duration_seconds: Option<i64>,
    /// Why the call ended; null while it is live.
    pub end_cause: Option<String>,
    /// The agent's disposition as a key; null until it is known.
    pub outcome: Option<String>,
    /// The agent's language; at the end the one that was spoken last, which may be another of the agent's `languages`.
    #[schemars(with = "Option<LanguageCode>")]
    pub language: Option<String>,
    /// The `metadata` of the request that placed the call; empty without any.
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
}

impl CallData {
    /// A call that was answered.
    pub fn sample() -> Self {
        Self {
            call_id: id(CALL),
            agent_id: Some(id(AGENT)),
            campaign_id: None,
            contact_id: Some(id(CONTACT)),
            external_ref: Some(CUSTOMER_REF.into()),
            direction: Direction::Outbound,
            to_number: PHONE.into(),
            from_number: BUSINESS.into(),
            answered_at: Some(at("2026-01-15T10:00:02.000Z")),
            answered_by: None,
            ended_at: None,
            duration_seconds: None,
            end_cause: None,
            outcome: None,
            language: Some("en".into()),
            metadata: json!({}),
        }
    }

    /// The same call at its end.
    pub fn completed() -> Self {
        Self {
            answered_by: Some(AnsweredBy::Person),
            ended_at: Some(at("2026-01-15T10:00:44.000Z")),
            duration_seconds: Some(42),
            end_cause: Some("agent_ended".into()),
            outcome: Some("interested".into()),
            ..Self::sample()
        }
    }
}

/// A call that never connected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedCall {
    #[serde(flatten)]
    pub call: CallData,
    /// The compliance gate that refused a dial of a campaign; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_reason: Sometimes<String>,
}

impl FailedCall {
    pub(super) fn sample() -> Self {
        let call = CallData {
            answered_at: None,
            ended_at: Some(at("2026-01-15T10:00:15.000Z")),
            end_cause: Some("no_answer".into()),
            ..CallData::sample()
        };
        Self { call, block_reason: Some(None) }
    }
}

/// A call that was transferred to a person.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransferredCall {
    #[serde(flatten)]
    pub call: CallData,
    /// Number of the person who answered, E.164.
    pub transferred_to: String,
    /// When the person answered.
    pub transferred_at: Option<Timestamp>,
}

impl TransferredCall {
    pub(super) fn sample() -> Self {
        Self {
            call: CallData::sample(),
            transferred_to: "+918045670002".into(),
            transferred_at: Some(at("2026-01-15T10:00:30.000Z")),
        }
    }
}

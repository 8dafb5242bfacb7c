//! How ids, moments and closed sets look on the wire: their JSON, and their JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{Id, Kind};
use crate::time::Timestamp;

impl<K: Kind> JsonSchema for Id<K> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed(K::PREFIX)
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": format!("^{}_", K::PREFIX)})
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Timestamp")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// Enums whose variants are words of the API (`ALL`, `as_str`, `parse`), each with its name in the OpenAPI
/// document.
macro_rules! wire {
    ($($type:ty = $name:literal, $doc:literal;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| D::Error::custom(concat!("is no ", $name)))
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let words: Vec<&str> = Self::ALL.iter().map(|word| word.as_str()).collect();
                json_schema!({"type": "string", "enum": words, "description": $doc})
            }
        }
    )*};
}

wire! {
    crate::agent::Status = "AgentStatus", "Only an active agent can be called or call.";
    crate::agent::Channel = "AgentChannel", "Whether an agent speaks or writes.";
    crate::call::Direction = "Direction", "Who calls: the agent, or the person.";
    crate::call::Stage = "CallState", "Where a call is.";
    crate::call::Status = "CallStatus", "The raw status of a call.";
    crate::campaign::Status = "CampaignStatus", "Where a campaign is.";
    crate::campaign::RunStatus = "CampaignRunStatus", "Where a run is.";
    crate::campaign::RunSource = "CampaignRunSource", "What started a run: a person, a request, or the schedule.";
    crate::campaign::RowState = "CallingListState", "Where a row of a calling list is.";
    crate::campaign::InvalidReason = "InvalidReason", "Why a row is never dialled.";
    crate::campaign::HeldReason = "HeldReason", "Why a row waits.";
    crate::compliance::Vertical = "Vertical", "What an agent's calls are about; all but `general` are regulated.";
    crate::compliance::WorkflowTemplate = "WorkflowTemplate", "How an agent's conversation is laid out.";
    crate::decision_log::Chain = "LogChain", "A chain of the decision log.";
    crate::integration::Provider = "IntegrationProvider", "An outside system.";
    crate::integration::PushedCalls = "PushedCalls", "Which calls are written back.";
    crate::integration::Status = "IntegrationStatus", "A broken integration needs other credentials.";
    crate::nudge::OutsideWindow = "OutsideWindow", "Wait for the calling window, or do not call outside it.";
    crate::nudge::ResultCode = "NudgeResult", "How a nudge ended.";
    crate::nudge::Status = "NudgeStatus", "Where a nudge is.";
    crate::scheduled_call::Status = "ScheduledCallStatus", "Where a scheduled call is.";
    crate::stream::Kind = "DataStreamKind", "How the records of a stream arrive.";
    crate::stream::Outcome = "RecordOutcome", "What became of a record that was sent.";
    crate::stream::Reason = "RecordReason", "Why a record cannot be called.";
    crate::stream::RecordStatus = "RecordStatus", "Whether a record can be called.";
    crate::stream::Status = "DataStreamStatus", "Where a stream is.";
    crate::tenant::Mode = "KeyMode", "`live` or `test`: each mode sees what its own keys made.";
}

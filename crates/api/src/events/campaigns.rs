//! Events of campaigns.

use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::samples::{AGENT, Sometimes, at, id};
use crate::campaigns::ChatappStats;

/// A campaign that is over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FinishedCampaign {
    pub campaign_id: Id<ids::Campaign>,
    pub name: String,
    pub agent_id: Option<Id<ids::Agent>>,
    /// Why it is over: `list_complete`, `end_date` or `requested`.
    pub reason: String,
    pub finished_at: Timestamp,
    /// `chatapp` for a campaign on the messaging channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Sometimes<String>,
    /// How far the messages of a campaign on the messaging channel came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Sometimes<FinishedStats>,
}

/// How far the people of a finished campaign on the messaging channel came. Those to whom a message is being sent are
/// counted apart from those who are pending.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FinishedStats {
    #[serde(flatten)]
    pub stats: ChatappStats,
    /// To whom a message is being sent.
    pub sending: i64,
}

impl FinishedCampaign {
    pub(super) fn sample() -> Self {
        Self {
            campaign_id: id("cmp_01k9v5x2m8e6fs4v0q3n7w1y34"),
            name: "January reminders".into(),
            agent_id: Some(id(AGENT)),
            reason: "list_complete".into(),
            finished_at: at("2026-01-15T12:00:00.000Z"),
            channel: Some(None),
            stats: Some(None),
        }
    }
}

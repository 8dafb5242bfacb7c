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
    /// Id of the campaign, `cmp_…`.
    pub campaign_id: Id<ids::Campaign>,
    /// The name of the campaign, for people.
    pub name: String,
    /// Id of the campaign's agent; null if it has none.
    pub agent_id: Option<Id<ids::Agent>>,
    /// Why it is over: `list_complete`, `end_date` or `requested`.
    pub reason: String,
    /// When the campaign completed.
    pub finished_at: Timestamp,
    /// `chatapp` for a campaign on the messaging channel; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Sometimes<String>,
    /// Number of contacts by outcome of a campaign on the messaging channel; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Sometimes<FinishedStats>,
}

/// Number of contacts by outcome of a finished campaign on the messaging channel. Unlike in the API,
/// `sending` is counted separately from `pending`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FinishedStats {
    #[serde(flatten)]
    pub stats: ChatappStats,
    /// Contacts to whom a message is being sent.
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

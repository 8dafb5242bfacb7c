//! What would become of a campaign or of a batch of nudges (docs/contract/campaigns.md#preflight).

use std::collections::BTreeMap;

use domain::campaign::list::MAX_PHONE;
use domain::channel::Category;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most numbers in the preflight of a batch of nudges.
pub const MAX_PREFLIGHT: usize = 1_000;

/// A problem that blocks calls, or a warning.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PreflightProblem")]
pub struct Problem {
    /// Machine-readable code of the problem.
    #[schemars(with = "ProblemCode")]
    pub code: &'static str,
    /// Description of the problem, for people.
    pub message: String,
}

/// Code of a problem or a warning of a preflight.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PreflightProblemCode")]
#[allow(missing_docs)]
pub enum ProblemCode {
    AgentMissing,
    AgentNotPublished,
    AgentNotCall,
    AgentNotOutbound,
    FlowNotReady,
    NoPhoneNumber,
    FromNumberNotOwned,
    KybRequired,
    WorkspaceSuspended,
    InsufficientBalance,
    BalanceTooSmall,
    ListEmpty,
    NobodyToCall,
    MissingRequiredVariables,
    Completed,
    PastEndDate,
    NotDoneByEndDate,
    NeverOpen,
    VoiceUnavailable,
    NumberSeries,
    DltEntityRequired,
    DltTemplateRequired,
}

/// Contacts that would not be called for one reason.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "PreflightReason")]
pub struct Reason {
    /// Number of contacts with this reason.
    pub count: i64,
    /// Up to five of them: ids of rows, or for a batch of nudges their index in the request, from 0.
    pub examples: Vec<String>,
}

/// What would happen if a campaign or a batch of nudges were started now. Nothing is stored or dialled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// True if calls would be placed: `problems` is empty.
    pub ready: bool,
    /// Problems that block every call; empty when calls would be placed.
    pub problems: Vec<Problem>,
    /// Conditions that block no call.
    pub warnings: Vec<Problem>,
    /// Number of rows of the list, or of numbers in the request.
    pub total: i64,
    /// Rows that were checked: those that are still to be called, at most 100,000.
    pub examined: i64,
    /// Number of examined rows that would be called.
    pub will_call: i64,
    /// Rows of `willCall` that are called later, because their number was dialled too often recently.
    pub will_wait: i64,
    /// Of `willCall`, how many would be called with a warning in the decision log; `warnings` says of what.
    pub will_warn: i64,
    /// Number of rows or numbers that would not be called.
    pub will_not_call: i64,
    /// Those who would not be called and those who wait, by compliance gate or other reason: `dnd`, `opt_out`,
    /// `consent`, `number_series`, `frequency_cap`, `invalid_phone`, `not_indian`, `duplicate`, `erased`,
    /// `missing_required_variables`.
    pub by_reason: BTreeMap<String, Reason>,
    /// When calls could start, and when all would be done.
    pub schedule: PreflightSchedule,
    /// Expected and highest cost of the calls.
    pub cost: PreflightCost,
}

/// The preflight of a campaign: `Preflight` of a campaign that calls, `ChatappPreflight` of one on the
/// messaging channel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CampaignPreflight {
    /// One that calls.
    Voice(Box<Preflight>),
    /// One that sends messages.
    Chatapp(Box<ChatappPreflight>),
}

/// Who would get the message of a campaign on the messaging channel, when, and at what price. Nothing is
/// stored or sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatappPreflight {
    /// True if the campaign can be published: `blockers` is empty.
    pub passes: bool,
    /// Problems that block publishing: `template_not_found`, `template_not_approved`,
    /// `template_recategorised`, `not_connected`, `token_invalid`, `account_restricted`, `quality_red`,
    /// `nobody_to_message`.
    pub blockers: Vec<ChatappProblem>,
    /// Conditions that do not block publishing: `quality_low`, `not_done_by_end`, `limit_needs_days`.
    pub warnings: Vec<ChatappProblem>,
    /// Number of rows to which no message was sent yet.
    pub total: i64,
    /// Rows of `total` that would get the message.
    pub will_receive: i64,
    /// Rows of `total` that would not get the message.
    pub will_not_receive: i64,
    /// Number of rows that would not get the message, by reason.
    pub by_reason: BTreeMap<String, i64>,
    /// The provider's name of the account's messaging limit; null if it is unknown.
    pub messaging_tier: Option<String>,
    /// Most contacts to whom the account may write first in 24 hours; null for no limit.
    pub tier_limit: Option<i64>,
    /// How much of `tierLimit` is left now; null for no limit.
    pub tier_room: Option<i64>,
    /// Number of days that sending takes.
    pub days_needed: i64,
    /// Number of minutes that sending takes at the campaign's rate.
    pub sending_minutes: i64,
    /// When the first message would be sent; null if never.
    pub starts_at: Option<Timestamp>,
    /// When the last message would be sent; null if never.
    pub finishes_at: Option<Timestamp>,
    /// What the provider is expected to charge, by the prices that the operator has set; null without a
    /// template.
    pub estimated_charges: Option<ChatappCharges>,
}

/// A blocker or a warning of a preflight.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChatappProblem {
    /// Machine-readable code of the problem.
    pub code: &'static str,
    /// Description of the problem, for people.
    pub message: &'static str,
}

/// What the provider is expected to charge for a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatappCharges {
    /// Currency of the prices, an ISO 4217 code.
    pub currency: String,
    /// Category of the template, which the price depends on.
    pub category: Category,
    /// Price of one message, as a decimal number with four decimals.
    pub per_message: String,
    /// Price of all messages that would be sent, as a decimal number with four decimals.
    pub total: String,
}

/// When calls could start, and when all would be done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreflightSchedule {
    /// True if a dial could start now.
    pub inside_window: bool,
    /// When the first dial could start; null if never.
    pub starts_at: Option<Timestamp>,
    /// Estimated end of the last call, retries included; null if never.
    pub finishes_at: Option<Timestamp>,
    /// Number of concurrent calls that the estimate assumes.
    pub lines: i64,
    /// Hours of dialling with `lines` concurrent calls.
    pub dialling_hours: f64,
}

/// Cost of the calls, in minor units (paise).
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreflightCost {
    /// Currency of the amounts, an ISO 4217 code.
    pub currency: String,
    /// Price of one started minute, in minor units.
    pub cost_per_minute_minor: i64,
    /// Balance of the wallet minus all holds, in minor units.
    pub available_minor: i64,
    /// Expected cost of all calls, in minor units.
    pub expected_minor: i64,
    /// Cost if every attempt is answered and lasts as long as a call may, in minor units.
    pub at_most_minor: i64,
    /// The figures on which `expectedMinor` is based.
    pub based_on: PreflightBasis,
}

/// The figures on which an expected cost is based.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreflightBasis {
    /// `agent_calls`: the agent's calls of the last 30 days; `assumption`: fixed values, because there were
    /// fewer than 20 calls.
    #[schemars(extend("enum" = ["agent_calls", "assumption"]))]
    pub source: &'static str,
    /// Number of the agent's calls in the last 30 days.
    pub calls: i64,
    /// Share of calls that are answered, from 0 to 1.
    pub connect_rate: f64,
    /// Mean talk time of an answered call, in seconds.
    pub avg_talk_seconds: f64,
}

/// A batch of nudges to be checked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeBatchPreflight {
    /// Id of a published, outbound call agent, `agt_…`.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// The numbers that would be called, in any usual notation.
    #[schemars(length(min = 1, max = MAX_PREFLIGHT), inner(length(max = MAX_PHONE)))]
    pub to_numbers: Vec<String>,
    /// The own number that they would show; the first one of the workspace otherwise.
    #[schemars(length(min = 1, max = 40), extend("x-nullable" = true))]
    pub from_number: Option<String>,
}

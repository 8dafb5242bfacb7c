//! What would become of a campaign or of a batch of nudges (docs/contract/campaigns.md#preflight).

use std::collections::BTreeMap;

use domain::campaign::list::MAX_PHONE;
use domain::channel::Category;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most numbers in the preflight of a batch of nudges.
pub const MAX_PREFLIGHT: usize = 1_000;

/// What keeps calls from being placed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PreflightProblem")]
pub struct Problem {
    /// What, for programs.
    #[schemars(with = "ProblemCode")]
    pub code: &'static str,
    /// What, for people.
    pub message: String,
}

/// What can be missing before a launch.
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

/// People that would not be called, for one reason.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "PreflightReason")]
pub struct Reason {
    /// How many.
    pub count: i64,
    /// A few of them: ids of rows; in a batch of nudges their places in the request, from 0.
    pub examples: Vec<String>,
}

/// What would become of a campaign or of a batch of nudges if it were started now. Nothing is stored or dialled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// Whether calls would be placed: nothing in `problems` stands in the way.
    pub ready: bool,
    /// What stands in the way of every call.
    pub problems: Vec<Problem>,
    /// What is to be known, and does not stand in the way.
    pub warnings: Vec<Problem>,
    /// All rows.
    pub total: i64,
    /// Rows that were looked at: those that are still to be called, up to 100,000.
    pub examined: i64,
    /// Of these, how many would be called.
    pub will_call: i64,
    /// Of `willCall`, how many wait first: their number has been dialled too often of late.
    pub will_wait: i64,
    /// Of `willCall`, how many would be called with a warning in the decision log; `warnings` says of what.
    pub will_warn: i64,
    /// How many would not be called.
    pub will_not_call: i64,
    /// Those who would not be called and those who wait, by compliance gate or other reason: `dnd`, `opt_out`,
    /// `consent`, `number_series`, `frequency_cap`, `invalid_phone`, `not_indian`, `duplicate`, `erased`,
    /// `missing_required_variables`.
    pub by_reason: BTreeMap<String, Reason>,
    /// When it would be done.
    pub schedule: PreflightSchedule,
    /// What it would cost.
    pub cost: PreflightCost,
}

/// What would become of a campaign: of one that calls, or of one on the messaging channel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CampaignPreflight {
    /// One that calls.
    Voice(Box<Preflight>),
    /// One that sends messages.
    Chatapp(Box<ChatappPreflight>),
}

/// Who would receive the message of a campaign on the messaging channel, when, and at what price.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatappPreflight {
    /// Whether it would be sent: there are no `blockers`.
    pub passes: bool,
    /// What stands in the way: `template_not_found`, `template_not_approved`, `template_recategorised`, `not_connected`,
    /// `token_invalid`, `account_restricted`, `quality_red`, `nobody_to_message`.
    pub blockers: Vec<ChatappProblem>,
    /// What is to be known: `quality_low`, `not_done_by_end`, `limit_needs_days`.
    pub warnings: Vec<ChatappProblem>,
    /// Rows that are not messaged yet.
    pub total: i64,
    /// Of these, who would receive it.
    pub will_receive: i64,
    /// Of these, who would not.
    pub will_not_receive: i64,
    /// Those who would not, by reason.
    pub by_reason: BTreeMap<String, i64>,
    /// The provider's word for the messaging limit of the account.
    pub messaging_tier: Option<String>,
    /// People to whom the account may write first in 24 hours; null: to any number.
    pub tier_limit: Option<i64>,
    /// How many of these are left now.
    pub tier_room: Option<i64>,
    /// Days that it takes.
    pub days_needed: i64,
    /// Minutes of sending.
    pub sending_minutes: i64,
    /// When the first message would go; null when never.
    pub starts_at: Option<Timestamp>,
    /// When the last one would; null when never.
    pub finishes_at: Option<Timestamp>,
    /// What the provider is expected to charge, by the setting `[chatapp.prices]`; null without a template.
    pub estimated_charges: Option<ChatappCharges>,
}

/// What stands in the way of a message, or is to be known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChatappProblem {
    /// What, for programs.
    pub code: &'static str,
    /// What, for people.
    pub message: &'static str,
}

/// What the provider is expected to charge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatappCharges {
    /// ISO 4217 code.
    pub currency: String,
    /// The category of the template.
    pub category: Category,
    /// Price of a message, with four decimals.
    pub per_message: String,
    /// Price of all that would be sent, with four decimals.
    pub total: String,
}

/// When calls could be placed, and when all would be done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreflightSchedule {
    /// Whether a dial could start now.
    pub inside_window: bool,
    /// When a dial could start; null when never.
    pub starts_at: Option<Timestamp>,
    /// When the last call would be over, as far as can be told; null when never.
    pub finishes_at: Option<Timestamp>,
    /// Calls at once that this was reckoned with.
    pub lines: i64,
    /// Hours of dialling, at this many calls at once.
    pub dialling_hours: f64,
}

/// What the calls would cost, in minor units.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreflightCost {
    /// ISO 4217 code.
    pub currency: String,
    /// Price of a started minute.
    pub cost_per_minute_minor: i64,
    /// What is in the wallet and not held by calls.
    pub available_minor: i64,
    /// What is to be expected.
    pub expected_minor: i64,
    /// What it costs if everybody answers and talks as long as a call may last.
    pub at_most_minor: i64,
    /// What the expectation rests on.
    pub based_on: PreflightBasis,
}

/// What an expectation rests on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreflightBasis {
    /// `agent_calls`: calls of the agent in the last 30 days; `assumption` when there are fewer than 20.
    #[schemars(extend("enum" = ["agent_calls", "assumption"]))]
    pub source: &'static str,
    /// Calls of the agent in the last 30 days.
    pub calls: i64,
    /// Answered calls of all.
    pub connect_rate: f64,
    /// Mean talk time of an answered call.
    pub avg_talk_seconds: f64,
}

/// A batch of nudges that could be made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NudgeBatchPreflight {
    /// The agent that would talk.
    #[schemars(length(min = 1, max = 200))]
    pub agent_id: String,
    /// The numbers that it would call, in any usual writing.
    #[schemars(length(min = 1, max = MAX_PREFLIGHT), inner(length(max = MAX_PHONE)))]
    pub to_numbers: Vec<String>,
    /// The own number that they would show; the first one of the workspace otherwise.
    #[schemars(length(min = 1, max = 40), extend("x-nullable" = true))]
    pub from_number: Option<String>,
}

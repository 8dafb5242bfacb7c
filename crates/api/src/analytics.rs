//! Figures over calls (docs/contract/analytics.md; definitions in docs/analytics.md).

use std::collections::BTreeMap;

use domain::ids::{Agent, Id};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error_codes::PLAN_FEATURE_LOCKED;
use crate::operation::{Method::GET, Operation, operation};
use crate::schema::{Field, choice, data, may, text_of, time};
use crate::scopes::CALLS_READ;

/// Totals over all calls of the range.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CallTotals")]
pub struct Totals {
    /// Outbound calls that were dialled and inbound calls that were answered.
    pub calls: u64,
    /// Calls that a person or a machine picked up.
    pub answered: u64,
    /// Share of answered calls: `answered / calls`, from 0 to 1.
    pub connect_rate: f64,
    /// Distinct contacts with an answered call that no machine answered.
    pub people_reached: u64,
    /// Distinct contacts of outbound calls.
    pub contacts_targeted: u64,
    /// Talk time of all answered calls, in seconds.
    pub talk_seconds_total: u64,
    /// Mean talk time of an answered call, in seconds.
    pub avg_talk_seconds: f64,
    /// Median talk time of answered calls, in seconds.
    pub talk_seconds_p50: u64,
    /// 90th percentile of the talk time of answered calls, in seconds.
    pub talk_seconds_p90: u64,
    /// The highest number of calls at the same time.
    pub peak_concurrency: u64,
    /// Dials of campaigns that a compliance gate refused; they are not in `calls`.
    pub blocked_calls: u64,
    /// Inbound calls that were declined; they are not in `calls`.
    pub declined_calls: u64,
}

/// The calls of one day in India (UTC+05:30).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CallDay")]
pub struct DayFigures {
    /// The day in India, `YYYY-MM-DD`.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// Outbound calls that were dialled and inbound calls that were answered.
    pub calls: u64,
    /// Calls that a person or a machine picked up.
    pub answered: u64,
    /// Talk time of all answered calls, in seconds.
    pub talk_seconds: u64,
}

/// The calls of one agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentCalls")]
pub struct AgentRow {
    /// Id of the agent; null in the row of calls without an agent.
    #[schemars(with = "Option<Id<Agent>>")]
    pub agent_id: Option<String>,
    /// The agent's name, kept after its deletion; null in the row of calls without an agent.
    pub name: Option<String>,
    /// Outbound calls that were dialled and inbound calls that were answered.
    pub calls: u64,
    /// Share of answered calls: `answered / calls`, from 0 to 1.
    pub connect_rate: f64,
    /// Mean talk time of an answered call, in seconds.
    pub avg_talk_seconds: f64,
    /// How many of the calls were inbound.
    pub inbound: u64,
    /// How many of the calls were outbound.
    pub outbound: u64,
    /// The analysed calls of this agent by sentiment.
    pub sentiment: Vec<SentimentCount>,
}

/// Number of calls in one language.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LanguageCount {
    /// Code of the agent's language when the call was placed.
    pub language: String,
    /// Number of calls in this language.
    pub count: u64,
}

/// Number of analysed calls with one sentiment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SentimentCount {
    /// Sentiment of the customer: `positive`, `neutral` or `negative`.
    pub sentiment: String,
    /// Number of calls with this sentiment.
    pub count: u64,
}

/// The calls of one hour of the day in India (UTC+05:30), over all days of the range.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CallHour")]
pub struct HourFigures {
    /// The hour in India, from 0 to 23.
    pub hour: i64,
    /// Outbound calls that were dialled and inbound calls that were answered.
    pub calls: u64,
    /// Calls that a person or a machine picked up.
    pub answered: u64,
    /// What these calls cost, in minor units.
    pub charged_minor: i64,
}

/// The calls of one hour of one weekday in India (UTC+05:30), over all weeks of the range.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CallWeekdayHour")]
pub struct WeekdayHourFigures {
    /// The weekday, from 1 for Monday to 7 for Sunday.
    pub weekday: i64,
    /// The calls of the hour on this weekday.
    #[serde(flatten)]
    pub figures: HourFigures,
}

/// What is usual in one hour of a weekday.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsualHour {
    /// The hour in India, from 0 to 23.
    pub hour: i64,
    /// Median number of calls.
    pub calls: f64,
    /// Median number of answered calls.
    pub answered: f64,
}

/// What is usual on the weekday of a day: medians over the same weekday of the four weeks before.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsualWeekday {
    /// The day in India that it is to be compared with: that of `to`, or today.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// Days that had calls, from 0 to 4; others are left out of the medians.
    pub weeks: u64,
    /// Hours of the day from 0 to 23; empty without such days.
    pub hours: Vec<UsualHour>,
}

/// Percentiles of how fast agents react: from the end of what the customer said to the first sound of the answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReactionFigures {
    /// Number of answers of the agent that were measured.
    pub answers: u64,
    /// Median in milliseconds, within two in a hundred; null without answers.
    pub p50_ms: Option<i64>,
    /// 95th percentile in milliseconds, within two in a hundred; null without answers.
    pub p95_ms: Option<i64>,
}

/// How fast one agent answers on calls.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentReaction {
    /// Id of the agent; null for calls without an agent.
    #[schemars(with = "Option<Id<Agent>>")]
    pub agent_id: Option<String>,
    /// The agent's name, kept after its deletion; null for calls without an agent.
    pub name: Option<String>,
    /// Percentiles over its answers.
    #[serde(flatten)]
    pub figures: ReactionFigures,
}

/// The part that a provider has in a reaction.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReactionStage {
    /// It recognises speech.
    Recognition,
    /// It is the language model.
    Model,
    /// It synthesises speech.
    Synthesis,
}

/// How fast agents react with one provider.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderReaction {
    /// What the provider is used for.
    pub stage: ReactionStage,
    /// Name of the provider in the settings; a list of several is one name.
    pub provider: String,
    /// Percentiles over the answers in whose calls it took part.
    #[serde(flatten)]
    pub figures: ReactionFigures,
}

/// How fast agents react, in all, by agent and by provider.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reactions {
    /// Percentiles over all answers.
    #[serde(flatten)]
    pub all: ReactionFigures,
    /// One row for each agent, most answers first.
    pub by_agent: Vec<AgentReaction>,
    /// One row for each provider and its part.
    pub by_provider: Vec<ProviderReaction>,
}

/// What the calls with one outcome cost.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeCost {
    /// The outcome; null for calls without one.
    pub outcome: Option<String>,
    /// Number of calls with this outcome.
    pub calls: u64,
    /// What these calls cost together, in minor units.
    pub charged_minor: i64,
}

/// What the calls of the range cost.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallCosts {
    /// What all calls cost, in minor units.
    pub charged_minor: i64,
    /// One row for each outcome, most calls first.
    pub by_outcome: Vec<OutcomeCost>,
}

/// Metrics over the live calls of the range. Test calls and refused placements are not counted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallAnalytics {
    /// Totals over all calls of the range.
    pub totals: Totals,
    /// Number of calls by `outcome`; calls without one are left out.
    pub by_outcome: BTreeMap<String, u64>,
    /// Number of calls by `endCause`; calls without one are left out.
    pub by_end_cause: BTreeMap<String, u64>,
    /// One row for each day that had calls, in order.
    pub per_day: Vec<DayFigures>,
    /// One row for each agent, most calls first; calls without an agent are the last row.
    pub agents: Vec<AgentRow>,
    /// Number of calls by language, most first.
    pub by_language: Vec<LanguageCount>,
    /// Number of calls by sentiment, most first; calls that were not analysed are left out.
    pub sentiment: Vec<SentimentCount>,
    /// How fast agents answer on calls, by agent and by provider.
    pub reaction: Reactions,
    /// What the calls of the period cost, in minor units.
    pub costs: CallCosts,
    /// Hours of the day from 0 to 23; only with `groupBy=hour`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<Vec<HourFigures>>,
    /// Hours of weekdays that had calls, Monday first; only with `groupBy=hour`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weekday_hours: Option<Vec<WeekdayHourFigures>>,
    /// What is usual on the weekday of the last day; only with `groupBy=hour`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_weekday: Option<UsualWeekday>,
}

fn query() -> Vec<Field> {
    vec![
        may("from", time().doc("Only calls that started at or after this time.")),
        may("to", time().doc("Only calls that started before this time.")),
        may("agentId", text_of(1, 200).doc("Only calls of this agent.")),
        may("campaignId", text_of(1, 200).doc("Only calls of this campaign.")),
        may(
            "groupBy",
            choice(&["hour"]).doc(
                "`hour` adds the calls by hour of the day in India, by hour and weekday, and what is usual.",
            ),
        ),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] =
    &[operation(GET, "/v1/analytics/calls", "getCallAnalytics", "Calls", "Metrics over live calls")
        .about("403 `plan_feature_locked` if the workspace does not have analytics.")
        .scope(CALLS_READ)
        .query(query)
        .answers(&[(200, Some(data::<CallAnalytics>))])
        .errors(&[PLAN_FEATURE_LOCKED])];

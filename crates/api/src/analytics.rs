//! Figures over calls (docs/contract/analytics.md; definitions in docs/analytics.md).

use std::collections::BTreeMap;

use domain::ids::{Agent, Id};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error_codes::PLAN_FEATURE_LOCKED;
use crate::operation::{Method::GET, Operation, operation};
use crate::schema::{Field, data, may, text_of, time};
use crate::scopes::CALLS_READ;

/// Sums over all calls of the range.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CallTotals")]
pub struct Totals {
    /// Dialled or answered.
    pub calls: u64,
    /// Picked up.
    pub answered: u64,
    /// `answered / calls`, 0 to 1.
    pub connect_rate: f64,
    /// Distinct people who answered.
    pub people_reached: u64,
    /// Distinct contacts dialled.
    pub contacts_targeted: u64,
    /// Seconds of talk.
    pub talk_seconds_total: u64,
    /// Seconds of talk of an answered call.
    pub avg_talk_seconds: f64,
    /// Half of the answered calls talk no longer.
    pub talk_seconds_p50: u64,
    /// Nine in ten answered calls talk no longer.
    pub talk_seconds_p90: u64,
    /// Most calls at once.
    pub peak_concurrency: u64,
    /// Campaign dials that a compliance gate stopped; never dialled.
    pub blocked_calls: u64,
    /// Inbound calls that were refused.
    pub declined_calls: u64,
}

/// The calls of a day of India time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CallDay")]
pub struct DayFigures {
    /// The day, `YYYY-MM-DD`.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// Dialled or answered.
    pub calls: u64,
    /// Picked up.
    pub answered: u64,
    /// Seconds of talk.
    pub talk_seconds: u64,
}

/// The calls of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentCalls")]
pub struct AgentRow {
    /// The agent; null for calls without one.
    #[schemars(with = "Option<Id<Agent>>")]
    pub agent_id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Dialled or answered.
    pub calls: u64,
    /// `answered / calls`.
    pub connect_rate: f64,
    /// Seconds of talk of an answered call.
    pub avg_talk_seconds: f64,
    /// Calls that came in.
    pub inbound: u64,
    /// Calls that went out.
    pub outbound: u64,
    /// Calls by sentiment.
    pub sentiment: Vec<SentimentCount>,
}

/// Calls in a language.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LanguageCount {
    /// Language code.
    pub language: String,
    /// How many calls.
    pub count: u64,
}

/// Calls of a sentiment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SentimentCount {
    /// The sentiment.
    pub sentiment: String,
    /// How many calls.
    pub count: u64,
}

/// Figures over calls.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallAnalytics {
    /// Sums over all calls.
    pub totals: Totals,
    /// Calls by outcome.
    pub by_outcome: BTreeMap<String, u64>,
    /// Calls by end cause.
    pub by_end_cause: BTreeMap<String, u64>,
    /// Days that had calls, in order.
    pub per_day: Vec<DayFigures>,
    /// Agents with the most calls first, no agent last.
    pub agents: Vec<AgentRow>,
    /// Calls by language, most first.
    pub by_language: Vec<LanguageCount>,
    /// Calls by sentiment, most first.
    pub sentiment: Vec<SentimentCount>,
}

fn query() -> Vec<Field> {
    vec![
        may("from", time().doc("Calls started at or after.")),
        may("to", time().doc("Calls started before.")),
        may("agentId", text_of(1, 200)),
        may("campaignId", text_of(1, 200)),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] =
    &[operation(GET, "/v1/analytics/calls", "getCallAnalytics", "Calls", "Figures over calls")
        .scope(CALLS_READ)
        .query(query)
        .answers(&[(200, Some(data::<CallAnalytics>))])
        .errors(&[PLAN_FEATURE_LOCKED])];

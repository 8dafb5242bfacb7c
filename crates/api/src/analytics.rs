//! Figures over calls (docs/contract/analytics.md; definitions in docs/analytics.md).

use std::collections::BTreeMap;

use domain::ids::Agent;
use serde::Serialize;

use crate::error_codes::PLAN_FEATURE_LOCKED;
use crate::operations::{Method::GET, Operation, operation};
use crate::schema::{
    Field, Schema, count, data, date, id, list, map, may, need, number, object, text, text_of, time,
};
use crate::scopes::CALLS_READ;

/// Sums over all calls of the range.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
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
    /// Campaign dials that a gate refused.
    pub blocked_calls: u64,
    /// Inbound calls that were refused.
    pub declined_calls: u64,
}

/// A day of India time.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DayFigures {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// Dialled or answered.
    pub calls: u64,
    /// Picked up.
    pub answered: u64,
    /// Seconds of talk.
    pub talk_seconds: u64,
}

/// An agent's row.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRow {
    /// The agent; null for calls without one.
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
#[derive(Debug, Serialize)]
pub struct LanguageCount {
    /// Language code.
    pub language: String,
    /// Calls.
    pub count: u64,
}

/// Calls of a sentiment.
#[derive(Debug, Serialize)]
pub struct SentimentCount {
    /// Sentiment.
    pub sentiment: String,
    /// Calls.
    pub count: u64,
}

/// Answer of `GET /v1/analytics/calls`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallAnalytics {
    /// Sums.
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

fn answer() -> Schema {
    let totals = object(vec![
        need("calls", count()),
        need("answered", count()),
        need("connectRate", number()),
        need("peopleReached", count()),
        need("contactsTargeted", count()),
        need("talkSecondsTotal", count()),
        need("avgTalkSeconds", number()),
        need("talkSecondsP50", count()),
        need("talkSecondsP90", count()),
        need("peakConcurrency", count()),
        need("blockedCalls", count().doc("Campaign dials that a compliance gate stopped; never dialled.")),
        need("declinedCalls", count().doc("Refused inbound calls.")),
    ]);
    let day = object(vec![
        need("day", date().doc("Day of India time.")),
        need("calls", count()),
        need("answered", count()),
        need("talkSeconds", count()),
    ]);
    let sentiment = || list(object(vec![need("sentiment", text()), need("count", count())]));
    let agent = object(vec![
        need("agentId", id::<Agent>().or_null()),
        need("name", text().or_null()),
        need("calls", count()),
        need("connectRate", number()),
        need("avgTalkSeconds", number()),
        need("inbound", count()),
        need("outbound", count()),
        need("sentiment", sentiment()),
    ]);
    data(object(vec![
        need("totals", totals),
        need("byOutcome", map(count())),
        need("byEndCause", map(count())),
        need("perDay", list(day)),
        need("agents", list(agent)),
        need("byLanguage", list(object(vec![need("language", text()), need("count", count())]))),
        need("sentiment", sentiment()),
    ]))
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
        .answers(&[(200, Some(answer))])
        .errors(&[PLAN_FEATURE_LOCKED])];

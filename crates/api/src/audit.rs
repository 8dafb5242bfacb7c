//! The decision log as auditors read it (docs/contract/decision-log.md).

use std::collections::BTreeMap;

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error_codes::CONFLICT;
use crate::operations::Method::{GET, POST};
use crate::operations::{Access, Operation, operation};
use crate::schema::{
    Field, Schema, any_of, boolean, choice, count, data, date, list, map, may, need, object, or, text,
    text_of, time,
};
use crate::scopes::COMPLIANCE_READ;

/// The chains by name.
pub const CHAINS: &[&str] = &["audit", "grievances", "consent"];

/// The same as heads name them: each world has chains of its own.
pub const STRANDS: &[&str] =
    &["audit", "grievances", "consent", "audit_test", "grievances_test", "consent_test"];

/// Answer of `GET /v1/audit/verify`: the chains of the key's world.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    /// Every chain is whole.
    pub verified: bool,
    /// Records of all chains.
    pub records: u64,
    /// Chain by chain.
    pub chains: Vec<ChainVerification>,
}

/// What is found of one chain.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainVerification {
    /// Its name.
    pub name: &'static str,
    /// It is whole.
    pub verified: bool,
    /// Its records.
    pub records: u64,
    /// The first record that does not fit.
    pub broken_at: Option<u64>,
    /// What is wrong there, for people.
    pub problem: Option<String>,
}

/// A signed head: kept elsewhere, it shows later that the log was cut short or written anew.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedHead {
    /// The workspace.
    pub workspace_id: String,
    /// The chain, in the test world followed by `_test`.
    pub chain: &'static str,
    /// Number of the newest record; 0 for an empty chain.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// Now.
    pub signed_at: Timestamp,
    /// Always `ed25519`.
    pub algorithm: &'static str,
    /// URL-safe base64.
    pub public_key: String,
    /// Over the lines `decision-log-head/1`, workspace, chain, seq, hash, signedAt; URL-safe base64.
    pub signature: String,
}

/// Counts of refused dials by rule.
pub type ByRule = BTreeMap<String, i64>;

/// Answer of `GET /v1/audit/stats`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedStats {
    /// Refused dials.
    pub total: i64,
    /// By rule.
    pub by_rule: ByRule,
    /// By day in India, oldest first.
    pub by_day: Vec<BlockedDay>,
    /// By agent, most first.
    pub by_agent: Vec<BlockedAgent>,
}

/// Refused dials of a day.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedDay {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// Refused dials.
    pub count: i64,
    /// By rule.
    pub by_rule: ByRule,
}

/// Refused dials of an agent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedAgent {
    /// The agent; null for dials without one.
    pub agent_id: Option<String>,
    /// Its name, while it exists.
    pub name: Option<String>,
    /// Refused dials.
    pub count: i64,
    /// By rule.
    pub by_rule: ByRule,
}

fn verify_answer() -> Schema {
    data(object(vec![
        need("verified", boolean()),
        need("records", count()),
        need(
            "chains",
            list(object(vec![
                need("name", choice(CHAINS)),
                need("verified", boolean()),
                need("records", count()),
                need("brokenAt", count().or_null().doc("The first record that does not fit.")),
                need("problem", text().or_null()),
            ])),
        ),
    ]))
}

fn moment() -> Schema {
    any_of(vec![time(), date()])
}

fn range() -> Vec<Field> {
    vec![
        may("from", moment().doc("Decided at or after; a date is its first moment in India.")),
        may("to", moment().doc("Decided before; a date includes that day in India.")),
    ]
}

fn export_query() -> Vec<Field> {
    let mut fields = range();
    fields.push(or("format", choice(&["csv", "pdf"]), json!("csv")));
    fields.push(or("chain", choice(CHAINS), json!("audit")));
    fields
}

fn by_rule() -> Field {
    need("byRule", map(count()))
}

fn stats_answer() -> Schema {
    data(object(vec![
        need("total", count()),
        by_rule(),
        need("byDay", list(object(vec![need("day", date()), need("count", count()), by_rule()]))),
        need(
            "byAgent",
            list(object(vec![
                need("agentId", text().or_null()),
                need("name", text().or_null()),
                need("count", count()),
                by_rule(),
            ])),
        ),
    ]))
}

fn head_query() -> Vec<Field> {
    vec![or("chain", choice(CHAINS), json!("audit"))]
}

fn head_answer() -> Schema {
    data(object(vec![
        need("workspaceId", text()),
        need("chain", choice(STRANDS)),
        need("seq", count()),
        need("hash", text()),
        need("signedAt", time()),
        need("algorithm", choice(&["ed25519"])),
        need("publicKey", text()),
        need("signature", text()),
    ]))
}

/// The operator's word that an older state holds.
#[derive(Debug, Deserialize)]
pub struct AcceptLog {
    /// Why, for the operator log: no personal data.
    pub reason: String,
}

/// An older state that was accepted.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedChain {
    /// The chain.
    pub chain: &'static str,
    /// The newest record that was witnessed.
    pub witnessed_seq: u64,
    /// The record from which the chain goes on; it says what was accepted.
    pub seq: u64,
}

fn accept_body() -> Schema {
    object(vec![need("reason", text_of(1, 200).doc("Goes into the operator log; no personal data."))])
}

fn accept_answer() -> Schema {
    data(object(vec![need(
        "accepted",
        list(object(vec![
            need("chain", choice(STRANDS)),
            need("witnessedSeq", count()),
            need("seq", count()),
        ])),
    )]))
}

const fn row(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(GET, path, id, "Compliance", summary).scope(COMPLIANCE_READ)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row("/v1/audit/verify", "verifyLog", "Check every hash of every chain")
        .answers(&[(200, Some(verify_answer))]),
    row(
        "/v1/audit/export",
        "exportLog",
        "The decision log as a file, CSV or PDF, with the result of its verification",
    )
    .query(export_query)
    .content_type("text/csv, application/pdf")
    .answers(&[(200, None)]),
    row("/v1/audit/stats", "getBlockedStats", "Refused dials by rule, day and agent")
        .query(range)
        .answers(&[(200, Some(stats_answer))]),
    row(
        "/v1/audit/head",
        "getLogHead",
        "The newest record of a chain, signed; keep it elsewhere to notice later that the log was cut short",
    )
    .query(head_query)
    .answers(&[(200, Some(head_answer))])
    .errors(&[CONFLICT]),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/audit/accept",
        "acceptLog",
        "Operator",
        "Accept an older state of a decision log, after a backup was restored; it is written into the log",
    )
    .access(Access::Operator)
    .body(accept_body)
    .answers(&[(200, Some(accept_answer))])
    .errors(&[CONFLICT]),
];

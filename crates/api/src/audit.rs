//! The decision log as auditors read it (docs/contract/decision-log.md).

use std::borrow::Cow;
use std::collections::BTreeMap;

use domain::decision_log::{Chain, Strand};
use domain::time::Timestamp;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error_codes::CONFLICT;
use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, Schema, any_of, choice, data, date, may, or, request, time};
use crate::scopes::COMPLIANCE_READ;

/// The chains of the key's mode, checked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "LogVerification")]
pub struct Verification {
    /// Whether every chain is whole.
    pub verified: bool,
    /// Records of all chains.
    pub records: u64,
    /// What is found, chain by chain.
    pub chains: Vec<ChainVerification>,
}

/// What is found of one chain.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChainVerification {
    /// Its name.
    #[schemars(with = "Chain")]
    pub name: &'static str,
    /// Whether it is whole.
    pub verified: bool,
    /// Its records.
    pub records: u64,
    /// The first record that does not fit.
    pub broken_at: Option<u64>,
    /// What is wrong there, for people.
    pub problem: Option<String>,
}

/// The name of a chain; in test mode followed by `_test`.
pub enum StrandName {}

impl JsonSchema for StrandName {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("LogStrand")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = Strand::all().map(Strand::as_str).collect();
        let doc = "A chain of one mode: in test mode its name is followed by `_test`.";
        json_schema!({"type": "string", "enum": names, "description": doc})
    }
}

/// The newest record of a chain, signed: kept elsewhere, it shows later that the log was cut short or written
/// anew.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LogHead")]
pub struct SignedHead {
    /// The workspace.
    pub workspace_id: String,
    /// The chain.
    #[schemars(with = "StrandName")]
    pub chain: &'static str,
    /// Number of the newest record; 0 for an empty chain.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// When it was signed.
    pub signed_at: Timestamp,
    /// Always `ed25519`.
    #[schemars(extend("enum" = ["ed25519"]))]
    pub algorithm: &'static str,
    /// URL-safe base64.
    pub public_key: String,
    /// Over the lines `decision-log-head/1`, workspace, chain, seq, hash, signedAt; URL-safe base64.
    pub signature: String,
}

/// Counts of refused dials by rule.
pub type ByRule = BTreeMap<String, i64>;

/// Refused dials.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedStats {
    /// How many.
    pub total: i64,
    /// How many by rule.
    pub by_rule: ByRule,
    /// By day in India, oldest first.
    pub by_day: Vec<BlockedDay>,
    /// By agent, most first.
    pub by_agent: Vec<BlockedAgent>,
    /// How many calls said the disclosure of their pack in time, and how many did not.
    pub disclosures: DisclosureStats,
}

/// Calls whose pack requires a disclosure.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DisclosureStats {
    /// How many said it in time.
    pub kept: i64,
    /// How many did not.
    pub missed: i64,
}

/// Refused dials of a day.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedDay {
    /// The day, `YYYY-MM-DD`.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// How many.
    pub count: i64,
    /// How many by rule.
    pub by_rule: ByRule,
}

/// Refused dials of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedAgent {
    /// The agent; null for dials without one.
    pub agent_id: Option<String>,
    /// Its name, while it exists.
    pub name: Option<String>,
    /// How many.
    pub count: i64,
    /// How many by rule.
    pub by_rule: ByRule,
}

/// The operator's statement that an older state holds.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AcceptLog {
    /// Goes into the operator log; no personal data.
    #[schemars(length(min = 1, max = 200))]
    pub reason: String,
}

/// What was accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AcceptedLog {
    /// Each chain that was older than witnessed.
    pub accepted: Vec<AcceptedChain>,
}

/// An older state that was accepted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedChain {
    /// The chain.
    #[schemars(with = "StrandName")]
    pub chain: &'static str,
    /// The newest record that was witnessed.
    pub witnessed_seq: u64,
    /// The record from which the chain goes on; it says what was accepted.
    pub seq: u64,
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
    fields.push(or("chain", request::<Chain>(), json!("audit")));
    fields
}

fn head_query() -> Vec<Field> {
    vec![or("chain", request::<Chain>(), json!("audit"))]
}

const fn row(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(GET, path, id, "Compliance", summary).scope(COMPLIANCE_READ)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row("/v1/audit/verify", "verifyLog", "Check every hash of every chain")
        .answers(&[(200, Some(data::<Verification>))]),
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
        .answers(&[(200, Some(data::<BlockedStats>))]),
    row(
        "/v1/audit/head",
        "getLogHead",
        "The newest record of a chain, signed; keep it elsewhere to notice later that the log was cut short",
    )
    .query(head_query)
    .answers(&[(200, Some(data::<SignedHead>))])
    .errors(&[CONFLICT]),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/audit/accept",
        "acceptLog",
        "Operator",
        "Accept an older state of a decision log, after a backup was restored; it is written into the log",
    )
    .access(Access::Operator)
    .body(request::<AcceptLog>)
    .answers(&[(200, Some(data::<AcceptedLog>))])
    .errors(&[CONFLICT]),
];

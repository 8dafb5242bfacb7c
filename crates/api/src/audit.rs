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

/// The result of verifying the three chains of the key's mode.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "LogVerification")]
pub struct Verification {
    /// True if every chain is intact.
    pub verified: bool,
    /// Number of records in all chains together.
    pub records: u64,
    /// The result for each chain.
    pub chains: Vec<ChainVerification>,
}

/// The result of verifying one chain of the decision log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChainVerification {
    /// Name of the chain: `audit`, `grievances` or `consent`.
    #[schemars(with = "Chain")]
    pub name: &'static str,
    /// True if the chain is intact.
    pub verified: bool,
    /// Number of records in the chain.
    pub records: u64,
    /// `seq` of the first record that does not fit; null if there is none.
    pub broken_at: Option<u64>,
    /// What is wrong at `brokenAt`, for people; null if the chain is intact.
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
        let doc = "Name of a chain of the decision log; in test mode with the suffix `_test`.";
        json_schema!({"type": "string", "enum": names, "description": doc})
    }
}

/// The newest record of a chain, signed. Kept outside the service, it reveals later whether the log was
/// truncated or rewritten.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LogHead")]
pub struct SignedHead {
    /// Id of the workspace, `ws_…`.
    pub workspace_id: String,
    /// Name of the chain; in test mode with the suffix `_test`.
    #[schemars(with = "StrandName")]
    pub chain: &'static str,
    /// Number of the newest record, counted from 1; 0 for an empty chain.
    pub seq: u64,
    /// `integrity_hash` of the newest record, hex; 64 zeros for an empty chain.
    pub hash: String,
    /// When the head was signed; part of what is signed.
    pub signed_at: Timestamp,
    /// Signature algorithm; always `ed25519`.
    #[schemars(extend("enum" = ["ed25519"]))]
    pub algorithm: &'static str,
    /// Public key of the signature, URL-safe base64 without padding.
    pub public_key: String,
    /// Signature over the lines `decision-log-head/1`, workspace, chain, seq, hash and signedAt; URL-safe
    /// base64 without padding.
    pub signature: String,
}

/// Counts of refused dials by rule.
pub type ByRule = BTreeMap<String, i64>;

/// Dials that a compliance gate refused.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedStats {
    /// Number of refused dials in the range.
    pub total: i64,
    /// Number of refused dials by gate.
    pub by_rule: ByRule,
    /// Refused dials by day in India, oldest first.
    pub by_day: Vec<BlockedDay>,
    /// Refused dials by agent, most first.
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

/// Refused dials of one day.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedDay {
    /// The day in India, `YYYY-MM-DD`.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// Number of refused dials on this day.
    pub count: i64,
    /// Number of refused dials by gate.
    pub by_rule: ByRule,
}

/// Refused dials of one agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedAgent {
    /// Id of the agent; null for dials without an agent.
    pub agent_id: Option<String>,
    /// The agent's name; null when the agent was deleted or there was none.
    pub name: Option<String>,
    /// Number of refused dials of this agent.
    pub count: i64,
    /// Number of refused dials by gate.
    pub by_rule: ByRule,
}

/// The operator's confirmation that an older state of the decision log is valid, after a backup was restored.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AcceptLog {
    /// Why the older state is accepted; recorded in the operator log. No personal data.
    #[schemars(length(min = 1, max = 200))]
    pub reason: String,
}

/// The chains whose older state was accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AcceptedLog {
    /// Each chain that was older than its last witnessed record; empty if there is none.
    pub accepted: Vec<AcceptedChain>,
}

/// A chain whose older state was accepted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedChain {
    /// Name of the chain; in test mode with the suffix `_test`.
    #[schemars(with = "StrandName")]
    pub chain: &'static str,
    /// `seq` of the newest record that was witnessed before.
    pub witnessed_seq: u64,
    /// `seq` of the record that documents the acceptance; the chain continues from it.
    pub seq: u64,
}

fn moment() -> Schema {
    any_of(vec![time(), date()])
}

fn range() -> Vec<Field> {
    vec![
        may(
            "from",
            moment().doc("Only decisions at or after this time; a date means its beginning in India."),
        ),
        may("to", moment().doc("Only decisions before this time; a date includes that whole day in India.")),
    ]
}

fn export_query() -> Vec<Field> {
    let mut fields = range();
    fields.push(or(
        "format",
        choice(&["csv", "pdf"]).doc("Format of the file: `csv` or `pdf`."),
        json!("csv"),
    ));
    fields.push(or("chain", request::<Chain>().doc("The chain that is exported."), json!("audit")));
    fields
}

fn head_query() -> Vec<Field> {
    vec![or("chain", request::<Chain>().doc("The chain whose newest record is signed."), json!("audit"))]
}

const fn row(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(GET, path, id, "Compliance", summary).scope(COMPLIANCE_READ)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row("/v1/audit/verify", "verifyLog", "Verify the chains of the decision log")
        .about(
            "Recomputes every hash of the key's mode. Concurrent requests share one verification. More \
             than 1,000,000 records in a minute are 429.",
        )
        .answers(&[(200, Some(data::<Verification>))]),
    row("/v1/audit/export", "exportLog", "Export a chain of the decision log as CSV or PDF")
        .about(
            "The chain is verified first, and the file states the result. A CSV without its last line, \
             which begins with `#`, is incomplete.",
        )
        .query(export_query)
        .content_type("text/csv, application/pdf")
        .answers(&[(200, None)]),
    row("/v1/audit/stats", "getBlockedStats", "Refused dials by gate, day and agent")
        .query(range)
        .answers(&[(200, Some(data::<BlockedStats>))]),
    row("/v1/audit/head", "getLogHead", "The newest record of a chain, signed")
        .about("Keep it outside the service: it reveals later whether the log was truncated or rewritten.")
        .query(head_query)
        .answers(&[(200, Some(data::<SignedHead>))])
        .errors(&[CONFLICT]),
    operation(
        POST,
        "/operator/v1/workspaces/{ws}/audit/accept",
        "acceptLog",
        "Operator",
        "Accept an older state of a decision log after a backup was restored",
    )
    .about("The decision log records the acceptance.")
    .access(Access::Operator)
    .body(request::<AcceptLog>)
    .answers(&[(200, Some(data::<AcceptedLog>))])
    .errors(&[CONFLICT]),
];

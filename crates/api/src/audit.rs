//! The decision log as auditors read it (docs/contract/decision-log.md, docs/contract/audit.md).

use std::borrow::Cow;
use std::collections::BTreeMap;

use domain::decision_log::{Chain, Channel, Decision, Strand};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error_codes::CONFLICT;
use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{
    Field, Schema, any_of, choice, cursor, data, date, limit, may, or, page, request, text_of, time,
};
use crate::scopes::COMPLIANCE_READ;

/// The result of verifying the four chains of the key's mode.
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
    /// Name of the chain: `audit`, `grievances`, `consent` or `actions`.
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
    /// Number of calls that said it in time.
    pub kept: i64,
    /// Number of calls that did not say it in time.
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

/// A record of the decision log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogRecord {
    /// Id of the record: its chain and number, such as `audit-1042`.
    pub id: String,
    /// The chain that holds it.
    #[schemars(with = "Chain")]
    pub chain: &'static str,
    /// Number of the record in its chain, counted from 1.
    pub seq: u64,
    /// When it was decided.
    pub at: String,
    /// Id of the call, chat or contact that it is about; empty if it is about none.
    pub interaction_id: String,
    /// Whether the dial or chat was `allowed` or `blocked`.
    #[schemars(with = "Decision")]
    pub verdict: String,
    /// The gate that blocked it; null if it was allowed.
    pub blocked_by: Option<String>,
    /// What was examined, as recorded: `pack` and `gates` of a decision, each gate with its verdict and evidence.
    pub evidence: Map<String, Value>,
    /// What came of it, such as `recorded`; null for a decision.
    pub outcome: Option<String>,
    /// Id of the recording; null if the record is not about one.
    pub recording_id: Option<String>,
    /// Id of the consent on which the decision rests; null without one.
    pub consent_id: Option<String>,
    /// Whether it is about a call (`voice`) or a chat (`chat`).
    #[schemars(with = "Channel")]
    pub channel: String,
    /// Id of the agent; null without one.
    pub agent_id: Option<String>,
    /// `integrity_hash` of the record, hex.
    pub hash: String,
    /// `integrity_hash` of the record before it; 64 zeros for the first.
    pub prev_hash: String,
}

/// A change by a member, a key or the operator.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Id of the record: its chain and number, such as `actions-17`.
    pub id: String,
    /// Number of the record in its chain, counted from 1.
    pub seq: u64,
    /// When the change was made.
    pub at: String,
    /// Who made it: id of a key or member, or `operator`.
    pub actor: String,
    /// Id of the operation, as in this document.
    pub operation: String,
    /// Id of the changed object; empty if the operation is about none.
    pub object_id: String,
    /// Kind of the object: the prefix of its id, such as `agt`; empty without an object.
    pub object_type: String,
    /// Network address of the client.
    pub address: String,
    /// Id of the member's session; null for others.
    pub session_id: Option<String>,
    /// How the client named itself, at most 200 characters.
    pub user_agent: String,
    /// The ids in the path of the request, the workspace left out.
    pub path: Vec<String>,
    /// The changed fields, where the operation says more than its name.
    pub changes: Vec<ActionChange>,
    /// Id of the request, as in `x-request-id`.
    pub request_id: String,
    /// `integrity_hash` of the record, hex.
    pub hash: String,
    /// `integrity_hash` of the record before it; 64 zeros for the first.
    pub prev_hash: String,
}

/// A changed field. Secrets and personal data are named without their values.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ActionChange {
    /// Name of the field that was changed.
    pub field: String,
    /// Its value before the change; absent if it is withheld or there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// Its value after the change; absent if it is withheld or there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
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

fn records_query() -> Vec<Field> {
    let mut fields = range();
    fields.extend([
        may("day", date().doc("Only records of this day in India; instead of `from` and `to`.")),
        may(
            "number",
            text_of(7, 32).doc("Only records about the person with this phone number, given whole."),
        ),
        may("callId", text_of(1, 64).doc("Only records about this call or chat.")),
        may("gate", text_of(1, 64).doc("Only records in which this gate refused.")),
        may("verdict", request::<Decision>().doc("Only records with this verdict.")),
        or("chain", request::<RecordChain>().doc("The chain that is read."), json!("audit")),
        limit(100),
        cursor(),
    ]);
    fields
}

fn actions_query() -> Vec<Field> {
    let mut fields = range();
    fields.extend([
        may("actor", text_of(1, 64).doc("Only actions of this key or member, or of `operator`.")),
        may("operation", text_of(1, 64).doc("Only actions by this operation, such as `updateAgent`.")),
        may("objectId", text_of(1, 64).doc("Only actions on the object with this id.")),
        limit(100),
        cursor(),
    ]);
    fields
}

/// The chains whose records are decisions.
#[derive(Debug, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordChain {
    /// Dials and chats.
    Audit,
    /// Requests of persons about their data.
    Grievances,
    /// Consent and opt-outs.
    Consent,
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
        .role(Role::Admin)
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
    row("/v1/audit/records", "listLogRecords", "Records of the decision log, newest first")
        .about(
            "A page may have fewer records than `limit`, also none, while `nextCursor` is given: filters that no index \
             serves together examine 50,000 records at a time.",
        )
        .query(records_query)
        .answers(&[(200, Some(page::<LogRecord>))]),
    row("/v1/audit/records/{id}", "getLogRecord", "A record of the decision log")
        .answers(&[(200, Some(data::<LogRecord>))]),
    row("/v1/audit/actions", "listActions", "Changes by members, keys and the operator, newest first")
        .about(
            "Each record was stored with its change. A page may have fewer records than `limit`, also none, while \
             `nextCursor` is given.",
        )
        .query(actions_query)
        .answers(&[(200, Some(page::<Action>))]),
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

//! The operator API, `/operator/v1`: everything that the public API leaves to a console
//! (docs/contract/operator.md).

use domain::ids::{ApiKey, Id, User, Workspace};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error_codes::CONFLICT;
use crate::numbers::{number_answer, numbers_answer};
use crate::operations::Method::{DELETE, GET, PATCH, POST};
use crate::operations::{Access, Idempotency, Operation, operation};
use crate::schema::{
    Field, Schema, any_of, boolean, choice, count, cursor, data, id, integer, limit, list, list_of, may,
    need, object, offset, or, page, text, text_of, time,
};
use crate::wallet;

/// Features that can be switched off for a workspace; all are on for a new one.
pub const FEATURES: &[&str] = &[
    "analytics",
    "boards",
    "knowledge",
    "crmIntegrations",
    "chat",
    "chatappChannel",
    "chatappAgents",
    "chatappCampaigns",
    "fullTranscript",
    "recording",
];

/// Limits of a workspace with their defaults (docs/contract/README.md#limits).
pub const LIMITS: &[(&str, i64)] = &[
    ("requestsPerMinute", 600),
    ("callsPerMinute", 60),
    ("campaignWritesPerMinute", 60),
    ("nudgesPerMinute", 60),
    ("pendingNudges", 10_000),
    ("concurrentCalls", 100),
];

/// Body of `POST /operator/v1/workspaces`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewWorkspace {
    /// Its name.
    pub name: String,
    /// Whether live calls may be placed.
    pub kyb_verified: bool,
    /// First balance in minor units, booked as `signup_grant`.
    pub balance_minor: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Price of a started minute.
    pub cost_per_minute_minor: i64,
}

/// Body of `PATCH /operator/v1/workspaces/{ws}`; what is absent stays.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceChange {
    /// New name.
    pub name: Option<String>,
    /// Whether live calls may be placed.
    pub kyb_verified: Option<bool>,
    /// Whether every request is refused.
    pub suspended: Option<bool>,
    /// Features to switch on or off.
    pub features: Option<serde_json::Map<String, Value>>,
    /// Limits to set.
    pub limits: Option<serde_json::Map<String, Value>>,
    /// Price of a started minute.
    pub cost_per_minute_minor: Option<i64>,
    /// Price of a chat.
    pub cost_per_chat_minor: Option<i64>,
    /// Threshold of `wallet.low`; null for 30 minutes of calls.
    #[serde(deserialize_with = "given")]
    pub low_balance_minor: Option<Option<i64>>,
    /// Whether marketing templates need a recorded opt-in.
    pub marketing_opt_in_rule: Option<bool>,
}

/// A field that was given, null included.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<i64>>, D::Error> {
    Option::<i64>::deserialize(deserializer).map(Some)
}

/// A workspace as the operator sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceView {
    /// Its id.
    pub id: Id<Workspace>,
    /// Its name.
    pub name: String,
    /// Whether live calls may be placed.
    pub kyb_verified: bool,
    /// Whether every request is refused.
    pub suspended: bool,
    /// Balance in minor units.
    pub balance_minor: i64,
    /// What calls in flight hold of it.
    pub reserved_minor: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Price of a started minute.
    pub cost_per_minute_minor: i64,
    /// Price of a chat.
    pub cost_per_chat_minor: i64,
    /// Threshold of `wallet.low`, null for 30 minutes of calls.
    pub low_balance_minor: Option<i64>,
    /// Whether marketing templates need a recorded opt-in.
    pub marketing_opt_in_rule: bool,
    /// Every feature and whether it is on.
    pub features: serde_json::Map<String, Value>,
    /// Every limit.
    pub limits: serde_json::Map<String, Value>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Body of `POST …/keys`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// What it is for.
    pub name: String,
    /// `live` or `test`.
    pub mode: String,
    /// Scope names, or `"all"`.
    pub scopes: Value,
    /// When it stops working.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// A key without its value.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// Its id.
    pub id: Id<ApiKey>,
    /// What it is for.
    pub name: String,
    /// `live` or `test`.
    pub mode: &'static str,
    /// Scope names.
    pub scopes: Vec<String>,
    /// First characters, the rest masked.
    pub prefix: String,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// The full value, only in the answer that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Body of `POST …/wallet/entries`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEntry {
    /// `topup` or `adjustment`.
    pub kind: String,
    /// Positive adds, negative (adjustments only) deducts.
    pub amount_minor: i64,
    /// Payment id or reason.
    pub reference: String,
}

/// A person who works in the console.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// Its id.
    pub id: Id<User>,
    /// Address to sign in with.
    pub email: String,
    /// Name.
    pub name: String,
    /// `owner`, `admin`, `editor` or `viewer`.
    pub role: String,
    /// When it was added.
    pub created_at: Timestamp,
}

/// Body of `POST …/members`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewMember {
    /// Address to sign in with.
    pub email: String,
    /// Name.
    pub name: String,
    /// Role.
    pub role: String,
    /// Console password.
    #[serde(default)]
    pub password: Option<String>,
}

fn features() -> Schema {
    object(FEATURES.iter().map(|name| may(name, boolean())).collect())
}

fn limits() -> Schema {
    object(LIMITS.iter().map(|(name, _)| may(name, integer(0, 10_000_000))).collect())
}

fn workspace() -> Schema {
    object(vec![
        need("id", id::<Workspace>()),
        need("name", text()),
        need("kybVerified", boolean()),
        need("suspended", boolean()),
        need("balanceMinor", count()),
        need("reservedMinor", count()),
        need("currency", text()),
        need("costPerMinuteMinor", count()),
        need("costPerChatMinor", count()),
        need("lowBalanceMinor", count().or_null()),
        need("marketingOptInRule", boolean()),
        need("features", features()),
        need("limits", limits()),
        need("createdAt", time()),
    ])
}

fn workspace_answer() -> Schema {
    data(workspace())
}

fn workspaces_answer() -> Schema {
    page(workspace())
}

/// Money in one request or setting, in minor units: far from the ends of what the store can count.
fn money(min: i64) -> Schema {
    integer(min, 1_000_000_000_000_000)
}

fn new_workspace() -> Schema {
    object(vec![
        need("name", text_of(1, 120)),
        or("kybVerified", boolean(), json!(false)),
        or("balanceMinor", money(0), json!(0)),
        or("currency", text_of(3, 3), json!("INR")),
        or("costPerMinuteMinor", integer(0, 1_000_000_000), json!(600)),
    ])
}

fn workspace_change() -> Schema {
    object(vec![
        may("name", text_of(1, 120)),
        may("kybVerified", boolean()),
        may("suspended", boolean()),
        may("features", features()),
        may("limits", limits()),
        may("costPerMinuteMinor", integer(0, 1_000_000_000)),
        may("costPerChatMinor", integer(0, 1_000_000_000)),
        may("lowBalanceMinor", money(0).or_null()),
        may("marketingOptInRule", boolean()),
    ])
}

fn new_key() -> Schema {
    object(vec![
        need("name", text_of(1, 120)),
        need("mode", choice(&["live", "test"])),
        need("scopes", any_of(vec![choice(&["all"]), list_of(text_of(1, 40), 1, 100)])),
        may("expiresAt", time().or_null()),
    ])
}

fn key() -> Schema {
    object(vec![
        need("id", id::<ApiKey>()),
        need("name", text()),
        need("mode", choice(&["live", "test"])),
        need("scopes", list(text())),
        need("prefix", text()),
        need("expiresAt", time().or_null()),
        need("revokedAt", time().or_null()),
        need("createdAt", time()),
        may("key", text().doc("The full value, shown only here.")),
    ])
}

fn key_answer() -> Schema {
    data(key())
}

fn keys_answer() -> Schema {
    data(list(key()))
}

fn new_entry() -> Schema {
    object(vec![
        need("kind", choice(&["topup", "adjustment"])),
        need("amountMinor", money(-1_000_000_000_000_000)),
        need("reference", text_of(1, 200)),
    ])
}

fn entry_answer() -> Schema {
    data(wallet::transaction())
}

fn entries_answer() -> Schema {
    object(vec![need("data", list(wallet::transaction())), need("total", count())])
}

fn offset_query() -> Vec<Field> {
    vec![limit(200), offset()]
}

fn cursor_query() -> Vec<Field> {
    vec![limit(200), cursor()]
}

fn new_number() -> Schema {
    object(vec![need("number", text_of(8, 20))])
}

fn new_member() -> Schema {
    object(vec![
        need("email", text_of(3, 254)),
        need("name", text_of(1, 120)),
        need("role", choice(&["owner", "admin", "editor", "viewer"])),
        may("password", text_of(10, 200)),
    ])
}

fn member() -> Schema {
    object(vec![
        need("id", id::<User>()),
        need("email", text()),
        need("name", text()),
        need("role", text()),
        need("createdAt", time()),
    ])
}

fn member_answer() -> Schema {
    data(member())
}

fn members_answer() -> Schema {
    data(list(member()))
}

fn log_answer() -> Schema {
    page(object(vec![
        need("id", text()),
        need("at", time()),
        need("operation", text()),
        need("workspaceId", text().or_null()),
        need("subject", text()),
        need("requestId", text()),
    ]))
}

const fn row(
    method: crate::operations::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Operator", summary).access(Access::Operator)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(POST, "/operator/v1/workspaces", "createWorkspace", "Make a workspace")
        .idempotent(Idempotency::Optional)
        .body(new_workspace)
        .answers(&[(201, Some(workspace_answer))]),
    row(GET, "/operator/v1/workspaces", "listWorkspaces", "All workspaces, newest first")
        .query(cursor_query)
        .answers(&[(200, Some(workspaces_answer))]),
    row(GET, "/operator/v1/workspaces/{ws}", "getWorkspace", "One workspace")
        .answers(&[(200, Some(workspace_answer))]),
    row(
        PATCH,
        "/operator/v1/workspaces/{ws}",
        "updateWorkspace",
        "Change verification, suspension, features, limits and prices",
    )
    .body(workspace_change)
    .answers(&[(200, Some(workspace_answer))]),
    row(POST, "/operator/v1/workspaces/{ws}/keys", "createKey", "Make an API key; its value is shown once")
        .body(new_key)
        .answers(&[(201, Some(key_answer))]),
    row(GET, "/operator/v1/workspaces/{ws}/keys", "listKeys", "The keys of a workspace")
        .answers(&[(200, Some(keys_answer))]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/keys/{key}",
        "revokeKey",
        "Revoke a key, at once on every node",
    )
    .answers(&[(200, Some(key_answer))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/wallet/entries",
        "createWalletEntry",
        "Top up or adjust a wallet",
    )
    .idempotent(Idempotency::Optional)
    .body(new_entry)
    .answers(&[(201, Some(entry_answer))])
    .errors(&[CONFLICT]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/wallet/entries",
        "listWalletEntries",
        "The ledger of a workspace, newest first",
    )
    .query(offset_query)
    .answers(&[(200, Some(entries_answer))]),
    row(POST, "/operator/v1/workspaces/{ws}/numbers", "createNumber", "Give a workspace a phone number")
        .body(new_number)
        .answers(&[(201, Some(number_answer))])
        .errors(&[CONFLICT]),
    row(GET, "/operator/v1/workspaces/{ws}/numbers", "listWorkspaceNumbers", "Its phone numbers")
        .answers(&[(200, Some(numbers_answer))]),
    row(DELETE, "/operator/v1/workspaces/{ws}/numbers/{id}", "releaseNumber", "Release a number")
        .answers(&[(200, Some(number_answer))]),
    row(POST, "/operator/v1/workspaces/{ws}/members", "createMember", "Add a person who may use the console")
        .body(new_member)
        .answers(&[(201, Some(member_answer))])
        .errors(&[CONFLICT]),
    row(GET, "/operator/v1/workspaces/{ws}/members", "listMembers", "People of a workspace")
        .answers(&[(200, Some(members_answer))]),
    row(GET, "/operator/v1/log", "listOperatorLog", "Every operator write, newest first")
        .query(cursor_query)
        .answers(&[(200, Some(log_answer))]),
];

//! The operator API, `/operator/v1`: everything that the public API leaves to a console
//! (docs/contract/operator.md).

use std::borrow::Cow;

use domain::compliance::EntityClass;
use domain::ids::{self, Id};
use domain::tenant::Mode;
use domain::time::Timestamp;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error_codes::CONFLICT;
use crate::numbers::Number;
use crate::operation::Method::{DELETE, GET, PATCH, POST};
use crate::operation::{Access, Idempotency, Operation, operation};
use crate::schema::{Field, counted, cursor, data, given, limit, list, offset, page, request};
use crate::wallet::WalletTransaction;

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
    ("chatMessagesPerMinute", 120),
    ("chatSessionsPerMinute", 60),
    ("channelMessagesPerMinute", 300),
    ("handOversPerMinute", 60),
    ("pendingNudges", 10_000),
    ("concurrentCalls", 100),
];

/// Whether each of [`FEATURES`] is on.
pub enum Features {}

impl JsonSchema for Features {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("WorkspaceFeatures")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        let fields: Map<String, Value> =
            FEATURES.iter().map(|name| ((*name).to_owned(), json!({"type": "boolean"}))).collect();
        json_schema!({"type": "object", "properties": fields, "description": "Whether a feature is on."})
    }
}

/// The value of each of [`LIMITS`].
pub enum Limits {}

impl JsonSchema for Limits {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("WorkspaceLimits")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        let limit = || json!({"type": "integer", "minimum": 0, "maximum": 10_000_000});
        let fields: Map<String, Value> =
            LIMITS.iter().map(|(name, _)| ((*name).to_owned(), limit())).collect();
        json_schema!({"type": "object", "properties": fields, "description": "Limits of a workspace."})
    }
}

/// Most money in one request or setting, in minor units: far from the ends of what the store can count.
const MOST_MONEY: i64 = 1_000_000_000_000_000;

/// A workspace to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWorkspace {
    /// Its name.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// Whether live calls may be placed.
    #[schemars(extend("default" = false))]
    pub kyb_verified: bool,
    /// First balance in minor units, booked as `signup_grant`.
    #[schemars(range(min = 0, max = MOST_MONEY), extend("default" = 0))]
    pub balance_minor: i64,
    /// ISO 4217 code.
    #[schemars(length(min = 3, max = 3), extend("default" = "INR"))]
    pub currency: String,
    /// Price of a started minute.
    #[schemars(range(min = 0, max = 1_000_000_000), extend("default" = 600))]
    pub cost_per_minute_minor: i64,
}

/// A change of a workspace; what is absent stays.
#[derive(Debug, Default, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceChange {
    /// New name.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Whether live calls may be placed.
    pub kyb_verified: Option<bool>,
    /// Whether every request is refused.
    pub suspended: Option<bool>,
    /// Features to switch on or off.
    #[schemars(with = "Option<Features>")]
    pub features: Option<Map<String, Value>>,
    /// Limits to set.
    #[schemars(with = "Option<Limits>")]
    pub limits: Option<Map<String, Value>>,
    /// Price of a started minute.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub cost_per_minute_minor: Option<i64>,
    /// Price of a chat.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub cost_per_chat_minor: Option<i64>,
    /// Threshold of `wallet.low`; null for 30 minutes of calls.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, range(min = 0, max = MOST_MONEY), extend("x-nullable" = true))]
    pub low_balance_minor: Option<Option<i64>>,
    /// Whether marketing templates need a recorded opt-in.
    pub marketing_opt_in_rule: Option<bool>,
    /// How the law regulates its entity; the rules of its packs on number series go by it.
    pub regulated_as: Option<EntityClass>,
    /// Its entity's id in the registers of senders (DLT); null for none.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub dlt_entity_id: Option<Option<String>>,
}

/// A workspace as the operator sees it; money in minor units.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// Its id.
    pub id: Id<ids::Workspace>,
    /// Its name.
    pub name: String,
    /// Whether live calls may be placed.
    pub kyb_verified: bool,
    /// Whether every request is refused.
    pub suspended: bool,
    /// Balance.
    pub balance_minor: i64,
    /// What calls in flight hold of the balance.
    pub reserved_minor: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Price of a started minute.
    pub cost_per_minute_minor: i64,
    /// Price of a chat.
    pub cost_per_chat_minor: i64,
    /// Threshold of `wallet.low`; null for 30 minutes of calls.
    pub low_balance_minor: Option<i64>,
    /// Whether marketing templates need a recorded opt-in.
    pub marketing_opt_in_rule: bool,
    /// How the law regulates its entity.
    pub regulated_as: EntityClass,
    /// Its entity's id in the registers of senders (DLT).
    pub dlt_entity_id: Option<String>,
    /// Every feature and whether it is on.
    #[schemars(with = "Features")]
    pub features: Map<String, Value>,
    /// Every limit.
    #[schemars(with = "Limits")]
    pub limits: Map<String, Value>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An API key to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewApiKey {
    /// What it is for.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// Its mode.
    #[schemars(with = "Mode")]
    pub mode: String,
    /// Names of scopes, or `"all"`.
    #[schemars(with = "NewApiKeyScopes")]
    pub scopes: Value,
    /// When it stops working.
    #[schemars(extend("x-nullable" = true))]
    pub expires_at: Option<Timestamp>,
}

/// The scopes of a key to be made.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[allow(dead_code, reason = "only its schema is used")]
enum NewApiKeyScopes {
    All(AllScopes),
    Some(#[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 40)))] Vec<String>),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[allow(dead_code, reason = "only its schema is used")]
enum AllScopes {
    All,
}

/// An API key without its value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Its id.
    pub id: Id<ids::ApiKey>,
    /// What it is for.
    pub name: String,
    /// Its mode.
    pub mode: Mode,
    /// Names of its scopes.
    pub scopes: Vec<String>,
    /// First characters, the rest masked.
    pub prefix: String,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when the value before its last rotation works; null without one.
    pub previous_valid_until: Option<Timestamp>,
    /// The full value, only in the answer that made it or gave it another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What was cancelled with it, only in the answer that revoked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<CancelledWork>,
}

/// What waited in the name of a key that was revoked, and is cancelled.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelledWork {
    /// Nudges.
    #[schemars(range(min = 0))]
    pub nudges: i64,
    /// Scheduled calls.
    #[schemars(range(min = 0))]
    pub scheduled_calls: i64,
}

/// Hours for which the value before a rotation works, unless told otherwise, and at most.
pub const GRACE_HOURS: i64 = 24;
const MOST_GRACE_HOURS: i64 = 30 * 24;

/// How a key gets another value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateKey {
    /// Hours for which the present value works beside the new one; 0: it stops at once.
    #[schemars(range(min = 0, max = MOST_GRACE_HOURS), extend("default" = GRACE_HOURS))]
    pub grace_hours: Option<i64>,
}

/// A line to be written into the ledger.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWalletEntry {
    /// What it is for.
    #[schemars(extend("enum" = ["topup", "adjustment"]))]
    pub kind: String,
    /// Positive adds, negative (adjustments only) deducts.
    #[schemars(range(min = -MOST_MONEY, max = MOST_MONEY))]
    pub amount_minor: i64,
    /// Payment id or reason.
    #[schemars(length(min = 1, max = 200))]
    pub reference: String,
}

/// A phone number for a workspace.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewNumber {
    /// The number, in any usual writing.
    #[schemars(length(min = 8, max = 20))]
    pub number: String,
    /// The carrier that calls from it go out on: a `carrier` of `telephony.sip.trunks`. Left out, it is the first one.
    #[schemars(length(min = 1, max = 64))]
    pub carrier: Option<String>,
}

/// What changes of a phone number.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NumberUpdate {
    /// The carrier that calls from it go out on: a `carrier` of `telephony.sip.trunks`; null for the first one.
    #[schemars(required, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub carrier: Option<String>,
}

/// A person who works in the console.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its id.
    pub id: Id<ids::User>,
    /// Address to sign in with.
    pub email: String,
    /// Name.
    pub name: String,
    /// `owner`, `admin`, `editor` or `viewer`.
    pub role: String,
    /// When it was added.
    pub created_at: Timestamp,
}

/// A person to be added to a workspace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMember {
    /// Address to sign in with.
    #[schemars(length(min = 3, max = 254))]
    pub email: String,
    /// Name.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// Role.
    #[schemars(extend("enum" = ["owner", "admin", "editor", "viewer"]))]
    pub role: String,
    /// Console password.
    #[schemars(length(min = 10, max = 200))]
    pub password: Option<String>,
}

/// An operator write.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorLogEntry {
    /// Its id.
    pub id: String,
    /// When it happened.
    pub at: Timestamp,
    /// The operation.
    pub operation: String,
    /// The workspace that it was about.
    pub workspace_id: Option<String>,
    /// What it was about: ids and names only.
    pub subject: String,
    /// The request.
    pub request_id: String,
}

fn offset_query() -> Vec<Field> {
    vec![limit(200), offset()]
}

fn cursor_query() -> Vec<Field> {
    vec![limit(200), cursor()]
}

const fn row(
    method: crate::operation::Method,
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
        .body(request::<NewWorkspace>)
        .answers(&[(201, Some(data::<Workspace>))]),
    row(GET, "/operator/v1/workspaces", "listWorkspaces", "All workspaces, newest first")
        .query(cursor_query)
        .answers(&[(200, Some(page::<Workspace>))]),
    row(GET, "/operator/v1/workspaces/{ws}", "getWorkspace", "One workspace")
        .answers(&[(200, Some(data::<Workspace>))]),
    row(
        PATCH,
        "/operator/v1/workspaces/{ws}",
        "updateWorkspace",
        "Change verification, suspension, features, limits and prices",
    )
    .body(request::<WorkspaceChange>)
    .answers(&[(200, Some(data::<Workspace>))]),
    row(POST, "/operator/v1/workspaces/{ws}/keys", "createKey", "Make an API key; its value is shown once")
        .body(request::<NewApiKey>)
        .answers(&[(201, Some(data::<ApiKey>))]),
    row(GET, "/operator/v1/workspaces/{ws}/keys", "listKeys", "The keys of a workspace")
        .answers(&[(200, Some(list::<ApiKey>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/keys/{key}/rotate",
        "rotateKey",
        "Give a key another value, which is shown once; nothing that the key made is cancelled",
    )
    .body(request::<RotateKey>)
    .answers(&[(200, Some(data::<ApiKey>))])
    .errors(&[CONFLICT]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/keys/{key}",
        "revokeKey",
        "Revoke a key, at once on every node",
    )
    .answers(&[(200, Some(data::<ApiKey>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/wallet/entries",
        "createWalletEntry",
        "Top up or adjust a wallet",
    )
    .idempotent(Idempotency::Optional)
    .body(request::<NewWalletEntry>)
    .answers(&[(201, Some(data::<WalletTransaction>))])
    .errors(&[CONFLICT]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/wallet/entries",
        "listWalletEntries",
        "The ledger of a workspace, newest first",
    )
    .query(offset_query)
    .answers(&[(200, Some(counted::<WalletTransaction>))]),
    row(POST, "/operator/v1/workspaces/{ws}/numbers", "createNumber", "Give a workspace a phone number")
        .body(request::<NewNumber>)
        .answers(&[(201, Some(data::<Number>))])
        .errors(&[CONFLICT]),
    row(GET, "/operator/v1/workspaces/{ws}/numbers", "listWorkspaceNumbers", "Its phone numbers")
        .answers(&[(200, Some(list::<Number>))]),
    row(
        PATCH,
        "/operator/v1/workspaces/{ws}/numbers/{id}",
        "updateNumber",
        "Choose the carrier that calls from a number go out on",
    )
    .body(request::<NumberUpdate>)
    .answers(&[(200, Some(data::<Number>))]),
    row(DELETE, "/operator/v1/workspaces/{ws}/numbers/{id}", "releaseNumber", "Release a number")
        .answers(&[(200, Some(data::<Number>))])
        .errors(&[CONFLICT]),
    row(POST, "/operator/v1/workspaces/{ws}/members", "createMember", "Add a person who may use the console")
        .body(request::<NewMember>)
        .answers(&[(201, Some(data::<Member>))])
        .errors(&[CONFLICT]),
    row(GET, "/operator/v1/workspaces/{ws}/members", "listMembers", "People of a workspace")
        .answers(&[(200, Some(list::<Member>))]),
    row(GET, "/operator/v1/log", "listOperatorLog", "Every operator write, newest first")
        .query(cursor_query)
        .answers(&[(200, Some(page::<OperatorLogEntry>))]),
];

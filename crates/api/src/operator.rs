//! The operator API, `/operator/v1`: everything that the public API leaves to a console
//! (docs/contract/operator.md).

use std::borrow::Cow;

use domain::compliance::EntityClass;
use domain::ids::{self, Id};
use domain::tenant::{Mode, Role};
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
    "evaluation",
];

/// Limits of a workspace with their defaults (docs/contract/README.md#limits).
pub const LIMITS: &[(&str, i64)] = &[
    ("requestsPerMinute", 600),
    ("memberRequestsPerMinute", 1_200),
    ("callsPerMinute", 60),
    ("campaignWritesPerMinute", 60),
    ("nudgesPerMinute", 60),
    ("chatMessagesPerMinute", 120),
    ("chatSessionsPerMinute", 60),
    ("channelMessagesPerMinute", 300),
    ("handOversPerMinute", 60),
    ("flowTriesPerMinute", 60),
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
        let fields: Map<String, Value> = FEATURES
            .iter()
            .map(|name| {
                let doc = format!("Whether the feature `{name}` is on.");
                ((*name).to_owned(), json!({"type": "boolean", "description": doc}))
            })
            .collect();
        json_schema!({"type": "object", "properties": fields, "description": "Features of a workspace: true if the feature is on."})
    }
}

/// What a limit counts; empty for an unknown one, which a test refuses.
fn limit_doc(name: &str) -> &'static str {
    match name {
        "requestsPerMinute" => "Most requests with keys of the workspace in 60 seconds.",
        "memberRequestsPerMinute" => "Most requests of one member with a session in 60 seconds.",
        "callsPerMinute" => "Most placements over the API in 60 seconds.",
        "nudgesPerMinute" => "Most nudges that are created in 60 seconds.",
        "campaignWritesPerMinute" => {
            "Most replaced calling lists, attached streams and started runs in 60 seconds."
        }
        "chatMessagesPerMinute" => "Most messages of customers in chat sessions in 60 seconds.",
        "chatSessionsPerMinute" => "Most chat sessions that are opened in 60 seconds.",
        "channelMessagesPerMinute" => {
            "Most messages and conversations that are started on the channel in 60 seconds."
        }
        "handOversPerMinute" => "Most takeovers, handbacks and assignments in 60 seconds.",
        "flowTriesPerMinute" => "Most requests that run a flow for its author in 60 seconds.",
        "pendingNudges" => "Most nudges that are queued or scheduled, in each mode.",
        "concurrentCalls" => "Most calls at the same time.",
        _ => "",
    }
}

/// The value of each of [`LIMITS`].
pub enum Limits {}

impl JsonSchema for Limits {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("WorkspaceLimits")
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        let limit = |name: &str| json!({"type": "integer", "minimum": 0, "maximum": 10_000_000, "description": limit_doc(name)});
        let fields: Map<String, Value> =
            LIMITS.iter().map(|(name, _)| ((*name).to_owned(), limit(name))).collect();
        json_schema!({"type": "object", "properties": fields, "description": "Limits of a workspace; 0 allows nothing."})
    }
}

/// Most money in one request or setting, in minor units: far from the ends of what the store can count.
pub(crate) const MOST_MONEY: i64 = 1_000_000_000_000_000;

/// The request to create a workspace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWorkspace {
    /// The name of the workspace, for people.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// Whether the workspace is verified (KYB) and may place live calls.
    #[schemars(extend("default" = false))]
    pub kyb_verified: bool,
    /// First balance in minor units (paise), booked as `signup_grant`.
    #[schemars(range(min = 0, max = MOST_MONEY), extend("default" = 0))]
    pub balance_minor: i64,
    /// Currency of the wallet, an ISO 4217 code; fixed once created.
    #[schemars(length(min = 3, max = 3), extend("default" = "INR"))]
    pub currency: String,
    /// Price of one started minute of talk time, in minor units.
    #[schemars(range(min = 0, max = 1_000_000_000), extend("default" = 600))]
    pub cost_per_minute_minor: i64,
}

/// A change of a workspace; absent fields are not changed. It takes effect at once on every node.
#[derive(Debug, Default, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceChange {
    /// The name of the workspace, for people.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Whether the workspace is verified (KYB) and may place live calls.
    pub kyb_verified: Option<bool>,
    /// Whether the workspace is suspended: every request is 403 `workspace_suspended`, and its live calls
    /// end.
    pub suspended: Option<bool>,
    /// Features that are switched on or off.
    #[schemars(with = "Option<Features>")]
    pub features: Option<Map<String, Value>>,
    /// Limits that are changed; each from 0 to 10,000,000.
    #[schemars(with = "Option<Limits>")]
    pub limits: Option<Map<String, Value>>,
    /// Price of one started minute of talk time, in minor units.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub cost_per_minute_minor: Option<i64>,
    /// Price of one chat, in minor units.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub cost_per_chat_minor: Option<i64>,
    /// Price of one graded conversation, in minor units.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub cost_per_evaluation_minor: Option<i64>,
    /// Threshold of the event `wallet.low`, in minor units; null for the price of 30 minutes.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, range(min = 0, max = MOST_MONEY), extend("x-nullable" = true))]
    pub low_balance_minor: Option<Option<i64>>,
    /// Whether marketing templates are sent only to contacts with a recorded opt-in.
    pub marketing_opt_in_rule: Option<bool>,
    /// How the law regulates its entity; the rules of its packs on number series go by it.
    pub regulated_as: Option<EntityClass>,
    /// Its entity's id in the registers of senders (DLT); null for none.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub dlt_entity_id: Option<Option<String>>,
}

/// A workspace, which is one tenant; amounts are in minor units.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// Id of the workspace, `ws_…`.
    pub id: Id<ids::Workspace>,
    /// The name of the workspace, for people.
    pub name: String,
    /// Whether the workspace is verified (KYB) and may place live calls.
    pub kyb_verified: bool,
    /// Whether the workspace is suspended: every request is 403 `workspace_suspended`.
    pub suspended: bool,
    /// Balance of the wallet in minor units, holds included.
    pub balance_minor: i64,
    /// Sum of all holds of live calls and open chats, in minor units.
    pub reserved_minor: i64,
    /// Currency of the wallet, an ISO 4217 code.
    pub currency: String,
    /// Price of one started minute of talk time, in minor units.
    pub cost_per_minute_minor: i64,
    /// Price of one chat, in minor units.
    pub cost_per_chat_minor: i64,
    /// Price of one graded conversation, in minor units.
    pub cost_per_evaluation_minor: i64,
    /// Threshold of the event `wallet.low`, in minor units; null for the price of 30 minutes.
    pub low_balance_minor: Option<i64>,
    /// Whether marketing templates are sent only to contacts with a recorded opt-in.
    pub marketing_opt_in_rule: bool,
    /// How the law regulates its entity.
    pub regulated_as: EntityClass,
    /// Its entity's id in the registers of senders (DLT).
    pub dlt_entity_id: Option<String>,
    /// Every feature and whether it is on.
    #[schemars(with = "Features")]
    pub features: Map<String, Value>,
    /// Every limit and its value.
    #[schemars(with = "Limits")]
    pub limits: Map<String, Value>,
    /// When the workspace was created.
    pub created_at: Timestamp,
}

/// The request to create an API key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewApiKey {
    /// The name of the key, for people.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// `live` or `test`; fixed once created.
    #[schemars(with = "Mode")]
    pub mode: String,
    /// Names of scopes, or `"all"`, which includes `contacts:erase`; fixed once created.
    #[schemars(with = "NewApiKeyScopes")]
    pub scopes: Value,
    /// When the key expires; null for never. It must be in the future.
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
    /// Id of the key, `key_…`.
    pub id: Id<ids::ApiKey>,
    /// The name of the key, for people.
    pub name: String,
    /// `live` or `test`: the mode whose objects the key sees.
    pub mode: Mode,
    /// Names of the scopes that the key has.
    pub scopes: Vec<String>,
    /// The beginning of the key with its first four random characters, followed by `…`.
    pub prefix: String,
    /// When the key expires; null for never.
    pub expires_at: Option<Timestamp>,
    /// When the key was revoked; null if it was not.
    pub revoked_at: Option<Timestamp>,
    /// When the key was created.
    pub created_at: Timestamp,
    /// Until when the value before the last rotation works; null if there is none.
    pub previous_valid_until: Option<Timestamp>,
    /// When the key was last used, to the minute; null if it never was. A use on another node may be missing for up
    /// to an hour.
    pub last_used_at: Option<Timestamp>,
    /// The full value; only in the answer that creates or rotates the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Number of objects that were cancelled with the key; only in the answer that revokes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<CancelledWork>,
}

/// Number of waiting objects that were cancelled because their key was revoked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelledWork {
    /// Number of waiting nudges that were cancelled.
    #[schemars(range(min = 0))]
    pub nudges: i64,
    /// Number of waiting scheduled calls that were cancelled.
    #[schemars(range(min = 0))]
    pub scheduled_calls: i64,
}

/// Default and maximum of the hours for which the value before a rotation works.
pub const GRACE_HOURS: i64 = 24;
const MOST_GRACE_HOURS: i64 = 30 * 24;

/// How the value of a key is replaced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateKey {
    /// Hours for which the current value works beside the new one; 0 ends it at once.
    #[schemars(range(min = 0, max = MOST_GRACE_HOURS), extend("default" = GRACE_HOURS))]
    pub grace_hours: Option<i64>,
}

/// A line that is added to the ledger.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWalletEntry {
    /// `topup` for money that was paid, `adjustment` for a correction.
    #[schemars(extend("enum" = ["topup", "adjustment"]))]
    pub kind: String,
    /// Amount in minor units: positive adds, negative deducts (`adjustment` only). Not 0.
    #[schemars(range(min = -MOST_MONEY, max = MOST_MONEY))]
    pub amount_minor: i64,
    /// Your own reference, such as a payment id or a reason.
    #[schemars(length(min = 1, max = 200))]
    pub reference: String,
}

/// The request to assign a phone number to a workspace.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewNumber {
    /// The phone number, in any usual notation.
    #[schemars(length(min = 8, max = 20))]
    pub number: String,
    /// Name of the carrier over which the number's calls are dialled: a `carrier` of `telephony.sip.trunks`.
    /// Absent: the first one.
    #[schemars(length(min = 1, max = 64))]
    pub carrier: Option<String>,
}

/// A change of a phone number.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NumberUpdate {
    /// Name of the carrier over which the number's calls are dialled: a `carrier` of `telephony.sip.trunks`;
    /// null for the first one.
    #[schemars(required, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub carrier: Option<String>,
}

/// A person who uses the console of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Id of the member, `usr_…`.
    pub id: Id<ids::User>,
    /// E-mail address with which the member signs in.
    pub email: String,
    /// The name of the member.
    pub name: String,
    /// `owner`, `admin`, `editor` or `viewer`: what the member may do.
    pub role: String,
    /// When the member was added.
    pub created_at: Timestamp,
}

/// The request to add a member to a workspace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMember {
    /// E-mail address with which the member signs in.
    #[schemars(length(min = 3, max = 254))]
    pub email: String,
    /// The name of the member.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// What the member may do; a `viewer` cannot reply in the inbox.
    #[schemars(extend("enum" = ["owner", "admin", "editor", "viewer"]))]
    pub role: String,
    /// Password for the console; absent for none.
    #[schemars(length(min = 10, max = 200))]
    pub password: Option<String>,
}

/// An entry of the operator log: one write over the operator API.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorLogEntry {
    /// Id of the entry.
    pub id: String,
    /// When the write happened.
    pub at: Timestamp,
    /// `operationId` of the write.
    pub operation: String,
    /// Id of the workspace that it concerns; null if it concerns none.
    pub workspace_id: Option<String>,
    /// The object that was written: ids and counts, no personal data.
    pub subject: String,
    /// Id of the request, as in `X-Request-Id`.
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
    row(POST, "/operator/v1/workspaces", "createWorkspace", "Create a workspace")
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
        "Change verification, suspension, features, limits and prices of a workspace",
    )
    .about(
        "Only fields in the body change, at once on every node. Suspending a workspace ends its \
         live calls.",
    )
    .body(request::<WorkspaceChange>)
    .answers(&[(200, Some(data::<Workspace>))]),
    row(POST, "/operator/v1/workspaces/{ws}/keys", "createKey", "Create an API key")
        .role(Role::Admin)
        .about("Its value is shown only in this answer.")
        .body(request::<NewApiKey>)
        .answers(&[(201, Some(data::<ApiKey>))]),
    row(GET, "/operator/v1/workspaces/{ws}/keys", "listKeys", "All API keys of a workspace")
        .role(Role::Admin)
        .answers(&[(200, Some(list::<ApiKey>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/keys/{key}/rotate",
        "rotateKey",
        "Replace the value of an API key",
    )
    .role(Role::Admin)
    .about(
        "The new value is shown only in this answer. Nothing that the key created is cancelled. 409 \
         `conflict` for a revoked or expired key.",
    )
    .body(request::<RotateKey>)
    .answers(&[(200, Some(data::<ApiKey>))])
    .errors(&[CONFLICT]),
    row(
        DELETE,
        "/operator/v1/workspaces/{ws}/keys/{key}",
        "revokeKey",
        "Revoke an API key, at once on every node",
    )
    .role(Role::Admin)
    .about("Waiting nudges and scheduled calls of the key are cancelled.")
    .answers(&[(200, Some(data::<ApiKey>))]),
    row(
        POST,
        "/operator/v1/workspaces/{ws}/wallet/entries",
        "createWalletEntry",
        "Top up or adjust the wallet of a workspace",
    )
    .about(
        "Send an `Idempotency-Key`: a repeat without one adds the amount again. 409 `conflict` if \
         the balance would not cover what live calls hold.",
    )
    .idempotent(Idempotency::Optional)
    .body(request::<NewWalletEntry>)
    .answers(&[(201, Some(data::<WalletTransaction>))])
    .errors(&[CONFLICT]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/wallet/entries",
        "listWalletEntries",
        "Lines of a workspace's ledger, newest first",
    )
    .query(offset_query)
    .answers(&[(200, Some(counted::<WalletTransaction>))]),
    row(POST, "/operator/v1/workspaces/{ws}/numbers", "createNumber", "Assign a phone number to a workspace")
        .about("409 `conflict` if a workspace has it.")
        .body(request::<NewNumber>)
        .answers(&[(201, Some(data::<Number>))])
        .errors(&[CONFLICT]),
    row(
        GET,
        "/operator/v1/workspaces/{ws}/numbers",
        "listWorkspaceNumbers",
        "All phone numbers of a workspace",
    )
    .answers(&[(200, Some(list::<Number>))]),
    row(
        PATCH,
        "/operator/v1/workspaces/{ws}/numbers/{id}",
        "updateNumber",
        "Choose the carrier of a phone number",
    )
    .about("Calls that are placed already are not affected.")
    .body(request::<NumberUpdate>)
    .answers(&[(200, Some(data::<Number>))]),
    row(DELETE, "/operator/v1/workspaces/{ws}/numbers/{id}", "releaseNumber", "Release a phone number")
        .answers(&[(200, Some(data::<Number>))])
        .errors(&[CONFLICT]),
    row(POST, "/operator/v1/workspaces/{ws}/members", "createMember", "Add a member to a workspace")
        .body(request::<NewMember>)
        .answers(&[(201, Some(data::<Member>))])
        .errors(&[CONFLICT]),
    row(GET, "/operator/v1/workspaces/{ws}/members", "listMembers", "All members of a workspace")
        .answers(&[(200, Some(list::<Member>))]),
    row(GET, "/operator/v1/log", "listOperatorLog", "Entries of the operator log, newest first")
        .query(cursor_query)
        .answers(&[(200, Some(page::<OperatorLogEntry>))]),
];

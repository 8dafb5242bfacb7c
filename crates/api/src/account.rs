//! `GET /v1/me`: what the key is and which workspace it opens (docs/contract/keys.md#account).

use domain::ids::{self, ApiKey, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Method::{GET, PATCH};
use crate::operation::{Access, Operation, operation};
use crate::operator::{MOST_MONEY, Workspace};
use crate::schema::{data, given, request};

/// The API key that made the request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AccountKey")]
pub struct Key {
    /// Id of the key, `key_…`.
    pub id: Id<ApiKey>,
    /// The name that the operator gave the key.
    pub name: String,
    /// Names of the scopes that the key has, such as `calls:read`.
    pub scopes: Vec<String>,
    /// The beginning of the key with its first four random characters, followed by `…`; the full value is
    /// never shown.
    pub prefix: String,
    /// When the value of the key that was sent stops working; null if it has no end.
    pub expires_at: Option<Timestamp>,
}

/// The workspace that the key belongs to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AccountWorkspace")]
pub struct WorkspaceSummary {
    /// Id of the workspace, `ws_…`.
    pub id: Id<ids::Workspace>,
    /// The name of the workspace.
    pub name: String,
    /// Whether the workspace is verified (KYB). Without it, placing a live call is 403 `kyb_required`.
    pub kyb_verified: bool,
}

/// The key of the request and its workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Account {
    /// The API key that made the request.
    pub key: Key,
    /// The workspace that the key belongs to.
    pub workspace: WorkspaceSummary,
}

/// A change of the workspace by one of its admins; absent fields are not changed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnWorkspaceChange {
    /// The name of the workspace, for people.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Threshold of the event `wallet.low`, in minor units; null for the price of 30 minutes.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, range(min = 0, max = MOST_MONEY), extend("x-nullable" = true))]
    pub low_balance_minor: Option<Option<i64>>,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/me", "getAccount", "Account", "The key of the request and its workspace")
        .about("Works for live and test keys.")
        .keys_only()
        .answers(&[(200, Some(data::<Account>))]),
    operation(
        GET,
        "/v1/workspace",
        "getOwnWorkspace",
        "Account",
        "The member's workspace with its settings, features, limits and prices",
    )
    .access(Access::Member)
    .role(Role::Viewer)
    .answers(&[(200, Some(data::<Workspace>))]),
    operation(
        PATCH,
        "/v1/workspace",
        "updateOwnWorkspace",
        "Account",
        "Change settings of the member's workspace",
    )
    .about("Only fields in the body change, at once on every node.")
    .access(Access::Member)
    .role(Role::Admin)
    .body(request::<OwnWorkspaceChange>)
    .answers(&[(200, Some(data::<Workspace>))]),
];

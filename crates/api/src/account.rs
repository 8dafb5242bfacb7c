//! `GET /v1/me`: what the key is and which workspace it opens (docs/contract/keys.md#account).

use domain::ids::{ApiKey, Id, Workspace};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{Method::GET, Operation, operation};
use crate::schema::data;

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
    pub id: Id<Workspace>,
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

/// The rows of this noun.
pub const OPERATIONS: &[Operation] =
    &[operation(GET, "/v1/me", "getAccount", "Account", "The key of the request and its workspace")
        .about("Works for live and test keys.")
        .answers(&[(200, Some(data::<Account>))])];

//! `GET /v1/me`: what the key is and which workspace it opens (docs/contract/keys.md#account).

use domain::ids::{ApiKey, Id, Workspace};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{Method::GET, Operation, operation};
use crate::schema::data;

/// The key of the request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AccountKey")]
pub struct Key {
    /// Its id.
    pub id: Id<ApiKey>,
    /// What it is for.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// The first characters of the key, the rest masked.
    pub prefix: String,
    /// When it stops working, if ever.
    pub expires_at: Option<Timestamp>,
}

/// The workspace of the request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AccountWorkspace")]
pub struct WorkspaceSummary {
    /// Its id.
    pub id: Id<Workspace>,
    /// Its name.
    pub name: String,
    /// Whether live calls may be placed.
    pub kyb_verified: bool,
}

/// What a key is and which workspace it opens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Account {
    /// The key.
    pub key: Key,
    /// Its workspace.
    pub workspace: WorkspaceSummary,
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] =
    &[operation(GET, "/v1/me", "getAccount", "Account", "What this key is and which workspace it opens")
        .answers(&[(200, Some(data::<Account>))])];

//! `GET /v1/me`: what the key is and which workspace it opens (docs/contract/keys.md#account).

use domain::ids::{ApiKey, Id, Workspace};
use domain::time::Timestamp;
use serde::Serialize;

use crate::operations::{Method::GET, Operation, operation};
use crate::schema::{Schema, boolean, data, id, list, need, object, text, time};

/// The key of the request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// Its id.
    pub id: Id<ApiKey>,
    /// What its maker called it.
    pub name: String,
    /// Scope names.
    pub scopes: Vec<String>,
    /// The first characters of the key, the rest masked.
    pub prefix: String,
    /// When it stops working, if ever.
    pub expires_at: Option<Timestamp>,
}

/// The workspace of the request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceSummary {
    /// Its id.
    pub id: Id<Workspace>,
    /// Its name.
    pub name: String,
    /// Whether live calls may be placed.
    pub kyb_verified: bool,
}

/// Answer of `GET /v1/me`.
#[derive(Debug, Serialize)]
pub struct Account {
    /// The key.
    pub key: Key,
    /// Its workspace.
    pub workspace: WorkspaceSummary,
}

fn account() -> Schema {
    data(object(vec![
        need(
            "key",
            object(vec![
                need("id", id::<ApiKey>()),
                need("name", text()),
                need("scopes", list(text())),
                need("prefix", text()),
                need("expiresAt", time().or_null()),
            ]),
        ),
        need(
            "workspace",
            object(vec![need("id", id::<Workspace>()), need("name", text()), need("kybVerified", boolean())]),
        ),
    ]))
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] =
    &[operation(GET, "/v1/me", "getAccount", "Account", "What this key is and which workspace it opens")
        .answers(&[(200, Some(account))])];

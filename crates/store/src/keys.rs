//! API keys: only a keyed hash of the value is stored.

use const_format::formatcp;
use domain::ids::{ApiKey, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, Tx};
use crate::params;
use crate::workspaces::WorkspaceRow;

row! {
    /// A key as stored.
    #[derive(Debug, Clone)]
    pub struct KeyRow in "api_keys" as "k" {
        /// Its id.
        id: Id<ApiKey>,
        /// What its maker called it.
        name: String,
        /// The mode it opens.
        mode: Mode,
        /// First characters, the rest masked.
        prefix: String,
        /// Scope names, separated by spaces.
        scopes: String,
        /// When it stops working.
        expires_at: Option<Timestamp>,
        /// When it was revoked.
        revoked_at: Option<Timestamp>,
        /// When it was made.
        created_at: Timestamp,
    }
    insert with { workspace: Tenant, hash: &'v str }
}

const COLUMNS: &str = KeyRow::COLUMNS;

/// Adds a key.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &KeyRow, hash: &str) -> Result<(), DbError> {
    tx.exec(KeyRow::INSERT, &row.values(tenant, hash)).map(|_| ())
}

/// Across workspaces: the key with this hash and its workspace, whatever their state. The secret that was
/// hashed is the proof.
pub fn find_by_hash(tx: &mut Tx<'_>, hash: &str) -> Result<Option<(KeyRow, WorkspaceRow)>, DbError> {
    const SQL: &str = formatcp!(
        "select {}, {} from api_keys k join workspaces w on w.id = k.workspace where k.hash = ?1",
        KeyRow::SELECT,
        WorkspaceRow::SELECT
    );
    tx.one(SQL, params![hash])
}

/// The keys of a workspace, newest first.
pub fn list(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<KeyRow>, DbError> {
    tx.all(formatcp!("select {COLUMNS} from api_keys where workspace = ?1 order by id desc"), params![tenant])
}

/// Marks a key revoked (a repeat keeps the first time) and returns it.
pub fn revoke(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<ApiKey>,
    now: Timestamp,
) -> Result<Option<KeyRow>, DbError> {
    let sql = formatcp!(
        "update api_keys set revoked_at = coalesce(revoked_at, ?3) where workspace = ?1 and id = ?2 returning {COLUMNS}"
    );
    tx.one(sql, params![tenant, id, now])
}

/// Whether the key still works; asked just before something irreversible happens in its name.
pub fn is_valid(tx: &mut Tx<'_>, tenant: Tenant, id: Id<ApiKey>, now: Timestamp) -> Result<bool, DbError> {
    let sql = "select 1 from api_keys where workspace = ?1 and id = ?2 and revoked_at is null and (expires_at is null or expires_at > ?3)";
    tx.exists(sql, params![tenant, id, now])
}

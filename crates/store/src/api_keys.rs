//! API keys: only a keyed hash of the value is stored.

use domain::ids::{ApiKey, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::{DbError, Row, Tx};
use crate::params;
use crate::workspaces::{self, WorkspaceRow};

/// A key as stored.
#[derive(Debug, Clone)]
pub struct KeyRow {
    /// Its id.
    pub id: Id<ApiKey>,
    /// What its maker called it.
    pub name: String,
    /// The world it opens.
    pub mode: Mode,
    /// First characters, the rest masked.
    pub prefix: String,
    /// Scope names, separated by spaces.
    pub scopes: String,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "k.id, k.name, k.mode, k.prefix, k.scopes, k.expires_at, k.revoked_at, k.created_at";

fn read(row: &Row<'_>, at: usize) -> Result<KeyRow, DbError> {
    Ok(KeyRow {
        id: row.id(at)?,
        name: row.text(at + 1)?,
        mode: Mode::parse(&row.text(at + 2)?)
            .ok_or_else(|| DbError::Internal("unknown mode of a key".into()))?,
        prefix: row.text(at + 3)?,
        scopes: row.text(at + 4)?,
        expires_at: row.opt_time(at + 5)?,
        revoked_at: row.opt_time(at + 6)?,
        created_at: row.time(at + 7)?,
    })
}

/// Adds a key.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &KeyRow, hash: &str) -> Result<(), DbError> {
    tx.exec(
        "insert into api_keys (id, workspace, name, mode, hash, prefix, scopes, expires_at, revoked_at, created_at) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, null, ?9)",
        params![row.id, tenant, &row.name, row.mode.as_str(), hash, &row.prefix, &row.scopes, row.expires_at, row.created_at],
    )?;
    Ok(())
}

/// The key with this hash and its workspace, whatever their state.
pub fn find_by_hash(tx: &mut Tx<'_>, hash: &str) -> Result<Option<(KeyRow, WorkspaceRow)>, DbError> {
    let sql = format!(
        "select {}, {COLUMNS} from api_keys k join workspaces w on w.id = k.workspace where k.hash = ?1",
        workspaces::COLUMNS
    );
    tx.one(&sql, params![hash], |row| Ok((read(row, workspaces::WIDTH)?, workspaces::read(row)?)))
}

/// The keys of a workspace, newest first.
pub fn list(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<KeyRow>, DbError> {
    tx.all(
        &format!("select {COLUMNS} from api_keys k where k.workspace = ?1 order by k.id desc"),
        params![tenant],
        |row| read(row, 0),
    )
}

/// Marks a key revoked (a repeat keeps the first time) and returns it.
pub fn revoke(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<ApiKey>,
    now: Timestamp,
) -> Result<Option<KeyRow>, DbError> {
    tx.one(
        "update api_keys as k set revoked_at = coalesce(k.revoked_at, ?3) where k.workspace = ?1 and k.id = ?2 \
         returning id, name, mode, prefix, scopes, expires_at, revoked_at, created_at",
        params![tenant, id, now],
        |row| read(row, 0),
    )
}

/// Whether the key still works; asked just before something irreversible happens in its name.
pub fn is_valid(tx: &mut Tx<'_>, tenant: Tenant, id: Id<ApiKey>, now: Timestamp) -> Result<bool, DbError> {
    let valid = tx.one(
        "select 1 from api_keys where workspace = ?1 and id = ?2 and revoked_at is null and (expires_at is null or expires_at > ?3)",
        params![tenant, id, now],
        |_| Ok(()),
    )?;
    Ok(valid.is_some())
}

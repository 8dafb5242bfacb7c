//! API keys: only a keyed hash of the value is stored.

use const_format::formatcp;
use domain::ids::{ApiKey, Id};
use domain::tenant::Mode;
use domain::time::Timestamp;
use domain::topic::Topic;

use crate::changes;
use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;
use crate::workspaces::WorkspaceRow;

row! {
    #[derive(Debug, Clone)]
    pub struct KeyRow in "api_keys" as "k" {
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
        revoked_at: Option<Timestamp>,
        created_at: Timestamp,
        /// Until when the value before its last rotation works.
        old_until: Option<Timestamp>,
        /// When it was last used, as far as that was written.
        last_used_at: Option<Timestamp>,
    }
    insert with { workspace: Tenant, hash: &'v str }
}

const COLUMNS: &str = KeyRow::COLUMNS;

pub fn insert(tx: &mut TenantTx, row: &KeyRow, hash: &str) -> Result<(), DbError> {
    changes::note(tx, row.created_at, None, Topic::Keys, Some(&row.id.to_string()))?;
    tx.exec(KeyRow::INSERT, &row.values(hash)).map(|_| ())
}

/// Across workspaces: the key with this hash and its workspace, whatever their state. The secret that was
/// hashed is the proof. By the value before a rotation the key expires when that value does.
pub fn find_by_hash(tx: &mut Tx<'_>, hash: &str) -> Result<Option<(KeyRow, WorkspaceRow)>, DbError> {
    const SQL: &str = formatcp!(
        "select {}, {}, cast(case when k.hash = ?1 then 0 else 1 end as bigint) from api_keys k \
         join workspaces w on w.id = k.workspace where k.hash = ?1 or k.old_hash = ?1",
        KeyRow::SELECT,
        WorkspaceRow::SELECT
    );
    let found: Option<(KeyRow, WorkspaceRow, bool)> = tx.one(SQL, params![hash])?;
    Ok(found.map(|(mut key, workspace, old)| {
        if old {
            let until = key.old_until.unwrap_or(key.created_at);
            key.expires_at = Some(key.expires_at.map_or(until, |expiry| expiry.min(until)));
        }
        (key, workspace)
    }))
}

/// A new value of a key.
#[derive(Debug, Clone)]
pub struct NewValue {
    pub hash: String,
    /// First characters, the rest masked.
    pub prefix: String,
    /// Until when the present value works beside it; `None`: not at all.
    pub old_until: Option<Timestamp>,
}

/// Gives a key that works another value, and returns it. The value before the present one works no longer.
pub fn rotate(
    tx: &mut TenantTx,
    id: Id<ApiKey>,
    value: &NewValue,
    now: Timestamp,
) -> Result<Option<KeyRow>, DbError> {
    changes::note(tx, now, None, Topic::Keys, Some(&id.to_string()))?;
    let sql = formatcp!(
        "update api_keys set old_hash = case when cast(?6 as bigint) is null then null else hash end, old_until = ?6, \
         hash = ?4, prefix = ?5 where workspace = ?1 and id = ?2 and revoked_at is null and (expires_at is null or expires_at > ?3) \
         returning {COLUMNS}"
    );
    tx.one(sql, params![id, now, &value.hash, &value.prefix, value.old_until])
}

/// The keys of a workspace, newest first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<KeyRow>, DbError> {
    tx.all(formatcp!("select {COLUMNS} from api_keys where workspace = ?1 order by id desc"), &[])
}

/// Revokes a key (idempotent) and returns it.
pub fn revoke(tx: &mut TenantTx, id: Id<ApiKey>, now: Timestamp) -> Result<Option<KeyRow>, DbError> {
    changes::note(tx, now, None, Topic::Keys, Some(&id.to_string()))?;
    let sql = formatcp!(
        "update api_keys set revoked_at = coalesce(revoked_at, ?3), old_hash = null, old_until = null where workspace = ?1 and id = ?2 returning {COLUMNS}"
    );
    tx.one(sql, params![id, now])
}

/// Writes the use of a key, at most once a minute.
pub fn used(tx: &mut TenantTx, id: Id<ApiKey>, at: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update api_keys set last_used_at = ?3 where workspace = ?1 and id = ?2 \
         and (last_used_at is null or last_used_at <= cast(?3 as bigint) - 60000)",
        params![id, at],
    )
}

/// Whether the key is valid; checked just before something irreversible is done with it.
pub fn is_valid(tx: &mut TenantTx, id: Id<ApiKey>, now: Timestamp) -> Result<bool, DbError> {
    let sql = "select 1 from api_keys where workspace = ?1 and id = ?2 and revoked_at is null and (expires_at is null or expires_at > ?3)";
    tx.exists(sql, params![id, now])
}

//! Workspaces: settings, features, limits. Their wallet is in `wallet`.

use domain::ids::{Id, Workspace};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::db::{DbError, Row, Tx};
use crate::params;

/// A workspace as stored.
#[derive(Debug, Clone)]
pub struct WorkspaceRow {
    /// Its id.
    pub id: Id<Workspace>,
    /// Its name.
    pub name: String,
    /// Whether live calls may be placed.
    pub kyb_verified: bool,
    /// Whether every request is refused.
    pub suspended: bool,
    /// ISO 4217 code.
    pub currency: String,
    /// Price of a started minute, minor units.
    pub cost_per_minute: i64,
    /// Price of a chat, minor units.
    pub cost_per_chat: i64,
    /// Threshold of `wallet.low`; `None` for 30 minutes of calls.
    pub low_balance: Option<i64>,
    /// Whether marketing templates need a recorded opt-in.
    pub marketing_opt_in_rule: bool,
    /// Features that differ from «on».
    pub features: Map<String, Json>,
    /// Limits that differ from the default.
    pub limits: Map<String, Json>,
    /// Sum of the ledger, minor units.
    pub balance: i64,
    /// What calls in flight hold of it.
    pub reserved: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The columns of [`read`], in its order.
pub(crate) const COLUMNS: &str = "w.id, w.name, w.kyb_verified, w.suspended, w.currency, w.cost_per_minute, w.cost_per_chat, w.low_balance, \
     w.marketing_opt_in_rule, w.features, w.limits, w.balance, w.reserved, w.created_at";
/// How many columns [`COLUMNS`] has.
pub(crate) const WIDTH: usize = 14;

pub(crate) fn read(row: &Row<'_>) -> Result<WorkspaceRow, DbError> {
    Ok(WorkspaceRow {
        id: row.id(0)?,
        name: row.text(1)?,
        kyb_verified: row.flag(2)?,
        suspended: row.flag(3)?,
        currency: row.text(4)?,
        cost_per_minute: row.int(5)?,
        cost_per_chat: row.int(6)?,
        low_balance: row.opt_int(7)?,
        marketing_opt_in_rule: row.flag(8)?,
        features: object(row.json(9)?),
        limits: object(row.json(10)?),
        balance: row.int(11)?,
        reserved: row.int(12)?,
        created_at: row.time(13)?,
    })
}

fn object(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}

/// Adds a workspace with an empty wallet.
pub fn insert(tx: &mut Tx<'_>, row: &WorkspaceRow) -> Result<(), DbError> {
    tx.exec(
        "insert into workspaces (id, name, kyb_verified, suspended, currency, cost_per_minute, cost_per_chat, low_balance, \
         marketing_opt_in_rule, features, limits, balance, reserved, ledger_seq, low_level, created_at) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, 0, 0, 0, ?12)",
        params![
            row.id,
            &row.name,
            row.kyb_verified,
            row.suspended,
            &row.currency,
            row.cost_per_minute,
            row.cost_per_chat,
            row.low_balance,
            row.marketing_opt_in_rule,
            &Json::Object(row.features.clone()),
            &Json::Object(row.limits.clone()),
            row.created_at
        ],
    )?;
    Ok(())
}

/// Writes everything of a workspace but its wallet.
pub fn update(tx: &mut Tx<'_>, row: &WorkspaceRow) -> Result<(), DbError> {
    tx.exec(
        "update workspaces set name = ?2, kyb_verified = ?3, suspended = ?4, cost_per_minute = ?5, cost_per_chat = ?6, low_balance = ?7, \
         marketing_opt_in_rule = ?8, features = ?9, limits = ?10 where id = ?1",
        params![
            row.id,
            &row.name,
            row.kyb_verified,
            row.suspended,
            row.cost_per_minute,
            row.cost_per_chat,
            row.low_balance,
            row.marketing_opt_in_rule,
            &Json::Object(row.features.clone()),
            &Json::Object(row.limits.clone())
        ],
    )?;
    Ok(())
}

/// One workspace.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Option<WorkspaceRow>, DbError> {
    tx.one(&format!("select {COLUMNS} from workspaces w where w.id = ?1"), params![tenant], read)
}

/// One workspace, held against other writers until the transaction ends.
pub fn get_for_update(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Option<WorkspaceRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from workspaces w where w.id = ?1 /*pg for update*/"),
        params![tenant],
        read,
    )
}

/// All workspaces, newest first, older than `before`.
pub fn list(tx: &mut Tx<'_>, before: Option<&str>, limit: i64) -> Result<Vec<WorkspaceRow>, DbError> {
    let sql = format!("select {COLUMNS} from workspaces w where w.id < ?1 order by w.id desc limit ?2");
    tx.all(&sql, params![before.unwrap_or("ws_~"), limit], read)
}

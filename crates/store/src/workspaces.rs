//! Workspaces: settings, features, limits. Their wallet is in `wallet`.

use const_format::formatcp;
use domain::compliance::EntityClass;
use domain::ids::{Id, Workspace};

use domain::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct WorkspaceRow in "workspaces" as "w" {
        id: Id<Workspace>,
        name: String,
        /// Whether live calls may be placed.
        kyb_verified: bool,
        /// Whether every request is refused.
        suspended: bool,
        /// ISO 4217 code.
        currency: String,
        /// Price of a started minute, minor units.
        cost_per_minute: i64,
        /// Price of a chat, minor units.
        cost_per_chat: i64,
        /// Price of a graded conversation, minor units.
        cost_per_evaluation: i64,
        /// Threshold of `wallet.low`; `None` for 30 minutes of calls.
        low_balance: Option<i64>,
        /// Whether marketing templates need a recorded opt-in.
        marketing_opt_in_rule: bool,
        /// Features that differ from «on».
        features: Map<String, Json>,
        /// Limits that differ from the default.
        limits: Map<String, Json>,
        /// How the law regulates its entity.
        regulated_as: EntityClass,
        /// Its entity's id in the registers of senders (DLT).
        dlt_entity_id: Option<String>,
        /// Sum of the ledger, minor units.
        balance: i64,
        /// The amount that calls in flight reserve.
        reserved: i64,
        created_at: Timestamp,
    }
    insert with { ledger_seq: i64, low_level: i64 }
}

const COLUMNS: &str = WorkspaceRow::COLUMNS;

/// Adds a workspace with an empty wallet.
pub fn insert(tx: &mut Tx<'_>, row: &WorkspaceRow) -> Result<(), DbError> {
    tx.exec(WorkspaceRow::INSERT, &row.values(0, 0)).map(|_| ())
}

/// Writes everything of a workspace but its wallet.
pub fn update(tx: &mut Tx<'_>, row: &WorkspaceRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "workspaces" set {
            name: &row.name,
            kyb_verified: row.kyb_verified,
            suspended: row.suspended,
            cost_per_minute: row.cost_per_minute,
            cost_per_chat: row.cost_per_chat,
            cost_per_evaluation: row.cost_per_evaluation,
            low_balance: row.low_balance,
            marketing_opt_in_rule: row.marketing_opt_in_rule,
            features: &row.features,
            limits: &row.limits,
            regulated_as: row.regulated_as,
            dlt_entity_id: row.dlt_entity_id.as_deref(),
        }
        where "id = ?1", row.id
    );
    tx.exec(sql, &values).map(|_| ())
}

pub fn get(tx: &mut TenantTx) -> Result<Option<WorkspaceRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from workspaces where id = ?1"), &[])
}

/// One workspace, locked until the transaction ends. Its id never changes and it is never deleted, so other
/// transactions may insert rows that reference it: on PostgreSQL `for update` would block their foreign keys.
pub fn get_for_update(tx: &mut TenantTx) -> Result<Option<WorkspaceRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from workspaces where id = ?1 /*pg for no key update*/"), &[])
}

/// Across workspaces: all of them, newest first, older than `before`.
pub fn list(tx: &mut Tx<'_>, before: Option<&str>, limit: i64) -> Result<Vec<WorkspaceRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from workspaces where id < ?1 order by id desc limit ?2");
    tx.all(sql, params![before.unwrap_or("ws_~"), limit])
}

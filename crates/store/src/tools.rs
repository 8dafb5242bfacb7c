//! Custom tools of a workspace. Built-in ones are not stored.

use const_format::formatcp;
use domain::ids::{Id, Tool};
use domain::time::Timestamp;
use domain::topic::Topic;

use crate::changes;
use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    /// A tool as stored, without its configuration.
    #[derive(Debug, Clone)]
    pub struct ToolRow in "tools" {
        id: Id<Tool>,
        /// `webhook` or `mcp`.
        kind: String as "type",
        name: String,
        /// When an agent should use it.
        description: String,
        created_at: Timestamp,
    }
    insert with { workspace: Tenant, config: &'v str }
}

const COLUMNS: &str = ToolRow::COLUMNS;

/// Adds a tool; `sealed` is its encrypted configuration.
pub fn insert(tx: &mut TenantTx, row: &ToolRow, sealed: &str) -> Result<(), DbError> {
    changes::note(tx, row.created_at, None, Topic::Tools, Some(&row.id.to_string()))?;
    tx.exec(ToolRow::INSERT, &row.values(sealed)).map(|_| ())
}

/// The tools of a workspace, the first one first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<ToolRow>, DbError> {
    tx.all(formatcp!("select {COLUMNS} from tools where workspace = ?1 order by id"), &[])
}

/// A tool and its encrypted configuration.
pub fn get(tx: &mut TenantTx, id: Id<Tool>) -> Result<Option<(ToolRow, String)>, DbError> {
    tx.one(formatcp!("select {COLUMNS}, config from tools where workspace = ?1 and id = ?2"), params![id])
}

/// Deletes a tool and its configuration; `false` without one.
pub fn delete(tx: &mut TenantTx, id: Id<Tool>) -> Result<bool, DbError> {
    Ok(tx.exec("delete from tools where workspace = ?1 and id = ?2", params![id])? > 0)
}

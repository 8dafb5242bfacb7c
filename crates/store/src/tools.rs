//! Tools that the operator made for a workspace. Built-in ones are not stored.

use domain::ids::{Id, Tool};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::{DbError, Row, Tx};
use crate::params;

/// A tool as stored, without its configuration.
#[derive(Debug, Clone)]
pub struct ToolRow {
    /// Its id.
    pub id: Id<Tool>,
    /// `webhook`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// When an agent should use it.
    pub description: String,
    /// When it was made.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "id, type, name, description, created_at";

fn read(row: &Row<'_>) -> Result<ToolRow, DbError> {
    Ok(ToolRow {
        id: row.id(0)?,
        kind: row.text(1)?,
        name: row.text(2)?,
        description: row.text(3)?,
        created_at: row.time(4)?,
    })
}

/// Adds a tool; `sealed` is its encrypted configuration.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &ToolRow, sealed: &str) -> Result<(), DbError> {
    tx.exec(
        "insert into tools (id, workspace, type, name, description, config, created_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![row.id, tenant, &row.kind, &row.name, &row.description, sealed, row.created_at],
    )?;
    Ok(())
}

/// The tools of a workspace, the first one first.
pub fn list(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<ToolRow>, DbError> {
    tx.all(&format!("select {COLUMNS} from tools where workspace = ?1 order by id"), params![tenant], read)
}

/// A tool and its encrypted configuration.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Tool>) -> Result<Option<(ToolRow, String)>, DbError> {
    tx.one(
        &format!("select {COLUMNS}, config from tools where workspace = ?1 and id = ?2"),
        params![tenant, id],
        |row| Ok((read(row)?, row.text(5)?)),
    )
}

/// Deletes a tool and its configuration; `false` without one.
pub fn delete(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Tool>) -> Result<bool, DbError> {
    Ok(tx.exec("delete from tools where workspace = ?1 and id = ?2", params![tenant, id])? > 0)
}

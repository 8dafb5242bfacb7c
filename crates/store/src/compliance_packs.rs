//! Compliance packs that the operator made for a workspace. Built-in ones are data in `domain::compliance`.

use domain::ids::{CompliancePack, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::{DbError, Row, Tx};
use crate::params;

/// A pack as stored.
#[derive(Debug, Clone)]
pub struct PackRow {
    /// Its id, which agents name in `policyRef`.
    pub id: Id<CompliancePack>,
    /// The pack as the operator wrote it.
    pub body: Json,
    /// When it was made.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "id, body, created_at";

fn read(row: &Row<'_>) -> Result<PackRow, DbError> {
    Ok(PackRow { id: row.id(0)?, body: row.json(1)?, created_at: row.time(2)? })
}

/// Adds a pack.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &PackRow) -> Result<(), DbError> {
    tx.exec(
        "insert into compliance_packs (id, workspace, body, created_at) values (?1, ?2, ?3, ?4)",
        params![row.id, tenant, &row.body, row.created_at],
    )?;
    Ok(())
}

/// One pack.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<CompliancePack>) -> Result<Option<PackRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from compliance_packs where workspace = ?1 and id = ?2"),
        params![tenant, id],
        read,
    )
}

/// The packs of a workspace, the first one first.
pub fn list(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<PackRow>, DbError> {
    tx.all(
        &format!("select {COLUMNS} from compliance_packs where workspace = ?1 order by id"),
        params![tenant],
        read,
    )
}

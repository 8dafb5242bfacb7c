//! Custom compliance packs of a workspace. Built-in ones are data in `domain::compliance`.

use const_format::formatcp;
use domain::ids::{CompliancePack, Id};
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct PackRow in "compliance_packs" {
        /// Its id, which agents name in `policyRef`.
        id: Id<CompliancePack>,
        /// The pack as the operator wrote it.
        body: Json,
        created_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = PackRow::COLUMNS;

pub fn insert(tx: &mut TenantTx, row: &PackRow) -> Result<(), DbError> {
    tx.exec(PackRow::INSERT, &row.values()).map(|_| ())
}

pub fn get(tx: &mut TenantTx, id: Id<CompliancePack>) -> Result<Option<PackRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from compliance_packs where workspace = ?1 and id = ?2"), params![id])
}

/// The packs of a workspace, the first one first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<PackRow>, DbError> {
    tx.all(formatcp!("select {COLUMNS} from compliance_packs where workspace = ?1 order by id"), &[])
}

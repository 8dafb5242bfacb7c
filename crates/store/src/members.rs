//! People who work in the console.

use const_format::formatcp;
use domain::ids::{Id, User};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct MemberRow in "members" {
        id: Id<User>,
        /// Address to sign in with.
        email: String,
        name: String,
        /// `owner`, `admin`, `editor` or `viewer`.
        role: String,
        /// When it was added.
        created_at: Timestamp,
    }
    insert with { workspace: Tenant, password_hash: Option<&'v str> }
}

/// Adds a person; `false` when the address is already a member.
pub fn insert(tx: &mut TenantTx, row: &MemberRow, password_hash: Option<&str>) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict (workspace, email) do nothing", MemberRow::INSERT);
    Ok(tx.exec(SQL, &row.values(password_hash))? > 0)
}

/// The people of a workspace.
pub fn list(tx: &mut TenantTx) -> Result<Vec<MemberRow>, DbError> {
    const SQL: &str =
        formatcp!("select {} from members where workspace = ?1 order by id", MemberRow::COLUMNS);
    tx.all(SQL, &[])
}

/// One person of a workspace.
pub fn get(tx: &mut TenantTx, id: Id<User>) -> Result<Option<MemberRow>, DbError> {
    const SQL: &str =
        formatcp!("select {} from members where workspace = ?1 and id = ?2", MemberRow::COLUMNS);
    tx.one(SQL, params![id])
}

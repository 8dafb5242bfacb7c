//! People who work in the console.

use domain::ids::{Id, User};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::{DbError, Tx};
use crate::params;

/// A member as stored.
#[derive(Debug, Clone)]
pub struct MemberRow {
    /// Its id.
    pub id: Id<User>,
    /// Address to sign in with.
    pub email: String,
    /// Name.
    pub name: String,
    /// `owner`, `admin`, `editor` or `viewer`.
    pub role: String,
    /// When it was added.
    pub created_at: Timestamp,
}

/// Adds a person; `false` when the address is already a member.
pub fn insert(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    row: &MemberRow,
    password_hash: Option<&str>,
) -> Result<bool, DbError> {
    let added = tx.exec(
        "insert into members (id, workspace, email, name, role, password_hash, created_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         on conflict (workspace, email) do nothing",
        params![row.id, tenant, &row.email, &row.name, &row.role, password_hash, row.created_at],
    )?;
    Ok(added > 0)
}

/// The people of a workspace.
pub fn list(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<MemberRow>, DbError> {
    tx.all(
        "select id, email, name, role, created_at from members where workspace = ?1 order by id",
        params![tenant],
        |row| {
            Ok(MemberRow {
                id: row.id(0)?,
                email: row.text(1)?,
                name: row.text(2)?,
                role: row.text(3)?,
                created_at: row.time(4)?,
            })
        },
    )
}

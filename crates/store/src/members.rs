//! Members: people in a workspace, with a role there. A removed member keeps its row, so that what was assigned to it keeps
//! its name.

use const_format::formatcp;
use domain::ids::{Id, Person, User, Workspace};
use domain::tenant::Role;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct MemberRow in "members" {
        id: Id<User>,
        /// Address to sign in with, lower case.
        email: String,
        name: String,
        role: Role,
        /// When it was added.
        created_at: Timestamp,
        /// Who it is; `None` for a row of the version before.
        person: Option<Id<Person>>,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = MemberRow::COLUMNS;

/// Adds a member, or one that was removed again; its row. `None` when the person is a member already.
pub fn insert(tx: &mut TenantTx, row: &MemberRow) -> Result<Option<MemberRow>, DbError> {
    // One that was removed keeps its id.
    const SQL: &str = formatcp!(
        "{} on conflict (workspace, email) do update set name = excluded.name, role = excluded.role, \
         person = excluded.person, removed_at = null where members.removed_at is not null returning {COLUMNS}",
        MemberRow::INSERT
    );
    tx.one(SQL, &row.values())
}

/// The members of a workspace.
pub fn list(tx: &mut TenantTx) -> Result<Vec<MemberRow>, DbError> {
    const SQL: &str =
        formatcp!("select {COLUMNS} from members where workspace = ?1 and removed_at is null order by id");
    tx.all(SQL, &[])
}

/// One member.
pub fn get(tx: &mut TenantTx, id: Id<User>) -> Result<Option<MemberRow>, DbError> {
    const SQL: &str =
        formatcp!("select {COLUMNS} from members where workspace = ?1 and id = ?2 and removed_at is null");
    tx.one(SQL, params![id])
}

/// The member that a person is. Served by `members_of_person`.
pub fn of_person(tx: &mut TenantTx, person: Id<Person>) -> Result<Option<MemberRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from members where workspace = ?1 and person = ?2 and removed_at is null"
    );
    tx.one(SQL, params![person])
}

/// A workspace that a person is a member of.
pub type Membership = (Id<Workspace>, String, Id<User>, Role);

/// Across workspaces: those that a person is a member of, oldest first, at most 1,000. Served by `members_of_person`.
pub fn memberships(tx: &mut Tx<'_>, person: Id<Person>) -> Result<Vec<Membership>, DbError> {
    let sql = "select w.id, w.name, m.id, m.role from members m join workspaces w on w.id = m.workspace \
               where m.person = ?1 and m.removed_at is null order by m.id limit 1000";
    tx.all(sql, params![person])
}

/// Across workspaces: the number of workspaces that a person is a member of.
pub fn count_memberships(tx: &mut Tx<'_>, person: Id<Person>) -> Result<i64, DbError> {
    let sql = "select count(*) from members where person = ?1 and removed_at is null";
    Ok(tx.one(sql, params![person])?.unwrap_or(0))
}

/// Changes the role of a member; whether there is such a member.
pub fn set_role(tx: &mut TenantTx, id: Id<User>, role: Role) -> Result<bool, DbError> {
    let sql = "update members set role = ?3 where workspace = ?1 and id = ?2 and removed_at is null";
    Ok(tx.exec(sql, params![id, role])? > 0)
}

/// Removes a member; whether there was such a member.
pub fn remove(tx: &mut TenantTx, id: Id<User>, now: Timestamp) -> Result<bool, DbError> {
    let sql = "update members set removed_at = ?3 where workspace = ?1 and id = ?2 and removed_at is null";
    Ok(tx.exec(sql, params![id, now])? > 0)
}

//! Invitations into a workspace. One that is accepted or revoked is deleted: the deletion proves that nobody else used it.

use const_format::formatcp;
use domain::actor::Actor;
use domain::ids::{Id, Invitation};
use domain::tenant::{Role, Tenant};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct InvitationRow in "invitations" {
        id: Id<Invitation>,
        workspace: Tenant,
        /// Lower case.
        email: String,
        /// What the inviter calls the person; may be empty.
        name: String,
        role: Role,
        invited_by: Actor,
        created_at: Timestamp,
        expires_at: Timestamp,
    }
    insert with { hash: &'v str, mail_hash: Option<&'v str> }
}

const COLUMNS: &str = InvitationRow::COLUMNS;

/// Adds an invitation; one to the same address is replaced.
pub fn insert(
    tx: &mut Tx<'_>,
    row: &InvitationRow,
    hash: &str,
    mail_hash: Option<&str>,
) -> Result<(), DbError> {
    let sql = "delete from invitations where workspace = ?1 and email = ?2";
    tx.exec(sql, params![row.workspace, &row.email])?;
    tx.exec(InvitationRow::INSERT, &row.values(hash, mail_hash)).map(|_| ())
}

/// Open invitations of a workspace, oldest first. Served by `invitations_of_email`.
pub fn list(tx: &mut TenantTx, now: Timestamp) -> Result<Vec<InvitationRow>, DbError> {
    const SQL: &str =
        formatcp!("select {COLUMNS} from invitations where workspace = ?1 and expires_at > ?2 order by id");
    tx.all(SQL, params![now])
}

/// Revokes an invitation; whether it was open.
pub fn revoke(tx: &mut TenantTx, id: Id<Invitation>, now: Timestamp) -> Result<bool, DbError> {
    let sql = "delete from invitations where workspace = ?1 and id = ?2 and expires_at > ?3";
    Ok(tx.exec(sql, params![id, now])? > 0)
}

/// Revokes the open invitations of an inviter. Served by `invitations_of_email`.
pub fn revoke_of(tx: &mut TenantTx, inviter: Actor) -> Result<(), DbError> {
    tx.exec("delete from invitations where workspace = ?1 and invited_by = ?2", params![inviter]).map(|_| ())
}

/// Across workspaces: the open invitation with this hash, and whether it is the one that was mailed. The secret that was
/// hashed is the proof.
pub fn find(tx: &mut Tx<'_>, hash: &str, now: Timestamp) -> Result<Option<(InvitationRow, bool)>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS}, cast(case when hash = ?1 then 0 else 1 end as bigint) from invitations \
         where (hash = ?1 or mail_hash = ?1) and expires_at > ?2"
    );
    tx.one(SQL, params![hash, now])
}

/// Across workspaces: uses an invitation up; whether it was there.
pub fn take(tx: &mut Tx<'_>, id: Id<Invitation>) -> Result<bool, DbError> {
    Ok(tx.exec("delete from invitations where id = ?1", params![id])? > 0)
}

/// Across workspaces: deletes invitations that are over, at most `limit`; how many. Served by `invitations_by_end`.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, DbError> {
    let sql = "delete from invitations where id in \
               (select id from invitations where expires_at < ?1 order by expires_at limit ?2)";
    tx.exec(sql, params![now, limit])
}

/// Across workspaces: whether there is an open invitation to this address (lower case). Served by `invitations_by_email`.
pub fn is_invited(tx: &mut Tx<'_>, email: &str, now: Timestamp) -> Result<bool, DbError> {
    tx.exists("select 1 from invitations where email = ?1 and expires_at > ?2", params![email, now])
}

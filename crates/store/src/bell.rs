//! What concerns a member: notifications with read marks.

use const_format::formatcp;
use domain::ids::{Campaign, Id, Notification, User};
use domain::tenant::Mode;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// A notification of a member.
    #[derive(Debug, Clone)]
    pub struct NotificationRow in "notifications" {
        id: Id<Notification>,
        member: Id<User>,
        mode: Mode,
        /// A word of `NotificationKind`; a later version may know more.
        kind: String,
        /// The noun of the subject.
        subject_type: String,
        /// Its id.
        subject: String,
        created_at: Timestamp,
        /// When the member read it.
        read_at: Option<Timestamp>,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = NotificationRow::COLUMNS;

pub fn insert(tx: &mut TenantTx, row: &NotificationRow) -> Result<(), DbError> {
    tx.add(NotificationRow::INSERT, &row.values())
}

/// Notifications of a member, newest first, by `notifications_of_member`.
pub fn list(
    tx: &mut TenantTx,
    member: Id<User>,
    mode: Mode,
    before: &str,
    limit: i64,
) -> Result<Vec<NotificationRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from notifications where workspace = ?1 and member = ?2 and id < ?4 and mode = ?3 \
         order by id desc limit ?5"
    );
    tx.all(SQL, params![member, mode, before, limit])
}

/// How many of a member's notifications were not read; a member has few ([`keep_newest`]).
pub fn unread(tx: &mut TenantTx, member: Id<User>, mode: Mode) -> Result<i64, DbError> {
    let count = tx.one(
        "select count(*) from notifications where workspace = ?1 and member = ?2 and mode = ?3 and read_at is null",
        params![member, mode],
    )?;
    Ok(count.unwrap_or(0))
}

/// Marks a member's notifications up to this one as read; how many that changes.
pub fn read_up_to(
    tx: &mut TenantTx,
    member: Id<User>,
    mode: Mode,
    last: Id<Notification>,
    now: Timestamp,
) -> Result<u64, DbError> {
    tx.exec(
        "update notifications set read_at = ?5 where workspace = ?1 and member = ?2 and mode = ?3 and id <= ?4 and read_at is null",
        params![member, mode, last, now],
    )
}

/// Marks these notifications of a member as read; how many that changes. Others' are left alone.
pub fn read_these(
    tx: &mut TenantTx,
    member: Id<User>,
    mode: Mode,
    ids: &[Id<Notification>],
    now: Timestamp,
) -> Result<u64, DbError> {
    if ids.is_empty() {
        return Ok(0);
    }
    let mut params = params![member, mode, now].to_vec();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    tx.exec(
        &format!(
            "update notifications set read_at = ?4 where workspace = ?1 and member = ?2 and mode = ?3 and id in {list} and read_at is null"
        ),
        &params,
    )
}

/// Drops a member's notifications beyond the newest `most`, by `notifications_of_member`.
pub fn keep_newest(tx: &mut TenantTx, member: Id<User>, most: i64) -> Result<(), DbError> {
    tx.later(
        "delete from notifications where workspace = ?1 and member = ?2 and id <= \
         (select id from notifications where workspace = ?1 and member = ?2 order by id desc limit 1 offset ?3)",
        params![member, most],
    )
}

/// Notes who launched a campaign last; nobody where it was no member.
pub fn set_launcher(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    member: Option<Id<User>>,
) -> Result<(), DbError> {
    match member {
        Some(member) => tx.later(
            "insert into campaign_launchers (workspace, campaign, member) values (?1, ?2, ?3) \
             on conflict (campaign) do update set member = excluded.member",
            params![campaign, member],
        ),
        None => tx.later(
            "delete from campaign_launchers where workspace = ?1 and campaign = ?2",
            params![campaign],
        ),
    }
}

/// The member who launched a campaign last and still belongs to the workspace.
pub fn launcher(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<Id<User>>, DbError> {
    tx.one(
        "select m.id from campaign_launchers l join members m on m.id = l.member and m.workspace = ?1 and m.removed_at is null \
         where l.workspace = ?1 and l.campaign = ?2",
        params![campaign],
    )
}

/// Across workspaces: drops up to `limit` notifications that are older than `before`, by `notifications_by_age`; how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from notifications where id in (select id from notifications where created_at < ?1 order by created_at limit ?2)",
        params![before, limit],
    )
}

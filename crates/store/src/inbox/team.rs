//! The members who answer chats: who is available and was seen, their ceilings, and to whom round robin gave a chat last.

use const_format::formatcp;
use domain::chat::inbox::{Assignment, Candidate};
use domain::ids::{Chat, Id, User};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// How a workspace's inbox works.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct SettingsRow in "inbox_settings" {
        assignment: Assignment,
        /// Open chats of a member from which on round robin gives no more.
        max_open: i64,
        /// Minutes for the first response of a person.
        response_minutes: Option<i64>,
    }
    insert with { workspace: Tenant }
}

row! {
    /// What the inbox keeps of a member.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct InboxMemberRow in "inbox_members" {
        member: Id<User>,
        /// Whether the member takes chats.
        available: bool,
        /// When the member was last seen.
        seen_at: Timestamp,
        /// The member's own ceiling of open chats.
        max_open: Option<i64>,
        /// When round robin last gave the member a chat.
        assigned_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

/// The settings; `None` for the defaults.
pub fn settings(tx: &mut TenantTx) -> Result<Option<SettingsRow>, DbError> {
    const SQL: &str = formatcp!("select {} from inbox_settings where workspace = ?1", SettingsRow::COLUMNS);
    tx.one(SQL, &[])
}

/// Sets the settings.
pub fn save_settings(tx: &mut TenantTx, row: &SettingsRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!(
        "{} on conflict (workspace) do update set assignment = excluded.assignment, max_open = excluded.max_open, \
         response_minutes = excluded.response_minutes",
        SettingsRow::INSERT
    );
    tx.later(SQL, &row.values())
}

/// What the inbox keeps of a member, locked until the transaction ends.
pub fn inbox_member(tx: &mut TenantTx, member: Id<User>) -> Result<Option<InboxMemberRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from inbox_members where workspace = ?1 and member = ?2 /*pg for update*/",
        InboxMemberRow::COLUMNS
    );
    tx.one(SQL, params![member])
}

/// Sets availability, ceiling and when the member was last seen, which never moves back.
pub fn save_inbox_member(tx: &mut TenantTx, row: &InboxMemberRow) -> Result<(), DbError> {
    const SQL: &str = formatcp!(
        "{} on conflict (member) do update set available = excluded.available, max_open = excluded.max_open, \
         seen_at = case when excluded.seen_at > inbox_members.seen_at then excluded.seen_at else inbox_members.seen_at end \
         where inbox_members.workspace = excluded.workspace",
        InboxMemberRow::INSERT
    );
    tx.later(SQL, &row.values())
}

/// A member was seen. Returns what was kept before.
pub fn see(tx: &mut TenantTx, member: Id<User>, now: Timestamp) -> Result<Option<InboxMemberRow>, DbError> {
    let before = inbox_member(tx, member)?;
    let row = before.unwrap_or(InboxMemberRow {
        member,
        available: false,
        seen_at: now,
        max_open: None,
        assigned_at: Timestamp(0),
    });
    save_inbox_member(tx, &InboxMemberRow { seen_at: now, ..row })?;
    Ok(before)
}

/// Members who may reply, after `after`, in the order of their ids: id, name, number of open chats, and what the inbox keeps of them. Open chats are counted in
/// the index `chats_held`.
pub fn team(
    tx: &mut TenantTx,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<(Id<User>, String, i64, Option<InboxMemberRow>)>, DbError> {
    let sql = "select u.id, u.name, (select count(*) from chats c where c.workspace = ?1 and c.teammate = u.id \
         and c.state = 'human') from members u where u.workspace = ?1 and u.removed_at is null \
         and u.role <> 'viewer' and u.id > ?2 order by u.id limit ?3";
    let found: Vec<(Id<User>, String, i64)> = tx.all(sql, params![after.unwrap_or_default(), limit])?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let ids = tx.any_of(&mut values, found.iter().map(|(id, ..)| (*id).into()));
    let columns = InboxMemberRow::COLUMNS;
    let sql = format!("select {columns} from inbox_members where workspace = ?1 and member in {ids}");
    let kept: Vec<InboxMemberRow> = tx.all(&sql, &values)?;
    let row = |id| kept.iter().find(|row| row.member == id).copied();
    Ok(found.into_iter().map(|(id, name, held)| (id, name, held, row(id))).collect())
}

/// The names of these members, of removed ones, too.
pub fn member_names(tx: &mut TenantTx, members: &[Id<User>]) -> Result<Vec<(Id<User>, String)>, DbError> {
    let mut values = Vec::new();
    let ids = tx.any_of(&mut values, members.iter().map(|id| (*id).into()));
    tx.all(&format!("select id, name from members where workspace = ?1 and id in {ids}"), &values)
}

/// Members who are available, were seen at or after `since` and may reply, up to `limit`, least recently assigned first,
/// from the index `inbox_members_available`. Their open chats are counted in the index `chats_held`, up to one more than the
/// highest ceiling ([`domain::chat::inbox::MAX_CEILING`]).
pub fn candidates(tx: &mut TenantTx, since: Timestamp, limit: i64) -> Result<Vec<Candidate>, DbError> {
    let sql = "select m.member, (select count(*) from (select 1 as one from chats c where c.workspace = ?1 and c.teammate = m.member \
         and c.state = 'human' limit 101) as counted), m.max_open, m.assigned_at from inbox_members m join members u on u.workspace = ?1 and u.id = m.member \
         where m.workspace = ?1 and m.available = 1 and m.seen_at >= ?2 and u.removed_at is null and u.role <> 'viewer' \
         order by m.assigned_at, m.member limit ?3";
    let found: Vec<(Id<User>, i64, Option<i64>, Timestamp)> = tx.all(sql, params![since, limit])?;
    let candidate = |(member, held, ceiling, assigned_at)| Candidate { member, held, ceiling, assigned_at };
    Ok(found.into_iter().map(candidate).collect())
}

/// Locks a member who is available and was seen at or after `since` until the transaction ends. `false` when the member is
/// not, or another transaction has the lock: whoever waited for it with a chat locked could wait in a circle.
pub fn lock_if_present(tx: &mut TenantTx, member: Id<User>, since: Timestamp) -> Result<bool, DbError> {
    tx.exists(
        "select 1 from inbox_members where workspace = ?1 and member = ?2 and available = 1 and seen_at >= ?3 \
         /*pg for update skip locked*/",
        params![member, since],
    )
}

/// Open chats of a member, counted in the index `chats_held`.
pub fn held(tx: &mut TenantTx, member: Id<User>) -> Result<i64, DbError> {
    let sql = "select count(*) from chats where workspace = ?1 and teammate = ?2 and state = 'human'";
    Ok(tx.one(sql, params![member])?.unwrap_or(0))
}

/// Round robin gave a member a chat.
pub fn assigned(tx: &mut TenantTx, member: Id<User>, now: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update inbox_members set assigned_at = ?3 where workspace = ?1 and member = ?2",
        params![member, now],
    )
}

/// Whether a chat beside this one waits for a person; read from the index `chats_waiting`.
pub fn is_waiting(tx: &mut TenantTx, except: Id<Chat>) -> Result<bool, DbError> {
    tx.exists(
        "select 1 from chats where workspace = ?1 and state = 'awaiting_human' and test_link is null and id <> ?2 limit 1",
        params![except],
    )
}

/// Chats that wait for a person, longest waiting first; read from the index `chats_waiting`.
pub fn waiting(tx: &mut TenantTx, limit: i64) -> Result<Vec<Id<Chat>>, DbError> {
    tx.all(
        "select id from chats where workspace = ?1 and state = 'awaiting_human' and test_link is null and wish is null order by handoff_at, id limit ?2",
        params![limit],
    )
}

/// Across workspaces: those with round robin in which a chat waits and a member who was seen at or after `since` has room,
/// from the index `inbox_round_robin`. One statement looks at all, so that it costs little where everybody is busy.
pub fn round_robin_workspaces(tx: &mut Tx<'_>, since: Timestamp) -> Result<Vec<Tenant>, DbError> {
    tx.all(
        "select s.workspace from inbox_settings s where s.assignment = 'round_robin' \
         and exists (select 1 from chats c where c.workspace = s.workspace and c.state = 'awaiting_human' \
         and c.test_link is null) \
         and exists (select 1 from inbox_members m where m.workspace = s.workspace and m.available = 1 and m.seen_at >= ?1 \
         and (select count(*) from (select 1 as one from chats c where c.workspace = s.workspace and c.teammate = m.member \
         and c.state = 'human' limit 101) as counted) < coalesce(m.max_open, s.max_open)) order by s.workspace",
        params![since],
    )
}

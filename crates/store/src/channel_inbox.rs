//! Notifications of the messaging channel: stored before they are acknowledged, worked afterwards.

use const_format::formatcp;
use domain::ids::{ChannelConnection, ChannelNotification, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// An item of a notification as stored, and not yet worked.
    #[derive(Debug, Clone)]
    pub struct NotificationRow in "channel_notifications" {
        id: Id<ChannelNotification>,
        workspace: Tenant,
        /// The connection that received it.
        connection: Id<ChannelConnection>,
        /// Keyed hash of its identity, for deduplication.
        key: String,
        /// Keyed hash of the person that it is about: items of a lane are worked in their order.
        lane: String,
        /// The provider's id of the number that it is about.
        phone_number_id: Option<String>,
        /// The item as JSON; empty once it was worked.
        payload: Option<String>,
        /// How often it failed.
        attempts: i64,
        /// When it is due.
        next_at: Timestamp,
        received_at: Timestamp,
    }
}

const COLUMNS: &str = NotificationRow::COLUMNS;
const INSERT: &str = formatcp!("{} on conflict (connection, key) do nothing", NotificationRow::INSERT);

/// Stores an item; idempotent.
pub fn insert(tx: &mut Tx<'_>, row: &NotificationRow) -> Result<(), DbError> {
    tx.add(INSERT, &row.values())
}

/// From one connection with work to the next, however much each has.
const TAKE: &str = "with recursive waiting(connection) as (
            select min(connection) from channel_notifications where payload is not null
            union all
            select (select min(n.connection) from channel_notifications n
                where n.payload is not null and n.connection > w.connection)
            from waiting w where w.connection is not null
        )
        update channel_connections set inbox_until = ?2 where id in (
            select c.id from channel_connections c
            where c.id in (select connection from waiting) and c.inbox_until <= ?1 and exists (
                select 1 from channel_notifications n
                where n.connection = c.id and n.payload is not null and n.next_at <= ?1
            ) order by c.inbox_until limit ?3";

/// Across workspaces: leases connections with due items. With `patient` it waits for connections that another
/// transaction has locked, perhaps without taking them; otherwise it skips them.
pub fn take_connections(
    tx: &mut Tx<'_>,
    now: Timestamp,
    until: Timestamp,
    most: i64,
    patient: bool,
) -> Result<Vec<(Id<ChannelConnection>, Tenant)>, DbError> {
    const HASTY: &str = formatcp!("{TAKE} /*pg for update skip locked*/) returning id, workspace");
    const PATIENT: &str = formatcp!("{TAKE} /*pg for update*/) returning id, workspace");
    tx.all(if patient { PATIENT } else { HASTY }, params![now, until, most])
}

/// Ends or extends the lease of a connection.
pub fn lease(tx: &mut TenantTx, connection: Id<ChannelConnection>, until: Timestamp) -> Result<(), DbError> {
    let sql = "update channel_connections set inbox_until = ?3 where workspace = ?1 and id = ?2";
    tx.later(sql, params![connection, until])
}

/// What is to be worked of a connection, oldest first. A lane whose first item waits for another try waits as a
/// whole.
pub fn due(
    tx: &mut TenantTx,
    connection: Id<ChannelConnection>,
    now: Timestamp,
    most: i64,
) -> Result<Vec<NotificationRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from channel_notifications n
        where workspace = ?1 and connection = ?2 and payload is not null and next_at <= ?3 and not exists (
            select 1 from channel_notifications w
            where w.workspace = ?1 and w.lane = n.lane and w.payload is not null and w.next_at > ?3 and w.id < n.id
        )
        order by id limit ?4"
    );
    tx.all(sql, params![connection, now, most])
}

/// Marks an item as worked; `false` when it was before.
pub fn done(tx: &mut TenantTx, id: Id<ChannelNotification>) -> Result<bool, DbError> {
    let sql = "update channel_notifications set payload = null
        where workspace = ?1 and id = ?2 and payload is not null";
    Ok(tx.exec(sql, params![id])? > 0)
}

/// Marks items as done with one statement; returns those that were not. `coalesce` keeps PostgreSQL from the index of
/// pending items, of which it would read all; each item is looked up by its id.
pub fn done_each(
    tx: &mut TenantTx,
    ids: &[Id<ChannelNotification>],
) -> Result<Vec<Id<ChannelNotification>>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, ids.iter().map(|id| (*id).into()));
    let sql = format!(
        "update channel_notifications set payload = null where workspace = ?1 and id in {list} and coalesce(payload, '') <> '' returning id"
    );
    tx.all(&sql, &params)
}

/// Lets an item that failed wait for its next try, and those behind it in its lane with it.
pub fn again(tx: &mut TenantTx, row: &NotificationRow, attempts: i64, at: Timestamp) -> Result<(), DbError> {
    let sql = "update channel_notifications set attempts = ?3 where workspace = ?1 and id = ?2";
    tx.later(sql, params![row.id, attempts])?;
    let sql = "update channel_notifications set next_at = ?3
        where workspace = ?1 and lane = ?2 and payload is not null and next_at < ?3";
    tx.later(sql, params![&row.lane, at])
}

/// Across workspaces: when the next item is to be worked.
pub fn next_at(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(next_at) from channel_notifications where payload is not null";
    let next: Option<Option<Timestamp>> = tx.one(sql, params![])?;
    Ok(next.flatten())
}

/// How many items of a workspace wait.
pub fn waiting(tx: &mut TenantTx, connection: Id<ChannelConnection>) -> Result<i64, DbError> {
    let sql = "select count(*) from channel_notifications
        where workspace = ?1 and connection = ?2 and payload is not null";
    Ok(tx.one(sql, params![connection])?.unwrap_or(0))
}

/// Across workspaces: deletes items that arrived before a timestamp. Returns how many.
pub fn forget(tx: &mut Tx<'_>, before: Timestamp, most: i64) -> Result<u64, DbError> {
    let sql = "delete from channel_notifications where id in (
        select id from channel_notifications where received_at < ?1 order by received_at limit ?2)";
    tx.exec(sql, params![before, most])
}

/// Takes the payload out of what waits in some lanes; how many.
pub fn erase(tx: &mut TenantTx, lanes: &[String]) -> Result<u64, DbError> {
    let mut erased = 0;
    for lane in lanes {
        let sql = "update channel_notifications set payload = null
            where workspace = ?1 and lane = ?2 and payload is not null";
        erased += tx.exec(sql, params![lane])?;
    }
    Ok(erased)
}

//! The send queues of the numbers, and messages that are queued or being sent.

use const_format::formatcp;
use domain::ids::{ChannelMessage, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use super::{MESSAGE, MessageRow};
use crate::db::row::row;
use crate::db::{Counter, DbError, Fold, TenantTx, Tx};
use crate::params;

row! {
    /// The send queue of a number.
    #[derive(Debug, Clone)]
    pub struct SendQueueRow in "channel_lines" {
        workspace: Tenant,
        /// The provider's id of the number.
        phone_number_id: String,
        /// How far its pace is used up, microseconds.
        used: i64,
        /// When the next of its messages may go.
        next_at: Option<Timestamp>,
    }
}

const LINE: &str = SendQueueRow::COLUMNS;
const NEW_LINE: &str = formatcp!("{} on conflict do nothing", SendQueueRow::INSERT);

fn new_line(tenant: Tenant, phone_number_id: &str) -> SendQueueRow {
    SendQueueRow { workspace: tenant, phone_number_id: phone_number_id.to_owned(), used: 0, next_at: None }
}

/// The send queue of a number, locked until the transaction ends; added if there is none.
pub fn send_queue_for_update(tx: &mut TenantTx, phone_number_id: &str) -> Result<SendQueueRow, DbError> {
    let tenant = tx.tenant();
    let sql = formatcp!(
        "select {LINE} from channel_lines where workspace = ?1 and phone_number_id = ?2 /*pg for update*/"
    );
    if let Some(line) = tx.one(sql, params![phone_number_id])? {
        return Ok(line);
    }
    let new = new_line(tenant, phone_number_id);
    tx.unbound().exec(NEW_LINE, &new.values())?;
    Ok(tx.one(sql, params![phone_number_id])?.unwrap_or(new))
}

/// Reserves up to `wanted` slots of a number, `gap` microseconds apart, none of them beyond `latest`, with one
/// statement. Returns the position before the first slot and that of the last; `None` if the number has no send queue.
pub fn reserve_slots(
    tx: &mut TenantTx,
    phone_number_id: &str,
    now: i64,
    gap: i64,
    wanted: i64,
    latest: i64,
) -> Result<Option<(i64, i64)>, DbError> {
    let sql = "with line as (
            select greatest(used, ?3::bigint) as used from channel_lines
            where workspace = ?1 and phone_number_id = ?2 for update
        )
        update channel_lines set used = line.used
            + ?4::bigint * least(?5::bigint, greatest((?6::bigint - line.used) / ?4::bigint, 0))
        from line where workspace = ?1 and phone_number_id = ?2 returning line.used, channel_lines.used";
    tx.one(sql, params![phone_number_id, now, gap, wanted, latest])
}

/// Stores the rate and the next wake-up of a send queue.
pub fn save_send_queue(tx: &mut Tx<'_>, row: &SendQueueRow) -> Result<(), DbError> {
    let sql =
        "update channel_lines set used = ?3, next_at = ?4 where workspace = ?1 and phone_number_id = ?2";
    tx.later(sql, params![row.workspace, &row.phone_number_id, row.used, row.next_at])
}

/// Wakes the send queue of a number at a timestamp. Each transaction adds one row, and does not wait for a sender that
/// has locked the send queue; the next sender deletes the rows. It is a counter ([`Tx::count`]).
pub fn wake_send_queue(
    tx: &mut TenantTx,
    phone_number_id: &str,
    message: Id<ChannelMessage>,
    at: Timestamp,
) -> Result<(), DbError> {
    let sql =
        "insert into channel_line_wakes (workspace, phone_number_id, message, at) values (?1, ?2, ?3, ?4)
        on conflict (workspace, phone_number_id, message) do update set at = excluded.at
        where channel_line_wakes.at > excluded.at";
    tx.tally(
        Counter::SendQueue(tx.tenant().bits(), place_of(phone_number_id)),
        sql,
        &[Fold::Same, Fold::Same, Fold::First, Fold::Least],
        params![phone_number_id, message, at],
        None,
    )
}

/// The place of a number among the counters of a transaction (FNV-1a).
fn place_of(phone_number_id: &str) -> u64 {
    phone_number_id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Across workspaces: numbers that have something to send by `until`, longest waiting first.
pub fn due_send_queues(
    tx: &mut Tx<'_>,
    until: Timestamp,
    most: i64,
) -> Result<Vec<(Tenant, String)>, DbError> {
    let sql = "select workspace, phone_number_id from (
            select workspace, phone_number_id, next_at from channel_lines where next_at <= ?1
            union all
            select workspace, phone_number_id, at from channel_line_wakes where at <= ?1
        ) as due group by workspace, phone_number_id order by min(next_at) limit ?2";
    tx.all(sql, params![until, most])
}

/// Across workspaces: when the next number has something to send.
pub fn next_send_queue(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(next_at) from (
            select min(next_at) as next_at from channel_lines where next_at is not null
            union all
            select min(at) from channel_line_wakes
        ) as next";
    let next: Option<Option<Timestamp>> = tx.one(sql, params![])?;
    Ok(next.flatten())
}

/// The send queue of a number that is due by `until`, locked until the transaction ends; `None` if another node has
/// locked it. Its wake-ups are deleted: messages that are stored later wake it again.
pub fn take_send_queue(
    tx: &mut TenantTx,
    phone_number_id: &str,
    until: Timestamp,
) -> Result<Option<SendQueueRow>, DbError> {
    let tenant = tx.tenant();
    const TAKE: &str = formatcp!(
        "select {LINE} from channel_lines where workspace = ?1 and phone_number_id = ?2 /*pg for update skip locked*/"
    );
    const WOKEN: &str =
        "delete from channel_line_wakes where workspace = ?1 and phone_number_id = ?2 and at <= ?3";
    let line = match tx.one::<SendQueueRow>(TAKE, params![phone_number_id])? {
        Some(line) => line,
        None => {
            let new = new_line(tenant, phone_number_id);
            if tx.unbound().exec(NEW_LINE, &new.values())? == 0 {
                return Ok(None);
            }
            new
        }
    };
    let woken = tx.exec(WOKEN, params![phone_number_id, until])? > 0;
    Ok(Some(line).filter(|line| woken || line.next_at.is_some_and(|next| next <= until)))
}

/// Messages of a number and a priority that are due by `until`, longest due first, locked until the transaction ends.
pub fn due(
    tx: &mut TenantTx,
    phone_number_id: &str,
    rank: i64,
    until: Timestamp,
    most: i64,
) -> Result<Vec<MessageRow>, DbError> {
    let sql = formatcp!(
        "select {MESSAGE} from channel_messages where workspace = ?1 and phone_number_id = ?2 and rank = ?3 and next_at <= ?4
        order by next_at, id limit ?5 /*pg for update skip locked*/"
    );
    tx.all(sql, params![phone_number_id, rank, until, most])
}

/// When the next message of a number may go.
pub fn next_of_send_queue(tx: &mut TenantTx, phone_number_id: &str) -> Result<Option<Timestamp>, DbError> {
    // One index lookup for each priority.
    let sql = "select min(next_at) from channel_messages
        where workspace = ?1 and phone_number_id = ?2 and rank = ?3 and next_at is not null";
    let first: Option<Option<Timestamp>> = tx.one(sql, params![phone_number_id, 0])?;
    let second: Option<Option<Timestamp>> = tx.one(sql, params![phone_number_id, 1])?;
    Ok(match (first.flatten(), second.flatten()) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    })
}

/// How many messages of a workspace wait to be sent, those of campaigns apart.
pub fn waiting(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql =
        "select count(*) from channel_messages where workspace = ?1 and rank = 0 and next_at is not null";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

/// Across workspaces: messages whose sender has not stored an outcome in its time.
pub fn abandoned(
    tx: &mut Tx<'_>,
    now: Timestamp,
    most: i64,
) -> Result<Vec<(Tenant, Id<ChannelMessage>)>, DbError> {
    let sql =
        "select workspace, id from channel_messages where lease_until <= ?1 order by lease_until limit ?2";
    tx.all(sql, params![now, most])
}

/// Across workspaces: when the next lease ends.
pub fn next_lease(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let next: Option<Option<Timestamp>> =
        tx.one("select min(lease_until) from channel_messages where lease_until is not null", params![])?;
    Ok(next.flatten())
}

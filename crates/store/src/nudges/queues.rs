//! One queue for each workspace and mode: how much waits, and when the dialler must look.
//!
//! A queue's `next_look` is never later than the earliest `look_at` of its nudges. Whoever writes a `look_at`
//! touches the queue after it, in the same transaction; the dialler moves `next_look` forward only if nobody
//! touched the queue since it read its version.

use domain::ids::{ApiKey, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::{DbError, Tx};
use crate::params;

/// A queue that the dialler should serve.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Whose nudges.
    pub workspace: Tenant,
    /// Of which world.
    pub mode: Mode,
    /// Whether some nudge's time has come; otherwise it is here for those that wait for a line.
    pub due: bool,
    /// How many wait for a line.
    pub without_line: i64,
    /// What [`serve`] goes by.
    pub version: i64,
}

/// What a transaction changed in a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// By how much the number of pending nudges moved.
    pub pending: i64,
    /// By how much the number of those that wait for a line moved.
    pub without_line: i64,
    /// The earliest `look_at` that was written.
    pub look_at: Option<Timestamp>,
}

const APPLY: &str = "pending = pending + cast(?3 as bigint), without_line = without_line + cast(?4 as bigint), version = version + 1";

/// Applies a change, the last statement of its transaction if possible: other writers of this workspace wait
/// for it.
pub fn touch(tx: &mut Tx<'_>, tenant: Tenant, mode: Mode, change: Change) -> Result<(), DbError> {
    tx.later(
        &format!(
            "update nudge_queues set {APPLY}, next_look = case when cast(?5 as bigint) is null then next_look \
             when next_look is null or next_look > cast(?5 as bigint) then cast(?5 as bigint) else next_look end where workspace = ?1 and mode = ?2"
        ),
        params![tenant, mode.as_str(), change.pending, change.without_line, change.look_at],
    )
}

/// Adds a pending nudge, unless there are `limit` of them; whether it did. Makes the queue when there is
/// none.
pub fn touch_within(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    look_at: Option<Timestamp>,
    limit: i64,
) -> Result<bool, DbError> {
    let add = |tx: &mut Tx<'_>| {
        tx.exec(
            "update nudge_queues set pending = pending + 1, version = version + 1, next_look = case when cast(?3 as bigint) is null then next_look \
             when next_look is null or next_look > cast(?3 as bigint) then cast(?3 as bigint) else next_look end \
             where workspace = ?1 and mode = ?2 and pending < cast(?4 as bigint)",
            params![tenant, mode.as_str(), look_at, limit],
        )
    };
    if add(tx)? > 0 {
        return Ok(true);
    }
    let made = tx.exec(
        "insert into nudge_queues (workspace, mode, pending, without_line, next_look, served, version) values (?1, ?2, 0, 0, null, 0, 0) \
         on conflict (workspace, mode) do nothing",
        params![tenant, mode.as_str()],
    )?;
    // Another request may have made it at this moment; then the first try has missed it.
    let _ = made;
    Ok(add(tx)? > 0)
}

/// Queues to serve now, the one that was served longest ago first. `lines` asks for those that wait for a
/// line, too.
pub fn due_queues(tx: &mut Tx<'_>, now: Timestamp, lines: bool, limit: i64) -> Result<Vec<Queue>, DbError> {
    let waiting =
        if lines { " union select workspace, mode from nudge_queues where without_line > 0" } else { "" };
    let sql = format!(
        "select q.workspace, q.mode, q.next_look, q.without_line, q.version from nudge_queues q \
         join (select workspace, mode from nudge_queues where next_look is not null and next_look <= ?1{waiting}) due \
         on due.workspace = q.workspace and due.mode = q.mode order by q.served, q.workspace, q.mode limit ?2"
    );
    tx.all(&sql, params![now, limit], |row| {
        Ok(Queue {
            workspace: row.id(0)?,
            mode: Mode::parse(&row.text(1)?)
                .ok_or_else(|| DbError::Internal("unknown mode of a queue".into()))?,
            due: row.opt_time(2)?.is_some_and(|at| at <= now),
            without_line: row.int(3)?,
            version: row.int(4)?,
        })
    })
}

/// How many queues have nudges that wait for a line.
pub fn waiting_queues(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    Ok(tx
        .one("select count(*) from nudge_queues where without_line > 0", &[], |row| row.int(0))?
        .unwrap_or(0))
}

/// Ends the dialler's turn at a queue: applies its changes, puts it last in turn, and moves `next_look`
/// forward if nobody else touched it.
pub fn serve(tx: &mut Tx<'_>, queue: &Queue, change: Change) -> Result<(), DbError> {
    tx.later(
        &format!(
            "update nudge_queues set {APPLY}, served = (select max(served) from nudge_queues) + 1, next_look = case \
             when version = cast(?6 as bigint) then (select min(look_at) from nudges where workspace = ?1 and mode = ?2 and look_at is not null) \
             when cast(?5 as bigint) is null then next_look when next_look is null or next_look > cast(?5 as bigint) then cast(?5 as bigint) \
             else next_look end where workspace = ?1 and mode = ?2"
        ),
        params![queue.workspace, queue.mode.as_str(), change.pending, change.without_line, change.look_at, queue.version],
    )
}

/// When the dialler must look again.
pub fn next_look(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx
        .one("select min(next_look) from nudge_queues where next_look is not null", &[], |row| {
            row.opt_time(0)
        })?
        .flatten())
}

/// A revoked key with nudges that still wait to be cancelled.
#[derive(Debug, Clone, Copy)]
pub struct Revocation {
    /// The key.
    pub key: Id<ApiKey>,
    /// Its workspace.
    pub workspace: Tenant,
}

/// Notes that nudges of a key wait to be cancelled.
pub fn add_revocation(tx: &mut Tx<'_>, tenant: Tenant, key: Id<ApiKey>) -> Result<(), DbError> {
    tx.later(
        "insert into nudge_revocations (api_key, workspace) values (?1, ?2) on conflict (api_key) do nothing",
        params![key, tenant],
    )
}

/// Keys whose nudges wait to be cancelled.
pub fn revocations(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Revocation>, DbError> {
    tx.all(
        "select api_key, workspace from nudge_revocations order by api_key limit ?1",
        params![limit],
        |row| Ok(Revocation { key: row.id(0)?, workspace: row.id(1)? }),
    )
}

/// All nudges of a key are cancelled.
pub fn end_revocation(tx: &mut Tx<'_>, tenant: Tenant, key: Id<ApiKey>) -> Result<(), DbError> {
    tx.later("delete from nudge_revocations where workspace = ?1 and api_key = ?2", params![tenant, key])
}

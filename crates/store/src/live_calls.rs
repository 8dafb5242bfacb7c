//! What is said in live calls while somebody watches, for other nodes than the one that holds the call.

use const_format::formatcp;
use domain::call::Status;
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::calls::CallRow;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

/// Says that somebody watches the workspace until then.
pub fn watch(tx: &mut TenantTx, until: Timestamp) -> Result<(), DbError> {
    tx.later(
        "insert into live_watches (workspace, until) values (?1, ?2) \
         on conflict (workspace) do update set until = ?2 where live_watches.until < ?2",
        params![until],
    )
}

/// Across workspaces: the workspaces that somebody watches; at most as many as there are streams.
pub fn watched(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<Tenant>, DbError> {
    tx.all("select workspace from live_watches where until > ?1", params![now])
}

/// Across workspaces: forgets who watched until before `now`.
pub fn unwatch(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, DbError> {
    tx.exec("delete from live_watches where until < ?1", params![now])
}

/// Stores the state of a call (JSON), unless it is over or its person is erased. `rev` grows with each.
pub fn publish(
    tx: &mut TenantTx,
    call: Id<Call>,
    state: &str,
    rev: i64,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "insert into live_calls (workspace, call, state, rev, at) \
         select workspace, id, ?3, cast(?4 as bigint), cast(?5 as bigint) from calls where workspace = ?1 and id = ?2 and phase is null \
         on conflict (call) do update set state = ?3, rev = cast(?4 as bigint), at = cast(?5 as bigint) where live_calls.rev < cast(?4 as bigint)",
        params![call, state, rev, now],
    )
}

/// The states of a workspace's calls that were stored at `from` or later, by `live_calls_of_workspace`.
pub fn list(
    tx: &mut TenantTx,
    from: Timestamp,
    limit: i64,
) -> Result<Vec<(Id<Call>, String, i64, Timestamp)>, DbError> {
    tx.all(
        "select call, state, rev, at from live_calls where workspace = ?1 and at >= ?2 order by at limit ?3",
        params![from, limit],
    )
}

/// The states of these calls, as far as they are stored, by their primary key.
pub fn of_calls(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<Vec<(Id<Call>, String)>, DbError> {
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, calls.iter().map(|id| (*id).into()));
    tx.all(&format!("select call, state from live_calls where workspace = ?1 and call in {list}"), &params)
}

/// Forgets what was said in a call.
pub fn remove(tx: &mut TenantTx, call: Id<Call>) -> Result<(), DbError> {
    tx.later("delete from live_calls where workspace = ?1 and call = ?2", params![call])
}

/// Forgets what was said in the calls of a person who is erased.
pub fn erase(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<(), DbError> {
    calls.iter().try_for_each(|call| remove(tx, *call))
}

/// Across workspaces: drops up to `limit` states of calls that nobody has stored since `before`; how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from live_calls where call in (select call from live_calls where at < ?1 order by at limit ?2)",
        params![before, limit],
    )
}

/// Calls of a mode that ring or talk, newest first, from before `before` on, by `calls_live`.
pub fn rows(tx: &mut TenantTx, mode: Mode, before: &str, limit: i64) -> Result<Vec<CallRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from calls where workspace = ?1 and mode = ?2 and phase is null and status <> 'queued' and id < ?3 \
         order by id desc limit ?4",
        CallRow::COLUMNS
    );
    tx.all(SQL, params![mode, before, limit])
}

/// The newest calls of a mode that ring or talk with their status, by `calls_live`.
pub fn statuses(tx: &mut TenantTx, mode: Mode, limit: i64) -> Result<Vec<(Id<Call>, Status)>, DbError> {
    tx.all(
        "select id, status from calls where workspace = ?1 and mode = ?2 and phase is null and status <> 'queued' \
         order by id desc limit ?3",
        params![mode, limit],
    )
}

/// How many chats wait for a person, at most `most`, by `chats_in_state`.
pub fn waiting_chats(tx: &mut TenantTx, most: i64) -> Result<i64, DbError> {
    let count = tx.one(
        "select count(*) from (select id from chats where workspace = ?1 and state = 'awaiting_human' limit ?2) waiting",
        params![most],
    )?;
    Ok(count.unwrap_or(0))
}

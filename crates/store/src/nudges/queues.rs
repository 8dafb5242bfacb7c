//! One queue for each workspace and mode: its length, and when it is due for the dialler.
//!
//! A queue's `next_look` is never later than the earliest `look_at` of its nudges. Code that writes a `look_at` touches
//! the queue after it, in the same transaction; the dialler moves `next_look` forward only if the version that it has
//! read is unchanged.

use const_format::formatcp;
use domain::ids::{ApiKey, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{Counter, DbError, Fold, Must, TenantTx, Tx, Value};
use crate::dial_locks::TRY_LOCK;
use crate::params;

row! {
    /// A queue that the dialler should serve.
    #[derive(Debug, Clone)]
    pub struct Queue {
        workspace: Tenant as "q.workspace",
        mode: Mode as "q.mode",
        /// Whether some nudge's time has come; otherwise it is here for those that wait for a line.
        due: bool as "cast(case when q.next_look <= ?1 then 1 else 0 end as bigint)",
        /// How many wait for a line.
        without_line: i64 as "q.without_line",
        /// The version that [`serve`] compares.
        version: i64 as "q.version",
    }
}

/// The change of a queue in a transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// The change of the number of pending nudges.
    pub pending: i64,
    /// The change of the number of nudges that wait for a line.
    pub without_line: i64,
    /// The earliest `look_at` that was written.
    pub look_at: Option<Timestamp>,
}

const APPLY: &str = "pending = pending + cast(?3 as bigint), without_line = without_line + cast(?4 as bigint), version = version + 1";

/// The row of a queue as a counter: every nudge of the workspace updates it, so it is locked only during the commit.
fn counter(tenant: Tenant, mode: Mode) -> Counter {
    Counter::NudgeQueue(tenant.bits(), mode == Mode::Live)
}

/// Applies a change. It is a counter of the transaction ([`Tx::tally`]).
pub fn touch(tx: &mut TenantTx, mode: Mode, change: Change) -> Result<(), DbError> {
    tx.tally(
        counter(tx.tenant(), mode),
        formatcp!(
            "update nudge_queues set {APPLY}, next_look = case when cast(?5 as bigint) is null then next_look \
             when next_look is null or next_look > cast(?5 as bigint) then cast(?5 as bigint) else next_look end where workspace = ?1 and mode = ?2"
        ),
        &[Fold::Same, Fold::Same, Fold::Sum, Fold::Sum, Fold::Least],
        params![mode, change.pending, change.without_line, change.look_at],
        None,
    )
}

/// How many nudges are pending in a queue; `None` while it was never used.
pub fn pending_in(tx: &mut TenantTx, mode: Mode) -> Result<Option<i64>, DbError> {
    // The subquery keeps one lookup for each queue when many are prefetched.
    let sql = "select (select pending from nudge_queues where workspace = ?1 and mode = ?2)";
    Ok(tx.one(sql, params![mode])?.flatten())
}

/// Makes a queue, unless it is there.
fn open(tx: &mut TenantTx, mode: Mode) -> Result<(), DbError> {
    tx.add(
        "insert into nudge_queues (workspace, mode, pending, without_line, next_look, served, version) values (?1, ?2, 0, 0, null, 0, 0) \
         on conflict (workspace, mode) do nothing",
        params![mode],
    )
}

/// Like [`touch_within`] for one nudge, on PostgreSQL: `pending` was read in this transaction ([`pending_in`]). The
/// queue is updated with the commit if it is still below the limit; otherwise the transaction is retried.
pub fn admit(
    tx: &mut TenantTx,
    mode: Mode,
    pending: Option<i64>,
    look_at: Option<Timestamp>,
    limit: i64,
) -> Result<bool, DbError> {
    match pending {
        Some(pending) if pending >= limit => return Ok(false),
        Some(_) => {}
        None if limit <= 0 => return Ok(false),
        None => open(tx, mode)?,
    }
    let must = Must { rows: 1, otherwise: DbError::Retry("a queue of nudges has filled up".into()) };
    let counter = counter(tx.tenant(), mode);
    tx.tally(
        counter,
        "update nudge_queues set pending = pending + cast(?3 as bigint), version = version + 1, next_look = case when cast(?4 as bigint) is null \
         then next_look when next_look is null or next_look > cast(?4 as bigint) then cast(?4 as bigint) else next_look end \
         where workspace = ?1 and mode = ?2 and pending + cast(?3 as bigint) <= cast(?5 as bigint)",
        &[Fold::Same, Fold::Same, Fold::Sum, Fold::Least, Fold::Same],
        params![mode, 1, look_at, limit],
        Some(must),
    )?;
    Ok(true)
}

/// Pending nudges that a transaction adds to one queue.
#[derive(Debug, Clone)]
pub struct QueueAddition {
    pub workspace: Tenant,
    pub mode: Mode,
    /// The number of pending nudges that this transaction has read ([`pending_in`]).
    pub before: Option<i64>,
    /// How many it adds.
    pub count: i64,
    /// The earliest `look_at` among them.
    pub look_at: Option<Timestamp>,
    /// How many may be pending.
    pub limit: i64,
}

/// Adds nudges to different queues of many workspaces, each within its limit as this transaction has read it. They are
/// counters as in [`admit`], but updated with one statement, which locks their rows in the order of the counters. If
/// one is full by then, the transaction is retried. PostgreSQL only.
pub fn admit_all(tx: &mut Tx<'_>, added: &[QueueAddition]) -> Result<(), DbError> {
    const SQL: &str = "with added as (select r.* from unnest(cast(?1 as text[]), cast(?2 as text[]), cast(?3 as bigint[]), \
        cast(?4 as bigint[]), cast(?5 as bigint[])) as r (workspace, mode, count, look_at, most)), \
        held as (select q.workspace, q.mode from nudge_queues q join added on q.workspace = added.workspace and q.mode = added.mode \
        order by q.workspace, q.mode desc for no key update of q), \
        done as (update nudge_queues q set pending = q.pending + added.count, version = q.version + 1, \
        next_look = least(q.next_look, added.look_at) from held join added on added.workspace = held.workspace and added.mode = held.mode \
        where q.workspace = held.workspace and q.mode = held.mode and q.pending + added.count <= added.most returning 1) \
        select 1 / (count(*) = cardinality(?1))::int from done";
    let Some(first) = added.iter().map(|queue| counter(queue.workspace, queue.mode)).min() else {
        return Ok(());
    };
    for queue in added.iter().filter(|queue| queue.before.is_none()) {
        open(&mut tx.of(queue.workspace), queue.mode)?;
    }
    let list = |of: fn(&QueueAddition) -> Value<'static>| Value::Many(added.iter().map(of).collect());
    let values = [
        list(|queue| queue.workspace.into()),
        list(|queue| queue.mode.into()),
        list(|queue| queue.count.into()),
        list(|queue| queue.look_at.into()),
        list(|queue| queue.limit.into()),
    ];
    tx.count_checked(first, SQL, &values, DbError::Retry("a queue of nudges has filled up".into()))
}

/// Counts a pending nudge, unless there are `limit` of them, and creates the queue if it is missing. Returns whether it
/// was counted.
pub fn touch_within(
    tx: &mut TenantTx,
    mode: Mode,
    look_at: Option<Timestamp>,
    limit: i64,
) -> Result<bool, DbError> {
    let tenant = tx.tenant();
    let add = |tx: &mut Tx<'_>| {
        tx.exec(
            "update nudge_queues set pending = pending + 1, version = version + 1, next_look = case when cast(?3 as bigint) is null then next_look \
             when next_look is null or next_look > cast(?3 as bigint) then cast(?3 as bigint) else next_look end \
             where workspace = ?1 and mode = ?2 and pending < cast(?4 as bigint)",
            params![tenant, mode, look_at, limit],
        )
    };
    if add(tx)? > 0 {
        return Ok(true);
    }
    // A concurrent request may have created it, so this may change nothing.
    open(tx, mode)?;
    Ok(add(tx)? > 0)
}

/// Across workspaces: due queues, the least recently served first. With `lines`, also those with nudges that wait for a
/// line. On PostgreSQL it locks their dials, and skips those that another node has locked ([`crate::dial_locks`]).
pub fn due_queues(tx: &mut Tx<'_>, now: Timestamp, lines: bool, limit: i64) -> Result<Vec<Queue>, DbError> {
    const OPENING: &str = "nudge_queues q join (select workspace, mode from nudge_queues where next_look is not null and next_look <= ?1";
    const LINES: &str = " union select workspace, mode from nudge_queues where without_line > 0";
    const END: &str =
        ") due on due.workspace = q.workspace and due.mode = q.mode order by q.served, q.workspace, q.mode";
    const SELECT: &str = formatcp!("select {} from", Queue::COLUMNS);
    const DUE: &str = formatcp!("{SELECT} {OPENING}{END} limit ?2");
    const DUE_OR_WITHOUT_LINE: &str = formatcp!("{SELECT} {OPENING}{LINES}{END} limit ?2");
    // The inner query is sorted before the outer one tries the locks, row by row, until it has enough.
    const INNER: &str = "select q.workspace, q.mode, q.next_look, q.without_line, q.version from";
    const TURNS: &str = formatcp!(" offset 0) q where {TRY_LOCK} limit ?2");
    const FREE: &str = formatcp!("{SELECT} ({INNER} {OPENING}{END}{TURNS}");
    const FREE_OR_WITHOUT_LINE: &str = formatcp!("{SELECT} ({INNER} {OPENING}{LINES}{END}{TURNS}");
    let sql = match (tx.shared(), lines) {
        (false, false) => DUE,
        (false, true) => DUE_OR_WITHOUT_LINE,
        (true, false) => FREE,
        (true, true) => FREE_OR_WITHOUT_LINE,
    };
    tx.all(sql, params![now, limit])
}

/// Across workspaces: how many queues have nudges that wait for a line.
pub(crate) const WAITING: &str = "select count(*) from nudge_queues where without_line > 0";

/// Ends the dialler's round for a queue: applies its changes, puts it last in the round-robin, and moves `next_look`
/// forward if no other transaction touched it.
pub fn serve(tx: &mut Tx<'_>, queue: &Queue, change: Change) -> Result<(), DbError> {
    tx.count(
        counter(queue.workspace, queue.mode),
        formatcp!(
            "update nudge_queues set {APPLY}, served = (select max(served) from nudge_queues) + 1, next_look = case \
             when version = cast(?6 as bigint) then (select min(look_at) from nudges where workspace = ?1 and mode = ?2 and look_at is not null) \
             when cast(?5 as bigint) is null then next_look when next_look is null or next_look > cast(?5 as bigint) then cast(?5 as bigint) \
             else next_look end where workspace = ?1 and mode = ?2"
        ),
        params![queue.workspace, queue.mode, change.pending, change.without_line, change.look_at, queue.version],
        None,
    )
}

/// Across workspaces: when the next queue is due.
pub(crate) const NEXT_LOOK: &str = "select min(next_look) from nudge_queues where next_look is not null";
/// Across workspaces: whether nudges of revoked keys wait to be cancelled.
pub(crate) const REVOKED: &str = "select count(*) from (select 1 from nudge_revocations limit 1) r";

row! {
    /// A revoked key with nudges that still wait to be cancelled.
    #[derive(Debug, Clone, Copy)]
    pub struct Revocation {
        key: Id<ApiKey> as "api_key",
        workspace: Tenant,
    }
}

/// Notes that nudges of a key wait to be cancelled.
pub fn add_revocation(tx: &mut TenantTx, key: Id<ApiKey>) -> Result<(), DbError> {
    tx.later(
        "insert into nudge_revocations (workspace, api_key) values (?1, ?2) on conflict (api_key) do nothing",
        params![key],
    )
}

/// Across workspaces: revoked keys whose nudges wait to be cancelled.
pub fn revocations(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Revocation>, DbError> {
    const SQL: &str =
        formatcp!("select {} from nudge_revocations order by api_key limit ?1", Revocation::COLUMNS);
    tx.all(SQL, params![limit])
}

/// All nudges of a key are cancelled.
pub fn end_revocation(tx: &mut TenantTx, key: Id<ApiKey>) -> Result<(), DbError> {
    tx.later("delete from nudge_revocations where workspace = ?1 and api_key = ?2", params![key])
}

//! Live calls packed by hour, for metrics over many of them (`domain::analytics`). A change of a live call marks its
//! hour stale in the same transaction; a packed body is stored only if nothing changed since it was read.
//!
//! Changes are counted in rows of their own. Calls of one hour often end at the same time, and a single counter row
//! would be locked by each until its commit; so on PostgreSQL each transaction increments one of [`SHARDS`] rows, right
//! before its commit.

use const_format::formatcp;
use domain::analytics::{CallClass, CallFact, hour_of, start_of};
use domain::call::Direction;
use domain::call::Status;
use domain::ids::{Call, Contact, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{Counter, DbError, Fold, TenantTx, Tx, any_of};
use crate::params;

/// Rows that the changes of an hour are counted in, on PostgreSQL.
const SHARDS: u128 = 64;

row! {
    /// An hour of a workspace.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct HourRow {
        workspace: Tenant,
        /// The hour, of India time.
        hour: i64,
        /// How often it was packed.
        built: i64,
        /// Changes since it was packed last.
        changes: i64,
    }
}

/// Marks the hour of a live call stale. `changed_at` is the latest timestamp of the call.
pub(crate) fn touch(
    tx: &mut TenantTx,
    call: Id<Call>,
    started_at: Timestamp,
    changed_at: Timestamp,
) -> Result<(), DbError> {
    let shard = if tx.shared() { shard(tx, call) } else { 0 };
    let hour = hour_of(started_at);
    tx.tally(
        Counter::Hour(tx.tenant().bits(), hour, shard),
        "insert into call_hour_changes (workspace, hour, shard, changes, changed_at) values (?1, ?2, ?3, ?5, ?4) \
         on conflict (workspace, hour, shard) do update set changes = call_hour_changes.changes + excluded.changes, \
         changed_at = excluded.changed_at",
        &[Fold::Same, Fold::Same, Fold::Same, Fold::Most, Fold::Sum],
        params![hour, shard, changed_at, 1],
        None,
    )
}

/// The row in which this transaction counts: the same for all calls that it changes, so that each hour is one statement.
fn shard(tx: &mut Tx<'_>, call: Id<Call>) -> i64 {
    const HELD: &str = "row of hours";
    match tx.cached_ref::<i64>(HELD) {
        Some(shard) => *shard,
        None => {
            let shard = (call.bits() % SHARDS) as i64;
            tx.cache_row(HELD.to_owned(), shard);
            shard
        }
    }
}

/// The hours of a workspace in which calls began, in order.
pub fn hours(tx: &mut TenantTx, first: i64, last: i64) -> Result<Vec<i64>, DbError> {
    let sql = "select hour from call_hours where workspace = ?1 and hour >= ?2 and hour <= ?3 \
               union select hour from call_hour_changes where workspace = ?1 and hour >= ?2 and hour <= ?3 order by 1";
    tx.all(sql, params![first, last])
}

/// Calls `visit` with the hours from `first` to `last` in their order, each with its body, or without one
/// when that is stale.
pub fn packed(
    tx: &mut TenantTx,
    first: i64,
    last: i64,
    mut visit: impl FnMut(HourRow, Option<Vec<u8>>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let tenant = tx.tenant();
    let sql = "with changed as (
            select hour, cast(sum(changes) as bigint) as changes from call_hour_changes
            where workspace = ?1 and hour >= ?2 and hour <= ?3 group by hour
        )
        select h.hour, h.built, coalesce(c.changes, 0), case when c.hour is null then h.body end
            from call_hours h left join changed c on c.hour = h.hour
            where h.workspace = ?1 and h.hour >= ?2 and h.hour <= ?3
        union all select c.hour, 0, c.changes, null from changed c
            where not exists (select 1 from call_hours h where h.workspace = ?1 and h.hour = c.hour)
        order by 1";
    tx.each(sql, params![first, last], |(hour, built, changes, body)| {
        visit(HourRow { workspace: tenant, hour, built, changes }, body)
    })
}

/// The live calls of an hour, in the order of their beginning.
pub fn facts(tx: &mut TenantTx, hour: i64) -> Result<Vec<CallFact>, DbError> {
    let bound = |hour: i64| Id::<Call>::new(start_of(hour).0, 0).to_string();
    const SQL: &str = formatcp!(
        "select {} from calls where workspace = ?1 and mode = 'live' and id >= ?2 and id < ?3 order by id",
        FactRow::COLUMNS
    );
    let found: Vec<FactRow> = tx.all(SQL, params![bound(hour), bound(hour + 1)])?;
    Ok(found.into_iter().filter_map(FactRow::fact).collect())
}

row! {
    /// The columns of a call that metrics use.
    struct FactRow {
        /// How far it has got.
        status: Status,
        /// `outbound` or `inbound`.
        direction: Direction,
        started_at: Timestamp,
        ended_at: Option<Timestamp>,
        /// Answer to end, milliseconds.
        talk_ms: Option<i64>,
        /// When it was answered.
        answered_at: Option<Timestamp>,
        contact: Option<Id<Contact>>,
        agent: Option<String>,
        /// The campaign that dialled it.
        campaign: Option<String>,
        /// The agent's disposition.
        outcome: Option<String>,
        end_cause: Option<String>,
        language: Option<String>,
        /// The sentiment that the analysis found.
        sentiment: Option<String>,
    }
}

impl FactRow {
    fn fact(self) -> Option<CallFact> {
        let inbound = self.direction == Direction::Inbound;
        let standing = match self.status {
            // Not dialled yet.
            Status::Queued => return None,
            Status::Blocked if inbound => CallClass::Declined,
            Status::Blocked if self.campaign.is_some() => CallClass::Blocked,
            // A placement that was refused to its caller.
            Status::Blocked => return None,
            _ => CallClass::Dialled,
        };
        let answered = self.answered_at.is_some();
        Some(CallFact {
            standing,
            start: self.started_at,
            end: self.ended_at,
            talk_ms: self.talk_ms.filter(|_| answered),
            answered,
            inbound,
            person: self.contact.map(|contact| (contact.bits() ^ (contact.bits() >> 64)) as u64),
            agent: self.agent,
            campaign: self.campaign,
            outcome: self.outcome,
            cause: self.end_cause,
            language: self.language,
            sentiment: self.sentiment,
        })
    }
}

/// Stores the body of an hour, unless the hour has changed since it was read. Returns whether it was stored.
pub fn keep(tx: &mut Tx<'_>, row: HourRow, body: &[u8]) -> Result<bool, DbError> {
    let seen: Vec<(i64, i64)> = tx.all(
        "select shard, changes from call_hour_changes where workspace = ?1 and hour = ?2 order by shard /*pg for update*/",
        params![row.workspace, row.hour],
    )?;
    let built: Option<i64> = tx.one(
        "select built from call_hours where workspace = ?1 and hour = ?2",
        params![row.workspace, row.hour],
    )?;
    // Another node may have packed it meanwhile, and as many changes may have come since.
    let changes: i64 = seen.iter().map(|(_, changes)| changes).sum();
    if changes != row.changes || built.unwrap_or(0) != row.built {
        return Ok(false);
    }
    // Only the counter rows that were read: a call may increment another one concurrently.
    let mut values = params![row.workspace, row.hour].to_vec();
    let shards = any_of(&mut values, seen.into_iter().map(|(shard, _)| shard.into()));
    tx.later(
        &format!("delete from call_hour_changes where workspace = ?1 and hour = ?2 and shard in {shards}"),
        &values,
    )?;
    tx.later(
        "insert into call_hours (workspace, hour, built, body) values (?1, ?2, ?3, ?4) \
         on conflict (workspace, hour) do update set built = excluded.built, body = excluded.body",
        params![row.workspace, row.hour, row.built + 1, body],
    )?;
    Ok(true)
}

/// Across workspaces: stale hours that have not changed since `quiet_since`, those that wait longest first.
pub fn to_build(tx: &mut Tx<'_>, quiet_since: Timestamp, limit: i64) -> Result<Vec<HourRow>, DbError> {
    let sql = "select c.workspace, c.hour, coalesce(h.built, 0), c.changes from (
            select workspace, hour, cast(sum(changes) as bigint) as changes, max(changed_at) as changed_at
            from call_hour_changes group by workspace, hour having max(changed_at) <= ?1 order by 4 limit ?2
        ) c left join call_hours h on h.workspace = c.workspace and h.hour = c.hour order by c.changed_at";
    tx.all(sql, params![quiet_since, limit])
}

/// Across workspaces: when the stale hour that waits longest was last changed.
pub fn oldest_change(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let sql = "select min(changed_at) from (
            select max(changed_at) as changed_at from call_hour_changes group by workspace, hour
        ) as hours";
    Ok(tx.one(sql, &[])?.flatten())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::ids::Id;

    use super::*;
    use crate::db::{Settings, Store};

    /// A body that was read before another node packed the hour is not stored, even after as many changes since.
    #[test]
    fn a_body_is_kept_only_if_nothing_changed_since_it_was_read() {
        let file = std::env::temp_dir().join(format!("dastak-hours-{}.db", std::process::id()));
        let store = Store::open(&Settings::Sqlite { file: file.clone() }, Arc::new(|_| ())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.migrate(|_, _, _| ())).unwrap();
        let (tenant, at): (Tenant, _) = (Id::new(1, 1), Timestamp(7_200_000));
        let stale = move |tx: &mut Tx<'_>| touch(&mut tx.of(tenant), Id::new(1, 5), at, at);
        let read = move |tx: &mut Tx<'_>| {
            let mut found = Vec::new();
            packed(&mut tx.of(tenant), i64::MIN, i64::MAX, |row, body| {
                found.push((row, body));
                Ok(())
            })?;
            Ok::<_, DbError>(found)
        };
        let run = |work: fn(&mut Tx<'_>, HourRow) -> Result<bool, DbError>, row| {
            runtime.block_on(store.tx(move |tx| work(tx, row))).unwrap()
        };
        runtime.block_on(store.tx(stale)).unwrap();
        let first = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(first, [(HourRow { workspace: tenant, hour: hour_of(at), built: 0, changes: 1 }, None)]);
        assert!(run(|tx, row| keep(tx, row, b"one"), first[0].0));
        let packed = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(packed[0].1.as_deref(), Some(&b"one"[..]));
        assert_eq!(runtime.block_on(store.read(oldest_change)).unwrap(), None);
        runtime.block_on(store.tx(stale)).unwrap();
        assert!(!run(|tx, row| keep(tx, row, b"late"), first[0].0));
        let again = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(again, [(HourRow { built: 1, ..first[0].0 }, None)]);
        let due = move |tx: &mut Tx<'_>| to_build(tx, at, 10);
        assert_eq!(runtime.block_on(store.read(due)).unwrap(), [again[0].0]);
        drop(store);
        for end in ["db", "db-wal", "db-shm", "lock"] {
            let _ = std::fs::remove_file(file.with_extension(end));
        }
    }
}

//! Live calls packed by hour, for metrics over many of them (`domain::analytics`). A change of a live call marks its
//! hour stale in the same transaction; a packed body is stored only if nothing changed since it was read.
//!
//! Changes are counted in rows of their own. Calls of one hour often end at the same time, and a single counter row
//! would be locked by each until its commit; so on PostgreSQL each transaction increments one of [`SHARDS`] rows, right
//! before its commit.

use std::collections::HashMap;

use const_format::formatcp;
use domain::analytics::{CallClass, CallDetails, CallFact, hour_of, start_of};
use domain::call::{Direction, Status, TurnLatency};
use domain::ids::{Call, Contact, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde::Deserialize;

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

/// The packed calls of an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedHour {
    /// What [`domain::analytics::pack`] makes.
    pub body: Vec<u8>,
    /// What [`domain::analytics::pack_details`] makes.
    pub details: Vec<u8>,
}

impl PackedHour {
    /// The hour as it is stored; `None` unless its details belong to its body. A node of the version before replaces the
    /// body only.
    fn stored(built: i64, body: Option<Vec<u8>>, details: Option<Vec<u8>>) -> Option<Self> {
        let (body, details) = (body?, details?);
        let (of, details) = details.split_first_chunk::<8>()?;
        (i64::from_le_bytes(*of) == built).then(|| Self { body, details: details.to_vec() })
    }
}

/// Calls `visit` with the hours from `first` to `last` in their order, each with its calls, or without them when they are
/// stale. The primary key serves it.
pub fn packed(
    tx: &mut TenantTx,
    first: i64,
    last: i64,
    mut visit: impl FnMut(HourRow, Option<PackedHour>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let tenant = tx.tenant();
    let sql = "with changed as (
            select hour, cast(sum(changes) as bigint) as changes from call_hour_changes
            where workspace = ?1 and hour >= ?2 and hour <= ?3 group by hour
        )
        select h.hour, h.built, coalesce(c.changes, 0), case when c.hour is null then h.body end,
            case when c.hour is null then h.details end
            from call_hours h left join changed c on c.hour = h.hour
            where h.workspace = ?1 and h.hour >= ?2 and h.hour <= ?3
        union all select c.hour, 0, c.changes, null, null from changed c
            where not exists (select 1 from call_hours h where h.workspace = ?1 and h.hour = c.hour)
        order by 1";
    tx.each(sql, params![first, last], |(hour, built, changes, body, details)| {
        visit(HourRow { workspace: tenant, hour, built, changes }, PackedHour::stored(built, body, details))
    })
}

/// The live calls of an hour, in the order of their beginning: those that reports count, and all that a list shows. The
/// index `calls_newest` serves it, and that of the references of charges.
pub fn facts(tx: &mut TenantTx, hour: i64) -> Result<(Vec<CallFact>, Vec<CallDetails>), DbError> {
    let bound = |hour: i64| Id::<Call>::new(start_of(hour).0, 0).to_string();
    const SQL: &str = formatcp!(
        "select {} from calls where workspace = ?1 and mode = 'live' and id >= ?2 and id < ?3 order by id",
        FactRow::COLUMNS
    );
    // SQLite has to find the predicate of the index word for word.
    const CHARGES: &str = "select reference, -amount from wallet_entries where workspace = ?1 and kind = 'call_charge' \
                           and kind in ('call_charge', 'chat_charge') and reference >= ?2 and reference < ?3";
    let between = params![bound(hour), bound(hour + 1)];
    let mut charged: HashMap<Id<Call>, i64> = HashMap::new();
    for (reference, amount) in tx.all::<(String, i64)>(CHARGES, between)? {
        // A second leg is the call's id with more after it.
        if let Ok(call) = reference.split(':').next().unwrap_or_default().parse() {
            *charged.entry(call).or_default() += amount;
        }
    }
    let found: Vec<FactRow> = tx.all(SQL, between)?;
    let details = found.iter().filter_map(|row| row.details(charged.get(&row.id).copied())).collect();
    Ok((found.into_iter().filter_map(FactRow::fact).collect(), details))
}

row! {
    /// The columns of a call that metrics use.
    struct FactRow {
        id: Id<Call>,
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
        /// List of [`TurnLatency`].
        latency: Option<String>,
        /// A [`domain::call::TurnDetails`].
        turn_details: Option<String>,
    }
}

/// The part of [`domain::call::TurnDetails`] that reports use.
#[derive(Default, Deserialize)]
struct NamedProviders {
    #[serde(default)]
    providers: domain::call::CallProviders,
}

impl FactRow {
    fn class(&self) -> Option<CallClass> {
        match self.status {
            // Not dialled yet.
            Status::Queued => None,
            Status::Blocked if self.direction == Direction::Inbound => Some(CallClass::Declined),
            Status::Blocked if self.campaign.is_some() => Some(CallClass::Blocked),
            // A placement that was refused to its caller.
            Status::Blocked => None,
            _ => Some(CallClass::Dialled),
        }
    }

    /// `None` for a call that no list shows.
    fn details(&self, charged: Option<i64>) -> Option<CallDetails> {
        if self.status == Status::Queued {
            return None;
        }
        let latency = self.latency.as_deref().map(serde_json::from_str::<Vec<TurnLatency>>);
        let reactions = latency.and_then(Result::ok).unwrap_or_default();
        let named = self.turn_details.as_deref().map(serde_json::from_str::<NamedProviders>);
        let providers = named.and_then(Result::ok).unwrap_or_default().providers;
        Some(CallDetails {
            start: self.started_at,
            status: self.status,
            direction: self.direction,
            counted: self.class() == Some(CallClass::Dialled),
            answered: self.answered_at.is_some(),
            agent: self.agent.clone(),
            campaign: self.campaign.clone(),
            outcome: self.outcome.clone(),
            cause: self.end_cause.clone(),
            providers: [providers.recognition, providers.model, providers.synthesis],
            charged: charged.unwrap_or(0),
            reactions: reactions.iter().filter_map(|turn| turn.first_packet_ms).collect(),
        })
    }

    fn fact(self) -> Option<CallFact> {
        let standing = self.class()?;
        let inbound = self.direction == Direction::Inbound;
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

/// Stores the calls of an hour, unless the hour has changed since it was read. Returns whether they were stored.
pub fn keep(tx: &mut Tx<'_>, row: HourRow, packed: &PackedHour) -> Result<bool, DbError> {
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
    if !seen.is_empty() {
        let mut values = params![row.workspace, row.hour].to_vec();
        let shards = any_of(&mut values, seen.into_iter().map(|(shard, _)| shard.into()));
        tx.later(
            &format!(
                "delete from call_hour_changes where workspace = ?1 and hour = ?2 and shard in {shards}"
            ),
            &values,
        )?;
    }
    let built = row.built + 1;
    let details = [&built.to_le_bytes()[..], &packed.details].concat();
    tx.later(
        "insert into call_hours (workspace, hour, built, body, details) values (?1, ?2, ?3, ?4, ?5) \
         on conflict (workspace, hour) do update set built = excluded.built, body = excluded.body, details = excluded.details",
        params![row.workspace, row.hour, built, &packed.body, &details],
    )?;
    Ok(true)
}

/// Across workspaces: stale hours that have not changed since `quiet_since`, those that wait longest first; then hours
/// whose details are missing, which a node of the version before has packed (the index `call_hours_without_details`).
pub fn to_build(tx: &mut Tx<'_>, quiet_since: Timestamp, limit: i64) -> Result<Vec<HourRow>, DbError> {
    const WITHOUT: &str = "select h.workspace, h.hour, h.built, cast(0 as bigint) from call_hours h where h.details is null \
        and not exists (select 1 from call_hour_changes c where c.workspace = h.workspace and c.hour = h.hour) \
        order by h.workspace, h.hour limit ?1";
    let sql = "select c.workspace, c.hour, coalesce(h.built, 0), c.changes from (
            select workspace, hour, cast(sum(changes) as bigint) as changes, max(changed_at) as changed_at
            from call_hour_changes group by workspace, hour having max(changed_at) <= ?1 order by 4 limit ?2
        ) c left join call_hours h on h.workspace = c.workspace and h.hour = c.hour order by c.changed_at";
    let mut found: Vec<HourRow> = tx.all(sql, params![quiet_since, limit])?;
    let left = limit - found.len() as i64;
    if left > 0 {
        found.extend(tx.all::<HourRow>(WITHOUT, params![left])?);
    }
    Ok(found)
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
        fn hour(body: &[u8]) -> PackedHour {
            PackedHour { body: body.to_vec(), details: b"more".to_vec() }
        }
        let run = |work: fn(&mut Tx<'_>, HourRow) -> Result<bool, DbError>, row| {
            runtime.block_on(store.tx(move |tx| work(tx, row))).unwrap()
        };
        runtime.block_on(store.tx(stale)).unwrap();
        let first = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(first, [(HourRow { workspace: tenant, hour: hour_of(at), built: 0, changes: 1 }, None)]);
        assert!(run(|tx, row| keep(tx, row, &hour(b"one")), first[0].0));
        let packed = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(packed[0].1, Some(hour(b"one")));
        assert_eq!(runtime.block_on(store.read(oldest_change)).unwrap(), None);
        runtime.block_on(store.tx(stale)).unwrap();
        assert!(!run(|tx, row| keep(tx, row, &hour(b"late")), first[0].0));
        let again = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(again, [(HourRow { built: 1, ..first[0].0 }, None)]);
        let due = move |tx: &mut Tx<'_>| to_build(tx, at, 10);
        assert_eq!(runtime.block_on(store.read(due)).unwrap(), [again[0].0]);
        // What a node of the version before packs has no details, or those of another body: it is packed again.
        assert!(run(|tx, row| keep(tx, row, &hour(b"two")), again[0].0));
        let older = "update call_hours set built = built + 1, body = ?1";
        let write = move |tx: &mut Tx<'_>| tx.exec(older, params![&b"old"[..]]);
        runtime.block_on(store.tx(write)).unwrap();
        let found = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(found, [(HourRow { built: 3, changes: 0, ..first[0].0 }, None)]);
        assert!(runtime.block_on(store.read(due)).unwrap().is_empty());
        let bare = |tx: &mut Tx<'_>| tx.exec("update call_hours set details = null", &[]);
        runtime.block_on(store.tx(bare)).unwrap();
        assert_eq!(runtime.block_on(store.read(due)).unwrap(), [found[0].0]);
        assert!(run(|tx, row| keep(tx, row, &hour(b"new")), found[0].0));
        assert_eq!(runtime.block_on(store.read(read)).unwrap()[0].1, Some(hour(b"new")));
        drop(store);
        for end in ["db", "db-wal", "db-shm", "lock"] {
            let _ = std::fs::remove_file(file.with_extension(end));
        }
    }
}

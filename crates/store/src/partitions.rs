//! Tables that are partitioned by week on PostgreSQL, because their rows expire by age: a partition is dropped as a whole,
//! not row by row (docs/operating/many-nodes.md#tables-that-grow).
//!
//! A week begins on Monday at 00:00 UTC. Ids are ordered by time, so a week is a range of ids. Rows of a week without a
//! partition land in the default partition `…_rest`, so that an insert never fails. On SQLite a table is not partitioned,
//! and expired rows are deleted.

use std::ops::Range;

use domain::ids::{Delivery, Event, Id};
use domain::time::{DAY, Timestamp};

use crate::db::{DbError, Store, Tx};
use crate::params;

/// A week, milliseconds.
pub const WEEK: i64 = 7 * DAY;
/// Weeks whose partitions are created in advance: the job may be down for so long.
pub const AHEAD: i64 = 4;

/// Timeout of a lock on a partition, behind which other transactions queue.
const LOCK: &str = "set local lock_timeout = '300ms'";

/// A table that is partitioned by week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionedTable {
    /// The log of webhooks.
    Deliveries,
    Events,
}

impl PartitionedTable {
    /// All of them. The log comes first, so that no entry outlives its payload.
    pub const ALL: [Self; 2] = [Self::Deliveries, Self::Events];

    pub fn table(self) -> &'static str {
        match self {
            Self::Deliveries => "deliveries",
            Self::Events => "events",
        }
    }

    /// The least id of a timestamp: lower ids are older.
    pub fn bound(self, at: Timestamp) -> String {
        match self {
            Self::Deliveries => Id::<Delivery>::new(at.0, 0).to_string(),
            Self::Events => Id::<Event>::new(at.0, 0).to_string(),
        }
    }

    /// The timestamp of an id.
    pub(crate) fn moment(self, id: &str) -> Option<Timestamp> {
        let moment = match self {
            Self::Deliveries => id.parse::<Id<Delivery>>().ok()?.unix_ms(),
            Self::Events => id.parse::<Id<Event>>().ok()?.unix_ms(),
        };
        Some(Timestamp(moment))
    }
}

/// The beginning of the week of a timestamp.
pub fn week_of(at: Timestamp) -> Timestamp {
    // 1970 began on a Thursday.
    const MONDAY: i64 = -3 * DAY;
    Timestamp((at.0 - MONDAY).div_euclid(WEEK) * WEEK + MONDAY)
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Its table name, quoted for SQL.
    pub name: String,
    /// The time range of its rows; `None` for the default partition.
    pub span: Option<Range<Timestamp>>,
}

impl Partition {
    fn overlaps(&self, from: Timestamp, to: Timestamp) -> bool {
        self.span.as_ref().is_some_and(|span| span.start < to && from < span.end)
    }

    /// Whether it is one week, which is dropped as a whole. The default partition is not, nor is the table from before the
    /// partitioning, which may have rows of several weeks.
    fn is_week(&self) -> bool {
        self.span.as_ref().is_some_and(|span| span.start.plus(WEEK) == span.end)
    }

    /// Whether all its rows are older than this.
    fn is_over(&self, before: Timestamp) -> bool {
        self.span.as_ref().is_some_and(|span| span.end <= before)
    }
}

/// Parses the bounds of a partition as the server prints them.
fn span(table: PartitionedTable, text: &str) -> Option<Option<Range<Timestamp>>> {
    if text == "DEFAULT" {
        return Some(None);
    }
    let (from, to) = text.strip_prefix("FOR VALUES FROM (")?.strip_suffix(')')?.split_once(") TO (")?;
    let side = |text: &str| match text {
        "MINVALUE" => Some(Timestamp(i64::MIN)),
        "MAXVALUE" => Some(Timestamp(i64::MAX)),
        id => table.moment(id.trim_matches('\'')),
    };
    Some(Some(side(from)?..side(to)?))
}

/// Across workspaces: the partitions of a table, oldest first and the default one last. PostgreSQL only.
pub fn list(tx: &mut Tx<'_>, table: PartitionedTable) -> Result<Vec<Partition>, DbError> {
    let found: Vec<(String, Option<String>)> = tx.all(
        "select cast(c.oid::regclass as text), pg_get_expr(c.relpartbound, c.oid) from pg_inherits i \
         join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass(?1)",
        params![table.table()],
    )?;
    let mut partitions = Vec::with_capacity(found.len());
    for (name, bounds) in found {
        // Another node dropped it since the statement began.
        let Some(bounds) = bounds else { continue };
        let span = span(table, &bounds)
            .ok_or_else(|| DbError::Internal(format!("the bounds of {name}: {bounds}")))?;
        partitions.push(Partition { name, span });
    }
    partitions.sort_by_key(|partition| partition.span.as_ref().map_or(i64::MAX, |span| span.start.0));
    Ok(partitions)
}

/// The beginnings of the coming weeks without a partition.
fn missing(partitions: &[Partition], now: Timestamp) -> Vec<Timestamp> {
    let first = week_of(now);
    (0..=AHEAD)
        .map(|week| first.plus(week * WEEK))
        .filter(|from| !partitions.iter().any(|partition| partition.overlaps(*from, from.plus(WEEK))))
        .collect()
}

/// Across workspaces: warnings about missing partitions of the coming weeks; empty on SQLite.
pub fn warnings(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<String>, DbError> {
    let mut found = Vec::new();
    if !tx.shared() {
        return Ok(found);
    }
    for table in PartitionedTable::ALL {
        let lacking: Vec<String> = missing(&list(tx, table)?, now)
            .into_iter()
            .map(|week| week.to_string()[..10].to_owned())
            .collect();
        if !lacking.is_empty() {
            let table = table.table();
            found.push(format!(
                "the table {table} has no partition for the weeks of {}; their rows land in {table}_rest, which is \
                 cleared row by row",
                lacking.join(", ")
            ));
        }
    }
    Ok(found)
}

/// Across workspaces: the tables whose expired rows are deleted row by row: the whole table on SQLite; on PostgreSQL the
/// partitions that are not one week and not empty.
pub fn swept_by_row(tx: &mut Tx<'_>, table: PartitionedTable) -> Result<Vec<String>, DbError> {
    if !tx.shared() {
        return Ok(vec![table.table().into()]);
    }
    let mut found = Vec::new();
    for partition in list(tx, table)?.into_iter().filter(|partition| !partition.is_week()) {
        if tx.exists(&format!("select 1 from {} limit 1", partition.name), &[])? {
            found.push(partition.name);
        }
    }
    Ok(found)
}

/// Locks the maintenance of partitions against other nodes until the transaction ends, with a short lock timeout.
fn alone(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.exec(LOCK, &[])?;
    let sql = "select 1 from (select pg_advisory_xact_lock(?1)) as locked";
    tx.exists(sql, params![0x7765_656b_i64]).map(|_| ())
}

/// Creates the partition of a week, unless one overlaps it (another node may have created it), or the default partition
/// has rows of the week, which stay there.
fn create(tx: &mut Tx<'_>, table: PartitionedTable, from: Timestamp) -> Result<bool, DbError> {
    alone(tx)?;
    let (to, partitions) = (from.plus(WEEK), list(tx, table)?);
    if partitions.iter().any(|partition| partition.overlaps(from, to)) {
        return Ok(false);
    }
    if let Some(rest) = partitions.iter().find(|partition| partition.span.is_none()) {
        let sql = format!("select 1 from {} where id >= ?1 and id < ?2 limit 1", rest.name);
        if tx.exists(&sql, params![table.bound(from), table.bound(to)])? {
            return Ok(false);
        }
    }
    attach(tx, table, from)?;
    Ok(true)
}

/// Creates the partition of a week and attaches it. The parent is not blocked; the default partition is locked and scanned
/// for rows of this week.
pub(crate) fn attach(tx: &mut Tx<'_>, table: PartitionedTable, from: Timestamp) -> Result<(), DbError> {
    let (parent, day) = (table.table(), from.to_string()[..10].replace('-', ""));
    let (from, to) = (table.bound(from), table.bound(from.plus(WEEK)));
    tx.exec(&format!("create table {parent}_{day} (like {parent} including defaults)"), &[])?;
    let sql = format!(
        "alter table {parent} attach partition {parent}_{day} for values from ('{from}') to ('{to}')"
    );
    tx.exec(&sql, &[]).map(|_| ())
}

/// Drops the oldest partition of a table if all its rows are older than `before`. Returns whether it did so.
fn drop_oldest(tx: &mut Tx<'_>, table: PartitionedTable, before: Timestamp) -> Result<bool, DbError> {
    alone(tx)?;
    let Some(over) = list(tx, table)?.into_iter().find(|partition| partition.is_over(before)) else {
        return Ok(false);
    };
    tx.exec(&format!("drop table {}", over.name), &[])?;
    Ok(true)
}

/// What a round of maintenance did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartitionChanges {
    /// Partitions that were created.
    pub created: u64,
    /// Partitions that were dropped.
    pub dropped: u64,
}

/// Creates the partitions of the coming weeks, and drops those whose rows are all older than `before`, each in a
/// transaction of its own. Does nothing on SQLite.
///
/// # Errors
/// Those of the store: the first one, after all partitions were tried. A locked table (during a dump, for example) is
/// retried by the next round.
pub async fn maintain(store: &Store, now: Timestamp, before: Timestamp) -> Result<PartitionChanges, DbError> {
    let mut changes = PartitionChanges::default();
    if !store.shared() {
        return Ok(changes);
    }
    let mut failed = None;
    for table in PartitionedTable::ALL {
        let partitions = store.read(move |tx| list(tx, table)).await?;
        for from in missing(&partitions, now) {
            match store.tx(move |tx| create(tx, table, from)).await {
                Ok(created) => changes.created += u64::from(created),
                Err(why) => drop(failed.get_or_insert(why)),
            }
        }
        for _ in partitions.iter().filter(|partition| partition.is_over(before)) {
            match store.tx(move |tx| drop_oldest(tx, table, before)).await {
                Ok(dropped) => changes.dropped += u64::from(dropped),
                Err(why) => drop(failed.get_or_insert(why)),
            }
        }
    }
    failed.map_or(Ok(changes), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn weeks_begin_on_monday() {
        for (moment, week) in [
            ("1970-01-01T00:00:00Z", "1969-12-29T00:00:00Z"),
            ("2026-11-22T23:59:59.999Z", "2026-11-16T00:00:00Z"),
            ("2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z"),
            ("2027-01-01T12:00:00Z", "2026-12-28T00:00:00Z"),
        ] {
            assert_eq!(week_of(at(moment)), at(week), "{moment}");
        }
    }

    #[test]
    fn bounds_of_the_server_are_parsed() {
        let (from, to) = (at("2026-11-23T00:00:00Z"), at("2026-11-30T00:00:00Z"));
        let (low, high) = (PartitionedTable::Events.bound(from), PartitionedTable::Events.bound(to));
        let read = |text: &str| span(PartitionedTable::Events, text);
        assert_eq!(read(&format!("FOR VALUES FROM ('{low}') TO ('{high}')")), Some(Some(from..to)));
        assert_eq!(
            read(&format!("FOR VALUES FROM (MINVALUE) TO ('{high}')")),
            Some(Some(Timestamp(i64::MIN)..to))
        );
        assert_eq!(read("DEFAULT"), Some(None));
        assert_eq!(read("FOR VALUES IN ('a')"), None);
        assert_eq!(
            span(PartitionedTable::Deliveries, &format!("FOR VALUES FROM ('{low}') TO ('{high}')")),
            None
        );
    }

    #[test]
    fn weeks_without_a_partition_are_missing() {
        let now = at("2026-11-25T10:00:00Z");
        let partition =
            |from: Timestamp, to: Timestamp| Partition { name: String::new(), span: Some(from..to) };
        let first = week_of(now);
        let rest = Partition { name: String::new(), span: None };
        let all: Vec<Timestamp> = (0..=AHEAD).map(|week| first.plus(week * WEEK)).collect();
        assert_eq!(missing(std::slice::from_ref(&rest), now), all);
        let partitions = [partition(Timestamp(i64::MIN), all[1]), rest, partition(all[2], all[3])];
        assert_eq!(missing(&partitions, now), [all[1], all[3], all[4]]);
        assert!(!partitions[0].is_week() && partitions[2].is_week() && !partitions[1].is_week());
        assert!(
            partitions[0].is_over(all[1])
                && !partitions[0].is_over(all[1].plus(-1))
                && !partitions[1].is_over(all[4])
        );
    }
}

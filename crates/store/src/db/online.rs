//! Online migrations of PostgreSQL: schema changes while all nodes go on reading and writing.
//!
//! The statements of a migration (`online` in `migrate.rs`) are transactions of their own, so that none locks one table
//! while it waits for another, and are idempotent. A statement that waits for a lock fails after a moment and is retried,
//! because all other transactions on the table queue behind it.
//!
//! Two tables become partitioned by week (`crate::partitions`). The old table becomes the partition of everything up to
//! about a week ahead; nothing is copied. Attaching a table scans it under an exclusive lock, unless a check constraint
//! proves the range of its rows. So the constraint is added first, not valid, and then validated under a weak lock. Each
//! step is an idempotent transaction of its own: a node that dies between two of them leaves a working table.

use super::error::DbError;
use super::tx::Tx;
use crate::params;
use crate::partitions::{AHEAD, PartitionedTable, WEEK, attach, week_of};
use domain::time::Timestamp;

/// A step: a transaction of its own.
pub(super) type Step = fn(&mut Tx<'_>) -> Result<(), DbError>;

/// The steps that partition both tables.
pub(super) const PARTITION_TABLES: &[Step] = &[
    |tx| add_constraint(tx, PartitionedTable::Deliveries),
    |tx| validate_constraint(tx, PartitionedTable::Deliveries),
    |tx| swap(tx, PartitionedTable::Deliveries),
    |tx| add_constraint(tx, PartitionedTable::Events),
    |tx| validate_constraint(tx, PartitionedTable::Events),
    |tx| swap(tx, PartitionedTable::Events),
];

/// Timeout of an exclusive lock, behind which other transactions queue. It is longer than the second after which
/// autovacuum yields its lock.
pub(super) const LOCK: &str = "set local lock_timeout = '1500ms'";

/// An idempotent statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// It needs an exclusive lock for a moment.
    Usual(String),
    /// It blocks no other transaction, and must run outside of one.
    Concurrent {
        sql: String,
        /// An index to drop first if an earlier run left it invalid.
        before: Option<String>,
    },
}

impl Part {
    /// Makes a statement of a migration idempotent.
    ///
    /// # Errors
    /// This kind of statement is not supported.
    pub(super) fn of(statement: &str) -> Result<Self, DbError> {
        let sql = statement.lines().filter(|line| !line.trim_start().starts_with("--"));
        let sql = sql.collect::<Vec<_>>().join("\n");
        let sql = sql.trim().trim_end_matches(';');
        let usual = [("create table ", "create table if not exists ")];
        if let Some((from, to)) = usual.into_iter().find(|(from, _)| sql.starts_with(from)) {
            return Ok(Self::Usual(sql.replacen(from, to, 1)));
        }
        if sql.starts_with("alter table ") && sql.matches(" add column ").count() == 1 {
            return Ok(Self::Usual(sql.replacen(" add column ", " add column if not exists ", 1)));
        }
        if let Some(name) = sql.strip_prefix("drop index ") {
            return Ok(Self::Concurrent { sql: drop_index(name), before: None });
        }
        for kind in ["create index ", "create unique index "] {
            if let Some(rest) = sql.strip_prefix(kind) {
                let name = rest.split_whitespace().next().unwrap_or_default();
                let sql = format!("{kind}concurrently if not exists {rest}");
                return Ok(Self::Concurrent { sql, before: Some(name.to_owned()) });
            }
        }
        Err(DbError::Internal(format!("an online migration does not support «{sql}»")))
    }
}

/// Drops an index without blocking other transactions.
pub(super) fn drop_index(name: &str) -> String {
    format!("drop index concurrently if exists {name}")
}

/// Whether an index is invalid, since its creation was interrupted.
pub(super) fn is_broken(tx: &mut Tx<'_>, index: &str) -> Result<bool, DbError> {
    tx.exists("select 1 from pg_index where indexrelid = to_regclass(?1) and not indisvalid", params![index])
}

/// The indexes of a partitioned table. The old table has the same, which become their partitions.
fn indexes(table: PartitionedTable) -> &'static [&'static str] {
    match table {
        PartitionedTable::Deliveries => &[
            "alter table deliveries add primary key (endpoint, id)",
            "create index deliveries_due on deliveries (due_at) where due_at is not null",
            "create index deliveries_waiting on deliveries (endpoint, id) where due_at is null and status = 'pending'",
            "create index deliveries_failed on deliveries (endpoint, id) where status = 'failed'",
            "create index deliveries_of_test on deliveries (workspace, endpoint, id) where mode = 'test'",
        ],
        PartitionedTable::Events => &[
            "alter table events add primary key (workspace, id)",
            "create index events_of_contact on events (workspace, contact, id) where contact is not null",
            "create index events_of_test on events (workspace, id) where mode = 'test'",
            "create index events_of_transfers on events (workspace, id) where type = 'call.transferred'",
        ],
    }
}

fn is_done(tx: &mut Tx<'_>, table: &str) -> Result<bool, DbError> {
    tx.exists("select 1 from pg_class where oid = to_regclass(?1) and relkind = 'p'", params![table])
}

/// Adds the check constraint, not valid: no rows from a moment on that is at least a week ahead.
fn add_constraint(tx: &mut Tx<'_>, table: PartitionedTable) -> Result<(), DbError> {
    let name = table.table();
    if is_done(tx, name)? {
        return Ok(());
    }
    let newest: Option<String> = tx.one(&format!("select max(id) from {name}"), &[])?.flatten();
    let now = now(tx)?;
    let newest = newest.and_then(|id| table.moment(&id)).map_or(now, |newest| newest.max(now));
    let end = table.bound(week_of(newest.plus(WEEK)).plus(WEEK));
    tx.exec(LOCK, &[])?;
    // A constraint of an interrupted run may end in the past.
    tx.exec(&format!("alter table {name} drop constraint if exists {name}_end"), &[])?;
    tx.exec(&format!("alter table {name} add constraint {name}_end check (id < '{end}') not valid"), &[])?;
    Ok(())
}

fn now(tx: &mut Tx<'_>) -> Result<Timestamp, DbError> {
    let now = tx.one("select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)", &[])?;
    now.map(Timestamp).ok_or_else(|| DbError::Internal("the server does not know the time".into()))
}

/// Validates the constraint against all rows while others write.
fn validate_constraint(tx: &mut Tx<'_>, table: PartitionedTable) -> Result<(), DbError> {
    let name = table.table();
    if !is_done(tx, name)? {
        tx.exec(&format!("alter table {name} validate constraint {name}_end"), &[])?;
    }
    Ok(())
}

/// Replaces the table by a partitioned one, with the old table as its first partition.
fn swap(tx: &mut Tx<'_>, table: PartitionedTable) -> Result<(), DbError> {
    let name = table.table();
    if is_done(tx, name)? {
        return Ok(());
    }
    tx.exec(LOCK, &[])?;
    tx.exec(&format!("lock table {name} in access exclusive mode"), &[])?;
    let constraint: Option<String> = tx.one(
        "select pg_get_constraintdef(oid) from pg_constraint where conrelid = to_regclass(?1) and conname = ?1 || '_end' and convalidated",
        params![name],
    )?;
    let end = constraint.as_deref().and_then(|text| text.split('\'').nth(1)).map(str::to_owned);
    let end = end.ok_or_else(|| {
        DbError::Unavailable(format!("{name} lacks its validated check constraint; the step is retried"))
    })?;
    let empty = !tx.exists(&format!("select 1 from {name} limit 1"), &[])?;
    let known: Vec<String> = tx.all(
        "select cast(indexrelid::regclass as text) from pg_index where indrelid = to_regclass(?1)",
        params![name],
    )?;
    for index in known {
        let bare = index.rsplit('.').next().unwrap_or(&index).to_owned();
        tx.exec(&format!("alter index {index} rename to {bare}_before"), &[])?;
    }
    tx.exec(&format!("alter table {name} rename to {name}_before"), &[])?;
    tx.exec(
        &format!("create table {name} (like {name}_before including defaults) partition by range (id)"),
        &[],
    )?;
    for index in indexes(table) {
        tx.exec(index, &[])?;
    }
    let mut week = week_of(now(tx)?);
    let last = week.plus(AHEAD * WEEK);
    if empty {
        tx.exec(&format!("drop table {name}_before"), &[])?;
    } else {
        tx.exec(
            &format!(
                "alter table {name} attach partition {name}_before for values from (minvalue) to ('{end}')"
            ),
            &[],
        )?;
        tx.exec(&format!("alter table {name}_before drop constraint {name}_end"), &[])?;
        week = table.moment(&end).unwrap_or(week);
    }
    tx.exec(&format!("create table {name}_rest partition of {name} default"), &[])?;
    while week <= last {
        attach(tx, table, week)?;
        week = week.plus(WEEK);
    }
    Ok(())
}

//! Changes of the schema of PostgreSQL while everybody goes on reading and writing.
//!
//! The statements of a step (`online` in `migrate.rs`) are transactions of their own, so that none holds one table while it
//! waits for another, and may run again. A statement that has to wait for a lock gives up after a moment and is tried again,
//! because everybody who wants the table meanwhile waits behind it.
//!
//! Two tables become ones that are kept in weeks (`crate::weeks`). The table itself becomes the part for everything up to a
//! moment some days ahead; nothing is copied.
//!
//! Attaching a table looks through all of it under an exclusive lock, unless a constraint proves where its rows lie. So
//! that is made first, unproved, in a moment, and proved under a lock that disturbs nobody. Each step is a transaction of its own and may be
//! repeated: a node that stops between two of them leaves a table that works.

use super::{DbError, Tx};
use crate::params;
use crate::weeks::{AHEAD, WEEK, Weekly, attach, week_of};
use domain::time::Timestamp;

/// A step: a transaction of its own.
pub(super) type Step = fn(&mut Tx<'_>) -> Result<(), DbError>;

/// The steps for both tables.
pub(super) const WEEKS: &[Step] = &[
    |tx| promise(tx, Weekly::Deliveries),
    |tx| prove(tx, Weekly::Deliveries),
    |tx| swap(tx, Weekly::Deliveries),
    |tx| promise(tx, Weekly::Events),
    |tx| prove(tx, Weekly::Events),
    |tx| swap(tx, Weekly::Events),
];

/// Longest wait for an exclusive lock, while others wait behind it. It is longer than the second after which the server
/// lets go of what it cleans up by itself.
pub(super) const LOCK: &str = "set local lock_timeout = '1500ms'";

/// A statement that may run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// It needs a lock for a moment.
    Usual(String),
    /// It lets others work on the table meanwhile, and must not be in a transaction with anything else.
    Concurrent {
        sql: String,
        /// What comes before it: an index that was left half made would count as made.
        before: Option<String>,
    },
}

impl Part {
    /// A statement of a step as one that may run again.
    ///
    /// # Errors
    /// Of this kind of statement it is not known how.
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
        Err(DbError::Internal(format!("it is not known how to repeat «{sql}» while others work")))
    }
}

/// Removes an index while others work on its table.
pub(super) fn drop_index(name: &str) -> String {
    format!("drop index concurrently if exists {name}")
}

/// Whether an index was left half made.
pub(super) fn is_broken(tx: &mut Tx<'_>, index: &str) -> Result<bool, DbError> {
    tx.exists("select 1 from pg_index where indexrelid = to_regclass(?1) and not indisvalid", params![index])
}

/// The indexes of a table. Those that it has are the same, and become parts of these.
fn indexes(table: Weekly) -> &'static [&'static str] {
    match table {
        Weekly::Deliveries => &[
            "alter table deliveries add primary key (endpoint, id)",
            "create index deliveries_due on deliveries (due_at) where due_at is not null",
            "create index deliveries_waiting on deliveries (endpoint, id) where due_at is null and status = 'pending'",
            "create index deliveries_failed on deliveries (endpoint, id) where status = 'failed'",
            "create index deliveries_of_test on deliveries (workspace, endpoint, id) where mode = 'test'",
        ],
        Weekly::Events => &[
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

/// The table promises to hold nothing from a moment on that is a week ahead at least.
fn promise(tx: &mut Tx<'_>, table: Weekly) -> Result<(), DbError> {
    let name = table.table();
    if is_done(tx, name)? {
        return Ok(());
    }
    let newest: Option<String> = tx.one(&format!("select max(id) from {name}"), &[])?.flatten();
    let now = now(tx)?;
    let newest = newest.and_then(|id| table.moment(&id)).map_or(now, |newest| newest.max(now));
    let end = table.bound(week_of(newest.plus(WEEK)).plus(WEEK));
    tx.exec(LOCK, &[])?;
    // One that was left is of the past.
    tx.exec(&format!("alter table {name} drop constraint if exists {name}_end"), &[])?;
    tx.exec(&format!("alter table {name} add constraint {name}_end check (id < '{end}') not valid"), &[])?;
    Ok(())
}

fn now(tx: &mut Tx<'_>) -> Result<Timestamp, DbError> {
    let now = tx.one("select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)", &[])?;
    now.map(Timestamp).ok_or_else(|| DbError::Internal("the server does not know the time".into()))
}

/// The promise is held against all rows, while others write.
fn prove(tx: &mut Tx<'_>, table: Weekly) -> Result<(), DbError> {
    let name = table.table();
    if !is_done(tx, name)? {
        tx.exec(&format!("alter table {name} validate constraint {name}_end"), &[])?;
    }
    Ok(())
}

/// Puts a table of weeks in the place of the table, with that as its first part.
fn swap(tx: &mut Tx<'_>, table: Weekly) -> Result<(), DbError> {
    let name = table.table();
    if is_done(tx, name)? {
        return Ok(());
    }
    tx.exec(LOCK, &[])?;
    tx.exec(&format!("lock table {name} in access exclusive mode"), &[])?;
    let promise: Option<String> = tx.one(
        "select pg_get_constraintdef(oid) from pg_constraint where conrelid = to_regclass(?1) and conname = ?1 || '_end' and convalidated",
        params![name],
    )?;
    let end = promise.as_deref().and_then(|text| text.split('\'').nth(1)).map(str::to_owned);
    let end =
        end.ok_or_else(|| DbError::Unavailable(format!("{name} promises nothing; it is tried again")))?;
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

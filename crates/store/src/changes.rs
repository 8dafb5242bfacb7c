//! What changed in a workspace, in a form that can be resumed: its events, and rows of `changes` for what has none.
//!
//! A [`Position`] divides everything that was committed from everything that was not. On SQLite, with its one writer, that
//! is the newest row of each table. On PostgreSQL ids do not come in the order of their commits, so it is a snapshot: the
//! transactions that had not ended by then, compared with the `xmin` of a row. So a row that is committed late is found,
//! however old its id is.

use std::fmt;
use std::str::FromStr;

use domain::ids::{Event, Id};
use domain::tenant::Mode;
use domain::time::{HOUR, MINUTE, Timestamp};
use domain::topic::Topic;

use crate::db::{DbError, TenantTx, Tx, WakeSet};
use crate::params;

/// Woken by every row of `changes`.
pub const NOTED: WakeSet = WakeSet(1 << 25);

/// How long a row of `changes` is kept, milliseconds.
pub const KEPT: i64 = 2 * HOUR;
/// Age from which a position is not resumed, milliseconds.
pub const RESUMED: i64 = HOUR;
/// Longest time from the making of an id on a node until the server knows the transaction that writes it, milliseconds; the
/// difference of the clocks of two nodes included. The index is searched from so long before the position.
const WINDOW: i64 = MINUTE;
/// Rows of all workspaces on SQLite that are passed over at most.
const MOST_PASSED: i64 = 50_000;

/// A point between what was committed and what was not yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// SQLite: the newest row of `events` and of `changes`.
    Rows { events: i64, changes: i64, at: Timestamp },
    /// PostgreSQL.
    Snapshot(Snapshot),
}

/// A snapshot of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The timeline of the server: another one may have lost commits.
    timeline: u32,
    /// The transactions from this one on had not begun.
    next: i64,
    /// Those before it that had not ended, and the time from which their ids may be.
    open: Vec<(i64, Timestamp)>,
    /// When it was taken.
    at: Timestamp,
}

impl Position {
    /// When it was taken; of one that was read from its text, not later.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Rows { at, .. } => *at,
            Self::Snapshot(snapshot) => snapshot.at,
        }
    }
}

impl Snapshot {
    /// The time from which the ids of rows may be that were not committed yet.
    fn low(&self) -> Timestamp {
        let began = self.at.plus(-WINDOW);
        self.open.iter().map(|(_, low)| *low).min().map_or(began, |low| low.min(began))
    }

    /// The oldest transaction that had not ended.
    fn oldest(&self) -> i64 {
        self.open.iter().map(|(transaction, _)| *transaction).min().unwrap_or(self.next)
    }
}

/// `r<events>.<changes>.<ms>` or `x<timeline>.<oldest open transaction>.<ms>`. Of a snapshot it says less than there is: what
/// was read since its oldest open transaction is read again.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { events, changes, at } => write!(f, "r{events}.{changes}.{}", at.0),
            Self::Snapshot(snapshot) => {
                let at = snapshot.low().plus(WINDOW);
                write!(f, "x{}.{}.{}", snapshot.timeline, snapshot.oldest(), at.0)
            }
        }
    }
}

/// The text is no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoPosition;

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let number = |text: Option<&str>| {
            let text =
                text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())).ok_or(NoPosition)?;
            text.parse::<i64>().map_err(|_| NoPosition)
        };
        let kind = text.get(..1).ok_or(NoPosition)?;
        let mut parts = text[1..].split('.');
        let (first, second, at) = (number(parts.next())?, number(parts.next())?, number(parts.next())?);
        let at = Timestamp(at);
        match (kind, parts.next()) {
            ("r", None) => Ok(Self::Rows { events: first, changes: second, at }),
            ("x", None) => {
                let timeline = u32::try_from(first).map_err(|_| NoPosition)?;
                Ok(Self::Snapshot(Snapshot { timeline, next: second, open: Vec::new(), at }))
            }
            _ => Err(NoPosition),
        }
    }
}

/// A change, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// An event: its type, and its envelope, which an erasure empties.
    Event { kind: String, envelope: Option<String> },
    /// A change without an event: its topic in words, and the object; `None` for a list as a whole.
    Noted { topic: String, object: Option<String> },
}

/// A change with its mode (`None` for both) and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    pub change: Change,
    pub mode: Option<Mode>,
    pub at: Timestamp,
}

/// What was committed after a position, and the position after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    pub rows: Vec<ChangeRow>,
    pub position: Position,
}

/// Writes down a change that has no event, and wakes those who watch. `mode` is `None` when it shows in both modes, `object`
/// when a list as a whole changed. The functions that write rows of configuration do so themselves; `now` is the time of
/// the write, not of the object.
pub fn note(
    tx: &mut TenantTx,
    now: Timestamp,
    mode: Option<Mode>,
    topic: Topic,
    object: Option<&str>,
) -> Result<(), DbError> {
    tx.wake(NOTED);
    tx.add(
        "insert into changes (workspace, mode, topic, object, at) values (?1, ?2, ?3, ?4, ?5)",
        params![mode, topic.as_str(), object, now],
    )
}

const SNAPSHOT: &str = "select cast(cast(pg_snapshot_xmax(q.s) as text) as bigint), \
    coalesce((select string_agg(cast(x as text), ',') from pg_snapshot_xip(q.s) x), ''), \
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) from (select pg_current_snapshot() as s) q";

const NEWEST_ROWS: &str = "select coalesce((select max(rowid) from events), 0), \
    coalesce((select seq from sqlite_sequence where name = 'changes'), 0)";

/// The position of `Snapshot` among the transactions: `xmin` of a row counted from its `next`, as both are known by their
/// last 32 bits only. At or above 0 had not begun.
const BEGUN: &str =
    "(mod(cast(cast(xmin as text) as bigint) - cast(?3 as bigint) + 6442450944, 4294967296) - 2147483648)";

/// Across workspaces: the position now. What a transaction has committed by then is before it, everything else after it.
pub fn current(tx: &mut Tx<'_>, now: Timestamp) -> Result<Position, DbError> {
    if !tx.shared() {
        let (events, changes) = tx.one(NEWEST_ROWS, &[])?.unwrap_or((0, 0));
        return Ok(Position::Rows { events, changes, at: now });
    }
    let (next, open, timeline) = snapshot(tx)?;
    let open = open.into_iter().map(|transaction| (transaction, now.plus(-WINDOW))).collect();
    Ok(Position::Snapshot(Snapshot { timeline, next, open, at: now }))
}

/// The next transaction, those that have not ended, and the timeline of the server.
fn snapshot(tx: &mut Tx<'_>) -> Result<(i64, Vec<i64>, u32), DbError> {
    let unreadable = || DbError::Internal("the server gives no snapshot".into());
    let (next, open, timeline) = tx.one::<(i64, String, String)>(SNAPSHOT, &[])?.ok_or_else(unreadable)?;
    let open: Result<Vec<i64>, _> =
        open.split(',').filter(|text| !text.is_empty()).map(str::parse::<i64>).collect();
    let timeline = u32::from_str_radix(&timeline, 16).map_err(|_| unreadable())?;
    Ok((next, open.map_err(|_| unreadable())?, timeline))
}

/// What a workspace has committed after a position, at most `limit` events and as many other changes. `None` if the
/// position is not one of this store, or there is more: then everything is to be read anew.
///
/// Of SQLite it reads the rows after the position by their number; of PostgreSQL those of the workspace since a minute
/// before it, by `(workspace, id)` of `events` and `(workspace, at)` of `changes`.
pub fn since(
    tx: &mut TenantTx,
    from: &Position,
    now: Timestamp,
    limit: i64,
) -> Result<Option<Changes>, DbError> {
    let most = limit + 1;
    let read = match from {
        Position::Rows { events, changes, .. } if !tx.shared() => {
            rows_since(tx, (*events, *changes), now, most)?
        }
        Position::Snapshot(before) if tx.shared() => snapshot_since(tx, before, now, most)?,
        Position::Rows { .. } | Position::Snapshot(_) => None,
    };
    Ok(read.and_then(|((events, noted), position)| {
        let full = events.len().max(noted.len()) as i64 > limit;
        let rows = events.into_iter().map(event_row).chain(noted.into_iter().map(noted_row)).collect();
        (!full).then_some(Changes { rows, position })
    }))
}

type EventColumns = (String, Mode, Option<String>, Timestamp);
type NotedColumns = (String, Option<String>, Option<Mode>, Timestamp);
type Found = ((Vec<EventColumns>, Vec<NotedColumns>), Position);

fn event_row((kind, mode, envelope, at): EventColumns) -> ChangeRow {
    ChangeRow { change: Change::Event { kind, envelope }, mode: Some(mode), at }
}

fn noted_row((topic, object, mode, at): NotedColumns) -> ChangeRow {
    ChangeRow { change: Change::Noted { topic, object }, mode, at }
}

fn rows_since(
    tx: &mut TenantTx,
    (events, changes): (i64, i64),
    now: Timestamp,
    most: i64,
) -> Result<Option<Found>, DbError> {
    let (newest, newest_change): (i64, i64) = tx.unbound().one(NEWEST_ROWS, &[])?.unwrap_or((0, 0));
    let passed = (newest - events).max(newest_change - changes);
    if newest < events || newest_change < changes || passed > MOST_PASSED {
        return Ok(None);
    }
    let found = tx.all(
        "select type, mode, envelope, created_at from events where +workspace = ?1 and rowid > ?2 and rowid <= ?3 \
         order by rowid limit ?4",
        params![events, newest, most],
    )?;
    let noted = tx.all(
        "select topic, object, mode, at from changes where +workspace = ?1 and seq > ?2 and seq <= ?3 order by seq limit ?4",
        params![changes, newest_change, most],
    )?;
    Ok(Some(((found, noted), Position::Rows { events: newest, changes: newest_change, at: now })))
}

fn snapshot_since(
    tx: &mut TenantTx,
    before: &Snapshot,
    now: Timestamp,
    most: i64,
) -> Result<Option<Found>, DbError> {
    // The snapshot comes first: what is committed after it may be read now, and is read again.
    tx.pipeline_reads(|tx| {
        let _ = snapshot(tx.unbound());
        let _ = since_snapshot(tx, before, most);
    });
    let (next, open, timeline) = snapshot(tx.unbound())?;
    let found = since_snapshot(tx, before, most)?;
    if timeline != before.timeline || next < before.next {
        return Ok(None);
    }
    let began = before.at.plus(-WINDOW);
    let since = |transaction: i64| {
        let known = before.open.iter().find(|(open, _)| *open == transaction);
        known.map_or(began, |(_, low)| *low)
    };
    let open = open.into_iter().map(|transaction| (transaction, since(transaction))).collect();
    Ok(Some((found, Position::Snapshot(Snapshot { timeline, next, open, at: now }))))
}

fn since_snapshot(
    tx: &mut TenantTx,
    before: &Snapshot,
    most: i64,
) -> Result<(Vec<EventColumns>, Vec<NotedColumns>), DbError> {
    const WRAPS: i64 = 1 << 32;
    let next = before.next.rem_euclid(WRAPS);
    let open: Vec<String> =
        before.open.iter().map(|(transaction, _)| (transaction - before.next).to_string()).collect();
    let (low, open) = (before.low(), open.join(","));
    let new = format!("({BEGUN} >= 0 or {BEGUN} = any(cast(string_to_array(?4, ',') as bigint[])))");
    let first = Id::<Event>::new(low.0, 0).to_string();
    let events = tx.all(
        &format!(
            "select type, mode, envelope, created_at from events where workspace = ?1 and id >= ?2 and {new} order by id limit ?5"
        ),
        params![first, next, &open, most],
    )?;
    let noted = tx.all(
        &format!(
            "select topic, object, mode, at from changes where workspace = ?1 and at >= ?2 and {new} order by at, seq limit ?5"
        ),
        params![low, next, &open, most],
    )?;
    Ok((events, noted))
}

/// Across workspaces: drops up to `limit` rows that are older than `before`, by `changes_by_age`; how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from changes where seq in (select seq from changes where at < ?1 order by at limit ?2)",
        params![before, limit],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_its_text() {
        let rows = Position::Rows { events: 17, changes: 0, at: Timestamp(1_763_700_000_000) };
        assert_eq!(rows.to_string().parse(), Ok(rows));
        for text in
            ["", "r", "r1.2", "r1.2.3.4", "r-1.2.3", "x1.2", "y1.2.3", "r1.2.+3", "x4294967296.2.3", "ä1.2.3"]
        {
            assert_eq!(text.parse::<Position>(), Err(NoPosition), "{text}");
        }
    }

    /// What its text loses is read again, and nothing is left out.
    #[test]
    fn the_text_of_a_snapshot_is_not_after_it() {
        let at = Timestamp(1_763_700_000_000);
        let old = at.plus(-10 * MINUTE);
        let snapshot = Snapshot { timeline: 7, next: 90, open: vec![(80, old), (85, at.plus(-WINDOW))], at };
        let Ok(Position::Snapshot(read)) = Position::Snapshot(snapshot.clone()).to_string().parse() else {
            panic!("a snapshot")
        };
        assert_eq!((read.timeline, read.next, read.low()), (7, 80, old));
        assert_eq!(snapshot.low(), old);
    }
}

//! Tables that PostgreSQL keeps in parts, one for each week, because their rows die by age: what is over is dropped with
//! its part, not row by row (docs/operating/many-nodes.md#tables-that-grow).
//!
//! A week begins on Monday at 00:00 UTC. Ids are ordered by time, so a week is a range of ids. Rows of a week that nobody
//! has made land in the part called `…_rest`, so that an insert never fails for want of a part. On SQLite a table is
//! one piece, and is cleared by deletes.

use std::ops::Range;

use domain::ids::{Delivery, Event, Id};
use domain::time::{DAY, Timestamp};

use crate::db::{DbError, Store, Tx};
use crate::params;

/// A week, milliseconds.
pub const WEEK: i64 = 7 * DAY;
/// Weeks that are made before they begin: an installation may stand still for so long.
pub const AHEAD: i64 = 4;

/// Longest wait for a lock of a part. Others that want the table wait behind it.
const LOCK: &str = "set local lock_timeout = '300ms'";

/// A table that is kept in weeks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weekly {
    /// The log of webhooks.
    Deliveries,
    Events,
}

impl Weekly {
    /// All of them. The log comes first, so that no entry outlives its payload.
    pub const ALL: [Self; 2] = [Self::Deliveries, Self::Events];

    pub fn table(self) -> &'static str {
        match self {
            Self::Deliveries => "deliveries",
            Self::Events => "events",
        }
    }

    /// The least id of a moment: those below are older.
    pub fn bound(self, at: Timestamp) -> String {
        match self {
            Self::Deliveries => Id::<Delivery>::new(at.0, 0).to_string(),
            Self::Events => Id::<Event>::new(at.0, 0).to_string(),
        }
    }

    /// The moment of an id.
    pub(crate) fn moment(self, id: &str) -> Option<Timestamp> {
        let moment = match self {
            Self::Deliveries => id.parse::<Id<Delivery>>().ok()?.unix_ms(),
            Self::Events => id.parse::<Id<Event>>().ok()?.unix_ms(),
        };
        Some(Timestamp(moment))
    }
}

/// The beginning of the week that a moment lies in.
pub fn week_of(at: Timestamp) -> Timestamp {
    // 1970 began on a Thursday.
    const MONDAY: i64 = -3 * DAY;
    Timestamp((at.0 - MONDAY).div_euclid(WEEK) * WEEK + MONDAY)
}

/// A part of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name, as statements write it.
    pub name: String,
    /// The moments of its rows; `None` for the rest.
    pub span: Option<Range<Timestamp>>,
}

impl Part {
    fn overlaps(&self, from: Timestamp, to: Timestamp) -> bool {
        self.span.as_ref().is_some_and(|span| span.start < to && from < span.end)
    }

    /// Whether it is one week, which is dropped as a whole. The rest is not, nor is what a table held before it was
    /// kept in weeks, as long as rows of several weeks lie in it.
    fn is_week(&self) -> bool {
        self.span.as_ref().is_some_and(|span| span.start.plus(WEEK) == span.end)
    }

    /// Whether all its rows are older than this.
    fn is_over(&self, before: Timestamp) -> bool {
        self.span.as_ref().is_some_and(|span| span.end <= before)
    }
}

/// What the server says of a part's bounds.
fn span(table: Weekly, text: &str) -> Option<Option<Range<Timestamp>>> {
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

/// Across workspaces: the parts of a table, the oldest first and the rest last. For PostgreSQL only.
pub fn parts(tx: &mut Tx<'_>, table: Weekly) -> Result<Vec<Part>, DbError> {
    let found: Vec<(String, Option<String>)> = tx.all(
        "select cast(c.oid::regclass as text), pg_get_expr(c.relpartbound, c.oid) from pg_inherits i \
         join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass(?1)",
        params![table.table()],
    )?;
    let mut parts = Vec::with_capacity(found.len());
    for (name, bounds) in found {
        // Another node has dropped it since the statement began.
        let Some(bounds) = bounds else { continue };
        let span = span(table, &bounds)
            .ok_or_else(|| DbError::Internal(format!("the bounds of {name}: {bounds}")))?;
        parts.push(Part { name, span });
    }
    parts.sort_by_key(|part| part.span.as_ref().map_or(i64::MAX, |span| span.start.0));
    Ok(parts)
}

/// The beginnings of the weeks from now on that no part holds.
fn missing(parts: &[Part], now: Timestamp) -> Vec<Timestamp> {
    let first = week_of(now);
    (0..=AHEAD)
        .map(|week| first.plus(week * WEEK))
        .filter(|from| !parts.iter().any(|part| part.overlaps(*from, from.plus(WEEK))))
        .collect()
}

/// Across workspaces: what is wrong with the parts of the coming weeks, in words; empty when all is well, and on SQLite.
pub fn warnings(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<String>, DbError> {
    let mut found = Vec::new();
    if !tx.shared() {
        return Ok(found);
    }
    for table in Weekly::ALL {
        let lacking: Vec<String> = missing(&parts(tx, table)?, now)
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

/// Across workspaces: tables whose old rows are deleted one by one: all of it on SQLite; on PostgreSQL the parts that are
/// no week and hold something.
pub fn swept_singly(tx: &mut Tx<'_>, table: Weekly) -> Result<Vec<String>, DbError> {
    if !tx.shared() {
        return Ok(vec![table.table().into()]);
    }
    let mut found = Vec::new();
    for part in parts(tx, table)?.into_iter().filter(|part| !part.is_week()) {
        if tx.exists(&format!("select 1 from {} limit 1", part.name), &[])? {
            found.push(part.name);
        }
    }
    Ok(found)
}

/// Waits for other nodes that are at this work; none is until the transaction ends. Its waits are short.
fn alone(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.exec(LOCK, &[])?;
    let sql = "select 1 from (select pg_advisory_xact_lock(?1)) as locked";
    tx.exists(sql, params![0x7765_656b_i64]).map(|_| ())
}

/// Makes a week, unless a part holds some of it: another node may have made it. A week of which the rest holds rows is not
/// made: they stay there.
fn make(tx: &mut Tx<'_>, table: Weekly, from: Timestamp) -> Result<bool, DbError> {
    alone(tx)?;
    let (to, parts) = (from.plus(WEEK), parts(tx, table)?);
    if parts.iter().any(|part| part.overlaps(from, to)) {
        return Ok(false);
    }
    if let Some(rest) = parts.iter().find(|part| part.span.is_none()) {
        let sql = format!("select 1 from {} where id >= ?1 and id < ?2 limit 1", rest.name);
        if tx.exists(&sql, params![table.bound(from), table.bound(to)])? {
            return Ok(false);
        }
    }
    attach(tx, table, from)?;
    Ok(true)
}

/// Makes the part of a week and attaches it. The parent stays open for everybody; the rest is locked, and is looked
/// through for rows of this week.
pub(crate) fn attach(tx: &mut Tx<'_>, table: Weekly, from: Timestamp) -> Result<(), DbError> {
    let (parent, day) = (table.table(), from.to_string()[..10].replace('-', ""));
    let (from, to) = (table.bound(from), table.bound(from.plus(WEEK)));
    tx.exec(&format!("create table {parent}_{day} (like {parent} including defaults)"), &[])?;
    let sql = format!(
        "alter table {parent} attach partition {parent}_{day} for values from ('{from}') to ('{to}')"
    );
    tx.exec(&sql, &[]).map(|_| ())
}

/// Drops the oldest part of a table if all its rows are older than `before`. Returns whether it did so.
fn drop_oldest(tx: &mut Tx<'_>, table: Weekly, before: Timestamp) -> Result<bool, DbError> {
    alone(tx)?;
    let Some(over) = parts(tx, table)?.into_iter().find(|part| part.is_over(before)) else {
        return Ok(false);
    };
    tx.exec(&format!("drop table {}", over.name), &[])?;
    Ok(true)
}

/// What a round did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// Weeks that were made.
    pub made: u64,
    /// Parts that were dropped.
    pub dropped: u64,
}

/// Makes the parts of the coming weeks, and drops those whose rows are all older than `before`, each in a transaction
/// of its own. Nothing on SQLite.
///
/// # Errors
/// Those of the store; the first of them, when all was tried. A table that somebody holds (a dump, say) is tried again
/// by the next round.
pub async fn keep(store: &Store, now: Timestamp, before: Timestamp) -> Result<Kept, DbError> {
    let mut kept = Kept::default();
    if !store.shared() {
        return Ok(kept);
    }
    let mut failed = None;
    for table in Weekly::ALL {
        let parts = store.read(move |tx| parts(tx, table)).await?;
        for from in missing(&parts, now) {
            match store.tx(move |tx| make(tx, table, from)).await {
                Ok(made) => kept.made += u64::from(made),
                Err(why) => drop(failed.get_or_insert(why)),
            }
        }
        for _ in parts.iter().filter(|part| part.is_over(before)) {
            match store.tx(move |tx| drop_oldest(tx, table, before)).await {
                Ok(dropped) => kept.dropped += u64::from(dropped),
                Err(why) => drop(failed.get_or_insert(why)),
            }
        }
    }
    failed.map_or(Ok(kept), Err)
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
    fn the_words_of_the_server_are_understood() {
        let (from, to) = (at("2026-11-23T00:00:00Z"), at("2026-11-30T00:00:00Z"));
        let (low, high) = (Weekly::Events.bound(from), Weekly::Events.bound(to));
        let read = |text: &str| span(Weekly::Events, text);
        assert_eq!(read(&format!("FOR VALUES FROM ('{low}') TO ('{high}')")), Some(Some(from..to)));
        assert_eq!(
            read(&format!("FOR VALUES FROM (MINVALUE) TO ('{high}')")),
            Some(Some(Timestamp(i64::MIN)..to))
        );
        assert_eq!(read("DEFAULT"), Some(None));
        assert_eq!(read("FOR VALUES IN ('a')"), None);
        assert_eq!(span(Weekly::Deliveries, &format!("FOR VALUES FROM ('{low}') TO ('{high}')")), None);
    }

    #[test]
    fn weeks_that_nobody_holds_are_missing() {
        let now = at("2026-11-25T10:00:00Z");
        let part = |from: Timestamp, to: Timestamp| Part { name: String::new(), span: Some(from..to) };
        let first = week_of(now);
        let rest = Part { name: String::new(), span: None };
        let all: Vec<Timestamp> = (0..=AHEAD).map(|week| first.plus(week * WEEK)).collect();
        assert_eq!(missing(std::slice::from_ref(&rest), now), all);
        let parts = [part(Timestamp(i64::MIN), all[1]), rest, part(all[2], all[3])];
        assert_eq!(missing(&parts, now), [all[1], all[3], all[4]]);
        assert!(!parts[0].is_week() && parts[2].is_week() && !parts[1].is_week());
        assert!(parts[0].is_over(all[1]) && !parts[0].is_over(all[1].plus(-1)) && !parts[1].is_over(all[4]));
    }
}

//! The second legs of calls, and the minutes that calls and legs hold of the wallet.

use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::{DbError, Row, Tx};
use crate::params;

/// A second leg as stored.
#[derive(Debug, Clone)]
pub struct LegRow {
    /// The call that it belongs to.
    pub call: Id<Call>,
    /// Its place among the call's legs, from 1.
    pub leg: i64,
    /// The workspace.
    pub workspace: Tenant,
    /// The world.
    pub mode: Mode,
    /// Keyed hash of the number.
    pub to_hash: String,
    /// When it was decided.
    pub started_at: Timestamp,
    /// When somebody picked up.
    pub answered_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The gate that refused it.
    pub block_reason: Option<String>,
    /// Why it ended.
    pub end_cause: Option<String>,
    /// Its place among the call's legs that were answered.
    pub answer: Option<i64>,
    /// Minor units of a started minute.
    pub price: i64,
    /// Minutes that it holds while it is on its line.
    pub minutes: i64,
    /// When the hold has to grow.
    pub grow_at: Option<Timestamp>,
    /// Whether it occupies a line.
    pub line: bool,
}

impl LegRow {
    /// What it holds of the wallet.
    pub fn held(&self) -> i64 {
        if self.line { self.price.saturating_mul(self.minutes) } else { 0 }
    }
}

const COLUMNS: &str = "call, leg, workspace, mode, to_hash, started_at, answered_at, ended_at, block_reason, end_cause, answer, price, minutes, \
     grow_at, line";

fn read(row: &Row<'_>) -> Result<LegRow, DbError> {
    Ok(LegRow {
        call: row.id(0)?,
        leg: row.int(1)?,
        workspace: row.id(2)?,
        mode: Mode::parse(&row.text(3)?).ok_or_else(|| DbError::Internal("unknown mode of a leg".into()))?,
        to_hash: row.text(4)?,
        started_at: row.time(5)?,
        answered_at: row.opt_time(6)?,
        ended_at: row.opt_time(7)?,
        block_reason: row.opt_text(8)?,
        end_cause: row.opt_text(9)?,
        answer: row.opt_int(10)?,
        price: row.int(11)?,
        minutes: row.int(12)?,
        grow_at: row.opt_time(13)?,
        line: row.opt_int(14)?.is_some(),
    })
}

/// Adds a leg, and counts it with its call, which the caller holds.
pub fn insert(tx: &mut Tx<'_>, leg: &LegRow) -> Result<(), DbError> {
    tx.later(
        "insert into call_legs (call, leg, workspace, mode, to_hash, started_at, answered_at, ended_at, block_reason, end_cause, answer, price, \
         minutes, grow_at, line) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            leg.call,
            leg.leg,
            leg.workspace,
            leg.mode.as_str(),
            &leg.to_hash,
            leg.started_at,
            leg.answered_at,
            leg.ended_at,
            leg.block_reason.as_deref(),
            leg.end_cause.as_deref(),
            leg.answer,
            leg.price,
            leg.minutes,
            leg.grow_at,
            leg.line.then_some(1)
        ],
    )?;
    tx.later(
        "update calls set legs = ?3 where workspace = ?1 and id = ?2",
        params![leg.workspace, leg.call, leg.leg],
    )
}

/// Writes what changes in the life of a leg. Whoever does so holds its call.
pub fn save(tx: &mut Tx<'_>, leg: &LegRow) -> Result<(), DbError> {
    tx.later(
        "update call_legs set answered_at = ?4, ended_at = ?5, end_cause = ?6, answer = ?7, grow_at = ?8, line = ?9 \
         where workspace = ?1 and call = ?2 and leg = ?3",
        params![
            leg.workspace,
            leg.call,
            leg.leg,
            leg.answered_at,
            leg.ended_at,
            leg.end_cause.as_deref(),
            leg.answer,
            leg.grow_at,
            leg.line.then_some(1)
        ],
    )
}

/// Drops a leg that was never dialled; its place stays taken.
pub fn remove(tx: &mut Tx<'_>, leg: &LegRow) -> Result<(), DbError> {
    tx.later(
        "delete from call_legs where workspace = ?1 and call = ?2 and leg = ?3",
        params![leg.workspace, leg.call, leg.leg],
    )
}

/// The legs of a call that the caller holds, in their order, to be changed.
pub fn of_call_for_update(tx: &mut Tx<'_>, tenant: Tenant, call: Id<Call>) -> Result<Vec<LegRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from call_legs where workspace = ?1 and call = ?2 order by leg /*pg for update*/"
    );
    tx.all(&sql, params![tenant, call], read)
}

/// The legs of a call, in their order.
pub fn of_call(tx: &mut Tx<'_>, tenant: Tenant, call: Id<Call>) -> Result<Vec<LegRow>, DbError> {
    tx.all(
        &format!("select {COLUMNS} from call_legs where workspace = ?1 and call = ?2 order by leg"),
        params![tenant, call],
        read,
    )
}

/// Something that talks and pays: a call (`leg` 0) or a second leg of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growing {
    /// The workspace.
    pub workspace: Tenant,
    /// The call.
    pub call: Id<Call>,
    /// The leg; 0 for the call itself.
    pub leg: i64,
    /// Minor units of a started minute.
    pub price: i64,
    /// When somebody picked up.
    pub answered_at: Timestamp,
    /// Minutes that are held.
    pub minutes: i64,
    /// When the hold has to grow.
    pub grow_at: Timestamp,
}

fn read_growing(row: &Row<'_>) -> Result<Growing, DbError> {
    Ok(Growing {
        workspace: row.id(0)?,
        call: row.id(1)?,
        leg: row.int(2)?,
        price: row.int(3)?,
        answered_at: row.time(4)?,
        minutes: row.int(5)?,
        grow_at: row.time(6)?,
    })
}

/// Calls, then legs, whose hold has to grow by `until`, at most `limit` of each, the most urgent first; held
/// against other nodes.
pub fn to_grow(tx: &mut Tx<'_>, until: Timestamp, limit: i64) -> Result<Vec<Growing>, DbError> {
    let mut due = tx.all(
        "select workspace, id, 0/*pg ::bigint*/, price, answered_at, minutes, grow_at from calls where grow_at is not null and grow_at <= ?1 \
         and answered_at is not null order by grow_at limit ?2 /*pg for update skip locked*/",
        params![until, limit],
        read_growing,
    )?;
    // The legs of a call change with the call: whoever ends one holds the call, and finds it grown or not.
    due.extend(tx.all(
        "select workspace, call, leg, price, answered_at, minutes, grow_at from call_legs where grow_at is not null and grow_at <= ?1 \
         and answered_at is not null order by grow_at limit ?2 /*pg for update skip locked*/",
        params![until, limit],
        read_growing,
    )?);
    Ok(due)
}

/// When the next hold has to grow.
pub fn next_growth(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let calls = tx
        .one("select min(grow_at) from calls where grow_at is not null", &[], |row| row.opt_time(0))?
        .flatten();
    let legs = tx
        .one("select min(grow_at) from call_legs where grow_at is not null", &[], |row| row.opt_time(0))?
        .flatten();
    Ok(calls.into_iter().chain(legs).min())
}

/// Writes how many minutes are held now and when the next one must be; `None` stops the growth.
pub fn set_growth(
    tx: &mut Tx<'_>,
    of: &Growing,
    minutes: i64,
    grow_at: Option<Timestamp>,
) -> Result<(), DbError> {
    if of.leg == 0 {
        return tx.later(
            "update calls set minutes = ?3, grow_at = ?4 where workspace = ?1 and id = ?2",
            params![of.workspace, of.call, minutes, grow_at],
        );
    }
    tx.later(
        "update call_legs set minutes = ?4, grow_at = ?5 where workspace = ?1 and call = ?2 and leg = ?3",
        params![of.workspace, of.call, of.leg, minutes, grow_at],
    )
}

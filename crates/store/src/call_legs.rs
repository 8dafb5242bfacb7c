//! The second legs of calls, and the reservations of calls and legs on the wallet.

use const_format::formatcp;
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// A second leg as stored.
    #[derive(Debug, Clone)]
    pub struct LegRow in "call_legs" {
        /// The call that it belongs to.
        call: Id<Call>,
        /// Its place among the call's legs, from 1.
        leg: i64,
        workspace: Tenant,
        /// Live or test.
        mode: Mode,
        /// Keyed hash of the number.
        to_hash: String,
        /// When it was decided.
        started_at: Timestamp,
        /// When it was answered.
        answered_at: Option<Timestamp>,
        ended_at: Option<Timestamp>,
        /// The gate that refused it.
        block_reason: Option<String>,
        end_cause: Option<String>,
        /// Its place among the call's legs that were answered.
        answer: Option<i64>,
        /// Minor units of a started minute.
        price: i64,
        /// Minutes that are reserved while it is on its line.
        minutes: i64,
        /// When the reservation must grow.
        grow_at: Option<Timestamp>,
        /// Whether it occupies a line.
        line: bool = |line| { line: Option<i64> = line.then_some(1) } => line.is_some(),
    }
}

const COLUMNS: &str = LegRow::COLUMNS;

impl LegRow {
    /// The amount that it reserves of the wallet.
    pub fn held(&self) -> i64 {
        if self.line { self.price.saturating_mul(self.minutes) } else { 0 }
    }
}

/// Adds a leg and counts it in its call, which the caller has locked.
pub fn insert(tx: &mut Tx<'_>, leg: &LegRow) -> Result<(), DbError> {
    tx.later(LegRow::INSERT, &leg.values())?;
    tx.later(
        "update calls set legs = ?3 where workspace = ?1 and id = ?2",
        params![leg.workspace, leg.call, leg.leg],
    )
}

/// Writes what changes in the life of a leg. The caller has locked its call.
pub fn save(tx: &mut Tx<'_>, leg: &LegRow) -> Result<(), DbError> {
    let (sql, values) = update!(
        "call_legs" set {
            answered_at: leg.answered_at,
            ended_at: leg.ended_at,
            end_cause: leg.end_cause.as_deref(),
            answer: leg.answer,
            grow_at: leg.grow_at,
            line: leg.line.then_some(1),
        }
        where "workspace = ?1 and call = ?2 and leg = ?3", leg.workspace, leg.call, leg.leg
    );
    tx.later(sql, &values)
}

/// Drops a leg that was never dialled; its place stays taken.
pub fn remove(tx: &mut Tx<'_>, leg: &LegRow) -> Result<(), DbError> {
    tx.later(
        "delete from call_legs where workspace = ?1 and call = ?2 and leg = ?3",
        params![leg.workspace, leg.call, leg.leg],
    )
}

/// The legs of a call that the caller has locked, in their order, to be changed.
pub fn of_call_for_update(tx: &mut TenantTx, call: Id<Call>) -> Result<Vec<LegRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from call_legs where workspace = ?1 and call = ?2 order by leg /*pg for update*/"
    );
    tx.all(sql, params![call])
}

/// The legs of a call, in their order.
pub fn of_call(tx: &mut TenantTx, call: Id<Call>) -> Result<Vec<LegRow>, DbError> {
    tx.all(
        formatcp!("select {COLUMNS} from call_legs where workspace = ?1 and call = ?2 order by leg"),
        params![call],
    )
}

row! {
    /// Something that talks and pays: a call (`leg` 0) or a second leg of one.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Growing {
        workspace: Tenant,
        call: Id<Call>,
        /// The leg; 0 for the call itself.
        leg: i64,
        /// Minor units of a started minute.
        price: i64,
        /// When it was answered.
        answered_at: Timestamp,
        /// Reserved minutes.
        minutes: i64,
        /// When the reservation must grow.
        grow_at: Timestamp,
    }
}

/// Across workspaces: calls, then legs, whose reservation must grow by `until`, at most `limit` of each, the most
/// urgent first; locked.
pub fn to_grow(tx: &mut Tx<'_>, until: Timestamp, limit: i64) -> Result<Vec<Growing>, DbError> {
    // In the order of the fields.
    let mut due: Vec<Growing> = tx.all(
        "select workspace, id, 0/*pg ::bigint*/, price, answered_at, minutes, grow_at from calls where grow_at is not null and grow_at <= ?1 \
         and answered_at is not null order by grow_at limit ?2 /*pg for update skip locked*/",
        params![until, limit])?;
    // A leg is only changed by code that has locked its call.
    due.extend(tx.all::<Growing>(
        formatcp!(
            "select {} from call_legs where grow_at is not null and grow_at <= ?1 \
             and answered_at is not null order by grow_at limit ?2 /*pg for update skip locked*/",
            Growing::COLUMNS
        ),
        params![until, limit],
    )?);
    Ok(due)
}

/// Across workspaces: when the next reservation must grow.
pub fn next_growth(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let calls = tx
        .one::<Option<Timestamp>>("select min(grow_at) from calls where grow_at is not null", &[])?
        .flatten();
    let legs = tx
        .one::<Option<Timestamp>>("select min(grow_at) from call_legs where grow_at is not null", &[])?
        .flatten();
    Ok(calls.into_iter().chain(legs).min())
}

/// Sets the reserved minutes and when they must grow next; `None`: never.
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

//! What was decided about a nudge, in order.

use const_format::formatcp;
use domain::ids::{Call, Id, Nudge as NudgeKind};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

#[derive(Debug, Clone)]
pub struct Entry {
    pub at: Timestamp,
    pub event: String,
    /// What was checked, a list: JSON.
    pub checks: String,
    pub decision: String,
    pub status: String,
    /// Why it waits or ended.
    pub reason: Option<String>,
    /// Until when it waits.
    pub until: Option<Timestamp>,
    /// The call that it is about.
    pub call: Option<Id<Call>>,
    /// How often the same was decided in a row.
    pub times: i64,
    pub last_at: Timestamp,
}

row! {
    /// A decision about a nudge; `seq` grows with every one.
    #[derive(Debug, Clone)]
    pub struct Line in "nudge_timeline" {
        tenant: Tenant as "workspace",
        nudge: Id<NudgeKind>,
        /// Its place in the timeline.
        seq: i64,
        entry: Entry = |entry| {
        at: Timestamp = entry.at,
        event: String = &entry.event,
        checks: String = &entry.checks,
        decision: String = &entry.decision,
        status: String = &entry.status,
        reason: Option<String> = entry.reason.as_deref(),
        until: Option<Timestamp> = entry.until,
        call: Option<Id<Call>> = entry.call,
        times: i64 = entry.times,
        last_at: Timestamp = entry.last_at,
        } => Entry { at, event, checks, decision, status, reason, until, call, times, last_at },
    }
}

pub fn append(tx: &mut Tx<'_>, lines: &[Line]) -> Result<(), DbError> {
    if tx.shared() {
        // Batched with those of other calls.
        return lines.iter().try_for_each(|line| tx.add(Line::INSERT, &line.values()));
    }
    tx.insert_all(Line::INTO, lines.iter().map(Line::values))
}

/// Extends the last decision: the same hold for the same reason, until later.
pub fn last_again(tx: &mut TenantTx, nudge: Id<NudgeKind>, entry: &Entry) -> Result<(), DbError> {
    tx.later(
        "update nudge_timeline set times = times + 1, last_at = ?3, until = ?4, checks = ?5 where workspace = ?1 and nudge = ?2 \
         and seq = (select max(seq) from nudge_timeline where nudge = ?2)",
        params![nudge, entry.last_at, entry.until, &entry.checks],
    )
}

/// Every decision about a nudge, the first one first.
pub fn timeline(tx: &mut TenantTx, nudge: Id<NudgeKind>) -> Result<Vec<Entry>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from nudge_timeline where workspace = ?1 and nudge = ?2 order by seq",
        Line::COLUMNS
    );
    let lines: Vec<Line> = tx.all(SQL, params![nudge])?;
    Ok(lines.into_iter().map(|line| line.entry).collect())
}

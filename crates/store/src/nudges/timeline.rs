//! What was decided about a nudge, in order.

use domain::ids::{Call, Id, Nudge as NudgeKind};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::{DbError, Tx, Value};
use crate::params;

/// A decision.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// What asked for it.
    pub event: String,
    /// What was checked, a list: JSON.
    pub checks: String,
    /// What was decided.
    pub decision: String,
    /// Status afterwards.
    pub status: String,
    /// Why it waits or ended.
    pub reason: Option<String>,
    /// Until when it waits.
    pub until: Option<Timestamp>,
    /// The call that it is about.
    pub call: Option<Id<Call>>,
    /// How often the same was decided in a row.
    pub times: i64,
    /// When last.
    pub last_at: Timestamp,
}

/// A decision about a nudge; `seq` grows with every one.
#[derive(Debug, Clone)]
pub struct Line {
    /// The workspace.
    pub tenant: Tenant,
    /// The nudge.
    pub nudge: Id<NudgeKind>,
    /// Its place in the timeline.
    pub seq: i64,
    /// What was decided.
    pub entry: Entry,
}

/// Adds decisions.
pub fn append<'r>(tx: &mut Tx<'_>, lines: &'r [Line]) -> Result<(), DbError> {
    let into = "insert into nudge_timeline (nudge, seq, workspace, at, event, checks, decision, status, reason, until, call, times, last_at)";
    let values = |Line { tenant, nudge, seq, entry }: &'r Line| -> [Value<'r>; 13] {
        [
            (*nudge).into(),
            (*seq).into(),
            (*tenant).into(),
            entry.at.into(),
            (&entry.event).into(),
            (&entry.checks).into(),
            (&entry.decision).into(),
            (&entry.status).into(),
            entry.reason.as_deref().into(),
            entry.until.into(),
            entry.call.into(),
            entry.times.into(),
            entry.last_at.into(),
        ]
    };
    tx.insert_all(into, lines.iter().map(values))
}

/// Renews the last decision: the same hold for the same reason, until later.
pub fn last_again(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    nudge: Id<NudgeKind>,
    entry: &Entry,
) -> Result<(), DbError> {
    tx.later(
        "update nudge_timeline set times = times + 1, last_at = ?3, until = ?4, checks = ?5 where workspace = ?1 and nudge = ?2 \
         and seq = (select max(seq) from nudge_timeline where nudge = ?2)",
        params![tenant, nudge, entry.last_at, entry.until, &entry.checks],
    )
}

/// Every decision about a nudge, the first one first.
pub fn timeline(tx: &mut Tx<'_>, tenant: Tenant, nudge: Id<NudgeKind>) -> Result<Vec<Entry>, DbError> {
    tx.all(
        "select at, event, checks, decision, status, reason, until, call, times, last_at from nudge_timeline where workspace = ?1 and nudge = ?2 order by seq",
        params![tenant, nudge],
        |row| {
            Ok(Entry {
                at: row.time(0)?,
                event: row.text(1)?,
                checks: row.text(2)?,
                decision: row.text(3)?,
                status: row.text(4)?,
                reason: row.opt_text(5)?,
                until: row.opt_time(6)?,
                call: row.opt_id(7)?,
                times: row.int(8)?,
                last_at: row.time(9)?,
            })
        },
    )
}

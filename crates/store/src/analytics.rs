//! Live calls packed by the hour, for figures over many of them (`domain::analytics`). Every change of a live
//! call makes its hour stale in the same transaction; a packed body is kept only if nothing changed since it
//! was read.

use domain::analytics::{CallFact, Standing, hour_of, start_of};
use domain::call::Status;
use domain::ids::{Call, Contact, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::{DbError, Row, Tx};
use crate::params;

/// An hour of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourRow {
    /// The workspace.
    pub workspace: Tenant,
    /// The hour, of India time.
    pub hour: i64,
    /// Grows with every change of a call of it.
    pub version: i64,
}

/// Makes the hour of a live call stale. `changed_at` is the latest moment known of the call.
pub(crate) fn touch(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    started_at: Timestamp,
    changed_at: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        "insert into call_hours (workspace, hour, version, changed_at, built) values (?1, ?2, 1, ?3, 0) \
         on conflict (workspace, hour) do update set version = call_hours.version + 1, changed_at = excluded.changed_at",
        params![tenant, hour_of(started_at), changed_at],
    )
}

/// The hours of a workspace in which calls began, in order.
pub fn hours(tx: &mut Tx<'_>, tenant: Tenant, first: i64, last: i64) -> Result<Vec<i64>, DbError> {
    let sql = "select hour from call_hours where workspace = ?1 and hour >= ?2 and hour <= ?3 order by hour";
    tx.all(sql, params![tenant, first, last], |row| row.int(0))
}

/// Calls `visit` with the hours from `first` to `last` in their order, each with its body, or without one
/// when that is stale.
pub fn packed(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    first: i64,
    last: i64,
    mut visit: impl FnMut(HourRow, Option<Vec<u8>>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let sql = "select hour, version, case when built = version then body end from call_hours \
               where workspace = ?1 and hour >= ?2 and hour <= ?3 order by hour";
    tx.each(sql, params![tenant, first, last], |row| {
        visit(HourRow { workspace: tenant, hour: row.int(0)?, version: row.int(1)? }, row.opt_bytes(2)?)
    })
}

/// The live calls of an hour, in the order of their beginning.
pub fn facts(tx: &mut Tx<'_>, tenant: Tenant, hour: i64) -> Result<Vec<CallFact>, DbError> {
    let bound = |hour: i64| Id::<Call>::new(start_of(hour).0, 0).to_string();
    let found = tx.all(
        "select status, direction, started_at, ended_at, talk_ms, answered_at, contact, agent, campaign, outcome, end_cause, language, sentiment from calls \
         where workspace = ?1 and mode = 'live' and id >= ?2 and id < ?3 order by id",
        params![tenant, bound(hour), bound(hour + 1)],
        read,
    )?;
    Ok(found.into_iter().flatten().collect())
}

fn read(row: &Row<'_>) -> Result<Option<CallFact>, DbError> {
    let (status, inbound, campaign) =
        (Status::parse(&row.text(0)?), row.text(1)? == "inbound", row.opt_text(8)?);
    let standing = match status {
        // Not dialled yet.
        None | Some(Status::Queued) => return Ok(None),
        Some(Status::Blocked) if inbound => Standing::Declined,
        Some(Status::Blocked) if campaign.is_some() => Standing::Blocked,
        // A placement that was refused to its caller.
        Some(Status::Blocked) => return Ok(None),
        Some(_) => Standing::Dialled,
    };
    let answered = row.opt_time(5)?.is_some();
    Ok(Some(CallFact {
        standing,
        start: row.time(2)?,
        end: row.opt_time(3)?,
        talk_ms: row.opt_int(4)?.filter(|_| answered),
        answered,
        inbound,
        person: row.opt_id::<Contact>(6)?.map(|contact| (contact.bits() ^ (contact.bits() >> 64)) as u64),
        agent: row.opt_text(7)?,
        campaign,
        outcome: row.opt_text(9)?,
        cause: row.opt_text(10)?,
        language: row.opt_text(11)?,
        sentiment: row.opt_text(12)?,
    }))
}

/// Keeps the body of an hour, unless the hour has changed since it was read. Whether it did.
pub fn keep(tx: &mut Tx<'_>, row: HourRow, body: &[u8]) -> Result<bool, DbError> {
    let sql = "update call_hours set body = ?4, built = version where workspace = ?1 and hour = ?2 and version = ?3";
    Ok(tx.exec(sql, params![row.workspace, row.hour, row.version, body])? > 0)
}

/// Stale hours of any workspace that have not changed since `quiet_since`, those that wait longest first.
pub fn to_build(tx: &mut Tx<'_>, quiet_since: Timestamp, limit: i64) -> Result<Vec<HourRow>, DbError> {
    tx.all(
        "select workspace, hour, version from call_hours where built <> version and changed_at <= ?1 order by changed_at limit ?2",
        params![quiet_since, limit],
        |row| Ok(HourRow { workspace: row.id(0)?, hour: row.int(1)?, version: row.int(2)? }),
    )
}

/// When the stale hour that waits longest was last changed.
pub fn oldest_change(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx
        .one("select min(changed_at) from call_hours where built <> version", &[], |row| row.opt_time(0))?
        .flatten())
}

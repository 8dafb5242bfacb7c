//! Live calls packed by the hour, for figures over many of them (`domain::analytics`). Every change of a live
//! call makes its hour stale in the same transaction; a packed body is kept only if nothing changed since it
//! was read.

use const_format::formatcp;
use domain::analytics::{CallFact, Standing, hour_of, start_of};
use domain::call::Direction;
use domain::call::Status;
use domain::ids::{Call, Contact, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, Tx};
use crate::params;

row! {
    /// An hour of a workspace.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct HourRow {
        /// The workspace.
        workspace: Tenant,
        /// The hour, of India time.
        hour: i64,
        /// Grows with every change of a call of it.
        version: i64,
    }
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
    tx.all(sql, params![tenant, first, last])
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
    tx.each(sql, params![tenant, first, last], |(hour, version, body)| {
        visit(HourRow { workspace: tenant, hour, version }, body)
    })
}

/// The live calls of an hour, in the order of their beginning.
pub fn facts(tx: &mut Tx<'_>, tenant: Tenant, hour: i64) -> Result<Vec<CallFact>, DbError> {
    let bound = |hour: i64| Id::<Call>::new(start_of(hour).0, 0).to_string();
    const SQL: &str = formatcp!(
        "select {} from calls where workspace = ?1 and mode = 'live' and id >= ?2 and id < ?3 order by id",
        FactRow::COLUMNS
    );
    let found: Vec<FactRow> = tx.all(SQL, params![tenant, bound(hour), bound(hour + 1)])?;
    Ok(found.into_iter().filter_map(FactRow::fact).collect())
}

row! {
    /// What a call adds to figures.
    struct FactRow {
        /// How far it has got.
        status: Status,
        /// `outbound` or `inbound`.
        direction: Direction,
        /// When it was placed.
        started_at: Timestamp,
        /// When it ended.
        ended_at: Option<Timestamp>,
        /// Answer to end, milliseconds.
        talk_ms: Option<i64>,
        /// When somebody picked up.
        answered_at: Option<Timestamp>,
        /// Who it was with.
        contact: Option<Id<Contact>>,
        /// Who talked.
        agent: Option<String>,
        /// The campaign that dialled it.
        campaign: Option<String>,
        /// The agent's disposition.
        outcome: Option<String>,
        /// Why it ended.
        end_cause: Option<String>,
        /// Language of the agent.
        language: Option<String>,
        /// What analysis heard in it.
        sentiment: Option<String>,
    }
}

impl FactRow {
    fn fact(self) -> Option<CallFact> {
        let inbound = self.direction == Direction::Inbound;
        let standing = match self.status {
            // Not dialled yet.
            Status::Queued => return None,
            Status::Blocked if inbound => Standing::Declined,
            Status::Blocked if self.campaign.is_some() => Standing::Blocked,
            // A placement that was refused to its caller.
            Status::Blocked => return None,
            _ => Standing::Dialled,
        };
        let answered = self.answered_at.is_some();
        Some(CallFact {
            standing,
            start: self.started_at,
            end: self.ended_at,
            talk_ms: self.talk_ms.filter(|_| answered),
            answered,
            inbound,
            person: self.contact.map(|contact| (contact.bits() ^ (contact.bits() >> 64)) as u64),
            agent: self.agent,
            campaign: self.campaign,
            outcome: self.outcome,
            cause: self.end_cause,
            language: self.language,
            sentiment: self.sentiment,
        })
    }
}

/// Stores the body of an hour, unless the hour has changed since it was read. Returns whether it was stored.
pub fn keep(tx: &mut Tx<'_>, row: HourRow, body: &[u8]) -> Result<bool, DbError> {
    let sql = "update call_hours set body = ?4, built = version where workspace = ?1 and hour = ?2 and version = ?3";
    Ok(tx.exec(sql, params![row.workspace, row.hour, row.version, body])? > 0)
}

/// Across workspaces: stale hours that have not changed since `quiet_since`, those that wait longest first.
pub fn to_build(tx: &mut Tx<'_>, quiet_since: Timestamp, limit: i64) -> Result<Vec<HourRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from call_hours where built <> version and changed_at <= ?1 order by changed_at limit ?2",
        HourRow::COLUMNS
    );
    tx.all(SQL, params![quiet_since, limit])
}

/// Across workspaces: when the stale hour that waits longest was last changed.
pub fn oldest_change(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select min(changed_at) from call_hours where built <> version", &[])?.flatten())
}

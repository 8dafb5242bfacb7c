//! Runs: the sessions in which a campaign dials.

use const_format::formatcp;
use domain::campaign::{RunSource, RunStatus};
use domain::ids::{Campaign, CampaignRun, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct RunRow in "campaign_runs" {
        id: Id<CampaignRun>,
        workspace: Tenant,
        campaign: Id<Campaign>,
        status: RunStatus,
        source: RunSource,
        /// Rows that it took up.
        attempted: i64,
        placed: i64,
        /// Dials that were refused.
        rejected: i64,
        /// Of the refused ones, those that the carrier refused before any ring.
        refused: i64,
        /// Why it dialled nothing.
        skipped_reason: Option<String>,
        /// What went wrong.
        error: Option<String>,
        /// When it was requested.
        created_at: Timestamp,
        /// When it was over.
        finished_at: Option<Timestamp>,
    }
}

const COLUMNS: &str = RunRow::COLUMNS;

/// Runs of a campaign, newest first.
pub fn list(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    limit: i64,
    offset: i64,
) -> Result<Vec<RunRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from campaign_runs where workspace = ?1 and campaign = ?2 order by id desc limit ?3 offset ?4"
        ),
        params![campaign, limit, offset],
    )
}

/// One run of a campaign that is not deleted.
pub fn get(tx: &mut TenantTx, id: Id<CampaignRun>) -> Result<Option<RunRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from campaign_runs where workspace = ?1 and id = ?2 \
             and campaign in (select id from campaigns where workspace = ?1 and deleted_at is null)"
        ),
        params![id],
    )
}

/// Across workspaces: deletes up to `limit` runs that are over and older than `before`, oldest first. Returns how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    // Ids are ordered by time.
    tx.exec(
        "delete from campaign_runs where id in (select id from campaign_runs where id < ?1 and finished_at is not null order by id limit ?2)",
        params![Id::<CampaignRun>::new(before.0, 0), limit],
    )
}

pub fn insert(tx: &mut Tx<'_>, row: &RunRow) -> Result<(), DbError> {
    tx.later(RunRow::INSERT, &row.values())
}

/// The requested run that has not begun.
pub fn queued(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<Id<CampaignRun>>, DbError> {
    tx.one(
        "select id from campaign_runs where workspace = ?1 and campaign = ?2 and status = 'queued' order by id limit 1",
        params![campaign],
    )
}

/// The run that was recorded last.
pub fn newest(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Option<RunRow>, DbError> {
    Ok(list(tx, campaign, 1, 0)?.pop())
}

/// The work of a run in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Rows that it took up.
    pub attempted: i64,
    pub placed: i64,
    /// Dials that were refused.
    pub rejected: i64,
}

/// A run is under way and has done this, too.
pub fn work(tx: &mut TenantTx, id: Id<CampaignRun>, work: Work) -> Result<(), DbError> {
    tx.later(
        "update campaign_runs set status = 'running', attempted = attempted + cast(?3 as bigint), placed = placed + cast(?4 as bigint), \
         rejected = rejected + cast(?5 as bigint) where workspace = ?1 and id = ?2",
        params![id, work.attempted, work.placed, work.rejected],
    )
}

/// The carrier refused a dial of a campaign before any ring: of the last run that dialled, it was none.
pub fn not_placed(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<(), DbError> {
    tx.later(
        formatcp!(
            "update campaign_runs set placed = placed - 1, rejected = rejected + 1, refused = refused + 1, \
             skipped_reason = case when status = 'completed' and refused + 1 = attempted then '{BY_CARRIER}' else skipped_reason end, \
             status = case when status = 'completed' and refused + 1 = attempted then 'skipped' else status end \
             where workspace = ?1 and id = (select max(id) from campaign_runs where workspace = ?1 and campaign = ?2 and placed > 0)"
        ),
        params![campaign],
    )
}

/// `skipped_reason` of a run of which the carrier refused every dial.
const BY_CARRIER: &str = "provider_error";
/// Whether a run, which is under way, took rows up and the carrier refused every dial.
const ALL_REFUSED: &str = "status = 'running' and attempted > 0 and refused = attempted";

/// A run is over. One of which the carrier refused every dial has dialled nothing, whatever is said of it.
pub fn end(
    tx: &mut TenantTx,
    id: Id<CampaignRun>,
    status: RunStatus,
    skipped_reason: Option<&str>,
    error: Option<&str>,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        formatcp!(
            "update campaign_runs set skipped_reason = case when {ALL_REFUSED} then '{BY_CARRIER}' else cast(?4 as text) end, \
             status = case when {ALL_REFUSED} then 'skipped' else cast(?3 as text) end, error = coalesce(?5, error), finished_at = ?6 \
             where workspace = ?1 and id = ?2 and status in ('queued', 'running')"
        ),
        params![id, status, skipped_reason, error, now],
    )
}

/// Deletes a scheduled run that is over and had only refused dials, if the run before had the same result.
pub fn fold(tx: &mut TenantTx, campaign: Id<Campaign>, id: Id<CampaignRun>) -> Result<(), DbError> {
    tx.later(
        formatcp!(
            "delete from campaign_runs where workspace = ?1 and id = ?2 and source = 'schedule' and status = 'skipped' \
             and skipped_reason = '{BY_CARRIER}' and (select b.skipped_reason from campaign_runs b where b.workspace = ?1 \
             and b.campaign = ?3 and b.id < ?2 order by b.id desc limit 1) = '{BY_CARRIER}'"
        ),
        params![id, campaign],
    )
}

/// Every run of a campaign that is not over ends with it: those under way are completed, those that have not
/// begun are skipped.
pub fn end_all(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    skipped_reason: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.later(
        formatcp!(
            "update campaign_runs set skipped_reason = case when status = 'queued' then cast(?3 as text) \
             when {ALL_REFUSED} then '{BY_CARRIER}' else skipped_reason end, \
             status = case when status = 'queued' or {ALL_REFUSED} then 'skipped' else 'completed' end, finished_at = ?4 \
             where workspace = ?1 and campaign = ?2 and status in ('queued', 'running')"
        ),
        params![campaign, skipped_reason, now],
    )
}

/// Says in a run what went wrong beside it.
pub fn note(tx: &mut TenantTx, id: Id<CampaignRun>, error: &str) -> Result<(), DbError> {
    tx.later("update campaign_runs set error = ?3 where workspace = ?1 and id = ?2", params![id, error])
}

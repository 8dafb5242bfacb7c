//! Runs: the sessions in which a campaign dials.

use const_format::formatcp;
use domain::campaign::{RunSource, RunStatus};
use domain::ids::{Campaign, CampaignRun, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, Tx};
use crate::params;

row! {
    /// A run as stored.
    #[derive(Debug, Clone)]
    pub struct RunRow in "campaign_runs" {
        /// Its id.
        id: Id<CampaignRun>,
        /// The workspace.
        workspace: Tenant,
        /// The campaign.
        campaign: Id<Campaign>,
        /// Where it is.
        status: RunStatus,
        /// What started it.
        source: RunSource,
        /// Rows that it took up.
        attempted: i64,
        /// Dials.
        placed: i64,
        /// Dials that were refused.
        rejected: i64,
        /// Why it dialled nothing.
        skipped_reason: Option<String>,
        /// What went wrong.
        error: Option<String>,
        /// When it was asked for.
        created_at: Timestamp,
        /// When it was over.
        finished_at: Option<Timestamp>,
    }
}

const COLUMNS: &str = RunRow::COLUMNS;

/// Runs of a campaign, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    campaign: Id<Campaign>,
    limit: i64,
    offset: i64,
) -> Result<Vec<RunRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from campaign_runs where workspace = ?1 and campaign = ?2 order by id desc limit ?3 offset ?4"
        ),
        params![tenant, campaign, limit, offset],
    )
}

/// One run of a campaign that is not deleted.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<CampaignRun>) -> Result<Option<RunRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from campaign_runs where workspace = ?1 and id = ?2 \
             and campaign in (select id from campaigns where workspace = ?1 and deleted_at is null)"
        ),
        params![tenant, id],
    )
}

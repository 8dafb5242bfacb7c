//! Runs: the sessions in which a campaign dials (docs/contract/campaigns.md#runs).

use api::campaigns::Run as RunView;
use app::{App, Failure};
use domain::ids::{Campaign, CampaignRun, Id};
use domain::tenant::Tenant;
use domain::time::DAY;
use store::DbError;
use store::campaigns::runs::{self, RunRow};

use super::find;

/// Retention of finished runs (docs/contract/campaigns.md#runs), milliseconds.
const KEPT: i64 = 400 * DAY;
/// Runs deleted in one transaction.
const SWEEP: i64 = 1_000;

/// Deletes expired runs.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    let before = app.clock.now().plus(-KEPT);
    while app.store.tx(move |tx| runs::sweep(tx, before, SWEEP)).await? >= SWEEP as u64 {}
    Ok(())
}

/// A run in the form of the API.
pub fn view(row: RunRow) -> RunView {
    RunView {
        id: row.id,
        campaign_id: row.campaign,
        status: row.status,
        source: row.source,
        attempted: row.attempted,
        placed: row.placed,
        rejected: row.rejected,
        skipped_reason: row.skipped_reason,
        error: row.error,
        created_at: row.created_at,
        finished_at: row.finished_at,
    }
}

/// `GET /v1/campaigns/{id}/runs`, newest first.
pub async fn list(
    app: &App,
    tenant: Tenant,
    id: Id<Campaign>,
    limit: i64,
    offset: i64,
) -> Result<Vec<RunView>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            find(tx, id)?;
            Ok(runs::list(tx, id, limit, offset)?.into_iter().map(view).collect())
        })
        .await
}

/// `GET /v1/campaign-runs/{id}`.
pub async fn get(app: &App, tenant: Tenant, id: Id<CampaignRun>) -> Result<RunView, Failure> {
    app.of(tenant).read(move |tx| runs::get(tx, id)).await?.map(view).ok_or_else(|| Failure::not_found("run"))
}

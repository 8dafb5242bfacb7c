//! Tries scheduled calls that are due. Any node may: the one that holds the row when its state changes dials.

use std::sync::Arc;

use domain::time::Timestamp;
use store::calls::CallRow;
use store::workspaces;

use crate::app::limits::rates;
use crate::app::scheduled_calls::Due;
use crate::app::{App, Failure, access, calls, scheduled_calls};

/// Transactions at once; on the embedded store they share commits.
const AT_ONCE: usize = 32;

/// Tries one fair batch of those that are due. Returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    super::work_due(&app, AT_ONCE, attempt).await
}

/// Tries one; returns whether it was looked at.
async fn attempt(app: Arc<App>, due: Due) -> bool {
    match try_within_limit(&app, due).await {
        Ok(Some(call)) => {
            let dialler = app.clone();
            app.clock.spawn(async move {
                if let Err(failure) = calls::start_dial(&dialler, Arc::new(call)).await
                    && failure.error.status == 500
                {
                    failure.log("the outcome of a dial was not stored");
                }
            });
            true
        }
        Ok(None) => true,
        Err(failure) => {
            if failure.error.status == 500 {
                failure.log("a scheduled call could not be tried");
            }
            false
        }
    }
}

/// Tries it with a place among the calls of this minute, which goes back when no call came of it.
async fn try_within_limit(app: &Arc<App>, due: Due) -> Result<Option<CallRow>, Failure> {
    let tenant = due.tenant;
    let Some(workspace) = app.store.read(move |tx| workspaces::get(tx, tenant)).await? else {
        return Err(Failure::not_found("workspace"));
    };
    let place =
        rates::take_call(app, tenant, access::limit(&workspace, "callsPerMinute"), app.clock.now()).await?;
    let tried = scheduled_calls::try_due(app, due, place.is_some()).await;
    if let Some(place) = place.filter(|_| !matches!(tried, Ok(Some(_)))) {
        rates::give_back(app, place).await?;
    }
    tried
}

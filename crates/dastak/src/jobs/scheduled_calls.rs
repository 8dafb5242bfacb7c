//! Tries scheduled calls that are due. Any node may: the one that holds the row when its state changes dials.

use std::collections::HashMap;
use std::sync::Arc;

use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::calls::CallRow;
use store::scheduled_calls::{ScheduledCallId, due, next_due};
use store::{DbError, workspaces};
use tokio::task::JoinSet;

use super::next_look;
use crate::app::limits::rates;
use crate::app::{App, Failure, access, calls, scheduled_calls};

/// Scheduled calls looked at in one round, and how many of them one workspace may have while others wait.
const BATCH: i64 = 256;
const SHARE: usize = 32;
/// How often a round may look past workspaces that have their share.
const LOOKS: usize = 8;
/// Transactions at once; on the embedded store they share commits.
const AT_ONCE: usize = 32;
/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

/// Tries one fair batch of those that are due. Returns when to look again.
pub async fn look(app: Arc<App>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    let Ok(batch) = claim(&app).await else { return Some(again) };
    let mut tries = JoinSet::new();
    let mut failed = false;
    for (tenant, id) in batch {
        if tries.len() >= AT_ONCE {
            failed |= !matches!(tries.join_next().await, Some(Ok(true)));
        }
        let app = app.clone();
        tries.spawn(async move { attempt(&app, tenant, id).await });
    }
    while let Some(done) = tries.join_next().await {
        failed |= !matches!(done, Ok(true));
    }
    match app.store.read(next_due).await {
        // What failed stays due: come back, but not at once.
        Ok(due) if failed => Some(due.map_or(again, |due| due.max(again))),
        Ok(due) => next_look(&app, due, again),
        Err(_) => Some(again),
    }
}

/// Due scheduled calls, longest waiting first, but of one workspace only its share while others wait behind
/// it.
async fn claim(app: &App) -> Result<Vec<(Tenant, ScheduledCallId)>, DbError> {
    let now = app.clock.now();
    app.store
        .read(move |tx| {
            let mut batch = Vec::new();
            let mut full: Vec<Tenant> = Vec::new();
            let mut shares: HashMap<Tenant, usize> = HashMap::new();
            for _ in 0..LOOKS {
                let found = due(tx, now, &full, BATCH)?;
                let all = (found.len() as i64) < BATCH;
                for (tenant, id) in found {
                    let share = shares.entry(tenant).or_default();
                    if *share < SHARE && !batch.contains(&(tenant, id)) {
                        *share += 1;
                        batch.push((tenant, id));
                        if *share == SHARE {
                            full.push(tenant);
                        }
                    }
                }
                if all || batch.len() as i64 >= BATCH {
                    break;
                }
            }
            // One of each workspace, then the second of each: no workspace waits behind the thirtieth call of
            // another.
            let mut turns: HashMap<Tenant, usize> = HashMap::new();
            let mut ordered: Vec<(usize, usize)> = Vec::new();
            for (place, (tenant, _)) in batch.iter().enumerate() {
                let turn = turns.entry(*tenant).or_default();
                ordered.push((*turn, place));
                *turn += 1;
            }
            ordered.sort_unstable();
            Ok(ordered.into_iter().map(|(_, place)| batch[place]).collect())
        })
        .await
}

/// Tries one; returns whether it was looked at.
async fn attempt(app: &Arc<App>, tenant: Tenant, id: ScheduledCallId) -> bool {
    match try_within_limit(app, tenant, id).await {
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
async fn try_within_limit(
    app: &Arc<App>,
    tenant: Tenant,
    id: ScheduledCallId,
) -> Result<Option<CallRow>, Failure> {
    let Some(workspace) = app.store.read(move |tx| workspaces::get(tx, tenant)).await? else {
        return Err(Failure::not_found("workspace"));
    };
    let place =
        rates::take_call(app, tenant, access::limit(&workspace, "callsPerMinute"), app.clock.now()).await?;
    let tried = scheduled_calls::try_due(app, tenant, id, place.is_some()).await;
    if let Some(place) = place.filter(|_| !matches!(tried, Ok(Some(_)))) {
        rates::give_back(app, place).await?;
    }
    tried
}

//! Drops events and delivery logs after their time, in bounded batches; the logs first, so that no entry
//! outlives its payload.

use domain::ids::{Delivery, Event, Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::{DAY, Timestamp};
use store::{DbError, deliveries, events, webhooks};

use super::Engine;

/// How long events and deliveries are kept, milliseconds.
pub const KEPT: i64 = 30 * DAY;
/// Rows dropped in one transaction.
const BATCH: i64 = 500;
/// Endpoints looked at in one read.
const PAGE: i64 = 200;

/// One round over all endpoints and workspaces; when to come again, a day later at the earliest.
pub(super) async fn sweep(engine: &Engine) -> Result<Timestamp, DbError> {
    let now = engine.clock.now();
    let cutoff = now.0 - KEPT;
    let (deliveries_before, events_before) =
        (Id::<Delivery>::new(cutoff, 0).to_string(), Id::<Event>::new(cutoff, 0).to_string());
    let mut after = String::new();
    loop {
        let from = after.clone();
        let page = engine.store.read(move |tx| webhooks::page_of_all(tx, &from, PAGE)).await?;
        for (tenant, endpoint, deleted) in &page {
            // Nobody can see the log of a deleted endpoint; what is left of it goes at once.
            let before = if *deleted { "whd_~".to_owned() } else { deliveries_before.clone() };
            sweep_log(engine, *tenant, *endpoint, before, *deleted).await?;
        }
        match page.last() {
            Some((_, last, _)) if page.len() as i64 == PAGE => after = last.to_string(),
            _ => break,
        }
    }
    let mut after = String::new();
    // Events that are made from now on have their time before them.
    let mut due = now.plus(KEPT);
    loop {
        let from = after.clone();
        let Some((tenant, oldest)) = engine.store.read(move |tx| events::next_workspace(tx, &from)).await?
        else {
            return Ok(due.max(now.plus(DAY)));
        };
        after = tenant.to_string();
        due = due.min(Timestamp(oldest.unix_ms() + KEPT));
        let mut more = oldest.to_string() < events_before;
        while more {
            let before = events_before.clone();
            more =
                engine.store.tx(move |tx| events::sweep(tx, tenant, &before, BATCH)).await? >= BATCH as u64;
        }
    }
}

async fn sweep_log(
    engine: &Engine,
    tenant: Tenant,
    endpoint: Id<WebhookEndpoint>,
    before: String,
    deleted: bool,
) -> Result<(), DbError> {
    let wanted = before.clone();
    let mut more = engine.store.read(move |tx| deliveries::sweepable(tx, tenant, endpoint, &wanted)).await?;
    while more {
        let before = before.clone();
        more = engine.store.tx(move |tx| deliveries::sweep(tx, tenant, endpoint, &before, BATCH)).await?
            >= BATCH as u64;
    }
    if deleted {
        engine.store.tx(move |tx| webhooks::forget(tx, tenant, endpoint)).await?;
    }
    Ok(())
}

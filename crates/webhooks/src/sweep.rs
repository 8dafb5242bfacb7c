//! Deletes expired events and delivery logs, in bounded batches; the logs first, so that no entry outlives its payload.
//! On PostgreSQL weekly partitions are dropped instead (`store::partitions`), and this skips them.

use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::{DAY, Timestamp};
use store::partitions::{self, PartitionedTable};
use store::{DbError, deliveries, events, webhooks};

use super::engine::Engine;

/// Retention of events and deliveries, milliseconds.
pub const KEPT: i64 = 30 * DAY;
/// Rows deleted in one transaction.
const BATCH: i64 = 500;
/// Endpoints in one read.
const PAGE: i64 = 200;

/// One round over all endpoints and workspaces; when to run again, a day later at the earliest.
pub(super) async fn sweep(engine: &Engine) -> Result<Timestamp, DbError> {
    let now = engine.clock.now();
    let cutoff = now.plus(-KEPT);
    let logs = engine.store.read(|tx| partitions::swept_by_row(tx, PartitionedTable::Deliveries)).await?;
    let mut after = String::new();
    loop {
        let from = after.clone();
        let page = engine.store.read(move |tx| webhooks::page_of_all(tx, &from, PAGE)).await?;
        for (tenant, endpoint, deleted) in &page {
            let log = (*tenant, *endpoint);
            if *deleted {
                // Nobody can see the log of a deleted endpoint; the rest of it is deleted at once.
                sweep_log(engine, PartitionedTable::Deliveries.table(), log, "whd_~").await?;
                let (tenant, endpoint) = log;
                engine.store.of(tenant).tx(move |tx| webhooks::forget(tx, endpoint)).await?;
                continue;
            }
            for table in &logs {
                sweep_log(engine, table, log, &PartitionedTable::Deliveries.bound(cutoff)).await?;
            }
        }
        match page.last() {
            Some((_, last, _)) if page.len() as i64 == PAGE => after = last.to_string(),
            _ => break,
        }
    }
    // Events that are written from now on expire later.
    let mut due = now.plus(KEPT);
    for table in engine.store.read(|tx| partitions::swept_by_row(tx, PartitionedTable::Events)).await? {
        due = due.min(sweep_events(engine, &table, cutoff).await?);
    }
    Ok(due.max(now.plus(DAY)))
}

/// Deletes the expired events of a table or partition; returns when the next of them expires.
async fn sweep_events(engine: &Engine, table: &str, cutoff: Timestamp) -> Result<Timestamp, DbError> {
    let (mut after, mut due) = (String::new(), Timestamp(i64::MAX));
    let before = PartitionedTable::Events.bound(cutoff);
    loop {
        let (table, from) = (table.to_owned(), after.clone());
        let next = {
            let table = table.clone();
            engine.store.read(move |tx| events::next_workspace(tx, &table, &from)).await?
        };
        let Some((tenant, oldest)) = next else { return Ok(due) };
        after = tenant.to_string();
        due = due.min(Timestamp(oldest.unix_ms() + KEPT));
        let mut more = oldest.to_string() < before;
        while more {
            let (table, before) = (table.clone(), before.clone());
            more = engine.store.of(tenant).tx(move |tx| events::sweep(tx, &table, &before, BATCH)).await?
                >= BATCH as u64;
        }
    }
}

async fn sweep_log(
    engine: &Engine,
    table: &str,
    (tenant, endpoint): (Tenant, Id<WebhookEndpoint>),
    before: &str,
) -> Result<(), DbError> {
    let (of, until) = (table.to_owned(), before.to_owned());
    let store = engine.store.of(tenant);
    let mut more = store.read(move |tx| deliveries::sweepable(tx, &of, endpoint, &until)).await?;
    while more {
        let (of, until) = (table.to_owned(), before.to_owned());
        more = store.tx(move |tx| deliveries::sweep(tx, &of, endpoint, &until, BATCH)).await? >= BATCH as u64;
    }
    Ok(())
}

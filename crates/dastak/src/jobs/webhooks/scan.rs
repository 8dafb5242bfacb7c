//! Takes what is due from the store, refills lanes, stops what nobody wants. Every step is a bounded
//! transaction; a delivery that does not fit into its lane is moved out of the way into the line of its
//! endpoint, so no endpoint and no workspace can hold up the others.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::delivery::MAX_AGE;
use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::deliveries::{self, DueRow, Key};
use store::{DbError, Tx};

use super::attempt::{DELETED, DISABLED, REDACTED, TOO_OLD};
use super::record::note;
use super::{Engine, Item, LEASE, locked};
use crate::app::App;
use crate::runtime::clock::{Job, Woken};

/// Deliveries looked at in one transaction.
const BATCH: usize = 256;
/// Log entries looked at in one transaction when an endpoint is stopped.
const STOP_BATCH: i64 = 2_000;
/// Time between two looks at a store that other nodes share.
const POLL: i64 = 5 * SECOND;

/// Runs until the service stops.
pub(super) async fn run(app: Arc<App>, mut job: Job) {
    let engine = &app.webhooks;
    let mut found = false;
    let mut next_poll = Timestamp(0);
    loop {
        let now = app.clock.now();
        let outcome = async {
            if !found {
                begin(&app).await?;
            }
            if app.store.shared() && now >= next_poll {
                find_lines(&app).await?;
            }
            stop_endpoints(&app).await?;
            feed(&app).await?;
            if engine.next_scan.load(Ordering::Acquire) <= now.0 || (app.store.shared() && now >= next_poll) {
                take_due(&app).await?;
            }
            Ok::<_, DbError>(())
        }
        .await;
        let mut due = engine.next_scan.load(Ordering::Acquire);
        match outcome {
            Ok(()) => {
                found = true;
                if app.store.shared() && !app.clock.is_manual() {
                    next_poll = now.plus(POLL);
                    due = due.min(next_poll.0);
                }
            }
            Err(why) => {
                tracing::warn!(%why, "webhook deliveries wait for the store");
                engine.next_scan.fetch_min(0, Ordering::AcqRel);
                due = now.plus(SECOND).0;
            }
        }
        let due =
            (due < i64::MAX).then_some(Timestamp(due.max(now.0.saturating_add(i64::from(due <= now.0)))));
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

/// At the start: nobody else holds deliveries of an embedded store.
async fn begin(app: &App) -> Result<(), DbError> {
    if !app.store.shared() {
        let now = app.clock.now();
        app.store.tx(move |tx| deliveries::void_leases(tx, now, now.plus(LEASE))).await?;
    }
    find_lines(app).await
}

/// Finds the endpoints for which deliveries wait in line.
async fn find_lines(app: &App) -> Result<(), DbError> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let Some(endpoint) = app.store.read(move |tx| deliveries::next_endpoint_waiting(tx, &from)).await?
        else {
            return Ok(());
        };
        locked(&app.webhooks.lanes).wait_in_line(endpoint);
        after = endpoint.to_string();
    }
}

/// Stops the pending deliveries of endpoints that were disabled or deleted.
async fn stop_endpoints(app: &App) -> Result<(), DbError> {
    loop {
        let Some((tenant, endpoint)) = locked(&app.webhooks.stopped).last().copied() else { return Ok(()) };
        stop_endpoint(app, tenant, endpoint).await?;
        locked(&app.webhooks.stopped).retain(|stopped| *stopped != (tenant, endpoint));
    }
}

async fn stop_endpoint(app: &App, tenant: Tenant, endpoint: Id<WebhookEndpoint>) -> Result<(), DbError> {
    let mut before = "whd_~".to_owned();
    loop {
        let (from, now) = (before.clone(), app.clock.now());
        let next = app.store.tx(move |tx| {
            let why = match store::webhooks::get_for_update(tx, tenant, endpoint)? {
                // Active again: what is pending may go on.
                Some(row) if row.active => return Ok(None),
                Some(_) => DISABLED,
                None => DELETED,
            };
            let note = note(now, None, 0, Some(why.to_owned()));
            deliveries::stop_page(tx, tenant, endpoint, &from, &note, STOP_BATCH)
        });
        match next.await? {
            Some(next) => before = next,
            None => return Ok(()),
        }
    }
}

/// What a transaction made of the rows it looked at.
#[derive(Default)]
struct Taken {
    items: Vec<Item>,
    in_line: Vec<Id<WebhookEndpoint>>,
    looked_at: usize,
}

/// Decides about rows, inside a transaction. `rooms` is how many more fit into each lane.
struct Desk<'a> {
    engine: &'a Engine,
    now: Timestamp,
    rooms: HashMap<Id<WebhookEndpoint>, usize>,
    /// Whether older than the retry window are given up rather than tried: their endpoint fails.
    give_up_old: bool,
    taken: Taken,
}

impl<'a> Desk<'a> {
    fn new(engine: &'a Engine, now: Timestamp) -> Self {
        Self { engine, now, rooms: HashMap::new(), give_up_old: false, taken: Taken::default() }
    }

    fn look(&mut self, tx: &mut Tx<'_>, row: DueRow) -> Result<(), DbError> {
        self.taken.looked_at += 1;
        let key = Key { tenant: row.tenant, endpoint: row.endpoint, id: row.id };
        let lease = self.now.plus(LEASE);
        if locked(&self.engine.lanes).holds(row.id, row.round) {
            // Still in this node's hands: a slow queue, or an attempt under way.
            return deliveries::lease(tx, key, lease);
        }
        let unwanted = match &row.envelope {
            _ if !row.active => Some(DISABLED),
            None => Some(REDACTED),
            Some(_) if self.give_up_old && row.round_at.plus(MAX_AGE) < self.now => Some(TOO_OLD),
            Some(_) => None,
        };
        if let Some(why) = unwanted {
            return deliveries::stop(tx, key, &note(self.now, None, 0, Some(why.to_owned()))).map(drop);
        }
        let engine = self.engine;
        let room = self
            .rooms
            .entry(row.endpoint)
            .or_insert_with(|| locked(&engine.lanes).room_for_older(row.endpoint));
        if *room == 0 {
            self.taken.in_line.push(row.endpoint);
            return deliveries::wait_in_line(tx, key);
        }
        *room -= 1;
        deliveries::lease(tx, key, lease)?;
        self.taken.items.push(Item {
            key,
            kind: api::events::find(&row.kind).map_or(row.kind.into(), |kind| kind.name.into()),
            body: row.envelope.unwrap_or_default().into(),
            round: row.round,
            round_at: row.round_at,
            made: row.made,
            created_at: row.created_at,
            lease,
        });
        Ok(())
    }
}

/// Takes what is due, batch after batch, and notes when the next is.
async fn take_due(app: &Arc<App>) -> Result<(), DbError> {
    let engine = &app.webhooks;
    engine.next_scan.store(i64::MAX, Ordering::Release);
    loop {
        let (now, engine_inside) = (app.clock.now(), engine.clone());
        let taken = app.store.tx(move |tx| {
            let mut desk = Desk::new(&engine_inside, now);
            for row in deliveries::due(tx, now, BATCH as i64)? {
                desk.look(tx, row)?;
            }
            Ok::<_, DbError>(desk.taken)
        });
        let mut taken = taken.await?;
        taken.in_line.dedup();
        let more = taken.looked_at >= BATCH;
        engine.take(taken.items, &taken.in_line);
        if !more || app.clock.stopping() {
            break;
        }
    }
    if let Some(due) = app.store.read(deliveries::next_due).await? {
        // On a shared store another node may be at work on what is due: look again a little later.
        let soonest = if app.store.shared() { app.clock.now().plus(SECOND) } else { due };
        engine.next_scan.fetch_min(due.max(soonest).0, Ordering::AcqRel);
    }
    Ok(())
}

/// Refills the lanes that run low from the lines of their endpoints.
async fn feed(app: &Arc<App>) -> Result<(), DbError> {
    let engine = &app.webhooks;
    loop {
        let hungry = locked(&engine.lanes).hungry();
        let mut more = false;
        for (endpoint, room, lined_up, failing) in hungry {
            let wanted = room.clamp(1, BATCH);
            let (now, engine_inside) = (app.clock.now(), engine.clone());
            let taken = app.store.tx(move |tx| {
                let mut desk = Desk::new(&engine_inside, now);
                desk.rooms.insert(endpoint, wanted);
                desk.give_up_old = failing;
                for row in deliveries::waiting(tx, endpoint, wanted as i64)? {
                    desk.look(tx, row)?;
                }
                Ok::<_, DbError>(desk.taken)
            });
            let taken = taken.await?;
            let all = taken.looked_at < wanted;
            engine.take(taken.items, &[]);
            more |= locked(&engine.lanes).fed(endpoint, lined_up, all);
        }
        if !more || app.clock.stopping() {
            return Ok(());
        }
    }
}

//! Leases due deliveries from the store, refills lanes, stops deliveries that are no longer wanted. Every step is a
//! bounded transaction; a delivery that does not fit into its lane moves into the queue of its endpoint in the store,
//! so no endpoint and no workspace can block the others.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::delivery::MAX_AGE;
use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use runtime::clock::{Job, Woken};
use store::deliveries::{self, DueRow, Key};
use store::{DbError, Tx};

use super::engine::Engine;
use super::outbox::kind_of;
use super::pending::{DELETED, DISABLED, LEASE, PendingAttempt, REDACTED, TOO_OLD, locked};
use super::record::note;

/// Deliveries handled in one transaction.
const BATCH: usize = 256;
/// Log entries handled in one transaction when an endpoint is stopped.
const STOP_BATCH: i64 = 2_000;
/// Poll interval on a store that other nodes share.
const POLL: i64 = 5 * SECOND;

/// Runs until the service stops.
pub(super) async fn run(engine: Arc<Engine>, mut job: Job) {
    let mut found = false;
    let mut next_poll = Timestamp(0);
    loop {
        let now = engine.clock.now();
        let outcome = async {
            if !found {
                begin(&engine).await?;
            }
            if engine.store.shared() && now >= next_poll {
                find_lines(&engine).await?;
            }
            stop_endpoints(&engine).await?;
            feed(&engine).await?;
            if engine.next_scan.load(Ordering::Acquire) <= now.0
                || (engine.store.shared() && now >= next_poll)
            {
                take_due(&engine).await?;
            }
            Ok::<_, DbError>(())
        }
        .await;
        let mut due = engine.next_scan.load(Ordering::Acquire);
        match outcome {
            Ok(()) => {
                found = true;
                if engine.store.shared() && !engine.clock.is_manual() {
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

/// At the start: no other node has leases on an embedded store.
async fn begin(engine: &Engine) -> Result<(), DbError> {
    if !engine.store.shared() {
        let now = engine.clock.now();
        engine.store.tx(move |tx| deliveries::void_leases(tx, now, now.plus(LEASE))).await?;
    }
    find_lines(engine).await
}

/// Finds the endpoints with queued deliveries.
async fn find_lines(engine: &Engine) -> Result<(), DbError> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let Some(endpoint) =
            engine.store.read(move |tx| deliveries::next_endpoint_waiting(tx, &from)).await?
        else {
            return Ok(());
        };
        locked(&engine.lanes).wait_in_line(endpoint);
        after = endpoint.to_string();
    }
}

/// Stops the pending deliveries of endpoints that were disabled or deleted.
async fn stop_endpoints(engine: &Engine) -> Result<(), DbError> {
    loop {
        let Some((tenant, endpoint)) = locked(&engine.stopped).last().copied() else { return Ok(()) };
        stop_endpoint(engine, tenant, endpoint).await?;
        locked(&engine.stopped).retain(|stopped| *stopped != (tenant, endpoint));
    }
}

async fn stop_endpoint(
    engine: &Engine,
    tenant: Tenant,
    endpoint: Id<WebhookEndpoint>,
) -> Result<(), DbError> {
    let mut before = "whd_~".to_owned();
    loop {
        let (from, now) = (before.clone(), engine.clock.now());
        let next = engine.store.of(tenant).tx(move |tx| {
            let why = match store::webhooks::get_for_update(tx, endpoint)? {
                // Active again: what is pending may go on.
                Some(row) if row.active => return Ok(None),
                Some(_) => DISABLED,
                None => DELETED,
            };
            let note = note(now, None, 0, Some(why.to_owned()));
            deliveries::stop_page(tx, endpoint, &from, &note, STOP_BATCH)
        });
        match next.await? {
            Some(next) => before = next,
            None => return Ok(()),
        }
    }
}

/// The results of a transaction.
#[derive(Default)]
struct DueAttempts {
    items: Vec<PendingAttempt>,
    in_line: Vec<Id<WebhookEndpoint>>,
    looked_at: usize,
}

/// Decides on the rows of one transaction. `rooms` is how many more fit into each lane.
struct DueRound<'a> {
    engine: &'a Engine,
    now: Timestamp,
    rooms: HashMap<Id<WebhookEndpoint>, usize>,
    /// Whether deliveries older than the retry window are given up without an attempt: their endpoint fails.
    give_up_old: bool,
    taken: DueAttempts,
}

impl<'a> DueRound<'a> {
    fn new(engine: &'a Engine, now: Timestamp) -> Self {
        Self { engine, now, rooms: HashMap::new(), give_up_old: false, taken: DueAttempts::default() }
    }

    fn look(&mut self, tx: &mut Tx<'_>, row: DueRow) -> Result<(), DbError> {
        self.taken.looked_at += 1;
        let key = Key { tenant: row.tenant, endpoint: row.endpoint, id: row.id };
        let lease = self.now.plus(LEASE);
        if locked(&self.engine.lanes).holds(row.id, row.round) {
            // Still in this node's memory: a slow queue, or an attempt in flight.
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
        self.taken.items.push(PendingAttempt {
            key,
            kind: kind_of(row.kind),
            body: row.envelope.unwrap_or_default().into(),
            transcript: row.transcript.map(Arc::new),
            round: row.round,
            round_at: row.round_at,
            made: row.made,
            created_at: row.created_at,
            lease,
            trace: row.trace,
        });
        Ok(())
    }
}

/// Leases due deliveries, batch after batch, and stores when the next is due.
async fn take_due(engine: &Arc<Engine>) -> Result<(), DbError> {
    engine.next_scan.store(i64::MAX, Ordering::Release);
    loop {
        let (now, engine_inside) = (engine.clock.now(), engine.clone());
        let taken = engine.store.tx(move |tx| {
            let mut round = DueRound::new(&engine_inside, now);
            for row in deliveries::due(tx, now, BATCH as i64)? {
                round.look(tx, row)?;
            }
            Ok::<_, DbError>(round.taken)
        });
        let mut taken = taken.await?;
        taken.in_line.dedup();
        let more = taken.looked_at >= BATCH;
        engine.take(taken.items, &taken.in_line);
        if !more || engine.clock.stopping() {
            break;
        }
    }
    if let Some(due) = engine.store.read(deliveries::next_due).await? {
        // On a shared store another node may be handling the due rows: poll again a little later.
        let soonest = if engine.store.shared() { engine.clock.now().plus(SECOND) } else { due };
        engine.next_scan.fetch_min(due.max(soonest).0, Ordering::AcqRel);
    }
    Ok(())
}

/// Refills the lanes that run low from the queues of their endpoints.
async fn feed(engine: &Arc<Engine>) -> Result<(), DbError> {
    loop {
        let hungry = locked(&engine.lanes).hungry();
        let mut more = false;
        for (endpoint, room, lined_up, failing) in hungry {
            let wanted = room.clamp(1, BATCH);
            let (now, engine_inside) = (engine.clock.now(), engine.clone());
            let taken = engine.store.tx(move |tx| {
                let mut round = DueRound::new(&engine_inside, now);
                round.rooms.insert(endpoint, wanted);
                round.give_up_old = failing;
                for row in deliveries::waiting(tx, endpoint, wanted as i64)? {
                    round.look(tx, row)?;
                }
                Ok::<_, DbError>(round.taken)
            });
            let taken = taken.await?;
            let all = taken.looked_at < wanted;
            engine.take(taken.items, &[]);
            more |= locked(&engine.lanes).fed(endpoint, lined_up, all);
        }
        if !more || engine.clock.stopping() {
            return Ok(());
        }
    }
}

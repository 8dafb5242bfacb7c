//! Webhooks: the outbox and the delivery engine (docs/contract/webhooks.md#deliveries).
//!
//! [`Engine::emit`] writes an event and its deliveries into the transaction of a use case, already leased to
//! this node, and hands them over in memory after the commit, so that usually nothing is read back. Each
//! endpoint has a lane: a bounded queue and a number of workers that adapts to its health, so that a slow or
//! dead receiver delays no other. What does not fit into the lane waits in line in the store. Outcomes are
//! batched per transaction. What a dead node held is due again when its lease ends; on an embedded store, at
//! the next start.
//!
//! The engine opens transactions of its own, for deliveries and the outbox only.
//!
//! Three jobs: `dispatch` gives lanes workers, `record` stores outcomes, `scan` takes what is due and refills
//! lanes.

mod attempt;
mod endpoints;
mod lanes;
mod outbox;
mod readers;
mod record;
mod scan;
mod sweep;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use domain::trace::TraceContext;
use http::HeaderName;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use providers::guarded_client::{GuardedClient, Policy, SystemResolver, Transport};
use runtime::clock::{Clock, Job, Signal, Woken};
use runtime::crypto::Keyring;
use runtime::shares::Shares;
use runtime::traces::Traces;
use store::deliveries::Key;
use store::events::TranscriptRef;
use store::{DbError, Store, Tx};
use tokio::sync::Notify;

pub use attempt::sign;
pub use endpoints::{Endpoint, purpose};
use lanes::Lanes;
pub use outbox::{Audience, NewEvent, Replayed, complete};
pub use readers::{MAX_READERS, Reader, Readers};
use record::FinishedAttempt;
pub use sweep::KEPT;

/// How long a node holds a delivery. An attempt takes 10 s at most; what waited in memory for nearly as long
/// as this is left to the store.
const LEASE: i64 = 60 * SECOND;

/// One attempt to be made.
#[derive(Debug, Clone)]
struct PendingAttempt {
    key: Key,
    /// Type of the event.
    kind: std::borrow::Cow<'static, str>,
    /// The envelope as it is stored.
    body: Bytes,
    /// The transcript that belongs into it, put in when it is sent.
    transcript: Option<Arc<TranscriptRef>>,
    /// Replays so far.
    round: i64,
    round_at: Timestamp,
    /// Attempts of this round so far.
    made: u32,
    /// When the delivery was made.
    created_at: Timestamp,
    /// Until when this node holds it.
    lease: Timestamp,
    /// The trace in which its event was written.
    trace: Option<TraceContext>,
}

#[derive(Default)]
struct Figures {
    attempts: Family<[(&'static str, &'static str); 1], Counter>,
    queued: Gauge,
    in_flight: Gauge,
    lag: Option<Histogram>,
}

/// What the engine is told by the settings of the service.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name in the headers and the user agent.
    pub brand: String,
    /// Whether plain HTTP and private addresses are allowed.
    pub allow_insecure: bool,
}

/// The state of the engine; one a node.
pub struct Engine {
    store: Store,
    clock: Clock,
    client: GuardedClient,
    transport: Arc<dyn Transport>,
    keyring: Arc<Keyring>,
    names: Names,
    figures: Figures,
    endpoints: Arc<endpoints::Cache>,
    wanted: endpoints::Wanted,
    traces: Traces,
    lanes: Mutex<Lanes>,
    done: Mutex<Vec<FinishedAttempt>>,
    /// Bytes of large bodies that are being sent, in all and by workspace.
    sending: Shares<()>,
    sending_of: Shares<Tenant>,
    /// Told when outcomes were recorded, and when a worker ended.
    progress: Notify,
    dispatch: Signal,
    record: Signal,
    scan: Signal,
    /// When the scan is due next; `i64::MAX` for never.
    next_scan: AtomicI64,
    /// Endpoints that were disabled or deleted, whose pending deliveries are to be stopped.
    stopped: Mutex<Vec<(Tenant, Id<WebhookEndpoint>)>>,
    /// Who reads events as they come.
    pub readers: Readers,
}

/// Header names with the brand in them.
struct Names {
    signature: HeaderName,
    event: HeaderName,
    delivery: HeaderName,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// An engine that does nothing until its jobs are started.
    ///
    /// # Errors
    /// The setting that cannot be carried out, and why.
    pub fn new(
        settings: &Settings,
        store: &Store,
        clock: &Clock,
        keyring: &Arc<Keyring>,
        traces: &Traces,
        registry: &mut Registry,
    ) -> Result<Self, String> {
        let brand = &settings.brand;
        let name = |what: &str| {
            HeaderName::try_from(format!("X-{brand}-{what}")).map_err(|why| format!("brand: {why}"))
        };
        let policy = Policy {
            allow_insecure: settings.allow_insecure,
            user_agent: format!("{}-webhooks/1", brand.to_lowercase()),
            ..Policy::default()
        };
        let client =
            GuardedClient::new(policy, Arc::new(SystemResolver::new())).map_err(|why| why.to_string())?;
        let lag =
            Histogram::new([0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0]);
        let figures = Figures { lag: Some(lag.clone()), ..Figures::default() };
        registry.register("webhook_attempts", "Attempts by outcome", figures.attempts.clone());
        registry.register(
            "webhook_queued",
            "Deliveries that wait for a worker in memory",
            figures.queued.clone(),
        );
        registry.register("webhook_in_flight", "Attempts under way", figures.in_flight.clone());
        registry.register(
            "webhook_lag_seconds",
            "Time from an event to its acceptance at the first attempt",
            lag,
        );
        Ok(Self {
            store: store.clone(),
            clock: clock.clone(),
            transport: Arc::new(client.clone()),
            client,
            keyring: keyring.clone(),
            names: Names {
                signature: name("Signature")?,
                event: name("Event")?,
                delivery: name("Delivery")?,
            },
            figures,
            endpoints: Arc::default(),
            wanted: endpoints::Wanted::default(),
            traces: traces.clone(),
            lanes: Mutex::default(),
            done: Mutex::default(),
            sending: Shares::default(),
            sending_of: Shares::default(),
            progress: Notify::new(),
            dispatch: clock.signal(),
            record: clock.signal(),
            scan: clock.signal(),
            next_scan: AtomicI64::new(0),
            stopped: Mutex::default(),
            readers: Readers::new(registry),
        })
    }

    /// Sends attempts through something else than the guarded client: for the simulation.
    #[must_use]
    pub fn with_transport(self, transport: Arc<dyn Transport>) -> Self {
        Self { transport, ..self }
    }

    /// The client that deliveries go through, for the check of an address.
    pub fn client(&self) -> &GuardedClient {
        &self.client
    }

    /// Whether a new delivery fits into the lane of an endpoint; otherwise it waits in line in the store.
    fn has_room(&self, endpoint: Id<WebhookEndpoint>) -> bool {
        locked(&self.lanes).room(endpoint) > 0
    }

    /// Takes over deliveries that are leased to this node, once their transaction is committed, and notes
    /// endpoints for which some wait in line.
    fn take(&self, items: Vec<PendingAttempt>, in_line: &[Id<WebhookEndpoint>]) {
        let Some(lease) = items
            .iter()
            .map(|item| item.lease)
            .min()
            .or_else(|| (!in_line.is_empty()).then_some(Timestamp(i64::MAX)))
        else {
            return;
        };
        let feed = {
            let mut lanes = locked(&self.lanes);
            for item in items {
                lanes.push(item);
            }
            self.figures.queued.set(lanes.queued() as i64);
            let mut feed = false;
            for endpoint in in_line {
                feed |= lanes.wait_in_line(*endpoint);
            }
            feed
        };
        self.dispatch.raise();
        self.due_at(lease);
        if feed {
            self.scan.raise();
        }
    }

    /// Makes sure that a scan comes at `due`.
    fn due_at(&self, due: Timestamp) {
        if self.next_scan.fetch_min(due.0, Ordering::AcqRel) > due.0 {
            self.scan.raise();
        }
    }

    /// Makes what nodes remember of a workspace's endpoints void once the transaction is committed.
    pub fn endpoints_change(self: &Arc<Self>, tx: &mut Tx<'_>, tenant: Tenant) -> Result<(), DbError> {
        let cache = self.endpoints.clone();
        tx.after_commit(move || cache.forget(tenant));
        store::generations::endpoints_change(tx, tenant)
    }

    /// Stops the pending deliveries of an endpoint once the transaction is committed.
    pub fn stop_deliveries(self: &Arc<Self>, tx: &mut Tx<'_>, tenant: Tenant, endpoint: Id<WebhookEndpoint>) {
        let engine = self.clone();
        tx.after_commit(move || {
            locked(&engine.lanes).drop_queue(endpoint);
            locked(&engine.stopped).push((tenant, endpoint));
            engine.scan.raise();
        });
    }

    /// Drops deliveries from this node's memory once the transaction is committed.
    fn forget(self: &Arc<Self>, tx: &mut Tx<'_>, keys: Vec<Key>) {
        let engine = self.clone();
        tx.after_commit(move || {
            let mut lanes = locked(&engine.lanes);
            for key in &keys {
                lanes.let_go(key.id);
            }
        });
    }

    /// Drops events and delivery logs after their time. Returns when to come again, a day later at the
    /// earliest.
    pub async fn sweep(&self) -> Result<Timestamp, DbError> {
        sweep::sweep(self).await
    }

    /// Starts the three jobs.
    pub fn start(self: &Arc<Self>) {
        let (one, two, three) = (self.clone(), self.clone(), self.clone());
        self.clock.start_job(self.dispatch.clone(), |job| dispatch(one, job));
        self.clock.start_job(self.record.clone(), |job| record::run(two, job));
        self.clock.start_job(self.scan.clone(), |job| scan::run(three, job));
    }
}

/// Gives lanes workers.
async fn dispatch(engine: Arc<Engine>, mut job: Job) {
    loop {
        let workers = locked(&engine.lanes).dispatch();
        for endpoint in workers {
            engine.clock.spawn(attempt::work(engine.clone(), endpoint));
        }
        if job.wait(None).await == Woken::Stop {
            return;
        }
    }
}

//! The state of the delivery engine: one a node.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use http::HeaderName;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use providers::guarded_client::{GuardedClient, Policy, SystemResolver, Transport};
use runtime::clock::{Clock, Signal};
use runtime::crypto::Keyring;
use runtime::shares::Bounded;
use runtime::traces::Traces;
use store::deliveries::Key;
use store::{DbError, Store, TenantTx, Tx};
use tokio::sync::Notify;

use super::endpoints;
use super::lanes::Lanes;
use super::pending::{FinishedAttempt, PendingAttempt, SENDING, locked};
use super::readers::Readers;

#[derive(Default)]
pub(super) struct EngineMetrics {
    pub(super) attempts: Family<[(&'static str, &'static str); 1], Counter>,
    pub(super) queued: Gauge,
    pub(super) in_flight: Gauge,
    pub(super) lag: Option<Histogram>,
}

/// Settings of the engine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name in the headers and the user agent.
    pub brand: String,
    /// Whether plain HTTP and private addresses are allowed.
    pub allow_insecure: bool,
}

/// The state of the engine; one a node.
pub struct Engine {
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) client: GuardedClient,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) keyring: Arc<Keyring>,
    pub(super) names: Names,
    pub(super) metrics: EngineMetrics,
    pub(super) endpoints: Arc<endpoints::Cache>,
    pub(super) wanted: endpoints::LiveCheck,
    pub(super) traces: Traces,
    pub(super) lanes: Mutex<Lanes>,
    pub(super) done: Mutex<Vec<FinishedAttempt>>,
    /// Bytes of large bodies that are being sent, in all and by workspace.
    pub(super) sending: Bounded<Tenant>,
    /// Notified when outcomes were recorded, and when a worker ended.
    pub(super) progress: Notify,
    pub(super) dispatch: Signal,
    pub(super) record: Signal,
    pub(super) scan: Signal,
    /// When the scan is due next; `i64::MAX` for never.
    pub(super) next_scan: AtomicI64,
    /// Endpoints that were disabled or deleted, whose pending deliveries are to be stopped.
    pub(super) stopped: Mutex<Vec<(Tenant, Id<WebhookEndpoint>)>>,
    /// Clients that wait for events.
    pub readers: Readers,
}

/// Header names with the brand in them.
pub(super) struct Names {
    pub(super) signature: HeaderName,
    pub(super) event: HeaderName,
    pub(super) delivery: HeaderName,
}

impl Engine {
    /// An engine that does nothing until its jobs are started.
    ///
    /// # Errors
    /// The invalid setting, and why.
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
        let metrics = EngineMetrics { lag: Some(lag.clone()), ..EngineMetrics::default() };
        registry.register("webhook_attempts", "Attempts by outcome", metrics.attempts.clone());
        registry.register(
            "webhook_queued",
            "Deliveries that wait for a worker in memory",
            metrics.queued.clone(),
        );
        registry.register("webhook_in_flight", "Attempts under way", metrics.in_flight.clone());
        registry.register(
            "webhook_lag_seconds",
            "Time from an event to its acceptance at the first attempt",
            lag,
        );
        let sending = Gauge::default();
        registry.register("webhook_sending_bytes", "Bytes of large bodies under way", sending.clone());
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
            metrics,
            endpoints: Arc::default(),
            wanted: endpoints::LiveCheck::default(),
            traces: traces.clone(),
            lanes: Mutex::default(),
            done: Mutex::default(),
            sending: Bounded::new(SENDING, sending),
            progress: Notify::new(),
            dispatch: clock.signal(),
            record: clock.signal(),
            scan: clock.signal(),
            next_scan: AtomicI64::new(0),
            stopped: Mutex::default(),
            readers: Readers::new(registry),
        })
    }

    /// Replaces the guarded client: for the simulation.
    #[must_use]
    pub fn with_transport(self, transport: Arc<dyn Transport>) -> Self {
        Self { transport, ..self }
    }

    /// The client that makes the deliveries, for the check of an address.
    pub fn client(&self) -> &GuardedClient {
        &self.client
    }

    /// Whether a new delivery fits into the lane of an endpoint; otherwise it is queued in the store.
    pub(super) fn has_room(&self, endpoint: Id<WebhookEndpoint>) -> bool {
        locked(&self.lanes).room(endpoint) > 0
    }

    /// Takes deliveries that are leased to this node, once their transaction is committed, and marks endpoints with
    /// queued ones.
    pub(super) fn take(&self, items: Vec<PendingAttempt>, in_line: &[Id<WebhookEndpoint>]) {
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
            self.metrics.queued.set(lanes.queued() as i64);
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

    /// Schedules a scan at `due` at the latest.
    pub(super) fn due_at(&self, due: Timestamp) {
        if self.next_scan.fetch_min(due.0, Ordering::AcqRel) > due.0 {
            self.scan.raise();
        }
    }

    /// Makes what nodes remember of a workspace's endpoints void once the transaction is committed.
    pub fn endpoints_change(self: &Arc<Self>, tx: &mut TenantTx) -> Result<(), DbError> {
        let tenant = tx.tenant();
        let cache = self.endpoints.clone();
        tx.after_commit(move || cache.forget(tenant));
        store::generations::endpoints_change(tx)
    }

    /// Stops the pending deliveries of an endpoint once the transaction is committed.
    pub fn stop_deliveries(self: &Arc<Self>, tx: &mut TenantTx, endpoint: Id<WebhookEndpoint>) {
        let tenant = tx.tenant();
        let engine = self.clone();
        tx.after_commit(move || {
            locked(&engine.lanes).drop_queue(endpoint);
            locked(&engine.stopped).push((tenant, endpoint));
            engine.scan.raise();
        });
    }

    /// Drops deliveries from this node's memory once the transaction is committed.
    pub(super) fn forget(self: &Arc<Self>, tx: &mut Tx<'_>, keys: Vec<Key>) {
        let engine = self.clone();
        tx.after_commit(move || {
            let mut lanes = locked(&engine.lanes);
            for key in &keys {
                lanes.let_go(key.id);
            }
        });
    }
}

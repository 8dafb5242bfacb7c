//! What this node knows of endpoints. On an embedded store it is remembered, and every change forgets it at
//! its commit; on a shared one it is read each time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use providers::guarded_client::Target;
use ring::hmac;
use store::deliveries::{self, Key};
use store::webhooks::{self, EndpointRow};
use store::{DbError, Tx};

use super::Engine;

/// Workspaces whose endpoints are remembered.
const REMEMBERED: usize = 10_000;

/// An endpoint, ready for use.
pub struct Endpoint {
    /// Its id.
    pub id: Id<WebhookEndpoint>,
    /// Whether it receives anything.
    pub active: bool,
    events: Vec<String>,
    agents: Vec<String>,
    /// Where deliveries go, or why the address is no longer accepted.
    pub target: Result<Target, String>,
    /// The signing key; `None` when it cannot be decrypted.
    pub key: Option<hmac::Key>,
}

impl Endpoint {
    /// Whether it receives an event of this type, about this agent.
    pub fn wants(&self, kind: &str, agent: Option<&str>) -> bool {
        let subscribed = if self.events.is_empty() {
            !api::events::find(kind).is_some_and(|kind| kind.pick_only)
        } else {
            self.events.iter().any(|picked| picked == kind)
        };
        let about = self.agents.is_empty()
            || agent.is_none_or(|agent| self.agents.iter().any(|picked| picked == agent));
        self.active && subscribed && about
    }
}

/// The endpoints of one workspace.
pub type Endpoints = Arc<Vec<Arc<Endpoint>>>;

#[derive(Default)]
pub(super) struct Cache {
    by_tenant: RwLock<HashMap<Tenant, Endpoints>>,
    generation: AtomicU64,
}

impl Cache {
    fn get(&self, tenant: Tenant) -> Option<Endpoints> {
        self.by_tenant.read().unwrap_or_else(PoisonError::into_inner).get(&tenant).cloned()
    }

    /// Remembers what was read at `generation`, unless something changed since.
    fn put(&self, tenant: Tenant, endpoints: Endpoints, generation: u64) {
        let mut known = self.by_tenant.write().unwrap_or_else(PoisonError::into_inner);
        if self.generation.load(Ordering::Acquire) != generation {
            return;
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(tenant, endpoints);
    }

    pub(super) fn forget(&self, tenant: Tenant) {
        let mut known = self.by_tenant.write().unwrap_or_else(PoisonError::into_inner);
        self.generation.fetch_add(1, Ordering::AcqRel);
        known.remove(&tenant);
    }
}

/// What binds a sealed secret to its endpoint.
pub fn purpose(id: Id<WebhookEndpoint>) -> String {
    format!("webhook:{id}")
}

impl Engine {
    fn ready(&self, row: EndpointRow) -> Arc<Endpoint> {
        let secret = self.keyring.open_sealed(&purpose(row.id), &row.secret);
        Arc::new(Endpoint {
            id: row.id,
            active: row.active,
            events: row.events,
            agents: row.agent_ids,
            target: self.client.check_url(&row.url).map_err(|why| why.to_string()),
            key: secret.map(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())),
        })
    }

    /// The endpoints of a workspace, inside a transaction.
    pub fn endpoints(&self, tx: &mut Tx<'_>, tenant: Tenant) -> Result<Endpoints, DbError> {
        if !tx.shared()
            && let Some(known) = self.endpoints.get(tenant)
        {
            return Ok(known);
        }
        let generation = self.endpoints.generation.load(Ordering::Acquire);
        let rows = webhooks::list(tx, tenant)?;
        let endpoints: Endpoints = Arc::new(rows.into_iter().map(|row| self.ready(row)).collect());
        if !tx.shared() {
            // Only what is committed is remembered.
            let (cache, read) = (self.endpoints.clone(), endpoints.clone());
            tx.after_commit(move || cache.put(tenant, read, generation));
        }
        Ok(endpoints)
    }

    /// The endpoint of a delivery as it is now; `None` when the delivery wants no attempt any more.
    pub(super) async fn endpoint_of(&self, key: Key, round: i64) -> Result<Option<Arc<Endpoint>>, DbError> {
        if self.store.shared() {
            let row = self.store.read(move |tx| deliveries::endpoint_if_wanted(tx, key, round)).await?;
            return Ok(row.map(|row| self.ready(row)));
        }
        let find =
            |endpoints: &Endpoints| endpoints.iter().find(|endpoint| endpoint.id == key.endpoint).cloned();
        if let Some(known) = self.endpoints.get(key.tenant) {
            return Ok(find(&known));
        }
        let generation = self.endpoints.generation.load(Ordering::Acquire);
        let rows = self.store.read(move |tx| webhooks::list(tx, key.tenant)).await?;
        let endpoints: Endpoints = Arc::new(rows.into_iter().map(|row| self.ready(row)).collect());
        self.endpoints.put(key.tenant, endpoints.clone(), generation);
        Ok(find(&endpoints))
    }
}

//! This node's cache of endpoints. On an embedded store every change invalidates it at its commit. On a shared one the
//! store counts the changes of each workspace (a generation): a transaction that uses the cache has the store compare
//! the generation, and an attempt reads it together with its delivery. Concurrent attempts share one query.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use domain::ids::{Id, WebhookEndpoint};
use domain::tenant::Tenant;
use providers::guarded_client::Target;
use ring::hmac;
use store::deliveries::{self, Key};
use store::webhooks::{self, EndpointRow};
use store::{DbError, Store, TenantTx, generations};
use tokio::sync::oneshot;

use super::engine::Engine;
use super::pending::locked;

/// Workspaces whose endpoints are cached.
const REMEMBERED: usize = 10_000;
/// Attempts in one query.
const LOOKED_AT: usize = 64;

/// An endpoint, ready for use.
pub struct Endpoint {
    pub id: Id<WebhookEndpoint>,
    /// Whether it receives anything.
    pub active: bool,
    events: Vec<String>,
    agents: Vec<String>,
    /// The target of deliveries, or why the address is no longer accepted.
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

/// The cache entry of a workspace.
#[derive(Clone)]
struct CachedEndpoints {
    endpoints: Endpoints,
    /// The store's generation at which they were read; 0 on an embedded store.
    number: u64,
}

#[derive(Default)]
pub(super) struct Cache {
    by_tenant: RwLock<HashMap<Tenant, CachedEndpoints>>,
    /// Changes that were made on this node.
    generation: AtomicU64,
}

impl Cache {
    fn get(&self, tenant: Tenant) -> Option<CachedEndpoints> {
        self.by_tenant.read().unwrap_or_else(PoisonError::into_inner).get(&tenant).cloned()
    }

    /// Caches what was read at `generation`, unless something changed since.
    fn put(&self, tenant: Tenant, known: CachedEndpoints, generation: u64) {
        let mut all = self.by_tenant.write().unwrap_or_else(PoisonError::into_inner);
        let newer = all.get(&tenant).is_some_and(|other| other.number > known.number);
        if newer || self.generation.load(Ordering::Acquire) != generation {
            return;
        }
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(tenant, known);
    }

    pub(super) fn forget(&self, tenant: Tenant) {
        let mut known = self.by_tenant.write().unwrap_or_else(PoisonError::into_inner);
        self.generation.fetch_add(1, Ordering::AcqRel);
        known.remove(&tenant);
    }
}

/// Attempts that wait for the query whether they are still wanted.
#[derive(Default)]
pub(super) struct LiveCheck {
    waiting: Mutex<Vec<(Key, i64, oneshot::Sender<Answer>)>>,
    /// Held by the attempt that runs the query.
    turn: tokio::sync::Mutex<()>,
}

/// The generation of the workspace's endpoints, if the attempt is still wanted.
type Answer = Result<Option<u64>, DbError>;

impl LiveCheck {
    async fn ask(&self, store: &Store, key: Key, round: i64) -> Answer {
        let (send, mut answer) = oneshot::channel();
        locked(&self.waiting).push((key, round, send));
        let gone = || DbError::Unavailable("a look at deliveries was broken off".into());
        let _turn = tokio::select! {
            biased;
            answer = &mut answer => return answer.unwrap_or_else(|_| Err(gone())),
            turn = self.turn.lock() => turn,
        };
        // There may be many older ones: this one is answered in the end.
        loop {
            match answer.try_recv() {
                Ok(answer) => return answer,
                Err(oneshot::error::TryRecvError::Closed) => return Err(gone()),
                Err(oneshot::error::TryRecvError::Empty) => {}
            }
            let asked: Vec<_> = {
                let mut waiting = locked(&self.waiting);
                let count = waiting.len().min(LOOKED_AT);
                waiting.drain(..count).collect()
            };
            let keys: Vec<Key> = asked.iter().map(|(key, ..)| *key).collect();
            let found = store.read(move |tx| deliveries::pending(tx, &keys)).await;
            for (key, round, send) in asked {
                let wanted = |found: &HashMap<Key, (i64, u64)>| {
                    found.get(&key).filter(|(now, _)| *now == round).map(|(_, number)| *number)
                };
                let _ = send.send(found.as_ref().map(wanted).map_err(Clone::clone));
            }
        }
    }
}

/// The purpose that binds a sealed secret to its endpoint.
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
    pub fn endpoints(&self, tx: &mut TenantTx) -> Result<Endpoints, DbError> {
        let tenant = tx.tenant();
        if !tx.again()
            && let Some(known) = self.endpoints.get(tenant)
        {
            generations::endpoints_unchanged(tx, known.number)?;
            return Ok(known.endpoints);
        }
        let generation = self.endpoints.generation.load(Ordering::Acquire);
        let known = self.read(tx)?;
        // Only what is committed is remembered.
        let (cache, read) = (self.endpoints.clone(), known.clone());
        tx.after_commit(move || cache.put(tenant, read, generation));
        Ok(known.endpoints)
    }

    fn read(&self, tx: &mut TenantTx) -> Result<CachedEndpoints, DbError> {
        // The number first: what is remembered may be newer than its number, and never older.
        let number = if tx.shared() { generations::endpoints(tx)? } else { 0 };
        let rows = webhooks::list(tx)?;
        Ok(CachedEndpoints {
            endpoints: Arc::new(rows.into_iter().map(|row| self.ready(row)).collect()),
            number,
        })
    }

    /// The current endpoint of a delivery; `None` when the delivery wants no attempt any more.
    pub(super) async fn endpoint_of(
        self: &Arc<Self>,
        key: Key,
        round: i64,
    ) -> Result<Option<Arc<Endpoint>>, DbError> {
        let find = |known: &CachedEndpoints| {
            known.endpoints.iter().find(|endpoint| endpoint.id == key.endpoint).cloned()
        };
        let number = if self.store.shared() {
            match self.wanted.ask(&self.store, key, round).await? {
                Some(number) => number,
                None => return Ok(None),
            }
        } else {
            0
        };
        if let Some(known) = self.endpoints.get(key.tenant).filter(|known| known.number >= number) {
            return Ok(find(&known));
        }
        let generation = self.endpoints.generation.load(Ordering::Acquire);
        let engine = self.clone();
        let known = self.store.of(key.tenant).read(move |tx| engine.read(tx)).await?;
        self.endpoints.put(key.tenant, known.clone(), generation);
        Ok(find(&known))
    }
}

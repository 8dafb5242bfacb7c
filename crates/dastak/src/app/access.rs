//! Who may come in: API keys, what a node may remember of them, and the throttle of invalid ones.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use api::error_codes;
use api::scopes::{self, Scope};
use domain::ids::{ApiKey, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, SECOND, Timestamp};
use store::Tx;
use store::api_keys::{self, KeyRow};
use store::workspaces::WorkspaceRow;

use super::{App, Failure, topics};

/// Invalid keys that one address may present within a minute before it is refused for a minute.
const INVALID_KEYS_PER_MINUTE: u32 = 20;
/// Keys that a node remembers, and addresses it watches.
const REMEMBERED: usize = 10_000;

/// A valid key and its workspace.
#[derive(Debug)]
pub struct Access {
    /// The key.
    pub key: KeyRow,
    /// Its workspace, as of this request; the wallet figures may be older.
    pub workspace: WorkspaceRow,
    scopes: u64,
}

/// The holder of a valid key, for one request.
#[derive(Debug, Clone)]
pub struct Caller(pub Arc<Access>);

impl Caller {
    /// The workspace.
    pub fn tenant(&self) -> Tenant {
        self.0.workspace.id
    }

    /// The world that the key opens.
    pub fn mode(&self) -> Mode {
        self.0.key.mode
    }

    /// The key's id.
    pub fn key_id(&self) -> Id<ApiKey> {
        self.0.key.id
    }

    /// Whether the key has a scope.
    pub fn has(&self, scope: Scope) -> bool {
        bit(scope).is_some_and(|bit| self.0.scopes & bit != 0)
    }

    /// Refuses a caller without the scope.
    pub fn need(&self, scope: Scope) -> Result<(), Failure> {
        if self.has(scope) {
            return Ok(());
        }
        let message = format!("this key lacks the scope {}", scope.0);
        Err(Failure::new(error_codes::API_SCOPE_MISSING, message).with_meta(serde_json::json!({"scope": scope.0})))
    }

    /// Refuses when a feature is off for the workspace.
    pub fn need_feature(&self, feature: &str) -> Result<(), Failure> {
        if feature_on(&self.0.workspace, feature) {
            return Ok(());
        }
        Err(Failure::new(error_codes::PLAN_FEATURE_LOCKED, format!("{feature} is off for this workspace")))
    }

    /// A limit of the workspace (see `api::operator::LIMITS`).
    pub fn limit(&self, name: &str) -> i64 {
        limit(&self.0.workspace, name)
    }
}

/// Whether a feature is on: everything is unless the operator switched it off.
pub fn feature_on(workspace: &WorkspaceRow, feature: &str) -> bool {
    workspace.features.get(feature).and_then(serde_json::Value::as_bool).unwrap_or(true)
}

/// A limit of a workspace: the operator's number or the default.
pub fn limit(workspace: &WorkspaceRow, name: &str) -> i64 {
    let default = api::operator::LIMITS.iter().find(|(known, _)| *known == name).map_or(0, |(_, default)| *default);
    workspace.limits.get(name).and_then(serde_json::Value::as_i64).unwrap_or(default)
}

fn bit(scope: Scope) -> Option<u64> {
    scopes::ALL.iter().position(|known| *known == scope).map(|position| 1 << position)
}

/// What a node remembers of keys. Only an embedded store allows it: there every change passes through this process.
#[derive(Default)]
pub struct Cache {
    known: RwLock<HashMap<String, Arc<Access>>>,
    generation: Arc<AtomicU64>,
    filled: AtomicU64,
}

impl Cache {
    fn get(&self, hash: &str) -> Option<Arc<Access>> {
        if self.filled.load(Ordering::Acquire) != self.generation.load(Ordering::Acquire) {
            return None;
        }
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    /// Remembers a key as it was read at `generation`.
    fn put(&self, hash: &str, access: &Arc<Access>, generation: u64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if self.generation.load(Ordering::Acquire) != generation {
            return;
        }
        if self.filled.swap(generation, Ordering::AcqRel) != generation || known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(hash.to_owned(), access.clone());
    }
}

impl App {
    /// Makes what nodes remember of keys and workspaces void as soon as the transaction is committed, before its caller hears of it.
    pub fn access_changes(&self) -> impl Fn(&mut Tx<'_>) + Send + use<> {
        let generation = self.access.generation.clone();
        move |tx| {
            let generation = generation.clone();
            tx.after_commit(move || {
                generation.fetch_add(1, Ordering::AcqRel);
            });
            tx.wake(topics::ACCESS);
        }
    }

    /// The caller behind a bearer value; `None` for a missing, unknown, expired or revoked key.
    pub async fn authenticate(&self, bearer: &str) -> Result<Option<Caller>, Failure> {
        let now = self.clock.now();
        let hash = self.keyring.hash(bearer);
        let remembers = !self.store.shared();
        let known = remembers.then(|| self.access.get(&hash)).flatten();
        let access = match known {
            Some(access) => access,
            None => {
                let generation = self.access.generation.load(Ordering::Acquire);
                let wanted = hash.clone();
                let found = self.store.read(move |tx| api_keys::find_by_hash(tx, &wanted)).await?;
                let Some((key, workspace)) = found else { return Ok(None) };
                let scopes = key.scopes.split(' ').filter_map(|name| bit(scopes::find(name)?)).fold(0, |all, bit| all | bit);
                let access = Arc::new(Access { key, workspace, scopes });
                if remembers {
                    self.access.put(&hash, &access, generation);
                }
                access
            }
        };
        let works = access.key.revoked_at.is_none() && access.key.expires_at.is_none_or(|expiry| expiry > now);
        Ok(works.then_some(Caller(access)))
    }
}

/// Counts invalid keys by address (spec 1 «Authentication» 4).
#[derive(Default)]
pub struct Throttle(Mutex<HashMap<IpAddr, (Timestamp, u32)>>);

impl Throttle {
    /// Counts one invalid key; the seconds to wait when the address has presented too many.
    pub fn invalid_key(&self, address: IpAddr, now: Timestamp) -> Option<i64> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED {
            seen.retain(|_, (since, _)| now < since.plus(MINUTE));
        }
        let (since, count) = seen.entry(address).or_insert((now, 0));
        if now >= since.plus(MINUTE) {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        if *count <= INVALID_KEYS_PER_MINUTE {
            return None;
        }
        if *count == INVALID_KEYS_PER_MINUTE + 1 {
            // The minute of refusal starts now.
            *since = now;
        }
        Some(((since.plus(MINUTE).0 - now.0 + SECOND - 1) / SECOND).max(1))
    }
}

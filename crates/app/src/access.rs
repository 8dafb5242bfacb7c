//! Access: API keys and their cache on a node, the throttle of invalid ones, and workspaces.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use api::error_codes;
use api::scopes::{self, Scope};
use domain::actor::Actor;
use domain::ids::{ApiKey, Id, User};
use domain::tenant::{Mode, Role, Tenant};
use domain::time::{MINUTE, SECOND, Timestamp};
use store::keys::{self, KeyRow};
use store::workspaces::{self, WorkspaceRow};
use store::{DbError, Store, TenantTx, Tx, generations};

use super::{App, Failure, topics};

/// Invalid keys from one address within a minute before it is refused for a minute.
const INVALID_KEYS_PER_MINUTE: u32 = 20;
/// Unknown keys of a refused address that are still looked up in its minute: one of them may be valid.
const LOOK_UPS_REFUSED: u32 = 100;
/// Cached keys of a node, and watched addresses.
const REMEMBERED: usize = 10_000;

/// The unit of throttling without a key: an IPv4 address, or the 64 bits of an IPv6 network, which belong to one
/// customer.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
        four => four,
    }
}

/// A workspace, inside a transaction.
///
/// # Errors
/// 404 when there is none.
pub fn workspace(tx: &mut TenantTx) -> Result<WorkspaceRow, Failure> {
    workspaces::get(tx)?.ok_or_else(|| Failure::not_found("workspace"))
}

/// The same, locked until the transaction ends.
///
/// # Errors
/// 404 when there is none.
pub fn workspace_for_update(tx: &mut TenantTx) -> Result<WorkspaceRow, Failure> {
    workspaces::get_for_update(tx)?.ok_or_else(|| Failure::not_found("workspace"))
}

/// Who makes a request to a workspace.
#[derive(Debug)]
pub enum Holder {
    /// A system with an API key.
    Key(Box<KeyRow>),
    /// A member with a session.
    Member {
        /// The member of this workspace.
        member: Id<User>,
        role: Role,
        /// The mode that the page is in.
        mode: Mode,
    },
}

/// A valid key or session, and the workspace that it opens.
#[derive(Debug)]
pub struct Access {
    pub holder: Holder,
    /// Its workspace, as of this request; the wallet's amounts may be older.
    pub workspace: WorkspaceRow,
    scopes: u64,
}

/// The holder of a valid key or session, for one request.
#[derive(Debug, Clone)]
pub struct Caller(pub Arc<Access>);

impl Caller {
    /// A member with a session. Its scopes are all: what it may do, the role of the operation decides.
    pub fn of_member(workspace: WorkspaceRow, member: Id<User>, role: Role, mode: Mode) -> Self {
        Self(Arc::new(Access { holder: Holder::Member { member, role, mode }, workspace, scopes: u64::MAX }))
    }

    pub fn tenant(&self) -> Tenant {
        self.0.workspace.id
    }

    /// The mode of the key, or of the page that the member is on.
    pub fn mode(&self) -> Mode {
        match &self.0.holder {
            Holder::Key(key) => key.mode,
            Holder::Member { mode, .. } => *mode,
        }
    }

    /// Who makes the request.
    pub fn actor(&self) -> Actor {
        match &self.0.holder {
            Holder::Key(key) => Actor::Key(key.id),
            Holder::Member { member, .. } => Actor::Member(*member),
        }
    }

    /// The key; `None` for a member.
    pub fn key_id(&self) -> Option<Id<ApiKey>> {
        self.actor().key()
    }

    /// The member; `None` for a key.
    pub fn member(&self) -> Option<Id<User>> {
        self.actor().member()
    }

    /// The role of the member; `None` for a key.
    pub fn role(&self) -> Option<Role> {
        match &self.0.holder {
            Holder::Key(_) => None,
            Holder::Member { role, .. } => Some(*role),
        }
    }

    /// Whether the key has a scope. A member has all.
    pub fn has(&self, scope: Scope) -> bool {
        bit(scope).is_some_and(|bit| self.0.scopes & bit != 0)
    }

    /// Refuses a caller without the scope.
    pub fn need(&self, scope: Scope) -> Result<(), Failure> {
        if self.has(scope) {
            return Ok(());
        }
        let message = format!("the key lacks the scope {}; ask the operator for a key with it", scope.0);
        Err(Failure::new(error_codes::API_SCOPE_MISSING, message)
            .with_meta(serde_json::json!({"scope": scope.0})))
    }

    /// Refuses when a feature is off for the workspace.
    pub fn need_feature(&self, feature: &str) -> Result<(), Failure> {
        if feature_on(&self.0.workspace, feature) {
            return Ok(());
        }
        Err(Failure::new(
            error_codes::PLAN_FEATURE_LOCKED,
            format!("the feature {feature} is off for this workspace; ask the operator to switch it on"),
        ))
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
    let default =
        api::operator::LIMITS.iter().find(|(known, _)| *known == name).map_or(0, |(_, default)| *default);
    workspace.limits.get(name).and_then(serde_json::Value::as_i64).unwrap_or(default)
}

fn bit(scope: Scope) -> Option<u64> {
    scopes::ALL.iter().position(|known| *known == scope).map(|position| 1 << position)
}

/// A node's cache of keys and their workspaces, as of one generation. On an embedded store every change passes through
/// this process, which counts them. On a shared one the store counts them, and each request compares: concurrent
/// requests share one query.
#[derive(Default)]
pub struct Cache {
    known: RwLock<HashMap<String, Arc<Access>>>,
    /// Changes that this process has counted.
    generation: Arc<AtomicU64>,
    /// The generation of `known`.
    filled: AtomicU64,
    /// Queries of the store's generation that have begun.
    looks: AtomicU64,
    /// The last finished query, and its result.
    seen: tokio::sync::Mutex<(u64, u64)>,
    /// When keys were used on this node, since that was last written: at most one entry for each valid key.
    uses: Mutex<HashMap<(Tenant, Id<ApiKey>), Timestamp>>,
}

impl Cache {
    fn note_use(&self, tenant: Tenant, key: Id<ApiKey>, now: Timestamp) {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).insert((tenant, key), now);
    }

    /// When keys were used since the last call.
    pub(crate) fn take_uses(&self) -> Vec<((Tenant, Id<ApiKey>), Timestamp)> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }

    fn get(&self, hash: &str, generation: u64) -> Option<Arc<Access>> {
        if self.filled.load(Ordering::Acquire) != generation {
            return None;
        }
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    /// Caches a key as it was read at `generation`, unless something changed since.
    fn put(&self, hash: &str, access: &Arc<Access>, generation: u64, shared: bool) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let newest = if shared { &self.filled } else { &*self.generation };
        if newest.load(Ordering::Acquire) > generation {
            return;
        }
        if self.filled.swap(generation, Ordering::AcqRel) != generation || known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(hash.to_owned(), access.clone());
    }

    /// The generation, as of a time after this was called.
    async fn current(&self, store: &Store) -> Result<u64, DbError> {
        if !store.shared() {
            return Ok(self.generation.load(Ordering::Acquire));
        }
        let begun = self.looks.load(Ordering::Acquire);
        let mut seen = self.seen.lock().await;
        // A query that began after this was called answers it, too.
        if seen.0 <= begun {
            let number = self.looks.fetch_add(1, Ordering::AcqRel) + 1;
            *seen = (number, store.read(generations::access).await?);
        }
        Ok(seen.1)
    }
}

impl App {
    /// Invalidates the caches of keys and workspaces as soon as the transaction is committed, before its caller gets
    /// the result.
    pub fn access_changes(&self) -> impl Fn(&mut Tx<'_>) -> Result<(), DbError> + Send + use<> {
        let generation = self.access.generation.clone();
        move |tx| {
            let generation = generation.clone();
            tx.after_commit(move || {
                generation.fetch_add(1, Ordering::AcqRel);
            });
            tx.wake(topics::ACCESS);
            generations::access_changes(tx)
        }
    }

    /// The generation of keys, sessions, members and workspaces, as of a time after this was called.
    pub(crate) async fn access_generation(&self) -> Result<u64, DbError> {
        self.access.current(&self.store).await
    }

    /// The caller of a bearer token from an address. An address with too many invalid keys is refused before its key is
    /// looked up, unless the key was valid here before.
    ///
    /// # Errors
    /// 401, 429 with the seconds to wait, and those of the store.
    pub async fn admit_key(&self, bearer: &str, address: IpAddr) -> Result<Caller, Failure> {
        let hash = self.keyring.hash(bearer);
        let look_up = self.authenticate_hash(hash.clone());
        self.admit_secret(&hash, address, look_up, "the API key is not valid").await
    }

    /// The object of a secret from an address, under the same throttle as API keys. `hash` is the keyed hash of the
    /// secret; `look_up` finds the object, or nothing.
    ///
    /// # Errors
    /// 401 with `message`, 429 with the seconds to wait, and those of the look-up.
    pub async fn admit_secret<T>(
        &self,
        hash: &str,
        address: IpAddr,
        look_up: impl Future<Output = Result<Option<T>, Failure>>,
        message: &str,
    ) -> Result<T, Failure> {
        if let Some(wait) = self.throttle.refuses(address, hash, self.clock.now()) {
            self.metrics.invalid_keys.inc();
            return Err(too_many(wait));
        }
        match look_up.await? {
            Some(found) => {
                self.throttle.worked(hash.to_owned());
                Ok(found)
            }
            None => Err(self.invalid_key(address, message)),
        }
    }

    /// Counts an invalid key or token, and returns the error for its sender.
    pub fn invalid_key(&self, address: IpAddr, message: &str) -> Failure {
        self.metrics.invalid_keys.inc();
        match self.throttle.invalid_key(address, self.clock.now()) {
            Some(wait) => too_many(wait),
            None => Failure::new(error_codes::UNAUTHORIZED, message),
        }
    }

    /// Counts a look-up of an unknown connection of the messaging channel, like an invalid key, and returns the error
    /// for its sender.
    pub fn hook_refused(&self, address: IpAddr, failure: Failure) -> Failure {
        if failure.error.status >= 500 {
            return failure;
        }
        match self.throttle.invalid_key(address, self.clock.now()) {
            Some(wait) => too_many(wait),
            None => failure,
        }
    }

    /// The caller of a bearer token; `None` for a missing, unknown, expired or revoked key.
    pub async fn authenticate(&self, bearer: &str) -> Result<Option<Caller>, Failure> {
        self.authenticate_hash(self.keyring.hash(bearer)).await
    }

    async fn authenticate_hash(&self, hash: String) -> Result<Option<Caller>, Failure> {
        let now = self.clock.now();
        let generation = self.access.current(&self.store).await?;
        let access = match self.access.get(&hash, generation) {
            Some(access) => access,
            None => {
                let wanted = hash.clone();
                let look_up = move |tx: &mut Tx<'_>| {
                    let generation = if tx.shared() { generations::access(tx)? } else { generation };
                    Ok::<_, DbError>((keys::find_by_hash(tx, &wanted)?, generation))
                };
                let (found, generation) = self.store.read(look_up).await?;
                let Some((key, workspace)) = found else { return Ok(None) };
                let scopes = key
                    .scopes
                    .split(' ')
                    .filter_map(|name| bit(scopes::find(name)?))
                    .fold(0, |all, bit| all | bit);
                let access = Arc::new(Access { holder: Holder::Key(Box::new(key)), workspace, scopes });
                self.access.put(&hash, &access, generation, self.store.shared());
                access
            }
        };
        let works = match &access.holder {
            Holder::Key(key) => {
                let works = key.revoked_at.is_none() && key.expires_at.is_none_or(|expiry| expiry > now);
                if works {
                    self.access.note_use(access.workspace.id, key.id, now);
                }
                works
            }
            Holder::Member { .. } => false,
        };
        Ok(works.then_some(Caller(access)))
    }
}

fn too_many(wait: i64) -> Failure {
    Failure {
        retry_after: Some(wait),
        ..Failure::new(
            error_codes::RATE_LIMITED,
            "too many invalid keys from this address; correct the key and try again after Retry-After \
             seconds",
        )
    }
}

/// Counts invalid keys by address (docs/contract/keys.md#invalid-keys), IPv6 by networks of 64 bits.
#[derive(Default)]
pub struct Throttle {
    seen: Mutex<HashMap<IpAddr, Suspect>>,
    /// Hashes of keys that were valid at their last look-up.
    worked: RwLock<HashSet<String>>,
}

/// An address that sent invalid keys.
struct Suspect {
    /// When its minute began.
    since: Timestamp,
    /// Invalid keys since then.
    invalid: u32,
    /// Keys that were looked up in its minute of refusal.
    looked: u32,
}

/// Seconds until a minute that began then is over.
fn rest(since: Timestamp, now: Timestamp) -> i64 {
    ((since.plus(MINUTE).0 - now.0 + SECOND - 1) / SECOND).max(1)
}

impl Throttle {
    /// Seconds that a key of this address has to wait before it is looked up.
    pub(crate) fn refuses(&self, address: IpAddr, hash: &str, now: Timestamp) -> Option<i64> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let suspect =
            seen.get_mut(&network_of(address)).filter(|suspect| now < suspect.since.plus(MINUTE))?;
        if suspect.invalid <= INVALID_KEYS_PER_MINUTE
            || self.worked.read().unwrap_or_else(PoisonError::into_inner).contains(hash)
        {
            return None;
        }
        suspect.looked = suspect.looked.saturating_add(1);
        (suspect.looked > LOOK_UPS_REFUSED).then(|| rest(suspect.since, now))
    }

    /// Caches a valid key.
    pub(crate) fn worked(&self, hash: String) {
        if self.worked.read().unwrap_or_else(PoisonError::into_inner).contains(&hash) {
            return;
        }
        let mut worked = self.worked.write().unwrap_or_else(PoisonError::into_inner);
        if worked.len() >= REMEMBERED {
            worked.clear();
        }
        worked.insert(hash);
    }

    /// Counts one invalid key; the seconds to wait when the address has sent too many.
    pub fn invalid_key(&self, address: IpAddr, now: Timestamp) -> Option<i64> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED {
            seen.retain(|_, suspect| now < suspect.since.plus(MINUTE));
            if seen.len() >= REMEMBERED {
                // So many addresses at once cannot all be watched; scanning them for each would cost more than their
                // keys.
                seen.clear();
            }
        }
        let suspect =
            seen.entry(network_of(address)).or_insert(Suspect { since: now, invalid: 0, looked: 0 });
        if now >= suspect.since.plus(MINUTE) {
            *suspect = Suspect { since: now, invalid: 0, looked: 0 };
        }
        suspect.invalid = suspect.invalid.saturating_add(1);
        if suspect.invalid <= INVALID_KEYS_PER_MINUTE {
            return None;
        }
        if suspect.invalid == INVALID_KEYS_PER_MINUTE + 1 {
            // The minute of refusal starts now.
            suspect.since = now;
        }
        Some(rest(suspect.since, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_network_of_64_bits_is_one_address() {
        for (address, network) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:3::6", "2001:db8:1:3::"),
        ] {
            assert_eq!(network_of(ip(address)), ip(network));
        }
        let (throttle, now) = (Throttle::default(), Timestamp(0));
        let refused = (0..40)
            .filter(|number| throttle.invalid_key(ip(&format!("2001:db8::{number}")), now).is_some())
            .count();
        assert_eq!(refused, 20, "addresses of one customer share a minute");
        assert!(throttle.invalid_key(ip("2001:db8:0:1::1"), now).is_none());
        // In the minute of refusal this many keys are looked up; one that was valid before always is.
        throttle.worked("good".into());
        let looked = (0..500)
            .filter(|number| throttle.refuses(ip(&format!("2001:db8::{number}")), "bad", now).is_none())
            .count();
        assert_eq!(looked, 100);
        assert!(throttle.refuses(ip("2001:db8::1"), "good", now).is_none());
        assert_eq!(throttle.refuses(ip("2001:db8::1"), "bad", now), Some(60));
        assert!(throttle.refuses(ip("2001:db8::1"), "bad", now.plus(MINUTE)).is_none());
    }

    #[test]
    fn very_many_addresses_are_forgotten_rather_than_kept() {
        let throttle = Throttle::default();
        for number in 0..(REMEMBERED as u32 * 3) {
            throttle.invalid_key(IpAddr::V4(std::net::Ipv4Addr::from_bits(number)), Timestamp(0));
        }
        assert!(throttle.seen.lock().unwrap().len() <= REMEMBERED);
    }
}

//! Sessions of signed-in people (docs/contract/members.md#sessions): a random token in a cookie, of which the store has a
//! keyed hash. A node caches what it has looked up under the generation of keys and workspaces (`access`), so that a
//! revoked session, a removed member and another role take effect at once on every node.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use api::error_codes;
use api::people::Session as SessionView;
use domain::ids::{Id, Person, Session};
use domain::person::{SESSION_LIFE, USER_AGENT_LENGTH, plain, session_end};
use domain::tenant::Tenant;
use domain::time::{DAY, MINUTE, SECOND, Timestamp};
use store::members::{self, MemberRow};
use store::people::PersonRow;
use store::sessions::{self, SessionRow};
use store::workspaces::{self, WorkspaceRow};
use store::{DbError, Tx, generations};

use super::access::Throttle;
use super::{App, Failure, device_marks};

/// Random characters of a token: 260 bits.
const TOKEN: usize = 52;
/// Open sessions of a person; the oldest one ends when another begins.
const MOST: usize = 50;
/// Sessions that ended are deleted this long after.
const KEPT: i64 = DAY;
/// Rows deleted in one transaction.
const BATCH: i64 = 500;
/// Requests of a person in a minute outside of workspaces, on this node.
const REQUESTS: i64 = 600;
/// Cached sessions of a node, of each kind.
const REMEMBERED: usize = 10_000;

/// Who signs in, and with what.
#[derive(Debug, Clone)]
pub struct Client {
    pub address: IpAddr,
    /// What the browser calls itself.
    pub user_agent: String,
    /// The mark of a device that has signed in before.
    pub device: Option<String>,
    /// The token of a session that the new one replaces.
    pub previous: Option<String>,
}

/// A session that has begun.
pub struct Begun {
    pub person: PersonRow,
    pub session: SessionRow,
    /// The value of its cookie; shown once.
    pub token: String,
    /// The mark of this device.
    pub device: String,
}

/// A signed-in person.
#[derive(Debug)]
pub struct SignedIn {
    pub session: SessionRow,
    pub person: PersonRow,
    last_seen: AtomicI64,
}

impl SignedIn {
    /// When it ends, as far as this node knows.
    fn ends_at(&self) -> Timestamp {
        let last_seen = Timestamp(self.last_seen.load(Ordering::Acquire));
        self.session.ends_at.max(session_end(self.session.created_at, last_seen))
    }
}

/// A signed-in person as a member of a workspace.
#[derive(Debug)]
pub struct SignedInMember {
    pub signed_in: Arc<SignedIn>,
    pub member: MemberRow,
    pub workspace: WorkspaceRow,
}

/// What was looked up at one generation.
struct Known<T> {
    by_name: RwLock<HashMap<String, Arc<T>>>,
    filled: AtomicU64,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { by_name: RwLock::default(), filled: AtomicU64::default() }
    }
}

impl<T> Known<T> {
    fn get(&self, name: &str, generation: u64) -> Option<Arc<T>> {
        if self.filled.load(Ordering::Acquire) != generation {
            return None;
        }
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Caches what was read at `generation`, unless something of a later one is cached.
    fn put(&self, name: &str, value: &Arc<T>, generation: u64) {
        let mut known = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        if self.filled.load(Ordering::Acquire) > generation {
            return;
        }
        if self.filled.swap(generation, Ordering::AcqRel) != generation || known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(name.to_owned(), value.clone());
    }
}

/// A node's cache of sessions.
#[derive(Default)]
pub struct Cache {
    people: Known<SignedIn>,
    members: Known<SignedInMember>,
    /// Unknown tokens by address.
    throttle: Throttle,
    /// Requests outside of workspaces: the minute, and the count in it.
    counted: std::sync::Mutex<HashMap<Id<Person>, (i64, i64)>>,
}

fn view(row: SessionRow, current: Id<Session>) -> SessionView {
    SessionView {
        id: row.id,
        current: row.id == current,
        created_at: row.created_at,
        last_seen_at: row.last_seen_at,
        expires_at: row.ends_at,
        address: row.address,
        user_agent: row.user_agent,
    }
}

/// Begins a session. Its token is new whatever the browser sent, so that nobody can fix one for somebody else; a session
/// whose token the browser sent ends.
pub async fn begin(app: &App, person: &PersonRow, client: Client) -> Result<Begun, Failure> {
    let (now, token) = (app.clock.now(), app.ids.random_text(TOKEN));
    let session = SessionRow {
        id: app.ids.make(),
        person: person.id,
        created_at: now,
        last_seen_at: now,
        ends_at: session_end(now, now),
        address: client.address.to_canonical().to_string(),
        user_agent: plain(&client.user_agent, USER_AGENT_LENGTH),
    };
    let hash = app.keyring.hash(&token);
    let previous = client.previous.map(|token| app.keyring.hash(&token));
    let (row, access_changes) = (session.clone(), app.access_changes());
    let begin = move |tx: &mut Tx<'_>| {
        let mut ended = 0;
        if let Some((old, _)) =
            previous.as_deref().map(|hash| sessions::by_hash(tx, hash)).transpose()?.flatten()
        {
            ended += u64::from(sessions::revoke(tx, old.person, old.id, now)?);
        }
        for old in sessions::open(tx, row.person, now)?.iter().skip(MOST - 1) {
            ended += u64::from(sessions::revoke(tx, old.person, old.id, now)?);
        }
        sessions::insert(tx, &row, &hash)?;
        if ended > 0 { access_changes(tx) } else { Ok(()) }
    };
    app.store.tx(begin).await?;
    Ok(Begun { person: person.clone(), session, token, device: device_marks::make(app, &person.email) })
}

impl App {
    /// The signed-in person of a token from an address.
    ///
    /// # Errors
    /// 401 for an unknown, ended or revoked one. After many such from one address only some are looked up, unless they
    /// were valid here before.
    pub async fn admit_session(&self, token: &str, address: IpAddr) -> Result<Arc<SignedIn>, Failure> {
        let (hash, throttle) = (self.keyring.hash(token), &self.sessions.throttle);
        if let Some(wait) = throttle.refuses(address, &hash, self.clock.now()) {
            return Err(Failure { retry_after: Some(wait), ..ended() });
        }
        let Some(found) = self.signed_in(&hash).await? else {
            throttle.invalid_key(address, self.clock.now());
            return Err(ended());
        };
        throttle.worked(hash);
        self.seen(&found).await;
        Ok(found)
    }

    /// The same as a member of a workspace.
    ///
    /// # Errors
    /// As [`App::admit_session`]; 404 for who is no member, as for a workspace that does not exist.
    pub async fn admit_member(
        &self,
        token: &str,
        address: IpAddr,
        tenant: Tenant,
    ) -> Result<Arc<SignedInMember>, Failure> {
        let signed_in = self.admit_session(token, address).await?;
        let person = signed_in.person.id;
        match self.membership(signed_in, tenant).await? {
            Some(found) => Ok(found),
            None => {
                // Somebody who tries ids of workspaces is slowed down.
                self.count_request(person)?;
                Err(Failure::not_found("workspace"))
            }
        }
    }

    /// Whether the session of a token is open, its person a member of this workspace, and that not suspended. It is no use of
    /// the session, whose idle end does not move.
    pub async fn still_member(&self, token: &str, tenant: Tenant) -> Result<bool, Failure> {
        let hash = self.keyring.hash(token);
        let Some(signed_in) = self.signed_in(&hash).await? else { return Ok(false) };
        let found = self.membership(signed_in, tenant).await?;
        Ok(found.is_some_and(|found| !found.workspace.suspended))
    }

    /// A signed-in person as a member of a workspace; `None` for who is none.
    async fn membership(
        &self,
        signed_in: Arc<SignedIn>,
        tenant: Tenant,
    ) -> Result<Option<Arc<SignedInMember>>, Failure> {
        let name = format!("{}/{tenant}", signed_in.session.id);
        let generation = self.access_generation().await?;
        if let Some(known) = self.sessions.members.get(&name, generation) {
            return Ok(Some(known));
        }
        let person = signed_in.person.id;
        let look_up = move |tx: &mut Tx<'_>| {
            let generation = if tx.shared() { generations::access(tx)? } else { generation };
            let tx = &mut tx.of(tenant);
            let member = members::of_person(tx, person)?;
            let workspace = member.is_some().then(|| workspaces::get(tx)).transpose()?.flatten();
            Ok::<_, DbError>((member.zip(workspace), generation))
        };
        let (found, generation) = self.store.read(look_up).await?;
        let Some((member, workspace)) = found else { return Ok(None) };
        let found = Arc::new(SignedInMember { signed_in, member, workspace });
        self.sessions.members.put(&name, &found, generation);
        Ok(Some(found))
    }

    /// Counts a request of a person outside of workspaces.
    ///
    /// # Errors
    /// 429.
    pub fn count_request(&self, person: Id<Person>) -> Result<(), Failure> {
        let now = self.clock.now();
        let window = now.0.div_euclid(MINUTE);
        let mut counted = self.sessions.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= REMEMBERED {
            counted.retain(|_, (start, _)| *start == window);
        }
        let (start, used) = counted.entry(person).or_insert((window, 0));
        if *start != window {
            (*start, *used) = (window, 0);
        }
        *used += 1;
        if *used <= REQUESTS {
            return Ok(());
        }
        let wait = ((window + 1) * MINUTE - now.0 + SECOND - 1) / SECOND;
        let message = format!("a person may send {REQUESTS} requests a minute here; wait until the next one");
        Err(Failure { retry_after: Some(wait.max(1)), ..Failure::new(error_codes::RATE_LIMITED, message) })
    }

    async fn signed_in(&self, hash: &str) -> Result<Option<Arc<SignedIn>>, Failure> {
        let now = self.clock.now();
        let generation = self.access_generation().await?;
        // Another node may have seen it later than this one has.
        let cached = self.sessions.people.get(hash, generation).filter(|known| known.ends_at() > now);
        if cached.is_some() {
            return Ok(cached);
        }
        let wanted = hash.to_owned();
        let look_up = move |tx: &mut Tx<'_>| {
            let generation = if tx.shared() { generations::access(tx)? } else { generation };
            Ok::<_, DbError>((sessions::by_hash(tx, &wanted)?, generation))
        };
        let (found, generation) = self.store.read(look_up).await?;
        let Some((session, person)) = found.filter(|(session, _)| session.ends_at > now) else {
            return Ok(None);
        };
        let last_seen = AtomicI64::new(session.last_seen_at.0);
        let found = Arc::new(SignedIn { session, person, last_seen });
        self.sessions.people.put(hash, &found, generation);
        Ok(Some(found))
    }

    /// Notes once a minute that a session is in use, which moves its idle end. A failure of the store is logged: the next
    /// request tries again.
    async fn seen(&self, of: &SignedIn) {
        let now = self.clock.now();
        let last = of.last_seen.load(Ordering::Acquire);
        if now.0 - last < MINUTE
            || of.last_seen.compare_exchange(last, now.0, Ordering::AcqRel, Ordering::Acquire).is_err()
        {
            return;
        }
        let (id, ends_at) = (of.session.id, session_end(of.session.created_at, now));
        if let Err(why) = self.store.tx(move |tx| sessions::seen(tx, id, now, ends_at)).await {
            of.last_seen.store(last, Ordering::Release);
            tracing::warn!(cause = %why, "the use of a session could not be noted");
        }
    }
}

fn ended() -> Failure {
    Failure::new(error_codes::UNAUTHORIZED, "the session has ended, or there is none; sign in")
}

/// Ends the session of a token, if there is one.
pub async fn end(app: &App, token: &str) -> Result<(), Failure> {
    let (now, hash, access_changes) = (app.clock.now(), app.keyring.hash(token), app.access_changes());
    // An unknown token costs no write.
    let Some((found, _)) = app.store.read(move |tx| sessions::by_hash(tx, &hash)).await? else {
        return Ok(());
    };
    let end = move |tx: &mut Tx<'_>| {
        if sessions::revoke(tx, found.person, found.id, now)? { access_changes(tx) } else { Ok(()) }
    };
    Ok(app.store.tx(end).await?)
}

/// Open sessions of a person, newest first.
pub async fn list(app: &App, of: &SignedIn) -> Result<Vec<SessionView>, Failure> {
    let (now, person, current) = (app.clock.now(), of.person.id, of.session.id);
    let rows = app.store.read(move |tx| sessions::open(tx, person, now)).await?;
    Ok(rows.into_iter().map(|row| view(row, current)).collect())
}

/// Ends one session of a person.
///
/// # Errors
/// 404 for one that is not open or somebody else's.
pub async fn revoke(app: &App, of: &SignedIn, id: Id<Session>) -> Result<(), Failure> {
    let (now, person, access_changes) = (app.clock.now(), of.person.id, app.access_changes());
    let revoke = move |tx: &mut Tx<'_>| {
        if !sessions::revoke(tx, person, id, now)? {
            return Err(Failure::not_found("session"));
        }
        Ok::<_, Failure>(access_changes(tx)?)
    };
    app.store.tx(revoke).await
}

/// Ends all other sessions of a person; how many.
pub async fn revoke_others(app: &App, of: &SignedIn) -> Result<u64, Failure> {
    let (now, person, current) = (app.clock.now(), of.person.id, of.session.id);
    let access_changes = app.access_changes();
    let revoke = move |tx: &mut Tx<'_>| {
        let ended = sessions::revoke_others(tx, person, Some(current), now)?;
        if ended > 0 {
            access_changes(tx)?;
        }
        Ok::<_, DbError>(ended)
    };
    Ok(app.store.tx(revoke).await?)
}

/// Deletes sessions that ended a day ago.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    let before = app.clock.now().plus(-KEPT);
    while app.store.tx(move |tx| sessions::sweep(tx, before, BATCH)).await? == BATCH as u64 {}
    Ok(())
}

/// Seconds that a browser keeps the cookie of a session.
pub const COOKIE_SECONDS: i64 = SESSION_LIFE / SECOND;

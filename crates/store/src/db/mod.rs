//! The engine behind every statement.
//!
//! `store.tx(|tx| …).await` runs a synchronous closure in a transaction. On SQLite one writer thread runs
//! many closures in one transaction, each in a savepoint, and answers after the commit. A very large closure
//! has a transaction to itself, and a second thread runs its statements. On PostgreSQL each of a few threads
//! owns a connection, and runs a closure again after a serialization failure or a deadlock. So a closure has
//! no side effects: those go through [`Tx::after_commit`] and [`Tx::wake`].

mod behind;
mod copies;
mod counters;
mod dialect;
mod faults;
mod known;
mod migrate;
mod online;
mod postgres;
pub(crate) mod row;
mod sqlite;
mod tenant;
mod tx;
mod value;
mod watch;
mod work;

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use domain::secret::Secret;
use domain::tenant::Tenant;
use domain::trace::TraceContext;

pub use copies::{objects_of_copy, tables_of_copy};
pub use counters::{Counter, Figure, Fold};
pub use faults::{Fate, Faults, Pause, Place};
pub use migrate::{Migration, Progress};
pub use postgres::{Probe, Standing};
pub use row::{FromRow, Row};
pub use tenant::{OfTenant, TenantTx};
pub use value::{Column, Field, Value, any_of, column_of};
pub use watch::{Course, Watched, Watcher};
use work::{Refusal, Work};

/// Where the data lives.
#[derive(Debug, Clone)]
pub enum Settings {
    /// The embedded store: a file, created when missing.
    Sqlite {
        /// Path of the database file.
        file: PathBuf,
    },
    /// A PostgreSQL database shared by any number of nodes.
    Postgres {
        /// Connection string, `postgres://user:password@host:port/database`.
        url: Secret,
        /// Connections for writing; as many again are kept for reading.
        connections: usize,
        /// Certificates (PEM) to trust beside the well-known ones, for `sslmode=require`.
        ca: Option<PathBuf>,
        /// How this node hears of what others have done.
        wake: Wake,
        /// Connection string of a standby for [`Store::read_far`].
        replica: Option<Secret>,
    },
}

/// How a node hears of what other nodes have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wake {
    /// By LISTEN and NOTIFY.
    #[default]
    Listen,
    /// It looks at short intervals.
    Poll,
}

/// How far a read reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Short,
    /// It may take long.
    Long,
    /// It may take long, and need not see what was written a moment ago.
    Far,
}

/// What can go wrong with a statement or a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DbError {
    /// A unique index refused the row; the engine's name of the index.
    Unique(String),
    /// The transaction conflicted with another one and has to run again (handled inside the engine).
    Retry(String),
    /// The store cannot be reached or cannot write (lost connection, full disk): nothing was stored, try
    /// later.
    Unavailable(String),
    /// The connection was lost while a commit was under way: it may or may not have been stored.
    Uncertain(String),
    /// Anything else: a wrong statement, a wrong type, a panic in a closure.
    Internal(String),
}

impl std::fmt::Display for DbError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DbError::Unique(what) => write!(f, "unique index refused the row: {what}"),
            DbError::Retry(why) => write!(f, "transaction conflict: {why}"),
            DbError::Unavailable(why) => write!(f, "store unavailable: {why}"),
            DbError::Uncertain(why) => write!(f, "outcome of the commit unknown: {why}"),
            DbError::Internal(why) => write!(f, "store error: {why}"),
        }
    }
}

impl std::error::Error for DbError {}

/// Jobs to wake after a commit, as bits; the meaning of a bit belongs to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WakeSet(pub u32);

/// Called with the jobs to wake after every commit that asked for it, from this node or (on PostgreSQL) from
/// another one.
pub type OnWake = Arc<dyn Fn(WakeSet) + Send + Sync>;

/// Buckets of times from 10 µs to 10 s.
fn time_buckets() -> impl Iterator<Item = f64> {
    [0.000_01, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0].into_iter()
}

/// What `/metrics` shows of the store.
#[derive(Debug, Clone)]
pub struct StoreMetrics {
    /// Seconds of one commit, including the wait for the disk or the server.
    pub commit_seconds: prometheus_client::metrics::histogram::Histogram,
    /// Closures that shared one commit.
    pub batch_size: prometheus_client::metrics::histogram::Histogram,
    /// Closures that wait for a writer.
    pub queued: prometheus_client::metrics::gauge::Gauge,
    /// Connections in use (readers of SQLite, all of PostgreSQL).
    pub in_use: prometheus_client::metrics::gauge::Gauge,
    /// Closures that ran again after a conflict.
    pub conflicts: prometheus_client::metrics::counter::Counter,
    /// Whether far reads go to the replica.
    pub replica_reads: prometheus_client::metrics::gauge::Gauge,
    /// Seconds by which the replica was behind when it was last known.
    pub replica_behind: prometheus_client::metrics::gauge::Gauge<f64, std::sync::atomic::AtomicU64>,
    /// Reads that the replica failed, and the primary did.
    pub replica_failures: prometheus_client::metrics::counter::Counter,
}

impl StoreMetrics {
    fn new() -> Self {
        use prometheus_client::metrics::{counter::Counter, gauge::Gauge, histogram::Histogram};
        Self {
            commit_seconds: Histogram::new(time_buckets()),
            batch_size: Histogram::new([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]),
            queued: Gauge::default(),
            in_use: Gauge::default(),
            conflicts: Counter::default(),
            replica_reads: Gauge::default(),
            replica_behind: Gauge::default(),
            replica_failures: Counter::default(),
        }
    }

    /// Adds them to the figures of a process.
    pub fn register(&self, registry: &mut prometheus_client::registry::Registry) {
        registry.register("store_commit_seconds", "Time of one commit", self.commit_seconds.clone());
        registry.register("store_batch_size", "Transactions that shared one commit", self.batch_size.clone());
        registry.register("store_queued", "Transactions that wait for a writer", self.queued.clone());
        registry.register("store_connections_in_use", "Connections in use", self.in_use.clone());
        registry.register(
            "store_conflicts",
            "Transactions that ran again after a conflict",
            self.conflicts.clone(),
        );
        registry.register(
            "store_replica_reads",
            "Whether long reads go to the replica",
            self.replica_reads.clone(),
        );
        registry.register(
            "store_replica_behind_seconds",
            "Time by which the replica was behind when it was last known",
            self.replica_behind.clone(),
        );
        registry.register(
            "store_replica_failures",
            "Reads that the replica failed and the primary did",
            self.replica_failures.clone(),
        );
    }
}

/// Rows that one statement of [`Tx::insert_all`] inserts at most. Code that writes very many rows prepares
/// them in chunks of this size, so that memory stays small and in the caches.
pub const ROWS: usize = 32;

/// `(?1, ?2), (?3, ?4)`, for rows of values. The texts are few and long, so they are kept.
pub(crate) fn places(rows: usize, width: usize) -> Arc<str> {
    static KNOWN: Mutex<BTreeMap<(usize, usize), Arc<str>>> = Mutex::new(BTreeMap::new());
    let make = || {
        let row = |row: usize| {
            let places: Vec<String> =
                (row * width + 1..=(row + 1) * width).map(|place| format!("?{place}")).collect();
            format!("({})", places.join(", "))
        };
        (0..rows).map(row).collect::<Vec<_>>().join(", ").into()
    };
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).entry((rows, width)).or_insert_with(make).clone()
}

/// A handle to the store; cloning it is cheap.
#[derive(Clone)]
pub struct Store {
    engine: Arc<Engine>,
    metrics: StoreMetrics,
    faults: Arc<OnceLock<Arc<dyn Faults>>>,
    watcher: Arc<OnceLock<Arc<dyn Watcher>>>,
}

enum Engine {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

/// One transaction, on either engine.
pub struct Tx<'a> {
    session: Session<'a>,
    wakes: u32,
    after: Vec<Box<dyn FnOnce() + Send>>,
    uncertain: Vec<Box<dyn FnOnce() + Send>>,
    faults: Option<Arc<dyn Faults>>,
    again: bool,
    trace: Option<TraceContext>,
    /// Rows that were read together, until they are asked for.
    held: HashMap<String, Box<dyn Any>>,
    /// Whether reads only travel ahead: what they find is nothing to be kept.
    looks: bool,
}

enum Session<'a> {
    Sqlite(&'a rusqlite::Connection),
    /// A transaction that has the writer to itself.
    Behind(behind::Behind<'a>),
    Postgres(&'a mut postgres::PgTx),
    /// A part of a transaction on PostgreSQL that others share: it only adds rows.
    Sheet(&'a mut postgres::Sheet),
}

/// What a statement must do; otherwise its transaction fails.
#[derive(Debug, Clone)]
pub struct Must {
    /// How many rows it changes.
    pub rows: u64,
    /// The error of the transaction if it changes more or fewer.
    pub otherwise: DbError,
}

fn check(changed: u64, must: Option<&Must>) -> Result<(), DbError> {
    match must {
        Some(must) if must.rows != changed => Err(must.otherwise.clone()),
        Some(_) | None => Ok(()),
    }
}

/// What a transaction is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Usual,
    /// On a shared store it gives up rather than wait long for a lock.
    Hasty,
    /// Large: on SQLite no other closure shares its transaction.
    Alone,
    /// The same, and it may take minutes.
    Long,
    Single,
    /// Rows are added, and nothing else is done as a rule.
    Adding,
    /// One statement that must not be in a transaction, and may take minutes.
    LongSingle,
}

/// What a closure leaves to be done once the fate of its transaction is known, or known to be unknown.
#[derive(Default)]
struct Aftermath {
    wakes: u32,
    after: Vec<Box<dyn FnOnce() + Send>>,
    uncertain: Vec<Box<dyn FnOnce() + Send>>,
}

impl Aftermath {
    fn run(self, on_wake: &OnWake) {
        for effect in self.after {
            effect();
        }
        if self.wakes != 0 {
            on_wake(WakeSet(self.wakes));
        }
    }

    /// Nobody knows whether it is committed.
    fn doubt(self) {
        for effect in self.uncertain {
            effect();
        }
    }
}

impl<'a> Tx<'a> {
    fn new(session: Session<'a>) -> Self {
        Self {
            session,
            wakes: 0,
            after: Vec::new(),
            uncertain: Vec::new(),
            faults: None,
            again: false,
            trace: None,
            held: HashMap::new(),
            looks: false,
        }
    }
}

/// The ways into a store: each takes a closure with its types, and hands it on without them.
macro_rules! doors {
    ($($(#[$what:meta])* $name:ident => $way:ident($how:expr);)*) => {
        impl Store {
            $(
                $(#[$what])*
                #[track_caller]
                pub fn $name<T, E>(
                    &self,
                    work: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
                ) -> impl Future<Output = Result<T, E>> + Send
                where
                    T: Send + 'static,
                    E: From<DbError> + Send + 'static,
                {
                    let place = Location::caller();
                    let (work, slot) = work::erase(work);
                    async move { slot.answer(self.$way(work, $how, place).await) }
                }
            )*

            /// The ways into this store for what works for one workspace.
            pub fn of(&self, tenant: Tenant) -> OfTenant<'_> {
                OfTenant::new(self, tenant)
            }
        }

        impl<'s> OfTenant<'s> {
            $(
                #[doc = concat!("See [`Store::", stringify!($name), "`].")]
                #[track_caller]
                pub fn $name<T, E>(
                    self,
                    mut work: impl FnMut(&mut TenantTx) -> Result<T, E> + Send + 'static,
                ) -> impl Future<Output = Result<T, E>> + Send
                where
                    T: Send + 'static,
                    E: From<DbError> + Send + 'static,
                {
                    let (store, tenant) = self.parts();
                    store.$name(move |tx| work(&mut tx.of(tenant)))
                }
            )*
        }
    };
}

doors! {
    /// Runs `work` in a transaction that is durable when this returns. An `Err` of the closure rolls the
    /// transaction back and is returned. The closure may run more than once.
    tx => write(Kind::Usual);

    /// Like [`Store::tx`] for a closure of one statement, which PostgreSQL runs by itself: it holds no lock while
    /// an answer travels. A second statement is an error there, and so is one that nobody waits for and that is
    /// to change so many rows.
    tx_single => write(Kind::Single);

    /// Like [`Store::tx`] for a closure that works for several workspaces, each of which may be busy: on PostgreSQL a lock
    /// that another transaction keeps for 100 ms ends it with [`DbError::Retry`]. Nothing was stored then, and the work of
    /// each workspace is to be done by itself.
    tx_hasty => write(Kind::Hasty);

    /// Like [`Store::tx`] for a large closure: on SQLite no other closure shares its transaction.
    tx_alone => write(Kind::Alone);

    /// Like [`Store::tx_alone`] for a closure that may take minutes, or wait for minutes for another one of its kind. On
    /// PostgreSQL it also waits that long for a server that does not answer: rounds of a job must not.
    tx_long => write(Kind::Long);

    /// Like [`Store::tx`] for a closure that as a rule only adds rows ([`Tx::add`]): on PostgreSQL those that wait
    /// together share a transaction. When it does anything else, it runs again in one of its own.
    tx_adding => write(Kind::Adding);

    /// Runs a short read on a snapshot of what is committed. On SQLite it runs on the calling thread.
    read => look(Reach::Short);

    /// Like [`Store::read`] for a query that may take long (analytics, exports): it does not hold up the
    /// calling thread.
    read_long => look(Reach::Long);

    /// Like [`Store::read_long`] for what need not see the writes of the last seconds: with a replica it runs there
    /// ([`Settings::Postgres`]), as long as that is not far behind. Pages that follow one another may come from
    /// different servers.
    read_far => look(Reach::Far);
}

impl Store {
    /// Opens the store. It does not connect: an unreachable PostgreSQL is an error of the first use. `on_wake`
    /// is called after commits.
    pub fn open(settings: &Settings, on_wake: OnWake) -> Result<Self, DbError> {
        let metrics = StoreMetrics::new();
        let engine = match settings {
            Settings::Sqlite { file } => {
                Engine::Sqlite(sqlite::Sqlite::open(file, on_wake, metrics.clone())?)
            }
            Settings::Postgres { url, connections, ca, wake, replica } => {
                let server = postgres::Server::new("database_url", url, ca.as_deref())?;
                let standby = replica
                    .as_ref()
                    .map(|url| postgres::Server::new("database_replica_url", url, ca.as_deref()))
                    .transpose()?;
                Engine::Postgres(postgres::Postgres::open(
                    &server,
                    standby.as_ref(),
                    (*connections, *wake),
                    on_wake,
                    metrics.clone(),
                )?)
            }
        };
        Ok(Self { engine: Arc::new(engine), metrics, faults: Arc::default(), watcher: Arc::default() })
    }

    /// From now on this store and its clones fail as `faults` decides: for tests.
    ///
    /// # Panics
    /// If something decides already.
    pub fn fail_as(&self, faults: Arc<dyn Faults>) {
        assert!(self.faults.set(faults).is_ok(), "the faults of a store are set once");
    }

    /// From now on transactions of this store and its clones are followed. Only the first of several is told.
    pub fn watch(&self, watcher: Arc<dyn Watcher>) {
        let _ = self.watcher.set(watcher);
    }

    /// Figures for `/metrics`.
    pub fn metrics(&self) -> &StoreMetrics {
        &self.metrics
    }

    /// Whether several nodes may share this store.
    pub fn shared(&self) -> bool {
        matches!(*self.engine, Engine::Postgres(_))
    }

    async fn write(&self, work: Work, kind: Kind, place: Place) -> Result<(), Refusal> {
        let Some(watched) = self.watcher.get().and_then(|watcher| watcher.begin()) else {
            return self.write_faulty(work, kind, place).await;
        };
        let notes = watch::Notes::new();
        let work = watch::under(watched.context(), notes.clone(), work);
        let answer = self.write_faulty(work, kind, place).await;
        watched.end(notes.course(answer.is_ok()));
        answer
    }

    async fn write_faulty(&self, work: Work, kind: Kind, place: Place) -> Result<(), Refusal> {
        let Some(faults) = self.faults.get() else { return self.run(work, kind).await };
        let fate = faults.before(place).await;
        let answer = self.run(faults::under(faults.clone(), fate.clone(), work), kind).await;
        faults.after(place, answer.is_ok()).await;
        match fate {
            Fate::Unheard => {
                answer.and(Err(DbError::Uncertain("the answer to the commit was lost".into()).into()))
            }
            Fate::Untouched | Fate::Refused(_) => answer,
        }
    }

    async fn run(&self, work: Work, kind: Kind) -> Result<(), Refusal> {
        let alone = matches!(kind, Kind::Alone | Kind::Long);
        match &*self.engine {
            Engine::Sqlite(engine) if self.in_order() => engine.tx_in_order(work, alone),
            Engine::Sqlite(engine) => engine.tx(work, alone).await,
            Engine::Postgres(engine) => engine.tx(work, kind).await,
        }
    }

    fn in_order(&self) -> bool {
        self.faults.get().is_some_and(|faults| faults.in_order())
    }

    async fn look(&self, work: Work, reach: Reach, place: Place) -> Result<(), Refusal> {
        // What the embedded store reads beside the calling task does not fail on purpose.
        let beside = reach != Reach::Short && !self.shared();
        let work = match self.faults.get() {
            None => work,
            Some(faults) => {
                let refused = if beside { None } else { faults.read(place) };
                if let Some(why) = refused {
                    return Err(why.into());
                }
                faults::under(faults.clone(), Fate::Untouched, work)
            }
        };
        let store = match &*self.engine {
            Engine::Postgres(engine) => return engine.read(work, place, reach).await,
            Engine::Sqlite(engine) if reach == Reach::Short || self.in_order() => return engine.read(work),
            Engine::Sqlite(_) => self.clone(),
        };
        let read = move || match &*store.engine {
            Engine::Sqlite(engine) => engine.read(work),
            Engine::Postgres(_) => Err(DbError::Internal("the engine changed".into()).into()),
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(answer) => answer,
            Err(_) => Err(DbError::Internal("a long read panicked".into()).into()),
        }
    }

    /// How the replica goes; `None` without one.
    pub fn replica(&self) -> Option<Standing> {
        match &*self.engine {
            Engine::Postgres(engine) => engine.replica(),
            Engine::Sqlite(_) => None,
        }
    }

    /// Brings the schema to the newest version of this binary. Refuses a schema that is newer than the
    /// binary.
    pub async fn migrate(&self, progress: Progress) -> Result<Vec<Migration>, DbError> {
        let pending = self.tx_long(migrate::pending).await?;
        for (step, migration) in pending.iter().enumerate() {
            progress(step + 1, pending.len(), migration);
            let migration = *migration;
            if self.shared() {
                for step in migrate::steps(migration) {
                    let take = || self.tx_long(move |tx| migrate::take(tx, migration, *step));
                    tried_again(migration, take).await?;
                }
                for part in migrate::parts(migration)? {
                    tried_again(migration, || self.take_part(migration, part.clone())).await?;
                }
            }
            tried_again(migration, || self.tx_long(move |tx| migrate::apply(tx, migration))).await?;
        }
        Ok(pending)
    }

    /// Takes a part of a migration that is made while others work.
    async fn take_part(&self, migration: Migration, part: online::Part) -> Result<(), DbError> {
        let (sql, before) = match part {
            online::Part::Usual(sql) => {
                return self.tx_long(move |tx| migrate::take_part(tx, migration, &sql)).await;
            }
            online::Part::Concurrent { sql, before } => (sql, before),
        };
        if self.read(migrate::version).await? >= migration.version {
            return Ok(());
        }
        let alone = async |sql: String| {
            let (work, slot) = work::erase(move |tx| tx.exec(&sql, &[]).map(|_| ()));
            slot.answer(self.write(work, Kind::LongSingle, Location::caller()).await)
        };
        if let Some(index) = before {
            let name = index.clone();
            if self.read(move |tx| online::is_broken(tx, &name)).await? {
                alone(online::drop_index(&index)).await?;
            }
        }
        alone(sql).await
    }

    /// Whether the store answers and has the schema that this binary needs. A newer one serves it, too: steps leave what the
    /// version before needs, so that its nodes work on while others are upgraded.
    ///
    /// # Errors
    /// Those of the store; `Unavailable` if steps are missing.
    pub async fn ready(&self) -> Result<(), DbError> {
        let version = self.read(migrate::version).await?;
        let newest = migrate::newest();
        if version < newest {
            return Err(DbError::Unavailable(format!(
                "schema version {version}, this program needs {newest}: run `dastak migrate`"
            )));
        }
        Ok(())
    }

    /// Whether any step of the schema was ever made here.
    pub async fn has_schema(&self) -> Result<bool, DbError> {
        self.read(migrate::is_begun).await
    }

    /// Makes sure that what was deleted or overwritten is in no file of the embedded store any more.
    /// PostgreSQL removes it later by itself.
    pub async fn leave_no_trace(&self) -> Result<(), DbError> {
        let store = self.clone();
        let work = move || match &*store.engine {
            Engine::Sqlite(engine) => engine.empty_log(),
            Engine::Postgres(_) => Ok(()),
        };
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|_| Err(DbError::Internal("emptying the write-ahead log panicked".into())))
    }

    /// Makes a write that changes nothing of value, to find out whether the store can write at all.
    pub async fn writable(&self) -> Result<(), DbError> {
        self.tx(|tx| tx.exec("update health set at = at + 1 where id = 2", &[]).map(|_| ())).await
    }
}

/// Tries a part of a migration that wants a lock for a moment. A transaction that somebody leaves open (a dump, say) keeps it
/// from that: it is tried for some minutes, with pauses in which others get on. What may have been done is done again.
async fn tried_again<F>(migration: Migration, mut part: impl FnMut() -> F) -> Result<(), DbError>
where
    F: Future<Output = Result<(), DbError>>,
{
    const TRIES: u32 = 30;
    for left in (0..TRIES).rev() {
        match part().await {
            Err(DbError::Unavailable(why) | DbError::Uncertain(why)) if left > 0 => {
                tracing::warn!(%why, step = migration.name, "a step of the schema is tried again");
            }
            outcome => return outcome,
        }
        // A migration comes before the clock.
        #[allow(clippy::disallowed_methods, reason = "the wait is for a real server")]
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    }
    Ok(())
}

/// Tries one by one what the service needs of the engine that these settings name; nothing for the embedded one.
pub async fn probe(settings: &Settings) -> Vec<Probe> {
    let Settings::Postgres { url, ca, wake, .. } = settings else { return Vec::new() };
    match postgres::Server::new("database_url", url, ca.as_deref()) {
        Ok(server) => postgres::probe(&server, *wake == Wake::Listen).await,
        Err(why) => vec![Probe { name: "connection", outcome: Err(why.to_string()) }],
    }
}

/// Copies the SQLite database `from` into the empty file `to`, consistently and while it is in use.
pub fn backup_sqlite(from: &std::path::Path, to: &std::path::Path) -> Result<(), DbError> {
    sqlite::backup(from, to)
}

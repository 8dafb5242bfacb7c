//! The handle to a store and its entry points.

use std::panic::Location;
use std::sync::{Arc, OnceLock};

use domain::tenant::Tenant;

use super::commit_effects::OnWake;
use super::companion;
use super::error::DbError;
use super::faults::{CallSite, Fate, Faults};
use super::metrics::StoreMetrics;
use super::postgres::{self, Probe, ReplicaStatus};
use super::settings::{Settings, Wake};
use super::sqlite;
use super::tenant::TenantTx;
use super::tx::Tx;
use super::tx_trace::{self, TxTracer};
use super::work::{self, Kind, Reach, Refusal, Work};

/// A handle to the store; cloning it is cheap.
#[derive(Clone)]
pub struct Store {
    engine: Arc<Engine>,
    metrics: StoreMetrics,
    faults: Arc<OnceLock<Arc<dyn Faults>>>,
    tracer: Arc<OnceLock<Arc<dyn TxTracer>>>,
}

enum Engine {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

/// The entry points of a store: each erases the types of a closure and runs it.
macro_rules! entry_points {
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

            /// The entry points for transactions of one workspace.
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

entry_points! {
    /// Runs `work` in a transaction, which is durable when this returns. An `Err` of the closure rolls it back and is
    /// returned. The closure may run more than once.
    tx => write(Kind::Usual);

    /// Like [`Store::tx`] for a closure of one statement, which PostgreSQL runs in autocommit: it holds no lock during a
    /// round trip. A second statement is an error there, and so is a pipelined one that checks its row count.
    tx_single => write(Kind::Single);

    /// Like [`Store::tx`] for a batch of several workspaces, each of which may be busy: on PostgreSQL it fails with
    /// [`DbError::Retry`] after 100 ms of waiting for a lock. Nothing is stored then; the caller retries each workspace by
    /// itself.
    tx_hasty => write(Kind::Hasty);

    /// Like [`Store::tx`] for a large closure: on SQLite no other closure shares its transaction.
    tx_alone => write(Kind::Alone);

    /// Like [`Store::tx_alone`] for a closure that may take minutes, or wait minutes for a lock. On PostgreSQL it also waits
    /// that long for an unresponsive server, so jobs must not use it.
    tx_long => write(Kind::Long);

    /// Like [`Store::tx`] for a closure that as a rule only inserts rows ([`Tx::add`]): on PostgreSQL concurrent ones share
    /// a transaction (group commit). If it does anything else, it runs again in a transaction of its own.
    tx_adding => write(Kind::Adding);

    /// Runs a short read on a snapshot of committed data. On SQLite it runs on the calling thread.
    read => read_with(Reach::Short);

    /// Like [`Store::read`] for a query that may take seconds (analytics, exports): it does not block the calling thread.
    read_long => read_with(Reach::Long);

    /// Like [`Store::read_long`] for a query that tolerates replication lag: it runs on the replica
    /// ([`Settings::Postgres`]) while that is not far behind. Successive pages may come from different servers.
    read_far => read_with(Reach::Far);
}

impl Store {
    /// Opens the store. It connects lazily: an unreachable PostgreSQL is an error of the first use. `on_wake` is called
    /// after commits.
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
        Ok(Self { engine: Arc::new(engine), metrics, faults: Arc::default(), tracer: Arc::default() })
    }

    /// Injects faults into this store and its clones, for tests.
    ///
    /// # Panics
    /// If faults are set already.
    pub fn fail_as(&self, faults: Arc<dyn Faults>) {
        assert!(self.faults.set(faults).is_ok(), "the faults of a store are set once");
    }

    /// Traces the transactions of this store and its clones. Only the first call has an effect.
    pub fn trace_with(&self, tracer: Arc<dyn TxTracer>) {
        let _ = self.tracer.set(tracer);
    }

    /// Metrics of the store.
    pub fn metrics(&self) -> &StoreMetrics {
        &self.metrics
    }

    /// Whether several nodes may share this store.
    pub fn shared(&self) -> bool {
        matches!(*self.engine, Engine::Postgres(_))
    }

    pub(super) async fn write(&self, work: Work, kind: Kind, place: CallSite) -> Result<(), Refusal> {
        let (work, kind) = companion::join(work, kind);
        let Some(span) = self.tracer.get().and_then(|tracer| tracer.begin()) else {
            return self.write_with_faults(work, kind, place).await;
        };
        let counters = tx_trace::RunCounters::new();
        let work = tx_trace::traced(span.context(), counters.clone(), work);
        let answer = self.write_with_faults(work, kind, place).await;
        span.end(counters.report(answer.is_ok()));
        answer
    }

    async fn write_with_faults(&self, work: Work, kind: Kind, place: CallSite) -> Result<(), Refusal> {
        let Some(faults) = self.faults.get() else { return self.run(work, kind).await };
        let fate = faults.before(place).await;
        let answer = self.run(work::with_faults(faults.clone(), fate.clone(), work), kind).await;
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

    async fn read_with(&self, work: Work, reach: Reach, place: CallSite) -> Result<(), Refusal> {
        // No faults are injected into reads of SQLite that run on another thread.
        let beside = reach != Reach::Short && !self.shared();
        let work = match self.faults.get() {
            None => work,
            Some(faults) => {
                let refused = if beside { None } else { faults.read(place) };
                if let Some(why) = refused {
                    return Err(why.into());
                }
                work::with_faults(faults.clone(), Fate::Untouched, work)
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

    /// The status of the replica; `None` without one.
    pub fn replica(&self) -> Option<ReplicaStatus> {
        match &*self.engine {
            Engine::Postgres(engine) => engine.replica(),
            Engine::Sqlite(_) => None,
        }
    }

    /// Removes deleted and overwritten data from the files of SQLite, by truncating the write-ahead log. PostgreSQL does so
    /// by itself later.
    pub async fn leave_no_trace(&self) -> Result<(), DbError> {
        let store = self.clone();
        let work = move || match &*store.engine {
            Engine::Sqlite(engine) => engine.empty_log(),
            Engine::Postgres(_) => Ok(()),
        };
        if self.in_order() {
            return work();
        }
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|_| Err(DbError::Internal("emptying the write-ahead log panicked".into())))
    }

    /// Checks with a write of no meaning whether the store can write.
    pub async fn writable(&self) -> Result<(), DbError> {
        self.tx(|tx| tx.exec("update health set at = at + 1 where id = 2", &[]).map(|_| ())).await
    }
}

/// The entry points for transactions of one workspace ([`Store::of`]).
#[derive(Clone, Copy)]
pub struct OfTenant<'s> {
    store: &'s Store,
    tenant: Tenant,
}

impl<'s> OfTenant<'s> {
    fn new(store: &'s Store, tenant: Tenant) -> Self {
        Self { store, tenant }
    }

    fn parts(self) -> (&'s Store, Tenant) {
        (self.store, self.tenant)
    }
}

/// Probes the features of PostgreSQL that the service needs; no probes for SQLite.
pub async fn probe(settings: &Settings) -> Vec<Probe> {
    let Settings::Postgres { url, ca, wake, .. } = settings else { return Vec::new() };
    match postgres::Server::new("database_url", url, ca.as_deref()) {
        Ok(server) => postgres::probe(&server, *wake == Wake::Listen).await,
        Err(why) => vec![Probe { name: "connection", outcome: Err(why.to_string()) }],
    }
}

/// Copies the SQLite database `from` into the empty file `to`: a consistent online backup.
pub fn backup_sqlite(from: &std::path::Path, to: &std::path::Path) -> Result<(), DbError> {
    sqlite::statement::backup(from, to)
}

//! Threads that own a connection each, and how a closure runs on one: again after a conflict, and after the server has
//! closed an idle connection.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::super::commit_effects::CommitEffects;
use super::super::error::DbError;
use super::super::faults::CallSite;
use super::super::metrics::StoreMetrics;
use super::super::tx::{Session, Tx};
use super::super::work::{Refusal, Work};
use super::add_batch::AddBatch;
use super::server::{Purpose, Server};
use super::tx::{AnswerTimeout, Frame, PgTx, PreparedStatements};

/// Most runs of a closure before a conflict is reported.
const ATTEMPTS: u32 = 12;
/// Time after which a conflict is no longer retried.
const RETRY_TIME: Duration = Duration::from_secs(6);
/// The same for [`WRITE_HASTY`]: less than its lock timeout.
const RETRY_TIME_HASTY: Duration = Duration::from_millis(80);
/// Closures that may be queued for a connection.
pub(super) const QUEUE: usize = 20_000;
/// Timeout of an answer of a reachable server.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);
/// The same for very large transactions and long reads.
pub(super) const LONG_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Idle time after which a connection is checked before use: the server may have closed it.
const IDLE: Duration = Duration::from_millis(200);

pub(super) const WRITE: Frame = Frame::Transaction("begin");
/// Fails at a lock that is held longer, without a retry ([`RETRY_TIME_HASTY`]).
pub(super) const WRITE_HASTY: Frame = Frame::Transaction("begin; set local lock_timeout = '100ms'");
/// A very large transaction may compute for long, and wait long for a lock.
pub(super) const WRITE_LONG: Frame = Frame::Transaction(
    "begin; set local idle_in_transaction_session_timeout = '10min'; set local lock_timeout = '10min'",
);
pub(super) const READ: Frame = Frame::Transaction("begin isolation level repeatable read read only");
pub(super) const READ_LONG: Frame = Frame::Transaction(
    "begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = '10min'",
);

pub(super) type Job = Box<dyn FnOnce(&mut PgSession) + Send>;

/// Why a shared transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureCause {
    /// The server or the connection: the same for all closures.
    Server,
    /// Perhaps one of the closures.
    Closure,
}

pub(super) fn pool(
    name: &str,
    size: usize,
    server: &Server,
    purpose: Purpose,
    metrics: &StoreMetrics,
) -> Result<SyncSender<Job>, DbError> {
    let (orders, inbox) = sync_channel::<Job>(QUEUE);
    let inbox = Arc::new(Mutex::new(inbox));
    let several = Arc::<MultiStatementReads>::default();
    for number in 0..size.max(1) {
        let (inbox, server, metrics, several) =
            (inbox.clone(), server.clone(), metrics.clone(), several.clone());
        std::thread::Builder::new()
            .name(format!("{name}-{number}"))
            .spawn(move || serve(&inbox, server, purpose, several, &metrics))
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
    }
    Ok(orders)
}

fn serve(
    inbox: &Mutex<Receiver<Job>>,
    server: Server,
    purpose: Purpose,
    several: Arc<MultiStatementReads>,
    metrics: &StoreMetrics,
) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut session = PgSession {
        runtime: Arc::new(runtime),
        server,
        purpose,
        connection: None,
        prepared: PreparedStatements::default(),
        several,
    };
    loop {
        let job = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        metrics.queued.dec();
        metrics.in_use.inc();
        job(&mut session);
        metrics.in_use.dec();
    }
}

/// Call sites whose reads have more than one statement, by address: such a read is a transaction from its beginning, so
/// that it sees one snapshot. Each is found out at its first run.
#[derive(Default)]
struct MultiStatementReads(RwLock<HashSet<usize>>);

impl MultiStatementReads {
    fn has(&self, place: CallSite) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&(std::ptr::from_ref(place) as usize))
    }

    fn add(&self, place: CallSite) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(std::ptr::from_ref(place) as usize);
    }
}

/// An open connection with the task that drives it.
struct OpenConnection {
    client: Arc<Client>,
    /// The index of its host.
    host: usize,
    driver: tokio::task::JoinHandle<()>,
    used: Instant,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// One connection, opened when first needed and again after it was lost.
pub(super) struct PgSession {
    runtime: Arc<tokio::runtime::Runtime>,
    server: Server,
    purpose: Purpose,
    connection: Option<OpenConnection>,
    prepared: PreparedStatements,
    several: Arc<MultiStatementReads>,
}

impl PgSession {
    pub(super) fn new(server: Server, purpose: Purpose) -> std::io::Result<Self> {
        let runtime = Arc::new(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
        Ok(Self {
            runtime,
            server,
            purpose,
            connection: None,
            prepared: PreparedStatements::default(),
            several: Arc::default(),
        })
    }

    /// Returns the connection, the index of its host, and whether it was open before.
    fn connect(&mut self) -> Result<(Arc<Client>, usize, bool), DbError> {
        if let Some(open) = &mut self.connection {
            if open.used.elapsed() > IDLE {
                // Lets the driver task read what the server has sent, such as the end of the connection.
                self.runtime.block_on(async {
                    tokio::task::yield_now().await;
                    tokio::task::yield_now().await;
                });
            }
            open.used = Instant::now();
            if !open.client.is_closed() {
                return Ok((open.client.clone(), open.host, true));
            }
        }
        self.disconnect();
        let (server, purpose) = (self.server.clone(), self.purpose);
        let (client, driver, host) = self.runtime.block_on(async move {
            let (client, connection, host) = server.connect(purpose).await?;
            let driver = tokio::spawn(async move { drop(connection.await) });
            Ok::<_, DbError>((Arc::new(client), driver, host))
        })?;
        self.connection = Some(OpenConnection { client: client.clone(), host, driver, used: Instant::now() });
        Ok((client, host, false))
    }

    fn disconnect(&mut self) {
        self.prepared.clear();
        if self.connection.take().is_some() {
            // The driver task ends now and closes the socket, so that the server releases its locks.
            self.runtime.block_on(tokio::task::yield_now());
        }
    }

    /// Opens a transaction, whose BEGIN is sent with the first statement. Also returns whether the connection was open
    /// before.
    fn open(&mut self, frame: Frame, timeout: Duration) -> Result<(PgTx, bool), DbError> {
        let (client, host, reused) = self.connect()?;
        let prepared = std::mem::take(&mut self.prepared);
        let timeout = AnswerTimeout { most: timeout, server: self.server.clone(), host };
        Ok((PgTx::new(self.runtime.clone(), client, prepared, frame, timeout), reused))
    }

    /// Takes the connection back from a transaction, or closes it after an error that makes it unusable.
    fn close(&mut self, tx: PgTx, outcome: Option<&DbError>) {
        let late = tx.late;
        self.prepared = tx.prepared;
        if late || matches!(outcome, Some(DbError::Unavailable(_) | DbError::Uncertain(_))) {
            self.disconnect();
        }
        if late {
            self.server.mark_unreachable("the server does not answer");
        }
    }

    pub(super) fn write(
        &mut self,
        work: &mut Work,
        (frame, timeout): (Frame, Duration),
        again: bool,
        metrics: &StoreMetrics,
    ) -> Result<CommitEffects, Refusal> {
        let (mut attempt, began) = (0, Instant::now());
        let hasty = frame == WRITE_HASTY;
        let contended = if hasty { RETRY_TIME_HASTY } else { RETRY_TIME };
        loop {
            attempt += 1;
            let (mut tx, reused) = self.open(frame, timeout)?;
            let closed = match run(&mut tx, work, again || attempt > 1) {
                Ok(Ok(effects)) => {
                    let started = Instant::now();
                    let committed = tx.commit();
                    metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
                    metrics.batch_size.observe(1.0);
                    match committed {
                        Ok(()) => Ok(Ok(effects)),
                        Err(why) => {
                            if matches!(why, DbError::Uncertain(_)) {
                                effects.run_uncertain();
                            }
                            Err(why)
                        }
                    }
                }
                Ok(Err(error)) => {
                    tx.rollback();
                    tx.error().cloned().map_or(Ok(Err(error)), Err)
                }
                Err(_) => {
                    tx.rollback();
                    Err(DbError::Internal("a transaction panicked".into()))
                }
            };
            let late = tx.late;
            self.close(tx, closed.as_ref().err());
            match closed {
                Ok(answer) => return answer,
                Err(DbError::Retry(_)) if attempt < ATTEMPTS && began.elapsed() < contended => {
                    metrics.conflicts.inc();
                    // Backoff, in real time: the conflict is with other processes.
                    std::thread::sleep(Duration::from_micros(u64::from(attempt * attempt) * 300));
                }
                Err(DbError::Retry(why)) if !hasty => return Err(DbError::Unavailable(why).into()),
                // The server had closed the idle connection, so nothing was committed: retry on a new one.
                Err(DbError::Unavailable(_)) if reused && !late && attempt == 1 => {}
                Err(why) => return Err(why.into()),
            }
        }
    }

    /// Commits a batch of shared inserts.
    pub(super) fn write_batch(
        &mut self,
        batch: AddBatch,
        metrics: &StoreMetrics,
    ) -> Result<(), (DbError, FailureCause)> {
        let (mut tx, reused) = self.open(WRITE, TIMEOUT).map_err(|why| (why, FailureCause::Server))?;
        let started = Instant::now();
        let stored = tx.add_all(batch).and_then(|()| tx.commit());
        metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
        let late = tx.late;
        if stored.is_err() {
            tx.rollback();
        }
        self.close(tx, stored.as_ref().err());
        stored.map_err(|why| {
            let server = match &why {
                DbError::Uncertain(_) => true,
                // An idle connection may have been closed by the server: each closure is retried by itself.
                DbError::Unavailable(_) => late || !reused,
                DbError::Unique(_) | DbError::Retry(_) | DbError::Internal(_) => false,
            };
            (why, if server { FailureCause::Server } else { FailureCause::Closure })
        })
    }

    pub(super) fn read(
        &mut self,
        work: &mut Work,
        place: CallSite,
        how: (Frame, Duration),
    ) -> Result<(), Refusal> {
        self.try_read(work, place, how).map_err(|(error, _)| error)
    }

    /// Like [`read`](Self::read); an error of the server is returned beside it.
    pub(super) fn try_read(
        &mut self,
        work: &mut Work,
        place: CallSite,
        (several, timeout): (Frame, Duration),
    ) -> Result<(), (Refusal, Option<DbError>)> {
        let mut again = true;
        loop {
            // One statement has one snapshot by itself.
            let frame = if self.several.has(place) { several } else { Frame::Single };
            let (mut tx, reused) =
                self.open(frame, timeout).map_err(|why| (why.clone().into(), Some(why)))?;
            let outcome = run(&mut tx, work, false);
            tx.rollback();
            let (more, late, error) = (tx.wants_more, tx.late, tx.error().cloned());
            self.close(tx, error.as_ref());
            if more {
                self.several.add(place);
                continue;
            }
            if matches!(error, Some(DbError::Unavailable(_))) && reused && !late && again {
                again = false;
                continue;
            }
            return match outcome {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(ours)) => Err((error.clone().map_or(ours, Refusal::from), error)),
                Err(_) => Err((DbError::Internal("a read panicked".into()).into(), None)),
            };
        }
    }
}

fn run(tx: &mut PgTx, work: &mut Work, again: bool) -> std::thread::Result<Result<CommitEffects, Refusal>> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut tx = Tx::new(Session::Postgres(tx));
        tx.again = again;
        work(&mut tx)?;
        Ok(tx.effects())
    }))
}

//! PostgreSQL: threads that own a connection each, pipelined writes, transactions that run again after a
//! conflict, and one connection for the wake-ups between nodes.

mod group;
mod lobby;
mod prefetched;
mod probes;
mod replica;
mod server;
mod tx;
mod wakes;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio_postgres::Client;

use super::work::{Refusal, Work};
use super::{Aftermath, DbError, Kind, OnWake, Place, Reach, Session, StoreMetrics, Tx, Wake, WakeSet};
pub(super) use group::Sheet;
use group::{Blame, Guest};
use lobby::{Door, Lobby};
pub use probes::Probe;
pub(super) use probes::probe;
use replica::Replica;
pub use replica::Standing;
use server::Purpose;
pub(super) use server::Server;
pub(super) use tx::PgTx;
use tx::{Frame, Known, Patience};
use wakes::Owed;

/// Times that a closure runs before a conflict is reported.
const ATTEMPTS: u32 = 12;
/// Time after which it does not run again.
const CONTENDED: Duration = Duration::from_secs(6);
/// The same for one that does not wait long for others: it is less than its wait for one lock.
const HASTY: Duration = Duration::from_millis(80);
/// Connections for transactions that closures share: while one waits for its commit, the next is filled.
const SHARED: usize = 2;
/// Closures that may wait for a connection.
const QUEUE: usize = 20_000;
/// Longest wait for an answer of a server that is there.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same for very large transactions and for reads that may take long.
const LONG_PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Time without use after which a connection is looked at before it is used: the server may have closed it.
const IDLE: Duration = Duration::from_millis(200);

const WRITE: Frame = Frame::Transaction("begin");
/// A lock that somebody keeps longer ends it, and it does not try again then ([`HASTY`]).
const WRITE_HASTY: Frame = Frame::Transaction("begin; set local lock_timeout = '100ms'");
/// A very large transaction may compute for long, and wait for another one of its kind.
const WRITE_LONG: Frame = Frame::Transaction(
    "begin; set local idle_in_transaction_session_timeout = '10min'; set local lock_timeout = '10min'",
);
const READ: Frame = Frame::Transaction("begin isolation level repeatable read read only");
const READ_LONG: Frame = Frame::Transaction(
    "begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = '10min'",
);

type Job = Box<dyn FnOnce(&mut PgSession) + Send>;

pub(super) struct Postgres {
    writers: SyncSender<Job>,
    readers: SyncSender<Job>,
    /// Closures that may share a transaction.
    guests: Door<Guest>,
    /// Who reads at length, if not the primary.
    replica: Option<Replica>,
    metrics: StoreMetrics,
    /// Wakes the jobs of this node, and owes it to the others.
    on_wake: OnWake,
    owed: Arc<Owed>,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.owed.close();
    }
}

impl Postgres {
    pub(super) fn open(
        server: &Server,
        standby: Option<&Server>,
        (connections, wake): (usize, Wake),
        on_wake: OnWake,
        metrics: StoreMetrics,
    ) -> Result<Self, DbError> {
        let replica =
            standby.map(|standby| Replica::open(server, standby, connections, &metrics)).transpose()?;
        let owed = Arc::new(Owed::default());
        let writers = pool("store-write", connections, server, Purpose::Write, &metrics)?;
        let readers = pool("store-read", connections, server, Purpose::Read, &metrics)?;
        let guests = Door(Arc::new(Lobby::<Guest>::new(QUEUE)));
        for number in 0..SHARED {
            let (lobby, server, singly, metrics) =
                (guests.0.clone(), server.clone(), writers.clone(), metrics.clone());
            std::thread::Builder::new()
                .name(format!("store-shared-{number}"))
                .spawn(move || {
                    let session = PgSession::new(server, Purpose::Write, Arc::default());
                    if let Ok(session) = session {
                        group::serve(&lobby, session, &singly, &metrics);
                    }
                })
                .map_err(|why| DbError::Unavailable(why.to_string()))?;
        }
        let (to_others, here, heard) = (owed.clone(), on_wake.clone(), server.clone());
        std::thread::Builder::new()
            .name("store-wakes".into())
            .spawn(move || match wake {
                Wake::Listen => wakes::run(&heard, &here, &to_others),
                Wake::Poll => wakes::poll(&here, &to_others),
            })
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
        let to_others = owed.clone();
        let on_wake: OnWake = match wake {
            Wake::Listen => Arc::new(move |woken: WakeSet| {
                on_wake(woken);
                to_others.add(woken.0);
            }),
            Wake::Poll => on_wake,
        };
        Ok(Self { writers, readers, guests, replica, metrics, on_wake, owed })
    }

    pub(super) async fn tx(&self, mut work: Work, kind: Kind) -> Result<(), Refusal> {
        let (send, answer) = oneshot::channel();
        let (on_wake, metrics) = (self.on_wake.clone(), self.metrics.clone());
        let (frame, patience) = match kind {
            Kind::Usual | Kind::Alone => (WRITE, PATIENCE),
            Kind::Hasty => (WRITE_HASTY, PATIENCE),
            Kind::Long => (WRITE_LONG, LONG_PATIENCE),
            Kind::Single => (Frame::SingleWrite, PATIENCE),
            Kind::LongSingle => (Frame::SingleWrite, LONG_PATIENCE),
            Kind::Adding => {
                let guest = Guest::new(work, send, on_wake, metrics);
                let admitted = || {
                    self.metrics.queued.inc();
                };
                if !self.guests.0.admit(guest, admitted) {
                    return Err(DbError::Unavailable("the queue of the store is full".into()).into());
                }
                let gone = || Err(DbError::Internal("a store thread is gone".into()).into());
                return answer.await.unwrap_or_else(|_| gone());
            }
        };
        let job: Job = Box::new(move |session| {
            let outcome = session.write(&mut work, (frame, patience), false, &metrics).map(|aftermath| {
                aftermath.run(&on_wake);
            });
            let _ = send.send(outcome);
        });
        self.send(&self.writers, job)?;
        answer.await.unwrap_or_else(|_| Err(DbError::Internal("a store thread is gone".into()).into()))
    }

    /// How the replica goes, if there is one.
    pub(super) fn replica(&self) -> Option<Standing> {
        self.replica.as_ref().map(Replica::standing)
    }

    /// Runs a read that was asked for at `place`.
    pub(super) async fn read(&self, mut work: Work, place: Place, reach: Reach) -> Result<(), Refusal> {
        if let Some(replica) = self.replica.as_ref().filter(|replica| reach == Reach::Far && replica.usable())
        {
            let (send, answer) = oneshot::channel();
            let job: Job = Box::new(move |session| {
                let outcome = session.try_read(&mut work, place, (READ_LONG, LONG_PATIENCE));
                drop(send.send((outcome, work)));
            });
            self.send(&replica.readers, job)?;
            match answer.await {
                Ok((Ok(()), _)) => return Ok(()),
                Ok((Err((ours, None)), _)) => return Err(ours),
                // Away, or it had to apply what the read looked at: the primary can do it.
                Ok((Err((_, Some(why))), again)) => {
                    replica.failed(&why);
                    work = again;
                }
                Err(_) => return Err(DbError::Internal("a store thread is gone".into()).into()),
            }
        }
        let (send, answer) = oneshot::channel();
        let (frame, patience) =
            if reach == Reach::Short { (READ, PATIENCE) } else { (READ_LONG, LONG_PATIENCE) };
        let job: Job =
            Box::new(move |session| drop(send.send(session.read(&mut work, place, (frame, patience)))));
        self.send(&self.readers, job)?;
        answer.await.unwrap_or_else(|_| Err(DbError::Internal("a store thread is gone".into()).into()))
    }

    fn send(&self, pool: &SyncSender<Job>, job: Job) -> Result<(), DbError> {
        self.metrics.queued.inc();
        pool.try_send(job).map_err(|_| {
            self.metrics.queued.dec();
            DbError::Unavailable("the queue of the store is full".into())
        })
    }
}

fn pool(
    name: &str,
    size: usize,
    server: &Server,
    purpose: Purpose,
    metrics: &StoreMetrics,
) -> Result<SyncSender<Job>, DbError> {
    let (orders, inbox) = sync_channel::<Job>(QUEUE);
    let inbox = Arc::new(Mutex::new(inbox));
    let several = Arc::<Several>::default();
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
    several: Arc<Several>,
    metrics: &StoreMetrics,
) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut session = PgSession {
        runtime: Arc::new(runtime),
        server,
        purpose,
        line: None,
        known: Known::default(),
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

/// Places that ask for reads of more than one statement, by their addresses: such a read is a transaction from its
/// beginning, so that it sees one state. Each place is found out once.
#[derive(Default)]
struct Several(RwLock<HashSet<usize>>);

impl Several {
    fn has(&self, place: Place) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&(std::ptr::from_ref(place) as usize))
    }

    fn add(&self, place: Place) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(std::ptr::from_ref(place) as usize);
    }
}

/// An open connection. The task that serves it ends with it.
struct Line {
    client: Arc<Client>,
    /// The place of its host.
    place: usize,
    pump: tokio::task::JoinHandle<()>,
    used: Instant,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

/// One connection, opened when first needed and again after it was lost.
struct PgSession {
    runtime: Arc<tokio::runtime::Runtime>,
    server: Server,
    purpose: Purpose,
    line: Option<Line>,
    known: Known,
    several: Arc<Several>,
}

impl PgSession {
    fn new(server: Server, purpose: Purpose, several: Arc<Several>) -> std::io::Result<Self> {
        let runtime = Arc::new(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
        Ok(Self { runtime, server, purpose, line: None, known: Known::default(), several })
    }

    /// The connection, the place of its host, and whether it was open before.
    fn connect(&mut self) -> Result<(Arc<Client>, usize, bool), DbError> {
        if let Some(line) = &mut self.line {
            if line.used.elapsed() > IDLE {
                // What the server said meanwhile is heard now: that it closed the connection, for example.
                self.runtime.block_on(async {
                    tokio::task::yield_now().await;
                    tokio::task::yield_now().await;
                });
            }
            line.used = Instant::now();
            if !line.client.is_closed() {
                return Ok((line.client.clone(), line.place, true));
            }
        }
        self.hang_up();
        let (server, purpose) = (self.server.clone(), self.purpose);
        let (client, pump, place) = self.runtime.block_on(async move {
            let (client, connection, place) = server.connect(purpose).await?;
            let pump = tokio::spawn(async move { drop(connection.await) });
            Ok::<_, DbError>((Arc::new(client), pump, place))
        })?;
        self.line = Some(Line { client: client.clone(), place, pump, used: Instant::now() });
        Ok((client, place, false))
    }

    fn hang_up(&mut self) {
        self.known.clear();
        if self.line.take().is_some() {
            // The task that serves the connection ends now, and closes it: the server lets go of what it holds.
            self.runtime.block_on(tokio::task::yield_now());
        }
    }

    /// Opens a transaction, whose first message travels with the first statement. Also says whether the connection
    /// was open before.
    fn open(&mut self, frame: Frame, patience: Duration) -> Result<(PgTx, bool), DbError> {
        let (client, place, reused) = self.connect()?;
        let known = std::mem::take(&mut self.known);
        let patience = Patience { most: patience, server: self.server.clone(), place };
        Ok((PgTx::new(self.runtime.clone(), client, known, frame, patience), reused))
    }

    /// Takes back what a transaction leaves. After `outcome` the connection may be of no use.
    fn close(&mut self, tx: PgTx, outcome: Option<&DbError>) {
        let late = tx.late;
        self.known = tx.known;
        if late || matches!(outcome, Some(DbError::Unavailable(_) | DbError::Uncertain(_))) {
            self.hang_up();
        }
        if late {
            self.server.doubt("the server does not answer");
        }
    }

    fn write(
        &mut self,
        work: &mut Work,
        (frame, patience): (Frame, Duration),
        again: bool,
        metrics: &StoreMetrics,
    ) -> Result<Aftermath, Refusal> {
        let (mut attempt, began) = (0, Instant::now());
        let hasty = frame == WRITE_HASTY;
        let contended = if hasty { HASTY } else { CONTENDED };
        loop {
            attempt += 1;
            let (mut tx, reused) = self.open(frame, patience)?;
            let closed = match run(&mut tx, work, again || attempt > 1) {
                Ok(Ok(aftermath)) => {
                    let started = Instant::now();
                    let committed = tx.commit();
                    metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
                    metrics.batch_size.observe(1.0);
                    match committed {
                        Ok(()) => Ok(Ok(aftermath)),
                        Err(why) => {
                            if matches!(why, DbError::Uncertain(_)) {
                                aftermath.doubt();
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
                    // Spreads contenders; real time, because the conflict is with real processes.
                    std::thread::sleep(Duration::from_micros(u64::from(attempt * attempt) * 300));
                }
                Err(DbError::Retry(why)) if !hasty => return Err(DbError::Unavailable(why).into()),
                // The server closed the idle connection: nothing was committed, so a fresh one may try.
                Err(DbError::Unavailable(_)) if reused && !late && attempt == 1 => {}
                Err(why) => return Err(why.into()),
            }
        }
    }

    /// Stores what closures add that share a transaction.
    fn write_sheet(&mut self, sheet: Sheet, metrics: &StoreMetrics) -> Result<(), (DbError, Blame)> {
        let (mut tx, reused) = self.open(WRITE, PATIENCE).map_err(|why| (why, Blame::Server))?;
        let started = Instant::now();
        let stored = tx.add_all(sheet).and_then(|()| tx.commit());
        metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
        let late = tx.late;
        if stored.is_err() {
            tx.rollback();
        }
        self.close(tx, stored.as_ref().err());
        stored.map_err(|why| {
            let server = match &why {
                DbError::Uncertain(_) => true,
                // A connection that rested may have been closed: each tries once more by itself.
                DbError::Unavailable(_) => late || !reused,
                DbError::Unique(_) | DbError::Retry(_) | DbError::Internal(_) => false,
            };
            (why, if server { Blame::Server } else { Blame::Somebody })
        })
    }

    fn read(&mut self, work: &mut Work, place: Place, how: (Frame, Duration)) -> Result<(), Refusal> {
        self.try_read(work, place, how).map_err(|(error, _)| error)
    }

    /// The same, and with an error of the server that error itself.
    fn try_read(
        &mut self,
        work: &mut Work,
        place: Place,
        (several, patience): (Frame, Duration),
    ) -> Result<(), (Refusal, Option<DbError>)> {
        let mut again = true;
        loop {
            // One statement sees one state by itself.
            let frame = if self.several.has(place) { several } else { Frame::Single };
            let (mut tx, reused) =
                self.open(frame, patience).map_err(|why| (why.clone().into(), Some(why)))?;
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

fn run(tx: &mut PgTx, work: &mut Work, again: bool) -> std::thread::Result<Result<Aftermath, Refusal>> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut tx = Tx { again, ..Tx::new(Session::Postgres(tx)) };
        work(&mut tx)?;
        Ok(tx.aftermath())
    }))
}

//! PostgreSQL: threads that own a connection each, pipelined statements, retries after a conflict, and one connection for
//! the wake-ups between nodes.

mod add_batch;
mod error;
mod group_commit;
mod prefetched;
mod probes;
mod replica;
mod server;
mod session;
mod tx;
mod wakes;
mod write_queue;

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use tokio::sync::oneshot;

pub(super) use self::add_batch::AddBatch;
use self::group_commit::QueuedWrite;
pub use self::probes::Probe;
pub(super) use self::probes::probe;
use self::replica::Replica;
pub use self::replica::ReplicaStatus;
use self::server::Purpose;
pub(super) use self::server::Server;
use self::session::{
    Job, LONG_TIMEOUT, PgSession, QUEUE, READ, READ_LONG, TIMEOUT, WRITE, WRITE_HASTY, WRITE_LONG, pool,
};
use self::tx::Frame;
pub(super) use self::tx::PgTx;
use self::wakes::PendingWakes;
use self::write_queue::{WriteQueue, WriteQueueHandle};
use super::commit_effects::{OnWake, WakeSet};
use super::error::DbError;
use super::faults::CallSite;
use super::metrics::StoreMetrics;
use super::settings::Wake;
use super::work::{Kind, Reach, Refusal, Work};

/// Connections for shared transactions: while one waits for its commit, the next is filled.
const SHARED: usize = 2;

pub(super) struct Postgres {
    writers: SyncSender<Job>,
    readers: SyncSender<Job>,
    /// The queue of closures that may share a transaction.
    group_commits: WriteQueueHandle<QueuedWrite>,
    /// The replica for long reads.
    replica: Option<Replica>,
    metrics: StoreMetrics,
    /// Wakes the jobs of this node, and queues the wake-up for the others.
    on_wake: OnWake,
    pending_wakes: Arc<PendingWakes>,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.pending_wakes.close();
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
        let pending_wakes = Arc::new(PendingWakes::default());
        let writers = pool("store-write", connections, server, Purpose::Write, &metrics)?;
        let readers = pool("store-read", connections, server, Purpose::Read, &metrics)?;
        let group_commits = WriteQueueHandle(Arc::new(WriteQueue::<QueuedWrite>::new(QUEUE)));
        for number in 0..SHARED {
            let (write_queue, server, singly, metrics) =
                (group_commits.0.clone(), server.clone(), writers.clone(), metrics.clone());
            std::thread::Builder::new()
                .name(format!("store-shared-{number}"))
                .spawn(move || {
                    let session = PgSession::new(server, Purpose::Write);
                    if let Ok(session) = session {
                        group_commit::serve(&write_queue, session, &singly, &metrics);
                    }
                })
                .map_err(|why| DbError::Unavailable(why.to_string()))?;
        }
        let (to_others, here, heard) = (pending_wakes.clone(), on_wake.clone(), server.clone());
        std::thread::Builder::new()
            .name("store-wakes".into())
            .spawn(move || match wake {
                Wake::Listen => wakes::run(&heard, &here, &to_others),
                Wake::Poll => wakes::poll(&here, &to_others),
            })
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
        let to_others = pending_wakes.clone();
        let on_wake: OnWake = match wake {
            Wake::Listen => Arc::new(move |woken: WakeSet| {
                on_wake(woken);
                to_others.add(woken.0);
            }),
            Wake::Poll => on_wake,
        };
        Ok(Self { writers, readers, group_commits, replica, metrics, on_wake, pending_wakes })
    }

    pub(super) async fn tx(&self, mut work: Work, kind: Kind) -> Result<(), Refusal> {
        let (send, answer) = oneshot::channel();
        let (on_wake, metrics) = (self.on_wake.clone(), self.metrics.clone());
        let (frame, timeout) = match kind {
            Kind::Usual | Kind::Alone => (WRITE, TIMEOUT),
            Kind::Hasty => (WRITE_HASTY, TIMEOUT),
            Kind::Long => (WRITE_LONG, LONG_TIMEOUT),
            Kind::Single => (Frame::SingleWrite, TIMEOUT),
            Kind::LongSingle => (Frame::SingleWrite, LONG_TIMEOUT),
            Kind::Adding => {
                let write = QueuedWrite::new(work, send, on_wake, metrics);
                let pushed = || {
                    self.metrics.queued.inc();
                };
                if !self.group_commits.0.push(write, pushed) {
                    return Err(DbError::Unavailable("the queue of the store is full".into()).into());
                }
                let gone = || Err(DbError::Internal("a store thread is gone".into()).into());
                return answer.await.unwrap_or_else(|_| gone());
            }
        };
        let job: Job = Box::new(move |session| {
            let outcome = session.write(&mut work, (frame, timeout), false, &metrics).map(|effects| {
                effects.run(&on_wake);
            });
            let _ = send.send(outcome);
        });
        self.send(&self.writers, job)?;
        answer.await.unwrap_or_else(|_| Err(DbError::Internal("a store thread is gone".into()).into()))
    }

    /// The status of the replica, if there is one.
    pub(super) fn replica(&self) -> Option<ReplicaStatus> {
        self.replica.as_ref().map(Replica::status)
    }

    /// Runs a read of the call site `place`.
    pub(super) async fn read(&self, mut work: Work, place: CallSite, reach: Reach) -> Result<(), Refusal> {
        if let Some(replica) = self.replica.as_ref().filter(|replica| reach == Reach::Far && replica.usable())
        {
            let (send, answer) = oneshot::channel();
            let job: Job = Box::new(move |session| {
                let outcome = session.try_read(&mut work, place, (READ_LONG, LONG_TIMEOUT));
                drop(send.send((outcome, work)));
            });
            self.send(&replica.readers, job)?;
            match answer.await {
                Ok((Ok(()), _)) => return Ok(()),
                Ok((Err((ours, None)), _)) => return Err(ours),
                // Unreachable, or a recovery conflict: the primary runs the read.
                Ok((Err((_, Some(why))), again)) => {
                    replica.failed(&why);
                    work = again;
                }
                Err(_) => return Err(DbError::Internal("a store thread is gone".into()).into()),
            }
        }
        let (send, answer) = oneshot::channel();
        let (frame, timeout) =
            if reach == Reach::Short { (READ, TIMEOUT) } else { (READ_LONG, LONG_TIMEOUT) };
        let job: Job =
            Box::new(move |session| drop(send.send(session.read(&mut work, place, (frame, timeout)))));
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

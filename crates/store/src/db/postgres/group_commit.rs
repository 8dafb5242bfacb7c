//! Group commit of closures that only insert rows. They need no answers of the server, so they run one after the other
//! without a round trip; their rows are sent as one statement for each table, with BEGIN and COMMIT, in one round trip. A
//! closure that needs anything else gets a transaction of its own. If the shared one fails, each closure is retried by
//! itself, so that only the culprit gets the error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::SyncSender;

use tokio::sync::oneshot;

use super::super::commit_effects::{CommitEffects, OnWake};
use super::super::error::DbError;
use super::super::metrics::StoreMetrics;
use super::super::tx::{Session, Tx};
use super::super::work::{Refusal, Work};
use super::add_batch::AddBatch;
use super::session::{FailureCause, Job, PgSession, TIMEOUT, WRITE};
use super::write_queue::WriteQueue;

/// Most closures of one transaction.
const GROUP: usize = 256;

/// The result of running a closure for a shared transaction.
enum Gathered {
    /// Its rows are in the batch.
    Rows,
    /// It needs a transaction of its own.
    Alone,
    /// Its caller has been answered.
    Answered,
}

/// The outcome of a closure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It waits for the commit.
    Pending,
    /// It failed or panicked, and its caller has the error.
    Answered,
    /// It failed, perhaps because of stale data: it is retried by itself.
    Retry,
}

/// A queued closure, with the channel to its caller.
pub(super) struct QueuedWrite {
    work: Work,
    send: Option<oneshot::Sender<Result<(), Refusal>>>,
    done: Option<CommitEffects>,
    on_wake: OnWake,
    metrics: StoreMetrics,
}

impl QueuedWrite {
    pub(super) fn new(
        work: Work,
        send: oneshot::Sender<Result<(), Refusal>>,
        on_wake: OnWake,
        metrics: StoreMetrics,
    ) -> Self {
        Self { work, send: Some(send), done: None, on_wake, metrics }
    }

    fn send_result(&mut self, answer: Result<(), Refusal>) {
        if let Some(send) = self.send.take() {
            let _ = send.send(answer);
        }
    }

    fn run(&mut self, batch: &mut AddBatch) -> Outcome {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut tx = Tx::new(Session::Batch(batch));
            (self.work)(&mut tx)?;
            Ok(tx.effects())
        }));
        match outcome {
            Ok(Ok(done)) => {
                self.done = Some(done);
                Outcome::Pending
            }
            _ if batch.wants_more => Outcome::Retry,
            Ok(Err(_)) if !batch.expected.is_empty() => Outcome::Retry,
            Ok(Err(refused)) => {
                self.send_result(Err(refused));
                Outcome::Answered
            }
            Err(_) => {
                self.send_result(Err(DbError::Internal("a transaction panicked".into()).into()));
                Outcome::Answered
            }
        }
    }

    /// Sends the result of the shared transaction to its caller.
    fn answer(mut self, committed: Result<(), DbError>) {
        let answer = match (committed, self.done.take()) {
            (Ok(()), Some(effects)) => {
                effects.run(&self.on_wake);
                Ok(())
            }
            (Ok(()), None) => Err(DbError::Internal("a shared transaction has no outcome".into()).into()),
            (Err(why), done) => {
                if let (DbError::Uncertain(_), Some(effects)) = (&why, done) {
                    effects.run_uncertain();
                }
                Err(why.into())
            }
        };
        self.send_result(answer);
    }

    /// The job that runs it in a transaction of its own; `again`: as a retry.
    fn alone(mut self, again: bool) -> Job {
        Box::new(move |session| {
            let outcome = session.write(&mut self.work, (WRITE, TIMEOUT), again, &self.metrics);
            let answer = outcome.map(|effects| effects.run(&self.on_wake));
            self.send_result(answer);
        })
    }
}

fn collect_rows(write: &mut QueuedWrite, all: &mut AddBatch) -> Gathered {
    let mut batch = AddBatch::default();
    match write.run(&mut batch) {
        Outcome::Answered => Gathered::Answered,
        Outcome::Pending if !batch.wants_more => {
            all.merge(batch);
            Gathered::Rows
        }
        Outcome::Pending | Outcome::Retry => Gathered::Alone,
    }
}

/// The loop of a thread that runs shared transactions. `singly` is the queue for transactions of their own.
pub(super) fn serve(
    queue: &WriteQueue<QueuedWrite>,
    mut session: PgSession,
    singly: &SyncSender<Job>,
    metrics: &StoreMetrics,
) {
    let send = |job: Job| {
        metrics.queued.inc();
        // Its receivers outlive this thread.
        let _ = singly.send(job);
    };
    while let Some((writes, in_flight)) = queue.next(GROUP) {
        for _ in &writes {
            metrics.queued.dec();
        }
        let mut all = AddBatch::default();
        metrics.in_use.inc();
        let mut waiting = Vec::with_capacity(writes.len());
        for mut write in writes {
            match collect_rows(&mut write, &mut all) {
                Gathered::Rows => waiting.push(write),
                Gathered::Alone => send(write.alone(false)),
                Gathered::Answered => {}
            }
        }
        if !waiting.is_empty() {
            metrics.batch_size.observe(waiting.len() as f64);
            match session.write_batch(all, metrics) {
                Ok(()) => waiting.into_iter().for_each(|write| write.answer(Ok(()))),
                Err((why, FailureCause::Server)) => {
                    waiting.into_iter().for_each(|write| write.answer(Err(why.clone())));
                }
                Err((_, FailureCause::Closure)) => {
                    waiting.into_iter().for_each(|write| send(write.alone(true)))
                }
            }
        }
        metrics.in_use.dec();
        drop(in_flight);
    }
}

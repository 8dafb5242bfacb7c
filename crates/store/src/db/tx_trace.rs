//! Tracing of transactions: the trace that a transaction belongs to, how long it was queued, and how often it ran.
//! Off unless [`Store::trace_with`](super::Store::trace_with) was called.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use domain::trace::TraceContext;

use super::work::Work;

/// Starts a span for each transaction.
pub trait TxTracer: Send + Sync {
    /// Called on the task that starts a transaction. `None`: it belongs to no trace.
    fn begin(&self) -> Option<Box<dyn TxSpan>>;
}

/// The span of one transaction. Dropped before its end if the caller was cancelled.
pub trait TxSpan: Send {
    /// The trace context of the rows that it writes.
    fn context(&self) -> TraceContext;

    /// The transaction is over.
    fn end(self: Box<Self>, report: TxReport);
}

/// The outcome of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxReport {
    /// Whether it was stored.
    pub stored: bool,
    /// Runs of its closure: more than one after a conflict.
    pub runs: u32,
    /// Time in the queue before the first run.
    pub waited: Duration,
}

/// Counts the runs of a closure.
pub(super) struct RunCounters {
    queued_at: Instant,
    runs: AtomicU32,
    waited: AtomicU64,
}

impl RunCounters {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { queued_at: Instant::now(), runs: AtomicU32::new(0), waited: AtomicU64::new(0) })
    }

    pub(super) fn report(&self, stored: bool) -> TxReport {
        TxReport {
            stored,
            runs: self.runs.load(Ordering::Relaxed),
            waited: Duration::from_micros(self.waited.load(Ordering::Relaxed)),
        }
    }
}

/// The closure with its trace context.
pub(super) fn traced(context: TraceContext, counters: Arc<RunCounters>, mut work: Work) -> Work {
    Box::new(move |tx| {
        if counters.runs.fetch_add(1, Ordering::Relaxed) == 0 {
            let waited = u64::try_from(counters.queued_at.elapsed().as_micros()).unwrap_or(u64::MAX);
            counters.waited.store(waited, Ordering::Relaxed);
        }
        tx.trace = Some(context);
        work(tx)
    })
}

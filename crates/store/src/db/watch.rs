//! Transactions that are followed in a trace: which trace a transaction belongs to, how long it waited for its
//! turn, and how often it ran. Nobody follows one unless [`Store::watch`](super::Store::watch) was told who does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use domain::trace::TraceContext;

use super::work::Work;

pub trait Watcher: Send + Sync {
    /// Asked on the task that wants a transaction. `None` when it is in no trace.
    fn begin(&self) -> Option<Box<dyn Watched>>;
}

/// One transaction that is followed. Dropping it before its end means that its caller has gone.
pub trait Watched: Send {
    /// What the rows that it writes belong to.
    fn context(&self) -> TraceContext;

    fn end(self: Box<Self>, course: Course);
}

/// How a transaction went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// Whether it was stored.
    pub stored: bool,
    /// Times that its closure ran: more than one after a conflict.
    pub runs: u32,
    /// How long it waited before the closure ran first.
    pub waited: Duration,
}

/// What the closure notes while it runs.
pub(super) struct Notes {
    asked: Instant,
    runs: AtomicU32,
    waited: AtomicU64,
}

impl Notes {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { asked: Instant::now(), runs: AtomicU32::new(0), waited: AtomicU64::new(0) })
    }

    pub(super) fn course(&self, stored: bool) -> Course {
        Course {
            stored,
            runs: self.runs.load(Ordering::Relaxed),
            waited: Duration::from_micros(self.waited.load(Ordering::Relaxed)),
        }
    }
}

/// The closure in its trace.
pub(super) fn under(context: TraceContext, notes: Arc<Notes>, mut work: Work) -> Work {
    Box::new(move |tx| {
        if notes.runs.fetch_add(1, Ordering::Relaxed) == 0 {
            let waited = u64::try_from(notes.asked.elapsed().as_micros()).unwrap_or(u64::MAX);
            notes.waited.store(waited, Ordering::Relaxed);
        }
        tx.trace = Some(context);
        work(tx)
    })
}

//! Background jobs, one row each in [`table::JOBS`]. A job polls the store, works a bounded batch, and sleeps until the
//! next item is due or a commit wakes it. All rows run in the same loop ([`JobRow::start`]).

mod after_calls;
mod boards;
mod channel_inbox;
mod channel_media;
mod channel_upkeep;
mod chats;
mod cleanup;
mod dialler;
mod evaluations;
mod hangup_requests;
mod holds;
mod lines;
mod live_calls;
mod log_marks;
mod mails;
mod partitions;
mod polls;
mod pushes;
mod recording_uploads;
mod scheduled_calls;
mod slots;
pub mod table;
mod trunks;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use domain::time::{SECOND, Timestamp};
use integrations::ConnectedSystems;
use store::WakeSet;
use tokio::task::JoinSet;

use crate::app::due_rows::{self, DueRow};
use crate::app::{App, Failure, Wakes};
use crate::lines::Lines;
use crate::runtime::clock::{Job, Signal, Woken};

/// A row of the table of jobs.
pub struct JobRow {
    /// Name in the log.
    pub name: &'static str,
    /// Commits that wake it.
    wakes: WakeSet,
    /// Longest rest on a store that other nodes share, milliseconds: their wake-up can get lost.
    latest: i64,
    /// Rest after a failure, milliseconds.
    retry: i64,
    on: On,
    /// Whether it brings new calls: it pauses while the node is drained or stops, and runs at once when the node is in
    /// service again (docs/contract/operator.md#nodes).
    in_service: bool,
    fails: Fails,
    work: Work,
}

/// The stores with which a job runs.
#[derive(Clone, Copy)]
enum On {
    Any,
    /// A store that other nodes may share.
    Shared,
    /// A store whose other nodes write to it: shared, and by the real clock. A manual clock belongs to one node.
    ManyNodes,
    /// Every other store.
    OneNode,
}

/// The log line of a failure.
#[derive(Clone, Copy)]
enum Fails {
    Error(&'static str),
    /// It recovers by itself.
    Warning(&'static str),
}

/// The work of a job.
enum Work {
    /// One poll, which needs the use cases only.
    Polls(fn(Arc<App>) -> Polling),
    /// Makes a poll that has state, or needs more of the node. `None`: this node has no such job.
    Makes(fn(&NodeParts<'_>) -> Option<Poll>),
    /// Starts loops of its own.
    Starts(fn(&NodeParts<'_>)),
}

/// Works a bounded batch of what is due. It runs at the start, when a commit wakes the job, and when its rest is over.
type Poll = Box<dyn Fn(Arc<App>) -> Polling + Send + Sync>;
type Polling = Pin<Box<dyn Future<Output = Polled> + Send>>;
type Polled = Result<Next, Failure>;

/// When a job polls next, unless it is woken before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// When the next item is due, if one is known; on a store with many nodes after [`JobRow::latest`] at the latest.
    Due(Option<Timestamp>),
    /// At this time; `None`: only when it is woken.
    At(Option<Timestamp>),
}

/// What the work of a job is made from.
struct NodeParts<'a> {
    app: &'a Arc<App>,
    /// Wakes the job.
    signal: &'a Signal,
    /// Telephone lines of this node.
    lines: Option<&'a Arc<Lines>>,
    /// Connected systems.
    connected: Option<&'a Arc<ConnectedSystems>>,
}

/// The usual rest after a failure, and the longest one on a store with many nodes.
const AGAIN: i64 = 5 * SECOND;

impl JobRow {
    const fn on(self, on: On) -> Self {
        Self { on, ..self }
    }

    const fn in_service(self) -> Self {
        Self { in_service: true, ..self }
    }

    /// Rests this long after a failure.
    const fn retry(self, retry: i64) -> Self {
        Self { retry, ..self }
    }

    fn start(&'static self, wakes: &Wakes, parts: &NodeParts<'_>) {
        let (app, signal) = (parts.app.clone(), parts.signal.clone());
        let runs = match self.on {
            On::Any => true,
            On::Shared => app.store.shared(),
            On::ManyNodes => many_nodes(&app),
            On::OneNode => !many_nodes(&app),
        };
        if !runs {
            return;
        }
        let poll: Poll = match self.work {
            Work::Polls(poll) => Box::new(poll),
            Work::Makes(make) => match make(parts) {
                Some(poll) => poll,
                None => return,
            },
            Work::Starts(start) => return start(parts),
        };
        wakes.connect(self.wakes, signal.clone());
        if self.in_service {
            app.node.wakes(signal.clone());
        }
        parts.app.clock.start_job(signal, move |job| self.run(app, poll, job));
    }

    /// The loop of a job, until the service stops.
    async fn run(&self, app: Arc<App>, poll: Poll, mut job: Job) {
        loop {
            let next = match self.in_service && !app.node.in_service() {
                true => None,
                false => self.next(&app, poll(app.clone()).await),
            };
            if job.wait(next).await == Woken::Stop {
                return;
            }
        }
    }

    /// The time of the next poll. A failure is logged.
    fn next(&self, app: &App, polled: Polled) -> Option<Timestamp> {
        let now = app.clock.now();
        match polled {
            Ok(Next::At(at)) => at,
            Ok(Next::Due(due)) if many_nodes(app) => {
                let latest = now.plus(self.latest);
                Some(due.map_or(latest, |due| due.min(latest)))
            }
            Ok(Next::Due(due)) => due,
            Err(Failure { error, cause, .. }) => {
                match self.fails {
                    Fails::Error(what) => {
                        tracing::error!(job = self.name, code = error.code, cause, "{what}")
                    }
                    Fails::Warning(what) => {
                        tracing::warn!(job = self.name, code = error.code, cause, "{what}")
                    }
                }
                Some(now.plus(self.retry))
            }
        }
    }
}

/// Whether other nodes write to the store. A manual clock belongs to one node.
fn many_nodes(app: &App) -> bool {
    app.store.shared() && !app.clock.is_manual()
}

/// A poll that has state.
fn poll<F: Future<Output = Polled> + Send + 'static>(
    poll: impl Fn(Arc<App>) -> F + Send + Sync + 'static,
) -> Option<Poll> {
    Some(Box::new(move |app| Box::pin(poll(app))))
}

/// Works one fair batch of rows that any node may work, `at_once` at a time; `attempt` returns whether it could work a
/// row.
async fn work_due<D, F>(app: &Arc<App>, at_once: usize, attempt: impl Fn(Arc<App>, D) -> F) -> Polled
where
    D: DueRow,
    F: Future<Output = bool> + Send + 'static,
{
    let again = app.clock.now().plus(AGAIN);
    let batch = due_rows::take::<D>(app).await?;
    let (mut running, mut failed) = (JoinSet::new(), false);
    for row in batch {
        if running.len() >= at_once {
            failed |= !matches!(running.join_next().await, Some(Ok(true)));
        }
        running.spawn(attempt(app.clone(), row));
    }
    while let Some(done) = running.join_next().await {
        failed |= !matches!(done, Ok(true));
    }
    let due = due_rows::next_due::<D>(app).await?;
    // What failed stays due: retry it, but not at once.
    Ok(if failed { Next::At(Some(due.map_or(again, |due| due.max(again)))) } else { Next::Due(due) })
}

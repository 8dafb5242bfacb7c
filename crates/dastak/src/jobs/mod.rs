//! Background jobs. Every job is one loop: poll the store, work a bounded batch, and sleep until the next item is due
//! or a commit wakes it.

pub mod after_calls;
pub mod backfills;
pub mod boards;
pub mod call_hours;
pub mod calling_lists;
pub mod carrier;
pub mod channel_campaigns;
pub mod channel_inbox;
pub mod channel_media;
pub mod channel_sends;
pub mod channel_upkeep;
pub mod chats;
pub mod cleanup;
pub mod dialler;
pub mod documents;
pub mod embeddings;
pub mod holds;
pub mod knowledge;
pub mod lines;
pub mod live_calls;
pub mod log_marks;
pub mod mails;
pub mod node;
pub mod polls;
pub mod pushes;
pub mod recording_uploads;
pub mod scheduled_calls;
pub mod statistics;
pub mod streams;
pub mod trunks;
pub mod weeks;
pub mod wishes;

use std::future::Future;
use std::sync::Arc;

use domain::time::{SECOND, Timestamp};
use store::WakeSet;
use tokio::task::JoinSet;

use crate::app::due_rows::{self, DueRow};
use crate::app::{App, Wakes};
use crate::runtime::clock::{Job, Woken};

/// A job that no commit wakes.
pub const BY_TIME: WakeSet = WakeSet(0);

/// Starts a job. `look` works what is due and returns the time of the next poll; it runs at the start, when a commit
/// wakes one of `topics`, and at that time.
pub fn start<F>(app: &Arc<App>, wakes: &Wakes, topics: WakeSet, look: impl Fn(Arc<App>) -> F + Send + 'static)
where
    F: Future<Output = Option<Timestamp>> + Send + 'static,
{
    let (signal, app_) = (app.clock.signal(), app.clone());
    wakes.connect(topics, signal.clone());
    app.clock.start_job(signal, move |job| repeat(job, move || look(app_.clone())));
}

/// The same for work that brings new calls: it pauses while the node is drained or stops, and polls at once when the
/// node is in service again (docs/contract/operator.md#nodes).
pub fn start_in_service<F>(
    app: &Arc<App>,
    wakes: &Wakes,
    topics: WakeSet,
    look: impl Fn(Arc<App>) -> F + Send + Sync + 'static,
) where
    F: Future<Output = Option<Timestamp>> + Send + 'static,
{
    let (signal, app_) = (app.clock.signal(), app.clone());
    wakes.connect(topics, signal.clone());
    app.node.wakes(signal.clone());
    app.clock.start_job(signal, move |job| {
        repeat(job, move || {
            let work = app_.node.in_service().then(|| look(app_.clone()));
            async move {
                match work {
                    Some(work) => work.await,
                    None => None,
                }
            }
        })
    });
}

/// The loop of a job, until the service stops.
async fn repeat<F: Future<Output = Option<Timestamp>>>(mut job: Job, look: impl Fn() -> F) {
    loop {
        let due = look().await;
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

/// Time until the next poll of rows that any node may work: after an error of the store, and where a notification of
/// another node may be lost.
const AGAIN: i64 = 5 * SECOND;

/// Works one fair batch of rows that are due, `at_once` at a time; `attempt` returns whether it could work a row.
/// Returns the time of the next poll.
async fn work_due<D, F>(
    app: &Arc<App>,
    at_once: usize,
    attempt: impl Fn(Arc<App>, D) -> F,
) -> Option<Timestamp>
where
    D: DueRow,
    F: Future<Output = bool> + Send + 'static,
{
    let again = app.clock.now().plus(AGAIN);
    let Ok(batch) = due_rows::take::<D>(app).await else { return Some(again) };
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
    match due_rows::next_due::<D>(app).await {
        // What failed stays due: retry it, but not at once.
        Ok(due) if failed => Some(due.map_or(again, |due| due.max(again))),
        Ok(due) => next_look(app, due, again),
        Err(_) => Some(again),
    }
}

/// The time of the next poll: when the next item is due, and on a shared store at `again` at the latest, since the
/// notification of another node can get lost. A manual clock belongs to one node.
fn next_look(app: &App, due: Option<Timestamp>, again: Timestamp) -> Option<Timestamp> {
    if app.store.shared() && !app.clock.is_manual() {
        return Some(due.map_or(again, |due| due.min(again)));
    }
    due
}

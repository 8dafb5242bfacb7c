//! Works the steps that calls owe after their end, a lane of files and a lane of words: neither waits for the
//! other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::time::{SECOND, Timestamp};

use crate::app::after_call::{self, Lane};
use crate::app::{App, Wakes, recordings, topics};
use crate::runtime::clock::{Job, Signal, Woken};

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

/// Starts a job for each lane.
pub fn start(app: &Arc<App>, wakes: &Wakes) {
    for lane in Lane::ALL {
        let (app_, signal) = (app.clone(), app.clock.signal());
        wakes.connect(topics::AFTER_CALLS, signal.clone());
        app.clock.start_job(signal.clone(), move |job| run(app_, job, signal, lane));
    }
}

/// Drops recordings that are older than the operator keeps them, and takes care of files that a crash left on
/// this node. What fails is left for the next round. Whether files are left that have to be looked at within
/// the hour.
pub async fn sweep(app: &App) -> bool {
    loop {
        match recordings::sweep(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => break,
            Err(failure) => {
                tracing::warn!(
                    code = failure.error.code,
                    cause = failure.cause,
                    "old recordings could not be dropped"
                );
                break;
            }
        }
    }
    recordings::sweep_spool(app).await.unwrap_or_else(|failure| {
        tracing::warn!(
            code = failure.error.code,
            cause = failure.cause,
            "files of recordings could not be looked at"
        );
        true
    })
}

/// Runs until the service stops.
async fn run(app: Arc<App>, mut job: Job, signal: Signal, lane: Lane) {
    let running = Arc::new(AtomicUsize::new(0));
    loop {
        let due = look(&app, &signal, lane, &running).await;
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

/// Starts as many due steps as there is room for; when to look again. The end of a step raises the signal.
async fn look(app: &Arc<App>, signal: &Signal, lane: Lane, running: &Arc<AtomicUsize>) -> Option<Timestamp> {
    let again = app.clock.now().plus(AGAIN);
    loop {
        let room = lane.at_once().saturating_sub(running.load(Ordering::SeqCst));
        if room == 0 {
            return None;
        }
        let rows = match after_call::take(app, lane, room).await {
            Ok(rows) => rows,
            Err(failure) => {
                tracing::warn!(
                    code = failure.error.code,
                    cause = failure.cause,
                    "a look at what calls owe failed"
                );
                return Some(again);
            }
        };
        if rows.is_empty() {
            break;
        }
        for row in rows {
            running.fetch_add(1, Ordering::SeqCst);
            let (app_, left) = (app.clone(), Left { running: running.clone(), signal: signal.clone() });
            app.clock.spawn(async move {
                after_call::work(&app_, row).await;
                drop(left);
            });
        }
    }
    match after_call::next_due(app, lane).await {
        Ok(due) if app.store.shared() && !app.clock.is_manual() => {
            Some(due.map_or(again, |due| due.min(again)))
        }
        Ok(due) => due,
        Err(_) => Some(again),
    }
}

/// Gives the place of a step back however it ends.
struct Left {
    running: Arc<AtomicUsize>,
    signal: Signal,
}

impl Drop for Left {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.signal.raise();
    }
}

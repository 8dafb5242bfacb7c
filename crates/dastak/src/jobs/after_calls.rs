//! Works the steps that calls owe after their end, a lane of files and a lane of words: neither waits for the
//! other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::time::{SECOND, Timestamp};

use super::{next_look, repeat};
use crate::app::after_call::{self, Lane};
use crate::app::{App, Wakes, recordings, topics};
use crate::runtime::clock::Signal;

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

/// Starts a job for each lane.
pub fn start(app: &Arc<App>, wakes: &Wakes) {
    for lane in Lane::ALL {
        let signal = app.clock.signal();
        wakes.connect(topics::AFTER_CALLS, signal.clone());
        let steps =
            Arc::new(Steps { app: app.clone(), lane, signal: signal.clone(), running: AtomicUsize::new(0) });
        app.clock.start_job(signal, move |job| repeat(job, move || steps.clone().look()));
    }
}

/// Drops recordings that are older than the operator keeps them, and takes care of files that a crash left on
/// this node. What fails is left for the next round. Returns whether files are left that have to be looked at
/// within the hour.
pub async fn sweep(app: &App) -> bool {
    loop {
        match recordings::sweep(app).await {
            Ok(true) if !app.clock.stopping() => {}
            Ok(_) => break,
            Err(failure) => {
                failure.warn("old recordings could not be dropped");
                break;
            }
        }
    }
    recordings::sweep_spool(app).await.unwrap_or_else(|failure| {
        failure.warn("files of recordings could not be looked at");
        true
    })
}

/// The steps of one lane that run on this node.
struct Steps {
    app: Arc<App>,
    lane: Lane,
    signal: Signal,
    running: AtomicUsize,
}

impl Steps {
    /// Starts as many due steps as there is room for; when to look again. The end of a step raises the
    /// signal.
    async fn look(self: Arc<Self>) -> Option<Timestamp> {
        let app = &self.app;
        let again = app.clock.now().plus(AGAIN);
        loop {
            let room = self.lane.at_once().saturating_sub(self.running.load(Ordering::SeqCst));
            if room == 0 {
                return None;
            }
            let rows = match after_call::take(app, self.lane, room).await {
                Ok(rows) => rows,
                Err(failure) => {
                    failure.warn("a look at what calls owe failed");
                    return Some(again);
                }
            };
            if rows.is_empty() {
                break;
            }
            for row in rows {
                self.running.fetch_add(1, Ordering::SeqCst);
                let place = Place(self.clone());
                app.clock.spawn(async move { after_call::work(&place.0.app, row).await });
            }
        }
        match after_call::next_due(app, self.lane).await {
            Ok(due) => next_look(app, due, again),
            Err(_) => Some(again),
        }
    }
}

/// The place of a running step, given back however the step ends.
struct Place(Arc<Steps>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.signal.raise();
    }
}

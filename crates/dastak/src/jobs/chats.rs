//! Looks after chats: those that are silent or last too long end, and replies that nobody writes any more are taken
//! up. Beside it, chats that are over are analysed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::chats::Due;
use domain::chat::LEASE;
use domain::time::Timestamp;

use super::{AGAIN, next_look, repeat};
use crate::app::{App, Wakes, topics};
use crate::runtime::clock::Signal;

/// Transactions at once; on the embedded store they share commits.
const AT_ONCE: usize = 16;
/// Starts both jobs.
pub fn start(app: &Arc<App>, wakes: &Wakes) {
    super::start(app, wakes, topics::CHATS, look);
    let signal = app.clock.signal();
    wakes.connect(topics::CHATS, signal.clone());
    let analyses =
        Arc::new(Analyses { app: app.clone(), signal: signal.clone(), running: AtomicUsize::new(0) });
    app.clock.start_job(signal, move |job| repeat(job, move || analyses.clone().look()));
}

/// Looks after one fair batch of chats that are due. Returns when to look again.
async fn look(app: Arc<App>) -> Option<Timestamp> {
    let look_after = async |app: Arc<App>, due: Due| {
        ::chats::look_after(&app, due)
            .await
            .inspect_err(|failure| failure.warn_about(due.id, "a chat could not be looked after"))
            .is_ok()
    };
    let next = super::work_due(&app, AT_ONCE, look_after).await;
    // A message moves the time of its chat forward without waking anybody, by a lease at the least.
    next.map(|due| due.min(app.clock.now().plus(LEASE)))
}

/// The analyses that run on this node.
struct Analyses {
    app: Arc<App>,
    signal: Signal,
    running: AtomicUsize,
}

impl Analyses {
    /// Starts as many due analyses as there is room for; when to look again. The end of one raises the signal.
    async fn look(self: Arc<Self>) -> Option<Timestamp> {
        let app = &self.app;
        let again = app.clock.now().plus(AGAIN);
        loop {
            let room = ::chats::ANALYSES_AT_ONCE.saturating_sub(self.running.load(Ordering::SeqCst));
            if room == 0 {
                return None;
            }
            let Ok(taken) = ::chats::take_analyses(app, room).await else { return Some(again) };
            if taken.is_empty() {
                break;
            }
            for owed in taken {
                self.running.fetch_add(1, Ordering::SeqCst);
                let place = Place(self.clone());
                app.clock.spawn(async move { ::chats::analyse(&place.0.app, owed).await });
            }
        }
        match ::chats::next_analysis(app).await {
            Ok(due) => next_look(app, due, again),
            Err(_) => Some(again),
        }
    }
}

/// The place of a running analysis, given back however it ends.
struct Place(Arc<Analyses>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.signal.raise();
    }
}

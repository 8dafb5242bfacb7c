//! Works what the providers of the messaging channel tell (docs/contract/channel.md#notifications).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use channel::inbox;
use domain::time::{SECOND, Timestamp};

use super::{next_look, repeat};
use crate::app::{App, Wakes, topics};
use crate::runtime::clock::Signal;

/// Accounts that are worked at once.
const AT_ONCE: usize = 16;
/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

pub fn start(app: &Arc<App>, wakes: &Wakes) {
    let signal = app.clock.signal();
    wakes.connect(topics::CHANNEL_NOTIFICATIONS, signal.clone());
    let inboxes =
        Arc::new(Inboxes { app: app.clone(), signal: signal.clone(), running: AtomicUsize::new(0) });
    app.clock.start_job(signal, move |job| repeat(job, move || inboxes.clone().look()));
}

/// What is being worked on this node.
struct Inboxes {
    app: Arc<App>,
    signal: Signal,
    running: AtomicUsize,
}

impl Inboxes {
    /// Starts as many as there is room for; when to look again. The end of one raises the signal.
    async fn look(self: Arc<Self>) -> Option<Timestamp> {
        let again = self.app.clock.now().plus(AGAIN);
        while self.running.load(Ordering::SeqCst) < AT_ONCE {
            let taken = match inbox::take(&self.app).await {
                Ok(taken) => taken,
                Err(failure) => {
                    failure.warn("a look at notifications of the messaging channel failed");
                    return Some(again);
                }
            };
            if taken.is_empty() {
                break;
            }
            for (connection, tenant) in taken {
                self.running.fetch_add(1, Ordering::SeqCst);
                let place = Place(self.clone());
                self.app
                    .clock
                    .spawn(async move { inbox::work(place.0.app.clone(), connection, tenant).await });
            }
        }
        if self.running.load(Ordering::SeqCst) > 0 {
            return next_look(&self.app, None, again);
        }
        match inbox::next(&self.app).await {
            Ok(due) => next_look(&self.app, due, again),
            Err(_) => Some(again),
        }
    }
}

/// The place of one that is being worked, given back however it ends.
struct Place(Arc<Inboxes>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.signal.raise();
    }
}

//! Fetches the files of received messages, and drops those that are to go (docs/contract/channel-messages.md#media).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use channel::media;
use domain::time::{SECOND, Timestamp};

use super::{next_look, repeat};
use crate::app::{App, Wakes, topics};
use crate::runtime::clock::Signal;

/// Files that are fetched at once. Each may take 100 MB of memory for a moment.
const AT_ONCE: usize = 4;
/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 5 * SECOND;

pub fn start(app: &Arc<App>, wakes: &Wakes) {
    let signal = app.clock.signal();
    wakes.connect(topics::CHANNEL_SENDS, signal.clone());
    let files = Arc::new(Files { app: app.clone(), signal: signal.clone(), running: AtomicUsize::new(0) });
    app.clock.start_job(signal, move |job| repeat(job, move || files.clone().look()));
}

/// What is being fetched on this node.
struct Files {
    app: Arc<App>,
    signal: Signal,
    running: AtomicUsize,
}

impl Files {
    /// Starts as many as there is room for; when to look again. The end of one raises the signal.
    async fn look(self: Arc<Self>) -> Option<Timestamp> {
        let again = self.app.clock.now().plus(AGAIN);
        let room = AT_ONCE.saturating_sub(self.running.load(Ordering::SeqCst));
        if room > 0 {
            let taken = match media::take(&self.app, room).await {
                Ok(taken) => taken,
                Err(failure) => {
                    failure.warn("a look at received files failed");
                    return Some(again);
                }
            };
            for row in taken {
                self.running.fetch_add(1, Ordering::SeqCst);
                let place = Place(self.clone());
                self.app.clock.spawn(async move {
                    let id = row.id;
                    if let Err(failure) = media::fetch(&place.0.app, row).await {
                        failure.warn_about(id, "a received file could not be fetched yet");
                    }
                });
            }
        }
        if let Err(why) = media::drop_due(&self.app).await {
            tracing::warn!(%why, "received files could not be dropped yet");
            return Some(again);
        }
        if self.running.load(Ordering::SeqCst) >= AT_ONCE {
            return next_look(&self.app, None, again);
        }
        match media::next(&self.app).await {
            Ok(due) => next_look(&self.app, due, again),
            Err(_) => Some(again),
        }
    }
}

/// The place of a file that is being fetched, given back however it ends.
struct Place(Arc<Files>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.signal.raise();
    }
}

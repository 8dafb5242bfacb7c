//! Writes calls back to connected systems (docs/contract/integrations.md#writing-calls-back).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::time::{SECOND, Timestamp};
use integrations::Desk;

use super::{next_look, repeat};
use crate::app::{App, Wakes, topics};
use crate::runtime::clock::Signal;

/// Calls that are written back at once.
const AT_ONCE: usize = 16;
/// Time until the next poll after an error of the store, and where a notification of another node may be lost.
const AGAIN: i64 = 5 * SECOND;

pub fn start(app: &Arc<App>, wakes: &Wakes, desk: Arc<Desk>) {
    let signal = app.clock.signal();
    wakes.connect(topics::PUSHES, signal.clone());
    let pushes =
        Arc::new(Pushes { app: app.clone(), desk, signal: signal.clone(), running: AtomicUsize::new(0) });
    app.clock.start_job(signal, move |job| repeat(job, move || pushes.clone().look()));
}

/// What is being written back on this node.
struct Pushes {
    app: Arc<App>,
    desk: Arc<Desk>,
    signal: Signal,
    running: AtomicUsize,
}

impl Pushes {
    /// Starts as many as there are free slots; returns the time of the next poll. The end of one raises the signal.
    async fn look(self: Arc<Self>) -> Option<Timestamp> {
        let again = self.app.clock.now().plus(AGAIN);
        if let Err(failure) = self.desk.sweep_pushes().await {
            failure.warn("calls that were written back long ago could not be forgotten");
        }
        loop {
            let room = AT_ONCE.saturating_sub(self.running.load(Ordering::SeqCst));
            if room == 0 {
                return None;
            }
            let rows = match self.desk.take_pushes(room).await {
                Ok(rows) => rows,
                Err(failure) => {
                    failure.warn("a look at calls to be written back failed");
                    return Some(again);
                }
            };
            if rows.is_empty() {
                break;
            }
            for row in rows {
                self.running.fetch_add(1, Ordering::SeqCst);
                let place = Place(self.clone());
                self.app.clock.spawn(async move { place.0.desk.push(row).await });
            }
        }
        match self.desk.next_push().await {
            Ok(due) => next_look(&self.app, due, again),
            Err(_) => Some(again),
        }
    }
}

/// The slot of a call that is being written back, released however it ends.
struct Place(Arc<Pushes>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.signal.raise();
    }
}

//! Sends recordings to the bucket while they grow, and settles what was sent when a call is over: a job each,
//! so that neither waits for the other. A store that knows no parts has no such jobs.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::{Call, Id};
use domain::time::Timestamp;

use super::{next_look, repeat};
use crate::app::recording_uploads::{self as uploads, GROWN, LEFT, LIVE_AT_ONCE, SETTLED_AT_ONCE};
use crate::app::{App, Wakes, topics};
use crate::runtime::clock::Signal;

pub fn start(app: &Arc<App>, wakes: &Wakes) {
    if app.ports.objects.parts().is_none() {
        return;
    }
    let (grown, left) = (app.clock.signal(), app.clock.signal());
    app.uploads.connect(grown.clone(), left.clone());
    wakes.connect(topics::AFTER_CALLS, left.clone());
    let growing = Arc::new(Work::new(app, &grown));
    app.clock.start_job(grown, move |job| {
        repeat(job, move || {
            let work = growing.clone();
            async move { work.send() }
        })
    });
    let settling = Arc::new(Work::new(app, &left));
    app.clock.start_job(left, move |job| repeat(job, move || settling.clone().settle()));
}

/// What runs at once.
struct Work {
    app: Arc<App>,
    signal: Signal,
    running: AtomicUsize,
    /// Whether growing recordings wait for a slot.
    more: AtomicBool,
    /// Calls whose uploads are being settled.
    calls: Mutex<HashSet<Id<Call>>>,
}

impl Work {
    fn new(app: &Arc<App>, signal: &Signal) -> Self {
        Self {
            app: app.clone(),
            signal: signal.clone(),
            running: AtomicUsize::new(0),
            more: AtomicBool::new(false),
            calls: Mutex::default(),
        }
    }

    /// Serves the recordings that have waited longest.
    fn send(self: Arc<Self>) -> Option<Timestamp> {
        // This is set before the room is counted, so that a turn that ends meanwhile looks whether others wait.
        self.more.store(true, Ordering::SeqCst);
        let room = LIVE_AT_ONCE.saturating_sub(self.running.load(Ordering::SeqCst));
        let turns = uploads::turns(&self.app, room);
        if !turns.more {
            self.more.store(false, Ordering::SeqCst);
        }
        for live in turns.now {
            let place = Place::take(&self, None);
            self.app.clock.spawn(async move { uploads::advance(&place.work.app, live).await });
        }
        turns.any.then(|| self.app.clock.now().plus(GROWN))
    }

    /// Settles the uploads that this node holds, and takes over those of a node that is gone.
    async fn settle(self: Arc<Self>) -> Option<Timestamp> {
        let app = &self.app;
        let again = app.clock.now().plus(LEFT);
        let looked = async {
            let due = uploads::take_over(app, SETTLED_AT_ONCE).await?;
            Ok((due, uploads::held(app).await?))
        };
        let (due, (rows, any)) = match looked.await {
            Ok(looked) => looked,
            Err(failure) => {
                let failure: crate::app::Failure = failure;
                failure.warn("a look at uploads of recordings failed");
                return Some(again);
            }
        };
        for row in rows {
            let room = self.running.load(Ordering::SeqCst) < SETTLED_AT_ONCE;
            let new = || self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(row.call);
            if !room || !new() {
                continue;
            }
            let place = Place::take(&self, Some(row.call));
            app.clock.spawn(async move { uploads::settle(&place.work.app, row).await });
        }
        next_look(app, if any { Some(due.map_or(again, |due| due.min(again))) } else { due }, again)
    }
}

/// The slot of a running task, released however it ends.
struct Place {
    work: Arc<Work>,
    call: Option<Id<Call>>,
}

impl Place {
    fn take(work: &Arc<Work>, call: Option<Id<Call>>) -> Self {
        work.running.fetch_add(1, Ordering::SeqCst);
        Self { work: work.clone(), call }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.work.running.fetch_sub(1, Ordering::SeqCst);
        if let Some(call) = self.call {
            self.work.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&call);
        }
        if self.call.is_some() || self.work.more.swap(false, Ordering::SeqCst) {
            self.work.signal.raise();
        }
    }
}

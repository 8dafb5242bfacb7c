//! Sends recordings to the bucket while they grow, and settles what was sent when a call is over: a job each,
//! so that neither waits for the other. A store that knows no parts has no such jobs.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::{Call, Id};
use domain::time::Timestamp;

use super::{Next, NodeParts, Poll, Polled, poll};
use crate::app::App;
use crate::app::recording_uploads::{self as uploads, GROWN, LEFT, LIVE_AT_ONCE, SETTLED_AT_ONCE};
use crate::runtime::clock::Signal;

pub fn growing(node: &NodeParts<'_>) -> Option<Poll> {
    node.app.ports.objects.parts()?;
    node.app.uploads.connect_grown(node.signal.clone());
    let work = Arc::new(Work::new(node));
    poll(move |_| {
        let work = work.clone();
        async move { Ok(Next::At(work.send())) }
    })
}

pub fn settling(node: &NodeParts<'_>) -> Option<Poll> {
    node.app.ports.objects.parts()?;
    node.app.uploads.connect_left(node.signal.clone());
    let work = Arc::new(Work::new(node));
    poll(move |_| {
        let work = work.clone();
        async move { work.settle().await }
    })
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
    fn new(node: &NodeParts<'_>) -> Self {
        Self {
            app: node.app.clone(),
            signal: node.signal.clone(),
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
    async fn settle(self: Arc<Self>) -> Polled {
        let app = &self.app;
        let again = app.clock.now().plus(LEFT);
        let due = uploads::take_over(app, SETTLED_AT_ONCE).await?;
        let (rows, any) = uploads::held(app).await?;
        for row in rows {
            let room = self.running.load(Ordering::SeqCst) < SETTLED_AT_ONCE;
            let new = || self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(row.call);
            if !room || !new() {
                continue;
            }
            let place = Place::take(&self, Some(row.call));
            app.clock.spawn(async move { uploads::settle(&place.work.app, row).await });
        }
        Ok(Next::Due(if any { Some(due.map_or(again, |due| due.min(again))) } else { due }))
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

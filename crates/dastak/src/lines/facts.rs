//! Getting the facts of a call into the store: in order, and however long the store takes.

use std::sync::Arc;
use std::time::Duration;

use domain::call::{Fact, Report};
use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use tokio::sync::mpsc;

use crate::app::calls::LegFact;
use crate::app::{App, calls};

/// Longest pause between two tries.
const SLOWEST: Duration = Duration::from_secs(5);

/// What was observed of a call, to be stored.
enum Observed {
    Fact(Fact, Timestamp, Option<Box<Report>>),
    Transferred(String),
    Leg(i64, LegFact, Timestamp),
}

/// The way into the store of one call; cheap to copy. The last copy that goes lets the writer end.
#[derive(Clone)]
pub(super) struct Facts {
    app: Arc<App>,
    items: mpsc::UnboundedSender<Observed>,
}

/// Ends when every reported fact is stored.
pub(super) struct Written(tokio::task::JoinHandle<()>);

impl Facts {
    /// Starts the writer of a call.
    pub(super) fn of(app: &Arc<App>, tenant: Tenant, id: Id<Call>) -> (Self, Written) {
        let (items, queue) = mpsc::unbounded_channel();
        let writer = tokio::spawn(write(app.clone(), tenant, id, queue));
        (Self { app: app.clone(), items }, Written(writer))
    }

    /// Tells a fact, observed now.
    pub(super) fn tell(&self, fact: Fact) {
        self.tell_with(fact, None);
    }

    /// Tells a fact with what the conversation left behind.
    pub(super) fn tell_with(&self, fact: Fact, left: Option<Report>) {
        // The writer ends only after the last sender.
        let _ = self.items.send(Observed::Fact(fact, self.app.clock.now(), left.map(Box::new)));
    }

    /// Tells what became of a second leg, observed now.
    pub(super) fn tell_leg(&self, leg: i64, fact: LegFact) {
        let _ = self.items.send(Observed::Leg(leg, fact, self.app.clock.now()));
    }

    /// Tells that a person has taken over.
    pub(super) fn tell_transferred(&self, to: String) {
        let _ = self.items.send(Observed::Transferred(to));
    }
}

impl Written {
    /// Waits until everything is stored.
    pub(super) async fn wait(self) {
        let _ = self.0.await;
    }
}

/// A store that is down for a while must not lose what became of a call: the same fact is tried until it is
/// in. If the process ends first, the call's lease runs out and it is stored as lost.
async fn write(app: Arc<App>, tenant: Tenant, id: Id<Call>, mut queue: mpsc::UnboundedReceiver<Observed>) {
    while let Some(item) = queue.recv().await {
        let mut pause = Duration::from_millis(50);
        while let Err(failure) = store(&app, tenant, id, &item).await {
            failure.log_about(id, "a fact of a call could not be stored; trying again");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(SLOWEST);
        }
    }
}

async fn store(app: &App, tenant: Tenant, id: Id<Call>, item: &Observed) -> Result<(), crate::app::Failure> {
    match item {
        Observed::Fact(fact, at, left) => {
            calls::report(app, tenant, id, *fact, *at, left.as_deref().cloned()).await.map(|_| ())
        }
        Observed::Leg(leg, fact, at) => calls::report_leg(app, tenant, id, *leg, *fact, *at).await,
        Observed::Transferred(to) => calls::transferred(app, tenant, id, to.clone()).await,
    }
}

//! The jobs of the engine.

use std::sync::Arc;

use domain::time::Timestamp;
use runtime::clock::{Job, Woken};
use store::DbError;

use super::engine::Engine;
use super::pending::locked;
use super::{attempt, record, scan, sweep};

impl Engine {
    /// Deletes expired events and delivery logs. Returns when to run again, a day later at the earliest.
    pub async fn sweep(&self) -> Result<Timestamp, DbError> {
        sweep::sweep(self).await
    }

    /// Starts the three jobs.
    pub fn start(self: &Arc<Self>) {
        let (one, two, three) = (self.clone(), self.clone(), self.clone());
        self.clock.start_job(self.dispatch.clone(), |job| dispatch(one, job));
        self.clock.start_job(self.record.clone(), |job| record::run(two, job));
        self.clock.start_job(self.scan.clone(), |job| scan::run(three, job));
    }
}

/// Gives lanes workers.
async fn dispatch(engine: Arc<Engine>, mut job: Job) {
    loop {
        let workers = locked(&engine.lanes).dispatch();
        for endpoint in workers {
            engine.clock.spawn(attempt::work(engine.clone(), endpoint));
        }
        if job.wait(None).await == Woken::Stop {
            return;
        }
    }
}

//! Stores the outcomes of attempts, batched per transaction.

use std::sync::Arc;

use api::webhooks::DeliveryAttempt as Attempt;
use domain::delivery::{self, Next, Outcome};
use domain::time::{SECOND, Timestamp};
use runtime::clock::{Job, Woken};
use runtime::pace::Pace;
use store::deliveries::{self, AttemptResult, Key, RecordedAttempt};
use store::{DbError, Tx};

use super::engine::Engine;
use super::pending::{Ending, FinishedAttempt, PendingAttempt, locked};

/// Outcomes stored in one transaction.
const BATCH: usize = 512;
/// Real time after which a delivery that could not be begun is due again, milliseconds.
const PUT_BACK: i64 = SECOND;
/// Deliveries returned in one transaction at the end.
const RELEASE: usize = 500;

/// Interval between the starts of two transactions on a shared store, milliseconds. Nobody waits for an outcome, so
/// outcomes that arrive meanwhile are batched.
const PAUSE: i64 = 20;

/// A JSON object of the list of attempts.
pub(super) fn note(at: Timestamp, status: Option<u16>, duration_ms: u64, error: Option<String>) -> String {
    serde_json::to_string(&Attempt { at, status, duration_ms, error }).unwrap_or_default()
}

fn error_of(status: u16) -> Option<String> {
    match Outcome::of_status(status) {
        Outcome::Accepted => None,
        Outcome::Failed if (300..400).contains(&status) => {
            Some(format!("the endpoint answered {status}; redirects are not followed"))
        }
        Outcome::Failed => Some(format!("the endpoint answered {status}")),
    }
}

impl FinishedAttempt {
    fn after(&self, outcome: Outcome) -> AttemptResult {
        match delivery::after_attempt(self.round_at, self.made.saturating_add(1), self.ended, outcome) {
            Next::Succeeded => AttemptResult::Succeeded(self.ended),
            Next::RetryAt(at) => AttemptResult::RetryAt(at),
            Next::Failed => AttemptResult::Failed,
        }
    }

    /// When the delivery is due again, if it is.
    fn due(&self) -> Option<Timestamp> {
        let outcome = match self.what {
            Ending::Answered(status) => Outcome::of_status(status),
            Ending::Broken(..) => Outcome::Failed,
            Ending::Put => return Some(self.ended.plus(PUT_BACK)),
            Ending::Unwanted(_) => return None,
        };
        match self.after(outcome) {
            AttemptResult::RetryAt(at) => Some(at),
            AttemptResult::Succeeded(_) | AttemptResult::Failed => None,
        }
    }

    /// The attempt, if one was made.
    fn noted(&self) -> Option<RecordedAttempt> {
        let (status, error, outcome) = match &self.what {
            Ending::Answered(status) => (Some(*status), error_of(*status), Outcome::of_status(*status)),
            Ending::Broken(status, why) => (*status, Some(why.clone()), Outcome::Failed),
            Ending::Put | Ending::Unwanted(_) => return None,
        };
        Some(RecordedAttempt {
            key: self.key,
            round: self.round,
            attempt: note(self.at, status, self.duration_ms, error),
            after: self.after(outcome),
        })
    }

    /// Stores the outcome of an attempt that was not made.
    fn store_unmade(&self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        match &self.what {
            Ending::Put => deliveries::release(tx, self.key, self.round, self.ended.plus(PUT_BACK)),
            Ending::Unwanted(why) => {
                deliveries::stop(tx, self.key, &note(self.at, None, 0, Some((*why).to_owned()))).map(drop)
            }
            Ending::Answered(_) | Ending::Broken(..) => Ok(()),
        }
    }
}

/// Stores these outcomes.
fn store(tx: &mut Tx<'_>, done: &[FinishedAttempt]) -> Result<(), DbError> {
    let noted: Vec<RecordedAttempt> = done.iter().filter_map(FinishedAttempt::noted).collect();
    deliveries::record_all(tx, &noted)?;
    done.iter().try_for_each(|done| done.store_unmade(tx))
}

/// Runs until the service stops and all workers have ended.
pub(super) async fn run(engine: Arc<Engine>, mut job: Job) {
    let pace = Pace::new(PAUSE);
    loop {
        if engine.store.shared() && !engine.clock.is_manual() {
            pace.turn(&engine.clock).await;
        }
        let stored = flush(&engine).await;
        let due = (!stored).then(|| engine.clock.now().plus(SECOND));
        if job.wait(due).await == Woken::Stop {
            break;
        }
    }
    // Attempts in flight end within their 10 seconds; no new ones begin.
    loop {
        let progress = engine.progress.notified();
        let mut progress = std::pin::pin!(progress);
        progress.as_mut().enable();
        if locked(&engine.lanes).workers() == 0 {
            break;
        }
        progress.await;
        if !flush(&engine).await {
            return;
        }
    }
    if flush(&engine).await {
        release(&engine).await;
    }
}

/// Stores all queued outcomes. Returns whether the store accepted them.
async fn flush(engine: &Engine) -> bool {
    loop {
        let batch: Arc<[FinishedAttempt]> = {
            let mut done = locked(&engine.done);
            let count = done.len().min(BATCH);
            done.drain(..count).collect()
        };
        if batch.is_empty() {
            return true;
        }
        let work = batch.clone();
        let stored = engine.store.tx(move |tx| store(tx, &work)).await;
        if !matches!(stored, Err(DbError::Unavailable(_) | DbError::Uncertain(_) | DbError::Retry(_))) {
            // Until now the scan had to leave them alone.
            let mut lanes = locked(&engine.lanes);
            for done in batch.iter() {
                lanes.finish(done.key.id, done.round);
            }
        }
        match stored {
            Ok(()) => {
                if let Some(due) = batch.iter().filter_map(FinishedAttempt::due).min() {
                    engine.due_at(due);
                }
                engine.progress.notify_waiters();
            }
            Err(why) => {
                if matches!(why, DbError::Internal(_) | DbError::Unique(_)) {
                    // An outcome that cannot be stored would block all others for ever; the leases expire, and the
                    // deliveries are retried.
                    tracing::error!(%why, count = batch.len(), "outcomes of webhook attempts could not be stored");
                    continue;
                }
                tracing::warn!(%why, count = batch.len(), "outcomes of webhook attempts wait for the store");
                let mut done = locked(&engine.done);
                let rest = std::mem::take(&mut *done);
                done.extend(batch.iter().cloned());
                done.extend(rest);
                return false;
            }
        }
    }
}

/// Returns deliveries that were not begun.
async fn release(engine: &Engine) {
    let items: Vec<PendingAttempt> = locked(&engine.lanes).drain();
    let now = engine.clock.now();
    let keys: Vec<(Key, i64)> = items.iter().map(|item| (item.key, item.round)).collect();
    for chunk in keys.chunks(RELEASE) {
        let chunk = chunk.to_vec();
        let released = engine
            .store
            .tx(move |tx| {
                chunk.iter().try_for_each(|(key, round)| deliveries::release(tx, *key, *round, now))
            })
            .await;
        if let Err(why) = released {
            // Their leases end.
            tracing::warn!(%why, "webhook deliveries could not be given back");
            return;
        }
    }
}

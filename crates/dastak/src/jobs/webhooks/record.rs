//! Stores what attempts did, as many to a transaction as there are.

use std::sync::Arc;

use api::webhooks::DeliveryAttempt as Attempt;
use domain::delivery::{self, Next, Outcome};
use domain::time::{SECOND, Timestamp};
use store::deliveries::{self, After, Key};
use store::{DbError, Tx};

use super::attempt::PUT_BACK;
use super::{Item, locked};
use crate::app::App;
use crate::runtime::clock::{Job, Woken};

/// Outcomes stored in one transaction.
const BATCH: usize = 512;
/// Deliveries given back in one transaction at the end.
const RELEASE: usize = 500;

/// The end of an attempt.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) key: Key,
    pub(super) round: i64,
    pub(super) round_at: Timestamp,
    /// Attempts of the round before this one.
    pub(super) made: u32,
    pub(super) at: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) duration_ms: u64,
    pub(super) what: What,
}

/// How it ended.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// The endpoint answered with this status.
    Answered(u16),
    /// It did not, for this reason; the status had arrived in some cases.
    Broken(Option<u16>, String),
    /// Nothing was sent for reasons of our own: it does not count.
    Put,
    /// The endpoint wants nothing, for this reason: given up.
    Unwanted(&'static str),
}

/// A JSON object of the list of attempts.
pub(crate) fn note(at: Timestamp, status: Option<u16>, duration_ms: u64, error: Option<String>) -> String {
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

impl Done {
    fn after(&self, outcome: Outcome) -> After {
        match delivery::after_attempt(self.round_at, self.made.saturating_add(1), self.ended, outcome) {
            Next::Succeeded => After::Succeeded(self.ended),
            Next::RetryAt(at) => After::RetryAt(at),
            Next::Failed => After::Failed,
        }
    }

    /// When the delivery is due again, if it is.
    fn due(&self) -> Option<Timestamp> {
        let outcome = match self.what {
            What::Answered(status) => Outcome::of_status(status),
            What::Broken(..) => Outcome::Failed,
            What::Put => return Some(self.ended.plus(PUT_BACK)),
            What::Unwanted(_) => return None,
        };
        match self.after(outcome) {
            After::RetryAt(at) => Some(at),
            After::Succeeded(_) | After::Failed => None,
        }
    }

    fn store(&self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let record = |tx: &mut Tx<'_>, status: Option<u16>, error: Option<String>, outcome: Outcome| {
            deliveries::record(
                tx,
                self.key,
                self.round,
                &note(self.at, status, self.duration_ms, error),
                self.after(outcome),
            )
        };
        match &self.what {
            What::Answered(status) => {
                record(tx, Some(*status), error_of(*status), Outcome::of_status(*status))
            }
            What::Broken(status, why) => record(tx, *status, Some(why.clone()), Outcome::Failed),
            What::Put => deliveries::release(tx, self.key, self.round, self.ended.plus(PUT_BACK)),
            What::Unwanted(why) => {
                deliveries::stop(tx, self.key, &note(self.at, None, 0, Some((*why).to_owned()))).map(drop)
            }
        }
    }
}

/// Runs until the service stops and all workers have ended.
pub(super) async fn run(app: Arc<App>, mut job: Job) {
    let engine = &app.webhooks;
    loop {
        let stored = flush(&app).await;
        let due = (!stored).then(|| app.clock.now().plus(SECOND));
        if job.wait(due).await == Woken::Stop {
            break;
        }
    }
    // Attempts under way end within their 10 seconds; no new ones begin.
    loop {
        let progress = engine.progress.notified();
        let mut progress = std::pin::pin!(progress);
        progress.as_mut().enable();
        if locked(&engine.lanes).workers() == 0 {
            break;
        }
        progress.await;
        if !flush(&app).await {
            return;
        }
    }
    if flush(&app).await {
        release(&app).await;
    }
}

/// Stores all outcomes there are; whether the store took them.
async fn flush(app: &App) -> bool {
    let engine = &app.webhooks;
    loop {
        let batch: Arc<[Done]> = {
            let mut done = locked(&engine.done);
            let count = done.len().min(BATCH);
            done.drain(..count).collect()
        };
        if batch.is_empty() {
            return true;
        }
        let work = batch.clone();
        let stored = app.store.tx(move |tx| work.iter().try_for_each(|done| done.store(tx))).await;
        if !matches!(stored, Err(DbError::Unavailable(_) | DbError::Uncertain(_) | DbError::Retry(_))) {
            // Until now the scan had to leave them alone.
            let mut lanes = locked(&engine.lanes);
            for done in batch.iter() {
                lanes.finish(done.key.id, done.round);
            }
        }
        match stored {
            Ok(()) => {
                if let Some(due) = batch.iter().filter_map(Done::due).min() {
                    engine.due_at(due);
                }
                engine.progress.notify_waiters();
            }
            Err(why) => {
                if matches!(why, DbError::Internal(_) | DbError::Unique(_)) {
                    // What cannot be stored would stop all others for ever; the leases end, and the
                    // deliveries are made again.
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

/// Gives back what was not begun.
async fn release(app: &App) {
    let items: Vec<Item> = locked(&app.webhooks.lanes).drain();
    let now = app.clock.now();
    let keys: Vec<(Key, i64)> = items.iter().map(|item| (item.key, item.round)).collect();
    for chunk in keys.chunks(RELEASE) {
        let chunk = chunk.to_vec();
        let released = app
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

//! Advances the calls of simulated networks, and finds placements whose outcome was not stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use domain::time::{SECOND, Timestamp};

use super::{AGAIN, Next, Poll, Polled, poll};
use crate::app::{App, Failure, calls};
use crate::runtime::pace::Pace;

/// Time for the nodes that hold calls to say so after the store was away. It counts from the last look that failed, which
/// may have been one pause between two looks before the store was back; after a failure nodes say so every few seconds.
const PATIENCE: i64 = 20 * SECOND;

/// Least time between the starts of two polls of a shared store, milliseconds. What falls due meanwhile shares a
/// transaction. Steps of simulated calls have the time at which they were due, whenever they are processed.
const PAUSE: i64 = 50;

/// Time until calls are looked for again of which nobody knows whether they are stored.
const IN_DOUBT: i64 = 2 * SECOND;

/// Transactions at once on PostgreSQL when many calls are due: one by itself mostly waits for answers of the server.
const LANES: usize = 4;

pub fn work(app: &App) -> Option<Poll> {
    // A node that starts does not know for how long nobody could renew a lease.
    let begun = if app.store.shared() { app.clock.now().0 } else { i64::MIN };
    let trouble = Arc::new(AtomicI64::new(begun));
    let pace = Arc::new(Pace::new(PAUSE));
    poll(move |app| {
        let (trouble, pace) = (trouble.clone(), pace.clone());
        async move {
            if app.store.shared() && !app.clock.is_manual() {
                pace.turn(&app.clock).await;
            }
            work_all(&app, &trouble).await
        }
    })
}

/// Works everything that is due, and looks again soon for calls in doubt.
async fn work_all(app: &Arc<App>, trouble: &AtomicI64) -> Polled {
    let again = app.clock.now().plus(IN_DOUBT);
    let doubts = calls::settle_undialled(app).await.unwrap_or_else(|failure| {
        failure.warn("calls whose storing is in doubt could not be looked for");
        true
    });
    let due = work_due(app, trouble).await;
    if !doubts {
        return Ok(Next::Due(due?));
    }
    let due = due.unwrap_or_else(|failure| {
        failure.log("a look at due calls failed");
        None
    });
    Ok(Next::At(Some(due.map_or(again, |due| due.min(again)))))
}

/// Works everything that is due. Returns when the next call is.
async fn work_due(app: &Arc<App>, trouble: &AtomicI64) -> Result<Option<Timestamp>, Failure> {
    let mut lanes = 1;
    loop {
        app.clock.outside(app.burst.over()).await;
        let begun = app.clock.now();
        let last = trouble.load(Ordering::Relaxed);
        let patient = (last != i64::MIN).then(|| Timestamp(last).plus(PATIENCE));
        let worked = calls::work_due(app, patient, lanes).await;
        // A store that hung let nobody renew a lease either.
        if worked.is_err() || app.clock.now() >= begun.plus(AGAIN) {
            trouble.store(app.clock.now().0, Ordering::Relaxed);
        }
        match worked? {
            true if app.store.shared() => lanes = (lanes * 2).min(LANES),
            true => {}
            false => break,
        }
    }
    calls::next_due(app).await
}

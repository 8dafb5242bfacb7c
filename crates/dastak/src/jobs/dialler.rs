//! The dialler: looks at due nudges in fair rounds, and dials what they decided (`docs/dialler.md`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::ports::DialError;
use domain::tenant::Mode;
use domain::time::{SECOND, Timestamp};
use store::calls::CallRow;
use tokio::sync::Semaphore;

use crate::app::nudges::{self, Breaker};
use crate::app::{App, Failure, calls};
use crate::runtime::clock::{Job, Signal, Woken};

/// Dials that wait for the carrier's answer, or to have it stored.
const DIALS: usize = 16_384;
/// Room for a round; with less the loop waits for dials to end.
const ROOM: usize = nudges::BATCH as usize;
/// For how long dials that are due at once go before what is learned of others: well within the lease of a
/// placement.
const BURST: i64 = 4 * SECOND;
/// Queues of one round, see `nudges::round`.
const QUEUES: usize = 16;
/// Time until the next look after the store failed, and between two looks when another node may have been
/// heard of by none.
const AGAIN: i64 = 5 * SECOND;
/// Time until the next look when what is due is held by another transaction at this moment, milliseconds.
const HELD: i64 = 100;

/// What the loop and its dials share.
struct Desk {
    app: Arc<App>,
    signal: Signal,
    breaker: Breaker,
    dials: Arc<Semaphore>,
    /// The loop stopped for want of room; the next dial that ends wakes it.
    starved: AtomicBool,
}

/// Runs until the service stops.
pub async fn run(app: Arc<App>, mut job: Job, signal: Signal) {
    let (breaker, dials) = (Breaker::default(), Arc::new(Semaphore::new(DIALS)));
    let desk = Arc::new(Desk { app: app.clone(), signal, breaker, dials, starved: AtomicBool::new(false) });
    loop {
        let due = match desk.look().await {
            Ok(due) => due,
            Err(failure) => {
                tracing::error!(
                    code = failure.error.code,
                    cause = failure.cause,
                    "a look at due nudges failed"
                );
                Some(app.clock.now().plus(AGAIN))
            }
        };
        if job.wait(due).await == Woken::Stop {
            return;
        }
    }
}

impl Desk {
    /// Works everything that is due; when to look again.
    async fn look(self: &Arc<Self>) -> Result<Option<Timestamp>, Failure> {
        let app = &self.app;
        while nudges::work_revocations(app).await? {}
        // Queues that wait for a line are asked once a look, however many there are.
        let waiting = usize::try_from(app.store.read(store::nudges::waiting_queues).await?).unwrap_or(0);
        let mut line_rounds = waiting.div_ceil(QUEUES);
        let (mut burst, started, mut dials) = (None, app.clock.now(), Vec::new());
        while !app.clock.stopping() {
            self.starved.store(true, Ordering::SeqCst);
            if self.dials.available_permits() < ROOM + dials.len() {
                self.start_all(dials).await;
                return Ok(None);
            }
            self.starved.store(false, Ordering::SeqCst);
            // What the round before has decided is dialled while the store is busy with the next one.
            let (round, ()) = tokio::join!(
                nudges::round(app, &self.breaker, line_rounds > 0),
                self.start_all(std::mem::take(&mut dials))
            );
            let round = round?;
            line_rounds = line_rounds.saturating_sub(1);
            // From the second round on, and in one look no longer than this, so that nothing waits for good.
            let now = app.clock.now();
            if now < started || started.plus(BURST) <= now {
                burst = None;
            } else if round.more && !round.dials.is_empty() && burst.is_none() {
                burst = Some(app.burst.begin());
            }
            dials = round.dials;
            if !round.more && line_rounds == 0 {
                break;
            }
        }
        self.start_all(dials).await;
        drop(burst);
        let now = app.clock.now();
        let next = app
            .store
            .read(store::nudges::next_look)
            .await?
            .map(|at| if at <= now { now.plus(HELD) } else { at });
        // A wake-up of another node can get lost; a manual clock belongs to one node.
        Ok(if app.store.shared() && !app.clock.is_manual() {
            Some(next.map_or(now.plus(AGAIN), |at| at.min(now.plus(AGAIN))))
        } else {
            next
        })
    }

    async fn start_all(self: &Arc<Self>, calls: Vec<Arc<CallRow>>) {
        for call in calls {
            self.start(call).await;
        }
    }

    /// Dials in a task of its own: a slow carrier holds up nobody else. The outcome is stored as a fact of
    /// the call.
    async fn start(self: &Arc<Self>, call: Arc<CallRow>) {
        let Ok(permit) = self.dials.clone().acquire_owned().await else { return };
        let desk = self.clone();
        self.app.clock.spawn(async move {
            let mode = call.mode;
            match calls::start_dial(&desk.app, call).await {
                Ok(outcome) => desk.heard(mode, &outcome),
                // The mark is stored: whoever finds it when its lease is over asks the carrier.
                Err(failure) => tracing::error!(
                    code = failure.error.code,
                    cause = failure.cause,
                    "the outcome of a dial could not be stored"
                ),
            }
            drop(permit);
            if desk.dials.available_permits() >= ROOM && desk.starved.swap(false, Ordering::SeqCst) {
                desk.signal.raise();
            }
        });
    }

    /// Tells the breaker what a real carrier said.
    fn heard(&self, mode: Mode, outcome: &Result<CallRow, DialError>) {
        if self.app.carriers.in_mode(mode).is_none_or(|carrier| carrier.simulated()) {
            return;
        }
        match outcome {
            Ok(_) => self.breaker.heard(true, self.app.clock.now()),
            Err(DialError::ProviderErrorBeforeRing) => self.breaker.heard(false, self.app.clock.now()),
            // Not an answer of the carrier.
            Err(DialError::Uncertain) => {}
        }
    }
}

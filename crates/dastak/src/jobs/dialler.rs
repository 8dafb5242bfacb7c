//! The dialler: looks at due nudges and at campaigns in fair rounds, and dials what they decided
//! (`docs/dialler.md`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::ports::DialError;
use domain::tenant::Mode;
use domain::time::SECOND;
use store::calls::CallRow;
use store::dialler::outlook;
use tokio::sync::Semaphore;

use super::{AGAIN, Next, NodeParts, Poll, Polled, poll};
use crate::app::due_dials::{self, Round};
use crate::app::{App, calls, nudges};
use crate::runtime::clock::Signal;
use ::campaigns::dial as campaigns;

/// Dials that wait for the carrier's answer, or to have it stored.
const DIALS: usize = 16_384;
/// Room for a round of nudges and one of campaigns; with less the loop waits for dials to end.
const ROOM: usize = (nudges::BATCH + campaigns::BATCH) as usize;
/// For how long a burst of due dials precedes the facts of other calls: well within the lease of a placement.
const BURST: i64 = 4 * SECOND;
/// Queues of one round, see `nudges::round`.
const QUEUES: usize = 16;
/// Campaigns of one round, see `campaigns::round`.
const CAMPAIGNS: usize = campaigns::CAMPAIGNS as usize;
/// Time until the next look when what is due is held by another transaction at this moment, milliseconds.
const HELD: i64 = 100;

/// What the loop and its dials share.
struct Dialler {
    app: Arc<App>,
    signal: Signal,
    dials: Arc<Semaphore>,
    /// The loop stopped because no slot was free; the next dial that ends wakes it.
    starved: AtomicBool,
}

pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let dialler = Arc::new(Dialler {
        app: node.app.clone(),
        signal: node.signal.clone(),
        dials: Arc::new(Semaphore::new(DIALS)),
        starved: AtomicBool::new(false),
    });
    poll(move |_| {
        let dialler = dialler.clone();
        async move { dialler.work_due().await }
    })
}

impl Dialler {
    /// Works everything that is due.
    async fn work_due(self: &Arc<Self>) -> Polled {
        let app = &self.app;
        let started = app.clock.now();
        let found = app.store.read(outlook).await?;
        if found.revoked {
            while nudges::work_revocations(app).await? {}
        }
        // Queues and campaigns that wait for a line are polled once a round, however many there are.
        let rounds = |waiting, in_round| usize::try_from(waiting).unwrap_or(0).div_ceil(in_round);
        let mut line_rounds = rounds(found.queues_without_line, QUEUES);
        let mut campaign_line_rounds = rounds(found.campaigns_without_line, CAMPAIGNS);
        if found.next_look.is_none_or(|at| at > started) && line_rounds + campaign_line_rounds == 0 {
            return Ok(Next::Due(found.next_look));
        }
        let (mut burst, mut dials, mut failed) = (None, Vec::new(), false);
        // Dials that the last round decided are made also after the loop ends.
        while app.node.in_service() {
            self.starved.store(true, Ordering::SeqCst);
            if self.dials.available_permits() < ROOM + dials.len() {
                self.start_all(dials).await;
                return Ok(Next::At(None));
            }
            self.starved.store(false, Ordering::SeqCst);
            // Dials of the previous round are made while the store works on the next one.
            let (round, ()) =
                tokio::join!(nudges::round(app, line_rounds > 0), self.start_all(std::mem::take(&mut dials)));
            // A failure of one does not skip the other.
            let nudges = round.unwrap_or_else(|failure| {
                failure.log("a look at due nudges failed");
                failed = true;
                Round::default()
            });
            let nudges_dialled = !nudges.dials.is_empty();
            line_rounds = line_rounds.saturating_sub(1);
            // Campaigns come after the nudges that are due, and dial while they do.
            let (round, ()) =
                tokio::join!(campaigns::round(app, campaign_line_rounds > 0), self.start_all(nudges.dials));
            let round = round.unwrap_or_else(|failure| {
                failure.log("a look at due campaigns failed");
                failed = true;
                Round::default()
            });
            campaign_line_rounds = campaign_line_rounds.saturating_sub(1);
            let (more, dialled) = (nudges.more || round.more, nudges_dialled || !round.dials.is_empty());
            // A burst begins with the second round and is bounded within one poll, so that nothing waits for ever.
            let now = app.clock.now();
            if now < started || started.plus(BURST) <= now {
                burst = None;
            } else if more && dialled && burst.is_none() {
                burst = Some(app.burst.begin());
            }
            dials = round.dials;
            if !more && line_rounds == 0 && campaign_line_rounds == 0 {
                break;
            }
        }
        self.start_all(dials).await;
        drop(burst);
        let now = app.clock.now();
        let due = app.store.read(outlook).await?.next_look.map(|at| match at {
            at if at > now => at,
            _ if failed => now.plus(AGAIN),
            _ => now.plus(HELD),
        });
        Ok(Next::Due(due))
    }

    async fn start_all(self: &Arc<Self>, calls: Vec<Arc<CallRow>>) {
        for call in calls {
            self.start(call).await;
        }
    }

    /// Dials in a task of its own, so that a slow carrier does not delay other dials. The outcome is stored as a fact
    /// of the call.
    async fn start(self: &Arc<Self>, call: Arc<CallRow>) {
        let Ok(permit) = self.dials.clone().acquire_owned().await else { return };
        let dialler = self.clone();
        self.app.clock.spawn(async move {
            let (mode, carrier) = (call.mode, call.carrier.clone());
            match calls::start_dial(&dialler.app, call).await {
                Ok(outcome) => dialler.heard(mode, carrier.as_deref(), &outcome).await,
                // The placing mark is stored: when its lease is over, a node asks the carrier.
                Err(failure) => failure.log("the outcome of a dial could not be stored"),
            }
            drop(permit);
            if dialler.dials.available_permits() >= ROOM && dialler.starved.swap(false, Ordering::SeqCst) {
                dialler.signal.raise();
            }
        });
    }

    /// Tells the breaker what a real carrier said.
    async fn heard(&self, mode: Mode, carrier: Option<&str>, outcome: &Result<CallRow, DialError>) {
        if self.app.carriers.in_mode(mode).is_none_or(|carrier| carrier.simulated()) {
            return;
        }
        let took = match outcome {
            Ok(_) => true,
            Err(DialError::ProviderErrorBeforeRing) => false,
            // Not a response of the carrier.
            Err(DialError::Uncertain) => return,
        };
        if let Err(failure) = due_dials::carrier_said(&self.app, carrier, took).await {
            failure.log("other nodes do not hear what the carrier said");
        }
    }
}

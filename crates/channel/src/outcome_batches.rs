//! Batches concurrent outcomes of a workspace into one transaction (PostgreSQL only). Each is stored by the same rules
//! as a single one, and by itself if the batch fails.

use std::sync::{Arc, Mutex, PoisonError};

use app::batcher::Batchers;
use app::{App, Failure};
use domain::channel::Sent;
use domain::tenant::Tenant;
use store::{TenantTx, Tx};

use crate::messages::Claim;
use crate::prefetch;
use crate::settle::{Delivered, settle};

/// Most outcomes of one transaction.
const BATCH: usize = 64;
/// Concurrent transactions: while one commits, the next is filled.
const TRANSACTIONS: usize = 2;

/// Runs in the transaction that stores an outcome.
type Then = Box<dyn FnMut(&mut Tx<'_>, &Delivered) -> Result<(), Failure> + Send>;

/// An outcome to be stored.
struct Outcome {
    claim: Claim,
    sent: Option<Sent>,
    then: Mutex<Then>,
}

/// Batchers of outcomes, by workspace.
type Batches = Batchers<Arc<Outcome>, Result<Delivered, Failure>>;

/// Stores the outcome of a sent message, and runs `then` in the same transaction.
pub(crate) async fn store<T: Send + 'static>(
    app: &Arc<App>,
    claim: Claim,
    sent: Option<Sent>,
    mut then: impl FnMut(&mut Tx<'_>, &Delivered) -> Result<T, Failure> + Send + 'static,
) -> Result<(Delivered, T), Failure> {
    let (tenant, kept) = (claim.message.workspace, Arc::new(Mutex::new(None)));
    let keeper = kept.clone();
    let then: Then = Box::new(move |tx: &mut Tx<'_>, delivered: &Delivered| {
        let done = then(tx, delivered)?;
        *keeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        Ok(())
    });
    let outcome = Arc::new(Outcome { claim, sent, then: Mutex::new(then) });
    let delivered = if app.store.shared() {
        let desk = app.state.of(|| Batches::new(BATCH, TRANSACTIONS)).of(tenant);
        let stored = desk.ask(outcome, |outcomes| store_all(app, tenant, outcomes)).await;
        stored.unwrap_or_else(|| Err(Failure::internal("an outcome was not stored to the end")))?
    } else {
        store_one(app, tenant, outcome).await?
    };
    let done = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok((delivered, done.ok_or_else(|| Failure::internal("an outcome was stored without its end"))?))
}

/// Stores one outcome. On PostgreSQL it is retried once: another node may just have stored a message with the same
/// provider id, which the second attempt sees.
async fn store_one(app: &Arc<App>, tenant: Tenant, outcome: Arc<Outcome>) -> Result<Delivered, Failure> {
    match settle_one(app, tenant, outcome.clone()).await {
        Err(failure) if !failure.of_store && app.store.shared() => settle_one(app, tenant, outcome).await,
        stored => stored,
    }
}

async fn settle_one(app: &Arc<App>, tenant: Tenant, outcome: Arc<Outcome>) -> Result<Delivered, Failure> {
    let keeper = app.clone();
    let mut stored =
        app.of(tenant).tx(move |tx| settle_all(&keeper, tx, std::slice::from_ref(&outcome))).await?;
    stored.pop().ok_or_else(|| Failure::internal("an outcome was not stored"))
}

async fn store_all(
    app: &Arc<App>,
    tenant: Tenant,
    outcomes: Vec<Arc<Outcome>>,
) -> Vec<Result<Delivered, Failure>> {
    if outcomes.len() > 1 {
        let (keeper, all) = (app.clone(), outcomes.clone());
        match app.of(tenant).tx(move |tx| settle_all(&keeper, tx, &all)).await {
            Ok(stored) => return stored.into_iter().map(Ok).collect(),
            // The store is away, or nobody knows what it did.
            Err(failure) if failure.of_store => {
                return outcomes.iter().map(|_| Err(failure.clone())).collect();
            }
            // One of them is to blame, perhaps.
            Err(_) => {}
        }
    }
    let mut stored = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        stored.push(store_one(app, tenant, outcome).await);
    }
    stored
}

fn settle_all(app: &App, tx: &mut TenantTx, outcomes: &[Arc<Outcome>]) -> Result<Vec<Delivered>, Failure> {
    let sent: Vec<_> = outcomes
        .iter()
        .map(|outcome| match &outcome.sent {
            Some(Sent::Accepted { provider_id }) => (&outcome.claim.message, Some(provider_id.as_str())),
            _ => (&outcome.claim.message, None),
        })
        .collect();
    prefetch::outcomes(tx, &sent)?;
    let mut stored = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        stored.push(settle(app, tx, &outcome.claim, &outcome.sent)?);
    }
    for (outcome, delivered) in outcomes.iter().zip(&stored) {
        (outcome.then.lock().unwrap_or_else(PoisonError::into_inner))(tx, delivered)?;
    }
    Ok(stored)
}

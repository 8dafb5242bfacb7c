//! Outcomes of messages that are stored together: on a shared store those of one workspace that come at the same moment
//! share a transaction. Each is stored by the same rules as one by itself, and each by itself if they cannot be stored
//! together.

use std::sync::{Arc, Mutex, PoisonError};

use app::gather::Gathers;
use app::{App, Failure};
use domain::channel::Sent;
use domain::tenant::Tenant;
use store::Tx;

use crate::ahead;
use crate::messages::Claim;
use crate::send::{Delivered, settle};

/// Outcomes of a workspace that share a transaction at most.
const TOGETHER: usize = 64;
/// Transactions at once: while one commits, the next is filled.
const TURNS: usize = 2;

/// What belongs to the transaction in which an outcome is stored.
type Then = Box<dyn FnMut(&mut Tx<'_>, &Delivered) -> Result<(), Failure> + Send>;

/// An outcome that waits to be stored.
struct Outcome {
    claim: Claim,
    sent: Option<Sent>,
    then: Mutex<Then>,
}

/// Where outcomes wait.
type Desks = Gathers<Arc<Outcome>, Result<Delivered, Failure>>;

/// Stores what came of handing a message to the provider, with what `then` does.
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
        let desk = app.kept.of(|| Desks::new(TOGETHER, TURNS)).of(tenant);
        let stored = desk.ask(outcome, |outcomes| store_all(app, tenant, outcomes)).await;
        stored.unwrap_or_else(|| Err(Failure::internal("an outcome was not stored to the end")))?
    } else {
        store_one(app, tenant, outcome).await?
    };
    let done = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok((delivered, done.ok_or_else(|| Failure::internal("an outcome was stored without its end"))?))
}

/// On a shared store once more if it fails: another node may have stored a message with the same id at the provider at
/// the same moment, which is seen then.
async fn store_one(app: &Arc<App>, tenant: Tenant, outcome: Arc<Outcome>) -> Result<Delivered, Failure> {
    match settle_one(app, tenant, outcome.clone()).await {
        Err(failure) if !failure.of_store && app.store.shared() => settle_one(app, tenant, outcome).await,
        stored => stored,
    }
}

async fn settle_one(app: &Arc<App>, tenant: Tenant, outcome: Arc<Outcome>) -> Result<Delivered, Failure> {
    let keeper = app.clone();
    let mut stored =
        app.store.tx(move |tx| settle_all(&keeper, tx, tenant, std::slice::from_ref(&outcome))).await?;
    stored.pop().ok_or_else(|| Failure::internal("an outcome was not stored"))
}

async fn store_all(
    app: &Arc<App>,
    tenant: Tenant,
    outcomes: Vec<Arc<Outcome>>,
) -> Vec<Result<Delivered, Failure>> {
    if outcomes.len() > 1 {
        let (keeper, all) = (app.clone(), outcomes.clone());
        match app.store.tx(move |tx| settle_all(&keeper, tx, tenant, &all)).await {
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

fn settle_all(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    outcomes: &[Arc<Outcome>],
) -> Result<Vec<Delivered>, Failure> {
    let sent: Vec<_> = outcomes
        .iter()
        .map(|outcome| match &outcome.sent {
            Some(Sent::Accepted { provider_id }) => (&outcome.claim.message, Some(provider_id.as_str())),
            _ => (&outcome.claim.message, None),
        })
        .collect();
    ahead::outcomes(tx, tenant, &sent)?;
    let mut stored = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        stored.push(settle(app, tx, &outcome.claim, &outcome.sent)?);
    }
    for (outcome, delivered) in outcomes.iter().zip(&stored) {
        (outcome.then.lock().unwrap_or_else(PoisonError::into_inner))(tx, delivered)?;
    }
    Ok(stored)
}

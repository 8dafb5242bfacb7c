//! Facts of calls on real lines. On a shared store concurrent facts are batched into one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::call::{Fact, Report};
use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::Tx;
use store::calls::{self, CallRow};

use super::apply::apply_owing;
use super::prefetch::{Coming, prefetch};
use super::{Env, holds};
use crate::batcher::{Batcher, Shared, share_out};
use crate::{App, Failure};

/// Most facts in one batch, and concurrent batches.
const BATCH: usize = 64;
const TURNS: usize = 2;

/// A fact of a call.
struct Heard {
    tenant: Tenant,
    call: Id<Call>,
    fact: Fact,
    /// When it was observed.
    at: Timestamp,
    /// The results of the conversation, when it is over.
    left: Option<Report>,
}

/// Facts that wait to be stored.
type Batches = Batcher<Arc<Heard>, Shared<Option<CallRow>>>;

/// Stores a fact that was observed at `at`, with the report of the conversation when it is over. Returns the call
/// afterwards; `None` when it is gone.
pub async fn report(
    app: &App,
    tenant: Tenant,
    id: Id<Call>,
    fact: Fact,
    at: Timestamp,
    left: Option<Report>,
) -> Result<Option<CallRow>, Failure> {
    let heard = Arc::new(Heard { tenant, call: id, fact, at, left });
    if app.store.shared() {
        let batches = app.state.of(|| Batches::new(BATCH, TURNS));
        if let Some(Some(stored)) = batches.ask(heard.clone(), |heard| store_batch(app, heard)).await {
            return stored;
        }
    }
    store_once(app, heard).await
}

async fn store_batch(app: &App, heard: Vec<Arc<Heard>>) -> Vec<Shared<Option<CallRow>>> {
    let (count, env) = (heard.len(), app.call_env());
    let stored = app.store.tx(move |tx| store_all(tx, &env, &heard)).await;
    share_out(count, stored.map(|calls| calls.into_iter().map(|call| Some(Ok(call))).collect()))
}

async fn store_once(app: &App, heard: Arc<Heard>) -> Result<Option<CallRow>, Failure> {
    let env = app.call_env();
    app.store
        .tx(move |tx| {
            let one = std::slice::from_ref(&heard);
            Ok(store_all(tx, &env, one)?.pop().flatten())
        })
        .await
}

/// Stores facts in the caller's transaction; the calls afterwards, in the order of the facts.
fn store_all(tx: &mut Tx<'_>, env: &Env, heard: &[Arc<Heard>]) -> Result<Vec<Option<CallRow>>, Failure> {
    // Every transaction locks the calls in the same order. Facts of one call keep theirs.
    let mut order: Vec<usize> = (0..heard.len()).collect();
    order.sort_by_key(|place| (heard[*place].tenant, heard[*place].call));
    if heard.len() > 1 {
        tx.prefetch(|tx| {
            for one in heard {
                let _ = calls::get_for_update(&mut tx.of(one.tenant), one.call);
            }
        })?;
    }
    // The first fact of each call with the call; a later one finds it changed.
    let mut first: BTreeMap<(Tenant, Id<Call>), (usize, CallRow)> = BTreeMap::new();
    for place in &order {
        let one = &heard[*place];
        if !first.contains_key(&(one.tenant, one.call))
            && let Some(row) = calls::get_for_update(&mut tx.of(one.tenant), one.call)?
        {
            first.insert((one.tenant, one.call), (*place, row));
        }
    }
    let coming: Vec<Coming<'_>> =
        first.values().filter_map(|(place, row)| Coming::of(row, heard[*place].fact, env)).collect();
    prefetch(tx, env, true, &coming)?;
    let (mut stored, mut bills) = (vec![None; heard.len()], Vec::new());
    for place in order {
        let one = &heard[place];
        let found = match first.remove(&(one.tenant, one.call)) {
            Some((_, row)) => Some(row),
            None => calls::get_for_update(&mut tx.of(one.tenant), one.call)?,
        };
        let Some(row) = found else { continue };
        let (row, bill) = apply_owing(tx, env, row, one.fact, one.at, one.left.clone())?;
        bills.extend(bill);
        stored[place] = Some(row);
    }
    holds::pay_all(tx, env, bills)?;
    Ok(stored)
}

//! Outcomes of dials that are stored together. On a shared store those that wait at the same moment share a transaction: the
//! calls, their nudges and the wallets are held once for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use store::calls::{self, CallRow};

use super::due::hold_nudges;
use super::holds;
use super::place::{Heard, Request, Settled, store_once, store_outcome_of};
use crate::gather::Gather;
use crate::{App, Failure};

/// Outcomes that are stored together at most, and by how many transactions at once.
const TOGETHER: usize = 64;
const TURNS: usize = 2;

/// Outcomes that wait to be stored; an answer is missing when one is to be stored by itself.
type Outcomes = Gather<(Arc<CallRow>, Heard), Option<Result<Settled, Failure>>>;

/// Stores an outcome: on a shared store together with others that wait, if no request waits for the answer.
pub(super) async fn store_it(
    app: &App,
    call: Arc<CallRow>,
    heard: Heard,
    request: Arc<Request>,
) -> Result<Settled, Failure> {
    if request.is_none() && app.store.shared() {
        let desk = app.kept.of(|| Outcomes::new(TOGETHER, TURNS));
        let stored = desk.ask((call.clone(), heard.clone()), |pieces| store_together(app, pieces)).await;
        if let Some(Some(settled)) = stored {
            return settled;
        }
    }
    store_once(app, call, heard, request).await
}

async fn store_together(
    app: &App,
    pieces: Vec<(Arc<CallRow>, Heard)>,
) -> Vec<Option<Result<Settled, Failure>>> {
    let (count, env) = (pieces.len(), app.call_env());
    let stored = app.store.tx(move |tx| {
        let mut of_workspace: BTreeMap<Tenant, Vec<Id<Call>>> = BTreeMap::new();
        for (call, _) in &pieces {
            of_workspace.entry(call.workspace).or_default().push(call.id);
        }
        for (tenant, ids) in of_workspace {
            calls::hold_each(tx, tenant, &ids)?;
        }
        hold_nudges(tx, pieces.iter().map(|(call, _)| &**call))?;
        let (mut settled, mut bills) = (Vec::with_capacity(pieces.len()), Vec::new());
        for (call, heard) in &pieces {
            settled.push(store_outcome_of(tx, &env, call, heard, &None, &mut bills)?);
        }
        holds::pay_all(tx, &env, bills)?;
        Ok::<_, Failure>(settled)
    });
    match stored.await {
        Ok(settled) => settled.into_iter().map(|one| Some(Ok(one))).collect(),
        Err(failure) if failure.of_store => (0..count).map(|_| Some(Err(failure.clone()))).collect(),
        Err(_) => (0..count).map(|_| None).collect(),
    }
}

//! Batches outcomes of dials. On a shared store concurrent outcomes share a transaction: the calls, their nudges and
//! the wallets are locked once for all of them.

use std::sync::Arc;

use store::calls::CallRow;

use super::holds;
use super::place::{Heard, Request, Settled, fact_of, store_once, store_outcome_of};
use super::prefetch::{Coming, prefetch};
use crate::batcher::{Batcher, Shared, share_out};
use crate::{App, Failure};

/// Most outcomes in one batch, and concurrent batches.
const BATCH: usize = 64;
const TURNS: usize = 2;

/// The outcome, with the request that waits for the answer.
type Piece = (Arc<CallRow>, Heard, Arc<Request>);
/// Outcomes that wait to be stored.
type Outcomes = Batcher<Piece, Shared<Settled>>;
/// Those for which requests wait: they are not queued behind the outcomes of thousands of due dials.
struct RequestOutcomes(Outcomes);

/// Stores an outcome, on a shared store in a batch.
pub(super) async fn store_it(
    app: &App,
    call: Arc<CallRow>,
    heard: Heard,
    request: Arc<Request>,
) -> Result<Settled, Failure> {
    if app.store.shared() {
        let piece = (call.clone(), heard.clone(), request.clone());
        let work = |pieces| store_batch(app, pieces);
        let stored = if request.is_some() {
            app.state.of(|| RequestOutcomes(Outcomes::new(BATCH, TURNS))).0.ask(piece, work).await
        } else {
            app.state.of(|| Outcomes::new(BATCH, TURNS)).ask(piece, work).await
        };
        if let Some(Some(settled)) = stored {
            return settled;
        }
    }
    store_once(app, call, heard, request).await
}

async fn store_batch(app: &App, pieces: Vec<Piece>) -> Vec<Shared<Settled>> {
    let (count, env) = (pieces.len(), app.call_env());
    let stored = app.store.tx(move |tx| {
        let coming: Vec<Coming<'_>> = pieces
            .iter()
            .filter_map(|(call, (outcome, _), _)| Coming::of(call, fact_of(outcome), &env))
            .collect();
        prefetch(tx, &env, false, &coming)?;
        let (mut settled, mut bills) = (Vec::with_capacity(pieces.len()), Vec::new());
        for (call, heard, request) in &pieces {
            settled.push(store_outcome_of(tx, &env, call, heard, request, &mut bills)?);
        }
        holds::pay_all(tx, &env, bills)?;
        Ok::<_, Failure>(settled)
    });
    share_out(count, stored.await.map(|all| all.into_iter().map(|one| Some(Ok(one))).collect()))
}

//! Batches concurrent placements (`POST /v1/calls`). On a shared store those of one workspace, or of many with few
//! requests, are decided and stored in one transaction: their reads are prefetched together, and the heads of the
//! decision log, which each of them moves, are locked once for all, at the end. Requests that cannot share – a used
//! key, two calls to one number – run by themselves, and so do all when the shared transaction fails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::call::Warning;
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use serde_json::{Value, json};
use store::calls::CallRow;
use store::{Tx, agents, numbers, workspaces};

use super::gates::Number;
use super::{CallCache, Env, Order, Refused, block, contact, gates, place_intent, prepare};
use crate::batcher::{BatchScope, Pool, Shared, share_out};
use crate::idempotency::{self, Answer, Claim, Once};
use crate::{App, Failure};

/// Most requests in one batch.
const TOGETHER: usize = 128;
/// Concurrent transactions of a workspace on a node: they would wait for each other at the head of its log until they
/// commit.
const TURNS: usize = 1;

/// A request for a call.
pub(super) struct Ask {
    pub tenant: Tenant,
    pub mode: Mode,
    pub once: Once,
    pub order: Order,
}

/// The result of the first transaction of a request.
#[derive(Clone)]
pub(super) enum Intent {
    /// An earlier request placed it.
    Given(Answer),
    /// A gate refused it; the refusal is stored.
    Refused(Failure),
    /// It is stored and can be dialled.
    Dial(Arc<CallRow>, Vec<Warning>),
}

/// The result of a request.
type Intended = Result<Intent, Failure>;
/// The batches of requests.
type Desks = Pool<Arc<Ask>, Intent>;

/// Decides on a call and stores it, on a shared store in a batch.
pub(super) async fn intend(app: &App, ask: Ask) -> Intended {
    let ask = Arc::new(ask);
    if app.store.shared() {
        let desks = app.state.of(|| Desks::new(TOGETHER, TURNS));
        let work = |asks, scope| work(app, asks, scope);
        if let Some(intended) = desks.ask(ask.tenant, ask.clone(), work).await {
            return intended;
        }
    }
    let env = app.call_env();
    app.store
        .tx(move |tx| {
            if let Claim::Given(answer) = ask.once.reserve(tx, env.context.now)? {
                return Ok(Intent::Given(answer));
            }
            let mut known = CallCache::default();
            let intent = decide(tx, &env, &mut known, &ask)??;
            match &intent {
                Intent::Dial(..) => ask.once.hold(tx)?,
                Intent::Given(_) | Intent::Refused(_) => ask.once.free(tx)?,
            }
            known.finish(tx, &env.context)?;
            Ok(intent)
        })
        .await
}

async fn work(app: &App, asks: Vec<Arc<Ask>>, scope: BatchScope) -> Vec<Shared<Intent>> {
    let (count, env) = (asks.len(), app.call_env());
    let intended = match scope {
        BatchScope::Others => app.store.tx_hasty(move |tx| intend_all(tx, &env, &asks)).await,
        BatchScope::Own => app.store.tx(move |tx| intend_all(tx, &env, &asks)).await,
    };
    share_out(count, intended)
}

fn intend_all(tx: &mut Tx<'_>, env: &Env, asks: &[Arc<Ask>]) -> Result<Vec<Shared<Intent>>, Failure> {
    let mut intended: Vec<Shared<Intent>> = Vec::new();
    intended.resize_with(asks.len(), || None);
    let simple = simple(asks);
    let mut keyed: BTreeMap<(Tenant, Mode), Vec<&Once>> = BTreeMap::new();
    for (_, ask) in &simple {
        keyed.entry((ask.tenant, ask.mode)).or_default().push(&ask.once);
    }
    let mut called: BTreeMap<Tenant, Vec<Number>> = BTreeMap::new();
    for (_, ask) in
        simple.iter().filter(|(_, ask)| ask.mode == Mode::Live && ask.order.external_ref.is_none())
    {
        let numbers = called.entry(ask.tenant).or_default();
        let phone = Phone::normalize(&ask.order.to_number).ok();
        numbers.extend(phone.map(|phone| (phone, env.context.keyring.hash_phone(&phone))));
    }
    tx.prefetch(|tx| {
        for onces in keyed.values() {
            let _ = idempotency::used(tx, onces.iter().copied());
        }
        for (_, ask) in &simple {
            look(tx, ask);
        }
        if called.len() > 1 {
            for (tenant, numbers) in &called {
                let _ = gates::read_people(&mut tx.of(*tenant), numbers.clone(), env.context.now);
            }
        }
    })?;
    let mut used = BTreeSet::new();
    for ((tenant, mode), onces) in &keyed {
        let keys = idempotency::used(tx, onces.iter().copied())?;
        used.extend(keys.into_iter().map(|key| (*tenant, *mode, key)));
    }
    let is_used =
        |ask: &Ask| ask.once.key().is_some_and(|key| used.contains(&(ask.tenant, ask.mode, key.to_owned())));
    let open: Vec<(usize, &Ask)> = simple.into_iter().filter(|(_, ask)| !is_used(ask)).collect();
    let mut known = CallCache::of_different_people();
    for (tenant, numbers) in called {
        known.meet(&mut tx.of(tenant), numbers, env.context.now)?;
    }
    let mut taken = Vec::with_capacity(open.len());
    for (place, ask) in open {
        let decided = decide(tx, env, &mut known, ask)?;
        if let Ok(Intent::Dial(..)) = &decided {
            taken.extend(ask.once.held(env.context.now));
        }
        intended[place] = Some(decided);
    }
    known.finish(tx, &env.context)?;
    idempotency::take_new(tx, env.context.now, &taken)?;
    Ok(intended)
}

/// The requests that may share this transaction, with their index: at most one per person and idempotency key, since
/// what one stores of a person another must not overlook.
fn simple(asks: &[Arc<Ask>]) -> Vec<(usize, &Ask)> {
    let mut seen = BTreeSet::new();
    let mut is_first = |ask: &Ask| {
        let number = Phone::normalize(&ask.order.to_number).ok().map(|to| to.to_string());
        let reference = ask.order.external_ref.clone();
        let key = ask.once.key().map(str::to_owned);
        let names = [("number", number), ("reference", reference), ("key", key)];
        let names: Vec<_> =
            names.into_iter().filter_map(|(kind, name)| Some((ask.tenant, ask.mode, kind, name?))).collect();
        let (before, count) = (seen.len(), names.len());
        // All are recorded, also one that cannot share.
        seen.extend(names);
        seen.len() == before + count
    };
    asks.iter().enumerate().map(|(place, ask)| (place, &**ask)).filter(|(_, ask)| is_first(ask)).collect()
}

/// Prefetches the reads of the decision.
fn look(tx: &mut Tx<'_>, ask: &Ask) {
    let (tenant, mode) = (ask.tenant, ask.mode);
    let _ = match mode {
        Mode::Live => workspaces::get_for_update(&mut tx.of(tenant)),
        Mode::Test => workspaces::get(&mut tx.of(tenant)),
    };
    let _ = ask.order.agent.parse().map(|id| agents::get(&mut tx.of(tenant), id));
    let _ = numbers::list(&mut tx.of(tenant));
    let to = Phone::normalize(&ask.order.to_number).ok();
    if mode == Mode::Test || ask.order.external_ref.is_some() {
        let _ = contact::find(&mut tx.of(tenant), mode, ask.order.external_ref.as_deref(), to);
    }
}

/// Decides on a call. A refusal that stores nothing is the inner error.
fn decide(tx: &mut Tx<'_>, env: &Env, known: &mut CallCache, ask: &Ask) -> Result<Intended, Failure> {
    let prepared = prepare(&mut tx.of(ask.tenant), env, known, ask.mode, ask.order.clone())?;
    match prepared.refused() {
        Some(Refused::Blocked(gate, series)) => {
            let call = block(tx, env, known, &prepared, gate)?;
            let mut failure = Failure::from(Refused::Blocked(gate, series));
            if let Some(Value::Object(meta)) = &mut failure.meta {
                meta.insert("callId".into(), json!(call.id));
            }
            Ok(Ok(Intent::Refused(failure)))
        }
        Some(refused) => Ok(Err(refused.into())),
        None => {
            let call = place_intent(tx, env, known, &prepared)?;
            Ok(Ok(Intent::Dial(call, prepared.warnings)))
        }
    }
}

//! Calls that are asked for at the same moment (`POST /v1/calls`). On a shared store they are decided on and written down with
//! one transaction: what they rest on is read together, and the chains of the decision log, which each of them grows,
//! are held once for all of them. What is not simple – two calls to one number – is done by itself, and so is everything
//! when the shared transaction fails.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::call::Warning;
use domain::decision_log::{Chain, Strand};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use serde_json::{Value, json};
use store::calls::CallRow;
use store::{Tx, agents, decision_log, numbers, workspaces};

use super::{Env, Known, Order, Refused, block, contact, place_intent, prepare};
use crate::gather::{Gather, Shared, share_out};
use crate::idempotency::{Answer, Claim, Once};
use crate::{App, Failure};

/// Requests that share a transaction at most.
const TOGETHER: usize = 128;
/// Transactions at once: while one commits, the next is filled.
const TURNS: usize = 2;

/// A request for a call.
pub(super) struct Ask {
    pub tenant: Tenant,
    pub mode: Mode,
    pub once: Once,
    pub order: Order,
}

/// What the first transaction of a request came to.
#[derive(Clone)]
pub(super) enum Intent {
    /// An earlier request placed it.
    Given(Answer),
    /// A gate refused it; the refusal is stored.
    Refused(Failure),
    /// It is written down and can be dialled.
    Dial(Arc<CallRow>, Vec<Warning>),
}

/// What came of a request.
type Intended = Result<Intent, Failure>;
/// Where requests wait.
type Desk = Gather<Arc<Ask>, Shared<Intent>>;

/// Decides on a call and writes it down, on a shared store together with others that wait.
pub(super) async fn intend(app: &App, ask: Ask) -> Intended {
    let ask = Arc::new(ask);
    if app.store.shared() {
        let desk = app.kept.of(|| Desk::new(TOGETHER, TURNS));
        if let Some(Some(intended)) = desk.ask(ask.clone(), |asks| work(app, asks)).await {
            return intended;
        }
    }
    let env = app.call_env();
    app.store
        .tx(move |tx| {
            let claimed = reserve(tx, &env, &ask)?;
            let mut known = Known::default();
            let intent = match claimed {
                Some(given) => given,
                None => decide(tx, &env, &mut known, &ask)??,
            };
            known.finish(tx, &env.context)?;
            Ok(intent)
        })
        .await
}

async fn work(app: &App, asks: Vec<Arc<Ask>>) -> Vec<Shared<Intent>> {
    let (count, env) = (asks.len(), app.call_env());
    share_out(count, app.store.tx(move |tx| intend_all(tx, &env, &asks)).await)
}

fn intend_all(tx: &mut Tx<'_>, env: &Env, asks: &[Arc<Ask>]) -> Result<Vec<Shared<Intent>>, Failure> {
    let mut intended: Vec<Shared<Intent>> = Vec::new();
    intended.resize_with(asks.len(), || None);
    // What one call of this transaction stores of a person, another must not overlook.
    let mut people = BTreeSet::new();
    let mut simple = Vec::with_capacity(asks.len());
    for (place, ask) in asks.iter().enumerate() {
        let to = Phone::normalize(&ask.order.to_number).ok();
        let number = to.is_none_or(|to| people.insert((ask.tenant, ask.mode, to.to_string())));
        let reference = ask.order.external_ref.as_ref();
        if number && reference.is_none_or(|name| people.insert((ask.tenant, ask.mode, format!("ref {name}"))))
        {
            simple.push((place, ask));
        }
    }
    // Keys first: nothing else is held while they are asked for.
    let mut open = Vec::with_capacity(simple.len());
    for (place, ask) in simple {
        match reserve(tx, env, ask) {
            Ok(None) => open.push((place, ask)),
            Ok(Some(given)) => intended[place] = Some(Ok(given)),
            Err(failure) => intended[place] = Some(Err(failure.of_one()?)),
        }
    }
    tx.foresee(|tx| {
        for (_, ask) in &open {
            look(tx, ask);
        }
    })?;
    let mut known = Known::of_different_people();
    for tenant in open
        .iter()
        .filter(|(_, ask)| ask.mode == Mode::Live)
        .map(|(_, ask)| ask.tenant)
        .collect::<BTreeSet<_>>()
    {
        let called = open.iter().filter(|(_, ask)| (ask.tenant, ask.mode) == (tenant, Mode::Live));
        let called = called.filter(|(_, ask)| ask.order.external_ref.is_none());
        let phones = called.filter_map(|(_, ask)| Phone::normalize(&ask.order.to_number).ok());
        let numbers = phones.map(|phone| (phone, env.context.keyring.hash_phone(&phone))).collect();
        known.meet(tx, tenant, numbers, env.context.now)?;
    }
    for (place, ask) in open {
        let decided = decide(tx, env, &mut known, ask)?;
        if decided.is_err() {
            // It has no effect.
            ask.once.free(tx)?;
        }
        intended[place] = Some(decided);
    }
    known.finish(tx, &env.context)?;
    Ok(intended)
}

/// Asks for what the decision rests on.
fn look(tx: &mut Tx<'_>, ask: &Ask) {
    let (tenant, mode) = (ask.tenant, ask.mode);
    let _ = match mode {
        Mode::Live => workspaces::get_for_update(tx, tenant),
        Mode::Test => workspaces::get(tx, tenant),
    };
    let _ = ask.order.agent.parse().map(|id| agents::get(tx, tenant, id));
    let _ = numbers::list(tx, tenant);
    let to = Phone::normalize(&ask.order.to_number).ok();
    if mode == Mode::Test || ask.order.external_ref.is_some() {
        let _ = contact::find(tx, tenant, mode, ask.order.external_ref.as_deref(), to);
    }
    let _ = decision_log::head_for_update(tx, tenant, Strand { chain: Chain::Audit, world: mode });
}

/// Takes the key of a request; what it is answered with if there was one before.
fn reserve(tx: &mut Tx<'_>, env: &Env, ask: &Ask) -> Result<Option<Intent>, Failure> {
    Ok(match ask.once.reserve(tx, env.context.now)? {
        Claim::Given(answer) => Some(Intent::Given(answer)),
        Claim::Mine => None,
    })
}

/// Decides on a call. A refusal that stores nothing is the inner error.
fn decide(tx: &mut Tx<'_>, env: &Env, known: &mut Known, ask: &Ask) -> Result<Intended, Failure> {
    let prepared = prepare(tx, env, known, ask.tenant, ask.mode, ask.order.clone())?;
    match prepared.refused() {
        Some(Refused::Blocked(gate)) => {
            let call = block(tx, env, known, &prepared, gate)?;
            ask.once.free(tx)?;
            let mut failure = Failure::from(Refused::Blocked(gate));
            if let Some(Value::Object(meta)) = &mut failure.meta {
                meta.insert("callId".into(), json!(call.id));
            }
            Ok(Ok(Intent::Refused(failure)))
        }
        Some(refused) => Ok(Err(refused.into())),
        None => {
            let call = place_intent(tx, env, known, &prepared)?;
            ask.once.hold(tx)?;
            Ok(Ok(Intent::Dial(call, prepared.warnings)))
        }
    }
}

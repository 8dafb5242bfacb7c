//! Nudges that are accepted together. On a shared store requests that wait at the same moment share a transaction: what they
//! rest on is read for all of them at once, and the queue of their workspace is held once, while the transaction commits.
//! What is not simple – a key that was used before, two nudges to one number – is done by itself, and so is everything
//! when the shared transaction fails.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use domain::ids::{Agent, Id};
use domain::nudge::Admitted;
use domain::tenant::{Mode, Tenant};
use serde_json::json;
use store::contacts::{self, ContactRow};
use store::nudges::{self, NudgeRow};
use store::{Tx, agents, numbers};

use super::create::{Ask, Facts, callable, full, in_flight, made, tell};
use super::{Changes, counts, view};
use crate::calls::{self, Env};
use crate::gather::{Gather, Shared, share_out};
use crate::idempotency::{self, Answer};
use crate::{App, Failure, topics};

/// Requests that share a transaction at most.
const TOGETHER: usize = 128;
/// Transactions at once: while one commits, the next is filled.
const TURNS: usize = 2;

/// Where requests wait.
type Desk = Gather<Arc<Ask>, Shared<Answer>>;

/// Accepts a nudge together with others that wait.
pub(super) async fn accept(app: &App, ask: Arc<Ask>) -> Shared<Answer> {
    let desk = app.kept.of(|| Desk::new(TOGETHER, TURNS));
    let accepted = desk.ask(ask, |asks| work(app, asks)).await;
    accepted.unwrap_or_else(|| Some(Err(Failure::internal("nudges were not accepted to the end"))))
}

async fn work(app: &App, asks: Vec<Arc<Ask>>) -> Vec<Shared<Answer>> {
    let (count, env) = (asks.len(), app.call_env());
    share_out(count, app.store.tx(move |tx| store_all(tx, &env, &asks)).await)
}

/// Requests of one workspace in one mode, by their places.
type Groups = BTreeMap<(Tenant, Mode), Vec<usize>>;

/// What is known of them.
struct Met {
    contacts: HashMap<String, ContactRow>,
    live: HashMap<String, Id<domain::ids::Nudge>>,
    own: Vec<String>,
    keys: BTreeSet<String>,
    pending: Option<i64>,
}

fn meet(tx: &mut Tx<'_>, (tenant, mode): (Tenant, Mode), asks: &[&Ask]) -> Result<Met, Failure> {
    let phones: Vec<String> = asks.iter().map(|ask| ask.wanted.to.to_string()).collect();
    let keys = idempotency::used(tx, asks.iter().map(|ask| &ask.once))?;
    let own = numbers::list(tx, tenant)?.into_iter().map(|row| row.number).collect();
    let live = nudges::live_among(tx, tenant, mode, &phones)?.into_iter().collect();
    let pending = nudges::pending_in(tx, tenant, mode)?;
    let found = contacts::find_by_phones(tx, tenant, mode, &phones)?;
    let contacts = found.into_iter().filter_map(|row| Some((row.phone.clone()?, row))).collect();
    Ok(Met { contacts, live, own, keys, pending })
}

/// The agents that are named, each as its id was given, with its pack; or why it cannot place calls.
type Agents = HashMap<(Tenant, String), Result<Arc<(agents::AgentRow, domain::compliance::Pack)>, Failure>>;

fn read_agents(tx: &mut Tx<'_>, asks: &[Arc<Ask>]) -> Result<Agents, Failure> {
    let mut rows = BTreeMap::new();
    for ask in asks {
        if let Ok(id) = ask.wanted.agent.parse::<Id<Agent>>() {
            rows.entry((ask.tenant, id)).or_insert(None);
        }
    }
    for ((tenant, id), row) in &mut rows {
        *row = agents::get(tx, *tenant, *id)?;
    }
    tx.ahead(|tx| {
        for ((tenant, _), row) in &rows {
            let _ = row.as_ref().map(|row| calls::pack(tx, *tenant, row));
        }
    });
    let mut agents = Agents::new();
    for ask in asks {
        let name = (ask.tenant, ask.wanted.agent.clone());
        if agents.contains_key(&name) {
            continue;
        }
        let row = ask.wanted.agent.parse().ok().and_then(|id| rows.get(&(ask.tenant, id)).cloned().flatten());
        let agent = match callable(tx, ask.tenant, row) {
            Ok(agent) => Ok(Arc::new(agent)),
            Err(failure) => Err(failure.of_one()?),
        };
        agents.insert(name, agent);
    }
    Ok(agents)
}

fn store_all(tx: &mut Tx<'_>, env: &Env, asks: &[Arc<Ask>]) -> Result<Vec<Shared<Answer>>, Failure> {
    let mut groups = Groups::new();
    for (place, ask) in asks.iter().enumerate() {
        groups.entry((ask.tenant, ask.mode)).or_default().push(place);
    }
    let of = |places: &[usize]| -> Vec<&Ask> { places.iter().map(|place| &*asks[*place]).collect() };
    tx.ahead(|tx| {
        for (whose, places) in &groups {
            let members = of(places);
            // Each reads by itself: one that finds nothing must not end the others.
            let _ = meet(tx, *whose, &members);
        }
        for ask in asks {
            let _ = ask.wanted.agent.parse().map(|id| agents::get(tx, ask.tenant, id));
        }
    });
    let mut met = BTreeMap::new();
    for (whose, places) in &groups {
        met.insert(*whose, meet(tx, *whose, &of(places))?);
    }
    let agents = read_agents(tx, asks)?;
    let mut answers: Vec<Shared<Answer>> = asks.iter().map(|_| None).collect();
    let mut accepted: Vec<(usize, NudgeRow, Admitted)> = Vec::with_capacity(asks.len());
    for (whose, places) in &groups {
        let Some(met) = met.get_mut(whose) else { continue };
        let (mut called, mut added) = (BTreeSet::new(), 0);
        for place in places {
            let ask = &*asks[*place];
            let number = ask.wanted.to.to_string();
            let key_is_free = ask.once.key().is_none_or(|key| met.keys.insert(key.to_owned()));
            if !key_is_free || !called.insert(number.clone()) {
                continue;
            }
            let decided = decide(tx, env, ask, &number, met, &agents);
            let full_already =
                |row: &NudgeRow| counts(&row.state).0 > 0 && met.pending.unwrap_or(0) + added >= ask.limit;
            match decided {
                Ok((row, _)) if full_already(&row) => answers[*place] = Some(Err(full(ask.limit))),
                Ok((row, admitted)) => {
                    added += counts(&row.state).0;
                    accepted.push((*place, row, admitted));
                }
                Err(failure) => answers[*place] = Some(Err(failure.of_one()?)),
            }
        }
    }
    let written = write(tx, env, asks, &met, &accepted)?;
    for ((place, ..), answer) in accepted.iter().zip(written) {
        answers[*place] = Some(Ok(answer));
    }
    Ok(answers)
}

fn decide(
    tx: &mut Tx<'_>,
    env: &Env,
    ask: &Ask,
    number: &str,
    met: &Met,
    agents: &Agents,
) -> Result<(NudgeRow, Admitted), Failure> {
    let agent = match agents.get(&(ask.tenant, ask.wanted.agent.clone())) {
        Some(Ok(agent)) => agent.clone(),
        Some(Err(failure)) => return Err(failure.clone()),
        None => return Err(calls::Refused::AgentNotFound.into()),
    };
    let facts = Facts {
        agent: &agent.0,
        pack: &agent.1,
        from: calls::own_number_of(&met.own, ask.wanted.from.as_deref()),
        contact: met.contacts.get(number).cloned(),
    };
    let whose = (ask.tenant, ask.mode, Some(ask.key));
    // The transaction belongs to the trace of one of the requests.
    let new = tx.traced(ask.trace, |tx| made(tx, env, whose, &ask.wanted, facts))?;
    match met.live.get(number) {
        Some(live) => Err(in_flight(*live)),
        None => Ok(new),
    }
}

/// Writes what was accepted, the queues with the commit. The answers, in the order of the nudges.
fn write(
    tx: &mut Tx<'_>,
    env: &Env,
    asks: &[Arc<Ask>],
    met: &BTreeMap<(Tenant, Mode), Met>,
    accepted: &[(usize, NudgeRow, Admitted)],
) -> Result<Vec<Answer>, Failure> {
    let mut opened = BTreeSet::new();
    for (place, row, _) in accepted.iter().filter(|(_, row, _)| counts(&row.state).0 > 0) {
        let whose = (row.workspace, row.mode);
        let pending = met.get(&whose).and_then(|met| met.pending);
        let pending = if opened.insert(whose) { pending } else { Some(pending.unwrap_or(0)) };
        // The places were counted above; with the commit the queue is compared with the limit once more.
        if !nudges::admit(tx, whose, pending, row.look_at, asks[*place].limit)? {
            return Err(full(asks[*place].limit));
        }
        tx.wake(topics::DIALLER);
    }
    nudges::insert_each(tx, accepted.iter().map(|(_, row, _)| row))?;
    let mut changes = Changes::none();
    for (_, row, admitted) in accepted {
        tell(tx, env, row, admitted, &mut changes)?;
    }
    changes.write(tx)?;
    let (mut answers, mut kept) = (Vec::with_capacity(accepted.len()), Vec::with_capacity(accepted.len()));
    for (place, row, _) in accepted {
        let (answer, slot) = asks[*place].once.answer(201, &json!({"data": view(row)}))?;
        kept.extend(slot.map(|slot| (slot, answer.clone(), row.person.clone())));
        answers.push(answer);
    }
    idempotency::keep_new(tx, env.context.now, &kept)?;
    Ok(answers)
}

//! Batches accepted nudges. On a shared store concurrent requests share a transaction, across workspaces: their reads
//! are prefetched for all at once, with as many statements as for one, and the queues of their workspaces are updated
//! with one statement, with the commit. Requests that cannot share – a used key, two nudges to one number – run by
//! themselves, and so do all when the shared transaction fails.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use domain::ids::{Agent, Id};
use domain::nudge::Admitted;
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use serde_json::json;
use store::contacts::ContactRow;
use store::nudges::{self, NudgeRow, QueueAddition};
use store::{Tx, agents, numbers};

use super::create::{Ask, Facts, callable, full, in_flight, made, tell};
use super::{Changes, counts, view};
use crate::batcher::{Batcher, Shared, share_out};
use crate::calls::{self, Env};
use crate::idempotency::{self, Answer};
use crate::{App, Failure, published_flows, topics};

/// Most requests in one batch.
const BATCH: usize = 128;
/// Concurrent transactions: while one commits, the next is filled.
const TURNS: usize = 2;

/// The batches of requests.
type Batches = Batcher<Arc<Ask>, Shared<Answer>>;

/// Accepts a nudge in a batch.
pub(super) async fn accept(app: &App, ask: Arc<Ask>) -> Shared<Answer> {
    let batches = app.state.of(|| Batches::new(BATCH, TURNS));
    let accepted = batches.ask(ask, |asks| work(app, asks)).await;
    accepted.unwrap_or_else(|| Some(Err(Failure::internal("nudges were not accepted to the end"))))
}

async fn work(app: &App, asks: Vec<Arc<Ask>>) -> Vec<Shared<Answer>> {
    let (count, env) = (asks.len(), app.call_env());
    share_out(count, app.store.tx(move |tx| store_all(tx, &env, &asks)).await)
}

/// Requests of one workspace in one mode, with their indexes.
type Groups<'a> = BTreeMap<(Tenant, Mode), Vec<(usize, &'a Ask)>>;

/// The requests that may share this transaction: at most one per number and idempotency key, and all of one queue with
/// the same limit, since what one of them stores of a number another must not overlook.
fn simple(asks: &[Arc<Ask>]) -> Groups<'_> {
    let (mut groups, mut called, mut keys) = (Groups::new(), BTreeSet::new(), BTreeSet::new());
    for (place, ask) in asks.iter().enumerate() {
        let whose = (ask.tenant, ask.mode);
        // All are recorded, also one that cannot share.
        let is_first = called.insert((whose, ask.wanted.to));
        let key_is_first = ask.once.key().is_none_or(|key| keys.insert((whose, key)));
        let group = groups.entry(whose).or_default();
        let same_limit = group.first().is_none_or(|(_, first)| first.limit == ask.limit);
        if is_first && key_is_first && same_limit {
            group.push((place, ask));
        }
    }
    groups
}

/// The data of the batch.
struct Met {
    contacts: HashMap<Phone, ContactRow>,
    live: HashMap<Phone, Id<domain::ids::Nudge>>,
    own: Vec<String>,
    keys: BTreeSet<String>,
    pending: Option<i64>,
}

/// Reads it, for each request by itself: what is read for all of them at once is found there.
fn meet(tx: &mut Tx<'_>, (tenant, mode): (Tenant, Mode), asks: &[(usize, &Ask)]) -> Result<Met, Failure> {
    let own = numbers::list(&mut tx.of(tenant))?.into_iter().map(|row| row.number).collect();
    let pending = nudges::pending_in(&mut tx.of(tenant), mode)?;
    let (mut contacts, mut live, mut keys) = (HashMap::new(), HashMap::new(), BTreeSet::new());
    for (_, ask) in asks {
        let to = ask.wanted.to;
        keys.extend(idempotency::used(tx, [&ask.once])?);
        live.extend(nudges::find_live(&mut tx.of(tenant), mode, &to.to_string())?.map(|nudge| (to, nudge)));
        contacts.extend(calls::find_contact(&mut tx.of(tenant), mode, to)?.map(|contact| (to, contact)));
    }
    Ok(Met { contacts, live, own, keys, pending })
}

/// Prefetches everything that `look` reads, equal reads with one statement. When the transaction runs again, in one
/// round trip only.
fn at_once(tx: &mut Tx<'_>, look: impl FnOnce(&mut Tx<'_>)) -> Result<(), Failure> {
    if tx.again() {
        tx.pipeline_reads(look);
        return Ok(());
    }
    Ok(tx.prefetch(look)?)
}

/// The requested agents, each by its id as given, with its pack; or why it cannot place calls.
type Agents = HashMap<(Tenant, String), Result<Arc<(agents::AgentRow, domain::compliance::Pack)>, Failure>>;

fn read_agents(tx: &mut Tx<'_>, groups: &Groups<'_>) -> Result<Agents, Failure> {
    let asks = || groups.values().flatten().map(|(_, ask)| *ask);
    let mut rows = BTreeMap::new();
    for ask in asks() {
        if let Ok(id) = ask.wanted.agent.parse::<Id<Agent>>() {
            rows.entry((ask.tenant, id)).or_insert(None);
        }
    }
    for ((tenant, id), row) in &mut rows {
        *row = agents::get(&mut tx.of(*tenant), *id)?;
        if let Some(row) = row {
            // Usually it is known. What goes wrong here goes wrong below.
            let _ = published_flows::needs(&mut tx.of(*tenant), row);
        }
    }
    at_once(tx, |tx| {
        for ((tenant, _), row) in &rows {
            let Some(row) = row else { continue };
            let _ = calls::pack(&mut tx.of(*tenant), row);
            let _ = published_flows::needs(&mut tx.of(*tenant), row)
                .map(|needs| needs.issues(&mut tx.of(*tenant)));
        }
    })?;
    let mut agents = Agents::new();
    for ask in asks() {
        let name = (ask.tenant, ask.wanted.agent.clone());
        if agents.contains_key(&name) {
            continue;
        }
        let row = ask.wanted.agent.parse().ok().and_then(|id| rows.get(&(ask.tenant, id)).cloned().flatten());
        let agent = match callable(&mut tx.of(ask.tenant), row) {
            Ok(agent) => Ok(Arc::new(agent)),
            Err(failure) => Err(failure.of_one()?),
        };
        agents.insert(name, agent);
    }
    Ok(agents)
}

fn store_all(tx: &mut Tx<'_>, env: &Env, asks: &[Arc<Ask>]) -> Result<Vec<Shared<Answer>>, Failure> {
    let groups = simple(asks);
    at_once(tx, |tx| {
        for (whose, members) in &groups {
            let _ = meet(tx, *whose, members);
            for (_, ask) in members {
                let _ = ask.wanted.agent.parse().map(|id| agents::get(&mut tx.of(ask.tenant), id));
            }
        }
    })?;
    let mut met = BTreeMap::new();
    for (whose, members) in &groups {
        met.insert(*whose, meet(tx, *whose, members)?);
    }
    let agents = read_agents(tx, &groups)?;
    let mut answers: Vec<Shared<Answer>> = asks.iter().map(|_| None).collect();
    let mut accepted: Vec<(usize, NudgeRow, Admitted)> = Vec::with_capacity(asks.len());
    let mut queues = Vec::with_capacity(groups.len());
    for (whose, members) in &groups {
        let Some(met) = met.get(whose) else { continue };
        let Some(limit) = members.first().map(|(_, ask)| ask.limit) else { continue };
        let (workspace, mode) = *whose;
        let mut queue =
            QueueAddition { workspace, mode, before: met.pending, count: 0, look_at: None, limit };
        for (place, ask) in members {
            if ask.once.key().is_some_and(|key| met.keys.contains(key)) {
                continue;
            }
            let decided = decide(tx, env, ask, met, &agents);
            let full_already =
                |row: &NudgeRow| counts(&row.state).0 > 0 && met.pending.unwrap_or(0) + queue.count >= limit;
            match decided {
                Ok((row, _)) if full_already(&row) => answers[*place] = Some(Err(full(limit))),
                Ok((row, admitted)) => {
                    if counts(&row.state).0 > 0 {
                        queue.count += 1;
                        queue.look_at = [queue.look_at, row.look_at].into_iter().flatten().min();
                    }
                    accepted.push((*place, row, admitted));
                }
                Err(failure) => answers[*place] = Some(Err(failure.of_one()?)),
            }
        }
        if queue.count > 0 {
            queues.push(queue);
        }
    }
    let written = write(tx, env, asks, &queues, &accepted)?;
    for ((place, ..), answer) in accepted.iter().zip(written) {
        answers[*place] = Some(Ok(answer));
    }
    Ok(answers)
}

fn decide(
    tx: &mut Tx<'_>,
    env: &Env,
    ask: &Ask,
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
        contact: met.contacts.get(&ask.wanted.to).cloned(),
    };
    let whose = (ask.tenant, ask.mode, ask.key);
    // The transaction belongs to the trace of one of the requests.
    let new = tx.traced(ask.trace, |tx| made(tx, env, whose, &ask.wanted, facts))?;
    match met.live.get(&ask.wanted.to) {
        Some(live) => Err(in_flight(*live)),
        None => Ok(new),
    }
}

/// Writes the accepted nudges, the queues with the commit. The answers, in the order of the nudges.
fn write(
    tx: &mut Tx<'_>,
    env: &Env,
    asks: &[Arc<Ask>],
    queues: &[QueueAddition],
    accepted: &[(usize, NudgeRow, Admitted)],
) -> Result<Vec<Answer>, Failure> {
    if !queues.is_empty() {
        // The pending nudges were counted; with the commit each queue is compared with its limit once more.
        nudges::admit_all(tx, queues)?;
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

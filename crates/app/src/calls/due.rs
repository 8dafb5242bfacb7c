//! Calls whose next check is due: the next step of a simulated network, or a placement whose outcome was not stored.

use std::sync::Arc;

use domain::call::{Fact, Stage, Status, script, step};
use domain::phone::Phone;
use domain::ports::{DialError, DialStatus};
use domain::time::{MINUTE, Timestamp};
use futures_util::future::join_all;
use store::Tx;
use store::calls::{self, CallRow};

use super::apply::{apply_owing, next_look};
use super::place::{PLACING_LEASE, dial_order, store_outcome};
use super::prefetch::{Coming, prefetch};
use super::{Env, holds};
use crate::call_env::save;
use crate::undialled::Undialled;
use crate::{App, Failure, published_flows};

/// Calls in one transaction, on an embedded store and on a shared one, where a transaction costs round trips.
const BATCH: i64 = 100;
const SHARED_BATCH: i64 = 250;

/// Retry delay of a call whose check failed because of a defect, milliseconds.
const SET_ASIDE: i64 = MINUTE;

/// Checks due calls, one batch in each of `lanes` concurrent transactions, and returns whether there may be more. Any
/// node may do so at any time: the rows are locked while they change. Until `patient` no lease of a call counts as
/// expired: after an outage of the store the nodes that hold the calls must first be able to renew it.
pub async fn work_due(app: &App, patient: Option<Timestamp>, lanes: usize) -> Result<bool, Failure> {
    let worked = join_all((0..lanes).map(|_| next_batch(app, patient))).await;
    let (mut more, mut failed) = (false, None);
    // One after the other: the clock counts outside waits once for each job.
    for batch in worked {
        match batch {
            Ok((full, orphans)) => {
                more |= full;
                for call in orphans {
                    recover(app, call).await?;
                }
            }
            Err(failure) => failed = Some(failure),
        }
    }
    match failed {
        Some(failure) => Err(failure),
        None => Ok(more),
    }
}

/// The result of a batch: whether it was full, and the placements whose outcome was not stored.
type Worked = (bool, Vec<CallRow>);

/// One batch, in one transaction. If that fails because of one of its calls, each is checked by itself.
async fn next_batch(app: &App, patient: Option<Timestamp>) -> Result<Worked, Failure> {
    let most = if app.store.shared() { SHARED_BATCH } else { BATCH };
    let batch = published_flows::of_due(app, app.clock.now(), most).await?;
    match work_batch(app, patient, batch).await {
        Err(failure) if !failure.of_store => {
            failure.log("due calls could not be looked at together");
            work_singly(app, patient, batch).await
        }
        worked => worked,
    }
}

async fn work_batch(app: &App, patient: Option<Timestamp>, batch: i64) -> Result<Worked, Failure> {
    let env = app.call_env();
    app.store
        .tx(move |tx| {
            let mut due = calls::due(tx, env.context.now, batch)?;
            // Every transaction locks the rows of workspaces in the same order: the first results of a nudge create its
            // board, and two transactions that created boards in two orders would deadlock.
            due.sort_by_key(|call| (call.workspace, call.id));
            let full = due.len() as i64 >= batch;
            let coming: Vec<Coming<'_>> = due.iter().flat_map(|call| coming(&env, call, patient)).collect();
            prefetch(tx, &env, true, &coming)?;
            let (mut orphans, mut bills) = (Vec::new(), Vec::new());
            for call in due {
                orphans.extend(look_at(tx, &env, call, patient, &mut bills)?);
            }
            holds::pay_all(tx, &env, bills)?;
            Ok::<_, Failure>((full, orphans))
        })
        .await
}

/// The same with a transaction for each call. One that fails is retried later.
async fn work_singly(app: &App, patient: Option<Timestamp>, batch: i64) -> Result<Worked, Failure> {
    let now = app.clock.now();
    let due = app.store.read(move |tx| calls::due_ids(tx, now, batch)).await?;
    let full = due.len() as i64 >= batch;
    let mut orphans = Vec::new();
    for (tenant, id) in due {
        let env = app.call_env();
        let worked = app.of(tenant).tx(move |tx| {
            let still = calls::get_for_update(tx, id)?
                .filter(|call| call.next_step_at.is_some_and(|due| due <= env.context.now));
            let mut bills = Vec::new();
            let orphan = match still {
                Some(call) => look_at(tx, &env, call, patient, &mut bills)?,
                None => None,
            };
            holds::pay_all(tx, &env, bills)?;
            Ok::<_, Failure>(orphan)
        });
        match worked.await {
            Ok(orphan) => orphans.extend(orphan),
            Err(failure) if failure.of_store => return Err(failure),
            Err(failure) => {
                failure.log_about(id, "a due call could not be looked at");
                let until = now.plus(SET_ASIDE);
                app.of(tenant).tx(move |tx| calls::set_aside(tx, id, now, until)).await?;
            }
        }
    }
    Ok((full, orphans))
}

/// Checks one due call; returns it if it is a placement whose outcome was not stored, and its node will not report it.
fn look_at(
    tx: &mut Tx<'_>,
    env: &Env,
    mut call: CallRow,
    patient: Option<Timestamp>,
    bills: &mut Vec<holds::Bill>,
) -> Result<Option<CallRow>, Failure> {
    if call.progress.status == Status::Queued {
        // After an outage the node that dialled it knows the outcome of the dial better, if it lives.
        let until = patient.filter(|until| env.context.now < *until && call.network.is_none());
        call.next_step_at = Some(until.unwrap_or_else(|| env.context.now.plus(PLACING_LEASE)));
        save(tx, &mut call)?;
        return Ok(until.is_none().then_some(call));
    }
    play(tx, env, call, patient, bills)?;
    Ok(None)
}

/// When the next call is due.
pub async fn next_due(app: &App) -> Result<Option<Timestamp>, Failure> {
    Ok(app.store.read(calls::next_due).await?)
}

/// The next fact of a due call, and its time. `None`: the node that holds the call gets time to report.
fn next(call: &CallRow, due: Timestamp, env: &Env, patient: Option<Timestamp>) -> Option<(Fact, Timestamp)> {
    match (call.hang_up_at.zip(call.wish()), next_fact(call)) {
        (Some((asked, wish)), _) => Some((Fact::Ended(wish.cause()), asked)),
        (None, Some(fact)) => Some((fact, due)),
        (None, None) if patient.is_some_and(|until| env.context.now < until) => None,
        (None, None) => Some((Fact::Lost, env.context.now)),
    }
}

/// The facts that a check of this call will apply.
fn coming<'c>(env: &Env, call: &'c CallRow, patient: Option<Timestamp>) -> Vec<Coming<'c>> {
    let (mut all, mut progress, mut at) = (Vec::new(), call.progress.clone(), call.script_step);
    let Some(due) = call.next_step_at.filter(|_| progress.status != Status::Queued) else { return all };
    let Some((mut fact, mut when)) = next(call, due, env, patient) else { return all };
    let later = |place: i64| {
        let steps = script(call.network?, Phone::normalize(&call.to_number).ok()?);
        let step = steps.get(usize::try_from(place).ok()?)?;
        let due = call.dialled_at.unwrap_or(call.started_at).plus(step.after_ms);
        (due <= env.context.now).then_some((step.fact, due))
    };
    while let Some((after, _)) = step(&progress, fact, when) {
        let over = after.status.stage() == Stage::Ended;
        progress = after.clone();
        all.push(Coming { call, fact, after });
        at += 1;
        match later(at).filter(|_| !over) {
            Some(next) => (fact, when) = next,
            None => break,
        }
    }
    all
}

/// Runs every due step of one call, each at its own time. Its final charge is added to `bills`.
fn play(
    tx: &mut Tx<'_>,
    env: &Env,
    mut call: CallRow,
    patient: Option<Timestamp>,
    bills: &mut Vec<holds::Bill>,
) -> Result<(), Failure> {
    while let Some(due) = call.next_step_at.filter(|due| *due <= env.context.now) {
        let version = call.version;
        let Some((fact, at)) = next(&call, due, env, patient) else {
            call.next_step_at = patient;
            save(tx, &mut call)?;
            break;
        };
        call.script_step += 1;
        let (after, bill) = apply_owing(tx, env, call, fact, at, None)?;
        call = after;
        bills.extend(bill);
        if call.version == version {
            call.next_step_at = next_look(&call, env);
            save(tx, &mut call)?;
        }
    }
    Ok(())
}

fn next_fact(call: &CallRow) -> Option<Fact> {
    let to = Phone::normalize(&call.to_number).ok()?;
    let step = script(call.network?, to).get(usize::try_from(call.script_step).ok()?)?;
    Some(step.fact)
}

/// Asks the carrier for the outcome of a dial that was not stored, and stores it. Never dials.
async fn recover(app: &App, call: CallRow) -> Result<(), Failure> {
    let standing = match (app.carriers.in_mode(call.mode), dial_order(&call)) {
        _ if app.state.of(Undialled::default).has(call.id) => DialStatus::Unheard,
        (Some(carrier), Some(order)) => app.clock.outside(carrier.ask(order)).await,
        _ => DialStatus::Unknown,
    };
    let outcome = match standing {
        DialStatus::Taken(provider_call) => Ok(provider_call),
        DialStatus::Unheard => Err(DialError::ProviderErrorBeforeRing),
        DialStatus::Unknown => Err(DialError::Uncertain),
        // It is stored when the carrier has answered; until then the check is postponed.
        DialStatus::OnItsWay => return Ok(()),
    };
    // The response to the request that placed it is stored for its retry; nobody waits for it here.
    store_outcome(app, Arc::new(call), (outcome, None), None).await.map(|_| ())
}

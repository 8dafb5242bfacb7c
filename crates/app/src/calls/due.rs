//! Calls that are due for a look: the next step of a network that is a table, or a placement whose outcome
//! was not stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::call::{Fact, Status, script};
use domain::ids::{Id, Nudge};
use domain::phone::Phone;
use domain::ports::{DialError, DialStatus};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use futures_util::future::join_all;
use store::calls::{self, CallRow};
use store::{Tx, nudges};

use super::apply::{apply_owing, next_look};
use super::place::{PLACING_LEASE, dial_order, store_outcome};
use super::{Env, holds};
use crate::call_env::save;
use crate::{App, Failure, published_flows};

/// Calls looked at in one transaction.
const BATCH: i64 = 100;

/// Looks at due calls, one batch in each of `lanes` transactions at once, and returns whether there may be more. Any node
/// may do so at any time: the rows are held while they change. Until `patient` no call is lost: after an outage of the
/// store the nodes that hold the calls first have to be able to say so.
pub async fn work_due(app: &App, patient: Option<Timestamp>, lanes: usize) -> Result<bool, Failure> {
    let worked = join_all((0..lanes).map(|_| work_batch(app, patient))).await;
    let (mut more, mut failed) = (false, None);
    // One after the other: the clock counts what waits outside once for each job.
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

/// One batch: whether it was full, and the placements whose outcome was not stored.
async fn work_batch(app: &App, patient: Option<Timestamp>) -> Result<(bool, Vec<CallRow>), Failure> {
    let env = app.call_env();
    let batch = published_flows::of_due(app, env.context.now, BATCH).await?;
    app.store
        .tx(move |tx| {
            let due = calls::due(tx, env.context.now, batch)?;
            let full = due.len() as i64 >= batch;
            hold_nudges(tx, &due)?;
            let (mut orphans, mut bills) = (Vec::new(), Vec::new());
            for mut call in due {
                if call.progress.status == Status::Queued {
                    call.next_step_at = Some(env.context.now.plus(PLACING_LEASE));
                    save(tx, &mut call)?;
                    orphans.push(call);
                } else {
                    play(tx, &env, call, patient, &mut bills)?;
                }
            }
            holds::pay_all(tx, &env, bills)?;
            Ok::<_, Failure>((full, orphans))
        })
        .await
}

/// On a shared store, reads the nudges whose attempts these calls are with one statement for each workspace.
pub(super) fn hold_nudges<'a>(
    tx: &mut Tx<'_>,
    calls: impl IntoIterator<Item = &'a CallRow>,
) -> Result<(), Failure> {
    if !tx.shared() {
        return Ok(());
    }
    let mut of_workspace: BTreeMap<Tenant, Vec<Id<Nudge>>> = BTreeMap::new();
    for call in calls {
        if let Some(nudge) = call.nudge {
            of_workspace.entry(call.workspace).or_default().push(nudge);
        }
    }
    for (tenant, ids) in of_workspace {
        nudges::hold_each(tx, tenant, &ids)?;
    }
    Ok(())
}

/// When the next call is due.
pub async fn next_due(app: &App) -> Result<Option<Timestamp>, Failure> {
    Ok(app.store.read(calls::next_due).await?)
}

/// Plays every step of one call that is due, each at its own time. What it owes in the end is added to `bills`.
fn play(
    tx: &mut Tx<'_>,
    env: &Env,
    mut call: CallRow,
    patient: Option<Timestamp>,
    bills: &mut Vec<holds::Bill>,
) -> Result<(), Failure> {
    while let Some(due) = call.next_step_at.filter(|due| *due <= env.context.now) {
        let version = call.version;
        let (fact, at) = match (call.hang_up_at.zip(call.wish()), next_fact(&call)) {
            (Some((asked, wish)), _) => (Fact::Ended(wish.cause()), asked),
            (None, Some(fact)) => (fact, due),
            (None, None) if patient.is_some_and(|until| env.context.now < until) => {
                call.next_step_at = patient;
                save(tx, &mut call)?;
                break;
            }
            (None, None) => (Fact::Lost, env.context.now),
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

/// Asks the carrier what became of a dial whose outcome was not stored, and stores it. Never dials.
async fn recover(app: &App, call: CallRow) -> Result<(), Failure> {
    let standing = match (app.carriers.in_mode(call.mode), dial_order(&call)) {
        (Some(carrier), Some(order)) => app.clock.outside(carrier.ask(order)).await,
        _ => DialStatus::Unknown,
    };
    let outcome = match standing {
        DialStatus::Taken(provider_call) => Ok(provider_call),
        DialStatus::Unheard => Err(DialError::ProviderErrorBeforeRing),
        DialStatus::Unknown => Err(DialError::Uncertain),
    };
    // How the request that placed it would have been answered is kept for its repeat; nobody waits for it
    // here.
    store_outcome(app, Arc::new(call), (outcome, None), None).await.map(|_| ())
}

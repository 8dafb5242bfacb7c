//! Applies the facts of a call to the row whose attempt it is, in the transaction of the fact.

use std::collections::HashMap;

use app::calls::Env;
use app::{Failure, topics};
use domain::call::{Fact, Progress, Status};
use domain::campaign::Tally;
use domain::campaign::row::{Ending, Event, Retries, Row, step};
use domain::ids::{Campaign, Id};

use domain::time::SECOND;
use domain::wallet::talk_seconds;
use store::calls::CallRow;
use store::campaigns::blocks::Moves;
use store::campaigns::list::EntryRow;
use store::campaigns::progress::{Calls, Delta};
use store::campaigns::{self, due, runs};
use store::{TenantTx, Tx};

use crate::row_rules::{count_held, retries_of, rules, store_counts, with};

/// Called for every fact that was applied to a call, in its transaction. A row gets the facts of its current call only.
pub fn call_fact(tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
    let Some(campaign) = call.campaign else { return Ok(()) };
    let (tenant, now) = (call.workspace, env.context.now);
    let Some(mut row) = due::row_of_call(&mut tx.of(tenant), call.id)? else { return Ok(()) };
    let status = call.progress.status;
    let (event, retries) = match (fact, Ending::of(&call.progress)) {
        (Fact::NotPlaced, _) => (Event::NotPlaced, retries_now(&mut tx.of(tenant), campaign)?),
        (_, None) => (Event::Lives(status), Retries::NONE),
        (_, Some(ending)) => (Event::Over(ending, status), retries_now(&mut tx.of(tenant), campaign)?),
    };
    let before = rules(&row);
    let Some(decided) = step(&before, event, retries, now) else { return Ok(()) };
    let calls = counted(call, event, &before);
    if event == Event::NotPlaced {
        if call.provider_call.is_none() {
            // Its record is gone.
            row.call = None;
        }
        runs::not_placed(&mut tx.of(tenant), campaign)?;
    }
    let (list, look_at) = (row.list, decided.next.look_at);
    let mut moves = Moves::default();
    let mut held = HashMap::new();
    count_held(&mut held, &before, &decided.next);
    let row = with(row, &decided.next);
    due::save_row(tx, &row, before.standing.state, &mut moves)?;
    if tx.shared() {
        // Another fact of the call may follow in this transaction, and its board reads the row.
        due::cache_row(tx, EntryRow { version: row.version + 1, ..row });
    }
    let rows = Tally::moved(before.standing, decided.next.standing);
    let delta = Delta { list, rows, calls, last_call_at: None };
    store_counts(&mut tx.of(tenant), campaign, &delta, (&held, &moves))?;
    if !matches!(event, Event::Lives(_)) {
        due::touch(&mut tx.of(tenant), campaign, look_at, now)?;
        tx.wake(topics::DIALLER);
    }
    Ok(())
}

/// How often a campaign repeats an attempt. Of a deleted one nobody is called again.
fn retries_now(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Retries, Failure> {
    Ok(campaigns::get(tx, campaign)?.as_ref().map_or(Retries::NONE, retries_of))
}

/// The change of an event to the metrics of the campaign, which are those of `GET /v1/analytics/calls`.
fn counted(call: &CallRow, event: Event, before: &Row) -> Calls {
    // A machine counts as an answer, too.
    let answers = call.progress.answered_at.is_some() && before.dial_status != Some(Status::InProgress);
    let answered = i64::from(answers);
    match event {
        Event::Lives(_) => Calls { answered, ..Calls::default() },
        Event::Over(..) => {
            let talk_ms = talk_seconds(call.progress.talk_ms.unwrap_or(0)).saturating_mul(SECOND);
            Calls { answered, talk_ms, ..Calls::default() }
        }
        Event::NotPlaced => Calls { dialled: -1, ..Calls::default() },
        Event::Due(_) | Event::CallMissing => Calls::default(),
    }
}

/// Prefetches what [`call_fact`] will read.
pub fn prefetch(tx: &mut Tx<'_>, _: &Env, call: &CallRow, after: &Progress, fact: Fact) {
    let Some(campaign) = call.campaign else { return };
    let _ = due::row_of_call(&mut tx.of(call.workspace), call.id);
    if fact == Fact::NotPlaced || Ending::of(after).is_some() {
        let _ = campaigns::get(&mut tx.of(call.workspace), campaign);
    }
}

/// Called in the transaction of every charge of a call of a campaign: adds it to what the campaign has cost.
pub fn charge(tx: &mut TenantTx, campaign: Id<Campaign>, amount: i64) -> Result<(), Failure> {
    Ok(due::charge(tx, campaign, amount)?)
}

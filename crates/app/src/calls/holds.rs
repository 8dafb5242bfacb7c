//! Money of live calls: a placement reserves one minute, the hold grows before each further minute of each leg begins,
//! and talk is charged at the end. Only what is held is charged, so calls never take a balance below zero.

use std::collections::BTreeMap;

use domain::call::{Fact, HangupRequest};
use domain::ids::{Call, Campaign, Id};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use domain::wallet::{grows_at, minutes_needed, started_minutes};
use store::call_legs::{self, Growing};
use store::calls::CallRow;
use store::wallet::WalletState;
use store::{TenantTx, Tx, hangup_requests, wallet as wallets};

use super::Env;
use crate::{App, Failure, topics, wallet};

/// Calls, and legs, whose hold grows in one transaction.
const BATCH: i64 = 500;
/// Holds that are due within this time are batched, so that a node polls about once a second at most, however many
/// calls are live.
const GATHER: i64 = SECOND;
/// Most minutes that the end of a talk may add to the hold: a week.
const MOST_AT_END: i64 = 7 * 24 * 60;

/// The call is answered: from now on the hold grows.
pub(super) fn begin(tx: &mut Tx<'_>, row: &mut CallRow) {
    row.upkeep.grow_at = first_growth(row.line, row.price, row.progress.answered_at, row.upkeep.minutes);
    if row.upkeep.grow_at.is_some() {
        tx.wake(topics::HOLDS);
    }
}

/// When the hold of a leg has to grow for the first time, if it is charged.
pub(super) fn first_growth(
    line: bool,
    price: i64,
    answered_at: Option<Timestamp>,
    minutes: i64,
) -> Option<Timestamp> {
    answered_at.filter(|_| line && price > 0).map(|answered| grows_at(answered, minutes))
}

/// Releases the line of a call that is over. Its charge must be paid ([`pay`]) in the same transaction, after
/// everything else: the payment locks the workspace, for which other calls then wait.
pub(super) fn close(row: &mut CallRow, fact: Fact) -> Option<Bill> {
    let bill = Bill {
        tenant: row.workspace,
        campaign: row.campaign,
        reference: row.id.to_string(),
        price: row.price,
        minutes: row.upkeep.minutes,
        talk_ms: row.progress.talk_ms.unwrap_or(0),
        lost: fact == Fact::Lost,
    };
    let line = std::mem::take(&mut row.line);
    row.upkeep.grow_at = None;
    line.then_some(bill)
}

/// The charge of a leg at its end.
pub(super) struct Bill {
    pub tenant: Tenant,
    /// The campaign of its call.
    pub campaign: Option<Id<Campaign>>,
    /// The reference in the ledger.
    pub reference: String,
    pub price: i64,
    /// Minutes that are held.
    pub minutes: i64,
    pub talk_ms: i64,
    /// Its real end is unknown: it pays no more than was held.
    pub lost: bool,
}

impl Bill {
    /// Started minutes that are not held, because the store was away when they should have been; at most
    /// [`MOST_AT_END`].
    fn missing(&self) -> i64 {
        let started = started_minutes(self.talk_ms);
        if self.lost || self.price <= 0 { 0 } else { (started - self.minutes).clamp(0, MOST_AT_END) }
    }

    /// The charge when this many more minutes are held.
    fn charge(&self, more: i64) -> i64 {
        started_minutes(self.talk_ms).min(self.minutes + more).saturating_mul(self.price)
    }
}

/// Charges every started minute that is held or can be held now, and releases the line and the rest of the hold, so
/// that the transaction can use them for another leg.
pub(super) fn pay(tx: &mut Tx<'_>, env: &Env, bill: Bill) -> Result<(), Failure> {
    pay_batch(tx, env, vec![bill], None)
}

/// The same for many, as the last thing that a transaction does, since the payment locks the workspaces. Each
/// workspace's wallet is updated once, always in the same order.
pub(super) fn pay_all(tx: &mut Tx<'_>, env: &Env, bills: Vec<Bill>) -> Result<(), Failure> {
    let mut of_workspace: BTreeMap<Tenant, Vec<Bill>> = BTreeMap::new();
    for bill in bills {
        of_workspace.entry(bill.tenant).or_default().push(bill);
    }
    if tx.shared() && !tx.again() {
        let mut full = Vec::with_capacity(of_workspace.len());
        for (tenant, bills) in &of_workspace {
            full.extend(stays_full(&mut tx.of(*tenant), bills)?);
        }
        // All of them or none: wallets that are taken now and those that are taken with the commit are not in one order.
        if full.len() == of_workspace.len() {
            for (bills, full) in of_workspace.into_values().zip(full) {
                pay_batch(tx, env, bills, Some(&full))?;
            }
            return Ok(());
        }
    }
    for bills in of_workspace.into_values() {
        // The release of one may be needed by the hold of another: then each is paid by itself.
        if bills.iter().any(|bill| bill.missing() > 0) {
            for bill in bills {
                pay_batch(tx, env, vec![bill], None)?;
            }
        } else {
            pay_batch(tx, env, bills, None)?;
        }
    }
    Ok(())
}

/// The wallet of a workspace, if it covers these bills out of what they hold and is far from low afterwards.
fn stays_full(tx: &mut TenantTx, bills: &[Bill]) -> Result<Option<WalletState>, Failure> {
    if bills.iter().any(|bill| bill.missing() > 0) {
        return Ok(None);
    }
    let owed = bills.iter().fold(0i64, |sum, bill| sum.saturating_add(bill.charge(0)));
    Ok(wallets::state(tx)?.filter(|state| state.balance.saturating_sub(owed) >= wallet::floor(state)))
}

/// Bills of one workspace; `full` is its wallet if that stays full.
fn pay_batch(
    tx: &mut Tx<'_>,
    env: &Env,
    bills: Vec<Bill>,
    full: Option<&WalletState>,
) -> Result<(), Failure> {
    let Some(tenant) = bills.first().map(|bill| bill.tenant) else { return Ok(()) };
    let (mut released, lines) = (0i64, bills.len() as i64);
    let (mut charges, mut charged) = (Vec::new(), Vec::new());
    for bill in bills {
        let missing = usize::try_from(bill.missing()).unwrap_or(0);
        let more = if missing > 0 {
            wallets::grow(&mut tx.of(tenant), &vec![bill.price; missing])? as i64
        } else {
            0
        };
        released = released.saturating_add(bill.price.saturating_mul(bill.minutes + more));
        let charge = bill.charge(more);
        if charge > 0 {
            charged.extend(bill.campaign.map(|campaign| (campaign, charge)));
            charges.push((charge, bill.reference));
        }
    }
    wallet::settle(&mut tx.of(tenant), &env.context, (released, lines), charges, full)?;
    for (campaign, charge) in charged {
        env.hooks.charged(&mut tx.of(tenant), campaign, charge)?;
    }
    Ok(())
}

/// Extends a batch of holds whose next minute begins soon. Returns whether there may be more. A call with a leg that
/// cannot be covered any more is to say goodbye. Any node may do so for all: the rows are locked while they change.
pub async fn grow_due(app: &App) -> Result<bool, Failure> {
    let now = app.clock.now();
    let due = app.store.tx(move |tx| grow(tx, now)).await?;
    Ok(due as i64 >= BATCH)
}

fn grow(tx: &mut Tx<'_>, now: Timestamp) -> Result<usize, Failure> {
    let due = call_legs::to_grow(tx, now.plus(GATHER), BATCH)?;
    let count = due.len();
    // One conditional statement a workspace, and the rows of workspaces always in the same order.
    let mut of_workspace: BTreeMap<Tenant, Vec<(Growing, i64)>> = BTreeMap::new();
    for one in due {
        let needed = minutes_needed(one.answered_at, now.plus(GATHER)).max(one.minutes + 1);
        of_workspace.entry(one.workspace).or_default().push((one, needed));
    }
    for (tenant, mut group) in of_workspace {
        group.sort_by_key(|(one, _)| one.grow_at);
        let amounts: Vec<i64> =
            group.iter().map(|(one, needed)| one.price.saturating_mul(needed - one.minutes)).collect();
        let covered = wallets::grow(&mut tx.of(tenant), &amounts)?;
        for (one, needed) in &group[..covered] {
            call_legs::set_growth(tx, one, *needed, Some(grows_at(one.answered_at, *needed)))?;
        }
        for (one, _) in &group[covered..] {
            exhausted(tx, one, now)?;
        }
    }
    Ok(count)
}

fn exhausted(tx: &mut Tx<'_>, one: &Growing, now: Timestamp) -> Result<(), Failure> {
    call_legs::set_growth(tx, one, one.minutes, None)?;
    hangup_requests::want_end(&mut tx.of(one.workspace), one.call, HangupRequest::BalanceExhausted, now)?;
    tx.wake(topics::HANGUP_REQUESTS);
    tx.wake(topics::CALLS);
    Ok(())
}

/// When the next hold has to grow.
pub async fn next_growth(app: &App) -> Result<Option<Timestamp>, Failure> {
    Ok(app.store.read(call_legs::next_growth).await?)
}

/// The reference of the charge of a second leg: the first answered one of a call has no number.
pub(super) fn leg_reference(call: Id<Call>, answer: i64) -> String {
    if answer <= 1 { format!("{call}:transfer") } else { format!("{call}:transfer:{answer}") }
}

//! The prepaid wallet: the ledger, holds for calls in flight, and the warning when it runs low
//! (docs/contract/wallet.md).

use api::events::wallet::LowWallet;
use api::wallet::{Wallet, WalletTransaction as Transaction};
use domain::ids::WalletTransaction;
use domain::tenant::{Mode, Tenant};
use domain::wallet::{Level, level};
use serde_json::json;
use store::TenantTx;
use store::wallet::{self, EntryRow, Floor, Settlement, WalletState};

use super::events::{self, NewEvent};
use super::idempotency::{Answer, Once};
use super::operator_log::{self, Trace};
use super::{App, Context, Failure, access, actions, held_up};

fn view(row: EntryRow) -> Transaction {
    Transaction {
        id: row.id,
        kind: row.kind,
        amount_minor: row.amount,
        balance_after_minor: row.balance_after,
        reference: row.reference,
        created_at: row.created_at,
    }
}

/// Balance and price.
pub async fn get(app: &App, tenant: Tenant) -> Result<Wallet, Failure> {
    let state = app.of(tenant).read(wallet::state).await?.ok_or_else(|| Failure::not_found("workspace"))?;
    Ok(Wallet {
        balance_minor: state.balance,
        currency: state.currency,
        cost_per_minute_minor: state.cost_per_minute,
    })
}

/// The ledger, newest first, with its length.
pub async fn transactions(
    app: &App,
    tenant: Tenant,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Transaction>, i64), Failure> {
    let (rows, total) = app
        .of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok::<_, Failure>(wallet::entries(tx, limit, offset)?)
        })
        .await?;
    Ok((rows.into_iter().map(view).collect(), total))
}

/// Adds an entry to the ledger, and the event that it owes. `None` when the floor refuses it.
pub fn post(
    tx: &mut TenantTx,
    context: &Context,
    kind: &str,
    amount: i64,
    reference: &str,
    floor: Floor,
) -> Result<Option<EntryRow>, Failure> {
    let id = context.ids.make::<WalletTransaction>();
    let Some((entry, state)) = wallet::post(tx, id, kind, amount, reference, floor, context.now)? else {
        return Ok(None);
    };
    if amount > 0 {
        // Topped up: every level may be notified again.
        if state.low_level != 0 {
            wallet::set_low_level(tx, 0)?;
        }
    } else {
        warn_when_low(tx, context, &state)?;
    }
    Ok(Some(entry))
}

/// Charges what calls owe that leave their lines (amounts above 0 with their references), gives back the lines and what was
/// held for them, and writes the events that this owes. `full` is the wallet, seen without a lock, if it stays at [`floor`]
/// or above: then nothing is owed, and the wallet is changed with the commit.
pub(crate) fn settle(
    tx: &mut TenantTx,
    context: &Context,
    (held, lines): (i64, i64),
    charges: Vec<(i64, String)>,
    full: Option<&WalletState>,
) -> Result<(), Failure> {
    let named = |(amount, reference)| (context.ids.make::<WalletTransaction>(), amount, reference);
    let settlement = Settlement { held, lines, charges: charges.into_iter().map(named).collect() };
    if let Some(seen) = full {
        let seen = (seen, floor(seen));
        return Ok(wallet::settle_at_commit(tx, "call_charge", &settlement, seen, context.now)?);
    }
    let Some(mut state) = wallet::settle(tx, "call_charge", &settlement, context.now)? else {
        return Ok(());
    };
    // Each charge has an event as if it had come by itself.
    let mut balance = settlement.charges.iter().fold(state.balance, |sum, (_, amount, _)| sum + amount);
    for (_, amount, _) in &settlement.charges {
        balance -= amount;
        state.balance = balance;
        state.low_level = warn_when_low(tx, context, &state)?;
    }
    Ok(())
}

/// The smallest balance without a warning.
pub(crate) fn floor(state: &WalletState) -> i64 {
    let (_, threshold) = level(state.balance, state.cost_per_minute, state.low_balance);
    threshold.max(state.cost_per_minute).max(0)
}

/// Sends `wallet.low`, once per level until topped up. Returns the level that was notified last.
fn warn_when_low(tx: &mut TenantTx, context: &Context, state: &WalletState) -> Result<i64, Failure> {
    let (level, threshold) = level(state.balance, state.cost_per_minute, state.low_balance);
    let reached = match level {
        Level::Enough => 0,
        Level::Low => 1,
        Level::Exhausted => 2,
    };
    if reached <= state.low_level {
        return Ok(state.low_level);
    }
    wallet::set_low_level(tx, reached)?;
    let minutes = (state.cost_per_minute > 0).then(|| state.balance.max(0) / state.cost_per_minute);
    let event = events::Event::WalletLow(LowWallet {
        level: if reached == 1 { "low" } else { "exhausted" }.to_owned(),
        balance_minor: state.balance,
        threshold_minor: threshold,
        currency: state.currency.clone(),
        cost_per_minute_minor: state.cost_per_minute,
        estimated_minutes_left: minutes,
    });
    events::emit(tx, context, NewEvent { event, mode: Mode::Live, agent: None, contact: None })?;
    Ok(reached)
}

/// The operator's top-up or adjustment. An adjustment may not take what live calls hold.
pub async fn create_entry(
    app: &App,
    trace: Trace,
    once: Once,
    tenant: Tenant,
    entry: api::operator::NewWalletEntry,
) -> Result<Answer, Failure> {
    if entry.amount_minor == 0 {
        return Err(Failure::field("amountMinor", "must not be 0"));
    }
    if entry.kind == "topup" && entry.amount_minor < 0 {
        return Err(Failure::field(
            "amountMinor",
            "must be positive for a topup; use kind adjustment to deduct",
        ));
    }
    let context = app.context();
    let more = entry.amount_minor > 0;
    let answer = once.run(app, 201, move |tx| {
        access::workspace(&mut tx.of(tenant))?;
        let posted = post(
            &mut tx.of(tenant),
            &context,
            &entry.kind,
            entry.amount_minor,
            &entry.reference,
            Floor::Reserved,
        )?;
        let posted = posted.ok_or_else(|| {
            Failure::conflict("amountMinor exceeds the balance minus the holds of live calls")
        })?;
        operator_log::append(tx, &context, &trace, Some(tenant), &posted.id.to_string())?;
        let posted = view(posted);
        actions::changed(tx, &(), &posted);
        Ok(json!({"data": posted}))
    });
    let answer = answer.await?;
    if more {
        held_up::wake(app, tenant).await;
    }
    Ok(answer)
}

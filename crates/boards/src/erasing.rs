//! Erasure and retention of boards (docs/contract/boards.md#erasure-and-retention).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{App, Context, Failure};

use domain::time::DAY;
use store::{DbError, TenantTx, boards};

/// Retention of the results of automations.
const ACTIONS_KEPT: i64 = 30 * DAY;
/// Retention of the history of cards.
const MOVES_KEPT: i64 = 400 * DAY;
/// Rows of one transaction.
const BATCH: i64 = 500;

/// Redacts the cards of a person and cancels their pending actions. The cards stay, without name, number or text, so that
/// the counts of their boards stay correct.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    for contact in &person.contacts {
        boards::erase(tx, *contact, context.now)?;
    }
    Ok(())
}

/// Deletes results of automations after 30 days, moves after 400, and boards whose campaign or agent was deleted.
///
/// # Errors
/// The rest is deleted in the next round.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    let before = app.clock.now().plus(-ACTIONS_KEPT);
    while app.store.tx(move |tx| boards::drop_old_actions(tx, before, BATCH)).await? as i64 == BATCH {
        if app.clock.stopping() {
            return Ok(());
        }
    }
    let before = app.clock.now().plus(-MOVES_KEPT);
    while app.store.tx(move |tx| boards::moves::drop_old(tx, before, BATCH)).await? as i64 == BATCH {
        if app.clock.stopping() {
            return Ok(());
        }
    }
    while app.store.tx(move |tx| boards::forget_origins(tx, BATCH)).await? as i64 == BATCH {
        if app.clock.stopping() {
            return Ok(());
        }
    }
    for (tenant, board) in app.store.read(move |tx| boards::ownerless(tx, BATCH)).await? {
        while app.of(tenant).tx(move |tx| boards::dissolve(tx, board, BATCH)).await? {
            if app.clock.stopping() {
                return Ok(());
            }
        }
    }
    Ok(())
}

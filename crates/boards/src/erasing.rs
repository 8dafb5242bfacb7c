//! What an erasure and the clock take away (docs/contract/boards.md#erasure-and-retention).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{App, Context, Failure};
use domain::tenant::Tenant;
use domain::time::DAY;
use store::{DbError, Tx, boards};

/// How long it is kept what became of automations.
const ACTIONS_KEPT: i64 = 30 * DAY;
/// Rows of one transaction.
const BATCH: i64 = 500;

/// Empties the cards of a person and ends what they wait for. The cards stay, without a name, a number or a
/// word of what was said, so that the figures of their boards stay true.
pub fn erase(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    for contact in &person.contacts {
        boards::erase(tx, tenant, *contact, context.now)?;
    }
    Ok(())
}

/// Drops what is old or belongs to nothing any more: results of automations after 30 days, and boards whose
/// campaign or agent was deleted.
///
/// # Errors
/// Those of the store; what is left is dropped in the next round.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    let before = app.clock.now().plus(-ACTIONS_KEPT);
    while app.store.tx(move |tx| boards::drop_old_actions(tx, before, BATCH)).await? as i64 == BATCH {
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
        while app.store.tx(move |tx| boards::dissolve(tx, tenant, board, BATCH)).await? {
            if app.clock.stopping() {
                return Ok(());
            }
        }
    }
    Ok(())
}

//! Erasure and retention of records, and deleted streams (docs/contract/streams.md#retention).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{App, Context, Failure};
use domain::stream::KEPT;

use store::{TenantTx, streams};

use crate::room::day_of;

/// Records in one transaction.
const BATCH: i64 = 1_000;

/// Empties the records of a person. Their identities are kept, so the person is not imported again with them.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    for hash in person.hashes(&context.keyring) {
        streams::erase(tx, &hash)?;
    }
    Ok(())
}

/// Empties a batch of old records and deletes a batch of those of deleted streams. Returns whether more may be left.
pub async fn sweep(app: &App) -> Result<bool, Failure> {
    let before = app.clock.now().plus(-KEPT);
    let emptied = app.store.tx(move |tx| streams::empty_old(tx, before, BATCH)).await?;
    let removed = app.store.tx(|tx| streams::remove_deleted(tx, BATCH)).await?;
    let forgotten = app.store.tx(move |tx| streams::forget_bytes(tx, day_of(before), BATCH)).await?;
    Ok(removed || emptied as i64 >= BATCH || forgotten as i64 >= BATCH)
}

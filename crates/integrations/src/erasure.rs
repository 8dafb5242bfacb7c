//! Erasure of connected data (docs/contract/integrations.md#erasure).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{Context, Failure};

use store::{TenantTx, pushes};

/// Deletes the references to a person's records in connected systems, and pending write-backs about it. The data of the
/// systems themselves is not changed.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    pushes::forget_people(tx, &person.hashes(&context.keyring))?;
    Ok(pushes::drop_calls(tx, &person.calls)?)
}

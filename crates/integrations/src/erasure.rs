//! What is forgotten with a person (docs/contract/integrations.md#erasure).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{Context, Failure};

use store::{TenantTx, pushes};

/// Forgets which records a person is in connected systems, and what was still to be written back about it.
/// What the systems themselves hold is theirs.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    pushes::forget_people(tx, &person.hashes(&context.keyring))?;
    Ok(pushes::drop_calls(tx, &person.calls)?)
}

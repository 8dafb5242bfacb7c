//! What is forgotten with a person (docs/contract/integrations.md#erasure).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{Context, Failure};
use domain::tenant::Tenant;
use store::{Tx, pushes};

/// Forgets which records a person is in connected systems, and what was still to be written back about it.
/// What the systems themselves hold is theirs.
pub fn erase(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    pushes::forget_people(tx, tenant, &person.hashes(&context.keyring))?;
    Ok(pushes::drop_calls(tx, tenant, &person.calls)?)
}

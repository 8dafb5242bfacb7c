//! Erasure of connected data (docs/contract/integrations.md#erasure).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{Context, Failure};
use domain::tenant::Tenant;
use store::{Tx, pushes};

/// Deletes the references to a person's records in connected systems, and pending write-backs about it. The data of the
/// systems themselves is not changed.
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

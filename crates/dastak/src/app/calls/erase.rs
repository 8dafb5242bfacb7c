//! What calls hold about a person, erased (spec 2 «Contacts, do-not-call list, erasure»).

use api::contacts::Erased;
use domain::tenant::Tenant;
use store::{Tx, calls};

use crate::app::erasure::Person;
use crate::app::{Context, Failure, topics};

/// Empties numbers, values, notes and everything said in a person's calls. A simulated call that is live ends.
pub fn erase(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, person: &Person, erased: &mut Erased) -> Result<(), Failure> {
    let counts = calls::erase(tx, tenant, person.contact, context.now)?;
    erased.calls += counts.calls;
    erased.transcripts += counts.transcripts;
    tx.wake(topics::CALLS);
    Ok(())
}

//! Who else hears of a call's facts, in the same transaction: what placed it goes on from here.

use domain::call::Fact;
use store::Tx;
use store::calls::CallRow;

use super::Env;
use crate::app::{Failure, nudges, scheduled_calls, topics};

/// Called once for every fact that was applied, after the call is saved and its own events are written.
/// `call` is the call afterwards; after [`Fact::NotPlaced`] its row is gone.
pub(super) fn after_call_fact(tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
    if call.next_step_at.is_some() {
        tx.wake(topics::CALLS);
    }
    if let Some(id) = call.scheduled_call {
        scheduled_calls::after_call_fact(tx, env, call, id, fact)?;
    }
    nudges::after_call_fact(tx, env, call, fact)
}

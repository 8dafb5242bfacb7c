//! Pending steps of a call after its end, as rows for the job `after_calls`.

use domain::call::after::AfterCallStep;
use domain::ids::{Id, Recording};
use store::after_calls::{self, StepRow};
use store::calls::CallRow;
use store::erasure::is_emptied;
use store::{Tx, contacts};

use super::call_env::Env;
use super::{Context, Failure, topics};

/// A step that is due now and that any node can do.
fn step_of(context: &Context, call: &CallRow, step: AfterCallStep) -> StepRow {
    StepRow {
        call: call.id,
        step,
        workspace: call.workspace,
        node: None,
        recording: None,
        file: None,
        attempts: 0,
        next_at: context.now,
        created_at: context.now,
    }
}

pub(super) fn owe(
    tx: &mut Tx<'_>,
    context: &Context,
    call: &CallRow,
    step: AfterCallStep,
) -> Result<(), Failure> {
    after_calls::insert(tx, &step_of(context, call, step))?;
    tx.wake(topics::AFTER_CALLS);
    Ok(())
}

/// The step that uploads a file of this node as an object, or deletes the file when its recording does not exist any
/// more.
pub(super) fn owe_recording(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &CallRow,
    id: Id<Recording>,
    file: &str,
) -> Result<(), Failure> {
    let row = StepRow {
        node: Some(env.node.to_string()),
        recording: Some(id),
        file: Some(file.to_owned()),
        ..step_of(&env.context, call, AfterCallStep::Recording)
    };
    after_calls::insert(tx, &row)?;
    Ok(())
}

/// Whether the person of a call was erased, as its contact or by its number. Locks the contact, so that the answer
/// stays true until the transaction ends.
pub fn person_is_erased(tx: &mut Tx<'_>, call: &CallRow) -> Result<bool, Failure> {
    if [&call.to_number, &call.from_number].into_iter().any(|number| is_emptied(number)) {
        return Ok(true);
    }
    let Some(id) = call.contact else { return Ok(false) };
    let contact = contacts::get_for_update(&mut tx.of(call.workspace), id)?;
    Ok(contact.is_some_and(|contact| contact.erased_at.is_some()))
}

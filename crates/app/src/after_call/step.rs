//! What the steps share: how one ends, and striking it out.

use store::Tx;
use store::after_calls::{self, StepRow};
use store::calls::{self, CallRow};

use crate::Failure;

/// How a step went.
pub(super) enum StepEnd {
    /// It is over and struck out.
    Yes,
    /// It failed and may go better another time.
    Again,
    /// The same again fails again.
    Never,
}

/// Strikes the step out and returns its call, held against other writers; `None` when another node has done
/// it already, or the call is gone.
pub(super) fn close(tx: &mut Tx<'_>, row: &StepRow) -> Result<Option<CallRow>, Failure> {
    if !after_calls::finish(&mut tx.of(row.workspace), row)? {
        return Ok(None);
    }
    Ok(calls::get_for_update(&mut tx.of(row.workspace), row.call)?)
}

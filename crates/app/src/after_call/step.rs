//! Shared by the steps: outcomes, and ending a step.

use store::Tx;
use store::after_calls::{self, StepRow};
use store::calls::{self, CallRow};

use crate::Failure;

/// The outcome of a step.
pub(super) enum StepEnd {
    /// It is done.
    Yes,
    /// A temporary failure.
    Again,
    /// A permanent failure.
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

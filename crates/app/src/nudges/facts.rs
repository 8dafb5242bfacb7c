//! Effects of a call's facts on its nudge.

use domain::call::{Fact, Status as CallStatus};
use domain::due_dial::PlacementFailure;
use domain::nudge::{EndCause, Event, EventOutcome, step};
use store::Tx;
use store::calls::CallRow;
use store::nudges;

use super::{Changes, Why, settle_after};
use crate::calls::Env;
use crate::{Failure, topics};

/// The event of a fact, and its name in the timeline; `None` if it says nothing to a nudge.
fn event(call: &CallRow, fact: Fact) -> Option<(Event, &'static str)> {
    if matches!(fact, Fact::Busy | Fact::NoAnswer | Fact::Rejected | Fact::InvalidNumber | Fact::Sip(_))
        && call.progress.status == CallStatus::Completed
    {
        // The carrier's final answer about a call that had been answered: it is how the call ended.
        let cause = call.progress.end_cause.as_deref().and_then(EndCause::parse).unwrap_or(EndCause::Error);
        return Some((Event::Ended(cause), "ended"));
    }
    Some(match fact {
        Fact::Ringing => (Event::Placed, "placed"),
        Fact::NotPlaced => (Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing), "not_placed"),
        Fact::Uncertain => (Event::PlacementFailed(PlacementFailure::Uncertain), "possibly_placed"),
        Fact::Answered => (Event::Answered, "answered"),
        Fact::AgentConnected => (Event::AgentConnected, "agent_connected"),
        Fact::AgentFailed => (Event::AgentFailedToStart, "agent_failed"),
        Fact::Voicemail => (Event::Voicemail, "voicemail"),
        Fact::Busy => (Event::Busy, "busy"),
        Fact::NoAnswer => (Event::NoAnswer, "no_answer"),
        Fact::Rejected => (Event::Rejected, "rejected"),
        Fact::InvalidNumber => (Event::InvalidNumber, "invalid_number"),
        Fact::Sip(status) => (Event::Sip(status), "sip"),
        Fact::OptOutSaid => (Event::OptedOut, "opted_out"),
        Fact::Ended(cause) => (Event::Ended(cause), "ended"),
        Fact::PickedUpBy(_) => return None,
        Fact::Lost => (Event::Unsettled, "unsettled"),
    })
}

/// Called for every fact that was applied to a call, in its transaction. A call that is over frees a line, for which
/// another nudge may wait.
pub fn after_call_fact(tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
    if !call.progress.status.is_live() && !call.line {
        tx.wake(topics::DIALLER);
    }
    let Some(id) = call.nudge else { return Ok(()) };
    let Some(mut row) =
        nudges::get_for_update(&mut tx.of(call.workspace), id)?.filter(|row| row.call == Some(call.id))
    else {
        return Ok(());
    };
    let Some((event, name)) = event(call, fact) else { return Ok(()) };
    let decided = step(&row.state, event, env.context.now);
    if decided.outcome != EventOutcome::Applied {
        return Ok(());
    }
    if fact == Fact::NotPlaced {
        // It never was a dial, and its call is gone: what the nudge shows is the dial before.
        row.call = nudges::attempts(&mut tx.of(call.workspace), id)?.pop();
    }
    let (tenant, mode) = (row.workspace, row.mode);
    let mut changes = Changes::none();
    let row = settle_after(tx, &env.context, row, decided, (Why::of(name), Some(call)), &mut changes)?;
    if tx.shared() {
        // Another fact of the call may follow in this transaction.
        nudges::cache_row(tx, row);
    }
    changes.touch(&mut tx.of(tenant), mode)
}

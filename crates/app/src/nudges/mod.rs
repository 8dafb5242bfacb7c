//! Nudges (docs/contract/nudges.md). The state machine is [`domain::nudge`]; here facts are collected and decisions
//! stored.
//!
//! Every change of a nudge goes through `settle`: the row against its version, the queue with the next check for the
//! dialler, the line in the timeline and the events, in the transaction of the decision. Transactions lock in this
//! order: nudges, then what a call needs, then queues.

mod batches;
mod cancel;
mod create;
mod due;
mod facts;
mod read;

use api::events::nudges::{EndedAttempt, FinishedNudge};
use api::nudges::{Nudge as NudgeView, NudgeAttempt, NudgeRetry};
use domain::ids::{Call, Id};
use domain::nudge::{Action, Notice, Nudge, Status, StatusReason, Transition};
use domain::tenant::Mode;
use domain::time::{MINUTE, Timestamp};
use domain::wallet::talk_seconds;
use serde_json::json;
use store::calls::CallRow;
use store::nudges::{self, Change, Entry, Line, NudgeRow, StateBefore};
use store::{ROWS, TenantTx, Tx, calls};

use super::events::{self, Event, NewEvent};
use super::{Context, Failure, topics};

pub use cancel::{cancel, cancel_many, erase_person, revoke_key, work_revocations};
pub use create::{create, create_own, preflight};
pub use due::{BATCH, round};
pub use facts::after_call_fact;
pub use read::{get, list, timeline};

/// Longest interval until the dialler checks whether a nudge in flight still has a live call. Facts of the call come by
/// themselves; this is for lost ones.
const IN_FLIGHT_LOOK: i64 = 15 * MINUTE;

/// The placeholder of erased numbers.
const ERASED: &str = "[erased]";

/// A nudge as clients see it.
fn view(row: &NudgeRow) -> NudgeView {
    let state = &row.state;
    let pending = matches!(state.status, Status::Queued | Status::Scheduled);
    NudgeView {
        id: row.id,
        agent_id: row.agent,
        status: state.status,
        result: state.result,
        status_reason: state.status_reason.map(|reason| reason.told().as_str().into_owned()),
        block_reason: state.block_reason.map(|gate| gate.as_str()),
        to_number: row.to_number.clone().unwrap_or_else(|| ERASED.to_owned()),
        from_number: row.from_number.clone(),
        external_ref: row.external_ref.clone(),
        variables: row.variables.clone(),
        metadata: row.metadata.clone(),
        outside_window: state.outside_window,
        scheduled_at: state.scheduled_at,
        next_attempt_at: state.next_attempt_at.filter(|_| pending),
        expires_at: state.expires_at,
        retry: NudgeRetry {
            max_retries: i64::from(state.retry.max_retries()),
            on: state.retry.on().words(),
            delay_minutes: i64::from(state.retry.delay_minutes()),
        },
        attempts: state.attempts,
        call_id: row.call.filter(|_| state.shows_call),
        livemode: row.mode.livemode(),
        created_at: row.created_at,
        finished_at: state.finished_at,
    }
}

/// One dial of a nudge; `None` when its call's row is gone.
fn attempt(tx: &mut TenantTx, mode: Mode, call: Id<Call>) -> Result<Option<NudgeAttempt>, Failure> {
    tx.pipeline_reads(|tx| {
        let _ = calls::findings(tx, call);
    });
    let Some(row) = calls::get(tx, mode, call)? else { return Ok(None) };
    attempt_of(tx, &row).map(Some)
}

/// The dial that this call is.
fn attempt_of(tx: &mut Tx<'_>, row: &CallRow) -> Result<NudgeAttempt, Failure> {
    let found = calls::findings(&mut tx.of(row.workspace), row.id)?.unwrap_or_default();
    Ok(NudgeAttempt {
        call_id: row.id,
        started_at: row.started_at,
        answered_at: row.progress.answered_at,
        ended_at: row.progress.ended_at,
        end_cause: row.progress.end_cause.clone(),
        duration_seconds: row.progress.talk_ms.map(talk_seconds),
        outcome: row.outcome.clone(),
        summary: found.summary,
        extracted: Some(found.extracted.unwrap_or_else(|| json!({}))),
    })
}

/// The trigger of a decision, and its checks.
struct Why {
    event: &'static str,
    /// JSON list.
    checks: String,
}

impl Why {
    fn of(event: &'static str) -> Self {
        Self { event, checks: "[]".to_owned() }
    }
}

/// The transaction's changes to one queue, and buffered lines of timelines.
#[derive(Default)]
struct Changes {
    queue: Change,
    lines: Vec<Line>,
}

fn counts(state: &Nudge) -> (i64, i64) {
    let pending = matches!(state.status, Status::Queued | Status::Scheduled);
    let without_line =
        state.status == Status::Scheduled && state.status_reason == Some(StatusReason::ConcurrencyFull);
    (i64::from(pending), i64::from(without_line))
}

impl Changes {
    fn add(&mut self, before: &Nudge, row: &NudgeRow) {
        let (was, is) = (counts(before), counts(&row.state));
        self.queue.pending += is.0 - was.0;
        self.queue.without_line += is.1 - was.1;
        self.queue.look_at = match (self.queue.look_at, row.look_at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        nudges::append(tx, &std::mem::take(&mut self.lines))?;
        Ok(())
    }

    /// Tells the queue, and the dialler if it has to look. The last thing that a transaction does with
    /// nudges.
    fn touch(mut self, tx: &mut TenantTx, mode: Mode) -> Result<(), Failure> {
        self.write(tx)?;
        if self.queue == Change::default() {
            return Ok(());
        }
        nudges::touch(tx, mode, self.queue)?;
        if self.queue.look_at.is_some() {
            tx.wake(topics::DIALLER);
        }
        Ok(())
    }
}

/// When the dialler must check a nudge, whose check was `planned`. In flight it need not be exact: a planned check
/// stays.
fn look_at(state: &Nudge, planned: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    match state.status {
        Status::Finished => None,
        Status::Queued | Status::Scheduled | Status::Dialing | Status::InProgress if !state.is_pending() => {
            let stands =
                |at: &Timestamp| (now.plus(IN_FLIGHT_LOOK / 2)..=now.plus(IN_FLIGHT_LOOK)).contains(at);
            planned.filter(stands).or(Some(now.plus(IN_FLIGHT_LOOK)))
        }
        Status::Queued | Status::Scheduled | Status::Dialing | Status::InProgress => state.next_attempt_at,
    }
}

/// Drops what is personal; the keyed hash of the number remains.
fn wipe(row: &mut NudgeRow) {
    row.to_number = None;
    row.external_ref = None;
    row.variables = json!({});
    row.metadata = json!({});
}

/// Stores an applied step of a nudge that the caller has locked; `row` has the state before it.
fn settle(
    tx: &mut Tx<'_>,
    context: &Context,
    row: NudgeRow,
    step: Transition,
    why: Why,
    changes: &mut Changes,
) -> Result<NudgeRow, Failure> {
    settle_after(tx, context, row, step, (why, None), changes)
}

/// The same after a fact of this call, as it is now.
fn settle_after(
    tx: &mut Tx<'_>,
    context: &Context,
    mut row: NudgeRow,
    step: Transition,
    (why, call): (Why, Option<&CallRow>),
    changes: &mut Changes,
) -> Result<NudgeRow, Failure> {
    let stored = row.before();
    let before = std::mem::replace(&mut row.state, step.next);
    row.look_at = look_at(&row.state, row.look_at, context.now);
    if row.state.erased {
        wipe(&mut row);
    }
    save(tx, &stored, &mut row)?;
    changes.add(&before, &row);
    note(tx, context, &row, Some(&before), why, changes)?;
    for action in step.actions {
        match action {
            Action::Emit(notice) => emit(tx, context, &row, notice, call)?,
            // The dialler dials after its commit; the queue knows the next check; the fact of the call has updated the
            // list.
            Action::Place | Action::WakeAt(_) | Action::AddToDoNotCall => {}
        }
    }
    Ok(row)
}

fn save(tx: &mut Tx<'_>, before: &StateBefore, row: &mut NudgeRow) -> Result<(), Failure> {
    nudges::save(tx, before, row)?;
    row.version += 1;
    Ok(())
}

/// Writes the decision into the timeline. A hold that is renewed for the same reason is one line.
fn note(
    tx: &mut Tx<'_>,
    context: &Context,
    row: &NudgeRow,
    before: Option<&Nudge>,
    why: Why,
    changes: &mut Changes,
) -> Result<(), Failure> {
    let state = &row.state;
    let entry = Entry {
        at: context.now,
        event: why.event.to_owned(),
        checks: why.checks,
        decision: decision(before, state).to_owned(),
        status: state.status.as_str().to_owned(),
        reason: state
            .block_reason
            .map(|gate| gate.as_str().to_owned())
            .or_else(|| state.status_reason.map(|reason| reason.told().as_str().into_owned())),
        until: state.next_attempt_at,
        call: row
            .call
            .filter(|_| !state.is_pending() && state.status != Status::Finished || state.shows_call),
        times: 1,
        last_at: context.now,
    };
    let held = |state: &Nudge| {
        state.status == Status::Scheduled
            && state.status_reason.is_some_and(StatusReason::waits_for_resources)
    };
    match before {
        Some(before)
            if held(before)
                && held(state)
                && before.status_reason.map(StatusReason::told)
                    == state.status_reason.map(StatusReason::told) =>
        {
            changes.write(tx)?;
            nudges::last_again(&mut tx.of(row.workspace), row.id, &entry)?;
        }
        _ => {
            changes.lines.push(Line { tenant: row.workspace, nudge: row.id, seq: row.version, entry });
            if changes.lines.len() >= ROWS {
                changes.write(tx)?;
            }
        }
    }
    Ok(())
}

fn decision(before: Option<&Nudge>, state: &Nudge) -> &'static str {
    use domain::nudge::Flight;
    if before.is_some_and(|before| {
        (before.status, before.flight) == (state.status, state.flight) && !state.is_pending()
    }) {
        return "note";
    }
    match (state.status, state.flight) {
        (Status::Queued, Flight::None) => "queue",
        (Status::Queued, Flight::Placing) => "dial",
        (Status::Queued, Flight::Ringing) => "ring",
        (Status::Scheduled, _) => "hold",
        (Status::Dialing, _) => "connect",
        (Status::InProgress, _) => "talk",
        (Status::Finished, _) => "finish",
    }
}

/// Writes an event about the nudge as it is now. Those that end a dial carry it; `known` is the call, if it is at hand.
fn emit(
    tx: &mut Tx<'_>,
    context: &Context,
    row: &NudgeRow,
    notice: Notice,
    known: Option<&CallRow>,
) -> Result<(), Failure> {
    let carried = match (notice, row.call) {
        (Notice::AttemptEnded | Notice::Finished, Some(call)) => {
            match known.filter(|known| known.id == call && known.workspace == row.workspace) {
                Some(known) => Some(attempt_of(tx, known)?),
                None => attempt(&mut tx.of(row.workspace), row.mode, call)?,
            }
        }
        _ => None,
    };
    let attempt = carried.map(|attempt| match row.state.erased {
        true => NudgeAttempt { summary: None, extracted: None, ..attempt },
        false => attempt,
    });
    let nudge = view(row);
    let event = match notice {
        Notice::Scheduled => Event::NudgeScheduled(nudge),
        Notice::Dialing => Event::NudgeDialing(nudge),
        Notice::AttemptEnded => Event::NudgeAttemptEnded(EndedAttempt { nudge, attempt }),
        Notice::Finished => Event::NudgeFinished(FinishedNudge::new(nudge, attempt)),
    };
    let agent = row.agent.to_string();
    let contact = (!row.state.erased).then_some(row.person.as_str());
    let event = NewEvent { event, mode: row.mode, agent: Some(&agent), contact };
    tx.traced(row.trace, |tx| events::emit(&mut tx.of(row.workspace), context, event))?;
    Ok(())
}

//! The one place where a fact changes a call.

use api::events::Event;
use api::events::calls::{FailedCall, TransferredCall};
use domain::call::{Direction, EndCause, Fact, Notice, Report, Stage, Status, answered_by, script, step};
use domain::conversation::{EdgeVisits, placeholder_with};
use domain::phone::Phone;
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::calls::{self, CallRow, ConversationRecord};
use store::erasure::is_emptied;
use store::{Tx, agents, contacts, flow_visits};

use super::{agent, holds, legs};
use crate::call_env::{Env, emit, save_with_record};
use crate::do_not_call::{self, Source};
use crate::{Failure, after_call, topics};

/// Applies a fact that was observed at `at` to a call that the caller has locked (read in this transaction, for
/// update): stores the call, writes its events, calls the hooks ([`crate::Hooks::call_fact`]), and settles the wallet and
/// frees the line when it is over. A fact that changes nothing leaves everything as it was.
pub fn apply(
    tx: &mut Tx<'_>,
    env: &Env,
    call: CallRow,
    fact: Fact,
    at: Timestamp,
) -> Result<CallRow, Failure> {
    apply_with(tx, env, call, fact, at, None)
}

/// The same, with the report of a conversation on a real line.
pub fn apply_with(
    tx: &mut Tx<'_>,
    env: &Env,
    call: CallRow,
    fact: Fact,
    at: Timestamp,
    report: Option<Report>,
) -> Result<CallRow, Failure> {
    let (row, bill) = apply_owing(tx, env, call, fact, at, report)?;
    holds::pay_all(tx, env, bill.into_iter().collect())?;
    Ok(row)
}

/// The same, but the caller pays the charge ([`holds::pay_all`]) at the end of this transaction.
pub(super) fn apply_owing(
    tx: &mut Tx<'_>,
    env: &Env,
    call: CallRow,
    fact: Fact,
    at: Timestamp,
    report: Option<Report>,
) -> Result<(CallRow, Option<holds::Bill>), Failure> {
    let Some((progress, notice)) = step(&call.progress, fact, at) else { return Ok((call, None)) };
    let opted_out = progress.opted_out && !call.progress.opted_out;
    let over = progress.status.stage() == Stage::Ended && call.progress.status.stage() != Stage::Ended;
    let answered = progress.status == Status::InProgress && call.progress.status != Status::InProgress;
    let mut row = CallRow { progress, ..call };
    if row.direction == Direction::Outbound {
        row.answered_by = answered_by(row.answered_by, fact);
    }
    let (mut said, mut captured, mut bill, mut path) = (None, false, None, Vec::new());
    if answered {
        holds::begin(tx, &mut row);
    }
    if over {
        said = match report {
            Some(mut report) => {
                row.flow_version = report.flow_version;
                path = std::mem::take(&mut report.path);
                after_call::concluded(tx, env, &mut row, report)?
            }
            None => {
                let said = conclude(tx, env, &mut row, &mut path)?;
                captured = said.is_some();
                said.filter(|said| !said.transcript.is_null())
            }
        };
        legs::close_all(tx, env, &row, fact)?;
        bill = holds::close(&mut row, fact);
    }
    if row.hang_up_at.is_some() && !over {
        // Its end may have been requested before a carrier had it.
        tx.wake(topics::HANGUP_REQUESTS);
    }
    row.next_step_at = next_look(&row, env);
    if fact == Fact::NotPlaced && row.provider_call.is_none() {
        calls::remove(&mut tx.of(row.workspace), row.id)?;
    } else {
        save_with_record(tx, &mut row, said.as_ref())?;
        if over {
            calls::cache_findings(tx, &row, said.as_ref());
            flow_visits::count_call(tx, &row, &path, at)?;
        }
    }
    if opted_out {
        opt_out(tx, env, &row)?;
    }
    if captured {
        emit(tx, env, &row, Event::TranscriptReady)?;
        emit(tx, env, &row, Event::OutcomeCaptured)?;
    }
    if let Some(notice) = notice {
        emit(tx, env, &row, |call| match notice {
            Notice::Started => Event::CallStarted(call),
            Notice::Completed => Event::CallCompleted(call),
            Notice::Failed => Event::CallFailed(FailedCall { call, block_reason: None }),
        })?;
    }
    if row.next_step_at.is_some() {
        tx.wake(topics::CALLS);
    }
    env.hooks.call_fact(tx, env, &row, fact)?;
    Ok((row, bill))
}

/// When the call's next check is due: at the next step of a simulated network; on a real line when the lease of the
/// node that holds the call expires.
pub(super) fn next_look(row: &CallRow, env: &Env) -> Option<Timestamp> {
    match row.progress.status.stage() {
        Stage::Ringing | Stage::InProgress => {}
        Stage::Ended | Stage::Blocked => return None,
    }
    if row.progress.status == Status::Queued {
        return row.next_step_at;
    }
    let Some(network) = row.network else {
        return env
            .carriers
            .in_mode(row.mode)
            .and_then(|carrier| carrier.lease())
            .map(|lease| env.context.now.plus(lease));
    };
    if let Some(asked) = row.hang_up_at {
        return Some(asked);
    }
    // The number of a person who was erased meanwhile has no script: the call is given up at once.
    let steps = Phone::normalize(&row.to_number).map_or(&[][..], |to| script(network, to));
    let next = steps.get(usize::try_from(row.script_step).ok()?);
    let dialled_at = row.dialled_at.unwrap_or(row.started_at);
    Some(next.map_or(dialled_at, |next| dialled_at.plus(next.after_ms)))
}

/// The results of a conversation on a simulated network: the agent's published flow run with scripted answers. `None`
/// when nobody talked; it is empty when the person was erased meanwhile. The edges that it took are added to `path`.
fn conclude(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &mut CallRow,
    path: &mut Vec<EdgeVisits>,
) -> Result<Option<ConversationRecord>, Failure> {
    let talked = row.progress.status == Status::Completed
        && row.progress.end_cause.as_deref() == Some(EndCause::AgentEnded.as_str());
    if row.network.is_none() || !talked {
        return Ok(None);
    }
    let agent = match row.agent {
        Some(id) => agents::get(&mut tx.of(row.workspace), id)?,
        None => None,
    };
    let mut brought = Ok(None);
    let flow = agent::flow(&mut tx.of(row.workspace), agent.as_ref())?;
    let played = placeholder_with(&flow, &row.variables, &mut |numbers| {
        if brought.is_ok() {
            brought = legs::play(tx, env, row, agent.as_ref(), numbers);
        }
        matches!(brought, Ok(Some(_)))
    });
    *path = played.path;
    row.flow_version = agent.as_ref().map(|agent| agent.published_version);
    if let Some(to) = brought? {
        row.progress.end_cause = Some(EndCause::TransferHandoff.as_str().to_owned());
        emit(tx, env, row, |call| {
            let transferred_at = call.ended_at;
            Event::CallTransferred(TransferredCall { call, transferred_to: to, transferred_at })
        })?;
    }
    let mut transcript: Vec<Value> =
        played.transcript.iter().map(|turn| json!({"role": turn.role, "text": turn.text})).collect();
    if row.progress.opted_out {
        transcript.push(json!({"role": "customer", "text": "Please do not call me again."}));
    }
    row.outcome = Some(if row.progress.opted_out { "opted_out" } else { "simulated" }.to_owned());
    let erased = [&row.to_number, &row.from_number].into_iter().any(|number| is_emptied(number))
        || match row.contact {
            Some(id) => contacts::erased_at(&mut tx.of(row.workspace), id)?.is_some(),
            None => false,
        };
    if erased {
        return Ok(Some(ConversationRecord::default()));
    }
    let (transcript, extracted) = (Value::Array(transcript), Value::Object(played.extracted));
    Ok(Some(ConversationRecord { transcript, extracted, ..ConversationRecord::default() }))
}

/// The callee opted out: the number is put on the do-not-call list, and the contact counts as opted out even if its
/// record has another number.
fn opt_out(tx: &mut Tx<'_>, env: &Env, row: &CallRow) -> Result<(), Failure> {
    let (context, source) = (&env.context, Source::Call(row.id));
    if let Ok(phone) = Phone::normalize(&row.to_number) {
        do_not_call::opt_out(&mut tx.of(row.workspace), context, row.mode, phone, source, None)?;
    }
    let contact = match row.contact {
        Some(id) => contacts::get_for_update(&mut tx.of(row.workspace), id)?,
        None => None,
    };
    // A test call marks contacts of test mode only.
    match contact.filter(|contact| contact.mode == row.mode && contact.erased_at.is_none()) {
        Some(contact) => do_not_call::opt_out_contact(&mut tx.of(row.workspace), context, &contact, source),
        None => Ok(()),
    }
}

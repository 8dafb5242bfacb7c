//! Second legs: people who are brought into a call, or to whom the carrier refers it. Each is a dial: it passes the
//! gates, is in the decision log, takes a line and pays by its own started minutes (`docs/calls.md`).

use domain::call::{Fact, HangupRequest, refusal, script};
use domain::compliance::{CallKind, Gate, Purpose};
use domain::decision_log::{Chain, Channel, Decision, Entry};
use domain::ids::{Call, Id};
use domain::phone::Phone;
use domain::ports::DialError;
use domain::tenant::{Mode, Tenant};
use domain::time::{SECOND, Timestamp};
use store::agents::AgentRow;
use store::call_legs::{self, LegRow};
use store::calls::{self, CallRow};
use store::workspaces::WorkspaceRow;
use store::{TenantTx, Tx, agents, contacts, hangup_requests, transfer_numbers, wallet, workspaces};

use super::call_cache::LAST_LINES;
use super::gates::{Dial, judge_gates};
use super::{Env, agent, holds};
use crate::call_env::LEASE_MARGIN;
use crate::{App, Failure, access, decision_log, topics};

/// Most legs of one call, refused ones included: a flow may come back to its transfer again and again.
pub const MOST_LEGS: i64 = 20;

/// Longest time of a person who is brought in on a simulated network.
const TOGETHER: i64 = 5 * SECOND;

/// How a person is brought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegKind {
    /// This node rings them beside the call.
    Beside,
    /// The carrier connects the customer with them (REFER): no line and no money of ours.
    Referral,
}

/// A leg that may be dialled now, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    /// Its index among the legs of the call.
    pub number: i64,
    decided_at: Timestamp,
}

impl Leg {
    /// Whether the decision is still valid: the store may have been slow, the machine may have slept.
    pub fn may_dial(&self, now: Timestamp) -> bool {
        self.decided_at <= now && now < self.decided_at.plus(LEASE_MARGIN)
    }
}

/// Why no person may be brought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegRefused {
    /// A gate refused it; the decision log has the record.
    Blocked(Gate),
    /// The call is over or about to be, or its workspace is suspended.
    CallOver,
    /// No line is free.
    NoLine,
    /// The wallet does not cover a minute of it.
    NoMoney,
    /// The call has had as many legs as one may have.
    TooMany,
}

/// An event of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegFact {
    /// The person picked up.
    Answered,
    /// It is over, for this reason.
    Ended(&'static str),
    /// It never rang: the carrier refused it, or it was not dialled after all.
    NotDialled,
}

/// Decides whether a person may be brought into a call, and stores the decision before anything is dialled.
pub async fn begin_leg(
    app: &App,
    tenant: Tenant,
    call: Id<Call>,
    to: Phone,
    kind: LegKind,
) -> Result<Result<Leg, LegRefused>, Failure> {
    let env = app.call_env();
    app.of(tenant).tx(move |tx| decide(tx, &env, call, to, kind)).await
}

fn decide(
    tx: &mut TenantTx,
    env: &Env,
    call: Id<Call>,
    to: Phone,
    kind: LegKind,
) -> Result<Result<Leg, LegRefused>, Failure> {
    let tenant = tx.tenant();
    let found =
        calls::get_for_update(tx, call)?.filter(|row| row.progress.status.is_live() && row.wish().is_none());
    let Some(row) = found else { return Ok(Err(LegRefused::CallOver)) };
    let workspace = match row.mode {
        Mode::Live => workspaces::get_for_update(tx)?,
        Mode::Test => workspaces::get(tx)?,
    };
    let Some(workspace) = workspace.filter(|workspace| !workspace.suspended) else {
        return Ok(Err(LegRefused::CallOver));
    };
    if row.upkeep.legs >= MOST_LEGS {
        return Ok(Err(LegRefused::TooMany));
    }
    let agent = match row.agent {
        Some(id) => agents::get(tx, id)?,
        None => None,
    };
    let Some(agent) = agent else { return Ok(Err(LegRefused::CallOver)) };
    let number = to.to_string();
    let staff = agent
        .allowed_transfer_numbers
        .as_array()
        .into_iter()
        .flatten()
        .any(|allowed| allowed.as_str() == Some(number.as_str()));
    let released = transfer_numbers::contains(tx, &number)?;
    let pack = agent::pack(tx, &agent)?;
    let contact = contacts::find_by_phone(tx, row.mode, &number)?;
    let purpose = Purpose::Transfer { staff, released };
    let dial =
        Dial { tenant, mode: row.mode, purpose, to, contact: contact.as_ref(), kind: CallKind::ORDINARY };
    let said = judge_gates(tx, env, &pack, dial)?;
    let mut leg = LegRow {
        call,
        leg: row.upkeep.legs + 1,
        workspace: tenant,
        mode: row.mode,
        to_hash: env.context.keyring.hash_phone(&to),
        started_at: env.context.now,
        answered_at: None,
        ended_at: None,
        block_reason: None,
        end_cause: None,
        answer: None,
        price: row.price,
        minutes: 1,
        grow_at: None,
        line: kind == LegKind::Beside && row.mode == Mode::Live,
    };
    if let Some(gate) = said.block {
        leg.line = false;
        leg.ended_at = Some(env.context.now);
        leg.block_reason = Some(gate.as_str().to_owned());
    } else if leg.line
        && let Some(refused) = take_line(tx, env, &workspace, leg.price)?
    {
        return Ok(Err(refused));
    }
    call_legs::insert(tx, &leg)?;
    // The record of a leg names its call, and says in front of the verdicts which leg it is.
    let verdicts = said.gate_results();
    let entry = Entry {
        timestamp: env.context.now,
        interaction_id: call.to_string(),
        decision: if said.block.is_some() { Decision::Blocked } else { Decision::Allowed },
        blocked_by: said.block.map(|gate| gate.as_str().to_owned()),
        gate_results: format!(r#"{{"leg":{},{}"#, leg.leg, verdicts.strip_prefix('{').unwrap_or(&verdicts)),
        outcome: None,
        recording_ref: None,
        consent_ref: None,
        is_test: row.mode == Mode::Test,
        channel: Channel::Voice,
        agent_id: Some(agent.id.to_string()),
    };
    decision_log::record(tx, &env.context, Chain::Audit, entry)?;
    Ok(match said.block {
        Some(gate) => Err(LegRefused::Blocked(gate)),
        None => Ok(Leg { number: leg.leg, decided_at: leg.started_at }),
    })
}

/// Takes a line and holds a minute for a leg of this workspace, which the caller has locked; otherwise why not.
fn take_line(
    tx: &mut Tx<'_>,
    env: &Env,
    workspace: &WorkspaceRow,
    price: i64,
) -> Result<Option<LegRefused>, Failure> {
    let (mine, mut all) = calls::lines(&mut tx.of(workspace.id))?;
    if mine >= access::limit(workspace, "concurrentCalls") {
        return Ok(Some(LegRefused::NoLine));
    }
    if all.saturating_add(LAST_LINES) >= env.platform_lines {
        calls::lock_lines(tx)?;
        all = calls::lines(&mut tx.of(workspace.id))?.1;
    }
    if all >= env.platform_lines {
        return Ok(Some(LegRefused::NoLine));
    }
    Ok((!wallet::reserve(&mut tx.of(workspace.id), price, 1)?).then_some(LegRefused::NoMoney))
}

/// Stores an event of a leg, observed at `at`. An event that does not fit (late, repeated, the call is over) changes
/// nothing.
pub async fn report_leg(
    app: &App,
    tenant: Tenant,
    call: Id<Call>,
    leg: i64,
    fact: LegFact,
    at: Timestamp,
) -> Result<(), Failure> {
    let env = app.call_env();
    app.of(tenant)
        .tx(move |tx| {
            let Some(row) = calls::get_for_update(tx, call)? else { return Ok(()) };
            let legs = call_legs::of_call_for_update(tx, call)?;
            let answers = legs.iter().filter(|leg| leg.answered_at.is_some()).count() as i64;
            let Some(mut leg) = legs.into_iter().find(|known| known.leg == leg && known.ended_at.is_none())
            else {
                return Ok(());
            };
            match fact {
                LegFact::Answered if leg.answered_at.is_some() => Ok(()),
                LegFact::Answered => {
                    leg.answered_at = Some(at);
                    leg.answer = Some(answers + 1);
                    leg.grow_at = holds::first_growth(
                        leg.line && row.wish().is_none(),
                        leg.price,
                        leg.answered_at,
                        leg.minutes,
                    );
                    if leg.grow_at.is_some() {
                        tx.wake(topics::HOLDS);
                    }
                    Ok(call_legs::save(tx, &leg)?)
                }
                LegFact::Ended(cause) => close(tx, &env, &row, leg, cause, at, false),
                LegFact::NotDialled if leg.answered_at.is_some() => {
                    close(tx, &env, &row, leg, "error", at, false)
                }
                LegFact::NotDialled => undo(tx, &leg),
            }
        })
        .await
}

/// Ends all legs of a call that is over: their node reports no more, or too late.
pub(super) fn close_all(tx: &mut Tx<'_>, env: &Env, row: &CallRow, fact: Fact) -> Result<(), Failure> {
    if row.upkeep.legs == 0 {
        return Ok(());
    }
    let at = row.progress.ended_at.unwrap_or(env.context.now);
    for leg in call_legs::of_call_for_update(&mut tx.of(row.workspace), row.id)?
        .into_iter()
        .filter(|leg| leg.ended_at.is_none())
    {
        close(tx, env, row, leg, "call_over", at, fact == Fact::Lost)?;
    }
    Ok(())
}

/// Brings a person in on a simulated network, whose conversation is run when it is over: the first of these numbers
/// that may be rung and whose phone answers there. The person was with the customer for the last seconds of the call.
pub(super) fn play(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &CallRow,
    agent: Option<&AgentRow>,
    numbers: &[String],
) -> Result<Option<String>, Failure> {
    let (Some(network), Some(ended)) = (row.network, row.progress.ended_at) else { return Ok(None) };
    let allowed: Vec<&str> = agent
        .and_then(|agent| agent.allowed_transfer_numbers.as_array())
        .into_iter()
        .flatten()
        .filter_map(|number| number.as_str())
        .collect();
    for number in numbers.iter().filter(|number| allowed.is_empty() || allowed.contains(&number.as_str())) {
        let Ok(to) = Phone::normalize(number) else { continue };
        let Ok(leg) = decide(&mut tx.of(row.workspace), env, row.id, to, LegKind::Beside)? else { continue };
        let found = call_legs::of_call_for_update(&mut tx.of(row.workspace), row.id)?
            .into_iter()
            .find(|known| known.leg == leg.number);
        let Some(mut leg) = found else { continue };
        if refusal(network, to) == Some(DialError::ProviderErrorBeforeRing) {
            undo(tx, &leg)?;
        } else if refusal(network, to).is_none()
            && script(network, to).first().is_some_and(|first| first.fact == Fact::Answered)
        {
            leg.answered_at = Some(ended.plus(-TOGETHER).max(row.progress.answered_at.unwrap_or(ended)));
            leg.answer = Some(1);
            close(tx, env, row, leg, "hangup", ended, false)?;
            return Ok(Some(number.clone()));
        } else {
            close(tx, env, row, leg, "no_answer", ended, false)?;
        }
    }
    Ok(None)
}

/// Releases what a leg took that was never dialled; it does not count as a dial.
fn undo(tx: &mut Tx<'_>, leg: &LegRow) -> Result<(), Failure> {
    if leg.line {
        wallet::release(&mut tx.of(leg.workspace), leg.held(), 1)?;
        tx.wake(topics::DIALLER);
    }
    Ok(call_legs::remove(tx, leg)?)
}

/// Ends a leg of this call.
fn close(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &CallRow,
    mut leg: LegRow,
    cause: &str,
    at: Timestamp,
    lost: bool,
) -> Result<(), Failure> {
    // A fact that was observed out of order does not end a leg before its answer.
    let at = leg.answered_at.map_or(at, |answered| at.max(answered));
    leg.ended_at = Some(at);
    leg.end_cause = Some(cause.to_owned());
    leg.grow_at = None;
    if std::mem::take(&mut leg.line) {
        let talk_ms = leg.answered_at.map_or(0, |answered| at.0 - answered.0);
        let reference = holds::leg_reference(leg.call, leg.answer.unwrap_or(1));
        holds::pay(
            tx,
            env,
            holds::Bill {
                tenant: leg.workspace,
                campaign: call.campaign,
                reference,
                price: leg.price,
                minutes: leg.minutes,
                talk_ms,
                lost,
            },
        )?;
        // What the call costs has changed, maybe after its end.
        store::calls::touch_hour(tx, call)?;
        tx.wake(topics::DIALLER);
    }
    Ok(call_legs::save(tx, &leg)?)
}

/// Asks for the end of every live call of a workspace, in the transaction that suspends it.
pub(crate) fn end_all(tx: &mut TenantTx, now: Timestamp) -> Result<(), Failure> {
    if hangup_requests::want_all_ended(tx, HangupRequest::Suspended, now)? > 0 {
        tx.wake(topics::HANGUP_REQUESTS);
        tx.wake(topics::CALLS);
    }
    Ok(())
}

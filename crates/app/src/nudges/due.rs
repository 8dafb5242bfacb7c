//! Looking at due nudges: facts, decision, and the intent to dial (docs/contract/nudges.md#when-it-is-due).
//!
//! One round serves several queues (workspace and mode), each with its share, in the order in which they were
//! served last: a workspace with 10,000 due nudges does not delay one with one, and its nudges take turns.
//! All of a round is one transaction; the dials follow its commit.

use std::collections::VecDeque;
use std::sync::Arc;

use api::error_codes;
use domain::compliance::Purpose;
use domain::nudge::{
    Action, DueFacts, Event, EventOutcome, PlacementFailure, Refusal, StatusReason, Transition, step,
};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, Timestamp};
use serde_json::{Map, Value};
use store::Tx;
use store::calls::{self as call_store, CallRow};
use store::nudges::{self, NudgeRow, Queue};

use super::{Allowances, Breaker, Changes, Why, look_at, save, settle};
use crate::calls::{self, Env, Known, Order, OwnNumber, Prepared, Refused};
use crate::timelines::{self, Checks};
use crate::{App, Failure, access};

/// Queues that one round serves.
const QUEUES: i64 = 16;
/// Nudges that one round looks at.
pub const BATCH: i64 = 512;

/// How long a nudge rests that could not be looked at because of a defect, milliseconds.
const SET_ASIDE: i64 = 5 * MINUTE;

/// What a round came to.
#[derive(Debug, Default)]
pub struct Round {
    /// Calls to be dialled, first due first.
    pub dials: Vec<Arc<CallRow>>,
    /// Whether another round may find something.
    pub more: bool,
}

/// What one round works with.
struct DueRound {
    env: Env,
    allowances: Allowances,
    dials: Vec<Arc<CallRow>>,
    known: Known,
}

/// One queue in a round.
struct QueueShare {
    queue: Queue,
    /// Lines that are free for it.
    free: i64,
    /// Its nudges that are still to be looked at, held.
    rows: VecDeque<Box<NudgeRow>>,
    changes: Changes,
}

/// One round. `lines` asks for nudges that wait for a line, too. At most [`BATCH`] dials follow.
pub async fn round(app: &App, breaker: &Breaker, lines: bool) -> Result<Round, Failure> {
    let (env, allowances) = (app.call_env(), breaker.allowances(app));
    let batch = BATCH;
    // Alone: hundreds of dials are a transaction by themselves.
    app.store
        .tx_alone(move |tx| {
            let mut round = DueRound {
                env: env.clone(),
                allowances: allowances.clone(),
                dials: Vec::new(),
                known: Known::default(),
            };
            let mut queues = nudges::due_queues(tx, round.env.context.now, lines, QUEUES.min(batch))?;
            let full_page = queues.len() as i64 >= QUEUES.min(batch);
            let share = (batch / i64::try_from(queues.len()).unwrap_or(batch).max(1)).max(1);
            // Every node takes its locks in the same order.
            queues.sort_by_key(|queue| (queue.workspace, queue.mode));
            let mut shares = queues
                .into_iter()
                .map(|queue| round.take(tx, queue, share))
                .collect::<Result<Vec<_>, _>>()?;
            let looked: usize = shares.iter().map(|share| share.rows.len()).sum();
            // One of each queue, then the second of each, so that no queue waits behind a long one.
            while shares.iter().any(|share| !share.rows.is_empty()) {
                for share in &mut shares {
                    round.next(tx, share)?;
                }
            }
            round.known.finish(tx, &env.context)?;
            for mut share in shares {
                share.changes.write(tx)?;
                nudges::serve(tx, &share.queue, share.changes.queue)?;
            }
            Ok::<_, Failure>(Round { more: looked > 0 || full_page, dials: round.dials })
        })
        .await
}

impl DueRound {
    /// Takes the share of one queue: first those that wait for a line, as many as there are lines, then what
    /// is due.
    fn take(&mut self, tx: &mut Tx<'_>, queue: Queue, share: i64) -> Result<QueueShare, Failure> {
        let now = self.env.context.now;
        let free = if queue.mode == Mode::Live { self.free_lines(tx, queue.workspace)? } else { i64::MAX };
        let mut rows = if queue.without_line > 0 && free > 0 {
            nudges::without_line(tx, queue.workspace, queue.mode, share.min(free))?
        } else {
            Vec::new()
        };
        let waiting = rows.len();
        if queue.due {
            for row in nudges::to_look_at(tx, queue.workspace, queue.mode, now, share)? {
                if !rows[..waiting].iter().any(|known| known.id == row.id) {
                    rows.push(row);
                }
            }
        }
        if queue.mode == Mode::Live {
            let numbers: Vec<calls::Number> =
                rows.iter().filter(|row| row.state.is_pending()).filter_map(|row| number(row)).collect();
            self.known.listen(tx, queue.workspace, &numbers, now)?;
            self.known.meet(tx, queue.workspace, numbers, now)?;
        }
        Ok(QueueShare { queue, free, rows: rows.into(), changes: Changes::none() })
    }

    /// Looks at the next nudge of a queue, if there is one left.
    fn next(&mut self, tx: &mut Tx<'_>, share: &mut QueueShare) -> Result<(), Failure> {
        let Some(row) = share.rows.pop_front() else { return Ok(()) };
        if share.free <= 0
            && row.state.status_reason == Some(StatusReason::ConcurrencyFull)
            && row.state.is_pending()
        {
            return self.still_full(tx, *row, &mut share.changes);
        }
        self.look(tx, *row, &mut share.changes)
    }

    fn free_lines(&mut self, tx: &mut Tx<'_>, tenant: Tenant) -> Result<i64, Failure> {
        // Held, so that its own lines stand still.
        let workspace = self.known.workspace(tx, tenant, Mode::Live)?;
        let (mine, all) = self.known.lines_in_use(tx, tenant)?;
        Ok((access::limit(&workspace, "concurrentCalls") - mine).min(self.env.platform_lines - all))
    }

    /// It waits for a line, and there is still none: nothing else needs to be asked yet.
    fn still_full(&self, tx: &mut Tx<'_>, row: NudgeRow, changes: &mut Changes) -> Result<(), Failure> {
        let facts = DueFacts { line_free: false, ..DueFacts::CLEAR };
        let decided = step(&row.state, Event::Due(facts), self.env.context.now);
        let mut checks = Checks::new();
        checks.add(format_args!(r#"{{"check":"lines","ok":false}}"#));
        let why = Why { event: "due", checks: checks.text() };
        settle(tx, &self.env.context, row, decided, why, changes)?;
        Ok(())
    }

    fn look(&mut self, tx: &mut Tx<'_>, row: NudgeRow, changes: &mut Changes) -> Result<(), Failure> {
        if !row.state.is_pending() {
            return self.look_in_flight(tx, row, changes);
        }
        let prepared =
            match calls::prepare(tx, &self.env, &mut self.known, row.workspace, row.mode, order(&row)) {
                Ok(prepared) => prepared,
                // A defect in what this one nudge needs must not hold up all others.
                Err(failure) if failure.error == error_codes::INTERNAL => {
                    return self.set_aside(tx, row, &failure, changes);
                }
                Err(failure) => return Err(failure),
            };
        let key_ok = match row.api_key {
            Some(key) => self.known.key_is_valid(tx, row.workspace, key, self.env.context.now)?,
            None => true,
        };
        let owns_none =
            prepared.from == OwnNumber::NotOwned && self.known.numbers(tx, row.workspace)?.is_empty();
        let (facts, mut checks) = facts(&row, &prepared, key_ok, owns_none);
        let mut decided = step(&row.state, Event::Due(facts), self.env.context.now);
        if decided.outcome != EventOutcome::Applied {
            // Not due after all; the queue must not ask for it again at once.
            return self.postpone(tx, row, changes);
        }
        if decided.actions.contains(&Action::Place) {
            if self.may_dial(&prepared) {
                return self.place(
                    tx,
                    row,
                    decided,
                    &prepared,
                    Why { event: "due", checks: checks.text() },
                    changes,
                );
            }
            decided = paused(decided, self.env.context.now);
            checks.add(format_args!(r#"{{"check":"carrier","ok":false,"paused":true}}"#));
        }
        let why = Why { event: "due", checks: checks.text() };
        if let Some(gate) = decided.next.block_reason {
            // A refused dial is listed among the blocked calls, like every refused placement.
            calls::block(tx, &self.env, &mut self.known, &prepared, gate)?;
        }
        settle(tx, &self.env.context, row, decided, why, changes)?;
        Ok(())
    }

    fn postpone(&self, tx: &mut Tx<'_>, mut row: NudgeRow, changes: &mut Changes) -> Result<(), Failure> {
        let (stored, before) = (row.before(), row.state);
        row.look_at = look_at(&row.state, None, self.env.context.now);
        save(tx, &stored, &mut row)?;
        changes.add(&before, &row);
        Ok(())
    }

    fn set_aside(
        &self,
        tx: &mut Tx<'_>,
        mut row: NudgeRow,
        failure: &Failure,
        changes: &mut Changes,
    ) -> Result<(), Failure> {
        failure.log_about(row.id, "a due nudge could not be looked at");
        let (stored, before) = (row.before(), row.state);
        row.look_at = Some(self.env.context.now.plus(SET_ASIDE));
        save(tx, &stored, &mut row)?;
        changes.add(&before, &row);
        Ok(())
    }

    /// Whether the carrier is to be asked now. Networks that are tables refuse certain numbers, not because
    /// they are ill.
    fn may_dial(&mut self, prepared: &Prepared) -> bool {
        let real = self.env.carriers.in_mode(prepared.mode).is_some_and(|carrier| !carrier.simulated());
        if real && self.env.carriers_rest {
            return false;
        }
        !real || self.allowances.take(prepared.carrier.as_deref())
    }

    /// Writes the dial down: the call with its hold on the wallet and its line, and the mark on the nudge.
    fn place(
        &mut self,
        tx: &mut Tx<'_>,
        mut row: NudgeRow,
        decided: Transition,
        prepared: &Prepared,
        why: Why,
        changes: &mut Changes,
    ) -> Result<(), Failure> {
        let call = calls::place_intent(tx, &self.env, &mut self.known, prepared)?;
        row.call = Some(call.id);
        row.from_number.get_or_insert_with(|| call.from_number.clone());
        if let Some(contact) = call.contact {
            row.person = contact.to_string();
        }
        settle(tx, &self.env.context, row, decided, why, changes)?;
        self.dials.push(call);
        Ok(())
    }

    /// Nothing was heard of a call for long: it lives, or its end got lost.
    fn look_in_flight(&self, tx: &mut Tx<'_>, row: NudgeRow, changes: &mut Changes) -> Result<(), Failure> {
        let call = match row.call {
            Some(call) => call_store::get(tx, row.workspace, row.mode, call)?,
            None => None,
        };
        let (event, name) = match call {
            Some(call) if call.progress.status.is_live() => return self.postpone(tx, row, changes),
            Some(_) => (Event::Unsettled, "unsettled"),
            None => (Event::CallRecordMissing, "call_record_missing"),
        };
        let decided = step(&row.state, event, self.env.context.now);
        settle(tx, &self.env.context, row, decided, Why::of(name), changes)?;
        Ok(())
    }
}

/// The carrier is left alone: as if it had been asked and had refused before any ring.
fn paused(placing: Transition, now: Timestamp) -> Transition {
    step(&placing.next, Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing), now)
}

/// The number of a nudge with its hash.
fn number(row: &NudgeRow) -> Option<(Phone, String)> {
    Some((Phone::normalize(row.to_number.as_deref()?).ok()?, row.phone_hash.clone()))
}

fn order(row: &NudgeRow) -> Order {
    let object = |value: &Value| match value {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    Order {
        agent: row.agent.to_string(),
        to_number: row.to_number.clone().unwrap_or_default(),
        from_number: row.from_number.clone(),
        // The nudge's own reference is not the person's.
        external_ref: None,
        name: None,
        variables: object(&row.variables),
        metadata: object(&row.metadata),
        purpose: Purpose::Nudge,
        campaign: None,
        nudge: Some(row.id),
        scheduled_call: None,
        until: None,
        once: None,
        trace: row.trace,
    }
}

/// What the rules want to know, and the same for people to read.
fn facts(row: &NudgeRow, prepared: &Prepared, key_ok: bool, owns_none: bool) -> (DueFacts, Checks) {
    let refusal = refusal(row, prepared, owns_none);
    let release = prepared.judgement.as_ref().and_then(|judged| judged.release());
    let facts = DueFacts {
        key_revoked: !key_ok,
        refusal,
        from_number_ok: prepared.from != OwnNumber::NotOwned,
        providers_ok: prepared.carrier_ok,
        block: prepared.block(),
        opening: release,
        balance_ok: prepared.balance_ok,
        line_free: prepared.lines_full.is_none(),
        on_call: prepared.on_call,
    };
    let mut checks = Checks::new();
    checks.add(format_args!(r#"{{"check":"api_key","ok":{key_ok}}}"#));
    timelines::add_dial(&mut checks, prepared, refusal);
    (facts, checks)
}

/// The first check of agent and workspace that fails.
fn refusal(row: &NudgeRow, prepared: &Prepared, owns_none: bool) -> Option<Refusal> {
    if let Some(refused) = &prepared.check {
        return Some(match refused {
            Refused::AgentNotFound => Refusal::AgentNotFound,
            Refused::AgentNotPublished => Refusal::AgentNotPublished,
            Refused::AgentNotCall => Refusal::AgentNotCall,
            Refused::AgentNotOutbound => Refusal::AgentNotOutbound,
            Refused::MissingVariables(_) => Refusal::MissingRequiredVariables,
            Refused::FlowNotReady(_) => Refusal::FlowNotReady,
            Refused::WorkspaceSuspended => Refusal::WorkspaceSuspended,
            Refused::KybRequired => Refusal::KybRequired,
            Refused::NoNumber => Refusal::NoCallerId,
            Refused::InvalidVariables(_)
            | Refused::InvalidNumber
            | Refused::FromNumberNotOwned
            | Refused::InsufficientBalance
            | Refused::Blocked(_)
            | Refused::LinesFull { .. }
            | Refused::NoCarrier
            | Refused::CarrierRests => Refusal::PlacementRefused,
        });
    }
    if prepared.workspace.suspended {
        return Some(Refusal::WorkspaceSuspended);
    }
    let live = row.mode == Mode::Live;
    if live && !prepared.workspace.kyb_verified {
        return Some(Refusal::KybRequired);
    }
    if prepared.to.is_none() {
        return Some(Refusal::PlacementRefused);
    }
    // The number that was taken for a client that named none: when the workspace has no other either, it has
    // no caller id.
    let nothing = prepared.from == OwnNumber::Nothing || (!row.from_given && owns_none);
    (live && nothing).then_some(Refusal::NoCallerId)
}

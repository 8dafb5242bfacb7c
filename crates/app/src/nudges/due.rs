//! Checking due nudges: facts, decision, and the intent to dial (docs/contract/nudges.md#when-it-is-due).
//!
//! One round serves several queues (workspace and mode), each with its share, the longest waiting first: a workspace
//! with 10,000 due nudges does not delay one with one, and queues alternate. A round is one transaction; the dials
//! follow its commit.

use std::collections::VecDeque;

use domain::due_dial::{Act, DueFacts};
use domain::ids::{ApiKey, Id};
use domain::nudge::{Event, EventOutcome, Refusal, StatusReason, Transition, step};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::Value;
use store::Tx;
use store::calls::CallRow;
use store::nudges::{self, NudgeRow, Queue};

use super::{Changes, Why, look_at, save, settle};
use crate::calls::{self, Order, OwnNumber, Prepared, Source};
use crate::due_dials::{DialRound, DueDial, InFlight, Look, Round, SET_ASIDE};
use crate::timelines::Checks;
use crate::{App, Failure};

/// Queues in one round.
const QUEUES: i64 = 16;
/// Nudges in one round.
pub const BATCH: i64 = 512;

/// One queue in a round.
struct QueueShare {
    queue: Queue,
    /// Lines that are free for it.
    free: i64,
    /// Its locked nudges that are still to be checked.
    rows: VecDeque<Box<NudgeRow>>,
    changes: Changes,
}

/// One round. `lines` asks for nudges that wait for a line, too. At most [`BATCH`] dials follow.
pub async fn round(app: &App, lines: bool) -> Result<Round, Failure> {
    let (env, allowances) = (app.call_env(), app.breaker.allowances(app));
    // Alone: hundreds of dials are a transaction by themselves.
    app.store
        .tx_alone(move |tx| {
            let mut round = DialRound::new(env.clone(), allowances.clone());
            let mut queues = nudges::due_queues(tx, round.now(), lines, QUEUES.min(BATCH))?;
            let full_page = queues.len() as i64 >= QUEUES.min(BATCH);
            let share = (BATCH / i64::try_from(queues.len()).unwrap_or(BATCH).max(1)).max(1);
            // Every node takes its locks in the same order.
            queues.sort_by_key(|queue| (queue.workspace, queue.mode));
            let mut shares = queues
                .into_iter()
                .map(|queue| QueueShare::take(tx, &mut round, queue, share))
                .collect::<Result<Vec<_>, _>>()?;
            let looked: usize = shares.iter().map(|share| share.rows.len()).sum();
            // One of each queue, then the second of each, so that no queue waits behind a long one.
            while shares.iter().any(|share| !share.rows.is_empty()) {
                for share in &mut shares {
                    share.next(tx, &mut round)?;
                }
            }
            round.write(tx)?;
            for mut share in shares {
                share.changes.write(tx)?;
                nudges::serve(tx, &share.queue, share.changes.queue)?;
            }
            Ok::<_, Failure>(Round { more: looked > 0 || full_page, dials: round.finish() })
        })
        .await
}

impl QueueShare {
    /// Takes the share of one queue: first those that wait for a line, as many as there are lines, then what
    /// is due.
    fn take(tx: &mut Tx<'_>, round: &mut DialRound, queue: Queue, share: i64) -> Result<Self, Failure> {
        let live = queue.mode == Mode::Live;
        let free = if live { round.free_lines(&mut tx.of(queue.workspace))? } else { i64::MAX };
        let mut rows = if queue.without_line > 0 && free > 0 {
            nudges::without_line(&mut tx.of(queue.workspace), queue.mode, share.min(free))?
        } else {
            Vec::new()
        };
        let waiting = rows.len();
        if queue.due {
            for row in nudges::to_look_at(&mut tx.of(queue.workspace), queue.mode, round.now(), share)? {
                if !rows[..waiting].iter().any(|known| known.id == row.id) {
                    rows.push(row);
                }
            }
        }
        if live {
            let pending = rows.iter().filter(|row| row.state.is_pending());
            let numbers = pending.filter_map(|row| number(row)).collect();
            round.prefetch_people(&mut tx.of(queue.workspace), numbers)?;
        }
        Ok(Self { queue, free, rows: rows.into(), changes: Changes::none() })
    }

    /// Checks the next nudge, if there is one left.
    fn next(&mut self, tx: &mut Tx<'_>, round: &mut DialRound) -> Result<(), Failure> {
        let Some(row) = self.rows.pop_front() else { return Ok(()) };
        let dial = DueNudge { row: *row, changes: &mut self.changes };
        let state = &dial.row.state;
        let waits_for_line = state.status_reason == Some(StatusReason::ConcurrencyFull);
        if self.free <= 0 && waits_for_line && state.is_pending() {
            return dial.still_full(tx, round);
        }
        round.look(tx, dial)
    }
}

/// A due nudge, and the transaction's changes to its queue.
struct DueNudge<'a> {
    row: NudgeRow,
    changes: &'a mut Changes,
}

impl DueNudge<'_> {
    /// It waits for a line, and there is still none: nothing else needs to be checked yet.
    fn still_full(self, tx: &mut Tx<'_>, round: &DialRound) -> Result<(), Failure> {
        let facts = DueFacts { line_free: false, ..DueFacts::CLEAR };
        let mut checks = Checks::new();
        checks.add(format_args!(r#"{{"check":"lines","ok":false}}"#));
        self.step(tx, round, Event::Due(facts), Why { event: "due", checks: checks.text() })
    }

    fn step(self, tx: &mut Tx<'_>, round: &DialRound, event: Event, why: Why) -> Result<(), Failure> {
        let decided = step(&self.row.state, event, round.now());
        settle(tx, &round.env.context, self.row, decided, why, self.changes)?;
        Ok(())
    }

    /// Stores its next check, and nothing else of it.
    fn look_again(mut self, tx: &mut Tx<'_>, at: Option<Timestamp>) -> Result<(), Failure> {
        let (stored, before) = (self.row.before(), self.row.state);
        self.row.look_at = at;
        save(tx, &stored, &mut self.row)?;
        self.changes.add(&before, &self.row);
        Ok(())
    }
}

impl DueDial for DueNudge<'_> {
    type Decision = Transition;

    fn tenant(&self) -> Tenant {
        self.row.workspace
    }

    fn mode(&self) -> Mode {
        self.row.mode
    }

    fn api_key(&self) -> Option<Id<ApiKey>> {
        self.row.api_key
    }

    fn in_flight(&self) -> Option<InFlight> {
        (!self.row.state.is_pending()).then_some(InFlight(self.row.call))
    }

    /// The nudge's own reference is not the person's.
    fn order(&self) -> Order {
        let row = &self.row;
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let to_number = row.to_number.clone().unwrap_or_default();
        Order {
            from_number: row.from_number.clone(),
            variables: object(&row.variables),
            metadata: object(&row.metadata),
            trace: row.trace,
            ..Order::new(Source::Nudge(row.id), row.agent.to_string(), to_number)
        }
    }

    fn add_facts(
        &mut self,
        tx: &mut Tx<'_>,
        round: &mut DialRound,
        prepared: &Prepared,
        facts: &mut DueFacts,
    ) -> Result<(), Failure> {
        // The number was taken for a client that named none: when the workspace has no other either, it has no caller id.
        let taken = prepared.from == OwnNumber::NotOwned && !self.row.from_given;
        let owns_none = taken && round.known.numbers(&mut tx.of(self.row.workspace))?.is_empty();
        if owns_none && self.row.mode == Mode::Live {
            facts.refusal = facts.refusal.or(Some(Refusal::NoCallerId));
        }
        Ok(())
    }

    fn decide(&mut self, facts: &DueFacts, now: Timestamp) -> Result<Option<(Transition, Act)>, Failure> {
        let decided = step(&self.row.state, Event::Due(*facts), now);
        let act = decided.act();
        Ok((decided.outcome == EventOutcome::Applied).then_some((decided, act)))
    }

    fn settle(
        mut self,
        tx: &mut Tx<'_>,
        round: &mut DialRound,
        look: Look<'_, Transition>,
    ) -> Result<(), Failure> {
        let why = Why { event: "due", checks: look.checks() };
        if let Some(call) = look.placed() {
            self.row.call = Some(call.id);
            self.row.from_number.get_or_insert_with(|| call.from_number.clone());
            if let Some(contact) = call.contact {
                self.row.person = contact.to_string();
            }
        }
        settle(tx, &round.env.context, self.row, look.decision, why, self.changes)?;
        Ok(())
    }

    /// Not due after all; the queue must not return it again at once.
    fn leave(self, tx: &mut Tx<'_>, round: &mut DialRound) -> Result<(), Failure> {
        let at = look_at(&self.row.state, None, round.now());
        self.look_again(tx, at)
    }

    fn set_aside(self, tx: &mut Tx<'_>, round: &mut DialRound, failure: Failure) -> Result<(), Failure> {
        failure.log_about(self.row.id, "a due nudge could not be looked at");
        let at = Some(round.now().plus(SET_ASIDE));
        self.look_again(tx, at)
    }

    fn settle_in_flight(
        self,
        tx: &mut Tx<'_>,
        round: &mut DialRound,
        call: Option<CallRow>,
    ) -> Result<(), Failure> {
        let (event, name) = match call {
            Some(call) if call.progress.status.is_live() => return self.leave(tx, round),
            Some(_) => (Event::Unsettled, "unsettled"),
            None => (Event::CallRecordMissing, "call_record_missing"),
        };
        self.step(tx, round, event, Why::of(name))
    }
}

/// The number of a nudge with its hash.
fn number(row: &NudgeRow) -> Option<calls::Number> {
    Some((Phone::normalize(row.to_number.as_deref()?).ok()?, row.phone_hash.clone()))
}

//! The engine of due dials (docs/dialler.md). A nudge, a scheduled call and a row of a calling list are kinds of
//! [`DueDial`]; the engine does what is the same for each: it prepares the call, collects the facts, lets the kind
//! decide, asks the circuit breaker, and stores the call. The dial follows the commit ([`DialRound::finish`]).

mod breaker;

use std::sync::Arc;

use api::error_codes;
use domain::compliance::Gate;
use domain::due_dial::{Act, DueFacts};
use domain::ids::{ApiKey, Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, Timestamp};
use store::calls::{self as call_store, CallRow};
use store::{TenantTx, Tx};

use crate::calls::{self, CallCache, Env, Number, Order, OwnNumber, Prepared};
use crate::timelines::{self, Checks};
use crate::{Failure, access};

pub use breaker::{Allowance, Allowances, Breaker, carrier_said, look_at_refusals};

/// Delay until the next look at a dial that could not be prepared because of a defect, in milliseconds.
pub const SET_ASIDE: i64 = 5 * MINUTE;

/// A kind of due dial. It is a row that the transaction has locked, with the transaction's state beside it. Methods
/// that take `self` store the row.
pub trait DueDial: Sized {
    /// A decision of the kind's state machine.
    type Decision;

    /// Whether the circuit breaker of the carrier holds it back. A kind that is not held back is still not dialled
    /// while [`Prepared::carrier_rests`].
    const BREAKER: bool = true;

    fn tenant(&self) -> Tenant;

    /// Live or test.
    fn mode(&self) -> Mode;

    /// The key that requested it, checked again before the dial; `None` when no key did.
    fn api_key(&self) -> Option<Id<ApiKey>>;

    /// The call in progress for it; `None` while it waits. A row in flight is checked when no report of its call came
    /// for long.
    fn in_flight(&self) -> Option<InFlight>;

    /// The call to be placed.
    fn order(&self) -> Order;

    /// Adds the facts that this kind alone knows.
    fn add_facts(
        &mut self,
        _tx: &mut Tx<'_>,
        _round: &mut DialRound,
        _prepared: &Prepared,
        _facts: &mut DueFacts,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// The decision on the facts; `None` leaves the row for a later check ([`DueDial::leave`]). It is called again with
    /// `carrier_rests` when it would place the call and the breaker is open.
    ///
    /// # Errors
    /// [`Failure::internal`] for a row that cannot be due.
    fn decide(&mut self, facts: &DueFacts, now: Timestamp) -> Result<Option<(Self::Decision, Act)>, Failure>;

    /// Stores a decision, after the placed or blocked call was stored.
    fn settle(
        self,
        tx: &mut Tx<'_>,
        round: &mut DialRound,
        look: Look<'_, Self::Decision>,
    ) -> Result<(), Failure>;

    /// Stores the next check of a row without a decision.
    fn leave(self, _tx: &mut Tx<'_>, _round: &mut DialRound) -> Result<(), Failure> {
        Ok(())
    }

    /// Stores that a row is checked again after [`SET_ASIDE`]: a defect in its data must not block the others.
    ///
    /// # Errors
    /// Those of the store, or the failure itself if the row stays as it is.
    fn set_aside(self, tx: &mut Tx<'_>, round: &mut DialRound, failure: Failure) -> Result<(), Failure>;

    /// Settles a row in flight by the record of its call; `None` when the record is gone.
    fn settle_in_flight(
        self,
        _tx: &mut Tx<'_>,
        _round: &mut DialRound,
        _call: Option<CallRow>,
    ) -> Result<(), Failure> {
        Ok(())
    }
}

/// The call of a row in flight; `None` when the row does not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight(pub Option<Id<Call>>);

/// The result of a check of a due dial.
pub struct Look<'a, D> {
    pub decision: D,
    /// Its input.
    pub facts: DueFacts,
    pub prepared: &'a Prepared,
    /// The stored call: placed, or listed as blocked by this gate.
    pub call: Option<(Arc<CallRow>, Option<Gate>)>,
    breaker_open: bool,
}

impl<D> Look<'_, D> {
    /// The call that was placed.
    pub fn placed(&self) -> Option<&Arc<CallRow>> {
        self.call.as_ref().and_then(|(call, blocked_by)| blocked_by.is_none().then_some(call))
    }

    /// The checks for the timeline, a JSON list.
    pub(crate) fn checks(&self) -> String {
        let mut checks = Checks::new();
        checks.add(format_args!(r#"{{"check":"api_key","ok":{}}}"#, !self.facts.key_revoked));
        timelines::add_dial(&mut checks, self.prepared, self.facts.refusal);
        if self.breaker_open {
            checks.add(format_args!(r#"{{"check":"carrier","ok":false,"paused":true}}"#));
        }
        checks.text()
    }
}

/// The result of a round.
#[derive(Debug, Default)]
pub struct Round {
    /// Calls to be dialled, in order.
    pub dials: Vec<Arc<CallRow>>,
    /// Whether another round may find something.
    pub more: bool,
}

/// One transaction of the dialler, with a cache of its reads.
pub struct DialRound {
    /// The moment, carriers, keys.
    pub env: Env,
    /// What the transaction has read.
    pub known: CallCache,
    allowances: Allowances,
    dials: Vec<Arc<CallRow>>,
}

impl DialRound {
    /// A round that may ask each carrier as often as `allowances` says.
    pub fn new(env: Env, allowances: Allowances) -> Self {
        Self { env, known: CallCache::default(), allowances, dials: Vec::new() }
    }

    /// The moment of the round.
    pub fn now(&self) -> Timestamp {
        self.env.context.now
    }

    /// Flushes the placements, and clears the cache.
    pub fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        std::mem::take(&mut self.known).finish(tx, &self.env.context)
    }

    /// The calls to be dialled once the transaction is committed.
    pub fn finish(self) -> Vec<Arc<CallRow>> {
        self.dials
    }

    /// Reads in advance what the gates ask of these people, and whether they are in a live call.
    pub fn prefetch_people(&mut self, tx: &mut TenantTx, numbers: Vec<Number>) -> Result<(), Failure> {
        self.known.listen(tx, &numbers, self.env.context.now)?;
        self.known.meet(tx, numbers, self.env.context.now)
    }

    /// Lines that are free for live calls of a workspace. The workspace is locked, so its own lines stand still.
    pub fn free_lines(&mut self, tx: &mut TenantTx) -> Result<i64, Failure> {
        let workspace = self.known.workspace(tx, Mode::Live)?;
        let (mine, all) = self.known.lines_in_use(tx)?;
        Ok((access::limit(&workspace, "concurrentCalls") - mine).min(self.env.platform_lines - all))
    }

    /// Checks one due dial: it is placed, blocked, held or ended, as its kind decides.
    ///
    /// # Errors
    /// Those of the store; then nothing of the round may be committed.
    pub fn look<D: DueDial>(&mut self, tx: &mut Tx<'_>, mut dial: D) -> Result<(), Failure> {
        let tenant = dial.tenant();
        if let Some(InFlight(call)) = dial.in_flight() {
            let call = match call {
                Some(call) => call_store::find(&mut tx.of(tenant), call)?,
                None => None,
            };
            return dial.settle_in_flight(tx, self, call);
        }
        let order = dial.order();
        let prepared =
            match calls::prepare(&mut tx.of(tenant), &self.env, &mut self.known, dial.mode(), order) {
                Ok(prepared) => prepared,
                Err(failure) if failure.error == error_codes::INTERNAL => {
                    return dial.set_aside(tx, self, failure);
                }
                Err(failure) => return Err(failure),
            };
        let mut facts = self.facts(tx, dial.api_key(), &prepared)?;
        // The breaker is asked last, and says so of a carrier that rests, too.
        facts.carrier_rests &= !D::BREAKER;
        dial.add_facts(tx, self, &prepared, &mut facts)?;
        let now = self.now();
        let mut decided = dial.decide(&facts, now)?;
        let mut breaker_open = false;
        if D::BREAKER && matches!(decided, Some((_, Act::Place))) && !self.may_dial(&prepared) {
            breaker_open = true;
            facts.carrier_rests = true;
            decided = dial.decide(&facts, now)?;
        }
        let Some((decision, act)) = decided else { return dial.leave(tx, self) };
        let call = match act {
            Act::Store => None,
            Act::Place => {
                let call = calls::place_intent(tx, &self.env, &mut self.known, &prepared)?;
                self.dials.push(call.clone());
                Some((call, None))
            }
            // A refused dial is listed among the blocked calls, like every refused placement.
            Act::Block(gate) => {
                Some((calls::block(tx, &self.env, &mut self.known, &prepared, gate)?, Some(gate)))
            }
        };
        dial.settle(tx, self, Look { decision, facts, prepared: &prepared, call, breaker_open })
    }

    /// The facts that every kind has.
    fn facts(
        &mut self,
        tx: &mut Tx<'_>,
        key: Option<Id<ApiKey>>,
        prepared: &Prepared,
    ) -> Result<DueFacts, Failure> {
        let now = self.env.context.now;
        let key_ok = match key {
            Some(key) => self.known.key_is_valid(&mut tx.of(prepared.workspace.id), key, now)?,
            None => true,
        };
        let closed = prepared.judgement.as_ref().filter(|judged| judged.is_closed());
        let hours = prepared.pack.as_ref().filter(|_| closed.is_some()).map(|pack| &pack.hours);
        Ok(DueFacts {
            key_revoked: !key_ok,
            refusal: prepared.refused().and_then(|refused| refused.refusal()),
            from_number_ok: prepared.from != OwnNumber::NotOwned,
            providers_ok: prepared.carrier_ok,
            block: prepared.block(),
            opening: hours.and_then(|hours| hours.next_opening(now)),
            release: closed.and_then(|judged| judged.release()),
            balance_ok: prepared.balance_ok,
            line_free: prepared.lines_full.is_none(),
            on_call: prepared.on_call,
            carrier_rests: prepared.carrier_rests,
            ..DueFacts::CLEAR
        })
    }

    /// Whether the carrier of the call may be asked now; the one dial that tests it after a pause is used up by the answer.
    /// Simulated networks have no breaker: they refuse certain numbers, not calls in general.
    fn may_dial(&mut self, prepared: &Prepared) -> bool {
        let real = self.env.carriers.in_mode(prepared.mode).is_some_and(|carrier| !carrier.simulated());
        if !real {
            return true;
        }
        !self.env.carriers_rest && self.allowances.take(prepared.carrier.as_deref())
    }
}

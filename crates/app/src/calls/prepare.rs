//! All checks of a placement, in one transaction (docs/contract/calls.md#refusals).

use std::sync::Arc;

use api::calls::NewCall;
use domain::call::{self, Warning};
use domain::compliance::{CallKind, Gate, Pack, Purpose, Ruling, Series, demand, read_own_number};
use domain::ids::{Campaign, Id, Nudge, ScheduledCall};
use domain::phone::Phone;
use domain::tenant::Mode;
use domain::time::Timestamp;
use domain::trace::TraceContext;
use serde_json::{Map, Value};
use store::TenantTx;
use store::agents::AgentRow;
use store::contacts::ContactRow;
use store::workspaces::WorkspaceRow;

use super::contact::{self, Who};
use super::gates::{self, Dial, Judged};
use super::{CallCache, Env, Refused};
use crate::Failure;
use crate::contact_view::saved_values;

/// What a test call shows when the workspace owns no number.
const NO_NUMBER: &str = "+910000000000";

/// The source of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A request of a client, at once.
    Request,
    /// A row of this campaign's calling list.
    Campaign(Id<Campaign>),
    /// An attempt of this nudge.
    Nudge(Id<Nudge>),
    ScheduledCall(Id<ScheduledCall>),
}

impl Source {
    /// The purpose that the gates judge.
    pub fn purpose(self) -> Purpose {
        match self {
            Source::Nudge(_) => Purpose::Nudge,
            Source::Request | Source::Campaign(_) | Source::ScheduledCall(_) => Purpose::Call,
        }
    }

    /// Whether it was due by itself; a client's immediate request waits for nothing.
    pub fn was_due(self) -> bool {
        self != Source::Request
    }

    /// Whether its variables stay with the call. Those of other calls become saved values of the contact.
    pub fn keeps_variables(self) -> bool {
        matches!(self, Source::Nudge(_) | Source::ScheduledCall(_))
    }

    /// The campaign that dials it.
    pub fn campaign(self) -> Option<Id<Campaign>> {
        if let Source::Campaign(id) = self { Some(id) } else { None }
    }

    /// The nudge that it is an attempt of.
    pub fn nudge(self) -> Option<Id<Nudge>> {
        if let Source::Nudge(id) = self { Some(id) } else { None }
    }

    /// The scheduled call that it is.
    pub fn scheduled_call(self) -> Option<Id<ScheduledCall>> {
        if let Source::ScheduledCall(id) = self { Some(id) } else { None }
    }
}

/// An order for a call.
#[derive(Debug, Clone)]
pub struct Order {
    /// The agent's id as given.
    pub agent: String,
    /// Whom to call, as given.
    pub to_number: String,
    /// Own number to show as the caller, as given.
    pub from_number: Option<String>,
    /// The client's id of the person; a nudge's own reference is not one.
    pub external_ref: Option<String>,
    /// Name of the person, if a contact has to be created.
    pub name: Option<String>,
    pub variables: Map<String, Value>,
    /// The client's metadata, within their limits ([`check_metadata`]).
    pub metadata: Map<String, Value>,
    /// What it is placed for.
    pub source: Source,
    /// Nothing is dialled at or after this time, in addition to the pack's limits.
    pub until: Option<Timestamp>,
    /// Idempotency key and holder of a request that waits for the answer.
    pub once: Option<(String, String)>,
    /// The trace of the origin, if that is not the transaction in which it is placed.
    pub trace: Option<TraceContext>,
}

impl Order {
    /// The body of `POST /v1/calls` or `POST /v1/scheduled-calls`.
    pub fn of(body: NewCall) -> Self {
        Self {
            from_number: body.from_number,
            external_ref: body.external_ref,
            variables: body.variables,
            metadata: body.metadata,
            ..Self::new(Source::Request, body.agent_id, body.to_number)
        }
    }

    /// An order for an agent to call a number; the caller fills in the rest.
    pub fn new(source: Source, agent: String, to_number: String) -> Self {
        Self {
            agent,
            to_number,
            source,
            from_number: None,
            external_ref: None,
            name: None,
            variables: Map::new(),
            metadata: Map::new(),
            until: None,
            once: None,
            trace: None,
        }
    }
}

/// Checks metadata against its limits; shared by everything with metadata.
pub fn check_metadata(metadata: &Map<String, Value>) -> Result<(), Failure> {
    call::check_metadata(metadata).map_err(|(field, must)| Failure::field(&field, must))
}

/// The own number of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnNumber {
    /// It may be shown.
    Owned(String),
    /// It is not an active number of the workspace.
    NotOwned,
    /// None was requested, and the workspace has none.
    Nothing,
}

impl OwnNumber {
    /// The number, if it may be shown.
    pub fn owned(&self) -> Option<&str> {
        if let OwnNumber::Owned(number) = self { Some(number) } else { None }
    }

    /// The same, when the rest is not needed any more.
    pub fn into_owned(self) -> Option<String> {
        if let OwnNumber::Owned(number) = self { Some(number) } else { None }
    }
}

/// The state of a call before it is placed.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The order, with its variables as they will be used.
    pub order: Order,
    /// Live or test.
    pub mode: Mode,
    /// The workspace, locked when the call is live.
    pub workspace: Arc<WorkspaceRow>,
    /// Minor units of its balance that no call holds.
    pub available: i64,
    /// The agent, if it exists.
    pub agent: Option<Arc<AgentRow>>,
    /// The first thing wrong with agent or variables.
    pub check: Option<Refused>,
    /// Whom to call, if that is a number.
    pub to: Option<Phone>,
    pub from: OwnNumber,
    /// The carrier that it goes out on; `None` for the first one of the settings.
    pub carrier: Option<String>,
    pub(super) who: Who,
    /// The values of the conversation: the person's saved ones under the call's own.
    pub values: Map<String, Value>,
    /// Warnings about what was over a limit.
    pub warnings: Vec<Warning>,
    /// The compliance pack that the gates apply.
    pub pack: Option<Arc<Pack>>,
    /// What the pack's rules on number series look at.
    pub(super) kind: Option<CallKind>,
    /// What the gates said.
    pub judgement: Option<Arc<Judged>>,
    /// Whether the wallet covers a started minute besides the calls in flight.
    pub balance_ok: bool,
    /// Why there is no line, if there is none.
    pub lines_full: Option<Refused>,
    /// Calls of the workspace on the line.
    pub lines_in_use: i64,
    /// Whether the number is in a live call of the workspace. Checked for dials that wait until that is over: rows of
    /// campaigns, nudges and scheduled calls. A client's immediate request is placed.
    pub on_call: bool,
    /// Whether there is a carrier.
    pub carrier_ok: bool,
    /// Whether the carrier is a real one that must not be used now.
    pub carrier_rests: bool,
}

impl Prepared {
    /// The contact, if there is one already.
    pub fn contact(&self) -> Option<&ContactRow> {
        self.who.contact()
    }

    /// The first reason not to place it, in the order of the table.
    pub fn refused(&self) -> Option<Refused> {
        let live = self.mode == Mode::Live;
        if let Some(check) = &self.check {
            return Some(check.clone());
        }
        if self.workspace.suspended {
            return Some(Refused::WorkspaceSuspended);
        }
        if live && !self.workspace.kyb_verified {
            return Some(Refused::KybRequired);
        }
        if self.to.is_none() {
            return Some(Refused::InvalidNumber);
        }
        match self.from {
            OwnNumber::NotOwned => return Some(Refused::FromNumberNotOwned),
            OwnNumber::Nothing if live => return Some(Refused::NoNumber),
            OwnNumber::Nothing | OwnNumber::Owned(_) => {}
        }
        if !self.balance_ok {
            return Some(Refused::InsufficientBalance);
        }
        if let Some(gate) = self.block() {
            return Some(self.blocked_by(gate));
        }
        self.lines_full
            .clone()
            .or((!self.carrier_ok).then_some(Refused::NoCarrier))
            .or(self.carrier_rests.then_some(Refused::CarrierRests))
    }

    /// The first gate that refuses it.
    pub fn block(&self) -> Option<Gate> {
        self.judgement.as_ref().and_then(|judged| judged.said.block)
    }

    /// The refusal of a gate.
    pub(super) fn blocked_by(&self, gate: Gate) -> Refused {
        let series = self.judgement.as_ref().and_then(|judged| judged.said.series);
        Refused::Blocked(gate, series.filter(|_| gate == Gate::NumberSeries))
    }

    /// The number that is shown.
    pub(super) fn shown_number(&self) -> String {
        match &self.from {
            OwnNumber::Owned(number) => number.clone(),
            OwnNumber::NotOwned | OwnNumber::Nothing => NO_NUMBER.to_owned(),
        }
    }

    /// Minor units of a started minute; nothing is billed in test mode.
    pub(super) fn price(&self) -> i64 {
        match self.mode {
            Mode::Live => self.workspace.cost_per_minute,
            Mode::Test => 0,
        }
    }
}

/// Checks everything that can block a call. It stores nothing. Data in the transaction's cache (`known`) is not read
/// again.
///
/// # Errors
/// Only failures, never refusals: the store fails, or the workspace is gone.
pub fn prepare(
    tx: &mut TenantTx,
    env: &Env,
    known: &mut CallCache,
    mode: Mode,
    mut order: Order,
) -> Result<Prepared, Failure> {
    let tenant = tx.tenant();
    let (workspace, available) = known.wallet(tx, mode)?;
    let (agent, pack) = match order.agent.parse() {
        Ok(id) => known.agent(tx, id)?.unzip(),
        Err(_) => (None, None),
    };
    let to = Phone::normalize(&order.to_number).ok();
    let mut person = to
        .filter(|_| mode == Mode::Live && order.external_ref.is_none())
        .and_then(|to| known.take_person(tenant, to));
    if person.is_none() {
        known.before_person(tx)?;
    }
    let who = match (&mut person, to) {
        (Some(person), Some(to)) => Who::of(person.contact.take(), to),
        _ => contact::find(tx, mode, order.external_ref.as_deref(), to)?,
    };
    let (check, values, warnings) = check(tx, known, agent.as_deref(), &who, &mut order)?;
    let mut from = own_number_of(known.numbers(tx)?, order.from_number.as_deref());
    if let (None, Some(agent), Some(pack)) = (&order.from_number, &agent, &pack) {
        let plain = gates::kind_of(&workspace, agent, None)?;
        let insisted = insisted(known.numbers(tx)?, pack, &plain, env.context.now);
        from = insisted.map_or(from, OwnNumber::Owned);
    }
    let carrier = match &from {
        OwnNumber::Owned(number) => known.carrier_of(tenant, number),
        OwnNumber::NotOwned | OwnNumber::Nothing => None,
    };
    let kind = agent.as_ref().map(|agent| gates::kind_of(&workspace, agent, from.owned())).transpose()?;
    let judgement = match (kind.zip(pack.as_ref()), to) {
        (Some((kind, pack)), Some(to)) => {
            let purpose = order.source.purpose();
            let dial = Dial { tenant, mode, purpose, to, contact: who.contact(), kind };
            Some(known.judged(pack, gates::facts(tx, env, dial, person.as_ref())?, env.context.now))
        }
        _ => None,
    };
    let on_call = match to.filter(|_| order.source.was_due() && mode == Mode::Live) {
        Some(to) => known.is_on_call(tx, env, to)?,
        None => false,
    };
    let (lines_in_use, lines_full) = known.lines(tx, env, &workspace, mode)?;
    Ok(Prepared {
        balance_ok: mode == Mode::Test || available >= workspace.cost_per_minute,
        carrier_ok: env.carriers.in_mode(mode).is_some(),
        carrier_rests: env.carriers_rest
            && env.carriers.in_mode(mode).is_some_and(|carrier| !carrier.simulated()),
        order,
        mode,
        workspace,
        available,
        agent,
        check,
        to,
        from,
        carrier,
        who,
        values,
        warnings,
        pack,
        kind,
        judgement,
        lines_full,
        lines_in_use,
        on_call,
    })
}

/// Checks agent and variables. The order's variables become those that are used.
fn check(
    tx: &mut TenantTx,
    known: &mut CallCache,
    agent: Option<&AgentRow>,
    who: &Who,
    order: &mut Order,
) -> Result<(Option<Refused>, Map<String, Value>, Vec<Warning>), Failure> {
    let (given, warnings, invalid) = match call::accept(std::mem::take(&mut order.variables)) {
        Ok((given, warnings)) => (given, warnings, None),
        Err(invalid) => (Map::new(), Vec::new(), Some(Refused::InvalidVariables(invalid.key))),
    };
    let mut values = who.contact().map(saved_values).unwrap_or_default();
    let refused = match agent {
        None => Some(Refused::AgentNotFound),
        Some(agent) => match super::agent::refusal(agent).or(invalid) {
            Some(refused) => Some(refused),
            None => known.flow_refusal(tx, agent.id, &given, &values)?,
        },
    };
    values.extend(given.clone());
    order.variables = given;
    Ok((refused, values, warnings))
}

/// The own number of a call: the one asked for, or the first active one.
pub fn own_number(tx: &mut TenantTx, asked: Option<&str>) -> Result<OwnNumber, Failure> {
    Ok(own_number_of(CallCache::default().numbers(tx)?, asked))
}

/// The own number of a call of this agent: the one asked for; else the first of the series on which its pack insists, if
/// one is owned, else the first.
pub fn own_number_for(
    tx: &mut TenantTx,
    now: Timestamp,
    (workspace, agent, pack): (&WorkspaceRow, &AgentRow, &Pack),
    asked: Option<&str>,
) -> Result<OwnNumber, Failure> {
    let mut known = CallCache::default();
    let owned = known.numbers(tx)?;
    if asked.is_none() {
        let plain = gates::kind_of(workspace, agent, None)?;
        if let Some(number) = insisted(owned, pack, &plain, now) {
            return Ok(OwnNumber::Owned(number));
        }
    }
    Ok(own_number_of(owned, asked))
}

/// The first own number of the series without which the pack refuses such a call.
fn insisted(owned: &[String], pack: &Pack, plain: &CallKind, now: Timestamp) -> Option<String> {
    let demand = demand(&pack.number_series, plain, now).filter(|demand| demand.ruling == Ruling::Refuses)?;
    owned.iter().find(|number| Series::of(number) == Some(demand.series)).cloned()
}

/// The one asked for among the workspace's active own numbers, oldest first; else the first.
pub(crate) fn own_number_of(owned: &[String], asked: Option<&str>) -> OwnNumber {
    let Some(asked) = asked else {
        return owned.first().map_or(OwnNumber::Nothing, |first| OwnNumber::Owned(first.clone()));
    };
    let normalized = read_own_number(asked).unwrap_or_else(|| asked.trim().to_owned());
    if owned.contains(&normalized) { OwnNumber::Owned(normalized) } else { OwnNumber::NotOwned }
}

//! The turn of campaigns in the dialler's loop (`docs/dialler.md`): rows that are due become calls, through the
//! same gates, wallet and lines as every other call.
//!
//! One round serves several workspaces in turn, and the campaigns of each in turn, those that were served longest
//! ago first. All of a round is one transaction; the dials follow its commit. It locks campaigns, then
//! workspaces, then rows, then the progress of campaigns; facts of calls take the last three in the same order.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use api::error_codes;
use app::calls::{self, Env, Known, Order, OwnNumber, Prepared, Refused};
use app::nudges::{Allowances, Breaker};
use app::{App, Failure, access};
use domain::call::Status as CallStatus;
use domain::campaign::row::{self, Action, DueFacts, Ending, Event, Retries, Row, step};
use domain::campaign::{HeldReason, RowFailure, RowState, Schedule, Status, Tally, Window};
use domain::compliance::{Gate, Purpose, Verdict};
use domain::ids::{Campaign, Id};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, MINUTE, Timestamp};
use serde_json::{Map, json};
use store::Tx;
use store::calls::{self as call_store, CallRow};
use store::campaigns::CampaignRow;
use store::campaigns::blocks::{self, Moves};
use store::campaigns::due;
use store::campaigns::list::EntryRow;
use store::campaigns::progress::{self, Delta, ProgressRow};
use store::campaigns::runs::Work;

use crate::callers::{Callers, Choice};
use crate::retries;
use crate::run::{self, Stop};

/// Rows that one round looks at.
pub const BATCH: i64 = 512;
/// Campaigns that one round serves, and how many of them are of one workspace.
pub const CAMPAIGNS: i64 = 64;
const OF_WORKSPACE: i64 = 8;

/// How long a campaign rests that waits for a line, at the latest: a line that gets free wakes the dialler.
const LINES_RECHECK: i64 = 2 * MINUTE;
/// How long a row rests that could not be looked at because of a defect.
const SET_ASIDE: i64 = 5 * MINUTE;

/// What a round came to.
#[derive(Debug, Default)]
pub struct Round {
    /// Calls to be dialled, in turn.
    pub dials: Vec<Arc<CallRow>>,
    /// Whether another round may find something.
    pub more: bool,
}

/// The turn of one campaign in a round.
struct Turn {
    campaign: CampaignRow,
    progress: ProgressRow,
    schedule: Option<Schedule>,
    /// Nothing of it is dialled at or after this moment.
    until: Option<Timestamp>,
    /// Its rows that are still to be looked at, held.
    rows: VecDeque<Box<EntryRow>>,
    /// Whether more of its rows may be due.
    more_due: bool,
    /// Rows that were tried are still to be held against changed retry settings.
    retuning: bool,
    /// Somebody of it is in a call, and is called when that is over.
    on_call: bool,
    /// Why it dials no more in this round.
    stop: Option<Stop>,
    /// Rows were held because the hours of the pack are over.
    window_closed: bool,
    callers: Option<Callers>,
    work: Work,
    /// What was wrong with single rows.
    unfit: BTreeSet<String>,
    delta: Delta,
    held: HashMap<HeldReason, i64>,
    /// The same of its blocks.
    moves: Moves,
}

/// What one round works with.
struct DialRound {
    env: Env,
    allowances: Allowances,
    mails: bool,
    dials: Vec<Arc<CallRow>>,
    known: Known,
    /// Lines that nudges and scheduled calls of a workspace wait for.
    wanted: HashMap<Tenant, Option<i64>>,
}

/// One round. `lines` asks for campaigns that wait for a line, too. At most [`BATCH`] dials follow.
pub async fn round(app: &App, breaker: &Breaker, lines: bool) -> Result<Round, Failure> {
    let (env, allowances) = (app.call_env(), breaker.allowances(app));
    let now = env.context.now;
    // Most looks find nothing, and need no transaction for it.
    let found = app.store.read(move |tx| due::due_campaigns(tx, now, lines, OF_WORKSPACE, CAMPAIGNS)).await?;
    if found.is_empty() {
        return Ok(Round::default());
    }
    let batch = BATCH;
    let mails = app.config.smtp.is_some();
    // Alone: hundreds of dials are a transaction by themselves.
    app.store
        .tx_alone(move |tx| {
            let round = DialRound {
                env: env.clone(),
                allowances: allowances.clone(),
                mails,
                dials: Vec::new(),
                known: Known::default(),
                wanted: HashMap::new(),
            };
            round.run(tx, &found, batch)
        })
        .await
}

impl DialRound {
    fn run(
        mut self,
        tx: &mut Tx<'_>,
        found: &[(Tenant, Id<Campaign>)],
        batch: i64,
    ) -> Result<Round, Failure> {
        let mut turns = self.turns(tx, found)?;
        let share = (batch / i64::try_from(turns.len()).unwrap_or(batch).max(1)).max(1);
        for turn in &mut turns {
            self.begin(tx, turn, share)?;
        }
        // One row of each workspace, then the second of each; within one, of each campaign in turn.
        let mut workspaces: Vec<(Tenant, VecDeque<usize>)> = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            match workspaces.iter_mut().find(|(tenant, _)| *tenant == turn.campaign.workspace) {
                Some((_, campaigns)) => campaigns.push_back(at),
                None => workspaces.push((turn.campaign.workspace, VecDeque::from([at]))),
            }
        }
        while !workspaces.is_empty() {
            for (_, campaigns) in &mut workspaces {
                let Some(at) = campaigns.pop_front() else { continue };
                if self.next(tx, &mut turns[at])? {
                    campaigns.push_back(at);
                }
            }
            workspaces.retain(|(_, campaigns)| !campaigns.is_empty());
        }
        self.known.finish(tx, &self.env.context)?;
        let full_page = found.len() as i64 >= CAMPAIGNS && !turns.is_empty();
        let mut more = full_page;
        // A workspace that got less comes first next time, and so does a campaign within its workspace.
        let mut placed: HashMap<Tenant, i64> = HashMap::new();
        for turn in &turns {
            *placed.entry(turn.campaign.workspace).or_default() += turn.work.placed;
        }
        turns.sort_by_key(|turn| (placed.get(&turn.campaign.workspace).copied(), turn.work.placed));
        for turn in &mut turns {
            more |= end(tx, &self.env, self.mails, turn)?;
        }
        Ok(Round { dials: self.dials, more })
    }

    /// The campaigns that this round may work with, in turn. They and their workspaces are held.
    fn turns(&mut self, tx: &mut Tx<'_>, found: &[(Tenant, Id<Campaign>)]) -> Result<Vec<Turn>, Failure> {
        let ids: Vec<Id<Campaign>> = found.iter().map(|(_, id)| *id).collect();
        let mut campaigns: HashMap<Id<Campaign>, CampaignRow> =
            due::lock_each(tx, &ids)?.into_iter().map(|row| (row.id, row)).collect();
        // Another node may be at the dials of a workspace, and holds it for as long as that takes.
        let mut workspaces: Vec<Tenant> = campaigns.values().map(|row| row.workspace).collect();
        workspaces.sort_unstable();
        workspaces.dedup();
        let free = store::turns::take(tx, &workspaces)?;
        campaigns.retain(|_, row| free.contains(&row.workspace));
        let held: Vec<Id<Campaign>> = ids.into_iter().filter(|id| campaigns.contains_key(id)).collect();
        let mut known: HashMap<Id<Campaign>, ProgressRow> =
            due::progress_of(tx, &held)?.into_iter().map(|row| (row.campaign, row)).collect();
        // Every node takes its locks in the same order.
        for tenant in workspaces.into_iter().filter(|tenant| free.contains(tenant)) {
            self.known.workspace(tx, tenant, Mode::Live)?;
        }
        Ok(held
            .into_iter()
            .filter_map(|id| {
                let (campaign, progress) = (campaigns.remove(&id)?, known.remove(&id)?);
                let schedule = Schedule::of(&campaign.settings);
                let delta = Delta { list: progress.list, ..Delta::default() };
                Some(Turn {
                    campaign,
                    progress,
                    schedule,
                    until: None,
                    rows: VecDeque::new(),
                    more_due: false,
                    retuning: false,
                    on_call: false,
                    stop: None,
                    window_closed: false,
                    callers: None,
                    work: Work::default(),
                    unfit: BTreeSet::new(),
                    delta,
                    held: HashMap::new(),
                    moves: Moves::default(),
                })
            })
            .collect())
    }

    /// Asks what concerns the campaign as a whole, and takes its share of rows.
    fn begin(&mut self, tx: &mut Tx<'_>, turn: &mut Turn, share: i64) -> Result<(), Failure> {
        let (now, tenant) = (self.env.context.now, turn.campaign.workspace);
        if turn.progress.retune_after.is_some() {
            turn.retune(tx, &self.env)?;
            if turn.retuning {
                return Ok(());
            }
        }
        turn.stop = self.stopped(tx, turn)?;
        if turn.stop.is_some() {
            return Ok(());
        }
        let free = self.free_lines(tx, tenant)?.min(turn.free_calls());
        let (campaign, list) = (turn.campaign.id, turn.progress.list);
        if free <= 0 {
            if due::any_due(tx, tenant, campaign, list, now)? {
                turn.stop = Some(Stop::Lines);
            }
            return Ok(());
        }
        let limit = share.min(free);
        let rows = due::to_look_at(tx, tenant, campaign, list, now, limit)?;
        turn.more_due = rows.len() as i64 >= limit;
        let numbers: Vec<calls::Number> =
            rows.iter().filter(|row| rules(row).waits()).filter_map(|row| number(row)).collect();
        self.known.listen(tx, tenant, &numbers, now)?;
        self.known.meet(tx, tenant, numbers, now)?;
        turn.rows = rows.into();
        Ok(())
    }

    /// What stops the campaign whatever its rows are.
    fn stopped(&mut self, tx: &mut Tx<'_>, turn: &mut Turn) -> Result<Option<Stop>, Failure> {
        let (now, campaign) = (self.env.context.now, &turn.campaign);
        if campaign.status != Status::Active {
            return Ok(Some(Stop::Inactive));
        }
        let Some(schedule) = &turn.schedule else {
            return Ok(Some(Stop::Error("the time zone is not known".into())));
        };
        match schedule.window(now) {
            Window::Over => return Ok(Some(Stop::EndDate)),
            Window::Closed { .. } if turn.is_exhausted() => return Ok(Some(Stop::ListComplete)),
            Window::Closed { .. } => return Ok(Some(Stop::OutsideSchedule(schedule.next_look(now)))),
            Window::Open { until } => turn.until = until,
        }
        if turn.is_exhausted() {
            return Ok(Some(Stop::ListComplete));
        }
        let workspace = self.known.workspace(tx, campaign.workspace, Mode::Live)?;
        if workspace.suspended {
            return Ok(Some(Stop::Suspended));
        }
        if !workspace.kyb_verified {
            return Ok(Some(Stop::KybUnverified));
        }
        let owned = self.known.numbers(tx, campaign.workspace)?;
        let callers = Callers::of(tx, campaign, schedule, owned, now)?;
        if callers.none_owned() {
            return Ok(Some(Stop::Error("from_number_unavailable".into())));
        }
        turn.callers = Some(callers);
        Ok(None)
    }

    /// Lines that are free for campaigns of a workspace: nudges and scheduled calls that wait for one go before.
    fn free_lines(&mut self, tx: &mut Tx<'_>, tenant: Tenant) -> Result<i64, Failure> {
        let wanted = match self.wanted.get(&tenant) {
            Some(wanted) => *wanted,
            None => {
                let wanted = due::lines_wanted(tx, tenant, self.env.context.now)?;
                self.wanted.insert(tenant, wanted);
                wanted
            }
        };
        let Some(wanted) = wanted else { return Ok(0) };
        let workspace = self.known.workspace(tx, tenant, Mode::Live)?;
        let (mine, all) = self.known.lines_in_use(tx, tenant)?;
        let free = (access::limit(&workspace, "concurrentCalls") - mine).min(self.env.platform_lines - all);
        Ok(free - wanted)
    }

    /// Looks at the next row of a campaign. Returns whether there may be another.
    fn next(&mut self, tx: &mut Tx<'_>, turn: &mut Turn) -> Result<bool, Failure> {
        if turn.stop.is_some() {
            return Ok(false);
        }
        let Some(row) = turn.rows.pop_front() else { return Ok(false) };
        if rules(&row).standing.state == RowState::InProgress {
            self.look_in_flight(tx, turn, *row)?;
        } else {
            self.look(tx, turn, *row)?;
        }
        Ok(turn.stop.is_none() && !turn.rows.is_empty())
    }

    fn look(&mut self, tx: &mut Tx<'_>, turn: &mut Turn, row: EntryRow) -> Result<(), Failure> {
        let tenant = turn.campaign.workspace;
        let choice = turn.callers.as_ref().map_or(Choice::Any, |callers| callers.choose(&row));
        let order = order(turn, &row, &choice);
        let prepared = match calls::prepare(tx, &self.env, &mut self.known, tenant, Mode::Live, order) {
            Ok(prepared) => prepared,
            // A defect in what this one row needs must not hold up all others.
            Err(failure) if failure.error == error_codes::INTERNAL => {
                failure.log_about(row.id, "a due row of a list could not be looked at");
                let (look_at, state) = (Some(self.env.context.now.plus(SET_ASIDE)), row.standing.state);
                return Ok(due::save_row(tx, &EntryRow { look_at, ..row }, state, &mut turn.moves)?);
            }
            Err(failure) => return Err(failure),
        };
        let unfit = unfit(&prepared);
        if unfit.is_none()
            && let Some(stop) = stop_of(&prepared)
        {
            turn.stop = Some(stop);
            return Ok(());
        }
        let facts = self.facts(tx, turn, &row, &prepared, &choice, unfit.as_ref().map(|(why, _)| *why))?;
        if facts.lets_dial() && turn.retries().allow(row.attempts) {
            turn.stop = self.without_means(tx, turn, &prepared)?;
            if turn.stop.is_some() {
                return Ok(());
            }
        }
        let now = self.env.context.now;
        let Some(decided) = step(&rules(&row), Event::Due(facts), turn.retries(), now) else {
            return Err(Failure::internal(format!("{} was due and is not", row.id)));
        };
        turn.unfit.extend(unfit.map(|(_, told)| told));
        turn.on_call |= facts.on_call;
        match decided.action {
            Action::Store => {
                let given_up = row.call.filter(|_| decided.next.look_at.is_none());
                turn.work.attempted += i64::from(facts.unfit.is_some());
                turn.work.rejected += i64::from(facts.unfit.is_some());
                turn.store(tx, row, decided.next)?;
                if let Some(call) = given_up {
                    retries::tell(tx, &self.env, tenant, call)?;
                }
            }
            Action::Place => self.place(tx, turn, row, decided.next, &prepared)?,
            Action::Block(gate) => self.block(tx, turn, row, decided.next, &prepared, gate)?,
        }
        if is_closed(&prepared) {
            self.close(tx, turn, facts)?;
        }
        Ok(())
    }

    fn facts(
        &self,
        tx: &mut Tx<'_>,
        turn: &Turn,
        row: &EntryRow,
        prepared: &Prepared,
        choice: &Choice,
        unfit: Option<RowFailure>,
    ) -> Result<DueFacts, Failure> {
        let (now, hours) = (self.env.context.now, prepared.pack.as_ref().map(|pack| &pack.hours));
        let block = prepared.block();
        let cap_ends = match block {
            Some(Gate::FrequencyCap) => cap_ends(tx, turn.campaign.workspace, row, prepared, now)?,
            _ => None,
        };
        let callers_rest_until = match (choice, &turn.schedule) {
            (Choice::Full, Some(schedule)) => {
                let day = schedule.next_day(now);
                let open = schedule.next_look(day).unwrap_or(day);
                Some(hours.and_then(|hours| hours.next_opening(open)).unwrap_or(open))
            }
            _ => None,
        };
        let opening = hours.and_then(|hours| hours.next_opening(now));
        Ok(DueFacts { unfit, block, opening, cap_ends, callers_rest_until, on_call: prepared.on_call })
    }

    /// What a dial needs and does not get: money, a line, a carrier that takes calls.
    fn without_means(
        &mut self,
        tx: &mut Tx<'_>,
        turn: &Turn,
        prepared: &Prepared,
    ) -> Result<Option<Stop>, Failure> {
        if !prepared.balance_ok {
            return Ok(Some(Stop::Balance));
        }
        let free = self.free_lines(tx, turn.campaign.workspace)?.min(turn.free_calls());
        if prepared.lines_full.is_some() || free <= 0 {
            return Ok(Some(Stop::Lines));
        }
        Ok(if self.may_dial(prepared) { None } else { Some(Stop::Provider) })
    }

    /// Whether the carrier is to be asked now. Networks that are tables refuse certain numbers, not because they
    /// are ill.
    fn may_dial(&mut self, prepared: &Prepared) -> bool {
        let real = self.env.carriers.in_mode(Mode::Live).is_some_and(|carrier| !carrier.simulated());
        if real && self.env.carriers_rest {
            return false;
        }
        !real || self.allowances.take(prepared.carrier.as_deref())
    }

    /// Writes the dial down: the call with its hold on the wallet and its line, and the mark on the row.
    fn place(
        &mut self,
        tx: &mut Tx<'_>,
        turn: &mut Turn,
        mut row: EntryRow,
        next: Row,
        prepared: &Prepared,
    ) -> Result<(), Failure> {
        let call = calls::place_intent(tx, &self.env, &mut self.known, prepared)?;
        row.call = Some(call.id);
        row.contact = call.contact;
        row.from_number = Some(call.from_number.clone());
        if let Some(callers) = &mut turn.callers {
            callers.count(&call.from_number);
        }
        turn.work.attempted += 1;
        turn.work.placed += 1;
        turn.delta.calls.dialled += 1;
        turn.delta.last_call_at = Some(self.env.context.now);
        turn.store(tx, row, next)?;
        self.dials.push(call);
        Ok(())
    }

    /// Lists a call that a gate refused.
    fn block(
        &mut self,
        tx: &mut Tx<'_>,
        turn: &mut Turn,
        mut row: EntryRow,
        next: Row,
        prepared: &Prepared,
        gate: Gate,
    ) -> Result<(), Failure> {
        let call = calls::block(tx, &self.env, &mut self.known, prepared, gate)?;
        calls::emit_with(tx, &self.env, &call, "call.failed", json!({"blockReason": gate.as_str()}))?;
        row.contact = call.contact;
        turn.work.attempted += 1;
        turn.work.rejected += 1;
        turn.store(tx, row, next)
    }

    /// The hours of the pack are over for all rows: those that wait are held together.
    fn close(&mut self, tx: &mut Tx<'_>, turn: &mut Turn, facts: DueFacts) -> Result<(), Failure> {
        turn.window_closed = true;
        let (now, retries) = (self.env.context.now, turn.retries());
        let closed = DueFacts { unfit: None, block: Some(Gate::CallingWindow), ..facts };
        let (mut together, mut until) = (Vec::new(), None);
        for row in std::mem::take(&mut turn.rows) {
            let before = rules(&row);
            match step(&before, Event::Due(closed), retries, now) {
                Some(decided) => {
                    turn.count(&before, &decided.next);
                    turn.moves.moved(row.position, before.standing.state, decided.next.standing.state);
                    until = decided.next.look_at;
                    together.push(row.id);
                }
                None => self.look_in_flight(tx, turn, *row)?,
            }
        }
        if let Some(until) = until {
            let (tenant, reason) = (turn.campaign.workspace, HeldReason::CallingWindow);
            due::hold_each(tx, tenant, &together, reason, until)?;
        }
        Ok(())
    }

    /// Nothing was heard of a call for long: it lives, or its end got lost.
    fn look_in_flight(&self, tx: &mut Tx<'_>, turn: &mut Turn, row: EntryRow) -> Result<(), Failure> {
        let now = self.env.context.now;
        let call = match row.call {
            Some(call) => call_store::find(tx, row.workspace, call)?,
            None => None,
        };
        let event = match &call {
            Some(call) => Ending::of(&call.progress).map_or(Event::Lives(call.progress.status), |ending| {
                Event::Over(ending, call.progress.status)
            }),
            None => Event::CallMissing,
        };
        match step(&rules(&row), event, turn.retries(), now) {
            Some(decided) => turn.store(tx, row, decided.next),
            None => Err(Failure::internal(format!("{} is in progress and is not", row.id))),
        }
    }
}

impl Turn {
    fn retries(&self) -> Retries {
        retries_of(&self.campaign)
    }

    /// Calls at once that its own ceiling still allows.
    fn free_calls(&self) -> i64 {
        let under_way = self.progress.rows.in_progress + self.delta.rows.in_progress;
        self.campaign.settings.max_concurrent_calls.map_or(i64::MAX, |most| most - under_way)
    }

    /// Its counters with what this round has changed.
    fn tally(&self) -> Tally {
        let mut tally = self.progress.rows;
        tally.add(&self.delta.rows);
        tally
    }

    /// Whether nobody on its list could still be reached, and nobody is added to it.
    fn is_exhausted(&self) -> bool {
        self.campaign.streams <= 0 && row::is_exhausted(&self.tally())
    }

    /// Holds the next rows that were tried against the retry settings as they are now.
    fn retune(&mut self, tx: &mut Tx<'_>, env: &Env) -> Result<(), Failure> {
        let mut counted = retries::Counted::default();
        let left = retries::piece(tx, env, &self.campaign, &self.progress, &mut counted)?;
        self.retuning = left.is_some();
        self.delta.rows.add(&counted.rows);
        for (reason, by) in counted.held {
            *self.held.entry(reason).or_default() += by;
        }
        self.moves.add_all(counted.moves);
        Ok(())
    }

    fn count(&mut self, before: &Row, next: &Row) {
        self.delta.rows.add(&Tally::moved(before.standing, next.standing));
        count_held(&mut self.held, before, next);
    }

    fn store(&mut self, tx: &mut Tx<'_>, row: EntryRow, next: Row) -> Result<(), Failure> {
        let before = rules(&row);
        self.count(&before, &next);
        Ok(due::save_row(tx, &with(row, &next), before.standing.state, &mut self.moves)?)
    }
}

/// How often a campaign repeats an attempt; one that is over repeats none.
pub(crate) fn retries_of(campaign: &CampaignRow) -> Retries {
    if matches!(campaign.status, Status::Completed | Status::Archived) {
        return Retries::NONE;
    }
    let settings = &campaign.settings;
    Retries { count: settings.retry_count, cooldown_minutes: settings.cooldown_minutes }
}

/// The row as the rules know it.
pub(crate) fn rules(row: &EntryRow) -> Row {
    Row {
        standing: row.standing,
        dial_status: row.dial_status.as_deref().and_then(CallStatus::parse),
        held_reason: row.held_reason,
        attempts: row.attempts,
        refusals: row.refusals,
        failure: row.failure,
        last_attempt_at: row.last_attempt_at,
        look_at: row.look_at,
        erased: row.phone.is_none(),
    }
}

/// The row after a decision.
pub(crate) fn with(row: EntryRow, next: &Row) -> EntryRow {
    EntryRow {
        standing: next.standing,
        dial_status: next.dial_status.map(|status| status.as_str().to_owned()),
        held_reason: next.held_reason,
        attempts: next.attempts,
        refusals: next.refusals,
        failure: next.failure,
        last_attempt_at: next.last_attempt_at,
        look_at: next.look_at,
        ..row
    }
}

/// What a decision changes in the counts of held rows.
pub(crate) fn count_held(held: &mut HashMap<HeldReason, i64>, before: &Row, next: &Row) {
    for (reason, by) in [(before.held_reason, -1), (next.held_reason, 1)] {
        if let Some(reason) = reason {
            *held.entry(reason).or_default() += by;
        }
    }
}

/// Stores what was counted of rows and calls.
pub(crate) fn store_counts(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    campaign: Id<Campaign>,
    delta: &Delta,
    (held, moves): (&HashMap<HeldReason, i64>, &Moves),
) -> Result<(), Failure> {
    // Every transaction takes its locks in the same order.
    for reason in HeldReason::ALL {
        if let Some(by) = held.get(reason).filter(|by| **by != 0) {
            progress::count_held(tx, tenant, campaign, delta.list, *reason, *by)?;
        }
    }
    if *delta != (Delta { list: delta.list, ..Delta::default() }) {
        progress::count(tx, tenant, campaign, delta)?;
    }
    Ok(blocks::count(tx, tenant, campaign, delta.list, moves)?)
}

/// Ends the turn of a campaign: its counters, its run, its end, and when it is looked at next. Returns whether
/// another round may find something.
fn end(tx: &mut Tx<'_>, env: &Env, mails: bool, turn: &mut Turn) -> Result<bool, Failure> {
    let now = env.context.now;
    let (tenant, campaign) = (turn.campaign.workspace, turn.campaign.id);
    store_counts(tx, tenant, campaign, &turn.delta, (&turn.held, &turn.moves))?;
    if let (Some(callers), Some(schedule)) = (&turn.callers, &turn.schedule) {
        callers.store(tx, tenant, campaign, schedule.day(now))?;
    }
    if turn.retuning {
        due::serve(tx, &turn.progress, turn.progress.run, false, due::NextLook::At(Some(now)))?;
        return Ok(true);
    }
    if turn.stop.is_none() && turn.is_exhausted() {
        turn.stop = Some(Stop::ListComplete);
    }
    let tally = turn.tally();
    let outcome = run::Outcome {
        work: turn.work,
        stop: turn.stop.as_ref(),
        window_closed: turn.window_closed,
        idle: tally.in_progress <= 0 && !turn.more_due,
        on_call: turn.on_call,
        unfit: &turn.unfit,
    };
    let runs = run::after_turn(tx, env, mails, &mut turn.campaign, turn.progress.run, &outcome)?;
    let latest = turn.campaign.settings.end_at;
    let at = |at: Timestamp| due::NextLook::At(Some(latest.map_or(at, |end| end.min(at))));
    let (again, waits) = (runs.again, turn.stop == Some(Stop::Lines));
    let next = match &turn.stop {
        None => due::NextLook::NextRow(latest),
        // Those of its people who were tried are given up, first here and then in looks of their own.
        Some(Stop::EndDate) => due::NextLook::At(runs.again.then_some(now)),
        Some(Stop::Inactive | Stop::ListComplete) => due::NextLook::At(None),
        // The session ends in a look of its own.
        Some(_) if again => at(now),
        Some(Stop::OutsideSchedule(opens)) => due::NextLook::At(*opens),
        Some(Stop::Lines) => at(now.plus(LINES_RECHECK)),
        Some(Stop::Provider) => at(now.plus(MINUTE)),
        Some(Stop::Suspended | Stop::KybUnverified | Stop::Balance | Stop::Error(_)) => {
            at(now.plus(run::RECHECK))
        }
    };
    due::serve(tx, &turn.progress, runs.run, waits, next)?;
    Ok(again || turn.stop.is_none() && turn.more_due)
}

/// The number of a row with its hash.
fn number(row: &EntryRow) -> Option<calls::Number> {
    Some((Phone::normalize(row.phone.as_deref()?).ok()?, row.phone_hash.clone()?))
}

fn order(turn: &Turn, row: &EntryRow, choice: &Choice) -> Order {
    let settings = &turn.campaign.settings;
    let from_number = match choice {
        Choice::Number(number) => Some(number.clone()),
        // Of a full pool any number says whether the gates would let it be dialled.
        Choice::Full => settings.caller_ids.first().map(|own| own.number.clone()),
        Choice::Any => settings.from_number.clone(),
    };
    Order {
        agent: turn.campaign.agent.map(|agent| agent.to_string()).unwrap_or_default(),
        to_number: row.phone.clone().unwrap_or_default(),
        from_number,
        external_ref: None,
        name: row.name.clone(),
        variables: row.variables.clone(),
        metadata: Map::new(),
        purpose: Purpose::Call,
        campaign: Some(turn.campaign.id),
        nudge: None,
        scheduled_call: None,
        until: turn.until,
        once: None,
        trace: turn.campaign.trace,
    }
}

/// What the row lacks, so that no call of it can ever be placed.
fn unfit(prepared: &Prepared) -> Option<(RowFailure, String)> {
    match &prepared.check {
        Some(Refused::MissingVariables(names)) => {
            let why = RowFailure::MissingVariables;
            Some((why, format!("{why}: {}", names.join(", "))))
        }
        Some(Refused::InvalidVariables(name)) => {
            let why = RowFailure::InvalidVariables;
            Some((why, format!("{why}: {name}")))
        }
        Some(_) => None,
        None => {
            prepared.to.is_none().then(|| (RowFailure::InvalidNumber, RowFailure::InvalidNumber.to_string()))
        }
    }
}

/// What stops the whole campaign, whatever row comes next.
fn stop_of(prepared: &Prepared) -> Option<Stop> {
    let error = |text: &str| Some(Stop::Error(text.to_owned()));
    match &prepared.check {
        None => {}
        Some(Refused::AgentNotFound) => return error("agent_not_found"),
        Some(Refused::AgentNotPublished) => return error("agent_not_published"),
        Some(Refused::AgentNotCall) => return error("agent_not_call"),
        Some(Refused::AgentNotOutbound) => return error("agent_not_outbound"),
        Some(Refused::FlowNotReady(_)) => return error("flow_not_ready"),
        Some(_) => return error("placement_refused"),
    }
    match prepared.from {
        OwnNumber::NotOwned => return error("from_number_unavailable"),
        OwnNumber::Nothing => return error("no_caller_id"),
        OwnNumber::Owned(_) => {}
    }
    if prepared.carrier_ok { None } else { error("india_residency_unavailable") }
}

/// Whether the hours of the pack refuse, whatever other gates say of this person.
fn is_closed(prepared: &Prepared) -> bool {
    let verdict = |judged: &Arc<calls::Judged>| judged.said.verdict(Gate::CallingWindow);
    prepared.judgement.as_ref().map(verdict) == Some(Verdict::Refuse)
}

/// When the caps of the pack let a number be dialled again: when enough of its dials are a day or a week old.
fn cap_ends(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    row: &EntryRow,
    prepared: &Prepared,
    now: Timestamp,
) -> Result<Option<Timestamp>, Failure> {
    let (Some(pack), Some(to)) = (&prepared.pack, prepared.to) else { return Ok(None) };
    let caps = [(pack.caps.per_day, DAY), (pack.caps.per_week, 7 * DAY)];
    let most = caps.iter().filter_map(|(cap, _)| *cap).max().unwrap_or(0);
    let hash = row.phone_hash.as_deref().unwrap_or_default();
    let dials =
        call_store::dial_times(tx, tenant, &to.to_string(), hash, now.plus(-7 * DAY), i64::from(most))?;
    let ends = caps.into_iter().filter_map(|(cap, span)| {
        let oldest = dials.get(usize::try_from(cap?).ok()?.checked_sub(1)?)?;
        Some(oldest.plus(span)).filter(|at| *at > now)
    });
    Ok(ends.max())
}

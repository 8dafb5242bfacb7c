//! Campaigns in the dialler's loop (`docs/dialler.md`): due rows become calls, through the same gates, wallet and lines
//! as every other call.
//!
//! One round serves several workspaces round-robin, and the campaigns of each round-robin, the longest waiting first. A
//! round is one transaction; the dials follow its commit. It locks campaigns, then workspaces, then rows, then the
//! progress of campaigns; facts of calls lock the last three in the same order.

use std::collections::{BTreeSet, HashMap, VecDeque};

use api::events::{self, calls::FailedCall};
use app::calls::{self, Env, Order, Prepared, Refused, Source};
use app::due_dials::{DialRound, DueDial, InFlight, Look, Round, SET_ASIDE};
use app::{App, Failure};
use domain::campaign::row::{self, Due, Ending, Event, Retries, Row, Step, step};
use domain::campaign::{HeldReason, RowFailure, RowState, Schedule, Status, Tally, Window};
use domain::compliance::{Gate, SeriesDemand};
use domain::due_dial::{Act, DueFacts, Obstacle};
use domain::ids::{ApiKey, Campaign, Id};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, MINUTE, Timestamp};
use store::calls::{self as call_store, CallRow};
use store::campaigns::CampaignRow;
use store::campaigns::blocks::Moves;
use store::campaigns::due;
use store::campaigns::list::EntryRow;
use store::campaigns::progress::{Delta, ProgressRow};
use store::campaigns::runs::Work;
use store::{TenantTx, Tx};

use crate::callers::{Callers, Choice};
use crate::retries;
use crate::row_rules::{count_held, retries_of, rules, store_counts, with};
use crate::run::{self, Stop};

/// Rows in one round.
pub const BATCH: i64 = 512;
/// Campaigns in one round, and how many of them are of one workspace.
pub const CAMPAIGNS: i64 = 64;
const OF_WORKSPACE: i64 = 8;

/// Longest recheck interval of a campaign that waits for a line; a freed line wakes the dialler earlier.
const LINES_RECHECK: i64 = 2 * MINUTE;
/// The state of one campaign in a round.
struct DueCampaign {
    campaign: CampaignRow,
    progress: ProgressRow,
    schedule: Option<Schedule>,
    /// Nothing of it is dialled at or after this time.
    until: Option<Timestamp>,
    /// Its locked rows that are still to be checked.
    rows: VecDeque<Box<EntryRow>>,
    /// Whether more of its rows may be due.
    more_due: bool,
    /// Rows that were tried are still to be checked against changed retry settings.
    retuning: bool,
    /// Somebody of it is in a call, and is called when that is over.
    on_call: bool,
    /// Why it stops dialling in this round.
    stop: Option<Stop>,
    /// Rows were held because the hours of the pack are over.
    window_closed: bool,
    /// What the pack wants of the number of the row that was checked last.
    series: Option<SeriesDemand>,
    callers: Option<Callers>,
    /// Lines that nudges and scheduled calls of its workspace wait for; `None` while due nudges are left that no round
    /// has checked.
    lines_wanted: Option<i64>,
    work: Work,
    /// Reasons of single rows.
    unfit: BTreeSet<String>,
    delta: Delta,
    held: HashMap<HeldReason, i64>,
    /// The changed counts of its blocks.
    moves: Moves,
}

/// The state of one round.
struct CampaignRound {
    dials: DialRound,
    mails: bool,
    /// Lines that nudges and scheduled calls of a workspace wait for.
    wanted: HashMap<Tenant, Option<i64>>,
}

/// One round. With `lines`, campaigns that wait for a line are checked, too. At most [`BATCH`] dials follow.
pub async fn round(app: &App, lines: bool) -> Result<Round, Failure> {
    let (env, allowances) = (app.call_env(), app.breaker.allowances(app));
    let now = env.context.now;
    // Most polls find nothing, and need no transaction.
    let found = app.store.read(move |tx| due::due_campaigns(tx, now, lines, OF_WORKSPACE, CAMPAIGNS)).await?;
    if found.is_empty() {
        return Ok(Round::default());
    }
    let mails = app.config.smtp.is_some();
    // A transaction of its own: it may have hundreds of dials.
    app.store
        .tx_alone(move |tx| {
            let dials = DialRound::new(env.clone(), allowances.clone());
            CampaignRound { dials, mails, wanted: HashMap::new() }.run(tx, &found)
        })
        .await
}

impl CampaignRound {
    fn run(mut self, tx: &mut Tx<'_>, found: &[(Tenant, Id<Campaign>)]) -> Result<Round, Failure> {
        let mut turns = self.turns(tx, found)?;
        let share = (BATCH / i64::try_from(turns.len()).unwrap_or(BATCH).max(1)).max(1);
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
                if turns[at].next(tx, &mut self.dials)? {
                    campaigns.push_back(at);
                }
            }
            workspaces.retain(|(_, campaigns)| !campaigns.is_empty());
        }
        self.dials.write(tx)?;
        let full_page = found.len() as i64 >= CAMPAIGNS && !turns.is_empty();
        let mut more = full_page;
        // A workspace that got less comes first next time, and so does a campaign within its workspace.
        let mut placed: HashMap<Tenant, i64> = HashMap::new();
        for turn in &turns {
            *placed.entry(turn.campaign.workspace).or_default() += turn.work.placed;
        }
        turns.sort_by_key(|turn| (placed.get(&turn.campaign.workspace).copied(), turn.work.placed));
        for turn in &mut turns {
            more |= end(tx, &self.dials.env, self.mails, turn)?;
        }
        Ok(Round { dials: self.dials.finish(), more })
    }

    /// The campaigns of this round, in order. They and their workspaces are locked.
    fn turns(
        &mut self,
        tx: &mut Tx<'_>,
        found: &[(Tenant, Id<Campaign>)],
    ) -> Result<Vec<DueCampaign>, Failure> {
        let ids: Vec<Id<Campaign>> = found.iter().map(|(_, id)| *id).collect();
        let mut campaigns: HashMap<Id<Campaign>, CampaignRow> =
            due::lock_each(tx, &ids)?.into_iter().map(|row| (row.id, row)).collect();
        // Another node may be dialling for a workspace, and holds its lock for as long as that takes.
        let mut workspaces: Vec<Tenant> = campaigns.values().map(|row| row.workspace).collect();
        workspaces.sort_unstable();
        workspaces.dedup();
        let free = store::dial_locks::try_lock(tx, &workspaces)?;
        campaigns.retain(|_, row| free.contains(&row.workspace));
        let held: Vec<Id<Campaign>> = ids.into_iter().filter(|id| campaigns.contains_key(id)).collect();
        let mut known: HashMap<Id<Campaign>, ProgressRow> =
            due::progress_of(tx, &held)?.into_iter().map(|row| (row.campaign, row)).collect();
        // Every node takes its locks in the same order.
        for tenant in workspaces.into_iter().filter(|tenant| free.contains(tenant)) {
            self.dials.known.workspace(&mut tx.of(tenant), Mode::Live)?;
        }
        Ok(held
            .into_iter()
            .filter_map(|id| {
                let (campaign, progress) = (campaigns.remove(&id)?, known.remove(&id)?);
                let schedule = Schedule::of(&campaign.settings);
                let delta = Delta { list: progress.list, ..Delta::default() };
                Some(DueCampaign {
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
                    series: None,
                    callers: None,
                    lines_wanted: None,
                    work: Work::default(),
                    unfit: BTreeSet::new(),
                    delta,
                    held: HashMap::new(),
                    moves: Moves::default(),
                })
            })
            .collect())
    }

    /// Checks the campaign as a whole, and locks its share of rows.
    fn begin(&mut self, tx: &mut Tx<'_>, turn: &mut DueCampaign, share: i64) -> Result<(), Failure> {
        let (now, tenant) = (self.dials.now(), turn.campaign.workspace);
        if turn.progress.retune_after.is_some() {
            turn.retune(tx, &self.dials.env)?;
            if turn.retuning {
                return Ok(());
            }
        }
        turn.stop = self.stopped(tx, turn)?;
        if turn.stop.is_some() {
            return Ok(());
        }
        turn.lines_wanted = match self.wanted.get(&tenant) {
            Some(wanted) => *wanted,
            None => {
                let wanted = due::lines_wanted(&mut tx.of(tenant), now)?;
                self.wanted.insert(tenant, wanted);
                wanted
            }
        };
        let free = turn.free_lines(tx, &mut self.dials)?;
        let (campaign, list) = (turn.campaign.id, turn.progress.list);
        if free <= 0 {
            if due::any_due(&mut tx.of(tenant), campaign, list, now)? {
                turn.stop = Some(Stop::Lines);
            }
            return Ok(());
        }
        let limit = share.min(free);
        let rows = due::to_look_at(&mut tx.of(tenant), campaign, list, now, limit)?;
        turn.more_due = rows.len() as i64 >= limit;
        let numbers = rows.iter().filter(|row| rules(row).waits()).filter_map(|row| number(row)).collect();
        self.dials.prefetch_people(&mut tx.of(tenant), numbers)?;
        turn.rows = rows.into();
        Ok(())
    }

    /// What blocks the whole campaign.
    fn stopped(&mut self, tx: &mut Tx<'_>, turn: &mut DueCampaign) -> Result<Option<Stop>, Failure> {
        let (now, campaign) = (self.dials.now(), &turn.campaign);
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
        let workspace = self.dials.known.workspace(&mut tx.of(campaign.workspace), Mode::Live)?;
        if workspace.suspended {
            return Ok(Some(Stop::Suspended));
        }
        if !workspace.kyb_verified {
            return Ok(Some(Stop::KybUnverified));
        }
        let owned = self.dials.known.numbers(&mut tx.of(campaign.workspace))?;
        let callers = Callers::of(tx, campaign, schedule, owned, now)?;
        if callers.none_owned() {
            return Ok(Some(Stop::Error("from_number_unavailable".into())));
        }
        turn.callers = Some(callers);
        Ok(None)
    }
}

/// A due row of a campaign.
struct DueRow<'a> {
    turn: &'a mut DueCampaign,
    row: EntryRow,
    choice: Choice,
}

impl DueDial for DueRow<'_> {
    type Decision = Step;

    fn tenant(&self) -> Tenant {
        self.turn.campaign.workspace
    }

    fn mode(&self) -> Mode {
        Mode::Live
    }

    fn api_key(&self) -> Option<Id<ApiKey>> {
        None
    }

    fn in_flight(&self) -> Option<InFlight> {
        (rules(&self.row).standing.state == RowState::InProgress).then_some(InFlight(self.row.call))
    }

    fn order(&self) -> Order {
        let (campaign, row) = (&self.turn.campaign, &self.row);
        let settings = &campaign.settings;
        let from_number = match &self.choice {
            Choice::Number(number) => Some(number.clone()),
            // Of a full pool any number shows whether the gates allow the dial.
            Choice::Full => settings.caller_ids.first().map(|own| own.number.clone()),
            Choice::Any => settings.from_number.clone(),
        };
        let agent = campaign.agent.map(|agent| agent.to_string()).unwrap_or_default();
        Order {
            from_number,
            name: row.name.clone(),
            variables: row.variables.clone(),
            until: self.turn.until,
            trace: campaign.trace,
            ..Order::new(Source::Campaign(campaign.id), agent, row.phone.clone().unwrap_or_default())
        }
    }

    fn add_facts(
        &mut self,
        tx: &mut Tx<'_>,
        round: &mut DialRound,
        prepared: &Prepared,
        facts: &mut DueFacts,
    ) -> Result<(), Failure> {
        let now = round.now();
        facts.unfit = unfit(prepared).map(|(why, _)| why);
        self.turn.series = prepared.judgement.as_ref().and_then(|judged| judged.said.series);
        let turn = &*self.turn;
        if facts.block == Some(Gate::FrequencyCap) {
            facts.cap_ends = cap_ends(&mut tx.of(turn.campaign.workspace), &self.row, prepared, now)?;
        }
        if let (Choice::Full, Some(schedule)) = (&self.choice, &turn.schedule) {
            let day = schedule.next_day(now);
            let open = schedule.next_look(day).unwrap_or(day);
            let hours = prepared.pack.as_ref().and_then(|pack| pack.hours.next_opening(open));
            facts.callers_rest_until = Some(hours.unwrap_or(open));
        }
        facts.line_free &= turn.free_lines(tx, round)? > 0;
        Ok(())
    }

    fn decide(&mut self, facts: &DueFacts, now: Timestamp) -> Result<Option<(Step, Act)>, Failure> {
        match row::decide(&rules(&self.row), facts, self.turn.retries(), now) {
            Some(Due::Row(decided)) => Ok(Some((decided, decided.action))),
            Some(Due::Stop(obstacle)) => {
                self.turn.stop = Some(stop_of(obstacle, self.turn.series));
                Ok(None)
            }
            None => Err(Failure::internal(format!("{} was due and is not", self.row.id))),
        }
    }

    fn settle(self, tx: &mut Tx<'_>, round: &mut DialRound, look: Look<'_, Step>) -> Result<(), Failure> {
        let (turn, mut row, next) = (self.turn, self.row, look.decision.next);
        turn.unfit.extend(unfit(look.prepared).map(|(_, why)| why));
        turn.on_call |= look.facts.on_call;
        match &look.call {
            None => {
                let given_up = row.call.filter(|_| next.look_at.is_none());
                let unfit = i64::from(look.facts.unfit.is_some());
                turn.work.attempted += unfit;
                turn.work.rejected += unfit;
                turn.store(tx, row, next)?;
                if let Some(call) = given_up {
                    retries::tell(&mut tx.of(turn.campaign.workspace), &round.env, call)?;
                }
            }
            Some((call, None)) => {
                (row.call, row.contact) = (Some(call.id), call.contact);
                row.from_number = Some(call.from_number.clone());
                if let Some(callers) = &mut turn.callers {
                    callers.count(&call.from_number);
                }
                turn.work.attempted += 1;
                turn.work.placed += 1;
                turn.delta.calls.dialled += 1;
                turn.delta.last_call_at = Some(round.now());
                turn.store(tx, row, next)?;
            }
            Some((call, Some(gate))) => {
                calls::emit(tx, &round.env, call, |call| {
                    let block_reason = Some(Some(gate.as_str().to_owned()));
                    events::Event::CallFailed(FailedCall { call, block_reason })
                })?;
                row.contact = call.contact;
                turn.work.attempted += 1;
                turn.work.rejected += 1;
                turn.store(tx, row, next)?;
            }
        }
        let closed = look.prepared.judgement.as_ref().is_some_and(|judged| judged.is_closed());
        if closed { turn.close(tx, round, look.facts) } else { Ok(()) }
    }

    fn set_aside(self, tx: &mut Tx<'_>, round: &mut DialRound, failure: Failure) -> Result<(), Failure> {
        failure.log_about(self.row.id, "a due row of a list could not be looked at");
        let (look_at, state) = (Some(round.now().plus(SET_ASIDE)), self.row.standing.state);
        Ok(due::save_row(tx, &EntryRow { look_at, ..self.row }, state, &mut self.turn.moves)?)
    }

    fn settle_in_flight(
        self,
        tx: &mut Tx<'_>,
        round: &mut DialRound,
        call: Option<CallRow>,
    ) -> Result<(), Failure> {
        let event = match &call {
            Some(call) => Ending::of(&call.progress).map_or(Event::Lives(call.progress.status), |ending| {
                Event::Over(ending, call.progress.status)
            }),
            None => Event::CallMissing,
        };
        match step(&rules(&self.row), event, self.turn.retries(), round.now()) {
            Some(decided) => self.turn.store(tx, self.row, decided.next),
            None => Err(Failure::internal(format!("{} is in progress and is not", self.row.id))),
        }
    }
}

impl DueCampaign {
    fn retries(&self) -> Retries {
        retries_of(&self.campaign)
    }

    /// Handles its next row. Returns whether there may be another.
    fn next(&mut self, tx: &mut Tx<'_>, round: &mut DialRound) -> Result<bool, Failure> {
        if self.stop.is_some() {
            return Ok(false);
        }
        let Some(row) = self.rows.pop_front() else { return Ok(false) };
        self.look(tx, round, *row)?;
        Ok(self.stop.is_none() && !self.rows.is_empty())
    }

    fn look(&mut self, tx: &mut Tx<'_>, round: &mut DialRound, row: EntryRow) -> Result<(), Failure> {
        let choice = self.callers.as_ref().map_or(Choice::Any, |callers| callers.choose(&row));
        round.look(tx, DueRow { turn: self, row, choice })
    }

    /// Holds the waiting rows of the round: the calling hours are over for all of them.
    fn close(&mut self, tx: &mut Tx<'_>, round: &mut DialRound, facts: DueFacts) -> Result<(), Failure> {
        self.window_closed = true;
        let closed = DueFacts { unfit: None, block: Some(Gate::CallingWindow), ..facts };
        let (mut held, mut until) = (Vec::new(), None);
        for row in std::mem::take(&mut self.rows) {
            let before = rules(&row);
            match step(&before, Event::Due(closed), self.retries(), round.now()) {
                Some(decided) => {
                    self.count(&before, &decided.next);
                    self.moves.moved(row.position, before.standing.state, decided.next.standing.state);
                    until = decided.next.look_at;
                    held.push(row.id);
                }
                None => self.look(tx, round, *row)?,
            }
        }
        if let Some(until) = until {
            let (tenant, reason) = (self.campaign.workspace, HeldReason::CallingWindow);
            due::hold_each(&mut tx.of(tenant), &held, reason, until)?;
        }
        Ok(())
    }

    /// Lines that are free for it: nudges and scheduled calls of its workspace that wait for one have priority, and it
    /// has a ceiling of its own.
    fn free_lines(&self, tx: &mut Tx<'_>, round: &mut DialRound) -> Result<i64, Failure> {
        let Some(wanted) = self.lines_wanted else { return Ok(0) };
        Ok((round.free_lines(&mut tx.of(self.campaign.workspace))? - wanted).min(self.free_calls()))
    }

    /// Calls that its own ceiling still allows.
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

    /// Whether nobody on its list can still be reached, and nobody is added to it.
    fn is_exhausted(&self) -> bool {
        self.campaign.streams <= 0 && row::is_exhausted(&self.tally())
    }

    /// Checks the next rows that were tried against the current retry settings.
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

/// Ends a campaign's part of a round: its counters, its run, its end, and its next check. Returns whether another round
/// may find something.
fn end(tx: &mut Tx<'_>, env: &Env, mails: bool, turn: &mut DueCampaign) -> Result<bool, Failure> {
    let now = env.context.now;
    let (tenant, campaign) = (turn.campaign.workspace, turn.campaign.id);
    store_counts(&mut tx.of(tenant), campaign, &turn.delta, (&turn.held, &turn.moves))?;
    if let (Some(callers), Some(schedule)) = (&turn.callers, &turn.schedule) {
        callers.store(&mut tx.of(tenant), campaign, schedule.day(now))?;
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
        // Its tried people are given up, first here and then in rounds of their own.
        Some(Stop::EndDate) => due::NextLook::At(runs.again.then_some(now)),
        Some(Stop::Inactive | Stop::ListComplete) => due::NextLook::At(None),
        // The session ends in a round of its own.
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

/// What is missing or invalid in a row, so that it can never be called.
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

/// The effect of an obstacle on the whole campaign ([`row::decide`]).
fn stop_of(obstacle: Obstacle, series: Option<SeriesDemand>) -> Stop {
    let error = |text: &str| Stop::Error(text.to_owned());
    match obstacle {
        Obstacle::Balance => Stop::Balance,
        Obstacle::Line => Stop::Lines,
        Obstacle::CarrierRests => Stop::Provider,
        Obstacle::Refused(refusal) => error(refusal.as_str()),
        Obstacle::OwnNumber => error("from_number_unavailable"),
        Obstacle::Providers => error("india_residency_unavailable"),
        Obstacle::Blocked(Gate::NumberSeries) => {
            let why = series.and_then(|demand| demand.message());
            Stop::Error(why.map_or_else(|| "number_series".into(), |why| format!("number_series: {why}")))
        }
        // These concern a single row.
        Obstacle::KeyRevoked
        | Obstacle::Unfit(_)
        | Obstacle::Blocked(_)
        | Obstacle::CallerIds(_)
        | Obstacle::OnCall => error("placement_refused"),
    }
}

/// When the caps of the pack allow a dial to the number again: when enough of its dials are a day or a week old.
fn cap_ends(
    tx: &mut TenantTx,
    row: &EntryRow,
    prepared: &Prepared,
    now: Timestamp,
) -> Result<Option<Timestamp>, Failure> {
    let (Some(pack), Some(to)) = (&prepared.pack, prepared.to) else { return Ok(None) };
    let caps = [(pack.caps.per_day, DAY), (pack.caps.per_week, 7 * DAY)];
    let most = caps.iter().filter_map(|(cap, _)| *cap).max().unwrap_or(0);
    let hash = row.phone_hash.as_deref().unwrap_or_default();
    let dials = call_store::dial_times(tx, &to.to_string(), hash, now.plus(-7 * DAY), i64::from(most))?;
    let ends = caps.into_iter().filter_map(|(cap, span)| {
        let oldest = dials.get(usize::try_from(cap?).ok()?.checked_sub(1)?)?;
        Some(oldest.plus(span)).filter(|at| *at > now)
    });
    Ok(ends.max())
}

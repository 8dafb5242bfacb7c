//! Preflight, a dry run: who would be called, who would not and by which gate, when it would be done, and what it would
//! cost (docs/contract/campaigns.md#preflight). Nothing is stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::analytics::CallAnalytics;
use api::campaigns::{
    NudgeBatchPreflight, Preflight, PreflightBasis, PreflightCost, PreflightSchedule, Problem, Reason,
};
use app::access::{self, Caller};
use app::agents::{check_outbound, flow_readiness, required_variables};
use app::calls::{Env, OwnNumber, kind_of, meet_all, own_number, own_number_for, pack};
use app::{App, Failure, analytics};
use domain::analytics::Query;
use domain::call::variables::has_value;
use domain::campaign::forecast::{ASSUMED, ENOUGH_CALLS, Habit, Work, forecast, hours};
use domain::campaign::list::read_phone;
use domain::campaign::{RowState, Schedule, Status, Window};
use domain::compliance::{CallKind, Gate, Judgement, Pack, Purpose, Ruling, Verdict, demand, dlt};
use domain::ids::{Agent, Campaign, Id};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, Timestamp};
use domain::window::NudgeWindow;
use store::agents::AgentRow;
use store::campaigns::CampaignRow;
use store::campaigns::list as lists;
use store::workspaces::WorkspaceRow;
use store::{TenantTx, Tx};

use super::{find, progress};

/// Most rows that are checked.
const MOST: i64 = 100_000;
/// People in one batch.
const TOGETHER: usize = 500;
/// Examples of each reason.
const EXAMPLES: usize = 5;
/// Days of calls that the estimates are based on.
const HABIT_DAYS: i64 = 30;

/// The report, while it is built.
#[derive(Default)]
pub(crate) struct Report {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    pub examined: i64,
    pub will_call: i64,
    pub will_wait: i64,
    pub will_warn: i64,
    pub will_not_call: i64,
    by_reason: BTreeMap<String, Reason>,
}

impl Report {
    pub(crate) fn problem(&mut self, code: &'static str, message: impl Into<String>) {
        self.problems.push(Problem { code, message: message.into() });
    }

    fn warning(&mut self, code: &'static str, message: impl Into<String>) {
        self.warnings.push(Problem { code, message: message.into() });
    }

    fn note(&mut self, reason: &str, who: impl FnOnce() -> String) {
        let noted = self.by_reason.entry(reason.to_owned()).or_default();
        noted.count += 1;
        if noted.examples.len() < EXAMPLES {
            noted.examples.push(who());
        }
    }

    /// A person who would be called, unless a gate or a missing value blocks it.
    fn person(&mut self, said: &Judgement, waits_for_cap: bool, misses: bool, who: impl FnOnce() -> String) {
        self.examined += 1;
        let refused = |gate: &Gate| said.verdict(*gate) == Verdict::Refuse;
        let for_good = [Gate::Dnd, Gate::OptOut, Gate::Consent, Gate::NumberSeries].into_iter().find(refused);
        let called_before = self.will_call;
        let capped = refused(&Gate::FrequencyCap);
        match (for_good, misses, capped) {
            (Some(gate), ..) => self.refuse(gate.as_str(), who),
            (None, true, _) => self.refuse("missing_required_variables", who),
            (None, false, true) if waits_for_cap => {
                self.will_call += 1;
                self.will_wait += 1;
                self.note(Gate::FrequencyCap.as_str(), who);
            }
            (None, false, true) => self.refuse(Gate::FrequencyCap.as_str(), who),
            (None, false, false) => self.will_call += 1,
        }
        if said.verdict(Gate::NumberSeries) == Verdict::Warn {
            self.will_warn += self.will_call - called_before;
        }
    }

    /// What the pack wants of the numbers that calls show: a problem or a warning of all of them.
    fn series(&mut self, pack: &Pack, kind: &CallKind, now: Timestamp) {
        let Some(demand) = demand(&pack.number_series, kind, now) else { return };
        let Some(message) = demand.message() else { return };
        match demand.ruling {
            Ruling::Kept => {}
            Ruling::Warns => self.warning("number_series", message),
            Ruling::Refuses => self.problem("number_series", message),
        }
    }

    fn refuse(&mut self, reason: &str, who: impl FnOnce() -> String) {
        self.will_not_call += 1;
        self.note(reason, who);
    }
}

/// The results for the people, and the input of the estimates.
pub(crate) struct Seen {
    report: Report,
    total: i64,
    workspace: WorkspaceRow,
    pack: Option<Pack>,
    /// Most attempts for each person.
    attempts: i64,
    /// The campaign's own ceiling of concurrent calls.
    lines: Option<i64>,
    schedule: Option<Schedule>,
    end_at: Option<Timestamp>,
    purpose: Purpose,
    agent: Option<Id<Agent>>,
}

/// `POST /v1/campaigns/{id}/preflight`.
pub async fn of_campaign(app: &App, tenant: Tenant, id: Id<Campaign>) -> Result<Preflight, Failure> {
    let env = app.call_env();
    let seen = app.of(tenant).read_long(move |tx| look_at_campaign(tx, &env, id)).await?;
    finish(app, tenant, seen).await
}

/// `POST /v1/nudges/preflight-batch`.
pub async fn of_nudges(app: &App, caller: &Caller, body: NudgeBatchPreflight) -> Result<Preflight, Failure> {
    let env = app.call_env();
    let (tenant, mode) = (caller.tenant(), caller.mode());
    let body = Arc::new(body);
    let seen = app.of(tenant).read_long(move |tx| look_at_nudges(tx, &env, mode, &body)).await?;
    finish(app, tenant, seen).await
}

/// What the people of a campaign are judged against, and what the campaign itself lacks.
pub(crate) struct Frame {
    pub report: Report,
    pub row: CampaignRow,
    workspace: WorkspaceRow,
    /// The pack of the agent, and the calls that it judges.
    pub rules: Option<(Pack, CallKind)>,
    /// Variables that the agent's flow requires.
    pub required: Vec<String>,
}

impl Frame {
    /// Reads it for a campaign that calls.
    ///
    /// # Errors
    /// 404, 409 `chatapp_campaign`.
    pub(crate) fn of(tx: &mut TenantTx, env: &Env, id: Id<Campaign>) -> Result<Self, Failure> {
        let row = find(tx, id)?;
        crate::need_voice(&row)?;
        let workspace = access::workspace(tx)?;
        let mut report = Report::default();
        of_status(&mut report, &row, env.context.now);
        of_workspace(tx, env, &mut report, &workspace, Mode::Live, row.settings.from_number.as_deref())?;
        let agent = match row.agent {
            Some(agent) => store::agents::get(tx, agent)?,
            None => None,
        };
        let (pack, required) = of_agent(tx, &mut report, agent.as_ref())?;
        let rules = match (pack, &agent) {
            (Some(pack), Some(agent)) => {
                let kind = kind_of_campaign(tx, env, &row, &workspace, (agent, &pack))?;
                report.series(&pack, &kind, env.context.now);
                for problem in lacking_ids(&row, &workspace, agent, &pack) {
                    report.problem(problem.code(), problem.message());
                }
                Some((pack, kind))
            }
            _ => None,
        };
        Ok(Self { report, row, workspace, rules, required })
    }

    /// With the results for a list of so many rows.
    pub(crate) fn seen(self, total: i64) -> Seen {
        let Self { report, row, workspace, rules, .. } = self;
        let settings = &row.settings;
        Seen {
            report,
            total,
            workspace,
            pack: rules.map(|(pack, _)| pack),
            attempts: i64::from(settings.retry_count) + 1,
            lines: settings.max_concurrent_calls,
            schedule: Schedule::of(settings),
            end_at: settings.end_at,
            purpose: Purpose::Call,
            agent: row.agent,
        }
    }
}

fn look_at_campaign(tx: &mut TenantTx, env: &Env, id: Id<Campaign>) -> Result<Seen, Failure> {
    let mut frame = Frame::of(tx, env, id)?;
    let known = progress(tx, id)?;
    people_of_list(tx, env, &mut frame, known.list)?;
    let report = &mut frame.report;
    for (reason, count) in lists::count_invalid(tx, id, known.list)? {
        let first = lists::first_invalid(tx, id, known.list, reason, EXAMPLES as i64)?;
        let examples = first.into_iter().map(|id| id.to_string()).collect();
        report.will_not_call += count;
        report.by_reason.insert(reason.to_string(), Reason { count, examples });
    }
    if known.rows.total == 0 {
        report.problem("list_empty", "the calling list is empty; send one first");
    }
    Ok(frame.seen(known.rows.total))
}

fn of_status(report: &mut Report, row: &CampaignRow, now: Timestamp) {
    match row.status {
        Status::Draft | Status::Active | Status::Paused if row.settings.is_past(now) => {
            report.problem("past_end_date", "the campaign is past its end date; change settings.endAt");
        }
        Status::Draft | Status::Active | Status::Paused => {}
        Status::Completed | Status::Archived => {
            report.problem("completed", "the campaign is over; create another one")
        }
    }
}

/// Problems of the workspace.
fn of_workspace(
    tx: &mut Tx<'_>,
    env: &Env,
    report: &mut Report,
    workspace: &WorkspaceRow,
    mode: Mode,
    from: Option<&str>,
) -> Result<(), Failure> {
    if mode == Mode::Live {
        match own_number(&mut tx.of(workspace.id), from)? {
            OwnNumber::Owned(_) => {}
            OwnNumber::NotOwned => {
                report
                    .problem("from_number_not_owned", "fromNumber is not an active number of the workspace");
            }
            OwnNumber::Nothing => report.problem(
                "no_phone_number",
                "the workspace has no phone number; ask the operator to assign one",
            ),
        }
        if !workspace.kyb_verified {
            report.problem(
                "kyb_required",
                "the workspace is not verified (KYB); ask the operator to verify it",
            );
        }
        if workspace.balance - workspace.reserved < workspace.cost_per_minute {
            report.problem(
                "insufficient_balance",
                "the wallet does not cover one minute; ask the operator to top it up",
            );
        }
    }
    if env.carriers.in_mode(mode).is_none() {
        report.problem("voice_unavailable", "there is no carrier for calls");
    }
    Ok(())
}

/// Problems of the agent and its pack, and the variables that its flow requires.
fn of_agent(
    tx: &mut TenantTx,
    report: &mut Report,
    agent: Option<&AgentRow>,
) -> Result<(Option<Pack>, Vec<String>), Failure> {
    let Some(agent) = agent else {
        report.problem("agent_missing", "the campaign has no agent; set agentId");
        return Ok((None, Vec::new()));
    };
    match check_outbound(agent).and_then(|()| flow_readiness(tx, agent)) {
        Err(failure) if failure.error.status < 500 => report.problem(failure.error.code, failure.message),
        checked => checked?,
    }
    Ok((Some(pack(tx, agent)?), required_variables(tx, agent)?))
}

/// The calls of a campaign, with the own number of its pool to which the pack objects most.
fn kind_of_campaign(
    tx: &mut TenantTx,
    env: &Env,
    row: &CampaignRow,
    workspace: &WorkspaceRow,
    (agent, pack): (&AgentRow, &Pack),
) -> Result<CallKind, Failure> {
    let objection = |kind: &CallKind| match demand(&pack.number_series, kind, env.context.now) {
        None => 0,
        Some(demand) => match demand.ruling {
            Ruling::Kept => 1,
            Ruling::Warns => 2,
            Ruling::Refuses => 3,
        },
    };
    let pool = row.settings.caller_ids.iter().map(|own| kind_of(workspace, agent, Some(&own.number)));
    let worst = pool.collect::<Result<Vec<CallKind>, _>>()?.into_iter().max_by_key(objection);
    match worst {
        Some(of_pool) => Ok(of_pool),
        None => {
            let asked = row.settings.from_number.as_deref();
            let from = own_number_for(tx, env.context.now, (workspace, agent, pack), asked)?;
            kind_of(workspace, agent, from.owned())
        }
    }
}

/// The ids of the registers of senders that a campaign lacks by its pack.
pub(crate) fn lacking_ids(
    row: &CampaignRow,
    workspace: &WorkspaceRow,
    agent: &AgentRow,
    pack: &Pack,
) -> Vec<dlt::DltProblem> {
    let (entity, template) = (workspace.dlt_entity_id.as_deref(), row.dlt_template_ref.as_deref());
    dlt::check(pack.dlt, agent.communication, entity, template)
}

/// Checks the people of a calling list, up to the limit of rows.
fn people_of_list(tx: &mut TenantTx, env: &Env, frame: &mut Frame, list: i64) -> Result<(), Failure> {
    let Frame { report, row: campaign, rules: Some((pack, kind)), required, .. } = frame else {
        return Ok(());
    };
    let tenant = tx.tenant();
    for state in [RowState::Queued, RowState::Held, RowState::Unreached] {
        let mut position = 0;
        while report.examined < MOST {
            let limit = (MOST - report.examined).min(TOGETHER as i64);
            let rows = lists::to_call(tx, campaign.id, list, state, position, limit)?;
            let Some(last) = rows.last() else { break };
            position = last.position;
            // A number that is not valid any more is not called either: it was parsed when the row came.
            let people: Vec<_> = rows
                .iter()
                .filter_map(|row| {
                    Some((row, row.phone.as_deref().and_then(|phone| Phone::normalize(phone).ok())?))
                })
                .collect();
            let phones: Vec<Phone> = people.iter().map(|(_, phone)| *phone).collect();
            let met = meet_all(tx, env, pack, (tenant, Mode::Live), (Purpose::Call, *kind), &phones)?;
            for ((row, _), met) in people.iter().zip(met) {
                let saved = |name: &String| met.saved.as_ref().and_then(|saved| saved.get(name));
                let misses =
                    required.iter().any(|name| !has_value(row.variables.get(name).or_else(|| saved(name))));
                report.person(&met.said, true, misses, || row.id.to_string());
            }
        }
    }
    Ok(())
}

fn look_at_nudges(
    tx: &mut TenantTx,
    env: &Env,
    mode: Mode,
    body: &NudgeBatchPreflight,
) -> Result<Seen, Failure> {
    let tenant = tx.tenant();
    let workspace = access::workspace(tx)?;
    let found = match body.agent_id.parse::<Id<Agent>>() {
        Ok(id) => store::agents::get(tx, id)?,
        Err(_) => None,
    };
    let agent = found.ok_or_else(|| Failure::not_found("agent"))?;
    let mut report = Report::default();
    let from = body.from_number.as_deref();
    of_workspace(tx, env, &mut report, &workspace, mode, from)?;
    let (pack, required) = of_agent(tx, &mut report, Some(&agent))?;
    let shown = match &pack {
        Some(pack) => own_number_for(tx, env.context.now, (&workspace, &agent, pack), from)?,
        None => own_number(tx, from)?,
    };
    let kind = kind_of(&workspace, &agent, shown.owned())?;
    if let (Some(pack), Mode::Live) = (&pack, mode) {
        report.series(pack, &kind, env.context.now);
    }
    let mut seen = std::collections::HashSet::new();
    let mut people = Vec::new();
    for (place, text) in body.to_numbers.iter().enumerate() {
        match read_phone(text) {
            Err(why) => report.refuse(why.as_str(), || place.to_string()),
            Ok(phone) if !seen.insert(phone) => report.refuse("duplicate", || place.to_string()),
            Ok(phone) => people.push((place, phone)),
        }
    }
    for people in people.chunks(TOGETHER) {
        let Some(pack) = &pack else { break };
        let phones: Vec<Phone> = people.iter().map(|(_, phone)| *phone).collect();
        let met = meet_all(tx, env, pack, (tenant, mode), (Purpose::Nudge, kind), &phones)?;
        for ((place, _), met) in people.iter().zip(met) {
            let there = |name: &String| has_value(met.saved.as_ref().and_then(|saved| saved.get(name)));
            // Values come with each nudge; those that no nudge has must be saved on the contact.
            let misses = required.iter().any(|name| !there(name));
            if misses {
                report.note("needs_variables", || place.to_string());
            }
            report.person(&met.said, false, false, || place.to_string());
        }
    }
    if report.by_reason.contains_key("needs_variables") {
        let names = required.join(", ");
        report.warning(
            "missing_required_variables",
            format!("every nudge must bring the variables {names}, or they must be saved on the contact"),
        );
    }
    Ok(Seen {
        report,
        total: body.to_numbers.len() as i64,
        workspace,
        pack,
        attempts: 1,
        lines: None,
        schedule: None,
        end_at: None,
        purpose: Purpose::Nudge,
        agent: Some(agent.id),
    })
}

/// Statistics of the agent's calls in the last days.
async fn habit(
    app: &App,
    tenant: Tenant,
    agent: Option<Id<Agent>>,
) -> Result<(Habit, PreflightBasis), Failure> {
    let from = app.clock.now().plus(-HABIT_DAYS * DAY);
    let figures: Option<CallAnalytics> = match agent {
        Some(agent) => {
            let query = Query { from: Some(from), agent: Some(agent.to_string()), ..Query::default() };
            Some(analytics::calls(app, tenant, Mode::Live, query, false).await?)
        }
        None => None,
    };
    let totals = figures.as_ref().map(|figures| &figures.totals);
    let calls = totals.map_or(0, |totals| totals.calls);
    let (habit, source) = match totals.filter(|totals| totals.calls >= ENOUGH_CALLS) {
        Some(totals) => {
            let habit = Habit { connect_rate: totals.connect_rate, talk_seconds: totals.avg_talk_seconds };
            (habit, "agent_calls")
        }
        None => (ASSUMED, "assumption"),
    };
    let basis = PreflightBasis {
        source,
        calls: i64::try_from(calls).unwrap_or(i64::MAX),
        connect_rate: habit.connect_rate,
        avg_talk_seconds: habit.talk_seconds,
    };
    Ok((habit, basis))
}

/// Estimates for the checked people: windows, lines and money.
pub(crate) async fn finish(app: &App, tenant: Tenant, seen: Seen) -> Result<Preflight, Failure> {
    let now = app.clock.now();
    let (habit, based_on) = habit(app, tenant, seen.agent).await?;
    let mut report = seen.report;
    let own = access::limit(&seen.workspace, "concurrentCalls").min(app.config.telephony.concurrent_calls);
    let lines = seen.lines.map_or(own, |most| own.min(most)).max(1);
    let longest = i64::try_from(app.config.telephony.max_duration.as_millis()).unwrap_or(i64::MAX);
    let price = seen.workspace.cost_per_minute;
    let work = Work { people: report.will_call, attempts: seen.attempts, lines, price, longest };
    let duration = work.duration(habit);
    let next = |from: Timestamp| {
        seen.pack.as_ref().and_then(|pack| next_window(pack, seen.purpose, seen.schedule.as_ref(), from))
    };
    let done = forecast(now, duration, next);
    if report.examined > 0 && report.will_call == 0 {
        report.problem("nobody_to_call", "no contact on the list can be called, see byReason");
    }
    let available = seen.workspace.balance - seen.workspace.reserved;
    let expected = work.expected(habit);
    if available >= price && available < expected {
        report.warning("balance_too_small", "the wallet does not cover the expected cost");
    }
    match done {
        None if seen.pack.is_some() => {
            report.problem("never_open", "the calling window does not open any more")
        }
        Some(done) if done.finishes_at.is_none() && seen.end_at.is_some() => {
            report.warning("not_done_by_end_date", "not all contacts can be called before the end date");
        }
        Some(_) | None => {}
    }
    Ok(Preflight {
        ready: report.problems.is_empty(),
        problems: report.problems,
        warnings: report.warnings,
        total: seen.total,
        examined: report.examined,
        will_call: report.will_call,
        will_wait: report.will_wait,
        will_warn: report.will_warn,
        will_not_call: report.will_not_call,
        by_reason: report.by_reason,
        schedule: PreflightSchedule {
            inside_window: done.is_some_and(|done| done.starts_at == now),
            starts_at: done.map(|done| done.starts_at),
            finishes_at: done.and_then(|done| done.finishes_at),
            lines,
            dialling_hours: hours(duration),
        },
        cost: PreflightCost {
            currency: seen.workspace.currency,
            cost_per_minute_minor: price,
            available_minor: available,
            expected_minor: expected,
            at_most_minor: work.at_most(),
            based_on,
        },
    })
}

/// The first time at or after `from` at which both the pack and the campaign allow a dial, and when one of them closes
/// again.
fn next_window(
    pack: &Pack,
    purpose: Purpose,
    schedule: Option<&Schedule>,
    from: Timestamp,
) -> Option<(Timestamp, Timestamp)> {
    let of_pack = |from: Timestamp| match purpose {
        Purpose::Nudge => {
            NudgeWindow::new(&pack.hours).release(from).map(|release| (release.opening, release.closing))
        }
        Purpose::Call | Purpose::Transfer { .. } => pack.hours.next_window(from),
    };
    let Some(schedule) = schedule else { return of_pack(from) };
    let mut at = from;
    // Each round moves on to the later opening of the two; both open at least every few days, or never.
    for _ in 0..1_000 {
        let (open, close) = of_pack(at)?;
        match schedule.window(open) {
            Window::Open { until } => return Some((open, until.map_or(close, |until| until.min(close)))),
            Window::Closed { opens } => at = opens?,
            Window::Over => return None,
        }
    }
    None
}

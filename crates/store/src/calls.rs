//! Calls of both worlds, and the networks that play simulated ones: the table itself says which call is due
//! for its next step.

use std::borrow::Borrow;

use domain::call::{Network, Progress, Stage, Status, Wish};
use domain::ids::{Agent, Call, Campaign, Contact, Id, Nudge, Recording, ScheduledCall};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, Timestamp};
use serde_json::{Map, Value as Json};

use crate::analytics;
use crate::call_wishes::read_wish;
use crate::db::{DbError, Row, Tx, Value, any_of};
use crate::params;

/// A call as stored, without what was said.
#[derive(Debug, Clone)]
pub struct CallRow {
    /// Its id; its moment is `started_at`.
    pub id: Id<Call>,
    /// The workspace.
    pub workspace: Tenant,
    /// The world it belongs to.
    pub mode: Mode,
    /// Who talks.
    pub agent: Option<Id<Agent>>,
    /// Who is called.
    pub contact: Option<Id<Contact>>,
    /// The campaign that dialled it.
    pub campaign: Option<Id<Campaign>>,
    /// The nudge that it is an attempt of.
    pub nudge: Option<Id<Nudge>>,
    /// The scheduled call that placed it.
    pub scheduled_call: Option<Id<ScheduledCall>>,
    /// `outbound` or `inbound`.
    pub direction: String,
    /// How far it has got.
    pub progress: Progress,
    /// The agent's disposition.
    pub outcome: Option<String>,
    /// Number dialled, E.164.
    pub to_number: String,
    /// Own number, E.164; empty when the workspace had none (test calls).
    pub from_number: String,
    /// The contact's reference at placement.
    pub external_ref: Option<String>,
    /// Values of the conversation.
    pub variables: Map<String, Json>,
    /// The client's notes.
    pub metadata: Json,
    /// The carrier's id of it.
    pub provider_call: Option<String>,
    /// When it was placed.
    pub started_at: Timestamp,
    /// The gate that refused it.
    pub block_reason: Option<String>,
    /// When a hang-up was asked for.
    pub hang_up_at: Option<Timestamp>,
    /// Language of the agent at placement.
    pub language: Option<String>,
    /// What analysis heard in it.
    pub sentiment: Option<String>,
    /// Minor units of a started minute.
    pub price: i64,
    /// Calls of the workspace on the line at placement, with this one.
    pub concurrent: i64,
    /// Whether it occupies a line of the carrier.
    pub line: bool,
    /// The table that plays the phone.
    pub network: Option<Network>,
    /// Its next step there.
    pub script_step: i64,
    /// When to look at it again.
    pub next_step_at: Option<Timestamp>,
    /// Idempotency key and holder of the request that placed it and has no answer yet.
    pub once: Option<(String, String)>,
    /// What keeps it on its line.
    pub upkeep: Upkeep,
    /// Grows with every save.
    pub version: i64,
}

/// What keeps a call on its line: money, and that nobody wants it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upkeep {
    /// Minutes that it holds of the wallet while it is on its line, at its price.
    pub minutes: i64,
    /// When that has to grow.
    pub grow_at: Option<Timestamp>,
    /// Second legs that were ever decided on; written by [`crate::call_legs`] only.
    pub legs: i64,
    /// Why somebody wants it ended; with `hang_up_at`.
    pub wish: Option<Wish>,
}

impl Default for Upkeep {
    fn default() -> Self {
        Self { minutes: 1, grow_at: None, legs: 0, wish: None }
    }
}

/// What was said in a call and found in it.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// List of `{role, text}`.
    pub transcript: Option<Json>,
    /// Captured fields.
    pub extracted: Option<Json>,
    /// Analysis in a few sentences.
    pub summary: Option<String>,
    /// List of `{provider, status, error, createdAt}`, newest first.
    pub connector_pushes: Option<Json>,
    /// The recording, once it is kept.
    pub recording: Option<Id<Recording>>,
    /// List of [`domain::call::TimedTurn`].
    pub turns: Option<Json>,
    /// List of [`domain::call::TurnLatency`].
    pub latency: Option<Json>,
    /// `pending`, `done`, `failed`, or `skipped` without a language model; `None` when there is nothing to
    /// analyse.
    pub analysis: Option<String>,
    /// When the analysis was over.
    pub analysed_at: Option<Timestamp>,
    /// Status of the transcript with times.
    pub full_status: Option<String>,
    /// List of `{speaker, text, start}`.
    pub full_turns: Option<Json>,
}

const COLUMNS: &str = "id, workspace, mode, agent, contact, campaign, nudge, scheduled_call, direction, status, outcome, to_number, from_number, \
     external_ref, variables, metadata, provider_call, started_at, answered_at, ended_at, talk_ms, end_cause, block_reason, opted_out, hang_up_at, \
     language, sentiment, price, concurrent, line, network, script_step, next_step_at, once_key, once_holder, version, \
     minutes, grow_at, legs, wish";

fn read(row: &Row<'_>) -> Result<CallRow, DbError> {
    let status = row.text(9)?;
    Ok(CallRow {
        id: row.id(0)?,
        workspace: row.id(1)?,
        mode: Mode::parse(&row.text(2)?).ok_or_else(|| DbError::Internal("unknown mode of a call".into()))?,
        agent: row.opt_id(3)?,
        contact: row.opt_id(4)?,
        campaign: row.opt_id(5)?,
        nudge: row.opt_id(6)?,
        scheduled_call: row.opt_id(7)?,
        direction: row.text(8)?,
        progress: Progress {
            status: Status::parse(&status)
                .ok_or_else(|| DbError::Internal(format!("unknown status of a call: {status}")))?,
            answered_at: row.opt_time(18)?,
            ended_at: row.opt_time(19)?,
            talk_ms: row.opt_int(20)?,
            end_cause: row.opt_text(21)?,
            opted_out: row.flag(23)?,
        },
        outcome: row.opt_text(10)?,
        to_number: row.text(11)?,
        from_number: row.text(12)?,
        external_ref: row.opt_text(13)?,
        variables: match row.json(14)? {
            Json::Object(variables) => variables,
            _ => Map::new(),
        },
        metadata: row.json(15)?,
        provider_call: row.opt_text(16)?,
        started_at: row.time(17)?,
        block_reason: row.opt_text(22)?,
        hang_up_at: row.opt_time(24)?,
        language: row.opt_text(25)?,
        sentiment: row.opt_text(26)?,
        price: row.int(27)?,
        concurrent: row.int(28)?,
        line: row.opt_int(29)?.is_some(),
        network: row.opt_text(30)?.and_then(|text| Network::parse(&text)),
        script_step: row.int(31)?,
        next_step_at: row.opt_time(32)?,
        once: row.opt_text(33)?.zip(row.opt_text(34)?),
        version: row.int(35)?,
        upkeep: Upkeep {
            minutes: row.int(36)?,
            grow_at: row.opt_time(37)?,
            legs: row.int(38)?,
            wish: row.opt_text(39)?.and_then(|text| Wish::parse(&text)),
        },
    })
}

impl CallRow {
    /// What it holds of the wallet, without its second legs.
    pub fn held(&self) -> i64 {
        if self.line { self.price.saturating_mul(self.upkeep.minutes) } else { 0 }
    }

    /// What is wanted of it, if anything.
    pub fn wish(&self) -> Option<Wish> {
        self.hang_up_at.map(|_| self.upkeep.wish.unwrap_or(Wish::HangUp))
    }

    fn phase(&self) -> Option<String> {
        (!self.progress.status.is_live()).then(|| phase(&self.direction, self.progress.status))
    }
}

fn phase(direction: &str, status: Status) -> String {
    format!("{direction}:{}", status.as_str())
}

/// Adds calls; [`touch_hour`] must follow in the transaction for each of their hours.
pub fn insert<C: Borrow<CallRow>>(tx: &mut Tx<'_>, rows: &[C]) -> Result<(), DbError> {
    let into = "insert into calls (id, workspace, mode, agent, contact, campaign, nudge, scheduled_call, direction, status, phase, outcome, to_number, \
         from_number, external_ref, variables, metadata, provider_call, started_at, answered_at, ended_at, talk_ms, end_cause, block_reason, \
         opted_out, hang_up_at, language, sentiment, price, concurrent, line, network, script_step, next_step_at, once_key, once_holder, version)";
    tx.insert_all(into, rows.iter().map(|row| values(row.borrow())))
}

fn values(row: &CallRow) -> [Value<'_>; 37] {
    let progress = &row.progress;
    [
        row.id.into(),
        row.workspace.into(),
        row.mode.as_str().into(),
        row.agent.into(),
        row.contact.into(),
        row.campaign.into(),
        row.nudge.into(),
        row.scheduled_call.into(),
        (&row.direction).into(),
        progress.status.as_str().into(),
        row.phase().into(),
        row.outcome.as_deref().into(),
        (&row.to_number).into(),
        (&row.from_number).into(),
        row.external_ref.as_deref().into(),
        (&row.variables).into(),
        (&row.metadata).into(),
        row.provider_call.as_deref().into(),
        row.started_at.into(),
        progress.answered_at.into(),
        progress.ended_at.into(),
        progress.talk_ms.into(),
        progress.end_cause.as_deref().into(),
        row.block_reason.as_deref().into(),
        progress.opted_out.into(),
        row.hang_up_at.into(),
        row.language.as_deref().into(),
        row.sentiment.as_deref().into(),
        row.price.into(),
        row.concurrent.into(),
        row.line.then_some(1).into(),
        row.network.map(Network::as_str).into(),
        row.script_step.into(),
        row.next_step_at.into(),
        row.once.as_ref().map(|(key, _)| key.as_str()).into(),
        row.once.as_ref().map(|(_, holder)| holder.as_str()).into(),
        row.version.into(),
    ]
}

/// Says that the figures of the hour in which this call began have changed. Only live calls are counted in
/// figures. [`save`] does so by itself; whoever [`insert`]s says it once for all calls of an hour.
pub fn touch_hour(tx: &mut Tx<'_>, row: &CallRow) -> Result<(), DbError> {
    if row.mode == Mode::Test {
        return Ok(());
    }
    let latest = row.progress.ended_at.or(row.progress.answered_at).unwrap_or(row.started_at);
    analytics::touch(tx, row.workspace, row.started_at, latest)
}

/// Writes what changes in the life of a call, if nobody else has since it was read. Whether it did. Until it
/// is over, or somebody asks for its end, the columns that say so are as they were when it was made: they are
/// left alone, and with them the indexes that name them.
pub fn save(tx: &mut Tx<'_>, row: &CallRow) -> Result<bool, DbError> {
    const LIVE: &str = "update calls set status = ?4, outcome = ?5, provider_call = ?6, answered_at = ?7, ended_at = ?8, talk_ms = ?9, end_cause = ?10, \
         opted_out = ?11, sentiment = ?12, script_step = ?13, next_step_at = ?14, once_key = ?15, once_holder = ?16, version = version + 1 \
         where workspace = ?1 and id = ?2 and version = ?3";
    const TALKING: &str = "update calls set status = ?4, outcome = ?5, provider_call = ?6, answered_at = ?7, ended_at = ?8, talk_ms = ?9, end_cause = ?10, \
         opted_out = ?11, sentiment = ?12, script_step = ?13, next_step_at = ?14, once_key = ?15, once_holder = ?16, grow_at = ?17, version = version + 1 \
         where workspace = ?1 and id = ?2 and version = ?3";
    const OVER: &str = "update calls set status = ?4, outcome = ?5, provider_call = ?6, answered_at = ?7, ended_at = ?8, talk_ms = ?9, end_cause = ?10, \
         opted_out = ?11, sentiment = ?12, script_step = ?13, next_step_at = ?14, once_key = ?15, once_holder = ?16, grow_at = ?17, phase = ?18, hang_up_at = ?19, \
         line = ?20, wish = ?21, version = version + 1 where workspace = ?1 and id = ?2 and version = ?3";
    let progress = &row.progress;
    let values: [Value<'_>; 21] = [
        row.workspace.into(),
        row.id.into(),
        row.version.into(),
        progress.status.as_str().into(),
        row.outcome.as_deref().into(),
        row.provider_call.as_deref().into(),
        progress.answered_at.into(),
        progress.ended_at.into(),
        progress.talk_ms.into(),
        progress.end_cause.as_deref().into(),
        progress.opted_out.into(),
        row.sentiment.as_deref().into(),
        row.script_step.into(),
        row.next_step_at.into(),
        row.once.as_ref().map(|(key, _)| key.as_str()).into(),
        row.once.as_ref().map(|(_, holder)| holder.as_str()).into(),
        row.upkeep.grow_at.into(),
        row.phase().into(),
        row.hang_up_at.into(),
        row.line.then_some(1).into(),
        row.upkeep.wish.map(Wish::as_str).into(),
    ];
    let live = row.progress.status.is_live() && row.hang_up_at.is_none();
    let saved = match row.upkeep.grow_at {
        None if live => tx.exec(LIVE, &values[..16])?,
        Some(_) if live => tx.exec(TALKING, &values[..17])?,
        _ => tx.exec(OVER, &values)?,
    };
    if saved > 0 {
        touch_hour(tx, row)?;
    }
    Ok(saved > 0)
}

/// Writes what was said and found, unless the person or the number was erased meanwhile.
pub fn save_content(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Call>,
    transcript: &Json,
    extracted: &Json,
) -> Result<(), DbError> {
    tx.later(
        "update calls set transcript = ?3, extracted = ?4 where workspace = ?1 and id = ?2 and '[erased]' not in (to_number, from_number) and not exists \
         (select 1 from contacts where contacts.id = calls.contact and contacts.workspace = ?1 and contacts.erased_at is not null)",
        params![tenant, id, transcript, extracted],
    )
}

/// Drops a call that was never dialled.
pub fn remove(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Call>) -> Result<(), DbError> {
    // No figure knows of it: a call counts from its first ring.
    tx.later("delete from calls where workspace = ?1 and id = ?2 and status = 'queued'", params![tenant, id])
}

/// One call of one world.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<Option<CallRow>, DbError> {
    let sql = format!("select {COLUMNS} from calls where workspace = ?1 and mode = ?2 and id = ?3");
    tx.one(&sql, params![tenant, mode.as_str(), id], read)
}

/// The workspace of a call: for what names a call and nothing else, such as a file that a crash left behind.
pub fn whose(tx: &mut Tx<'_>, id: Id<Call>) -> Result<Option<Tenant>, DbError> {
    tx.one("select workspace from calls where id = ?1", params![id], |row| row.id(0))
}

/// One call of whatever world.
pub fn find(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Call>) -> Result<Option<CallRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from calls where workspace = ?1 and id = ?2"),
        params![tenant, id],
        read,
    )
}

/// One call, held against other writers until the transaction ends.
pub fn get_for_update(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Call>) -> Result<Option<CallRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from calls where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![tenant, id],
        read,
    )
}

/// What was said in a call and found in it.
pub fn content(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Call>) -> Result<Content, DbError> {
    let found = tx.one(
        "select transcript, extracted, summary, connector_pushes, recording, turns, latency, analysis, analysed_at, full_status, full_turns \
         from calls where workspace = ?1 and id = ?2",
        params![tenant, id],
        |row| {
            Ok(Content {
                transcript: row.opt_json(0)?,
                extracted: row.opt_json(1)?,
                summary: row.opt_text(2)?,
                connector_pushes: row.opt_json(3)?,
                recording: row.opt_id(4)?,
                turns: row.opt_json(5)?,
                latency: row.opt_json(6)?,
                analysis: row.opt_text(7)?,
                analysed_at: row.opt_time(8)?,
                full_status: row.opt_text(9)?,
                full_turns: row.opt_json(10)?,
            })
        },
    )?;
    Ok(found.unwrap_or_default())
}

/// Dials to each of these numbers in the last 24 hours and in the last 7 days, by the number for calls and by
/// its keyed hash for second legs; numbers without any are left out.
pub fn dials_to(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    numbers: &[impl AsRef<str>],
    hashes: &[impl AsRef<str>],
    now: Timestamp,
) -> Result<Vec<(String, (i64, i64))>, DbError> {
    let mut params = vec![tenant.into(), now.plus(-DAY).into(), now.plus(-7 * DAY).into()];
    let list = any_of(&mut params, numbers.iter().map(|number| number.as_ref().into()));
    let hashes = any_of(&mut params, hashes.iter().map(|hash| hash.as_ref().into()));
    let sql = format!(
        "select to_number, cast(coalesce(sum(case when started_at > ?2 then 1 else 0 end), 0) as bigint), count(*) from calls \
         where workspace = ?1 and to_number in {list} and mode = 'live' and block_reason is null and started_at > ?3 group by to_number \
         union all \
         select to_hash, cast(coalesce(sum(case when started_at > ?2 then 1 else 0 end), 0) as bigint), count(*) from call_legs \
         where workspace = ?1 and to_hash in {hashes} and mode = 'live' and block_reason is null and started_at > ?3 group by to_hash"
    );
    tx.all(&sql, &params, |row| Ok((row.text(0)?, (row.int(1)?, row.int(2)?))))
}

/// Calls that somebody must look at now, those that wait longest first, held against other nodes until the
/// transaction ends.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<CallRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from calls where next_step_at is not null and next_step_at <= ?1 order by next_step_at limit ?2 /*pg for update skip locked*/"
    );
    tx.all(&sql, params![now, limit], read)
}

/// Says that this node still holds a call on a real line, until the next time. What was asked of the call
/// meanwhile; `None` when it is over.
pub fn renew(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Call>,
    until: Timestamp,
) -> Result<Option<Renewed>, DbError> {
    tx.one(
        "update calls set next_step_at = ?3 where workspace = ?1 and id = ?2 and phase is null and network is null returning hang_up_at, wish",
        params![tenant, id, until],
        |row| Ok(Renewed { wish: read_wish(row.opt_time(0)?, row.opt_text(1)?) }),
    )
}

/// A call that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewed {
    /// What is wanted of it.
    pub wish: Option<Wish>,
}

/// When the next call is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx
        .one("select min(next_step_at) from calls where next_step_at is not null", &[], |row| {
            row.opt_time(0)
        })?
        .flatten())
}

/// Lines in use: of the workspace, and of the whole platform. Every live call that is not over occupies one,
/// and so does every second leg, from [`wallet::hold`](crate::wallet::hold) to
/// [`wallet::release`](crate::wallet::release).
pub fn lines(tx: &mut Tx<'_>, tenant: Tenant) -> Result<(i64, i64), DbError> {
    let sql = "select coalesce(sum(case when id = ?1 then lines else 0 end), 0)/*pg ::bigint*/, coalesce(sum(lines), 0)/*pg ::bigint*/ \
               from workspaces where lines > 0";
    Ok(tx.one(sql, params![tenant], |row| Ok((row.int(0)?, row.int(1)?)))?.unwrap_or_default())
}

/// Makes the placements of all workspaces wait for each other until the transaction ends, so that the last
/// free line is taken once.
pub fn lock_lines(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.one("select 1 from health where id = 1 /*pg for update*/", &[], |_| Ok(())).map(|_| ())
}

/// Live dials to a number, given with its keyed hash, in the last 24 hours and 7 days.
pub fn dials(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    to_number: &str,
    hash: &str,
    now: Timestamp,
) -> Result<(i64, i64), DbError> {
    let found = dials_to(tx, tenant, &[to_number], &[hash], now)?;
    Ok(found.into_iter().fold((0, 0), |(day, week), (_, dials)| (day + dials.0, week + dials.1)))
}

/// What a list asks for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this agent's.
    pub agent: Option<Id<Agent>>,
    /// Only this campaign's.
    pub campaign: Option<Id<Campaign>>,
    /// Only this person's.
    pub contact: Option<Id<Contact>>,
    /// `outbound` or `inbound`.
    pub direction: Option<String>,
    /// Only of this stage.
    pub stage: Option<Stage>,
    /// Only of this status.
    pub status: Option<Status>,
    /// Started at or after.
    pub from: Option<Timestamp>,
    /// Started before.
    pub to: Option<Timestamp>,
    /// The last id of the page before.
    pub before: Option<String>,
}

impl Filter {
    /// The statuses asked for.
    fn statuses(&self) -> Vec<Status> {
        let wanted = |status: &Status| {
            self.stage.is_none_or(|stage| status.stage() == stage)
                && self.status.is_none_or(|wanted| wanted == *status)
        };
        Status::ALL.into_iter().filter(wanted).collect()
    }

    /// The ids between which the list lies, the upper one excluded.
    fn bounds(&self) -> (String, String) {
        let at = |moment: Timestamp| Id::<Call>::new(moment.0, 0).to_string();
        let top = self.to.map_or_else(|| "call_~".to_owned(), at);
        (
            self.from.map_or_else(String::new, at),
            self.before.clone().map_or(top.clone(), |before| before.min(top)),
        )
    }
}

/// A statement in the making.
struct Query {
    sql: String,
    params: Vec<Value<'static>>,
}

impl Query {
    fn add(&mut self, value: impl Into<Value<'static>>) -> String {
        self.params.push(value.into());
        format!("?{}", self.params.len())
    }
}

/// Calls of one world, newest first. Every filter but a person's walks an index that ends in the id, one walk
/// a status: the cost of a page does not grow with the table.
pub fn list(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<CallRow>, DbError> {
    let (low, high) = filter.bounds();
    let mut query = Query {
        sql: String::new(),
        params: vec![tenant.into(), mode.as_str().into(), low.into(), high.into(), limit.into()],
    };
    let mut narrow = String::new();
    for (column, value) in [
        ("campaign", filter.campaign.map(|id| id.to_string())),
        ("agent", filter.agent.map(|id| id.to_string())),
    ] {
        if let Some(value) = value {
            let place = query.add(value);
            narrow.push_str(&format!(" and {column} = {place}"));
        }
    }
    let sorted = filter.direction.is_some() || filter.stage.is_some() || filter.status.is_some();
    let branches = match &filter.contact {
        Some(contact) => {
            let place = query.add(contact.to_string());
            let mut wanted = format!("{narrow} and contact = {place}");
            if sorted {
                let words: Vec<String> =
                    filter.statuses().into_iter().map(|status| query.add(status.as_str())).collect();
                wanted.push_str(&format!(
                    " and status in ({})",
                    if words.is_empty() { "null".into() } else { words.join(", ") }
                ));
            }
            if let Some(direction) = filter.direction.clone() {
                let place = query.add(direction);
                wanted.push_str(&format!(" and direction = {place}"));
            }
            vec![wanted]
        }
        None if !sorted && narrow.is_empty() => vec![String::new()],
        None => walks(filter, &mut query, &narrow),
    };
    let pages: Vec<String> = branches
        .iter()
        .map(|wanted| {
            format!("select id from (select id from calls where workspace = ?1 and mode = ?2 and id >= ?3 and id < ?4{wanted} order by id desc limit ?5) as walk")
        })
        .collect();
    if pages.is_empty() {
        return Ok(Vec::new());
    }
    query.sql = format!(
        "select {COLUMNS} from calls where id in (select id from ({}) as page order by id desc limit ?5) order by id desc",
        pages.join(" union all ")
    );
    tx.all(&query.sql, &query.params, read)
}

/// One walk over the live calls and one over each phase that is asked for.
fn walks(filter: &Filter, query: &mut Query, narrow: &str) -> Vec<String> {
    let (live, over): (Vec<Status>, Vec<Status>) =
        filter.statuses().into_iter().partition(|status| status.is_live());
    let mut walks = Vec::new();
    let directions: Vec<&str> = ["outbound", "inbound"]
        .into_iter()
        .filter(|known| filter.direction.as_deref().is_none_or(|asked| asked == *known))
        .collect();
    if !live.is_empty() {
        let words: Vec<String> = live.into_iter().map(|status| query.add(status.as_str())).collect();
        let mut wanted = format!(" and phase is null{narrow} and status in ({})", words.join(", "));
        if let [direction] = directions[..] {
            let place = query.add(direction);
            wanted.push_str(&format!(" and direction = {place}"));
        }
        walks.push(wanted);
    }
    for direction in directions {
        for status in &over {
            let place = query.add(phase(direction, *status));
            walks.push(format!(" and phase = {place}{narrow}"));
        }
    }
    walks
}

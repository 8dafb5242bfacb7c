//! Calls of both modes. The table also says which call is due for its next step, for the networks that play
//! simulated calls.

use std::borrow::Borrow;

use const_format::formatcp;
use domain::call::{AnsweredBy, Direction, HangupRequest, Network, Progress, Status};
use domain::ids::{Agent, Call, Campaign, Contact, Id, Nudge, Recording, ScheduledCall};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, SECOND, Timestamp};
use domain::trace::TraceContext;
use serde_json::{Map, Value as Json};

use crate::analytics;
use crate::db::row::{row, update};
use crate::db::{DbError, ROWS, TenantTx, Tx};
use crate::hangup_requests::RequestedHangup;
use crate::params;

row! {
    /// A call as stored, without what was said.
    #[derive(Debug, Clone)]
    pub struct CallRow in "calls" {
        /// Its id, whose timestamp is `started_at`.
        id: Id<Call>,
        workspace: Tenant,
        /// The mode it belongs to.
        mode: Mode,
        agent: Option<Id<Agent>>,
        contact: Option<Id<Contact>>,
        /// The campaign that dialled it.
        campaign: Option<Id<Campaign>>,
        /// The nudge that it is an attempt of.
        nudge: Option<Id<Nudge>>,
        /// The scheduled call that placed it.
        scheduled_call: Option<Id<ScheduledCall>>,
        /// `outbound` or `inbound`.
        direction: Direction,
        /// How far it has got.
        progress: Progress = |progress| {
            status: Status = progress.status,
            answered_at: Option<Timestamp> = progress.answered_at,
            ended_at: Option<Timestamp> = progress.ended_at,
            talk_ms: Option<i64> = progress.talk_ms,
            end_cause: Option<String> = progress.end_cause.as_deref(),
            opted_out: bool = progress.opted_out,
        } => Progress { status, answered_at, ended_at, talk_ms, end_cause, opted_out },
        /// The agent's disposition.
        outcome: Option<String>,
        /// Number dialled, E.164.
        to_number: String,
        /// Own number, E.164; empty when the workspace had none (test calls).
        from_number: String,
        /// The contact's reference at placement.
        external_ref: Option<String>,
        /// Values of the conversation.
        variables: Map<String, Json>,
        /// The client's notes.
        metadata: Json,
        /// The carrier's id of it.
        provider_call: Option<String>,
        started_at: Timestamp,
        /// When the carrier was requested to dial it: at most [`LATEST_DIAL`] after `started_at`, if the store is slow.
        /// `None` while unknown.
        dialled_at: Option<Timestamp>,
        /// The gate that refused it.
        block_reason: Option<String>,
        /// When a hang-up was requested.
        hang_up_at: Option<Timestamp>,
        /// The language of the agent at placement; the one that was spoken last when something was said.
        language: Option<String>,
        /// The sentiment that the analysis found.
        sentiment: Option<String>,
        /// Minor units of a started minute.
        price: i64,
        /// Calls of the workspace on the line at placement, with this one.
        concurrent: i64,
        /// Whether it occupies a line of the carrier.
        line: bool = |line| { line: Option<i64> = line.then_some(1) } => line.is_some(),
        /// The table that plays the phone.
        network: Option<Network>,
        /// Its next step there.
        script_step: i64,
        /// When its next step is due.
        next_step_at: Option<Timestamp>,
        /// Idempotency key and holder of the request that placed it and has no answer yet.
        once: Option<(String, String)> = |once| {
            once_key: Option<String> = once.as_ref().map(|(key, _)| key.as_str()),
            once_holder: Option<String> = once.as_ref().map(|(_, holder)| holder.as_str()),
        } => once_key.zip(once_holder),
        /// Its reservation and hang-up request. A call is inserted with the defaults.
        upkeep: Upkeep = |_| {
            minutes: i64,
            grow_at: Option<Timestamp>,
            legs: i64,
            wish: Option<HangupRequest>,
        } => Upkeep { minutes, grow_at, legs, wish },
        /// Grows with every save.
        version: i64,
        /// The trace of what placed it.
        trace: Option<TraceContext>,
        /// The carrier of an incoming call, or of its own number; `None` for the first one.
        carrier: Option<String>,
        /// Who picked up an outgoing call; `None` while it is not known.
        answered_by: Option<AnsweredBy>,
        /// The version of the flow that its conversation ran. A call is inserted without one.
        flow_version: Option<i64> = |_| { flow_version: Option<i64>, } => flow_version,
    }
    insert with { phase: Option<String> }
}

const COLUMNS: &str = CallRow::COLUMNS;

/// Longest time from the decision to the dial.
pub const LATEST_DIAL: i64 = 15 * SECOND;

/// The timestamp from which a cap counts a call: that of its dial, or the latest possible one.
const DIALLED: &str = formatcp!("coalesce(dialled_at, started_at + {LATEST_DIAL})");
/// The same for a second leg, which has only the timestamp of its decision.
const LEG_DIALLED: &str = formatcp!("started_at + {LATEST_DIAL}");

/// The reservation of a call on the wallet, and its hang-up request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upkeep {
    /// Minutes that are reserved of the wallet, at its price, while it is on its line.
    pub minutes: i64,
    /// When that must grow.
    pub grow_at: Option<Timestamp>,
    /// Second legs that were ever started; written by [`crate::call_legs`] only.
    pub legs: i64,
    /// Why a hang-up was requested; with `hang_up_at`.
    pub wish: Option<HangupRequest>,
}

impl Default for Upkeep {
    fn default() -> Self {
        Self { minutes: 1, grow_at: None, legs: 0, wish: None }
    }
}

row! {
    /// What was said in a call and found in it.
    #[derive(Debug, Clone, Default)]
    pub struct Content {
        /// List of `{role, text}`.
        transcript: Option<Json>,
        extracted: Option<Json>,
        /// Analysis in a few sentences.
        summary: Option<String>,
        /// List of `{provider, status, error, createdAt}`, newest first.
        connector_pushes: Option<Json>,
        /// The recording, once it is stored.
        recording: Option<Id<Recording>>,
        /// List of [`domain::call::TimedTurn`].
        turns: Option<Json>,
        /// List of [`domain::call::TurnLatency`].
        latency: Option<Json>,
        /// `pending`, `done`, `failed`, or `skipped` without a language model; `None` when there is nothing to
        /// analyse.
        analysis: Option<String>,
        /// When the analysis was over.
        analysed_at: Option<Timestamp>,
        /// Status of the transcript with times.
        full_status: Option<String>,
        /// List of `{speaker, text, start}`.
        full_turns: Option<Json>,
        /// Whether the disclosure was said: `{result, language, withinSeconds, pack}`.
        disclosure: Option<Json>,
        /// A [`domain::call::TurnDetails`].
        turn_details: Option<Json>,
    }
}

impl CallRow {
    /// The amount that it reserves of the wallet, without its second legs.
    pub fn held(&self) -> i64 {
        if self.line { self.price.saturating_mul(self.upkeep.minutes) } else { 0 }
    }

    /// Its hang-up request, if there is one.
    pub fn wish(&self) -> Option<HangupRequest> {
        self.hang_up_at.map(|_| self.upkeep.wish.unwrap_or(HangupRequest::HangUp))
    }

    fn phase(&self) -> Option<String> {
        (!self.progress.status.is_live()).then(|| phase(self.direction, self.progress.status))
    }
}

/// The column `phase` of an ended call.
pub(crate) fn phase(direction: Direction, status: Status) -> String {
    format!("{direction}:{}", status.as_str())
}

/// Adds calls; [`touch_hour`] must follow in the transaction for each of their hours.
pub fn insert<C: Borrow<CallRow>>(tx: &mut Tx<'_>, rows: &[C]) -> Result<(), DbError> {
    tx.insert_all(CallRow::INTO, rows.iter().map(Borrow::borrow).map(|row| row.values(row.phase())))
}

/// Marks the metrics of the hour in which this call began as stale. Only live calls count. [`save`] does so by itself;
/// after [`insert`] once for all calls of an hour.
pub fn touch_hour(tx: &mut Tx<'_>, row: &CallRow) -> Result<(), DbError> {
    if row.mode == Mode::Test {
        return Ok(());
    }
    let latest = row.progress.ended_at.or(row.progress.answered_at).unwrap_or(row.started_at);
    analytics::touch(&mut tx.of(row.workspace), row.id, row.started_at, latest)
}

/// The results of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationRecord {
    /// List of `{role, text}`.
    pub transcript: Json,
    pub extracted: Json,
    /// List of [`domain::call::TimedTurn`].
    pub turns: Option<Json>,
    /// List of [`domain::call::TurnLatency`].
    pub latency: Option<Json>,
    /// `pending` if it is to be analysed.
    pub analysis: Option<&'static str>,
    /// `pending` if the timed transcript is to be made.
    pub full_status: Option<&'static str>,
    /// Whether the disclosure was said: `{result, language, withinSeconds, pack}`.
    pub disclosure: Option<Json>,
    /// A [`domain::call::TurnDetails`].
    pub turn_details: Option<Json>,
}

/// Saves a call that the caller has locked; the transaction fails if it changed since it was read. Until the call is
/// over or a hang-up is requested, the columns for these keep their first values: they are left out, and with them
/// their indexes.
pub fn save(tx: &mut Tx<'_>, row: &CallRow) -> Result<(), DbError> {
    save_with_record(tx, row, None)
}

/// Like [`save`] for a call that ends, with the results of its conversation. The caller has checked that the person is
/// not erased.
pub fn save_with_record(
    tx: &mut Tx<'_>,
    row: &CallRow,
    said: Option<&ConversationRecord>,
) -> Result<(), DbError> {
    let progress = &row.progress;
    let ([live, talking, over, spoken], values) = update!(
        "calls" set {
            status: progress.status,
            outcome: row.outcome.as_deref(),
            provider_call: row.provider_call.as_deref(),
            dialled_at: row.dialled_at,
            answered_at: progress.answered_at,
            ended_at: progress.ended_at,
            talk_ms: progress.talk_ms,
            end_cause: progress.end_cause.as_deref(),
            opted_out: progress.opted_out,
            answered_by: row.answered_by,
            sentiment: row.sentiment.as_deref(),
            script_step: row.script_step,
            next_step_at: row.next_step_at,
            once_key: row.once.as_ref().map(|(key, _)| key.as_str()),
            once_holder: row.once.as_ref().map(|(_, holder)| holder.as_str()),
            grow_at: row.upkeep.grow_at,
            phase: row.phase(),
            hang_up_at: row.hang_up_at,
            line: row.line.then_some(1),
            flow_version: row.flow_version,
            wish: row.upkeep.wish,
            language: row.language.as_deref(),
            transcript: said.map(|said| &said.transcript),
            extracted: said.map(|said| &said.extracted),
            turns: said.and_then(|said| said.turns.as_ref()),
            latency: said.and_then(|said| said.latency.as_ref()),
            analysis: said.and_then(|said| said.analysis),
            full_status: said.and_then(|said| said.full_status),
            disclosure: said.and_then(|said| said.disclosure.as_ref()),
            turn_details: said.and_then(|said| said.turn_details.as_ref()),
        } and "version = version + 1"
        where "workspace = ?1 and id = ?2 and version = ?3", row.workspace, row.id, row.version;
        up to once_holder, grow_at, wish, turn_details
    );
    let is_live = row.progress.status.is_live() && row.hang_up_at.is_none();
    let (sql, count) = match row.upkeep.grow_at {
        _ if said.is_some() => spoken,
        None if is_live => live,
        Some(_) if is_live => talking,
        _ => over,
    };
    let otherwise = DbError::Internal("a call was changed by somebody who did not hold it".into());
    tx.change(sql, &values[..count], otherwise)?;
    touch_hour(tx, row)
}

/// Drops a call that was never dialled.
pub fn remove(tx: &mut TenantTx, id: Id<Call>) -> Result<(), DbError> {
    // No metric has counted it: a call counts from its first ring.
    tx.later("delete from calls where workspace = ?1 and id = ?2 and status = 'queued'", params![id])
}

/// One call of one mode.
pub fn get(tx: &mut TenantTx, mode: Mode, id: Id<Call>) -> Result<Option<CallRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from calls where workspace = ?1 and mode = ?2 and id = ?3");
    tx.one(sql, params![mode, id])
}

/// One call of one mode that a carrier has taken, or may have: until then it is nothing that a client could see, as
/// one that is refused before any ring leaves nothing.
pub fn get_taken(tx: &mut TenantTx, mode: Mode, id: Id<Call>) -> Result<Option<CallRow>, DbError> {
    Ok(get(tx, mode, id)?.filter(|row| row.progress.status != Status::Queued))
}

/// Across workspaces: the workspace of a call, for what names a call and nothing else, such as a file that a
/// crash left behind.
pub fn whose(tx: &mut Tx<'_>, id: Id<Call>) -> Result<Option<Tenant>, DbError> {
    tx.one("select workspace from calls where id = ?1", params![id])
}

/// One call in either mode.
pub fn find(tx: &mut TenantTx, id: Id<Call>) -> Result<Option<CallRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from calls where workspace = ?1 and id = ?2"), params![id])
}

/// One call, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Call>) -> Result<Option<CallRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from calls where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![id],
    )
}

/// What was said in a call and found in it.
pub fn content(tx: &mut TenantTx, id: Id<Call>) -> Result<Content, DbError> {
    const SQL: &str = formatcp!("select {} from calls where workspace = ?1 and id = ?2", Content::COLUMNS);
    Ok(tx.one(SQL, params![id])?.unwrap_or_default())
}

row! {
    /// The findings of a call's analysis.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct CallFindings {
        extracted: Option<Json>,
        /// A few sentences.
        summary: Option<String>,
        /// How far its analysis has got.
        analysis: Option<String>,
    }
}

fn findings_key(id: Id<Call>) -> String {
    format!("found in {id}")
}

/// The findings of a call's analysis.
pub fn findings(tx: &mut TenantTx, id: Id<Call>) -> Result<Option<CallFindings>, DbError> {
    const SQL: &str =
        formatcp!("select {} from calls where workspace = ?1 and id = ?2", CallFindings::COLUMNS);
    match tx.cached_ref::<CallFindings>(&findings_key(id)) {
        Some(found) => Ok(Some(found.clone())),
        None => tx.one(SQL, params![id]),
    }
}

/// Caches the findings of a call that ends now for later calls of [`findings`] in this transaction. A function that
/// changes them must call [`uncache_findings`].
pub fn cache_findings(tx: &mut Tx<'_>, row: &CallRow, said: Option<&ConversationRecord>) {
    let found = CallFindings {
        extracted: said.map(|said| said.extracted.clone()),
        summary: None,
        analysis: said.and_then(|said| said.analysis.map(str::to_owned)),
    };
    tx.cache_row(findings_key(row.id), found);
}

/// The findings of a call were changed.
pub(crate) fn uncache_findings(tx: &mut Tx<'_>, id: Id<Call>) {
    tx.uncache(&findings_key(id));
}

/// Longer than any call, milliseconds: older calls are not searched.
pub(crate) const LONGEST_CALL: i64 = 7 * DAY;

/// Dials to each of these numbers in the last 24 hours and 7 days, by number for calls and by keyed hash for second
/// legs; numbers without any are omitted.
pub fn dials_to(
    tx: &mut TenantTx,
    numbers: &[impl AsRef<str>],
    hashes: &[impl AsRef<str>],
    now: Timestamp,
) -> Result<Vec<(String, (i64, i64))>, DbError> {
    let mut params = vec![now.plus(-DAY).into(), now.plus(-7 * DAY).into()];
    let list = tx.any_of(&mut params, numbers.iter().map(|number| number.as_ref().into()));
    let hashes = tx.any_of(&mut params, hashes.iter().map(|hash| hash.as_ref().into()));
    // The indexes are by `started_at`.
    let since =
        format!("mode = 'live' and block_reason is null and started_at > cast(?3 as bigint) - {LATEST_DIAL}");
    let sql = format!(
        "select dialled, cast(sum(case when at > ?2 then 1 else 0 end) as bigint), count(*) from ( \
         select to_number as dialled, {DIALLED} as at from calls where workspace = ?1 and to_number in {list} and {since} \
         union all \
         select to_hash, {LEG_DIALLED} from call_legs where workspace = ?1 and to_hash in {hashes} and {since} \
         ) dials where at > ?3 group by dialled"
    );
    tx.all(&sql, &params)
}

/// Those of these numbers, or of their keyed hashes, that are in a live call of the workspace, as caller, callee or
/// second leg. Calls of test keys do not count.
pub fn on_the_line(
    tx: &mut TenantTx,
    numbers: &[impl AsRef<str>],
    hashes: &[impl AsRef<str>],
    now: Timestamp,
) -> Result<Vec<String>, DbError> {
    let mut params = vec![now.plus(-LONGEST_CALL).into()];
    let list = tx.any_of(&mut params, numbers.iter().map(|number| number.as_ref().into()));
    let hashes = tx.any_of(&mut params, hashes.iter().map(|hash| hash.as_ref().into()));
    let sql = format!(
        "select to_number from calls where workspace = ?1 and to_number in {list} and mode = 'live' and block_reason is null \
         and started_at > ?2 and phase is null \
         union select from_number from calls where workspace = ?1 and from_number in {list} and direction = 'inbound' and mode = 'live' \
         and started_at > ?2 and phase is null \
         union select to_hash from call_legs where workspace = ?1 and to_hash in {hashes} and block_reason is null \
         and started_at > ?2 and mode = 'live' and ended_at is null"
    );
    tx.all(&sql, &params)
}

/// How these calls, which are over, ended.
pub fn ends(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<Vec<(Id<Call>, Progress)>, DbError> {
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, calls.iter().map(|id| (*id).into()));
    let sql = format!(
        "select {} from calls where workspace = ?1 and id in {list} and phase is not null",
        EndRow::COLUMNS
    );
    let found: Vec<EndRow> = tx.all(&sql, &params)?;
    Ok(found.into_iter().map(|row| (row.id, row.progress)).collect())
}

row! {
    struct EndRow {
        id: Id<Call>,
        /// How far it has got.
        progress: Progress = |_| {
            status: Status,
            answered_at: Option<Timestamp>,
            ended_at: Option<Timestamp>,
            talk_ms: Option<i64>,
            end_cause: Option<String>,
            opted_out: bool,
        } => Progress { status, answered_at, ended_at, talk_ms, end_cause, opted_out },
    }
}

/// The timestamps of live dials to a number (and its keyed hash) after `after`, newest first.
pub fn dial_times(
    tx: &mut TenantTx,
    to_number: &str,
    hash: &str,
    after: Timestamp,
    limit: i64,
) -> Result<Vec<Timestamp>, DbError> {
    const SINCE: &str = formatcp!(
        "mode = 'live' and block_reason is null and started_at > cast(?4 as bigint) - {LATEST_DIAL}"
    );
    tx.all(
        formatcp!(
            "select at from (select {DIALLED} as at from calls where workspace = ?1 and to_number = ?2 and {SINCE} \
             union all select {LEG_DIALLED} from call_legs where workspace = ?1 and to_hash = ?3 and {SINCE}) dials \
             where at > ?4 order by at desc limit ?5"
        ),
        params![to_number, hash, after, limit],
    )
}

/// Across workspaces: calls whose next step is due, those that wait longest first, locked against other nodes
/// until the transaction ends.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<CallRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from calls where next_step_at is not null and next_step_at <= ?1 order by next_step_at limit ?2 /*pg for update skip locked*/"
    );
    tx.all(sql, params![now, limit])
}

/// Across workspaces: which calls are due, those that wait longest first.
pub fn due_ids(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<(Tenant, Id<Call>)>, DbError> {
    let sql = "select workspace, id from calls where next_step_at is not null and next_step_at <= ?1 order by next_step_at limit ?2";
    tx.all(sql, params![now, limit])
}

/// Postpones the next step of a due call, unless another node has handled it.
pub fn set_aside(tx: &mut TenantTx, id: Id<Call>, now: Timestamp, until: Timestamp) -> Result<(), DbError> {
    tx.later(
        "update calls set next_step_at = ?4 where workspace = ?1 and id = ?2 and next_step_at <= ?3",
        params![id, now, until],
    )
}

/// Renews this node's lease on its live calls. Returns the hang-up requests made meanwhile; ended calls are omitted.
pub fn renew(
    tx: &mut TenantTx,
    calls: &[Id<Call>],
    until: Timestamp,
) -> Result<Vec<(Id<Call>, Option<HangupRequest>)>, DbError> {
    let mut renewed = Vec::with_capacity(calls.len());
    for some in calls.chunks(ROWS) {
        let mut values = params![until].to_vec();
        let ids = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql = format!(
            "update calls set next_step_at = ?2 where workspace = ?1 and id in {ids} and phase is null and network is null returning id, {}",
            RequestedHangup::COLUMNS
        );
        let asked: Vec<(Id<Call>, RequestedHangup)> = tx.all(&sql, &values)?;
        renewed.extend(asked.into_iter().map(|(id, RequestedHangup { wish })| (id, wish)));
    }
    Ok(renewed)
}

/// Across workspaces: when the next call is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select min(next_step_at) from calls where next_step_at is not null", &[])?.flatten())
}

/// Lines in use: of the workspace, and of the whole platform. Every live call that is not over occupies one,
/// and so does every second leg, from [`wallet::reserve`](crate::wallet::reserve) to
/// [`wallet::release`](crate::wallet::release).
pub fn lines(tx: &mut TenantTx) -> Result<(i64, i64), DbError> {
    let sql = "select coalesce(sum(case when id = ?1 then lines else 0 end), 0)/*pg ::bigint*/, coalesce(sum(lines), 0)/*pg ::bigint*/ \
               from workspaces where lines > 0";
    Ok(tx.one(sql, &[])?.unwrap_or_default())
}

/// Across workspaces: serializes all placements until the transaction ends, so that the last free line is taken once.
pub fn lock_lines(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.exists("select 1 from health where id = 1 /*pg for update*/", &[]).map(|_| ())
}

/// Live dials to a number (and its keyed hash) in the last 24 hours and 7 days.
pub fn dials(tx: &mut TenantTx, to_number: &str, hash: &str, now: Timestamp) -> Result<(i64, i64), DbError> {
    let found = dials_to(tx, &[to_number], &[hash], now)?;
    Ok(found.into_iter().fold((0, 0), |(day, week), (_, dials)| (day + dials.0, week + dials.1)))
}

/// The ids of the newest calls of a contact, refused ones included, at most `limit`. Served by `calls_of_contact`.
pub fn ids_of_contact(
    tx: &mut TenantTx,
    mode: Mode,
    contact: Id<Contact>,
    limit: i64,
) -> Result<Vec<String>, DbError> {
    let sql =
        "select id from calls where workspace = ?1 and mode = ?2 and contact = ?3 order by id desc limit ?4";
    tx.all(sql, params![mode, contact, limit])
}

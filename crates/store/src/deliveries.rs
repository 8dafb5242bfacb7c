//! Deliveries: one event on its way to one endpoint each.

use std::collections::{HashMap, HashSet};

use const_format::formatcp;
use domain::ids::{Delivery, Event, Id, WebhookEndpoint};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::trace::TraceContext;

use crate::db::row::row;
use crate::db::{DbError, ROWS, TenantTx, Tx, Value, placeholders};
use crate::events::TranscriptRef;
use crate::params;

/// The delivery of `event` to `endpoint`. It sorts as the event does.
pub fn id_of(event: Id<Event>, endpoint: Id<WebhookEndpoint>) -> Id<Delivery> {
    // The low 62 bits of an id are random; the others are its time, version and variant. Adding keeps the order of
    // events of one millisecond.
    const RANDOM: u128 = (1 << 62) - 1;
    Id::from_bits((event.bits() & !RANDOM) | (event.bits().wrapping_add(endpoint.bits() & RANDOM) & RANDOM))
}

/// A delivery to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewDelivery<'a> {
    pub endpoint: Id<WebhookEndpoint>,
    pub event: Id<Event>,
    /// Type of the event.
    pub kind: &'a str,
    /// The mode of the event.
    pub mode: Mode,
    pub created_at: Timestamp,
    /// The end of the lease of the creating node, or `None` to queue it for its endpoint.
    pub lease: Option<Timestamp>,
}

pub fn insert(tx: &mut TenantTx, row: NewDelivery<'_>) -> Result<(), DbError> {
    tx.add(
        "insert into deliveries (workspace, endpoint, id, event, type, status, attempts, round, round_at, made, next_at, due_at, leased, created_at, mode) \
         values (?1, ?2, ?3, ?4, ?5, 'pending', '', 0, ?6, 0, ?6, ?7, ?8, ?6, ?9)",
        params![
            row.endpoint,
            id_of(row.event, row.endpoint),
            row.event,
            row.kind,
            row.created_at,
            row.lease,
            row.lease.is_some(),
            row.mode
        ],
    )
}

row! {
    /// A delivery that is due for an attempt.
    #[derive(Debug, Clone)]
    pub struct DueRow {
        tenant: Tenant as "d.workspace",
        endpoint: Id<WebhookEndpoint> as "d.endpoint",
        id: Id<Delivery> as "d.id",
        /// Type of the event.
        kind: String as "d.type",
        /// Replays so far.
        round: i64 as "d.round",
        round_at: Timestamp as "d.round_at",
        /// Attempts of this round.
        made: u32 as "d.made",
        /// When the delivery was created.
        created_at: Timestamp as "d.created_at",
        /// What is sent; `None` when it was emptied or dropped.
        envelope: Option<String> as "e.envelope",
        /// The transcript that belongs into it.
        transcript: Option<TranscriptRef> as "e.transcript",
        /// The trace in which the event was written.
        trace: Option<TraceContext> as "e.trace",
        /// Whether its endpoint receives anything.
        active: bool = |_| { status: Option<String> as "w.status" } => status.as_deref() == Some("active"),
    }
}

const DUE: &str = formatcp!(
    "select {} from deliveries d {JOIN} \
     left join webhook_endpoints w on w.id = d.endpoint",
    DueRow::COLUMNS
);

/// Across workspaces: up to `limit` deliveries that are due, longest due first; on PostgreSQL those that no
/// other node has locked.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<DueRow>, DbError> {
    let sql =
        formatcp!("{DUE} where d.due_at <= ?1 order by d.due_at limit ?2 /*pg for update of d skip locked*/");
    tx.all(sql, params![now, limit])
}

/// Across workspaces: up to `limit` queued deliveries of an endpoint, oldest first. The sender has the endpoint's id
/// only; the rows have the workspace.
pub fn waiting(tx: &mut Tx<'_>, endpoint: Id<WebhookEndpoint>, limit: i64) -> Result<Vec<DueRow>, DbError> {
    let sql = formatcp!(
        "{DUE} where d.endpoint = ?1 and d.due_at is null and d.status = 'pending' order by d.id limit ?2 /*pg for update of d skip locked*/"
    );
    tx.all(sql, params![endpoint, limit])
}

/// Across workspaces: the next endpoint after `after` for which deliveries wait in line.
pub fn next_endpoint_waiting(tx: &mut Tx<'_>, after: &str) -> Result<Option<Id<WebhookEndpoint>>, DbError> {
    tx.one(
        "select endpoint from deliveries where due_at is null and status = 'pending' and endpoint > ?1 order by endpoint limit 1",
        params![after])
}

/// Across workspaces: when the next delivery is due, leases included.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx.one("select min(due_at) from deliveries where due_at is not null", &[])?.flatten())
}

/// Across workspaces: ends all leases that run until `until` at most, because their holder is gone. Returns how many.
pub fn void_leases(tx: &mut Tx<'_>, now: Timestamp, until: Timestamp) -> Result<u64, DbError> {
    tx.exec(
        "update deliveries set due_at = ?1, leased = 0 where due_at > ?1 and due_at <= ?2 and leased = 1",
        params![now, until],
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub tenant: Tenant,
    pub endpoint: Id<WebhookEndpoint>,
    pub id: Id<Delivery>,
}

const ONE: &str = "where workspace = ?1 and endpoint = ?2 and id = ?3";

/// The same for a batched update, whose key is workspace and id ([`Tx::change`]).
const EACH: &str = "where workspace = ?1 and id = ?2 and endpoint = ?3 and status = 'pending'";

/// Leases a pending delivery, which the caller has locked, until `until`.
pub fn lease(tx: &mut Tx<'_>, key: Key, until: Timestamp) -> Result<(), DbError> {
    let sql = formatcp!("update deliveries set due_at = ?4, leased = 1 {EACH}");
    tx.change(sql, params![key.tenant, key.id, key.endpoint, until], not_held())
}

/// Queues a pending delivery, which the caller has locked, for its endpoint.
pub fn wait_in_line(tx: &mut Tx<'_>, key: Key) -> Result<(), DbError> {
    let sql = formatcp!("update deliveries set due_at = null, leased = 0 {EACH}");
    tx.change(sql, params![key.tenant, key.id, key.endpoint], not_held())
}

fn not_held() -> DbError {
    DbError::Retry("a delivery changed while it was held".into())
}

/// Ends the lease of a delivery, which is due at `due`. This does not count as an attempt.
pub fn release(tx: &mut Tx<'_>, key: Key, round: i64, due: Timestamp) -> Result<(), DbError> {
    tx.later(
        formatcp!(
            "update deliveries set due_at = ?4, leased = 0 {ONE} and status = 'pending' and round = ?5"
        ),
        params![key.tenant, key.endpoint, key.id, due, round],
    )
}

/// The result of an attempt for its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptResult {
    /// Delivered at this time.
    Succeeded(Timestamp),
    /// To be retried at this time.
    RetryAt(Timestamp),
    Failed,
}

/// Records an attempt (a JSON object) of a round and its result. If the round is over, or the delivery was stopped and
/// the attempt failed too, only the attempt is recorded.
pub fn record(
    tx: &mut Tx<'_>,
    key: Key,
    round: i64,
    attempt: &str,
    after: AttemptResult,
) -> Result<(), DbError> {
    const APPEND: &str = "attempts = case when attempts = '' then '' else attempts || ',' end || ?4";
    const NOTE: &str = formatcp!("update deliveries set {APPEND}, made = made + 1, leased = 0");
    const SUCCEEDED: &str = formatcp!(
        "{NOTE}, status = 'succeeded', next_at = null, due_at = null, delivered_at = ?6 {ONE} and round = ?5"
    );
    const RETRY_AT: &str =
        formatcp!("{NOTE}, next_at = ?6, due_at = ?6 {ONE} and round = ?5 and status = 'pending'");
    const FAILED: &str = formatcp!(
        "{NOTE}, status = 'failed', next_at = null, due_at = null {ONE} and round = ?5 and status = 'pending'"
    );
    const OTHER_ROUND: &str =
        formatcp!("update deliveries set {APPEND} {ONE} and round <> ?5 and attempts not like '%' || ?4");
    const OTHER_ROUND_OR_STOPPED: &str = formatcp!(
        "update deliveries set {APPEND} {ONE} and (round <> ?5 or status <> 'pending') and attempts not like '%' || ?4"
    );
    let (of_round, at, otherwise) = match after {
        AttemptResult::Succeeded(at) => (SUCCEEDED, Some(at), OTHER_ROUND),
        AttemptResult::RetryAt(at) => (RETRY_AT, Some(at), OTHER_ROUND_OR_STOPPED),
        AttemptResult::Failed => (FAILED, None, OTHER_ROUND_OR_STOPPED),
    };
    let values = params![key.tenant, key.endpoint, key.id, attempt, round, at];
    let count = if at.is_some() { 6 } else { 5 };
    if tx.shared() {
        // The first statement is still in flight when the second is sent, which finds out by the attempt itself whether
        // it was recorded.
        tx.later(of_round, &values[..count])?;
        tx.later(otherwise, &values[..5])?;
    } else if tx.exec(of_round, &values[..count])? == 0 {
        tx.later(otherwise, &values[..5])?;
    }
    Ok(())
}

/// An attempt, and its result for the delivery.
#[derive(Debug, Clone)]
pub struct RecordedAttempt {
    pub key: Key,
    /// The round of the attempt.
    pub round: i64,
    /// A JSON object.
    pub attempt: String,
    pub after: AttemptResult,
}

/// Attempts of one statement. With more, the planner may read the whole index for the span of their ids, and compare each row with
/// each attempt: on 26,000 deliveries 256 attempts took 24 ms so, and 64 took 0.7 ms.
const NOTED_TOGETHER: usize = 32;

/// Across workspaces: records many attempts as [`record`] does, each in the workspace of its key. On PostgreSQL
/// attempts with the same result are batched by [`NOTED_TOGETHER`].
pub fn record_all(tx: &mut Tx<'_>, noted: &[RecordedAttempt]) -> Result<(), DbError> {
    const FROM: &str = "from unnest(?1::text[], ?2::text[], ?3::text[], ?4::text[], ?5::bigint[], ?6::bigint[]) \
         as r (workspace, endpoint, id, attempt, round, at) \
         where d.workspace = r.workspace and d.endpoint = r.endpoint and d.id = r.id and d.id >= ?7 and d.id <= ?8";
    const APPEND: &str = "update deliveries as d set \
         attempts = case when d.attempts = '' then '' else d.attempts || ',' end || r.attempt";
    const NOTE: &str = formatcp!("{APPEND}, made = d.made + 1, leased = 0");
    const SUCCEEDED: &str = formatcp!(
        "{NOTE}, status = 'succeeded', next_at = null, due_at = null, delivered_at = r.at {FROM} and d.round = r.round"
    );
    const RETRY_AT: &str = formatcp!(
        "{NOTE}, next_at = r.at, due_at = r.at {FROM} and d.round = r.round and d.status = 'pending'"
    );
    const FAILED: &str = formatcp!(
        "{NOTE}, status = 'failed', next_at = null, due_at = null {FROM} and d.round = r.round and d.status = 'pending'"
    );
    const OTHER_ROUND: &str =
        formatcp!("{APPEND} {FROM} and d.round <> r.round and d.attempts not like '%' || r.attempt");
    const OTHER_ROUND_OR_STOPPED: &str = formatcp!(
        "{APPEND} {FROM} and (d.round <> r.round or d.status <> 'pending') and d.attempts not like '%' || r.attempt"
    );
    let one_by_one = |tx: &mut Tx<'_>, noted: &[&RecordedAttempt]| {
        noted.iter().try_for_each(|one| record(tx, one.key, one.round, &one.attempt, one.after))
    };
    if !tx.shared() {
        return one_by_one(tx, &noted.iter().collect::<Vec<_>>());
    }
    // An attempt of a delivery that has another one before it here comes after that.
    let mut keys = HashSet::with_capacity(noted.len());
    let (first, rest): (Vec<&RecordedAttempt>, Vec<&RecordedAttempt>) =
        noted.iter().partition(|one| keys.insert(one.key));
    // The statements are planned for these weeks, and look each delivery up by its key. Otherwise a plan for hundreds
    // of them scans a whole week of up to some ten thousand pages.
    for set in [
        "set local plan_cache_mode = force_custom_plan",
        "set local enable_hashjoin = off",
        "set local enable_mergejoin = off",
        "set local enable_seqscan = off",
    ] {
        tx.later(set, &[])?;
    }
    for (of_round, otherwise, is_one) in [
        (
            SUCCEEDED,
            OTHER_ROUND,
            (|after| matches!(after, AttemptResult::Succeeded(_))) as fn(AttemptResult) -> bool,
        ),
        (RETRY_AT, OTHER_ROUND_OR_STOPPED, |after| matches!(after, AttemptResult::RetryAt(_))),
        (FAILED, OTHER_ROUND_OR_STOPPED, |after| after == AttemptResult::Failed),
    ] {
        let alike: Vec<&RecordedAttempt> = first.iter().copied().filter(|one| is_one(one.after)).collect();
        for rows in alike.chunks(NOTED_TOGETHER) {
            let column = |value: fn(&RecordedAttempt) -> Value<'_>| {
                Value::Many(rows.iter().map(|one| value(one)).collect())
            };
            let columns = [
                column(|one| one.key.tenant.into()),
                column(|one| one.key.endpoint.into()),
                column(|one| one.key.id.into()),
                column(|one| one.attempt.as_str().into()),
                column(|one| one.round.into()),
                column(|one| match one.after {
                    AttemptResult::Succeeded(at) | AttemptResult::RetryAt(at) => at.into(),
                    AttemptResult::Failed => Value::Null,
                }),
                // The weeks of these deliveries.
                rows.iter().map(|one| one.key.id).min().into(),
                rows.iter().map(|one| one.key.id).max().into(),
            ];
            if tx.exec(of_round, &columns)? < rows.len() as u64 {
                tx.later(otherwise, &columns)?;
            }
        }
    }
    one_by_one(tx, &rest)
}

/// Stops a pending delivery without an attempt; `note` (a JSON object) is added to the attempts with the reason.
/// Returns whether it was pending.
pub fn stop(tx: &mut Tx<'_>, key: Key, note: &str) -> Result<bool, DbError> {
    let sql = formatcp!(
        "update deliveries set status = 'failed', next_at = null, due_at = null, leased = 0, \
         attempts = case when attempts = '' then '' else attempts || ',' end || ?4 {ONE} and status = 'pending'"
    );
    Ok(tx.exec(sql, params![key.tenant, key.endpoint, key.id, note])? > 0)
}

/// Gives up all pending deliveries among the `limit` of an endpoint below `before`, newest first. Where to go
/// on, or `None` at the end.
pub fn stop_page(
    tx: &mut TenantTx,
    endpoint: Id<WebhookEndpoint>,
    before: &str,
    note: &str,
    limit: i64,
) -> Result<Option<String>, DbError> {
    let oldest = tx.unbound().one(
        "select id from deliveries where endpoint = ?1 and id < ?2 order by id desc limit 1 offset ?3",
        params![endpoint, before, limit - 1],
    )?;
    tx.exec(
        "update deliveries set status = 'failed', next_at = null, due_at = null, leased = 0, \
         attempts = case when attempts = '' then '' else attempts || ',' end || ?5 \
         where workspace = ?1 and endpoint = ?2 and id >= ?3 and id < ?4 and status = 'pending'",
        params![endpoint, oldest.as_deref().unwrap_or(""), before, note],
    )?;
    Ok(oldest)
}

row! {
    /// A delivery as the log shows it.
    #[derive(Debug, Clone)]
    pub struct DeliveryRow {
        id: Id<Delivery> as "d.id",
        event: Id<Event> as "d.event",
        kind: String as "d.type",
        /// `pending`, `succeeded` or `failed`.
        status: String as "d.status",
        /// JSON objects with commas between them.
        attempts: String as "d.attempts",
        /// Replays so far.
        round: i64 as "d.round",
        /// When the next attempt is due.
        next_at: Option<Timestamp> as "d.next_at",
        created_at: Timestamp as "d.created_at",
        delivered_at: Option<Timestamp> as "d.delivered_at",
        /// What is sent; `None` when it was emptied.
        envelope: Option<String> as "e.envelope",
        /// The transcript that belongs into it.
        transcript: Option<TranscriptRef> as "e.transcript",
        /// The trace in which the event was written.
        trace: Option<TraceContext> as "e.trace",
    }
}

const LOG: &str = formatcp!("select {}", DeliveryRow::COLUMNS);
/// On PostgreSQL one key lookup for each: otherwise it may scan all events for a few deliveries.
const JOIN: &str = "left join /*sqlite*/events e on e.workspace = d.workspace and e.id = d.event/*end*/\
     /*pg lateral (select envelope, transcript, trace from events x where x.workspace = d.workspace and x.id = d.event offset 0) e on true*/";

/// What a page of the log shows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this status.
    pub status: Option<String>,
    /// Only this type of event.
    pub kind: Option<String>,
}

/// Deliveries of a mode to an endpoint by the events that they are of, at most so many; newest first. The primary key serves
/// it, since the id of a delivery follows from its event and its endpoint.
pub fn of_events(
    tx: &mut TenantTx,
    endpoint: Id<WebhookEndpoint>,
    (mode, filter): (Mode, &Filter),
    (since, before): (&str, &str),
    events: &[Id<Event>],
    limit: i64,
) -> Result<Vec<DeliveryRow>, DbError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = params![endpoint, mode, since, before, limit].to_vec();
    let ids = tx.any_of(&mut values, events.iter().map(|event| id_of(*event, endpoint).into()));
    let mut conditions = String::new();
    for (column, value) in [("status", filter.status.as_deref()), ("type", filter.kind.as_deref())] {
        if let Some(value) = value {
            values.push(value.into());
            conditions += &format!(" and d.{column} = ?{}", values.len() + 1);
        }
    }
    let sql = format!(
        "{LOG} from deliveries d {JOIN} where d.workspace = ?1 and d.endpoint = ?2 and d.id in {ids} and d.mode = ?3 \
         and d.id >= ?4 and d.id < ?5{conditions} order by d.id desc limit ?6"
    );
    tx.all(&sql, &values)
}

/// Replayed deliveries of an endpoint that wait for their attempt, at most [`MOST_REPLAYED`] of those that wait longest.
/// The index `deliveries_waiting` serves it.
pub fn replays_waiting(tx: &mut TenantTx, endpoint: Id<WebhookEndpoint>) -> Result<i64, DbError> {
    const SQL: &str = formatcp!(
        "select count(*) from (select round from deliveries where workspace = ?1 and endpoint = ?2 and due_at is null \
         and status = 'pending' order by id limit {MOST_REPLAYED}) as waiting where round > 0"
    );
    Ok(tx.one(SQL, params![endpoint])?.unwrap_or(0))
}

/// Most deliveries of one replay.
pub const MOST_REPLAYED: i64 = 10_000;

/// The failed deliveries of a mode to an endpoint whose ids are in a range and whose payloads are there, oldest first: each
/// begins a new round and waits in line for its endpoint. Returns how many, and how many were examined: at most
/// [`MOST_REPLAYED`] with the id of the last one. The index `deliveries_failed` serves it.
pub fn replay_failed(
    tx: &mut TenantTx,
    endpoint: Id<WebhookEndpoint>,
    mode: Mode,
    (since, until): (&str, &str),
    now: Timestamp,
) -> Result<FailedReplay, DbError> {
    const FAILED: &str = formatcp!(
        "select id, event, mode from deliveries where workspace = ?1 and endpoint = ?2 and status = 'failed' and id >= ?3 and id < ?4 \
         order by id limit {MOST_REPLAYED}"
    );
    let failed: Vec<(Id<Delivery>, Id<Event>, Mode)> = tx.all(FAILED, params![endpoint, since, until])?;
    let last = failed.last().filter(|_| failed.len() as i64 == MOST_REPLAYED).map(|(id, ..)| *id);
    let (mut replayed, mut redacted) = (0, 0);
    let of_mode: Vec<_> = failed.into_iter().filter(|(.., other)| *other == mode).collect();
    for some in of_mode.chunks(ROWS) {
        let mut values = Vec::new();
        let events = tx.any_of(&mut values, some.iter().map(|(_, event, _)| (*event).into()));
        let whole: Vec<Id<Event>> = tx.all(
            &format!(
                "select id from events where workspace = ?1 and id in {events} and envelope is not null"
            ),
            &values,
        )?;
        let whole: HashSet<Id<Event>> = whole.into_iter().collect();
        let ids: Vec<_> =
            some.iter().filter(|(_, event, _)| whole.contains(event)).map(|(id, ..)| *id).collect();
        redacted += (some.len() - ids.len()) as u64;
        if ids.is_empty() {
            continue;
        }
        let mut values = params![endpoint, now].to_vec();
        let ids = tx.any_of(&mut values, ids.into_iter().map(Value::from));
        replayed += tx.exec(
            &format!(
                "update deliveries set status = 'pending', round = round + 1, round_at = ?3, made = 0, next_at = ?3, due_at = null, \
                 leased = 0, delivered_at = null where workspace = ?1 and endpoint = ?2 and id in {ids} and status = 'failed'"
            ),
            &values,
        )?;
    }
    Ok(FailedReplay { replayed, redacted, last })
}

/// The result of [`replay_failed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedReplay {
    pub replayed: u64,
    /// Those whose payload was emptied: they stay failed.
    pub redacted: u64,
    /// The last delivery that was examined, if there may be more after it.
    pub last: Option<Id<Delivery>>,
}

/// A page of what one mode shows of an endpoint's log from `since` on and below `before`, newest first, and where
/// the next one begins. At most `examined` entries are looked at, so that the cost does not grow with what the filter and
/// the other mode leave out: a page may be short although more follows.
pub fn list(
    tx: &mut TenantTx,
    endpoint: Id<WebhookEndpoint>,
    (mode, filter): (Mode, &Filter),
    (since, before): (&str, &str),
    limit: i64,
    examined: i64,
) -> Result<(Vec<DeliveryRow>, Option<String>), DbError> {
    // Failed deliveries and those of test mode have indexes of their own.
    let source = match (mode, filter.status.as_deref()) {
        (Mode::Test, _) => " and i.mode = 'test'",
        (Mode::Live, Some("failed")) => " and i.status = 'failed'",
        (Mode::Live, _) => "",
    };
    let walk = format!(
        "from deliveries i where i.workspace = ?1 and i.endpoint = ?2 and i.id >= ?3 and i.id < ?4{source} order by i.id desc"
    );
    let mut conditions = format!(" and d.mode = '{}'", mode.as_str());
    let mut values = params![endpoint, since, before, limit + 1, examined].to_vec();
    for (column, value) in [("status", filter.status.as_deref()), ("type", filter.kind.as_deref())] {
        if let Some(value) = value {
            values.push(value.into());
            conditions += &format!(" and d.{column} = ?{}", values.len() + 1);
        }
    }
    // On PostgreSQL one key lookup for each: without statistics it would join every row with every other one.
    let sql = format!(
        "{LOG} from (select i.id {walk} limit ?6) as walk \
         join /*sqlite*/deliveries d on d.workspace = ?1 and d.endpoint = ?2 and d.id = walk.id/*end*/\
         /*pg lateral (select * from deliveries x where x.workspace = ?1 and x.endpoint = ?2 and x.id = walk.id offset 0) d on true*/ \
         {JOIN} where 1 = 1{conditions} order by /*sqlite*/d.id/*end*//*pg walk.id*/ desc limit ?5"
    );
    let mut rows: Vec<DeliveryRow> = tx.all(&sql, &values)?;
    if rows.len() as i64 > limit {
        rows.truncate(limit as usize);
        let next = rows.last().map(|row| row.id.to_string());
        return Ok((rows, next));
    }
    let sql = format!("select i.id {walk} limit 1 offset ?5");
    let last = tx.one(&sql, params![endpoint, since, before, examined - 1])?;
    Ok((rows, last))
}

/// One delivery of one mode.
pub fn get(tx: &mut Tx<'_>, key: Key, mode: Mode) -> Result<Option<DeliveryRow>, DbError> {
    let sql = formatcp!(
        "{LOG} from deliveries d {JOIN} where d.workspace = ?1 and d.endpoint = ?2 and d.id = ?3 and d.mode = ?4"
    );
    tx.one(sql, params![key.tenant, key.endpoint, key.id, mode])
}

/// Whether there is such a delivery.
pub fn exists(tx: &mut Tx<'_>, key: Key) -> Result<bool, DbError> {
    tx.exists(formatcp!("select 1 from deliveries {ONE}"), params![key.tenant, key.endpoint, key.id])
}

/// Begins a new round: pending again, leased until `lease` or queued. Returns the round, or `None` if there is no such
/// delivery.
pub fn replay(
    tx: &mut Tx<'_>,
    key: Key,
    now: Timestamp,
    lease: Option<Timestamp>,
) -> Result<Option<i64>, DbError> {
    let sql = formatcp!(
        "update deliveries set status = 'pending', round = round + 1, round_at = ?4, made = 0, next_at = ?4, due_at = ?5, leased = ?6, delivered_at = null \
         {ONE} returning round"
    );
    tx.one(sql, params![key.tenant, key.endpoint, key.id, now, lease, lease.is_some()])
}

/// Which of these deliveries are pending: the round of each, and the number of changes of its workspace's endpoints
/// (see `generations`).
pub fn pending(tx: &mut Tx<'_>, keys: &[Key]) -> Result<HashMap<Key, (i64, u64)>, DbError> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    // A key lookup for each, whatever the size of the table was at planning time. The last one is repeated up to a
    // power of two, so that few different statements are prepared.
    let count = keys.len().next_power_of_two();
    let asked = keys.iter().chain(std::iter::repeat_n(&keys[keys.len() - 1], count - keys.len()));
    let params: Vec<Value<'_>> =
        asked.flat_map(|key| [key.tenant.into(), key.endpoint.into(), key.id.into()]).collect();
    let sql = format!(
        "select distinct d.workspace, d.endpoint, d.id, d.round, coalesce(g.n, 0) \
         from (values {}) as w (workspace, endpoint, id) \
         join lateral (select * from deliveries d where d.workspace = w.workspace and d.endpoint = w.endpoint and d.id = w.id \
         and d.status = 'pending' offset 0) d on true \
         left join lateral (select n from generations g where g.subject = w.workspace offset 0) g on true",
        placeholders(count, 3)
    );
    let found: Vec<(Tenant, Id<WebhookEndpoint>, Id<Delivery>, i64, u64)> = tx.all(&sql, &params)?;
    let entry = |(tenant, endpoint, id, round, number)| (Key { tenant, endpoint, id }, (round, number));
    Ok(found.into_iter().map(entry).collect())
}

/// Drops up to `limit` entries of an endpoint's log below `before`; how many. `table` is the whole of it or a part
/// ([`crate::partitions`]).
pub fn sweep(
    tx: &mut TenantTx,
    table: &str,
    endpoint: Id<WebhookEndpoint>,
    before: &str,
    limit: i64,
) -> Result<u64, DbError> {
    tx.exec(
        &format!(
            "delete from {table} where workspace = ?1 and endpoint = ?2 and id in \
             (select id from {table} where endpoint = ?2 and id < ?3 order by id limit ?4)"
        ),
        params![endpoint, before, limit],
    )
}

/// Whether an endpoint's log has an entry below `before`. `table` is the whole of it or a part ([`crate::partitions`]).
pub fn sweepable(
    tx: &mut TenantTx,
    table: &str,
    endpoint: Id<WebhookEndpoint>,
    before: &str,
) -> Result<bool, DbError> {
    let sql = format!("select 1 from {table} where workspace = ?1 and endpoint = ?2 and id < ?3 limit 1");
    tx.exists(&sql, params![endpoint, before])
}

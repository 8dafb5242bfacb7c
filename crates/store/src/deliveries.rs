//! Deliveries: one event on its way to one endpoint each.

use domain::ids::{Delivery, Event, Id, WebhookEndpoint};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::{DbError, Row, Tx};
use crate::params;
use crate::webhooks::{self, EndpointRow};

/// The delivery of `event` to `endpoint`. It sorts as the event does.
pub fn id_of(event: Id<Event>, endpoint: Id<WebhookEndpoint>) -> Id<Delivery> {
    // The low 62 bits of an id are random; those above hold its time, version and variant. Adding keeps the
    // order of events of one millisecond.
    const RANDOM: u128 = (1 << 62) - 1;
    Id::from_bits((event.bits() & !RANDOM) | (event.bits().wrapping_add(endpoint.bits() & RANDOM) & RANDOM))
}

/// A delivery to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewDelivery<'a> {
    /// Where to.
    pub endpoint: Id<WebhookEndpoint>,
    /// What.
    pub event: Id<Event>,
    /// Type of the event.
    pub kind: &'a str,
    /// The world of the event.
    pub mode: Mode,
    /// When it was made.
    pub created_at: Timestamp,
    /// The end of the lease of the node that makes it, or `None` to let it wait in line for its endpoint.
    pub lease: Option<Timestamp>,
}

/// Adds a delivery.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: NewDelivery<'_>) -> Result<(), DbError> {
    tx.later(
        "insert into deliveries (endpoint, id, workspace, event, type, status, attempts, round, round_at, made, next_at, due_at, leased, created_at, mode) \
         values (?1, ?2, ?3, ?4, ?5, 'pending', '', 0, ?6, 0, ?6, ?7, ?8, ?6, ?9)",
        params![
            row.endpoint,
            id_of(row.event, row.endpoint),
            tenant,
            row.event,
            row.kind,
            row.created_at,
            row.lease,
            row.lease.is_some(),
            row.mode.as_str()
        ],
    )
}

/// A delivery that wants an attempt.
#[derive(Debug, Clone)]
pub struct DueRow {
    /// Workspace.
    pub tenant: Tenant,
    /// Where to.
    pub endpoint: Id<WebhookEndpoint>,
    /// Its id.
    pub id: Id<Delivery>,
    /// Type of the event.
    pub kind: String,
    /// Replays so far.
    pub round: i64,
    /// When this round began.
    pub round_at: Timestamp,
    /// Attempts of this round.
    pub made: u32,
    /// When the delivery was made.
    pub created_at: Timestamp,
    /// What is sent; `None` when it was emptied or dropped.
    pub envelope: Option<String>,
    /// Whether its endpoint receives anything.
    pub active: bool,
}

const DUE: &str = "select d.workspace, d.endpoint, d.id, d.type, d.round, d.round_at, d.made, d.created_at, e.envelope, w.status \
     from deliveries d left join events e on e.workspace = d.workspace and e.id = d.event left join webhook_endpoints w on w.id = d.endpoint";

fn read_due(row: &Row<'_>) -> Result<DueRow, DbError> {
    Ok(DueRow {
        tenant: row.id(0)?,
        endpoint: row.id(1)?,
        id: row.id(2)?,
        kind: row.text(3)?,
        round: row.int(4)?,
        round_at: row.time(5)?,
        made: u32::try_from(row.int(6)?).unwrap_or(u32::MAX),
        created_at: row.time(7)?,
        envelope: row.opt_text(8)?,
        active: row.opt_text(9)?.as_deref() == Some("active"),
    })
}

/// Up to `limit` deliveries that are due, of all workspaces, longest due first; on PostgreSQL those that no
/// other node looks at.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<DueRow>, DbError> {
    let sql =
        format!("{DUE} where d.due_at <= ?1 order by d.due_at limit ?2 /*pg for update of d skip locked*/");
    tx.all(&sql, params![now, limit], read_due)
}

/// Up to `limit` deliveries that wait in line for an endpoint, oldest first.
pub fn waiting(tx: &mut Tx<'_>, endpoint: Id<WebhookEndpoint>, limit: i64) -> Result<Vec<DueRow>, DbError> {
    let sql = format!(
        "{DUE} where d.endpoint = ?1 and d.due_at is null and d.status = 'pending' order by d.id limit ?2 /*pg for update of d skip locked*/"
    );
    tx.all(&sql, params![endpoint, limit], read_due)
}

/// The next endpoint after `after` for which deliveries wait in line.
pub fn next_endpoint_waiting(tx: &mut Tx<'_>, after: &str) -> Result<Option<Id<WebhookEndpoint>>, DbError> {
    tx.one(
        "select endpoint from deliveries where due_at is null and status = 'pending' and endpoint > ?1 order by endpoint limit 1",
        params![after],
        |row| row.id(0),
    )
}

/// When the next delivery is due, leases included.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx
        .one("select min(due_at) from deliveries where due_at is not null", &[], |row| row.opt_time(0))?
        .flatten())
}

/// Makes all leases void that end by `until`: their holder is gone. How many there were.
pub fn void_leases(tx: &mut Tx<'_>, now: Timestamp, until: Timestamp) -> Result<u64, DbError> {
    tx.exec(
        "update deliveries set due_at = ?1, leased = 0 where due_at > ?1 and due_at <= ?2 and leased = 1",
        params![now, until],
    )
}

/// Names one delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Workspace.
    pub tenant: Tenant,
    /// Its endpoint.
    pub endpoint: Id<WebhookEndpoint>,
    /// Its id.
    pub id: Id<Delivery>,
}

const ONE: &str = "where workspace = ?1 and endpoint = ?2 and id = ?3";

/// Takes a pending delivery until `until`.
pub fn lease(tx: &mut Tx<'_>, key: Key, until: Timestamp) -> Result<(), DbError> {
    tx.later(
        &format!("update deliveries set due_at = ?4, leased = 1 {ONE} and status = 'pending'"),
        params![key.tenant, key.endpoint, key.id, until],
    )
}

/// Lets a pending delivery wait in line for its endpoint.
pub fn wait_in_line(tx: &mut Tx<'_>, key: Key) -> Result<(), DbError> {
    tx.later(
        &format!("update deliveries set due_at = null, leased = 0 {ONE} and status = 'pending'"),
        params![key.tenant, key.endpoint, key.id],
    )
}

/// Gives a leased delivery back, to be taken from `due` on. Nothing counts as an attempt.
pub fn release(tx: &mut Tx<'_>, key: Key, round: i64, due: Timestamp) -> Result<(), DbError> {
    tx.later(
        &format!("update deliveries set due_at = ?4, leased = 0 {ONE} and status = 'pending' and round = ?5"),
        params![key.tenant, key.endpoint, key.id, due, round],
    )
}

/// What an attempt did to its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Delivered at this moment.
    Succeeded(Timestamp),
    /// To be tried again then.
    RetryAt(Timestamp),
    /// Given up.
    Failed,
}

/// Notes an attempt (a JSON object) of a round and what becomes of the delivery. If that round is over, or
/// the delivery was stopped meanwhile and the attempt failed too, only the attempt is noted.
pub fn record(tx: &mut Tx<'_>, key: Key, round: i64, attempt: &str, after: After) -> Result<(), DbError> {
    const APPEND: &str = "attempts = case when attempts = '' then '' else attempts || ',' end || ?4";
    let of_round = |tx: &mut Tx<'_>, change: &str, still: &str, moment: Option<Timestamp>| {
        let sql = format!(
            "update deliveries set {APPEND}, made = made + 1, leased = 0, {change} {ONE} and round = ?5{still}"
        );
        let mut values = params![key.tenant, key.endpoint, key.id, attempt, round].to_vec();
        values.extend(moment.map(crate::Value::from));
        if tx.shared() { tx.later(&sql, &values).map(|()| 1) } else { tx.exec(&sql, &values) }
    };
    let changed = match after {
        After::Succeeded(at) => of_round(
            tx,
            "status = 'succeeded', next_at = null, due_at = null, delivered_at = ?6",
            "",
            Some(at),
        )?,
        After::RetryAt(at) => of_round(tx, "next_at = ?6, due_at = ?6", " and status = 'pending'", Some(at))?,
        After::Failed => {
            of_round(tx, "status = 'failed', next_at = null, due_at = null", " and status = 'pending'", None)?
        }
    };
    if tx.shared() || changed == 0 {
        let other = if matches!(after, After::Succeeded(_)) {
            "round <> ?5"
        } else {
            "(round <> ?5 or status <> 'pending')"
        };
        // On PostgreSQL the statement above is still under way: tell by the attempt itself whether it was
        // noted.
        let sql = format!("update deliveries set {APPEND} {ONE} and {other} and attempts not like '%' || ?4");
        tx.later(&sql, params![key.tenant, key.endpoint, key.id, attempt, round])?;
    }
    Ok(())
}

/// Gives a pending delivery up without an attempt; `note` (a JSON object) stands among the attempts and says
/// why. Whether it was pending.
pub fn stop(tx: &mut Tx<'_>, key: Key, note: &str) -> Result<bool, DbError> {
    let sql = format!(
        "update deliveries set status = 'failed', next_at = null, due_at = null, leased = 0, \
         attempts = case when attempts = '' then '' else attempts || ',' end || ?4 {ONE} and status = 'pending'"
    );
    Ok(tx.exec(&sql, params![key.tenant, key.endpoint, key.id, note])? > 0)
}

/// Gives up all pending deliveries among the `limit` of an endpoint below `before`, newest first. Where to go
/// on, or `None` at the end.
pub fn stop_page(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    endpoint: Id<WebhookEndpoint>,
    before: &str,
    note: &str,
    limit: i64,
) -> Result<Option<String>, DbError> {
    let oldest = tx.one(
        "select id from deliveries where endpoint = ?1 and id < ?2 order by id desc limit 1 offset ?3",
        params![endpoint, before, limit - 1],
        |row| row.text(0),
    )?;
    tx.exec(
        "update deliveries set status = 'failed', next_at = null, due_at = null, leased = 0, \
         attempts = case when attempts = '' then '' else attempts || ',' end || ?5 \
         where workspace = ?1 and endpoint = ?2 and id >= ?3 and id < ?4 and status = 'pending'",
        params![tenant, endpoint, oldest.as_deref().unwrap_or(""), before, note],
    )?;
    Ok(oldest)
}

/// A delivery as the log shows it.
#[derive(Debug, Clone)]
pub struct DeliveryRow {
    /// Its id.
    pub id: Id<Delivery>,
    /// The event.
    pub event: Id<Event>,
    /// The event's type.
    pub kind: String,
    /// `pending`, `succeeded` or `failed`.
    pub status: String,
    /// JSON objects with commas between them.
    pub attempts: String,
    /// Replays so far.
    pub round: i64,
    /// When the next attempt is to be made.
    pub next_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was delivered.
    pub delivered_at: Option<Timestamp>,
    /// What is sent; `None` when it was emptied.
    pub envelope: Option<String>,
}

const LOG: &str = "select d.id, d.event, d.type, d.status, d.attempts, d.round, d.next_at, d.created_at, d.delivered_at, e.envelope";
const JOIN: &str = "left join events e on e.workspace = d.workspace and e.id = d.event";

fn read_log(row: &Row<'_>) -> Result<DeliveryRow, DbError> {
    Ok(DeliveryRow {
        id: row.id(0)?,
        event: row.id(1)?,
        kind: row.text(2)?,
        status: row.text(3)?,
        attempts: row.text(4)?,
        round: row.int(5)?,
        next_at: row.opt_time(6)?,
        created_at: row.time(7)?,
        delivered_at: row.opt_time(8)?,
        envelope: row.opt_text(9)?,
    })
}

/// What a page of the log shows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this status.
    pub status: Option<String>,
    /// Only this type of event.
    pub kind: Option<String>,
}

/// A page of what one world sees of an endpoint's log below `before`, newest first, and where the next one
/// begins. At most `examined` entries are looked at, so that the cost does not grow with what the filter and
/// the other world leave out: a page may be short although more follows.
pub fn list(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    endpoint: Id<WebhookEndpoint>,
    (mode, filter): (Mode, &Filter),
    before: &str,
    limit: i64,
    examined: i64,
) -> Result<(Vec<DeliveryRow>, Option<String>), DbError> {
    // Failed deliveries and those of the test world have indexes of their own.
    let source = match (mode, filter.status.as_deref()) {
        (Mode::Test, _) => " and i.mode = 'test'",
        (Mode::Live, Some("failed")) => " and i.status = 'failed'",
        (Mode::Live, _) => "",
    };
    let walk = format!(
        "from deliveries i where i.workspace = ?1 and i.endpoint = ?2 and i.id < ?3{source} order by i.id desc"
    );
    let mut conditions = format!(" and d.mode = '{}'", mode.as_str());
    let mut values = params![tenant, endpoint, before, limit + 1, examined].to_vec();
    for (column, value) in [("status", filter.status.as_deref()), ("type", filter.kind.as_deref())] {
        if let Some(value) = value {
            values.push(value.into());
            conditions += &format!(" and d.{column} = ?{}", values.len());
        }
    }
    let sql = format!(
        "{LOG} from (select i.id {walk} limit ?5) as walk join deliveries d on d.workspace = ?1 and d.endpoint = ?2 and d.id = walk.id \
         {JOIN} where 1 = 1{conditions} order by d.id desc limit ?4"
    );
    let mut rows = tx.all(&sql, &values, read_log)?;
    if rows.len() as i64 > limit {
        rows.truncate(limit as usize);
        let next = rows.last().map(|row| row.id.to_string());
        return Ok((rows, next));
    }
    let sql = format!("select i.id {walk} limit 1 offset ?4");
    let last = tx.one(&sql, params![tenant, endpoint, before, examined - 1], |row| row.text(0))?;
    Ok((rows, last))
}

/// One delivery of one world.
pub fn get(tx: &mut Tx<'_>, key: Key, mode: Mode) -> Result<Option<DeliveryRow>, DbError> {
    let sql = format!(
        "{LOG} from deliveries d {JOIN} where d.workspace = ?1 and d.endpoint = ?2 and d.id = ?3 and d.mode = ?4"
    );
    tx.one(&sql, params![key.tenant, key.endpoint, key.id, mode.as_str()], read_log)
}

/// Whether there is such a delivery.
pub fn exists(tx: &mut Tx<'_>, key: Key) -> Result<bool, DbError> {
    Ok(tx
        .one(&format!("select 1 from deliveries {ONE}"), params![key.tenant, key.endpoint, key.id], |_| {
            Ok(())
        })?
        .is_some())
}

/// Begins a new round: pending again, leased until `lease` or waiting in line. The new round, or `None` when
/// there is no such delivery.
pub fn replay(
    tx: &mut Tx<'_>,
    key: Key,
    now: Timestamp,
    lease: Option<Timestamp>,
) -> Result<Option<i64>, DbError> {
    let sql = format!(
        "update deliveries set status = 'pending', round = round + 1, round_at = ?4, made = 0, next_at = ?4, due_at = ?5, leased = ?6, delivered_at = null \
         {ONE} returning round"
    );
    tx.one(&sql, params![key.tenant, key.endpoint, key.id, now, lease, lease.is_some()], |row| row.int(0))
}

/// The endpoint of a delivery as it is now, if the delivery still wants the attempt of this round.
pub fn endpoint_if_wanted(tx: &mut Tx<'_>, key: Key, round: i64) -> Result<Option<EndpointRow>, DbError> {
    let sql = format!(
        "select {} from webhook_endpoints w join deliveries d on d.endpoint = w.id \
         where d.workspace = ?1 and d.endpoint = ?2 and d.id = ?3 and d.status = 'pending' and d.round = ?4",
        webhooks::OF_W
    );
    debug_assert_eq!(webhooks::OF_W.split(',').count(), webhooks::WIDTH);
    tx.one(&sql, params![key.tenant, key.endpoint, key.id, round], webhooks::read)
}

/// Drops up to `limit` entries of an endpoint's log below `before`; how many.
pub fn sweep(
    tx: &mut Tx<'_>,
    endpoint: Id<WebhookEndpoint>,
    before: &str,
    limit: i64,
) -> Result<u64, DbError> {
    tx.exec(
        "delete from deliveries where endpoint = ?1 and id in (select id from deliveries where endpoint = ?1 and id < ?2 order by id limit ?3)",
        params![endpoint, before, limit],
    )
}

/// Whether an endpoint's log has an entry below `before`.
pub fn sweepable(tx: &mut Tx<'_>, endpoint: Id<WebhookEndpoint>, before: &str) -> Result<bool, DbError> {
    Ok(tx
        .one(
            "select 1 from deliveries where endpoint = ?1 and id < ?2 limit 1",
            params![endpoint, before],
            |_| Ok(()),
        )?
        .is_some())
}

//! Finding nudges.

use const_format::formatcp;
use domain::ids::{Agent, ApiKey, Id, Nudge as NudgeKind};
use domain::nudge::{ResultCode, Status};
use domain::tenant::Mode;
use domain::time::Timestamp;

use super::NudgeRow;
use crate::db::{DbError, FromRow, Row, TenantTx, Tx, Value};
use crate::params;

const COLUMNS: &str = NudgeRow::COLUMNS;

/// One nudge of one mode.
pub fn get(tx: &mut TenantTx, mode: Mode, id: Id<NudgeKind>) -> Result<Option<NudgeRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from nudges where workspace = ?1 and mode = ?2 and id = ?3");
    tx.one(sql, params![mode, id])
}

/// One nudge in either mode.
pub fn get_any(tx: &mut TenantTx, id: Id<NudgeKind>) -> Result<Option<NudgeRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from nudges where workspace = ?1 and id = ?2"), params![id])
}

/// Caches a nudge that was just saved, and is locked, for [`get_for_update`].
pub fn cache_row(tx: &mut Tx<'_>, row: NudgeRow) {
    tx.cache_row(row.id.to_string(), Box::new(row));
}

/// One nudge, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<NudgeKind>) -> Result<Option<NudgeRow>, DbError> {
    let tenant = tx.tenant();
    if let Some(held) = tx.take_cached::<Box<NudgeRow>>(&id.to_string()) {
        return Ok(Some(*held).filter(|row| row.workspace == tenant));
    }
    tx.one(
        formatcp!("select {COLUMNS} from nudges where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![id],
    )
}

/// The live nudge to a number. The subquery keeps one lookup for each number when many are prefetched
/// ([`Tx::prefetch`]). No other index of live nudges may begin with workspace and mode: a plan from when the table was
/// small would use it, and scan all live nudges of the workspace.
pub fn find_live(tx: &mut TenantTx, mode: Mode, to_number: &str) -> Result<Option<Id<NudgeKind>>, DbError> {
    let sql =
        "select (select id from nudges where workspace = ?1 and mode = ?2 and to_number = ?3 and open = 1)";
    Ok(tx.one(sql, params![mode, to_number])?.flatten())
}

/// Many rows are boxed: a list of whole rows would be one large block of memory, allocated anew each time.
impl FromRow for Box<NudgeRow> {
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbError> {
        row.read().map(Box::new)
    }
}

/// Nudges of one queue whose time has come, those that wait longest first, locked against other nodes until the
/// transaction ends.
pub fn to_look_at(
    tx: &mut TenantTx,
    mode: Mode,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Box<NudgeRow>>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from nudges where workspace = ?1 and mode = ?2 and look_at is not null and look_at <= ?3 \
         order by look_at, id limit ?4 /*pg for update skip locked*/"
    );
    tx.all(sql, params![mode, now, limit])
}

/// Nudges of one queue that wait for a line, oldest first, locked until the transaction ends. The reason is condition
/// enough: with the status, too, the planner would scan all scheduled nudges.
pub fn without_line(tx: &mut TenantTx, mode: Mode, limit: i64) -> Result<Vec<Box<NudgeRow>>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from nudges where workspace = ?1 and mode = ?2 and status_reason = 'concurrency_full' and open = 1 \
         order by id limit ?3 /*pg for update skip locked*/"
    );
    tx.all(sql, params![mode, limit])
}

/// Waiting nudges of a key, the oldest first, locked against other nodes until the transaction ends. Those in
/// flight are left out.
pub fn of_key(tx: &mut TenantTx, key: Id<ApiKey>, limit: i64) -> Result<Vec<NudgeRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from nudges where api_key = ?2 and workspace = ?1 and open = 1 and status in ('queued', 'scheduled') and flight = 'none' \
         order by id limit ?3 /*pg for update*/"
    );
    tx.all(sql, params![key, limit])
}

/// How many nudges of a key wait: those that [`of_key`] finds.
pub fn count_of_key(tx: &mut TenantTx, key: Id<ApiKey>) -> Result<i64, DbError> {
    let sql = "select count(*) from nudges where api_key = ?2 and workspace = ?1 and open = 1 and status in ('queued', 'scheduled') and flight = 'none'";
    Ok(tx.one(sql, params![key])?.unwrap_or(0))
}

/// Every nudge to a number in both modes, locked against other nodes until the transaction ends.
pub fn of_person(tx: &mut TenantTx, phone_hash: &str) -> Result<Vec<NudgeRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from nudges where workspace = ?1 and phone_hash = ?2 order by id /*pg for update*/"
    );
    tx.all(sql, params![phone_hash])
}

/// Ids of nudges of one mode after `after` that wait and are not in flight, oldest first, without a lock: the caller
/// checks each one again. With locks, rows that others change concurrently would be missing from the batch, and an
/// empty batch would not mean that none waits.
pub fn pending_ids(
    tx: &mut TenantTx,
    mode: Mode,
    after: &str,
    limit: i64,
) -> Result<Vec<Id<NudgeKind>>, DbError> {
    const OF_STATUS: &str =
        "select id from nudges where workspace = ?1 and mode = ?2 and flight = 'none' and id > ?3 and status";
    // One statement, so that a nudge whose status changes meanwhile is not missed.
    let sql = formatcp!(
        "select id from (select id from ({OF_STATUS} = 'queued' order by id limit ?4) as queued union all \
         select id from ({OF_STATUS} = 'scheduled' order by id limit ?4) as scheduled) as waiting order by id limit ?4"
    );
    tx.all(sql, params![mode, after, limit])
}

/// The filter of a list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only of this status.
    pub status: Option<Status>,
    /// Only of this result.
    pub result: Option<ResultCode>,
    /// Only this agent's.
    pub agent: Option<Id<Agent>>,
    /// Only with this reference.
    pub external_ref: Option<String>,
    /// Only to this number, E.164.
    pub to_number: Option<String>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    /// The last id of the page before.
    pub before: Option<String>,
}

/// Nudges of one mode, newest first. Every filter has an index that ends in the id.
pub fn list(tx: &mut TenantTx, mode: Mode, filter: &Filter, limit: i64) -> Result<Vec<NudgeRow>, DbError> {
    let at = |moment: Timestamp| Id::<NudgeKind>::new(moment.0, 0).to_string();
    let top = filter.created_before.map_or_else(|| "ndg_~".to_owned(), at);
    let high = filter.before.clone().map_or(top.clone(), |before| before.min(top));
    let low = filter.created_after.map_or_else(String::new, at);
    let mut params: Vec<Value<'static>> = vec![mode.into(), low.into(), high.into(), limit.into()];
    let mut narrow = String::new();
    let wanted = [
        ("status", filter.status.map(|status| status.as_str().to_owned())),
        ("result", filter.result.map(|result| result.as_str().to_owned())),
        ("agent", filter.agent.map(|agent| agent.to_string())),
        ("external_ref", filter.external_ref.clone()),
        ("to_number", filter.to_number.clone()),
    ];
    for (column, value) in wanted {
        if let Some(value) = value {
            params.push(value.into());
            narrow.push_str(&format!(" and {column} = ?{}", params.len() + 1));
        }
    }
    let sql = format!(
        "select {COLUMNS} from nudges where workspace = ?1 and mode = ?2 and id >= ?3 and id < ?4{narrow} order by id desc limit ?5"
    );
    tx.all(&sql, &params)
}

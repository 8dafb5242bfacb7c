//! Nudges, their attempts and their queues.

mod queues;
mod read;
mod timeline;

pub use queues::{
    Change, Queue, QueueAddition, Revocation, add_revocation, admit, admit_all, due_queues, end_revocation,
    pending_in, revocations, serve, touch, touch_within,
};
pub(crate) use queues::{NEXT_LOOK, REVOKED, WAITING};
pub use read::{
    Filter, cache_row, count_of_key, find_live, get, get_any, get_for_update, list, of_key, of_person,
    pending_ids, to_look_at, without_line,
};
pub use timeline::{Entry, Line, append, last_again, timeline};

use const_format::formatcp;
use domain::compliance::Gate;
use domain::ids::{Agent, ApiKey, Call, Id, Nudge as NudgeKind};
use domain::nudge::{
    Announced, Flight, Nudge, OutsideWindow, ResultCode, Retry, RetryOn, Status, StatusReason,
};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::trace::TraceContext;
use serde_json::Value as Json;

use crate::db::row::{row, update};
use crate::db::{DbError, Must, TenantTx, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct NudgeRow in "nudges" {
        /// Its id, whose timestamp is `created_at`.
        id: Id<NudgeKind>,
        workspace: Tenant,
        /// The mode it belongs to.
        mode: Mode,
        /// The API key that created it; `None` for one of the service itself.
        api_key: Option<Id<ApiKey>> = |key| {
            api_key: String = key.map(|key| key.to_string()).unwrap_or_default(),
        } => api_key.parse().ok(),
        agent: Id<Agent>,
        /// A contact's id, else the keyed hash of the number.
        person: String,
        /// Keyed hash of the number; outlives an erasure.
        phone_hash: String,
        /// E.164; `None` once the person is erased.
        to_number: Option<String>,
        /// Own number, E.164; `None` when the workspace had none.
        from_number: Option<String>,
        /// Whether the client named it.
        from_given: bool,
        /// The client's own id.
        external_ref: Option<String>,
        /// Values of the conversation, an object.
        variables: Json,
        /// The client's notes, an object.
        metadata: Json,
        /// Its state for the rules.
        state: Nudge = |state| {
            status: Status = state.status,
            result: Option<ResultCode> = state.result,
            status_reason: Option<StatusReason> = state.status_reason,
            block_reason: Option<Gate> = state.block_reason,
            flight: Flight = state.flight,
            attempts: u8 = state.attempts,
            next_attempt_at: Option<Timestamp> = state.next_attempt_at,
            scheduled_at: Option<Timestamp> = state.scheduled_at,
            expires_at: Timestamp = state.expires_at,
            outside_window: OutsideWindow = state.outside_window,
            max_retries: i64 = state.retry.max_retries(),
            retry_on: RetryOn = state.retry.on(),
            retry_delay: i64 = state.retry.delay_minutes(),
            last_result: Option<ResultCode> = state.last_result,
            announced_reason: Option<StatusReason> = state.announced.and_then(|hold| hold.reason),
            announced_at: Option<Timestamp> = state.announced.map(|hold| hold.at),
            opted_out: bool = state.opted_out,
            erased: bool = state.erased,
            shows_call: bool = state.shows_call,
            finished_at: Option<Timestamp> = state.finished_at,
        } => Nudge {
            key: id.bits(),
            status,
            result,
            status_reason,
            block_reason,
            flight,
            attempts,
            next_attempt_at,
            scheduled_at,
            expires_at,
            outside_window,
            retry: Retry::new(max_retries, retry_on, retry_delay)
                .map_err(|why| DbError::Internal(format!("retry of a nudge: {why}")))?,
            last_result,
            announced: announced_at.map(|at| Announced { reason: announced_reason, at }),
            opted_out,
            erased,
            shows_call,
            finished_at,
        },
        /// Call of the current or last dial.
        call: Option<Id<Call>>,
        created_at: Timestamp,
        /// When it is due for the dialler.
        look_at: Option<Timestamp>,
        /// Grows with every save.
        version: i64,
        /// The trace context of its request.
        trace: Option<TraceContext>,
    }
    insert with { open: Option<i64> }
}

/// The state of a nudge as it was read, which decides the columns that a save has to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateBefore {
    status: Status,
    result: Option<ResultCode>,
    status_reason: Option<StatusReason>,
    look_at: Option<Timestamp>,
}

impl NudgeRow {
    /// See [`save`]: to be called before any change.
    pub fn before(&self) -> StateBefore {
        StateBefore {
            status: self.state.status,
            result: self.state.result,
            status_reason: self.state.status_reason,
            look_at: self.look_at,
        }
    }
}

/// Makes up to `limit` live nudges that wait for money due now. Returns how many.
pub fn wake_without_money(tx: &mut TenantTx, now: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "update nudges set look_at = ?2, next_attempt_at = ?2 where workspace = ?1 and id in (select id from nudges \
         where workspace = ?1 and mode = 'live' and status = 'scheduled' and status_reason = 'insufficient_balance' \
         and look_at > ?2 order by id limit ?3)",
        params![now, limit],
    )
}

/// Adds a nudge; `false` if another one to this number is live (a concurrent one, too).
pub fn insert(tx: &mut Tx<'_>, row: &NudgeRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!(
        "{} on conflict (workspace, mode, to_number) where to_number is not null and open = 1 do nothing",
        NudgeRow::INSERT
    );
    Ok(tx.exec(SQL, &row.values(open(&row.state)))? > 0)
}

const INSERT_NEW: &str = formatcp!("{} on conflict do nothing", NudgeRow::INSERT);

/// Adds nudges to numbers that this transaction has seen without a live one. If there is a concurrent one, the
/// transaction is retried on PostgreSQL.
pub fn insert_each<'a>(tx: &mut Tx<'_>, rows: impl IntoIterator<Item = &'a NudgeRow>) -> Result<(), DbError> {
    let otherwise = || DbError::Retry("another nudge to a number is live".into());
    rows.into_iter().try_for_each(|row| tx.add_new(INSERT_NEW, &row.values(open(&row.state)), otherwise()))
}

/// Adds a nudge to a number that this transaction has seen without a live one. If there is a concurrent one, the
/// transaction is retried on PostgreSQL.
pub fn insert_only(tx: &mut Tx<'_>, row: &NudgeRow) -> Result<(), DbError> {
    let otherwise = DbError::Retry("another nudge to the number is live".into());
    tx.must(INSERT_NEW, &row.values(open(&row.state)), Must { rows: 1, otherwise })
}

/// 1 until it is finished. The indexes of open nudges name this column instead of the status, so that other
/// changes of the status do not touch them.
fn open(state: &Nudge) -> Option<i64> {
    (state.status != Status::Finished).then_some(1)
}

/// Saves a nudge; the transaction fails if it changed since it was read. `before` is its state then: unchanged status,
/// reason and due time are left out, and with them their indexes; so is personal data, which only an erasure changes.
pub fn save(tx: &mut Tx<'_>, before: &StateBefore, row: &NudgeRow) -> Result<(), DbError> {
    let state = &row.state;
    let ([stays, moves, turns, changes], values) = update!(
        "nudges" set {
            block_reason: state.block_reason,
            flight: state.flight,
            attempts: state.attempts,
            next_attempt_at: state.next_attempt_at,
            last_result: state.last_result,
            announced_reason: state.announced.and_then(|hold| hold.reason),
            announced_at: state.announced.map(|hold| hold.at),
            opted_out: state.opted_out,
            erased: state.erased,
            shows_call: state.shows_call,
            call: row.call,
            finished_at: state.finished_at,
            from_number: row.from_number.as_deref(),
            person: row.person.as_str(),
            look_at: row.look_at,
            status: state.status,
            result: state.result,
            status_reason: state.status_reason,
            open: open(state),
        } and "version = version + 1"
        where "workspace = ?1 and id = ?2 and version = ?3", row.workspace, row.id, row.version;
        up to person, look_at, status, open
    );
    let ended = state.status == Status::Finished;
    let (sql, count) = if (before.result, before.status_reason) != (state.result, state.status_reason)
        || ended && before.status != state.status
    {
        changes
    } else if before.status != state.status {
        turns
    } else if before.look_at != row.look_at {
        moves
    } else {
        stays
    };
    let otherwise = DbError::Internal("a nudge was changed by somebody who did not hold it".into());
    tx.change(sql, &values[..count], otherwise)?;
    tx.uncache(&row.id.to_string());
    if row.to_number.is_none() {
        let (sql, values) = update!(
            "nudges" set {
                to_number: row.to_number.as_deref(),
                external_ref: row.external_ref.as_deref(),
                variables: &row.variables,
                metadata: &row.metadata,
            }
            where "workspace = ?1 and id = ?2", row.workspace, row.id
        );
        tx.later(sql, &values)?;
    }
    Ok(())
}

/// The calls of a nudge, first dial first; those that a gate refused are none, nor is one that no carrier has taken
/// yet, and of a dial that never went out there is no call.
pub fn attempts(tx: &mut TenantTx, nudge: Id<NudgeKind>) -> Result<Vec<Id<Call>>, DbError> {
    let sql = "select id from calls where workspace = ?1 and nudge = ?2 and block_reason is null and status <> 'queued' order by id";
    tx.all(sql, params![nudge])
}

//! Scheduled calls: pending ones are found by the time of their next attempt.

use const_format::formatcp;
use domain::ids::{Agent, ApiKey, Call, Id};
use domain::scheduled_call::{Reason, ScheduledCall, Status};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::trace::TraceContext;
use serde_json::Value as Json;

use crate::claims::Claimed;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

/// The id of a scheduled call.
pub type ScheduledCallId = Id<domain::ids::ScheduledCall>;

row! {
    /// A scheduled call as stored.
    #[derive(Debug, Clone)]
    pub struct ScheduledCallRow in "scheduled_calls" {
        id: ScheduledCallId,
        workspace: Tenant,
        /// The mode it belongs to.
        mode: Mode,
        /// The key that scheduled it; `None` when it was scheduled before keys were stored with it.
        api_key: Option<Id<ApiKey>>,
        /// Who will talk.
        agent: Id<Agent>,
        /// Whom to call, E.164; `[erased]` after an erasure.
        to_number: String,
        /// The own number that the client requested.
        from_number: Option<String>,
        /// The client's own id of the person.
        external_ref: Option<String>,
        /// Values of the conversation, an object.
        variables: Json,
        /// The client's notes, an object.
        metadata: Json,
        /// Its state for the rules.
        state: ScheduledCall = |state| {
            status: Status = state.status,
            scheduled_at: Timestamp = state.scheduled_at,
            next_attempt_at: Option<Timestamp> = state.next_attempt_at,
            attempts: u8 = i64::from(state.attempts),
            reason: Option<Reason> = state.reason,
            erased: bool = state.erased,
        } => ScheduledCall {
            status,
            dialling: status == Status::Scheduled && call.is_some(),
            scheduled_at,
            next_attempt_at,
            attempts,
            reason,
            erased,
        },
        /// The call of the dial under way or of the one that was placed.
        call: Option<Id<Call>>,
        /// Grows with every save.
        version: i64,
        created_at: Timestamp,
        /// The trace context of its request.
        trace: Option<TraceContext>,
    }
}

const COLUMNS: &str = ScheduledCallRow::COLUMNS;

/// Adds a scheduled call.
pub fn insert(tx: &mut Tx<'_>, row: &ScheduledCallRow) -> Result<(), DbError> {
    tx.later(ScheduledCallRow::INSERT, &row.values())
}

/// Writes state and call, unless they were changed since the row was read. Returns whether they were written.
pub fn save(tx: &mut Tx<'_>, row: &ScheduledCallRow) -> Result<bool, DbError> {
    let state = &row.state;
    let (sql, values) = update!(
        "scheduled_calls" set {
            status: state.status,
            next_attempt_at: state.next_attempt_at,
            attempts: i64::from(state.attempts),
            reason: state.reason,
            call: row.call,
            erased: state.erased,
        } and "version = version + 1, claimed_until = null"
        where "workspace = ?1 and id = ?2 and version = ?3", row.workspace, row.id, row.version
    );
    Ok(tx.exec(sql, &values)? > 0)
}

/// One scheduled call of one mode.
pub fn get(tx: &mut TenantTx, mode: Mode, id: ScheduledCallId) -> Result<Option<ScheduledCallRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from scheduled_calls where workspace = ?1 and mode = ?2 and id = ?3"),
        params![mode, id],
    )
}

/// One scheduled call, locked against other writers until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: ScheduledCallId) -> Result<Option<ScheduledCallRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from scheduled_calls where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![id],
    )
}

/// One scheduled call that is due, locked until the transaction ends; `None` when it is not due any more or
/// another node has locked it.
pub fn take_due(
    tx: &mut TenantTx,
    id: ScheduledCallId,
    now: Timestamp,
) -> Result<Option<ScheduledCallRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from scheduled_calls where workspace = ?1 and id = ?2 and next_attempt_at is not null and next_attempt_at <= ?3 \
         /*pg for update skip locked*/"
    );
    tx.one(sql, params![id, now])
}

/// A page of one mode, newest first. The rows before the page are skipped in the index alone.
pub fn list(
    tx: &mut TenantTx,
    mode: Mode,
    status: Option<Status>,
    limit: i64,
    offset: i64,
) -> Result<Vec<ScheduledCallRow>, DbError> {
    const OPENING: &str = formatcp!(
        "select {COLUMNS} from scheduled_calls where id in (select id from (select id from scheduled_calls where workspace = ?1 and mode = ?2"
    );
    const END: &str = "order by id desc limit ?3 offset ?4) as page) order by id desc";
    match status {
        Some(status) => {
            tx.all(formatcp!("{OPENING} and status = ?5 {END}"), params![mode, limit, offset, status])
        }
        None => tx.all(formatcp!("{OPENING} {END}"), params![mode, limit, offset]),
    }
}

/// Those that are due are claimed.
const CLAIMED: Claimed = Claimed { table: "scheduled_calls", due: "next_attempt_at", key: "workspace, id" };

/// Across workspaces: up to `limit` due scheduled calls without a claim, longest due first, except those of the
/// workspaces in `without`. For a transaction that claims them ([`claim`]).
pub fn due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    without: &[Tenant],
    limit: i64,
) -> Result<Vec<(Tenant, ScheduledCallId)>, DbError> {
    CLAIMED.due(tx, now, without, limit)
}

/// Has other nodes leave a due scheduled call alone until `until`.
pub fn claim(tx: &mut TenantTx, id: ScheduledCallId, until: Timestamp) -> Result<(), DbError> {
    CLAIMED.claim(tx, params![id], until)
}

/// Across workspaces: when the next one without a claim is due.
pub fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
    CLAIMED.next_due(tx, now)
}

/// Has up to `limit` live calls that wait for money tried now; how many.
pub fn wake_without_money(tx: &mut TenantTx, now: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "update scheduled_calls set next_attempt_at = ?2, version = version + 1 where workspace = ?1 and id in \
         (select id from scheduled_calls where workspace = ?1 and mode = 'live' and status = 'scheduled' and call is null \
         and reason = 'insufficient_balance' and next_attempt_at > ?2 order by id limit ?3)",
        params![now, limit],
    )
}

/// Up to `limit` calls of a key that wait, oldest first, locked until the transaction ends; those being dialled
/// are left out.
pub fn of_key(tx: &mut TenantTx, key: Id<ApiKey>, limit: i64) -> Result<Vec<ScheduledCallRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from scheduled_calls where workspace = ?1 and api_key = ?2 and status = 'scheduled' and call is null order by id limit ?3 /*pg for update*/"
    );
    tx.all(sql, params![key, limit])
}

/// Everything scheduled for a person in the workspace, by number or by reference, in both modes, locked until the
/// transaction ends.
pub fn of_person(
    tx: &mut TenantTx,
    to_number: Option<&str>,
    external_ref: Option<&str>,
) -> Result<Vec<ScheduledCallRow>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from scheduled_calls where id in (select id from scheduled_calls where workspace = ?1 and to_number = ?2 \
         union select id from scheduled_calls where workspace = ?1 and external_ref = ?3) order by id /*pg for update*/"
    );
    tx.all(sql, params![to_number, external_ref])
}

/// Takes the personal data out of a scheduled call; its state stays.
pub fn redact(tx: &mut TenantTx, id: ScheduledCallId) -> Result<(), DbError> {
    tx.later(
        "update scheduled_calls set to_number = '[erased]', external_ref = null, variables = '{}', metadata = '{}', version = version + 1 \
         where workspace = ?1 and id = ?2",
        params![id],
    )
}

row! {
    /// A decision about a scheduled call.
    #[derive(Debug, Clone)]
    pub struct DecisionRow {
        at: Timestamp,
        /// What was seen and decided.
        body: Json,
    }
}

/// Adds a decision to the timeline of a scheduled call that the caller has locked.
pub fn record(tx: &mut TenantTx, id: ScheduledCallId, at: Timestamp, body: &Json) -> Result<(), DbError> {
    tx.later(
        "insert into scheduled_call_decisions (scheduled_call, seq, workspace, at, body) \
         select ?2, coalesce(max(seq), 0) + 1, ?1, cast(?3 as bigint), ?4 from scheduled_call_decisions where scheduled_call = ?2",
        params![id, at, body],
    )
}

/// The timeline, first decision first.
pub fn decisions(tx: &mut TenantTx, id: ScheduledCallId) -> Result<Vec<DecisionRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from scheduled_call_decisions where workspace = ?1 and scheduled_call = ?2 order by seq",
        DecisionRow::COLUMNS
    );
    tx.all(SQL, params![id])
}

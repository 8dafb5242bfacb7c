//! Calls at a set time: the waiting ones are found by the moment of their next try.

use domain::ids::{Agent, ApiKey, Call, Id};
use domain::scheduled_call::{Reason, ScheduledCall, Status};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::{DbError, Row, Tx, any_of};
use crate::params;

/// The id of a scheduled call.
pub type ScheduledCallId = Id<domain::ids::ScheduledCall>;

/// A scheduled call as stored.
#[derive(Debug, Clone)]
pub struct ScheduledCallRow {
    /// Its id.
    pub id: ScheduledCallId,
    /// The workspace.
    pub workspace: Tenant,
    /// The world it belongs to.
    pub mode: Mode,
    /// The key that scheduled it; `None` for those of a store that did not note it yet.
    pub api_key: Option<Id<ApiKey>>,
    /// Who will talk.
    pub agent: Id<Agent>,
    /// Whom to call, E.164; `[erased]` after an erasure.
    pub to_number: String,
    /// Own number as the client asked.
    pub from_number: Option<String>,
    /// The client's own id of the person.
    pub external_ref: Option<String>,
    /// Values of the conversation, an object.
    pub variables: Json,
    /// The client's notes, an object.
    pub metadata: Json,
    /// What the rules know of it.
    pub state: ScheduledCall,
    /// The call of the dial under way or of the one that was placed.
    pub call: Option<Id<Call>>,
    /// Grows with every save.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "id, workspace, mode, agent, to_number, from_number, external_ref, variables, metadata, status, scheduled_at, next_attempt_at, \
     attempts, reason, call, erased, version, created_at, api_key";

fn unknown(what: &str, word: &str) -> DbError {
    DbError::Internal(format!("unknown {what} of a scheduled call: {word}"))
}

fn read(row: &Row<'_>) -> Result<ScheduledCallRow, DbError> {
    let (mode, status) = (row.text(2)?, row.text(9)?);
    let status = Status::parse(&status).ok_or_else(|| unknown("status", &status))?;
    let reason = row
        .opt_text(13)?
        .map(|word| Reason::parse(&word).ok_or_else(|| unknown("reason", &word)))
        .transpose()?;
    let call = row.opt_id(14)?;
    Ok(ScheduledCallRow {
        id: row.id(0)?,
        workspace: row.id(1)?,
        mode: Mode::parse(&mode).ok_or_else(|| unknown("mode", &mode))?,
        agent: row.id(3)?,
        to_number: row.text(4)?,
        from_number: row.opt_text(5)?,
        external_ref: row.opt_text(6)?,
        variables: row.json(7)?,
        metadata: row.json(8)?,
        state: ScheduledCall {
            status,
            dialling: status == Status::Scheduled && call.is_some(),
            scheduled_at: row.time(10)?,
            next_attempt_at: row.opt_time(11)?,
            attempts: u8::try_from(row.int(12)?).unwrap_or(u8::MAX),
            reason,
            erased: row.flag(15)?,
        },
        call,
        version: row.int(16)?,
        created_at: row.time(17)?,
        api_key: row.opt_id(18)?,
    })
}

/// Adds a scheduled call.
pub fn insert(tx: &mut Tx<'_>, row: &ScheduledCallRow) -> Result<(), DbError> {
    tx.later(
        "insert into scheduled_calls (id, workspace, mode, agent, to_number, from_number, external_ref, variables, metadata, status, scheduled_at, \
         next_attempt_at, attempts, reason, call, erased, version, created_at, api_key) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
        params![
            row.id,
            row.workspace,
            row.mode.as_str(),
            row.agent,
            &row.to_number,
            row.from_number.as_deref(),
            row.external_ref.as_deref(),
            &row.variables,
            &row.metadata,
            row.state.status.as_str(),
            row.state.scheduled_at,
            row.state.next_attempt_at,
            i64::from(row.state.attempts),
            row.state.reason.map(Reason::as_str),
            row.call,
            row.state.erased,
            row.version,
            row.created_at,
            row.api_key
        ],
    )
}

/// Writes state and call, if nobody else has since the row was read. Whether it did.
pub fn save(tx: &mut Tx<'_>, row: &ScheduledCallRow) -> Result<bool, DbError> {
    let state = &row.state;
    let saved = tx.exec(
        "update scheduled_calls set status = ?4, next_attempt_at = ?5, attempts = ?6, reason = ?7, call = ?8, erased = ?9, version = version + 1 \
         where workspace = ?1 and id = ?2 and version = ?3",
        params![
            row.workspace,
            row.id,
            row.version,
            state.status.as_str(),
            state.next_attempt_at,
            i64::from(state.attempts),
            state.reason.map(Reason::as_str),
            row.call,
            state.erased
        ],
    )?;
    Ok(saved > 0)
}

/// One scheduled call of one world.
pub fn get(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    id: ScheduledCallId,
) -> Result<Option<ScheduledCallRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from scheduled_calls where workspace = ?1 and mode = ?2 and id = ?3"),
        params![tenant, mode.as_str(), id],
        read,
    )
}

/// One scheduled call, held against other writers until the transaction ends.
pub fn get_for_update(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: ScheduledCallId,
) -> Result<Option<ScheduledCallRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from scheduled_calls where workspace = ?1 and id = ?2 /*pg for update*/"),
        params![tenant, id],
        read,
    )
}

/// One scheduled call that is due, held until the transaction ends; `None` when it is not due any more or
/// another node holds it.
pub fn take_due(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: ScheduledCallId,
    now: Timestamp,
) -> Result<Option<ScheduledCallRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from scheduled_calls where workspace = ?1 and id = ?2 and next_attempt_at is not null and next_attempt_at <= ?3 \
         /*pg for update skip locked*/"
    );
    tx.one(&sql, params![tenant, id, now], read)
}

/// A page of one world, newest first. The rows before the page are skipped in the index alone.
pub fn list(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    mode: Mode,
    status: Option<Status>,
    limit: i64,
    offset: i64,
) -> Result<Vec<ScheduledCallRow>, DbError> {
    let rows = |filter: &str| {
        format!(
            "select {COLUMNS} from scheduled_calls where id in (select id from (select id from scheduled_calls where workspace = ?1 and mode = ?2{filter} \
             order by id desc limit ?3 offset ?4) as page) order by id desc"
        )
    };
    match status {
        Some(status) => tx.all(
            &rows(" and status = ?5"),
            params![tenant, mode.as_str(), limit, offset, status.as_str()],
            read,
        ),
        None => tx.all(&rows(""), params![tenant, mode.as_str(), limit, offset], read),
    }
}

/// Up to `limit` scheduled calls that are due, longest waiting first, none of the workspaces in `without`.
pub fn due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    without: &[Tenant],
    limit: i64,
) -> Result<Vec<(Tenant, ScheduledCallId)>, DbError> {
    let mut values = vec![now.into(), limit.into()];
    let mut sql = "select workspace, id from scheduled_calls where next_attempt_at is not null and next_attempt_at <= ?1".to_owned();
    if !without.is_empty() {
        let list = any_of(&mut values, without.iter().map(|tenant| (*tenant).into()));
        sql.push_str(&format!(" and workspace not in {list}"));
    }
    sql.push_str(" order by next_attempt_at, workspace, id limit ?2");
    tx.all(&sql, &values, |row| Ok((row.id(0)?, row.id(1)?)))
}

/// When the next one is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx
        .one(
            "select min(next_attempt_at) from scheduled_calls where next_attempt_at is not null",
            &[],
            |row| row.opt_time(0),
        )?
        .flatten())
}

/// Up to `limit` calls of a key that wait, oldest first, held until the transaction ends; those being dialled
/// are left out.
pub fn of_key(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    key: Id<ApiKey>,
    limit: i64,
) -> Result<Vec<ScheduledCallRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from scheduled_calls where workspace = ?1 and api_key = ?2 and status = 'scheduled' and call is null order by id limit ?3 /*pg for update*/"
    );
    tx.all(&sql, params![tenant, key, limit], read)
}

/// Everything scheduled for a person in the workspace, by number or by reference, both worlds, held until the
/// transaction ends.
pub fn of_person(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    to_number: Option<&str>,
    external_ref: Option<&str>,
) -> Result<Vec<ScheduledCallRow>, DbError> {
    let sql = format!(
        "select {COLUMNS} from scheduled_calls where id in (select id from scheduled_calls where workspace = ?1 and to_number = ?2 \
         union select id from scheduled_calls where workspace = ?1 and external_ref = ?3) order by id /*pg for update*/"
    );
    tx.all(&sql, params![tenant, to_number, external_ref], read)
}

/// Takes the personal data out of a scheduled call; its state stays.
pub fn redact(tx: &mut Tx<'_>, tenant: Tenant, id: ScheduledCallId) -> Result<(), DbError> {
    tx.later(
        "update scheduled_calls set to_number = '[erased]', external_ref = null, variables = '{}', metadata = '{}', version = version + 1 \
         where workspace = ?1 and id = ?2",
        params![tenant, id],
    )
}

/// A decision about a scheduled call.
#[derive(Debug, Clone)]
pub struct DecisionRow {
    /// When.
    pub at: Timestamp,
    /// What was seen and decided.
    pub body: Json,
}

/// Adds a decision to the timeline; the caller holds the scheduled call.
pub fn record(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: ScheduledCallId,
    at: Timestamp,
    body: &Json,
) -> Result<(), DbError> {
    tx.later(
        "insert into scheduled_call_decisions (scheduled_call, seq, workspace, at, body) \
         select ?1, coalesce(max(seq), 0) + 1, ?2, cast(?3 as bigint), ?4 from scheduled_call_decisions where scheduled_call = ?1",
        params![id, tenant, at, body],
    )
}

/// The timeline, first decision first.
pub fn decisions(tx: &mut Tx<'_>, tenant: Tenant, id: ScheduledCallId) -> Result<Vec<DecisionRow>, DbError> {
    tx.all("select at, body from scheduled_call_decisions where workspace = ?1 and scheduled_call = ?2 order by seq", params![tenant, id], |row| {
        Ok(DecisionRow { at: row.time(0)?, body: row.json(1)? })
    })
}

//! Nudges, their attempts and their queues.

mod queues;
mod read;
mod timeline;

pub use queues::{
    Change, Queue, Revocation, add_revocation, due_queues, end_revocation, next_look, revocations, serve,
    touch, touch_within, waiting_queues,
};
pub use read::{
    Filter, find_live, get, get_any, get_for_update, list, of_key, of_person, pending, to_look_at,
    without_line,
};
pub use timeline::{Entry, Line, append, last_again, timeline};

use domain::compliance::Gate;
use domain::ids::{Agent, ApiKey, Call, Id, Nudge as NudgeKind};
use domain::nudge::{
    Announced, Flight, Nudge, OutsideWindow, ResultCode, Retry, RetryOn, Status, StatusReason,
};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::{DbError, Must, Row, Tx, Value};
use crate::params;

/// A nudge as stored.
#[derive(Debug, Clone)]
pub struct NudgeRow {
    /// Its id; its moment is `created_at`.
    pub id: Id<NudgeKind>,
    /// The workspace.
    pub workspace: Tenant,
    /// The world it belongs to.
    pub mode: Mode,
    /// The key that made it.
    pub api_key: Id<ApiKey>,
    /// Who talks.
    pub agent: Id<Agent>,
    /// A contact's id, else the keyed hash of the number.
    pub person: String,
    /// Keyed hash of the number; outlives an erasure.
    pub phone_hash: String,
    /// E.164; `None` once the person is erased.
    pub to_number: Option<String>,
    /// Own number, E.164; `None` when the workspace had none.
    pub from_number: Option<String>,
    /// Whether the client named it.
    pub from_given: bool,
    /// The client's own id.
    pub external_ref: Option<String>,
    /// Values of the conversation, an object.
    pub variables: Json,
    /// The client's notes, an object.
    pub metadata: Json,
    /// What the rules know of it.
    pub state: Nudge,
    /// Call of the current or last dial.
    pub call: Option<Id<Call>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the dialler looks at it.
    pub look_at: Option<Timestamp>,
    /// Grows with every save.
    pub version: i64,
}

/// What of a nudge as it was read decides which columns a change has to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    status: Status,
    result: Option<ResultCode>,
    status_reason: Option<StatusReason>,
    look_at: Option<Timestamp>,
}

impl NudgeRow {
    /// See [`save`]: to be asked before anything is changed.
    pub fn before(&self) -> Before {
        Before {
            status: self.state.status,
            result: self.state.result,
            status_reason: self.state.status_reason,
            look_at: self.look_at,
        }
    }
}

const COLUMNS: &str = "id, workspace, mode, api_key, agent, person, phone_hash, to_number, from_number, from_given, external_ref, variables, metadata, \
     status, result, status_reason, block_reason, flight, attempts, next_attempt_at, scheduled_at, expires_at, outside_window, max_retries, retry_on, \
     retry_delay, last_result, announced_reason, announced_at, opted_out, erased, shows_call, call, created_at, finished_at, look_at, version";

fn word<T>(what: &str, text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, DbError> {
    parse(text).ok_or_else(|| DbError::Internal(format!("unknown {what} of a nudge: {text}")))
}

fn opt_word<T>(
    what: &str,
    text: Option<String>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, DbError> {
    text.map(|text| word(what, &text, parse)).transpose()
}

fn read(row: &Row<'_>) -> Result<NudgeRow, DbError> {
    let id: Id<NudgeKind> = row.id(0)?;
    let on = RetryOn::parse(row.text(24)?.split(' '));
    let retry = on.and_then(|on| Retry::new(row.int(23).unwrap_or(-1), on, row.int(25).unwrap_or(-1)));
    let announced_at = row.opt_time(28)?;
    let announced_reason = opt_word("reason", row.opt_text(27)?, StatusReason::parse)?;
    let state = Nudge {
        key: id.bits(),
        status: word("status", &row.text(13)?, Status::parse)?,
        result: opt_word("result", row.opt_text(14)?, ResultCode::parse)?,
        status_reason: opt_word("reason", row.opt_text(15)?, StatusReason::parse)?,
        block_reason: opt_word("gate", row.opt_text(16)?, Gate::parse)?,
        flight: word("flight", &row.text(17)?, Flight::parse)?,
        attempts: u8::try_from(row.int(18)?).unwrap_or(u8::MAX),
        next_attempt_at: row.opt_time(19)?,
        scheduled_at: row.opt_time(20)?,
        expires_at: row.time(21)?,
        outside_window: word("outsideWindow", &row.text(22)?, OutsideWindow::parse)?,
        retry: retry.map_err(|why| DbError::Internal(format!("retry of a nudge: {why}")))?,
        last_result: opt_word("result", row.opt_text(26)?, ResultCode::parse)?,
        announced: announced_at.map(|at| Announced { reason: announced_reason, at }),
        opted_out: row.flag(29)?,
        erased: row.flag(30)?,
        shows_call: row.flag(31)?,
        finished_at: row.opt_time(34)?,
    };
    Ok(NudgeRow {
        id,
        workspace: row.id(1)?,
        mode: word("mode", &row.text(2)?, Mode::parse)?,
        api_key: row.id(3)?,
        agent: row.id(4)?,
        person: row.text(5)?,
        phone_hash: row.text(6)?,
        to_number: row.opt_text(7)?,
        from_number: row.opt_text(8)?,
        from_given: row.flag(9)?,
        external_ref: row.opt_text(10)?,
        variables: row.json(11)?,
        metadata: row.json(12)?,
        state,
        call: row.opt_id(32)?,
        created_at: row.time(33)?,
        look_at: row.opt_time(35)?,
        version: row.int(36)?,
    })
}

/// Adds a nudge; `false` when another one to this number is live (made at this very moment, too).
pub fn insert(tx: &mut Tx<'_>, row: &NudgeRow) -> Result<bool, DbError> {
    let state = &row.state;
    let reason = state.status_reason.map(StatusReason::as_str);
    let announced = state.announced;
    let added = tx.exec(
        "insert into nudges (id, workspace, mode, api_key, agent, person, phone_hash, to_number, from_number, from_given, external_ref, variables, \
         metadata, status, result, status_reason, block_reason, flight, attempts, next_attempt_at, scheduled_at, expires_at, outside_window, max_retries, \
         retry_on, retry_delay, last_result, announced_reason, announced_at, opted_out, erased, shows_call, call, created_at, finished_at, look_at, \
         version, open) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, \
         ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38) \
         on conflict (workspace, mode, to_number) where to_number is not null and open = 1 do nothing",
        params![
            row.id,
            row.workspace,
            row.mode.as_str(),
            row.api_key,
            row.agent,
            &row.person,
            &row.phone_hash,
            row.to_number.as_deref(),
            row.from_number.as_deref(),
            row.from_given,
            row.external_ref.as_deref(),
            &row.variables,
            &row.metadata,
            state.status.as_str(),
            state.result.map(ResultCode::as_str),
            reason.as_deref(),
            state.block_reason.map(Gate::as_str),
            state.flight.as_str(),
            i64::from(state.attempts),
            state.next_attempt_at,
            state.scheduled_at,
            state.expires_at,
            state.outside_window.as_str(),
            i64::from(state.retry.max_retries()),
            state.retry.on().words().join(" "),
            i64::from(state.retry.delay_minutes()),
            state.last_result.map(ResultCode::as_str),
            announced.and_then(|hold| hold.reason).map(|reason| reason.as_str().into_owned()),
            announced.map(|hold| hold.at),
            state.opted_out,
            state.erased,
            state.shows_call,
            row.call,
            row.created_at,
            state.finished_at,
            row.look_at,
            row.version,
            open(state)
        ],
    )?;
    Ok(added > 0)
}

/// 1 until it is finished: what indexes of those that are not name, so that no other change of its status
/// moves their entries.
fn open(state: &Nudge) -> Option<i64> {
    (state.status != Status::Finished).then_some(1)
}

/// The statement of [`save`] that writes these columns, too.
macro_rules! save_with {
    ($more:literal) => {
        concat!(
            "update nudges set block_reason = ?4, flight = ?5, attempts = ?6, next_attempt_at = ?7, last_result = ?8, announced_reason = ?9, \
             announced_at = ?10, opted_out = ?11, erased = ?12, shows_call = ?13, call = ?14, finished_at = ?15, from_number = ?16, person = ?17, ",
            $more,
            "version = version + 1 where workspace = ?1 and id = ?2 and version = ?3"
        )
    };
}

/// Writes what changes in the life of a nudge; the transaction fails if somebody else has since it was read.
/// `before` is what it was then: a status, a reason or a time to look that stayed is left alone, and with it
/// the indexes that name it; so is what is personal, of which only an erasure changes anything.
pub fn save(tx: &mut Tx<'_>, before: &Before, row: &NudgeRow) -> Result<(), DbError> {
    const STAYS: &str = save_with!("");
    const MOVES: &str = save_with!("look_at = ?18, ");
    const TURNS: &str = save_with!("look_at = ?18, status = ?19, ");
    const CHANGES: &str =
        save_with!("look_at = ?18, status = ?19, result = ?20, status_reason = ?21, open = ?22, ");
    let state = &row.state;
    let values: [Value<'_>; 22] = [
        row.workspace.into(),
        row.id.into(),
        row.version.into(),
        state.block_reason.map(Gate::as_str).into(),
        state.flight.as_str().into(),
        i64::from(state.attempts).into(),
        state.next_attempt_at.into(),
        state.last_result.map(ResultCode::as_str).into(),
        state.announced.and_then(|hold| hold.reason).map(|reason| reason.as_str().into_owned()).into(),
        state.announced.map(|hold| hold.at).into(),
        state.opted_out.into(),
        state.erased.into(),
        state.shows_call.into(),
        row.call.into(),
        state.finished_at.into(),
        row.from_number.as_deref().into(),
        row.person.as_str().into(),
        row.look_at.into(),
        state.status.as_str().into(),
        state.result.map(ResultCode::as_str).into(),
        state.status_reason.map(|reason| reason.as_str().into_owned()).into(),
        open(state).into(),
    ];
    let ended = state.status == Status::Finished;
    let (sql, count) = if (before.result, before.status_reason) != (state.result, state.status_reason)
        || ended && before.status != state.status
    {
        (CHANGES, 22)
    } else if before.status != state.status {
        (TURNS, 19)
    } else if before.look_at != row.look_at {
        (MOVES, 18)
    } else {
        (STAYS, 17)
    };
    let otherwise = DbError::Internal("a nudge was changed by somebody who did not hold it".into());
    tx.must(sql, &values[..count], Must { rows: 1, otherwise })?;
    if row.to_number.is_none() {
        tx.later(
            "update nudges set to_number = ?3, external_ref = ?4, variables = ?5, metadata = ?6 where workspace = ?1 and id = ?2",
            params![row.workspace, row.id, row.to_number.as_deref(), row.external_ref.as_deref(), &row.variables, &row.metadata],
        )?;
    }
    Ok(())
}

/// The calls of a nudge, first dial first; those that a gate refused are none, and of a dial that never went
/// out there is no call.
pub fn attempts(tx: &mut Tx<'_>, tenant: Tenant, nudge: Id<NudgeKind>) -> Result<Vec<Id<Call>>, DbError> {
    let sql = "select id from calls where workspace = ?1 and nudge = ?2 and block_reason is null order by id";
    tx.all(sql, params![tenant, nudge], |row| row.id(0))
}

//! The outbox of events.

use domain::ids::{Event, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::{DbError, Row, Tx};
use crate::params;

/// An event as stored.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// Its id, the same in every delivery.
    pub id: Id<Event>,
    /// Its type, such as `call.started`.
    pub kind: String,
    /// The world it happened in.
    pub mode: Mode,
    /// The agent it is about.
    pub agent: Option<String>,
    /// The person it is about.
    pub contact: Option<String>,
    /// The whole envelope as it is sent; `None` once the person is erased.
    pub envelope: Option<String>,
    /// When it happened.
    pub created_at: Timestamp,
}

/// An event to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewEventRow<'a> {
    /// Its id.
    pub id: Id<Event>,
    /// Its type.
    pub kind: &'a str,
    /// The world it happened in.
    pub mode: Mode,
    /// The agent it is about.
    pub agent: Option<&'a str>,
    /// The person it is about.
    pub contact: Option<&'a str>,
    /// The whole envelope.
    pub envelope: &'a str,
    /// When it happened.
    pub created_at: Timestamp,
}

/// Adds an event.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: NewEventRow<'_>) -> Result<(), DbError> {
    tx.later(
        "insert into events (workspace, id, type, mode, agent, contact, envelope, created_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![tenant, row.id, row.kind, row.mode.as_str(), row.agent, row.contact, row.envelope, row.created_at],
    )
}

fn read(row: &Row<'_>) -> Result<EventRow, DbError> {
    Ok(EventRow {
        id: row.id(0)?,
        kind: row.text(1)?,
        mode: Mode::parse(&row.text(2)?).ok_or_else(|| DbError::Internal("unknown mode of an event".into()))?,
        agent: row.opt_text(3)?,
        contact: row.opt_text(4)?,
        envelope: row.opt_text(5)?,
        created_at: row.time(6)?,
    })
}

const COLUMNS: &str = "id, type, mode, agent, contact, envelope, created_at";

/// Events of a workspace after `after`, oldest first.
pub fn list_after(tx: &mut Tx<'_>, tenant: Tenant, after: &str, limit: i64) -> Result<Vec<EventRow>, DbError> {
    let sql = format!("select {COLUMNS} from events where workspace = ?1 and id > ?2 order by id limit ?3");
    tx.all(&sql, params![tenant, after, limit], read)
}

/// Events of a workspace after `after` and before `before`, oldest first.
pub fn list_between(tx: &mut Tx<'_>, tenant: Tenant, after: &str, before: &str, limit: i64) -> Result<Vec<EventRow>, DbError> {
    let sql = format!("select {COLUMNS} from events where workspace = ?1 and id > ?2 and id < ?3 order by id limit ?4");
    tx.all(&sql, params![tenant, after, before, limit], read)
}

/// Ids of events about a person that still have a payload, after `after`, at most `limit`.
pub fn ids_of_contact(tx: &mut Tx<'_>, tenant: Tenant, contact: &str, after: &str, limit: i64) -> Result<Vec<Id<Event>>, DbError> {
    tx.all(
        "select id from events where workspace = ?1 and contact = ?2 and id > ?3 and envelope is not null order by id limit ?4",
        params![tenant, contact, after, limit],
        |row| row.id(0),
    )
}

/// Empties the payloads of all events about a person.
pub fn redact(tx: &mut Tx<'_>, tenant: Tenant, contact: &str) -> Result<u64, DbError> {
    tx.exec("update events set envelope = null where workspace = ?1 and contact = ?2 and envelope is not null", params![tenant, contact])
}

/// Drops up to `limit` events of a workspace whose ids are below `before`; how many.
pub fn sweep(tx: &mut Tx<'_>, tenant: Tenant, before: &str, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from events where workspace = ?1 and id in (select id from events where workspace = ?1 and id < ?2 order by id limit ?3)",
        params![tenant, before, limit],
    )
}

/// The next workspace after `after` that has an event, with its oldest event.
pub fn next_workspace(tx: &mut Tx<'_>, after: &str) -> Result<Option<(Tenant, Id<Event>)>, DbError> {
    tx.one("select workspace, id from events where workspace > ?1 order by workspace, id limit 1", params![after], |row| Ok((row.id(0)?, row.id(1)?)))
}

/// The newest event of a workspace below `before`.
pub fn newest(tx: &mut Tx<'_>, tenant: Tenant, before: &str) -> Result<Option<Id<Event>>, DbError> {
    tx.one("select id from events where workspace = ?1 and id < ?2 order by id desc limit 1", params![tenant, before], |row| row.id(0))
}

//! The outbox of events.

use domain::ids::{Event, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::{DbError, Tx};
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

/// Adds an event.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &EventRow) -> Result<(), DbError> {
    tx.later(
        "insert into events (id, workspace, type, mode, agent, contact, envelope, created_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            row.id,
            tenant,
            &row.kind,
            row.mode.as_str(),
            row.agent.as_deref(),
            row.contact.as_deref(),
            row.envelope.as_deref(),
            row.created_at
        ],
    )
}

/// Events of a workspace after `after`, oldest first.
pub fn list_after(tx: &mut Tx<'_>, tenant: Tenant, after: &str, limit: i64) -> Result<Vec<EventRow>, DbError> {
    tx.all(
        "select id, type, mode, agent, contact, envelope, created_at from events where workspace = ?1 and id > ?2 order by id limit ?3",
        params![tenant, after, limit],
        |row| {
            Ok(EventRow {
                id: row.id(0)?,
                kind: row.text(1)?,
                mode: Mode::parse(&row.text(2)?).ok_or_else(|| DbError::Internal("unknown mode of an event".into()))?,
                agent: row.opt_text(3)?,
                contact: row.opt_text(4)?,
                envelope: row.opt_text(5)?,
                created_at: row.time(6)?,
            })
        },
    )
}

/// Empties the events about a person; how many there were.
pub fn redact_contact(tx: &mut Tx<'_>, tenant: Tenant, contact: &str) -> Result<u64, DbError> {
    tx.exec("update events set envelope = null where workspace = ?1 and contact = ?2 and envelope is not null", params![tenant, contact])
}

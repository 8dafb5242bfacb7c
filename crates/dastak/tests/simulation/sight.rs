//! An observer beside the service, while it lives: what an erasure or a later write would hide.

use std::path::Path;

use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use rusqlite::{Connection, OptionalExtension};

use crate::check::{id, open};

/// The nudge of an event that an erasure of the same moment emptied.
pub const UNSEEN: &str = "";

/// An event of the outbox.
#[derive(Debug, Clone)]
pub struct EventSeen {
    pub id: String,
    pub tenant: Tenant,
    pub kind: String,
}

/// An observer beside the service: it reads the committed state and keeps every event before an erasure empties it.
pub struct Sight {
    store: Connection,
    seen: i64,
    /// Type and nudge of every nudge event, in the order of the outbox.
    pub events: Vec<(String, String)>,
    /// Every event.
    pub all: Vec<EventSeen>,
    /// The most calls that held a line at once.
    pub most_lines: i64,
}

impl Sight {
    pub fn new(file: &Path) -> Self {
        Self { store: open(file), seen: 0, events: Vec::new(), all: Vec::new(), most_lines: 0 }
    }

    pub fn look(&mut self) {
        let lines: i64 = self
            .store
            .prepare_cached("select count(*) from calls where line = 1")
            .and_then(|mut lines| lines.query_row([], |row| row.get(0)))
            .expect("lines");
        self.most_lines = self.most_lines.max(lines);
        let sql = "select rowid, type, envelope, id, workspace from events where rowid > ?1 order by rowid";
        let mut statement = self.store.prepare_cached(sql).expect("a query");
        let rows = statement.query_map([self.seen], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, id(row, 4)?))).expect("events");
        let rows: Vec<(i64, String, Option<String>, String, Tenant)> = rows.collect::<Result<_, _>>().expect("events");
        for (at, kind, envelope, id, tenant) in rows {
            self.seen = at;
            self.all.push(EventSeen { id, tenant, kind: kind.clone() });
            if kind.starts_with("nudge.") {
                let data: serde_json::Value = serde_json::from_str(&envelope.unwrap_or_default()).unwrap_or_default();
                self.events.push((kind, data["data"]["id"].as_str().unwrap_or(UNSEEN).to_owned()));
            }
        }
    }

    /// Whose call it is; `None` when the service knows of no such call.
    pub fn owner(&self, call: Id<Call>) -> Option<Tenant> {
        let found: Option<String> =
            self.store.query_row("select workspace from calls where id = ?1", [call.to_string()], |row| row.get(0)).optional().expect("a query");
        found.and_then(|id| id.parse().ok())
    }
}

//! An observer beside the service, while it lives: what an erasure or a later write would hide.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use rusqlite::{Connection, OptionalExtension};

use crate::check::channel::went_back;
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

/// An observer beside the service: it reads the committed state and keeps every event before an erasure
/// empties it.
pub struct Sight {
    store: Connection,
    seen: i64,
    /// Type and nudge of every nudge event, in the order of the outbox.
    pub events: Vec<(String, String)>,
    /// Every event.
    pub all: Vec<EventSeen>,
    /// The most calls and second legs that held a line at once.
    pub most_lines: i64,
    /// Workspaces whose wallet did not cover another minute at some time.
    pub short: HashSet<String>,
    /// Campaigns whose end was told.
    pub finished: Vec<String>,
    /// Records that were told to be rejected.
    pub rejected: Vec<String>,
    /// Type and message of every event of a message, in the order of the outbox.
    pub messages: Vec<(String, String)>,
    /// The statuses of messages as they were seen last.
    statuses: HashMap<String, String>,
    /// What must never be committed, and was.
    pub broken: BTreeSet<String>,
}

impl Sight {
    pub fn new(file: &Path) -> Self {
        Self {
            store: open(file),
            seen: 0,
            events: Vec::new(),
            all: Vec::new(),
            most_lines: 0,
            short: HashSet::new(),
            finished: Vec::new(),
            rejected: Vec::new(),
            messages: Vec::new(),
            statuses: HashMap::new(),
            broken: BTreeSet::new(),
        }
    }

    pub fn look(&mut self) {
        let lines: i64 = self
            .store
            .prepare_cached("select (select count(*) from calls where line = 1) + (select count(*) from call_legs where line = 1)")
            .and_then(|mut lines| lines.query_row([], |row| row.get(0)))
            .expect("lines");
        self.most_lines = self.most_lines.max(lines);
        self.look_at_money();
        self.look_at_lists();
        self.look_at_messages();
        let sql = "select rowid, type, envelope, id, workspace from events where rowid > ?1 order by rowid";
        let mut statement = self.store.prepare_cached(sql).expect("a query");
        let rows = statement
            .query_map([self.seen], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, id(row, 4)?))
            })
            .expect("events");
        let rows: Vec<(i64, String, Option<String>, String, Tenant)> =
            rows.collect::<Result<_, _>>().expect("events");
        for (at, kind, envelope, id, tenant) in rows {
            self.seen = at;
            self.all.push(EventSeen { id, tenant, kind: kind.clone() });
            if kind == "campaign.finished" {
                let data: serde_json::Value =
                    serde_json::from_str(envelope.as_deref().unwrap_or_default()).unwrap_or_default();
                self.finished.extend(data["data"]["campaignId"].as_str().map(str::to_owned));
            }
            if kind == "stream.record_rejected" {
                let data: serde_json::Value =
                    serde_json::from_str(envelope.as_deref().unwrap_or_default()).unwrap_or_default();
                self.rejected.extend(data["data"]["recordId"].as_str().map(str::to_owned));
            }
            if kind.starts_with("message.") {
                let data: serde_json::Value =
                    serde_json::from_str(envelope.as_deref().unwrap_or_default()).unwrap_or_default();
                self.messages
                    .push((kind.clone(), data["data"]["messageId"].as_str().unwrap_or(UNSEEN).to_owned()));
            }
            if kind.starts_with("nudge.") {
                let data: serde_json::Value =
                    serde_json::from_str(&envelope.unwrap_or_default()).unwrap_or_default();
                self.events.push((kind, data["data"]["id"].as_str().unwrap_or(UNSEEN).to_owned()));
            }
        }
    }

    /// What must hold of every state that is ever committed: a wallet is never below zero nor below what is
    /// held of it, what is held is the covered minutes of every leg on a line, lines are counted, and nobody
    /// talks for a workspace that is suspended without being told to end.
    fn look_at_money(&mut self) {
        const HELD: &str = "select w.id, w.balance, w.reserved, w.lines, w.cost_per_minute, \
             (select coalesce(sum(price * minutes), 0) from calls c where c.workspace = w.id and c.line = 1) + \
             (select coalesce(sum(price * minutes), 0) from call_legs l where l.workspace = w.id and l.line = 1) + \
             (select coalesce(sum(price), 0) from chats c where c.workspace = w.id and c.state <> 'ended'), \
             (select count(*) from calls c where c.workspace = w.id and c.line = 1) + \
             (select count(*) from call_legs l where l.workspace = w.id and l.line = 1), \
             (select count(*) from calls c where c.workspace = w.id and c.phase is null and c.hang_up_at is null and w.suspended = 1), \
             (select count(*) from call_legs l join calls c on c.id = l.call where l.workspace = w.id and l.ended_at is null and c.phase is not null) \
             from workspaces w";
        let mut statement = self.store.prepare_cached(HELD).expect("a query");
        let rows = statement.query_map([], |row| {
            let number = |column| row.get::<_, i64>(column);
            let of = [
                number(1)?,
                number(2)?,
                number(3)?,
                number(4)?,
                number(5)?,
                number(6)?,
                number(7)?,
                number(8)?,
            ];
            Ok((row.get::<_, String>(0)?, of))
        });
        let rows: Vec<(String, [i64; 8])> =
            rows.expect("wallets").collect::<Result<_, _>>().expect("wallets");
        drop(statement);
        for (id, [balance, reserved, lines, price, held, taken, live, legs]) in rows {
            if balance - reserved < price {
                self.short.insert(id.clone());
            }
            if balance < 0 || reserved < 0 || reserved > balance {
                self.broken.insert(format!("{id} had {balance} with {reserved} held"));
            }
            if (reserved, lines) != (held, taken) {
                self.broken
                    .insert(format!("{id} held {reserved} on {lines} lines, its legs {held} on {taken}"));
            }
            if live > 0 {
                self.broken.insert(format!("{live} calls of {id} went on although it was suspended"));
            }
            if legs > 0 {
                self.broken.insert(format!("{legs} legs of {id} outlived their calls"));
            }
        }
    }

    /// The counters of every list add up in every state that is ever committed, and an active campaign with
    /// something to do is going to be looked at.
    fn look_at_lists(&mut self) {
        const COUNTS: &str = "select p.campaign from campaign_progress p join campaigns c on c.id = p.campaign \
             left join campaign_rows r on r.campaign = p.campaign and r.list = p.list group by p.campaign \
             having p.total <> count(r.id) or p.reached <> coalesce(sum(r.state = 'reached'), 0) \
             or p.in_progress <> coalesce(sum(r.state = 'in_progress'), 0) or p.unreached <> coalesce(sum(r.state = 'unreached'), 0) \
             or p.held <> coalesce(sum(r.state = 'held'), 0) or p.queued <> coalesce(sum(r.state = 'queued'), 0) \
             or p.invalid <> coalesce(sum(r.state = 'invalid'), 0) or p.retryable <> coalesce(sum(r.retryable), 0) \
             or p.blocked <> coalesce(sum(r.blocked), 0) \
             or c.channel <> 'chatapp' and c.status = 'active' and p.next_look is null and coalesce(sum(r.look_at is not null), 0) > 0 \
             or c.streams <> (select count(*) from stream_campaigns a where a.campaign = c.id) \
             or p.held <> (select coalesce(sum(h.held), 0) from campaign_holds h where h.campaign = p.campaign and h.list = p.list)";
        let mut statement = self.store.prepare_cached(COUNTS).expect("a query");
        let wrong: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .expect("lists")
            .collect::<Result<_, _>>()
            .expect("lists");
        drop(statement);
        self.broken.extend(wrong.into_iter().map(|id| format!("the counters of {id} did not add up")));
        const BLOCKS: &str = "select campaign from (select campaign, list, state, block, rows from campaign_blocks union all \
             select campaign, list, state, (position - 1) / 4096, -count(*) from campaign_rows group by 1, 2, 3, 4) as both_sides \
             group by campaign, list, state, block having sum(rows) <> 0";
        let mut statement = self.store.prepare_cached(BLOCKS).expect("a query");
        let wrong: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .expect("lists")
            .collect::<Result<_, _>>()
            .expect("lists");
        drop(statement);
        self.broken.extend(wrong.into_iter().map(|id| format!("the blocks of {id} did not add up")));
    }

    /// No status of a message moves back.
    fn look_at_messages(&mut self) {
        let mut statement = self
            .store
            .prepare_cached("select id, status from channel_messages where direction = 'outbound'")
            .expect("a query");
        let rows: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("messages")
            .collect::<Result<_, _>>()
            .expect("messages");
        drop(statement);
        for (id, status) in rows {
            let before = self.statuses.insert(id.clone(), status.clone());
            if before.as_ref().is_some_and(|before| went_back(before, &status)) {
                self.broken.insert(format!("{id} was {before:?} and is {status}"));
            }
        }
    }

    /// Whose call it is; `None` when the service knows of no such call.
    pub fn owner(&self, call: Id<Call>) -> Option<Tenant> {
        let found: Option<String> = self
            .store
            .query_row("select workspace from calls where id = ?1", [call.to_string()], |row| row.get(0))
            .optional()
            .expect("a query");
        found.and_then(|id| id.parse().ok())
    }
}

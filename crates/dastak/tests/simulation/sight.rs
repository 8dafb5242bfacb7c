//! An observer beside the service, while it lives: what an erasure or a later write would hide.

use std::collections::{BTreeSet, HashMap, HashSet};

use domain::ids::{Call, Id};
use domain::tenant::Tenant;

use crate::check::channel::went_back;
use crate::stage::{Eyes, Stage, Texts};

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
    eyes: Eyes,
    pub past: Seen,
    /// The most calls and second legs that held a line at once.
    pub most_lines: i64,
    /// Workspaces whose wallet did not cover another minute at some time.
    pub short: HashSet<String>,
    /// What must never be committed, and was.
    pub broken: BTreeSet<String>,
}

/// What was seen of the past that the store knows of.
#[derive(Clone, Default)]
pub struct Seen {
    last: i64,
    /// The events of the last looks: rows of several nodes may come into sight out of their order.
    known: HashSet<String>,
    /// Type and nudge of every nudge event, in the order of the outbox.
    pub events: Vec<(String, String)>,
    /// Every event.
    pub all: Vec<EventSeen>,
    /// Campaigns whose end was told.
    pub finished: Vec<String>,
    /// Records that were told to be rejected.
    pub rejected: Vec<String>,
    /// Type and message of every event of a message, in the order of the outbox.
    pub messages: Vec<(String, String)>,
    /// The statuses of messages as they were seen last.
    statuses: HashMap<String, String>,
}

/// Rows of `events` that another node may still commit although later ones are seen already.
const LATE: i64 = 400;

fn number(text: &Option<String>) -> i64 {
    let text = text.as_deref().unwrap_or_default();
    text.parse().unwrap_or_else(|_| panic!("a number, not «{text}»"))
}

fn word(text: &Option<String>) -> String {
    text.clone().unwrap_or_default()
}

impl Sight {
    pub fn new(stage: &Stage) -> Self {
        Self {
            eyes: stage.eyes(),
            past: Seen::default(),
            most_lines: 0,
            short: HashSet::new(),
            broken: BTreeSet::new(),
        }
    }

    /// The store is an older one, of which this was seen.
    pub fn go_back(&mut self, stage: &Stage, past: Seen) {
        self.eyes = stage.eyes();
        self.past = past;
    }

    pub fn look(&mut self) {
        const LINES: &str = "select (select count(*) from calls where line = 1) + (select count(*) from call_legs where line = 1)";
        const STATUSES: &str = "select id, status from channel_messages where direction = 'outbound'";
        let order = self.eyes.order();
        let slack = if order == "rowid" { 0 } else { LATE };
        let events = format!(
            "select {order}, type, envelope, id, workspace from events where {order} > {} order by {order}",
            self.past.last - slack
        );
        let [lines, money, counts, blocks, statuses, events] =
            self.eyes.look([LINES, HELD, COUNTS, BLOCKS, STATUSES, &events]);
        self.most_lines = self.most_lines.max(number(&lines[0][0]));
        self.look_at_money(&money);
        for row in counts {
            self.broken.insert(format!("the counters of {} did not add up", word(&row[0])));
        }
        for row in blocks {
            self.broken.insert(format!("the blocks of {} did not add up", word(&row[0])));
        }
        for row in statuses {
            self.look_at_message(word(&row[0]), word(&row[1]));
        }
        for row in events {
            self.past.last = self.past.last.max(number(&row[0]));
            if self.past.known.insert(word(&row[3])) {
                self.look_at_event(&row);
            }
        }
    }

    fn look_at_event(&mut self, row: &[Option<String>]) {
        let (kind, envelope) = (word(&row[1]), row[2].as_deref());
        self.past.all.push(EventSeen {
            id: word(&row[3]),
            tenant: word(&row[4]).parse().expect("an id"),
            kind: kind.clone(),
        });
        let said: serde_json::Value = serde_json::from_str(envelope.unwrap_or_default()).unwrap_or_default();
        let field = |name: &str| said["data"][name].as_str().map(str::to_owned);
        if kind == "campaign.finished" {
            self.past.finished.extend(field("campaignId"));
        }
        if kind == "stream.record_rejected" {
            self.past.rejected.extend(field("recordId"));
        }
        if kind.starts_with("message.") {
            self.past.messages.push((kind.clone(), field("messageId").unwrap_or_else(|| UNSEEN.to_owned())));
        }
        if kind.starts_with("nudge.") {
            self.past.events.push((kind, field("id").unwrap_or_else(|| UNSEEN.to_owned())));
        }
    }

    /// What must hold of every state that is ever committed: a wallet is never below zero nor below what is
    /// held of it, what is held is the covered minutes of every leg on a line, lines are counted, and nobody
    /// talks for a workspace that is suspended without being told to end.
    fn look_at_money(&mut self, rows: &Texts) {
        for row in rows {
            let id = word(&row[0]);
            let [balance, reserved, lines, price, held, taken, live, legs] =
                std::array::from_fn(|column| number(&row[column + 1]));
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

    /// No status of a message moves back.
    fn look_at_message(&mut self, id: String, status: String) {
        let before = self.past.statuses.insert(id.clone(), status.clone());
        if before.as_ref().is_some_and(|before| went_back(before, &status)) {
            self.broken.insert(format!("{id} was {before:?} and is {status}"));
        }
    }

    /// Calls that are not over.
    pub fn live_calls(&self) -> Vec<Id<Call>> {
        let [found] = self.eyes.look(["select id from calls where phase is null order by id"]);
        found.iter().filter_map(|row| row[0].as_deref()?.parse().ok()).collect()
    }

    /// Whose call it is; `None` when the service knows of no such call.
    pub fn owner(&self, call: Id<Call>) -> Option<Tenant> {
        let sql = format!("select workspace from calls where id = '{call}'");
        let [found] = self.eyes.look([&sql]);
        found.first()?[0].as_deref()?.parse().ok()
    }
}

/// Wallets, with what is held of each and what goes on in its workspace.
const HELD: &str = "select w.id, w.balance, w.reserved, w.lines, w.cost_per_minute, \
     (select coalesce(sum(price * minutes), 0) from calls c where c.workspace = w.id and c.line = 1) + \
     (select coalesce(sum(price * minutes), 0) from call_legs l where l.workspace = w.id and l.line = 1) + \
     (select coalesce(sum(price), 0) from chats c where c.workspace = w.id and c.state <> 'ended'), \
     (select count(*) from calls c where c.workspace = w.id and c.line = 1) + \
     (select count(*) from call_legs l where l.workspace = w.id and l.line = 1), \
     (select count(*) from calls c where c.workspace = w.id and c.phase is null and c.hang_up_at is null and w.suspended = 1), \
     (select count(*) from call_legs l join calls c on c.id = l.call where l.workspace = w.id and l.ended_at is null and c.phase is not null) \
     from workspaces w";

/// Lists whose counters do not add up, and active campaigns with something to do that nobody is going to look at.
const COUNTS: &str = "select p.campaign from campaign_progress p join campaigns c on c.id = p.campaign \
     left join campaign_rows r on r.campaign = p.campaign and r.list = p.list group by p.campaign, c.id \
     having p.total <> count(r.id) or p.reached <> count(case when r.state = 'reached' then 1 end) \
     or p.in_progress <> count(case when r.state = 'in_progress' then 1 end) or p.unreached <> count(case when r.state = 'unreached' then 1 end) \
     or p.held <> count(case when r.state = 'held' then 1 end) or p.queued <> count(case when r.state = 'queued' then 1 end) \
     or p.invalid <> count(case when r.state = 'invalid' then 1 end) or p.retryable <> coalesce(sum(r.retryable), 0) \
     or p.blocked <> coalesce(sum(r.blocked), 0) \
     or c.channel <> 'chatapp' and c.status = 'active' and p.next_look is null and count(r.look_at) > 0 \
     or c.streams <> (select count(*) from stream_campaigns a where a.campaign = c.id) \
     or p.held <> (select coalesce(sum(h.held), 0) from campaign_holds h where h.campaign = p.campaign and h.list = p.list)";

/// Lists whose blocks do not add up.
const BLOCKS: &str = "select campaign from (select campaign, list, state, block, rows from campaign_blocks union all \
     select campaign, list, state, (position - 1) / 4096, -count(*) from campaign_rows group by 1, 2, 3, 4) as both_sides \
     group by campaign, list, state, block having sum(rows) <> 0";

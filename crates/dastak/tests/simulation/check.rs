//! What must hold after a run, whatever happened in it: the store's rows and events against what the carrier
//! saw and what was promised.

mod boards;
mod campaigns;
pub mod channel;
mod chats;
mod decisions;
mod dials;
mod evaluations;
mod flows;
mod inbox;
mod legs;
mod money;
mod nudges;
mod streams;
mod together;
mod tools;

pub use inbox::assignments;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use domain::ids::{Call, Id, Kind};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use rusqlite::{Connection, Row};

use crate::carrier::{Dial, LegDial, World};
use crate::clients::{Customer, Log};
use crate::life::PLATFORM_LINES;
use crate::receivers::{self, DeliverySeen};
use crate::sight::Sight;
use crate::stage::open;

/// Calls that took their leave because of an empty wallet.
pub fn exhausted(file: &Path) -> u64 {
    let count: i64 = open(file)
        .query_row("select count(*) from calls where wish = 'balance_exhausted'", [], |row| row.get(0))
        .expect("a count");
    count.unsigned_abs()
}

/// Records of streams in the store.
pub fn records(file: &Path) -> u64 {
    let count: i64 =
        open(file).query_row("select count(*) from stream_records", [], |row| row.get(0)).expect("a count");
    count.unsigned_abs()
}

/// Time within which a placed call is dialled or not at all, milliseconds.
const LEASE: i64 = 30 * SECOND;

/// What became of the service itself in a run.
pub struct Past {
    pub end: Timestamp,
    /// Whether the clock was ever set back.
    pub went_back: bool,
    /// Whether it was ever set.
    pub stepped: bool,
    /// When the service was down, from and to.
    pub down: Vec<(Timestamp, Timestamp)>,
    /// From when to when the service had what its restored store does not know, by the time that passed.
    pub gap: Option<(Timestamp, Timestamp)>,
    /// When nodes were drained, from and to.
    pub drained: Vec<(usize, Timestamp, Option<Timestamp>)>,
}

/// A second leg of a call.
struct LegSeen {
    workspace: Tenant,
    started_at: Timestamp,
    answered_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    answer: Option<i64>,
    blocked: bool,
    price: i64,
    minutes: i64,
    line: Option<i64>,
}

struct CallSeen {
    workspace: Tenant,
    live: bool,
    to_number: String,
    nudge: Option<String>,
    scheduled: Option<String>,
    campaign: Option<String>,
    status: String,
    phase: Option<String>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    talk_ms: Option<i64>,
    price: i64,
    line: Option<i64>,
    end_cause: Option<String>,
    minutes: i64,
    hang_up_at: Option<Timestamp>,
    wish: Option<String>,
}

struct NudgeSeen {
    id: String,
    status: String,
    result: Option<String>,
    attempts: i64,
    max_retries: i64,
    key: String,
    live: bool,
    finished_at: Option<i64>,
    created_at: Timestamp,
}

struct Court<'a> {
    store: Connection,
    dials: &'a [Dial],
    leg_dials: &'a [LegDial],
    /// Calls whose fate the carrier was asked for, with their workspace and the last time.
    questions: HashMap<Id<Call>, (Tenant, Timestamp)>,
    calls: HashMap<String, CallSeen>,
    /// By call and place.
    legs: HashMap<(String, i64), LegSeen>,
    nudges: BTreeMap<String, NudgeSeen>,
    /// When each scheduled call was made.
    scheduled: HashMap<String, Timestamp>,
    /// When the newest row of each campaign's list was made.
    listed: HashMap<String, Timestamp>,
    log: &'a Log,
    went_back: bool,
    broken: Vec<String>,
}

pub fn id<K: Kind>(row: &Row<'_>, column: usize) -> rusqlite::Result<Id<K>> {
    let text: String = row.get(column)?;
    Ok(text.parse().expect("an id"))
}

fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp)
}

/// What a query of one column names.
fn names(store: &Connection, sql: &str) -> HashSet<String> {
    let mut statement = store.prepare(sql).expect("a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// Every broken promise, in words.
pub fn promises(
    file: &Path,
    world: &World,
    log: &Log,
    customers: &[Customer],
    sight: &Sight,
    past: Past,
) -> Vec<String> {
    let store = open(file);
    let (mut dials, mut leg_dials) = (world.dials(), world.leg_dials());
    if let Some((from, to)) = past.gap {
        // What was decided after the backup is unknown to a store that was put back; what it knows of must hold.
        let known = names(&store, "select id from calls");
        let knows_of = |call: Id<Call>, passed: Timestamp| {
            passed < from || passed > to || known.contains(&call.to_string())
        };
        dials.retain(|dial| knows_of(dial.call, dial.passed));
        let known_legs = names(&store, "select call || ' ' || leg from call_legs");
        leg_dials.retain(|dial| {
            dial.passed < from
                || dial.passed > to
                || known_legs.contains(&format!("{} {}", dial.call, dial.leg))
        });
    }
    let (end, went_back) = (past.end, past.went_back);
    let mut court = Court {
        store,
        dials: &dials,
        leg_dials: &leg_dials,
        questions: world.questions(),
        calls: HashMap::new(),
        legs: HashMap::new(),
        nudges: BTreeMap::new(),
        scheduled: HashMap::new(),
        listed: HashMap::new(),
        log,
        went_back,
        broken: sight.broken.iter().cloned().collect(),
    };
    court.read();
    court.legs_are_dials();
    court.wishes_are_carried_out(&past);
    court.dials_are_single();
    court.drained_nodes_rest(&past);
    court.held_calls_go_on(world, &past);
    if world.echoes() > 0 {
        court.say(format!("a node took what it had said itself for work {} times", world.echoes()));
    }
    court.dials_are_lawful();
    court.promises_are_kept();
    court.revoked_keys_make_nothing();
    court.nudges_are_finished(sight);
    court.decisions_are_legal();
    court.scheduled_calls_are_over();
    court.campaigns_add_up(sight);
    court.boards_add_up();
    court.chats_add_up();
    court.round_robin_holds(customers, &past);
    court.evaluations_add_up();
    court.tools_are_asked_once(world, &past);
    court.phones_ring_once(&past);
    // Systems, customers of the channel and receivers have seen what a store that was put back knows nothing of.
    if past.gap.is_none() {
        court.streams_add_up(world, sight, &past);
        court.versions_add_up();
        court.channel_adds_up(world, customers, sight);
    }
    court.calls_are_over(end);
    if sight.most_lines > PLATFORM_LINES {
        court.say(format!("{} lines were held at once", sight.most_lines));
    }
    if past.gap.is_none() {
        let deliveries = court.deliveries();
        court.broken.extend(receivers::broken(world, &sight.past.all, &deliveries, end));
    }
    for customer in customers {
        court.money_adds_up(customer.tenant, sight.short.contains(&customer.tenant.to_string()));
        court.chains_hold(customer.tenant);
    }
    court.broken
}

impl Court<'_> {
    fn say(&mut self, what: String) {
        self.broken.push(what);
    }

    fn rows<T>(&self, sql: &str, read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        let mut statement = self.store.prepare(sql).expect("a query");
        let rows = statement.query_map([], read).expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    }

    fn count(&self, sql: &str) -> i64 {
        self.rows(sql, |row| row.get(0))[0]
    }

    fn read(&mut self) {
        let sql = "select id, workspace, mode, to_number, nudge, scheduled_call, status, phase, started_at, ended_at, talk_ms, price, line, \
             end_cause, minutes, hang_up_at, wish, campaign from calls";
        let calls = self.rows(sql, |row| {
            let seen = CallSeen {
                workspace: id(row, 1)?,
                live: row.get::<_, String>(2)? == "live",
                to_number: row.get(3)?,
                nudge: row.get(4)?,
                scheduled: row.get(5)?,
                status: row.get(6)?,
                phase: row.get(7)?,
                started_at: moment(row, 8)?,
                ended_at: row.get::<_, Option<i64>>(9)?.map(Timestamp),
                talk_ms: row.get(10)?,
                price: row.get(11)?,
                line: row.get(12)?,
                end_cause: row.get(13)?,
                minutes: row.get(14)?,
                hang_up_at: row.get::<_, Option<i64>>(15)?.map(Timestamp),
                wish: row.get(16)?,
                campaign: row.get(17)?,
            };
            Ok((row.get(0)?, seen))
        });
        self.calls = calls.into_iter().collect();
        let sql = "select call, leg, workspace, started_at, answered_at, ended_at, answer, block_reason is not null, price, minutes, line from call_legs";
        let legs = self.rows(sql, |row| {
            let seen = LegSeen {
                workspace: id(row, 2)?,
                started_at: moment(row, 3)?,
                answered_at: row.get::<_, Option<i64>>(4)?.map(Timestamp),
                ended_at: row.get::<_, Option<i64>>(5)?.map(Timestamp),
                answer: row.get(6)?,
                blocked: row.get(7)?,
                price: row.get(8)?,
                minutes: row.get(9)?,
                line: row.get(10)?,
            };
            Ok(((row.get(0)?, row.get(1)?), seen))
        });
        self.legs = legs.into_iter().collect();
        let sql = "select id, status, result, attempts, max_retries, api_key, mode, finished_at, created_at from nudges";
        let nudges = self.rows(sql, |row| {
            Ok(NudgeSeen {
                id: row.get(0)?,
                status: row.get(1)?,
                result: row.get(2)?,
                attempts: row.get(3)?,
                max_retries: row.get(4)?,
                key: row.get(5)?,
                live: row.get::<_, String>(6)? == "live",
                finished_at: row.get(7)?,
                created_at: moment(row, 8)?,
            })
        });
        self.scheduled = self
            .rows("select id, created_at from scheduled_calls", |row| Ok((row.get(0)?, moment(row, 1)?)))
            .into_iter()
            .collect();
        self.listed = self
            .rows("select campaign, max(id) from campaign_rows group by campaign", |row| {
                Ok((row.get(0)?, Timestamp(id::<domain::ids::ListRow>(row, 1)?.unix_ms())))
            })
            .into_iter()
            .collect();
        self.nudges = nudges.into_iter().map(|nudge| (nudge.id.clone(), nudge)).collect();
    }

    fn deliveries(&self) -> Vec<DeliverySeen> {
        let sql = "select d.endpoint, d.event, d.status, d.attempts, d.created_at, e.envelope is null from deliveries d \
             left join events e on e.workspace = d.workspace and e.id = d.event";
        self.rows(sql, |row| {
            let (endpoint, event, status, attempts) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(DeliverySeen {
                endpoint,
                event,
                status,
                attempts,
                created_at: moment(row, 4)?,
                emptied: row.get(5)?,
            })
        })
    }

    fn scheduled_calls_are_over(&mut self) {
        let sql = "select id, status, reason, call, attempts, next_attempt_at from scheduled_calls";
        type Seen = (String, String, Option<String>, Option<String>, i64, Option<i64>);
        let rows: Vec<Seen> = self.rows(sql, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
        });
        let dialled: HashSet<String> = self.dials.iter().map(|dial| dial.call.to_string()).collect();
        for (id, status, reason, call, attempts, next) in &rows {
            let over = matches!(status.as_str(), "placed" | "failed" | "cancelled")
                && next.is_none()
                && *attempts <= 3;
            let placed = status != "placed"
                || call.as_ref().is_some_and(|call| dialled.contains(call) && self.calls.contains_key(call));
            if !over || !placed {
                self.say(format!("{id}: {status} {reason:?} after {attempts} tries, call {call:?}"));
            }
        }
        let known: HashSet<&str> = rows.iter().map(|row| row.0.as_str()).collect();
        let lost: Vec<String> = self
            .log
            .scheduled
            .iter()
            .map(|(_, id)| id.to_string())
            .filter(|id| !known.contains(id.as_str()))
            .collect();
        for id in lost {
            self.say(format!("{id} was acknowledged and is lost"));
        }
    }

    /// Every call has ended, no line is held, and there were never more than there are.
    fn calls_are_over(&mut self, end: Timestamp) {
        let mut broken = Vec::new();
        let mut moves = Vec::new();
        for (id, call) in &self.calls {
            if call.phase.is_none() || call.ended_at.is_none() || call.line.is_some() {
                broken.push(format!("{id} to {} is still {} at {end}", call.to_number, call.status));
            }
            if call.live && call.status != "blocked" {
                moves.push((call.started_at.0, 1));
                moves.push((call.ended_at.unwrap_or(end).0, -1));
            }
        }
        moves.sort_unstable();
        let (mut lines, mut most) = (0, 0);
        for (_, change) in moves {
            lines += change;
            most = most.max(lines);
        }
        if most > PLATFORM_LINES && !self.went_back {
            broken.push(format!("{most} calls at once"));
        }
        let known = &self.calls;
        let lost = self.log.calls.iter().map(|(_, id)| id.to_string()).filter(|id| !known.contains_key(id));
        broken.extend(lost.map(|id| format!("{id} was acknowledged and is lost")));
        self.broken.extend(broken);
    }
}

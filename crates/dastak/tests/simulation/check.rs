//! What must hold after a run, whatever happened in it: the store's rows and events against what the carrier
//! saw and what was promised.

mod boards;
mod campaigns;
pub mod channel;
mod chats;
mod legs;
mod streams;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use domain::compliance::Pack;
use domain::decision_log::{ChainVerifier, Row as LogRow};
use domain::ids::{Id, Kind};
use domain::tenant::Tenant;
use domain::time::{DAY, SECOND, Timestamp};
use domain::wallet::call_charge;
use domain::window::NudgeWindow;
use rusqlite::{Connection, Row};

use crate::carrier::{Dial, LegDial, World};
use crate::clients::{Customer, Kept, Log, Promise};
use crate::life::PLATFORM_LINES;
use crate::receivers::{self, DeliverySeen};
use crate::sight::{Sight, UNSEEN};
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

/// What a nudge may become, by what it was (docs/contract/nudges.md#states); a wait may be renewed, a late
/// word noted.
const STEPS: [(Option<&str>, &[&str]); 6] = [
    (None, &["queued", "scheduled", "finished"]),
    (Some("queued"), &["queued", "scheduled", "dialing", "in_progress", "finished"]),
    (Some("scheduled"), &["queued", "scheduled", "dialing", "in_progress", "finished"]),
    (Some("dialing"), &["dialing", "in_progress", "scheduled", "finished"]),
    (Some("in_progress"), &["in_progress", "finished"]),
    (Some("finished"), &["finished"]),
];

/// What became of the service itself in a run.
pub struct Past {
    pub end: Timestamp,
    /// Whether the clock was ever set back.
    pub went_back: bool,
    /// Whether it was ever set.
    pub stepped: bool,
    /// When the service was down, from and to.
    pub down: Vec<(Timestamp, Timestamp)>,
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

/// Every broken promise, in words.
pub fn promises(
    file: &Path,
    world: &World,
    log: &Log,
    customers: &[Customer],
    sight: &Sight,
    past: Past,
) -> Vec<String> {
    let (dials, leg_dials) = (world.dials(), world.leg_dials());
    let (end, went_back) = (past.end, past.went_back);
    let mut court = Court {
        store: open(file),
        dials: &dials,
        leg_dials: &leg_dials,
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
    court.streams_add_up(world, sight, &past);
    court.channel_adds_up(world, customers, sight);
    court.calls_are_over(end);
    if sight.most_lines > PLATFORM_LINES {
        court.say(format!("{} lines were held at once", sight.most_lines));
    }
    let deliveries = court.deliveries();
    court.broken.extend(receivers::broken(world, &sight.all, &deliveries, end));
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

    /// No attempt is dialled twice, and nothing is dialled that the store does not know of.
    fn dials_are_single(&mut self) {
        let mut broken = Vec::new();
        let (mut of_call, mut of_nudge, mut of_scheduled) =
            (HashMap::new(), HashMap::<&str, i64>::new(), HashMap::<&str, i64>::new());
        for dial in self.dials {
            *of_call.entry(dial.call).or_insert(0) += 1;
            let Some(call) = self.calls.get(&dial.call.to_string()) else {
                broken.push(format!("{} was dialled and is not in the store", dial.call));
                continue;
            };
            if let Some(nudge) = &call.nudge {
                *of_nudge.entry(nudge).or_default() += 1;
            }
            if let Some(scheduled) = &call.scheduled {
                *of_scheduled.entry(scheduled).or_default() += 1;
            }
        }
        broken.extend(
            of_call
                .iter()
                .filter(|(_, dials)| **dials > 1)
                .map(|(call, dials)| format!("{call} was dialled {dials} times")),
        );
        broken.extend(
            of_scheduled
                .iter()
                .filter(|(_, dials)| **dials > 1)
                .map(|(id, dials)| format!("{id} was dialled {dials} times")),
        );
        for (id, dials) in &of_nudge {
            let nudge = &self.nudges[*id];
            if *dials > nudge.attempts || nudge.attempts > nudge.max_retries + 1 {
                broken.push(format!(
                    "{id}: {dials} dials, {} attempts, {} retries allowed",
                    nudge.attempts, nudge.max_retries
                ));
            }
        }
        let mut calls_of: HashMap<(&str, i64), i64> = HashMap::new();
        for dial in self.dials {
            if let Some(nudge) = self.calls.get(&dial.call.to_string()).and_then(|call| call.nudge.as_deref())
            {
                *calls_of.entry((nudge, dial.passed.0)).or_default() += 1;
            }
        }
        broken.extend(
            calls_of
                .iter()
                .filter(|(_, dials)| **dials > 1)
                .map(|((nudge, at), _)| format!("{nudge} was dialled twice at {}", Timestamp(*at))),
        );
        self.broken.extend(broken);
    }

    /// Nobody ends a call whose node lives and could say so, however long the store was away from all.
    fn held_calls_go_on(&mut self, world: &World, past: &Past) {
        if past.stepped {
            return;
        }
        let ended: Vec<_> = world.leases().ended.iter().copied().collect();
        for call in ended {
            let lost = self
                .calls
                .get(&call.to_string())
                .is_some_and(|call| call.end_cause.as_deref() == Some("error") && call.hang_up_at.is_none());
            if lost {
                self.say(format!("{call} was given up although its node held it"));
            }
        }
    }

    /// Nothing is made with a key, on any node, that was asked for after the answer to its revocation.
    fn revoked_keys_make_nothing(&mut self) {
        let mut broken = Vec::new();
        for (nudge, key, asked) in &self.log.asked {
            let made = self.nudges.get(&nudge.to_string()).map(|nudge| nudge.created_at);
            let revoked = self.log.promises.iter().find(|kept| {
                kept.promise == Promise::Revoked(*key)
                    && kept.passed < *asked
                    && made.is_some_and(|made| made > kept.at)
                    && !self.went_back
            });
            if let Some(kept) = revoked {
                broken.push(format!("{nudge} was made at {asked} with {key}, revoked at {}", kept.passed));
            }
        }
        self.broken.extend(broken);
    }

    /// A drained node dials nothing that was decided on after it was drained.
    fn drained_nodes_rest(&mut self, past: &Past) {
        if past.stepped {
            return;
        }
        let mut broken = Vec::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()) else { continue };
            let rests = past.drained.iter().find(|(node, from, to)| {
                *node == dial.node && *from < call.started_at && to.is_none_or(|to| dial.at < to)
            });
            if let Some((node, from, _)) = rests {
                broken.push(format!("{} was dialled by node {node}, drained at {from}", dial.call));
            }
        }
        self.broken.extend(broken);
    }

    /// No dial outside its hours or above the caps.
    fn dials_are_lawful(&mut self) {
        let pack = Pack::built_in("generic-safe@1").expect("a pack");
        let window = NudgeWindow::new(&pack.hours);
        let mut broken = Vec::new();
        let mut by_number: HashMap<(Tenant, String), Vec<(Timestamp, String)>> = HashMap::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()) else { continue };
            let open =
                if call.nudge.is_some() { window.is_open(dial.at) } else { pack.hours.is_open(dial.at) };
            if !open {
                broken.push(format!("{} was dialled outside its hours at {}", dial.call, dial.at));
            }
            if !call.live {
                broken.push(format!("{} is a test call and was dialled", dial.call));
            }
            by_number
                .entry((call.workspace, dial.to.to_string()))
                .or_default()
                .push((dial.at, dial.call.to_string()));
        }
        for ((tenant, number), mut dials) in by_number {
            let phone = domain::phone::Phone::normalize(&number).expect("a number");
            // Who was erased is forgotten, the dials before it included.
            if self.log.erasing.contains(&(tenant, phone)) {
                continue;
            }
            dials.sort();
            if dials.windows(4).any(|four| four[3].0.0 - four[0].0.0 < DAY)
                || dials.windows(11).any(|many| many[10].0.0 - many[0].0.0 < 7 * DAY)
            {
                broken
                    .push(format!("{number} was dialled more often than allowed: {}", self.dialled(&dials)));
            }
        }
        self.broken.extend(broken);
    }

    /// Dials as the store knows them.
    fn dialled(&self, dials: &[(Timestamp, String)]) -> String {
        let told = dials.iter().map(|(at, id)| match self.calls.get(id) {
            Some(call) => {
                format!("{id} at {at} (begun {}, {}, to {})", call.started_at, call.status, call.to_number)
            }
            None => format!("{id} at {at}"),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// Nothing is dialled after a promise that it is not. A dial whose placement began before the promise may
    /// follow it.
    fn promises_are_kept(&mut self) {
        let mut broken = Vec::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()) else { continue };
            let of_scheduled = call.scheduled.as_ref().and_then(|id| self.scheduled.get(id).copied());
            let listed = call.campaign.as_ref().and_then(|id| self.listed.get(id).copied());
            let made = call.nudge.as_ref().map(|id| self.nudges[id].created_at).or(of_scheduled).or(listed);
            let (placed, when) = self.placed(dial, call);
            for given in self.log.promises.iter().filter(|given| when(given) < placed) {
                let (at, promise) = (when(given), &given.promise);
                let kept = match promise {
                    Promise::NudgeCancelled(id) => call.nudge.as_deref() != Some(&id.to_string()),
                    Promise::ScheduledCancelled(id) => call.scheduled.as_deref() != Some(&id.to_string()),
                    Promise::Revoked(key) => {
                        call.nudge.as_ref().is_none_or(|id| self.nudges[id].key != key.to_string())
                    }
                    Promise::OptedOut(tenant, phone) => *tenant != call.workspace || *phone != dial.to,
                    Promise::Registered(phone) => *phone != dial.to,
                    // What was made after the erasure is another matter.
                    Promise::Erased(tenant, phone) => {
                        *tenant != call.workspace
                            || *phone != dial.to
                            || made.is_none_or(|made| made >= given.at)
                            || self.went_back
                    }
                    Promise::Suspended(tenant, true) => {
                        *tenant != call.workspace
                            || self.undone(given, placed, when, &Promise::Suspended(*tenant, false))
                    }
                    Promise::Published(tenant, false) => {
                        *tenant != call.workspace
                            || self.undone(given, placed, when, &Promise::Published(*tenant, true))
                    }
                    Promise::Paused(id, true) => {
                        call.campaign.as_deref() != Some(&id.to_string())
                            || self.undone(given, placed, when, &Promise::Paused(*id, false))
                    }
                    Promise::Completed(id) => call.campaign.as_deref() != Some(&id.to_string()),
                    Promise::Suspended(_, false)
                    | Promise::Published(_, true)
                    | Promise::Paused(_, false)
                    | Promise::StreamPaused(..) => true,
                };
                if !kept {
                    broken.push(format!("{} was dialled at {} after {at} {promise:?}", dial.call, dial.at));
                }
            }
        }
        self.broken.extend(broken);
    }

    /// When a dial was decided, and by what moments to compare it with promises: the clock's while it never
    /// went back, else the time that passed; a dial goes out within its lease.
    fn placed(&self, dial: &Dial, call: &CallSeen) -> (Timestamp, fn(&Kept) -> Timestamp) {
        if self.went_back {
            (dial.passed.plus(-LEASE), |kept| kept.passed)
        } else {
            (call.started_at, |kept| kept.at)
        }
    }

    fn undone(&self, given: &Kept, to: Timestamp, when: fn(&Kept) -> Timestamp, wanted: &Promise) -> bool {
        let from = if self.went_back { given.asked.1 } else { given.asked.0 };
        self.log
            .promises
            .iter()
            .any(|kept| kept.promise == *wanted && when(kept) >= from && when(kept) <= to.plus(LEASE))
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

    /// Every nudge has one result, one `nudge.finished` and nothing after it; the dialler's queues are empty.
    fn nudges_are_finished(&mut self, sight: &Sight) {
        let mut broken = Vec::new();
        let mut finished: HashMap<&str, usize> = HashMap::new();
        let mut over = HashSet::new();
        for (kind, nudge) in &sight.events {
            if over.contains(nudge) && nudge != UNSEEN {
                broken.push(format!("{kind} of {nudge} after its end"));
            }
            if kind == "nudge.finished" {
                *finished.entry(nudge).or_default() += 1;
                over.insert(nudge.clone());
            }
        }
        let mut unseen = finished.get(UNSEEN).copied().unwrap_or(0);
        let dialled: HashSet<&str> = self
            .dials
            .iter()
            .filter_map(|dial| self.calls.get(&dial.call.to_string())?.nudge.as_deref())
            .collect();
        for nudge in self.nudges.values() {
            let mut events = finished.get(nudge.id.as_str()).copied().unwrap_or(0);
            if events == 0 && unseen > 0 {
                (events, unseen) = (1, unseen - 1);
            }
            let result = nudge.result.as_deref();
            if nudge.status != "finished" || result.is_none() || nudge.finished_at.is_none() || events != 1 {
                broken
                    .push(format!("{}: {} {result:?} with {events} nudge.finished", nudge.id, nudge.status));
            }
            let was_dialled = dialled.contains(nudge.id.as_str());
            if result == Some("expired") && was_dialled
                || nudge.live
                    && matches!(result, Some("connected" | "voicemail" | "busy" | "no_answer"))
                    && !was_dialled
            {
                broken.push(format!(
                    "{} is {result:?} and {} dialled",
                    nudge.id,
                    if was_dialled { "was" } else { "never was" }
                ));
            }
        }
        let known: HashSet<&str> = self.nudges.keys().map(String::as_str).collect();
        let promised =
            self.log.nudges.iter().map(|(_, id)| id.to_string()).filter(|id| !known.contains(id.as_str()));
        broken.extend(promised.map(|id| format!("{id} was acknowledged and is lost")));
        if self.count("select count(*) from nudge_queues where pending <> 0 or without_line <> 0 or next_look is not null") != 0 {
            broken.push("a queue of nudges is not empty".into());
        }
        self.broken.extend(broken);
    }

    /// Every step of every nudge is one of the table.
    fn decisions_are_legal(&mut self) {
        let sql = "select nudge, status from nudge_timeline order by nudge, seq";
        let steps = self.rows(sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
        let mut before: Option<(String, String)> = None;
        for (nudge, status) in steps {
            let from =
                before.as_ref().filter(|(other, _)| *other == nudge).map(|(_, status)| status.as_str());
            let legal =
                STEPS.iter().any(|(before, after)| *before == from && after.contains(&status.as_str()));
            if !legal {
                let from = from.unwrap_or("nothing").to_owned();
                self.say(format!("{nudge} went from {from} to {status}"));
            }
            before = Some((nudge, status));
        }
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

    /// The ledger is its running sum, what was talked is charged once, nothing is held and no line is taken
    /// any more.
    fn money_adds_up(&mut self, tenant: Tenant, was_short: bool) {
        let (balance, reserved, taken): (i64, i64, i64) = self
            .rows(&format!("select balance, reserved, lines from workspaces where id = '{tenant}'"), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })[0];
        let lines: Vec<(i64, i64, String, String, Timestamp)> = self
            .rows(&format!("select amount, balance_after, kind, reference, created_at from wallet_entries where workspace = '{tenant}' order by seq"), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, moment(row, 4)?))
            });
        let mut sum = 0;
        let mut charges: HashMap<&str, i64> = HashMap::new();
        // What was left after a charge, unless others held it.
        let mut left: HashMap<&str, i64> = HashMap::new();
        let mut broken = Vec::new();
        for (amount, after, kind, reference, at) in &lines {
            sum += amount;
            if sum != *after {
                broken.push(format!("a line of the ledger says {after}, the sum is {sum}"));
            }
            if kind == "call_charge" {
                left.insert(reference, after - self.held_at(tenant, reference, *at));
            }
            if kind == "call_charge" && charges.insert(reference, -amount).is_some() {
                broken.push(format!("{reference} was charged twice"));
            }
        }
        // A conversation on the messaging channel that waits for a person is not over yet.
        let waiting = self.count(&format!(
            "select coalesce(sum(price), 0) from chats where workspace = '{tenant}' and channel = 'chatapp' and state <> 'ended'"
        ));
        if balance != sum || reserved != waiting {
            broken.push(format!("the wallet says {balance} with {reserved} held, the ledger {sum}"));
        }
        if taken != 0 {
            broken.push(format!("{taken} lines are taken"));
        }
        for (id, call) in self.calls.iter().filter(|(_, call)| call.workspace == tenant && call.live) {
            let charged = charges.remove(id.as_str()).unwrap_or(0);
            // What nobody could cover, and what a call owes whose end nobody saw, is not charged beyond what
            // was held.
            // An observer beside the service may miss a wallet that was short for a moment; the ledger tells.
            let empty = left.get(id.as_str()).is_none_or(|left| *left < call.price);
            let may_lack = was_short || empty || call.end_cause.as_deref() == Some("error");
            broken.extend(wrong_charge(
                id,
                call.talk_ms.unwrap_or(0),
                call.price,
                call.minutes,
                charged,
                may_lack,
            ));
        }
        let own = self.legs.iter().filter(|(_, leg)| leg.workspace == tenant && !leg.blocked);
        for ((call, number), leg) in own {
            let (Some(answered), Some(ended)) = (leg.answered_at, leg.ended_at) else { continue };
            let reference = leg
                .answer
                .filter(|answer| *answer > 1)
                .map_or_else(|| format!("{call}:transfer"), |answer| format!("{call}:transfer:{answer}"));
            let charged = charges.remove(reference.as_str()).unwrap_or(0);
            let lost = self.calls.get(call).is_none_or(|call| call.end_cause.as_deref() == Some("error"));
            let empty = left.get(reference.as_str()).is_none_or(|left| *left < leg.price);
            let name = format!("leg {number} of {call}");
            broken.extend(wrong_charge(
                &name,
                ended.0 - answered.0,
                leg.price,
                leg.minutes,
                charged,
                was_short || empty || lost,
            ));
        }
        broken.extend(charges.iter().map(|(reference, amount)| {
            format!("{amount} were charged for {reference}, which nobody talked")
        }));
        self.broken.extend(broken);
    }

    /// The most that the other calls and legs of a workspace can have held when this one was charged.
    fn held_at(&self, tenant: Tenant, reference: &str, at: Timestamp) -> i64 {
        let on_line = |started: Timestamp, ended: Option<Timestamp>| {
            started <= at && ended.is_none_or(|ended| ended >= at)
        };
        let calls = self.calls.iter().filter(|(id, call)| {
            call.workspace == tenant && id.as_str() != reference && on_line(call.started_at, call.ended_at)
        });
        let legs =
            self.legs.values().filter(|leg| leg.workspace == tenant && on_line(leg.started_at, leg.ended_at));
        calls.map(|(_, call)| call.price * call.minutes).sum::<i64>()
            + legs.map(|leg| leg.price * leg.minutes).sum::<i64>()
    }

    /// Every chain of the decision log verifies up to its head, and every dial has its record.
    fn chains_hold(&mut self, tenant: Tenant) {
        let heads: Vec<(String, i64, String)> = self.rows(
            &format!("select chain, seq, hash from decision_log_heads where workspace = '{tenant}'"),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        );
        let mut broken = Vec::new();
        let mut allowed = HashSet::new();
        for (chain, seq, hash) in heads {
            let sql = format!(
                "select seq, at, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref, integrity_hash, prev_hash, is_test, \
                 channel, agent_id from decision_log where workspace = '{tenant}' and chain = '{chain}' order by seq"
            );
            let mut verifier = ChainVerifier::new();
            for row in self.rows(&sql, log_row) {
                if row.decision == "allowed" {
                    allowed.insert((row.interaction_id.clone(), leg_of(&row.gate_results)));
                }
                if let Err(why) = verifier.push(&row) {
                    broken.push(format!("chain {chain}: {why:?}"));
                }
            }
            let head = verifier.head();
            if (head.seq as i64, head.hash.as_str()) != (seq, hash.as_str()) {
                broken.push(format!("chain {chain} ends at {} and its head says {seq}", head.seq));
            }
        }
        for dial in self.dials {
            let own = self.calls.get(&dial.call.to_string()).is_some_and(|call| call.workspace == tenant);
            if own && !allowed.contains(&(dial.call.to_string(), 0)) {
                broken.push(format!("{} was dialled without a record in the decision log", dial.call));
            }
        }
        for dial in self.leg_dials {
            let own = self.calls.get(&dial.call.to_string()).is_some_and(|call| call.workspace == tenant);
            if own && !allowed.contains(&(dial.call.to_string(), dial.leg)) {
                broken.push(format!(
                    "leg {} of {} was rung without a record in the decision log",
                    dial.leg, dial.call
                ));
            }
        }
        self.broken.extend(broken);
    }
}

/// The second leg that a record of the decision log is about; 0 for the call itself.
fn leg_of(gate_results: &str) -> i64 {
    let results: serde_json::Value = serde_json::from_str(gate_results).unwrap_or_default();
    results["leg"].as_i64().unwrap_or(0)
}

/// Whether something was charged that is not every started minute, once; it `may_lack` what was not held.
fn wrong_charge(
    name: &str,
    talk_ms: i64,
    price: i64,
    minutes: i64,
    charged: i64,
    may_lack: bool,
) -> Option<String> {
    let owed = call_charge(talk_ms, price);
    let least = if may_lack { owed.min(price * minutes) } else { owed };
    (charged < least || charged > owed)
        .then(|| format!("{name} owes {owed} with {minutes} minutes held and was charged {charged}"))
}

fn log_row(row: &Row<'_>) -> rusqlite::Result<LogRow> {
    Ok(LogRow {
        seq: row.get::<_, i64>(0)?.to_string(),
        timestamp: Timestamp(row.get(1)?).to_string(),
        interaction_id: row.get(2)?,
        decision: row.get(3)?,
        blocked_by: row.get(4)?,
        gate_results: row.get(5)?,
        outcome: row.get(6)?,
        recording_ref: row.get(7)?,
        consent_ref: row.get(8)?,
        integrity_hash: row.get(9)?,
        prev_hash: row.get(10)?,
        is_test: (row.get::<_, i64>(11)? == 1).to_string(),
        channel: row.get(12)?,
        agent_id: row.get(13)?,
    })
}

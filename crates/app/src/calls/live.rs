//! Calls that ring or talk, as those who watch see them: last words, step of the flow, flags, captured values
//! (docs/contract/live.md#live-calls).
//!
//! The node that holds a call has this in memory. On a shared store it is stored for the other nodes while somebody
//! watches the workspace, and once more: at most once a second for each call.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::live_calls::{CallFlag, LastWords, LiveCall, LiveStep, LiveTurn};
use domain::call::Stage;
use domain::ids::{Agent, Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{SECOND, Timestamp};
use domain::wallet::call_charge;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::calls::CallRow;
use store::{DbError, Tx, live_calls};
use tokio::sync::Notify;

use crate::limits::pages;
use crate::{App, Failure};

/// Turns that are kept of a call, and characters of each.
const TURNS: usize = 40;
const CHARACTERS: usize = 500;
/// Captured values that are kept.
const CAPTURED: usize = 50;
/// News that a watcher may be behind.
const NEWS: usize = 32;
/// Silence that is flagged, milliseconds.
const SILENT: i64 = 8 * SECOND;
/// How long a workspace counts as watched after somebody looked, milliseconds.
pub const WATCHED: i64 = 45 * SECOND;
/// Calls that one transaction publishes.
const PUBLISHED: usize = 50;
/// Bytes that a call takes in an answer, about.
const STATE_BYTES: usize = 24 * 1024;

/// What a conversation has come to.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Words of a turn; one that is not complete is a guess.
    Words {
        turn: usize,
        role: domain::conversation::Role,
        text: String,
        complete: bool,
    },
    /// A step of the flow.
    Step {
        id: String,
        name: Option<String>,
    },
    /// A captured value.
    Captured {
        field: String,
        value: Value,
    },
    Flag(CallFlag),
}

/// A piece of news with its number, as watchers are told it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct News {
    seq: i64,
    /// Only for those who watch this call.
    partial: bool,
    data: Value,
}

/// What is known of a live call beside its row.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LiveState {
    /// Grows with every piece of news.
    rev: i64,
    turns: VecDeque<LiveTurn>,
    step: Option<LiveStep>,
    captured: Map<String, Value>,
    flags: BTreeSet<CallFlag>,
    words_at: Option<Timestamp>,
    news: VecDeque<News>,
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= CHARACTERS {
        text.to_owned()
    } else {
        text.chars().take(CHARACTERS).chain(['…']).collect()
    }
}

fn bounded(value: Value) -> Value {
    match value {
        Value::Bool(_) | Value::Number(_) | Value::Null => value,
        Value::String(text) => shortened(&text).into(),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() <= CHARACTERS { value } else { shortened(&text).into() }
        }
    }
}

impl LiveState {
    /// Takes a piece of news.
    fn take(&mut self, said: Said, now: Timestamp) {
        let (partial, data) = match said {
            Said::Words { turn, role, text, complete } => {
                let words = LiveTurn { turn, who: role.into(), text: shortened(&text), complete, at: now };
                self.words_at = Some(now);
                let data = json!({"kind": "words", "turn": turn, "who": words.who, "text": words.text, "complete": complete});
                match self.turns.iter_mut().find(|known| known.turn == turn) {
                    Some(known) => *known = words,
                    None => self.turns.push_back(words),
                }
                if self.turns.len() > TURNS {
                    self.turns.pop_front();
                }
                (!complete, data)
            }
            Said::Step { id, name } => {
                let step = LiveStep { id, name };
                let data = json!({"kind": "step", "step": step});
                self.step = Some(step);
                (false, data)
            }
            Said::Captured { field, value } => {
                let value = bounded(value);
                if self.captured.len() >= CAPTURED && !self.captured.contains_key(&field) {
                    return;
                }
                let data = json!({"kind": "captured", "field": field, "value": value});
                self.captured.insert(field, value);
                (false, data)
            }
            Said::Flag(flag) => {
                if !self.flags.insert(flag) {
                    return;
                }
                (false, json!({"kind": "flag", "flag": flag}))
            }
        };
        self.rev += 1;
        self.news.push_back(News { seq: self.rev, partial, data });
        if self.news.len() > NEWS {
            self.news.pop_front();
        }
    }

    /// The news after a number: whether each is a guess, and its data. `None` if some are gone.
    pub fn since(&self, seq: i64) -> Option<Vec<(i64, bool, Value)>> {
        let first = self.news.front().map_or(self.rev + 1, |news| news.seq);
        let new = self.news.iter().filter(|news| news.seq > seq);
        (seq + 1 >= first).then(|| new.map(|news| (news.seq, news.partial, news.data.clone())).collect())
    }

    /// The number of the newest news.
    pub fn rev(&self) -> i64 {
        self.rev
    }

    /// Reads one that another node has stored.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// A call of this node.
struct Held {
    tenant: Tenant,
    state: LiveState,
    /// Its newest news that is stored.
    published: i64,
    /// Whether anything of it may be stored.
    stored: bool,
}

/// The live calls of this node.
#[derive(Default)]
pub struct LiveCalls {
    calls: Mutex<HashMap<Id<Call>, Held>>,
    /// Calls that are over, of which something is stored.
    over: Mutex<Vec<(Tenant, Id<Call>)>>,
    /// Notified with news of a workspace that somebody watches here.
    bells: Mutex<HashMap<Tenant, Arc<Notify>>>,
}

impl LiveCalls {
    /// Those of this node.
    pub fn of(app: &App) -> Arc<Self> {
        app.state.of(Self::default)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<Id<Call>, Held>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<Tenant, Arc<Notify>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this node has calls, or something to take back.
    pub fn is_idle(&self) -> bool {
        self.calls().is_empty() && self.over.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// A conversation begins.
    pub fn begin(&self, tenant: Tenant, call: Id<Call>) {
        let held = Held { tenant, state: LiveState::default(), published: 0, stored: false };
        self.calls().entry(call).or_insert(held);
    }

    /// A conversation has come to this.
    pub fn tell(&self, call: Id<Call>, said: Said, now: Timestamp) {
        let mut calls = self.calls();
        let Some(held) = calls.get_mut(&call) else { return };
        held.state.take(said, now);
        let tenant = held.tenant;
        drop(calls);
        if let Some(bell) = self.bells().get(&tenant) {
            bell.notify_waiters();
        }
    }

    /// A conversation is over.
    pub fn end(&self, call: Id<Call>) {
        let ended = self.calls().remove(&call);
        if let Some(ended) = ended.filter(|ended| ended.stored) {
            self.over.lock().unwrap_or_else(PoisonError::into_inner).push((ended.tenant, call));
        }
    }

    /// Notified with news of a workspace, while the guard lives.
    pub fn watch(self: &Arc<Self>, tenant: Tenant) -> Watching {
        let bell = self.bells().entry(tenant).or_default().clone();
        Watching { calls: self.clone(), tenant, bell }
    }

    /// The calls of a workspace with their states.
    pub fn states(&self, tenant: Tenant) -> HashMap<Id<Call>, LiveState> {
        let calls = self.calls();
        let own = calls.iter().filter(|(_, held)| held.tenant == tenant);
        own.map(|(id, held)| (*id, held.state.clone())).collect()
    }

    /// States of watched workspaces that are not stored yet.
    fn unpublished(&self, watched: &BTreeSet<Tenant>) -> Vec<(Tenant, Id<Call>, i64, String)> {
        let mut calls = self.calls();
        let new = calls
            .iter_mut()
            .filter(|(_, held)| watched.contains(&held.tenant) && held.state.rev > held.published);
        let state = |(id, held): (&Id<Call>, &mut Held)| {
            held.stored = true;
            let text = serde_json::to_string(&held.state).unwrap_or_default();
            (held.tenant, *id, held.state.rev, text)
        };
        new.take(PUBLISHED).map(state).collect()
    }
}

/// A watcher of a workspace on this node.
pub struct Watching {
    calls: Arc<LiveCalls>,
    tenant: Tenant,
    bell: Arc<Notify>,
}

impl Watching {
    /// Notified with news.
    pub fn bell(&self) -> Arc<Notify> {
        self.bell.clone()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut bells = self.calls.bells();
        // One is in the map, one is here.
        if bells.get(&self.tenant).is_some_and(|bell| Arc::strong_count(bell) <= 2) {
            bells.remove(&self.tenant);
        }
    }
}

/// Stores the news of this node's calls in workspaces that somebody watches, for other nodes, and takes back those of calls
/// that are over. Returns whether this node has calls.
pub async fn publish(app: &App) -> Result<bool, Failure> {
    let live = LiveCalls::of(app);
    if live.is_idle() {
        return Ok(false);
    }
    let now = app.clock.now();
    let watched = app.store.read(move |tx| live_calls::watched(tx, now)).await?.into_iter().collect();
    let over = std::mem::take(&mut *live.over.lock().unwrap_or_else(PoisonError::into_inner));
    if !over.is_empty() {
        let gone = over.clone();
        let removed = app.store.tx(move |tx| {
            gone.iter().try_for_each(|(tenant, call)| live_calls::remove(&mut tx.of(*tenant), *call))
        });
        if let Err(failure) = removed.await {
            live.over.lock().unwrap_or_else(PoisonError::into_inner).extend(over);
            return Err(failure.into());
        }
    }
    loop {
        let mut new = live.unpublished(&watched);
        if new.is_empty() {
            return Ok(true);
        }
        // Every transaction takes the rows in the same order.
        new.sort_unstable_by_key(|(tenant, call, ..)| (*tenant, *call));
        let told: Vec<(Id<Call>, i64)> = new.iter().map(|(_, call, rev, _)| (*call, *rev)).collect();
        app.store
            .tx(move |tx| {
                new.iter().try_for_each(|(tenant, call, rev, state)| {
                    live_calls::publish(&mut tx.of(*tenant), *call, state, *rev, now)
                })
            })
            .await?;
        let mut calls = live.calls();
        for (call, rev) in told {
            if let Some(held) = calls.get_mut(&call) {
                held.published = rev;
            }
        }
    }
}

/// The states of these calls: those of this node, and on a shared store what other nodes have stored. From now on this node
/// counts as one that watches the workspace.
async fn states(
    app: &App,
    tenant: Tenant,
    calls: Vec<Id<Call>>,
) -> Result<HashMap<Id<Call>, LiveState>, Failure> {
    let own = LiveCalls::of(app).states(tenant);
    if !app.store.shared() {
        return Ok(own);
    }
    let now = app.clock.now();
    let others: Vec<Id<Call>> = calls.into_iter().filter(|id| !own.contains_key(id)).collect();
    let stored = app.of(tenant).read(move |tx| live_calls::of_calls(tx, &others)).await?;
    app.of(tenant).tx(move |tx| live_calls::watch(tx, now.plus(WATCHED))).await?;
    let stored = stored.into_iter().filter_map(|(id, text)| Some((id, LiveState::read(&text)?)));
    Ok(own.into_iter().chain(stored).collect())
}

/// `GET /v1/calls/live`: the page, and the key of the next one.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<LiveCall>, Option<String>), Failure> {
    let read = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let before = before.unwrap_or("call_~");
            let mut rows = live_calls::rows(&mut tx.of(tenant), mode, before, limit + 1)?;
            let more = rows.len() as i64 > limit;
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let next = rows.last().filter(|_| more).map(|row| row.id.to_string());
            Ok::<_, DbError>((rows, next))
        };
        let mut names: BTreeMap<Id<Agent>, Option<String>> = BTreeMap::new();
        pages::read(tx, limit, before.clone(), read, |tx, row| {
            let name = match row.agent {
                Some(agent) => match names.get(&agent) {
                    Some(name) => name.clone(),
                    None => {
                        let name = store::agents::name_of(&mut tx.of(tenant), agent)?;
                        names.insert(agent, name.clone());
                        name
                    }
                },
                None => None,
            };
            Ok((row.id.to_string(), STATE_BYTES, (row, name)))
        })
    });
    let (rows, next) = read.await?;
    let mut states = states(app, tenant, rows.iter().map(|(row, _)| row.id).collect()).await?;
    let now = app.clock.now();
    let shown = rows.into_iter().map(|(row, name)| view(states.remove(&row.id), &row, name, now));
    Ok((shown.collect(), next))
}

fn view(state: Option<LiveState>, row: &CallRow, agent_name: Option<String>, now: Timestamp) -> LiveCall {
    let state = state.unwrap_or_default();
    let talks = row.progress.status.stage() == Stage::InProgress;
    let since = row.progress.answered_at.filter(|_| talks).unwrap_or(row.started_at);
    let mut flags = state.flags;
    if row.progress.opted_out {
        flags.insert(CallFlag::AskedNotToBeCalled);
    }
    // Who talks without a word counts from the answer.
    if talks && state.words_at.is_some_and(|at| now.0 - at.0.max(since.0) > SILENT) {
        flags.insert(CallFlag::Silent);
    }
    let talk_ms = row.progress.answered_at.map_or(0, |at| (now.0 - at.0).max(0));
    LiveCall {
        id: row.id,
        contact_id: row.contact,
        campaign_id: row.campaign,
        agent_id: row.agent,
        agent_name,
        direction: row.direction,
        state: row.progress.status.stage(),
        to_number: row.to_number.clone(),
        from_number: row.from_number.clone(),
        started_at: row.started_at,
        since,
        last_words: state.turns.back().map(|turn| LastWords {
            who: turn.who,
            text: turn.text.clone(),
            at: turn.at,
        }),
        turns: state.turns.into_iter().collect(),
        step: state.step,
        flags: flags.into_iter().collect(),
        captured: state.captured,
        cost_so_far_minor: call_charge(talk_ms, row.price),
        seq: state.rev,
    }
}

//! Rate limits: requests per workspace in fixed 60-second windows (docs/contract/README.md#limits). On an embedded
//! store the process counts in memory. On a shared one all nodes count in the store: a node reserves slots for waiting
//! requests, and more in advance when many come, down to none near the limit. So a slot is given once, on any node, and
//! a busy workspace costs a query now and then only.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::error_codes;
use api::operations::RateClass;
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};
use tokio::time::Instant;

use crate::access::Caller;
use crate::{App, Failure};

/// Cached windows of a node.
const REMEMBERED: usize = 100_000;
/// A node reserves in advance as many slots as it has given in this window, and at most a part of what is left for all.
const PART_OF_LEFT: i64 = 16;
/// How long a full window is cached, in real time.
const FULL_FOR: Duration = Duration::from_millis(500);

type Name = (Tenant, Cow<'static, str>);

/// Windows of this process.
#[derive(Default)]
pub struct Windows {
    counted: Mutex<HashMap<Name, (i64, i64)>>,
    reserved: Mutex<HashMap<Name, Arc<Reserved>>>,
}

/// This node's state of one window of a shared store.
#[derive(Default)]
struct Reserved {
    places: Mutex<Places>,
    /// Requests that wait for a slot.
    waiting: AtomicI64,
    /// Held by the request that queries the store.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Places {
    window: i64,
    /// Slots that are taken in the store, ours included, as far as this node knows.
    used: i64,
    /// Of those, how many are ours to give.
    left: i64,
    /// How many this node has given.
    given: i64,
    /// A limit that was reached, and when that was seen.
    full: Option<(i64, Instant)>,
}

impl Places {
    /// Switches to a newer window. A request of an older one, from a clock that is behind, is counted in this one.
    fn turn_to(&mut self, window: i64) {
        if window > self.window {
            *self = Self { window, ..Self::default() };
        }
    }

    /// Gives a slot, and returns how many are given now.
    fn give(&mut self, limit: i64) -> Option<i64> {
        let place = self.used - self.left + 1;
        if self.left == 0 || place > limit {
            return None;
        }
        self.left -= 1;
        self.given += 1;
        Some(place)
    }

    fn is_full(&self, limit: i64) -> bool {
        self.full.is_some_and(|(full, seen)| limit <= full && seen.elapsed() < FULL_FOR)
    }

    /// How many slots to reserve for this many waiting requests.
    fn wanted(&self, waiting: i64, limit: i64) -> i64 {
        let more = self.given.min((limit - self.used) / PART_OF_LEFT);
        waiting + (more - waiting).max(0)
    }
}

impl Reserved {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot without a query, or `limit + 1` when there is none; `None` when the store must be queried.
    fn known(&self, window: i64, limit: i64) -> Option<i64> {
        let mut places = self.places();
        places.turn_to(window);
        places.give(limit).or_else(|| places.is_full(limit).then_some(limit + 1))
    }
}

/// A request that waits for a slot.
struct Waiting<'a>(&'a AtomicI64);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a AtomicI64) -> Self {
        waiting.fetch_add(1, Ordering::AcqRel);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// State of the narrowest window that a request counted toward.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Requests that the window allows.
    pub limit: i64,
    /// Requests left in it.
    pub remaining: i64,
    /// When it ends, in Unix seconds.
    pub reset: i64,
}

impl Budget {
    /// A window that begins at this moment.
    fn of(window: i64) -> Self {
        Self { limit: 0, remaining: 0, reset: (window + MINUTE) / SECOND }
    }

    /// Updates the state with a limit of which this much is used, if fewer requests are left of it.
    fn narrow(&mut self, limit: i64, used: i64) {
        let remaining = (limit - used).max(0);
        if self.limit == 0 || remaining < self.remaining {
            (self.limit, self.remaining) = (limit, remaining);
        }
    }
}

impl Windows {
    fn count(&self, name: Name, window: i64) -> i64 {
        let mut windows = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() > REMEMBERED {
            windows.retain(|_, (start, _)| *start == window);
        }
        let (start, used) = windows.entry(name).or_insert((window, 0));
        if *start != window {
            (*start, *used) = (window, 0);
        }
        *used += 1;
        *used
    }

    /// This node's state of a window of a shared store.
    fn reserved(&self, name: &Name, window: i64) -> Arc<Reserved> {
        let mut windows = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = windows.get(name) {
            return known.clone();
        }
        if windows.len() > REMEMBERED {
            windows.retain(|_, known| known.places().window == window || Arc::strong_count(known) > 1);
        }
        windows.entry(name.clone()).or_default().clone()
    }
}

/// Name of a class in the store, and of its limit.
fn names(class: RateClass) -> (&'static str, &'static str) {
    match class {
        RateClass::Calls => ("calls", "callsPerMinute"),
        RateClass::Nudges => ("nudges", "nudgesPerMinute"),
        RateClass::CampaignWrites => ("campaign_writes", "campaignWritesPerMinute"),
        RateClass::ChatMessages => ("chat_messages", "chatMessagesPerMinute"),
        RateClass::ChatSessions => ("chat_sessions", "chatSessionsPerMinute"),
        RateClass::ChannelMessages => ("channel_messages", "channelMessagesPerMinute"),
        RateClass::HandOvers => ("hand_overs", "handOversPerMinute"),
        RateClass::FlowTries => ("flow_tries", "flowTriesPerMinute"),
    }
}

/// Counts a request toward a window; returns the count with it. More than `limit` when there was no slot.
async fn count(
    app: &App,
    tenant: Tenant,
    class: Cow<'static, str>,
    window: i64,
    limit: i64,
) -> Result<i64, Failure> {
    let name = (tenant, class);
    if !app.store.shared() {
        return Ok(app.rates.count(name, window));
    }
    let reserved = app.rates.reserved(&name, window);
    if let Some(used) = reserved.known(window, limit) {
        return Ok(used);
    }
    let _waiting = Waiting::new(&reserved.waiting);
    let _turn = reserved.turn.lock().await;
    // The task before this one may have reserved for it, too, or found the window full.
    if let Some(used) = reserved.known(window, limit) {
        return Ok(used);
    }
    let (window, wanted) = {
        let places = reserved.places();
        (places.window, places.wanted(reserved.waiting.load(Ordering::Acquire), limit))
    };
    let class = name.1.clone();
    let asked = class.clone();
    let reserve = move |tx: &mut store::Tx<'_>| {
        store::rate_windows::reserve(&mut tx.of(tenant), &asked, window, wanted, limit)
    };
    let (used, granted) = app.store.tx_single(reserve).await?;
    if used == granted {
        // The first of a window.
        let drop_older =
            move |tx: &mut store::Tx<'_>| store::rate_windows::drop_older(&mut tx.of(tenant), &class, window);
        app.store.tx_single(drop_older).await?;
    }
    let mut places = reserved.places();
    if places.window != window {
        // The minute has ended meanwhile. This request belongs to it; nobody else needs the rest.
        return Ok(if granted > 0 { used - granted + 1 } else { limit + 1 });
    }
    (places.used, places.left) = (used, places.left + granted);
    places.full = (granted < wanted).then(|| (limit, Instant::now()));
    Ok(places.give(limit).unwrap_or(limit + 1))
}

/// Counts a request toward the limit of its key's workspace, or of the member, and toward that of its class.
pub async fn admit(
    app: &App,
    caller: &Caller,
    class: Option<RateClass>,
    now: Timestamp,
) -> (Budget, Result<(), Failure>) {
    let window = now.0.div_euclid(MINUTE) * MINUTE;
    let mut budget = Budget::of(window);
    // Sessions have windows of their own: the console neither starves the integrations nor is starved by them.
    let all = match caller.member() {
        Some(member) => (Cow::from(format!("member:{member}")), "memberRequestsPerMinute"),
        None => ("requests".into(), "requestsPerMinute"),
    };
    let class = class.map(|class| (Cow::from(names(class).0), names(class).1));
    for (name, limit) in [Some(all), class].into_iter().flatten() {
        let limit = caller.limit(limit);
        let used = match count(app, caller.tenant(), name, window, limit).await {
            Ok(used) => used,
            Err(failure) => return (budget, Err(failure)),
        };
        budget.narrow(limit, used);
        if used > limit {
            return (budget, Err(too_many(limit, window, now)));
        }
    }
    (budget, Ok(()))
}

/// Counts a request of somebody without a key toward windows of a workspace, each with what it allows.
pub async fn take(
    app: &App,
    tenant: Tenant,
    classes: Vec<(String, i64)>,
    now: Timestamp,
) -> (Budget, Result<(), Failure>) {
    let window = now.0.div_euclid(MINUTE) * MINUTE;
    let mut budget = Budget::of(window);
    let mut used = Vec::with_capacity(classes.len());
    for (name, limit) in &classes {
        match count(app, tenant, name.clone().into(), window, *limit).await {
            Ok(with_it) => used.push(with_it),
            Err(why) => return (budget, Err(why)),
        }
    }
    let mut admitted = Ok(());
    for ((_, limit), used) in classes.into_iter().zip(used) {
        budget.narrow(limit, used);
        if used > limit && admitted.is_ok() {
            admitted = Err(too_many(limit, window, now));
        }
    }
    (budget, admitted)
}

fn too_many(limit: i64, window: i64, now: Timestamp) -> Failure {
    let wait = ((window + MINUTE - now.0 + SECOND - 1) / SECOND).max(1);
    let message = format!("more than {limit} requests a minute; try again in {wait} s");
    Failure { retry_after: Some(wait), ..Failure::new(error_codes::RATE_LIMITED, message) }
}

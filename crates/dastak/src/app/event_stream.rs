//! Events as they come, for a developer's machine without a public address (`dastak listen`), and samples of
//! them (`dastak trigger`). A key sees the events of its own world.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::error_codes;
use domain::ids::{Event, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::SECOND;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use serde_json::Value;
use store::events;
use tokio::sync::Notify;

use super::events::{Audience, emit_sample, known};
use super::{App, Failure};

/// On a store that several nodes share, a transaction still under way may hold an event with an older id:
/// what is this young is not shown yet, milliseconds. Deliveries to endpoints do not depend on it.
const UNSETTLED: i64 = SECOND;
/// Real time between two looks at a shared store.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Readers of one world of a workspace that may wait on a node at once.
const MAX_READERS: usize = 32;
/// Events of both worlds that one look passes, and looks of one request that find nothing of its own world.
const EXAMINED: i64 = 1_000;
const LOOKS: usize = 16;

/// Who waits for events on this node, by workspace and world: a commit wakes the readers of its own and
/// nobody else.
#[derive(Default)]
pub struct Readers {
    rooms: Mutex<HashMap<(Tenant, Mode), Room>>,
    /// Readers in all rooms, so that a commit which nobody waits for takes no lock.
    waiting: AtomicUsize,
    looks: Counter,
}

#[derive(Default)]
struct Room {
    bell: Arc<Notify>,
    readers: usize,
}

impl Readers {
    /// None yet; their figures are in the registry.
    pub fn new(registry: &mut Registry) -> Self {
        let readers = Self::default();
        registry.register(
            "event_stream_looks",
            "Looks at the outbox for readers of the stream of events",
            readers.looks.clone(),
        );
        readers
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<(Tenant, Mode), Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the readers of one world of a workspace.
    pub fn announce(&self, tenant: Tenant, mode: Mode) {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        if let Some(room) = self.rooms().get(&(tenant, mode)) {
            room.bell.notify_waiters();
        }
    }

    /// How many wait in one world of a workspace.
    pub fn waiting_of(&self, tenant: Tenant, mode: Mode) -> usize {
        self.rooms().get(&(tenant, mode)).map_or(0, |room| room.readers)
    }

    /// A place for a reader until it is dropped; `None` when all are taken.
    fn enter(&self, tenant: Tenant, mode: Mode) -> Option<Reader<'_>> {
        let mut rooms = self.rooms();
        let room = rooms.entry((tenant, mode)).or_default();
        if room.readers >= MAX_READERS {
            return None;
        }
        room.readers += 1;
        self.waiting.fetch_add(1, Ordering::AcqRel);
        Some(Reader { readers: self, room: (tenant, mode), bell: room.bell.clone() })
    }
}

/// Somebody who waits for events.
struct Reader<'r> {
    readers: &'r Readers,
    room: (Tenant, Mode),
    bell: Arc<Notify>,
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut rooms = self.readers.rooms();
        self.readers.waiting.fetch_sub(1, Ordering::AcqRel);
        if let Some(room) = rooms.get_mut(&self.room) {
            room.readers -= 1;
            if room.readers == 0 {
                rooms.remove(&self.room);
            }
        }
    }
}

/// Where a listener goes on.
#[derive(Debug, Clone)]
pub enum After {
    /// Behind everything there is.
    Latest,
    /// Behind the event with this id; empty for the beginning.
    Event(String),
}

/// Emits a sample to whoever subscribes to its type; the event, and how many endpoints get it.
pub async fn trigger(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    kind: &str,
) -> Result<(Id<Event>, usize), Failure> {
    let (context, kind) = (app.context(), known(kind)?);
    app.store
        .tx(move |tx| emit_sample(tx, &context, tenant, mode, kind, (kind.sample)(), &Audience::Subscribed))
        .await
}

/// Ids below this one are shown.
fn horizon(app: &App) -> String {
    if app.store.shared() && !app.clock.is_manual() {
        return Id::<Event>::new(app.clock.now().0 - UNSETTLED, 0).to_string();
    }
    "evt_~".into()
}

/// Envelopes after a point, where to go on, and whether there may be more already.
async fn read(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    after: &str,
    limit: i64,
) -> Result<(Vec<Value>, String, bool), Failure> {
    let (from, before) = (after.to_owned(), horizon(app));
    app.webhooks.readers.looks.inc();
    let (rows, next) =
        app.store.read(move |tx| events::page(tx, tenant, mode, (&from, &before), limit, EXAMINED)).await?;
    let more = next.is_some();
    let next = next.or_else(|| rows.last().map(|row| row.id.to_string())).unwrap_or_else(|| after.to_owned());
    let envelopes = rows
        .iter()
        .filter_map(|row| row.envelope.as_deref())
        .map(serde_json::from_str)
        .collect::<Result<_, _>>();
    Ok((
        envelopes.map_err(|why| Failure::internal(format!("an event's envelope is not JSON: {why}")))?,
        next,
        more,
    ))
}

/// Envelopes of one world after a point, oldest first, and the next point. Waits for up to `wait` of real
/// time while there are none: it is the client that waits, so the manual clock does not count it.
///
/// # Errors `rate_limited` when [`MAX_READERS`] of this world wait already.
pub async fn listen(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    after: After,
    limit: i64,
    wait: Duration,
) -> Result<(Vec<Value>, String), Failure> {
    let full = || {
        let message = format!("{MAX_READERS} requests of this workspace wait for events already");
        Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
    };
    // A request that does not wait takes no place.
    let reader =
        if wait.is_zero() { None } else { Some(app.webhooks.readers.enter(tenant, mode).ok_or_else(full)?) };
    let bell = reader.as_ref().map(|reader| reader.bell.clone()).unwrap_or_default();
    let mut after = match after {
        After::Event(id) => id,
        After::Latest => {
            let before = horizon(app);
            app.store
                .read(move |tx| events::newest(tx, tenant, mode, &before))
                .await?
                .map(|id| id.to_string())
                .unwrap_or_default()
        }
    };
    let until = tokio::time::Instant::now() + wait;
    let mut stopped = app.clock.stopped();
    let mut passed = 0;
    loop {
        let committed = bell.notified();
        let (found, next, more) = read(app, tenant, mode, &after, limit).await?;
        let now = tokio::time::Instant::now();
        passed += usize::from(more);
        let over = if more { passed >= LOOKS } else { now >= until };
        if !found.is_empty() || *stopped.borrow_and_update() || over {
            return Ok((found, if next.is_empty() { "start".into() } else { next }));
        }
        after = next;
        if more {
            // What was passed belongs to the other world, or was erased.
            tokio::task::yield_now().await;
            continue;
        }
        let pause = if app.store.shared() { until.min(now + LOOK_AGAIN) } else { until };
        tokio::select! {
            _ = tokio::time::timeout_at(pause, committed) => {}
            _ = stopped.changed() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn a_commit_wakes_the_readers_of_its_own_world_of_its_own_workspace() {
        let readers = Readers::default();
        let (mine, other) = (Tenant::new(1, 1), Tenant::new(1, 2));
        let enter = |tenant, mode| readers.enter(tenant, mode).expect("a place");
        let (one, test, stranger) =
            (enter(mine, Mode::Live), enter(mine, Mode::Test), enter(other, Mode::Live));
        let (mut one, mut test, mut stranger) =
            (pin!(one.bell.notified()), pin!(test.bell.notified()), pin!(stranger.bell.notified()));
        let mut context = Context::from_waker(Waker::noop());
        readers.announce(mine, Mode::Live);
        assert!(one.as_mut().poll(&mut context).is_ready());
        assert!(
            test.as_mut().poll(&mut context).is_pending()
                && stranger.as_mut().poll(&mut context).is_pending()
        );
        readers.announce(other, Mode::Live);
        assert!(
            stranger.as_mut().poll(&mut context).is_ready() && test.as_mut().poll(&mut context).is_pending()
        );
    }

    #[test]
    fn places_are_bounded_for_each_world_and_come_back() {
        let readers = Readers::default();
        let tenant = Tenant::new(1, 1);
        let full: Vec<_> =
            (0..MAX_READERS).map(|_| readers.enter(tenant, Mode::Test).expect("a place")).collect();
        assert!(readers.enter(tenant, Mode::Test).is_none());
        assert!(
            readers.enter(tenant, Mode::Live).is_some()
                && readers.enter(Tenant::new(1, 2), Mode::Test).is_some()
        );
        drop(full);
        assert!(readers.enter(tenant, Mode::Test).is_some());
        assert!(
            readers.rooms().is_empty() && readers.waiting.load(Ordering::Acquire) == 0,
            "nothing is left of those who went"
        );
    }
}

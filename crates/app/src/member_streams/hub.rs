//! The readers of a node: one for each workspace that somebody watches, shared by all its streams.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::ids::{Call, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::topic::Topic;
use runtime::shares::Shares;
use serde_json::Value;
use store::changes::{self, Position};
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant, sleep_until};

use super::live_looks::LiveLooks;
use super::topics::{Changed, Invalidation, of_row};
use crate::{App, Failure};

/// Batches that a stream may be behind before it has to begin anew.
const BEHIND: usize = 16;
/// The most events, and the most other changes, of one read. More than that are not sent one by one.
const MOST_READ: i64 = 2_000;
/// Objects of a topic in one batch; more are told as a change of the whole list.
const MOST_OBJECTS: usize = 200;
/// Least time between two batches: changes of an object meanwhile are told once.
const PACE: Duration = Duration::from_millis(250);
/// Time between two reads on a shared store, since other nodes do not say what they commit, and on an embedded one.
const SHARED_REST: Duration = Duration::from_millis(500);
const REST: Duration = Duration::from_secs(15);
/// Pause after a failed read. Nothing is lost by it: the next one begins at the same position.
const RETRY: Duration = Duration::from_secs(1);

/// What the streams of a workspace are told together.
#[derive(Debug)]
pub(super) enum Batch {
    /// What changed, and the position after it.
    Changes(Vec<Invalidation>, Position),
    /// What changed without a position: calls that ring write no event.
    Derived(Vec<Invalidation>),
    /// What is said in live calls.
    Deltas(Vec<Delta>),
    /// Counts of a mode.
    Counts(Counts),
    /// Nobody knows what changed before this position.
    Reset(Position),
    /// The reader has ended.
    Over,
}

/// News of a live call.
#[derive(Debug, Clone)]
pub(super) struct Delta {
    pub mode: Mode,
    pub call: Id<Call>,
    /// A guess of words, which is for those only who watch this call.
    pub partial: bool,
    pub data: Value,
}

/// Counts that members see beside the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub mode: Mode,
    pub live_calls: usize,
    pub waiting_chats: i64,
}

/// The streams of a node and their readers.
#[derive(Default)]
pub struct Hub {
    rooms: Mutex<HashMap<Tenant, Arc<Room>>>,
    /// Notified when changes without an event were committed.
    noted: Notify,
    /// Notified when sessions or members may have changed, and how often that was.
    access: Arc<Notify>,
    access_changes: AtomicU64,
    pub(super) sessions: Shares<String>,
    pub(super) members: Shares<(Tenant, Id<User>)>,
    pub(super) workspaces: Shares<Tenant>,
    pub(super) node: Shares<()>,
}

/// The reader of a workspace.
pub(super) struct Room {
    batches: broadcast::Sender<Arc<Batch>>,
    position: Mutex<Position>,
    /// Streams that watch live calls.
    live: AtomicUsize,
}

impl Room {
    /// Everything up to here was passed on.
    pub fn position(&self) -> Position {
        self.position.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Receives what is passed on from now on.
    pub fn receiver(&self) -> broadcast::Receiver<Arc<Batch>> {
        self.batches.subscribe()
    }

    pub fn watches_live(&self, by: bool) {
        match by {
            true => self.live.fetch_add(1, Ordering::AcqRel),
            false => self.live.fetch_sub(1, Ordering::AcqRel),
        };
    }

    /// Passes a batch on, and notes the position after it.
    fn pass_on(&self, batch: Option<Batch>, position: Position) {
        if let Some(batch) = batch {
            let _ = self.batches.send(Arc::new(batch));
        }
        *self.position.lock().unwrap_or_else(PoisonError::into_inner) = position;
    }

    fn tell(&self, batch: Batch) {
        let _ = self.batches.send(Arc::new(batch));
    }
}

impl Hub {
    /// That of this node.
    pub fn of(app: &App) -> Arc<Self> {
        app.state.of(Self::default)
    }

    /// Has all readers look at changes without an event.
    pub fn noted(&self) {
        self.noted.notify_waiters();
    }

    /// Has all streams check whether their members may still see them.
    pub fn access_changed(&self) {
        self.access_changes.fetch_add(1, Ordering::AcqRel);
        self.access.notify_waiters();
    }

    pub(super) fn access_changes(&self) -> u64 {
        self.access_changes.load(Ordering::Acquire)
    }

    pub(super) fn access(&self) -> Arc<Notify> {
        self.access.clone()
    }

    /// Streams that are open on this node.
    pub fn streams(&self) -> usize {
        self.node.taken(&())
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<Tenant, Arc<Room>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reader of a workspace, and its batches from now on. It is started for the first stream.
    pub(super) async fn enter(
        self: &Arc<Self>,
        app: &Arc<App>,
        tenant: Tenant,
    ) -> Result<(Arc<Room>, broadcast::Receiver<Arc<Batch>>), Failure> {
        let enter = |room: &Arc<Room>| (room.clone(), room.receiver());
        if let Some(found) = self.rooms().get(&tenant).map(enter) {
            return Ok(found);
        }
        let now = app.clock.now();
        let position = app.store.read(move |tx| changes::current(tx, now)).await?;
        let mut rooms = self.rooms();
        // Another stream may have started it meanwhile.
        if let Some(found) = rooms.get(&tenant).map(enter) {
            return Ok(found);
        }
        let (batches, receiver) = broadcast::channel(BEHIND);
        let room = Arc::new(Room { batches, position: Mutex::new(position), live: AtomicUsize::new(0) });
        rooms.insert(tenant, room.clone());
        drop(rooms);
        tokio::spawn(read(app.clone(), self.clone(), tenant, room.clone()));
        Ok((room, receiver))
    }

    /// Removes the room of a workspace when no stream subscribes to it any more. Returns true when it was removed.
    fn leave(&self, tenant: Tenant, room: &Room) -> bool {
        let mut rooms = self.rooms();
        let vacant = room.batches.receiver_count() == 0;
        if vacant {
            rooms.remove(&tenant);
        }
        vacant
    }
}

/// Ends the streams of a reader that ends for whatever reason.
struct Ending<'r>(&'r Hub, Tenant, &'r Room);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let Self(hub, tenant, room) = self;
        let mut rooms = hub.rooms();
        if rooms.get(tenant).is_some_and(|known| std::ptr::eq(&raw const **known, *room)) {
            rooms.remove(tenant);
        }
        drop(rooms);
        room.tell(Batch::Over);
    }
}

/// Reads a workspace for its streams until none is left, or the node stops.
async fn read(app: Arc<App>, hub: Arc<Hub>, tenant: Tenant, room: Arc<Room>) {
    let _ending = Ending(&hub, tenant, &room);
    let mut stopped = app.node.stopped();
    let (live, test) =
        (app.webhooks.readers.watch(tenant, Mode::Live), app.webhooks.readers.watch(tenant, Mode::Test));
    let mut looks = LiveLooks::new(&app, tenant);
    let rest = if app.store.shared() { SHARED_REST } else { REST };
    let mut next_read = Instant::now();
    loop {
        let began = Instant::now();
        let (live_bell, test_bell) = (live.bell(), test.bell());
        // Bells that ring from here on are heard, also while it reads.
        let (happened, tested, noted) = (live_bell.notified(), test_bell.notified(), hub.noted.notified());
        let said = looks.said();
        let said = said.notified();
        if began >= next_read {
            let read = read_once(&app, tenant, &room).await;
            next_read = Instant::now() + if read { rest } else { RETRY };
        }
        if room.live.load(Ordering::Acquire) > 0 {
            looks.look(&app, |batch| room.tell(batch)).await;
        }
        if hub.leave(tenant, &room) {
            return;
        }
        let until = looks
            .next()
            .filter(|_| room.live.load(Ordering::Acquire) > 0)
            .map_or(next_read, |at| at.min(next_read));
        tokio::select! {
            biased;
            () = stopped.wait() => return,
            () = happened => next_read = began,
            () = tested => next_read = began,
            () = noted => next_read = began,
            () = said => {}
            () = sleep_until(until) => {}
        }
        tokio::select! {
            biased;
            () = stopped.wait() => return,
            () = sleep_until(began + PACE) => {}
        }
    }
}

/// Reads what was committed since the last time and passes it on; `false` if the store could not be read.
async fn read_once(app: &App, tenant: Tenant, room: &Room) -> bool {
    let (from, now) = (room.position(), app.clock.now());
    let position = from.clone();
    let read = app.of(tenant).read(move |tx| match changes::since(tx, &from, now, MOST_READ)? {
        Some(changes) => Ok(Ok(changes)),
        None => Ok::<_, Failure>(Err(changes::current(tx.unbound(), now)?)),
    });
    match read.await {
        Ok(Ok(found)) => {
            let told = coalesced(found.rows.into_iter().flat_map(of_row));
            let batch = (!told.is_empty()).then(|| Batch::Changes(told, found.position.clone()));
            if batch.is_some() || found.position != position {
                room.pass_on(batch, found.position);
            }
            true
        }
        Ok(Err(current)) => {
            room.pass_on(Some(Batch::Reset(current.clone())), current);
            true
        }
        Err(failure) => {
            failure.warn("the changes of a workspace could not be read for its streams; trying again");
            false
        }
    }
}

/// Each object once, with its newest version; a topic with too many objects as a whole.
pub(super) fn coalesced(all: impl Iterator<Item = Invalidation>) -> Vec<Invalidation> {
    let mut newest: BTreeMap<(Topic, Option<Mode>), BTreeMap<Option<String>, domain::time::Timestamp>> =
        BTreeMap::new();
    for one in all {
        let objects = newest.entry((one.changed.topic, one.mode)).or_default();
        let version = objects.entry(one.changed.object).or_insert(one.version);
        *version = one.version.max(*version);
        if objects.len() > MOST_OBJECTS {
            let latest = objects.values().max().copied().unwrap_or(one.version);
            objects.clear();
            objects.insert(None, latest);
        }
    }
    let of_topic = |((topic, mode), objects): ((Topic, Option<Mode>), BTreeMap<_, _>)| {
        let of = move |(object, version)| Invalidation { changed: Changed { topic, object }, mode, version };
        objects.into_iter().map(of)
    };
    newest.into_iter().flat_map(of_topic).collect()
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    fn one(object: Option<usize>, version: i64) -> Invalidation {
        let object = object.map(|number| format!("call_{number:05}"));
        let changed = Changed { topic: Topic::Calls, object };
        Invalidation { changed, mode: Some(Mode::Live), version: Timestamp(version) }
    }

    #[test]
    fn an_object_is_told_once_with_its_newest_version() {
        let told =
            coalesced([one(Some(1), 5), one(Some(2), 6), one(Some(1), 9), one(Some(1), 7)].into_iter());
        assert_eq!(told, [one(Some(1), 9), one(Some(2), 6)]);
    }

    #[test]
    fn too_many_objects_are_a_list() {
        let many = (0..MOST_OBJECTS).map(|number| one(Some(number), number as i64));
        assert_eq!(coalesced(many).len(), MOST_OBJECTS);
        let more = (0..=MOST_OBJECTS).map(|number| one(Some(number), number as i64));
        assert_eq!(coalesced(more), [one(None, MOST_OBJECTS as i64)]);
    }
}

//! Long polling: requests that wait for events.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::tenant::{Mode, Tenant};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio::sync::Notify;

/// Readers of one mode of a workspace that may wait on a node at once.
pub const MAX_READERS: usize = 32;

/// Clients that wait for events on this node, by workspace and mode: a commit wakes only the readers of its own
/// workspace and mode.
#[derive(Default)]
pub struct Readers {
    rooms: Mutex<HashMap<(Tenant, Mode), Room>>,
    /// Readers in all rooms, so that a commit without readers takes no lock.
    waiting: AtomicUsize,
    looks: Counter,
}

#[derive(Default)]
struct Room {
    bell: Arc<Notify>,
    readers: usize,
    watchers: usize,
}

impl Readers {
    /// None yet; their metrics are in the registry.
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

    /// Counts a query of the outbox.
    pub fn looked(&self) {
        self.looks.inc();
    }

    /// Wakes the readers of one mode of a workspace.
    pub fn announce(&self, tenant: Tenant, mode: Mode) {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        if let Some(room) = self.rooms().get(&(tenant, mode)) {
            room.bell.notify_waiters();
        }
    }

    /// How many wait in one mode of a workspace.
    pub fn waiting_of(&self, tenant: Tenant, mode: Mode) -> usize {
        self.rooms().get(&(tenant, mode)).map_or(0, |room| room.readers)
    }

    /// A place for a reader, released on drop; `None` when all are taken.
    pub fn enter(&self, tenant: Tenant, mode: Mode) -> Option<Reader<'_>> {
        let mut rooms = self.rooms();
        let room = rooms.entry((tenant, mode)).or_default();
        if room.readers >= MAX_READERS {
            return None;
        }
        room.readers += 1;
        self.waiting.fetch_add(1, Ordering::AcqRel);
        Some(Reader { readers: self, room: (tenant, mode), bell: room.bell.clone(), watches: false })
    }

    /// A reader of the node itself, of which a workspace has one: it is notified like the others and takes none of their
    /// places.
    pub fn watch(&self, tenant: Tenant, mode: Mode) -> Reader<'_> {
        let mut rooms = self.rooms();
        let room = rooms.entry((tenant, mode)).or_default();
        room.watchers += 1;
        self.waiting.fetch_add(1, Ordering::AcqRel);
        Reader { readers: self, room: (tenant, mode), bell: room.bell.clone(), watches: true }
    }
}

/// A request that waits for events.
pub struct Reader<'r> {
    readers: &'r Readers,
    room: (Tenant, Mode),
    bell: Arc<Notify>,
    watches: bool,
}

impl Reader<'_> {
    /// Notified when there is an event to read.
    pub fn bell(&self) -> Arc<Notify> {
        self.bell.clone()
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut rooms = self.readers.rooms();
        self.readers.waiting.fetch_sub(1, Ordering::AcqRel);
        if let Some(room) = rooms.get_mut(&self.room) {
            let count = if self.watches { &mut room.watchers } else { &mut room.readers };
            *count -= 1;
            if room.readers == 0 && room.watchers == 0 {
                rooms.remove(&self.room);
            }
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
        let watcher = readers.watch(tenant, Mode::Test);
        drop(full);
        assert!(readers.enter(tenant, Mode::Test).is_some());
        assert_eq!(readers.rooms().len(), 1, "the watcher is there");
        drop(watcher);
        assert!(
            readers.rooms().is_empty() && readers.waiting.load(Ordering::Acquire) == 0,
            "nothing is left of those who went"
        );
    }
}

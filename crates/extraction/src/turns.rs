//! Fair queue for extraction. Workspaces are served round-robin, and each has one reader at a time, so that one that
//! sends much makes the others wait no longer than for the document being read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::tenant::Tenant;
use tokio::sync::oneshot;

/// Concurrent extractions.
pub const AT_ONCE: usize = 2;
/// Limits of running and queued extractions: in all, of one workspace, and their bytes together.
pub const MAX_WAITING: usize = 32;
pub const MAX_WAITING_OF_ONE: usize = 8;
pub const MAX_WAITING_BYTES: usize = 16 * crate::MAX_BYTES;

/// Who has, and who waits for, a reader.
#[derive(Debug, Default)]
pub struct Turns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    tenants: HashMap<Tenant, Queue>,
    /// Those that wait and have no reader, in order.
    ready: VecDeque<Tenant>,
    running: usize,
    places: usize,
    bytes: usize,
    last: u64,
}

#[derive(Debug, Default)]
struct Queue {
    running: Option<u64>,
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// A place in the queue, or a reader; released on drop.
#[derive(Debug)]
pub struct Place {
    turns: Arc<Turns>,
    tenant: Tenant,
    number: u64,
    bytes: usize,
    turn: Option<oneshot::Receiver<()>>,
}

impl Turns {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in between panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a document of this many bytes; `None` where there is no room.
    pub fn take(self: &Arc<Self>, tenant: Tenant, bytes: usize) -> Option<Place> {
        let mut state = self.state();
        let of_one = state
            .tenants
            .get(&tenant)
            .map_or(0, |queue| queue.waiting.len() + usize::from(queue.running.is_some()));
        if of_one >= MAX_WAITING_OF_ONE
            || state.places >= MAX_WAITING
            || state.bytes.saturating_add(bytes) > MAX_WAITING_BYTES
        {
            return None;
        }
        state.places += 1;
        state.bytes += bytes;
        state.last += 1;
        let number = state.last;
        let (sender, turn) = oneshot::channel();
        let queue = state.tenants.entry(tenant).or_default();
        queue.waiting.push_back((number, sender));
        if queue.running.is_none() && queue.waiting.len() == 1 {
            state.ready.push_back(tenant);
        }
        state.next();
        drop(state);
        Some(Place { turns: self.clone(), tenant, number, bytes, turn: Some(turn) })
    }
}

impl State {
    /// Assigns free readers to the next in the queue.
    fn next(&mut self) {
        while self.running < AT_ONCE {
            let Some(tenant) = self.ready.pop_front() else { return };
            let Some(queue) = self.tenants.get_mut(&tenant) else { continue };
            let Some((number, sender)) = queue.waiting.pop_front() else { continue };
            queue.running = Some(number);
            self.running += 1;
            // One that is gone releases its reader when its place is dropped.
            let _ = sender.send(());
        }
    }

    fn leave(&mut self, tenant: Tenant, number: u64, bytes: usize) {
        self.places -= 1;
        self.bytes -= bytes;
        let Some(queue) = self.tenants.get_mut(&tenant) else { return };
        if queue.running == Some(number) {
            queue.running = None;
            self.running -= 1;
            if !queue.waiting.is_empty() {
                self.ready.push_back(tenant);
            }
        } else {
            queue.waiting.retain(|(waiting, _)| *waiting != number);
            if queue.waiting.is_empty() {
                self.ready.retain(|ready| *ready != tenant);
            }
        }
        if queue.running.is_none() && queue.waiting.is_empty() {
            self.tenants.remove(&tenant);
        }
        self.next();
    }
}

impl Place {
    /// Waits until there is a reader for it.
    pub async fn turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            // The other half is kept until the reader is assigned.
            let _ = turn.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.turns.state().leave(self.tenant, self.number, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn tenants() -> [Tenant; 3] {
        [1_u128, 2, 3].map(Tenant::from_bits)
    }

    /// Whether a place has its reader.
    fn has_reader(place: &mut Place) -> bool {
        let Some(turn) = &mut place.turn else { return true };
        let come = matches!(pin!(turn).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())));
        if come {
            place.turn = None;
        }
        come
    }

    #[test]
    fn workspaces_take_turns_with_one_reader_each() {
        let turns = Arc::new(Turns::default());
        let [greedy, other, third] = tenants();
        let mut many: Vec<Place> = (0..4).map(|_| turns.take(greedy, 1).unwrap()).collect();
        let read: Vec<bool> = many.iter_mut().map(has_reader).collect();
        assert_eq!(read, [true, false, false, false], "one at a time");
        let mut one = turns.take(other, 1).unwrap();
        assert!(has_reader(&mut one), "the other reader is free for others");
        let mut late = turns.take(third, 1).unwrap();
        let mut more = turns.take(other, 1).unwrap();
        assert!(!has_reader(&mut late) && !has_reader(&mut more));
        drop(many.remove(0));
        assert!(has_reader(&mut late), "it waits for nothing but what was being read");
        assert!(!has_reader(&mut many[0]));
        drop(one);
        assert!(has_reader(&mut many[0]) && !has_reader(&mut more), "those that waited longer come first");
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let turns = Arc::new(Turns::default());
        let [one, other, _] = tenants();
        let mut places: Vec<Place> = (0..3).map(|_| turns.take(one, 5).unwrap()).collect();
        places.push(turns.take(other, 5).unwrap());
        // A waiting one first, then one that was assigned without waiting.
        drop(places.remove(1));
        drop(places.remove(0));
        assert!(has_reader(&mut places[0]));
        places.clear();
        let state = turns.state();
        assert!(state.tenants.is_empty() && state.ready.is_empty());
        assert_eq!((state.running, state.places, state.bytes), (0, 0, 0));
    }

    #[test]
    fn one_workspace_does_not_fill_the_queue() {
        let turns = Arc::new(Turns::default());
        let [greedy, other, third] = tenants();
        let full: Vec<Place> = (0..MAX_WAITING_OF_ONE).map(|_| turns.take(greedy, 1).unwrap()).collect();
        assert!(turns.take(greedy, 1).is_none());
        let large = turns.take(other, MAX_WAITING_BYTES - full.len()).unwrap();
        assert!(turns.take(third, 1).is_none(), "no room for more bytes");
        drop(large);
        assert!(turns.take(third, 1).is_some());
        let _rest: Vec<Place> =
            (10..34_u128).map(|tenant| turns.take(Tenant::from_bits(tenant), 1).unwrap()).collect();
        assert!(turns.take(third, 1).is_none(), "no room for more");
    }
}

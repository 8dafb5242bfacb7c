//! The queue of closures that may share a transaction (group commit).

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Closures that must be queued before a second transaction begins beside one in flight. Without this bound the next
/// closure would get a transaction to itself, and the server would have nearly as many transactions as closures.
const MIN_BESIDE: usize = 32;
/// How long a transaction waits for as many closures as the previous one had. Clients that are answered together send
/// their next requests within a moment, and the first of them would get a transaction to itself. While other nodes use
/// the same cores, that moment is longer (`docs/performance.md`, Nodes on PostgreSQL).
const LINGER: Duration = Duration::from_millis(5);

/// The queued closures, and the number of transactions in flight.
pub(super) struct WriteQueue<G> {
    state: Mutex<State<G>>,
    changed: Condvar,
    capacity: usize,
}

struct State<G> {
    queued: VecDeque<G>,
    in_flight: usize,
    closed: bool,
    /// Closures of the last transaction.
    last: usize,
}

/// The producer's handle: dropping it closes the queue.
pub(super) struct WriteQueueHandle<G>(pub(super) Arc<WriteQueue<G>>);

impl<G> Drop for WriteQueueHandle<G> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A transaction in flight; it is over when this is dropped.
pub(super) struct InFlight<'a, G>(&'a WriteQueue<G>);

impl<G> Drop for InFlight<'_, G> {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
        self.0.changed.notify_all();
    }
}

impl<G> State<G> {
    /// Whether a transaction of at most `most` closures begins now. Beside another one it needs [`MIN_BESIDE`] closures;
    /// otherwise as many as the previous one had, or one if it is `late` or the queue is closed.
    fn begins(&self, most: usize, late: bool) -> bool {
        let wanted = match self.in_flight {
            0 if late || self.closed => 1,
            0 => self.last.clamp(1, most),
            _ => MIN_BESIDE,
        };
        self.queued.len() >= wanted
    }
}

impl<G> WriteQueue<G> {
    /// A queue of this capacity.
    pub(super) fn new(capacity: usize) -> Self {
        let state = State { queued: VecDeque::new(), in_flight: 0, closed: false, last: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new(), capacity }
    }

    fn lock(&self) -> MutexGuard<'_, State<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a closure; returns `false` if the queue is full or closed. `pushed` runs before a consumer can take it.
    pub(super) fn push(&self, write: G, pushed: impl FnOnce()) -> bool {
        let mut state = self.lock();
        if state.queued.len() >= self.capacity || state.closed {
            return false;
        }
        state.queued.push_back(write);
        pushed();
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Waits for the closures of the next transaction, at most `most`. `None` once the queue is closed and empty.
    pub(super) fn next(&self, most: usize) -> Option<(Vec<G>, InFlight<'_, G>)> {
        let (mut state, mut until) = (self.lock(), None);
        loop {
            let late = until.is_some_and(|until| Instant::now() >= until);
            let count = state.queued.len();
            if state.begins(most, late) {
                state.in_flight += 1;
                let writes: Vec<G> = state.queued.drain(..count.min(most)).collect();
                state.last = writes.len();
                return Some((writes, InFlight(self)));
            }
            if count == 0 && state.closed {
                return None;
            }
            if count > 0 && state.in_flight == 0 {
                until.get_or_insert_with(|| Instant::now() + LINGER);
                let waited = self.changed.wait_timeout(state, LINGER);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                until = None;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Refuses further closures.
    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queue: &WriteQueue<usize>, write: usize) -> bool {
        queue.push(write, || ())
    }

    #[test]
    fn a_transaction_begins_when_it_is_worth_it_and_never_later_than_it_must() {
        // Queued, transactions in flight, closures of the previous one, closed, late; whether one begins.
        let rows = [
            (0, 0, 0, false, false, false),
            (0, 0, 8, false, true, false),
            (0, 0, 8, true, true, false),
            (1, 0, 0, false, false, true),
            (1, 0, 1, false, false, true),
            (1, 0, 4, false, false, false),
            (3, 0, 4, false, false, false),
            (4, 0, 4, false, false, true),
            (5, 0, 4, false, false, true),
            (1, 0, 4, false, true, true),
            (1, 0, 4, true, false, true),
            (9, 0, 40, false, false, false),
            (10, 0, 40, false, false, true),
            (MIN_BESIDE - 1, 1, 1, false, true, false),
            (MIN_BESIDE - 1, 1, 1, true, true, false),
            (MIN_BESIDE, 1, 40, false, false, true),
        ];
        for (queued, in_flight, last, closed, late, begins) in rows {
            let queued = (0..queued).collect();
            let state = State { queued, in_flight, closed, last };
            let row = (state.queued.len(), in_flight, last, closed, late);
            assert_eq!(state.begins(10, late), begins, "{row:?}");
        }
    }

    #[test]
    fn a_second_transaction_waits_until_it_is_worth_it() {
        let queue = WriteQueue::new(100);
        assert!(push(&queue, 0));
        let (first, in_flight) = queue.next(8).expect("one waits");
        assert_eq!(first, [0]);
        for number in 1..=MIN_BESIDE {
            assert!(push(&queue, number));
        }
        let (second, beside) = queue.next(8).expect("enough wait");
        assert_eq!(second.len(), 8);
        drop((in_flight, beside));
        let (rest, _turn) = queue.next(100).expect("the others wait");
        assert_eq!(rest.len(), MIN_BESIDE - 8);
    }

    #[test]
    fn a_lone_closure_waits_for_the_transaction_before_it() {
        let queue = Arc::new(WriteQueue::new(100));
        assert!(push(&queue, 1));
        let (_, in_flight) = queue.next(8).expect("one waits");
        assert!(push(&queue, 2));
        let other = queue.clone();
        let next = std::thread::spawn(move || other.next(8).map(|(writes, _)| writes));
        assert_eq!(queue.lock().in_flight, 1);
        drop(in_flight);
        assert_eq!(next.join().expect("no panic"), Some(vec![2]));
    }

    #[test]
    fn a_full_queue_refuses_and_a_closed_one_is_drained() {
        let queue = WriteQueue::new(1);
        assert!(push(&queue, 1));
        assert!(!push(&queue, 2));
        queue.close();
        assert_eq!(queue.next(8).map(|(writes, _)| writes), Some(vec![1]));
        assert!(!push(&queue, 3));
        assert!(queue.next(8).is_none());
    }
}

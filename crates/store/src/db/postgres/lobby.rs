//! Where closures wait that may share a transaction.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Closures that must wait before a second transaction begins beside one that is under way. Without this bound the first
/// closure that comes would get a transaction to itself, and the server would have nearly as many transactions as closures.
const ENOUGH: usize = 32;
/// How long a transaction waits until it has as many closures as the one before it. Clients that are answered together ask
/// again within a moment, and the first of them would get a transaction to itself. While other nodes
/// use the same cores, that moment is longer (`docs/performance.md`, Nodes on PostgreSQL).
const LINGER: Duration = Duration::from_millis(5);

/// Those who wait, and how many transactions are under way.
pub(super) struct Lobby<G> {
    state: Mutex<State<G>>,
    changed: Condvar,
    room: usize,
}

struct State<G> {
    waiting: VecDeque<G>,
    working: usize,
    closed: bool,
    /// Closures of the transaction that began last.
    last: usize,
}

/// The way in. The lobby is closed when it is gone.
pub(super) struct Door<G>(pub(super) Arc<Lobby<G>>);

impl<G> Drop for Door<G> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A transaction is under way as long as this lives.
pub(super) struct Turn<'a, G>(&'a Lobby<G>);

impl<G> Drop for Turn<'_, G> {
    fn drop(&mut self) {
        self.0.lock().working -= 1;
        self.0.changed.notify_all();
    }
}

impl<G> State<G> {
    /// Whether a transaction of at most `most` closures begins now. Beside another one, [`ENOUGH`] must wait. Otherwise
    /// as many as in the one before must wait; when it is `late`, or the lobby is closed, one is enough.
    fn begins(&self, most: usize, late: bool) -> bool {
        let wanted = match self.working {
            0 if late || self.closed => 1,
            0 => self.last.clamp(1, most),
            _ => ENOUGH,
        };
        self.waiting.len() >= wanted
    }
}

impl<G> Lobby<G> {
    /// A lobby in which so many may wait.
    pub(super) fn new(room: usize) -> Self {
        let state = State { waiting: VecDeque::new(), working: 0, closed: false, last: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new(), room }
    }

    fn lock(&self) -> MutexGuard<'_, State<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was room for it. `admitted` runs before anybody can take it from here.
    pub(super) fn admit(&self, guest: G, admitted: impl FnOnce()) -> bool {
        let mut state = self.lock();
        if state.waiting.len() >= self.room || state.closed {
            return false;
        }
        state.waiting.push_back(guest);
        admitted();
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Waits for those of the next transaction, `most` at most. `None` once the lobby is closed and empty.
    pub(super) fn next(&self, most: usize) -> Option<(Vec<G>, Turn<'_, G>)> {
        let (mut state, mut until) = (self.lock(), None);
        loop {
            let late = until.is_some_and(|until| Instant::now() >= until);
            let count = state.waiting.len();
            if state.begins(most, late) {
                state.working += 1;
                let guests: Vec<G> = state.waiting.drain(..count.min(most)).collect();
                state.last = guests.len();
                return Some((guests, Turn(self)));
            }
            if count == 0 && state.closed {
                return None;
            }
            if count > 0 && state.working == 0 {
                until.get_or_insert_with(|| Instant::now() + LINGER);
                let waited = self.changed.wait_timeout(state, LINGER);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                until = None;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Nobody comes any more.
    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(lobby: &Lobby<usize>, guest: usize) -> bool {
        lobby.admit(guest, || ())
    }

    #[test]
    fn a_transaction_begins_when_it_is_worth_it_and_never_later_than_it_must() {
        // Who waits, transactions under way, closures of the one before, closed, late; whether one begins.
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
            (ENOUGH - 1, 1, 1, false, true, false),
            (ENOUGH - 1, 1, 1, true, true, false),
            (ENOUGH, 1, 40, false, false, true),
        ];
        for (waiting, working, last, closed, late, begins) in rows {
            let waiting = (0..waiting).collect();
            let state = State { waiting, working, closed, last };
            let row = (state.waiting.len(), working, last, closed, late);
            assert_eq!(state.begins(10, late), begins, "{row:?}");
        }
    }

    #[test]
    fn a_second_transaction_waits_until_it_is_worth_it() {
        let lobby = Lobby::new(100);
        assert!(admit(&lobby, 0));
        let (first, turn) = lobby.next(8).expect("one waits");
        assert_eq!(first, [0]);
        for number in 1..=ENOUGH {
            assert!(admit(&lobby, number));
        }
        let (second, beside) = lobby.next(8).expect("enough wait");
        assert_eq!(second.len(), 8);
        drop((turn, beside));
        let (rest, _turn) = lobby.next(100).expect("the others wait");
        assert_eq!(rest.len(), ENOUGH - 8);
    }

    #[test]
    fn a_lone_closure_waits_for_the_transaction_before_it() {
        let lobby = Arc::new(Lobby::new(100));
        assert!(admit(&lobby, 1));
        let (_, turn) = lobby.next(8).expect("one waits");
        assert!(admit(&lobby, 2));
        let other = lobby.clone();
        let next = std::thread::spawn(move || other.next(8).map(|(guests, _)| guests));
        assert_eq!(lobby.lock().working, 1);
        drop(turn);
        assert_eq!(next.join().expect("no panic"), Some(vec![2]));
    }

    #[test]
    fn a_full_lobby_takes_nobody_and_a_closed_one_is_emptied() {
        let lobby = Lobby::new(1);
        assert!(admit(&lobby, 1));
        assert!(!admit(&lobby, 2));
        lobby.close();
        assert_eq!(lobby.next(8).map(|(guests, _)| guests), Some(vec![1]));
        assert!(!admit(&lobby, 3));
        assert!(lobby.next(8).is_none());
    }
}

//! A fair semaphore for expensive work: a bounded number of permits for each client, and in all. Requests beyond it
//! wait in order; no client has more places in the common queue than it has permits of its own.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of each client: how many are free, and how many are held or waited for.
type Queues<K> = Arc<Mutex<HashMap<K, (Arc<Semaphore>, usize)>>>;

/// Permits of each client, and of all.
pub struct Turns<K> {
    each: usize,
    all: Arc<Semaphore>,
    own: Queues<K>,
}

impl<K: Eq + Hash + Clone> Turns<K> {
    /// `each` permits for each client, `all` in total.
    pub fn new(each: usize, all: usize) -> Self {
        Self { each, all: Arc::new(Semaphore::new(all)), own: Arc::default() }
    }

    /// Waits for a permit, for at most this real time; `None` if there was none.
    pub async fn take(&self, whom: K, patience: Duration) -> Option<Turn<K>> {
        let place = Place::new(&self.own, whom, self.each);
        let waiting = async {
            let own = place.queue.clone().acquire_owned().await.ok()?;
            Some((own, self.all.clone().acquire_owned().await.ok()?))
        };
        let (own, all) = tokio::time::timeout(patience, waiting).await.ok().flatten()?;
        Some(Turn { _all: all, _own: own, _place: place })
    }

    /// How many permits are held or waited for by `whom`.
    pub fn present(&self, whom: &K) -> usize {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).get(whom).map_or(0, |(_, present)| *present)
    }
}

/// A permit, released on drop.
pub struct Turn<K: Eq + Hash> {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    _place: Place<K>,
}

/// The queue of one client, removed when it is empty.
struct Place<K: Eq + Hash> {
    whom: K,
    queue: Arc<Semaphore>,
    queues: Queues<K>,
}

impl<K: Eq + Hash + Clone> Place<K> {
    fn new(queues: &Queues<K>, whom: K, each: usize) -> Self {
        let mut known = queues.lock().unwrap_or_else(PoisonError::into_inner);
        let (queue, present) =
            known.entry(whom.clone()).or_insert_with(|| (Arc::new(Semaphore::new(each)), 0));
        *present += 1;
        Self { whom, queue: queue.clone(), queues: queues.clone() }
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let mut known = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, present)) = known.get_mut(&self.whom) {
            *present -= 1;
            if *present == 0 {
                known.remove(&self.whom);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn turns_are_taken_in_order_and_nobody_has_those_of_all() {
        let turns = Arc::new(Turns::new(2, 3));
        let first = turns.take("a", PATIENCE).await.expect("a turn");
        let second = turns.take("a", PATIENCE).await.expect("a turn");
        assert!(turns.take("a", PATIENCE).await.is_none(), "a has two");
        let other = turns.take("b", PATIENCE).await.expect("one of three is left");
        assert!(turns.take("c", PATIENCE).await.is_none(), "three are taken");
        assert_eq!((turns.present(&"a"), turns.present(&"c")), (2, 0));
        // Ten of a wait before c comes, and c is served before most of them.
        let order = Arc::new(Mutex::new(Vec::new()));
        let wait = |whom: &'static str| {
            let (turns, order) = (turns.clone(), order.clone());
            tokio::spawn(async move {
                let turn = turns.take(whom, PATIENCE).await.expect("a turn");
                order.lock().unwrap().push(whom);
                drop(turn);
            })
        };
        let mut waiting: Vec<_> = (0..10).map(|_| wait("a")).collect();
        while turns.present(&"a") < 12 {
            tokio::task::yield_now().await;
        }
        waiting.push(wait("c"));
        while turns.present(&"c") < 1 {
            tokio::task::yield_now().await;
        }
        drop((first, second, other));
        for task in waiting {
            task.await.expect("served");
        }
        let order = order.lock().unwrap();
        let place = order.iter().position(|whom| *whom == "c").expect("c was served");
        assert!(place <= 3, "{order:?}");
        assert!(turns.own.lock().unwrap().is_empty(), "nothing is remembered of who has nothing");
    }
}

//! Counted shares of what is bounded: connections of an address, bodies of a client, streams of a workspace.
//! A share is given back when it is dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// How much of something is taken, by whom.
pub struct Shares<K>(Arc<Mutex<HashMap<K, usize>>>);

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// Takes `amount` for `whom`; none when that would be more than `most` in all.
    pub fn take(&self, whom: K, amount: usize, most: usize) -> Option<Share<K>> {
        let mut share = self.nothing(whom);
        share.grow(amount, most).then_some(share)
    }

    /// A share of nothing, to grow.
    pub fn nothing(&self, whom: K) -> Share<K> {
        Share { whom, amount: 0, all: self.0.clone() }
    }

    /// How much is taken for `whom`.
    pub fn taken(&self, whom: &K) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(whom).copied().unwrap_or(0)
    }
}

/// A share that was taken.
pub struct Share<K: Eq + Hash> {
    whom: K,
    amount: usize,
    all: Arc<Mutex<HashMap<K, usize>>>,
}

impl<K: Eq + Hash + Clone> Share<K> {
    /// Takes `amount` more; returns `false`, and takes nothing, when that would be more than `most` in all.
    pub fn grow(&mut self, amount: usize, most: usize) -> bool {
        self.grown(amount, most).is_some()
    }

    /// The same; how much is taken for the holder in all then.
    pub fn grown(&mut self, amount: usize, most: usize) -> Option<usize> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = all.get(&self.whom).copied().unwrap_or(0).saturating_add(amount);
        if taken > most {
            return None;
        }
        if amount > 0 {
            all.insert(self.whom.clone(), taken);
            self.amount += amount;
        }
        Some(taken)
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = all.get_mut(&self.whom) {
            *taken = taken.saturating_sub(self.amount);
            if *taken == 0 {
                all.remove(&self.whom);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let shares = Shares::default();
        let mut first = shares.take("a", 3, 5).unwrap();
        assert!(shares.take("a", 3, 5).is_none() && !first.grow(3, 5) && first.grow(2, 5));
        assert!(shares.take("b", 5, 5).is_some());
        assert_eq!(shares.taken(&"a"), 5);
        drop(first);
        assert!(shares.0.lock().unwrap().is_empty(), "nothing is remembered of who has nothing");
    }
}

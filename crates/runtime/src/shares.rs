//! Bounded shares: connections of an address, bodies of a client, streams of a workspace. A share is released when it
//! is dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::metrics::gauge::Gauge;

/// How much is taken, by owner.
pub struct Shares<K>(Arc<Mutex<HashMap<K, usize>>>);

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// Takes `amount` for `whom`; `None` when the total for it would exceed `most`.
    pub fn take(&self, whom: K, amount: usize, most: usize) -> Option<Share<K>> {
        let mut share = self.nothing(whom);
        share.grow(amount, most).then_some(share)
    }

    /// A share of zero, which can grow.
    pub fn nothing(&self, whom: K) -> Share<K> {
        Share { whom, amount: 0, all: self.0.clone() }
    }

    /// How much is taken for `whom`.
    pub fn taken(&self, whom: &K) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(whom).copied().unwrap_or(0)
    }
}

/// A share.
pub struct Share<K: Eq + Hash> {
    whom: K,
    amount: usize,
    all: Arc<Mutex<HashMap<K, usize>>>,
}

impl<K: Eq + Hash + Clone> Share<K> {
    /// Takes `amount` more; returns `false`, and takes nothing, when the total would exceed `most`.
    pub fn grow(&mut self, amount: usize, most: usize) -> bool {
        self.grown(amount, most).is_some()
    }

    /// The same; returns the total of the owner.
    fn grown(&mut self, amount: usize, most: usize) -> Option<usize> {
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

impl<K: Eq + Hash> Share<K> {
    /// Releases `amount` of it.
    fn shrink(&mut self, amount: usize) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = all.get_mut(&self.whom) {
            *taken = taken.saturating_sub(amount);
            if *taken == 0 {
                all.remove(&self.whom);
            }
        }
        self.amount = self.amount.saturating_sub(amount);
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        self.shrink(self.amount);
    }
}

/// Bytes in use that are bounded for each owner and in all: of bodies, of answers, of deliveries being sent.
pub struct Bounded<K> {
    own: Shares<K>,
    all: Shares<()>,
    bounds: Bounds,
    figure: Gauge,
}

/// The bound for all together, and the part of it that is guaranteed to each owner.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Most bytes of all.
    pub all: usize,
    /// Bytes guaranteed to each owner even when the total is used up.
    pub kept: usize,
}

/// Which bound more bytes would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The owner's, of this many bytes.
    Own(usize),
    All,
}

impl<K: Eq + Hash + Clone> Bounded<K> {
    /// Nothing is taken; `figure` exports the total.
    pub fn new(bounds: Bounds, figure: Gauge) -> Self {
        Self { own: Shares::default(), all: Shares::default(), bounds, figure }
    }

    /// Nothing yet for `whom`, who may take `most` bytes at a time.
    pub fn nothing(&self, whom: K, most: usize) -> Taken<K> {
        Taken {
            own: self.own.nothing(whom),
            all: self.all.nothing(()),
            most,
            bounds: self.bounds,
            figure: self.figure.clone(),
        }
    }

    /// How much is taken in all.
    pub fn taken(&self) -> usize {
        self.all.taken(&())
    }

    /// How much is taken for `whom`.
    pub fn taken_by(&self, whom: &K) -> usize {
        self.own.taken(whom)
    }
}

/// Bytes taken of the bounds, released on drop.
pub struct Taken<K: Eq + Hash> {
    own: Share<K>,
    all: Share<()>,
    most: usize,
    bounds: Bounds,
    figure: Gauge,
}

impl<K: Eq + Hash + Clone> Taken<K> {
    /// Takes this many more bytes.
    ///
    /// # Errors
    /// A bound would be exceeded; nothing more is taken then.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Full> {
        let bounds = (self.most, self.bounds.all);
        self.take(bytes, bounds)
    }

    /// Takes this many more bytes even beyond the bounds: the bytes are already in memory.
    pub fn grow_anyway(&mut self, bytes: usize) {
        // These bounds are never exceeded.
        let _ = self.take(bytes, (usize::MAX, usize::MAX));
    }

    fn take(&mut self, bytes: usize, (own, all): (usize, usize)) -> Result<(), Full> {
        let taken = self.own.grown(bytes, own).ok_or(Full::Own(own))?;
        let all = if taken <= self.bounds.kept { usize::MAX } else { all };
        if !self.all.grow(bytes, all) {
            self.own.shrink(bytes);
            return Err(Full::All);
        }
        self.figure.inc_by(as_figure(bytes));
        Ok(())
    }

    /// Changes the owner's bound to `most` bytes.
    pub fn allow(&mut self, most: usize) {
        self.most = most;
    }

    /// How many bytes are taken.
    pub fn bytes(&self) -> usize {
        self.own.amount
    }
}

impl<K: Eq + Hash> Drop for Taken<K> {
    fn drop(&mut self) {
        self.figure.dec_by(as_figure(self.own.amount));
    }
}

fn as_figure(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
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

    #[test]
    fn each_has_a_part_that_nobody_else_can_take() {
        let figure = Gauge::default();
        let bounded = Bounded::new(Bounds { all: 10, kept: 2 }, figure.clone());
        let mut greedy = bounded.nothing("greedy", 8);
        assert_eq!((greedy.grow(9), greedy.grow(8)), (Err(Full::Own(8)), Ok(())));
        let mut other = bounded.nothing("other", 8);
        assert_eq!((other.grow(3), other.bytes()), (Err(Full::All), 0));
        assert_eq!((other.grow(2), other.grow(1)), (Ok(()), Err(Full::All)));
        let mut third = bounded.nothing("third", 8);
        assert_eq!(third.grow(2), Ok(()), "what is kept for it, beyond what all may take");
        greedy.grow_anyway(20);
        assert_eq!((bounded.taken_by(&"greedy"), bounded.taken(), figure.get()), (28, 32, 32));
        drop((greedy, other));
        third.allow(1);
        assert_eq!((third.grow(1), bounded.taken(), figure.get()), (Err(Full::Own(1)), 2, 2));
    }
}

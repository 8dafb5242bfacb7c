//! New ids: time-ordered, and monotonic within this process.

use std::sync::{Mutex, PoisonError};

use domain::ids::{Id, Kind};
use ring::rand::{SecureRandom, SystemRandom};

use crate::clock::Clock;

const RANDOM_BITS: u32 = 74;
/// Largest correction of the clock, milliseconds, after which dated ids still grow.
const CORRECTED: i64 = 2_000;

/// Generates ids from the clock and randomness.
pub struct Ids {
    clock: Clock,
    fill: Box<dyn Fn(&mut [u8]) + Send + Sync>,
    made: Mutex<Made>,
}

/// Random bytes fetched at once: the system call costs more than the rest of an id.
const FETCHED: usize = 1024;
const NUMBER: usize = size_of::<u128>();

struct Made {
    /// The newest id of the monotonic series, and of the dated series.
    growing: Last,
    dated: Last,
    random: [u8; FETCHED],
    used: usize,
}

/// The newest id of a series.
struct Last {
    at: i64,
    number: u128,
}

impl Last {
    /// The next id at this time, or at that of the previous one if it is later.
    fn after<K: Kind>(&mut self, now: i64, fresh: u128) -> Id<K> {
        if now > self.at {
            // The top bit stays free for the ids that follow in the same millisecond.
            (self.at, self.number) = (now, fresh & ((1 << (RANDOM_BITS - 1)) - 1));
        } else {
            self.number = (self.number + 1 + (fresh & 0xFFFF_FFFF)) & ((1 << RANDOM_BITS) - 1);
        }
        Id::new(self.at, self.number)
    }
}

impl Made {
    fn fresh(&mut self, fill: &dyn Fn(&mut [u8])) -> u128 {
        if self.used >= FETCHED {
            fill(&mut self.random);
            self.used = 0;
        }
        let mut bytes = [0u8; NUMBER];
        bytes.copy_from_slice(&self.random[self.used..self.used + NUMBER]);
        self.used += NUMBER;
        u128::from_be_bytes(bytes)
    }
}

impl Ids {
    /// Ids from this clock and the system's randomness.
    pub fn new(clock: Clock) -> Self {
        let random = SystemRandom::new();
        // Without system randomness nothing here is safe; the counter still keeps ids unique.
        Self::with(clock, move |bytes| random.fill(bytes).unwrap_or(()))
    }

    /// Ids from this clock and this source of randomness.
    pub fn with(clock: Clock, fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self {
            clock,
            fill: Box::new(fill),
            made: Mutex::new(Made {
                growing: Last { at: 0, number: 0 },
                dated: Last { at: 0, number: 0 },
                random: [0; FETCHED],
                used: FETCHED,
            }),
        }
    }

    /// A new id, greater than every one made before it in this process.
    pub fn make<K: Kind>(&self) -> Id<K> {
        let now = self.clock.now().0;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = made.fresh(&*self.fill);
        made.growing.after(now, fresh)
    }

    /// A new id whose time part is the current time. It is greater than every earlier one made so, unless the clock was
    /// set back: then it goes back, too.
    pub fn dated<K: Kind>(&self) -> Id<K> {
        let now = self.clock.now().0;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = made.fresh(&*self.fill);
        if now < made.dated.at.saturating_sub(CORRECTED) {
            made.dated = Last { at: 0, number: 0 };
        }
        made.dated.after(now, fresh)
    }

    pub fn random_number(&self) -> u32 {
        let mut bytes = [0u8; 4];
        (self.fill)(&mut bytes);
        u32::from_be_bytes(bytes)
    }

    /// Random text of `length` characters out of 32.
    pub fn random_text(&self, length: usize) -> String {
        let mut bytes = vec![0u8; length];
        (self.fill)(&mut bytes);
        bytes
            .iter()
            .map(|byte| char::from(b"0123456789abcdefghjkmnpqrstvwxyz"[usize::from(byte & 31)]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::{Call, Event};
    use domain::time::{HOUR, Timestamp};

    use super::*;

    #[tokio::test]
    async fn dated_ids_follow_a_clock_that_goes_back_and_others_grow() {
        let clock = Clock::manual_at(Timestamp(1_700_000_000_000));
        let ids = Ids::new(clock.clone());
        let now = || clock.now();
        let mut grown = ids.make::<Event>();
        let mut grows = || {
            let next = ids.make::<Event>();
            assert!(next > std::mem::replace(&mut grown, next));
        };
        let dated = || {
            let (first, second) = (ids.dated::<Call>(), ids.dated::<Call>());
            assert!(first < second);
            second
        };
        assert_eq!(dated().unix_ms(), now().0);
        let started = now();
        assert!(clock.step_to(started.plus(HOUR)));
        assert_eq!(dated().unix_ms(), now().0);
        grows();
        // A small correction is not a step back.
        let before = dated();
        assert!(clock.step_to(now().plus(-1_500)));
        assert!(dated() > before);
        assert!(clock.step_to(started.plus(1_000)));
        assert_eq!(dated().unix_ms(), now().0);
        assert!(dated() < before);
        grows();
    }
}

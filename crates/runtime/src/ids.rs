//! New ids: time-ordered, and strictly growing within this process.

use std::sync::{Mutex, PoisonError};

use domain::ids::{Id, Kind};
use ring::rand::{SecureRandom, SystemRandom};

use crate::clock::Clock;

const RANDOM_BITS: u32 = 74;

/// Makes ids from the clock and randomness.
pub struct Ids {
    clock: Clock,
    fill: Box<dyn Fn(&mut [u8]) + Send + Sync>,
    last: Mutex<Last>,
}

/// Randomness that is fetched at once: asking the system takes longer than all else of an id.
const FETCHED: usize = 1024;
const NUMBER: usize = size_of::<u128>();

struct Last {
    at: i64,
    number: u128,
    random: [u8; FETCHED],
    used: usize,
}

impl Last {
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
    /// Ids of this clock's time and the system's randomness.
    pub fn new(clock: Clock) -> Self {
        let random = SystemRandom::new();
        // Without system randomness nothing here can be safe; the counter in the ids still keeps them apart.
        Self::with(clock, move |bytes| random.fill(bytes).unwrap_or(()))
    }

    /// Ids of this clock's time and this source of randomness.
    pub fn with(clock: Clock, fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self {
            clock,
            fill: Box::new(fill),
            last: Mutex::new(Last { at: 0, number: 0, random: [0; FETCHED], used: FETCHED }),
        }
    }

    /// A new id, greater than every one made before it in this process.
    pub fn make<K: Kind>(&self) -> Id<K> {
        let now = self.clock.now().0;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = last.fresh(&*self.fill);
        if now > last.at {
            // The top bit stays free for the ids that follow in the same millisecond.
            (last.at, last.number) = (now, fresh & ((1 << (RANDOM_BITS - 1)) - 1));
        } else {
            last.number = (last.number + 1 + (fresh & 0xFFFF_FFFF)) & ((1 << RANDOM_BITS) - 1);
        }
        Id::new(last.at, last.number)
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

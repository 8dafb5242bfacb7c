//! New ids: time-ordered, and strictly growing within this process.

use std::sync::{Mutex, PoisonError};

use domain::ids::{Id, Kind};
use ring::rand::{SecureRandom, SystemRandom};

use super::clock::Clock;

const RANDOM_BITS: u32 = 74;

/// Makes ids from the clock and randomness.
pub struct Ids {
    clock: Clock,
    fill: Box<dyn Fn(&mut [u8]) + Send + Sync>,
    last: Mutex<(i64, u128)>,
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
        Self { clock, fill: Box::new(fill), last: Mutex::new((0, 0)) }
    }

    /// A new id, greater than every one made before it in this process.
    pub fn make<K: Kind>(&self) -> Id<K> {
        let now = self.clock.now().0;
        let mut fresh = [0u8; 16];
        (self.fill)(&mut fresh);
        let fresh = u128::from_be_bytes(fresh);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now > last.0 {
            // The top bit stays free for the ids that follow in the same millisecond.
            *last = (now, fresh & ((1 << (RANDOM_BITS - 1)) - 1));
        } else {
            last.1 = (last.1 + 1 + (fresh & 0xFFFF_FFFF)) & ((1 << RANDOM_BITS) - 1);
        }
        Id::new(last.0, last.1)
    }

    /// Random text of `length` characters out of 32.
    pub fn random_text(&self, length: usize) -> String {
        let mut bytes = vec![0u8; length];
        (self.fill)(&mut bytes);
        bytes.iter().map(|byte| char::from(b"0123456789abcdefghjkmnpqrstvwxyz"[usize::from(byte & 31)])).collect()
    }
}

//! DTMF input: the keys of one turn, and the inter-digit timeout that ends it.

/// Silence after the newest key that ends a turn of keys, milliseconds.
const PAUSE_MS: u64 = 2500;
/// Keys of one turn; the interpreter reads no more.
const MOST: usize = 64;

/// The keys of the current turn. Times are of the line.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pressed: String,
    first_at: Option<u64>,
    secret: bool,
    /// When the newest key was pressed, while more may follow.
    waiting_since: Option<u64>,
}

/// A turn of keys.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Keyed {
    pub keys: String,
    pub began: u64,
    pub ended: u64,
    /// They answer a secret question.
    pub secret: bool,
}

impl Keys {
    /// Adds a key to the turn; `secret`: it answers a secret question.
    pub fn press(&mut self, key: char, now: u64, secret: bool) {
        self.secret |= secret;
        if self.pressed.len() < MOST {
            self.pressed.push(key);
            self.first_at.get_or_insert(now);
        }
    }

    /// More keys may follow until the pause is over.
    pub fn wait(&mut self, now: u64) {
        self.waiting_since = Some(now);
    }

    /// No more keys are waited for; those that were pressed stay.
    pub fn stop_waiting(&mut self) {
        self.waiting_since = None;
    }

    /// Takes the turn of keys; none if no key was pressed.
    pub fn take(&mut self, now: u64) -> Option<Keyed> {
        let keys = std::mem::take(&mut self.pressed);
        let (first_at, secret) = (self.first_at.take(), std::mem::take(&mut self.secret));
        let ended = self.waiting_since.unwrap_or(now);
        (!keys.is_empty()).then(|| Keyed { keys, began: first_at.unwrap_or(ended), ended, secret })
    }

    /// Drops the keys: the turn was something else.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// When the pause after the newest key is over.
    pub fn due(&self) -> Option<u64> {
        self.waiting_since.map(|at| at + PAUSE_MS)
    }

    /// Moves the deadline by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        self.waiting_since = self.waiting_since.map(|at| at + by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_a_turn_when_a_pause_follows() {
        let mut keys = Keys::default();
        assert_eq!((keys.take(100), keys.due()), (None, None));
        keys.press('4', 200, true);
        keys.press('2', 700, false);
        keys.wait(700);
        assert_eq!(keys.due(), Some(3200));
        keys.shift(1000);
        assert_eq!(keys.due(), Some(4200));
        assert_eq!(keys.take(4200), Some(Keyed { keys: "42".into(), began: 200, ended: 1700, secret: true }));
        keys.press('1', 4300, false);
        assert!(keys.take(4400).is_some_and(|keyed| !keyed.secret));
        keys.stop_waiting();
        assert_eq!((keys.take(5000), keys.due()), (None, None));
    }
}

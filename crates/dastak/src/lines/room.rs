//! Lines of the sandbox: as many of its calls are played with audio as it has lines.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// For how long a line is reserved for a call that is being written down. The transaction of the call may fail, so a
/// reservation ends by itself.
const RESERVED: Duration = Duration::from_secs(2);

/// What is reserved of the lines.
#[derive(Debug, Default)]
pub(super) struct Room(VecDeque<Instant>);

impl Room {
    /// Reserves one of `cap` lines, `used` of which have a call; whether one was free.
    pub(super) fn reserve(&mut self, cap: usize, used: usize, now: Instant) -> bool {
        while self.0.front().is_some_and(|until| *until <= now) {
            self.0.pop_front();
        }
        let free = used + self.0.len() < cap;
        if free {
            self.0.push_back(now + RESERVED);
        }
        free
    }

    /// A call takes up a line that was reserved for it: from here on it counts by itself.
    pub(super) fn take_up(&mut self) {
        self.0.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_gets_every_line_once() {
        let (mut room, now) = (Room::default(), Instant::now());
        for used in 0..8 {
            assert!(room.reserve(8, used, now), "line {used}");
            room.take_up();
        }
        assert!(!room.reserve(8, 8, now));
        assert!(room.reserve(8, 7, now), "one call has ended");
        assert!(!room.reserve(8, 7, now), "the call that gets its line is being written down");
        assert!(room.reserve(8, 7, now + RESERVED), "it never came");
    }
}

//! Keys that the agent presses (docs/contract/agents.md#keys): what may be pressed, and how often.

use std::collections::VecDeque;

use domain::ports::{KEY_MS, KEY_PAUSE_MS};

/// The tool that presses keys.
pub(crate) const PRESS_KEYS: &str = "press_keys";
/// Most keys and pauses of one request.
const MOST: usize = 32;
/// Most requests within [`MINUTE_MS`].
const MOST_A_MINUTE: usize = 20;
const MINUTE_MS: u64 = 60_000;

/// The keys of a request, without white space.
///
/// # Errors
/// Why they cannot be pressed.
pub(crate) fn read(keys: &str) -> Result<String, &'static str> {
    // Longer requests are refused before they are copied.
    let signs = || keys.chars().filter(|key| !key.is_whitespace());
    if signs().take(MOST + 1).count() > MOST {
        return Err("at most 32 keys and pauses at once");
    }
    if !signs().all(|key| key.is_ascii_digit() || matches!(key, '*' | '#' | 'w' | 'W' | ',')) {
        return Err("keys are 0-9, * and #, with w or a comma for a pause of half a second");
    }
    let keys: String = signs().collect();
    if keys.chars().all(is_pause) { Err("there is no key in it") } else { Ok(keys) }
}

fn is_pause(key: char) -> bool {
    matches!(key, 'w' | 'W' | ',')
}

/// How long keys that were [read](read) take to press, milliseconds.
pub(crate) fn duration_ms(keys: &str) -> u64 {
    keys.chars().map(|key| if is_pause(key) { KEY_PAUSE_MS } else { KEY_MS }).sum()
}

/// The requests of the last minute, in milliseconds of the line.
#[derive(Debug, Default)]
pub(crate) struct KeyPresses(VecDeque<u64>);

impl KeyPresses {
    /// Counts a request.
    ///
    /// # Errors
    /// There were too many within a minute.
    pub fn admit(&mut self, now: u64) -> Result<(), &'static str> {
        while self.0.front().is_some_and(|at| now >= at + MINUTE_MS) {
            self.0.pop_front();
        }
        if self.0.len() >= MOST_A_MINUTE {
            return Err("at most 20 times a minute");
        }
        self.0.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_digits_star_and_hash_with_pauses() {
        assert_eq!(read(" 1 2*#w,W ").as_deref(), Ok("12*#w,W"));
        assert_eq!(read(&"9".repeat(32)).map(|keys| duration_ms(&keys)), Ok(6400));
        assert_eq!(duration_ms("1w2,"), 1400);
        for wrong in ["", "  ", "w,", "1a", "१", "A", "1-2", &"1".repeat(33)] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn twenty_requests_fit_into_a_minute() {
        let mut presses = KeyPresses::default();
        assert!((0..20).all(|at| presses.admit(at * 100).is_ok()));
        assert!(presses.admit(59_999).is_err());
        assert!(presses.admit(60_000).is_ok(), "the first is a minute ago");
        assert!(presses.admit(60_000).is_err());
    }
}

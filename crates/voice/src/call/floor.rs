//! Turn-taking: whose turn it is, which answer is expected, and how long there has been silence.

use std::time::Duration;

use domain::conversation::{Expected, FieldKind};

use super::clock::millis;

/// Voiced sound without a word that is taken for speech that was not understood, milliseconds.
const SPEECH_MS: u32 = 600;
/// How many times in a row the customer is asked to repeat it.
const MOST_UNHEARD: u32 = 2;

/// Who has the floor. Times are of the line.
pub(crate) struct Floor {
    expected: Option<Expected>,
    silence_ms: u64,
    quiet: bool,
    quiet_since: u64,
    unheard_in_a_row: u32,
}

impl Floor {
    /// Nothing is expected of the customer yet. After `silence` without a word they are asked whether they are there.
    pub fn new(silence: Duration, now: u64) -> Self {
        Self {
            expected: None,
            silence_ms: millis(silence),
            quiet: false,
            quiet_since: now,
            unheard_in_a_row: 0,
        }
    }

    /// The interpreter awaits this answer.
    pub fn give(&mut self, expected: Expected) {
        self.expected = Some(expected);
    }

    /// No answer is awaited.
    pub fn take(&mut self) {
        self.expected = None;
    }

    /// The answer that is awaited.
    pub fn expected(&self) -> Option<&Expected> {
        self.expected.as_ref()
    }

    /// Whether a short answer is awaited: yes, no, or one of a list.
    pub fn expects_short_answer(&self) -> bool {
        let kind = self.expected().map(|expected| expected.kind);
        matches!(kind, Some(FieldKind::Boolean | FieldKind::Choice))
    }

    /// Records whether it is the customer's turn and nobody speaks.
    pub fn set_quiet(&mut self, quiet: bool, now: u64) {
        if !(quiet && self.quiet) {
            self.quiet_since = now;
        }
        self.quiet = quiet;
    }

    /// Something happened: the silence restarts.
    pub fn restart_silence(&mut self, now: u64) {
        self.quiet_since = now;
    }

    /// When the customer has been silent for too long.
    pub fn due(&self) -> u64 {
        self.quiet_since + self.silence_ms
    }

    /// Moves the deadline of the silence by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        self.quiet_since += by;
    }

    /// The customer's words were understood.
    pub fn understood(&mut self) {
        self.unheard_in_a_row = 0;
    }

    /// The customer made sound without a word, this much of it voiced, while nobody else spoke. True if they are to be
    /// asked to repeat it.
    pub fn not_understood(&mut self, voiced_ms: u32) -> bool {
        let ask = self.expected.is_some() && voiced_ms >= SPEECH_MS && self.unheard_in_a_row < MOST_UNHEARD;
        self.unheard_in_a_row += u32::from(ask);
        ask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_counts_while_nobody_speaks() {
        let mut floor = Floor::new(Duration::from_secs(7), 0);
        floor.set_quiet(true, 1000);
        floor.set_quiet(true, 3000);
        assert_eq!(floor.due(), 8000);
        floor.shift(500);
        assert_eq!(floor.due(), 8500);
        floor.set_quiet(false, 4000);
        floor.set_quiet(true, 5000);
        assert_eq!(floor.due(), 12_000);
    }
}

//! Barge-in: the agent has stopped because the customer speaks; whether it is an interruption or a backchannel is not
//! decided yet.

/// When less than this is left to say, a short word counts as an answer rather than as a backchannel, milliseconds.
const NEARLY_SAID_MS: u64 = 1000;
/// The same when a short answer was requested.
const NEARLY_SAID_ASKED_MS: u64 = 2500;

/// A pause of the agent for the customer.
#[derive(Debug, Default)]
pub(crate) struct BargeIn {
    /// What was left to say when the agent fell silent, milliseconds.
    left_ms: Option<u64>,
    noise: bool,
}

impl BargeIn {
    /// The agent pauses with this much left to say, milliseconds.
    pub fn begin(&mut self, left_ms: u64) {
        self.left_ms = Some(left_ms);
    }

    /// Whether the agent is paused for the customer.
    pub fn active(&self) -> bool {
        self.left_ms.is_some()
    }

    /// Whether the agent may pause now.
    pub fn may_begin(&self) -> bool {
        !self.active() && !self.noise
    }

    /// What was left to say when the agent fell silent, milliseconds.
    pub fn left_ms(&self) -> Option<u64> {
        self.left_ms
    }

    /// It is resolved; true if the agent was paused for it.
    pub fn end(&mut self) -> bool {
        self.left_ms.take().is_some()
    }

    /// The sound is not speech (a television, music): the agent goes on in spite of it.
    pub fn is_noise(&mut self) {
        self.noise = true;
    }

    /// Speech is distinguished from noise again.
    pub fn noise_over(&mut self) {
        self.noise = false;
    }
}

/// Whether a short word is an answer rather than a backchannel, with this much left to say.
pub(crate) fn answers(left_ms: u64, short_answer_expected: bool) -> bool {
    left_ms < if short_answer_expected { NEARLY_SAID_ASKED_MS } else { NEARLY_SAID_MS }
}

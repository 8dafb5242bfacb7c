//! Timers of a conversation, in milliseconds of media.

use domain::call::{EndCause, Fact};
use domain::conversation::{Input, Phrases};
use domain::ports::{ProviderError, ProviderFault};

use super::Call;
use super::phase::Phase;
use super::turn::Standing;
use crate::services::TransferFailure;
use crate::speaking::Kind;

/// Longest interval between two checks of the conversation, milliseconds.
const LOOK_EVERY_MS: u64 = 1000;

impl Call {
    /// Advances everything that does not wait for somebody else, and sets the next wake-up.
    pub(super) fn pump(&mut self) {
        let now = self.now();
        if !self.clock.held() && self.customer.speaking() {
            self.fall_silent();
        }
        let over = self.voice.pump(now);
        self.keep_heard(over);
        self.reacted();
        self.voice.synthesise(now);
        if self.waits.ringing() && !self.clock.held() {
            self.voice.ring();
        }
        self.begin_transfer();
        self.floor.set_quiet(self.nothing_to_wait_for(now), now);
        self.said_all(now);
        // If the time has come meanwhile, the ear notices at its next tick.
        self.ear.wake_at(self.due(now));
    }

    /// The first sound of the reaction to the customer's turn is on the line.
    fn reacted(&mut self) {
        let Some(utterance) = self.reactions.awaited() else { return };
        let started = self.voice.started(utterance).or_else(|| self.transcript.started(utterance));
        if let Some(started) = started
            && let Some(latency) = self.reactions.sounded(started, self.transcript.len())
        {
            self.services.answered(&latency);
        }
    }

    /// Whether it is the customer's turn and nobody speaks.
    fn nothing_to_wait_for(&self, now: u64) -> bool {
        matches!(self.phase, Phase::Talking)
            && self.floor.expected().is_some()
            && !self.clock.held()
            && self.voice.idle()
            && self.waits.idle()
            && self.standing(now) == Standing::None
    }

    /// Ends the call when the last words were said.
    fn said_all(&mut self, now: u64) {
        let words_owed = self.customer.words_owed() || self.customer.speaking();
        let (left_ms, idle) = (self.voice.left_ms(), self.voice.idle());
        if self.phase.ending().is_some_and(|ending| ending.look(left_ms, idle, words_owed, now)) {
            self.end_is_reached();
        }
    }

    /// The next deadline.
    fn due(&self, now: u64) -> u64 {
        // A past deadline was handled; it comes again when something else changes.
        let first = |due: &mut dyn Iterator<Item = u64>| due.filter(|at| *at > now).min().unwrap_or(u64::MAX);
        let limits = first(&mut self.clock.due());
        if self.clock.held() {
            return limits;
        }
        let turn = match self.standing(now) {
            Standing::Open(at) => at,
            Standing::None | Standing::Wordless | Standing::Over => None,
        };
        let parts = first(
            &mut self
                .voice
                .due(now)
                .chain(self.waits.due())
                .chain(self.keys.due())
                .chain(turn)
                .chain([self.floor.due()])
                .chain(self.wish_is_sure_at())
                .chain(self.phase.due(self.clock.answered_at()).into_iter().flatten()),
        );
        limits.min(parts).min(now + LOOK_EVERY_MS)
    }

    /// Moves every deadline by the length of a hold.
    pub(super) fn shift(&mut self, by: u64) {
        self.floor.shift(by);
        self.keys.shift(by);
        self.voice.shift(by);
        self.waits.shift(by);
        self.phase.shift(by);
        self.doubt.shift(by);
    }

    /// A deadline was reached: does the due work.
    pub(super) fn timers(&mut self) {
        let now = self.now();
        if self.over.is_some() {
            return;
        }
        self.limits();
        if self.clock.held() || self.over.is_some() {
            return;
        }
        self.mute_due(now);
        self.look();
        match &self.phase {
            Phase::Machine(_) => self.beep_due(now),
            Phase::Talking => {
                self.keys_due(now);
                self.silence_due(now);
                self.slow_due(now);
            }
            // Checked by `look`.
            Phase::Greeting(_) | Phase::Waiting(_) | Phase::Ending(_) => {}
        }
    }

    fn limits(&mut self) {
        if self.clock.max_duration_reached() {
            self.take_leave(Fact::Ended(EndCause::MaxDuration), self.phrases.time_is_up);
        } else if self.clock.end_after_reached() && !self.ending() && !self.conversation.closing() {
            let goodbye = Phrases::of(&self.order.language).goodbye;
            self.take_leave(Fact::Ended(EndCause::AgentEnded), &goodbye);
        }
    }

    /// Ends the call with these words in place of the current ones, unless its end has begun already.
    pub(super) fn take_leave(&mut self, fact: Fact, words: &str) {
        if self.ending() {
            return;
        }
        self.end_after_words(fact, None);
        self.cut_short();
        self.waits.give_up();
        self.say(Kind::Beside, words);
    }

    /// A synthesiser that stalls without an error must not block the call.
    fn mute_due(&mut self, now: u64) {
        if let Some(piece) = self.voice.mute_piece(now) {
            let error = ProviderError::new("speech", ProviderFault::TimedOut, "no sound came");
            self.sound_ended(piece, Some(error));
        }
    }

    fn beep_due(&mut self, now: u64) {
        let speaking = self.customer.speaking();
        let Some(wait) = self.phase.beep_wait() else { return };
        if speaking {
            wait.speaks(now);
        }
        if wait.over(now) {
            self.leave_message();
        }
    }

    fn keys_due(&mut self, now: u64) {
        if self.keys.due().is_some_and(|at| now >= at) {
            self.keys_are_a_turn();
            self.keys.stop_waiting();
            self.step(Input::DigitsPaused);
        }
    }

    fn silence_due(&mut self, now: u64) {
        if self.nothing_to_wait_for(now) && now >= self.floor.due() {
            self.floor.restart_silence(now);
            self.step(Input::Silence);
        }
    }

    fn slow_due(&mut self, now: u64) {
        if let Some(silent_ms) = self.waits.silent_model(now) {
            tracing::warn!(silent_ms, "the language model fell silent");
            self.model_done(true);
        }
        while let Some(request) = self.waits.take_pressed(now) {
            self.keys_pressed(request);
        }
        for request in self.waits.late_tools(now) {
            self.tool_answered(request, Err("it did not answer in time".into()));
        }
        if let Some(request) = self.waits.late_transfer(now) {
            self.transferred(request, Err(TransferFailure::NoAnswer));
        }
        if self.waits.filler_is_due(now) && self.voice.idle() && !self.customer.speaking() {
            self.waits.fill();
            self.say(Kind::Beside, self.phrases.one_moment);
        }
    }
}

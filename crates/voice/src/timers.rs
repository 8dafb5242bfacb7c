//! Time: what is due, and when to look again. All of it in milliseconds of the line.

use domain::call::{EndCause, Fact};
use domain::conversation::Input;
use domain::ports::{ProviderError, ProviderFault};

use crate::agent::since;
use crate::desk::TransferFailure;
use crate::hold::{Call, Phase};
use crate::playout::Kind;
use crate::turn::Standing;

/// Longest wait for the sound of last words. As long as they sound they are heard to their end.
pub(crate) const SILENT_ENDING_MS: u64 = 30_000;
/// A sentence of which no sound comes for this long has failed.
const SPEECH_MS: u64 = 20_000;
/// From the last sample to the hang-up: what is under way still arrives.
const TAIL_MS: u64 = 240;
/// Longest wait for the customer's words when all was said.
const LAST_WORDS_MS: u64 = 1500;
/// Between two keys.
const KEYS_MS: u64 = 2500;
/// A model that says nothing for this long has failed.
const MODEL_MS: u64 = 20_000;
/// So has a tool.
const TOOL_MS: u64 = 30_000;
/// And so has a transfer.
const TRANSFER_MS: u64 = 120_000;
/// Longest wait for a machine's beep.
const BEEP_MS: u64 = 45_000;
/// Silence after a machine's greeting that is taken for its beep.
const BEEP_SILENCE_MS: u64 = 2500;

impl Call {
    /// Moves everything on that is not waiting for somebody else, and asks to be woken when more is due.
    pub(crate) fn pump(&mut self) {
        let now = self.now();
        if self.held_since.is_none() && self.customer.speaking {
            self.fall_silent();
        }
        let over = self.playout.pump(now);
        self.keep_heard(over);
        self.reacted();
        self.speaker.pump(&self.reports, self.playout.left_ms(), now);
        self.ring();
        self.begin_transfer();
        let quiet = self.nothing_to_wait_for(now);
        if !(quiet && self.quiet) {
            self.quiet_since = now;
        }
        self.quiet = quiet;
        self.said_all(now);
        self.shared.wake_at(self.due(now));
        // The time may have come between the two: the ear looks only at the next tick.
    }

    /// The first sound of the reaction to the customer's turn is on the line.
    fn reacted(&mut self) {
        let Some(reaction) = &self.reaction else { return };
        let Some(utterance) = reaction.utterance else { return };
        let Some(started) = self
            .playout
            .utterance(utterance)
            .and_then(|utterance| utterance.started_at)
            .or_else(|| self.started(utterance))
        else {
            return;
        };
        let Some(mut reaction) = self.reaction.take() else { return };
        reaction.latency.first_packet_ms = Some(since(started, reaction.speech_end));
        reaction.latency.turn = self.turns.len();
        self.desk.answered(&reaction.latency);
        self.latency.push((utterance, reaction.latency));
    }

    /// When an utterance that is over began.
    fn started(&self, utterance: u64) -> Option<u64> {
        let said = self.turns.iter().find(|said| said.utterance == Some(utterance))?;
        u64::try_from(said.turn.start_ms).ok().map(|start| start + self.origin)
    }

    /// The ringing tone, while a person is being brought in and nothing is said.
    fn ring(&mut self) {
        let rings = self.transfer.as_ref().is_some_and(|run| run._task.is_some());
        if rings
            && self.playout.silent()
            && self.speaker.idle()
            && self.held_since.is_none()
            && self.playout.left_ms() < 500
        {
            self.playout.append_plain(crate::ringing::cadence());
            let now = self.now();
            self.playout.pump(now);
        }
    }

    /// Whether it is the customer's turn and nobody speaks.
    fn nothing_to_wait_for(&self, now: u64) -> bool {
        let agent = self.playout.idle()
            && self.speaker.idle()
            && self.model.is_none()
            && self.tools.is_empty()
            && self.transfer.is_none();
        let customer =
            self.customer.standing(now, self.expected.as_ref(), &self.order.language) == Standing::None;
        agent
            && customer
            && self.expected.is_some()
            && self.held_since.is_none()
            && matches!(self.phase, Phase::Talking)
    }

    /// Ends the call when the last words were said.
    fn said_all(&mut self, now: u64) {
        let idle = self.playout.idle() && self.speaker.idle();
        let owed = self.customer.owed > 0 || self.customer.speaking;
        let sounds = self.playout.left_ms() > 0;
        let Phase::Ending(ending) = &mut self.phase else { return };
        if sounds {
            ending.by = (now + SILENT_ENDING_MS).min(ending.latest);
        }
        if idle && ending.said_at.is_none() {
            ending.said_at = Some(now);
        }
        let heard_out =
            ending.said_at.is_some_and(|at| now >= at + if owed { LAST_WORDS_MS } else { TAIL_MS });
        // What ends before a word was ever said has nothing to let arrive.
        if heard_out || now >= ending.by {
            self.end_is_reached();
        }
    }

    /// When to look again.
    fn due(&self, now: u64) -> u64 {
        let mut due = vec![self.longest_at()];
        due.extend(self.order.end_after.map(|after| self.origin + millis(after)));
        if self.held_since.is_some() {
            return due.into_iter().filter(|at| *at > now).min().unwrap_or(u64::MAX);
        }
        due.extend(self.playout.due().map(|ms| now + ms));
        due.extend(self.speaker.due(self.playout.left_ms()).map(|ms| now + ms));
        due.extend(self.speaker.waits_since().map(|at| at + SPEECH_MS));
        due.extend(self.keyed_at.map(|at| at + KEYS_MS));
        if let Standing::Open(Some(at)) =
            self.customer.standing(now, self.expected.as_ref(), &self.order.language)
        {
            due.push(at);
        }
        due.push(self.quiet_since + millis(self.order.silence));
        due.extend(
            self.waits_since().filter(|_| !self.filled).map(|at| at + millis(self.order.filler_after)),
        );
        due.extend(self.model.as_ref().map(|model| model.active_at + MODEL_MS));
        due.extend(self.tools.values().map(|tool| tool.asked_at + TOOL_MS));
        due.extend(self.transfer.as_ref().map(|run| run.asked_at + TRANSFER_MS));
        match &self.phase {
            Phase::Greeting(greeting) => due.push(self.origin + greeting.due()),
            Phase::Machine(wait) => due
                .extend([wait.speak_at.unwrap_or(wait.since + BEEP_MS), wait.quiet_since + BEEP_SILENCE_MS]),
            Phase::Ending(ending) => due.extend(
                [ending.by]
                    .into_iter()
                    .chain(ending.said_at.map(|at| at + TAIL_MS))
                    .chain(ending.said_at.map(|at| at + LAST_WORDS_MS)),
            ),
            Phase::Talking => {}
        }
        // What is past was looked at; it comes again when something else changes.
        due.into_iter().filter(|at| *at > now).min().unwrap_or(u64::MAX).min(now + 1000)
    }

    /// The time that was asked for has come: does what is due.
    pub(crate) fn timers(&mut self) {
        let now = self.now();
        if self.over.is_some() {
            return;
        }
        self.longest(now);
        if self.held_since.is_some() || self.over.is_some() {
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
            Phase::Greeting(_) | Phase::Ending(_) => {}
        }
    }

    fn longest(&mut self, now: u64) {
        let age = now.saturating_sub(self.origin);
        if age >= millis(self.order.max_duration) {
            self.take_leave(Fact::Ended(EndCause::MaxDuration), self.lines.time_is_up);
        } else if self.order.end_after.is_some_and(|after| age >= millis(after))
            && !self.ending()
            && !self.conversation.closing()
        {
            let goodbye = domain::conversation::Phrases::of(&self.order.language).goodbye;
            self.take_leave(Fact::Ended(EndCause::AgentEnded), &goodbye);
        }
    }

    /// Ends the call with these words instead of what is under way, unless its end has begun already.
    pub(crate) fn take_leave(&mut self, fact: Fact, words: &str) {
        if self.ending() {
            return;
        }
        self.end_after_words(fact, None);
        self.cut_short();
        self.model = None;
        self.tools.clear();
        self.transfer = None;
        self.say(Kind::Beside, words);
    }

    /// When the conversation has lasted as long as it may.
    pub(crate) fn longest_at(&self) -> u64 {
        self.origin + millis(self.order.max_duration)
    }

    /// A synthesiser that falls silent without an error must not hold the call.
    fn mute_due(&mut self, now: u64) {
        if let Some(piece) = self.speaker.silent_since(now.saturating_sub(SPEECH_MS)) {
            let error = ProviderError::new("speech", ProviderFault::TimedOut, "no sound came");
            self.sound_ended(piece, Some(error));
        }
    }

    fn beep_due(&mut self, now: u64) {
        let speaking = self.customer.speaking;
        let Phase::Machine(wait) = &mut self.phase else { return };
        if speaking {
            wait.quiet_since = now;
        }
        let beeped = wait.speak_at.is_some_and(|at| now >= at);
        let quiet = wait.speak_at.is_none() && now >= wait.quiet_since + BEEP_SILENCE_MS;
        if beeped || quiet || now >= wait.since + BEEP_MS {
            self.leave_message();
        }
    }

    fn keys_due(&mut self, now: u64) {
        if self.keyed_at.is_some_and(|at| now >= at + KEYS_MS) {
            self.keys_are_a_turn();
            self.keyed_at = None;
            self.step(Input::DigitsPaused);
        }
    }

    fn silence_due(&mut self, now: u64) {
        if self.nothing_to_wait_for(now) && now >= self.quiet_since + millis(self.order.silence) {
            self.quiet_since = now;
            self.step(Input::Silence);
        }
    }

    fn slow_due(&mut self, now: u64) {
        if let Some(model) = self.model.as_ref().filter(|model| now >= model.active_at + MODEL_MS) {
            tracing::warn!(silent_ms = now - model.active_at, "the language model fell silent");
            self.model_done(true);
        }
        let late: Vec<u64> = self
            .tools
            .iter()
            .filter(|(_, tool)| now >= tool.asked_at + TOOL_MS)
            .map(|(request, _)| *request)
            .collect();
        for request in late {
            self.tool_answered(request, Err("it did not answer in time".into()));
        }
        if let Some(request) =
            self.transfer.as_ref().filter(|run| now >= run.asked_at + TRANSFER_MS).map(|run| run.request)
        {
            self.transferred(request, Err(TransferFailure::NoAnswer));
        }
        let slow = self.waits_since().is_some_and(|at| now >= at + millis(self.order.filler_after));
        let quiet =
            self.playout.idle() && self.speaker.idle() && !self.customer.speaking && self.transfer.is_none();
        if slow && quiet && !self.filled {
            self.filled = true;
            self.say(Kind::Beside, self.lines.one_moment);
        }
    }

    /// Moves every wait on by what a hold took.
    pub(crate) fn shift(&mut self, by: u64) {
        self.quiet_since += by;
        self.keyed_at = self.keyed_at.map(|at| at + by);
        self.speaker.shift(by);
        if let Some(model) = &mut self.model {
            model.active_at += by;
        }
        self.tools.values_mut().for_each(|tool| tool.asked_at += by);
        if let Some(run) = &mut self.transfer {
            run.asked_at += by;
        }
        match &mut self.phase {
            Phase::Ending(ending) => {
                ending.by += by;
                ending.latest += by;
            }
            Phase::Machine(wait) => {
                wait.since += by;
                wait.quiet_since += by;
                wait.speak_at = wait.speak_at.map(|at| at + by);
            }
            Phase::Greeting(_) | Phase::Talking => {}
        }
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX / 4)
}

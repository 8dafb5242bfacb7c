//! The customer's side: speech, words, interruptions, keys, wishes, machines.

use std::sync::Arc;

use domain::call::{EndCause, Fact};
use domain::conversation::{FieldKind, Input, Role};
use domain::ports::{Heard, Hints, Listening, ProviderError};
use domain::speech;

use crate::hearing::{Event, Pause};
use crate::hold::{BeepWait, Call, Phase, Reaction};
use crate::machine::Verdict;
use crate::order::Amd;
use crate::playout::Kind;
use crate::turn::Standing;

/// Failures in a row after which no recogniser is opened any more.
const MOST_FAILURES: u32 = 2;
/// No packet for this long ends the call, milliseconds.
const STARVED_MS: u32 = 20_000;
/// Left to say when a short word counts as an answer to it rather than as a sign of listening, milliseconds.
const NEARLY_SAID_MS: u64 = 1000;
/// The same when yes, no or one of a list was asked for.
const ASKED_MS: u64 = 2500;
/// A machine may still give itself away this long after the answer, milliseconds.
const MACHINE_WITHIN_MS: u64 = 30_000;
/// Voiced sound without a word that is taken for speech that was not understood, milliseconds.
const SPEECH_MS: u32 = 600;
/// Times in a row that it is said so.
const MOST_UNHEARD: u32 = 2;
/// Keys of one turn; the interpreter reads no more.
const MOST_KEYS: usize = 64;
/// From the recognition of a beep to the first word after it, milliseconds.
const BEEP_REST_MS: u64 = 700;

impl Call {
    pub(crate) fn event(&mut self, event: Event) {
        match event {
            Event::Began(at) => self.began(at),
            Event::Paused(pause) => self.paused(pause),
            Event::Long(pause) => self.long(pause),
            Event::Digit(key) => self.digit(key),
            Event::Beep => self.beep(),
            Event::Starved(ms) => {
                if ms >= STARVED_MS {
                    // Somebody who was there and went silent has gone; a line that never carried sound is our
                    // failure.
                    self.peer_gone(if self.shared.heard() {
                        EndCause::CallerHangup
                    } else {
                        EndCause::Error
                    });
                }
            }
            Event::Time => self.timers(),
            Event::Closed => self.peer_gone(EndCause::CallerHangup),
        }
    }

    // --- speech

    fn began(&mut self, at: u64) {
        if self.held_since.is_some() {
            return;
        }
        self.customer.begin(at);
        let origin = self.origin;
        if let Phase::Greeting(greeting) = &mut self.phase {
            greeting.began(at.saturating_sub(origin));
        }
        self.machine_speaks();
        self.fall_silent();
    }

    /// Falls silent while the customer speaks, until it is known whether they mean it.
    pub(crate) fn fall_silent(&mut self) {
        let about_to_speak = !self.playout.silent() || self.model.is_some();
        if !self.noise && self.barge.is_none() && about_to_speak && self.can_interrupt() {
            self.barge = Some(self.left_ms());
            self.playout.pause();
        }
    }

    /// What is left to say, milliseconds; what is no sound yet counts as long.
    fn left_ms(&self) -> u64 {
        if self.speaker.idle() && self.model.is_none() { self.playout.left_ms() } else { u64::MAX }
    }

    fn paused(&mut self, pause: Pause) {
        self.noise = false;
        self.customer.pause(pause.began, pause.ended, pause.voiced_ms, pause.asked);
        let origin = self.origin;
        if let Phase::Greeting(greeting) = &mut self.phase {
            greeting.paused(pause.ended.saturating_sub(origin), pause.asked);
        }
        self.machine_speaks();
        self.look();
    }

    /// A machine that speaks has not beeped yet.
    fn machine_speaks(&mut self) {
        let now = self.now();
        if let Phase::Machine(wait) = &mut self.phase {
            wait.quiet_since = now;
        }
    }

    fn long(&mut self, pause: Pause) {
        if pause.asked {
            self.customer.owe();
        }
        if let Phase::Greeting(greeting) = &mut self.phase {
            greeting.long(pause.syllables, pause.asked);
        }
        self.look();
    }

    // --- words

    pub(crate) fn listens(&mut self, generation: u64, listening: Arc<dyn Listening>) {
        if generation == self.generation {
            self.shared.listen_with(Some(Arc::clone(&listening)));
            listening.expect(Hints { expected: self.expected.clone(), phrases: self.order.phrases.clone() });
            self.listening = Some(listening);
        }
    }

    pub(crate) fn heard(&mut self, generation: u64, heard: Result<Heard, ProviderError>) {
        if generation != self.generation {
            return;
        }
        match heard {
            Ok(Heard::Partial(text)) => self.partial(&text),
            Ok(Heard::Turn(text)) => {
                self.listen_failures = 0;
                self.words(&text);
            }
            Err(error) => self.deaf(&error),
        }
    }

    /// No recogniser hears any more. What it owed is lost; another is opened, and when that fails as well the
    /// call cannot go on.
    fn deaf(&mut self, error: &ProviderError) {
        tracing::warn!(%error, "the recogniser failed");
        self.listen_failures += 1;
        self.customer.owed = 0;
        if self.listen_failures <= MOST_FAILURES {
            return self.listen();
        }
        self.listener = None;
        self.shared.listen_with(None);
        if !self.connected {
            self.over = Some(Fact::AgentFailed);
        } else if !self.ending() {
            let trouble = domain::conversation::Phrases::of(&self.order.language).trouble;
            self.end_after_words(Fact::Ended(EndCause::Error), Some("error".into()));
            self.cut_short();
            self.say(Kind::Beside, &trouble);
        }
    }

    fn partial(&mut self, text: &str) {
        if let Phase::Greeting(greeting) = &mut self.phase {
            greeting.heard(text, false);
        }
        if self.may_be_machine() && speech::voicemail(text) {
            return self.machine(false);
        }
        if self.barge.is_some() && !speech::backchannel(text, &self.order.language) {
            self.interrupt();
        }
        self.look();
    }

    fn words(&mut self, text: &str) {
        let now = self.now();
        self.customer.heard(text, now);
        if let Phase::Greeting(greeting) = &mut self.phase {
            greeting.heard(text, true);
        }
        if self.note_opt_out() {
            return self.say_not_again();
        }
        if self.may_be_machine() && speech::voicemail(&self.customer.words()) {
            return self.machine(false);
        }
        if self.customer.has_words() {
            self.noise = false;
            self.unheard_in_a_row = 0;
        } else if self.customer.speaking && self.customer.owed == 0 {
            // Twelve seconds of it and not one word: a television, or music.
            self.noise = true;
            self.go_on();
        }
        if self.barge.is_some() && self.customer.has_words() && !self.only_listening() {
            self.interrupt();
        }
        self.look();
    }

    /// Whether what was said while the agent spoke is only a sign of listening.
    fn only_listening(&self) -> bool {
        let left = self.barge.unwrap_or_else(|| self.left_ms());
        let asked = matches!(
            self.expected.as_ref().map(|expected| expected.kind),
            Some(FieldKind::Boolean | FieldKind::Choice)
        );
        let answers = left < if asked { ASKED_MS } else { NEARLY_SAID_MS };
        !answers && speech::backchannel(&self.customer.words(), &self.order.language)
    }

    /// Goes on speaking where it fell silent.
    fn go_on(&mut self) {
        if self.barge.take().is_some() && self.held_since.is_none() {
            self.playout.resume();
        }
    }

    /// The customer means it: what was not heard was not said.
    fn interrupt(&mut self) {
        self.barge = None;
        self.cut_short();
        if self.held_since.is_none() {
            self.playout.resume();
        }
    }

    /// Stops speaking for good. Where somebody has interrupted, the interpreter learns what was heard; at the
    /// end of the call the end is begun before this, and what the flow held back is dropped with it.
    pub(crate) fn cut_short(&mut self) {
        let now = self.now();
        let held = self.held_since.is_some();
        let cut = self.playout.discard(now);
        if held {
            self.playout.pause();
        }
        self.speaker.cancel();
        let written: Vec<String> = cut
            .iter()
            .filter(|spoken| spoken.kind == Kind::Written)
            .map(|spoken| spoken.heard.clone())
            .collect();
        let forming: Option<String> =
            cut.iter().find(|spoken| spoken.kind == Kind::Forming).map(|spoken| spoken.heard.clone());
        cut.into_iter().for_each(|spoken| self.keep(spoken));
        if !written.is_empty() {
            let heard: Vec<&str> =
                written.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            self.step(Input::CutOff { turns: written.len(), heard: heard.join(" ") });
        }
        if let Some(model) = self.model.take() {
            self.abandoned = Some(model.request);
            if let Some(text) = forming {
                self.step(Input::Noted { role: Role::Agent, text });
            }
        }
    }

    // --- turns

    /// Looks at where the customer's turn, or the greeting, stands.
    pub(crate) fn look(&mut self) {
        if self.over.is_some() || self.held_since.is_some() {
            return;
        }
        match &self.phase {
            Phase::Greeting(_) => self.look_at_greeting(false),
            Phase::Talking => self.look_at_turn(),
            Phase::Machine(_) => self.customer = self.customer.next(),
            Phase::Ending(_) => {}
        }
    }

    fn look_at_turn(&mut self) {
        let now = self.now();
        match self.customer.standing(now, self.expected.as_ref(), &self.order.language) {
            Standing::None | Standing::Open(_) => {}
            Standing::Wordless => self.wordless(now),
            Standing::Over(words) => {
                // Words that come late, without speech of their own, are the same while the agent speaks.
                let meanwhile =
                    self.barge.is_some() || (self.customer.began.is_none() && !self.playout.silent());
                if meanwhile && self.only_listening() {
                    self.customer = self.customer.next();
                    self.quiet_since = now;
                    return self.go_on();
                }
                let speaks_on = !self.order.interruptible && !self.playout.silent();
                if !speaks_on {
                    self.turn_over(words, now);
                }
            }
        }
    }

    fn wordless(&mut self, now: u64) {
        let voiced = self.customer.voiced_ms;
        self.customer = self.customer.next();
        self.quiet_since = now;
        let spoke_on = self.barge.is_some();
        self.go_on();
        if let Some(request) = self.abandoned.take() {
            return self.step(Input::ModelFailed { request });
        }
        let free = !spoke_on && self.playout.silent() && self.expected.is_some();
        if free && voiced >= SPEECH_MS && self.unheard_in_a_row < MOST_UNHEARD {
            self.unheard_in_a_row += 1;
            self.say(Kind::Beside, self.lines.not_heard);
        }
    }

    fn turn_over(&mut self, words: String, now: u64) {
        let (ended, words_at) = (self.customer.ended, self.customer.words_at);
        self.barge = None;
        if self.can_interrupt() && (!self.playout.silent() || self.model.is_some()) {
            self.cut_short();
        }
        if self.held_since.is_none() {
            self.playout.resume();
        }
        self.abandoned = None;
        let after = |at: u64| crate::agent::since(at, ended);
        let latency = domain::call::TurnLatency {
            endpoint_ms: after(now),
            transcript_ms: Some(after(words_at)),
            ..Default::default()
        };
        self.keep_customer(words.clone());
        self.quiet_since = now;
        self.filled = false;
        self.reaction = Some(Reaction { speech_end: ended, latency, utterance: None });
        self.expected = None;
        self.keyed_at = None;
        self.keyed_from = None;
        self.keys.clear();
        self.step(Input::Heard { text: words });
    }

    // --- wishes

    /// Takes down the wish not to be called again; whether it was said just now.
    pub(crate) fn note_opt_out(&mut self) -> bool {
        let said = !self.opted_out && speech::opt_out(&self.customer.words(), &self.order.language);
        if said {
            self.opted_out = true;
            self.outcome = Some("opted_out".into());
            self.desk.fact(Fact::OptOutSaid);
        }
        said
    }

    fn say_not_again(&mut self) {
        self.barge = None;
        if self.ending() {
            return;
        }
        // The disposition is the customer's own, and stands whoever hangs up.
        self.end_after_words(Fact::Ended(EndCause::AgentEnded), None);
        self.cut_short();
        let words = self.customer.words();
        self.keep_customer(words);
        self.model = None;
        self.tools.clear();
        self.transfer = None;
        self.shared.greeting(false);
        self.say(Kind::Beside, self.lines.not_again);
    }

    // --- keys

    fn digit(&mut self, key: char) {
        if !matches!(self.phase, Phase::Talking) || self.held_since.is_some() {
            return;
        }
        let now = self.now();
        self.quiet_since = now;
        if self.can_interrupt() && !self.playout.silent() {
            self.interrupt();
        }
        if self.expected.is_some() {
            if key == '#' {
                self.keys_are_a_turn();
            } else if self.keys.len() < MOST_KEYS {
                self.keys.push(key);
                self.keyed_from.get_or_insert(now);
            }
        }
        self.keyed_at = None;
        self.step(Input::Digit { key });
    }

    /// What was keyed in so far is a turn.
    pub(crate) fn keys_are_a_turn(&mut self) {
        let keys = std::mem::take(&mut self.keys);
        if !keys.is_empty() {
            let now = self.now();
            let last = self.keyed_at.unwrap_or(now);
            let latency = domain::call::TurnLatency {
                endpoint_ms: crate::agent::since(now, last),
                ..Default::default()
            };
            self.reaction = Some(Reaction { speech_end: last, latency, utterance: None });
            let began = self.keyed_from.take().unwrap_or(last);
            self.keep_turn(keys, began, last);
            self.filled = false;
        }
    }

    // --- machines

    fn may_be_machine(&self) -> bool {
        self.order.amd != Amd::Off
            && matches!(self.phase, Phase::Greeting(_) | Phase::Talking)
            && self.now().saturating_sub(self.origin) < MACHINE_WITHIN_MS
    }

    fn beep(&mut self) {
        let now = self.now();
        match &mut self.phase {
            Phase::Greeting(_) => self.look_at_greeting(true),
            Phase::Machine(wait) => {
                wait.speak_at.get_or_insert(now + BEEP_REST_MS);
            }
            Phase::Talking | Phase::Ending(_) => {}
        }
    }

    pub(crate) fn look_at_greeting(&mut self, beeped: bool) {
        let now = self.now();
        let Phase::Greeting(greeting) = &self.phase else { return };
        let verdict = greeting.verdict(now.saturating_sub(self.origin), beeped);
        match verdict {
            None => {}
            Some(Verdict::Machine) => self.machine(beeped),
            Some(Verdict::Person) => {
                self.phase = Phase::Talking;
                self.shared.greeting(false);
                self.quiet_since = now;
                let words = self.customer.words();
                if !words.is_empty() && !self.customer.speaking {
                    self.keep_customer(words.clone());
                    self.step(Input::Heard { text: words });
                } else {
                    self.customer = self.customer.next();
                }
                self.step(Input::Started);
            }
        }
    }

    /// A machine answered: the call ends, or its beep is waited for.
    fn machine(&mut self, beeped: bool) {
        let now = self.now();
        self.shared.greeting(false);
        self.barge = None;
        match self.order.amd {
            Amd::LeaveMessage(_) => {
                let speak_at = beeped.then_some(now + BEEP_REST_MS);
                self.phase = Phase::Machine(BeepWait { since: now, speak_at, quiet_since: now });
            }
            Amd::Off | Amd::HangUp => self.over = Some(Fact::Voicemail),
        }
        self.cut_short();
        self.model = None;
        self.tools.clear();
        self.transfer = None;
        self.expected = None;
        let words = self.customer.words();
        if !words.is_empty() {
            self.keep_customer(words);
        }
    }

    pub(crate) fn leave_message(&mut self) {
        let Amd::LeaveMessage(text) = self.order.amd.clone() else { return };
        self.end_with(Fact::Voicemail);
        self.say(Kind::Beside, &text);
    }
}

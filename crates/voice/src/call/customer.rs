//! The customer's side: speech, transcripts, barge-in, DTMF, opt-out requests, answering machines.

use domain::call::{EndCause, Fact};
use domain::conversation::redaction::{self, SECRET};
use domain::conversation::{Input, Phrases, Role};
use domain::ports::{Heard, ProviderError};
use domain::speech::{self, Machine};

use super::Call;
use super::barge_in;
use super::clock::millis;
use super::keys::Keyed;
use super::machine::{AnsweredBy, BEEPS_WITHIN_MS};
use super::person_wait::{Met, Next, PersonWait};
use super::phase::{BeepWait, Phase};
use super::turn::Standing;
use crate::ear::{Event, Pause};
use crate::order::Amd;
use crate::speaking::Kind;

/// No packet for this long ends the call, milliseconds.
const STARVED_MS: u32 = 20_000;
/// A machine may still be detected this long after the answer, milliseconds.
const MACHINE_WITHIN_MS: u64 = 30_000;

impl Call {
    /// Handles an event of the ear.
    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Began(at) => self.began(at),
            Event::Paused(pause) => self.paused(pause),
            Event::Long(pause) => self.long(pause),
            Event::Digit(key) => self.digit(key),
            Event::Beep => self.beep(),
            Event::Starved(ms) if ms < STARVED_MS => {}
            // Somebody who was there and went silent has gone; a line that never carried sound is our failure.
            Event::Starved(_) if self.ear.heard() => self.peer_gone(EndCause::CallerHangup),
            Event::Starved(_) => self.peer_gone(EndCause::Error),
            Event::Time => self.timers(),
            Event::Closed => self.peer_gone(EndCause::CallerHangup),
        }
    }

    // --- speech

    fn began(&mut self, at: u64) {
        if self.clock.held() {
            return;
        }
        self.customer.begin(at);
        self.doubt.began(at);
        if let Some(greeting) = self.phase.greeting() {
            greeting.began(self.clock.since_answer(at));
        }
        self.machine_speaks();
        self.fall_silent();
    }

    /// Pauses while the customer speaks, until it is known whether that is an interruption.
    pub(super) fn fall_silent(&mut self) {
        let about_to_speak = !self.voice.silent() || self.waits.model_talks();
        if self.barge_in.may_begin() && about_to_speak && self.can_interrupt() {
            self.barge_in.begin(self.left_ms());
            self.voice.pause();
        }
    }

    /// What is left to say, milliseconds; text without sound yet counts as long.
    fn left_ms(&self) -> u64 {
        let all_made = self.voice.all_made() && !self.waits.model_talks();
        if all_made { self.voice.left_ms() } else { u64::MAX }
    }

    fn paused(&mut self, pause: Pause) {
        self.barge_in.noise_over();
        self.customer.pause(pause.began, pause.ended, pause.voiced_ms, pause.asked);
        self.doubt.paused(pause.ended);
        if let Some(greeting) = self.phase.greeting() {
            greeting.paused(self.clock.since_answer(pause.ended), pause.asked);
        }
        self.machine_speaks();
        self.look();
    }

    /// A machine that speaks has not beeped yet, and has not finished.
    fn machine_speaks(&mut self) {
        let now = self.now();
        if let Some(wait) = self.phase.person_wait() {
            wait.speaks(now);
        }
        if let Some(wait) = self.phase.beep_wait() {
            wait.speaks(now);
        }
    }

    fn long(&mut self, pause: Pause) {
        if pause.asked {
            self.customer.owe();
        }
        let age = self.clock.age();
        if let Some(greeting) = self.phase.greeting() {
            greeting.long(pause.syllables, pause.asked, age);
        }
        self.look();
    }

    // --- words

    /// Handles a report of the recogniser.
    pub(super) fn heard(&mut self, heard: Result<Heard, ProviderError>) {
        match heard {
            Ok(Heard::Partial(text)) => self.partial(&text),
            Ok(Heard::Language(language)) => self.customer.hear_language(language),
            Ok(Heard::Turn(text)) => {
                self.recognition.worked();
                self.words(&text);
            }
            Err(error) => self.deaf(&error),
        }
    }

    /// The recogniser failed. Its pending words are lost; another is opened, and after too many failures the call
    /// cannot go on.
    fn deaf(&mut self, error: &ProviderError) {
        tracing::warn!(%error, "the recogniser failed");
        self.customer.forgive_words();
        if self.recognition.failed() {
            return;
        }
        if !self.voice.heard() {
            self.over = Some(Fact::AgentFailed);
        } else if !self.ending() {
            let trouble = Phrases::of(&self.order.language).trouble;
            self.end_after_words(Fact::Ended(EndCause::Error), Some("error".into()));
            self.cut_short();
            self.say(Kind::Beside, &trouble);
        }
    }

    fn partial(&mut self, text: &str) {
        if let Some(greeting) = self.phase.greeting() {
            greeting.heard(text, false);
        }
        // Which other machine it is shows when its words are complete.
        if self.may_be_voicemail() && speech::machine(text) == Some(Machine::Voicemail) {
            return self.machine(false);
        }
        if self.barge_in.active() && !speech::backchannel(text, &self.order.language) {
            self.interrupt();
        }
        let words = format!("{} {text}", self.customer.words());
        self.look_up(&words);
        if !self.conversation.awaits_secret() {
            self.progress.hears(self.transcript.showable(words.trim()));
        }
        self.look();
    }

    fn words(&mut self, text: &str) {
        let now = self.now();
        self.customer.heard(text, now);
        if let Some(greeting) = self.phase.greeting() {
            greeting.heard(text, true);
        }
        let machine = speech::machine(&self.customer.words());
        let is_machine = machine.is_some() && matches!(self.phase, Phase::Waiting(_));
        if self.wants_no_calls() && !is_machine {
            if !self.doubted() {
                return self.say_not_again();
            }
            self.wish = true;
        }
        if let Some(machine) = machine
            && self.met(machine)
        {
            return;
        }
        if self.customer.has_words() {
            self.look_up(&self.customer.words());
            self.barge_in.noise_over();
            self.floor.understood();
        } else if self.customer.speaking() && !self.customer.words_owed() {
            // Twelve seconds of it and not one word: a television, or music.
            self.barge_in.is_noise();
            self.go_on();
        }
        if self.barge_in.active() && self.customer.has_words() && !self.only_listening() {
            self.interrupt();
        }
        self.look();
    }

    /// Prepares for what the customer is saying, unless it is an answer that must not be kept.
    fn look_up(&self, words: &str) {
        if self.conversation.awaits_secret() {
            return;
        }
        match self.order.redact {
            true => self.services.said_so_far(redaction::text(words.trim(), &self.order.language).trim()),
            false => self.services.said_so_far(words.trim()),
        }
    }

    /// Adds words of the customer to the transcript, as far as they may be kept.
    pub(super) fn keep(&mut self, words: String, began: u64, ended: u64) {
        match self.conversation.keepable(&words) {
            Some(kept) => self.transcript.hidden(kept, began, ended),
            None => self.transcript.customer(words, began, ended),
        }
    }

    /// Whether the words during the agent's speech are only a backchannel.
    fn only_listening(&self) -> bool {
        let left_ms = self.barge_in.left_ms().unwrap_or_else(|| self.left_ms());
        !barge_in::answers(left_ms, self.floor.expects_short_answer())
            && speech::backchannel(&self.customer.words(), &self.order.language)
    }

    /// Resumes where it paused.
    fn go_on(&mut self) {
        if self.barge_in.end() {
            self.resume();
        }
    }

    /// The customer interrupts: words that were not heard are removed.
    fn interrupt(&mut self) {
        self.barge_in.end();
        self.cut_short();
        self.resume();
    }

    /// Stops speaking for good. After an interruption the interpreter gets the words that were heard. At the end of the
    /// call the end has begun before this, so nothing reaches the interpreter, and effects that the flow held back are
    /// dropped.
    pub(super) fn cut_short(&mut self) {
        let cut = self.voice.cut_off(self.now());
        if self.clock.held() {
            self.voice.pause();
        }
        let (mut written, mut heard, mut forming) = (0, Vec::new(), None);
        for spoken in cut {
            match spoken.kind {
                Kind::Written => {
                    written += 1;
                    if !spoken.heard.is_empty() {
                        heard.push(spoken.heard.clone());
                    }
                }
                Kind::Forming => forming = forming.or_else(|| Some(spoken.heard.clone())),
                Kind::Beside => {}
            }
            self.transcript.agent(spoken);
        }
        if written > 0 {
            self.step(Input::CutOff { turns: written, heard: heard.join(" ") });
        }
        if self.waits.cut_off_model()
            && let Some(text) = forming
        {
            self.step(Input::Noted { role: Role::Agent, text });
        }
    }

    // --- turns

    /// Checks the state of the customer's turn, or of the greeting.
    pub(super) fn look(&mut self) {
        if self.over.is_some() || self.clock.held() {
            return;
        }
        match &self.phase {
            Phase::Greeting(_) => self.look_at_greeting(false),
            Phase::Waiting(_) => self.look_at_person_wait(),
            Phase::Talking if self.wish => self.look_at_wish(),
            Phase::Talking => self.look_at_turn(),
            Phase::Machine(_) => drop(self.customer.end()),
            Phase::Ending(_) => {}
        }
    }

    /// The state of the customer's turn.
    pub(super) fn standing(&self, now: u64) -> Standing {
        self.customer.standing(now, self.floor.expected(), &self.order.language)
    }

    fn look_at_turn(&mut self) {
        let now = self.now();
        match self.standing(now) {
            Standing::None | Standing::Open(_) => {}
            Standing::Wordless => self.wordless(now),
            Standing::Over => {
                // Words that come late, without speech of their own, are the same while the agent speaks.
                let meanwhile = self.barge_in.active() || (self.customer.is_late() && !self.voice.silent());
                if meanwhile && self.only_listening() {
                    self.customer.end();
                    self.floor.restart_silence(now);
                    return self.go_on();
                }
                let speaks_on = !self.order.interruptible && !self.voice.silent();
                if !speaks_on {
                    self.turn_over(now);
                }
            }
        }
    }

    fn wordless(&mut self, now: u64) {
        let turn = self.customer.end();
        self.floor.restart_silence(now);
        let spoke_on = self.barge_in.active();
        self.go_on();
        if let Some(request) = self.waits.take_abandoned() {
            return self.step(Input::ModelFailed { request });
        }
        if !spoke_on && self.voice.silent() && self.floor.not_understood(turn.voiced_ms) {
            self.say(Kind::Beside, self.phrases.not_heard);
        }
    }

    fn turn_over(&mut self, now: u64) {
        self.barge_in.end();
        if self.can_interrupt() && (!self.voice.silent() || self.waits.model_talks()) {
            self.cut_short();
        }
        self.resume();
        self.waits.take_abandoned();
        let turn = self.customer.end();
        self.keep(turn.words.clone(), turn.began, turn.ended);
        self.floor.restart_silence(now);
        self.floor.take();
        self.waits.refill();
        self.reactions.begin(turn.ended, Some(turn.words_at), now);
        self.keys.clear();
        self.conversation.set_heard_language(turn.language);
        self.step(Input::Heard { text: turn.words });
    }

    // --- wishes

    /// Whether the words of the turn are an opt-out that was not recorded yet.
    fn wants_no_calls(&self) -> bool {
        !self.opted_out && speech::opt_out(&self.customer.words(), &self.order.language)
    }

    /// Records an opt-out, if the words of the turn are one.
    pub(super) fn note_opt_out(&mut self) {
        self.wish = false;
        if self.wants_no_calls() {
            self.opted_out = true;
            self.outcome = Some("opted_out".into());
            self.services.fact(Fact::OptOutSaid);
        }
    }

    /// When a doubtful opt-out counts as a person's, because no beep followed it.
    pub(super) fn wish_is_sure_at(&self) -> Option<u64> {
        self.wish.then(|| self.customer.ended() + BEEPS_WITHIN_MS)
    }

    fn look_at_wish(&mut self) {
        let now = self.now();
        let quiet = !self.customer.speaking() && !self.customer.awaits_words(now);
        if quiet && self.wish_is_sure_at().is_some_and(|at| now >= at) {
            self.say_not_again();
        }
    }

    fn say_not_again(&mut self) {
        self.note_opt_out();
        self.barge_in.end();
        if self.ending() {
            return;
        }
        // The customer chose this disposition: it stays no matter who hangs up.
        self.end_after_words(Fact::Ended(EndCause::AgentEnded), None);
        self.cut_short();
        self.keep_words();
        self.waits.give_up();
        self.ear.greeting(false);
        self.say(Kind::Beside, self.phrases.not_again);
    }

    // --- keys

    fn digit(&mut self, key: char) {
        if !matches!(self.phase, Phase::Talking) || self.clock.held() {
            return;
        }
        let now = self.now();
        self.doubt.settle();
        self.floor.restart_silence(now);
        if self.can_interrupt() && !self.voice.silent() {
            self.interrupt();
        }
        if self.floor.expected().is_some() {
            if key == '#' {
                self.keys_are_a_turn();
            } else {
                self.keys.press(key, now, self.conversation.awaits_secret());
            }
        }
        self.keys.stop_waiting();
        self.step(Input::Digit { key });
    }

    /// The keys that were pressed so far are a turn.
    pub(super) fn keys_are_a_turn(&mut self) {
        let now = self.now();
        if let Some(Keyed { keys, began, ended, secret }) = self.keys.take(now) {
            self.reactions.begin(ended, None, now);
            if secret {
                self.transcript.hidden(SECRET.to_owned(), began, ended);
            } else {
                self.keep(keys, began, ended);
            }
            self.waits.refill();
        }
    }

    // --- machines

    fn may_be_machine(&self) -> bool {
        self.order.amd != Amd::Off
            && matches!(self.phase, Phase::Greeting(_) | Phase::Talking)
            && self.clock.age() < MACHINE_WITHIN_MS
    }

    /// Whether what is heard may be a voicemail.
    fn may_be_voicemail(&self) -> bool {
        self.may_be_machine() || matches!(self.phase, Phase::Waiting(_))
    }

    /// Whether there may only be a machine so far.
    fn doubted(&self) -> bool {
        self.may_be_machine() && self.doubt.stands(self.now(), self.customer.speaking())
    }

    fn beep(&mut self) {
        let now = self.now();
        if let Some(wait) = self.phase.beep_wait() {
            wait.beeped(now);
        } else if let Some(wait) = self.phase.person_wait() {
            if wait.expects_beeps() {
                wait.beeped(now);
                self.look();
            } else {
                self.machine(true);
            }
        } else if matches!(self.phase, Phase::Talking) {
            // Its words were not understood, and the agent has begun.
            if self.doubted() {
                self.machine(true);
            }
        } else {
            self.look_at_greeting(true);
        }
    }

    /// Detects who answered, while that is not known; `beeped`: a beep sounds now.
    fn look_at_greeting(&mut self, beeped: bool) {
        let age = self.clock.age();
        match self.phase.greeting().and_then(|greeting| greeting.answered_by(age, beeped)) {
            None => {}
            Some(AnsweredBy::Machine(machine)) => match Met::of(machine) {
                None => self.machine(beeped),
                Some(met) => self.wait_for_person(met),
            },
            Some(AnsweredBy::Person) if self.wish => self.look_at_wish(),
            Some(AnsweredBy::Person) => self.person(),
        }
    }

    /// A person answered: the agent speaks.
    fn person(&mut self) {
        let taken_over = matches!(self.phase, Phase::Waiting(_));
        self.phase = Phase::Talking;
        self.ear.greeting(false);
        let now = self.now();
        let spoke_until = if self.customer.speaking() { now } else { self.customer.ended() };
        self.doubt.greeted(spoke_until.max(self.clock.answered_at()));
        if taken_over {
            self.doubt.settle();
        }
        self.recognition.greeted(self.floor.expected());
        self.floor.restart_silence(now);
        let goes_on = self.customer.speaking();
        let said = self.customer.has_words() && !goes_on;
        let turn = self.customer.end();
        if said {
            self.transcript.customer(turn.words.clone(), turn.began, turn.ended);
            self.conversation.set_heard_language(turn.language);
            self.step(Input::Heard { text: turn.words });
        }
        self.step(Input::Started);
    }

    /// These words are a machine's. True if the call goes another way now.
    fn met(&mut self, machine: Machine) -> bool {
        if let Some(wait) = self.phase.person_wait()
            && let Some(met) = Met::of(machine)
        {
            if wait.met(met) {
                self.services.fact(met.fact());
            }
            return false;
        }
        match Met::of(machine) {
            None if self.may_be_voicemail() => self.machine(false),
            // Whom the agent talks to has not replied yet, and no step of the flow was taken that cannot be taken again.
            Some(met) if matches!(self.phase, Phase::Talking) && self.doubted() && !self.committed => {
                self.wait_for_person(met);
            }
            // The greeting decides when its words are complete.
            None | Some(_) => return false,
        }
        true
    }

    /// A screening assistant or an announcement answered: a person may come, for whom the flow begins.
    fn wait_for_person(&mut self, met: Met) {
        let now = self.now();
        self.wish = false;
        self.barge_in.end();
        self.phase = Phase::Waiting(PersonWait::new(met, now, millis(self.order.person_wait)));
        self.services.fact(met.fact());
        // Its speech is cut into pieces of a greeting's length, and it may beep.
        self.ear.greeting(true);
        self.cut_short();
        self.waits.give_up();
        self.floor.take();
        self.keys.clear();
        self.conversation = Self::begin(&self.order);
        self.look();
    }

    fn look_at_person_wait(&mut self) {
        let now = self.now();
        let may_be_person = self.phase.person_wait().and_then(|wait| wait.may_be_person());
        match self.standing(now) {
            Standing::None | Standing::Open(_) => {}
            Standing::Wordless => drop(self.customer.end()),
            Standing::Over => match may_be_person {
                Some(greeting) if speech::takes_over(&self.customer.words(), greeting) => {
                    self.cut_short();
                    return self.person();
                }
                Some(_) | None => self.keep_words(),
            },
        }
        let speaking = self.customer.speaking();
        let Some(wait) = self.phase.person_wait() else { return };
        if speaking {
            wait.speaks(now);
        }
        match wait.next(now) {
            Next::Wait => {}
            Next::Tell => {
                let introduction = self.order.introduction.clone();
                self.say(Kind::Beside, &introduction);
            }
            Next::Over => self.over = Some(Fact::Ended(wait.end_cause())),
        }
    }

    /// A machine answered: the call ends, or its beep is waited for.
    fn machine(&mut self, beeped: bool) {
        let now = self.now();
        self.wish = false;
        self.ear.greeting(false);
        self.barge_in.end();
        match self.order.amd {
            Amd::LeaveMessage(_) => {
                let mut wait = BeepWait::new(now);
                if beeped {
                    wait.beeped(now);
                }
                self.phase = Phase::Machine(wait);
            }
            Amd::Off | Amd::HangUp => self.over = Some(Fact::Voicemail),
        }
        self.cut_short();
        self.waits.give_up();
        self.floor.take();
        self.keep_words();
    }

    /// Leaves the message of the order on the machine, and ends the call.
    pub(super) fn leave_message(&mut self) {
        let Amd::LeaveMessage(text) = self.order.amd.clone() else { return };
        self.end_with(Fact::Voicemail);
        self.say(Kind::Beside, &text);
    }
}

//! The conversation task: receives events of the ear, the providers and the service, drives the interpreter, and speaks.
//!
//! | file | holds |
//! |---|---|
//! | `agent` | the agent's side: the interpreter's outputs are executed |
//! | `customer` | the customer's side: speech, words, interruptions, keys, opt-outs, machines |
//! | `time` | deadlines |
//! | the others | one concern each, with its own state, its own `due` and its own `shift` |
//!
//! `due` returns a part's next deadline; `shift` moves its deadlines by the length of a hold.

mod agent;
mod barge_in;
mod clock;
mod customer;
mod endpoint;
mod floor;
mod key_presses;
mod keys;
mod machine;
mod marks;
mod model_turn;
mod person_wait;
mod phase;
mod progress;
mod reactions;
mod recognition;
mod time;
mod transcript;
mod turn;
mod waits;

use std::sync::Arc;
use std::time::Duration;

use domain::call::{CallProviders, EndCause, Fact, Report, TurnDetails};
use domain::conversation::{Channel, Conversation, ConversationSettings, Input, Output};
use domain::ports::{Heard, LanguageModel, ListenOrder, Mouth};
use tokio::sync::mpsc;

use crate::ear::{EarState, Event, Hearing, Recording};
use crate::order::{Amd, Command, Held, Order, Speech};
use crate::phrases::CallPhrases;
use crate::services::CallServices;
use crate::speaking::{AgentVoice, Spoken};
use crate::terms::terms;
use crate::work::{Done, REPORTS, Reports};
use barge_in::BargeIn;
use clock::Clock;
use floor::Floor;
use key_presses::KeyPresses;
use keys::Keys;
use machine::{Doubt, Greeting};
use marks::Marks;
use phase::{Ending, Phase};
use progress::Progress;
use reactions::Reactions;
use recognition::Recognition;
use transcript::Transcript;
use turn::CustomerTurn;
use waits::Waits;

/// Longest wait for last words after the customer hung up: `do not call me again` is often the last thing
/// that is said.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Longest wait for the recording's writer.
const LAST_SECOND: Duration = Duration::from_secs(5);

/// Holds a conversation from the answer to its end. The line is still open afterwards: the caller of this function
/// hangs up.
///
/// Dropping the future ends the conversation and everything it has started.
pub async fn hold(
    order: Order,
    speech: Speech,
    mouth: Arc<dyn Mouth>,
    hearing: Hearing,
    services: Arc<dyn CallServices>,
    mut commands: mpsc::Receiver<Command>,
) -> Held {
    let Hearing { mut events, state, recording } = hearing;
    let (reports, mut done) = mpsc::channel(REPORTS);
    let mut call = Call::new(order, speech, mouth, state, services, reports);
    // Sound before the answer (ringing, an announcement) is not the customer's.
    let mut closed = false;
    while let Ok(event) = events.try_recv() {
        closed |= event == Event::Closed;
    }
    call.start();
    if closed {
        call.peer_gone(EndCause::CallerHangup);
    }
    let mut commanded = true;
    while call.over.is_none() {
        call.pump();
        call.show_progress();
        if call.over.is_some() {
            break;
        }
        tokio::select! {
            biased;
            command = commands.recv(), if commanded => match command {
                Some(command) => call.command(command),
                None => commanded = false,
            },
            event = events.recv() => call.event(event.unwrap_or(Event::Closed)),
            Some(report) = done.recv() => call.done(report),
        }
    }
    if call.wants_last_words() {
        let last_words = async {
            while call.wants_last_words()
                && let Some(report) = done.recv().await
            {
                call.last_words(report);
            }
        };
        // The line is gone, and its time with it. If this takes too long, only an opt-out is lost that could not be
        // recognised.
        let _ = tokio::time::timeout(LAST_WORDS, last_words).await;
    }
    drop(done);
    finish(call, recording).await
}

async fn finish(mut call: Call, recording: Option<Recording>) -> Held {
    call.shut();
    call.ear.done();
    let dropped = call.ear.dropped();
    if dropped > 0 {
        tracing::warn!(dropped, "a conversation did not keep up with its line");
    }
    call.transcript.sort();
    let silent = call.transcript.silent();
    let (mut report, end) = call.into_report();
    if let Some(recording) = recording {
        report.recording = tokio::time::timeout(LAST_SECOND, recording.finished(silent)).await.ok().flatten();
    }
    Held { report, end }
}

/// A conversation in progress.
struct Call {
    order: Order,
    model: Arc<dyn LanguageModel>,
    services: Arc<dyn CallServices>,
    ear: Arc<EarState>,
    reports: Reports,
    conversation: Conversation,
    phrases: CallPhrases,
    clock: Clock,
    phase: Phase,
    voice: AgentVoice,
    recognition: Recognition,
    customer: CustomerTurn,
    keys: Keys,
    barge_in: BargeIn,
    floor: Floor,
    waits: Waits,
    reactions: Reactions,
    transcript: Transcript,
    marks: Marks,
    providers: CallProviders,
    /// The disposition so far.
    outcome: Option<String>,
    /// The customer has opted out.
    opted_out: bool,
    /// An opt-out was recognised, which counts if it was a person who said it.
    wish: bool,
    /// Whether there may be a machine although the agent talks.
    doubt: Doubt,
    /// The agent's first sound was reported.
    connected: bool,
    /// A message was sent or a person was brought in: the flow cannot begin again.
    committed: bool,
    key_presses: KeyPresses,
    progress: Progress,
    /// The agent has just said the text of the current effect.
    announced: bool,
    /// The customer is gone, and their last words are pending.
    gone: bool,
    over: Option<Fact>,
}

impl Call {
    fn new(
        order: Order,
        speech: Speech,
        mouth: Arc<dyn Mouth>,
        ear: Arc<EarState>,
        services: Arc<dyn CallServices>,
        reports: Reports,
    ) -> Self {
        let mut order = order;
        // Nobody is followed into a language that is not heard or not spoken here.
        order.languages.retain(|language| {
            *language == order.language
                || speech.to_text.speaks(language) && speech.from_text.speaks(language)
        });
        let providers = CallProviders {
            recognition: Some(speech.to_text.name().to_owned()),
            model: Some(speech.model.name().to_owned()),
            synthesis: Some(speech.from_text.name().to_owned()),
        };
        let settings = Self::settings(&order);
        let listen = ListenOrder {
            language: order.language.clone(),
            others: settings.languages.iter().skip(1).cloned().collect(),
            terms: terms(&order.names, &order.flow, &order.variables),
        };
        let conversation = Self::begin(&order);
        let now = ear.now();
        let language = order.language.clone();
        let voice = AgentVoice::new(
            mouth,
            speech.from_text,
            order.voice_of(&language).to_owned(),
            language,
            order.speakable.clone(),
            reports.clone(),
        );
        let recognition = Recognition::new(
            speech.to_text,
            listen,
            order.phrases.clone(),
            Arc::clone(&ear),
            reports.clone(),
            order.amd != Amd::Off,
        );
        Self {
            marks: Marks::new(now),
            providers,
            model: speech.model,
            services,
            reports,
            conversation,
            phrases: CallPhrases::of(&order.language),
            clock: Clock::start(Arc::clone(&ear), order.max_duration, order.end_after),
            phase: if order.amd == Amd::Off {
                Phase::Talking
            } else {
                Phase::Greeting(Greeting::new(order.menus))
            },
            voice,
            recognition,
            customer: CustomerTurn::default(),
            keys: Keys::default(),
            barge_in: BargeIn::default(),
            floor: Floor::new(order.silence, now),
            waits: Waits::new(order.filler_after),
            reactions: Reactions::default(),
            transcript: Transcript::new(now, order.redact.then(|| order.language.clone())),
            outcome: None,
            opted_out: false,
            wish: false,
            doubt: Doubt::new(order.amd != Amd::Off),
            connected: false,
            committed: false,
            key_presses: KeyPresses::default(),
            progress: Progress::default(),
            announced: false,
            gone: false,
            over: None,
            ear,
            order,
        }
    }

    /// The conversation before its first step.
    fn settings(order: &Order) -> ConversationSettings {
        ConversationSettings {
            redact: order.redact,
            ..ConversationSettings::of(Channel::Call, &order.language).following(&order.languages)
        }
    }

    fn begin(order: &Order) -> Conversation {
        Conversation::new(Arc::clone(&order.flow), order.variables.clone(), Self::settings(order))
    }

    fn start(&mut self) {
        self.recognition.open();
        match self.phase {
            Phase::Greeting(_) => self.ear.greeting(true),
            Phase::Talking | Phase::Waiting(_) | Phase::Machine(_) | Phase::Ending(_) => {
                self.step(Input::Started)
            }
        }
    }

    /// Time of the line.
    fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Whether the end has begun.
    fn ending(&self) -> bool {
        self.over.is_some() || matches!(self.phase, Phase::Ending(_))
    }

    /// Passes an input to the interpreter and executes its outputs; nothing unless agent and customer talk.
    fn step(&mut self, input: Input) {
        if self.over.is_none() && matches!(self.phase, Phase::Talking) {
            self.conversation.set_now(self.services.now().0);
            let now = self.now();
            match &input {
                Input::ToolAnswered { request, .. } => self.marks.answered(*request, true, now),
                Input::ToolFailed { request, .. } => self.marks.answered(*request, false, now),
                _ => {}
            }
            let outputs = self.conversation.step(input);
            self.marks.captured(self.conversation.extracted(), now);
            self.follow();
            self.perform(outputs);
        }
    }

    /// Goes on in the language of the conversation, if that has changed.
    fn follow(&mut self) {
        if self.conversation.language() == self.order.language {
            return;
        }
        let language = self.conversation.language().to_owned();
        self.phrases = CallPhrases::of(&language);
        self.voice.speak(self.order.voice_of(&language), &language);
        self.transcript.switched(&language);
        if self.recognition.follow(&language) {
            self.customer.forgive_words();
        }
        self.order.language = language;
    }

    /// Whether the customer may interrupt now: an answer is awaited and the end has not begun.
    fn can_interrupt(&mut self) -> bool {
        self.order.interruptible
            && !self.ending()
            && self.conversation.step(Input::SpeechBegan).contains(&Output::StopSaying)
    }

    // --- reports

    fn done(&mut self, report: Done) {
        match report {
            Done::Sound { piece, samples } => self.sound(piece, &samples),
            Done::SoundEnded { piece, failed } => self.sound_ended(piece, failed),
            Done::Said { request, said } => self.model_said(request, said),
            Done::Tool { request, answer } => self.tool_answered(request, answer),
            Done::Transferred { request, outcome } => self.transferred(request, outcome),
            Done::Listening { generation, listening } => {
                if self.recognition.is_current(generation) {
                    self.recognition.opened(listening, self.floor.expected());
                }
            }
            Done::Heard { generation, heard } => {
                if self.recognition.is_current(generation) {
                    self.heard(heard);
                }
            }
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::HangUp(cause) => self.over = Some(Fact::Ended(cause)),
            Command::TakeLeave(cause) => self.take_leave(Fact::Ended(cause), self.phrases.time_is_up),
            Command::PeerGone => self.peer_gone(EndCause::CallerHangup),
            Command::Hold(true) => self.put_on_hold(),
            Command::Hold(false) => self.take_off_hold(),
        }
    }

    fn put_on_hold(&mut self) {
        if self.clock.hold() {
            self.voice.pause();
        }
    }

    fn take_off_hold(&mut self) {
        let Some(held_ms) = self.clock.take_back() else { return };
        self.shift(held_ms);
        self.customer.taken_back();
        self.barge_in.end();
        self.voice.resume();
    }

    /// Speaks on, unless the call is on hold.
    fn resume(&mut self) {
        if !self.clock.held() {
            self.voice.resume();
        }
    }

    /// Records the words that were heard to their end; the flow executes the effects after them.
    fn keep_heard(&mut self, over: Vec<Spoken>) {
        for spoken in over {
            let said = spoken.said;
            self.transcript.agent(spoken);
            if let Some(said) = said {
                self.announced = true;
                self.step(Input::Sounded { said });
                self.announced = false;
            }
        }
    }

    /// The customer is gone, or the line is.
    fn peer_gone(&mut self, cause: EndCause) {
        // Sound that was sent by now counts, although it was not checked yet.
        let over = self.voice.over(self.now());
        self.keep_heard(over);
        if self.customer.speaking() {
            let owed = self.recognition.ask();
            self.customer.cut_off(owed);
        }
        self.gone = true;
        // The agent's last words have sounded.
        if self.phase.ending().is_some_and(|ending| ending.stands()) {
            self.end_is_reached();
        } else {
            // What picked up hung up before a person came.
            let unmet = self.phase.person_wait().map(|wait| wait.end_cause());
            self.over = Some(Fact::Ended(unmet.filter(|_| cause == EndCause::CallerHangup).unwrap_or(cause)));
        }
    }

    fn wants_last_words(&self) -> bool {
        self.gone && self.customer.words_owed() && !self.opted_out
    }

    fn last_words(&mut self, report: Done) {
        match report {
            Done::Heard { generation, heard } if self.recognition.is_current(generation) => match heard {
                Ok(Heard::Turn(text)) => {
                    self.customer.heard(&text, self.now());
                    self.note_opt_out();
                }
                Ok(Heard::Partial(_) | Heard::Language(_)) => {}
                Err(_) => self.customer.forgive_words(),
            },
            Done::Listening { .. } | Done::Heard { .. } | Done::Sound { .. } | Done::SoundEnded { .. } => {}
            Done::Said { .. } | Done::Tool { .. } | Done::Transferred { .. } => {}
        }
    }

    // --- the end

    /// The call has ended with this fact; what is being said is said first.
    fn end_with(&mut self, fact: Fact) {
        self.begin_to_end(fact, None, true);
    }

    /// The call ends with this fact and disposition once the last words, which follow, have sounded. If the customer
    /// hangs up before that, the customer ended it.
    fn end_after_words(&mut self, fact: Fact, outcome: Option<String>) {
        self.begin_to_end(fact, outcome, false);
    }

    fn begin_to_end(&mut self, fact: Fact, outcome: Option<String>, reached: bool) {
        if !self.ending() {
            let (now, longest_at) = (self.now(), self.clock.longest_at());
            self.phase = Phase::Ending(Ending::begin(fact, outcome, reached, now, longest_at));
            self.floor.take();
            self.keys.stop_waiting();
            // Interrupted words stay cut off; the last words are spoken to their end.
            self.barge_in.end();
            self.resume();
        }
    }

    /// The end that was begun has come.
    fn end_is_reached(&mut self) {
        if let Some(ending) = self.phase.ending() {
            let (fact, outcome) = (ending.fact(), ending.take_outcome());
            self.outcome = self.outcome.take().or(outcome);
            self.over.get_or_insert(fact);
        }
    }

    /// Stops speaking and records what was heard.
    fn shut(&mut self) {
        if self.wish && self.over != Some(Fact::Voicemail) {
            // No beep has followed by now: it was a person's.
            self.note_opt_out();
        }
        for spoken in self.voice.cut_off(self.now()) {
            self.transcript.agent(spoken);
        }
        self.keep_words();
        self.waits.give_up();
        self.recognition.close();
    }

    /// Records the words of the customer's current turn, if any, and begins the next turn.
    fn keep_words(&mut self) {
        if self.customer.has_words() {
            let turn = self.customer.end();
            self.keep(turn.words, turn.began, turn.ended);
        }
    }

    /// The turns are sorted.
    fn into_report(self) -> (Report, Fact) {
        let end = self.over.unwrap_or(Fact::Ended(EndCause::Error));
        let (tools, captures) = self.marks.into_parts();
        let model_talked = self.waits.model_talked();
        let model = self.providers.model.filter(|_| model_talked);
        let details = TurnDetails {
            providers: CallProviders { model, ..self.providers },
            cut_off: self.transcript.cut_off(),
            tools,
            captures,
        };
        let report = Report {
            latency: self.reactions.into_latency(&self.transcript),
            turns: self.transcript.into_turns(),
            extracted: self.conversation.extracted().clone(),
            outcome: self.outcome.or_else(|| self.conversation.outcome().map(str::to_owned)),
            recording: None,
            language: Some(self.conversation.language().to_owned()),
            details,
            model_talked,
            flow_version: None,
            path: self.conversation.path(),
        };
        (report, end)
    }
}

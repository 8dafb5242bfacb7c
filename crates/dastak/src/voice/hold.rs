//! Holding a conversation: one task takes what the ear, the providers and the service report, drives the
//! interpreter, and speaks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::call::{EndCause, Fact, Report, TimedTurn, TurnLatency};
use domain::conversation::{Channel, Conversation, ConversationSettings, Expected, Input, Output, Role};
use domain::ports::{ListenOrder, Listening};
use domain::speech::SentenceSplitter;
use tokio::sync::mpsc;

use super::desk::{Desk, Mouth, TransferOrder};
use super::hearing::{Event, Hearing, Shared};
use super::lines::Lines;
use super::machine::Greeting;
use super::order::{Amd, Command, Held, Order, Speech};
use super::playout::{Playout, Spoken};
use super::recorder::Recording;
use super::speaker::Speaker;
use super::turn::CustomerTurn;
use super::work::{self, Done, Guard, REPORTS, Reports};

/// Longest wait for last words after the customer hung up: `do not call me again` is often the last thing
/// that is said.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Longest wait for the writer of the recording.
const LAST_SECOND: Duration = Duration::from_secs(5);

/// Holds a conversation from the answer to its end. The line is still there afterwards: hanging up is the
/// caller's.
///
/// Dropping the future gives the conversation up; nothing of it goes on.
pub async fn hold(
    order: Order,
    speech: Speech,
    mouth: Arc<dyn Mouth>,
    hearing: Hearing,
    desk: Arc<dyn Desk>,
    mut commands: mpsc::Receiver<Command>,
) -> Held {
    let Hearing { mut events, shared, recording } = hearing;
    let (reports, mut done) = mpsc::channel(REPORTS);
    let mut call = Call::new(order, speech, mouth, Arc::clone(&shared), desk, reports);
    // What sounded before the answer (ringing, an announcement) is nothing that the customer said.
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
        // The line is gone, and its time with it. Nothing is lost when this takes longer but a wish that
        // nobody could make out.
        let _ = tokio::time::timeout(LAST_WORDS, last_words).await;
    }
    drop(done);
    finish(call, recording).await
}

async fn finish(mut call: Call, recording: Option<Recording>) -> Held {
    let now = call.shared.now();
    call.shut(now);
    call.shared.done();
    let dropped = call.shared.dropped();
    if dropped > 0 {
        tracing::warn!(dropped, "a conversation did not keep up with its line");
    }
    let (mut report, end) = call.into_report();
    if let Some(recording) = recording {
        report.recording = tokio::time::timeout(LAST_SECOND, recording.finished()).await.ok().flatten();
    }
    Held { report, end }
}

/// What a call is doing.
pub(super) enum Phase {
    /// Who answered is not known yet.
    Greeting(Greeting),
    /// The agent and the customer talk.
    Talking,
    /// A machine: its beep is waited for.
    Machine(BeepWait),
    /// The last words are being said.
    Ending(Ending),
}

/// Waiting for a machine's beep. Times are of the line.
pub(super) struct BeepWait {
    pub since: u64,
    pub speak_at: Option<u64>,
    pub quiet_since: u64,
}

/// How a call will have ended when what is being said has been said.
pub(super) struct Ending {
    pub fact: Fact,
    /// The disposition that comes with it.
    pub outcome: Option<String>,
    /// It is so already, whoever hangs up first.
    pub reached: bool,
    /// Not later than this, time of the line, unless more sounds until then.
    pub by: u64,
    /// Not later than this.
    pub latest: u64,
    /// When all was said.
    pub said_at: Option<u64>,
}

/// The model's turn under way.
pub(super) struct ModelTurn {
    pub request: u64,
    pub utterance: Option<u64>,
    pub splitter: SentenceSplitter,
    pub text: String,
    pub exit: Option<usize>,
    pub tool_calls: Vec<domain::conversation::ModelToolCall>,
    pub end: bool,
    pub outcome: Option<String>,
    /// When it was asked, or last said something.
    pub active_at: u64,
    pub _task: Guard,
}

/// A tool at work.
pub(super) struct ToolRun {
    pub asked_at: u64,
    pub _task: Guard,
}

/// A person being brought in.
pub(super) struct TransferRun {
    pub request: u64,
    /// By the model's tool, not by a node.
    pub by_tool: bool,
    /// Not begun yet: what is being said comes first.
    pub waits: Option<TransferOrder>,
    pub asked_at: u64,
    pub _task: Option<Guard>,
}

/// The reaction to a turn of the customer, as far as it got.
pub(super) struct Reaction {
    pub speech_end: u64,
    pub latency: TurnLatency,
    pub utterance: Option<u64>,
}

/// A turn with the utterance that it was.
pub(super) struct Said {
    pub utterance: Option<u64>,
    pub turn: TimedTurn,
}

pub(super) struct Call {
    pub order: Order,
    pub speech: Speech,
    pub desk: Arc<dyn Desk>,
    pub shared: Arc<Shared>,
    pub reports: Reports,
    pub playout: Playout,
    pub speaker: Speaker,
    pub conversation: Conversation,
    pub lines: Lines,
    pub phase: Phase,
    /// Time of the line at the answer.
    pub origin: u64,
    pub next_id: u64,
    pub turns: Vec<Said>,
    pub latency: Vec<(u64, TurnLatency)>,
    pub reaction: Option<Reaction>,
    pub outcome: Option<String>,
    pub customer: CustomerTurn,
    pub expected: Option<Expected>,
    pub keys: String,
    /// When the newest key was pressed, while more may follow.
    pub keyed_at: Option<u64>,
    pub keyed_from: Option<u64>,
    /// The agent fell silent because the customer speaks, with this much left to say, milliseconds; nobody
    /// knows yet whether they mean it.
    pub barge: Option<u64>,
    /// What is heard is no speech to anybody's ears; the agent goes on in spite of it.
    pub noise: bool,
    /// A model request whose turn was cut off.
    pub abandoned: Option<u64>,
    pub unheard_in_a_row: u32,
    pub model: Option<ModelTurn>,
    pub tools: BTreeMap<u64, ToolRun>,
    pub transfer: Option<TransferRun>,
    pub filled: bool,
    pub model_talked: bool,
    pub listener: Option<Guard>,
    pub listening: Option<Arc<dyn Listening>>,
    pub generation: u64,
    pub listen_failures: u32,
    pub lost_pieces: u32,
    /// The agent's sound was on the line.
    pub connected: bool,
    pub opted_out: bool,
    /// The agent has just said what the flow does now.
    pub announced: bool,
    pub held_since: Option<u64>,
    /// It is the customer's turn, nobody speaks, and it has been so since `quiet_since`.
    pub quiet: bool,
    pub quiet_since: u64,
    /// The customer is gone, and what they said last is still owed.
    pub gone: bool,
    pub over: Option<Fact>,
}

impl Call {
    fn new(
        order: Order,
        speech: Speech,
        mouth: Arc<dyn Mouth>,
        shared: Arc<Shared>,
        desk: Arc<dyn Desk>,
        reports: Reports,
    ) -> Self {
        let settings = ConversationSettings::of(Channel::Call, &order.language);
        let conversation = Conversation::new(Arc::clone(&order.flow), order.variables.clone(), settings);
        let now = shared.now();
        Self {
            playout: Playout::new(mouth),
            speaker: Speaker::new(Arc::clone(&speech.from_text), order.voice.clone(), order.language.clone()),
            conversation,
            lines: Lines::of(&order.language),
            phase: if order.amd == Amd::Off { Phase::Talking } else { Phase::Greeting(Greeting::default()) },
            origin: now,
            next_id: 0,
            turns: Vec::new(),
            latency: Vec::new(),
            reaction: None,
            outcome: None,
            customer: CustomerTurn::default(),
            expected: None,
            keys: String::new(),
            keyed_at: None,
            keyed_from: None,
            barge: None,
            noise: false,
            abandoned: None,
            unheard_in_a_row: 0,
            model: None,
            tools: BTreeMap::new(),
            transfer: None,
            filled: false,
            model_talked: false,
            listener: None,
            listening: None,
            generation: 0,
            listen_failures: 0,
            lost_pieces: 0,
            connected: false,
            opted_out: false,
            announced: false,
            held_since: None,
            quiet: false,
            quiet_since: now,
            gone: false,
            over: None,
            order,
            speech,
            desk,
            shared,
            reports,
        }
    }

    fn start(&mut self) {
        self.listen();
        match self.phase {
            Phase::Greeting(_) => self.shared.greeting(true),
            Phase::Talking | Phase::Machine(_) | Phase::Ending(_) => self.step(Input::Started),
        }
    }

    /// Time of the line.
    pub fn now(&self) -> u64 {
        self.shared.now()
    }

    pub fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub fn ending(&self) -> bool {
        self.over.is_some() || matches!(self.phase, Phase::Ending(_))
    }

    /// Gives the interpreter an input and does what it says; nothing unless agent and customer talk.
    pub fn step(&mut self, input: Input) {
        if self.over.is_none() && matches!(self.phase, Phase::Talking) {
            let outputs = self.conversation.step(input);
            self.perform(outputs);
        }
    }

    /// Opens the recogniser's ear, or opens it anew.
    pub fn listen(&mut self) {
        self.generation += 1;
        self.shared.listen_with(None);
        self.listening = None;
        let order = ListenOrder { language: self.order.language.clone() };
        self.listener = Some(work::listen(&self.reports, &self.speech.to_text, self.generation, order));
    }

    // --- reports

    fn done(&mut self, report: Done) {
        match report {
            Done::Sound { piece, samples } => self.sound(piece, &samples),
            Done::SoundEnded { piece, failed } => self.sound_ended(piece, failed),
            Done::Said { request, said } => self.model_said(request, said),
            Done::Tool { request, answer } => self.tool_answered(request, answer),
            Done::Transferred { request, outcome } => self.transferred(request, outcome),
            Done::Listening { generation, listening } => self.listens(generation, listening),
            Done::Heard { generation, heard } => self.heard(generation, heard),
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::HangUp(cause) => self.over = Some(Fact::Ended(cause)),
            Command::TakeLeave(cause) => self.take_leave(Fact::Ended(cause), self.lines.time_is_up),
            Command::PeerGone => self.peer_gone(EndCause::CallerHangup),
            Command::Hold(on) => self.hold(on),
        }
    }

    fn hold(&mut self, on: bool) {
        let now = self.now();
        match (on, self.held_since) {
            (true, None) => {
                self.held_since = Some(now);
                self.playout.pause();
            }
            (false, Some(since)) => {
                self.held_since = None;
                self.shift(now.saturating_sub(since));
                self.customer.speaking = false;
                self.customer = self.customer.next();
                self.barge = None;
                self.playout.resume();
            }
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Keeps what was heard to its end; the flow does what comes after it.
    pub fn keep_heard(&mut self, over: Vec<Spoken>) {
        for spoken in over {
            let said = spoken.said;
            self.keep(spoken);
            if let Some(said) = said {
                self.announced = true;
                self.step(Input::Sounded { said });
                self.announced = false;
            }
        }
    }

    /// The customer is gone, or the line is.
    pub fn peer_gone(&mut self, cause: EndCause) {
        // What had sounded by now had sounded, although nobody has looked yet.
        let now = self.now();
        let over = self.playout.over(now);
        self.keep_heard(over);
        if self.customer.speaking {
            if let Some(listening) = &self.listening {
                listening.turn_ended();
                self.customer.owe();
            }
            self.customer.speaking = false;
        }
        self.gone = true;
        match &self.phase {
            // The agent's last words have sounded.
            Phase::Ending(ending) if ending.reached || ending.said_at.is_some() => self.end_is_reached(),
            Phase::Ending(_) | Phase::Greeting(_) | Phase::Talking | Phase::Machine(_) => {
                self.over = Some(Fact::Ended(cause))
            }
        }
    }

    fn wants_last_words(&self) -> bool {
        self.gone && self.customer.owed > 0 && !self.opted_out
    }

    fn last_words(&mut self, report: Done) {
        match report {
            Done::Heard { generation, heard } if generation == self.generation => match heard {
                Ok(domain::ports::Heard::Turn(text)) => {
                    let now = self.now();
                    self.customer.heard(&text, now);
                    self.note_opt_out();
                }
                Ok(domain::ports::Heard::Partial(_)) => {}
                Err(_) => self.customer.owed = 0,
            },
            Done::Listening { .. } | Done::Heard { .. } | Done::Sound { .. } | Done::SoundEnded { .. } => {}
            Done::Said { .. } | Done::Tool { .. } | Done::Transferred { .. } => {}
        }
    }

    // --- the end

    /// The call has come to this end; what is being said is said first.
    pub fn end_with(&mut self, fact: Fact) {
        self.begin_to_end(fact, None, true);
    }

    /// The call comes to this end with the last words, which follow; whoever hangs up before they have
    /// sounded was first.
    pub fn end_after_words(&mut self, fact: Fact, outcome: Option<String>) {
        self.begin_to_end(fact, outcome, false);
    }

    fn begin_to_end(&mut self, fact: Fact, outcome: Option<String>, reached: bool) {
        if !self.ending() {
            let by = self.now() + super::timers::SILENT_ENDING_MS;
            let latest = by.max(self.longest_at());
            self.phase = Phase::Ending(Ending { fact, outcome, reached, by, latest, said_at: None });
            self.expected = None;
            self.keyed_at = None;
            // What was cut off stays cut off; what is said last is heard to its end.
            self.barge = None;
            if self.held_since.is_none() {
                self.playout.resume();
            }
        }
    }

    /// The end that was begun is there.
    pub fn end_is_reached(&mut self) {
        if let Phase::Ending(ending) = &mut self.phase {
            let (fact, outcome) = (ending.fact, ending.outcome.take());
            self.outcome = self.outcome.take().or(outcome);
            self.over.get_or_insert(fact);
        }
    }

    /// Falls silent for good and keeps what was heard.
    fn shut(&mut self, now: u64) {
        let cut = self.playout.discard(now);
        cut.into_iter().for_each(|spoken| self.keep(spoken));
        let words = self.customer.words();
        if !words.is_empty() {
            self.keep_customer(words);
        }
        self.speaker.cancel();
        self.model = None;
        self.tools.clear();
        self.transfer = None;
        self.listener = None;
        self.shared.listen_with(None);
    }

    /// Keeps what was heard of an utterance.
    pub fn keep(&mut self, spoken: Spoken) {
        let after = |at: u64| super::agent::since(at, self.origin);
        if let (Some(started), false) = (spoken.started_at, spoken.heard.is_empty()) {
            let end_ms = after(spoken.ended_at.max(started));
            let turn = TimedTurn { role: Role::Agent, text: spoken.heard, start_ms: after(started), end_ms };
            self.turns.push(Said { utterance: Some(spoken.id), turn });
        }
    }

    /// Keeps a turn of the customer, and begins the next.
    pub fn keep_customer(&mut self, text: String) {
        let customer = std::mem::take(&mut self.customer);
        self.customer = customer.next();
        self.keep_turn(text, customer.began.unwrap_or(customer.ended), customer.ended);
    }

    /// Keeps words of the customer with the times of the line at which they began and ended.
    pub fn keep_turn(&mut self, text: String, began: u64, ended: u64) {
        let after = |at: u64| super::agent::since(at, self.origin);
        let turn =
            TimedTurn { role: Role::Customer, text, start_ms: after(began), end_ms: after(ended.max(began)) };
        self.turns.push(Said { utterance: None, turn });
    }

    fn into_report(mut self) -> (Report, Fact) {
        self.turns.sort_by_key(|said| said.turn.start_ms);
        let mut latency = Vec::new();
        for (utterance, mut one) in std::mem::take(&mut self.latency) {
            if let Some(at) = self.turns.iter().position(|said| said.utterance == Some(utterance)) {
                one.turn = at;
                latency.push(one);
            }
        }
        let end = self.over.unwrap_or(Fact::Ended(EndCause::Error));
        let outcome = self.outcome.clone().or_else(|| self.conversation.outcome().map(str::to_owned));
        let report = Report {
            turns: self.turns.into_iter().map(|said| said.turn).collect(),
            extracted: self.conversation.extracted().clone(),
            outcome,
            latency,
            recording: None,
            model_talked: self.model_talked,
        };
        (report, end)
    }

    /// Whether the customer may interrupt now: an answer is awaited and the end has not begun.
    pub fn can_interrupt(&mut self) -> bool {
        self.order.interruptible
            && !self.ending()
            && self.conversation.step(Input::SpeechBegan).contains(&Output::StopSaying)
    }
}

//! Shared by all recognisers over sockets: a queue that never blocks, a task that carries sound one way and words the
//! other, and the rule that every end of a turn is answered once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::ports::{Answer, Heard, Hints, Listening, ProviderError, ProviderFault, SAMPLE_RATE};
use domain::speech::language_of;
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc};
use tokio::time::{Instant, sleep_until};

use crate::http::{Net, Peer};
use crate::websocket::{Frame, Send, Socket};

/// Most sound queued for sending, samples: 40 s, which is more than a chain gives a new listener at once. Above it the
/// oldest is dropped and counted.
const QUEUED: usize = 40 * SAMPLE_RATE as usize;
/// About how many samples are kept in one buffer: taking from its beginning moves the rest.
const LUMP: usize = SAMPLE_RATE as usize;
/// Capacity of the queue of reports; above it, partial ones are dropped.
const REPORTS: usize = 64;
/// Longer than any deadline.
const NEVER: Duration = Duration::from_secs(86_400);

/// What a provider reports, in terms of our turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// Words of the piece being spoken; they may still change.
    Partial(String),
    /// Words that will not change.
    Final(String),
    /// The language of the words that came last, as the provider names it.
    Language(String),
    /// Speech was noticed: words will follow.
    Due,
    /// Everything that was sent before the end of the turn has been answered.
    Flushed,
}

/// Whether a provider reports that it has answered all sound of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Always: no answer is a failure.
    Always,
    /// Not when there was nothing to answer: after this time a turn without pending words is over.
    Mostly(Duration),
    /// Only if it noticed speech: after this time a turn in which it noticed none is over.
    Noticed(Duration),
    /// Never: after this time the turn is what is known by then.
    Never(Duration),
}

/// A provider's protocol.
pub(crate) trait Dialect: std::marker::Send + 'static {
    /// Samples of one message.
    fn piece(&self) -> usize;
    /// Messages that carry this sound.
    fn sound(&mut self, samples: &[i16], out: &mut Vec<Send>);
    /// Messages that end the turn. True when no answer follows.
    fn turn_ended(&mut self, out: &mut Vec<Send>) -> bool;
    /// A message to send when there was no sound for this time.
    fn keep_alive(&self) -> Option<(Duration, Send)> {
        None
    }
    fn bye(&self) -> Option<Send> {
        None
    }
    /// How turns are answered.
    fn flush(&self) -> Flush;
    fn read(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError>;
    /// The partial words were used for the turn: they must not be reported again as final ones.
    fn partial_taken(&mut self) {}
}

/// Sound for a provider, queued.
pub(crate) struct Queue {
    state: Mutex<Waiting>,
    changed: Notify,
    /// Samples that are worth waking somebody for.
    piece: usize,
    net: Net,
}

#[derive(Default)]
struct Waiting {
    items: VecDeque<Item>,
    samples: usize,
    closed: bool,
}

enum Item {
    Sound(Vec<i16>),
    TurnEnded,
}

/// The next item of a queue.
pub(crate) enum Taken {
    Sound(Vec<i16>),
    TurnEnded,
    Nothing,
    Closed,
}

impl Queue {
    pub(crate) fn new(piece: usize, net: &Net) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), piece, net: net.clone() }
    }

    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn feed(&self, samples: &[i16]) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        match state.items.back_mut() {
            Some(Item::Sound(sound)) if sound.len() < LUMP => sound.extend_from_slice(samples),
            _ => state.items.push_back(Item::Sound(samples.to_vec())),
        }
        state.samples += samples.len();
        let mut excess = state.samples.saturating_sub(QUEUED);
        if excess > 0 {
            self.net.count_dropped(excess);
            state.samples -= excess;
            for item in &mut state.items {
                let Item::Sound(sound) = item else { continue };
                let gone = excess.min(sound.len());
                sound.drain(..gone);
                excess -= gone;
                if excess == 0 {
                    break;
                }
            }
            state.items.retain(|item| !matches!(item, Item::Sound(sound) if sound.is_empty()));
        }
        if state.samples >= self.piece {
            self.changed.notify_one();
        }
    }

    pub(crate) fn turn_ended(&self) {
        self.state().items.push_back(Item::TurnEnded);
        self.changed.notify_one();
    }

    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    /// Waits for an item; may return without one.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The next piece of sound, the rest of a turn, or the end of one.
    pub(crate) fn take(&self) -> Taken {
        let mut state = self.state();
        if state.closed {
            return Taken::Closed;
        }
        loop {
            let more = state.items.len() > 1;
            match state.items.front_mut() {
                None => return Taken::Nothing,
                Some(Item::TurnEnded) => {
                    state.items.pop_front();
                    return Taken::TurnEnded;
                }
                Some(Item::Sound(sound)) if sound.is_empty() && more => {
                    state.items.pop_front();
                }
                Some(Item::Sound(sound)) => {
                    if !more && sound.len() < self.piece {
                        return Taken::Nothing;
                    }
                    let piece: Vec<i16> = sound.drain(..self.piece.min(sound.len())).collect();
                    state.samples -= piece.len();
                    return Taken::Sound(piece);
                }
            }
        }
    }
}

/// Turns whose words have not come yet.
struct Turns {
    /// Final words of the oldest turn.
    text: String,
    /// Its language; several count as none.
    language: Language,
    partial: String,
    /// Words were announced and have not come.
    due: bool,
    /// Turns that ended and are not answered, the oldest first.
    ended: VecDeque<Ended>,
    /// Sound was sent since the newest end of a turn.
    sounded: bool,
    /// The provider has said anything since the turn's first sound.
    heard: bool,
}

#[derive(Default)]
enum Language {
    #[default]
    Unknown,
    One(&'static str),
    Several,
}

struct Ended {
    /// There was sound in it.
    sounded: bool,
    at: Instant,
}

/// What a recogniser over a socket is.
pub(crate) struct Stream {
    queue: Arc<Queue>,
    answers: AsyncMutex<mpsc::Receiver<Result<Heard, ProviderError>>>,
    peer: Peer,
    /// The languages that are understood.
    hears: Vec<String>,
}

impl Stream {
    /// Starts to carry sound over this socket.
    pub(crate) fn start(peer: Peer, socket: Socket, dialect: impl Dialect, hears: Vec<String>) -> Stream {
        let detects = hears.len() > 1;
        let queue = Arc::new(Queue::new(dialect.piece(), &peer.net));
        let (reports, answers) = mpsc::channel(REPORTS);
        let turns = Turns {
            text: String::new(),
            language: Language::Unknown,
            partial: String::new(),
            due: false,
            ended: VecDeque::new(),
            sounded: false,
            heard: false,
        };
        let carrier = Carrier {
            peer: peer.clone(),
            socket,
            dialect,
            queue: queue.clone(),
            reports,
            turns,
            detects,
            last_sent: Instant::now(),
        };
        tokio::spawn(carrier.run());
        Stream { queue, answers: AsyncMutex::new(answers), peer, hears }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Listening for Stream {
    fn feed(&self, samples: &[i16]) {
        self.queue.feed(samples);
    }

    fn expect(&self, _: Hints) {}

    fn follow(&self, language: &str) -> bool {
        self.hears.iter().any(|known| known == language)
    }

    fn turn_ended(&self) {
        self.queue.turn_ended();
    }

    fn next(&self) -> Answer<'_, Result<Heard, ProviderError>> {
        Box::pin(async move {
            let ended = || self.peer.error(ProviderFault::Unreachable, "the listening has ended");
            self.answers.lock().await.recv().await.unwrap_or_else(|| Err(ended()))
        })
    }
}

/// Carries sound one way and words the other until the listening is dropped or the provider fails.
struct Carrier<D> {
    peer: Peer,
    socket: Socket,
    dialect: D,
    queue: Arc<Queue>,
    reports: mpsc::Sender<Result<Heard, ProviderError>>,
    turns: Turns,
    /// It listens for several languages; another one only repeats what it was asked for.
    detects: bool,
    last_sent: Instant,
}

impl<D: Dialect> Carrier<D> {
    async fn run(mut self) {
        let outcome = self.carry().await;
        self.queue.close();
        match outcome {
            Ok(()) => {
                let bye = self.dialect.bye();
                self.socket.close(bye).await;
            }
            Err(error) => {
                let _ = self.reports.send(Err(error)).await;
            }
        }
    }

    /// Ends without an error when the caller has stopped listening.
    async fn carry(&mut self) -> Result<(), ProviderError> {
        let mut news = Vec::new();
        loop {
            if !self.send_what_waits().await? {
                return Ok(());
            }
            self.answer_what_is_due().await?;
            let wake = self.wake_at();
            tokio::select! {
                frame = self.socket.next() => {
                    self.turns.heard = true;
                    self.dialect.read(frame?, &mut news)?;
                    for report in news.drain(..) {
                        self.apply(report).await;
                    }
                }
                () = self.queue.changed() => {}
                () = sleep_until(wake) => self.keep_alive().await?,
            }
        }
    }

    /// False when the listening was dropped.
    async fn send_what_waits(&mut self) -> Result<bool, ProviderError> {
        let mut out = Vec::new();
        loop {
            match self.queue.take() {
                Taken::Nothing => return Ok(true),
                Taken::Closed => return Ok(false),
                Taken::Sound(samples) => {
                    if !self.turns.sounded && self.turns.ended.is_empty() {
                        self.turns.heard = false;
                    }
                    self.turns.sounded = true;
                    self.dialect.sound(&samples, &mut out);
                    self.last_sent = Instant::now();
                }
                Taken::TurnEnded => {
                    let sounded = std::mem::take(&mut self.turns.sounded);
                    let known = !sounded || self.dialect.turn_ended(&mut out);
                    self.turns.ended.push_back(Ended { sounded: !known, at: Instant::now() });
                }
            }
            for message in out.drain(..) {
                self.socket.send(message).await?;
            }
            self.answer_silent_turns().await;
        }
    }

    /// Turns without sound, or with all words known, wait for nothing.
    async fn answer_silent_turns(&mut self) {
        while self.turns.ended.front().is_some_and(|ended| !ended.sounded) {
            self.answer().await;
        }
    }

    /// The oldest turn is answered with its final words.
    async fn answer(&mut self) {
        self.turns.ended.pop_front();
        self.turns.partial.clear();
        self.turns.due = false;
        self.turns.heard = !self.turns.ended.is_empty();
        let text = std::mem::take(&mut self.turns.text);
        if let Language::One(language) = std::mem::take(&mut self.turns.language)
            && !text.is_empty()
        {
            let _ = self.reports.send(Ok(Heard::Language(language.to_owned()))).await;
        }
        // A receiver that is gone has closed the queue, too.
        let _ = self.reports.send(Ok(Heard::Turn(text))).await;
    }

    async fn apply(&mut self, report: Report) {
        match report {
            Report::Partial(text) => {
                self.turns.partial = text.trim().to_owned();
                let partial = join(&self.turns.text, &self.turns.partial);
                if !partial.is_empty() {
                    let _ = self.reports.try_send(Ok(Heard::Partial(partial)));
                }
            }
            Report::Final(text) => {
                self.turns.partial.clear();
                self.turns.due = false;
                self.turns.text = join(&self.turns.text, text.trim());
            }
            Report::Language(name) => {
                let Some(language) = language_of(&name).filter(|_| self.detects) else { return };
                self.turns.language = match self.turns.language {
                    Language::Unknown => Language::One(language),
                    Language::One(before) if before == language => Language::One(language),
                    Language::One(_) | Language::Several => Language::Several,
                };
            }
            Report::Due => self.turns.due = true,
            Report::Flushed => {
                if !self.turns.ended.is_empty() {
                    self.answer().await;
                    self.answer_silent_turns().await;
                }
            }
        }
    }

    /// Deadline for the answer of the oldest turn, and what happens then.
    fn due(&self) -> Option<(Instant, bool)> {
        let ended = self.turns.ended.front()?;
        let at_last = ended.at + self.peer.timeout;
        let nothing_open = self.turns.partial.is_empty() && !self.turns.due;
        let settles = match self.dialect.flush() {
            Flush::Always => None,
            Flush::Mostly(after) => (self.turns.heard && nothing_open).then_some(ended.at + after),
            Flush::Noticed(after) => nothing_open.then_some(ended.at + after),
            Flush::Never(after) => self.turns.heard.then_some(ended.at + after),
        };
        Some(settles.map_or((at_last, false), |at| (at.min(at_last), true)))
    }

    async fn answer_what_is_due(&mut self) -> Result<(), ProviderError> {
        while let Some((_, settles)) = self.due().filter(|(at, _)| *at <= Instant::now()) {
            if !settles {
                return Err(self.peer.timed_out("the words of a turn"));
            }
            if matches!(self.dialect.flush(), Flush::Never(_)) && !self.turns.partial.is_empty() {
                let partial = std::mem::take(&mut self.turns.partial);
                self.turns.text = join(&self.turns.text, &partial);
                self.dialect.partial_taken();
            }
            self.answer().await;
            self.answer_silent_turns().await;
        }
        Ok(())
    }

    fn wake_at(&self) -> Instant {
        let kept_alive = self.dialect.keep_alive().map(|(every, _)| self.last_sent + every);
        let due = self.due().map(|(at, _)| at);
        kept_alive.into_iter().chain(due).min().unwrap_or_else(|| Instant::now() + NEVER)
    }

    async fn keep_alive(&mut self) -> Result<(), ProviderError> {
        if let Some((every, message)) = self.dialect.keep_alive()
            && self.last_sent + every <= Instant::now()
        {
            self.last_sent = Instant::now();
            self.socket.send(message).await?;
        }
        Ok(())
    }
}

fn join(a: &str, b: &str) -> String {
    match (a.is_empty(), b.is_empty()) {
        (_, true) => a.to_owned(),
        (true, _) => b.to_owned(),
        _ => format!("{a} {b}"),
    }
}

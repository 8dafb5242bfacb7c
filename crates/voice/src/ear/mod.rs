//! The ear of a conversation: runs on the media thread, detects voice activity, and feeds the recogniser. The conversation's task gets events from it, and the time of the line: it asks to be woken
//! at a time. So every wait of a conversation is counted in ticks of its line, and a test can hold a call
//! faster than real time.

mod activity;
mod recorder;
mod tone;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ports::{Ear, FRAME, Frame, Listening, Tick};
use tokio::sync::mpsc;

use activity::{Activity, Change};
pub use recorder::{Recorder, Recording, Recordings, Silent};

/// Capacity of the queue of events; further ones are dropped. If the queue is full, the conversation has been stuck for
/// long.
const EVENTS: usize = 512;
/// After this much speech without a pause the words are requested anyway, milliseconds.
const LONG_MS: u32 = 12_000;
/// The same while a machine may have answered: longer than a person's greeting.
const GREETING_MS: u32 = 3_600;

/// Settings of an ear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HearingSettings {
    /// Silence after which the recogniser is asked for the words of the turn, milliseconds. The words decide
    /// whether the turn is over.
    pub pause_ms: u32,
    /// Sound before the beginning of speech that the recogniser is given, milliseconds.
    pub pre_roll_ms: u32,
}

impl Default for HearingSettings {
    fn default() -> Self {
        Self { pause_ms: 300, pre_roll_ms: 300 }
    }
}

/// Events of the ear. Times are milliseconds of the line, in ticks since the ear began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// Somebody began to speak at this time.
    Began(u64),
    /// They paused; the words were requested.
    Paused(Pause),
    /// They go on without a pause; the words so far were requested.
    Long(Pause),
    Digit(char),
    Beep,
    /// No packet for this long, milliseconds.
    Starved(u32),
    /// The wake-up time has come.
    Time,
    /// There will be no more sound.
    Closed,
}

/// Speech, as far as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    pub began: u64,
    pub ended: u64,
    /// How much of it was voiced, milliseconds.
    pub voiced_ms: u32,
    /// Syllables in it, roughly.
    pub syllables: u32,
    /// Whether the words were requested from a recogniser.
    pub asked: bool,
}

/// State shared by the ear and the conversation.
pub(crate) struct EarState {
    now: AtomicU64,
    wake_at: AtomicU64,
    listener: Mutex<Option<Arc<dyn Listening>>>,
    listeners: AtomicU32,
    greeting: AtomicBool,
    heard: AtomicBool,
    done: AtomicBool,
    dropped: AtomicU64,
}

impl EarState {
    /// Time of the line, milliseconds.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Acquire)
    }

    /// Sets the time of the next [`Event::Time`]; a later call replaces it.
    pub fn wake_at(&self, at: u64) {
        self.wake_at.store(at, Ordering::Release);
    }

    /// Feeds this recogniser from now on; `None` to feed none.
    pub fn feed(&self, listener: Option<Arc<dyn Listening>>) {
        *lock(&self.listener) = listener;
        self.listeners.fetch_add(1, Ordering::Release);
    }

    /// Sets whether there may be a machine.
    pub fn greeting(&self, on: bool) {
        self.greeting.store(on, Ordering::Release);
    }

    /// Whether any sound ever arrived.
    pub fn heard(&self) -> bool {
        self.heard.load(Ordering::Acquire)
    }

    /// The conversation is over: the recorder closes its file at the next tick.
    pub fn done(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// How many events were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The conversation's end of an ear.
pub struct Hearing {
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) state: Arc<EarState>,
    pub(crate) recording: Option<Recording>,
}

/// An ear for a line's sound thread, and the end that [`crate::hold`] takes. With a recorder, both sides are
/// recorded from the first tick.
pub fn hearing(
    settings: &HearingSettings,
    recorder: Option<(Recorder, Recording)>,
) -> (Box<dyn Ear>, Hearing) {
    let (sender, events) = mpsc::channel(EVENTS);
    let state = Arc::new(EarState {
        now: AtomicU64::new(0),
        wake_at: AtomicU64::new(u64::MAX),
        listener: Mutex::new(None),
        listeners: AtomicU32::new(0),
        greeting: AtomicBool::new(false),
        heard: AtomicBool::new(false),
        done: AtomicBool::new(false),
        dropped: AtomicU64::new(0),
    });
    let (recorder, recording) = recorder.unzip();
    let ear = Listener {
        activity: Activity::new(settings.pause_ms.clamp(100, 2000)),
        events: sender,
        state: Arc::clone(&state),
        recorder,
        before: VecDeque::new(),
        keep: usize::try_from(settings.pre_roll_ms.min(1000) / 20).unwrap_or(0),
        listener: None,
        seen: 0,
        now: 0,
        began: 0,
        asked_at_ms: 0,
    };
    (Box::new(ear), Hearing { events, state, recording })
}

struct Listener {
    activity: Activity,
    events: mpsc::Sender<Event>,
    state: Arc<EarState>,
    recorder: Option<Recorder>,
    /// The newest sound before speech.
    before: VecDeque<Frame>,
    keep: usize,
    listener: Option<Arc<dyn Listening>>,
    seen: u32,
    now: u64,
    began: u64,
    /// How far into the speech the words were last requested, milliseconds.
    asked_at_ms: u32,
}

impl Listener {
    fn tell(&self, event: Event) {
        if self.events.try_send(event).is_err() {
            self.state.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn look_for_listener(&mut self) {
        let newest = self.state.listeners.load(Ordering::Acquire);
        if newest != self.seen {
            self.seen = newest;
            self.listener = lock(&self.state.listener).clone();
            if self.activity.speaking() {
                self.feed_before();
            }
        }
    }

    fn pause(&self, silent_ms: u64) -> Pause {
        Pause {
            began: self.began,
            ended: self.now.saturating_sub(silent_ms),
            voiced_ms: self.activity.voiced_ms(),
            syllables: self.activity.syllables(),
            asked: self.listener.is_some(),
        }
    }

    /// Requests the words.
    fn ask(&self) {
        if let Some(listener) = &self.listener {
            listener.turn_ended();
        }
    }

    fn feed_before(&self) {
        if let Some(listener) = &self.listener {
            self.before.iter().for_each(|frame| listener.feed(frame));
        }
    }

    fn feed(&self, heard: &Frame, began: bool) {
        if began {
            self.feed_before();
        }
        if let Some(listener) = &self.listener {
            listener.feed(heard);
        }
    }

    fn changed(&mut self, change: Option<Change>) {
        match change {
            Some(Change::Began(ago)) => {
                self.began = self.now.saturating_sub(u64::from(ago));
                self.asked_at_ms = 0;
                self.tell(Event::Began(self.began));
            }
            Some(Change::Paused(silent)) => {
                self.ask();
                self.tell(Event::Paused(self.pause(u64::from(silent))));
            }
            None if self.activity.speaking() => {
                let long = if self.state.greeting.load(Ordering::Acquire) { GREETING_MS } else { LONG_MS };
                if self.activity.spoken_ms() >= self.asked_at_ms.saturating_add(long) {
                    self.asked_at_ms = self.activity.spoken_ms();
                    self.ask();
                    self.tell(Event::Long(self.pause(0)));
                }
            }
            None => {}
        }
    }
}

impl Ear for Listener {
    fn tick(&mut self, tick: Tick<'_>) {
        const SILENCE: Frame = [0; FRAME];
        self.now += 20;
        self.state.now.store(self.now, Ordering::Release);
        if tick.heard.is_some() {
            self.state.heard.store(true, Ordering::Release);
        }
        if self.state.done.load(Ordering::Acquire) {
            self.recorder = None;
            return;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.tick(tick.heard, tick.said);
        }
        self.look_for_listener();
        let before = self.activity.speaking();
        let change = self.activity.tick(tick.heard, tick.said);
        let heard = tick.heard.unwrap_or(&SILENCE);
        if before || self.activity.speaking() {
            self.feed(heard, !before);
        }
        // During speech, too: then the pre-roll of a word after a pause begins with the end of the word before
        // it, which does not disturb a recogniser.
        if self.keep > 0 {
            if self.before.len() >= self.keep {
                self.before.pop_front();
            }
            self.before.push_back(*heard);
        }
        if before && !self.activity.speaking() {
            self.before.clear();
        }
        self.changed(change);
        if self.activity.beeped() {
            self.tell(Event::Beep);
        }
        if self.now >= self.state.wake_at.load(Ordering::Acquire) {
            self.state.wake_at.store(u64::MAX, Ordering::Release);
            self.tell(Event::Time);
        }
    }

    fn digit(&mut self, key: char) {
        self.tell(Event::Digit(key));
    }

    fn starved(&mut self, ms: u32) {
        self.tell(Event::Starved(ms));
    }

    fn closed(&mut self) {
        self.recorder = None;
        if self.activity.speaking() {
            self.ask();
            self.tell(Event::Paused(self.pause(0)));
        }
        self.tell(Event::Closed);
    }
}

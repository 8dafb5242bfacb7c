//! Synthesis pipeline: one sentence at a time, each synthesised while the previous one plays.

use std::collections::VecDeque;
use std::sync::Arc;

use domain::ports::{SpeakOrder, Synthesiser};

use crate::work::{self, Guard, Reports};

/// The next sentence is begun when less sound than this is left, milliseconds. More would be paid for and discarded
/// when the customer interrupts.
const LOOK_AHEAD_MS: u64 = 4000;
/// The next sentence is checked this long before it is begun, milliseconds.
const LOOK_EARLY_MS: u64 = 500;
/// Time-out of a sentence without sound, milliseconds.
const MUTE_MS: u64 = 20_000;

/// The sentence in synthesis.
struct Current {
    piece: u64,
    text: String,
    way: Way,
    sounded: bool,
    /// It has failed once.
    again: bool,
    /// When it was begun, or last got sound, time of the line.
    active_at: u64,
    _task: Guard,
}

/// The voice and the language of a sentence.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) voice: String,
    pub(super) language: String,
}

/// The outcome of a failed sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is retried once.
    Again,
    Lost,
}

/// Synthesises sentences, in order.
pub(super) struct Speaker {
    synthesiser: Arc<dyn Synthesiser>,
    way: Way,
    reports: Reports,
    queue: VecDeque<(u64, String, Way)>,
    current: Option<Current>,
}

impl Speaker {
    /// Speaks with this voice of the synthesiser; sound comes as reports.
    pub fn new(synthesiser: Arc<dyn Synthesiser>, way: Way, reports: Reports) -> Self {
        Self { synthesiser, way, reports, queue: VecDeque::new(), current: None }
    }

    /// Sentences that are added from now on are spoken in this way.
    pub fn speak(&mut self, way: Way) {
        self.way = way;
    }

    /// Adds a sentence.
    pub fn push(&mut self, piece: u64, text: String) {
        self.queue.push_back((piece, text, self.way.clone()));
    }

    /// Whether no sentence is in synthesis or queued.
    pub fn idle(&self) -> bool {
        self.queue.is_empty() && self.current.is_none()
    }

    /// Drops everything without sound.
    pub fn cancel(&mut self) {
        self.queue.clear();
        self.current = None;
    }

    /// Begins the next sentence when it is time, with `left_ms` of sound left.
    pub fn pump(&mut self, left_ms: u64, now: u64) {
        if self.current.is_none()
            && left_ms < LOOK_AHEAD_MS
            && let Some((piece, text, way)) = self.queue.pop_front()
        {
            self.make(piece, text, way, false, now);
        }
    }

    /// When to begin the next sentence, with `left_ms` of sound left, and the time-out of the current one.
    pub fn due(&self, left_ms: u64, now: u64) -> impl Iterator<Item = u64> {
        let waits = self.current.is_none() && !self.queue.is_empty();
        let next = waits.then(|| now + left_ms.saturating_sub(LOOK_AHEAD_MS - LOOK_EARLY_MS).max(20));
        let give_up = self.current.as_ref().map(|current| current.active_at + MUTE_MS);
        next.into_iter().chain(give_up)
    }

    /// The sentence whose synthesis has timed out.
    pub fn mute_piece(&self, now: u64) -> Option<u64> {
        let mute = self.current.as_ref().filter(|current| now >= current.active_at + MUTE_MS);
        mute.map(|current| current.piece)
    }

    /// Moves the time-out by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        if let Some(current) = &mut self.current {
            current.active_at += by;
        }
    }

    fn make(&mut self, piece: u64, text: String, way: Way, again: bool, now: u64) {
        let order =
            SpeakOrder { text: text.clone(), voice: way.voice.clone(), language: way.language.clone() };
        let task = work::speak(&self.reports, &self.synthesiser, piece, order);
        self.current = Some(Current { piece, text, way, sounded: false, again, active_at: now, _task: task });
    }

    /// Sound has come; true if it is still wanted.
    pub fn sounded(&mut self, piece: u64, now: u64) -> bool {
        let current = self.current.as_mut().filter(|current| current.piece == piece);
        current.map(|current| (current.sounded, current.active_at) = (true, now)).is_some()
    }

    /// The sentence is whole; true if it is still wanted.
    pub fn ended(&mut self, piece: u64) -> bool {
        self.current.take_if(|current| current.piece == piece).is_some()
    }

    /// The sentence failed. If it has not sounded yet it is retried once; `None` if it is not wanted any longer.
    pub fn failed(&mut self, piece: u64, now: u64) -> Option<Outcome> {
        let current = self.current.take_if(|current| current.piece == piece)?;
        if current.sounded || current.again {
            return Some(Outcome::Lost);
        }
        self.make(piece, current.text, current.way, true, now);
        Some(Outcome::Again)
    }
}

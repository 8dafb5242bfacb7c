//! Sentences on their way to sound: one is made at a time, the next while the last still sounds.

use std::collections::VecDeque;
use std::sync::Arc;

use domain::ports::{SpeakOrder, Synthesiser};

use crate::work::{self, Guard, Reports};

/// Made sound below which the next sentence is begun, milliseconds. More would be paid for and thrown away
/// when the customer interrupts.
const LOOK_AHEAD_MS: u64 = 4000;

struct Current {
    piece: u64,
    text: String,
    sounded: bool,
    again: bool,
    /// When it was begun, or last gave sound, time of the line.
    active_at: u64,
    _task: Guard,
}

/// What a failed piece means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is being tried once more.
    Again,
    /// It is lost.
    Lost,
}

pub(crate) struct Speaker {
    synthesiser: Arc<dyn Synthesiser>,
    voice: String,
    language: String,
    queue: VecDeque<(u64, String)>,
    current: Option<Current>,
}

impl Speaker {
    pub fn new(synthesiser: Arc<dyn Synthesiser>, voice: String, language: String) -> Self {
        Self { synthesiser, voice, language, queue: VecDeque::new(), current: None }
    }

    pub fn push(&mut self, piece: u64, text: String) {
        self.queue.push_back((piece, text));
    }

    /// Whether no sound is being made or waits to be.
    pub fn idle(&self) -> bool {
        self.queue.is_empty() && self.current.is_none()
    }

    /// Drops all that is not sound yet.
    pub fn cancel(&mut self) {
        self.queue.clear();
        self.current = None;
    }

    /// Begins the next sentence when it is time; `left_ms` of sound are there.
    pub fn pump(&mut self, to: &Reports, left_ms: u64, now: u64) {
        if self.current.is_none()
            && left_ms < LOOK_AHEAD_MS
            && let Some((piece, text)) = self.queue.pop_front()
        {
            self.make(to, piece, text, false, now);
        }
    }

    /// When to pump again, milliseconds from now; none while it is not time that is waited for.
    pub fn due(&self, left_ms: u64) -> Option<u64> {
        (self.current.is_none() && !self.queue.is_empty())
            .then(|| left_ms.saturating_sub(LOOK_AHEAD_MS - 500).max(20))
    }

    /// Since when the sound of a sentence is waited for.
    pub fn waits_since(&self) -> Option<u64> {
        self.current.as_ref().map(|current| current.active_at)
    }

    /// The sentence that has given no sound since this time.
    pub fn silent_since(&self, at: u64) -> Option<u64> {
        self.current.as_ref().filter(|current| current.active_at <= at).map(|current| current.piece)
    }

    /// Moves the wait on by what a hold took.
    pub fn shift(&mut self, by: u64) {
        if let Some(current) = &mut self.current {
            current.active_at += by;
        }
    }

    fn make(&mut self, to: &Reports, piece: u64, text: String, again: bool, now: u64) {
        let order =
            SpeakOrder { text: text.clone(), voice: self.voice.clone(), language: self.language.clone() };
        let task = work::speak(to, &self.synthesiser, piece, order);
        self.current = Some(Current { piece, text, sounded: false, again, active_at: now, _task: task });
    }

    /// Sound came; whether it is still wanted.
    pub fn sounded(&mut self, piece: u64, now: u64) -> bool {
        let current = self.current.as_mut().filter(|current| current.piece == piece);
        current.map(|current| (current.sounded, current.active_at) = (true, now)).is_some()
    }

    /// The piece is whole; whether anybody still wants it.
    pub fn ended(&mut self, piece: u64) -> bool {
        let ended = self.current.take_if(|current| current.piece == piece);
        ended.is_some()
    }

    /// The piece failed. What did not sound yet is tried once more; none when nobody wants it any longer.
    pub fn failed(&mut self, to: &Reports, piece: u64, now: u64) -> Option<Failure> {
        let current = self.current.take_if(|current| current.piece == piece)?;
        if current.sounded || current.again {
            return Some(Failure::Lost);
        }
        self.make(to, piece, current.text, true, now);
        Some(Failure::Again)
    }
}

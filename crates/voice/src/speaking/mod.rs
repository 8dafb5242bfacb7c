//! Speech output: text is split into sentences, sentences are synthesised, audio is queued for playout. What was sent
//! counts as heard.

mod playout;
mod ringing;
mod speaker;

use std::sync::Arc;

use domain::conversation::speakable::Speakable;
use domain::ports::{Mouth, Synthesiser};
use domain::speech::sentences;

use crate::work::Reports;
use playout::Playout;
pub(crate) use playout::{Kind, Spoken};
use speaker::{Outcome, Speaker, Way};

/// Sentences in a row that no synthesiser could speak, after which the voice has failed.
const MOST_LOST: u32 = 2;
/// The ringing tone goes on when less of it than this is left, milliseconds.
const RINGING_LOW_MS: u64 = 500;

/// What the loss of a sentence means for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A sentence is missing.
    Sentence,
    /// The voice has failed in the middle of the call.
    Voice,
    /// The voice has failed before the agent was ever heard.
    NeverHeard,
}

/// Everything that the agent says. Times are of the line.
pub(crate) struct AgentVoice {
    playout: Playout,
    speaker: Speaker,
    speakable: Speakable,
    newest_id: u64,
    lost_in_a_row: u32,
    /// The agent's sound was on the line.
    heard: bool,
}

impl AgentVoice {
    /// Speaks into `mouth` with this voice of the synthesiser.
    pub fn new(
        mouth: Arc<dyn Mouth>,
        synthesiser: Arc<dyn Synthesiser>,
        voice: String,
        language: String,
        speakable: Speakable,
        reports: Reports,
    ) -> Self {
        Self {
            playout: Playout::new(mouth),
            speaker: Speaker::new(synthesiser, Way { voice, language }, reports),
            speakable,
            newest_id: 0,
            lost_in_a_row: 0,
            heard: false,
        }
    }

    /// What is said from now on is in this language, with this voice.
    pub fn speak(&mut self, voice: &str, language: &str) {
        self.speaker.speak(Way { voice: voice.to_owned(), language: language.to_owned() });
        self.speakable = self.speakable.in_language(language);
    }

    fn id(&mut self) -> u64 {
        self.newest_id += 1;
        self.newest_id
    }

    // --- texts

    /// Begins an utterance after what is being said; its sentences follow.
    pub fn begin(&mut self, kind: Kind) -> u64 {
        let utterance = self.id();
        self.playout.begin(utterance, kind);
        utterance
    }

    /// Adds a whole sentence to an utterance. The synthesiser gets its spoken form.
    pub fn push(&mut self, utterance: u64, sentence: &str) {
        let piece = self.id();
        let spoken = self.speakable.prepare(sentence);
        self.speaker.push(piece, spoken.said().to_owned());
        self.playout.add_piece(utterance, piece, spoken);
    }

    /// No more sentences will come.
    pub fn finish(&mut self, utterance: u64) {
        self.playout.finish(utterance);
    }

    /// The model has written the utterance: it is in the interpreter's history from now on.
    pub fn written(&mut self, utterance: u64) {
        self.playout.written(utterance);
    }

    /// Says a text after what is being said.
    pub fn say(&mut self, kind: Kind, text: &str) -> u64 {
        let utterance = self.begin(kind);
        for sentence in sentences(text) {
            self.push(utterance, &sentence);
        }
        self.finish(utterance);
        utterance
    }

    /// The utterance is this text of the interpreter, which learns when it has sounded.
    pub fn number(&mut self, utterance: u64, said: u64) {
        self.playout.number(utterance, said);
    }

    // --- sound

    /// Takes sound of a sentence; false if it is not wanted any more.
    pub fn sound(&mut self, piece: u64, samples: &[i16], now: u64) -> bool {
        if !self.speaker.sounded(piece, now) || samples.is_empty() {
            return false;
        }
        self.playout.append(piece, samples);
        self.lost_in_a_row = 0;
        self.heard = true;
        true
    }

    /// The sound of a sentence is whole.
    pub fn sound_ended(&mut self, piece: u64) {
        if self.speaker.ended(piece) {
            self.playout.end_piece(piece);
        }
    }

    /// A sentence could not be spoken. `None` while it is retried, or is not wanted any more.
    pub fn sound_failed(&mut self, piece: u64, now: u64) -> Option<Lost> {
        match self.speaker.failed(piece, now)? {
            Outcome::Again => return None,
            Outcome::Lost => self.playout.end_piece(piece),
        }
        self.lost_in_a_row += 1;
        Some(match (self.heard, self.lost_in_a_row) {
            (false, _) => Lost::NeverHeard,
            (true, MOST_LOST..) => Lost::Voice,
            (true, _) => Lost::Sentence,
        })
    }

    /// The sentence whose synthesis has timed out.
    pub fn mute_piece(&self, now: u64) -> Option<u64> {
        self.speaker.mute_piece(now)
    }

    /// Whether the agent was ever heard.
    pub fn heard(&self) -> bool {
        self.heard
    }

    // --- the line

    /// Fills the playout buffer. Returns the utterances that were heard to their end.
    pub fn pump(&mut self, now: u64) -> Vec<Spoken> {
        self.playout.pump(now)
    }

    /// The utterances that were heard to their end by now.
    pub fn over(&mut self, now: u64) -> Vec<Spoken> {
        self.playout.over(now)
    }

    /// Synthesises the next sentence when it is time.
    pub fn synthesise(&mut self, now: u64) {
        self.speaker.pump(self.playout.left_ms(), now);
    }

    /// Plays the ringing tone while nothing else sounds.
    pub fn ring(&mut self) {
        if self.silent() && self.speaker.idle() && self.playout.left_ms() < RINGING_LOW_MS {
            self.playout.append_plain(ringing::cadence());
            self.playout.top_up();
        }
    }

    /// Presses keys on the line; false if it takes none.
    pub fn press_keys(&self, keys: &str) -> bool {
        self.playout.press_keys(keys)
    }

    /// Pauses; unsent sound is kept.
    pub fn pause(&mut self) {
        self.playout.pause();
    }

    /// Resumes.
    pub fn resume(&mut self) {
        self.playout.resume();
    }

    /// Stops speaking, and returns what was heard of the cut-off utterances, in order.
    pub fn cut_off(&mut self, now: u64) -> Vec<Spoken> {
        self.speaker.cancel();
        self.playout.discard(now)
    }

    /// Whether there is nothing to say and everything was sent.
    pub fn idle(&self) -> bool {
        self.playout.idle() && self.speaker.idle()
    }

    /// Whether no words are being spoken, whatever else sounds.
    pub fn silent(&self) -> bool {
        self.playout.silent()
    }

    /// Sound that is made and not yet sent, milliseconds.
    pub fn left_ms(&self) -> u64 {
        self.playout.left_ms()
    }

    /// Whether every sentence has become sound.
    pub fn all_made(&self) -> bool {
        self.speaker.idle()
    }

    /// When the first sample of an utterance under way was sent.
    pub fn started(&self, utterance: u64) -> Option<u64> {
        self.playout.started(utterance)
    }

    // --- time

    /// Deadlines: to fill the playout buffer, to synthesise a sentence, or of a time-out.
    pub fn due(&self, now: u64) -> impl Iterator<Item = u64> {
        let line = self.playout.due().map(|ms| now + ms);
        line.into_iter().chain(self.speaker.due(self.playout.left_ms(), now))
    }

    /// Moves the time-out by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        self.speaker.shift(by);
    }
}

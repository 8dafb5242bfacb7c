//! A streamed turn of the language model.

use domain::conversation::Input;
use domain::ports::{ModelReply, Said};
use domain::speech::SentenceSplitter;

use crate::work::Guard;

/// The model's output so far.
pub(crate) struct ModelTurn {
    request: u64,
    utterance: Option<u64>,
    splitter: SentenceSplitter,
    reply: ModelReply,
    /// When it was requested, or last sent something, time of the line.
    active_at: u64,
    _task: Guard,
}

impl ModelTurn {
    /// The model is called now.
    pub fn begin(request: u64, now: u64, task: Guard) -> Self {
        Self {
            request,
            utterance: None,
            splitter: SentenceSplitter::new(),
            reply: ModelReply::default(),
            active_at: now,
            _task: task,
        }
    }

    /// The interpreter's request that it answers.
    pub fn request(&self) -> u64 {
        self.request
    }

    /// The utterance of its words, once there are any.
    pub fn utterance(&self) -> Option<u64> {
        self.utterance
    }

    /// Its words are spoken in this utterance.
    pub fn spoken_in(&mut self, utterance: u64) {
        self.utterance = Some(utterance);
    }

    /// When it was requested, or last sent something.
    pub fn active_at(&self) -> u64 {
        self.active_at
    }

    /// Moves its deadline by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        self.active_at += by;
    }

    /// Takes output of the model; returns the complete sentences.
    pub fn take(&mut self, said: Said) -> Vec<String> {
        let sentences = match &said {
            Said::Text(text) => self.splitter.push(text),
            Said::Exit(_) | Said::Tool(_) | Said::End(_) => Vec::new(),
        };
        self.reply.take(said);
        sentences
    }

    /// The model sent something.
    pub fn heard_at(&mut self, now: u64) {
        self.active_at = now;
    }

    /// The last words, when the model stopped within a sentence.
    pub fn finish(&mut self) -> Option<String> {
        self.splitter.finish()
    }

    /// Whether it neither said nor decided anything.
    pub fn empty(&self) -> bool {
        self.reply.is_empty()
    }

    /// The turn in the form of the interpreter.
    pub fn into_input(self) -> Input {
        self.reply.into_input(self.request)
    }

    pub fn text(&self) -> &str {
        self.reply.text()
    }
}

//! A streamed turn of the language model.

use domain::conversation::Input;
use domain::ports::{ModelReply, Said};
use domain::speech::SentenceSplitter;

use crate::work::Guard;

/// What the model has said and decided so far.
pub(crate) struct ModelTurn {
    request: u64,
    utterance: Option<u64>,
    splitter: SentenceSplitter,
    reply: ModelReply,
    /// When it was asked, or last said something, time of the line.
    active_at: u64,
    _task: Guard,
}

impl ModelTurn {
    /// The model is asked now.
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

    /// The utterance that its words are spoken in, once there are any.
    pub fn utterance(&self) -> Option<u64> {
        self.utterance
    }

    /// Its words are spoken in this utterance.
    pub fn spoken_in(&mut self, utterance: u64) {
        self.utterance = Some(utterance);
    }

    /// When it was asked, or last said something.
    pub fn active_at(&self) -> u64 {
        self.active_at
    }

    /// Moves its wait on by what a hold took.
    pub fn shift(&mut self, by: u64) {
        self.active_at += by;
    }

    /// Takes what the model said; returns the sentences that are whole now.
    pub fn take(&mut self, said: Said) -> Vec<String> {
        let sentences = match &said {
            Said::Text(text) => self.splitter.push(text),
            Said::Exit(_) | Said::Tool(_) | Said::End(_) => Vec::new(),
        };
        self.reply.take(said);
        sentences
    }

    /// The model is alive.
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

    /// The turn as the interpreter takes it.
    pub fn into_input(self) -> Input {
        self.reply.into_input(self.request)
    }

    pub fn text(&self) -> &str {
        self.reply.text()
    }
}

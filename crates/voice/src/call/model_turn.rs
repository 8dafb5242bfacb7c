//! A turn of the language model, while it is being written.

use domain::conversation::{Input, ModelToolCall};
use domain::ports::Said;
use domain::speech::SentenceSplitter;

use crate::work::Guard;

/// What the model has said and decided so far.
pub(crate) struct ModelTurn {
    request: u64,
    utterance: Option<u64>,
    splitter: SentenceSplitter,
    text: String,
    exit: Option<usize>,
    tool_calls: Vec<ModelToolCall>,
    end: bool,
    outcome: Option<String>,
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
            text: String::new(),
            exit: None,
            tool_calls: Vec::new(),
            end: false,
            outcome: None,
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
        match said {
            Said::Text(text) => {
                self.text.push_str(&text);
                return self.splitter.push(&text);
            }
            Said::Exit(exit) => self.exit = Some(exit),
            Said::Tool(call) => self.tool_calls.push(call),
            Said::End(outcome) => {
                self.end = true;
                self.outcome = outcome;
            }
        }
        Vec::new()
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
        self.exit.is_none() && !self.end && self.tool_calls.is_empty() && self.text.trim().is_empty()
    }

    /// The turn as the interpreter takes it.
    pub fn into_input(self) -> Input {
        Input::ModelSaid {
            request: self.request,
            text: self.text,
            exit: self.exit,
            tool_calls: self.tool_calls,
            end: self.end,
            outcome: self.outcome,
        }
    }

    /// What it said.
    pub fn text(&self) -> &str {
        &self.text
    }
}

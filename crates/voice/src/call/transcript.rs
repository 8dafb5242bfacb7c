//! The transcript: turns of agent and customer, with times since the answer.

use domain::call::TimedTurn;
use domain::conversation::Role;

use super::clock::since;
use crate::speaking::Spoken;

/// A turn, and the utterance it was when the agent's.
struct Entry {
    utterance: Option<u64>,
    turn: TimedTurn,
}

/// Turns as far as the call has gone.
pub(crate) struct Transcript {
    /// Time of the line at the answer.
    origin: u64,
    entries: Vec<Entry>,
}

impl Transcript {
    /// Begins at this time of the line.
    pub fn new(origin: u64) -> Self {
        Self { origin, entries: Vec::new() }
    }

    /// Adds what was heard of an utterance, if anything was.
    pub fn agent(&mut self, spoken: Spoken) {
        if let (Some(started), false) = (spoken.started_at, spoken.heard.is_empty()) {
            self.add(Some(spoken.id), Role::Agent, spoken.heard, started, spoken.ended_at);
        }
    }

    /// Adds words or keys of the customer, with the times of the line at which they began and ended.
    pub fn customer(&mut self, text: String, began: u64, ended: u64) {
        self.add(None, Role::Customer, text, began, ended);
    }

    fn add(&mut self, utterance: Option<u64>, role: Role, text: String, began: u64, ended: u64) {
        let after = |at: u64| since(at, self.origin);
        let turn = TimedTurn { role, text, start_ms: after(began), end_ms: after(ended.max(began)) };
        self.entries.push(Entry { utterance, turn });
    }

    /// Turns so far.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// What the customer said last.
    pub fn last_of_customer(&self) -> Option<&str> {
        let last = self.entries.iter().rev().find(|entry| entry.turn.role == Role::Customer)?;
        Some(&last.turn.text)
    }

    /// When an utterance that is over began, time of the line.
    pub fn started(&self, utterance: u64) -> Option<u64> {
        let entry = self.entries.iter().find(|entry| entry.utterance == Some(utterance))?;
        u64::try_from(entry.turn.start_ms).ok().map(|start| start + self.origin)
    }

    /// Sorts the turns by their beginning. What comes after looks them up by their place.
    pub fn sort(&mut self) {
        self.entries.sort_by_key(|entry| entry.turn.start_ms);
    }

    /// The place of an utterance among the turns.
    pub fn place(&self, utterance: u64) -> Option<usize> {
        self.entries.iter().position(|entry| entry.utterance == Some(utterance))
    }

    pub fn into_turns(self) -> Vec<TimedTurn> {
        self.entries.into_iter().map(|entry| entry.turn).collect()
    }
}

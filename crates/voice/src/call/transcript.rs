//! The transcript: turns of agent and customer, with times since the answer.

use domain::call::TimedTurn;
use domain::conversation::Role;
use domain::conversation::redaction::{self, LOOKED_BACK};

use super::clock::since;
use crate::ear::Silent;
use crate::speaking::Spoken;

/// A turn, and the utterance it was when the agent's.
struct Entry {
    utterance: Option<u64>,
    turn: TimedTurn,
    /// Something in it must not be kept.
    silent: bool,
    /// It is new, or its words are.
    changed: bool,
    /// Not all of it was heard.
    cut_off: bool,
}

/// Turns as far as the call has gone.
pub(crate) struct Transcript {
    /// Time of the line at the answer.
    origin: u64,
    /// The language in which what must not be kept is looked for, if it is.
    redact: Option<String>,
    entries: Vec<Entry>,
}

impl Transcript {
    /// Begins at this time of the line. With a language, what must not be kept is taken out.
    pub fn new(origin: u64, redact: Option<String>) -> Self {
        Self { origin, redact, entries: Vec::new() }
    }

    /// Adds what was heard of an utterance, if anything was.
    pub fn agent(&mut self, spoken: Spoken) {
        if let (Some(started), false) = (spoken.started_at, spoken.heard.is_empty()) {
            self.add(Some(spoken.id), Role::Agent, spoken.heard, started, spoken.ended_at, false);
            if let (true, Some(last)) = (spoken.cut_off, self.entries.last_mut()) {
                last.cut_off = true;
            }
        }
    }

    /// Adds words or keys of the customer, with the times of the line at which they began and ended.
    pub fn customer(&mut self, text: String, began: u64, ended: u64) {
        self.add(None, Role::Customer, text, began, ended, false);
    }

    /// Adds what may be kept of words or keys of the customer that may not be kept as they are.
    pub fn hidden(&mut self, kept: String, began: u64, ended: u64) {
        self.add(None, Role::Customer, kept, began, ended, true);
    }

    fn add(
        &mut self,
        utterance: Option<u64>,
        role: Role,
        text: String,
        began: u64,
        ended: u64,
        silent: bool,
    ) {
        let after = |at: u64| since(at, self.origin);
        let (start_ms, end_ms) = (after(began), after(ended.max(began)));
        let turn = TimedTurn { role, text, start_ms, end_ms, language: None };
        self.entries.push(Entry { utterance, turn, silent, changed: true, cut_off: false });
        self.redact_from(self.entries.len().saturating_sub(LOOKED_BACK + 1));
    }

    /// Takes out of these turns what must not be kept.
    fn redact_from(&mut self, first: usize) {
        let Some(language) = &self.redact else { return };
        let newest = self.entries.get(first..).unwrap_or_default();
        let turns: Vec<(Role, &str)> =
            newest.iter().map(|entry| (entry.turn.role, entry.turn.text.as_str())).collect();
        for (at, text) in redaction::turns(&turns, language) {
            if let Some(entry) = self.entries.get_mut(first + at) {
                entry.changed |= entry.turn.text != text;
                entry.turn.text = text;
                entry.silent = true;
            }
        }
    }

    /// The turns that are new, or whose words are, since the last time, each with its number.
    pub fn take_changed(&mut self) -> Vec<(usize, &TimedTurn)> {
        let changed = self.entries.iter_mut().enumerate();
        let changed =
            changed.filter_map(|(number, entry)| std::mem::take(&mut entry.changed).then_some(number));
        let numbers: Vec<usize> = changed.collect();
        numbers.into_iter().map(|number| (number, &self.entries[number].turn)).collect()
    }

    /// What may be shown of what the customer is saying, after the turns so far.
    pub fn showable(&self, text: &str) -> String {
        let Some(language) = &self.redact else { return text.to_owned() };
        let before = self.entries.iter().skip(self.entries.len().saturating_sub(LOOKED_BACK));
        let mut turns: Vec<(Role, &str)> =
            before.map(|entry| (entry.turn.role, entry.turn.text.as_str())).collect();
        turns.push((Role::Customer, text));
        let newest = turns.len() - 1;
        let redacted = redaction::turns(&turns, language).into_iter().find(|(at, _)| *at == newest);
        redacted.map_or_else(|| text.to_owned(), |(_, text)| text)
    }

    /// The parts of the line's time in which something was said that must not be kept.
    pub fn silent(&self) -> Vec<Silent> {
        let at = |ms: i64| u64::try_from(ms).unwrap_or(0) + self.origin;
        let parts = self.entries.iter().filter(|entry| entry.silent).map(|entry| &entry.turn);
        parts
            .map(|turn| Silent {
                customer: turn.role == Role::Customer,
                from_ms: at(turn.start_ms),
                to_ms: at(turn.end_ms),
            })
            .collect()
    }

    /// The conversation goes on in this language because of what the customer said last.
    pub fn switched(&mut self, language: &str) {
        if let Some(last) = self.entries.iter_mut().rfind(|entry| entry.turn.role == Role::Customer) {
            last.turn.language = Some(language.to_owned());
        }
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
        self.redact_from(0);
    }

    /// The place of an utterance among the turns.
    pub fn place(&self, utterance: u64) -> Option<usize> {
        self.entries.iter().position(|entry| entry.utterance == Some(utterance))
    }

    /// The places of the turns of which the customer did not hear all.
    pub fn cut_off(&self) -> Vec<usize> {
        self.entries.iter().enumerate().filter(|(_, entry)| entry.cut_off).map(|(place, _)| place).collect()
    }

    pub fn into_turns(self) -> Vec<TimedTurn> {
        self.entries.into_iter().map(|entry| entry.turn).collect()
    }
}

//! The speech recogniser of a call, and failover to another one.

use std::sync::Arc;

use domain::conversation::Expected;
use domain::ports::{Hints, ListenOrder, Listening, Recogniser};

use super::machine::ANNOUNCEMENTS;
use crate::ear::EarState;
use crate::work::{self, Guard, Reports};

/// Failures in a row after which no recogniser is opened any more.
const MOST_FAILURES: u32 = 2;

/// Listens through one recogniser at a time; reports of earlier ones do not count.
pub(crate) struct Recognition {
    recogniser: Arc<dyn Recogniser>,
    order: ListenOrder,
    phrases: Vec<String>,
    ear: Arc<EarState>,
    reports: Reports,
    generation: u64,
    task: Option<Guard>,
    listening: Option<Arc<dyn Listening>>,
    failures: u32,
    /// A machine may be speaking.
    greeting: bool,
}

impl Recognition {
    /// Nothing listens yet. `greeting` says that a machine may speak first.
    pub fn new(
        recogniser: Arc<dyn Recogniser>,
        order: ListenOrder,
        phrases: Vec<String>,
        ear: Arc<EarState>,
        reports: Reports,
        greeting: bool,
    ) -> Self {
        let (generation, failures) = (0, 0);
        Self {
            recogniser,
            order,
            phrases,
            ear,
            reports,
            generation,
            task: None,
            listening: None,
            failures,
            greeting,
        }
    }

    /// Opens a recogniser in place of the last.
    pub fn open(&mut self) {
        self.close();
        self.generation += 1;
        let order = self.order.clone();
        self.task = Some(work::listen(&self.reports, &self.recogniser, self.generation, order));
    }

    /// The customer speaks another language. Returns whether a recogniser had to be opened anew for it.
    pub fn follow(&mut self, language: &str) -> bool {
        let before = std::mem::replace(&mut self.order.language, language.to_owned());
        self.order.others.retain(|other| other != language);
        self.order.others.push(before);
        let follows = self.listening.as_ref().is_some_and(|listening| listening.follow(language));
        if !follows {
            self.open();
        }
        !follows
    }

    /// The recogniser listens; the ear feeds it from now on.
    pub fn opened(&mut self, listening: Arc<dyn Listening>, expected: Option<&Expected>) {
        self.ear.feed(Some(Arc::clone(&listening)));
        self.listening = Some(listening);
        self.hint(expected);
    }

    /// Whether a report comes from the recogniser that was opened last.
    pub fn is_current(&self, generation: u64) -> bool {
        generation == self.generation
    }

    /// Passes the expected answer to the recogniser as hints.
    pub fn hint(&self, expected: Option<&Expected>) {
        if let Some(listening) = &self.listening {
            let announcements = if self.greeting { &ANNOUNCEMENTS[..] } else { &[] };
            let mut phrases = self.phrases.clone();
            phrases.extend(announcements.iter().map(|text| (*text).to_owned()));
            listening.expect(Hints { expected: expected.cloned(), phrases });
        }
    }

    /// The greeting is over.
    pub fn greeted(&mut self, expected: Option<&Expected>) {
        if std::mem::take(&mut self.greeting) {
            self.hint(expected);
        }
    }

    /// Requests the words of the current turn; true if a recogniser will report them now.
    pub fn ask(&self) -> bool {
        self.listening.as_ref().map(|listening| listening.turn_ended()).is_some()
    }

    pub fn worked(&mut self) {
        self.failures = 0;
    }

    /// The recogniser failed. Opens another; false when too many have failed in a row.
    pub fn failed(&mut self) -> bool {
        self.failures += 1;
        if self.failures > MOST_FAILURES {
            self.close();
            return false;
        }
        self.open();
        true
    }

    pub fn close(&mut self) {
        self.task = None;
        self.listening = None;
        self.ear.feed(None);
    }
}

//! Answering machine detection (AMD). A person says a short greeting and waits; a machine talks on, announces itself,
//! or beeps. Assistants that screen calls and announcements of operators say what they are.
//!
//! Voice activity alone decides nothing: a long greeting counts if words were understood in it or it has the syllables
//! of speech, and tones do not count as voice. A machine whose words were not understood is taken for a person until it
//! beeps, so [`Doubt`] remains for a while.

use domain::speech::{self, Machine};

/// Silence after the answer after which the agent speaks, milliseconds.
const PATIENCE_MS: u64 = 1500;
/// Silence after a greeting by which it was a person's, who waits.
const WAITING_MS: u64 = 500;
/// Longest wait for the words of a greeting after its end.
const WORDS_MS: u64 = 1200;
/// Syllables of speech in a long greeting that no recogniser understood.
const SYLLABLES: u32 = 5;
/// A greeting that begins later than this is an answer to the silence, not a machine's announcement.
const EARLY_MS: u64 = 4000;
/// If it is not clear by then, it is a person.
const LONGEST_MS: u64 = 12_000;

/// Who speaks later than this after the last words, milliseconds, replies to the agent: machines go on sooner.
const GOES_ON_MS: u64 = 4000;
/// How long after its words a machine beeps at the latest, milliseconds. They pause for 300 to 1000, and a beep is
/// known after 160.
pub(crate) const BEEPS_WITHIN_MS: u64 = 1500;

/// Phrases of machines in English, for recognisers that know only expected phrases.
pub(crate) const ANNOUNCEMENTS: [&str; 16] = [
    "please leave a message after the tone",
    "please leave a message after the beep",
    "please leave your message after the tone",
    "please leave your message after the beep",
    "please leave a message",
    "leave a message after the tone",
    "please record your message after the tone",
    "you have reached the voicemail",
    "the person you are calling is not available",
    "the person you are calling is not answering",
    "the number you are calling is switched off",
    "the number you are calling is currently busy",
    "the person you are calling is busy",
    "please stay on the line",
    "please record your name and reason for calling",
    "please say your name and why you are calling",
];

/// Whether there may be a machine although it was taken for a person: so far nothing was said that a machine would not
/// say. Times are milliseconds of the line.
#[derive(Debug)]
pub(crate) struct Doubt {
    until: Option<u64>,
}

impl Doubt {
    /// Nobody is known to be there, or, without detection of machines, a person is.
    pub fn new(detects: bool) -> Self {
        Self { until: detects.then_some(u64::MAX) }
    }

    /// The greeting, or the silence in its place, was over at this time.
    pub fn greeted(&mut self, ended: u64) {
        self.until = self.until.map(|_| ended + GOES_ON_MS);
    }

    /// Somebody begins to speak: a person, if it is late.
    pub fn began(&mut self, at: u64) {
        self.until = self.until.filter(|until| at < *until);
    }

    /// What was said in doubt is over; more of it may follow.
    pub fn paused(&mut self, ended: u64) {
        self.until = self.until.map(|until| until.max(ended.saturating_add(GOES_ON_MS)));
    }

    /// A person is there.
    pub fn settle(&mut self) {
        self.until = None;
    }

    /// Whether the doubt remains; `speaking`: speech that began in doubt goes on.
    pub fn stands(&self, now: u64, speaking: bool) -> bool {
        self.until.is_some_and(|until| speaking || now < until)
    }

    /// Moves the deadlines by the length of a hold.
    pub fn shift(&mut self, by: u64) {
        self.until = self.until.map(|until| until.saturating_add(by));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    /// A person, or nobody yet: the agent speaks.
    Person,
    Machine(Machine),
}

/// A greeting that goes on without a pause.
#[derive(Debug, Clone, Copy)]
struct Long {
    syllables: u32,
    /// When it was noticed.
    at: u64,
}

/// What is known about who answered. Times are milliseconds after the answer.
#[derive(Debug, Clone, Default)]
pub struct Greeting {
    began: Option<u64>,
    ended: Option<u64>,
    speaking: bool,
    long: Option<Long>,
    /// Long greetings may be menus, which the agent can use.
    menus: bool,
    words: String,
    words_owed: u32,
    /// The machine that says these words.
    met: Option<Machine>,
    /// The same with words that may still change.
    may_have_met: Option<Machine>,
}

impl Greeting {
    /// `menus`: the agent may press keys, so a long greeting is no machine by itself.
    pub fn new(menus: bool) -> Self {
        Self { menus, ..Self::default() }
    }

    /// Somebody began to speak.
    pub fn began(&mut self, at: u64) {
        self.began.get_or_insert(at);
        self.speaking = true;
    }

    /// They paused at `at`; `owed`: the recogniser will report words.
    pub fn paused(&mut self, at: u64, owed: bool) {
        self.ended = Some(at);
        self.speaking = false;
        self.words_owed += u32::from(owed);
    }

    /// They have been speaking longer than a person greets, without a pause.
    pub fn long(&mut self, syllables: u32, owed: bool, at: u64) {
        self.long = Some(Long { syllables, at });
        self.words_owed += u32::from(owed);
    }

    /// Words were recognised; `last`: they are among the pending ones.
    pub fn heard(&mut self, text: &str, last: bool) {
        let so_far = format!("{} {}", self.words, text.trim());
        self.may_have_met = speech::machine(&so_far);
        if last {
            self.words_owed = self.words_owed.saturating_sub(1);
            self.words = so_far.trim().to_owned();
            self.met = self.may_have_met;
        }
    }

    /// Who answered, once that is clear; `beeped`: a beep sounds now.
    pub fn answered_by(&self, now: u64, beeped: bool) -> Option<AnsweredBy> {
        let machine =
            |likely: Option<Machine>| Some(AnsweredBy::Machine(likely.unwrap_or(Machine::Voicemail)));
        if self.may_have_met == Some(Machine::Voicemail) || self.met.is_some() {
            return machine(self.may_have_met.filter(|met| *met == Machine::Voicemail).or(self.met));
        }
        if beeped {
            return machine(self.may_have_met);
        }
        let Some(began) = self.began else { return (now >= PATIENCE_MS).then_some(AnsweredBy::Person) };
        if let Some(long) = self.long.filter(|_| began < EARLY_MS && !self.menus) {
            let is_speech = long.syllables >= SYLLABLES;
            // Its words may say which machine it is.
            let words_came = self.words_owed == 0 || (is_speech && now >= long.at + WORDS_MS);
            if words_came && (is_speech || !self.words.is_empty()) {
                return machine(self.may_have_met);
            }
        }
        let waited = self.ended.map_or(0, |ended| now.saturating_sub(ended));
        let waits = !self.speaking && ((waited >= WAITING_MS && self.words_owed == 0) || waited >= WORDS_MS);
        if waits || now >= LONGEST_MS {
            return self.may_have_met.map_or(Some(AnsweredBy::Person), |met| machine(Some(met)));
        }
        None
    }

    /// The next deadline, milliseconds after the answer.
    pub fn due(&self) -> u64 {
        match (self.began, self.speaking, self.ended, self.long) {
            (None, ..) => PATIENCE_MS,
            (Some(_), false, Some(ended), _) if self.words_owed == 0 => ended + WAITING_MS,
            (Some(_), false, Some(ended), _) => ended + WORDS_MS,
            (Some(_), true, _, Some(long)) if self.words_owed > 0 => (long.at + WORDS_MS).min(LONGEST_MS),
            _ => LONGEST_MS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_greets_shortly_or_not_at_all() {
        let mut greeting = Greeting::default();
        assert_eq!(greeting.answered_by(1400, false), None);
        assert_eq!(greeting.answered_by(1500, false), Some(AnsweredBy::Person));
        greeting.began(300);
        assert_eq!(greeting.answered_by(1500, false), None);
        greeting.paused(900, true);
        assert_eq!(greeting.answered_by(1500, false), None, "its words are owed");
        greeting.heard("hello", true);
        assert_eq!(greeting.answered_by(1500, false), Some(AnsweredBy::Person));
    }

    #[test]
    fn doubt_ends_with_a_late_reply() {
        let mut doubt = Doubt::new(true);
        doubt.began(300);
        doubt.paused(1500);
        assert!(doubt.stands(60_000, false), "the greeting goes on");
        doubt.greeted(1500);
        assert!(doubt.stands(5499, false) && !doubt.stands(5500, false) && doubt.stands(5500, true));
        doubt.began(5000);
        doubt.paused(6000);
        assert!(doubt.stands(9999, false), "a machine may have gone on");
        doubt.began(10_000);
        assert!(!doubt.stands(10_000, true), "a person replies");
        assert!(!Doubt::new(false).stands(0, true));
    }

    #[test]
    fn announcements_are_those_of_machines() {
        for text in ANNOUNCEMENTS {
            assert!(speech::machine(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_machine_talks_on_says_so_or_beeps() {
        const VOICEMAIL: Option<AnsweredBy> = Some(AnsweredBy::Machine(Machine::Voicemail));
        let mut greeting = Greeting::default();
        greeting.began(500);
        assert_eq!(greeting.answered_by(4000, false), None);
        assert_eq!(greeting.answered_by(4000, true), VOICEMAIL);
        let mut long = greeting.clone();
        long.long(9, true, 4100);
        assert_eq!(long.answered_by(4100, false), None, "its words may say which machine it is");
        assert_eq!((long.due(), long.answered_by(5300, false)), (5300, VOICEMAIL));
        let mut menu = Greeting::new(true);
        menu.began(500);
        menu.long(9, true, 4100);
        menu.heard("welcome, press one for sales", true);
        assert_eq!(menu.answered_by(5300, false), None, "the agent may use it");
        menu.paused(6000, false);
        assert_eq!(menu.answered_by(6500, false), Some(AnsweredBy::Person));
        let mut screener = long.clone();
        screener.heard("if you record your name and reason for calling", true);
        assert_eq!(screener.answered_by(4200, false), Some(AnsweredBy::Machine(Machine::Screener)));
        assert_eq!(screener.answered_by(4200, true), Some(AnsweredBy::Machine(Machine::Screener)));
        long.heard("", true);
        assert_eq!(long.answered_by(4200, false), VOICEMAIL);
        let mut hum = greeting.clone();
        hum.long(0, true, 4100);
        assert_eq!(hum.answered_by(4100, false), None, "no words and no syllables: not speech");
        hum.heard("", true);
        assert_eq!(hum.answered_by(4200, false), None);
        greeting.heard("please leave a message after the tone", false);
        assert_eq!(greeting.answered_by(2000, false), VOICEMAIL);
    }

    #[test]
    fn what_a_machine_is_may_change_while_it_speaks() {
        let away = Machine::Announcement { holds: false, busy: false };
        let mut greeting = Greeting::default();
        greeting.began(300);
        greeting.heard("the person you are calling", false);
        assert_eq!(greeting.answered_by(2000, false), None, "more may follow");
        greeting.paused(2500, true);
        assert_eq!(greeting.answered_by(3699, false), None);
        assert_eq!(
            greeting.answered_by(3700, false),
            Some(AnsweredBy::Machine(away)),
            "its words never came"
        );
        greeting.heard("the person you are calling uses a screening service", true);
        assert_eq!(greeting.answered_by(3000, false), Some(AnsweredBy::Machine(Machine::Screener)));
    }
}

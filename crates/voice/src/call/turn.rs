//! The customer's current turn: speech, pending transcripts, end of turn.

use domain::conversation::Expected;

use super::endpoint;

/// Longest wait for words after the end of speech, milliseconds.
const WORDS_WITHIN_MS: u64 = 4000;

/// The customer's turn as far as it goes. Times are milliseconds of the line.
#[derive(Debug, Default)]
pub(crate) struct CustomerTurn {
    began: Option<u64>,
    /// When its speech ended so far.
    ended: u64,
    speaking: bool,
    voiced_ms: u32,
    /// Requests for words that were not answered yet.
    owed: u32,
    /// When the newest words came.
    words_at: u64,
    words: Vec<String>,
    told: Told,
}

/// The language of a turn as the recogniser says: one that says several says none.
#[derive(Debug, Default)]
struct Told(Option<Result<String, ()>>);

impl Told {
    /// Some of the turn is in this language.
    fn hear(&mut self, language: String) {
        self.0 = Some(match self.0.take() {
            None => Ok(language),
            Some(Ok(before)) if before == language => Ok(language),
            Some(_) => Err(()),
        });
    }

    /// The language of the whole turn, which is over.
    fn language(self) -> Option<String> {
        self.0?.ok()
    }
}

/// A turn that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub words: String,
    pub began: u64,
    pub ended: u64,
    /// When its last words were recognised.
    pub words_at: u64,
    /// How much of it was voiced, milliseconds.
    pub voiced_ms: u32,
    /// Its language, as the recogniser says.
    pub language: Option<String>,
}

/// The state of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    None,
    /// Speech, pending words, or a pause that may not be the end; check again at this time, if at any.
    Open(Option<u64>),
    /// Speech without a word.
    Wordless,
    Over,
}

impl CustomerTurn {
    /// Speech begins, or goes on after a pause.
    pub fn begin(&mut self, at: u64) {
        self.began.get_or_insert(at);
        self.speaking = true;
    }

    /// Speech pauses; `owed`: the words were requested from the recogniser.
    pub fn pause(&mut self, began: u64, ended: u64, voiced_ms: u32, owed: bool) {
        self.began.get_or_insert(began);
        self.speaking = false;
        self.ended = ended;
        self.voiced_ms = self.voiced_ms.saturating_add(voiced_ms);
        self.owed += u32::from(owed);
    }

    /// The line is gone in the middle of speech; `owed`: the words were requested from the recogniser.
    pub fn cut_off(&mut self, owed: bool) {
        self.speaking = false;
        self.owed += u32::from(owed);
    }

    /// The words were requested although speech goes on.
    pub fn owe(&mut self) {
        self.owed += 1;
    }

    /// Pending words will not come.
    pub fn forgive_words(&mut self) {
        self.owed = 0;
    }

    /// Pending words have come; empty if none were understood.
    pub fn heard(&mut self, text: &str, at: u64) {
        self.owed = self.owed.saturating_sub(1);
        let text = text.trim();
        if !text.is_empty() {
            self.words.push(text.to_owned());
            self.words_at = at;
        }
    }

    /// The words that come next are in this language.
    pub fn hear_language(&mut self, language: String) {
        self.told.hear(language);
    }

    /// Whether the customer speaks now.
    pub fn speaking(&self) -> bool {
        self.speaking
    }

    /// Whether words are pending.
    pub fn words_owed(&self) -> bool {
        self.owed > 0
    }

    /// Whether words are pending and may still come.
    pub fn awaits_words(&self, now: u64) -> bool {
        self.owed > 0 && now < self.ended + WORDS_WITHIN_MS
    }

    /// When the newest speech ended.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// Whether words come without speech of their own: they belong to a turn that was over.
    pub fn is_late(&self) -> bool {
        self.began.is_none()
    }

    /// The words so far.
    pub fn words(&self) -> String {
        self.words.join(" ")
    }

    /// Whether any word was understood.
    pub fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Ends the turn and begins the next: speech that goes on and pending words belong to that.
    pub fn end(&mut self) -> Ended {
        let next = Self {
            began: self.speaking.then_some(self.ended),
            ended: self.ended,
            speaking: self.speaking,
            owed: self.owed,
            ..Self::default()
        };
        let turn = std::mem::replace(self, next);
        Ended {
            words: turn.words(),
            began: turn.began.unwrap_or(turn.ended),
            ended: turn.ended,
            words_at: turn.words_at,
            voiced_ms: turn.voiced_ms,
            language: turn.told.language(),
        }
    }

    /// The call is taken off hold: speech does not go on across it.
    pub fn taken_back(&mut self) {
        self.speaking = false;
        self.end();
    }

    /// Its state at this time.
    pub fn standing(&self, now: u64, expected: Option<&Expected>, language: &str) -> Standing {
        if self.began.is_none() && !self.has_words() {
            return Standing::None;
        }
        if self.speaking {
            return Standing::Open(None);
        }
        if self.awaits_words(now) {
            return Standing::Open(Some(self.ended + WORDS_WITHIN_MS));
        }
        if !self.has_words() {
            return Standing::Wordless;
        }
        let over = self.ended + endpoint::silence_for(&self.words(), expected, language);
        if now < over { Standing::Open(Some(over)) } else { Standing::Over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pieces: &[&str]) -> CustomerTurn {
        let mut turn = CustomerTurn::default();
        for (index, piece) in pieces.iter().enumerate() {
            let at = 1000 * index as u64;
            turn.begin(at);
            turn.pause(at, at + 600, 500, true);
            turn.heard(piece, at + 950);
        }
        turn
    }

    #[test]
    fn a_pause_after_an_unfinished_phrase_is_not_the_end() {
        let turn = said(&["my number is"]);
        assert_eq!(turn.standing(1000, None, "en"), Standing::Open(Some(1800)));
        let mut turn = said(&["my number is", "nine eight seven"]);
        assert!(matches!(turn.standing(2200, None, "en"), Standing::Open(Some(_))));
        assert_eq!(turn.standing(4000, None, "en"), Standing::Over);
        assert_eq!(turn.end().words, "my number is nine eight seven");
    }

    #[test]
    fn words_that_are_owed_are_waited_for_but_not_for_ever() {
        let mut turn = CustomerTurn::default();
        assert_eq!(turn.standing(0, None, "en"), Standing::None);
        turn.begin(100);
        assert_eq!(turn.standing(60_000, None, "en"), Standing::Open(None));
        turn.pause(100, 700, 400, true);
        assert_eq!(turn.standing(1000, None, "en"), Standing::Open(Some(4700)));
        assert_eq!(turn.standing(4700, None, "en"), Standing::Wordless);
    }
}

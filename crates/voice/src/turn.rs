//! What the customer is saying: speech, the words that are owed for it, and whether the turn is over.

use domain::conversation::Expected;

use crate::endpoint;

/// Longest wait for words after the end of speech, milliseconds.
pub(crate) const WORDS_WITHIN_MS: u64 = 4000;

/// The customer's turn as far as it goes. Times are milliseconds of the line.
#[derive(Debug, Default, Clone)]
pub(crate) struct CustomerTurn {
    /// When it began.
    pub began: Option<u64>,
    /// When its speech ended so far.
    pub ended: u64,
    pub speaking: bool,
    /// How much of it was voiced, milliseconds.
    pub voiced_ms: u32,
    /// Words that the recogniser owes.
    pub owed: u32,
    /// When the newest words came.
    pub words_at: u64,
    words: Vec<String>,
}

/// What a turn has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nobody speaks.
    None,
    /// Speech, words that are owed, or a pause that may not be the end; look again at this time, if at any.
    Open(Option<u64>),
    /// Speech without a word.
    Wordless,
    /// It is over.
    Over(String),
}

impl CustomerTurn {
    pub fn begin(&mut self, at: u64) {
        self.began.get_or_insert(at);
        self.speaking = true;
    }

    pub fn pause(&mut self, began: u64, ended: u64, voiced_ms: u32, owed: bool) {
        self.began.get_or_insert(began);
        self.speaking = false;
        self.ended = ended;
        self.voiced_ms = self.voiced_ms.saturating_add(voiced_ms);
        self.owed += u32::from(owed);
    }

    /// The recogniser was asked although speech goes on.
    pub fn owe(&mut self) {
        self.owed += 1;
    }

    pub fn heard(&mut self, text: &str, at: u64) {
        self.owed = self.owed.saturating_sub(1);
        let text = text.trim();
        if !text.is_empty() {
            self.words.push(text.to_owned());
            self.words_at = at;
        }
    }

    /// The turn after this one: speech that goes on and words that are still owed belong to it.
    pub fn next(&self) -> Self {
        Self {
            began: self.speaking.then_some(self.ended),
            ended: self.ended,
            speaking: self.speaking,
            owed: self.owed,
            ..Self::default()
        }
    }

    pub fn words(&self) -> String {
        self.words.join(" ")
    }

    pub fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Where it stands at this time.
    pub fn standing(&self, now: u64, expected: Option<&Expected>, language: &str) -> Standing {
        if self.began.is_none() && !self.has_words() {
            return Standing::None;
        }
        if self.speaking {
            return Standing::Open(None);
        }
        let give_up = self.ended + WORDS_WITHIN_MS;
        if self.owed > 0 && now < give_up {
            return Standing::Open(Some(give_up));
        }
        if !self.has_words() {
            return Standing::Wordless;
        }
        let words = self.words();
        let over = self.ended + endpoint::silence_for(&words, expected, language);
        if now < over { Standing::Open(Some(over)) } else { Standing::Over(words) }
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
        let turn = said(&["my number is", "nine eight seven"]);
        assert!(matches!(turn.standing(2200, None, "en"), Standing::Open(Some(_))));
        assert_eq!(turn.standing(4000, None, "en"), Standing::Over("my number is nine eight seven".into()));
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

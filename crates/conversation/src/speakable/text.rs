//! The written text as characters, with every digit as 0-9.

use super::table::Speech;
use crate::language::fold;
use crate::words::plain_digit;

/// How far a word that announces a number may be away, in characters and words.
const BEFORE: usize = 48;
const WORDS_BEFORE: usize = 3;
/// English words that show that a sentence in Latin letters is English, if it has this many of them.
const ENGLISH: [&str; 22] = [
    "the", "your", "you", "of", "our", "for", "and", "please", "with", "will", "has", "have", "been", "this",
    "that", "from", "was", "were", "by", "on", "can", "should",
];
const ENOUGH_ENGLISH: usize = 3;
/// The scripts of the languages, each with the place of its first letter.
const SCRIPTS: [(u32, &str); 9] = [
    (0x0900, "hi"),
    (0x0980, "bn"),
    (0x0A00, "pa"),
    (0x0A80, "gu"),
    (0x0B00, "or"),
    (0x0B80, "ta"),
    (0x0C00, "te"),
    (0x0C80, "kn"),
    (0x0D00, "ml"),
];

pub struct Text {
    letters: Vec<char>,
}

/// Whether a character is part of a word: letters, digits, signs of Indian scripts, joiners.
pub fn in_word(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(u32::from(letter), 0x0900..=0x0DFF if !matches!(letter, '।' | '॥'))
        || matches!(letter, '\u{200c}' | '\u{200d}')
}

/// Whether a character is of an Indian script, and no digit.
pub fn is_native(letter: char) -> bool {
    (0x0900..=0x0DFF).contains(&u32::from(letter)) && !matches!(letter, '।' | '॥') && !letter.is_numeric()
}

impl Text {
    pub fn of(text: &str) -> Self {
        Self { letters: text.chars().map(plain_digit).collect() }
    }

    pub fn letters(&self) -> &[char] {
        &self.letters
    }

    pub fn len(&self) -> usize {
        self.letters.len()
    }

    pub fn at(&self, at: usize) -> Option<char> {
        self.letters.get(at).copied()
    }

    pub fn before(&self, at: usize) -> Option<char> {
        self.at(at.checked_sub(1)?)
    }

    pub fn is_digit(&self, at: usize) -> bool {
        self.at(at).is_some_and(|letter| letter.is_ascii_digit())
    }

    pub fn slice(&self, from: usize, to: usize) -> String {
        self.letters.get(from..to.min(self.len())).unwrap_or_default().iter().collect()
    }

    /// Whether something may begin here: no word goes on. A number may stand right after Indian letters.
    pub fn begins(&self, at: usize) -> bool {
        match self.before(at) {
            None => true,
            Some(before) => !in_word(before) || (is_native(before) && self.is_digit(at)),
        }
    }

    /// Where the digits that begin here end.
    pub fn digits_end(&self, at: usize) -> usize {
        self.end(at, |letter| letter.is_ascii_digit())
    }

    /// Where the characters of this kind that begin here end.
    pub fn end(&self, at: usize, of: impl Fn(char) -> bool) -> usize {
        let rest = self.letters.get(at..).unwrap_or_default();
        at + rest.iter().position(|letter| !of(*letter)).unwrap_or(rest.len())
    }

    /// The first place from `at` on that is no space, if there are at most `most` spaces.
    pub fn past_spaces(&self, at: usize, most: usize) -> usize {
        let end = self.end(at, |letter| matches!(letter, ' ' | '\u{a0}' | '\u{202f}'));
        if end - at <= most { end } else { at }
    }

    /// Where the word that begins here ends.
    pub fn word_end(&self, at: usize) -> usize {
        self.end(at, in_word)
    }

    /// The word that begins here, folded.
    pub fn word(&self, at: usize) -> String {
        fold::letters(&self.slice(at, self.word_end(at).min(at + BEFORE)))
    }

    /// The word before a space before `at`, as it is written.
    pub fn word_before(&self, at: usize) -> String {
        let before = self.slice(at.saturating_sub(BEFORE), at);
        let word =
            before.strip_suffix(' ').and_then(|before| before.rsplit(|letter| !in_word(letter)).next());
        word.unwrap_or_default().to_owned()
    }

    /// Whether one of these (lower case, Latin) stands here as a whole word; its end.
    pub fn one_of<'a>(&self, at: usize, words: impl IntoIterator<Item = &'a str>) -> Option<usize> {
        words
            .into_iter()
            .filter_map(|word| {
                let end = at + word.chars().count();
                let same = self.letters.get(at..end)?.iter().map(char::to_ascii_lowercase).eq(word.chars());
                let whole = !self.at(end).is_some_and(in_word) || !word.ends_with(|last: char| in_word(last));
                (same && whole).then_some(end)
            })
            .max()
    }

    /// Whether a word that announces a number said digit by digit stands shortly before `at`, or `is your OTP`
    /// after `end`.
    pub fn announced(&self, at: usize, end: usize, speech: &Speech) -> bool {
        let english = &super::table::speech("en").ids;
        let known = |word: &str| {
            let word = fold::letters(word);
            speech.ids.iter().any(|id| *id == word) || english.iter().any(|id| *id == word)
        };
        let start = at.saturating_sub(BEFORE);
        let before = self.slice(start, at);
        let words = before.split(|letter: char| !in_word(letter)).filter(|word| !word.is_empty());
        if words.rev().take(WORDS_BEFORE).any(known) {
            return true;
        }
        let after = self.slice(end, end + 20).to_lowercase();
        let mut words = after.split(|letter: char| !in_word(letter)).filter(|word| !word.is_empty());
        words.next() == Some("is")
            && words.take(3).any(|word| matches!(word, "otp" | "pin" | "code" | "password"))
    }

    /// The language in which numbers are said: that of the letters, if they tell, or the agent's.
    pub fn language<'a>(&self, own: &'a str) -> &'a str {
        let script = |of: &str| SCRIPTS.iter().find(|(_, code)| *code == of).map(|(first, _)| *first);
        let own_script = if own == "mr" { Some(0x0900) } else { script(own) };
        let mut other = None;
        for letter in self.letters.iter().filter(|letter| is_native(**letter)) {
            let found = u32::from(*letter) & !0x7F;
            if Some(found) == own_script {
                return own;
            }
            other = other.or_else(|| SCRIPTS.iter().find(|(first, _)| *first == found));
        }
        if let Some((_, code)) = other {
            return code;
        }
        let text: String = self.letters.iter().collect();
        let words = text.split(|letter: char| !in_word(letter));
        let english = words.filter(|word| ENGLISH.iter().any(|known| known.eq_ignore_ascii_case(word)));
        if english.take(ENOUGH_ENGLISH).count() == ENOUGH_ENGLISH { "en" } else { own }
    }
}

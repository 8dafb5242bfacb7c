//! What may be said next, as the graph that the recognition program searches (its `fsg` format).
//!
//! Beside the phrases there is a way through the graph that any sound fits: one phone after the other, each
//! at a price. Speech that is no phrase, Hindi, music and noise take that way, and nothing is understood;
//! without it the program finds a phrase in everything. The price was chosen by measurement, see
//! `docs/offline-speech.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use domain::conversation::FieldKind;
use domain::ports::Hints;
use domain::speech::{english_phrases, opt_out};

use super::dictionary::{PHONES, noise_word};

/// Probability of each phone on the way that fits everything. Higher: more is refused. Lower: more nonsense
/// is understood.
const NOISE_PRICE: f64 = 0.1;
/// Probability of a phrase that takes a number off the list for good: it has to fit better than any other.
const OPT_OUT_PRICE: f64 = 0.03;
/// Probability of one more word in a number, where any number of words may follow.
const NEXT_DIGIT: f64 = 0.5;
/// Most phrases of a conversation beside the standing ones.
const MOST_PHRASES: usize = 200;
/// Longest phrase, in words.
const LONGEST: usize = 10;

const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const TEENS: [&str; 10] = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES: [&str; 6] = ["hundred", "thousand", "lakh", "lakhs", "crore", "point"];
const REPEATS: [&str; 3] = ["oh", "double", "triple"];
const DAYS: [&str; 9] =
    ["today", "tomorrow", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const HOURS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// A grammar, its words, and what its phrases were written like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grammar {
    /// The graph as the program reads it.
    pub(super) graph: String,
    /// Every word of the phrases.
    pub(super) words: BTreeSet<String>,
    /// Phrases whose spoken form differs from the written one: `two b h k` is `2 BHK`.
    written: BTreeMap<String, String>,
}

impl Grammar {
    /// The grammar of a turn.
    pub(super) fn of(hints: &Hints) -> Self {
        let mut builder = Builder::default();
        let mut written = BTreeMap::new();
        for phrase in english_phrases() {
            builder.phrase(phrase);
        }
        let expected = hints.expected.as_ref();
        let choices = expected.map(|expected| expected.choices.as_slice()).unwrap_or_default();
        for choice in choices.iter().chain(&hints.phrases).take(MOST_PHRASES) {
            let Some(spoken) = spoken(choice) else { continue };
            written.entry(spoken.clone()).or_insert_with(|| choice.trim().to_owned());
            builder.phrase(&spoken);
        }
        for choice in choices.iter().take(MOST_PHRASES) {
            if let Some(spoken) = spoken(choice) {
                for around in ["the * one", "* please", "i want *", "i would like *"] {
                    builder.phrase(&around.replace('*', &spoken));
                }
            }
        }
        if expected
            .is_some_and(|expected| expected.kind != FieldKind::Boolean && expected.kind != FieldKind::Choice)
        {
            builder.number();
        }
        builder.callback();
        builder.anything();
        Self { graph: builder.graph(), words: builder.words, written }
    }

    /// What was said, as a person would write it.
    pub(super) fn written(&self, spoken: &str) -> String {
        self.written.get(spoken).cloned().unwrap_or_else(|| spoken.to_owned())
    }
}

/// The words of a phrase as they are spoken; none for a phrase that is not in Latin letters, or too long.
fn spoken(phrase: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for word in phrase
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '\''))
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
    {
        if !word.is_ascii() {
            return None;
        }
        let shouted = word.len() > 1
            && word.len() <= 4
            && word.bytes().all(|byte| byte.is_ascii_uppercase())
            && !word.bytes().any(|byte| b"AEIOU".contains(&byte));
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            words.extend(number_words(word));
        } else if shouted || word.bytes().any(|byte| byte.is_ascii_digit()) {
            words.extend(word.chars().map(|letter| {
                letter.to_digit(10).map_or(letter.to_ascii_lowercase().to_string(), |digit| {
                    DIGITS[digit as usize].to_owned()
                })
            }));
        } else {
            words.push(word.to_ascii_lowercase());
        }
    }
    (!words.is_empty() && words.len() <= LONGEST).then(|| words.join(" "))
}

/// Small numbers by name, others digit by digit.
fn number_words(digits: &str) -> Vec<String> {
    let by_digit = || digits.bytes().map(|digit| DIGITS[usize::from(digit - b'0')].to_owned()).collect();
    match digits.parse::<usize>() {
        Ok(value) if !digits.starts_with('0') && (10..20).contains(&value) => {
            vec![TEENS[value - 10].to_owned()]
        }
        Ok(value) if !digits.starts_with('0') && (20..100).contains(&value) => {
            let mut words = vec![TENS[value / 10 - 2].to_owned()];
            words.extend((value % 10 > 0).then(|| DIGITS[value % 10].to_owned()));
            words
        }
        _ => by_digit(),
    }
}

const START: usize = 0;
const END: usize = 1;

/// A graph being built.
struct Builder {
    states: usize,
    lines: String,
    words: BTreeSet<String>,
    phrases: BTreeSet<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { states: 2, lines: String::new(), words: BTreeSet::new(), phrases: BTreeSet::new() }
    }
}

impl Builder {
    fn state(&mut self) -> usize {
        self.states += 1;
        self.states - 1
    }

    fn edge(&mut self, from: usize, to: usize, probability: f64, word: &str) {
        if !word.is_empty() && !super::dictionary::is_noise_word(word) {
            self.words.insert(word.to_owned());
        }
        _ = writeln!(self.lines, "TRANSITION {from} {to} {probability:.4} {word}");
    }

    fn path(&mut self, from: usize, to: usize, words: &str) {
        self.priced_path(from, to, words, 1.0);
    }

    /// The price is paid with the first word.
    fn priced_path(&mut self, from: usize, to: usize, words: &str, price: f64) {
        let words: Vec<&str> = words.split(' ').collect();
        let mut at = from;
        for (place, word) in words.iter().enumerate() {
            let next = if place + 1 == words.len() { to } else { self.state() };
            self.edge(at, next, if place == 0 { price } else { 1.0 }, word);
            at = next;
        }
    }

    fn phrase(&mut self, words: &str) {
        if self.phrases.insert(words.to_owned()) {
            let price = if opt_out(words, "en") { OPT_OUT_PRICE } else { 1.0 };
            self.priced_path(START, END, words, price);
        }
    }

    /// A number: digits one after the other, or an amount such as `two point five lakh rupees`.
    fn number(&mut self) {
        let (begin, digits, amount, tens, unit, scale, end) = (
            self.state(),
            self.state(),
            self.state(),
            self.state(),
            self.state(),
            self.state(),
            self.state(),
        );
        self.edge(START, begin, 1.0, "");
        for words in ["it is", "my number is", "around"] {
            self.path(START, begin, words);
        }
        for word in DIGITS.iter().chain(&REPEATS) {
            self.edge(begin, digits, NEXT_DIGIT, word);
            self.edge(digits, digits, NEXT_DIGIT, word);
        }
        self.edge(digits, END, 1.0, "");
        self.edge(begin, amount, 1.0, "");
        for word in DIGITS.iter().chain(&TEENS) {
            self.edge(amount, unit, NEXT_DIGIT, word);
        }
        for word in TENS {
            self.edge(amount, tens, NEXT_DIGIT, word);
        }
        for word in DIGITS {
            self.edge(tens, unit, NEXT_DIGIT, word);
        }
        self.edge(tens, unit, 1.0, "");
        for word in SCALES {
            self.edge(unit, scale, NEXT_DIGIT, word);
            self.edge(scale, scale, NEXT_DIGIT, word);
        }
        self.edge(scale, amount, NEXT_DIGIT, "");
        self.edge(scale, amount, NEXT_DIGIT, "and");
        self.edge(scale, end, 1.0, "");
        self.edge(unit, end, 1.0, "");
        self.edge(end, END, 1.0, "rupees");
        self.edge(end, END, 1.0, "");
    }

    /// `call me back tomorrow evening at five thirty`, and a time alone.
    fn callback(&mut self) {
        let (asked, day, end) = (self.state(), self.state(), self.state());
        for begin in ["call me", "please call me", "call me back", "please call", "can you call me", "call"] {
            self.path(START, asked, begin);
        }
        for word in DAYS {
            self.edge(asked, day, 0.5, word);
            self.edge(START, day, 0.2, word);
        }
        for part in [
            "in the morning",
            "in the afternoon",
            "in the evening",
            "morning",
            "evening",
            "afternoon",
            "at night",
        ] {
            self.path(day, end, part);
            self.path(asked, end, part);
        }
        self.edge(day, end, 1.0, "");
        let (at, hour, half) = (self.state(), self.state(), self.state());
        for from in [asked, day] {
            for word in ["at", "after", "around", "before"] {
                self.edge(from, at, 0.5, word);
            }
        }
        for word in ["at", "after"] {
            self.edge(end, at, 0.5, word);
            self.edge(START, at, 0.2, word);
        }
        for word in HOURS {
            self.edge(at, hour, 0.5, word);
        }
        self.edge(hour, half, 0.5, "thirty");
        self.edge(hour, half, 1.0, "");
        for part in ["o'clock", "p m", "a m", "in the evening", "in the morning"] {
            self.path(half, END, part);
        }
        self.edge(half, END, 1.0, "");
        self.edge(end, END, 1.0, "");
    }

    /// The way that every sound fits.
    fn anything(&mut self) {
        let state = self.state();
        for phone in PHONES {
            let word = noise_word(phone);
            self.edge(START, state, NOISE_PRICE, &word);
            self.edge(state, state, NOISE_PRICE, &word);
        }
        self.edge(state, END, 1.0, "");
    }

    fn graph(&self) -> String {
        format!(
            "FSG_BEGIN turn\nNUM_STATES {}\nSTART_STATE {START}\nFINAL_STATE {END}\n{}FSG_END\n",
            self.states, self.lines
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::conversation::Expected;

    #[test]
    fn phrases_are_spoken_as_people_say_them() {
        for (phrase, expected) in [
            ("Gold Plus", Some("gold plus")),
            ("2 BHK", Some("two b h k")),
            ("EMI", Some("emi")),
            ("Plan 42", Some("plan forty two")),
            ("10:30", Some("ten thirty")),
            ("007", Some("zero zero seven")),
            ("3G", Some("three g")),
            ("' 'don't' '", Some("don't")),
            ("हाँ", None),
            ("", None),
            ("a b c d e f g h i j k", None),
        ] {
            assert_eq!(spoken(phrase).as_deref(), expected, "{phrase}");
        }
    }

    #[test]
    fn a_grammar_holds_the_choices_and_the_standing_phrases() {
        let expected = Expected {
            kind: FieldKind::Choice,
            choices: vec!["2 BHK".into(), "Villa".into()],
            digits_begun: false,
        };
        let grammar = Grammar::of(&Hints {
            expected: Some(expected),
            phrases: vec!["home loan".into(), "घर".into()],
        });
        for word in ["villa", "bhk", "loan", "stop", "calling", "tomorrow"] {
            assert_eq!(grammar.words.contains(word), word != "bhk", "{word}");
        }
        assert_eq!(grammar.written("two b h k"), "2 BHK");
        assert_eq!(grammar.written("yes"), "yes");
        let states = grammar
            .graph
            .lines()
            .find_map(|line| line.strip_prefix("NUM_STATES ")?.parse::<usize>().ok())
            .expect("a count");
        for line in grammar.graph.lines().filter(|line| line.starts_with("TRANSITION")) {
            let ends: Vec<usize> =
                line.split(' ').skip(1).take(2).map(|end| end.parse().expect("a state")).collect();
            assert!(ends.iter().all(|end| *end < states), "{line}");
        }
    }

    #[test]
    fn numbers_are_expected_only_after_a_question_for_one() {
        let grammar = |kind| {
            Grammar::of(&Hints {
                expected: Some(Expected { kind, choices: vec![], digits_begun: false }),
                phrases: vec![],
            })
        };
        assert!(grammar(FieldKind::Number).words.contains("crore"));
        assert!(!grammar(FieldKind::Boolean).words.contains("crore"));
    }
}

//! What the things are called in each language, and the names of letters. The tables of all languages are one: the
//! words of an Indian script belong to few of them, and those in Latin letters are loan words.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::language::fold;
use crate::language::folders::{files, parsed};

/// The tables, by language.
pub const SOURCES: [(&str, &str); 11] = files!("secrets.toml");

/// A table as it is written. `_` joins the words of a phrase.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    pub card: String,
    pub cvv: String,
    pub otp: String,
    pub aadhaar: String,
    /// Words for an account number.
    pub account: String,
    /// Words for an account, without the word for number.
    pub accounts: String,
    /// Numbers by which a business finds something.
    pub ids: String,
    pub phones: String,
    /// Other things that have a number.
    pub other: String,
    /// What is counted: a number before one of them is no secret.
    pub units: String,
    /// Words between the digits of one number.
    pub between: String,
}

/// What a word says about the numbers near it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Card,
    Cvv,
    Otp,
    Aadhaar,
    Account,
    /// An account, perhaps not its number.
    Accounts,
    Id,
    Phone,
    Other,
    Unit,
    Between,
}

/// A phrase: its words, folded, and what it says.
struct Phrase {
    words: Vec<String>,
    topic: Topic,
}

pub struct Tables {
    /// Phrases by the first two letters of their first word.
    phrases: HashMap<String, Vec<Phrase>>,
    letters: HashMap<String, char>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::read);

/// Longest ending of a word beyond what the table has, in letters: Indian languages inflect.
const ENDING: usize = 5;
const LATIN_ENDING: usize = 2;

fn key(word: &str) -> String {
    word.chars().take(2).collect()
}

impl Tables {
    pub fn get() -> &'static Self {
        &TABLES
    }

    fn read() -> Self {
        let mut tables = Self { phrases: HashMap::new(), letters: HashMap::new() };
        for (code, source) in SOURCES {
            let written: Written = parsed(code, "secrets.toml", source);
            for (topic, words) in [
                (Topic::Card, &written.card),
                (Topic::Cvv, &written.cvv),
                (Topic::Otp, &written.otp),
                (Topic::Aadhaar, &written.aadhaar),
                (Topic::Account, &written.account),
                (Topic::Accounts, &written.accounts),
                (Topic::Id, &written.ids),
                (Topic::Phone, &written.phones),
                (Topic::Other, &written.other),
                (Topic::Unit, &written.units),
                (Topic::Between, &written.between),
            ] {
                for phrase in words.split_whitespace() {
                    let words: Vec<String> = phrase.split('_').map(fold::letters).collect();
                    if let Some(first) = words.first() {
                        tables.phrases.entry(key(first)).or_default().push(Phrase { words, topic });
                    }
                }
            }
        }
        for phrases in tables.phrases.values_mut() {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.words.len()));
        }
        for (name, letter) in crate::language::contact::letter_names() {
            tables.letters.entry(name).or_insert(letter);
        }
        tables
    }

    /// The longest phrase with which these folded words begin: what it says, and how many words it has.
    pub fn topic(&self, words: &[&str]) -> Option<(Topic, usize)> {
        let first = words.first()?;
        let fits = |phrase: &&Phrase| {
            let (Some(said), Some((last, before))) =
                (words.get(..phrase.words.len()), phrase.words.split_last())
            else {
                return false;
            };
            let exact = matches!(phrase.topic, Topic::Between);
            before.iter().zip(said).all(|(word, said)| word == said)
                && said.last().is_some_and(|said| if exact { last == said } else { is_form(said, last) })
        };
        let phrases = self.phrases.get(&key(first))?;
        // A word as it stands in the table is that, and no form of another one.
        let exact = phrases.iter().find(|phrase| {
            fits(phrase)
                && phrase.words.last().map(String::as_str) == words.get(phrase.words.len() - 1).copied()
        });
        let found = exact.or_else(|| phrases.iter().find(fits))?;
        Some((found.topic, found.words.len()))
    }

    /// The letter of the alphabet that a folded word is the name of.
    pub fn letter(&self, word: &str) -> Option<char> {
        let mut letters = word.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_alphabetic() => Some(letter),
            _ => self.letters.get(word).copied(),
        }
    }
}

/// Whether `said` is `word` with an ending.
fn is_form(said: &str, word: &str) -> bool {
    let Some(ending) = said.strip_prefix(word) else { return false };
    let native = fold::native(word);
    let longest = match (native, word.chars().count()) {
        (true, 0..=2) | (false, 0..=3) => 0,
        (true, 3) => 3,
        (true, _) => ENDING,
        (false, _) => LATIN_ENDING,
    };
    ending.chars().count() <= longest && (native || ending.bytes().all(|byte| byte.is_ascii_lowercase()))
}

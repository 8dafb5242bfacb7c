//! The words of yes, no and choices of each language, read from `languages/<code>/answers.toml`.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::language::folders::{files, parsed};
use crate::speech::{Patterns, fold};
use crate::words::words;

/// Most words beside a plain word of yes: more of them tell a story, and the question is asked again.
const MOST_BESIDE_YES: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    yes: String,
    soft: String,
    no: String,
    yes_phrases: String,
    no_phrases: String,
    unsure: String,
    fill: String,
    deny: String,
    either: String,
    morning: String,
    noon: String,
    evening: String,
    night: String,
    one: String,
    two: String,
    three: String,
    four: String,
    five: String,
    count: String,
    suffix: String,
}

type Words = HashSet<String>;

/// The answers of one language.
pub(crate) struct Answers {
    code: &'static str,
    yes: Words,
    soft: Words,
    no: Words,
    yes_phrases: Patterns,
    no_phrases: Patterns,
    unsure: Patterns,
    fill: Words,
    deny: Words,
    either: Words,
    /// The words of `either` as they are written: `ಎರಡೂ` (both) folds to the word for two.
    either_exactly: Words,
    /// Morning, noon, evening and night.
    day: [Words; 4],
    positions: [Words; 5],
    counts: Vec<String>,
    suffixes: Vec<String>,
}

fn set(written: &str) -> Words {
    written.split(['|', '\n']).flat_map(fold).collect()
}

impl Answers {
    fn read(code: &'static str, text: &str) -> Self {
        let written: Written = parsed(code, "answers.toml", text);
        Self {
            code,
            yes: set(&written.yes),
            soft: set(&written.soft),
            no: set(&written.no),
            yes_phrases: Patterns::read(&written.yes_phrases, &[]),
            no_phrases: Patterns::read(&written.no_phrases, &[]),
            unsure: Patterns::read(&written.unsure, &[]),
            fill: set(&written.fill),
            deny: set(&written.deny),
            either: set(&written.either),
            either_exactly: written.either.split(['|', '\n']).flat_map(words).collect(),
            day: [&written.morning, &written.noon, &written.evening, &written.night].map(|words| set(words)),
            positions: [&written.one, &written.two, &written.three, &written.four, &written.five]
                .map(|words| set(words)),
            counts: written.count.split(['|', '\n']).flat_map(fold).collect(),
            suffixes: written.suffix.split_whitespace().flat_map(fold).collect(),
        }
    }
}

static TABLES: LazyLock<Vec<Answers>> =
    LazyLock::new(|| files!("answers.toml").iter().map(|(code, text)| Answers::read(code, text)).collect());

/// The tables that hear an answer: the agent's language first, then English and Hindi; every language when
/// `language` is none of the eleven.
pub(crate) fn tables(language: &str) -> Vec<&'static Answers> {
    let own = TABLES.iter().find(|table| table.code == language);
    match own {
        Some(own) => {
            std::iter::once(own).chain(TABLES.iter().take(2).filter(|table| table.code != own.code)).collect()
        }
        None => TABLES.iter().collect(),
    }
}

/// Whether the word (folded) is a yes or a no of this language.
pub(crate) fn is_answer(language: &str, word: &str) -> bool {
    let own = TABLES.iter().find(|table| table.code == language);
    own.is_some_and(|table| table.yes.contains(word) || table.no.contains(word))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Yes,
    Soft,
    No,
    Beside,
    Unknown,
}

fn meaning(tables: &[&Answers], word: &String) -> Meaning {
    let known = tables.iter().find_map(|table| {
        if table.yes.contains(word) {
            Some(Meaning::Yes)
        } else if table.no.contains(word) {
            Some(Meaning::No)
        } else if table.soft.contains(word) {
            Some(Meaning::Soft)
        } else {
            table.fill.contains(word).then_some(Meaning::Beside)
        }
    });
    known.unwrap_or(Meaning::Unknown)
}

/// Whether the words mean yes or no; `None` when they mean neither or both.
pub(crate) fn boolean(heard: &str, language: &str) -> Option<bool> {
    let words = fold(heard);
    let tables = tables(language);
    let overlap = |one: &(usize, usize), other: &(usize, usize)| one.0 < other.1 && other.0 < one.1;
    let first = |one: &(usize, usize), other: &(usize, usize)| {
        one.0 < other.0 || one.0 == other.0 && one.1 >= other.1
    };
    let yes: Vec<(usize, usize)> =
        tables.iter().flat_map(|table| table.yes_phrases.find_all(&words)).collect();
    let mut no: Vec<(usize, usize)> =
        tables.iter().flat_map(|table| table.no_phrases.find_all(&words)).collect();
    // `I don't think so` is a no, though `think` alone is neither.
    let clearer = |unsure: &(usize, usize)| {
        let clears = |sure: &(usize, usize)| {
            sure.0 <= unsure.0 && unsure.1 <= sure.1 && sure.1 - sure.0 > unsure.1 - unsure.0
        };
        yes.iter().chain(&no).any(clears)
    };
    let doubts = |table: &&Answers| table.unsure.find_all(&words).any(|found| !clearer(&found));
    if tables.iter().any(doubts) {
        return None;
    }
    no.retain(|found| !yes.iter().any(|other| overlap(found, other) && first(other, found)));
    let yes: Vec<(usize, usize)> =
        yes.into_iter().filter(|found| !no.iter().any(|other| overlap(found, other))).collect();
    let within = |at: usize| yes.iter().chain(&no).any(|(start, end)| (*start..*end).contains(&at));
    let rest: Vec<Meaning> = words
        .iter()
        .enumerate()
        .map(|(at, word)| if within(at) { Meaning::Beside } else { meaning(&tables, word) })
        .collect();
    let has = |meaning: Meaning| rest.contains(&meaning);
    let unknown = rest.iter().filter(|meaning| **meaning == Meaning::Unknown).count();
    let denied = !no.is_empty() || has(Meaning::No);
    let agreed = has(Meaning::Yes);
    if denied {
        let sure = !no.is_empty() || unknown == 0 || rest.first() == Some(&Meaning::No);
        return (sure && !agreed && (yes.is_empty() || !no.is_empty())).then_some(false);
    }
    // `Of course I would not` has a word that denies, though it is none of no.
    let denies = |at: usize, word: &String| {
        !within(at) && tables.iter().any(|table| table.deny.contains(word) && !table.no.contains(word))
    };
    if !agreed && words.iter().enumerate().any(|(at, word)| denies(at, word)) {
        return None;
    }
    let yes = agreed && unknown <= MOST_BESIDE_YES || (!yes.is_empty() || has(Meaning::Soft)) && unknown <= 1;
    yes.then_some(true)
}

/// What was said about a choice, beside the choice itself.
pub(crate) struct Said<'a>(&'a [&'static Answers]);

impl<'a> Said<'a> {
    pub(crate) fn of(tables: &'a [&'static Answers]) -> Self {
        Self(tables)
    }

    /// Whether a folded word denies, or names more than one choice.
    pub(crate) fn is_no_choice(&self, word: &String) -> bool {
        let refuses = |table: &&'static Answers| table.deny.contains(word) || table.either.contains(word);
        let known = self.0.iter().find(|table| refuses(table) || table.fill.contains(word));
        known.is_some_and(refuses)
    }

    /// Whether a word as it was heard, before numbers are digits, names more than one choice or denies one: `নয়` is
    /// both nine and not.
    pub(crate) fn is_any(&self, word: &String) -> bool {
        let exactly =
            |table: &&'static Answers| table.either_exactly.contains(word) && !table.counts.contains(word);
        let denies = |table: &&'static Answers| fold(word).iter().any(|word| table.deny.contains(word));
        self.0.iter().any(exactly) || self.0.first().is_some_and(denies)
    }

    /// Whether a folded word may stand beside a choice and carries no meaning.
    pub(crate) fn is_beside(&self, word: &String) -> bool {
        self.0
            .iter()
            .any(|table| table.fill.contains(word) || table.yes.contains(word) || table.soft.contains(word))
    }

    /// The place, from 1, that a folded word names (`second`, `दूसरा`); a count (`two`) if `counts`.
    pub(crate) fn place(&self, word: &String, counts: bool) -> Option<usize> {
        self.0.iter().find_map(|table| {
            let named = table.positions.iter().position(|names| names.contains(word));
            named
                .or_else(|| table.counts.iter().position(|count| counts && count == word))
                .map(|place| place + 1)
        })
    }

    /// Whether a heard word is a form of a word of a choice: inflected, or in another script.
    pub(crate) fn is_form(&self, word: &str, of: &str) -> bool {
        let stem = of.trim_end_matches(is_sign);
        let inflected = stem.chars().count() >= 3
            && word.strip_prefix(stem).is_some_and(|end| {
                let bare = end.trim_start_matches(is_sign);
                bare.is_empty()
                    || self.0.iter().flat_map(|table| &table.suffixes).any(|suffix| {
                        end == suffix || bare == suffix || bare == suffix.trim_start_matches(is_sign)
                    })
            });
        let part_of_day = |word: &str| {
            self.0.iter().find_map(|table| table.day.iter().position(|part| part.contains(word)))
        };
        let same_part = || part_of_day(of).is_some_and(|part| part_of_day(word) == Some(part));
        inflected
            || same_part()
            || script(word) != script(of) && sounds(word).is_some_and(|key| sounds(of) == Some(key))
    }
}

/// A sign after a consonant of an Indian script: a vowel, a virama, a nasal.
fn is_sign(letter: char) -> bool {
    let code = u32::from(letter);
    (0x0900..0x0D80).contains(&code) && matches!(code & 0x7F, 0x01..=0x03 | 0x3C..=0x4D | 0x57 | 0x70 | 0x71)
}

fn script(word: &str) -> u32 {
    word.chars().next().map_or(0, |letter| u32::from(letter) / 0x80)
}

/// The consonants of a word by class, voiced and unvoiced alike; `None` if there are fewer than two.
fn sounds(word: &str) -> Option<String> {
    let mut key = String::new();
    let letters: Vec<char> = word.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        let code = u32::from(*letter);
        let next = letters.get(at + 1).copied();
        let joined = next.is_some_and(|next| u32::from(next) & 0x7F == 0x4D && !next.is_ascii());
        // A nasal before a consonant is often a sign that the fold drops.
        let weak = match letter {
            'n' => next.is_some_and(|next| !"aeiouyn".contains(next)),
            _ => code & 0x7F == 0x28 && joined || code & 0x7F == 0x02 && next.is_some(),
        };
        if weak && code != 0x7B {
            continue;
        }
        let malayalam_t = code == 0x0D31 && (joined || at > 0 && letters[at - 1] == '\u{d4d}');
        let class = if malayalam_t {
            't'
        } else if (0x0900..0x0D80).contains(&code) {
            match code & 0x7F {
                0x15..=0x18 => 'k',
                0x19 | 0x1E | 0x23 | 0x28 | 0x29 | 0x02 => 'n',
                0x1A..=0x1D | 0x36..=0x38 => 's',
                0x1F..=0x22 | 0x24..=0x27 => 't',
                0x2A..=0x2D | 0x35 | 0x71 => 'p',
                0x2E => 'm',
                0x2F if at == 0 => 'y',
                0x30 | 0x31 => 'r',
                0x32..=0x34 => 'l',
                0x7B => 'n',
                0x7C => 'r',
                0x7D | 0x7E => 'l',
                _ => continue,
            }
        } else {
            match letter {
                'k' | 'g' | 'q' | 'c' if *letter != 'c' || letters.get(at + 1) != Some(&'h') => 'k',
                'c' | 's' | 'j' | 'z' | 'x' => 's',
                't' | 'd' => 't',
                'p' | 'b' | 'f' | 'v' | 'w' => 'p',
                'n' => 'n',
                'm' => 'm',
                'r' => 'r',
                'l' => 'l',
                'y' if at == 0 => 'y',
                _ => continue,
            }
        };
        let nasal = code & 0x7F == 0x02 && (0x0900..0x0D80).contains(&code);
        let class = if nasal && at + 1 == letters.len() { 'm' } else { class };
        if !key.ends_with(class) {
            key.push(class);
        }
    }
    (key.len() >= 2).then_some(key)
}

#[cfg(test)]
#[path = "yes_no_tests.rs"]
mod tests;

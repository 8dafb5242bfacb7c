//! A turn as words, each with its place in the text.

use unicode_normalization::UnicodeNormalization;

use super::super::state::Role;
use super::tables::{Tables, Topic};
use super::{SECRET, Sensitive};
use crate::language::fold;
use crate::language::numbers::{self, Token};
use crate::words::plain_digit;

/// The Indian scripts of the ten languages.
const INDIAN: std::ops::Range<u32> = 0x0900..0x0D80;

/// What stands before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Nothing: `AB12`.
    None,
    /// Spaces, or a dash, a comma or a full stop with or without spaces.
    Soft,
    /// A dash without spaces.
    Dash,
    /// A comma or point without spaces.
    Mark,
    /// `:`, `/`, `₹`, `@`, …
    Hard,
}

/// What a word may be in a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Figure {
    /// Digits, as they are written.
    Numeral(String),
    /// A word for a number below a hundred. A unit may follow an `open` one. `weak`: 0 is nothing else, 1
    /// may be another word too, 2 is one in a language that is not the agent's.
    Word {
        value: u8,
        open: bool,
        weak: u8,
    },
    /// `double`.
    Repeat(usize),
    /// Hundred, thousand, rupees, …: the number beside it is an amount.
    Amount,
    None,
}

#[derive(Debug, Clone)]
pub struct Word {
    pub start: usize,
    pub end: usize,
    pub gap: Gap,
    /// What is between the word before it and this one has a sign of money.
    pub money: bool,
    /// Folded.
    pub text: String,
    pub figure: Figure,
    /// What the phrase that begins here says.
    pub topic: Option<Topic>,
    /// Whether the word belongs to a phrase that began before it.
    pub inside: bool,
    /// Letters of the alphabet: one that is named, or several that are written together.
    pub letters: Option<String>,
    /// Written in capitals.
    pub capitals: bool,
    /// A mark of a redacted part.
    pub mark: bool,
}

/// A turn.
#[derive(Debug)]
pub struct Read {
    pub role: Role,
    pub words: Vec<Word>,
}

fn is_letter(letter: char) -> bool {
    letter.is_alphabetic()
        || (INDIAN.contains(&u32::from(letter)) && !matches!(letter, '।' | '॥'))
        || matches!(letter, '\u{200c}' | '\u{200d}' | '\'' | '’')
}

/// A digit of any script as 0 to 9.
fn digit(letter: char) -> Option<char> {
    let plain = match letter {
        '\u{ff10}'..='\u{ff19}' => char::from_digit(u32::from(letter) - 0xff10, 10)?,
        other => plain_digit(other),
    };
    plain.is_ascii_digit().then_some(plain)
}

fn gap_of(between: &str) -> Gap {
    let hard = |letter: char| {
        !(letter.is_whitespace()
            || matches!(
                letter,
                '-' | '–' | '—' | '‐' | '‑' | ',' | '.' | '…' | '।' | '_' | '\u{200b}' | '\u{feff}'
            ))
    };
    let spaced = between.chars().any(char::is_whitespace);
    match between {
        "" => Gap::None,
        _ if between.chars().any(hard) => Gap::Hard,
        "," | "." => Gap::Mark,
        _ if !spaced && between.chars().count() == 1 => Gap::Dash,
        _ => Gap::Soft,
    }
}

impl Read {
    pub fn of(role: Role, text: &str, language: &str) -> Self {
        let mut pieces: Vec<(usize, usize, bool)> = Vec::new();
        for (at, letter) in text.char_indices() {
            let is_digit = digit(letter).is_some();
            if !is_digit && !is_letter(letter) {
                continue;
            }
            match pieces.last_mut() {
                Some((_, end, digits)) if *end == at && *digits == is_digit => *end = at + letter.len_utf8(),
                _ => pieces.push((at, at + letter.len_utf8(), is_digit)),
            }
        }
        let mut words: Vec<Word> = Vec::with_capacity(pieces.len());
        let mut last = 0;
        for (start, end, digits) in pieces {
            let (between, written) =
                (text.get(last..start).unwrap_or(""), text.get(start..end).unwrap_or(""));
            let mut word = Word {
                start,
                end,
                gap: if words.is_empty() && !between.contains(['₹', '$', '€', '£']) {
                    Gap::Soft
                } else {
                    gap_of(between)
                },
                money: between.contains(['₹', '$', '€', '£']),
                text: String::new(),
                figure: Figure::None,
                topic: None,
                inside: false,
                letters: None,
                capitals: false,
                mark: !digits && is_mark(text, start, end),
            };
            if digits {
                let plain: String = written.chars().filter_map(digit).collect();
                word.figure = Figure::Numeral(plain);
            } else if !word.mark {
                let plain: String = written.nfkc().flat_map(char::to_lowercase).collect();
                word.text = fold::letters(&plain);
                word.figure = figure(&word.text, &plain, language);
                word.capitals = written.chars().all(|letter| letter.is_ascii_uppercase());
                word.letters = match Tables::get().letter(&word.text) {
                    Some(letter) => Some(letter.to_string()),
                    None if plain.len() <= 5 && plain.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                        Some(plain)
                    }
                    None => None,
                };
            }
            last = end;
            words.push(word);
        }
        let mut read = Self { role, words };
        read.name_topics();
        read
    }

    fn name_topics(&mut self) {
        let texts: Vec<String> = self.words.iter().map(|word| word.text.clone()).collect();
        let mut at = 0;
        while at < self.words.len() {
            let ahead: Vec<&str> = texts.iter().skip(at).take(5).map(String::as_str).collect();
            let named = if ahead.first().is_some_and(|word| word.is_empty()) {
                None
            } else {
                Tables::get().topic(&ahead)
            };
            let Some((mut topic, length)) = named else {
                at += 1;
                continue;
            };
            // An Aadhaar card is no payment card, and neither is a PAN card.
            if topic == Topic::Card
                && let Some(before) = at.checked_sub(1).and_then(|before| self.words.get(before))
                && let Some(named @ (Topic::Aadhaar | Topic::Other | Topic::Id)) = before.topic
            {
                topic = named;
            }
            for (place, word) in self.words.iter_mut().skip(at).take(length).enumerate() {
                word.topic = Some(topic);
                word.inside = place > 0;
            }
            at += length;
        }
    }
}

/// Whether the word is the inside of a mark such as `[card]`.
fn is_mark(text: &str, start: usize, end: usize) -> bool {
    let Some(written) = start.checked_sub(1).and_then(|at| text.get(at..=end)) else { return false };
    written == SECRET || Sensitive::ALL.iter().any(|kind| written == kind.mark())
}

/// What a word is in a number. Words of an Indian script are looked up in the languages that it writes, others in the
/// agent's, English and Hindi.
fn figure(folded: &str, plain: &str, language: &str) -> Figure {
    let script = plain.chars().map(u32::from).find(|code| INDIAN.contains(code)).map(|code| code & !0x7F);
    let own: &[&str] = match script {
        None => return latin(folded, language),
        Some(0x0900) if language == "mr" => &["mr", "hi"],
        Some(0x0900) => &["hi", "mr"],
        Some(0x0980) => &["bn"],
        Some(0x0A00) => &["pa"],
        Some(0x0A80) => &["gu"],
        Some(0x0B00) => &["or"],
        Some(0x0B80) => &["ta"],
        Some(0x0C00) => &["te"],
        Some(0x0C80) => &["kn"],
        _ => &["ml"],
    };
    let listed = own.iter().find_map(|code| numbers::exact_tokens(folded, code));
    let by_ear = || own.iter().find_map(|code| numbers::tokens_of(folded, plain, code));
    match listed {
        Some(tokens) => of_tokens(&tokens, 0),
        None => by_ear().map_or(Figure::None, |tokens| of_tokens(&tokens, 2)),
    }
}

fn latin(folded: &str, language: &str) -> Figure {
    if let Some(tokens) = numbers::exact_tokens(folded, "en") {
        return of_tokens(&tokens, 0);
    }
    // What only sounds like a word of amounts is none.
    let of = |code: &str, weak: u8| {
        let listed = numbers::exact_tokens(folded, code).map(|tokens| of_tokens(&tokens, weak));
        let sounds = || numbers::tokens_of(folded, folded, code).map(|tokens| of_tokens(&tokens, weak));
        listed.or_else(|| if folded.len() > 2 { sounds() } else { None }.filter(|it| *it != Figure::Amount))
    };
    let own = if language == "en" { None } else { of(language, 1) };
    let weak = if matches!(language, "en" | "hi") { 1 } else { 2 };
    own.or_else(|| of("hi", weak)).unwrap_or(Figure::None)
}

fn of_tokens(tokens: &[Token], weak: u8) -> Figure {
    match tokens {
        [Token::Number { value, open }] => Figure::Word { value: *value, open: *open, weak },
        [Token::Repeat(times)] => Figure::Repeat(*times),
        [Token::And | Token::Article | Token::Minus | Token::Point] => Figure::None,
        _ => Figure::Amount,
    }
}

//! Reads telephone numbers, PIN codes and e-mail addresses as they are said or written.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

use super::fold;
use super::numbers;
use super::readings::Reading;
use super::table::Meaning;
use crate::language::folders::{files, parsed};
use crate::words::plain_digit;

/// Most words of an answer with an address.
const MAX_WORDS: usize = 60;
/// Longest address and longest part before its `@` (RFC 5321).
const MAX_ADDRESS: usize = 254;
const MAX_LOCAL: usize = 64;
/// Ends of addresses that people have; one that is not of them is asked back.
const ENDS: [&str; 22] = [
    "com", "in", "org", "net", "edu", "gov", "info", "io", "co", "me", "biz", "ai", "app", "dev", "us", "uk",
    "ca", "au", "ae", "sg", "tech", "online",
];

/// The tables, by language.
pub const SOURCES: [(&str, &str); 11] = files!("contacts.toml");

/// A table as it is written. `_` joins the words of a phrase.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    pub at: String,
    pub dot: String,
    pub underscore: String,
    pub dash: String,
    pub plus: String,
    pub double: String,
    pub triple: String,
    /// Between a letter and a word that begins with it: `b as in boy`.
    pub example: String,
    /// What a and its followers are called, a to z in order; several names of one are parted by `/`, and
    /// `_` stands for a letter whose name is another one's too.
    pub letters: String,
    /// Words that are written as they sound: `gmail = "जीमेल"`.
    pub names: HashMap<String, String>,
    /// What may stand before or after an address.
    pub carriers: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// `@`, `.`, `_`, `-`.
    Sign(char),
    Letter(char),
    /// A word or digits, as they are written.
    Word(String),
    Repeat(usize),
    Example,
    Carrier,
    Unknown,
}

static TABLES: LazyLock<HashMap<&'static str, HashMap<String, Piece>>> = LazyLock::new(|| {
    SOURCES
        .iter()
        .map(|(code, source)| {
            let file = parsed(code, "contacts.toml", source);
            (*code, pieces_of(&file))
        })
        .collect()
});

fn pieces_of(written: &Written) -> HashMap<String, Piece> {
    let mut table = HashMap::new();
    let mut add = |words: &str, piece: Piece| {
        for word in words.split_whitespace() {
            let folded: Vec<String> = word.split('_').map(fold::letters).collect();
            table.entry(folded.join(" ")).or_insert_with(|| piece.clone());
        }
    };
    add(&written.at, Piece::Sign('@'));
    add(&written.dot, Piece::Sign('.'));
    add(&written.underscore, Piece::Sign('_'));
    add(&written.dash, Piece::Sign('-'));
    add(&written.plus, Piece::Sign('+'));
    add(&written.double, Piece::Repeat(2));
    add(&written.triple, Piece::Repeat(3));
    add(&written.example, Piece::Example);
    for (name, words) in &written.names {
        add(words, Piece::Word(name.clone()));
    }
    for (letter, names) in ('a'..='z').zip(written.letters.split_whitespace()) {
        add(&names.replace('/', " "), Piece::Letter(letter));
    }
    add(&written.carriers, Piece::Carrier);
    table
}

/// The names of letters in every language, folded by [`fold::letters`], of one word each.
pub fn letter_names() -> impl Iterator<Item = (String, char)> {
    TABLES.values().flatten().filter_map(|(name, piece)| match piece {
        Piece::Letter(letter) if !name.contains(' ') && !name.is_empty() => Some((name.clone(), *letter)),
        _ => None,
    })
}

fn tables(language: &str) -> Vec<&'static HashMap<String, Piece>> {
    let mut codes = vec![language, "en", "hi"];
    codes.dedup();
    codes.into_iter().filter_map(|code| TABLES.get(code)).collect()
}

/// The Indian telephone number in `heard`, as `+91` and ten digits.
pub fn phone(heard: &str, language: &str, label: &str) -> Option<String> {
    let said = without_plus(heard, language);
    let digits = numbers::read_digits(&said, language, label)?;
    Some(format!("+91{}", national(&digits)?))
}

/// The ten digits of a number that was keyed or said, with or without 0, 91 or 0091 before them.
pub fn national(digits: &str) -> Option<&str> {
    let mobile = |rest: &&str| rest.len() == 10 && rest.starts_with(['6', '7', '8', '9']);
    let landline =
        |rest: &&str| rest.len() == 10 && rest.starts_with(['1', '2', '3', '4', '5', '6', '7', '8']);
    let after = |prefix: &str| digits.strip_prefix(prefix);
    Some(digits)
        .filter(mobile)
        .or_else(|| after("91").filter(mobile))
        .or_else(|| after("0091").filter(mobile))
        .or_else(|| after("0").filter(|rest| mobile(rest) || landline(rest)))
}

/// The six digits of the PIN code in `heard`.
pub fn pincode(heard: &str, language: &str, label: &str) -> Option<String> {
    numbers::read_digits(heard, language, label).filter(|digits| is_pincode(digits))
}

/// Six digits, the first not 0.
pub fn is_pincode(digits: &str) -> bool {
    digits.len() == 6 && !digits.starts_with('0')
}

/// The words without a plus that begins a number.
fn without_plus(heard: &str, language: &str) -> String {
    let tables = tables(language);
    let is_plus = |word: &str| {
        let word = fold::letters(word);
        tables.iter().any(|table| table.get(&word) == Some(&Piece::Sign('+')))
    };
    let words: Vec<&str> = heard.split_whitespace().collect();
    match words.iter().position(|word| is_plus(word)) {
        Some(at) if words.get(at + 1).is_some() => {
            let rest = words.iter().enumerate().filter(|(index, _)| *index != at);
            rest.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
        }
        _ => heard.to_owned(),
    }
}

/// The e-mail address in `heard`, in lower case. Unsure if words were joined or its end is a rare one.
pub fn email(heard: &str, language: &str) -> Option<Reading<String>> {
    let mut pieces = spelled(pieces(heard, language)?)?;
    let ats = pieces.iter().filter(|piece| **piece == Piece::Sign('@')).count();
    if ats != 1 {
        return None;
    }
    let trims = |piece: Option<&Piece>| matches!(piece, Some(Piece::Carrier));
    while trims(pieces.last()) {
        pieces.pop();
    }
    let at = pieces.iter().position(|piece| *piece == Piece::Sign('@'))?;
    let start = pieces[..at].iter().rposition(|piece| *piece == Piece::Carrier).map_or(0, |last| last + 1);
    if pieces[..start].iter().any(|piece| matches!(piece, Piece::Sign(_) | Piece::Unknown)) {
        return None;
    }
    let pieces = &pieces[start..];
    let mut address = String::new();
    let mut joined = false;
    let mut last: Option<&Piece> = None;
    for piece in pieces {
        match piece {
            Piece::Sign(sign) => address.push(*sign),
            Piece::Letter(letter) => address.push(*letter),
            Piece::Word(word) => address.push_str(word),
            _ => return None,
        }
        joined |= match (last, piece) {
            (Some(Piece::Word(before)), Piece::Word(word)) => !is_digits(before) && !is_digits(word),
            (Some(Piece::Word(before)), Piece::Letter(_)) => !is_digits(before),
            (Some(Piece::Letter(_)), Piece::Word(word)) => !is_digits(word),
            _ => false,
        };
        last = Some(piece);
    }
    let known = is_address(&address)?;
    Some(if joined || !known { Reading::Unsure(address) } else { Reading::Sure(address) })
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the end of the address is a usual one; `None` if it is no address.
fn is_address(address: &str) -> Option<bool> {
    let (local, domain) = address.split_once('@')?;
    let labels: Vec<&str> = domain.split('.').collect();
    let local_fits = !local.is_empty()
        && local.len() <= MAX_LOCAL
        && address.len() <= MAX_ADDRESS
        && local.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
        && local.split('.').all(|part| !part.is_empty());
    let label_fits = |label: &&str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let end = labels.last()?;
    let fits = local_fits
        && labels.len() >= 2
        && labels.iter().all(label_fits)
        && end.len() >= 2
        && end.bytes().all(|byte| byte.is_ascii_alphabetic());
    fits.then(|| ENDS.contains(end))
}

/// The words as pieces of an address; `None` if they are none or too many.
fn pieces(heard: &str, language: &str) -> Option<Vec<Piece>> {
    let words = split(heard);
    if words.is_empty() || words.len() > MAX_WORDS {
        return None;
    }
    let tables = tables(language);
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let phrase = (1..=4_usize.min(words.len() - at)).rev().find_map(|length| {
            let folded: Vec<String> = words[at..at + length].iter().map(|word| fold::letters(word)).collect();
            let folded = folded.join(" ");
            tables.iter().find_map(|table| table.get(&folded)).map(|piece| (piece.clone(), length))
        });
        if let Some((piece, length)) = phrase {
            out.push(piece);
            at += length;
            continue;
        }
        out.push(single(&words[at], language));
        at += 1;
    }
    Some(out)
}

fn single(word: &str, language: &str) -> Piece {
    let mut letters = word.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        if "@._-+".contains(letter) {
            return Piece::Sign(letter);
        }
        if letter.is_ascii_alphabetic() {
            return Piece::Letter(letter);
        }
    }
    let english = |word: &str| numbers::small(word, "en");
    let native = fold::native(word);
    let number = if native {
        match numbers::known(word, language) {
            Some(Meaning::Number(_)) => numbers::read_digits(word, language, ""),
            _ => None,
        }
    } else {
        english(word).filter(|_| !is_digits(word)).map(|number| number.to_string())
    };
    match number {
        Some(digits) => Piece::Word(digits),
        None if word.is_ascii() => Piece::Word(word.to_owned()),
        None => Piece::Unknown,
    }
}

/// `double e`, `b as in boy`: what they spell.
fn spelled(pieces: Vec<Piece>) -> Option<Vec<Piece>> {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut at = 0;
    while at < pieces.len() {
        match (&pieces[at], pieces.get(at + 1), pieces.get(at + 2)) {
            (Piece::Repeat(times), Some(piece @ (Piece::Letter(_) | Piece::Word(_))), _) => {
                if let Piece::Word(word) = piece
                    && word.len() > 1
                {
                    return None;
                }
                out.extend(std::iter::repeat_n(piece.clone(), *times));
                at += 2;
            }
            (Piece::Letter(letter), Some(Piece::Example), Some(Piece::Word(word)))
                if word.starts_with(*letter) =>
            {
                out.push(Piece::Letter(*letter));
                at += 3;
            }
            (Piece::Repeat(_) | Piece::Example, ..) => return None,
            (piece, ..) => {
                out.push(piece.clone());
                at += 1;
            }
        }
    }
    Some(out)
}

/// Words and signs, in lower case; a point at the end of a sentence is none.
fn split(heard: &str) -> Vec<String> {
    let text: String = heard.nfkc().flat_map(char::to_lowercase).map(plain_digit).collect();
    let mut words = Vec::new();
    for piece in text.split(|letter: char| letter.is_whitespace() || ",;:!?()\"<>।॥“”…".contains(letter))
    {
        let piece = piece.trim_end_matches('.');
        let mut word = String::new();
        for letter in piece.chars() {
            if "'’‘`\u{200b}\u{200c}\u{200d}\u{feff}".contains(letter) {
                continue;
            }
            let sign = "@._-+".contains(letter);
            let digit = letter.is_ascii_digit() != word.ends_with(|last: char| last.is_ascii_digit());
            if (sign || digit) && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if sign {
                words.push(letter.to_string());
            } else {
                word.push(letter);
            }
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

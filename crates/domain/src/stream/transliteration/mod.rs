//! Writing a name in the script of a language (docs/contract/streams.md#transliteration).
//!
//! People write Indian names in Latin letters by ear: `Deepak` and `Dipak` are one name, `a` is used for two
//! vowels, `t` for four consonants. Schemes such as ISO 15919, which libraries implement, need letters with
//! marks that nobody types. So there are three parts: a table of common names, rules for the other ones, and
//! the sounds that the nine Indian scripts share, whose blocks in Unicode have one layout.

mod indic;
mod latin;
mod sounds;

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

/// Common names, each in Latin letters and in Devanagari.
const NAMES: &str = include_str!("names.txt");

/// A script that names are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Script {
    Latin,
    /// Hindi and Marathi.
    Devanagari,
    Bengali,
    Gurmukhi,
    Gujarati,
    Odia,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
}

impl Script {
    const INDIAN: [Script; 9] = [
        Script::Devanagari,
        Script::Bengali,
        Script::Gurmukhi,
        Script::Gujarati,
        Script::Odia,
        Script::Tamil,
        Script::Telugu,
        Script::Kannada,
        Script::Malayalam,
    ];

    /// The script of a language of agents; Latin for one that is not known.
    pub fn of_language(language: &str) -> Self {
        match language {
            "hi" | "mr" => Script::Devanagari,
            "bn" => Script::Bengali,
            "pa" => Script::Gurmukhi,
            "gu" => Script::Gujarati,
            "or" => Script::Odia,
            "ta" => Script::Tamil,
            "te" => Script::Telugu,
            "kn" => Script::Kannada,
            "ml" => Script::Malayalam,
            _ => Script::Latin,
        }
    }

    /// Where its block begins in Unicode; none for Latin.
    fn block(self) -> Option<u32> {
        Some(match self {
            Script::Latin => return None,
            Script::Devanagari => 0x0900,
            Script::Bengali => 0x0980,
            Script::Gurmukhi => 0x0A00,
            Script::Gujarati => 0x0A80,
            Script::Odia => 0x0B00,
            Script::Tamil => 0x0B80,
            Script::Telugu => 0x0C00,
            Script::Kannada => 0x0C80,
            Script::Malayalam => 0x0D00,
        })
    }

    /// The script of a letter; none for what belongs to all of them or to another one.
    fn of_letter(letter: char) -> Option<Self> {
        let code = u32::from(letter);
        // The full stop of Devanagari is used by the others, too.
        if matches!(letter, '।' | '॥') {
            return None;
        }
        if let Some(script) = Self::INDIAN
            .into_iter()
            .find(|script| script.block().is_some_and(|block| (block..block + 0x80).contains(&code)))
        {
            return Some(script);
        }
        let latin = letter.is_alphabetic() && (code < 0x250 || (0x1E00..0x1F00).contains(&code));
        latin.then_some(Script::Latin)
    }

    /// Whether the vowel after a last consonant is heard, so that its absence is written.
    fn is_southern(self) -> bool {
        matches!(self, Script::Tamil | Script::Telugu | Script::Kannada | Script::Malayalam)
    }
}

/// Writes a name in a script. Words that are in it already, and those in a script that is not known here, stay
/// as they are, and so do digits and signs.
pub fn transliterate(name: &str, to: Script) -> String {
    let name: String = name.nfc().collect();
    let mut out = String::with_capacity(name.len() * 3);
    let mut rest = name.as_str();
    while let Some(first) = rest.chars().next() {
        let Some(script) = Script::of_letter(first) else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let belongs = |letter: char| {
            Script::of_letter(letter) == Some(script)
                || (script != Script::Latin && is_joiner(letter))
                || is_mark(letter)
        };
        let end = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if script == to || !word.chars().any(char::is_alphabetic) {
            out.push_str(word);
        } else {
            out.push_str(&write_word(word, script, to));
        }
        rest = after;
    }
    out.nfc().collect()
}

/// Letters that only say how others are joined.
fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200C}' | '\u{200D}')
}

/// Marks above and below Latin letters that have no form with the letter.
fn is_mark(letter: char) -> bool {
    ('\u{0300}'..'\u{0370}').contains(&letter)
}

fn write_word(word: &str, from: Script, to: Script) -> String {
    if from == Script::Devanagari
        && to == Script::Latin
        && let Some(known) = BY_DEVANAGARI.get(word)
    {
        return capitalised(known);
    }
    let (mut sounds, origin) = match from {
        Script::Latin => {
            let folded = latin::fold(word);
            match BY_LATIN.get(folded.as_str()) {
                Some(known) => (indic::read(known, Script::Devanagari), Script::Devanagari),
                None => (latin::read(&folded), Script::Latin),
            }
        }
        _ => (indic::read(word, from), from),
    };
    if origin != Script::Latin && !origin.is_southern() && (to.is_southern() || to == Script::Latin) {
        sounds::drop_silent(&mut sounds);
    }
    if from == Script::Latin && to.is_southern() {
        sounds::shorten_end(&mut sounds);
    }
    match to {
        Script::Latin => capitalised(&latin::write(&sounds, origin)),
        _ => indic::write(&sounds, to),
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.lines().filter_map(|line| line.split_once(' '))
}

static BY_LATIN: LazyLock<HashMap<&'static str, String>> =
    LazyLock::new(|| pairs().map(|(latin, name)| (latin, name.nfc().collect())).collect());

/// The first spelling of each name that is longer than a letter.
static BY_DEVANAGARI: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for (latin, name) in pairs().filter(|(latin, _)| latin.len() > 1) {
        known.entry(name.nfc().collect()).or_insert(latin);
    }
    known
});

#[cfg(test)]
mod tests;

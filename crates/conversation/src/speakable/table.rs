//! The tables of `languages/<code>/speaking.toml`, read once.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::language::fold;
use crate::language::folders::{files, parsed};

/// The languages of agents, each with its table.
pub const SOURCES: [(&str, &str); 11] = files!("speaking.toml");

/// A table as it is written. Lists are words parted by spaces; `_` is a space within one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// 0 to 99.
    pub numbers: String,
    /// 100 to 900, as they end a number.
    pub hundreds: String,
    /// The same before the rest of a number; `hundreds` if absent.
    pub hundreds_then: Option<String>,
    /// The same before what is counted; `hundreds` if absent.
    pub hundreds_noun: Option<String>,
    /// One before what is counted, if it is another word than the number.
    pub one_noun: Option<String>,
    pub thousand: Scale,
    pub lakh: Scale,
    pub crore: Scale,
    /// How years from 1900 to 1999 begin, if not like a number.
    pub nineteen_hundred: Option<String>,
    /// Years are two numbers: twenty twenty six.
    #[serde(default)]
    pub year_in_pairs: bool,
    pub minus: String,
    pub plus: String,
    pub point: String,
    pub rupee: String,
    pub rupees: String,
    pub paisa: String,
    pub paise: String,
    /// Between rupees and paise; may be empty.
    pub paise_join: String,
    pub dollars: String,
    pub euros: String,
    pub pounds: String,
    pub percent: String,
    pub at: String,
    pub dot: String,
    pub dash: String,
    pub underscore: String,
    pub slash: String,
    pub com: String,
    pub org: String,
    pub co: String,
    pub net: String,
    pub gmail: String,
    /// January to December.
    pub months: String,
    /// The names of A to Z.
    pub letters: String,
    /// With `{day}`, `{month}` and `{year}`, which may be missing.
    pub date: String,
    /// With `{a}` and `{b}`.
    pub range: String,
    /// Pairs that are put right where a range is joined.
    #[serde(default)]
    pub range_joins: Vec<(String, String)>,
    /// Words after a number that it does not count; every other word is counted by it.
    pub joining: Option<String>,
    /// First, second, … as far as they are not made by `ordinal_endings`.
    pub ordinals: String,
    /// The first pair whose first part ends a number makes it an ordinal.
    pub ordinal_endings: Vec<(String, String)>,
    /// Words that announce a number said digit by digit.
    pub ids: String,
    /// Words of the currency that may follow a number; they stay as they are written.
    pub currency: String,
    pub time: Time,
    /// Abbreviations of units after a number.
    pub units: BTreeMap<String, String>,
    /// Abbreviations with a full stop, and what they are.
    pub abbreviations: BTreeMap<String, String>,
    /// Words in capitals that are said as words.
    pub acronyms: BTreeMap<String, String>,
}

/// Thousand, lakh or crore.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// One of it, as it ends a number.
    pub one: String,
    /// One of it before the rest of a number; `one` if absent.
    pub one_then: Option<String>,
    /// The word after its count.
    pub many: String,
    pub many_then: Option<String>,
    pub many_noun: Option<String>,
    /// The first pair whose first part ends the count makes count and scale one word.
    #[serde(default)]
    pub fuse: Vec<(String, String)>,
    /// The same for the end of that word, before the rest of a number.
    #[serde(default)]
    pub fuse_then: Vec<(String, String)>,
}

/// Times of the day.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// A full hour, with `{part}` (may be empty) and `{h}`.
    pub hour: String,
    /// An hour with minutes, also with `{m}`.
    pub minutes: String,
    /// A full hour of which the part of the day is not known.
    pub bare_hour: String,
    /// The parts of the day and the hours at which they begin.
    pub parts: Vec<(u32, String)>,
    /// Said before minutes below ten.
    pub zero: Option<String>,
    /// Words after a time that already say what it is.
    pub clock: String,
}

/// How one language says things.
pub struct Speech {
    pub code: &'static str,
    pub written: Written,
    pub numbers: Vec<String>,
    pub hundreds: [Vec<String>; 3],
    pub months: Vec<String>,
    pub letters: Vec<String>,
    pub ordinals: Vec<String>,
    pub ids: Vec<String>,
    pub currency: Vec<String>,
    pub clock: Vec<String>,
    /// None where a number is the same before what it counts.
    pub joining: Option<Vec<String>>,
}

static TABLES: LazyLock<HashMap<&'static str, Speech>> = LazyLock::new(|| {
    SOURCES
        .iter()
        .map(|(code, source)| {
            let written = parsed(code, "speaking.toml", source);
            (*code, Speech::of(code, written))
        })
        .collect()
});

/// The table of a language; English for one that is not among the eleven.
pub fn speech(code: &str) -> &'static Speech {
    TABLES.get(code).unwrap_or_else(|| &TABLES["en"])
}

fn list(words: &str) -> Vec<String> {
    words.split_whitespace().map(|word| word.replace('_', " ")).collect()
}

impl Speech {
    fn of(code: &'static str, written: Written) -> Self {
        let hundreds = list(&written.hundreds);
        let other = |words: &Option<String>| words.as_deref().map_or_else(|| hundreds.clone(), list);
        let folded = |words: &str| -> Vec<String> { words.split_whitespace().map(fold::letters).collect() };
        Self {
            code,
            numbers: list(&written.numbers),
            hundreds: [hundreds.clone(), other(&written.hundreds_then), other(&written.hundreds_noun)],
            months: list(&written.months),
            letters: list(&written.letters),
            ordinals: list(&written.ordinals),
            ids: folded(&written.ids),
            currency: folded(&written.currency),
            clock: folded(&written.time.clock),
            joining: written.joining.as_deref().map(folded),
            written,
        }
    }
}

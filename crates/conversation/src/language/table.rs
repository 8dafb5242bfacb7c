//! The tables of `languages/<code>/numbers.toml`, read once.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::fold;
use super::folders::{files, parsed};
use super::numbers::Token;

/// The languages of agents, each with its table.
pub const SOURCES: [(&str, &str); 11] = files!("numbers.toml");

/// A table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Tens and units may be two words (`twenty five`).
    pub composes: bool,
    /// 0 to 99.
    pub words: BTreeMap<String, String>,
    /// Tokens (see [`token`]) and the words that are them.
    pub forms: BTreeMap<String, String>,
    /// English words of numbers by their sounds, for words in Indian scripts.
    #[serde(default)]
    pub sounds: BTreeMap<String, String>,
    /// Words that may stand beside a number.
    pub carriers: String,
    /// Carriers that also stand beside words of other languages.
    #[serde(default)]
    pub neutral: String,
    /// Words with which there is no number: or, negations, ranges.
    pub refuses: String,
    /// Words between a number and the one that replaces it.
    pub corrects: String,
    /// Endings that make further words of the numbers.
    #[serde(default)]
    pub endings: Vec<Ending>,
    /// Beginnings that make further words of the numbers.
    #[serde(default)]
    pub joins: Vec<Join>,
}

/// Before every word for 1 to 99, `first` makes one word of the two: `ನೂರ` and `ಐವತ್ತು` are `ನೂರೈವತ್ತು`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    pub first: String,
    pub means: String,
}

impl Join {
    /// The word of both, as it is written and, before a vowel, with the vowel's sign.
    fn words(&self, word: &str) -> Vec<String> {
        let mut out = vec![format!("{}{word}", self.first)];
        let mut letters = word.chars();
        if let Some(sign) = letters.next().and_then(fold::vowel_sign) {
            let sign = sign.map(String::from).unwrap_or_default();
            out.push(format!("{}{sign}{}", self.first, letters.as_str()));
        }
        out
    }
}

/// Every word for `from` to `to` that ends in `drop` is, with `add` in its place, the number and then `then`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    pub from: u8,
    pub to: u8,
    pub drop: String,
    pub add: String,
    pub then: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// Spellings of one number share its tokens.
    Number(Arc<[Token]>),
    Carrier {
        neutral: bool,
    },
    Refuses,
    Corrects,
}

/// The words of one language.
pub struct Table {
    code: &'static str,
    exact: HashMap<Box<str>, Meaning>,
    /// Latin words by their sounds; `None` where two numbers sound alike.
    sounds: HashMap<Box<str>, Option<Meaning>>,
    english: HashMap<Box<str>, Meaning>,
}

static TABLES: LazyLock<HashMap<&'static str, Table>> = LazyLock::new(|| {
    SOURCES
        .iter()
        .map(|(code, source)| (*code, Table::of(code, &parsed(code, "numbers.toml", source))))
        .collect()
});

/// The table of a language.
pub fn table(code: &str) -> Option<&'static Table> {
    TABLES.get(code)
}

/// A token as the tables write it: `25`, `x100`, `+25`, `m150`, `p50`, `half` …
fn token(written: &str, composes: bool) -> Option<Token> {
    if let Ok(value) = written.parse::<u8>()
        && !written.starts_with('+')
    {
        return Some(Token::Number { value, open: composes && value >= 20 && value % 10 == 0 });
    }
    let (kind, rest) = written.split_at_checked(1)?;
    Some(match (kind, rest.parse::<u64>().ok()) {
        ("x", Some(times)) => Token::Scale(times),
        ("m", Some(hundredths)) => Token::Mixed(hundredths),
        ("p", Some(hundredths)) => Token::After(hundredths),
        ("+", Some(hundredths)) => Token::Before(i64::try_from(hundredths).ok()?),
        ("-", Some(hundredths)) => Token::Before(-i64::try_from(hundredths).ok()?),
        ("r", Some(times)) => Token::Repeat(usize::try_from(times).ok()?),
        _ => match written {
            "article" => Token::Article,
            "half" => Token::Part(50),
            "quarter" => Token::Part(25),
            "point" => Token::Point,
            "and" => Token::And,
            "minus" => Token::Minus,
            "rupees" => Token::Rupees,
            "paise" => Token::Paise,
            _ => return None,
        },
    })
}

fn tokens(written: &str, composes: bool) -> Option<Arc<[Token]>> {
    written.split(' ').map(|one| token(one, composes)).collect()
}

impl Table {
    fn of(code: &'static str, written: &Written) -> Self {
        let mut table = Self { code, exact: HashMap::new(), sounds: HashMap::new(), english: HashMap::new() };
        let composes = written.composes;
        for word in written.carriers.split_whitespace() {
            table.exact.insert(fold::letters(word).into(), Meaning::Carrier { neutral: code != "en" });
        }
        for word in written.neutral.split_whitespace() {
            table.exact.insert(fold::letters(word).into(), Meaning::Carrier { neutral: true });
        }
        for word in written.refuses.split_whitespace() {
            table.exact.insert(fold::letters(word).into(), Meaning::Refuses);
        }
        for word in written.corrects.split_whitespace() {
            table.exact.insert(fold::letters(word).into(), Meaning::Corrects);
        }
        let mut made: Vec<(String, Arc<[Token]>)> = Vec::new();
        for (value, words) in &written.words {
            let Some(tokens) = tokens(value, composes) else { continue };
            made.extend(words.split_whitespace().map(|word| (word.to_owned(), tokens.clone())));
        }
        for ending in &written.endings {
            let Some(then) = tokens(&ending.then, composes) else { continue };
            for value in ending.from..=ending.to {
                let Some(words) = written.words.get(&value.to_string()) else { continue };
                let same = |word: &&str| fold::native(word) == fold::native(&ending.add);
                let stems = words.split_whitespace().filter(same);
                let tokens: Arc<[Token]> =
                    [&[Token::Number { value, open: false }], &then[..]].concat().into();
                for stem in stems.filter_map(|word| word.strip_suffix(&ending.drop)) {
                    made.push((format!("{stem}{}", ending.add), tokens.clone()));
                }
            }
        }
        for join in &written.joins {
            let Some(first) = tokens(&join.means, composes) else { continue };
            for value in 1..=99_u8 {
                let Some(words) = written.words.get(&value.to_string()) else { continue };
                let Some(number) = tokens(&value.to_string(), composes) else { continue };
                let tokens: Arc<[Token]> = [&first[..], &number[..]].concat().into();
                let words = words.split_whitespace().filter(|word| fold::native(word));
                made.extend(words.flat_map(|word| join.words(word)).map(|word| (word, tokens.clone())));
            }
        }
        for (value, words) in &written.forms {
            let Some(tokens) = tokens(value, composes) else { continue };
            made.extend(words.split_whitespace().map(|word| (word.to_owned(), tokens.clone())));
        }
        for (word, tokens) in made {
            table.number(&word, tokens);
        }
        for (value, words) in &written.sounds {
            let Some(tokens) = tokens(value, true) else { continue };
            for word in words.split_whitespace() {
                table.english.insert(word.replace('D', "T").into(), Meaning::Number(tokens.clone()));
            }
        }
        table
    }

    fn number(&mut self, word: &str, tokens: Arc<[Token]>) {
        let meaning = Meaning::Number(tokens);
        if !fold::native(word) && self.code != "en" {
            let sounds = fold::latin_sounds(word, self.code);
            let known = self.sounds.entry(sounds.into()).or_insert_with(|| Some(meaning.clone()));
            if known.as_ref().is_some_and(|known| *known != meaning) {
                *known = None;
            }
        }
        self.exact.entry(fold::letters(word).into()).or_insert(meaning);
    }

    pub fn is_english(&self) -> bool {
        self.code == "en"
    }

    /// What the word (folded by [`fold::letters`]) is, exactly as listed.
    pub fn exact(&self, word: &str) -> Option<&Meaning> {
        self.exact.get(word)
    }

    /// The number that a Latin word sounds like.
    pub fn sounding(&self, word: &str) -> Option<&Meaning> {
        self.sounds.get(fold::latin_sounds(word, self.code).as_str())?.as_ref()
    }

    /// The number that a word in an Indian script is in English.
    pub fn english(&self, word: &str) -> Option<&Meaning> {
        self.english.get(fold::english_sounds(word).as_str())
    }
}

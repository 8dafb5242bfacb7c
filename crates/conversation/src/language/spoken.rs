//! Which language somebody speaks (docs/language.md#the-customers-language): by the script and by the words that
//! every sentence of a language has, from `languages/<code>/spoken.toml`. Names, numbers and loan words tell nothing.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::folders::{files, parsed};
use crate::speech::{LANGUAGES, fold};
use crate::words::words;
use crate::yes_no;

/// Most words of a turn that are looked at.
const MAX_WORDS: usize = 100;
/// Fewest words of a turn that can switch; more in English, of which short sentences are said in every language.
const FEWEST: usize = 3;
const FEWEST_ENGLISH: usize = 4;
/// Telling words that are needed.
const TELLING: usize = 2;
const TELLING_ENGLISH: usize = 3;
/// Letters of the shortest word that is known by its ending, beside the ending.
const STEM: usize = 2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    native: String,
    endings: String,
    latin: String,
    weak: String,
    marks: String,
    loans: String,
}

/// The words of one language. All are folded, except those of English.
struct Table {
    code: &'static str,
    /// Where the letters of its script begin.
    script: Option<u32>,
    native: HashSet<String>,
    endings: Vec<String>,
    latin: HashSet<String>,
    /// Words that are also words of other languages.
    weak: HashSet<String>,
    /// Words of the language that are also common in English sentences.
    marks: HashSet<String>,
    /// English words that are said in every language.
    loans: HashSet<String>,
}

fn folded(list: &str) -> HashSet<String> {
    list.split_whitespace().map(|word| fold(word).concat()).filter(|word| !word.is_empty()).collect()
}

fn exact(list: &str) -> HashSet<String> {
    list.split_whitespace().flat_map(words).collect()
}

/// Where the script of a language's letters begins; none for Latin letters.
fn script(code: &str) -> Option<u32> {
    Some(match code {
        "hi" | "mr" => 0x0900,
        "bn" => 0x0980,
        "pa" => 0x0A00,
        "gu" => 0x0A80,
        "or" => 0x0B00,
        "ta" => 0x0B80,
        "te" => 0x0C00,
        "kn" => 0x0C80,
        "ml" => 0x0D00,
        _ => return None,
    })
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let rows: Vec<(&str, Written)> =
        files!("spoken.toml").iter().map(|(code, text)| (*code, parsed(code, "spoken.toml", text))).collect();
    let table = |(code, rows): &(&'static str, Written)| {
        let sort = if *code == "en" { exact } else { folded };
        let mut table = Table {
            code,
            script: script(code),
            native: folded(&rows.native),
            endings: rows.endings.split_whitespace().map(str::to_owned).collect(),
            latin: sort(&rows.latin),
            weak: exact(&rows.weak),
            marks: folded(&rows.marks),
            loans: exact(&rows.loans),
        };
        // A yes or a no is said in every language by those who know one word of it.
        table.native.retain(|word| !yes_no::is_answer(code, word));
        table.latin.retain(|word| *code == "en" || !yes_no::is_answer(code, word));
        table
    };
    rows.iter().map(table).collect()
});

fn english() -> Option<&'static Table> {
    TABLES.iter().find(|table| table.script.is_none())
}

/// A word of what was said.
struct Word {
    raw: String,
    folded: String,
    script: Option<u32>,
}

impl Word {
    fn of(raw: String) -> Self {
        let script = raw.chars().find_map(|letter| match u32::from(letter) {
            code @ 0x0900..=0x0D7F => Some(code & !0x7F),
            _ => None,
        });
        Self { folded: fold(&raw).concat(), raw, script }
    }

    /// Whether the word is only of this language.
    fn tells(&self, table: &Table) -> bool {
        if self.script.is_some() {
            return self.script == table.script
                && (table.native.contains(&self.folded)
                    || table.endings.iter().any(|ending| {
                        self.raw
                            .strip_suffix(ending.as_str())
                            .is_some_and(|stem| stem.chars().count() >= STEM)
                    }));
        }
        match table.script {
            None => table.latin.contains(&self.raw),
            Some(_) => !self.is_english() && table.latin.contains(&self.folded),
        }
    }

    fn is_english(&self) -> bool {
        english().is_some_and(|table| table.latin.contains(&self.raw) || table.weak.contains(&self.raw))
    }

    /// Whether it is an English word that may be said in this language.
    fn is_loan(&self, table: &Table) -> bool {
        let strange = !self.tells(table) && !table.weak.contains(&self.raw);
        strange && english().is_some_and(|it| it.loans.contains(&self.raw) || it.weak.contains(&self.raw))
    }

    /// Whether it is a word that this language strews into others.
    fn marks(&self, table: &Table) -> bool {
        !self.is_english() && table.marks.contains(&self.folded)
    }
}

/// How much of a turn is one language.
struct Tally {
    /// Different words that only this language has, in its script and in Latin letters.
    native: usize,
    latin: usize,
    /// Different words that other languages have, too.
    weak: usize,
    /// Words of the language that are also common in English sentences.
    marks: usize,
    /// Words in its script.
    in_script: usize,
}

fn tally(table: &Table, said: &[Word]) -> Tally {
    let different = |of: &dyn Fn(&&Word) -> bool| {
        said.iter().filter(of).map(|word| word.folded.as_str()).collect::<BTreeSet<_>>().len()
    };
    Tally {
        native: different(&|word| word.script.is_some() && word.tells(table)),
        latin: different(&|word| word.script.is_none() && word.tells(table)),
        weak: different(&|word| {
            word.script.is_none() && !word.tells(table) && table.weak.contains(&word.raw)
        }),
        marks: different(&|word| !word.tells(table) && word.marks(table)),
        in_script: said.iter().filter(|word| word.script.is_some() && word.script == table.script).count(),
    }
}

/// The language of `listed`, other than `current`, in which this turn surely is; `reported` is what the recogniser reports about
/// it. `None` for a short turn, for speech that mixes languages, and for names and numbers.
pub fn spoken(text: &str, reported: Option<&str>, current: &str, listed: &[String]) -> Option<&'static str> {
    let others = || listed.iter().filter(|language| *language != current);
    others().next()?;
    // Channels say in square brackets what the words are of: `[voice note] …`.
    let text =
        text.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(text, |it| it.1);
    let said: Vec<Word> = words(text)
        .into_iter()
        .filter(|word| word.chars().any(char::is_alphabetic))
        .take(MAX_WORDS)
        .map(Word::of)
        .collect();
    if said.len() < FEWEST {
        return None;
    }
    let reported =
        reported.filter(|reported| *reported != current && listed.iter().any(|listed| listed == reported));
    let mut sure = TABLES.iter().filter(|table| {
        others().any(|language| language == table.code)
            && reported.is_none_or(|reported| reported == table.code)
            && is_spoken(table, &said, reported.is_some())
    });
    let found = sure.next()?;
    sure.next().is_none().then_some(found.code)
}

/// Whether this language, and no other, is spoken. With `reported`, the recogniser says so, too.
fn is_spoken(table: &Table, said: &[Word], reported: bool) -> bool {
    let of = tally(table, said);
    let strong = of.native + of.latin;
    // Words that two languages share speak for none of them.
    let rivals = TABLES.iter().filter(|rival| rival.code != table.code);
    let shared = |word: &&Word| word.tells(table) || word.script.is_none() && table.weak.contains(&word.raw);
    let against = |rival: &Table| said.iter().filter(|word| word.tells(rival) && !shared(word)).count();
    if table.script.is_none() {
        let mixed = rivals.clone().any(|rival| {
            against(rival) > 0 || said.iter().any(|word| word.script.is_some() || word.marks(rival))
        });
        let telling = strong + of.weak;
        return !mixed
            && said.len() >= FEWEST_ENGLISH
            && strong >= TELLING
            && telling >= TELLING_ENGLISH
            && telling * 5 >= said.len() * 2;
    }
    let mixed = rivals.clone().any(|rival| {
        let count = against(rival);
        if rival.script.is_none() { count > 0 } else { count * 3 > strong }
    });
    if mixed {
        return false;
    }
    // One word tells enough in a script that no other language has, if the turn is more than a yes.
    let answers = said.iter().filter(|word| yes_no::is_answer(table.code, &word.folded)).count();
    let alone = TABLES.iter().filter(|rival| rival.script == table.script).count() == 1;
    let enough = if reported || alone && said.len() - answers >= FEWEST { 1 } else { TELLING };
    let written = of.in_script * 3 >= said.len() * 2 && strong >= enough;
    let loans = said.iter().filter(|word| word.is_loan(table)).count();
    let in_latin = of.in_script == 0
        && strong >= TELLING
        && strong + of.weak >= loans * 2
        && (strong + of.weak + of.marks) * 3 >= said.len();
    written || in_latin
}

/// Languages of `listed`, other than `current`, in whose script some of the text is.
pub fn written_in<'a>(text: &str, current: &str, listed: &'a [String]) -> Vec<&'a str> {
    let scripts: BTreeSet<u32> = text
        .chars()
        .filter_map(|letter| match u32::from(letter) {
            code @ 0x0900..=0x0D7F => Some(code & !0x7F),
            _ => None,
        })
        .collect();
    let fits = |language: &&str| {
        *language != current && script(language).is_some_and(|script| scripts.contains(&script))
    };
    listed.iter().map(String::as_str).filter(fits).collect()
}

/// The code of a language by its code with or without a region (`hi`, `hi-IN`, `od-IN`), or by its English name, if
/// agents speak it.
pub fn language_of(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    let code = name.split(['-', '_']).next().unwrap_or_default();
    let code = match code {
        "od" | "ory" | "ori" | "odia" | "oriya" => "or",
        "eng" | "english" => "en",
        "hin" | "hindi" => "hi",
        "ben" | "bengali" | "bangla" => "bn",
        "guj" | "gujarati" => "gu",
        "kan" | "kannada" => "kn",
        "mal" | "malayalam" => "ml",
        "mar" | "marathi" => "mr",
        "pan" | "punjabi" | "panjabi" => "pa",
        "tam" | "tamil" => "ta",
        "tel" | "telugu" => "te",
        other => other,
    };
    LANGUAGES.into_iter().find(|language| *language == code)
}

#[cfg(test)]
#[path = "spoken_tests.rs"]
mod tests;

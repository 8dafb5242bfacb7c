//! «Do not call me again», in any of the eleven languages. An opt-out ends the call and blocks the number
//! from further dials, so both a missed one and a false one do harm. The phrases of `languages/*/optouts.toml`
//! are therefore broad, and two checks (a time near the phrase, and the exceptions) remove false matches.

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_south;

use std::sync::LazyLock;

use serde::Deserialize;

use super::matching::{Patterns, fold};
use crate::language::folders::{files, parsed};

/// How many words on either side of a plain phrase are searched for a word of time, which makes it mean «not
/// now».
const NEAR: usize = 4;
/// How many words after a plain phrase (and one before it) are searched for `again` and the like, which make
/// it mean «never».
const CLOSE: usize = 2;

/// Phrases that every language has, made of the words of its rows: a threat, the registry of people who are not
/// called.
const STRONG: &str = "
    $L * * $P
    $P * * $L
    $K * * $P
    $P * * $K
    $K * * $G
    $G * * $K
    $D * * $U
    $U * * $D
";
/// Exceptions that every language has: somebody else or another number is not to be called, or the call is to be
/// cut, held or recorded.
const NEVER: &str = "
    $E * $C
    $X $C
    $C * $X
";

/// The rows of a file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    calls: String,
    strong: String,
    plain: String,
    never: String,
    times: String,
    for_good: String,
    others: String,
    to: String,
    elsewhere: String,
    keeps: String,
    laws: String,
    courts: String,
    complaints: String,
    goes: String,
    registry: String,
    put: String,
}

/// The phrases of one language.
struct Table {
    code: &'static str,
    /// These are an opt-out whatever else is said.
    strong: Patterns,
    /// These are an opt-out unless a time is named: `don't call me now, call at five`.
    plain: Patterns,
    /// Exceptions: a phrase that overlaps one of these means something else: `why don't you call me`.
    never: Patterns,
    times: Patterns,
    for_good: Patterns,
}

impl Table {
    fn of(code: &'static str, written: &Written) -> Self {
        let one_line = |row: &str| row.split_whitespace().collect::<Vec<_>>().join("|");
        let rows = [
            ("$C", &written.calls),
            ("$O", &written.others),
            ("$T", &written.to),
            ("$E", &written.elsewhere),
            ("$X", &written.keeps),
            ("$L", &written.laws),
            ("$K", &written.courts),
            ("$P", &written.complaints),
            ("$G", &written.goes),
            ("$D", &written.registry),
            ("$U", &written.put),
        ];
        let rows = rows.map(|(name, row)| (name, one_line(row)));
        let sets: Vec<(&str, &str)> = rows.iter().map(|(name, row)| (*name, row.as_str())).collect();
        // Where the language has words between the person and the call, they must be there.
        let others = if written.to.is_empty() { "$O * $C" } else { "$O $T * $C" };
        let read = |table: &str| Patterns::read(table, &sets);
        Self {
            code,
            strong: read(&format!("{}\n{STRONG}", written.strong)),
            plain: read(&written.plain),
            never: read(&format!("{}\n{NEVER}\n{others}", written.never)),
            times: read(&written.times),
            for_good: read(&written.for_good),
        }
    }
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    files!("optouts.toml")
        .iter()
        .map(|(code, text)| Table::of(code, &parsed(code, "optouts.toml", text)))
        .collect()
});

/// Whether a person asks not to be called again (docs/contract/voice.md#wishes). `language` is the agent's.
/// People mix languages, so every language is checked, the agent's own first. `call me later`, `not now`,
/// `stop, wait` and `not interested` are not opt-outs.
pub fn opt_out(text: &str, language: &str) -> bool {
    let words = fold(text);
    if words.is_empty() {
        return false;
    }
    let own = TABLES.iter().find(|table| table.code == language);
    own.into_iter().chain(TABLES.iter()).any(|table| says(table, &words))
}

fn says(table: &Table, words: &[String]) -> bool {
    let excused: Vec<(usize, usize)> = table.never.find_all(words).collect();
    let holds = |(start, end): &(usize, usize)| !excused.iter().any(|(from, to)| start < to && from < end);
    table.strong.find_all(words).any(|found| holds(&found))
        || table.plain.find_all(words).filter(|found| holds(found)).any(|found| stands(words, found))
}

/// Whether a plain phrase is an opt-out: there is no word of time near it, or there is a word that means «for
/// good» next to it.
fn stands(words: &[String], (start, end): (usize, usize)) -> bool {
    let near = start.saturating_sub(NEAR);
    let around = &words[near..(end + NEAR).min(words.len())];
    let next = &words[near..(end + CLOSE).min(words.len())];
    // A phrase of several words may have one word more between it and what it belongs to.
    let for_good = TABLES.iter().flat_map(|table| table.for_good.find_all(next)).any(|(from, to)| {
        let reach = if to - from > 1 { 1 } else { 0 };
        near + to + reach >= start
    });
    for_good || TABLES.iter().all(|table| table.times.find(around).is_none())
}

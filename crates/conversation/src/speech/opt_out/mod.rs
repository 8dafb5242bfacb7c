//! «Do not call me again», in any of the eleven languages. An opt-out ends the call and blocks the number
//! from further dials, so both a missed one and a false one do harm. The phrases are therefore broad, and two
//! checks (a time near the phrase, and the exceptions) remove false matches.

mod east;
mod english;
mod north;
mod south;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_south;
mod written;

use std::sync::LazyLock;

use super::matching::{Patterns, fold};

/// How many words on either side of a plain phrase are searched for a word of time, which makes it mean «not
/// now».
const NEAR: usize = 4;
/// How many words after a plain phrase (and one before it) are searched for `again` and the like, which make
/// it mean «never».
const CLOSE: usize = 2;

/// The phrases of one language.
struct Table {
    /// These are an opt-out whatever else is said.
    strong: Patterns,
    /// These are an opt-out unless a time is named: `don't call me now, call at five`.
    plain: Patterns,
    /// Exceptions: a phrase that overlaps one of these means something else: `why don't you call me`.
    never: Patterns,
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let rows = [
        english::ENGLISH,
        north::HINDI,
        north::PUNJABI,
        north::GUJARATI,
        north::MARATHI,
        east::BENGALI,
        east::ODIA,
        south::TAMIL,
        south::TELUGU,
        south::KANNADA,
        south::MALAYALAM,
    ];
    rows.iter()
        .map(|row| {
            let sets = [("$C", row.calls)];
            Table {
                strong: Patterns::read(row.strong, &sets),
                plain: Patterns::read(row.plain, &sets),
                never: Patterns::read(row.never, &sets),
            }
        })
        .collect()
});
static TIMES: LazyLock<Patterns> = LazyLock::new(|| {
    let tables = [english::TIMES, north::TIMES, east::TIMES, south::TIMES];
    Patterns::read(&tables.join("\n"), &[])
});
static FOR_GOOD: LazyLock<Patterns> = LazyLock::new(|| {
    let tables = [english::FOR_GOOD, north::FOR_GOOD, east::FOR_GOOD, south::FOR_GOOD];
    Patterns::read(&tables.join("\n"), &[])
});

/// Whether a person asks not to be called again (docs/contract/voice.md#wishes). `language` is the agent's.
/// People mix languages, so every language is checked, the agent's own first. `call me later`, `not now`,
/// `stop, wait` and `not interested` are not opt-outs.
pub fn opt_out(text: &str, language: &str) -> bool {
    let words = fold(text);
    if words.is_empty() {
        return false;
    }
    let own = super::LANGUAGES_IN_TABLES.iter().position(|code| *code == language);
    let tables = own.and_then(|at| TABLES.get(at)).into_iter().chain(TABLES.iter());
    tables.into_iter().any(|table| says(table, &words))
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
    let around =
        |before: usize, after: usize| &words[start.saturating_sub(before)..(end + after).min(words.len())];
    FOR_GOOD.find(around(1, CLOSE)).is_some() || TIMES.find(around(NEAR, NEAR)).is_none()
}

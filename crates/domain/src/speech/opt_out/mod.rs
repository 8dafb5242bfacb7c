//! «Do not call me again», in any of the eleven languages. It ends the call and keeps the number from being
//! dialled, so a miss is a promise broken and a false alarm is a customer lost: the phrases are wide, and two
//! guards keep them honest.

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

/// Words on either side of a plain phrase in which a word of time makes it mean «not now».
const NEAR: usize = 4;
/// Words after a plain phrase (one before it) in which `again` and the like make it mean «never».
const CLOSE: usize = 2;

/// The phrases of one language or of languages that share their words.
struct Table {
    /// These mean it whatever else is said.
    strong: Patterns,
    /// These mean it unless a time is named: `don't call me now, call at five`.
    plain: Patterns,
    /// A phrase that begins or ends inside one of these says something else: `why don't you call me`.
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

/// Whether a person asks not to be called again (docs/contract/voice.md#wishes). `language` is the agent's:
/// people mix, so every language is listened for, the agent's own first. `call me later`, `not now`,
/// `stop, wait` and `not interested` are none.
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

/// Whether a plain phrase means it: no time near it, or a word that says «for good» beside it.
fn stands(words: &[String], (start, end): (usize, usize)) -> bool {
    let around =
        |before: usize, after: usize| &words[start.saturating_sub(before)..(end + after).min(words.len())];
    FOR_GOOD.find(around(1, CLOSE)).is_some() || TIMES.find(around(NEAR, NEAR)).is_none()
}

//! Lines become blocks: paragraphs, headings, rows of tables.

use std::collections::HashMap;

use domain::knowledge::BlockKind;
use domain::ports::Unreadable;

use super::lines::Line;
use super::tables::{Row, Table};
use crate::draft::Draft;
use crate::table::{self, First};
use crate::text;

/// Lines this far apart, in sizes of the font, belong to different paragraphs.
const LEADING: f64 = 1.75;
/// Letters this much larger than those of most words make a heading.
const LARGER: f64 = 1.15;
/// Most characters of a heading.
const MAX_HEADING: usize = 150;

/// The sizes of letters: of most words, and of headings from the largest down.
struct Sizes {
    body: f64,
    headings: Vec<i64>,
}

impl Sizes {
    fn of(pages: &[Vec<Line>]) -> Self {
        let mut counts: HashMap<i64, usize> = HashMap::new();
        for line in pages.iter().flatten() {
            *counts.entry(half_points(line.size)).or_default() += line.text().chars().count();
        }
        let body = counts.iter().max_by_key(|(size, count)| (**count, **size)).map_or(0, |(size, _)| *size);
        let mut headings: Vec<i64> =
            counts.keys().copied().filter(|size| *size as f64 > body as f64 * LARGER).collect();
        headings.sort_unstable_by_key(|size| -size);
        Self { body: body as f64 / 2.0, headings }
    }

    /// The level of a heading with letters of this size.
    fn level(&self, size: f64) -> Option<u8> {
        let place = self.headings.iter().position(|known| *known == half_points(size))?;
        u8::try_from(place + 1).ok().map(|level| level.min(6))
    }
}

fn half_points(size: f64) -> i64 {
    (size * 2.0).round() as i64
}

fn number(page: usize) -> Option<u32> {
    u32::try_from(page + 1).ok()
}

/// The blocks of all pages.
///
/// # Errors
/// They are beyond the limits of a document.
pub fn blocks(pages: &[Vec<Line>], draft: &mut Draft) -> Result<(), Unreadable> {
    let sizes = Sizes::of(pages);
    let lines: Vec<(usize, &Line)> = pages
        .iter()
        .enumerate()
        .flat_map(|(page, lines)| lines.iter().map(move |line| (page, line)))
        .collect();
    let mut open: Option<Open> = None;
    let mut place = 0;
    while let Some((page, line)) = lines.get(place) {
        if let Some((table, taken)) = Table::find(&lines[place..]) {
            close(open.take(), &sizes, draft)?;
            rows(table, draft)?;
            place += taken;
            continue;
        }
        place += 1;
        let words = line.text();
        match &mut open {
            Some(open) if open.goes_on(*page, line, &words) => {
                join(&mut open.words, &words);
                open.last = line;
            }
            _ => {
                close(open.take(), &sizes, draft)?;
                open = Some(Open { words, page: *page, last: line });
            }
        }
    }
    close(open, &sizes, draft)
}

/// A paragraph that is being read.
struct Open<'a> {
    words: String,
    page: usize,
    last: &'a Line,
}

impl Open<'_> {
    fn goes_on(&self, page: usize, line: &Line, words: &str) -> bool {
        let below = line.baseline - self.last.baseline;
        page == self.page
            && line.angle == self.last.angle
            && half_points(line.size) == half_points(self.last.size)
            && below > 0.0
            && below < self.last.size * LEADING
            && !text::is_item(words)
    }
}

fn close(open: Option<Open<'_>>, sizes: &Sizes, draft: &mut Draft) -> Result<(), Unreadable> {
    let Some(Open { words, page, last }) = open else { return Ok(()) };
    let level =
        sizes.level(last.size).filter(|_| words.chars().nth(MAX_HEADING).is_none() && last.size > sizes.body);
    draft.push(level.map_or(BlockKind::Paragraph, BlockKind::Heading), &words, number(page))
}

fn rows(table: Table, draft: &mut Draft) -> Result<(), Unreadable> {
    let first = if table.headed { First::Headings } else { First::Unknown };
    let rows: Vec<Row> = table.rows();
    let pages: Vec<Option<u32>> = rows.iter().map(|row| number(row.page)).collect();
    let cells: Vec<Vec<String>> = rows.into_iter().map(|row| row.cells).collect();
    table::read_pages(&cells, first, &pages, draft)
}

/// Adds the next line of a paragraph; a word that was parted at the end of the line is one again.
pub fn join(so_far: &mut String, words: &str) {
    let rest = so_far.trim_end().strip_suffix(['-', '\u{2010}', '\u{ad}']);
    // A soft hyphen occurs nowhere else.
    let parted = so_far.trim_end().ends_with('\u{ad}')
        || rest.is_some_and(|rest| rest.ends_with(char::is_lowercase))
            && words.trim_start().starts_with(char::is_lowercase);
    match rest {
        Some(rest) if parted => so_far.truncate(rest.len()),
        _ => so_far.push(' '),
    }
    so_far.push_str(if parted { words.trim_start() } else { words });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parted_words_are_one_again() {
        for (first, second, whole) in [
            ("re-", "quires", "requires"),
            ("authentica\u{2010}", "tion", "authentication"),
            ("deliv\u{ad} ", "ery", "delivery"),
            ("COVID-", "19", "COVID- 19"),
            ("in Delhi \u{2010}", "and Pune", "in Delhi \u{2010} and Pune"),
        ] {
            let mut words = first.to_owned();
            join(&mut words, second);
            assert_eq!(words, whole);
        }
    }
}

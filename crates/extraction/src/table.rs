//! Tables: a row is stored as `heading: cell; heading: cell`, so that each can be found by itself.

use std::collections::HashMap;

use domain::knowledge::BlockKind;
use domain::ports::{ReadLimit, Unreadable};

use crate::draft::Draft;
use crate::{MAX_BLOCKS, MAX_CELL, MAX_COLUMNS, text};

/// Most rows and columns that a cell spans.
const MAX_SPAN: usize = 256;
/// Most places of a grid.
const MAX_SLOTS: usize = 16 * MAX_BLOCKS;

/// What the first row of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    Headings,
    /// The table does not say. With three columns or more it is taken for headings; with two, each row is
    /// taken for a name and its value.
    Unknown,
}

/// Rows that are read one after the other.
#[derive(Debug, Default)]
pub struct Rows {
    headings: Option<Vec<String>>,
}

impl Rows {
    pub fn under(headings: Vec<String>) -> Self {
        Self { headings: Some(headings) }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// It is beyond the limits of a table or of a document.
    pub fn push(&self, cells: &[String], page: Option<u32>, draft: &mut Draft) -> Result<(), Unreadable> {
        check(cells)?;
        draft.push(BlockKind::TableRow, &self.line(cells), page)
    }

    fn line(&self, cells: &[String]) -> String {
        let cells: Vec<String> = cells.iter().map(|cell| text::tidy(cell)).collect();
        let Some(headings) = &self.headings else {
            return match cells.as_slice() {
                [name, value] if !name.is_empty() && !value.is_empty() => {
                    format!("{}: {value}", name.trim_end_matches([':', ' ']))
                }
                cells => cells.iter().filter(|cell| !cell.is_empty()).cloned().collect::<Vec<_>>().join("; "),
            };
        };
        let parts =
            cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(place, cell)| match headings
                .get(place)
                .map(|heading| text::tidy(heading))
            {
                Some(heading) if !heading.is_empty() => {
                    format!("{}: {cell}", heading.trim_end_matches([':', ' ']))
                }
                _ => cell.clone(),
            });
        parts.collect::<Vec<_>>().join("; ")
    }
}

fn check(cells: &[String]) -> Result<(), Unreadable> {
    if cells.len() > MAX_COLUMNS {
        return Err(Unreadable::Beyond(ReadLimit::Columns, MAX_COLUMNS as u64));
    }
    if cells.iter().any(|cell| cell.chars().nth(MAX_CELL).is_some()) {
        return Err(Unreadable::Beyond(ReadLimit::Cell, MAX_CELL as u64));
    }
    Ok(())
}

/// Reads a whole table.
///
/// # Errors
/// It is beyond the limits of a table or of a document.
pub fn read(rows: &[Vec<String>], first: First, draft: &mut Draft) -> Result<(), Unreadable> {
    read_pages(rows, first, &[], draft)
}

/// Reads a whole table, whose rows are on these pages.
///
/// # Errors
/// It is beyond the limits of a table or of a document.
pub fn read_pages(
    rows: &[Vec<String>],
    first: First,
    pages: &[Option<u32>],
    draft: &mut Draft,
) -> Result<(), Unreadable> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let headed = match first {
        First::Headings => true,
        First::Unknown => columns >= 3 && rows.len() >= 2,
    };
    let (table, from) = match rows {
        // Headings alone are the words of the table.
        [headings, _, ..] if headed => {
            check(headings)?;
            (Rows::under(headings.clone()), 1)
        }
        _ => (Rows::default(), 0),
    };
    rows.iter()
        .enumerate()
        .skip(from)
        .try_for_each(|(place, cells)| table.push(cells, pages.get(place).copied().flatten(), draft))
}

/// A cell, and how many columns and rows it spans.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub words: String,
    pub wide: usize,
    pub high: usize,
}

/// One place of a grid.
#[derive(Debug, Clone)]
struct Slot {
    /// The cell that covers it, by its number.
    cell: usize,
    /// The words of the cell, in its first column.
    words: String,
}

/// A table whose cells may span columns and rows: each is at its position.
#[derive(Debug, Default)]
pub struct Grid {
    rows: Vec<Vec<Slot>>,
    /// What cells of earlier rows reach down: by column, the rows that are left, and the slot.
    reaching: HashMap<usize, (usize, Slot)>,
    cells: usize,
    slots: usize,
}

impl Grid {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it has more than one column.
    pub fn is_wide(&self) -> bool {
        self.rows.iter().any(|row| row.len() >= 2)
    }

    /// Adds a row. Columns beyond the limit are an error of [`Self::read`].
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Slot> = Vec::new();
        let mut given = cells.into_iter();
        while row.len() <= MAX_COLUMNS {
            if let Some((left, slot)) = self.reaching.get_mut(&row.len()).filter(|(left, _)| *left > 0) {
                *left -= 1;
                row.push(slot.clone());
                continue;
            }
            let Some(cell) = given.next() else { break };
            self.cells += 1;
            for place in 0..cell.wide.clamp(1, MAX_SPAN) {
                let words = if place == 0 { cell.words.clone() } else { String::new() };
                let slot = Slot { cell: self.cells, words };
                if cell.high > 1 {
                    self.reaching.insert(row.len(), (cell.high.min(MAX_SPAN) - 1, slot.clone()));
                }
                row.push(slot);
            }
        }
        // What reaches down beyond the cells of a row is no part of it.
        self.slots += row.len();
        if self.slots <= MAX_SLOTS {
            self.rows.push(row);
        }
    }

    /// Reads the table, of which this many rows are headings; `None` where it does not say.
    ///
    /// # Errors
    /// It is beyond the limits of a table or of a document.
    pub fn read(&self, headings: Option<usize>, draft: &mut Draft) -> Result<(), Unreadable> {
        if self.slots > MAX_SLOTS {
            return Err(Unreadable::Beyond(ReadLimit::Blocks, MAX_BLOCKS as u64));
        }
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let titles = self.rows.iter().take_while(|row| is_one_cell(row, columns)).count();
        let (titles, rows) = self.rows.split_at(if titles < self.rows.len() { titles } else { 0 });
        let alone = Rows::default();
        for row in titles {
            alone.push(&words(row), None, draft)?;
        }
        let depth = match headings {
            Some(said) => said.saturating_sub(titles.len()).max(usize::from(said > 0)),
            None => usize::from(columns >= 3 && rows.len() >= 2),
        };
        let depth = depth_of(rows, depth);
        // Headings alone are the words of the table.
        let depth = if depth < rows.len() { depth } else { 0 };
        let (heads, rows) = rows.split_at(depth);
        let table = match depth {
            0 => Rows::default(),
            _ => {
                let labels = labels(heads, columns);
                check(&labels)?;
                Rows::under(labels)
            }
        };
        for row in rows {
            let table = if depth > 0 && is_one_cell(row, columns) { &alone } else { &table };
            table.push(&words(row), None, draft)?;
        }
        Ok(())
    }
}

fn words(row: &[Slot]) -> Vec<String> {
    row.iter().map(|slot| slot.words.clone()).collect()
}

/// Whether one cell spans all columns of a table with several.
fn is_one_cell(row: &[Slot], columns: usize) -> bool {
    columns >= 2 && row.len() == columns && row.iter().all(|slot| slot.cell == row[0].cell)
}

/// How many rows are headings where the first ones are: a heading over several columns has others below it where
/// another heading beside it reaches down, or is empty.
fn depth_of(rows: &[Vec<Slot>], depth: usize) -> usize {
    let ([first, second, ..], 1) = (rows, depth) else { return depth };
    let over_several = first.windows(2).any(|pair| pair[0].cell == pair[1].cell);
    let reaches = |row: &[Slot]| {
        first.iter().zip(row).any(|(above, below)| above.cell == below.cell && !above.words.is_empty())
    };
    let corner = first.iter().any(|slot| slot.words.trim().is_empty() && is_first_of(first, slot));
    if !over_several || !(reaches(second) || corner) || rows.len() < 3 {
        return depth;
    }
    let reached = rows.iter().skip(1).take_while(|row| reaches(row)).count();
    1 + reached.max(1)
}

/// Whether a slot is not a further column of its cell's words.
fn is_first_of(row: &[Slot], slot: &Slot) -> bool {
    row.iter().all(|other| other.cell != slot.cell || other.words.trim().is_empty())
}

/// The headings of each column, from the top down.
fn labels(heads: &[Vec<Slot>], columns: usize) -> Vec<String> {
    let mut labels = vec![String::new(); columns];
    for (column, label) in labels.iter_mut().enumerate() {
        let mut seen = None;
        for (nth, row) in heads.iter().enumerate() {
            let Some(slot) = row.get(column) else { continue };
            // A heading over several columns is used once if no heading below it distinguishes them.
            let first = column == 0 || row.get(column - 1).is_none_or(|before| before.cell != slot.cell);
            let told_apart = heads[nth + 1..].iter().any(|below| {
                below
                    .get(column)
                    .is_some_and(|below| below.cell != slot.cell && !below.words.trim().is_empty())
            });
            if seen == Some(slot.cell) || !(first || told_apart) {
                continue;
            }
            seen = Some(slot.cell);
            let words =
                row.iter().find(|other| other.cell == slot.cell).map_or("", |slot| slot.words.as_str());
            let words = text::tidy(words);
            if !label.is_empty() && !words.is_empty() {
                label.push(' ');
            }
            label.push_str(words.trim_end_matches([':', ' ']));
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rows: &[&[&str]], first: First) -> Vec<String> {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        let mut draft = Draft::default();
        read(&rows, first, &mut draft).unwrap();
        draft.finish().blocks.into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn each_row_says_what_it_is_about() {
        let plans: &[&[&str]] =
            &[&["Plan", "Speed", "Price"], &["Home", "100 Mbps", "₹699"], &["Pro", "", "₹999"]];
        let expected = ["Plan: Home; Speed: 100 Mbps; Price: ₹699", "Plan: Pro; Price: ₹999"];
        assert_eq!(lines(plans, First::Unknown), expected);
        assert_eq!(lines(plans, First::Headings), expected);
        assert_eq!(
            lines(&[&["Open:", "9 to 5"], &["Closed", "Sunday"]], First::Unknown),
            ["Open: 9 to 5", "Closed: Sunday"]
        );
        assert_eq!(lines(&[&["City", "Days"], &["Pune", "2"]], First::Headings), ["City: Pune; Days: 2"]);
        assert_eq!(lines(&[&["a", "b", "c"]], First::Unknown), ["a; b; c"]);
        assert_eq!(
            lines(&[&["City", "Days"], &["Pune", "2", "more"]], First::Headings),
            ["City: Pune; Days: 2; more"]
        );
    }

    #[test]
    fn huge_cells_and_very_many_columns_are_refused() {
        let mut draft = Draft::default();
        let huge = vec![vec!["x".repeat(MAX_CELL + 1)]];
        assert_eq!(
            read(&huge, First::Unknown, &mut draft),
            Err(Unreadable::Beyond(ReadLimit::Cell, MAX_CELL as u64))
        );
        let wide = vec![vec![String::new(); MAX_COLUMNS + 1]];
        assert_eq!(
            read(&wide, First::Unknown, &mut draft),
            Err(Unreadable::Beyond(ReadLimit::Columns, MAX_COLUMNS as u64))
        );
    }

    fn grid(rows: &[&[(&str, usize, usize)]], headings: Option<usize>) -> Vec<String> {
        let mut grid = Grid::default();
        for row in rows {
            grid.row(row.iter().map(|(words, wide, high)| Cell {
                words: (*words).to_owned(),
                wide: *wide,
                high: *high,
            }));
        }
        let mut draft = Draft::default();
        grid.read(headings, &mut draft).unwrap();
        draft.finish().blocks.into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn cells_stand_at_their_places_in_the_grid() {
        assert_eq!(
            grid(
                &[
                    &[("Plan", 1, 1), ("Fee", 1, 1), ("Calls", 1, 1)],
                    &[("Free", 2, 1), ("5", 1, 1)],
                    &[("Paid", 1, 2), ("10", 1, 1), ("9", 1, 1)],
                    &[("20", 1, 1), ("8", 1, 1)],
                    &[("All prices without tax", 3, 1)],
                ],
                None
            ),
            [
                "Plan: Free; Calls: 5",
                "Plan: Paid; Fee: 10; Calls: 9",
                "Plan: Paid; Fee: 20; Calls: 8",
                "All prices without tax"
            ]
        );
        let metro = grid(
            &[&[("Delivery", 2, 1), ("Fee", 1, 1)], &[("Metro", 1, 1), ("Pune", 1, 1), ("40", 1, 1)]],
            None,
        );
        assert_eq!(metro, ["Delivery: Metro; Pune; Fee: 40"]);
    }

    #[test]
    fn headings_of_several_rows_are_read_from_the_top_down() {
        let rows: &[&[(&str, usize, usize)]] = &[
            &[("City", 1, 2), ("Fee", 2, 1), ("Days", 1, 2)],
            &[("Day", 1, 1), ("Night", 1, 1)],
            &[("Pune", 1, 1), ("40", 1, 1), ("60", 1, 1), ("2", 1, 1)],
        ];
        let expected = ["City: Pune; Fee Day: 40; Fee Night: 60; Days: 2"];
        for headings in [None, Some(1), Some(2)] {
            assert_eq!(grid(rows, headings), expected, "{headings:?}");
        }
        let corner: &[&[(&str, usize, usize)]] = &[
            &[("Rates", 3, 1)],
            &[("", 1, 1), ("Fee", 2, 1)],
            &[("City", 1, 1), ("Day", 1, 1), ("Night", 1, 1)],
            &[("Pune", 1, 1), ("40", 1, 1), ("60", 1, 1)],
        ];
        assert_eq!(grid(corner, None), ["Rates", "City: Pune; Fee Day: 40; Fee Night: 60"]);
    }

    #[test]
    fn a_grid_has_an_end() {
        let mut grid = Grid::default();
        for _ in 0..4_000 {
            grid.row((0..300).map(|_| Cell { words: "a".into(), wide: 64, high: 64 }));
        }
        let found = grid.read(None, &mut Draft::default());
        assert!(matches!(found, Err(Unreadable::Beyond(ReadLimit::Blocks, _))), "{found:?}");
    }
}

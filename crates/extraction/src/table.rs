//! Tables: a row is read as `heading: cell; heading: cell`, so that each says by itself what it is about.

use domain::knowledge::BlockKind;
use domain::ports::{ReadLimit, Unreadable};

use crate::draft::Draft;
use crate::{MAX_CELL, MAX_COLUMNS, text};

/// What the first row of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// Its headings.
    Headings,
    /// A row like the others.
    Row,
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
    /// With these headings.
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
pub fn read(
    rows: &[Vec<String>],
    first: First,
    page: Option<u32>,
    draft: &mut Draft,
) -> Result<(), Unreadable> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let headed = match first {
        First::Headings => true,
        First::Row => false,
        First::Unknown => columns >= 3 && rows.len() >= 2,
    };
    let (table, rest) = match rows {
        // Headings alone are the words of the table.
        [headings, rest @ ..] if headed && !rest.is_empty() => {
            check(headings)?;
            (Rows::under(headings.clone()), rest)
        }
        rows => (Rows::default(), rows),
    };
    rest.iter().try_for_each(|cells| table.push(cells, page, draft))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rows: &[&[&str]], first: First) -> Vec<String> {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        let mut draft = Draft::default();
        read(&rows, first, None, &mut draft).unwrap();
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
            read(&huge, First::Row, None, &mut draft),
            Err(Unreadable::Beyond(ReadLimit::Cell, MAX_CELL as u64))
        );
        let wide = vec![vec![String::new(); MAX_COLUMNS + 1]];
        assert_eq!(
            read(&wide, First::Row, None, &mut draft),
            Err(Unreadable::Beyond(ReadLimit::Columns, MAX_COLUMNS as u64))
        );
    }
}

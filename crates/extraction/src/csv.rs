//! Tables with separated values: the first row names the columns.

use domain::ports::{ReadLimit, Unreadable};

use crate::draft::Draft;
use crate::table::Rows;
use crate::{MAX_CELL, MAX_COLUMNS};

/// What may stand between two values.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads a table.
///
/// # Errors
/// It is beyond the limits of a table or of a document.
pub fn read(text: &str, draft: &mut Draft) -> Result<(), Unreadable> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(text))
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let mut table = None;
    let mut alone = None;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(why) => return Err(Unreadable::Damaged(format!("it is not a table: {why}"))),
        }
        if record.len() > MAX_COLUMNS {
            return Err(Unreadable::Beyond(ReadLimit::Columns, MAX_COLUMNS as u64));
        }
        if record.iter().any(|cell| cell.chars().nth(MAX_CELL).is_some()) {
            return Err(Unreadable::Beyond(ReadLimit::Cell, MAX_CELL as u64));
        }
        let cells: Vec<String> = record.iter().map(str::to_owned).collect();
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        match &table {
            None => {
                alone = Some(cells.clone());
                table = Some(Rows::under(cells));
            }
            Some(rows) => {
                alone = None;
                rows.push(&cells, None, draft)?;
            }
        }
    }
    // Headings without a row are all that the table says.
    alone.map_or(Ok(()), |cells| Rows::default().push(&cells, None, draft))
}

/// The separator that the first line has most of, outside of quotes.
fn separator(text: &str) -> u8 {
    let mut counts = [0usize; SEPARATORS.len()];
    let mut quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            _ => {
                if let Some(place) = SEPARATORS.iter().position(|known| *known == byte) {
                    counts[place] += 1;
                }
            }
        }
    }
    // The earlier one wins where there are as many.
    let best = (0..SEPARATORS.len()).rev().max_by_key(|place| counts[*place]).unwrap_or(0);
    SEPARATORS[best]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<String>, Unreadable> {
        let mut draft = Draft::default();
        read(text, &mut draft)?;
        Ok(draft.finish().blocks.into_iter().map(|block| block.text).collect())
    }

    #[test]
    fn rows_name_their_columns() {
        let expected = vec!["City: Pune; Days: 2".to_owned(), "City: Goa, South; Days: 4".to_owned()];
        assert_eq!(lines("City,Days\nPune,2\n\n\"Goa, South\",4\n"), Ok(expected.clone()));
        assert_eq!(lines("City;Days\r\nPune;2\r\n\"Goa, South\";4"), Ok(expected.clone()));
        assert_eq!(lines("City\tDays\nPune\t2\nGoa, South\t4"), Ok(expected));
        assert_eq!(lines("City,Days\n"), Ok(vec!["City: Days".to_owned()]));
    }

    #[test]
    fn a_quote_that_never_ends_is_a_huge_cell() {
        let text = format!("a,b\n\"{}", "x,\n".repeat(10_000));
        assert_eq!(lines(&text), Err(Unreadable::Beyond(ReadLimit::Cell, MAX_CELL as u64)));
    }

    #[test]
    fn long_headings_over_many_rows_stop_at_the_limit_of_a_document() {
        let text = format!("{}\n{}", "h".repeat(10_000), "1\n".repeat(100_000));
        assert!(matches!(lines(&text), Err(Unreadable::Beyond(ReadLimit::Characters, _))));
    }
}

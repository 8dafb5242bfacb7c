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
    let (said, text) = said_separator(text);
    let separator = said.unwrap_or_else(|| separator(text));
    if let Some(line) = open_quote(text, separator) {
        let line = line + u64::from(said.is_some());
        return Err(Unreadable::Damaged(format!("the quote that opens on line {line} is not closed")));
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
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

/// The separator that a first line `sep=;` says, as spreadsheets write it, and the table below it.
fn said_separator(text: &str) -> (Option<u8>, &str) {
    let end = text.find(['\n', '\r']).unwrap_or(text.len());
    let line = text[..end].trim_matches([' ', '"']);
    let said =
        line.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).map(|start| &line[start.len()..]);
    let separator = match said.map(str::as_bytes) {
        Some([one]) if one.is_ascii() && !one.is_ascii_alphanumeric() => *one,
        Some(b"\\t") => b'\t',
        _ => return (None, text),
    };
    let rest = &text[end..];
    (Some(separator), rest.strip_prefix("\r\n").or_else(|| rest.get(1..)).unwrap_or_default())
}

/// The line on which a quote opens that swallows the rows after it: it is never closed, or amid a later row.
fn open_quote(text: &str, separator: u8) -> Option<u64> {
    let bytes = text.as_bytes();
    let (mut line, mut place, mut at_start) = (1, 0, true);
    while let Some(byte) = bytes.get(place).copied() {
        place += 1;
        match byte {
            b'"' if at_start => {
                let opened = line;
                loop {
                    match bytes.get(place..)? {
                        [] if line > opened => return Some(opened),
                        [] => return None,
                        [b'"', b'"', ..] => place += 2,
                        [b'"', after @ ..] => {
                            place += 1;
                            let next = after.iter().find(|byte| **byte != b' ');
                            let closes =
                                next.is_none_or(|next| matches!(next, b'\n' | b'\r') || *next == separator);
                            if !closes && line > opened {
                                return Some(opened);
                            }
                            break;
                        }
                        [byte, ..] => {
                            line += u64::from(*byte == b'\n');
                            place += 1;
                        }
                    }
                }
                at_start = false;
            }
            b'\n' | b'\r' => {
                line += u64::from(byte == b'\n' || bytes.get(place) != Some(&b'\n'));
                at_start = true;
            }
            _ => at_start = byte == separator,
        }
    }
    None
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
    fn a_line_may_say_the_separator() {
        let expected = Ok(vec!["City: Pune, West; Days: 2".to_owned()]);
        for first in ["sep=;\n", "SEP=;\r\n", "\"sep=;\"\r"] {
            assert_eq!(lines(&format!("{first}City;Days\nPune, West;2\n")), expected, "{first}");
        }
        assert_eq!(lines("sep=\\t\nCity\tDays\nPune, West\t2"), expected);
        assert_eq!(lines("sep=^\nCity^Days\nPune, West^2"), expected);
        assert_eq!(lines("sep=;"), Ok(Vec::new()));
        assert_eq!(lines("sep=value,b\n1,2"), Ok(vec!["sep=value: 1; b: 2".to_owned()]));
    }

    #[test]
    fn a_quote_that_swallows_rows_is_refused() {
        let never = format!("a,b\n\"{}", "x,\n".repeat(10_000));
        for (text, line) in [
            (never.as_str(), 2),
            ("City,Note\nPune,\"ring twice\nDelhi,leave\nAgra,a 5\" pipe\n", 2),
            ("sep=,\nCity,Note\nGoa,ok\nPune,\"ring\nDelhi,leave", 4),
        ] {
            let expected = format!("the quote that opens on line {line} is not closed");
            assert_eq!(lines(text), Err(Unreadable::Damaged(expected)));
        }
        let whole = Ok(vec![
            "City: Pune; Note: two lines, and \"a word\"".to_owned(),
            "City: Goa; Note: 5\" pipe".to_owned(),
        ]);
        assert_eq!(lines("City,Note\nPune,\"two\nlines, and \"\"a word\"\"\" \nGoa,5\" pipe\n"), whole);
    }

    #[test]
    fn long_headings_over_many_rows_stop_at_the_limit_of_a_document() {
        let text = format!("{}\n{}", "h".repeat(10_000), "1\n".repeat(100_000));
        assert!(matches!(lines(&text), Err(Unreadable::Beyond(ReadLimit::Characters, _))));
    }
}

//! Tables with separated values: the first row names the columns. Cells are parsed by the reader of calling lists and
//! registries (`domain::sheet`).

use domain::ports::{ReadLimit, Unreadable};
use domain::sheet;

use crate::draft::Draft;
use crate::table::Rows;
use crate::{MAX_CELL, MAX_COLUMNS};

/// Reads a table.
///
/// # Errors
/// It is beyond the limits of a table or of a document, or an unclosed quote swallows rows; the error names the line.
pub fn read(text: &str, draft: &mut Draft) -> Result<(), Unreadable> {
    let damaged = |fault: sheet::Fault| Unreadable::Damaged(fault.to_string());
    // A row is no longer than its file.
    let mut rows = sheet::Rows::of(text.as_bytes(), text.len(), |_| false).map_err(damaged)?;
    let mut next = || -> Result<Option<Vec<String>>, Unreadable> {
        while let Some(row) = rows.next().map_err(damaged)? {
            if !row.is_blank() {
                return cells(&row).map(Some);
            }
        }
        Ok(None)
    };
    let Some(first) = next()? else { return Ok(()) };
    let Some(second) = next()? else {
        // A table of headings only has just these words.
        return Rows::default().push(&first, None, draft);
    };
    let third = next()?;
    let table = match headings_of_two_rows(&first, &second).filter(|_| third.is_some()) {
        Some(headings) => Rows::under(headings),
        None => {
            let table = Rows::under(first);
            table.push(&second, None, draft)?;
            table
        }
    };
    let mut row = third;
    while let Some(cells) = row {
        table.push(&cells, None, draft)?;
        row = next()?;
    }
    Ok(())
}

fn cells(row: &sheet::Row) -> Result<Vec<String>, Unreadable> {
    if row.cells().nth(MAX_COLUMNS).is_some() {
        return Err(Unreadable::Beyond(ReadLimit::Columns, MAX_COLUMNS as u64));
    }
    if row.cells().any(|cell| cell.chars().nth(MAX_CELL).is_some()) {
        return Err(Unreadable::Beyond(ReadLimit::Cell, MAX_CELL as u64));
    }
    Ok(row.cells().map(str::to_owned).collect())
}

/// The headings over each column where the first two rows are headings, as spreadsheets write merged cells: a heading
/// over several columns is followed by blank cells, with words below all of these; below every other heading the cell
/// is blank.
fn headings_of_two_rows(first: &[String], second: &[String]) -> Option<Vec<String>> {
    let at = |row: &[String], column: usize| row.get(column).map_or("", |cell| cell.trim()).to_owned();
    let used =
        |row: &[String]| row.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last + 1);
    let columns = used(first).max(used(second));
    let (mut headings, mut over, mut alone, mut shared) = (Vec::new(), String::new(), false, false);
    for column in 0..columns {
        let (above, below) = (at(first, column), at(second, column));
        let goes_on = column + 1 < columns && at(first, column + 1).is_empty();
        if !above.is_empty() && !goes_on {
            if !below.is_empty() {
                return None;
            }
            alone = true;
            headings.push(above);
            continue;
        }
        if !above.is_empty() {
            over = above;
        }
        // A value of a row is no heading.
        if over.is_empty() || !below.contains(char::is_alphabetic) {
            return None;
        }
        shared = true;
        headings.push(format!("{} {below}", over.trim_end_matches([':', ' '])));
    }
    (alone && shared).then_some(headings)
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
            let Err(Unreadable::Damaged(why)) = lines(text) else { panic!("{text} is read") };
            assert!(why.starts_with(&format!("line {line} opens a quote that is n")), "{why}");
        }
        let whole = Ok(vec![
            "City: Pune; Note: two lines, and \"a word\"".to_owned(),
            "City: Goa; Note: 5\" pipe".to_owned(),
        ]);
        assert_eq!(lines("City,Note\nPune,\"two\nlines, and \"\"a word\"\"\" \nGoa,5\" pipe\n"), whole);
    }

    /// What the reader of calling lists and registries handles: a separator within quotes, a heading with a line end,
    /// an inch sign.
    #[test]
    fn cells_are_cut_as_those_of_lists() {
        for (text, expected) in [
            ("City;\"Due (Rs, incl. GST, fees)\"\nPune;5", "City: Pune; Due (Rs, incl. GST, fees): 5"),
            ("\"Name, city\";\"a,b,c\"\nPune;x,y", "Name, city: Pune; a,b,c: x,y"),
            ("\"Delivery\r\ntime\";City\r\n2 days;Pune", "Delivery time: 2 days; City: Pune"),
            ("City|Note\nPune|5\" pipe, 6\" tap", "City: Pune; Note: 5\" pipe, 6\" tap"),
            ("\u{FEFF}City,Days\nPune,2", "City: Pune; Days: 2"),
            ("\u{FEFF}sep=;\nCity;Days\nPune;2", "City: Pune; Days: 2"),
        ] {
            assert_eq!(lines(text), Ok(vec![expected.to_owned()]), "{text}");
        }
    }

    #[test]
    fn headings_may_have_two_rows() {
        let day_and_night = "City,Fee,\n,Day,Night\nPune,40,60\nGoa,50,70\n";
        let expected = vec![
            "City: Pune; Fee Day: 40; Fee Night: 60".to_owned(),
            "City: Goa; Fee Day: 50; Fee Night: 70".to_owned(),
        ];
        assert_eq!(lines(day_and_night), Ok(expected.clone()));
        assert_eq!(lines(&day_and_night.replace(',', ";")), Ok(expected.clone()));
        assert_eq!(lines(&day_and_night.replace('\n', ",,\n")), Ok(expected), "columns without a word");
        // A row with a blank cell is no heading, nor are headings without a row.
        for (text, first) in [
            ("City,Fee,\nPune,40,x\nGoa,50,y", "City: Pune; Fee: 40; x"),
            ("City,Fee,\n,40,60\nGoa,50,70", "Fee: 40; 60"),
            ("City,Fee,\n,Day,Night", "Fee: Day; Night"),
            ("City,Fee\n,Day\nPune,40", "Fee: Day"),
            (",Fee,\nCity,Day,Night\nPune,40,60", "City; Fee: Day; Night"),
        ] {
            assert_eq!(lines(text).unwrap()[0], first, "{text}");
        }
    }

    #[test]
    fn long_headings_over_many_rows_stop_at_the_limit_of_a_document() {
        let text = format!("{}\n{}", "h".repeat(10_000), "1\n".repeat(100_000));
        assert!(matches!(lines(&text), Err(Unreadable::Beyond(ReadLimit::Characters, _))));
    }
}

//! Spreadsheets of Google.

use std::sync::Arc;

use serde_json::Value;

use super::client::Systems;
use super::records::{Fault, Pass};
use super::wire::{Ask, pairs};
use crate::http::encoded;

/// What is read of a spreadsheet.
const WHOLE: usize = 16 << 20;
/// Most rows of a spreadsheet, without the headings.
pub const MOST_ROWS: usize = 50_000;

/// A row: the cell under each heading, trimmed, in the order of the columns; empty cells are left out.
pub type Row = Vec<(Arc<str>, String)>;

/// A spreadsheet as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Rows that are not empty.
    pub rows: Vec<Row>,
}

pub(super) async fn read(
    systems: &Systems,
    pass: &Pass,
    spreadsheet: &str,
    tab: Option<&str>,
) -> Result<Sheet, Fault> {
    let place = format!("/v4/spreadsheets/{}", encoded(spreadsheet));
    let tab = match tab {
        Some(tab) => tab.to_owned(),
        None => first_tab(systems, pass, &place).await?,
    };
    let mut cells = values(systems, pass, &place, &tab, "FORMATTED_VALUE").await?;
    // Long numbers may be shown as 9.81235E+09; the cell itself has all digits.
    if cells.iter().flatten().any(|cell| is_shortened(cell)) {
        let whole = values(systems, pass, &place, &tab, "UNFORMATTED_VALUE").await?;
        for (row, whole) in cells.iter_mut().zip(whole) {
            for (cell, whole) in row.iter_mut().zip(whole) {
                if is_shortened(cell) {
                    *cell = whole;
                }
            }
        }
    }
    rows(cells)
}

/// The name of the first tab.
async fn first_tab(systems: &Systems, pass: &Pass, place: &str) -> Result<String, Fault> {
    let path = format!("{place}?{}", pairs(&[("fields", "sheets.properties")]));
    let answer = systems.read(Ask::get(&systems.settings.google_sheets, path).bearer(&pass.token)).await?;
    let tabs = answer["sheets"].as_array().into_iter().flatten().map(|tab| &tab["properties"]);
    let first = tabs
        .filter(|tab| tab["sheetType"].as_str().is_none_or(|kind| kind == "GRID"))
        .min_by_key(|tab| tab["index"].as_i64().unwrap_or(0));
    first
        .and_then(|tab| tab["title"].as_str())
        .map(str::to_owned)
        .ok_or_else(|| Fault::Refused("the spreadsheet has no tab with cells".into()))
}

async fn values(
    systems: &Systems,
    pass: &Pass,
    place: &str,
    tab: &str,
    form: &str,
) -> Result<Vec<Vec<String>>, Fault> {
    let range = format!("'{}'!A1:ZZ", tab.replace('\'', "''"));
    let how = pairs(&[
        ("majorDimension", "ROWS"),
        ("valueRenderOption", form),
        ("dateTimeRenderOption", "FORMATTED_STRING"),
    ]);
    let path = format!("{place}/values/{}?{how}", encoded(&range));
    let ask = Ask::get(&systems.settings.google_sheets, path).bearer(&pass.token).up_to(WHOLE);
    let answer = systems.read(ask).await?;
    let rows = answer["values"].as_array().map_or(&[][..], Vec::as_slice);
    if rows.len() > MOST_ROWS + 1 {
        return Err(Fault::Refused(format!("the spreadsheet has more than {MOST_ROWS} rows")));
    }
    Ok(rows.iter().map(|row| row.as_array().into_iter().flatten().map(cell).collect()).collect())
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 9e15)
            .map_or_else(|| number.to_string(), |number| format!("{number:.0}")),
        Value::Bool(flag) => flag.to_string().to_uppercase(),
        _ => String::new(),
    }
}

/// Whether a cell shows a number as `9.81235E+09`.
fn is_shortened(cell: &str) -> bool {
    cell.split_once("E+").is_some_and(|(digits, power)| {
        !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && !power.is_empty()
            && power.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The rows below the headings of the first row.
fn rows(cells: Vec<Vec<String>>) -> Result<Sheet, Fault> {
    let mut cells = cells.into_iter();
    let headings: Vec<Arc<str>> = cells.next().unwrap_or_default().into_iter().map(Into::into).collect();
    if headings.iter().all(|heading| heading.is_empty()) {
        return Err(Fault::Refused("row 1 of the spreadsheet has no headings".into()));
    }
    let row = |cells: Vec<String>| -> Row {
        let pairs = headings.iter().cloned().zip(cells);
        pairs.filter(|(heading, cell)| !heading.is_empty() && !cell.is_empty()).collect()
    };
    Ok(Sheet { rows: cells.map(row).filter(|row| !row.is_empty()).collect() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sheet(values: Value) -> Result<Vec<Row>, Fault> {
        let cells =
            values.as_array().unwrap().iter().map(|row| row.as_array().unwrap().iter().map(cell).collect());
        rows(cells.collect()).map(|sheet| sheet.rows)
    }

    #[test]
    fn rows_are_pairs_of_headings_and_cells_with_something_in_them() {
        let rows = sheet(json!([
            [" Name", "Phone ", "", "City"],
            ["Asha ", 9_812_345_678_i64, "under no heading"],
            [],
            ["", " ", "x"],
            ["Ravi", "98123 45679", "", "Pune", "beyond the headings"],
        ]));
        let pair = |heading: &str, cell: &str| (heading.into(), cell.to_owned());
        assert_eq!(
            rows.unwrap(),
            [
                vec![pair("Name", "Asha"), pair("Phone", "9812345678")],
                vec![pair("Name", "Ravi"), pair("Phone", "98123 45679"), pair("City", "Pune")],
            ]
        );
    }

    #[test]
    fn a_first_row_without_headings_is_a_fault() {
        for values in [json!([]), json!([[]]), json!([["", " "], ["Asha"]])] {
            assert_eq!(sheet(values).unwrap_err().code(), "refused");
        }
    }

    #[test]
    fn shortened_numbers_are_told_from_words() {
        assert!(is_shortened("9.81235E+09") && is_shortened("9E+9"));
        for cell in ["9812345678", "E+", "Flat 2E+3b", "1E+", "+919812345678", "aE+9"] {
            assert!(!is_shortened(cell), "{cell}");
        }
    }
}

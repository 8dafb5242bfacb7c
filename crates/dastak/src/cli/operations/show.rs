//! Answers for people: lists as tables with the columns that matter, objects as aligned lines, times in India's time.

use domain::time::{MINUTE, Timestamp};
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::failed::Failed;
use super::super::output::say;

/// Columns of a table, at most.
const MOST_COLUMNS: usize = 9;
/// Cells wider than this are cut.
const WIDEST: usize = 36;
/// The width without a terminal.
const USUAL_WIDTH: usize = 120;
/// India's time is ahead of UTC by so much.
const INDIA: i64 = 330 * MINUTE;

/// Columns in the order in which they matter; others follow in the order of the answer.
const FIRST: [&str; 34] = [
    "id",
    "name",
    "title",
    "status",
    "state",
    "number",
    "phone",
    "toNumber",
    "customer",
    "email",
    "result",
    "outcome",
    "kind",
    "type",
    "event",
    "direction",
    "role",
    "mode",
    "endCause",
    "verdict",
    "gate",
    "language",
    "category",
    "amountMinor",
    "balanceAfterMinor",
    "reference",
    "total",
    "count",
    "createdAt",
    "at",
    "startedAt",
    "scheduledAt",
    "runAt",
    "url",
];

/// A text without what a terminal would act on: control characters, and those that change the direction of writing.
pub fn plain(text: &str) -> String {
    escaped(text, false)
}

/// The same with its line ends.
pub fn lines(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, line_ends: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let turns =
            matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}');
        if (letter.is_control() && !(line_ends && letter == '\n')) || turns {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
    }
    out
}

/// `2026-11-27 20:30:05`, India's time; none for what is no moment.
fn in_india(text: &str) -> Option<String> {
    if text.len() < 20 || text.as_bytes().get(10) != Some(&b'T') || !text.ends_with('Z') {
        return None;
    }
    let moment = Timestamp::parse(text)?.plus(INDIA).to_string();
    Some(moment.get(..19)?.replace('T', " "))
}

/// A value on one line.
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => in_india(text).unwrap_or_else(|| plain(text)),
        Value::Array(items) if items.is_empty() => "none".into(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => plain(&other.to_string()),
    }
}

fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => items.iter().all(|item| !item.is_object() && !item.is_array()),
        _ => true,
    }
}

/// Prints an object.
pub fn object(value: &Value) -> Result<(), Failed> {
    object_at(value, "")
}

fn object_at(value: &Value, indent: &str) -> Result<(), Failed> {
    let Value::Object(map) = value else { return say(&format!("{indent}{}", cell(value))) };
    let width =
        map.iter().filter(|(_, value)| is_flat(value)).map(|(name, _)| name.width()).max().unwrap_or(0);
    let inner = format!("{indent}  ");
    for (name, value) in map {
        let name = plain(name);
        match value {
            Value::Object(map) if map.is_empty() => say(&format!("{indent}{name:width$}  none"))?,
            Value::Object(_) => {
                say(&format!("{indent}{name}:"))?;
                object_at(value, &inner)?;
            }
            Value::Array(items) if !is_flat(value) => {
                say(&format!("{indent}{name} ({}):", items.len()))?;
                Table::within(items, &inner).print(items)?;
            }
            Value::String(text) if in_india(text).is_some() => {
                say(&format!("{indent}{name:width$}  {} IST", cell(value)))?;
            }
            Value::String(text) if text.contains('\n') => {
                say(&format!("{indent}{name}:"))?;
                text.lines().try_for_each(|line| say(&format!("{inner}{}", plain(line))))?;
            }
            _ => say(&format!("{indent}{name:width$}  {}", cell(value)))?,
        }
    }
    Ok(())
}

/// The columns of a list, chosen by its first rows.
pub struct Table {
    indent: String,
    columns: Vec<Column>,
    with_heading: bool,
}

struct Column {
    name: String,
    heading: String,
    width: usize,
}

impl Table {
    /// For a list that fills the terminal.
    pub fn of(rows: &[Value]) -> Self {
        Self::within(rows, "")
    }

    fn within(rows: &[Value], indent: &str) -> Self {
        let width =
            terminal_size::terminal_size().map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0).max(40));
        Self {
            indent: indent.to_owned(),
            columns: columns(rows, width.saturating_sub(indent.len())),
            with_heading: true,
        }
    }

    /// Prints rows; the heading stands before the first ones.
    pub fn print(&mut self, rows: &[Value]) -> Result<(), Failed> {
        if rows.is_empty() {
            return say(&format!("{}none", self.indent));
        }
        if self.columns.is_empty() {
            return rows.iter().try_for_each(|row| say(&format!("{}{}", self.indent, cell(row))));
        }
        if std::mem::take(&mut self.with_heading) {
            self.line(|column| column.heading.clone())?;
        }
        rows.iter().try_for_each(|row| self.line(|column| cut(&cell(&row[&column.name]), column.width)))
    }

    fn line(&self, text: impl Fn(&Column) -> String) -> Result<(), Failed> {
        let mut line = self.indent.clone();
        for (at, column) in self.columns.iter().enumerate() {
            let cell = text(column);
            let pad =
                if at + 1 == self.columns.len() { 0 } else { column.width.saturating_sub(cell.width()) + 2 };
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', pad));
        }
        say(line.trim_end())
    }
}

/// The beginning of a text that is so wide.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut out, mut used) = (String::new(), 0);
    for letter in text.chars() {
        used += letter.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        out.push(letter);
    }
    out + "…"
}

fn columns(rows: &[Value], room: usize) -> Vec<Column> {
    let sample = &rows[..rows.len().min(200)];
    let mut names: Vec<&str> = Vec::new();
    for map in sample.iter().filter_map(Value::as_object) {
        for name in map.keys() {
            if names.len() < 200 && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    // What is empty everywhere, or has parts of its own, is no column.
    names.retain(|name| {
        sample.iter().all(|row| is_flat(&row[*name])) && sample.iter().any(|row| !is_empty(&row[*name]))
    });
    let rank = |name: &str| FIRST.iter().position(|known| *known == name);
    let mut ranked: Vec<(usize, &str)> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let other =
                FIRST.len() + at + if name.ends_with("Id") || name.ends_with("Url") { 100 } else { 0 };
            (rank(name).unwrap_or(other), *name)
        })
        .collect();
    ranked.sort_unstable();
    let (mut used, mut chosen) = (0, Vec::new());
    for (_, name) in ranked {
        let column = column(name, sample);
        if chosen.len() >= MOST_COLUMNS || (!chosen.is_empty() && used + column.width + 2 > room) {
            continue;
        }
        used += column.width + 2;
        chosen.push(column);
    }
    // In the order of the answer, the id first.
    chosen.sort_by_key(|column| (column.name != "id", names.iter().position(|name| *name == column.name)));
    chosen
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn column(name: &str, rows: &[Value]) -> Column {
    let is_time = rows.iter().any(|row| row[name].as_str().is_some_and(|text| in_india(text).is_some()));
    let heading = if is_time { format!("{} (IST)", plain(name)) } else { plain(name) };
    // An id is only of use whole.
    let widest = if name == "id" { usize::MAX } else { WIDEST };
    let cells = rows.iter().map(|row| cell(&row[name]).width()).max().unwrap_or(0).min(widest);
    Column { name: name.to_owned(), width: cells.max(heading.width()), heading }
}

/// For tests: the columns of rows within so much room.
#[cfg(test)]
pub fn headings(rows: &[Value], room: usize) -> Vec<String> {
    columns(rows, room).into_iter().map(|column| column.heading).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_terminal_gets_no_commands_from_data() {
        assert_eq!(plain("a\u{1b}[2J\nb\u{202e}c"), "a\\u{1b}[2J\\u{a}b\\u{202e}c");
        assert_eq!(lines("a\n\u{7}"), "a\n\\u{7}");
        assert_eq!(cell(&json!("\u{1b}]0;x")), "\\u{1b}]0;x");
    }

    #[test]
    fn times_are_those_of_india() {
        assert_eq!(cell(&json!("2026-11-27T20:00:00.000Z")), "2026-11-28 01:30:00");
        assert_eq!(cell(&json!("2026-11-27")), "2026-11-27");
        assert_eq!(cell(&json!("not at 10T, and long Z")), "not at 10T, and long Z");
    }

    #[test]
    fn columns_fit_and_the_important_ones_come() {
        let row = json!({"agentId": "agt_1", "colour": "red", "empty": null, "settings": {"a": 1}, "status": "queued",
            "id": "ndg_01arz3ndektsv4rrffq69g5fav", "toNumber": "+919812345678", "createdAt": "2026-11-27T20:00:00Z"});
        let rows = [row];
        assert_eq!(
            headings(&rows, 200),
            ["id", "agentId", "colour", "status", "toNumber", "createdAt (IST)"]
        );
        assert_eq!(headings(&rows, 60), ["id", "status", "toNumber"]);
        assert_eq!(headings(&rows, 10), ["id"]);
    }

    #[test]
    fn cells_are_cut_by_their_width() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("नमस्ते", 10), "नमस्ते");
        assert_eq!(cut("日本語", 4), "日…");
    }
}

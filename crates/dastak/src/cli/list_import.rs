//! `dastak admin import-list CAMPAIGN FILE.csv`: replaces the calling list of a campaign with a file of any size. The
//! file is sent in batches into a staged list, which takes effect atomically.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::time::Instant;

use clap::{Arg, ArgMatches, Command};
use domain::campaign::list::{MAX_NAME, MAX_PHONE};
use domain::conversation::is_name;
use domain::phone::columns::named;
use domain::sheet::{self, number_of};
use providers::http::encoded;
use serde_json::{Map, Value, json};

use super::client::Client;
use super::operations;

/// The subcommand's name.
pub const NAME: &str = "import-list";
/// Rows per request: each request is one transaction, and others wait for it.
const PIECE: usize = 2_000;
/// Values per request: the service accepts 500,000.
const PIECE_VALUES: usize = 400_000;
/// Bytes of JSON per request: the service accepts 5 MB.
const PIECE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of one row of the file.
const LONGEST_ROW: usize = 1024 * 1024;
/// Characters of the headings that an error shows.
const SHOWN: usize = 500;
/// How often a batch is retried whose response was lost.
const TRIES: usize = 3;
/// Headings of the column with the name.
const NAMES: &[&str] = &[
    "name",
    "full_name",
    "fullname",
    "customer_name",
    "customername",
    "contact_name",
    "person",
    "customer",
    "borrower_name",
];
/// Headings of two columns that together make the name.
const FIRST: &[&str] = &["first_name", "firstname", "given_name"];
const LAST: &[&str] = &["last_name", "lastname", "surname", "family_name"];

pub fn command() -> Command {
    let option =
        |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("HEADING").help(help);
    Command::new(NAME)
        .about("Replace the calling list of a campaign with a CSV file, in one moment")
        .arg(Arg::new("CAMPAIGN").required(true).help("The campaign's id"))
        .arg(
            Arg::new("FILE")
                .required(true)
                .help("Headings in the first line; every column but number and name is a variable"),
        )
        .arg(option("phone", "The column with the number, if it has an unusual heading"))
        .arg(option("name", "The column with the name, if it has an unusual heading"))
}

/// What the service holds of the list so far.
#[derive(Default)]
struct Tally {
    lines: u64,
    total: u64,
    valid: u64,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Phone,
    Name,
    First,
    Last,
    Variable(String),
    /// It has no heading.
    Nothing,
}

/// The headings of a file, in lower case with `_` between words.
fn plain(heading: &str) -> String {
    let mut out = String::new();
    for letter in heading.trim().chars() {
        if letter.is_alphanumeric() {
            out.extend(letter.to_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out.trim_end_matches('_').to_owned()
}

/// The name of the variable in a column: the heading if it is valid in `{{…}}`, else converted to a valid name.
fn variable(heading: &str) -> String {
    let heading = heading.trim();
    if is_name(heading) {
        return heading.to_owned();
    }
    let made = plain(heading);
    let made = if made.starts_with(|first: char| first.is_ascii_digit()) { format!("_{made}") } else { made };
    if is_name(&made) { made } else { heading.to_owned() }
}

/// Headings for an error, truncated.
fn listed(headings: &[String]) -> String {
    let all = headings.join(", ");
    match all.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &all[..end]),
        None => all,
    }
}

/// Which column holds what.
///
/// # Errors
/// There is no column with numbers, or two columns have the same name.
fn columns(headings: &[String], phone: Option<&str>, name: Option<&str>) -> Result<Vec<Column>, String> {
    let known: Vec<String> = headings.iter().map(|heading| plain(heading)).collect();
    let chosen = |asked: Option<&str>, usual: &[&str]| -> Result<Option<usize>, String> {
        match asked {
            Some(asked) => headings
                .iter()
                .position(|heading| heading.trim() == asked.trim())
                .or_else(|| known.iter().position(|heading| *heading == plain(asked)))
                .map(Some)
                .ok_or_else(|| format!("no column has the heading {asked}; there are: {}", listed(headings))),
            // The first of the usual headings, in their order.
            None => Ok(usual.iter().find_map(|usual| known.iter().position(|heading| heading == usual))),
        }
    };
    let phone = match phone {
        Some(_) => chosen(phone, &[])?,
        None => column_with_number(headings.iter().map(String::as_str)),
    };
    let phone = phone.ok_or_else(|| {
        format!(
            "no column has a heading such as phone or mobile; name it with --phone. There are: {}",
            listed(headings)
        )
    })?;
    let name = chosen(name, NAMES)?.filter(|name| *name != phone);
    let (first, last) = match name {
        Some(_) => (None, None),
        None => (chosen(None, FIRST)?, chosen(None, LAST)?),
    };
    let mut columns = Vec::with_capacity(headings.len());
    for (place, heading) in headings.iter().enumerate() {
        let column = match Some(place) {
            at if at == Some(phone) => Column::Phone,
            at if at == name => Column::Name,
            at if at == first => Column::First,
            at if at == last => Column::Last,
            _ if heading.trim().is_empty() => Column::Nothing,
            _ => Column::Variable(variable(heading)),
        };
        if matches!(column, Column::Variable(_)) && columns.contains(&column) {
            return Err(format!("two columns have the heading {}", heading.trim()));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The column whose heading says best that a number is there.
fn column_with_number<'a>(headings: impl Iterator<Item = &'a str>) -> Option<usize> {
    let known = headings.enumerate().filter_map(|(place, heading)| Some((named(heading)?, place)));
    known.min().map(|(_, place)| place)
}

/// A row in the form that the service accepts.
fn row(columns: &[Column], cells: &sheet::Row) -> Value {
    let (mut phone, mut name, mut first, mut last) =
        (String::new(), String::new(), String::new(), String::new());
    let mut variables = Map::new();
    for (column, cell) in columns.iter().zip(cells.cells()) {
        let text = cell.trim().replace('\0', "");
        match column {
            Column::Phone => phone = text,
            Column::Name => name = text,
            Column::First => first = text,
            Column::Last => last = text,
            // An empty cell is an unknown value.
            Column::Variable(of) if !text.is_empty() => {
                variables.insert(of.clone(), text.into());
            }
            Column::Variable(_) | Column::Nothing => {}
        }
    }
    if name.is_empty() {
        name = format!("{first} {last}").trim().to_owned();
    }
    let phone: String = number_of(&phone).chars().take(MAX_PHONE).collect();
    let name: String = name.chars().take(MAX_NAME).collect();
    let name = if name.is_empty() { Value::Null } else { name.into() };
    json!({"phone": phone, "name": name, "variables": variables})
}

/// Rows of a file, in batches.
struct Rows<R> {
    sheet: sheet::Rows<R>,
    columns: Vec<Column>,
    /// The column of the number.
    phone: usize,
    /// The row that did not fit into the last batch, with its line number.
    over: Option<(u64, Value)>,
    lines: u64,
}

/// Rows of the current batch, with their line numbers.
#[derive(Default)]
struct Piece {
    rows: Vec<Value>,
    lines: Vec<u64>,
    bytes: usize,
    values: usize,
}

impl Piece {
    /// Adds a row, unless the batch is full.
    fn push(&mut self, line: u64, row: Value) -> Option<(u64, Value)> {
        let bytes = row.to_string().len() + 1;
        let values = 4 + row["variables"].as_object().map_or(0, Map::len);
        let room = self.rows.len() < PIECE
            && self.bytes + bytes <= PIECE_BYTES
            && self.values + values <= PIECE_VALUES;
        if !room && !self.rows.is_empty() {
            return Some((line, row));
        }
        self.bytes += bytes;
        self.values += values;
        self.rows.push(row);
        self.lines.push(line);
        None
    }
}

impl<R: Read> Rows<R> {
    /// Reads the headings.
    fn of(input: R, phone: Option<&str>, name: Option<&str>) -> Result<Self, String> {
        let known = |first: &sheet::Row| match phone {
            Some(asked) => first.cells().any(|heading| plain(heading) == plain(asked)),
            None => column_with_number(first.cells()).is_some(),
        };
        let mut sheet = sheet::Rows::of(input, LONGEST_ROW, known).map_err(|why| why.to_string())?;
        let first = sheet.next().map_err(|why| why.to_string())?.ok_or("the file is empty")?;
        let headings: Vec<String> = first.cells().map(|heading| heading.replace('\0', "")).collect();
        let columns = columns(&headings, phone, name)?;
        let phone = columns.iter().position(|column| *column == Column::Phone).unwrap_or_default();
        Ok(Self { sheet, columns, phone, over: None, lines: first.line() })
    }

    /// The next rows; none at the end.
    fn piece(&mut self) -> Result<Piece, String> {
        let mut piece = Piece::default();
        if let Some((line, row)) = self.over.take() {
            piece.push(line, row);
        }
        while let Some(cells) = self.sheet.next().map_err(|why| why.to_string())? {
            let line = cells.line();
            self.lines = line;
            if cells.is_blank() {
                continue;
            }
            cells.check_whole(self.columns.len(), self.phone).map_err(|why| why.to_string())?;
            self.over = piece.push(line, row(&self.columns, &cells));
            if self.over.is_some() {
                break;
            }
        }
        Ok(piece)
    }
}

/// Sends the file in batches; the list changes only when all of them have arrived.
pub async fn run(client: &Client, matches: &ArgMatches) -> Result<(), String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let (campaign, file) = (text("CAMPAIGN").unwrap_or_default(), text("FILE").unwrap_or_default());
    let input = File::open(file).map_err(|why| format!("{file}: {why}"))?;
    let size = input.metadata().map_or(0, |meta| meta.len());
    let mut rows = Rows::of(input, text("phone"), text("name")).map_err(|why| format!("{file}: {why}"))?;
    let found = send(client, "GET", &format!("/operator/v1/campaigns/{}", encoded(campaign)), None).await?;
    let (id, workspace) = (&found["data"]["id"], &found["data"]["workspaceId"]);
    let imports = format!(
        "/operator/v1/workspaces/{}/campaigns/{}/list-imports",
        workspace.as_str().ok_or("the service named no workspace")?,
        id.as_str().ok_or("the service named no campaign")?
    );
    let started = send(client, "POST", &imports, None).await?;
    let import = started["data"]["importId"].as_i64().ok_or("the service gave no import")?;
    let path = format!("{imports}/{import}");
    let as_json = matches.get_flag(operations::JSON);
    let bar = Bar { size, begun: Instant::now(), quiet: as_json && !std::io::stderr().is_terminal() };
    let sent = match fill(client, &path, &mut rows, &bar).await {
        Ok(tally) if tally.valid > 0 => {
            send(client, "POST", &format!("{path}/finish"), None).await.map(|_| tally)
        }
        Ok(tally) if tally.total > 0 => {
            Err(format!("{file}: no number of its {} rows can be dialled", tally.total))
        }
        Ok(_) => Err(format!("{file}: no rows below the headings")),
        Err(why) => Err(format!("{file}: {why}")),
    };
    match sent {
        Ok(tally) => {
            report(&tally, campaign, as_json);
            Ok(())
        }
        Err(why) => {
            // The import is cancelled; if even that fails, the service does so within two hours.
            let _ = send(client, "DELETE", &path, None).await;
            Err(format!("{why}; the calling list is as it was"))
        }
    }
}

async fn send(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let (status, answer) = client.send(method, path, body).await?;
    if status < 400 {
        return Ok(answer);
    }
    Err(format!("{} ({status})", answer["error"].as_str().unwrap_or("the service refused")))
}

async fn fill<R: Read>(client: &Client, path: &str, rows: &mut Rows<R>, bar: &Bar) -> Result<Tally, String> {
    let mut tally = Tally::default();
    loop {
        let piece = rows.piece()?;
        if piece.rows.is_empty() {
            tally.lines = rows.lines;
            bar.draw(&tally, bar.size);
            return Ok(tally);
        }
        let (total, valid) = send_piece(client, path, tally.total, &piece).await?;
        tally = Tally { lines: 0, total, valid };
        bar.draw(&tally, rows.sheet.bytes_read());
    }
}

/// Sends a piece until it is taken; one whose answer was lost is not taken twice. How many rows the list has then,
/// and how many of them can be dialled.
async fn send_piece(client: &Client, path: &str, after: u64, piece: &Piece) -> Result<(u64, u64), String> {
    let body = json!({"after": after, "contacts": piece.rows});
    let mut tried = 1;
    loop {
        let (status, answer) = match client.send("POST", &format!("{path}/rows"), Some(&body)).await {
            Ok(answer) => answer,
            Err(why) if tried >= TRIES => return Err(why.message),
            Err(_) => {
                tried += 1;
                continue;
            }
        };
        let figure = |part: &str, name: &str| answer[part][name].as_u64().unwrap_or(0);
        if status < 400 {
            return Ok((figure("data", "total"), figure("data", "valid")));
        }
        let rows = figure("meta", "rows");
        if status == 409 && tried > 1 && rows == after + piece.rows.len() as u64 {
            return Ok((rows, figure("meta", "valid")));
        }
        let message = answer["error"].as_str().unwrap_or("the service refused");
        return Err(format!("{message}{} ({status})", line_of(message, piece)));
    }
}

/// The line of the row that an error names.
fn line_of(message: &str, piece: &Piece) -> String {
    let named =
        message.split_once("contacts[").and_then(|(_, rest)| rest.split_once(']')?.0.parse::<usize>().ok());
    named.and_then(|place| piece.lines.get(place)).map_or_else(String::new, |line| format!(" (line {line})"))
}

/// Prints progress on standard error.
struct Bar {
    size: u64,
    begun: Instant,
    quiet: bool,
}

impl Bar {
    fn draw(&self, tally: &Tally, read: u64) {
        if self.quiet {
            return;
        }
        let done = read >= self.size;
        let percent = (read * 100).checked_div(self.size).unwrap_or(100).min(100);
        let rate = tally.total as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
        let line = format!("{percent:3} %  {} rows  {rate:.0} a second", tally.total);
        if std::io::stderr().is_terminal() {
            let full = (percent / 4) as usize;
            eprint!("\r[{}{}] {line}   ", "=".repeat(full), " ".repeat(25 - full));
            if done {
                eprintln!();
            }
        } else {
            eprintln!("{line}");
        }
    }
}

fn report(tally: &Tally, campaign: &str, as_json: bool) {
    let Tally { lines, total, valid } = tally;
    let invalid = total - valid;
    if as_json {
        println!("{}", json!({"lines": lines, "total": total, "valid": valid, "invalid": invalid}));
        return;
    }
    println!("the calling list of {campaign} now has {total} rows: {valid} can be dialled, {invalid} cannot");
}

/// Every row of a file: for fuzz targets.
///
/// # Errors
/// The file is not a list.
pub(crate) fn fuzzed(file: &[u8]) -> Result<Vec<(u64, Value)>, String> {
    let (mut rows, mut found) = (Rows::of(file, None, None)?, Vec::new());
    loop {
        let piece = rows.piece()?;
        if piece.rows.is_empty() {
            return Ok(found);
        }
        let body = json!({"contacts": piece.rows}).to_string();
        let one = piece.rows.len() == 1;
        assert!(one || body.len() <= PIECE_BYTES + 64, "{} bytes in a request", body.len());
        found.extend(piece.lines.into_iter().zip(piece.rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(line: &str) -> Vec<String> {
        line.split(',').map(str::to_owned).collect()
    }

    fn named(line: &str) -> Vec<Column> {
        columns(&headings(line), None, None).unwrap()
    }

    #[test]
    fn columns_are_recognized_by_their_headings() {
        let variable = |name: &str| Column::Variable(name.to_owned());
        assert_eq!(named("Name,Mobile No.,amount"), [Column::Name, Column::Phone, variable("amount")]);
        assert_eq!(
            named("First Name,SURNAME,Phone Number,Loan Amount (₹),2nd due,राशि,"),
            [
                Column::First,
                Column::Last,
                Column::Phone,
                variable("loan_amount"),
                variable("_2nd_due"),
                variable("राशि"),
                Column::Nothing
            ]
        );
        // With a name of its own the parts are variables.
        assert_eq!(
            named("full_name,first_name,phone"),
            [Column::Name, variable("first_name"), Column::Phone]
        );
        // The plainest heading wins: a second number is a variable.
        assert_eq!(named("mobile,phone"), [variable("mobile"), Column::Phone]);
        let chosen = columns(&headings("Ref,Alt,Who"), Some("Alt"), Some("who")).unwrap();
        assert_eq!(chosen, [variable("Ref"), Column::Phone, Column::Name]);
        assert!(columns(&headings("Ref,Alt"), None, None).unwrap_err().contains("--phone"));
        assert!(columns(&headings("phone"), Some("Mobil"), None).unwrap_err().contains("Mobil"));
        assert!(columns(&headings("phone,due,due"), None, None).unwrap_err().contains("two columns"));
    }

    #[test]
    fn cells_may_hold_separators_line_ends_and_quotes() {
        let file = "\u{FEFF}Name;Mobile;Note\r\n\"Rao; Asha\";'98123 45678;\"said \"\"no\"\"\r\ntwice\"\r\n\r\n;9812345679;\r\nRavi;x\r\n";
        let found = fuzzed(file.as_bytes()).unwrap();
        assert_eq!(
            found,
            [
                (
                    2,
                    json!({"phone": "98123 45678", "name": "Rao; Asha", "variables": {"Note": "said \"no\"\r\ntwice"}})
                ),
                (5, json!({"phone": "9812345679", "name": null, "variables": {}})),
                (6, json!({"phone": "x", "name": "Ravi", "variables": {}})),
            ]
        );
        assert!(fuzzed(b"").is_err());
        assert_eq!(fuzzed(b"phone\n").unwrap(), []);
    }

    #[test]
    fn another_encoding_is_named() {
        let refused = |file: &[u8]| fuzzed(file).unwrap_err();
        assert_eq!(
            refused(b"phone,name\r9812345678,Asha\r9812345679,Jos\xE9\r"),
            "line 3 is not UTF-8 text: save the file as CSV UTF-8"
        );
        assert!(refused(b"phone,\xE9t\xE9\n").starts_with("line 1 is not UTF-8"));
        let long = refused("x".repeat(500_000).as_bytes());
        assert!(long.contains("--phone") && long.len() < 1_000, "{}", long.len());
        assert!(refused("x".repeat(3_000_000).as_bytes()).starts_with("line 1 is longer"));
        let utf16: Vec<u8> =
            "\u{FEFF}phone\tname\r\n9812345678\tआशा\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let row = json!({"phone": "9812345678", "name": "आशा", "variables": {}});
        assert_eq!(fuzzed(&utf16), Ok(vec![(2, row)]));
    }

    #[test]
    fn quotes_that_would_swallow_people_are_named() {
        let file = format!("phone\n\"{}", "9".repeat(LONGEST_ROW + 1));
        assert!(fuzzed(file.as_bytes()).unwrap_err().starts_with("line 2 is longer"));
        for (bad, why) in [
            (
                "phone,name\n9812345670,\"Asha\"\n9812345671,\"Ravi\n9812345672,Meera\n9812345673,Arjun\n",
                "line 3 opens a quote that is never closed",
            ),
            (
                "name,phone,note\nAsha,9812345670,\"never\nRavi,9812345671,ok\nMeera,9812345672,\"fine\"\n",
                "line 2 opens a quote that is not closed there: the next one stands amid line 4",
            ),
            (
                "name,phone,item\nAsha,9812345670,\"pipe\nRavi,9812345671,5\"\nMeera,9812345672,tap\n",
                "line 2 opens a quote that is not closed there: line 3, a row, is within it",
            ),
        ] {
            assert_eq!(fuzzed(bad.as_bytes()).unwrap_err(), why);
        }
        for good in ["phone,name\n1,\"a\nb\"\n", "phone,name\n1,5\" pipe\n", "phone,name\n1,\"a\nb\"\n2,c\n"]
        {
            assert!(fuzzed(good.as_bytes()).is_ok(), "{good}");
        }
    }

    #[test]
    fn the_separator_and_headings_are_found() {
        let row = json!({"phone": "9812345678", "name": "Asha", "variables": {}});
        for file in [
            "sep=;\r\nphone;name\r\n9812345678;Asha\r\n",
            "\"Customer\nName\";Mobile\r\nAsha;'9812345678\r\n",
            "\"Customer\r\nName\"|Mobile No\rAsha|=\"9812345678\"",
        ] {
            assert_eq!(
                fuzzed(file.as_bytes()).unwrap().pop().map(|(_, row)| row),
                Some(row.clone()),
                "{file}"
            );
        }
        let file = "Name;\"Due (Rs, incl. GST, fees)\";lead.phone\nAsha;500;9812345678\n";
        let due =
            json!({"phone": "9812345678", "name": "Asha", "variables": {"due_rs_incl_gst_fees": "500"}});
        assert_eq!(fuzzed(file.as_bytes()), Ok(vec![(2, due)]));
    }

    #[test]
    fn pieces_stay_below_what_the_service_takes() {
        let mut piece = Piece::default();
        let row = json!({"phone": "x", "name": null, "variables": {"a": "x".repeat(60_000)}});
        let mut count = 0;
        while piece.push(1, row.clone()).is_none() {
            count += 1;
        }
        assert!(count > 50 && piece.bytes <= PIECE_BYTES);
        let mut small = Piece::default();
        while small.push(1, json!({"phone": "x", "variables": {}})).is_none() {}
        assert_eq!(small.rows.len(), PIECE);
    }
}

//! `dastak admin import-dnd FILE.csv`: replaces the imported platform do-not-call registry with a file.

use std::io::{BufRead, BufReader, IsTerminal, Read as _};
use std::time::Instant;

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::client::Client;

/// The subcommand's name.
pub const NAME: &str = "import-dnd";
/// Numbers sent at a time.
const PIECE: usize = 50_000;
/// Bytes of JSON sent at a time: a request has up to 5 MB.
const PIECE_BYTES: usize = 4 * 1024 * 1024;
/// Longest line, bytes. A file with a longer one is no list of numbers.
const LONGEST_LINE: usize = 64 * 1024;
/// Letters of a cell that are sent: no writing of a number has as many.
const LONGEST_CELL: usize = 100;
/// Lines that are shown when they hold no number.
const SHOWN: usize = 10;
/// Headings of the column with the number.
const HEADINGS: &[&str] = &["phone", "phone_number", "phonenumber", "number", "mobile", "msisdn", "tn"];

pub fn command() -> Command {
    Command::new(NAME)
        .about("Replace the imported do-not-call registry with a CSV file, in one moment; numbers added one by one stay")
        .arg(Arg::new("FILE").required(true).help("One number a line, in the first column or in the one headed phone, number or mobile"))
}

/// What the file turned out to hold.
#[derive(Default)]
struct Tally {
    lines: u64,
    added: u64,
    repeated: u64,
    invalid: u64,
    /// Numbers of the first lines without a valid number.
    shown: Vec<u64>,
}

/// Numbers on their way, with the lines they stand on.
#[derive(Default)]
struct Piece {
    phones: Vec<String>,
    lines: Vec<u64>,
    /// Size as JSON.
    bytes: usize,
}

/// The file, line by line.
struct Lines<R> {
    input: R,
    /// Where the number stands, once the first line has been read.
    column: Option<usize>,
    lines: u64,
    /// Bytes read.
    read: u64,
}

impl<R: BufRead> Lines<R> {
    fn of(input: R) -> Self {
        Self { input, column: None, lines: 0, read: 0 }
    }

    /// The next cell that should hold a number, with its line; none at the end.
    fn next(&mut self) -> Result<Option<(u64, String)>, String> {
        loop {
            let mut line = Vec::new();
            let most = LONGEST_LINE as u64 + 1;
            let length =
                self.input.by_ref().take(most).read_until(b'\n', &mut line).map_err(|why| why.to_string())?;
            if length == 0 {
                return Ok(None);
            }
            self.lines += 1;
            self.read += length as u64;
            if length > LONGEST_LINE && line.last() != Some(&b'\n') {
                return Err(format!(
                    "line {} is longer than {LONGEST_LINE} bytes: this is no list of numbers",
                    self.lines
                ));
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_start_matches('\u{FEFF}').trim();
            if line.is_empty() {
                continue;
            }
            if let Some(column) = self.column {
                return Ok(Some((self.lines, cell(line, column))));
            }
            let heading = heading(line);
            self.column = Some(heading.unwrap_or(0));
            if heading.is_none() {
                return Ok(Some((self.lines, cell(line, 0))));
            }
        }
    }
}

/// Sends the file piece by piece; the registry changes only when all of it has arrived.
pub async fn run(client: &Client, matches: &ArgMatches) -> Result<(), String> {
    let file = matches.get_one::<String>("FILE").map_or("", String::as_str);
    let input = std::fs::File::open(file).map_err(|why| format!("{file}: {why}"))?;
    let size = input.metadata().map_or(0, |meta| meta.len());
    let started = send(client, "POST", "/operator/v1/dnd-imports", None).await?;
    let import = started["data"]["importId"].as_i64().ok_or("the service gave no import")?;
    let path = format!("/operator/v1/dnd-imports/{import}");
    match fill(client, &path, BufReader::new(input), file, size).await {
        Ok(tally) if tally.added > 0 => {
            send(client, "POST", &format!("{path}/finish"), None).await?;
            report(&tally, matches.get_flag("json"));
            Ok(())
        }
        Ok(_) => {
            send(client, "DELETE", &path, None).await?;
            Err(format!("{file}: no valid number in it; the registry is as it was"))
        }
        Err(why) => {
            // The import is given up; if even that fails, the next one replaces it within the hour.
            let _ = send(client, "DELETE", &path, None).await;
            Err(format!("{why}; the registry is as it was"))
        }
    }
}

async fn send(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let (status, answer) = client.send(method, path, body).await?;
    if status < 400 {
        Ok(answer)
    } else {
        Err(format!("{} ({status})", answer["error"].as_str().unwrap_or("the service refused")))
    }
}

async fn fill(
    client: &Client,
    path: &str,
    input: impl BufRead,
    file: &str,
    size: u64,
) -> Result<Tally, String> {
    let (mut tally, mut piece, mut lines) = (Tally::default(), Piece::default(), Lines::of(input));
    let begun = Instant::now();
    while let Some((number, cell)) = lines.next().map_err(|why| format!("{file}: {why}"))? {
        if !piece.has_room(&cell) {
            piece.send(client, path, &mut tally).await?;
            progress(lines.read, size, &tally, begun);
        }
        piece.push(cell, number);
    }
    tally.lines = lines.lines;
    piece.send(client, path, &mut tally).await?;
    progress(size, size, &tally, begun);
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    Ok(tally)
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ';', '\t']).map(|cell| cell.trim().trim_matches('"').trim())
}

fn cell(line: &str, column: usize) -> String {
    cells(line).nth(column).unwrap_or_default().chars().take(LONGEST_CELL).collect()
}

/// Size of a text as JSON, with its comma.
fn size_of(cell: &str) -> usize {
    json!(cell).to_string().len() + 1
}

/// The column with the number, if the line is a heading.
fn heading(line: &str) -> Option<usize> {
    let is_heading = cells(line).all(|cell| !cell.chars().any(|letter| letter.is_ascii_digit()));
    let known =
        cells(line).position(|cell| HEADINGS.contains(&cell.to_lowercase().replace(' ', "_").as_str()));
    known.or(is_heading.then_some(0))
}

impl Piece {
    fn has_room(&self, cell: &str) -> bool {
        self.phones.len() < PIECE && self.bytes + size_of(cell) <= PIECE_BYTES
    }

    fn push(&mut self, cell: String, line: u64) {
        self.bytes += size_of(&cell);
        self.phones.push(cell);
        self.lines.push(line);
    }

    async fn send(&mut self, client: &Client, path: &str, tally: &mut Tally) -> Result<(), String> {
        let Piece { phones, lines, .. } = std::mem::take(self);
        if phones.is_empty() {
            return Ok(());
        }
        let answer =
            send(client, "POST", &format!("{path}/numbers"), Some(&json!({"phones": phones}))).await?;
        tally.added += answer["data"]["added"].as_u64().unwrap_or(0);
        tally.repeated += answer["data"]["repeated"].as_u64().unwrap_or(0);
        for place in answer["data"]["invalid"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
            tally.invalid += 1;
            if tally.shown.len() < SHOWN {
                tally.shown.extend(lines.get(place as usize));
            }
        }
        Ok(())
    }
}

fn progress(read: u64, size: u64, tally: &Tally, begun: Instant) {
    let percent = (read * 100).checked_div(size).unwrap_or(100).min(100);
    let rate = tally.added as f64 / begun.elapsed().as_secs_f64().max(0.001);
    let line = format!("{percent:3} %  {} numbers  {rate:.0} a second", tally.added);
    if std::io::stderr().is_terminal() {
        eprint!("\r{line}   ");
    } else {
        eprintln!("{line}");
    }
}

fn report(tally: &Tally, as_json: bool) {
    let Tally { lines, added, repeated, invalid, shown } = tally;
    if as_json {
        println!(
            "{}",
            json!({"lines": lines, "numbers": added, "repeated": repeated, "invalid": invalid, "invalidLines": shown})
        );
        return;
    }
    println!(
        "the registry now has these {added} numbers; {repeated} stood there twice, {invalid} lines hold no valid Indian number"
    );
    if !shown.is_empty() {
        println!(
            "such lines: {}{}",
            shown.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
            if *invalid as usize > SHOWN { ", …" } else { "" }
        );
    }
}

/// Every cell of a file that should hold a number, with its line: for fuzz targets.
///
/// # Errors
/// The file is no list.
pub(crate) fn fuzzed(file: &[u8]) -> Result<Vec<(u64, String)>, String> {
    let (mut lines, mut piece, mut found) = (Lines::of(file), Piece::default(), Vec::new());
    while let Some((number, cell)) = lines.next()? {
        if !piece.has_room(&cell) {
            piece = Piece::default();
        }
        piece.push(cell.clone(), number);
        found.push((number, cell));
    }
    let body = json!({"phones": piece.phones}).to_string();
    assert!(body.len() <= PIECE_BYTES + 16, "{} bytes in a request", body.len());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{LONGEST_CELL, LONGEST_LINE, Lines, PIECE, PIECE_BYTES, Piece, cells, fuzzed, heading};

    #[test]
    fn headings_and_cells() {
        assert_eq!(heading("Name;Mobile"), Some(1));
        assert_eq!(heading("\"Phone Number\",x"), Some(0));
        assert_eq!(heading("numero"), Some(0));
        assert_eq!(heading("9812345678,x"), None);
        assert_eq!(cells("a, \"b\" ;c").collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn numbers_are_found_with_their_lines() {
        let file = "\u{FEFF}Name;Mobile\r\nAsha;9812345678\r\n\r\nRavi;\"98123 45679\"\nx";
        let found = fuzzed(file.as_bytes()).unwrap();
        assert_eq!(found, [(2, "9812345678".to_owned()), (4, "98123 45679".to_owned()), (5, String::new())]);
    }

    #[test]
    fn requests_stay_below_what_the_service_takes_and_a_file_without_lines_is_refused() {
        let mut lines = Lines::of(std::io::BufReader::new(std::io::repeat(b'9').take(1 << 40)));
        assert!(lines.next().unwrap_err().starts_with("line 1 is longer than 65536 bytes"));
        assert!(lines.read <= LONGEST_LINE as u64 + 1);
        // A cell of control characters is six times as long in JSON.
        let cell = "\u{1}".repeat(LONGEST_CELL);
        let mut piece = Piece::default();
        while piece.has_room(&cell) {
            piece.push(cell.clone(), 1);
        }
        assert!(piece.phones.len() < PIECE);
        assert!(serde_json::to_string(&piece.phones).unwrap().len() <= PIECE_BYTES + 2);
        assert_eq!(super::cell(&"9".repeat(1000), 0).len(), LONGEST_CELL);
    }
}

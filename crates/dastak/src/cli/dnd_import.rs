//! `dastak admin import-dnd FILE.csv`: replaces the imported platform do-not-call registry with a file.

use std::io::{BufRead, BufReader, IsTerminal};
use std::time::Instant;

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::client::Client;

/// The subcommand's name.
pub const NAME: &str = "import-dnd";
/// Numbers sent at a time.
const PIECE: usize = 50_000;
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
    if status < 400 { Ok(answer) } else { Err(format!("{} ({status})", answer["error"].as_str().unwrap_or("the service refused"))) }
}

async fn fill(client: &Client, path: &str, input: impl BufRead, file: &str, size: u64) -> Result<Tally, String> {
    let (mut tally, mut piece, mut column, mut read) = (Tally::default(), Piece::default(), None, 0_u64);
    let begun = Instant::now();
    for line in input.split(b'\n') {
        let line = line.map_err(|why| format!("{file}: {why}"))?;
        read += line.len() as u64 + 1;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_start_matches('\u{FEFF}').trim();
        tally.lines += 1;
        if line.is_empty() {
            continue;
        }
        let Some(column) = column else {
            let heading = heading(line);
            column = Some(heading.unwrap_or(0));
            if heading.is_none() {
                piece.push(line, 0, tally.lines);
            }
            continue;
        };
        piece.push(line, column, tally.lines);
        if piece.phones.len() == PIECE {
            piece.send(client, path, &mut tally).await?;
            progress(read, size, &tally, begun);
        }
    }
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

/// The column with the number, if the line is a heading.
fn heading(line: &str) -> Option<usize> {
    let is_heading = cells(line).all(|cell| !cell.chars().any(|letter| letter.is_ascii_digit()));
    let known = cells(line).position(|cell| HEADINGS.contains(&cell.to_lowercase().replace(' ', "_").as_str()));
    known.or(is_heading.then_some(0))
}

impl Piece {
    fn push(&mut self, line: &str, column: usize, number: u64) {
        self.phones.push(cells(line).nth(column).unwrap_or_default().to_owned());
        self.lines.push(number);
    }

    async fn send(&mut self, client: &Client, path: &str, tally: &mut Tally) -> Result<(), String> {
        let Piece { phones, lines } = std::mem::take(self);
        if phones.is_empty() {
            return Ok(());
        }
        let answer = send(client, "POST", &format!("{path}/numbers"), Some(&json!({"phones": phones}))).await?;
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
        println!("{}", json!({"lines": lines, "numbers": added, "repeated": repeated, "invalid": invalid, "invalidLines": shown}));
        return;
    }
    println!("the registry now has these {added} numbers; {repeated} stood there twice, {invalid} lines hold no valid Indian number");
    if !shown.is_empty() {
        println!(
            "such lines: {}{}",
            shown.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
            if *invalid as usize > SHOWN { ", …" } else { "" }
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{cells, heading};

    #[test]
    fn headings_and_cells() {
        assert_eq!(heading("Name;Mobile"), Some(1));
        assert_eq!(heading("\"Phone Number\",x"), Some(0));
        assert_eq!(heading("numero"), Some(0));
        assert_eq!(heading("9812345678,x"), None);
        assert_eq!(cells("a, \"b\" ;c").collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}

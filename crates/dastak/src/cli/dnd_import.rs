//! `dastak admin import-dnd FILE.csv`: replaces the imported platform do-not-call registry with a file.

use std::collections::VecDeque;
use std::io::{IsTerminal, Read};
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use domain::phone::Phone;
use domain::phone::columns::{Named, named, plain};
use domain::sheet::{Row, Rows, number_of};
use serde_json::{Value, json};

use super::client::Client;
use super::operations;

/// The subcommand's name.
pub const NAME: &str = "import-dnd";
/// Numbers per request.
const PIECE: usize = 50_000;
/// Bytes of JSON per request: the service accepts 5 MB.
const PIECE_BYTES: usize = 4 * 1024 * 1024;
/// Longest line, bytes. A file with a longer one is not a list of numbers.
const LONGEST_LINE: usize = 64 * 1024;
/// Characters of a cell that are sent: no notation of a number is longer.
const LONGEST_CELL: usize = 100;
/// Lines without a valid number that are shown.
const SHOWN: usize = 100;

pub fn command() -> Command {
    Command::new(NAME)
        .about("Replace the imported do-not-call registry with a CSV file, in one moment; numbers added one by one stay")
        .arg(Arg::new("FILE").required(true).help("One number a line, in the first column or in the one headed phone, number or mobile"))
        .arg(Arg::new("phone").long("phone").value_name("HEADING").help("The column with the number, if it has an unusual heading"))
        .arg(
            Arg::new("skip-invalid")
                .long("skip-invalid")
                .action(ArgAction::SetTrue)
                .help("Leave out lines without a valid number. Otherwise one such line stops the import, and nothing is replaced"),
        )
}

/// The result of reading the file.
#[derive(Default)]
struct Tally {
    lines: u64,
    added: u64,
    repeated: u64,
    invalid: u64,
    /// Numbers of the first lines without a valid number, and of the last one.
    shown: Vec<u64>,
    last: Option<u64>,
}

/// Numbers of the current batch, with their line numbers.
#[derive(Default)]
struct Piece {
    phones: Vec<String>,
    lines: Vec<u64>,
    /// Size as JSON.
    bytes: usize,
}

/// The columns of a file that hold numbers.
struct Columns {
    /// In a registry every number counts, so this may be more than one column.
    places: Vec<usize>,
    /// Cells of the first row.
    cells: usize,
    /// Whether the first row has headings.
    headed: bool,
}

impl Columns {
    /// From the first row: by `asked`, the heading that the user named, else by usual headings, else by a number.
    fn of(first: &Row, asked: Option<&str>) -> Option<Self> {
        let cells = first.cells().count();
        let places = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
            first.cells().enumerate().filter(|(_, cell)| fits(cell)).map(|(place, _)| place).collect()
        };
        let headed =
            |places: Vec<usize>| (!places.is_empty()).then_some(Self { places, cells, headed: true });
        if let Some(asked) = asked {
            return headed(places(&|cell| !plain(cell).is_empty() && plain(cell) == plain(asked)));
        }
        let vague = |cell: &str| matches!(named(cell), Some(Named::Vaguely(_)));
        let numbers = headed(places(&|cell| named(cell).is_some() && !vague(cell)));
        numbers.or_else(|| headed(places(&vague).into_iter().take(1).collect())).or_else(|| {
            let place = first.cells().position(|cell| Phone::normalize(number_of(cell)).is_ok())?;
            Some(Self { places: vec![place], cells, headed: false })
        })
    }

    /// The default when the first row does not decide: the first column. A row without any digit is a heading row.
    fn unknown(first: &Row) -> Self {
        let headed = !first.cells().any(|cell| cell.chars().any(char::is_numeric));
        Self { places: vec![0], cells: first.cells().count(), headed }
    }

    /// The numbers of a row, as long as one can be; an empty one if it has none. Beside a number a word that has no digit
    /// is none.
    fn numbers(&self, row: &Row) -> VecDeque<(u64, String)> {
        let cell = |place: &usize| -> String {
            let cell = number_of(row.cell(*place)).chars();
            cell.filter(|letter| *letter != '\0').take(LONGEST_CELL).collect()
        };
        let mut cells: VecDeque<String> = self.places.iter().map(cell).collect();
        if cells.iter().any(|cell| cell.chars().any(char::is_numeric)) {
            cells.retain(|cell| cell.chars().any(char::is_numeric));
        } else {
            cells.truncate(1);
        }
        cells.into_iter().map(|cell| (row.line(), cell)).collect()
    }
}

/// The numbers of a file, line by line.
struct Numbers<R> {
    rows: Rows<R>,
    columns: Option<Columns>,
    asked: Option<String>,
    /// Numbers of the last row that are still to come.
    rest: VecDeque<(u64, String)>,
    /// The line of the last row.
    lines: u64,
}

impl<R: Read> Numbers<R> {
    fn of(input: R, asked: Option<&str>) -> Result<Self, String> {
        let rows = Rows::of(input, LONGEST_LINE, |first| Columns::of(first, asked).is_some());
        let rows = rows.map_err(|why| why.to_string())?;
        Ok(Self { rows, columns: None, asked: asked.map(str::to_owned), rest: VecDeque::new(), lines: 0 })
    }

    /// The next cell that should hold a number, with its line; none at the end.
    fn next(&mut self) -> Result<Option<(u64, String)>, String> {
        loop {
            if let Some(next) = self.rest.pop_front() {
                return Ok(Some(next));
            }
            let Some(row) = self.rows.next().map_err(|why| why.to_string())? else { return Ok(None) };
            self.lines = row.line();
            if row.is_blank() {
                continue;
            }
            if let Some(columns) = &self.columns {
                for place in &columns.places {
                    row.check_whole(columns.cells, *place).map_err(|why| why.to_string())?;
                }
                self.rest = columns.numbers(&row);
                continue;
            }
            let columns = match (Columns::of(&row, self.asked.as_deref()), &self.asked) {
                (Some(found), _) => found,
                (None, Some(asked)) => return Err(format!("no column has the heading {asked}")),
                (None, None) => Columns::unknown(&row),
            };
            if !columns.headed {
                self.rest = columns.numbers(&row);
            }
            self.columns = Some(columns);
        }
    }
}

/// Sends the file in batches; the registry changes only when all of them have arrived.
pub async fn run(client: &Client, matches: &ArgMatches) -> Result<(), String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let file = text("FILE").unwrap_or_default();
    let input = std::fs::File::open(file).map_err(|why| format!("{file}: {why}"))?;
    let size = input.metadata().map_or(0, |meta| meta.len());
    let numbers = Numbers::of(input, text("phone")).map_err(|why| format!("{file}: {why}"))?;
    let started = send(client, "POST", "/operator/v1/dnd-imports", None).await?;
    let import = started["data"]["importId"].as_i64().ok_or("the service gave no import")?;
    let path = format!("/operator/v1/dnd-imports/{import}");
    let filled = fill(client, &path, numbers, size).await.and_then(|tally| {
        check(&tally, matches.get_flag("skip-invalid"))?;
        Ok(tally)
    });
    match filled {
        Ok(tally) => {
            send(client, "POST", &format!("{path}/finish"), None).await?;
            report(&tally, matches.get_flag(operations::JSON));
            Ok(())
        }
        Err(why) => {
            // The import is cancelled; if even that fails, the next import replaces it within the hour.
            let _ = send(client, "DELETE", &path, None).await;
            Err(format!("{file}: {why}; the registry is as it was"))
        }
    }
}

/// Whether what was sent may become the registry. A person whose line cannot be read would be called.
fn check(tally: &Tally, skip_invalid: bool) -> Result<(), String> {
    if tally.invalid > 0 && !skip_invalid {
        return Err(format!(
            "lines without a valid Indian number ({}): {}. Correct them, or leave them out with --skip-invalid",
            tally.invalid,
            shown(tally)
        ));
    }
    if tally.added == 0 {
        return Err("no valid number in it".into());
    }
    Ok(())
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
    mut numbers: Numbers<impl Read>,
    size: u64,
) -> Result<Tally, String> {
    let (mut tally, mut piece) = (Tally::default(), Piece::default());
    let begun = Instant::now();
    while let Some((line, cell)) = numbers.next()? {
        if !piece.has_room(&cell) {
            piece.send(client, path, &mut tally).await?;
            progress(numbers.rows.bytes_read(), size, &tally, begun);
        }
        piece.push(cell, line);
    }
    tally.lines = numbers.lines;
    piece.send(client, path, &mut tally).await?;
    progress(size, size, &tally, begun);
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    Ok(tally)
}

/// Size of a text as JSON, with its comma.
fn size_of(cell: &str) -> usize {
    json!(cell).to_string().len() + 1
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
            let line = lines.get(place as usize).copied();
            // A line may hold several numbers.
            if line.is_some() && line == tally.last {
                continue;
            }
            tally.invalid += 1;
            tally.last = line;
            if tally.shown.len() < SHOWN {
                tally.shown.extend(line);
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

/// The lines without a valid number, as many as are shown.
fn shown(tally: &Tally) -> String {
    let lines = tally.shown.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    if tally.invalid > tally.shown.len() as u64 { format!("{lines}, …") } else { lines }
}

fn report(tally: &Tally, as_json: bool) {
    let Tally { lines, added, repeated, invalid, shown: first, last: _ } = tally;
    if as_json {
        println!(
            "{}",
            json!({"lines": lines, "numbers": added, "repeated": repeated, "invalid": invalid, "invalidLines": first})
        );
        return;
    }
    println!(
        "the registry now has these {added} numbers; {repeated} stood there twice, {invalid} lines hold no valid Indian number"
    );
    if !first.is_empty() {
        println!("such lines: {}", shown(tally));
    }
}

/// Every cell of a file that should hold a number, with its line: for fuzz targets.
///
/// # Errors
/// The file is not a list.
pub(crate) fn fuzzed(file: &[u8]) -> Result<Vec<(u64, String)>, String> {
    let (mut numbers, mut piece, mut found) = (Numbers::of(file, None)?, Piece::default(), Vec::new());
    while let Some((line, cell)) = numbers.next()? {
        if !piece.has_room(&cell) {
            piece = Piece::default();
        }
        piece.push(cell.clone(), line);
        found.push((line, cell));
    }
    let body = json!({"phones": piece.phones}).to_string();
    assert!(body.len() <= PIECE_BYTES + 16, "{} bytes in a request", body.len());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{LONGEST_CELL, LONGEST_LINE, Numbers, PIECE, PIECE_BYTES, Piece, Tally, check, fuzzed};

    fn numbers(file: &str) -> Vec<(u64, String)> {
        fuzzed(file.as_bytes()).unwrap()
    }

    fn on(line: u64, number: &str) -> (u64, String) {
        (line, number.to_owned())
    }

    #[test]
    fn numbers_are_found_with_their_lines() {
        let both = [on(2, "9812345678"), on(3, "9812345679")];
        for file in [
            "\u{FEFF}Name;Mobile\r\nAsha;9812345678\r\nRavi;\"9812345679\"",
            "\"Phone Number\",x\n'9812345678,1\n=\"9812345679\",2\n",
            "name,phone\n\"Rao, Asha\",9812345678\nRavi,9812345679\n",
            "name;phone\nAsha, R;9812345678\nRavi;9812345679\n",
            "Subscriber|Mobile No.|City\rAsha|9812345678|Pune\rRavi|9812345679|\r",
            "number,phone1\n1,9812345678\n2,9812345679\n",
            "numero\n9812345678\n9812345679",
        ] {
            assert_eq!(numbers(file), both, "{file}");
        }
        // Of several columns with numbers all are read.
        assert_eq!(
            numbers("Name,Phone,Mobile\nA,9812345678,9812345679\nB,,9812345670\nC,9812345671,NA\nD,-,-\n"),
            [on(2, "9812345678"), on(2, "9812345679"), on(3, "9812345670"), on(4, "9812345671"), on(5, "-")]
        );
        // Without headings the column is the one with a number.
        assert_eq!(
            numbers("Rao, Asha;9812345678\nRavi;x\n\n;;\n;1"),
            [on(1, "9812345678"), on(2, "x"), on(5, "1")]
        );
        assert_eq!(numbers("sep=|\nphone|x\n1,2|\n"), [on(3, "1,2")]);
        assert_eq!(numbers("x"), []);
        assert_eq!(numbers("name,phone\nAsha\nRao, Asha,9812345678"), [on(2, ""), on(3, "Asha")]);
        let file = "Nr,Abonnent\n1,9812345678\n";
        let mut asked = Numbers::of(file.as_bytes(), Some("abonnent")).unwrap();
        assert_eq!(asked.next(), Ok(Some(on(2, "9812345678"))));
        let mut unknown = Numbers::of(file.as_bytes(), Some("mobil")).unwrap();
        assert_eq!(unknown.next(), Err("no column has the heading mobil".into()));
    }

    #[test]
    fn quotes_that_would_swallow_people_are_named() {
        for (file, why) in [
            ("name,phone\n\"Asha,9812345678\nRavi,9812345679\n", "line 2 opens a quote that is never closed"),
            ("name,phone\n\"Asha,9812345678\nRavi\",9812345679\n", "line 3, a row, is within it"),
            ("phone\n\"9812345678\n9812345679\"\n", "line 3, a row, is within it"),
        ] {
            let refused = fuzzed(file.as_bytes()).unwrap_err();
            assert!(refused.contains(why), "{file}: {refused}");
        }
    }

    #[test]
    fn a_line_without_a_number_stops_the_import() {
        let tally = |added, invalid: u64| Tally {
            added,
            invalid,
            shown: (2..).take(invalid.min(100) as usize).collect(),
            ..Tally::default()
        };
        assert_eq!(check(&tally(5, 0), false), Ok(()));
        assert_eq!(check(&tally(5, 2), true), Ok(()));
        let refused = check(&tally(5, 2), false).unwrap_err();
        assert!(refused.contains("(2): 2, 3. "), "{refused}");
        assert!(check(&tally(5, 101), false).unwrap_err().contains("100, 101, …. "));
        assert!(check(&tally(0, 2), true).is_err() && check(&tally(0, 0), false).is_err());
    }

    #[test]
    fn requests_stay_below_what_the_service_takes_and_a_file_without_lines_is_refused() {
        let mut numbers = Numbers::of(std::io::repeat(b'9').take(1 << 40), None).unwrap();
        assert!(numbers.next().unwrap_err().starts_with("line 1 is longer than 65536 bytes"));
        assert!(numbers.rows.bytes_read() <= 3 * LONGEST_LINE as u64);
        // A cell of control characters is six times as long in JSON.
        let cell = "\u{1}".repeat(LONGEST_CELL);
        let mut piece = Piece::default();
        while piece.has_room(&cell) {
            piece.push(cell.clone(), 1);
        }
        assert!(piece.phones.len() < PIECE);
        assert!(serde_json::to_string(&piece.phones).unwrap().len() <= PIECE_BYTES + 2);
        assert_eq!(super::tests::numbers(&format!("phone\n{}", "9".repeat(1000)))[0].1.len(), LONGEST_CELL);
    }
}

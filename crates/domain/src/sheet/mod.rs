//! Tables that people export from spreadsheets: calling lists and the do-not-call registry
//! (docs/campaigns.md#from-a-file). The separator is detected, quotes may contain separators and line ends, and a quote
//! that would swallow rows is an error that names its line.

mod letters;
#[cfg(test)]
mod tests;

use std::io::Read;

use self::letters::{Letters, NoLetter};
use crate::phone::{E164, Phone};

/// Possible separators; of equally good ones the first is used.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// Why a file cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An error of the operating system.
    Unreadable(String),
    /// This line is in an unknown encoding: decoded as another one, names would be wrong.
    NotText(u64),
    /// A row that begins on this line has more bytes than this.
    TooLong(u64, usize),
    /// A quote is opened on this line and never closed.
    NeverClosed(u64),
    /// A quote is opened on the first line; the next quote is in the middle of a cell of the second one.
    ClosedAmid(u64, u64),
    /// A quote is opened on the first line; the second one, within it, is a row.
    RowWithin(u64, u64),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Unreadable(why) => f.write_str(why),
            Fault::NotText(line) => write!(f, "line {line} is not UTF-8 text: save the file as CSV UTF-8"),
            Fault::TooLong(line, most) => {
                write!(f, "line {line} is longer than {most} bytes: is a quote not closed there?")
            }
            Fault::NeverClosed(line) => write!(f, "line {line} opens a quote that is never closed"),
            Fault::ClosedAmid(line, at) => {
                write!(
                    f,
                    "line {line} opens a quote that is not closed there: the next one stands amid line {at}"
                )
            }
            Fault::RowWithin(line, at) => {
                write!(
                    f,
                    "line {line} opens a quote that is not closed there: line {at}, a row, is within it"
                )
            }
        }
    }
}

impl std::error::Error for Fault {}

/// A row of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The line on which it begins, from 1.
    line: u64,
    text: String,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// The line of the first quote that holds a line end.
    quote: Option<u64>,
    separator: char,
}

impl Row {
    /// The line on which it begins, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Its cells, without the quotes around them.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    /// One of its cells; empty if it has fewer.
    pub fn cell(&self, place: usize) -> &str {
        self.cells().nth(place).unwrap_or_default()
    }

    /// Whether it is empty.
    pub fn is_blank(&self) -> bool {
        self.text.chars().all(|letter| letter.is_whitespace() || letter == '\0')
    }

    /// Checks that it is not two rows: two of its lines with as many cells, and a number in its place. Then a quote was
    /// closed at the wrong place, and the people on these lines would be lost.
    ///
    /// # Errors
    /// [`Fault::RowWithin`].
    pub fn check_whole(&self, cells: usize, number: usize) -> Result<(), Fault> {
        let Some(quote) = self.quote else { return Ok(()) };
        // As it stood in the file, but for the quotes.
        let mut whole = String::with_capacity(self.text.len() + self.ends.len());
        for cell in self.cells() {
            whole.push_str(cell);
            whole.push(self.separator);
        }
        whole.pop();
        let whole = whole.replace("\r\n", "\n").replace('\r', "\n");
        let is_row = |line: &str| {
            let parts: Vec<&str> = line.split(self.separator).collect();
            parts.len() == cells && parts.get(number).is_some_and(|cell| is_number(number_of(cell)))
        };
        // The last line of a row whose first cell has several looks like one by itself, so one is not enough.
        let second = whole.split('\n').enumerate().filter(|(_, line)| is_row(line)).nth(1);
        second.map_or(Ok(()), |(after, _)| Err(Fault::RowWithin(quote, self.line + after as u64)))
    }
}

fn is_number(text: &str) -> bool {
    Phone::normalize(text).is_ok() || E164::written(text).is_ok()
}

/// The number in a cell, without what spreadsheets put before a text so that it is not taken for a number:
/// `'9812345678`, `="9812345678"`.
pub fn number_of(cell: &str) -> &str {
    let cell = cell.trim();
    let formula = cell.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
    formula.unwrap_or(cell).trim_start_matches(['\'', '\u{2018}', '\u{2019}']).trim()
}

/// The parser's state within a row.
enum Place {
    /// At the beginning of a cell, or behind spaces there.
    Beginning,
    /// In a cell without quotes around it: a quote is a letter.
    Bare,
    /// Within the quotes of a cell; the line on which they open.
    Quoted(u64),
    /// Behind the closing quote; the line on which they open, and the spaces since.
    Closed(u64, usize),
}

/// The rows of a file, one after the other.
pub struct Rows<R> {
    letters: Letters<R>,
    separator: char,
    /// Bytes of the longest row.
    longest: usize,
    /// The line of the next letter.
    line: u64,
}

impl<R: Read> Rows<R> {
    /// Begins to parse a file. The separator is that of a first line `sep=…`, else the one by which `known` accepts the
    /// first row, else the most frequent one of the first row outside of quotes.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(input: R, longest: usize, known: impl Fn(&Row) -> bool) -> Result<Self, Fault> {
        let mut rows = Self { letters: Letters::of(input), separator: ',', longest, line: 1 };
        let (first, counts) = rows.first_row()?;
        if let Some(separator) = declared(&first) {
            rows.separator = separator;
            rows.next()?;
            return Ok(rows);
        }
        let fits = |separator: char| {
            let mut rows = Rows { letters: Letters::of(first.as_bytes()), separator, longest, line: 1 };
            rows.next().ok().flatten().is_some_and(|row| known(&row))
        };
        let best = (0..SEPARATORS.len())
            .rev()
            .max_by_key(|at| (counts[*at] > 0 && fits(SEPARATORS[*at]), counts[*at]));
        rows.separator = best.map_or(',', |at| SEPARATORS[at]);
        Ok(rows)
    }

    /// Bytes that were read so far.
    pub fn bytes_read(&self) -> u64 {
        self.letters.bytes_read()
    }

    /// The characters of the first row that is not empty, and the count of each separator outside of its quotes. They
    /// are pushed back.
    fn first_row(&mut self) -> Result<(String, [usize; SEPARATORS.len()]), Fault> {
        let (mut first, mut counts) = (String::new(), [0; SEPARATORS.len()]);
        let (mut quoted, mut opens) = (false, true);
        while first.len() <= self.longest {
            let letter = match self.letters.next() {
                Ok(Some(letter)) => letter,
                // An error is reported when the row is read.
                Ok(None) | Err(NoLetter::NotText) => break,
                Err(NoLetter::Unreadable(why)) => return Err(Fault::Unreadable(why)),
            };
            first.push(letter);
            let separator = SEPARATORS.iter().position(|separator| *separator == letter);
            match letter {
                // A quote opens at the beginning of a cell; two of them within quotes are a letter.
                '"' if quoted || opens => (quoted, opens) = (!quoted, quoted),
                _ if quoted => {}
                '\r' | '\n' if !first.trim().is_empty() => break,
                '\r' | '\n' | ' ' => {}
                _ => opens = separator.is_some(),
            }
            if let Some(at) = separator.filter(|_| !quoted) {
                counts[at] += 1;
            }
        }
        self.letters.give_back(&first);
        Ok((first, counts))
    }

    /// The next row that is not empty; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read on.
    #[allow(clippy::should_implement_trait, reason = "it gives faults, after which there is nothing more")]
    pub fn next(&mut self) -> Result<Option<Row>, Fault> {
        let mut row = Row { line: self.line, separator: self.separator, ..Row::default() };
        let (mut place, mut start) = (Place::Beginning, 0);
        loop {
            let Some(letter) = self.letter()? else {
                return match place {
                    Place::Quoted(line) => Err(Fault::NeverClosed(line)),
                    Place::Closed(..) => Ok(Some(ended(row))),
                    _ if row.ends.is_empty() && row.text.is_empty() => Ok(None),
                    _ => Ok(Some(ended(row))),
                };
            };
            let ends_line = matches!(letter, '\r' | '\n');
            match place {
                Place::Quoted(line) if letter == '"' => {
                    if self.peek()? == Some('"') {
                        self.letter()?;
                        row.text.push('"');
                    } else {
                        place = Place::Closed(line, 0);
                    }
                }
                Place::Quoted(line) => {
                    row.text.push(letter);
                    if ends_line {
                        row.quote.get_or_insert(line);
                        if letter == '\r' && self.peek()? == Some('\n') {
                            self.letters.next().map_err(|why| self.fault(why))?;
                            row.text.push('\n');
                        }
                    }
                }
                _ if letter == self.separator => {
                    row.ends.push(row.text.len());
                    (place, start) = (Place::Beginning, row.text.len());
                }
                _ if ends_line => {
                    if letter == '\r' && self.peek()? == Some('\n') {
                        self.letters.next().map_err(|why| self.fault(why))?;
                    }
                    if row.ends.is_empty() && row.text.is_empty() && !matches!(place, Place::Closed(..)) {
                        row.line = self.line;
                        continue;
                    }
                    return Ok(Some(ended(row)));
                }
                Place::Beginning if letter == '"' => {
                    row.text.truncate(start);
                    place = Place::Quoted(self.line);
                }
                Place::Beginning | Place::Bare => {
                    row.text.push(letter);
                    if letter != ' ' {
                        place = Place::Bare;
                    }
                }
                Place::Closed(line, spaces) if letter == ' ' => place = Place::Closed(line, spaces + 1),
                Place::Closed(line, _) if line < self.line => return Err(Fault::ClosedAmid(line, self.line)),
                // Quotes within quotes, all on one line: no row is lost.
                Place::Closed(_, spaces) => {
                    row.text.extend(std::iter::repeat_n(' ', spaces));
                    row.text.push(letter);
                    place = Place::Bare;
                }
            }
            if row.text.len() + row.ends.len() > self.longest {
                return Err(Fault::TooLong(row.line, self.longest));
            }
        }
    }

    /// The next letter. Lines end with CR, LF or both.
    fn letter(&mut self) -> Result<Option<char>, Fault> {
        let letter = self.letters.next().map_err(|why| self.fault(why))?;
        if matches!(letter, Some('\r' | '\n')) {
            self.line += 1;
        }
        Ok(letter)
    }

    fn peek(&mut self) -> Result<Option<char>, Fault> {
        match self.letters.peek() {
            Ok(letter) => Ok(letter),
            // An error is reported when it is read.
            Err(NoLetter::NotText) => Ok(None),
            Err(why) => Err(self.fault(why)),
        }
    }

    fn fault(&self, why: NoLetter) -> Fault {
        match why {
            NoLetter::Unreadable(why) => Fault::Unreadable(why),
            NoLetter::NotText => Fault::NotText(self.line),
        }
    }
}

fn ended(mut row: Row) -> Row {
    row.ends.push(row.text.len());
    row
}

/// The separator that the first line of a file sets (`sep=;`, `sep=\t`), as programs write it that fill up the line with it.
fn declared(first: &str) -> Option<char> {
    let line = first.trim_start_matches(['\r', '\n', '"']).trim_end_matches(['\r', '\n', '"']);
    let (word, rest) = line.split_at_checked(4)?;
    let rest = if rest == "\\t" { "\t" } else { rest };
    let separator = rest.chars().next().filter(|_| word.eq_ignore_ascii_case("sep="))?;
    let may = separator == '\t' || separator.is_ascii_punctuation();
    let more = |letter: char| letter == separator || letter == '"' || SEPARATORS.contains(&letter);
    (may && separator != '"' && rest.chars().all(more)).then_some(separator)
}

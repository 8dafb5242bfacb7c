//! The decision log as a CSV file (RFC 4180: quoted where needed, lines end in CRLF): a byte-order mark, the
//! header, one line for each row, and a last line, starting with `#`, with the result of the verification at
//! the time of the export. The reader accepts the file in pieces of any size, so that a large export is
//! checked in constant memory.

use std::collections::BTreeMap;
use std::fmt;

use super::row::{COLUMNS, GENESIS, Head, Row};
pub use super::statement::{Signing, Statement};
use super::verify::{Broken, ChainVerifier, Why};

/// Longest accepted record, in bytes.
const MAX_RECORD: usize = 1 << 20;

const BOM: &str = "\u{FEFF}";

/// The start of the file: byte-order mark and header line.
pub fn header() -> String {
    let mut text = BOM.to_owned();
    write_line(&COLUMNS, &mut text);
    text
}

/// Appends the line of a row.
pub fn write_row(row: &Row, out: &mut String) {
    write_line(&row.columns(), out);
}

fn write_line(fields: &[&str], out: &mut String) {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        // Quoted, because a line that starts with `#` would be read as the last line of the file.
        if field.contains([',', '"', '\r', '\n']) || field.starts_with('#') {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push_str("\r\n");
}

/// The file is not a CSV file of the decision log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAnExport {
    /// The header is not [`COLUMNS`].
    Header,
    /// This line (from 1) is not a record of 14 fields, is not UTF-8, has a stray quote or is too long.
    Line(u64),
}

impl fmt::Display for NotAnExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAnExport::Header => f.write_str("the first line is not the header of a decision log"),
            NotAnExport::Line(line) => {
                write!(f, "record {line} of the file is not a record of a decision log")
            }
        }
    }
}

impl std::error::Error for NotAnExport {}

/// The result of the offline check of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Number of valid rows.
    pub records: u64,
    /// The first error, in the rows or in the statement of the last line.
    pub broken: Option<Broken>,
    /// The last line. Without it, missing rows at the end cannot be noticed.
    pub statement: Option<Statement>,
    /// The file does not start at the beginning of the chain.
    pub is_slice: bool,
    /// How many of the separately kept heads match their row in the file.
    pub heads_found: u64,
    /// How many of them are outside the file.
    pub heads_outside: u64,
}

/// Checks an exported file without the service.
#[derive(Debug)]
pub struct ExportVerifier {
    reader: Reader,
    chain: ChainVerifier,
    statement: Option<Statement>,
    /// Heads that were kept separately, by number. Their rows must be in the file.
    kept: BTreeMap<u64, String>,
    /// The first of them whose row differs.
    contradicted: Option<u64>,
    /// How many of them are in the file.
    kept_found: u64,
    /// Records read, the header included.
    lines: u64,
}

impl ExportVerifier {
    /// A verifier for a file, before its first byte.
    pub fn new() -> Self {
        Self {
            reader: Reader::default(),
            chain: ChainVerifier::slice(),
            statement: None,
            kept: BTreeMap::new(),
            contradicted: None,
            kept_found: 0,
            lines: 0,
        }
    }

    /// A verifier for a file that must contain the rows of these separately kept heads. Two different heads
    /// with the same number contradict each other, so every file fails.
    pub fn expecting(heads: impl IntoIterator<Item = Head>) -> Self {
        let mut verifier = Self::new();
        for head in heads.into_iter().filter(|head| head.seq > 0) {
            let known = verifier.kept.entry(head.seq).or_insert_with(|| head.hash.clone());
            if *known != head.hash {
                verifier.contradicted = Some(verifier.contradicted.map_or(head.seq, |seq| seq.min(head.seq)));
            }
        }
        verifier
    }

    /// Takes the next piece of the file.
    ///
    /// # Errors
    /// [`NotAnExport`] when the bytes are not such a file. A broken chain is not an error here; see
    /// [`Report::broken`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), NotAnExport> {
        for byte in bytes {
            match self.reader.push(*byte) {
                Ok(None) => {}
                Ok(Some(record)) => self.take(record)?,
                Err(Malformed) => return Err(NotAnExport::Line(self.lines + 1)),
            }
        }
        Ok(())
    }

    /// The result, after the last byte.
    ///
    /// # Errors
    /// [`NotAnExport`] when the file ends inside a quoted field or has no header.
    pub fn finish(mut self) -> Result<Report, NotAnExport> {
        match self.reader.finish() {
            Ok(None) => {}
            Ok(Some(record)) => self.take(record)?,
            Err(Malformed) => return Err(NotAnExport::Line(self.lines + 1)),
        }
        if self.lines == 0 {
            return Err(NotAnExport::Header);
        }
        let broken = self.chain.broken().cloned().or_else(|| self.contradiction()).or_else(|| {
            let last = self.chain.head().seq;
            let cut = self
                .kept
                .last_key_value()
                .filter(|(newest, _)| **newest > last)
                .map(|_| last.saturating_add(1));
            // A slice proves nothing about the rows before it, so at least one head must be inside it.
            let none = (!self.kept.is_empty() && self.kept_found == 0).then(|| last.saturating_add(1));
            self.contradicted.or(cut).or(none).map(|seq| Broken { seq, why: Why::Head })
        });
        Ok(Report {
            records: self.chain.records(),
            broken,
            is_slice: self.chain.before() != GENESIS,
            statement: self.statement,
            heads_found: self.kept_found,
            heads_outside: self.kept.len() as u64 - self.kept_found,
        })
    }

    fn take(&mut self, record: Record) -> Result<(), NotAnExport> {
        match record {
            Record::Comment(line) => self.statement = Statement::parse(&line),
            Record::Fields(fields) if self.lines == 0 => {
                if fields != COLUMNS {
                    return Err(NotAnExport::Header);
                }
                self.lines = 1;
            }
            Record::Fields(fields) => {
                self.lines += 1;
                let row = Row::from_columns(fields).ok_or(NotAnExport::Line(self.lines))?;
                if let Some((seq, hash)) =
                    row.seq.parse().ok().and_then(|seq: u64| self.kept.get_key_value(&seq))
                {
                    self.kept_found += 1;
                    if *hash != row.integrity_hash {
                        self.contradicted = Some(self.contradicted.map_or(*seq, |known| known.min(*seq)));
                    }
                }
                // The verifier keeps the first error.
                let _ = self.chain.push(&row);
            }
        }
        Ok(())
    }

    /// The error when the rows are valid but differ from what the last line states.
    fn contradiction(&self) -> Option<Broken> {
        let (found, stated) = (self.chain.statement(), self.statement.as_ref()?);
        let at = |why| Some(Broken { seq: found.last_seq.min(stated.last_seq).saturating_add(1), why });
        if found.records != stated.records || found.last_seq != stated.last_seq {
            at(Why::Count)
        } else if found.before != stated.before || found.head != stated.head {
            at(Why::Ends)
        } else {
            None
        }
    }
}

impl Default for ExportVerifier {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Record {
    Fields(Vec<String>),
    Comment(String),
}

#[derive(Debug, PartialEq, Eq)]
struct Malformed;

/// Reads RFC 4180 byte by byte. Lines may end in LF alone, empty lines are skipped, and a line that starts
/// with `#` is a comment.
#[derive(Debug, Default)]
struct Reader {
    state: State,
    fields: Vec<String>,
    field: Vec<u8>,
    size: usize,
    /// A byte-order mark is allowed only before the first record.
    begun: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    RecordStart,
    FieldStart,
    Plain,
    Quoted,
    /// After a quote inside a quoted field: either its end or the first half of a doubled quote.
    QuoteSeen,
    Comment,
    /// After CR: only LF may follow.
    Return,
}

impl Reader {
    fn push(&mut self, byte: u8) -> Result<Option<Record>, Malformed> {
        self.size += 1;
        if self.size > MAX_RECORD {
            return Err(Malformed);
        }
        match (self.state, byte) {
            (State::RecordStart, b'\r' | b'\n') => self.size = 0,
            (State::RecordStart, b'#') => return self.keep(byte, State::Comment),
            (State::RecordStart | State::FieldStart, b'"') => self.state = State::Quoted,
            (State::Plain, b'"') if !self.begun && self.fields.is_empty() && self.field == BOM.as_bytes() => {
                self.field.clear();
                self.state = State::Quoted;
            }
            (State::Plain, b'"') => return Err(Malformed),
            (State::RecordStart | State::FieldStart | State::Plain | State::QuoteSeen, b',') => {
                self.end_field()?;
                self.state = State::FieldStart;
            }
            (State::FieldStart | State::Plain | State::QuoteSeen, b'\r') => self.state = State::Return,
            (State::FieldStart | State::Plain | State::QuoteSeen | State::Return, b'\n') => {
                return self.end_record().map(Some);
            }
            (State::RecordStart | State::FieldStart | State::Plain, _) => {
                return self.keep(byte, State::Plain);
            }
            (State::Quoted, b'"') => self.state = State::QuoteSeen,
            (State::Quoted, _) => return self.keep(byte, State::Quoted),
            (State::QuoteSeen, b'"') => return self.keep(byte, State::Quoted),
            (State::Comment, b'\n') => return self.end_comment().map(Some),
            (State::Comment, _) => return self.keep(byte, State::Comment),
            (State::QuoteSeen | State::Return, _) => return Err(Malformed),
        }
        Ok(None)
    }

    fn finish(&mut self) -> Result<Option<Record>, Malformed> {
        match self.state {
            State::RecordStart => Ok(None),
            State::Comment => self.end_comment().map(Some),
            State::FieldStart | State::Plain | State::QuoteSeen | State::Return => {
                self.end_record().map(Some)
            }
            State::Quoted => Err(Malformed),
        }
    }

    fn keep(&mut self, byte: u8, state: State) -> Result<Option<Record>, Malformed> {
        self.field.push(byte);
        self.state = state;
        Ok(None)
    }

    fn text(&mut self) -> Result<String, Malformed> {
        let text = String::from_utf8(std::mem::take(&mut self.field)).map_err(|_| Malformed)?;
        if self.begun || !self.fields.is_empty() {
            return Ok(text);
        }
        Ok(text.strip_prefix(BOM).map(str::to_owned).unwrap_or(text))
    }

    fn end_field(&mut self) -> Result<(), Malformed> {
        let text = self.text()?;
        self.fields.push(text);
        Ok(())
    }

    fn end_record(&mut self) -> Result<Record, Malformed> {
        self.end_field()?;
        self.restart();
        Ok(Record::Fields(std::mem::take(&mut self.fields)))
    }

    fn end_comment(&mut self) -> Result<Record, Malformed> {
        let line = self.text()?;
        self.restart();
        Ok(Record::Comment(line.trim_end().to_owned()))
    }

    fn restart(&mut self) {
        self.state = State::RecordStart;
        self.size = 0;
        self.begun = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chain, entry};
    use super::*;

    fn export(rows: &[Row]) -> String {
        let mut text = header();
        let mut verifier = ChainVerifier::slice();
        for row in rows {
            let _ = verifier.push(row);
            write_row(row, &mut text);
        }
        text + &verifier.statement().to_string() + "\r\n"
    }

    fn check(text: &str, piece: usize) -> Result<Report, NotAnExport> {
        let mut verifier = ExportVerifier::new();
        for bytes in text.as_bytes().chunks(piece) {
            verifier.push(bytes)?;
        }
        verifier.finish()
    }

    fn broken(text: &str) -> Option<Broken> {
        check(text, 4096).unwrap().broken
    }

    #[test]
    fn the_form_of_the_file() {
        let text = export(&chain(1));
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(
            lines[0],
            "\u{FEFF}seq,timestamp,interaction_id,decision,blocked_by,gate_results,outcome,recording_ref,consent_ref,integrity_hash,prev_hash,is_test,channel,agent_id"
        );
        assert!(
            lines[1].starts_with(
                r#"1,2025-11-21T04:40:00.001Z,call_1,allowed,,"{""pack"":""generic-safe@1"",""gates"":"#
            ),
            "{}",
            lines[1]
        );
        assert!(lines[1].ends_with(",false,voice,agt_1"));
        assert!(lines[2].starts_with("# verified=true records=1 last_seq=1 before=0000"));
        assert_eq!(lines[3..], [""]);
    }

    #[test]
    fn an_untouched_file_is_whole_in_pieces_of_any_size() {
        let text = export(&chain(6));
        for piece in [1, 2, 3, 7, 100, 100_000] {
            let report = check(&text, piece).unwrap();
            assert_eq!((report.records, report.broken, report.is_slice), (6, None, false));
            assert_eq!(report.statement.map(|statement| statement.records), Some(6));
        }
        let report = check(&export(&chain(6)[3..]), 10).unwrap();
        assert_eq!((report.records, report.broken, report.is_slice), (3, None, true));
        assert_eq!(check(&export(&[]), 10).unwrap().records, 0);
        // Line ends and the byte-order mark are not hashed, so an editor may change them.
        assert_eq!(broken(&text.replace("\r\n", "\n").replace('\u{FEFF}', "")), None);
    }

    #[test]
    fn tampering_with_the_file_is_noticed() {
        let rows = chain(6);
        let lines: Vec<String> = export(&rows).split_inclusive("\r\n").map(str::to_owned).collect();
        let without = |gone: std::ops::Range<usize>| {
            lines
                .iter()
                .enumerate()
                .filter(|(index, _)| !gone.contains(index))
                .map(|(_, line)| line.as_str())
                .collect::<String>()
        };
        assert_eq!(
            broken(&export(&rows).replacen("blocked,dnd", "allowed,", 1)),
            Some(Broken { seq: 3, why: Why::Changed })
        );
        assert_eq!(broken(&without(3..4)), Some(Broken { seq: 3, why: Why::Order }));
        assert_eq!(broken(&without(1..3)), Some(Broken { seq: 7, why: Why::Count }));
        assert_eq!(broken(&without(5..7)), Some(Broken { seq: 5, why: Why::Count }));
        let mut swapped = lines.clone();
        swapped.swap(2, 3);
        assert_eq!(broken(&swapped.concat()), Some(Broken { seq: 2, why: Why::Order }));
        let mut doubled = lines.clone();
        doubled.insert(2, lines[2].clone());
        assert_eq!(broken(&doubled.concat()), Some(Broken { seq: 3, why: Why::Order }));
    }

    #[test]
    fn a_chain_written_anew_does_not_match_the_stated_ends() {
        let mut rows = chain(3);
        let statement = export(&rows).lines().last().unwrap_or_default().to_owned();
        rows[2].outcome = "better".to_owned();
        rows[2].integrity_hash = rows[2].computed_hash();
        let text = export(&rows);
        let forged = text.replace(text.lines().last().unwrap_or_default(), &statement);
        assert_eq!(broken(&forged), Some(Broken { seq: 4, why: Why::Ends }));
    }

    #[test]
    fn a_kept_head_shows_a_cut_and_a_rewritten_log() {
        let rows = chain(6);
        let head = |row: &Row| Head { seq: row.seq.parse().unwrap(), hash: row.integrity_hash.clone() };
        let check = |rows: &[Row], kept: &Row| {
            let mut verifier = ExportVerifier::expecting([head(kept)]);
            verifier.push(export(rows).as_bytes()).unwrap();
            verifier.finish().unwrap().broken
        };
        assert_eq!(check(&rows, &rows[5]), None);
        assert_eq!(check(&rows, &rows[2]), None, "the log has grown since");
        assert_eq!(check(&rows[..4], &rows[5]), Some(Broken { seq: 5, why: Why::Head }));
        let mut anew = rows[..2].to_vec();
        for number in 3..=6 {
            let before = head(&anew[anew.len() - 1]);
            anew.push(entry(number + 50).after(&before));
        }
        assert_eq!(check(&anew, &rows[5]), Some(Broken { seq: 6, why: Why::Head }));
    }

    #[test]
    fn of_many_kept_heads_the_first_that_does_not_fit_is_named() {
        let rows = chain(6);
        let head = |row: &Row| Head { seq: row.seq.parse().unwrap(), hash: row.integrity_hash.clone() };
        let check = |rows: &[Row], kept: &[Head]| {
            let mut verifier = ExportVerifier::expecting(kept.to_vec());
            verifier.push(export(rows).as_bytes()).unwrap();
            verifier.finish().unwrap()
        };
        let all: Vec<Head> = rows.iter().map(head).collect();
        let report = check(&rows, &all);
        assert_eq!((report.broken, report.heads_found, report.heads_outside), (None, 6, 0));
        let other = Head { seq: 2, hash: "f".repeat(64) };
        assert_eq!(
            check(&rows, &[all[5].clone(), other.clone()]).broken,
            Some(Broken { seq: 2, why: Why::Head })
        );
        assert_eq!(
            check(&rows, &[all[1].clone(), other]).broken,
            Some(Broken { seq: 2, why: Why::Head }),
            "two heads with one number"
        );
        let part = check(&rows[3..], &all);
        assert_eq!((part.broken, part.heads_found, part.heads_outside), (None, 3, 3));
        assert_eq!(
            check(&rows[3..], &all[..3]).broken,
            Some(Broken { seq: 7, why: Why::Head }),
            "nothing to compare"
        );
        assert_eq!(check(&rows[..3], &all).broken, Some(Broken { seq: 4, why: Why::Head }));
    }

    #[test]
    fn a_broken_chain_says_so_in_its_statement() {
        let mut rows = chain(3);
        rows[1].outcome = "x".to_owned();
        let text = export(&rows);
        assert!(text.contains("# verified=false records=1 last_seq=1"));
        assert_eq!(broken(&text), Some(Broken { seq: 2, why: Why::Changed }));
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(check("", 1), Err(NotAnExport::Header));
        assert_eq!(check("name,phone\r\n", 1), Err(NotAnExport::Header));
        assert_eq!(check(&(header() + "1,2,3\r\n"), 1), Err(NotAnExport::Line(2)));
        assert_eq!(check(&(header() + "a\"b,"), 1), Err(NotAnExport::Line(2)));
        assert_eq!(check(&(header() + "\"never closed"), 1), Err(NotAnExport::Line(2)));
        assert_eq!(check(&(header() + &"x".repeat(MAX_RECORD + 2)), 999), Err(NotAnExport::Line(2)));
    }

    proptest::proptest! {
        #[test]
        fn any_text_survives_the_file(columns in proptest::collection::vec("[a-z#,\"\r\n \u{FEFF}é]{0,6}", 14), piece in 1usize..40) {
            let row = Row::from_columns(columns).unwrap();
            let mut text = header();
            write_row(&row, &mut text);
            let mut reader = Reader::default();
            let mut read = Vec::new();
            for chunk in text.as_bytes().chunks(piece) {
                for byte in chunk {
                    read.extend(reader.push(*byte).unwrap());
                }
            }
            proptest::prop_assert_eq!(&read[0], &Record::Fields(COLUMNS.map(str::to_owned).to_vec()));
            proptest::prop_assert_eq!(&read[1], &Record::Fields(row.columns().map(str::to_owned).to_vec()));
        }

        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let mut verifier = ExportVerifier::new();
            let _ = verifier.push(header().as_bytes());
            if verifier.push(&bytes).is_ok() {
                let _ = verifier.finish();
            }
        }
    }
}

//! What customers say, in the eleven languages: `tests/data/sayings/<code>.txt` holds `kind | saying | expected`.
//!
//! | kind | expected |
//! |---|---|
//! | `number` | the number; `-` where none is captured; alternatives are parted by ` / ` |
//! | `none` | nothing: neither a number nor yes or no is captured |
//! | `answer` | `true`, `false` or `-` |
//! | `choice`, `plan` | the place of the choice among those of the row `times`, or among the plans; or `-` |
//! | `optout` | `yes` or `no` |
//! | `stop` | `yes` or `no`: a message on a channel (tested in `domain`) |
//!
//! `UPDATE_DOCS=1` writes the counts into docs/language.md; without it the test fails when they differ.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use conversation::speech::{LANGUAGES, opt_out};
use conversation::{Field, FieldKind, capture};

const PLANS: [&str; 3] = ["Gold", "Silver", "Platinum"];
/// The columns of the table: what a kind counts to.
const COLUMNS: [&str; 6] = ["numbers", "no number", "yes and no", "choices", "opt-outs", "no opt-outs"];
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/language.md");
const BEGIN: &str = "<!-- sayings: written by crates/conversation/tests/sayings.rs -->\n";
const END: &str = "<!-- end of sayings -->\n";

#[derive(Default, Clone, Copy)]
struct Count {
    right: u32,
    /// Another value was captured than was meant.
    wrong: u32,
    /// Nothing was captured, so that the question is asked again.
    asked: u32,
}

impl Count {
    fn all(self) -> u32 {
        self.right + self.wrong + self.asked
    }
}

fn field(kind: FieldKind, choices: &[&str]) -> Field {
    Field {
        key: "key".into(),
        label: String::new(),
        kind,
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
    }
}

fn captured(field: &Field, said: &str, language: &str) -> String {
    match capture(field, said, language) {
        None => "-".to_owned(),
        Some(serde_json::Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

fn place(choices: &[&str], said: &str, language: &str) -> String {
    let captured = captured(&field(FieldKind::Choice, choices), said, language);
    choices
        .iter()
        .position(|choice| *choice == captured)
        .map_or_else(|| "-".to_owned(), |at| (at + 1).to_string())
}

/// The counts of one language by column, and a line for each saying that is not understood.
fn counts(language: &str) -> (BTreeMap<&'static str, Count>, Vec<String>) {
    let path = format!("{}/tests/data/sayings/{language}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut times: Vec<&str> = Vec::new();
    let (mut counts, mut mistaken) = (BTreeMap::<&'static str, Count>::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let kind = parts[0].trim_end_matches('|').trim();
        let said = parts.get(1).copied().unwrap_or_default().trim_end_matches('|').trim();
        let expected = parts.get(2).copied().unwrap_or("-");
        let (column, got) = match kind {
            "times" => {
                times = said.split('/').map(str::trim).collect();
                continue;
            }
            "stop" => continue,
            "number" => (
                COLUMNS[usize::from(expected == "-")],
                captured(&field(FieldKind::Number, &[]), said, language),
            ),
            "none" => {
                let number = captured(&field(FieldKind::Number, &[]), said, language);
                let answer = captured(&field(FieldKind::Boolean, &[]), said, language);
                (COLUMNS[1], if number == "-" { answer } else { number })
            }
            "answer" => (COLUMNS[2], captured(&field(FieldKind::Boolean, &[]), said, language)),
            "choice" => (COLUMNS[3], place(&times, said, language)),
            "plan" => (COLUMNS[3], place(&PLANS, said, language)),
            "optout" => {
                let got = if opt_out(said, language) { "yes" } else { "no" };
                (COLUMNS[if expected == "yes" { 4 } else { 5 }], got.to_owned())
            }
            _ => panic!("{path}: {line}"),
        };
        let count = counts.entry(column).or_default();
        if expected.split('/').any(|one| one.trim() == got) {
            count.right += 1;
        } else {
            mistaken.push(format!("{language} {line}: {got}"));
            *(if matches!(got.as_str(), "-" | "no") { &mut count.asked } else { &mut count.wrong }) += 1;
        }
    }
    (counts, mistaken)
}

/// The table of the document: the right ones, and how many there are; those captured wrongly after a plus.
fn table(all: &[(&str, BTreeMap<&'static str, Count>)]) -> String {
    let mut text = format!("| language | {} |\n|---|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()));
    for (language, counts) in all {
        let _ = write!(text, "| {language} |");
        for column in COLUMNS {
            let count = counts.get(column).copied().unwrap_or_default();
            let wrong = if count.wrong > 0 { format!(", {} wrong", count.wrong) } else { String::new() };
            let _ = write!(text, " {} of {}{wrong} |", count.right, count.all());
        }
        text.push('\n');
    }
    text
}

/// Compares a part of a document with what it should be, or writes it.
fn keep(document: &Path, written: &str) {
    let text = std::fs::read_to_string(document).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the document has the begin of the table");
    let (old, after) = rest.split_once(END).expect("the document has the end of the table");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(document, format!("{before}{BEGIN}{written}{END}{after}")).unwrap();
    } else {
        assert_eq!(old, written, "{} is stale: run this test with UPDATE_DOCS=1", document.display());
    }
}

#[test]
fn customers_are_understood() {
    let mut all = Vec::new();
    let mut mistaken = Vec::new();
    let mut failures = Vec::new();
    for language in LANGUAGES {
        let (counts, more) = counts(language);
        mistaken.extend(more);
        for column in COLUMNS {
            let count = counts.get(column).copied().unwrap_or_default();
            let (least, most_wrong) = match column {
                "opt-outs" => (0.97, 0.0),
                "no opt-outs" => (0.98, 0.02),
                _ => (0.95, 0.01),
            };
            let total = f64::from(count.all());
            assert!(count.all() >= 15, "{language} has too few {column}");
            if f64::from(count.right) < least * total || f64::from(count.wrong) > most_wrong * total {
                failures.push(format!("{language} {column}"));
            }
        }
        all.push((language, counts));
    }
    let table = table(&all);
    println!("{table}\n{}", mistaken.join("\n"));
    keep(Path::new(DOCUMENT), &table);
    assert!(failures.is_empty(), "{failures:?}\n{}", mistaken.join("\n"));
}

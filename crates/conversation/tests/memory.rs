//! What the words of all languages take in memory. Alone in its process, so that nothing else is counted.

use conversation::speakable::{Pronunciations, Speakable};
use conversation::speech::{LANGUAGES, opt_out};
use conversation::{Field, FieldKind, capture};

/// Most that the tables may take, in bytes.
const MOST: usize = 10 << 20;

/// Bytes of this process that are in memory, without its code and files.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

#[test]
fn the_tables_of_all_languages_are_small() {
    let before = resident();
    for kind in [FieldKind::Number, FieldKind::Boolean, FieldKind::Choice, FieldKind::Date, FieldKind::Email]
    {
        let field = Field { kind, choices: vec!["A".into()], ..Field::default() };
        for language in LANGUAGES {
            capture(&field, "two", language, None);
        }
    }
    opt_out("two", "en");
    Speakable::new("en", true, Pronunciations::default()).prepare("2");
    let taken = resident() - before;
    assert!(taken > 100 << 10, "the tables are read: {taken}");
    assert!(taken < MOST, "{taken}");
}

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::spell::Before;
use super::table::{SOURCES, Written, speech};
use super::{LONGEST, Pronunciation, Pronunciations, Speakable, Spoken};
use crate::language::numbers::read;

/// `language | what is written | what is said`.
const SAYINGS: &str = include_str!("sayings.txt");

fn plain(language: &str) -> Speakable {
    Speakable::new(language, true, Pronunciations::default())
}

fn said(language: &str, text: &str) -> String {
    plain(language).prepare(text).said().to_owned()
}

#[test]
fn sayings() {
    let (mut counts, mut wrong) = (BTreeMap::new(), Vec::new());
    for line in SAYINGS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [language, written, expected] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        *counts.entry(language).or_insert(0) += 1;
        let said = said(language, written);
        if said != expected {
            wrong.push(format!("{language} | {written} | {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(SOURCES.iter().all(|(code, _)| counts.get(code).is_some_and(|count| *count >= 12)), "{counts:?}");
}

#[test]
fn every_language_has_every_row() {
    let written = |source: &str| -> Written { toml::from_str(source).unwrap() };
    let english = written(SOURCES[0].1);
    for (code, source) in SOURCES {
        let (table, row) = (speech(code), written(source));
        assert_eq!(table.code, code);
        let lengths = [&table.numbers, &table.hundreds[0], &table.hundreds[1], &table.hundreds[2], &table.months, &table.letters];
        assert_eq!(lengths.map(Vec::len), [100, 9, 9, 9, 12, 26], "{code}");
        assert!(row.units.keys().eq(english.units.keys()), "{code}");
        assert!(row.acronyms.keys().eq(english.acronyms.keys()), "{code}");
        for short in ["dr", "mr", "mrs", "ms", "prof", "no", "st", "saint", "govt", "pvt", "ltd", "a/c", "smt"] {
            assert!(row.abbreviations.contains_key(short), "{code} lacks {short}");
        }
        for (form, parts) in [
            (&row.date, vec!["{day}", "{month}", "{year}"]),
            (&row.range, vec!["{a}", "{b}"]),
            (&row.time.hour, vec!["{part}", "{h}"]),
            (&row.time.minutes, vec!["{part}", "{h}", "{m}"]),
            (&row.time.bare_hour, vec!["{h}"]),
        ] {
            assert!(parts.iter().all(|part| form.contains(part)), "{code}: {form}");
        }
        assert!(row.ordinal_endings.iter().any(|(_, add)| !add.is_empty()) && !row.ids.is_empty());
    }
}

#[test]
fn every_small_number_is_read_back() {
    let mut wrong = Vec::new();
    for (code, _) in SOURCES {
        for number in (0..=1100).chain([2000, 9000, 19_000, 21_000, 25_000, 29_000, 1_01_000, 1_00_100, 1_00_00_100]) {
            let words = speech(code).cardinal(number, Before::Nothing);
            if read(&words, code, "").as_deref() != Some(number.to_string().as_str()) {
                wrong.push(format!("{code} {number}: {words}: {:?}", read(&words, code, "")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

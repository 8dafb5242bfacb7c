use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::calendar::{Date, Moment, Time};
use super::readings::Reading;
use super::table::SOURCES;
use super::{contact, date_words};
use crate::answers;
use crate::graph::{Field, FieldKind};

/// `language | type | what was said | the value, ?value if it is asked back, or - for none`.
const SAYINGS: [&str; 3] =
    [include_str!("date_sayings.txt"), include_str!("time_sayings.txt"), include_str!("contact_sayings.txt")];

/// Friday, 27 November 2026, 10:15 in India.
fn now() -> Option<Moment> {
    Moment::in_india(1_795_754_700_000)
}

fn kind(word: &str) -> FieldKind {
    FieldKind::WORDS.into_iter().find(|(known, _)| *known == word).unwrap().1
}

fn heard(kind: FieldKind, label: &str, said: &str, language: &str) -> String {
    let field = Field { label: label.to_owned(), kind, ..Field::default() };
    let text = |value: Value| value.as_str().unwrap().to_owned();
    match answers::read(&field, said, language, now()) {
        Some(Reading::Sure(value)) => text(value),
        Some(Reading::Unsure(value)) => format!("?{}", text(value)),
        None => "-".to_owned(),
    }
}

#[test]
fn sayings() {
    let mut counts: BTreeMap<(&str, &str), [usize; 2]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in SAYINGS.iter().flat_map(|file| file.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let [language, word, said, expected] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let (word, label) = word.split_once(':').unwrap_or((word, ""));
        counts.entry((language, word)).or_default()[usize::from(expected == "-")] += 1;
        let read = heard(kind(word), label, said, language);
        if read != expected {
            wrong.push(format!("{line}: {read}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n"), wrong.len());
    for (code, _) in SOURCES {
        for word in ["date", "time", "amount", "phone", "email", "pincode"] {
            let [right, none] = counts.get(&(code, word)).copied().unwrap_or_default();
            assert!(right >= 12 && none >= 8, "{code} {word}: {right} with a value, {none} without");
        }
    }
}

#[test]
fn every_language_has_every_row() {
    for (sources, file) in [(date_words::SOURCES, "dates"), (contact::SOURCES, "contacts")] {
        let codes = sources.iter().map(|source| source.0);
        assert!(codes.eq(SOURCES.iter().map(|source| source.0)), "{file}");
    }
    for (code, source) in date_words::SOURCES {
        let written: date_words::Written =
            toml::from_str(source).unwrap_or_else(|error| panic!("{code}/dates.toml: {error}"));
        let mut weekdays: Vec<&str> = written.weekdays.keys().map(String::as_str).collect();
        weekdays.sort_by_key(|day| date_words::WEEKDAYS.iter().position(|known| known == day));
        assert_eq!(weekdays, date_words::WEEKDAYS, "{code}");
        for month in 1..=12 {
            assert!(written.months.contains_key(&month.to_string()), "{code} lacks month {month}");
        }
        assert_eq!(written.months.len(), 12, "{code}");
        assert!(written.days.contains_key("0"), "{code} lacks today");
        for days in ["1", "2"] {
            let both = written.days.contains_key(days);
            let each = ["+", "-"].iter().all(|sign| written.days.contains_key(&format!("{sign}{days}")));
            assert!(both || each, "{code} lacks the day {days} days away");
        }
        for row in ["{weekday}", "{day}", "{month}", "{year}"] {
            assert!(written.say.date.contains(row), "{code} lacks {row} in say.date");
        }
        assert!(written.say.time.contains("{part}") && written.say.time.contains("{time}"), "{code}");
    }
    for (code, source) in contact::SOURCES {
        let written: contact::Written =
            toml::from_str(source).unwrap_or_else(|error| panic!("{code}/contacts.toml: {error}"));
        assert_eq!(written.letters.split_whitespace().count(), 26, "{code}");
        for (row, words) in [
            ("at", &written.at),
            ("dot", &written.dot),
            ("underscore", &written.underscore),
            ("dash", &written.dash),
            ("plus", &written.plus),
        ] {
            assert!(!words.trim().is_empty(), "{code} lacks {row}");
        }
    }
}

#[test]
fn a_word_has_one_meaning_in_its_table() {
    let mut twice = Vec::new();
    for (code, source) in date_words::SOURCES {
        let written: date_words::Written = toml::from_str(source).unwrap();
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        let days = written.weekdays.iter().chain(&written.months).chain(&written.days);
        for (row, words) in days {
            for word in words.split_whitespace() {
                let folded = super::fold::letters(word);
                if let Some(other) = seen.insert(folded, row.clone()).filter(|other| other != row) {
                    twice.push(format!("{code}: {word} is {other} and {row}"));
                }
            }
        }
    }
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_day_that_is_read_back_is_heard_again(days in 0..30_000_i64, language in 0..11_usize) {
        let date = Date::new(1970, 1, 1).and_then(|first| first.plus(days)).unwrap();
        let code = SOURCES[language].0;
        let spoken = date_words::table(code).unwrap().date(date);
        prop_assert_eq!(heard(FieldKind::Date, "", &spoken, code), date.to_string(), "{} {}", code, spoken);
    }

    #[test]
    fn a_time_that_is_read_back_is_heard_again(hour in 0..24_i64, minute in 0..60_i64, language in 0..11_usize) {
        let time = Time::new(hour, minute).unwrap();
        let code = SOURCES[language].0;
        let spoken = date_words::table(code).unwrap().time(time);
        prop_assert_eq!(heard(FieldKind::Time, "", &spoken, code), time.to_string(), "{} {}", code, spoken);
    }

    #[test]
    fn digits_that_are_spelled_are_a_number(digits in "[6-9][0-9]{9}", language in 0..11_usize) {
        let code = SOURCES[language].0;
        let table: toml::Table = toml::from_str(SOURCES[language].1).unwrap();
        let words: Vec<&str> = digits
            .chars()
            .map(|digit| table["words"][&digit.to_string()].as_str().unwrap().split_whitespace().next().unwrap())
            .collect();
        let said = words.join(" ");
        prop_assert_eq!(heard(FieldKind::Phone, "", &said, code), format!("+91{digits}"), "{} {}", code, said);
    }

    #[test]
    fn any_text_is_a_value_in_its_form_or_none(
        any in "(\\PC| |[0-9.,:/@-]){0,40}",
        words in "((next|last|monday|may|of|at|5|26|2026|dot|gmail|com|a|kal|parson|shaam|baje|half past|pm|after|days|कल|बजे|तारीख) ){0,9}",
        language in 0..11_usize,
    ) {
        let code = SOURCES[language].0;
        for text in [&any, &words] {
            for (word, kind) in FieldKind::WORDS.into_iter().filter(|(_, kind)| kind.is_read_back()) {
                let value = heard(kind, &any, text, code);
                let value = value.trim_start_matches('?');
                let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let fits = value == "-" || match kind {
                    FieldKind::Date => value.len() == 10 && value.split('-').all(digits),
                    FieldKind::Time => value.len() == 5 && value.split(':').all(digits),
                    FieldKind::Amount => digits(value),
                    FieldKind::Phone => value.len() == 13 && digits(&value[1..]),
                    FieldKind::Pincode => value.len() == 6 && digits(value),
                    _ => value.contains('@') && value.to_lowercase() == value && value.is_ascii(),
                };
                prop_assert!(fits, "{word} {text} {value}");
            }
        }
    }
}

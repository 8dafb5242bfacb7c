use std::collections::BTreeMap;

use proptest::prelude::*;

use super::numbers::read;
use super::table::{SOURCES, Written, table};

/// `language | kind | what was said | the number, or - for none`.
const SAYINGS: &str = include_str!("number_sayings.txt");

fn written(code: &str) -> Written {
    let source = SOURCES.iter().find(|source| source.0 == code).unwrap().1;
    toml::from_str(source).unwrap()
}

fn first(words: &str) -> &str {
    words.split_whitespace().next().unwrap()
}

/// The words of a number, as a table spells them.
fn spelled(language: &Written, number: u64) -> String {
    let (mut rest, mut words) = (number, Vec::new());
    for scale in [10_000_000, 100_000, 1000, 100] {
        let count = rest / scale;
        if count > 0 {
            words.push(spelled(language, count));
            words.push(first(&language.forms[&format!("x{scale}")]).to_owned());
            rest %= scale;
        }
    }
    if rest > 0 || number == 0 {
        let whole = language.words.get(&rest.to_string()).map(|words| first(words).to_owned());
        words.push(whole.unwrap_or_else(|| {
            let [tens, unit] =
                [rest / 10 * 10, rest % 10].map(|part| first(&language.words[&part.to_string()]));
            format!("{tens} {unit}")
        }));
    }
    words.join(" ")
}

#[test]
fn every_language_has_every_row() {
    let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/languages")).unwrap();
    let mut folders: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    let mut codes: Vec<&str> = SOURCES.iter().map(|source| source.0).collect();
    codes.sort_unstable();
    assert_eq!(folders, codes);
    for code in codes {
        let language = written(code);
        let tens = |value: u32| value > 20 && !value.is_multiple_of(10) && code == "en";
        for value in (0..100).filter(|value| !tens(*value)) {
            assert!(language.words.contains_key(&value.to_string()), "{code} lacks {value}");
        }
        for form in ["x100", "x1000", "x100000", "x10000000", "half", "point", "r2", "r3", "rupees", "paise"]
        {
            assert!(language.forms.contains_key(form), "{code} lacks {form}");
        }
        assert!(table(code).is_some());
    }
}

#[test]
fn every_spelling_of_a_small_number_is_that_number() {
    let mut wrong = Vec::new();
    for (code, _) in SOURCES {
        for (value, words) in written(code).words {
            for word in words.split_whitespace() {
                let read = read(word, code, "");
                if read.as_ref() != Some(&value) {
                    wrong.push(format!("{code} {word} is {value}, read as {read:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sayings() {
    let mut counts: BTreeMap<(&str, &str), [u32; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in SAYINGS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [language, kind, said, expected] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let read = read(said, language, "");
        let read = read.as_deref().unwrap_or("-");
        let place = if read == expected {
            0
        } else if read == "-" {
            2
        } else {
            1
        };
        counts.entry((language, kind)).or_default()[place] += 1;
        if place > 0 {
            wrong.push(format!("{line}: {read}"));
        }
    }
    assert!(counts.len() > 30);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_number_in_words_is_read_back(number in prop_oneof![0..1000_u64, 0..1_000_000_u64, 0..=1_000_000_000_u64]) {
        for (code, _) in SOURCES {
            let said = spelled(&written(code), number);
            prop_assert_eq!(read(&said, code, ""), Some(number.to_string()), "{} {}", code, said);
        }
    }

    #[test]
    fn any_text_is_a_number_or_none(text in "(\\PC| |[0-9.,:/-]){0,40}") {
        for (code, _) in SOURCES {
            prop_assert!(read(&text, code, &text).is_none_or(|number| number.parse::<f64>().is_ok()));
        }
    }
}

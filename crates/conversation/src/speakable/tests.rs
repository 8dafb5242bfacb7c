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
        let lengths = [
            &table.numbers,
            &table.hundreds[0],
            &table.hundreds[1],
            &table.hundreds[2],
            &table.months,
            &table.letters,
        ];
        assert_eq!(lengths.map(Vec::len), [100, 9, 9, 9, 12, 26], "{code}");
        assert!(row.units.keys().eq(english.units.keys()), "{code}");
        assert!(row.acronyms.keys().eq(english.acronyms.keys()), "{code}");
        for short in
            ["dr", "mr", "mrs", "ms", "prof", "no", "st", "saint", "govt", "pvt", "ltd", "a/c", "smt"]
        {
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
        for number in
            (0..=1100).chain([2000, 9000, 19_000, 21_000, 25_000, 29_000, 101_000, 100_100, 10_000_100])
        {
            let words = speech(code).cardinal(number, Before::Nothing);
            if read(&words, code, "").as_deref() != Some(number.to_string().as_str()) {
                wrong.push(format!("{code} {number}: {words}: {:?}", read(&words, code, "")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn pronunciations_are_whole_words_and_come_first() {
    let list = [
        ("Dastak", "the stuck"),
        ("SBI Life", "S B I life"),
        ("sbi", "state bank"),
        ("₹5", "a fiver"),
        ("24x7", "all day"),
        ("दस्तक", "दस तक"),
    ];
    let list = list.map(|(written, spoken)| Pronunciation { written: written.into(), spoken: spoken.into() });
    for (on, text, expected) in [
        (true, "dastak, DASTAK and Dastaks", "the stuck, the stuck and Dastaks"),
        (true, "SBI life or SBI 24x7", "S B I life or state bank all day"),
        (true, "₹5 and ₹50", "a fiver and fifty rupees"),
        (false, "SBI owes ₹50 to दस्तक, not to दस्तकी", "state bank owes ₹50 to दस तक, not to दस्तकी"),
    ] {
        let speakable = Speakable::new("en", on, Pronunciations::new(list.clone()));
        let spoken = speakable.prepare(text);
        assert_eq!((spoken.said(), spoken.written()), (expected, text));
    }
}

#[test]
fn what_was_heard_is_told_in_written_words() {
    let spoken = plain("en").prepare("Please pay  ₹1,25,000.50 today, Dr. Rao.");
    assert_eq!(
        spoken.said(),
        "Please pay  one lakh twenty five thousand rupees and fifty paise today, doctor Rao."
    );
    let length = spoken.length() as u64;
    for (said, heard) in [
        ("", ""),
        ("Please", "Please"),
        ("Please pay  one lakh twenty five thousand rupees and fifty pais", "Please pay"),
        ("Please pay  one lakh twenty five thousand rupees and fifty paise", "Please pay ₹1,25,000.50"),
        (
            "Please pay  one lakh twenty five thousand rupees and fifty paise today, docto",
            "Please pay ₹1,25,000.50 today,",
        ),
        (
            "Please pay  one lakh twenty five thousand rupees and fifty paise today, doctor Rao.",
            "Please pay ₹1,25,000.50 today, Dr. Rao.",
        ),
    ] {
        assert_eq!(spoken.heard(said.chars().count() as u64, length), heard, "{said}");
        assert_eq!(spoken.heard(100 * said.chars().count() as u64, 100 * length), heard, "{said}");
    }
}

#[test]
fn a_text_that_would_be_too_long_is_said_as_it_is_written() {
    let text = "12345678 ".repeat(90);
    assert_eq!(plain("ml").prepare(&text), Spoken::plain(&text));
    assert!(plain("en").prepare("12345678").length() < LONGEST);
}

/// The digits that a text of digit words and numerals says.
fn digits_of(language: &str, said: &str) -> String {
    let numbers = &speech(language).numbers;
    let words = said.split(|letter: char| letter.is_whitespace() || letter == ',');
    words
        .filter_map(|word| numbers[..10].iter().position(|digit| digit == word))
        .map(|digit| digit.to_string())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_number_in_words_is_read_back(number in prop_oneof![0..1000_u64, 0..1_000_000_u64, 0..=1_000_000_000_u64]) {
        for (code, _) in SOURCES {
            for before in [Before::Nothing, Before::Noun] {
                let said = speech(code).cardinal(number, before);
                if before == Before::Nothing || number != 1 {
                    prop_assert_eq!(read(&said, code, ""), Some(number.to_string()), "{} {}", code, said);
                }
            }
        }
    }

    #[test]
    fn a_sum_is_said_as_that_sum(rupees in 2..=1_000_000_000_u64, paise in prop_oneof![Just(0), 2..100_u32]) {
        for (code, _) in SOURCES {
            let said = said(code, &format!("₹{rupees}.{paise:02}"));
            let expected = if paise == 0 { rupees.to_string() } else { format!("{rupees}.{paise:02}") };
            prop_assert_eq!(read(&said.replace(" and ", " "), code, ""), Some(expected), "{} {}", code, said);
        }
    }

    #[test]
    fn digits_one_by_one_are_those_digits(digits in "[0-9]{13,30}|0[0-9]{1,20}|[6-9][0-9]{9}", prefix in "[A-Z]{2,5}") {
        // These are rupees and no prefix of an id.
        prop_assume!(!["RE", "RS", "INR"].contains(&prefix.as_str()));
        for (code, _) in SOURCES {
            prop_assert_eq!(digits_of(code, &said(code, &digits)), digits.clone(), "{}", code);
            let id = format!("{prefix}{digits}");
            prop_assert_eq!(digits_of(code, &said(code, &id)), digits.clone(), "{} {}", code, id);
        }
    }

    #[test]
    fn a_plain_number_is_that_number_or_its_digits(number in "[1-9][0-9]{0,11}(\\.[0-9]{1,4})?", before in "(OTP |pin code |)") {
        for (code, _) in SOURCES {
            let said = said(code, &format!("{before}{number}"));
            let said = said.strip_prefix(&self::said(code, before.trim())).unwrap_or(&said).trim();
            let point = format!(" {} ", speech(code).written.point);
            let whole = |said: &str, number: &str| {
                read(said, code, "").as_deref() == Some(number) || digits_of(code, said) == number
            };
            let same = match (said.split_once(&point), number.split_once('.')) {
                (Some((said, digits)), Some((number, fraction))) => {
                    whole(said, number) && digits_of(code, digits) == fraction
                }
                (None, None) => whole(said, &number),
                _ => false,
            };
            prop_assert!(same, "{} {} {}", code, number, said);
        }
    }

    #[test]
    fn any_text_keeps_its_words(text in "(\\PC|[A-Za-z]{1,9}|[0-9]{1,4}| |[-.,:/₹%@#'+]|Rs|pm|नं|Jan |₹5|12:30|२३){0,60}") {
        for (code, _) in SOURCES {
            let spoken = plain(code).prepare(&text);
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(spoken.heard(1, 1), words);
            prop_assert_eq!(spoken.written(), &text);
            prop_assert!(spoken.length() <= LONGEST.max(text.chars().count()));
            prop_assert_eq!(spoken.length(), spoken.said().chars().count());
        }
    }

    #[test]
    fn words_without_digits_or_marks_stay(text in "([a-z]{1,8} |[क-ह]{1,4} |[அ-ஹ]{1,4} ){0,20}") {
        for (code, _) in SOURCES {
            let kept = !speech(code).written.abbreviations.keys().any(|key| text.split(' ').any(|word| word == key));
            prop_assert!(!kept || said(code, &text) == text, "{}", code);
        }
    }

    #[test]
    fn what_may_mean_two_things_stays(a in 1..1000_u32, b in 1..1000_u32, sign in "[-/]") {
        for (code, _) in SOURCES {
            let text = format!("{a}{sign}{b}");
            let expected = text.clone();
            prop_assert_eq!(said(code, &text), expected);
        }
    }
}

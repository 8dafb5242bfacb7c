use super::*;
use proptest::prelude::*;

const SAYINGS: &str = include_str!("spoken_sayings.txt");
const STAYS: &str = include_str!("spoken_stays.txt");

fn all() -> Vec<String> {
    LANGUAGES.map(str::to_owned).to_vec()
}

/// The sayings with their languages.
fn sayings() -> Vec<(&'static str, &'static str)> {
    let (mut language, mut found) = ("", Vec::new());
    for line in SAYINGS.lines().skip(1) {
        match line.strip_prefix("# ") {
            Some(code) => language = code,
            None => found.push((language, line)),
        }
    }
    found
}

#[test]
fn what_is_surely_another_language_is_judged_so_in_every_language() {
    let mut wrong = Vec::new();
    for (language, text) in sayings() {
        for current in LANGUAGES {
            let expected = (current != language).then_some(language);
            let found = spoken(text, None, current, &all());
            if found != expected {
                wrong.push(format!("{current}: {text}: {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    for language in LANGUAGES {
        let count = sayings().iter().filter(|(of, _)| *of == language).count();
        assert!(count >= 10, "{language}: {count}");
    }
}

#[test]
fn mixed_and_short_speech_names_and_numbers_change_nothing() {
    let mut wrong = Vec::new();
    for text in STAYS.lines().skip(1) {
        for current in LANGUAGES {
            if let Some(found) = spoken(text, None, current, &all()) {
                wrong.push(format!("{current}: {text}: {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn only_a_listed_language_is_switched_to() {
    let listed = ["en".to_owned(), "hi".to_owned()];
    let tamil = "எனக்கு புரியல, மறுபடியும் சொல்லுங்க";
    assert_eq!(spoken(tamil, Some("ta"), "en", &listed), None);
    assert_eq!(spoken(tamil, None, "en", &["en".to_owned(), "ta".to_owned()]), Some("ta"));
    assert_eq!(spoken(tamil, None, "en", &[]), None);
    let note = format!("[voice note] {tamil}");
    assert_eq!(spoken(&note, None, "en", &all()), Some("ta"));
    // Marathi is no Hindi because it is not listed.
    assert_eq!(spoken("मला पुढच्या आठवड्यापर्यंत वेळ हवा आहे", None, "en", &listed), None);
}

#[test]
fn the_recogniser_confirms_and_never_decides() {
    let listed = all();
    let short = "मेरा नाम रमेश शर्मा";
    assert_eq!(spoken(short, None, "ta", &listed), None);
    assert_eq!(spoken(short, Some("hi"), "ta", &listed), Some("hi"));
    assert_eq!(spoken("Ramesh Kumar Sharma", Some("ta"), "hi", &listed), None);
    // It hears another language than the words are of.
    let hindi = "मैं अभी घर पर नहीं हूँ";
    assert_eq!(spoken(hindi, Some("mr"), "en", &listed), None);
    // One that listens in a fixed language names that.
    assert_eq!(spoken(hindi, Some("en"), "en", &listed), Some("hi"));
}

#[test]
fn codes_and_names_of_recognisers_are_languages() {
    for (name, expected) in [
        ("hi", Some("hi")),
        ("hi-IN", Some("hi")),
        ("od-IN", Some("or")),
        ("or-IN", Some("or")),
        ("Hindi", Some("hi")),
        ("tam", Some("ta")),
        ("en_US", Some("en")),
        ("multi", None),
        ("unknown", None),
        ("", None),
    ] {
        assert_eq!(language_of(name), expected, "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_is_judged_without_panic_and_never_as_what_it_is(text in ".{0,200}", current in 0usize..11) {
        let current = LANGUAGES[current];
        prop_assert_ne!(spoken(&text, Some(current), current, &all()), Some(current));
    }
}

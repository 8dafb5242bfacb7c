//! What counts as an answer to a `collect` node (docs/contract/flows.md#answers): any words for a text, yes
//! or no for a boolean, the digits of a number, and one of the options of a choice, captured as the flow
//! spells it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::graph::{Field, FieldKind};
use super::language::numbers;
use super::words::words;

/// Longest captured text, in characters.
pub const MAX_ANSWER: usize = 1000;

const FILLERS: [&str; 12] = ["um", "umm", "uh", "uhh", "hmm", "hm", "er", "erm", "ah", "mm", "अम", "हम्म"];
/// Words around a choice that do not tell which one it is.
const AROUND: [&str; 42] = [
    "a",
    "an",
    "the",
    "i",
    "im",
    "id",
    "ill",
    "would",
    "like",
    "want",
    "need",
    "prefer",
    "choose",
    "take",
    "pick",
    "go",
    "for",
    "with",
    "to",
    "is",
    "it",
    "its",
    "my",
    "me",
    "this",
    "that",
    "one",
    "option",
    "please",
    "so",
    "well",
    "then",
    "yes",
    "ok",
    "okay",
    "ji",
    "haan",
    "mujhe",
    "chahiye",
    "जी",
    "मुझे",
    "चाहिए",
];
const YES: [&str; 33] = [
    "yes",
    "yeah",
    "yep",
    "yup",
    "ya",
    "y",
    "sure",
    "absolutely",
    "definitely",
    "true",
    "haan",
    "han",
    "haa",
    "haanji",
    "hanji",
    "bilkul",
    "zaroor",
    "jarur",
    "हाँ",
    "हां",
    "हा",
    "हाँजी",
    "हांजी",
    "बिल्कुल",
    "बिलकुल",
    "ज़रूर",
    "जरूर",
    "হ্যাঁ",
    "હા",
    "ਹਾਂ",
    "ஆம்",
    "అవును",
    "ಹೌದು",
];
/// These mean yes unless another word means no: `ji nahi` and `not right` mean no.
const MAYBE_YES: [&str; 18] = [
    "ji",
    "jee",
    "ok",
    "okay",
    "right",
    "correct",
    "fine",
    "theek",
    "thik",
    "sahi",
    "agree",
    "agreed",
    "जी",
    "ठीक",
    "सही",
    "ஆமாம்",
    "അതെ",
    "होय",
];
const NO: [&str; 26] = [
    "no",
    "nope",
    "nah",
    "not",
    "never",
    "n",
    "false",
    "dont",
    "cannot",
    "cant",
    "wont",
    "nahi",
    "nahin",
    "nahee",
    "nai",
    "galat",
    "wrong",
    "नहीं",
    "नही",
    "ना",
    "गलत",
    "ग़लत",
    "नाही",
    "না",
    "ના",
    "இல்லை",
];
/// These sound like an answer and are none.
const UNSURE: [&str; 12] = [
    "not sure",
    "dont know",
    "do not know",
    "no idea",
    "cant say",
    "pata nahi",
    "nahi pata",
    "nahin pata",
    "pata nahin",
    "पता नहीं",
    "नहीं पता",
    "maybe",
];
/// Phrases that mean yes, whatever their words mean alone.
const YES_PHRASES: [&str; 5] = ["no problem", "why not", "no issue", "koi baat nahi", "कोई बात नहीं"];

/// The value that the words give the field; `None` when they are not a valid answer.
pub fn capture(field: &Field, heard: &str, language: &str) -> Option<Value> {
    let words = words(heard);
    match field.kind {
        FieldKind::Text => text(heard, &words),
        FieldKind::Boolean => boolean(&words).map(Value::Bool),
        FieldKind::Number => numbers::read(heard, language, &field.label).map(Value::String),
        FieldKind::Choice => {
            let verbatim =
                field.choices.iter().find(|choice| choice.trim() == heard.trim()).map(String::as_str);
            verbatim
                .or_else(|| choice(&field.choices, &words, language))
                .map(|choice| Value::String(choice.to_owned()))
        }
    }
}

/// The value that pressed keys give the field: 1 means yes, 2 and 0 mean no, and choices are numbered from 1.
pub fn capture_digits(field: &Field, digits: &str) -> Option<Value> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match field.kind {
        FieldKind::Text | FieldKind::Number => Some(Value::String(digits.to_owned())),
        FieldKind::Boolean => match digits {
            "1" => Some(Value::Bool(true)),
            "2" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        FieldKind::Choice => {
            nth(&field.choices, digits.parse().ok()?).map(|choice| Value::String(choice.to_owned()))
        }
    }
}

fn text(heard: &str, words: &[String]) -> Option<Value> {
    let says_something = words.iter().any(|word| !FILLERS.contains(&word.as_str()));
    says_something.then(|| Value::String(heard.trim().chars().take(MAX_ANSWER).collect()))
}

fn boolean(words: &[String]) -> Option<bool> {
    let said = |phrase: &&str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words
            .windows(phrase.len())
            .any(|window| window.iter().zip(&phrase).all(|(word, other)| word == other))
    };
    if UNSURE.iter().any(&said) {
        return None;
    }
    if words == ["of", "course"] || YES_PHRASES.iter().any(said) {
        return Some(true);
    }
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    match (any(&YES), any(&NO), any(&MAYBE_YES)) {
        (true, true, _) => None,
        (false, true, _) => Some(false),
        (true, false, _) | (false, false, true) => Some(true),
        (false, false, false) => None,
    }
}

/// The choice that was said. It is looked for in this order: the exact choice, one whose words all occur in
/// what was said, one that shares a word with it, an ordinal (`the second one`). If more than one choice
/// matches at a step, there is no answer.
fn choice<'a>(choices: &'a [String], heard: &[String], language: &str) -> Option<&'a str> {
    let plain = |words: Vec<String>| -> Vec<String> {
        words
            .into_iter()
            .map(|word| numbers::small(&word, language).map_or(word, |value| value.to_string()))
            .collect()
    };
    let heard: Vec<String> =
        plain(heard.iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect());
    let choices: Vec<(&str, Vec<String>)> = choices
        .iter()
        .map(|choice| (choice.as_str(), plain(words(choice))))
        .filter(|(_, words)| !words.is_empty())
        .collect();
    if heard.is_empty() {
        return None;
    }
    if let Some((choice, _)) = choices.iter().find(|(_, words)| *words == heard) {
        return Some(choice);
    }
    let mut inside: Vec<&(&str, Vec<String>)> =
        choices.iter().filter(|(_, words)| occurs(words, &heard)).collect();
    let longest: Vec<&(&str, Vec<String>)> = inside.clone();
    inside.retain(|(_, words)| {
        !longest.iter().any(|(_, other)| other.len() > words.len() && part_of(words, other))
    });
    if !inside.is_empty() {
        return only(inside.into_iter().map(|(choice, _)| *choice));
    }
    let mut telling: BTreeSet<&str> =
        heard.iter().map(String::as_str).filter(|word| !AROUND.contains(word)).collect();
    if telling.len() > 1 {
        telling.remove("1");
    }
    if telling.is_empty() || telling.iter().any(|word| NO.contains(word)) {
        return None;
    }
    let shares = |words: &[String]| telling.iter().all(|word| words.iter().any(|other| other == word));
    only(choices.iter().filter(|(_, words)| shares(words)).map(|(choice, _)| *choice)).or_else(|| {
        let (only_word, rest) = (telling.first()?, telling.len() - 1);
        let at = ORDINALS.iter().position(|names| names.contains(only_word)).filter(|_| rest == 0)?;
        choices.get(at).map(|(choice, _)| *choice)
    })
}

const ORDINALS: [&[&str]; 5] = [
    &["1", "first", "1st", "pehla", "pahla", "पहला"],
    &["2", "second", "2nd", "doosra", "dusra", "दूसरा"],
    &["3", "third", "3rd", "teesra", "tisra", "तीसरा"],
    &["4", "fourth", "4th", "chautha", "चौथा"],
    &["5", "fifth", "5th", "paanchva", "पांचवा"],
];

fn nth(choices: &[String], place: usize) -> Option<&str> {
    choices.get(place.checked_sub(1)?).map(String::as_str)
}

fn part_of(words: &[String], longer: &[String]) -> bool {
    longer.windows(words.len()).any(|window| window == words)
}

/// Whether the words were said in this order and were not denied (`not gold`, `gold nahi`).
fn occurs(words: &[String], heard: &[String]) -> bool {
    let denied = |word: Option<&String>, by: &[&str]| word.is_some_and(|word| by.contains(&word.as_str()));
    heard.windows(words.len()).enumerate().any(|(at, window)| {
        let before = at.checked_sub(1).and_then(|before| heard.get(before));
        let after = heard.get(at + words.len());
        window == words
            && !denied(before, &["not", "dont", "except"])
            && !denied(after, &["nahi", "nahin", "नहीं", "नही"])
    })
}

fn only<'a>(mut found: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(kind: FieldKind, choices: &[&str]) -> Field {
        Field {
            key: "k".into(),
            label: "K".into(),
            kind,
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        }
    }

    #[test]
    fn booleans() {
        let field = field(FieldKind::Boolean, &[]);
        for (heard, expected) in [
            ("Yes", Some(true)),
            ("yeah, sure!", Some(true)),
            ("haan", Some(true)),
            ("haan ji", Some(true)),
            ("ji", Some(true)),
            ("जी हाँ", Some(true)),
            ("theek hai", Some(true)),
            ("No problem", Some(true)),
            ("of course", Some(true)),
            ("no", Some(false)),
            ("nahi", Some(false)),
            ("ji nahi", Some(false)),
            ("नहीं", Some(false)),
            ("that is not right", Some(false)),
            ("of course not", Some(false)),
            ("one of them", None),
            ("क्या हो रहा है", None),
            ("I don't want it", Some(false)),
            ("yes no", None),
            ("I don't know", None),
            ("pata nahi", None),
            ("what?", None),
            ("", None),
        ] {
            assert_eq!(capture(&field, heard, "en"), expected.map(Value::Bool), "{heard}");
        }
    }

    #[test]
    fn choices_are_matched_as_words_and_captured_as_written() {
        let plans =
            field(FieldKind::Choice, &["Gold", "Gold Plus", "Silver (monthly)", "Credit card", "2 BHK"]);
        for (heard, expected) in [
            ("gold", Some("Gold")),
            ("GOLD!", Some("Gold")),
            ("um, the gold one please", Some("Gold")),
            ("I would like gold plus", Some("Gold Plus")),
            ("silver", Some("Silver (monthly)")),
            ("silver monthly", Some("Silver (monthly)")),
            ("credit-card", Some("Credit card")),
            ("two bhk", Some("2 BHK")),
            ("the third one", Some("Silver (monthly)")),
            ("gold or credit card", None),
            ("not gold", None),
            ("gold nahi", None),
            ("golden", None),
            ("bronze", None),
            ("the last", None),
            ("", None),
        ] {
            assert_eq!(capture(&plans, heard, "en"), expected.map(Value::from), "{heard}");
        }
        assert_eq!(capture(&field(FieldKind::Choice, &["+", "Um"]), "Um", "en"), Some(json!("Um")));
        assert_eq!(capture(&field(FieldKind::Choice, &["+", "-"]), "-", "en"), Some(json!("-")));
        let answers = field(FieldKind::Choice, &["Yes", "No", "A"]);
        assert_eq!(capture(&answers, "no", "en"), Some(json!("No")));
        assert_eq!(capture(&answers, "a", "en"), Some(json!("A")));
        assert_eq!(capture(&field(FieldKind::Choice, &[]), "gold", "en"), None);
    }

    #[test]
    fn texts_and_numbers() {
        let text = field(FieldKind::Text, &[]);
        assert_eq!(capture(&text, "  12, MG Road, Pune ", "en"), Some(json!("12, MG Road, Pune")));
        assert_eq!(capture(&text, "um", "en"), None);
        assert_eq!(capture(&text, "?!", "en"), None);
        assert_eq!(capture(&field(FieldKind::Number, &[]), "It is 560 001", "en"), Some(json!("560001")));
        assert_eq!(capture(&field(FieldKind::Number, &[]), "many", "en"), None);
    }

    #[test]
    fn keys() {
        let yes_no = field(FieldKind::Boolean, &[]);
        let plans = field(FieldKind::Choice, &["Gold", "Silver"]);
        for (field, digits, expected) in [
            (&yes_no, "1", Some(json!(true))),
            (&yes_no, "2", Some(json!(false))),
            (&yes_no, "3", None),
            (&plans, "2", Some(json!("Silver"))),
            (&plans, "0", None),
            (&plans, "3", None),
            (&plans, "99999999999999999999999", None),
        ] {
            assert_eq!(capture_digits(field, digits), expected, "{digits}");
        }
        assert_eq!(capture_digits(&self::field(FieldKind::Number, &[]), "0042"), Some(json!("0042")));
        assert_eq!(capture_digits(&self::field(FieldKind::Number, &[]), "4*2"), None);
    }
}

//! What counts as an answer to a `collect` node (docs/contract/flows.md#answers): any words for a text, yes
//! or no for a boolean, the digits of a number, one of the options of a choice, captured as the flow spells it,
//! and a date, a time, an amount, a telephone number, an e-mail address or a PIN code in its one written form.

use serde_json::Value;

use super::graph::{Field, FieldKind};
use super::language::calendar::{Date, Moment, Time};
use super::language::readings::Reading;
use super::language::{contact, date, numbers, time};
use super::speech::fold;
use super::words::words;
use super::yes_no::{self, Said};

/// Longest captured text, in characters.
pub const MAX_ANSWER: usize = 1000;

const FILLERS: [&str; 12] = ["um", "umm", "uh", "uhh", "hmm", "hm", "er", "erm", "ah", "mm", "अम", "हम्म"];
/// Most paise of an amount: a hundred thousand crore rupees.
const MAX_PAISE: u64 = 100_000_000_000_000;

/// The value that the words surely give the field; `None` when they are not a valid answer. `language` is the
/// agent's: its words come first, those of English and Hindi next. Without `now` there is no date and no time.
pub fn capture(field: &Field, heard: &str, language: &str, now: Option<Moment>) -> Option<Value> {
    read(field, heard, language, now)?.sure()
}

/// The value that the words give the field, and whether it is sure. Otherwise as [`capture`].
pub(super) fn read(
    field: &Field,
    heard: &str,
    language: &str,
    now: Option<Moment>,
) -> Option<Reading<Value>> {
    let words = words(heard);
    let sure = |value: Option<String>| value.map(|value| Reading::Sure(Value::String(value)));
    let named = format!("{} {}", field.label, field.key);
    match field.kind {
        FieldKind::Text => text(heard, &words).map(Reading::Sure),
        FieldKind::Boolean => {
            yes_no::boolean(heard, language).map(|answer| Reading::Sure(Value::Bool(answer)))
        }
        FieldKind::Number => sure(numbers::read(heard, language, &field.label)),
        FieldKind::Choice => {
            let verbatim =
                field.choices.iter().find(|choice| choice.trim() == heard.trim()).map(String::as_str);
            sure(verbatim.or_else(|| choice(&field.choices, &words, language)).map(str::to_owned))
        }
        FieldKind::Date => date::read(heard, language, &named, now?.today).map(written),
        FieldKind::Time => time::read(heard, language, &field.label, now?.time).map(written),
        FieldKind::Amount => sure(numbers::read(heard, language, &field.label).and_then(|it| paise(&it))),
        FieldKind::Phone => sure(contact::phone(heard, language, &field.label)),
        FieldKind::Email => contact::email(heard, language).map(written),
        FieldKind::Pincode => sure(contact::pincode(heard, language, &field.label)),
    }
}

fn written(reading: Reading<impl ToString>) -> Reading<Value> {
    reading.map(|value| Value::String(value.to_string()))
}

/// Rupees with at most two decimals as paise.
fn paise(rupees: &str) -> Option<String> {
    let (whole, fraction) = rupees.split_once('.').unwrap_or((rupees, ""));
    let counted = whole == "0" || !whole.starts_with('0');
    if !counted || fraction.len() > 2 {
        return None;
    }
    let paise: u64 = format!("{whole}{fraction:0<2}").parse().ok()?;
    (paise <= MAX_PAISE).then(|| paise.to_string())
}

/// The value that pressed keys surely give the field: 1 means yes, 2 and 0 mean no, choices are numbered from 1, an
/// amount is in whole rupees, a date is `DDMMYYYY`, a time `HHMM` of a 24-hour clock.
pub fn capture_digits(field: &Field, digits: &str) -> Option<Value> {
    read_digits(field, digits)?.sure()
}

/// The value that pressed keys give the field, and whether it is sure.
pub(super) fn read_digits(field: &Field, digits: &str) -> Option<Reading<Value>> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| digits.get(range)?.parse::<i64>().ok();
    let sure = |value: String| Some(Reading::Sure(Value::String(value)));
    match field.kind {
        FieldKind::Text | FieldKind::Number => sure(digits.to_owned()),
        FieldKind::Boolean => match digits {
            "1" => Some(Reading::Sure(Value::Bool(true))),
            "2" | "0" => Some(Reading::Sure(Value::Bool(false))),
            _ => None,
        },
        FieldKind::Choice => sure(nth(&field.choices, digits.parse().ok()?)?.to_owned()),
        FieldKind::Date if digits.len() == 8 => {
            sure(Date::new(part(4..8)?, part(2..4)?, part(0..2)?)?.to_string())
        }
        FieldKind::Time if digits.len() == 4 => {
            let time = Time::new(part(0..2)?, part(2..4)?)?;
            // `0530` may be meant for the evening.
            let whole_day = !(1..=12).contains(&time.parts().0);
            Some(written(if whole_day { Reading::Sure(time) } else { Reading::Unsure(time) }))
        }
        FieldKind::Amount => sure(paise(digits)?),
        FieldKind::Phone => sure(format!("+91{}", contact::national(digits)?)),
        FieldKind::Pincode if contact::is_pincode(digits) => sure(digits.to_owned()),
        FieldKind::Date | FieldKind::Time | FieldKind::Email | FieldKind::Pincode => None,
    }
}

fn text(heard: &str, words: &[String]) -> Option<Value> {
    let says_something = words.iter().any(|word| !FILLERS.contains(&word.as_str()));
    says_something.then(|| Value::String(heard.trim().chars().take(MAX_ANSWER).collect()))
}

/// The choice that was said. It is looked for in this order: the exact choice, one whose words all occur in
/// what was said, one whose words are meant in another form or script, a position (`the second one`). If more
/// than one choice matches at a step, or something is denied (`not gold`, `gold nahi`), there is no answer.
fn choice<'a>(choices: &'a [String], heard: &[String], language: &str) -> Option<&'a str> {
    let plain = |words: &[String]| -> Vec<String> {
        words
            .iter()
            .map(|word| {
                numbers::small(word, language).map_or_else(|| word.clone(), |value| value.to_string())
            })
            .flat_map(|word| fold(&word))
            .collect()
    };
    let said: Vec<String> = heard.iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect();
    let heard = plain(&said);
    let choices: Vec<(&str, Vec<String>)> = choices
        .iter()
        .map(|choice| (choice.as_str(), plain(&words(choice))))
        .filter(|(_, words)| !words.is_empty())
        .collect();
    if heard.is_empty() {
        return None;
    }
    if let Some((choice, _)) = choices.iter().find(|(_, words)| *words == heard) {
        return Some(choice);
    }
    let tables = yes_no::tables(language);
    let tell = Said::of(&tables);
    let offered = |word: &String| choices.iter().any(|(_, words)| words.contains(word));
    let of_choice = |word: &String, words: &[String]| {
        words.iter().any(|other| word == other || tell.is_form(word, other))
    };
    let refuses = |word: &String| tell.is_no_choice(word) && !offered(word);
    let names_any = said.iter().any(|word| tell.is_any(word) && !offered(word));
    if names_any || heard.iter().any(refuses) {
        return None;
    }
    let mut inside: Vec<&(&str, Vec<String>)> =
        choices.iter().filter(|(_, words)| part_of(words, &heard)).collect();
    let longest: Vec<&(&str, Vec<String>)> = inside.clone();
    inside.retain(|(_, words)| {
        !longest.iter().any(|(_, other)| other.len() > words.len() && part_of(words, other))
    });
    if !inside.is_empty() {
        return only(inside.into_iter().map(|(choice, _)| *choice));
    }
    let mut telling: Vec<&String> =
        heard.iter().filter(|word| offered(word) || !tell.is_beside(word)).collect();
    if telling.len() > 1 {
        telling.retain(|word| *word != "1");
    }
    if telling.is_empty() {
        return None;
    }
    let shares = |words: &[String]| telling.iter().all(|word| of_choice(word, words));
    let forms = |words: &[String]| {
        words.iter().all(|word| heard.iter().any(|said| of_choice(said, std::slice::from_ref(word))))
    };
    if choices.iter().any(|(_, words)| shares(words) || forms(words)) {
        return only(
            choices.iter().filter(|(_, words)| shares(words) || forms(words)).map(|(choice, _)| *choice),
        );
    }
    let counts = telling.len() < heard.len();
    let places: Vec<Option<usize>> = telling.iter().map(|word| tell.place(word, counts)).collect();
    let place = (*places.first()?)?;
    let alone = places.iter().all(|other| *other == Some(place));
    choices.get(place.checked_sub(1)?).filter(|_| alone).map(|(choice, _)| *choice)
}

fn nth(choices: &[String], place: usize) -> Option<&str> {
    choices.get(place.checked_sub(1)?).map(String::as_str)
}

fn part_of(words: &[String], longer: &[String]) -> bool {
    !words.is_empty() && longer.windows(words.len()).any(|window| window == words)
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
            ..Field::default()
        }
    }

    fn capture(field: &Field, heard: &str, language: &str) -> Option<Value> {
        super::capture(field, heard, language, None)
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
        for (kind, digits, expected) in [
            (FieldKind::Date, "26112026", Some("2026-11-26")),
            (FieldKind::Date, "31022026", None),
            (FieldKind::Date, "2611", None),
            (FieldKind::Time, "1730", Some("17:30")),
            (FieldKind::Time, "0530", None),
            (FieldKind::Time, "2460", None),
            (FieldKind::Amount, "25000", Some("2500000")),
            (FieldKind::Amount, "0", Some("0")),
            (FieldKind::Amount, "025", None),
            (FieldKind::Amount, "99999999999999999999", None),
            (FieldKind::Phone, "9876543210", Some("+919876543210")),
            (FieldKind::Phone, "02212345678", Some("+912212345678")),
            (FieldKind::Phone, "12345", None),
            (FieldKind::Pincode, "560001", Some("560001")),
            (FieldKind::Pincode, "060001", None),
            (FieldKind::Email, "1", None),
        ] {
            let field = self::field(kind, &[]);
            assert_eq!(capture_digits(&field, digits), expected.map(Value::from), "{kind:?} {digits}");
        }
        assert_eq!(capture_digits(&self::field(FieldKind::Number, &[]), "0042"), Some(json!("0042")));
        assert_eq!(capture_digits(&self::field(FieldKind::Number, &[]), "4*2"), None);
    }
}

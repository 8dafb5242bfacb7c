//! A value as it is read back to the customer, to be confirmed.

use serde_json::Value;

use super::channel::Channel;
use super::graph::FieldKind;
use super::language::calendar::{Date, Time};
use super::language::date_words;
use super::phrases;

/// The question whether this value is right, in the agent's language.
pub(super) fn question(kind: FieldKind, value: &Value, language: &str, channel: Channel) -> String {
    let text = value.as_str().unwrap_or_default();
    phrases::read_back(language).replace("{value}", &shown(kind, text, language, channel))
}

fn shown(kind: FieldKind, value: &str, language: &str, channel: Channel) -> String {
    let shown = match kind {
        FieldKind::Date => date(value).zip(date_words::table(language)).map(|(date, table)| table.date(date)),
        FieldKind::Time => time(value).zip(date_words::table(language)).map(|(time, table)| table.time(time)),
        FieldKind::Amount => value.parse().ok().map(rupees),
        FieldKind::Phone => value.split_at_checked(8).map(|(first, last)| {
            let (code, first) = first.split_at(3);
            format!("{code} {first} {last}")
        }),
        // A voice would read one number of six digits.
        FieldKind::Pincode if channel == Channel::Call => Some(spaced(value)),
        FieldKind::Pincode | FieldKind::Email => None,
        FieldKind::Text | FieldKind::Boolean | FieldKind::Number | FieldKind::Choice => None,
    };
    shown.unwrap_or_else(|| value.to_owned())
}

fn spaced(digits: &str) -> String {
    digits.chars().map(String::from).collect::<Vec<_>>().join(" ")
}

fn numbers(value: &str, separator: char) -> Option<Vec<i64>> {
    value.split(separator).map(|part| part.parse().ok()).collect()
}

fn date(value: &str) -> Option<Date> {
    match numbers(value, '-')?.as_slice() {
        [year, month, day] => Date::new(*year, *month, *day),
        _ => None,
    }
}

fn time(value: &str) -> Option<Time> {
    match numbers(value, ':')?.as_slice() {
        [hour, minute] => Time::new(*hour, *minute),
        _ => None,
    }
}

/// `₹1,25,000.50`, in groups as in India.
fn rupees(paise: u64) -> String {
    let (rupees, paise) = ((paise / 100).to_string(), paise % 100);
    let (head, tail) = rupees.split_at(rupees.len().saturating_sub(3));
    let mut grouped = String::new();
    for (at, digit) in head.chars().enumerate() {
        grouped.push(digit);
        if (head.len() - at) % 2 == 1 {
            grouped.push(',');
        }
    }
    let fraction = if paise == 0 { String::new() } else { format!(".{paise:02}") };
    format!("₹{grouped}{tail}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_as_people_write_them() {
        for (kind, value, language, expected) in [
            (FieldKind::Amount, "2500000", "en", "₹25,000. Is that right?"),
            (FieldKind::Amount, "12500050", "en", "₹1,25,000.50. Is that right?"),
            (FieldKind::Amount, "100000000005", "en", "₹1,00,00,00,000.05. Is that right?"),
            (FieldKind::Amount, "5", "en", "₹0.05. Is that right?"),
            (FieldKind::Date, "2026-11-28", "en", "Saturday, 28 November 2026. Is that right?"),
            (FieldKind::Date, "2026-11-28", "hi", "शनिवार, 28 नवंबर 2026, क्या यह सही है?"),
            (FieldKind::Time, "17:30", "en", "5:30 in the evening. Is that right?"),
            (FieldKind::Time, "00:05", "en", "12:05 in the night. Is that right?"),
            (FieldKind::Time, "09:00", "ta", "காலை 9 மணி, சரிதானே?"),
            (FieldKind::Phone, "+919876543210", "en", "+91 98765 43210. Is that right?"),
            (FieldKind::Pincode, "560001", "en", "5 6 0 0 0 1. Is that right?"),
            (FieldKind::Email, "a.b@gmail.com", "en", "a.b@gmail.com. Is that right?"),
        ] {
            assert_eq!(question(kind, &value.into(), language, Channel::Call), expected);
        }
        assert_eq!(shown(FieldKind::Pincode, "560001", "en", Channel::Chat), "560001");
    }
}

//! Endpointing: when a turn of the customer is over. After a short pause a transcript is requested; its words decide how
//! much longer to wait.

use domain::conversation::{Expected, Field, FieldKind, capture};
use domain::speech;

/// Silence after a complete answer, milliseconds.
pub const FINISHED_MS: u64 = 350;
/// The same after words that may go on.
pub const OPEN_MS: u64 = 600;
/// The same after a phrase that is not finished (`my number is`, `and`).
pub const UNFINISHED_MS: u64 = 1200;
/// The same between the groups of a number.
pub const DIGITS_MS: u64 = 1500;
/// Digits of a number after which no more are waited for: a telephone number.
const ENOUGH_DIGITS: usize = 10;

/// Silence that ends the turn, counted from the end of speech, milliseconds.
pub fn silence_for(words: &str, expected: Option<&Expected>, language: &str) -> u64 {
    let kind = expected.map(|expected| expected.kind);
    let field = |kind| Field {
        kind,
        choices: expected.map(|expected| expected.choices.clone()).unwrap_or_default(),
        ..Field::default()
    };
    let captured = |kind| capture(&field(kind), words, language, None);
    let number = || captured(FieldKind::Number).and_then(|value| value.as_str().map(str::len));
    match kind {
        Some(kind @ (FieldKind::Boolean | FieldKind::Choice)) if captured(kind).is_some() => FINISHED_MS,
        Some(kind @ (FieldKind::Phone | FieldKind::Pincode | FieldKind::Email)) => match captured(kind) {
            Some(_) => FINISHED_MS,
            None => DIGITS_MS,
        },
        Some(FieldKind::Number | FieldKind::Amount) => match number() {
            Some(digits) if digits < ENOUGH_DIGITS => DIGITS_MS,
            Some(_) => FINISHED_MS,
            None => UNFINISHED_MS,
        },
        _ if speech::unfinished(words, language) => UNFINISHED_MS,
        // The customer gives a number although none was asked for.
        _ if number().is_some_and(|digits| (3..ENOUGH_DIGITS).contains(&digits)) => DIGITS_MS,
        Some(
            FieldKind::Text | FieldKind::Boolean | FieldKind::Choice | FieldKind::Date | FieldKind::Time,
        )
        | None
            if words.ends_with(['.', '?', '!', '।', '॥']) =>
        {
            FINISHED_MS
        }
        Some(
            FieldKind::Text | FieldKind::Boolean | FieldKind::Choice | FieldKind::Date | FieldKind::Time,
        )
        | None => OPEN_MS,
    }
}

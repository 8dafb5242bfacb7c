//! What a number is, by its digits and by what it is said beside.

use super::Sensitive;
use super::tables::Topic;

/// Digits that are one number, with what was said near them.
pub struct Context {
    /// What the turn says near them, the nearest first, with the distance in words.
    pub near: Vec<(Topic, usize)>,
    /// What was asked for before the turn.
    pub asked: Vec<Topic>,
    /// Nearly nothing else is said in the turn.
    pub alone: bool,
    /// A single numeral, digits one by one, or three groups and more.
    pub plain: bool,
    /// It is counted, or stands beside a scale or a currency: an amount, a time, a date.
    pub counted: bool,
    /// Letters are written together with it: an id.
    pub glued: bool,
}

/// Farthest label of something else that is believed, in words.
const LABEL: usize = 3;

/// What the digits are, if they must not be kept.
pub fn kind(digits: &str, context: &Context) -> Option<Sensitive> {
    let names =
        |topic: Topic| context.near.iter().any(|(near, _)| *near == topic) || context.asked.contains(&topic);
    let label =
        context.near.iter().find(|(topic, far)| fits(*topic, *far, digits, context)).map(|(it, _)| *it);
    let topic = match label {
        Some(Topic::Id | Topic::Phone | Topic::Other) | None if context.glued => None,
        Some(topic) => Some(topic),
        None => context.asked.iter().copied().find(|topic| fits(*topic, 0, digits, context)),
    };
    let sure =
        |kind| if topic.and_then(of_topic) == Some(Sensitive::Account) { Sensitive::Account } else { kind };
    let is_id = context.glued || label == Some(Topic::Id);
    if is_card(digits) && (!is_id || names(Topic::Card)) {
        return Some(sure(Sensitive::Card));
    }
    if is_aadhaar(digits) && !is_id && (!is_telephone(digits) || names(Topic::Aadhaar)) {
        return Some(sure(Sensitive::Aadhaar));
    }
    if context.counted || context.glued {
        return None;
    }
    of_topic(topic?)
}

const fn of_topic(topic: Topic) -> Option<Sensitive> {
    match topic {
        Topic::Card => Some(Sensitive::Card),
        Topic::Cvv => Some(Sensitive::Cvv),
        Topic::Otp => Some(Sensitive::Otp),
        Topic::Aadhaar => Some(Sensitive::Aadhaar),
        Topic::Account | Topic::Accounts => Some(Sensitive::Account),
        Topic::Id | Topic::Phone | Topic::Other | Topic::Unit | Topic::Between => None,
    }
}

/// Whether the digits may be what the topic says, which stands this far from them.
fn fits(topic: Topic, far: usize, digits: &str, context: &Context) -> bool {
    let length = digits.len();
    match topic {
        Topic::Card => (13..=19).contains(&length),
        Topic::Cvv => matches!(length, 3 | 4) && (context.plain || context.alone),
        Topic::Otp => (4..=8).contains(&length) && (context.plain || context.alone),
        Topic::Aadhaar => matches!(length, 12 | 16),
        Topic::Account => (9..=18).contains(&length),
        Topic::Accounts => (9..=18).contains(&length) && !is_telephone(digits),
        Topic::Phone => is_telephone(digits) || (far <= LABEL && matches!(length, 7..=11)),
        Topic::Id => far <= LABEL,
        Topic::Other => far <= LABEL && length <= 12,
        Topic::Unit | Topic::Between => false,
    }
}

/// An Indian telephone number, with or without what is dialled before it.
pub fn is_telephone(digits: &str) -> bool {
    let mobile = |rest: &str| rest.len() == 10 && rest.starts_with(['6', '7', '8', '9']);
    mobile(digits)
        || digits.strip_prefix('0').is_some_and(|rest| rest.len() == 10)
        || digits.strip_prefix("91").is_some_and(mobile)
        || (digits.starts_with("1800") && matches!(digits.len(), 10 | 11))
}

fn values(digits: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    digits.bytes().map(|byte| usize::from(byte.saturating_sub(b'0')))
}

/// A card's number: its length, the networks' beginnings, Luhn's check digit (ISO/IEC 7812-1).
pub fn is_card(digits: &str) -> bool {
    (13..=19).contains(&digits.len())
        && digits.starts_with(['2', '3', '4', '5', '6', '8'])
        && values(digits).any(|digit| digit != 0)
        && luhn(digits)
}

fn luhn(digits: &str) -> bool {
    let weighed = values(digits).rev().enumerate().map(|(at, digit)| match (at % 2, digit * 2) {
        (0, _) => digit,
        (_, double) => double / 10 + double % 10,
    });
    weighed.sum::<usize>() % 10 == 0
}

/// An Aadhaar number: twelve digits, not beginning with 0 or 1, with Verhoeff's check digit.
pub fn is_aadhaar(digits: &str) -> bool {
    digits.len() == 12 && !digits.starts_with(['0', '1']) && verhoeff(digits)
}

/// The products of the dihedral group of order ten.
const PRODUCT: [[usize; 10]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];
/// What is done to a digit at each place, from the last one; it repeats after eight.
const PERMUTATION: [[usize; 10]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
];

fn verhoeff(digits: &str) -> bool {
    let step = |check: usize, (at, digit): (usize, usize)| {
        let permuted = PERMUTATION.get(at % 8).and_then(|row| row.get(digit)).copied().unwrap_or(0);
        PRODUCT.get(check).and_then(|row| row.get(permuted)).copied().unwrap_or(0)
    };
    values(digits).rev().enumerate().fold(0, step) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits() {
        for card in ["4111111111111111", "5555555555554444", "378282246310005", "6011111111111117"] {
            assert!(is_card(card), "{card}");
            let wrong =
                format!("{}{}", &card[..card.len() - 1], (card.as_bytes()[card.len() - 1] - b'0' + 1) % 10);
            assert!(!is_card(&wrong), "{wrong}");
        }
        assert!(!is_card("0000000000000000"));
        // The worked example of the algorithm: 236 with its check digit 3.
        assert!(verhoeff("2363") && !verhoeff("2364") && !verhoeff("2633"));
        assert!(is_aadhaar("234123412346") && !is_aadhaar("234123412345"));
    }
}

//! Invalid texts in place of a number: the key by which an erasure finds them.

use crate::phone::digit_of;

/// Digits at the end of a number that identify a person, whatever country code or trunk prefix comes before them.
const KEY: usize = 9;
/// With fewer digits a text is no number of anybody.
const FEWEST: usize = 7;
/// Longest text that is parsed, characters.
const LONGEST: usize = 256;

/// The common part of all notations of the same number: its last nine digits, those of all scripts as Western ones. Of
/// several numbers in one text it is the first; a `.0` that a spreadsheet left is no digit. `None` with fewer than
/// seven digits.
pub fn digits_key(text: &str) -> Option<String> {
    let several = |letter: char| matches!(letter, '/' | ',' | ';' | '|' | '\n');
    text.split(several).find_map(|part| {
        let digits: Vec<char> = without_zero_fraction(part)
            .chars()
            .take(LONGEST)
            .filter_map(digit_of)
            .filter_map(|digit| char::from_digit(digit.into(), 10))
            .collect();
        (digits.len() >= FEWEST).then(|| digits[digits.len().saturating_sub(KEY)..].iter().collect())
    })
}

/// `9812340001.0` without its end.
fn without_zero_fraction(text: &str) -> &str {
    match text.trim().split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::digits_key;

    #[test]
    fn ways_to_write_a_number_have_one_key() {
        for text in [
            "+971501234567",
            "00971 50 123 4567",
            "050-1234567",
            "971501234567.0",
            "tel:+971 (50) 1234567",
            "٠٥٠١٢٣٤٥٦٧",
            "050 123 4567 / 052 765 4321",
        ] {
            assert_eq!(digits_key(text).as_deref(), Some("501234567"), "{text}");
        }
        assert_ne!(digits_key("+919876501234"), digits_key("+919876501235"));
        for text in ["", "none", "12-34", "n/a"] {
            assert_eq!(digits_key(text), None, "{text}");
        }
    }
}

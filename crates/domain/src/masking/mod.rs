//! Masks phone numbers of people in text that people in the service read (docs/contract/audit.md#masked-numbers):
//! `98••• ••678` for a number of India, `+44 ••• ••78` for others. It finds what [`crate::phone`] reads, in any script and
//! with any separators, in one pass over the text. Ids, hashes, moments, addresses and amounts are left as they are.

pub mod json;

use unicode_normalization::UnicodeNormalization;

use crate::phone::{E164, Phone, digit_of, is_separator};

/// The sign for a digit that is not shown.
const HIDDEN: char = '•';
/// What every masked number holds, and hardly any other text.
const MASK: &str = "••• ••";
/// Most digits of a number, with `00` before it.
const MOST: usize = 17;
/// How far around digits a word is read.
const WORD: usize = 64;
/// Fewest digits of a number of another country within text, country code included.
const FEWEST_ABROAD: usize = 8;

/// Whether a text holds a masked number, so that it must not be stored in place of the real one.
pub fn is_masked(text: &str) -> bool {
    text.contains(MASK)
}

/// How a number is shown to people in the service.
pub fn masked(number: E164) -> String {
    let digits = number.as_u64().to_string();
    if let Some(phone) = Phone::from_u64(number.as_u64()) {
        let national = &phone.to_string()[3..];
        return format!("{}••• ••{}", &national[..2], &national[7..]);
    }
    let code = country_code_length(&digits);
    let end = digits.len().saturating_sub(2).max(code);
    format!("+{} ••• ••{}", &digits[..code], &digits[end..])
}

/// Digits of the country code at the start of an international number.
fn country_code_length(digits: &str) -> usize {
    let first_two = digits.get(..2).and_then(|two| two.parse::<u8>().ok()).unwrap_or_default();
    let length = match first_two {
        10..=19 | 70..=79 => 1,
        20 | 27 | 30..=34 | 36 | 39..=41 | 43..=49 | 51..=58 | 60..=66 | 81 | 82 | 84 | 86 | 90..=95 | 98 => {
            2
        }
        _ => 3,
    };
    length.min(digits.len())
}

/// The text with each number masked that `stays` does not keep. `None` when nothing is masked.
pub fn mask_text(text: &str, stays: &mut dyn FnMut(E164) -> bool) -> Option<String> {
    // Shorter texts hold no number.
    if text.len() < FEWEST_ABROAD || !text.bytes().any(|byte| byte.is_ascii_digit() || !byte.is_ascii()) {
        return None;
    }
    let mut out = String::new();
    let mut copied = 0;
    for run in Runs::new(text) {
        for found in run.numbers() {
            if stays(found.number) {
                continue;
            }
            out.push_str(&text[copied..found.start]);
            out.push_str(&masked(found.number));
            copied = found.end;
        }
    }
    (copied > 0).then(|| out + &text[copied..])
}

/// The same for a value that is a number as a whole, where the name of its field says so: also digits alone of another
/// country.
pub fn mask_number(text: &str, stays: &mut dyn FnMut(E164) -> bool) -> Option<String> {
    let phone = Phone::normalize(text).map(E164::from);
    let number = phone.or_else(|_| E164::parse(text)).ok();
    // With fewer digits and no sign it may be a date.
    let sure = |_: &E164| {
        text.contains(['+', '＋']) || text.chars().filter(|l| digit_of(*l).is_some()).count() >= 10
    };
    match number.filter(sure) {
        Some(number) => (!stays(number)).then(|| masked(number)),
        None => mask_text(text, stays),
    }
}

/// A number within a text, at these bytes.
struct Found {
    number: E164,
    start: usize,
    end: usize,
}

/// Digits that nothing separates.
struct Group {
    start: usize,
    end: usize,
    digits: Vec<u8>,
    /// Where a `+` stands before it, if there is one.
    plus: Option<usize>,
    /// It is part of a word, an id, a hash or a time of day.
    bound: bool,
    /// The text between it and the next group.
    dot_after: bool,
}

/// Groups with only separators between them.
struct Run {
    groups: Vec<Group>,
}

/// The digits that a sign is read as (`⑴`, full width), and whether it may stand within a number at all.
fn read_sign(letter: char, digits: &mut Vec<u8>) -> bool {
    if letter.is_ascii() {
        digits.extend(digit_of(letter));
        return letter.is_ascii_digit() || is_separator(letter);
    }
    if let Some(digit) = digit_of(letter) {
        digits.push(digit);
        return true;
    }
    if is_separator(letter) {
        return true;
    }
    let before = digits.len();
    for part in std::iter::once(letter).nfkc() {
        match digit_of(part) {
            Some(digit) => digits.push(digit),
            None if is_separator(part) => {}
            None => {
                digits.truncate(before);
                return false;
            }
        }
    }
    true
}

fn is_plus(letter: char) -> bool {
    matches!(letter, '+' | '＋' | '﬩' | '⁺' | '₊' | '﹢')
}

/// Reads the runs of a text one after the other.
struct Runs<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Runs<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Whether the digits at these bytes belong to something else.
    fn is_bound(&self, start: usize, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        let before = self.text[..start].bytes().next_back();
        let after = bytes.get(end).copied();
        let colon = |byte: Option<u8>| byte == Some(b':');
        // A time of day.
        if end - start <= 2
            && (colon(before) && start > 1 && bytes[start - 2].is_ascii_digit() || colon(after))
        {
            return true;
        }
        // What is left of a number that was masked.
        if self.text[..start].ends_with(HIDDEN) || self.text[end..].starts_with(HIDDEN) {
            return true;
        }
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if !before.is_some_and(|byte| is_word(&byte)) && !after.is_some_and(|byte| is_word(&byte)) {
            return false;
        }
        // Letters on one side only (`tel9812345678`) are a word and a number; anything else is an id or a hash.
        let left = bytes[..start].iter().rev().take(WORD).take_while(|byte| is_word(byte)).count();
        let right = bytes[end..].iter().take(WORD).take_while(|byte| is_word(byte)).count();
        let letters = |part: &[u8]| part.iter().all(u8::is_ascii_alphabetic);
        left > 0 && right > 0 || !letters(&bytes[start - left..start]) || !letters(&bytes[end..end + right])
    }
}

/// A UUID that begins at this byte, by its length.
fn uuid_length(text: &[u8]) -> Option<usize> {
    let word = text.get(..36)?;
    let fits = word.iter().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    (fits && !text.get(36).is_some_and(u8::is_ascii_alphanumeric)).then_some(36)
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let mut groups: Vec<Group> = Vec::new();
        let mut plus = None;
        let mut separator_from = self.at;
        let mut word = false;
        while let Some(letter) = self.text[self.at..].chars().next() {
            let start = self.at;
            if !word && let Some(length) = uuid_length(&self.text.as_bytes()[start..]) {
                self.at += length;
                word = true;
                if groups.is_empty() {
                    continue;
                }
                return Some(Run { groups });
            }
            word = letter.is_ascii_alphanumeric();
            let mut digits = Vec::new();
            let fits = read_sign(letter, &mut digits);
            self.at += letter.len_utf8();
            if is_plus(letter) {
                plus = Some(start);
                continue;
            }
            if !fits {
                plus = None;
                if groups.is_empty() {
                    continue;
                }
                return Some(Run { groups });
            }
            if digits.is_empty() {
                continue;
            }
            // A group: as many digits as follow each other.
            while let Some(next) = self.text[self.at..].chars().next() {
                let known = digits.len();
                if !read_sign(next, &mut digits) || digits.len() == known {
                    digits.truncate(known);
                    break;
                }
                word = true;
                self.at += next.len_utf8();
            }
            if let Some(last) = groups.last_mut() {
                last.dot_after = &self.text[separator_from..start] == ".";
            }
            let bound = self.is_bound(start, self.at);
            groups.push(Group { start, end: self.at, digits, plus: plus.take(), bound, dot_after: false });
            separator_from = self.at;
        }
        (!groups.is_empty()).then_some(Run { groups })
    }
}

impl Run {
    /// The numbers in it, from the left.
    fn numbers(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let mut from = 0;
        while from < self.groups.len() {
            match self.number_at(from) {
                Some((number, last)) => {
                    let first = &self.groups[from];
                    let start = first.plus.unwrap_or(first.start);
                    found.push(Found { number, start, end: self.groups[last].end });
                    from = last + 1;
                }
                None => from += 1,
            }
        }
        found
    }

    /// The longest number that begins with this group, and its last group.
    fn number_at(&self, from: usize) -> Option<(E164, usize)> {
        let mut digits = String::new();
        if self.groups[from].plus.is_some() {
            digits.push('+');
        }
        let abroad = self.groups[from].plus.is_some() || self.groups[from].digits.starts_with(&[0, 0]);
        let mut best = None;
        for (last, group) in self.groups.iter().enumerate().skip(from) {
            let begins_another = last > from && group.plus.is_some();
            if group.bound || begins_another || digits.len() + group.digits.len() > MOST + 1 {
                break;
            }
            digits.extend(group.digits.iter().map(|digit| char::from(b'0' + digit)));
            if self.is_other(from, last) {
                continue;
            }
            match Phone::normalize(&digits) {
                Ok(phone) => best = Some((phone.into(), last)),
                Err(_) if abroad && digits.len() > FEWEST_ABROAD && !begins_home(&digits) => {
                    best = E164::parse(&digits).ok().map(|number| (number, last)).or(best);
                }
                Err(_) => {}
            }
        }
        best
    }

    /// An address of the Internet, a day of the calendar before an hour, or an amount with a fraction.
    fn is_other(&self, from: usize, last: usize) -> bool {
        let groups = &self.groups[from..=last];
        let lengths: Vec<usize> = groups.iter().map(|group| group.digits.len()).collect();
        let dotted = groups.len() == 4 && groups[..3].iter().all(|group| group.dot_after);
        if dotted && lengths.iter().all(|length| *length <= 3) {
            return true;
        }
        let is_year = |group: &Group| matches!(group.digits[..], [1, 9, ..] | [2, 0, ..]);
        if matches!(lengths[..], [4, 2, 2, ..]) && groups[0].plus.is_none() && is_year(&groups[0]) {
            return true;
        }
        let after = self.groups.get(last + 1);
        let fraction = |next: &Group| next.digits.len() <= 2 && next.digits.iter().any(|digit| *digit > 0);
        groups[groups.len() - 1].dot_after && groups.len() == 1 && after.is_some_and(fraction)
    }
}

/// Whether digits are written as a number of India. One that no subscriber can have is then not taken for one of abroad.
fn begins_home(digits: &str) -> bool {
    digits.starts_with("+91") || digits.starts_with("0091")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(text: &str) -> String {
        mask_text(text, &mut |_| false).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn numbers_are_masked_in_every_writing() {
        for (text, expected) in [
            ("+919812345678", "98••• ••678"),
            ("9812345678", "98••• ••678"),
            ("call +91 98123 45678 now", "call 98••• ••678 now"),
            ("0091-98123-45678", "98••• ••678"),
            ("(+91) 98123.45678", "(98••• ••678"),
            ("मेरा नंबर ९८१२३४५६७८ है", "मेरा नंबर 98••• ••678 है"),
            ("फोन9812345678है", "फोन98••• ••678है"),
            ("௯௮௧௨௩௪௫௬௭௮", "98••• ••678"),
            ("＋９１ ９８１２３４５６７８", "98••• ••678"),
            ("tel:+919812345678", "tel:98••• ••678"),
            ("tel9812345678", "tel98••• ••678"),
            ("9 8 1 2 3 4 5 6 7 8", "98••• ••678"),
            ("98123\u{200B}45678", "98••• ••678"),
            ("(1) 98123 45678", "(1) 98••• ••678"),
            ("12 98123 45678, 9812345679.", "12 98••• ••678, 98••• ••679."),
            ("011-23456789", "11••• ••789"),
            ("9812345678.0", "98••• ••678.0"),
            ("+44 20 7946 0958 is his", "+44 ••• ••58 is his"),
            ("0044 20 7946 0958", "+44 ••• ••58"),
            ("+12025550100", "+1 ••• ••00"),
            ("+971501234567", "+971 ••• ••67"),
            ("+919812345678+919812345679", "98••• ••67898••• ••679"),
            ("at 10:42 9812345678", "at 10:42 98••• ••678"),
        ] {
            assert_eq!(mask(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_of_anybody_stays() {
        for text in [
            "call_01jdxyz9812345678000000000",
            "9812345678abcdef9812345678abcdef9812345678abcdef9812345678abcdef",
            "a9812345678f",
            "2026-11-27T10:42:31.123Z",
            "2026-11-27",
            "2026-11-27 10:42:31",
            "27/11/2026, 10:42",
            "1764239400000",
            "₹98,12,345.50",
            "9812345678.50",
            "8.123.123.123",
            "192.168.101.102",
            "91234567-8123-4123-8123-981234567890",
            "1800 123 4567",
            "+91 1800 123 456",
            "4111 1111 1111 1111",
            "112",
            "",
            "+5 000",
            "9812345678_1",
        ] {
            assert_eq!(mask_text(text, &mut |_| false), None, "{text}");
        }
    }

    #[test]
    fn a_field_of_a_number_is_masked_as_a_whole() {
        let mask = |text: &str| mask_number(text, &mut |_| false);
        for (text, expected) in [
            ("12025550100", Some("+1 ••• ••00")),
            ("919812345678", Some("98••• ••678")),
            ("2026-11-27", None),
            ("2026-11-27T10:42:31.123Z", None),
            ("20261127", None),
            ("sip:98123@example.com", None),
            ("none", None),
        ] {
            assert_eq!(mask(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_of_the_workspace_stay() {
        let own: E164 = Phone::normalize("9812345678").unwrap().into();
        let text = "from 9812345678 to 9812345679";
        let masked = mask_text(text, &mut |number| number == own);
        assert_eq!(masked.as_deref(), Some("from 9812345678 to 98••• ••679"));
    }

    proptest::proptest! {
        #[test]
        fn no_number_is_left_in_any_writing(number in 6_000_000_000u64..10_000_000_000, before in "[a-z ]{0,8}[ ,;]", after in "[ ,;!]{0,2}[a-z]{0,4}", zero in proptest::sample::select(vec![0x30u32, 0x966, 0x9E6, 0xBE6, 0xFF10, 0x1D7CE]), gap in proptest::sample::select(vec!["", " ", "-", ".", "\u{A0}", "\u{200D}"]), prefix in proptest::sample::select(vec!["", "0", "+91 ", "91", "0091 "])) {
            let digits: Vec<char> = number.to_string().chars().map(|digit| char::from_u32(zero + u32::from(digit) - 0x30).unwrap()).collect();
            let (head, tail): (String, String) = (digits[..5].iter().collect(), digits[5..].iter().collect());
            let text = format!("{before}{prefix}{head}{gap}{tail}{after}");
            let masked = mask(&text);
            proptest::prop_assert!(is_masked(&masked), "{text} {masked}");
            proptest::prop_assert!(!masked.contains(&tail), "{text} {masked}");
            proptest::prop_assert_eq!(mask(&masked), masked);
        }

        #[test]
        fn any_text_is_answered_and_masking_twice_changes_nothing(text in ".*") {
            let masked = mask(&text);
            proptest::prop_assert_eq!(mask(&masked), masked);
        }

        #[test]
        fn hashes_ids_and_moments_stay(hash in "[0-9a-f]{64}", id in "(call|con|usr|key)_01[0-9a-hjkmnp-tv-z]{24}", milliseconds in 0i64..4_000_000_000_000) {
            proptest::prop_assume!(hash.bytes().filter(u8::is_ascii_alphabetic).count() > 2);
            let at = crate::time::Timestamp(milliseconds).to_string();
            for text in [hash, id, at] {
                proptest::prop_assert_eq!(mask_text(&text, &mut |_| false), None);
                proptest::prop_assert_eq!(mask_number(&text, &mut |_| false), None);
            }
        }

        #[test]
        fn digits_and_signs_are_answered(text in "[0-9+(). /:a-f\u{966}-\u{96f}-]{0,80}") {
            let masked = mask(&text);
            proptest::prop_assert_eq!(mask(&masked), masked);
        }
    }
}

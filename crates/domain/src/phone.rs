//! Phone numbers. Calls go to Indian subscribers only ([`Phone`]); channel lists take numbers of any country
//! ([`E164`]). The rules are those of the numbering plan (docs/contract/README.md#phone-numbers); the tables
//! are data, not code paths.

pub mod columns;

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use crate::invisible::is_invisible;

/// Longer texts cannot be phone numbers; they are refused without further work.
const MAX_TEXT_BYTES: usize = 256;

/// Why a text is not a number that this service can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneError {
    /// A number with the country code of another country.
    NotIndian,
    /// Not a subscriber's number: letters, a wrong length, a service series, an area code that does not
    /// exist.
    Invalid,
}

impl fmt::Display for PhoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PhoneError::NotIndian => "must be an Indian (+91) number",
            PhoneError::Invalid => "must be a valid Indian (+91) subscriber number",
        })
    }
}

impl std::error::Error for PhoneError {}

/// An Indian subscriber's number: `+91` and ten digits, mobile or landline. Its text form is E.164.
///
/// `Debug` shows the last four digits only, so that a log line does not carry a person's number by accident.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Phone(u64);

const COUNTRY: u64 = 910_000_000_000;

impl Phone {
    /// Reads a number in any usual notation: `+91 98123 45678`, `09812345678`, `011-23456789`, `tel:+91…`,
    /// Devanagari digits.
    ///
    /// # Errors
    /// [`PhoneError::NotIndian`] for `+` or `00` with another country code, [`PhoneError::Invalid`] for
    /// everything else that is not a subscriber's number (docs/contract/README.md#phone-numbers). The length
    /// limit of the API (8-20 characters) is the caller's.
    pub fn normalize(text: &str) -> Result<Self, PhoneError> {
        let digits = Digits::read(text).ok_or(PhoneError::Invalid)?;
        let national = digits.national()?;
        if is_subscriber(&national) { Ok(Self(COUNTRY + value(&national))) } else { Err(PhoneError::Invalid) }
    }

    /// The twelve digits as a number, `91` first: how the number is stored.
    pub fn as_u64(self) -> u64 {
        self.0
    }

    /// The number whose twelve digits these are; `None` when they are not a subscriber's number.
    pub fn from_u64(stored: u64) -> Option<Self> {
        let national = stored.checked_sub(COUNTRY).filter(|rest| *rest < 10_000_000_000)?;
        let mut digits = [0u8; 10];
        let mut rest = national;
        for slot in digits.iter_mut().rev() {
            *slot = (rest % 10) as u8;
            rest /= 10;
        }
        is_subscriber(&digits).then_some(Self(stored))
    }

    /// The last four digits as a number from 0 to 9999. The magic numbers of test mode and the sandbox depend
    /// on them.
    pub fn last4(self) -> u16 {
        (self.0 % 10_000) as u16
    }
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}", self.0)
    }
}

impl fmt::Debug for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Phone(…{:04})", self.last4())
    }
}

impl FromStr for Phone {
    type Err = PhoneError;

    fn from_str(text: &str) -> Result<Self, PhoneError> {
        Self::normalize(text)
    }
}

impl serde::Serialize for Phone {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Phone {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::normalize(&text).map_err(serde::de::Error::custom)
    }
}

/// A number of any country, 7 to 15 digits including the country code (chat-app lists). Its text form is `+`
/// and the digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct E164(u64);

impl E164 {
    /// Reads a number that carries its country code: with `+`, with `00`, or plain digits as the channel
    /// itself writes them.
    ///
    /// # Errors
    /// [`PhoneError::Invalid`] unless 7 to 15 digits remain and the first is not 0.
    pub fn parse(text: &str) -> Result<Self, PhoneError> {
        let digits = Digits::read(text).ok_or(PhoneError::Invalid)?;
        let all = digits.kept().ok_or(PhoneError::Invalid)?;
        let all = if digits.plus { all } else { all.strip_prefix(&[0, 0]).unwrap_or(all) };
        match all {
            [1..=9, ..] if (7..=15).contains(&all.len()) => Ok(Self(value(all))),
            _ => Err(PhoneError::Invalid),
        }
    }

    /// Reads an international number as somebody writes it in a request. Digits alone must be more than ten: up to ten
    /// are a number within some country (`98123 45678`), and are never taken for one of another country.
    ///
    /// # Errors
    /// [`PhoneError::Invalid`] as [`E164::parse`], and for at most ten digits without `+` and `00`.
    pub fn written(text: &str) -> Result<Self, PhoneError> {
        let digits = Digits::read(text).ok_or(PhoneError::Invalid)?;
        if !digits.plus && !digits.starts_with(&[0, 0]) && digits.count <= 10 {
            return Err(PhoneError::Invalid);
        }
        Self::parse(text)
    }

    /// The digits as a number: how it is stored.
    pub fn as_u64(self) -> u64 {
        self.0
    }

    /// The number with exactly these digits; `None` unless there are 7 to 15.
    pub fn from_u64(stored: u64) -> Option<Self> {
        (1_000_000..1_000_000_000_000_000).contains(&stored).then_some(Self(stored))
    }

    /// The last four digits as a number from 0 to 9999.
    pub fn last4(self) -> u16 {
        (self.0 % 10_000) as u16
    }
}

impl From<Phone> for E164 {
    fn from(phone: Phone) -> Self {
        Self(phone.0)
    }
}

impl fmt::Display for E164 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}", self.0)
    }
}

impl fmt::Debug for E164 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E164(…{:04})", self.last4())
    }
}

impl serde::Serialize for E164 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for E164 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// The digits of a text after step 1 of the contract: separators gone, digits of all scripts read, at most
/// one leading `+`.
struct Digits {
    plus: bool,
    /// All digits seen; more than fit in `kept` are counted, not kept.
    count: usize,
    kept: [u8; 17],
}

impl Digits {
    /// `None` when the text holds anything besides digits, separators and one leading `+`, or when its end may be a
    /// fraction.
    fn read(text: &str) -> Option<Self> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        let mut digits = Digits { plus: false, count: 0, kept: [0; 17] };
        if text.is_ascii() {
            for byte in without_decimals(without_scheme(text))?.bytes() {
                digits.take(char::from(byte))?;
            }
        } else {
            let composed: String = text.nfkc().collect();
            for letter in without_decimals(without_scheme(&composed))?.chars() {
                digits.take(letter)?;
            }
        }
        Some(digits)
    }

    fn take(&mut self, letter: char) -> Option<()> {
        if let Some(digit) = digit_of(letter) {
            if let Some(slot) = self.kept.get_mut(self.count) {
                *slot = digit;
            }
            self.count += 1;
            return Some(());
        }
        if letter == '+' && !self.plus && self.count == 0 {
            self.plus = true;
            return Some(());
        }
        is_separator(letter).then_some(())
    }

    fn kept(&self) -> Option<&[u8]> {
        self.kept.get(..self.count)
    }

    fn starts_with(&self, prefix: &[u8]) -> bool {
        self.kept.get(..prefix.len().min(self.count)).is_some_and(|start| start == prefix)
    }

    /// Steps 2 and 3 of the contract: the ten digits after country code and trunk prefix.
    fn national(&self) -> Result<[u8; 10], PhoneError> {
        if self.count == 0 {
            return Err(PhoneError::Invalid);
        }
        let strip = if self.plus {
            if !self.starts_with(&[9, 1]) {
                return Err(PhoneError::NotIndian);
            }
            2
        } else if self.starts_with(&[0, 0]) {
            if !self.starts_with(&[0, 0, 9, 1]) {
                return Err(PhoneError::NotIndian);
            }
            4
        } else {
            match self.count {
                13 if self.starts_with(&[0, 9, 1]) => 3,
                12 if self.starts_with(&[9, 1]) => 2,
                11 if self.starts_with(&[0]) => 1,
                _ => 0,
            }
        };
        let rest = self.kept().and_then(|all| all.get(strip..)).ok_or(PhoneError::Invalid)?;
        let rest = match rest {
            [0, after @ ..] if rest.len() == 11 => after,
            _ => rest,
        };
        rest.try_into().map_err(|_| PhoneError::Invalid)
    }
}

/// Drops a leading `tel:` and any invisible characters before it.
fn without_scheme(text: &str) -> &str {
    let text = text.trim_start_matches(is_unseen);
    match text.get(..4) {
        Some(scheme) if scheme.eq_ignore_ascii_case("tel:") => &text[4..],
        _ => text,
    }
}

/// Digits behind the only dot of a text that are a group of a number, and not a fraction.
const SHORTEST_GROUP: usize = 3;

/// The text without the decimals that spreadsheets put behind a whole number (`9812345678.0`). `None` when what follows
/// the last dot is neither that nor a group of digits: then nobody knows which number is meant.
fn without_decimals(text: &str) -> Option<&str> {
    let is_digit = |letter: char| digit_of(letter).is_some();
    let Some(dot) = text.rfind(is_digit).and_then(|last| text[..last].rfind('.')) else { return Some(text) };
    let (before, tail) = (&text[..dot], &text[dot + 1..]);
    if !tail.chars().all(|letter| is_digit(letter) || is_separator(letter)) {
        return Some(text);
    }
    let (mut count, mut nought) = (0, true);
    for digit in tail.chars().filter_map(digit_of) {
        count += 1;
        nought &= digit == 0;
    }
    let group = |text: &str| {
        text.rsplit('.').next().map_or(0, |group| group.chars().filter(|l| is_digit(*l)).count())
    };
    match before.contains('.') {
        false if nought => Some(before),
        false => (count >= SHORTEST_GROUP).then_some(text),
        // A digit by itself behind longer groups.
        true if count == 1 && group(before) > 1 => None,
        true => Some(text),
    }
}

/// White space, and what is invisible by definition.
fn is_unseen(letter: char) -> bool {
    letter.is_whitespace() || is_invisible(letter)
}

pub(crate) fn is_separator(letter: char) -> bool {
    matches!(letter, '-' | '.' | '(' | ')' | '/' | ' ') || is_unseen(letter) || is_dash(letter)
}

/// The dashes of Unicode (category Pd) and the minus sign.
fn is_dash(letter: char) -> bool {
    matches!(
        letter,
        '\u{058A}' | '\u{05BE}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2212}'
                | '\u{2E17}'
                | '\u{2E1A}'
                | '\u{2E3A}'
                | '\u{2E3B}'
                | '\u{2E40}'
                | '\u{2E5D}'
                | '\u{301C}'
                | '\u{3030}'
                | '\u{30A0}'
                | '\u{FE31}'
                | '\u{FE32}'
                | '\u{FE58}'
                | '\u{FE63}'
                | '\u{FF0D}'
                | '\u{10EAD}'
    )
}

/// The digit zero of every script with decimal digits (Unicode category Nd), except those that NFKC already
/// turns into ASCII.
const ZEROS: &[u32] = &[
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0,
    0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50,
    0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0,
    0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0,
    0x11950, 0x11BF0, 0x11C50, 0x11D50, 0x11DA0, 0x11DE0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50,
    0x16D70, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950,
];

pub(crate) fn digit_of(letter: char) -> Option<u8> {
    if let Some(digit) = letter.to_digit(10) {
        return Some(digit as u8);
    }
    if letter.is_ascii() {
        return None;
    }
    let code = letter as u32;
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last()?;
    (code - zero < 10).then_some((code - zero) as u8)
}

/// The three-digit area codes of the numbering plan; any other three digits are the start of a four-digit
/// code.
const THREE_DIGIT_AREAS: &[u16] = &[
    120, 121, 122, 124, 129, 130, 131, 132, 135, 141, 144, 145, 151, 154, 160, 161, 164, 171, 172, 175, 177,
    180, 181, 183, 184, 186, 191, 194, 212, 215, 217, 230, 231, 233, 240, 241, 250, 251, 253, 257, 260, 261,
    265, 268, 278, 281, 285, 286, 288, 291, 294, 326, 341, 342, 343, 353, 354, 360, 361, 364, 368, 369, 370,
    372, 373, 374, 376, 381, 385, 389, 413, 416, 421, 422, 423, 424, 427, 431, 435, 451, 452, 460, 461, 462,
    466, 467, 468, 469, 470, 471, 472, 474, 475, 476, 477, 478, 479, 480, 481, 483, 484, 485, 487, 490, 491,
    494, 495, 496, 497, 510, 512, 515, 522, 532, 535, 542, 548, 551, 552, 562, 565, 571, 581, 591, 595,
];

/// Whether ten digits can belong to a subscriber.
fn is_subscriber(digits: &[u8; 10]) -> bool {
    match digits {
        // Telemarketing, government and bank service series, toll free, shared cost.
        [1, 4, 0, ..] | [1, 6, 0, 0 | 1, ..] | [1, 8, 0, 0, ..] | [1, 8, 6, 0, ..] => false,
        [6..=9, ..] => true,
        [1, 1, third, ..]
        | [2, 0, third, ..]
        | [2, 2, third, ..]
        | [3, 3, third, ..]
        | [4, 0, third, ..]
        | [4, 4, third, ..] => (2..=7).contains(third),
        [a @ 1..=5, b, c, fourth, fifth, ..] => {
            let area = u16::from(*a) * 100 + u16::from(*b) * 10 + u16::from(*c);
            ((2..=7).contains(fourth) && THREE_DIGIT_AREAS.binary_search(&area).is_ok())
                || (2..=7).contains(fifth)
        }
        [_, ..] => false,
    }
}

fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, PhoneError> {
        Phone::normalize(text).map(|phone| phone.to_string())
    }

    #[test]
    fn the_table_of_accepted_writings() {
        for (text, expected) in [
            ("+91 98123 45678", "+919812345678"),
            ("09812345678", "+919812345678"),
            ("919812345678", "+919812345678"),
            ("0091-98123-45678", "+919812345678"),
            ("+91 (0) 98123-45678", "+919812345678"),
            ("091 9812345678", "+919812345678"),
            ("९८१२३४५६७८", "+919812345678"),
            ("௯௮௧௨௩௪௫௬௭௮", "+919812345678"),
            ("＋９１ ９８１２３４５６７８", "+919812345678"),
            ("tel:+919812345678", "+919812345678"),
            (" TEL:+91-98123-45678 ", "+919812345678"),
            ("\u{200E}tel:+919812345678\u{200F}", "+919812345678"),
            ("+91\u{A0}98123\u{2011}45678", "+919812345678"),
            ("(+91) 98123.45678", "+919812345678"),
            ("011-23456789", "+911123456789"),
            ("080 2345 6789", "+918023456789"),
            ("0141-2345678", "+911412345678"),
            ("07582 221434", "+917582221434"),
            ("+91-022-23456789", "+912223456789"),
            ("919123456789", "+919123456789"),
            ("9123456789", "+919123456789"),
            ("9999999999", "+919999999999"),
            ("6000000000", "+916000000000"),
            ("1602345678", "+911602345678"),
            ("1802345678", "+911802345678"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn the_table_of_refused_writings() {
        for text in [
            "98123 4567",
            "98123456789",
            "+9198123456789",
            "98123x45678",
            "+91+9812345678",
            "98+12345678",
            "1401234567",
            "1600123456",
            "1601123456",
            "18001234567",
            "1800123456",
            "1860 500 1234",
            "1112345678",
            "2012345678",
            "12345678",
            "112",
            "0812345678",
            "",
            " ",
            "+",
            "+91",
            "()",
            "tel:",
            "9812345678;ext=1",
            "9812345678,,1",
            "98123½5678",
            "0000000000",
            "00000000000",
        ] {
            let expected = if text.starts_with("00") { PhoneError::NotIndian } else { PhoneError::Invalid };
            assert_eq!(read(text), Err(expected), "{text}");
        }
        assert_eq!(read(&"9".repeat(100_000)), Err(PhoneError::Invalid));
        assert_eq!(read(&" ".repeat(100_000)), Err(PhoneError::Invalid));
    }

    #[test]
    fn decimals_of_a_spreadsheet_are_no_digits() {
        for (text, expected) in [
            ("9812345678.0", Some("+919812345678")),
            ("9812345679.00", Some("+919812345679")),
            ("+919812345678.0", Some("+919812345678")),
            (" 919812345678.000 ", Some("+919812345678")),
            ("098123 45678.0", Some("+919812345678")),
            ("९८१२३४५६७८.०", Some("+919812345678")),
            ("９８１２３４５６７８．０", Some("+919812345678")),
            ("9812345678.", Some("+919812345678")),
            // The nought would make the number of somebody else.
            ("981234567.0", None),
            ("98123456.00", None),
            ("+91981234567.0", None),
            ("+91 98123-4567.0", None),
            ("(981234567.0)", None),
            ("981234567.0.", None),
            ("981234567.0 ", None),
            ("98123.00000", None),
            // A fraction is no group.
            ("981234567.8", None),
            ("98123456.78", None),
            ("981.234.567.8", None),
            ("0981.234.567.0", None),
            // Dots between groups.
            ("98123.45678", Some("+919812345678")),
            ("+91.98123.45678", Some("+919812345678")),
            ("98.12.34.00.00", Some("+919812340000")),
            ("9.8.1.2.3.4.5.6.7.8", Some("+919812345678")),
            ("011.23456000", Some("+911123456000")),
        ] {
            assert_eq!(read(text).ok().as_deref(), expected, "{text}");
        }
        assert_eq!(E164::written("+12025550100.0").map(|n| n.to_string()).as_deref(), Ok("+12025550100"));
        assert_eq!(E164::written("+1202555010.5"), Err(PhoneError::Invalid));
    }

    #[test]
    fn what_is_invisible_by_definition_is_dropped() {
        for sign in [
            0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x180F, 0x200B, 0x200F,
            0x202A, 0x202E, 0x2060, 0x2065, 0x206F, 0x3164, 0xFE00, 0xFE0D, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0,
            0xFFF8, 0x1BCA0, 0x1BCA3, 0x1D173, 0x1D17A, 0xE0000, 0xE0001, 0xE007F, 0xE0100, 0xE01EF, 0xE0FFF,
        ] {
            let sign = char::from_u32(sign).unwrap();
            for text in [format!("+91{sign}98123 45678"), format!("{sign}tel:+919812345678{sign}")] {
                assert_eq!(read(&text).as_deref(), Ok("+919812345678"), "{:x}", u32::from(sign));
            }
        }
        for sign in ['\u{FE10}', '\u{FFFC}', '\u{E1000}', '\u{2028}', 'e'] {
            let same = sign == '\u{2028}';
            assert_eq!(read(&format!("+91{sign}98123 45678")).is_ok(), same, "{:x}", u32::from(sign));
        }
    }

    #[test]
    fn other_countries_are_named_as_such() {
        for text in ["+1 202 555 0100", "0044 20 7946 0958", "+440000000000000000000000000", "+9", "00"] {
            assert_eq!(read(text), Err(PhoneError::NotIndian), "{text}");
        }
    }

    #[test]
    fn tables_are_in_order_for_the_binary_search() {
        assert!(THREE_DIGIT_AREAS.is_sorted());
        assert!(ZEROS.is_sorted());
    }

    #[test]
    fn stored_form_last_four_and_json() {
        let phone = Phone::normalize("9812340007").unwrap();
        assert_eq!(phone.as_u64(), 919_812_340_007);
        assert_eq!(Phone::from_u64(phone.as_u64()), Some(phone));
        assert_eq!((phone.last4(), format!("{phone:?}")), (7, "Phone(…0007)".to_string()));
        for wrong in [0, 91, 9_812_340_007, 911_401_234_567, 929_812_340_007, u64::MAX] {
            assert_eq!(Phone::from_u64(wrong), None, "{wrong}");
        }
        assert_eq!(serde_json::to_string(&phone).unwrap(), "\"+919812340007\"");
        assert_eq!(serde_json::from_str::<Phone>("\"098123-40007\"").unwrap(), phone);
        assert!(serde_json::from_str::<Phone>("\"112\"").is_err());
    }

    #[test]
    fn numbers_of_the_world() {
        for (text, expected) in [
            ("+1 202 555 0100", "+12025550100"),
            ("0044 20 7946 0958", "+442079460958"),
            ("919812345678", "+919812345678"),
            ("1234567", "+1234567"),
        ] {
            assert_eq!(E164::parse(text).map(|number| number.to_string()).as_deref(), Ok(expected), "{text}");
        }
        for text in
            ["", "+", "123456", "1234567890123456", "+0123456789", "0981234567", "abc", "+00441234567"]
        {
            assert_eq!(E164::parse(text), Err(PhoneError::Invalid), "{text}");
        }
        // Ten digits alone are a number within a country, whatever country code they could begin with.
        for text in ["9812345678", "98123 45678", "1234567", "4512345678"] {
            assert!(E164::parse(text).is_ok(), "{text}: as the channel writes numbers");
            assert_eq!(E164::written(text), Err(PhoneError::Invalid), "{text}");
        }
        for text in ["+9812345678", "00 45 12 34 56 78", "919812345678", "12025550100", "+1234567"] {
            assert_eq!(E164::written(text), E164::parse(text), "{text}");
            assert!(E164::written(text).is_ok(), "{text}");
        }
        let phone = Phone::normalize("9812345678").unwrap();
        assert_eq!(E164::from(phone).to_string(), phone.to_string());
        assert_eq!(E164::from_u64(E164::from(phone).as_u64()), Some(phone.into()));
        assert_eq!(E164::from_u64(999_999), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_answered_and_reading_twice_changes_nothing(text in ".*") {
            if let Ok(phone) = Phone::normalize(&text) {
                proptest::prop_assert_eq!(Phone::normalize(&phone.to_string()), Ok(phone));
                proptest::prop_assert_eq!(Phone::from_u64(phone.as_u64()), Some(phone));
            }
            let _ = E164::parse(&text);
        }

        #[test]
        fn any_bytes_and_number_like_texts_are_answered(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40), text in "(\\+|00|0)?(91)?[ 0-9()./-]{0,16}") {
            let _ = Phone::normalize(&String::from_utf8_lossy(&bytes));
            if let Ok(phone) = Phone::normalize(&text) {
                proptest::prop_assert_eq!(phone.to_string().len(), 13);
                proptest::prop_assert_eq!(Phone::normalize(&phone.to_string()), Ok(phone));
                proptest::prop_assert_eq!(E164::parse(&phone.to_string()).map(E164::as_u64), Ok(phone.as_u64()));
            }
        }

        #[test]
        fn decimals_never_make_a_number_of_shorter_ones(number in 1u64..1_000_000_000, noughts in 1usize..6) {
            proptest::prop_assert_eq!(Phone::normalize(&format!("{number}.{}", "0".repeat(noughts))), Phone::normalize(&number.to_string()));
        }

        #[test]
        fn every_mobile_number_is_read_in_every_writing(number in 6_000_000_000u64..10_000_000_000) {
            let text = number.to_string();
            for writing in [text.clone(), format!("0{text}"), format!("+91{text}"), format!("91 {text}"), format!("0091-{text}"), format!("+91 (0) {text}")] {
                proptest::prop_assert_eq!(Phone::normalize(&writing).map(Phone::as_u64), Ok(COUNTRY + number));
            }
        }
    }
}

//! Masking of national id numbers: of a number, its last four digits stay
//! (docs/contract/documents.md#numbers-are-masked).

/// Parts of a field's key that say that its value is the number of a document.
const NUMBER_KEYS: [&str; 12] = [
    "aadhaar", "aadhar", "uid", "vid", "pan", "passport", "voter", "epic", "licence", "license", "ration",
    "cin",
];
/// Whole keys that do.
const NUMBER_NAMES: [&str; 8] =
    ["number", "no", "id", "idnumber", "idno", "documentnumber", "documentno", "cardnumber"];
/// Digits that stay.
const KEPT: usize = 4;
/// Letters, digits and spaces of the longest number, and of a group more.
const LONGEST_SHAPE: usize = 24;

/// The value of a field with this key: masked whole where the key says that it is the number of a document,
/// otherwise where it looks like one.
pub fn mask_named(key: &str, value: &str) -> String {
    let words = words_of(key);
    let joined: String = words.concat();
    let named = NUMBER_NAMES.contains(&joined.as_str())
        || words.iter().any(|word| NUMBER_KEYS.contains(&word.as_str()))
        || words.windows(2).any(|two| two[0] == "id" && matches!(two[1].as_str(), "number" | "no"));
    // A name on an identity card is no number.
    if named && value.chars().any(char::is_numeric) { mask_all(value) } else { masked(value) }
}

/// The text with everything masked in it that looks like a national id number: twelve or sixteen digits, in groups
/// or not, in any script (Aadhaar and its virtual id), and the forms of PAN, voter id, passport and driving licence.
pub fn masked(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        // A phone number follows a plus.
        let begins = letters[at].is_alphanumeric()
            && (at == 0 || !(letters[at - 1].is_alphanumeric() || letters[at - 1] == '+'));
        match begins.then(|| number_at(&letters[at..])).flatten() {
            Some(length) => {
                out.push_str(&mask_all(&letters[at..at + length].iter().collect::<String>()));
                at += length;
            }
            None => {
                out.push(letters[at]);
                at += 1;
            }
        }
    }
    out
}

/// Length of the national id number that the letters begin with.
fn number_at(letters: &[char]) -> Option<usize> {
    // Groups of letters and digits, with single spaces, hyphens or slashes between them.
    let mut ends = Vec::new();
    let mut shape = String::new();
    let mut at = 0;
    while at < letters.len() && shape.len() < LONGEST_SHAPE {
        let letter = letters[at];
        if letter.is_numeric() {
            shape.push('9');
        } else if letter.is_ascii_alphabetic() {
            shape.push('A');
        } else if letter.is_alphabetic() {
            shape.push('?');
        } else if matches!(letter, ' ' | '-' | '/' | '\u{a0}')
            && letters.get(at + 1).is_some_and(|next| next.is_alphanumeric())
        {
            ends.push((at, shape.clone()));
            shape.push(' ');
        } else {
            break;
        }
        at += 1;
    }
    if !letters.get(at).is_some_and(|next| next.is_alphanumeric()) {
        ends.push((at, shape));
    }
    // The longest run of groups that is a number.
    ends.into_iter().rev().find(|(_, shape)| is_number(shape)).map(|(end, _)| end)
}

/// Whether letters and digits in this order are a national id number.
fn is_number(shape: &str) -> bool {
    // Aadhaar and its virtual id: other long numbers are grouped in other ways.
    if ["9999 9999 9999", "9999 9999 9999 9999"].contains(&shape) {
        return true;
    }
    let forms = [("", 12, ""), ("", 16, "")];
    // PAN, voter id, passport, driving licence.
    let lettered = [("AAAAA", 4, "A"), ("AAA", 7, ""), ("A", 7, ""), ("AA", 13, "")];
    let fits = |shape: &str, (before, digits, after): &(&str, usize, &str)| {
        shape
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|rest| rest.len() == *digits && rest.bytes().all(|byte| byte == b'9'))
    };
    let joined = shape.replace(' ', "");
    forms.iter().any(|form| fits(shape, form)) || lettered.iter().any(|form| fits(&joined, form))
}

/// Every letter and digit becomes an X but the last four digits; those, too, where less would be hidden than stays.
fn mask_all(text: &str) -> String {
    let digits = text.chars().filter(|letter| letter.is_numeric()).count();
    let all = text.chars().filter(|letter| letter.is_alphanumeric()).count();
    let shown = digits.min(KEPT);
    let hidden = if all - shown >= shown { digits - shown } else { digits };
    let mut seen = 0;
    text.chars()
        .map(|letter| {
            if letter.is_numeric() {
                seen += 1;
                if seen <= hidden { 'X' } else { letter }
            } else if letter.is_alphanumeric() {
                'X'
            } else {
                letter
            }
        })
        .collect()
}

/// The words of a key, in lower case: `idNumber`, `id_number` and `ID number` have the same.
fn words_of(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in key.chars() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
        } else {
            if letter.is_uppercase() && before.is_lowercase() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn national_id_numbers_are_found_in_a_text() {
        for (text, shown) in [
            ("123456789012", "XXXXXXXX9012"),
            ("1234 5678 9012", "XXXX XXXX 9012"),
            ("1234-5678-9012.", "XXXX-XXXX-9012."),
            ("no. १२३४ ५६७८ ९०१२ of Asha", "no. XXXX XXXX ९०१२ of Asha"),
            ("9876 5432 1098 7654", "XXXX XXXX XXXX 7654"),
            ("ABCDE1234F", "XXXXX1234X"),
            ("abcde1234f and ABC1234567", "XXXXX1234X and XXXXXX4567"),
            ("J8369854", "XXXX9854"),
            ("MH12 20110062821", "XXXX XXXXXXX2821"),
            ("KA-0120151234567", "XX-XXXXXXXXX4567"),
        ] {
            assert_eq!(masked(text), shown);
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "2026-01-15",
            "15/01/2026",
            "+91 98123 45678",
            "Rs 1,23,456.00",
            "400001",
            "Flat 12, Pune",
            "आशा",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn the_key_of_a_field_says_that_it_is_a_number() {
        for (key, value, shown) in [
            ("number", "AB 12345", "XX XXXXX"),
            ("idNumber", "99-1234567", "XX-XXX4567"),
            ("passport_no", "Z 1234567", "X XXX4567"),
            ("pan", "12", "XX"),
            ("aadhaar", "", ""),
            ("id", "1234", "XXXX"),
            ("name", "Asha 2", "Asha 2"),
            ("company", "Span 12345", "Span 12345"),
            ("account_holder", "1234 5678 9012", "XXXX XXXX 9012"),
            ("passport_name", "Asha", "Asha"),
        ] {
            assert_eq!(mask_named(key, value), shown, "{key}");
        }
    }
}

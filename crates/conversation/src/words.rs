//! Splits spoken or typed text into normalised words: lower case, one form for each letter, no punctuation,
//! Indian digits as 0-9.

use unicode_normalization::UnicodeNormalization;

/// First digit of each Indian script; the other nine follow it.
const INDIAN_ZEROS: [u32; 9] = [0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66];
/// Word separators besides ASCII punctuation and white space.
const SEPARATORS: &str = "।॥“”„…–—−₹«»•·¿¡，。？！";
/// Characters that are dropped inside words: apostrophes and joiners.
const DROPPED: &str = "'’‘`\u{200b}\u{200c}\u{200d}\u{feff}";

/// The words of a text. A point between two digits is kept (`4.5`), a comma between two digits is dropped
/// (`1,200` becomes `1200`), and a minus before a number becomes the word `minus`.
pub fn words(text: &str) -> Vec<String> {
    let letters: Vec<char> = text
        .nfkc()
        .flat_map(char::to_lowercase)
        .map(plain_digit)
        .filter(|letter| !DROPPED.contains(*letter))
        .collect();
    let digit = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_digit);
    let mut folded = String::with_capacity(text.len());
    for (at, &letter) in letters.iter().enumerate() {
        let (before, after) = (digit(at.checked_sub(1)), digit(Some(at + 1)));
        match letter {
            '.' if before && after => folded.push('.'),
            ',' if before && after => {}
            '-' | '−' if after && (at == 0 || letters[at - 1].is_whitespace()) => {
                folded.push_str(" minus ")
            }
            letter
                if letter.is_ascii_punctuation() || letter.is_whitespace() || SEPARATORS.contains(letter) =>
            {
                folded.push(' ')
            }
            letter => folded.push(letter),
        }
    }
    folded.split_whitespace().map(str::to_owned).collect()
}

/// An Indian digit as 0-9; any other letter as it is.
pub(crate) fn plain_digit(letter: char) -> char {
    let code = u32::from(letter);
    let value = INDIAN_ZEROS.iter().filter_map(|zero| code.checked_sub(*zero)).find(|value| *value < 10);
    value.and_then(|value| char::from_digit(value, 10)).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn texts_become_words() {
        for (text, expected) in [
            ("Yes, PLEASE!", vec!["yes", "please"]),
            ("don't", vec!["dont"]),
            ("₹1,200.50.", vec!["1200.50"]),
            ("at -5 or 98765-43210", vec!["at", "minus", "5", "or", "98765", "43210"]),
            ("जी हाँ।", vec!["जी", "हाँ"]),
            ("१२३ ৪৫ ௬", vec!["123", "45", "6"]),
            (" … ", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}

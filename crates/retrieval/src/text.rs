//! Spelling normalisation, and segmentation into words and sentences.

use std::sync::LazyLock;

use domain::invisible::is_invisible;
use icu_segmenter::options::{SentenceBreakInvariantOptions, WordBreakInvariantOptions};
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed, WordSegmenter, WordSegmenterBorrowed};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

// None of the eleven languages needs a dictionary for word segmentation.
static WORDS: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_for_non_complex_scripts(WordBreakInvariantOptions::default()));
static SENTENCES: LazyLock<SentenceSegmenterBorrowed<'static>> =
    LazyLock::new(|| SentenceSegmenter::new(SentenceBreakInvariantOptions::default()));

/// Longest word that is indexed, in characters; the rest is ignored.
const LONGEST: usize = 40;

/// The letters that a word is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    Latin,
    /// One of the Indian scripts whose blocks have one layout, by the beginning of its block.
    Indian(u32),
    /// Digits, or letters of another script.
    Other,
}

/// Beginnings of the Indian blocks.
pub const DEVANAGARI: u32 = 0x0900;
pub const BENGALI: u32 = 0x0980;
pub const GURMUKHI: u32 = 0x0A00;
pub const GUJARATI: u32 = 0x0A80;
pub const ODIA: u32 = 0x0B00;
pub const TAMIL: u32 = 0x0B80;
pub const TELUGU: u32 = 0x0C00;
pub const KANNADA: u32 = 0x0C80;
pub const MALAYALAM: u32 = 0x0D00;

/// Offsets in an Indian block.
pub const VIRAMA: u32 = 0x4D;
pub const ANUSVARA: u32 = 0x02;

/// The Indian block of a letter, and its place there.
pub fn place(letter: char) -> Option<(u32, u32)> {
    let code = u32::from(letter);
    (DEVANAGARI..MALAYALAM + 0x80).contains(&code).then_some((code & !0x7F, code & 0x7F))
}

/// The letter at a place of a block.
pub fn letter(block: u32, offset: u32) -> char {
    char::from_u32(block + offset).unwrap_or(' ')
}

/// A normalised word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Lower case, without joiners, nukta and marks; digits are Western ones.
    pub text: String,
    /// What it is written in.
    pub script: Script,
}

/// The words of a text, in order.
pub fn words(text: &str) -> Vec<Word> {
    let text: String = text.nfkc().filter(|letter| !is_invisible(*letter)).collect();
    let mut found = Vec::new();
    let mut from = 0;
    for to in WORDS.segment_str(&text) {
        let segment = &text[from..to];
        // The segmenter's own word for this looks at the last letter only, which may be a vowel sign.
        if segment.chars().any(char::is_alphanumeric) {
            for part in parts(segment) {
                found.extend(word(part));
            }
        } else if segment.contains('₹') && of_an_amount(&text[..from], &text[to..]) {
            found.push(rupee());
        }
        from = to;
    }
    found
}

/// A name and its number, or a number and its unit, that are written together: `iPhone15`, `500ml`. A single letter stays with its
/// number (`24x7`, `4G`).
fn parts(segment: &str) -> impl Iterator<Item = &str> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let first_is_digit = segment.starts_with(is_digit);
    let change =
        segment.find(|letter: char| is_digit(letter) != first_is_digit && letter != ',' && letter != '.');
    let at = change.filter(|at| {
        let (one, other) = segment.split_at(*at);
        let (letters, digits) = if first_is_digit { (other, one) } else { (one, other) };
        letters.len() >= 2
            && letters.bytes().all(|letter| letter.is_ascii_alphabetic())
            && digits.bytes().all(|digit| digit.is_ascii_digit() || matches!(digit, b',' | b'.'))
    });
    let (one, other) = segment.split_at(at.unwrap_or(segment.len()));
    [one, other].into_iter().filter(|part| !part.is_empty())
}

/// Whether the sign of rupees between these texts belongs to a number.
fn of_an_amount(before: &str, after: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit() || western(letter).is_some();
    before.trim_end().ends_with(is_digit) || after.trim_start().starts_with(is_digit)
}

/// The word for the sign and the abbreviations of rupees.
fn rupee() -> Word {
    Word { text: "rupee".to_owned(), script: Script::Latin }
}

/// How many words a text has, about.
pub fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The sentences of a text, trimmed.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for to in SENTENCES.segment_str(text) {
        let sentence = text[from..to].trim();
        if !sentence.is_empty() {
            found.push(sentence);
        }
        from = to;
    }
    found
}

fn word(raw: &str) -> Option<Word> {
    let letters: Vec<char> = raw.chars().take(LONGEST).collect();
    let script = letters.iter().find(|letter| letter.is_alphabetic()).map_or(Script::Other, |first| {
        match place(*first) {
            Some((block, _)) => Script::Indian(block),
            None if is_latin(*first) => Script::Latin,
            None => Script::Other,
        }
    });
    let text = match script {
        Script::Indian(_) => indian(&letters),
        Script::Latin | Script::Other => latin(&letters),
    };
    match text.as_str() {
        "" => None,
        "rs" | "inr" => Some(rupee()),
        _ => Some(Word { text, script }),
    }
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphabetic() || matches!(u32::from(letter), 0xC0..=0x24F | 0x1E00..=0x1EFF)
}

/// A digit of any Indian script as a Western one.
fn western(letter: char) -> Option<char> {
    let (_, offset) = place(letter)?;
    (0x66..=0x6F).contains(&offset).then(|| char::from_digit(offset - 0x66, 10).unwrap_or('0'))
}

fn latin(letters: &[char]) -> String {
    let plain: String = letters
        .iter()
        .flat_map(|letter| letter.to_lowercase())
        .nfkd()
        .filter(|letter| !is_combining_mark(*letter))
        .collect();
    let plain = plain.strip_suffix("'s").or_else(|| plain.strip_suffix("\u{2019}s")).unwrap_or(&plain);
    // What is left of "1,999.50", "don't" and "e.g" besides letters and digits; a point between digits stays.
    let letters: Vec<char> = plain.chars().map(|letter| western(letter).unwrap_or(letter)).collect();
    let between_digits = |at: usize| {
        let digit = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_digit);
        digit(at.checked_sub(1)) && digit(Some(at + 1))
    };
    let text: String = letters
        .iter()
        .enumerate()
        .filter(|(at, letter)| letter.is_alphanumeric() || (**letter == '.' && between_digits(*at)))
        .map(|(_, letter)| *letter)
        .collect();
    // An amount with no paise is the same as the number of rupees.
    let whole = text.strip_suffix(".00").filter(|whole| whole.bytes().all(|digit| digit.is_ascii_digit()));
    whole.map_or_else(|| text.clone(), str::to_owned)
}

/// Chillu letters of Malayalam: a consonant that has no vowel.
const CHILLU: [(char, u32); 6] = [
    ('\u{0D7A}', 0x23),
    ('\u{0D7B}', 0x28),
    ('\u{0D7C}', 0x30),
    ('\u{0D7D}', 0x32),
    ('\u{0D7E}', 0x33),
    ('\u{0D7F}', 0x15),
];

fn indian(letters: &[char]) -> String {
    let mut out: Vec<char> = Vec::with_capacity(letters.len());
    let mut at = 0;
    while at < letters.len() {
        let letter_here = letters[at];
        at += 1;
        let rest = &letters[at..];
        let Some((block, offset)) = place(letter_here) else {
            out.extend(letter_here.to_lowercase().filter(|letter| letter.is_alphanumeric()));
            continue;
        };
        if let Some(digit) = western(letter_here) {
            out.push(digit);
            continue;
        }
        if let Some((_, base)) = CHILLU.iter().find(|(chillu, _)| *chillu == letter_here) {
            out.extend([letter(block, *base), letter(block, VIRAMA)]);
            continue;
        }
        let next = |step: usize| {
            let following = rest.get(step).and_then(|letter| place(*letter));
            following.filter(|(other, _)| *other == block).map(|(_, offset)| offset)
        };
        match offset {
            // In Bengali the dot makes other letters of these.
            0x3C if block == BENGALI && dotted(out.last()).is_some() => {
                let with_dot = dotted(out.pop().as_ref());
                out.extend(with_dot.map(|offset| letter(block, offset)));
            }
            // The dot below, the vowel that is not there, the doubling of Gurmukhi.
            0x3C | 0x3D => {}
            0x71 if block == GURMUKHI => {}
            0x70 if block == GURMUKHI => out.push(letter(block, ANUSVARA)),
            0x01 => out.push(letter(block, ANUSVARA)),
            0x03 if block == DEVANAGARI => {}
            0x4E if block == BENGALI => out.extend([letter(block, 0x24), letter(block, VIRAMA)]),
            // A nasal before a consonant of its own class is written as a dot by some.
            0x19 | 0x1E | 0x23 | 0x28 | 0x2E if block != TAMIL && nasal_of(offset, next(0), next(1)) => {
                out.push(letter(block, ANUSVARA));
                at += 1;
            }
            // Vowels of English words.
            0x11 if matches!(block, DEVANAGARI | GUJARATI) => out.push(letter(block, 0x06)),
            0x49 if matches!(block, DEVANAGARI | GUJARATI) => out.push(letter(block, 0x3E)),
            0x0D | 0x72 if matches!(block, DEVANAGARI | GUJARATI) => out.push(letter(block, 0x0F)),
            0x45 if matches!(block, DEVANAGARI | GUJARATI) => out.push(letter(block, 0x47)),
            _ => out.push(letter_here),
        }
    }
    glide(&mut out);
    out.into_iter().collect()
}

/// The offset of the Bengali letter that this one is with a dot.
fn dotted(before: Option<&char>) -> Option<u32> {
    match place(*before?)? {
        (BENGALI, 0x21) => Some(0x5C),
        (BENGALI, 0x22) => Some(0x5D),
        (BENGALI, 0x2F) => Some(0x5F),
        _ => None,
    }
}

/// Whether a nasal, a virama and a consonant follow each other and belong to one class.
fn nasal_of(nasal: u32, virama: Option<u32>, consonant: Option<u32>) -> bool {
    let class = match nasal {
        0x19 => 0x15..=0x18,
        0x1E => 0x1A..=0x1D,
        0x23 => 0x1F..=0x22,
        0x28 => 0x24..=0x27,
        _ => 0x2A..=0x2D,
    };
    virama == Some(VIRAMA) && consonant.is_some_and(|consonant| class.contains(&consonant))
}

/// `रुपये` and `रुपए`, `गयी` and `गई` are one word: at the end, the glide is not written.
fn glide(word: &mut Vec<char>) {
    let end = word.len() - usize::from(word.last() == Some(&letter(DEVANAGARI, ANUSVARA)));
    if end < 3 || word[end - 2] != letter(DEVANAGARI, 0x2F) {
        return;
    }
    let vowel = match place(word[end - 1]) {
        Some((DEVANAGARI, 0x47)) => 0x0F,
        Some((DEVANAGARI, 0x40)) => 0x08,
        _ => return,
    };
    word.splice(end - 2..end, [letter(DEVANAGARI, vowel)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn spellings_of_a_word_become_one() {
        for (one, other) in [
            ("हिन्दी", "हिंदी"),
            ("कम्पनी", "कंपनी"),
            ("क़ीमत", "कीमत"),
            ("ज़रूरी", "जरूरी"),
            ("कहाँ", "कहां"),
            ("रुपये", "रुपए"),
            ("गयी", "गई"),
            ("ऑर्डर", "आर्डर"),
            ("ക്ഷേത്രത്തിൽ", "ക്ഷേത്രത്തില്"),
            ("ਪੰਜਾਬ", "ਪਂਜਾਬ"),
            ("Café", "cafe"),
            ("customer's", "customer"),
            ("१२३", "123"),
            ("௧௨", "12"),
            ("1,999", "1999"),
            ("₹499", "499 rupee"),
            ("Rs. 499.00", "499 rupee"),
            ("499 INR", "499 rupee"),
            ("iPhone15", "iphone 15"),
            ("500ml", "500 ml"),
            ("1,000kg", "1000 kg"),
            ("क\u{200D}्या", "क्या"),
            ("par\u{FE0D}cel", "parcel"),
            ("de\u{34F}live\u{2062}r\u{E0065}y\u{61C}", "delivery"),
        ] {
            let [mut one_words, mut other_words] = [one, other].map(spelled);
            one_words.sort();
            other_words.sort();
            assert_eq!(one_words, other_words, "{one} and {other}");
        }
        for whole in ["24x7", "4g", "b2b", "2bhk2", "a1"] {
            assert_eq!(spelled(whole), [whole]);
        }
    }

    #[test]
    fn words_are_found_in_every_script() {
        assert_eq!(spelled("मेरा पार्सल, कहाँ है?"), ["मेरा", "पार्सल", "कहां", "है"]);
        assert_eq!(spelled("எங்கள் கடை 9.30 மணிக்கு"), ["எங்கள்", "கடை", "9.30", "மணிக்கு"]);
        assert_eq!(
            spelled("Pay ₹1,999 by UPI/NEFT (24x7)."),
            ["pay", "rupee", "1999", "by", "upi", "neft", "24x7"]
        );
        assert_eq!(spelled(" … ₹ —"), Vec::<String>::new());
    }

    #[test]
    fn sentences_end_at_stops_of_both_kinds() {
        assert_eq!(
            sentences("पहला वाक्य। दूसरा वाक्य। Third one. Is it?"),
            ["पहला वाक्य।", "दूसरा वाक्य।", "Third one.", "Is it?"]
        );
    }
}

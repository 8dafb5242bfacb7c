//! Text whose fonts map glyphs to wrong characters. Some programs write such maps for Indian scripts, and no text
//! (`/ActualText`) beside them. They are detected by signs where no script has them: a vowel sign without a letter, or
//! two of them on one letter.

use domain::knowledge::Block;

/// Why such a document is refused.
pub const REASON: &str = "its fonts name other characters than they show, so that its words would be wrong; upload the \
                          document it was made from, or a PDF from which words can be copied";
/// How many words must be impossible, and which share, in percent, of the words in Indian scripts. People write a sign
/// in the wrong order now and then, and a line of a page may break a word.
const MIN_WORDS: usize = 4;
const MIN_SHARE: usize = 8;
/// The same for glyphs without a character among Indian letters: of all these letters.
const MIN_LOST: usize = 6;
const MIN_LOST_SHARE: usize = 3;

/// Whether too many of the words are impossible.
pub fn reads_as_garbled(blocks: &[Block]) -> bool {
    let (mut all, mut impossible) = (0, 0);
    for word in blocks.iter().flat_map(|block| block.text.split_whitespace()) {
        if word.chars().any(|letter| offset(letter).is_some()) {
            all += 1;
            impossible += usize::from(is_impossible(word));
        }
    }
    impossible >= MIN_WORDS && impossible * 100 >= all * MIN_SHARE
}

/// Whether too many glyphs among Indian letters have no character.
pub fn lost_too_much(lost: usize, letters: usize) -> bool {
    lost >= MIN_LOST && lost * 100 >= letters * MIN_LOST_SHARE
}

/// The place of a character in the layout that the blocks of nine Indian scripts share; none for other characters.
pub fn offset(letter: char) -> Option<u32> {
    let code = u32::from(letter);
    // Digits and the two dandas, which the scripts share, are no letters.
    let place = code & 0x7f;
    ((0x900..0xd80).contains(&code) && !matches!(place, 0x64..=0x6f)).then_some(place)
}

/// It is a letter, where other scripts have a sign.
const TAMIL_AYTHAM: char = '\u{b83}';

/// What a character is to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Vowel,
    Virama,
    /// Anusvara and the like, behind all others.
    Final,
    /// A dot below a letter; the second part of a vowel sign.
    Part,
}

fn sign(letter: char) -> Option<Sign> {
    if letter == TAMIL_AYTHAM {
        return None;
    }
    Some(match offset(letter)? {
        0x3c | 0x55..=0x57 => Sign::Part,
        0x01..=0x03 => Sign::Final,
        0x3e..=0x4c => Sign::Vowel,
        0x4d => Sign::Virama,
        _ => return None,
    })
}

/// Whether two signs are the parts of one.
fn are_one(first: char, second: char) -> bool {
    match (offset(first), offset(second)) {
        (Some(0x46 | 0x47), Some(0x3e)) => true,
        // Kannada: ೊ.
        (Some(0x46), Some(0x42)) => second == '\u{cc2}',
        _ => false,
    }
}

/// Whether a word has a sign where no script has one.
fn is_impossible(word: &str) -> bool {
    let mut before: Option<char> = None;
    for letter in word.chars().filter(|letter| !matches!(letter, '\u{200b}'..='\u{200d}')) {
        let wrong = match (sign(letter), before) {
            (None, _) => false,
            // A dotted circle shows a sign by itself.
            (Some(_), Some('\u{25cc}' | '\u{a0}')) => false,
            (Some(_), Some(before)) if offset(before).is_none() => true,
            (Some(_), None) => true,
            (Some(own), Some(before)) => match (sign(before), own) {
                (Some(Sign::Vowel), Sign::Vowel) => !are_one(before, letter),
                (Some(Sign::Virama | Sign::Final), Sign::Vowel) | (Some(Sign::Virama), Sign::Virama) => true,
                _ => false,
            },
        };
        if wrong {
            return true;
        }
        before = Some(letter);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_without_a_letter_are_impossible() {
        for word in ["ेंे", "जूर्तेंे", "र्तेंीस", "ெபறுதல்", "िदन", "(ि", "क््", "का्ा", "5ी"]
        {
            assert!(is_impossible(word), "{word}");
        }
    }

    #[test]
    fn words_of_all_scripts_are_possible() {
        for words in [
            "दिल्ली में ऋण की क़िस्त ढ़ाई अॅप ऑर्डर दुःख हाँ संस्कृत क्‍ष अतः, ◌ि",
            "বাংলা কোন দুঃখ অ্যাপ হঠাৎ কো",
            "ਪੰਜਾਬੀ ਸਿੱਖ ਪ੍ਰਸ਼ਨ",
            "ગુજરાતી ઑર્ડર દુઃખ",
            "ଓଡ଼ିଆ କୋଣ କୌଣସି କୋ",
            "தமிழ் கொடு நோட்டு கொ ஃபோன்",
            "తెలుగు కైలాసం దుఃఖం",
            "ಕನ್ನಡ ಕೊಡು ಕೊ ಕೋಟಿ",
            "മലയാളം അവനു് കൊച്ചി കൊ കൗ",
            "Latin words, 25 ₹ and हिन्दी2",
        ] {
            for word in words.split_whitespace() {
                assert!(!is_impossible(word), "{word}");
            }
        }
    }
}

//! One form for the spellings of a word: of an Indian script by its letters, of Latin letters by their sounds.

use unicode_normalization::UnicodeNormalization;

/// Where the scripts of the ten languages begin; each has the same letters at the same distances.
const SCRIPTS: std::ops::Range<u32> = 0x0900..0x0D80;
const VIRAMA: u32 = 0x4D;
const ANUSVARA: u32 = 0x02;

/// The script of a letter (its first code point) and the letter's distance from it.
fn place(letter: char) -> Option<(u32, u32)> {
    let code = u32::from(letter);
    SCRIPTS.contains(&code).then_some((code & !0x7F, code & 0x7F))
}

const fn consonant(at: u32) -> bool {
    matches!(at, 0x15..=0x39 | 0x71)
}

/// Whether the word is in one of the Indian scripts.
pub fn native(word: &str) -> bool {
    word.chars().any(|letter| place(letter).is_some())
}

/// The sign that a vowel is written with after a consonant: none for the `a` that every consonant has. `None` for
/// what is no vowel of an Indian script.
pub fn vowel_sign(letter: char) -> Option<Option<char>> {
    let (script, at) = place(letter)?;
    match at {
        0x05 => Some(None),
        0x06..=0x0A | 0x0E..=0x14 => Some(char::from_u32(script | (at + 0x38))),
        _ => None,
    }
}

/// The word without the differences in spelling that nobody hears: nukta, joiners, doubled letters, the
/// length of i and u, nasal signs.
pub fn letters(word: &str) -> String {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for letter in word.nfkc().flat_map(char::to_lowercase) {
        let Some((script, at)) = place(letter) else {
            if !"\u{200b}\u{200c}\u{200d}\u{feff}'’‘`".contains(letter) {
                out.push((0, u32::from(letter)));
            }
            continue;
        };
        let southern = script >= 0x0B80;
        match at {
            0x03 | 0x3C => {}
            0x71 if script == 0x0A00 => {}
            0x01 | 0x70 if script < 0x0D00 => out.push((script, ANUSVARA)),
            0x7A..=0x7F if script == 0x0D00 => {
                let full = [0x23, 0x28, 0x30, 0x32, 0x33, 0x15][at as usize - 0x7A];
                out.extend([(script, full), (script, VIRAMA)]);
            }
            _ => out.push((script, even(script, at, southern))),
        }
    }
    short(&out)
}

fn even(script: u32, at: u32, southern: bool) -> u32 {
    match at {
        0x40 => 0x3F,
        0x42 => 0x41,
        0x08 => 0x07,
        0x0A => 0x09,
        0x29 => 0x28,
        0x31 if script != 0x0D00 => 0x30,
        0x47 if southern => 0x46,
        0x4B if southern => 0x4A,
        0x0F if southern => 0x0E,
        0x13 if southern => 0x12,
        0x71 if script == 0x0B00 => 0x35,
        other => other,
    }
}

/// Doubled consonants become one, a nasal before another consonant the nasal sign, and a virama or the short
/// u of Malayalam at the end of the word is dropped.
fn short(letters: &[(u32, u32)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(&(script, letter)) = letters.get(at) {
        let next = |ahead: usize| letters.get(at + ahead).filter(|next| next.0 == script).map(|next| next.1);
        if script != 0 && consonant(letter) && next(1) == Some(VIRAMA) {
            let after = next(2).filter(|after| consonant(*after));
            let nasal = matches!(letter, 0x19 | 0x1E | 0x23 | 0x28 | 0x2E);
            if after == Some(letter) {
                // A doubled ṟ is said as a t in Malayalam.
                if script == 0x0D00 && letter == 0x31 {
                    out.extend(char::from_u32(script | 0x1F));
                    at += 3;
                } else {
                    at += 2;
                }
                continue;
            }
            if nasal
                && after.is_some_and(|after| !matches!(after, 0x19 | 0x1E | 0x23 | 0x28 | 0x2E..=0x35 | 0x39))
            {
                out.extend(char::from_u32(script | ANUSVARA));
                at += 2;
                continue;
            }
        }
        let last = at + 1 == letters.len() && at > 0;
        let silent = letter == VIRAMA || (script == 0x0D00 && letter == 0x41 && at > 1);
        if !(script != 0 && last && silent) {
            out.extend(char::from_u32(script | letter));
        }
        at += 1;
    }
    out
}

/// The sounds of a word in an Indian script that may be an English one (`ट्वेंटी` is `Tventi`), without any
/// `a`: English `t` and `d` are both `T`, so that they are not the dental ones.
pub fn english_sounds(word: &str) -> String {
    let mut out = String::new();
    for letter in letters(word).chars() {
        let Some((script, at)) = place(letter) else { continue };
        let bengali = script == 0x0980 || script == 0x0B00;
        out.push_str(match at {
            0x15 | 0x16 => "k",
            0x17 | 0x18 => "g",
            0x1A if script == 0x0B80 => "s",
            0x1A | 0x1B => "c",
            0x1C | 0x1D => "j",
            0x1F..=0x22 => "T",
            0x24 | 0x25 => "t",
            0x26 | 0x27 => "d",
            0x02 | 0x19 | 0x1E | 0x23 | 0x28 | 0x29 => "n",
            0x2A => "p",
            0x2B => "f",
            0x2C => "b",
            0x2D if bengali => "v",
            0x2D => "b",
            0x2E => "m",
            0x2F => "y",
            0x31 if script == 0x0D00 && out.ends_with('n') => "T",
            0x30 | 0x31 => "r",
            0x32..=0x34 => "l",
            0x35 | 0x71 => "v",
            0x36..=0x38 => "s",
            0x39 if out.ends_with('v') => "",
            0x39 => "h",
            0x07 | 0x3F => "i",
            0x09 | 0x41 => "u",
            0x0D..=0x0F | 0x45..=0x47 => "e",
            0x10 | 0x48 => "i",
            0x11..=0x13 | 0x49..=0x4B => "o",
            0x14 | 0x4C | 0x57 => "u",
            _ => "",
        });
    }
    out
}

/// The sounds of a word in Latin letters, as far as they tell words of the language apart.
pub fn latin_sounds(word: &str, language: &str) -> String {
    let mut text = word.to_owned();
    for (from, to) in [
        ("aa", "a"),
        ("ee", "i"),
        ("ii", "i"),
        ("oo", "u"),
        ("uu", "u"),
        ("w", "v"),
        ("zh", "l"),
        ("z", "j"),
        ("ph", "f"),
        ("chh", "c"),
        ("ch", "c"),
        ("x", "ks"),
        ("q", "k"),
        ("iya", "ia"),
        ("aai", "ai"),
        ("ei", "e"),
    ] {
        text = text.replace(from, to);
    }
    if matches!(language, "bn" | "or") {
        text = text.replace('o', "a").replace('v', "b");
    }
    let mut out = String::new();
    for letter in text.chars() {
        let aspirate = letter == 'h' && out.ends_with(|last: char| !"aeiou".contains(last));
        if aspirate || out.ends_with(letter) {
            continue;
        }
        out.push(match letter {
            'g' if matches!(language, "ta" | "ml") => 'k',
            'd' if matches!(language, "ta" | "ml") => 't',
            'b' if matches!(language, "ta" | "ml") => 'p',
            'j' | 's' if matches!(language, "ta" | "ml") => 'c',
            letter => letter,
        });
    }
    let southern = matches!(language, "ta" | "te" | "kn" | "ml");
    while out.len() > 3
        && out.ends_with(|last| {
            last == 'h' || (southern && "aiu".contains(last)) || (language == "or" && last == 'a')
        })
    {
        out.pop();
    }
    out
}

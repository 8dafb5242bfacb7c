//! Phonetic keys: how a word sounds, the same whether it is written in Latin or in Indian letters.
//!
//! Nobody agrees on how Hindi or Tamil is written in Latin letters, and English words are written in every
//! Indian script by ear. What all spellings keep is the order of the consonants. So the first key of a word has
//! its consonants only, with those that are mixed up merged: aspirates, `w` and `v`, `s` and `sh`, `z` and `j`,
//! `f` and `ph`, doubled letters. A second one keeps the vowels in three classes, which tells short words apart.
//! Two more are for Tamil, whose script has one letter for `k` and `g`, `t` and `d`, `p` and `b`: one has the merged
//! consonants only, the other also the vowels, for words of two consonants.
//!
//! Where a letter has two readings (a silent `e`, Bengali `ভ` for `b` and `v`), a word has the keys of both.

use crate::text::{
    ANUSVARA, BENGALI, GURMUKHI, KANNADA, MALAYALAM, ODIA, Script, TAMIL, TELUGU, VIRAMA, Word, place,
};

/// How closely a key describes a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Its consonants, merged for Tamil.
    Tamil,
    /// Its two consonants, merged for Tamil, and the classes of its vowels.
    TamilVowels,
    Consonants,
    /// Its consonants and the classes of its vowels.
    Vowels,
}

/// A key of a word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub kind: Kind,
    /// The key; its first letter names the kind, so that keys of two kinds are never equal.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sound {
    Consonant(char),
    /// `a`, `i` or `u`: open, front, back.
    Vowel(char),
    /// The `a` that a consonant of an Indian script has by itself; it is often not spoken.
    Inherent,
}
use Sound::{Consonant, Inherent, Vowel};

/// The keys of a word; none of a word that is too short to be distinctive.
pub fn keys(word: &Word) -> Vec<Key> {
    let mut found = Vec::new();
    match word.script {
        Script::Latin => {
            let letters: Vec<char> = word.text.chars().filter(char::is_ascii_lowercase).collect();
            if letters.len() != word.text.chars().count() {
                return found;
            }
            let sounds = latin(&letters, false);
            add(&mut found, &sounds, Adds::All);
            for reading in silent_e(&letters, &sounds).into_iter().chain(open_o(&letters, &sounds)) {
                add(&mut found, &reading, Adds::WithVowels);
            }
            if letters.windows(2).any(|pair| pair[0] == 'g' && is_front(Some(&pair[1]))) {
                add(&mut found, &latin(&letters, true), Adds::All);
            }
            let vowels = letters.iter().filter(|letter| is_vowel(**letter)).count();
            if letters.len() <= 3 || (vowels == 0 && letters.len() <= 5) {
                add(&mut found, &letter_by_letter(&letters), Adds::All);
            }
        }
        Script::Indian(block) => {
            let letters: Vec<char> = word.text.chars().collect();
            let adds = if block == TAMIL { Adds::OfTamil } else { Adds::All };
            add(&mut found, &indian(block, &letters, false), adds);
            if let Some(without) = without_last_nasal(block, &letters) {
                add(&mut found, &indian(block, without, false), adds);
            }
            if has_v(block, &letters) {
                add(&mut found, &indian(block, &letters, true), adds);
            }
        }
        Script::Other => {}
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The readings of a Latin word that ends in a silent `e`: without it, and with the vowel that it lengthens (`time`, `rate`).
fn silent_e(letters: &[char], sounds: &[Sound]) -> Vec<Vec<Sound>> {
    let [.., vowel, consonant, 'e'] = letters else { return Vec::new() };
    let spoken = letters[..letters.len() - 1].iter().any(|letter| is_vowel(*letter));
    if is_vowel(*consonant) || !spoken {
        return Vec::new();
    }
    let short = sounds[..sounds.len() - 1].to_vec();
    let long = match (vowel, short.len().checked_sub(2)) {
        ('i', Some(at)) => Some((at, 'a')),
        ('a', Some(at)) => Some((at, 'i')),
        _ => None,
    };
    let lengthened = long.map(|(at, class)| {
        let mut sounds = short.clone();
        sounds[at] = Vowel(class);
        sounds
    });
    lengthened.into_iter().chain([short]).collect()
}

/// A Latin word whose `o` is written as an open vowel in Indian letters: `shop`, `शॉप`.
fn open_o(letters: &[char], sounds: &[Sound]) -> Option<Vec<Sound>> {
    let one = letters.iter().filter(|letter| is_vowel(**letter)).eq([&'o']);
    one.then(|| sounds.iter().map(|sound| if *sound == Vowel('u') { Vowel('a') } else { *sound }).collect())
}

/// Whether a word of Bengali or Odia has letters that also write `v` or `w` of other languages.
fn has_v(block: u32, letters: &[char]) -> bool {
    let offsets = letters.iter().map(|letter| place(*letter).map_or(0, |(_, offset)| offset));
    matches!(block, BENGALI | ODIA) && offsets.into_iter().any(|offset| matches!(offset, BHA | O))
}

/// A nasal at the end is often not written in Latin letters: `nahi` for `नहीं`.
fn without_last_nasal(block: u32, letters: &[char]) -> Option<&[char]> {
    let (last, rest) = letters.split_last()?;
    let nasal = place(*last).is_some_and(|(_, offset)| offset == ANUSVARA);
    (nasal && !matches!(block, TELUGU | KANNADA | MALAYALAM)).then_some(rest)
}

/// Offsets of `bh` and of the letter `o` in an Indian block.
const BHA: u32 = 0x2D;
const O: u32 = 0x13;

/// Which keys a reading adds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Adds {
    All,
    /// Those that contain vowels.
    WithVowels,
    /// Those for Tamil only.
    OfTamil,
}

fn add(keys: &mut Vec<Key>, sounds: &[Sound], adds: Adds) {
    let (common, vowels_only) = (adds != Adds::OfTamil, adds == Adds::WithVowels);
    let begins_with_vowel = matches!(sounds.first(), Some(Vowel(_)));
    let mut consonants = String::new();
    let mut vowels = String::new();
    let mut syllables = 0;
    let mut before: Option<Sound> = None;
    for (at, sound) in sounds.iter().enumerate() {
        match sound {
            // A doubled letter.
            Consonant(_) if before == Some(*sound) => {}
            Consonant(letter) => {
                consonants.push(*letter);
                vowels.push(*letter);
            }
            Vowel(class) => {
                if !matches!(before, Some(Vowel(_))) {
                    vowels.push(*class);
                    syllables += 1;
                }
            }
            Inherent if at + 1 < sounds.len() && !matches!(sounds[at + 1], Vowel(_)) => vowels.push('a'),
            Inherent => {}
        }
        before = Some(*sound);
    }
    let initial = if begins_with_vowel { "a" } else { "" };
    let length = consonants.chars().count();
    if length == 0 || length + usize::from(begins_with_vowel) < 2 {
        if length == 1 && syllables >= 1 && vowels.len() >= 3 && common {
            keys.push(Key { kind: Kind::Vowels, text: format!("V{vowels}") });
        }
        return;
    }
    if common {
        if !vowels_only {
            keys.push(Key { kind: Kind::Consonants, text: format!("C{initial}{consonants}") });
        }
        keys.push(Key { kind: Kind::Vowels, text: format!("V{vowels}") });
    }
    if length == 2 {
        let merged: String = vowels.chars().map(of_tamil).collect();
        keys.push(Key { kind: Kind::TamilVowels, text: format!("U{merged}") });
    }
    if !vowels_only {
        let mut merged = format!("T{initial}");
        for letter in consonants.chars().map(of_tamil) {
            if !merged.ends_with(letter) || letter == 'n' {
                merged.push(letter);
            }
        }
        if merged.len() > 2 {
            keys.push(Key { kind: Kind::Tamil, text: merged });
        }
    }
}

fn of_tamil(letter: char) -> char {
    match letter {
        'g' | 'h' => 'k',
        'd' => 't',
        'b' => 'p',
        'c' | 'j' => 's',
        other => other,
    }
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

fn is_front(letter: Option<&char>) -> bool {
    matches!(letter, Some('e' | 'i' | 'y'))
}

/// The sounds of a word in Latin letters, be it English or an Indian language as people type it.
fn latin(letters: &[char], soft_g: bool) -> Vec<Sound> {
    let mut out: Vec<Sound> = Vec::with_capacity(letters.len());
    let mut at = 0;
    while at < letters.len() {
        let rest = &letters[at..];
        let next = rest.get(1);
        let begins =
            |text: &str| text.chars().enumerate().all(|(step, letter)| rest.get(step) == Some(&letter));
        let first = at == 0;
        let (sounds, length): (&[Sound], usize) = match rest[0] {
            't' if !first && begins("tion") => (&[Consonant('s'), Inherent, Consonant('n')], 4),
            's' if !first && begins("sion") => (&[Consonant('s'), Inherent, Consonant('n')], 4),
            'i' if !first && begins("ight") => (&[Vowel('a'), Consonant('t')], 4),
            't' if begins("tch") => (&[Consonant('c')], 3),
            's' if begins("sch") => (&[Consonant('s'), Consonant('k')], 3),
            'c' if begins("chn") => (&[Consonant('k')], 2),
            'c' if begins("ch") => (&[Consonant('c')], 2),
            's' if begins("sh") => (&[Consonant('s')], 2),
            'z' if begins("zh") => (&[Consonant('l')], 2),
            'k' if first && begins("kn") => (&[], 1),
            'd' if begins("dge") => (&[Consonant('j')], 2),
            'q' if rest.len() == 3 && begins("que") => (&[Consonant('k')], 3),
            'q' if begins("qu") => (&[Consonant('k'), Consonant('v')], 2),
            'q' => (&[Consonant('k')], 1),
            'x' if first => (&[Consonant('j')], 1),
            'x' => (&[Consonant('k'), Consonant('s')], 1),
            'c' if is_front(next) => (&[Consonant('s')], 1),
            'c' | 'k' => (&[Consonant('k')], 1),
            'g' if soft_g && is_front(next) => (&[Consonant('j')], 1),
            'z' | 'j' => (&[Consonant('j')], 1),
            'w' | 'v' => (&[Consonant('v')], 1),
            'f' | 'p' => (&[Consonant('p')], 1),
            'm' if matches!(next, Some('b' | 'p')) => (&[Consonant('n')], 1),
            // Aspirates, and the `h` of `nh`, `wh` and the like.
            'h' if at > 0 && !is_vowel(letters[at - 1]) => (&[], 1),
            'b' => (&[Consonant('b')], 1),
            'd' => (&[Consonant('d')], 1),
            'g' => (&[Consonant('g')], 1),
            'h' => (&[Consonant('h')], 1),
            'l' => (&[Consonant('l')], 1),
            'm' => (&[Consonant('m')], 1),
            'n' => (&[Consonant('n')], 1),
            'r' => (&[Consonant('r')], 1),
            's' => (&[Consonant('s')], 1),
            't' => (&[Consonant('t')], 1),
            'y' if first && next.is_some_and(|next| is_vowel(*next)) => (&[Consonant('y')], 1),
            'a' if begins("ai") || begins("ay") => (&[Vowel('i')], 2),
            'a' if begins("au") => (&[Vowel('u')], 2),
            'e' if begins("ea") || begins("ee") || begins("ei") || begins("ey") => (&[Vowel('i')], 2),
            'o' if begins("oo") || begins("oa") || begins("ou") || begins("oi") => (&[Vowel('u')], 2),
            'a' => (&[Vowel('a')], 1),
            'o' | 'u' => (&[Vowel('u')], 1),
            _ => (&[Vowel('i')], 1),
        };
        out.extend_from_slice(sounds);
        at += length;
    }
    out
}

/// The sounds of letters that are named one by one: `KYC` is `के वाई सी`.
fn letter_by_letter(letters: &[char]) -> Vec<Sound> {
    let mut out = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        let sounds: &[Sound] = match letter {
            'b' => &[Consonant('b'), Vowel('i')],
            'c' => &[Consonant('s'), Vowel('i')],
            'd' => &[Consonant('d'), Vowel('i')],
            'f' => &[Vowel('i'), Consonant('p')],
            'g' => &[Consonant('j'), Vowel('i')],
            'h' => &[Vowel('i'), Consonant('c')],
            'j' => &[Consonant('j'), Vowel('i')],
            'k' => &[Consonant('k'), Vowel('i')],
            'l' => &[Vowel('i'), Consonant('l')],
            'm' => &[Vowel('i'), Consonant('m')],
            'n' => &[Vowel('i'), Consonant('n')],
            'p' => &[Consonant('p'), Vowel('i')],
            'q' => &[Consonant('k'), Vowel('u')],
            'r' => &[Vowel('a'), Consonant('r')],
            's' => &[Vowel('i'), Consonant('s')],
            't' => &[Consonant('t'), Vowel('i')],
            'u' if at == 0 => &[Consonant('y'), Vowel('u')],
            'v' => &[Consonant('v'), Vowel('i')],
            'w' => &[Consonant('d'), Consonant('b'), Consonant('l'), Vowel('u')],
            'x' => &[Vowel('i'), Consonant('k'), Consonant('s')],
            'y' => &[Consonant('v'), Vowel('a')],
            'z' => &[Consonant('j'), Vowel('i'), Consonant('d')],
            'o' | 'u' => &[Vowel('u')],
            _ => &[Vowel('i')],
        };
        out.extend_from_slice(sounds);
    }
    out
}

/// The sounds of a word in an Indian script, in its one spelling. `foreign`: letters that write `v` of other languages are read so.
fn indian(block: u32, letters: &[char], foreign: bool) -> Vec<Sound> {
    let offsets: Vec<u32> =
        letters.iter().map(|letter| place(*letter).map_or(0, |(_, offset)| offset)).collect();
    let mut out: Vec<Sound> = Vec::with_capacity(offsets.len() * 2);
    let mut at = 0;
    while at < offsets.len() {
        let offset = offsets[at];
        let next = offsets.get(at + 1).copied();
        let joined = at > 0 && offsets[at - 1] == VIRAMA;
        at += 1;
        if foreign && offset == O && next == Some(0x5F) {
            // `ওয়` is `w`; its vowel sign follows.
            out.push(Consonant('v'));
            at += 1;
            if offsets.get(at).is_none_or(|sign| vowel(*sign).is_none()) {
                out.push(Inherent);
            }
            continue;
        }
        if let Some(class) = vowel(offset) {
            out.push(Vowel(class));
            continue;
        }
        match offset {
            // Before a nasal, the dot of Gurmukhi doubles it.
            ANUSVARA if block == GURMUKHI && matches!(next, Some(0x23 | 0x28 | 0x2E)) => continue,
            ANUSVARA => {
                let last = at == offsets.len();
                let as_m = last && matches!(block, TELUGU | KANNADA | MALAYALAM);
                out.push(Consonant(if as_m { 'm' } else { 'n' }));
                continue;
            }
            // Vocalic r, as a letter or as a sign.
            0x0B | 0x43 => {
                if offset == 0x43 && out.last() == Some(&Inherent) {
                    out.pop();
                }
                out.extend([Consonant('r'), Vowel('i')]);
                continue;
            }
            0x15..=0x39 | 0x5C | 0x5D | 0x5F => {}
            0x71 if block == ODIA => {}
            _ => continue,
        }
        let pair = (next == Some(VIRAMA)).then(|| offsets.get(at + 1).copied()).flatten();
        let class = match offset {
            // `ज्ञ` is spoken as one sound.
            0x1C if pair == Some(0x1E) => {
                at += 2;
                Some('g')
            }
            0x19 if next == Some(VIRAMA) && at + 1 == offsets.len() => {
                out.push(Consonant('n'));
                Some('g')
            }
            0x31 if block == MALAYALAM && pair == Some(0x31) => {
                at += 1;
                continue;
            }
            0x31 if block == MALAYALAM && joined => Some('t'),
            // A nasal before a labial is written as any nasal.
            0x2E if matches!(pair, Some(0x2A..=0x2D)) => Some('n'),
            0x2F if matches!(block, BENGALI | ODIA) && !joined => Some('j'),
            0x2F | 0x5F => (at == 1).then_some('y'),
            0x39 if joined => None,
            BHA if foreign => Some('v'),
            _ => consonant(offset),
        };
        // What is joined to the consonant before takes its vowel.
        out.extend(class.map(Consonant));
        match offsets.get(at).copied() {
            Some(VIRAMA) => at += 1,
            Some(sign) if vowel(sign).is_some() || sign == 0x43 => {}
            _ => out.push(Inherent),
        }
    }
    out
}

/// The class of a vowel, as a letter or as a sign.
fn vowel(offset: u32) -> Option<char> {
    Some(match offset {
        0x05 | 0x06 | 0x3E => 'a',
        0x07 | 0x08 | 0x0D..=0x10 | 0x3F | 0x40 | 0x45..=0x48 => 'i',
        0x09 | 0x0A | 0x11..=0x14 | 0x41 | 0x42 | 0x49..=0x4C | 0x57 => 'u',
        _ => return None,
    })
}

fn consonant(offset: u32) -> Option<char> {
    Some(match offset {
        0x15 | 0x16 => 'k',
        0x17 | 0x18 => 'g',
        0x19 | 0x1E | 0x23 | 0x28 | 0x29 => 'n',
        0x1A | 0x1B => 'c',
        0x1C | 0x1D => 'j',
        0x1F | 0x20 | 0x24 | 0x25 => 't',
        0x21 | 0x22 | 0x26 | 0x27 => 'd',
        0x2A | 0x2B => 'p',
        0x2C | 0x2D => 'b',
        0x2E => 'm',
        0x30 | 0x31 | 0x5C | 0x5D => 'r',
        0x32..=0x34 => 'l',
        0x35 | 0x71 => 'v',
        0x36..=0x38 => 's',
        0x39 => 'h',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    fn of(text: &str, kind: Kind) -> Vec<String> {
        keys(&words(text)[0]).into_iter().filter(|key| key.kind == kind).map(|key| key.text).collect()
    }

    fn meet(one: &str, other: &str) -> bool {
        let keys = [one, other].map(|text| keys(&words(text)[0]));
        keys[0].iter().any(|key| keys[1].contains(key))
    }

    #[test]
    fn the_example_of_the_contract() {
        assert_eq!(of("parcel", Kind::Consonants), ["Cprsl"]);
        assert_eq!(of("पार्सल", Kind::Consonants), ["Cprsl"]);
        assert_eq!(of("kahan", Kind::Consonants), ["Ckhn"]);
        assert_eq!(of("कहाँ", Kind::Consonants), ["Ckh", "Ckhn"]);
    }

    #[test]
    fn english_words_in_indian_letters() {
        for (latin, indian) in [
            ("refund", "रिफंड"),
            ("order", "ऑर्डर"),
            ("account", "अकाउंट"),
            ("delivery", "डिलीवरी"),
            ("payment", "पेमेंट"),
            ("shipping", "शिपिंग"),
            ("address", "एड्रेस"),
            ("invoice", "इनवॉइस"),
            ("charge", "चार्ज"),
            ("warranty", "वारंटी"),
            ("quality", "क्वालिटी"),
            ("cancel", "कैंसिल"),
            ("insurance", "इंश्योरेंस"),
            ("number", "नंबर"),
            ("company", "कम्पनी"),
            ("subscription", "सब्सक्रिप्शन"),
            ("KYC", "केवाईसी"),
            ("GST", "जीएसटी"),
            ("UPI", "यूपीआई"),
            ("EMI", "ईएमआई"),
            ("SMS", "एसएमएस"),
            ("message", "मैसेज"),
            ("cheque", "चेक"),
            ("white", "व्हाइट"),
            ("parcel", "பார்சல்"),
            ("booking", "புக்கிங்"),
            ("delivery", "டெலிவரி"),
            ("order", "ఆర్డర్"),
            ("refund", "రీఫండ్"),
            ("account", "ಅಕೌಂಟ್"),
            ("order", "ഓർഡർ"),
            ("order", "অর্ডার"),
            ("order", "ઓર્ડર"),
            ("order", "ਆਰਡਰ"),
            ("order", "ଅର୍ଡର"),
        ] {
            assert!(meet(latin, indian), "{latin} {indian}: {:?}", keys(&words(indian)[0]));
        }
    }

    #[test]
    fn indian_words_in_latin_letters() {
        for (latin, indian) in [
            ("paisa", "पैसा"),
            ("wapas", "वापस"),
            ("vaapas", "वापस"),
            ("dukaan", "दुकान"),
            ("chahiye", "चाहिए"),
            ("kapda", "कपड़ा"),
            ("gyan", "ज्ञान"),
            ("krishna", "कृष्ण"),
            ("nahi", "नहीं"),
            ("unhe", "उन्हें"),
            ("pazham", "பழம்"),
            ("panam", "பணம்"),
            ("enge", "எங்கே"),
            ("dabbu", "డబ్బు"),
            ("samayam", "సమయం"),
            ("hana", "ಹಣ"),
            ("panam", "പണം"),
            ("taka", "টাকা"),
            ("somoy", "সময়"),
            ("paisa", "પૈસા"),
            ("paisa", "ਪੈਸਾ"),
            ("tanka", "ଟଙ୍କା"),
        ] {
            assert!(
                meet(latin, indian),
                "{latin} {indian}: {:?} {:?}",
                keys(&words(latin)[0]),
                keys(&words(indian)[0])
            );
        }
    }

    #[test]
    fn tamil_words_of_two_consonants() {
        for (latin, tamil) in [
            ("chennai", "சென்னை"),
            ("loan", "லோன்"),
            ("bill", "பில்"),
            ("phone", "போன்"),
            ("time", "டைம்"),
            ("rate", "ரேட்"),
            ("date", "டேட்"),
            ("shop", "ஷாப்"),
            ("kadai", "கடை"),
            ("veedu", "வீடு"),
            ("vilai", "விலை"),
            ("vatti", "வட்டி"),
            ("delhi", "டெல்லி"),
            ("car", "கார்"),
        ] {
            assert!(vowels_meet(latin, tamil), "{latin} {tamil}: {:?} {:?}", all(latin), all(tamil));
        }
        for (latin, tamil) in [("bill", "போன்"), ("loan", "பில்"), ("chennai", "கடை"), ("kadai", "வீடு")]
        {
            assert!(!vowels_meet(latin, tamil), "{latin} {tamil}");
        }
    }

    fn all(word: &str) -> Vec<Key> {
        keys(&words(word)[0])
    }

    fn vowels_meet(latin: &str, tamil: &str) -> bool {
        let tamil = of(tamil, Kind::TamilVowels);
        of(latin, Kind::TamilVowels).iter().any(|key| tamil.contains(key))
    }

    #[test]
    fn v_and_w_in_bengali_and_odia_and_letters_of_punjabi() {
        for (latin, indian) in [
            ("video", "ভিডিও"),
            ("service", "সার্ভিস"),
            ("delivery", "ডেলিভারি"),
            ("website", "ওয়েবসাইট"),
            ("warranty", "ওয়ারেন্টি"),
            ("wallet", "ওয়ালেট"),
            ("power", "পাওয়ার"),
            ("software", "সফটওয়্যার"),
            ("voucher", "ভাউচার"),
            ("driver", "ড্রাইভার"),
            ("bari", "বাড়ি"),
            ("gari", "গাড়ি"),
            ("bhasha", "ভাষা"),
            ("warranty", "ୱାରେଣ୍ଟି"),
            ("website", "ୱେବସାଇଟ"),
            ("service", "ସର୍ଭିସ"),
            ("delivery", "ଡେଲିଭରି"),
            ("chandigarh", "ਚੰਡੀਗੜ੍ਹ"),
            ("amritsar", "ਅੰਮ੍ਰਿਤਸਰ"),
            ("larki", "ਲੜਕੀ"),
            ("kapra", "ਕੱਪੜਾ"),
            ("phone", "ਫ਼ੋਨ"),
        ] {
            assert!(meet(latin, indian), "{latin} {indian}: {:?} {:?}", all(latin), all(indian));
        }
    }

    #[test]
    fn words_that_sound_different_stay_apart() {
        for (one, other) in [("parcel", "पैसा"), ("refund", "रिटर्न"), ("delivery", "दुकान"), ("loan", "लाइन")]
        {
            let keys = [one, other].map(|text| keys(&words(text)[0]));
            let shared: Vec<&Key> = keys[0].iter().filter(|key| keys[1].contains(key)).collect();
            assert!(shared.iter().all(|key| key.text.len() <= 3), "{one} {other}: {shared:?}");
        }
    }
}

//! Names in Latin letters, as people write them by ear.

use unicode_normalization::UnicodeNormalization;

use super::Script;
use super::sounds::{
    A, AA, AI, ANUSVARA, AU, B, C, CANDRABINDU, D, DD, E, G, H, I, II, J, K, L, LL, M, N, N_ALVEOLAR, NG, NN,
    NY, O, P, PH, R, R_VOWEL, RR, S, SH, SHORT_E, SHORT_O, SS, Sound, T, TT, U, UU, V, VISARGA, Y, ZH,
};

/// Small letters without marks; the marks of scholars become what people write instead.
pub(super) fn fold(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for letter in word.chars().flat_map(char::to_lowercase) {
        match letter {
            'ā' => out.push_str("aa"),
            'ī' => out.push_str("ee"),
            'ū' => out.push_str("oo"),
            'ś' | 'ṣ' => out.push_str("sh"),
            'ṛ' => out.push_str("ri"),
            _ => out.extend(std::iter::once(letter).nfd().filter(char::is_ascii_lowercase)),
        }
    }
    out
}

/// Consonants, longest spelling first.
const CONSONANTS: &[(&str, &[(u8, bool)])] = &[
    ("ksh", &[(K, false), (SS, false)]),
    ("chh", &[(0x1B, false)]),
    ("sch", &[(SH, false)]),
    ("tch", &[(C, false)]),
    ("ch", &[(C, false)]),
    ("sh", &[(SH, false)]),
    ("kh", &[(0x16, false)]),
    ("gh", &[(0x18, false)]),
    ("jh", &[(0x1D, false)]),
    ("th", &[(0x25, false)]),
    ("dh", &[(0x27, false)]),
    ("ph", &[(PH, false)]),
    ("bh", &[(0x2D, false)]),
    ("zh", &[(ZH, false)]),
    ("ck", &[(K, false)]),
    ("dd", &[(DD, false), (DD, false)]),
    ("b", &[(B, false)]),
    ("d", &[(D, false)]),
    ("f", &[(PH, true)]),
    ("g", &[(G, false)]),
    ("h", &[(H, false)]),
    ("j", &[(J, false)]),
    ("k", &[(K, false)]),
    ("l", &[(L, false)]),
    ("m", &[(M, false)]),
    ("n", &[(N, false)]),
    ("p", &[(P, false)]),
    ("q", &[(K, false)]),
    ("r", &[(R, false)]),
    ("s", &[(S, false)]),
    ("t", &[(T, false)]),
    ("v", &[(V, false)]),
    ("w", &[(V, false)]),
    ("x", &[(K, false), (S, false)]),
    ("y", &[(Y, false)]),
    ("z", &[(J, true)]),
];

/// Vowels, longest spelling first; a vowel that follows another one is joined to it by a glide.
const VOWELS: &[(&str, u8)] = &[
    ("aa", AA),
    ("ai", AI),
    ("au", AU),
    ("ee", II),
    ("ei", II),
    ("ea", II),
    ("ii", II),
    ("oo", UU),
    ("ou", AU),
    ("ow", AU),
    ("uu", UU),
    ("a", A),
    ("e", E),
    ("i", I),
    ("o", O),
    ("u", U),
];

fn is_vowel(letter: u8) -> bool {
    b"aeiou".contains(&letter)
}

/// The sounds of a folded word that is in no table.
pub(super) fn read(word: &str) -> Vec<Sound> {
    let mut sounds: Vec<Sound> = Vec::with_capacity(word.len());
    let bytes = word.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &word[at..];
        let vowel = VOWELS.iter().find(|(spelling, _)| rest.starts_with(spelling));
        // Before a vowel, w is a consonant: Rowan, not Rau-an.
        let vowel = vowel.filter(|(spelling, _)| {
            *spelling != "ow" || !rest.as_bytes().get(2).is_some_and(|next| is_vowel(*next))
        });
        let vowel = vowel.or_else(|| {
            VOWELS
                .iter()
                .filter(|(spelling, _)| spelling.len() == 1)
                .find(|(spelling, _)| rest.starts_with(spelling))
        });
        if let Some((spelling, vowel)) = vowel {
            at += spelling.len();
            add_vowel(&mut sounds, *vowel, at == bytes.len());
            continue;
        }
        let after_consonant = sounds.last().is_some_and(|sound| sound.letter().is_some());
        if bytes[at] == b'y' && after_consonant && !bytes.get(at + 1).is_some_and(|next| is_vowel(*next)) {
            at += 1;
            sounds.push(Sound::Vowel(II));
            continue;
        }
        if bytes[at] == b'c' && !rest.starts_with("ch") && !rest.starts_with("ck") {
            let soft = bytes.get(at + 1).is_some_and(|next| b"eiy".contains(next));
            sounds.push(Sound::consonant(if soft { S } else { K }));
            at += 1;
            continue;
        }
        match CONSONANTS.iter().find(|(spelling, _)| rest.starts_with(spelling)) {
            Some((spelling, letters)) => {
                at += spelling.len();
                for (letter, dot) in *letters {
                    add_consonant(&mut sounds, *letter, *dot);
                }
            }
            None => at += 1,
        }
    }
    lengthen_only_vowel(&mut sounds);
    sounds
}

fn add_vowel(sounds: &mut Vec<Sound>, vowel: u8, last: bool) {
    // Sonia, Diana.
    if matches!((sounds.last(), vowel), (Some(Sound::Vowel(I | II)), A | AA | O | U)) {
        sounds.push(Sound::consonant(Y));
    }
    match (vowel, last) {
        (A, true) => sounds.push(Sound::Vowel(AA)),
        (I, true) => sounds.push(Sound::Vowel(II)),
        (U, true) => sounds.push(Sound::Vowel(UU)),
        // Desai, Bai.
        (AI, true) => sounds.extend([Sound::Vowel(AA), Sound::Vowel(II)]),
        _ => sounds.push(Sound::Vowel(vowel)),
    }
}

/// A nasal before a stop of its place is written as a sign.
fn add_consonant(sounds: &mut Vec<Sound>, letter: u8, dot: bool) {
    if let Some(last) = sounds.last_mut() {
        let sign = match last.letter() {
            Some(N) => matches!(letter, K..=0x18 | C..=0x1D | TT..=0x22 | T..=0x27 | S | SH),
            Some(M) => matches!(letter, P..=0x2D),
            _ => false,
        };
        if sign {
            *last = Sound::Sign(ANUSVARA);
        }
    }
    sounds.push(Sound::Consonant { letter, dot });
}

/// The only vowel of a name is a long one: Ram, Das, Khan. Before y it is not: Jay.
fn lengthen_only_vowel(sounds: &mut [Sound]) {
    let mut vowels = sounds.iter().enumerate().filter(|(_, sound)| sound.is_vowel());
    if let (Some((at, Sound::Vowel(A))), None) = (vowels.next(), vowels.next())
        && at > 0
        && sounds.get(at + 1).is_some_and(|next| next.letter().is_some_and(|letter| letter != Y))
    {
        sounds[at] = Sound::Vowel(AA);
    }
}

/// Writes sounds in Latin letters, in small ones.
pub(super) fn write(sounds: &[Sound], origin: Script) -> String {
    let southern = origin.is_southern();
    let mut out = String::with_capacity(2 * sounds.len());
    for (at, sound) in sounds.iter().enumerate() {
        let next = sounds.get(at + 1).copied();
        let next_letter = next.and_then(Sound::letter);
        let text = match *sound {
            Sound::Consonant { letter: J, dot: false } if next_letter == Some(NY) && !southern => "g",
            Sound::Consonant { letter: NY, .. }
                if !southern && at > 0 && sounds[at - 1].letter() == Some(J) =>
            {
                "y"
            }
            Sound::Consonant { letter: T, .. }
                if southern && next_letter.is_none() && (at == 0 || sounds[at - 1].letter() != Some(T)) =>
            {
                "th"
            }
            Sound::Consonant { letter, dot } => consonant(letter, dot),
            Sound::Vowel(vowel) => spelled(vowel),
            Sound::Sign(CANDRABINDU) => "n",
            Sound::Sign(ANUSVARA) => match next_letter {
                Some(P..=M) => "m",
                None if southern => "m",
                None if origin == Script::Bengali => "ng",
                _ => "n",
            },
            Sound::Sign(VISARGA) if next.is_none() => "h",
            Sound::Sign(_) => "",
        };
        out.push_str(text);
    }
    out
}

fn consonant(letter: u8, dot: bool) -> &'static str {
    match (letter, dot) {
        (K, true) => "q",
        (J, true) => "z",
        (PH, true) => "f",
        (K, _) => "k",
        (0x16, _) => "kh",
        (G, _) => "g",
        (0x18, _) => "gh",
        (C, _) => "ch",
        (0x1B, _) => "chh",
        (J, _) => "j",
        (0x1D, _) => "jh",
        (TT | T, _) => "t",
        (0x20 | 0x25, _) => "th",
        (DD | D, _) => "d",
        (0x22 | 0x27, _) => "dh",
        (NG | NY | NN | N | N_ALVEOLAR, _) => "n",
        (P, _) => "p",
        (PH, _) => "ph",
        (B, _) => "b",
        (0x2D, _) => "bh",
        (M, _) => "m",
        (Y, _) => "y",
        (R | RR, _) => "r",
        (L | LL, _) => "l",
        (ZH, _) => "zh",
        (V, _) => "v",
        (SH | SS, _) => "sh",
        (S, _) => "s",
        (H, _) => "h",
        _ => "",
    }
}

fn spelled(vowel: u8) -> &'static str {
    match vowel {
        A | AA => "a",
        I | II => "i",
        U | UU => "u",
        R_VOWEL => "ri",
        0x0D | SHORT_E | E => "e",
        AI => "ai",
        0x11 | SHORT_O | O => "o",
        AU => "au",
        _ => "",
    }
}

//! Words in an Indian script: from letters to sounds, and back.

use super::sounds::{
    A, ANUSVARA, B, C, CANDRABINDU, D, DD, E, G, H, I, J, K, L, LL, M, N, N_ALVEOLAR, NN, NY, O, P, PH, R,
    R_VOWEL, RR, S, SH, SHORT_E, SHORT_O, SS, Sound, T, TT, U, V, VISARGA, Y, ZH, nasal_before,
};
use super::{Script, is_joiner};

const NUKTA: u8 = 0x3C;
const VIRAMA: u8 = 0x4D;
/// From the letter of a vowel to its sign after a consonant.
const TO_SIGN: u8 = 0x38;

/// The sounds of a word.
pub(super) fn read(word: &str, script: Script) -> Vec<Sound> {
    let Some(block) = script.block() else { return Vec::new() };
    let mut sounds: Vec<Sound> = Vec::new();
    // Whether the vowel of the last consonant is still to come.
    let (mut open, mut doubled) = (false, false);
    for letter in word.chars().filter(|letter| !is_joiner(*letter)) {
        let Some(place) = u32::from(letter).checked_sub(block).and_then(|place| u8::try_from(place).ok())
        else {
            continue;
        };
        match place {
            CANDRABINDU | ANUSVARA | VISARGA => {
                close(&mut sounds, &mut open);
                sounds.push(Sound::Sign(place));
            }
            0x05..=0x14 => {
                close(&mut sounds, &mut open);
                sounds.push(Sound::Vowel(place));
            }
            NUKTA => {
                if let Some(last) = sounds.last_mut() {
                    *last = with_dot(*last, script);
                }
            }
            0x3E..=0x43 | 0x45..=0x4C => {
                open = false;
                sounds.push(Sound::Vowel(place - TO_SIGN));
            }
            VIRAMA => open = false,
            0x71 if script == Script::Gurmukhi => {
                close(&mut sounds, &mut open);
                doubled = true;
            }
            0x70 if script == Script::Gurmukhi => {
                close(&mut sounds, &mut open);
                sounds.push(Sound::Sign(ANUSVARA));
            }
            _ => {
                let Some((sound, with_vowel)) = consonant_at(place, script) else { continue };
                close(&mut sounds, &mut open);
                if std::mem::take(&mut doubled)
                    && let Some(letter) = sound.letter()
                {
                    sounds.push(Sound::consonant(unaspirated(letter)));
                }
                sounds.push(sound);
                open = with_vowel;
            }
        }
    }
    close(&mut sounds, &mut open);
    if script == Script::Tamil { voiced(&sounds) } else { sounds }
}

/// A consonant without any other vowel has an `a`.
fn close(sounds: &mut Vec<Sound>, open: &mut bool) {
    if std::mem::take(open) {
        sounds.push(Sound::Vowel(A));
    }
}

/// The consonant at a place of the block, and whether a vowel belongs to it.
fn consonant_at(place: u8, script: Script) -> Option<(Sound, bool)> {
    let plain = |letter| Some((Sound::consonant(letter), true));
    match (place, script) {
        (K..=H, _) => plain(place),
        (0x4E, Script::Bengali) => Some((Sound::consonant(T), false)),
        (0x70, Script::Bengali) => plain(R),
        (0x71, Script::Bengali | Script::Odia) => plain(V),
        (0x5F, Script::Odia) => plain(Y),
        (0x5C, Script::Gurmukhi) => Some((Sound::Consonant { letter: DD, dot: true }, true)),
        (0x7A, Script::Malayalam) => Some((Sound::consonant(NN), false)),
        (0x7B, Script::Malayalam) => Some((Sound::consonant(N), false)),
        (0x7C, Script::Malayalam) => Some((Sound::consonant(R), false)),
        (0x7D, Script::Malayalam) => Some((Sound::consonant(L), false)),
        (0x7E, Script::Malayalam) => Some((Sound::consonant(LL), false)),
        _ => None,
    }
}

fn with_dot(sound: Sound, script: Script) -> Sound {
    match (sound, script) {
        (Sound::Consonant { letter: S, .. }, Script::Gurmukhi) => Sound::consonant(SH),
        (Sound::Consonant { letter: L, .. }, Script::Gurmukhi) => Sound::consonant(LL),
        (Sound::Consonant { letter: Y, .. }, _) => Sound::consonant(Y),
        (Sound::Consonant { letter, .. }, _) => Sound::Consonant { letter, dot: true },
        (other, _) => other,
    }
}

/// A stop without its breath.
fn unaspirated(letter: u8) -> u8 {
    match letter {
        0x16 | 0x18 | 0x1B | 0x1D | 0x20 | 0x22 | 0x25 | 0x27 | 0x2B | 0x2D => letter - 1,
        other => other,
    }
}

/// Tamil has one letter for several stops; its position decides which one is meant.
fn voiced(sounds: &[Sound]) -> Vec<Sound> {
    let letter_at = |at: usize| sounds.get(at).copied().and_then(Sound::letter);
    let mut out = Vec::with_capacity(sounds.len());
    for (at, sound) in sounds.iter().enumerate() {
        let (before, after) = (at.checked_sub(1).and_then(letter_at), letter_at(at + 1));
        let first = at == 0;
        let nasal = before.is_some_and(|letter| matches!(letter, 0x19 | NY | NN | N | N_ALVEOLAR | M));
        let between = !first && before.is_none() && after.is_none() && at + 1 < sounds.len();
        let letter = match sound.letter() {
            Some(K) if nasal || between => G,
            // லட்சுமி
            Some(TT) if after == Some(C) => K,
            Some(C) if before == Some(TT) => SS,
            Some(C) if nasal => J,
            Some(C) if first || between => S,
            Some(TT) if nasal || between => DD,
            Some(T) if nasal || (first && after.is_none()) => D,
            Some(P) if nasal || between => B,
            Some(N_ALVEOLAR) => N,
            Some(letter) => letter,
            None => {
                out.push(*sound);
                continue;
            }
        };
        out.push(Sound::consonant(letter));
    }
    out
}

/// Writes sounds in a script.
pub(super) fn write(sounds: &[Sound], script: Script) -> String {
    let Some(block) = script.block() else { return String::new() };
    let mut out = Writer { script, block, text: String::with_capacity(3 * sounds.len()) };
    let sounds = &split_cluster(sounds, script)[..];
    for (at, sound) in sounds.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| sounds[before]);
        let next = sounds.get(at + 1).copied();
        match *sound {
            Sound::Vowel(vowel) => out.vowel(vowel, before),
            Sound::Sign(sign) => out.sign(sign, before, next),
            Sound::Consonant { letter, dot } => out.consonant(letter, dot, before, next),
        }
    }
    out.text
}

/// Tamil does not begin with two consonants: Priya is written Piriya.
fn split_cluster(sounds: &[Sound], script: Script) -> Vec<Sound> {
    let mut out = sounds.to_vec();
    if script == Script::Tamil
        && let [first, second, ..] = sounds
        && first.letter().is_some_and(|letter| letter != S)
        && second.letter() == Some(R)
    {
        out.insert(1, Sound::Vowel(I));
    }
    out
}

struct Writer {
    script: Script,
    block: u32,
    text: String,
}

impl Writer {
    fn put(&mut self, place: u8) {
        self.text.extend(char::from_u32(self.block + u32::from(place)));
    }

    fn vowel(&mut self, vowel: u8, before: Option<Sound>) {
        let after_consonant = before.is_some_and(|sound| sound.letter().is_some());
        let northern = matches!(
            self.script,
            Script::Devanagari | Script::Bengali | Script::Gurmukhi | Script::Gujarati | Script::Odia
        );
        let vowel = match (vowel, self.script) {
            (SHORT_E, _) if northern => E,
            (SHORT_O, _) if northern => O,
            (0x0D, Script::Devanagari | Script::Gujarati) | (0x11, Script::Devanagari | Script::Gujarati) => {
                vowel
            }
            (0x0D, _) => E,
            (0x11, _) => O,
            // These have no sign for it.
            (R_VOWEL, Script::Tamil | Script::Gurmukhi) => {
                let (short, letter) = (if self.script == Script::Tamil { U } else { I }, R);
                match (after_consonant, self.script) {
                    (true, Script::Tamil) => self.put(I + TO_SIGN),
                    (true, _) => self.put(VIRAMA),
                    (false, _) => {}
                }
                self.put(letter);
                self.put(short + TO_SIGN);
                return;
            }
            (other, _) => other,
        };
        match (after_consonant, vowel) {
            (true, A) => {}
            (true, _) => self.put(vowel + TO_SIGN),
            (false, _) => self.put(vowel),
        }
    }

    /// A nasal sign: as such, or as the nasal that is spoken.
    fn sign(&mut self, sign: u8, before: Option<Sound>, next: Option<Sound>) {
        let next = next.and_then(Sound::letter);
        let nasal = next.and_then(nasal_before);
        match (sign, self.script) {
            (VISARGA, Script::Tamil | Script::Gurmukhi) => {}
            (VISARGA, _) => self.put(VISARGA),
            (_, Script::Tamil) => self.nasal(nasal.unwrap_or(M)),
            (_, Script::Gurmukhi) => {
                let short = matches!(before, Some(Sound::Vowel(A | I | U)));
                self.put(if short { 0x70 } else { ANUSVARA });
            }
            (_, Script::Malayalam) => match (nasal, next) {
                (Some(_), Some(G | 0x18 | B | 0x2D)) | (None, _) => self.put(ANUSVARA),
                (Some(nasal), _) => self.nasal(nasal),
            },
            (_, Script::Bengali | Script::Odia) => match nasal {
                Some(nasal) => self.nasal(nasal),
                None => self.put(sign),
            },
            (CANDRABINDU, Script::Telugu | Script::Kannada) => self.put(ANUSVARA),
            _ => self.put(sign),
        }
    }

    fn nasal(&mut self, nasal: u8) {
        self.put(nasal);
        self.put(VIRAMA);
    }

    fn consonant(&mut self, letter: u8, dot: bool, before: Option<Sound>, next: Option<Sound>) {
        let next_letter = next.and_then(Sound::letter);
        let before_letter = before.and_then(Sound::letter);
        if self.script == Script::Gurmukhi && self.doubling(letter, before, next_letter) {
            return;
        }
        if self.script == Script::Malayalam && self.chillu(letter, next) {
            return;
        }
        self.letter(letter, dot, before, before_letter, next);
        match (next_letter, self.script) {
            (Some(next), Script::Gurmukhi) => {
                if matches!(next, R | H) {
                    self.put(VIRAMA);
                }
            }
            (Some(_), _) => self.put(VIRAMA),
            (None, _)
                if next.is_none_or(|next| matches!(next, Sound::Sign(_))) && self.script.is_southern() =>
            {
                self.put(VIRAMA);
            }
            (None, _) => {}
        }
    }

    /// Gurmukhi writes a sign before a doubled consonant.
    fn doubling(&mut self, letter: u8, before: Option<Sound>, next: Option<u8>) -> bool {
        let Some(next) = next else { return false };
        if unaspirated(next) != letter {
            return false;
        }
        if matches!(letter, N | M | NN) {
            let short = matches!(before, Some(Sound::Vowel(A | I | U)));
            self.put(if short { 0x70 } else { ANUSVARA });
        } else {
            self.put(0x71);
        }
        true
    }

    /// Malayalam has letters for consonants without a vowel.
    fn chillu(&mut self, letter: u8, next: Option<Sound>) -> bool {
        let place = match (letter, next) {
            (NN, None) => 0x7A,
            (N | N_ALVEOLAR, None) => 0x7B,
            (R, None) => 0x7C,
            (L, None) => 0x7D,
            (LL, None) => 0x7E,
            (M, None) => ANUSVARA,
            (R, Some(Sound::Consonant { letter, .. })) if letter != Y && letter != R => 0x7C,
            _ => return false,
        };
        self.put(place);
        true
    }

    /// The letter itself, or the nearest that the script has.
    fn letter(
        &mut self,
        letter: u8,
        dot: bool,
        before: Option<Sound>,
        before_letter: Option<u8>,
        next: Option<Sound>,
    ) {
        let first = before.is_none();
        match self.script {
            Script::Latin => {}
            Script::Devanagari => {
                self.put(match letter {
                    N_ALVEOLAR => N,
                    RR => R,
                    ZH => LL,
                    other => other,
                });
                if dot {
                    self.put(NUKTA);
                }
            }
            Script::Gujarati => self.put(match (letter, dot) {
                (J, true) => 0x1D,
                (N_ALVEOLAR, _) => N,
                (RR, _) => R,
                (ZH, _) => LL,
                (other, _) => other,
            }),
            Script::Gurmukhi => self.gurmukhi(letter, dot),
            Script::Bengali => match letter {
                V => self.put(B),
                Y if first || before_letter.is_some() => self.put(Y),
                Y => {
                    self.put(Y);
                    self.put(NUKTA);
                }
                N_ALVEOLAR => self.put(N),
                RR => self.put(R),
                LL | ZH => self.put(L),
                DD | 0x22 if dot => {
                    self.put(letter);
                    self.put(NUKTA);
                }
                other => self.put(other),
            },
            Script::Odia => match letter {
                V if before_letter.is_some() => self.put(0x71),
                V => self.put(B),
                Y if !first => self.put(0x5F),
                N_ALVEOLAR => self.put(N),
                RR => self.put(R),
                ZH => self.put(LL),
                DD | 0x22 if dot => {
                    self.put(letter);
                    self.put(NUKTA);
                }
                other => self.put(other),
            },
            Script::Tamil => self.tamil(letter, dot, before, next),
            Script::Telugu | Script::Kannada => self.put(match letter {
                N_ALVEOLAR => N,
                RR => R,
                ZH => LL,
                SH if next.is_none() && self.script == Script::Telugu => SS,
                other => other,
            }),
            Script::Malayalam => self.put(match letter {
                N_ALVEOLAR => N,
                SH if next.is_none() => SS,
                other => other,
            }),
        }
    }

    fn gurmukhi(&mut self, letter: u8, dot: bool) {
        match letter {
            SH | SS => {
                self.put(S);
                self.put(NUKTA);
            }
            LL => {
                self.put(L);
                self.put(NUKTA);
            }
            ZH => self.put(L),
            N_ALVEOLAR => self.put(N),
            RR => self.put(R),
            DD | 0x22 if dot => self.put(0x5C),
            0x16 | G | J | PH if dot => {
                self.put(letter);
                self.put(NUKTA);
            }
            other => self.put(other),
        }
    }

    fn tamil(&mut self, letter: u8, dot: bool, before: Option<Sound>, next: Option<Sound>) {
        let first = before.is_none();
        let dental_next = next.and_then(Sound::letter).is_some_and(|next| matches!(next, T..=0x27));
        if letter == PH && dot {
            // The aytham, which makes an f of the p.
            self.put(0x03);
        }
        self.put(match letter {
            K..=0x18 => K,
            C | 0x1B => C,
            // Behind a nasal the letter of the other stops is heard so by itself.
            J | 0x1D if matches!(before, Some(Sound::Sign(_))) => C,
            J | 0x1D => J,
            TT..=0x22 => TT,
            T..=0x27 => T,
            N if first || dental_next => N,
            N => N_ALVEOLAR,
            P..=0x2D => P,
            SH => SS,
            S if first => C,
            other => other,
        });
    }
}

//! The sounds of a word, between two scripts. Letters are numbered as in every Indian block of Unicode: by
//! their distance from its beginning.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sound {
    /// A consonant alone; with a dot below it is one from Persian or English, or a flap.
    Consonant {
        /// Its place in the block.
        letter: u8,
        /// Whether it has the dot.
        dot: bool,
    },
    /// A vowel, by the place of its letter.
    Vowel(u8),
    /// Nasalisation and breath: candrabindu, anusvara, visarga.
    Sign(u8),
}

pub(super) const A: u8 = 0x05;
pub(super) const AA: u8 = 0x06;
pub(super) const I: u8 = 0x07;
pub(super) const II: u8 = 0x08;
pub(super) const U: u8 = 0x09;
pub(super) const UU: u8 = 0x0A;
pub(super) const R_VOWEL: u8 = 0x0B;
pub(super) const SHORT_E: u8 = 0x0E;
pub(super) const E: u8 = 0x0F;
pub(super) const AI: u8 = 0x10;
pub(super) const SHORT_O: u8 = 0x12;
pub(super) const O: u8 = 0x13;
pub(super) const AU: u8 = 0x14;

pub(super) const CANDRABINDU: u8 = 0x01;
pub(super) const ANUSVARA: u8 = 0x02;
pub(super) const VISARGA: u8 = 0x03;

pub(super) const K: u8 = 0x15;
pub(super) const G: u8 = 0x17;
pub(super) const NG: u8 = 0x19;
pub(super) const C: u8 = 0x1A;
pub(super) const J: u8 = 0x1C;
pub(super) const NY: u8 = 0x1E;
pub(super) const TT: u8 = 0x1F;
pub(super) const DD: u8 = 0x21;
pub(super) const NN: u8 = 0x23;
pub(super) const T: u8 = 0x24;
pub(super) const D: u8 = 0x26;
pub(super) const N: u8 = 0x28;
pub(super) const N_ALVEOLAR: u8 = 0x29;
pub(super) const P: u8 = 0x2A;
pub(super) const PH: u8 = 0x2B;
pub(super) const B: u8 = 0x2C;
pub(super) const M: u8 = 0x2E;
pub(super) const Y: u8 = 0x2F;
pub(super) const R: u8 = 0x30;
pub(super) const RR: u8 = 0x31;
pub(super) const L: u8 = 0x32;
pub(super) const LL: u8 = 0x33;
pub(super) const ZH: u8 = 0x34;
pub(super) const V: u8 = 0x35;
pub(super) const SH: u8 = 0x36;
pub(super) const SS: u8 = 0x37;
pub(super) const S: u8 = 0x38;
pub(super) const H: u8 = 0x39;

impl Sound {
    pub(super) fn consonant(letter: u8) -> Self {
        Sound::Consonant { letter, dot: false }
    }

    pub(super) fn letter(self) -> Option<u8> {
        match self {
            Sound::Consonant { letter, .. } => Some(letter),
            Sound::Vowel(_) | Sound::Sign(_) => None,
        }
    }

    pub(super) fn is_vowel(self) -> bool {
        matches!(self, Sound::Vowel(_))
    }
}

/// The nasal of the same place in the mouth as a stop; none for other letters.
pub(super) fn nasal_before(letter: u8) -> Option<u8> {
    Some(match letter {
        0x15..=0x18 => NG,
        0x1A..=0x1D => NY,
        0x1F..=0x22 => NN,
        0x24..=0x27 => N,
        0x2A..=0x2D => M,
        _ => return None,
    })
}

/// Takes away the vowels that northern languages write and do not speak: at the end of a word, and in the
/// middle where both neighbours have a vowel of their own. After several consonants the last one needs it.
pub(super) fn drop_silent(sounds: &mut Vec<Sound>) {
    let a = Sound::Vowel(A);
    if let [before @ .., last, end] = sounds.as_slice()
        && *end == a
        && let Some(letter) = last.letter()
    {
        let clustered = before.last().is_some_and(|sound| sound.letter().is_some());
        let sonorous = matches!(letter, N | NN | M | Y | R | L | V);
        let others = before.iter().any(|sound| sound.is_vowel());
        if others && !(clustered && sonorous) {
            sounds.pop();
        }
    }
    let mut at = sounds.len();
    while at > 0 {
        at -= 1;
        if sounds[at] != a || at < 2 || at + 2 >= sounds.len() {
            continue;
        }
        // A consonant and an r begin a syllable together: Har-preet.
        let onset = if sounds[at + 2].letter() == Some(R) { at + 3 } else { at + 2 };
        let between = sounds[at - 1].letter().is_some()
            && sounds[at - 2].is_vowel()
            && sounds[at + 1].letter().is_some()
            && sounds.get(onset).is_some_and(|sound| sound.is_vowel());
        if between {
            sounds.remove(at);
        }
    }
}

/// Southern languages write the last vowel of such names short.
pub(super) fn shorten_end(sounds: &mut [Sound]) {
    if let Some(last) = sounds.last_mut() {
        match *last {
            Sound::Vowel(II) => *last = Sound::Vowel(I),
            Sound::Vowel(UU) => *last = Sound::Vowel(U),
            _ => {}
        }
    }
}

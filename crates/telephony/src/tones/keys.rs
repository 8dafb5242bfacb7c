//! Keys pressed as tones, where the other side sends no telephone events.

use super::make::{COLUMNS, PAD, ROWS};
use super::measure::{at, energy};
use crate::media::Frame;

/// Mean square below which a tick is silence.
const SILENCE: f32 = 10_000.0;
/// Part of the sound that the two tones must be, and how much stronger one may be than the other (8 dB).
const PURE: f32 = 0.7;
const TWIST: f32 = 6.3;

/// Hears keys in the sound (DTMF, ITU-T Q.24): a key counts from its second tick on, and once until it is let
/// go.
#[derive(Debug, Default)]
pub struct Keys {
    last: Option<char>,
    told: bool,
    missing: u32,
}

impl Keys {
    /// Hears nothing yet.
    pub fn new() -> Keys {
        Keys::default()
    }

    /// Hears a tick; silence where none arrived.
    pub fn push(&mut self, frame: &Frame) -> Option<char> {
        let key = key(frame);
        if key.is_none() {
            // One tick without it is a disturbance, two are the end of the press.
            self.missing += 1;
            if self.missing > 1 {
                self.last = None;
                self.told = false;
            }
            return None;
        }
        self.missing = 0;
        let again = key == self.last;
        if !again {
            self.last = key;
            self.told = false;
        }
        if again && !self.told {
            self.told = true;
            return key;
        }
        None
    }
}

fn strongest(frame: &Frame, tones: &[f32; 4]) -> (usize, f32) {
    tones
        .iter()
        .map(|hertz| at(frame, *hertz))
        .enumerate()
        .max_by(|one, other| one.1.total_cmp(&other.1))
        .unwrap_or((0, 0.0))
}

fn key(frame: &Frame) -> Option<char> {
    let level = energy(frame);
    if level < SILENCE {
        return None;
    }
    let (row, low) = strongest(frame, &ROWS);
    let (column, high) = strongest(frame, &COLUMNS);
    let pure = low + high >= PURE * level;
    let balanced = low < high * TWIST && high < low * TWIST;
    (pure && balanced).then(|| PAD[row][column])
}

#[cfg(test)]
mod tests {
    use super::super::{dtmf, tone};
    use super::*;
    use crate::media::FRAME;

    fn hear(sound: &[i16]) -> String {
        let mut keys = Keys::new();
        sound.chunks_exact(FRAME).filter_map(|frame| keys.push(frame.try_into().ok()?)).collect()
    }

    #[test]
    fn every_key_is_heard_once() {
        let mut sound = vec![0; 50];
        for key in "0123456789*#ABCD1122".chars() {
            sound.extend(dtmf(key, 100));
            sound.extend([0; 800]);
        }
        sound.extend([0; 800]);
        assert_eq!(hear(&sound), "0123456789*#ABCD1122");
    }

    #[test]
    fn a_single_tone_is_no_key() {
        for hertz in [697.0, 941.0, 1209.0, 1477.0, 1000.0] {
            assert_eq!(hear(&tone(hertz, 400)), "");
        }
    }
}

//! The ringing that a caller hears.

use super::measure::{at, energy};
use crate::media::Frame;

/// Mean square below which a tick is silence.
const SILENCE: f32 = 10_000.0;
/// Part of the sound that must lie about 400 Hz; the pauses between and the edges of bursts are allowed for
/// by the length.
const PURE: f32 = 0.75;
/// Ticks of a burst (0.4 s) and of the pause between the two bursts of a ring (0.2 s), with what the edges
/// blur.
const BURST: std::ops::RangeInclusive<u32> = 17..=23;
const PAUSE: std::ops::RangeInclusive<u32> = 7..=13;

/// Hears the ringing tone of India: two bursts of 0.4 s with 0.2 s between, of 400 Hz, of 400 Hz modulated
/// with 25, or of 400 and 450 Hz. In early media it says that the telephone rings; after an answer, that
/// somebody's switch answered before them.
#[derive(Debug, Default)]
pub struct Ringback {
    burst: u32,
    pause: u32,
    /// Whether the burst before the present pause had the right length.
    first: bool,
}

impl Ringback {
    /// Hears nothing yet.
    pub fn new() -> Ringback {
        Ringback::default()
    }

    /// Hears a tick; silence where none arrived. True once for each ring, when its second burst ends.
    pub fn push(&mut self, frame: &Frame) -> bool {
        let level = energy(frame);
        if level >= SILENCE {
            // Bins of 50 Hz that do not overlap: together they hold the carrier and its side tones.
            let near: f32 = [350.0, 400.0, 450.0].into_iter().map(|hertz| at(frame, hertz)).sum();
            if near < PURE * level {
                *self = Ringback::new();
                return false;
            }
            if self.burst == 0 && !PAUSE.contains(&self.pause) {
                self.first = false;
            }
            self.burst += 1;
            self.pause = 0;
            return false;
        }
        self.pause = self.pause.saturating_add(1);
        let burst = std::mem::take(&mut self.burst);
        if burst == 0 {
            return false;
        }
        let fits = BURST.contains(&burst);
        let ring = fits && self.first;
        self.first = fits && !ring;
        ring
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ringback, tone};
    use super::*;
    use crate::media::FRAME;

    fn rings(sound: &[i16]) -> usize {
        let mut ringback = Ringback::new();
        sound
            .chunks_exact(FRAME)
            .filter(|frame| (*frame).try_into().is_ok_and(|frame| ringback.push(frame)))
            .count()
    }

    #[test]
    fn each_ring_is_heard_once() {
        let mut sound = vec![0; 90];
        sound.extend(ringback(9100));
        assert_eq!(rings(&sound), 3);
    }

    #[test]
    fn a_modulated_carrier_rings_too() {
        let mut burst = tone(400.0, 400);
        for (index, sample) in burst.iter_mut().enumerate() {
            let swing = (std::f32::consts::TAU * 25.0 * index as f32 / 8000.0).sin();
            *sample = (f32::from(*sample) * (0.6 + 0.4 * swing)) as i16;
        }
        let sound = [&burst[..], &[0; 1600], &burst[..], &[0; 4000]].concat();
        assert_eq!(rings(&sound), 1);
    }

    #[test]
    fn busy_tones_and_other_tones_do_not_ring() {
        let busy = [tone(400.0, 750), vec![0; 6000]].concat().repeat(4);
        assert_eq!(rings(&busy), 0);
        let other = [tone(1000.0, 400), vec![0; 1600]].concat().repeat(4);
        assert_eq!(rings(&other), 0);
    }
}

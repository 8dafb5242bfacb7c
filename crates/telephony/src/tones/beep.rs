//! The beep after which an answering machine records.

use super::measure::{energy, single};
use crate::media::Frame;

/// Mean square below which a tick is silence, some −44 dB.
const SILENCE: f32 = 40_000.0;
/// Whole ticks of a beep: one of 120 ms covers at least five, one of 2.4 s at most 120.
const SHORTEST: u32 = 5;
const LONGEST: u32 = 120;
/// Ticks of speech that must have come before, 300 ms.
const SPEECH: u32 = 15;
/// Ticks within which the tone must have given way to silence.
const END: u32 = 3;
/// Ticks in which a tone of another pitch makes both a melody, 1.5 s.
const MELODY: u32 = 75;
/// Ticks that a tone near the pitch of ringing and busy tones waits for its repetition, 0.9 s.
const CADENCE: u32 = 45;
/// Pitch of ringing and busy tones, Hz.
const RINGING: std::ops::Range<f32> = 370.0..480.0;
/// How far the pitch may stray, Hz, and the level, as a ratio of mean squares.
const STEADY_HERTZ: f32 = 30.0;
const STEADY_LEVEL: f32 = 2.5;

/// A beep that has just ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeepHeard {
    /// Its pitch, within some 10 Hz.
    pub hertz: f32,
    /// Its length in milliseconds, within 40.
    pub ms: u32,
}

#[derive(Debug, Clone, Copy)]
struct Sounding {
    hertz: f32,
    level: f32,
    ticks: u32,
    /// Ticks that were no longer the tone.
    after: u32,
}

/// Hears an answering machine's beep: a single steady tone of 400 to 2000 Hz, 120 ms to 2.4 s long, after at
/// least 300 ms of speech, and followed by silence.
///
/// Speech is not as pure for as long; a melody has other tones near; ringing and busy tones come again, so a
/// tone of their pitch is told only 0.9 s after its end.
#[derive(Debug, Default)]
pub struct Beep {
    speech: u32,
    sounding: Option<Sounding>,
    /// The last steady tone, and ticks since its end.
    former: Option<(f32, u32)>,
    /// A beep that may still turn out to be ringing, and ticks since its end.
    doubtful: Option<(BeepHeard, u32)>,
}

impl Beep {
    /// Hears nothing yet.
    pub fn new() -> Beep {
        Beep::default()
    }

    /// Whether a steady tone is sounding right now.
    pub fn sounds(&self) -> bool {
        self.sounding.is_some_and(|tone| tone.ticks >= SHORTEST && tone.after == 0)
    }

    /// Hears a tick; silence where none arrived. Answers once, when the beep has ended.
    pub fn push(&mut self, frame: &Frame) -> Option<BeepHeard> {
        let level = energy(frame);
        let silent = level < SILENCE;
        let pitch = if silent { None } else { single(frame, level) };
        if let Some((_, ticks)) = &mut self.former {
            *ticks = ticks.saturating_add(1);
        }
        let mut heard = self.settle();
        match (&mut self.sounding, pitch) {
            (Some(tone), Some(hertz))
                if (tone.hertz - hertz).abs() <= STEADY_HERTZ
                    && level < tone.level * STEADY_LEVEL
                    && level > tone.level / STEADY_LEVEL =>
            {
                tone.ticks += 1;
                tone.after = 0;
            }
            (Some(tone), _) if !silent && tone.after + 1 < END && pitch.is_none() => {
                // The tick in which the tone ends is neither tone nor silence.
                tone.after += 1;
            }
            (sounding, _) => {
                let ended = sounding.take();
                *sounding = pitch.map(|hertz| Sounding { hertz, level, ticks: 1, after: 0 });
                heard = heard.or(self.ended(ended, silent));
            }
        }
        if !silent && pitch.is_none() && self.sounding.is_none() {
            self.speech = self.speech.saturating_add(1);
        }
        heard
    }

    /// A tone has ended, in silence or not.
    fn ended(&mut self, tone: Option<Sounding>, silent: bool) -> Option<BeepHeard> {
        let tone = tone?;
        if tone.ticks < 3 {
            return None;
        }
        let melody = self.former.is_some_and(|(hertz, ticks)| {
            ticks.saturating_sub(tone.ticks) < MELODY && (hertz - tone.hertz).abs() > STEADY_HERTZ
        });
        self.former = Some((tone.hertz, 0));
        let repeated =
            self.doubtful.take().is_some_and(|(beep, _)| (beep.hertz - tone.hertz).abs() <= STEADY_HERTZ);
        let long_enough = (SHORTEST..=LONGEST).contains(&tone.ticks);
        if !silent || melody || repeated || !long_enough || self.speech < SPEECH {
            return None;
        }
        let beep = BeepHeard { hertz: tone.hertz, ms: (tone.ticks + 1) * 20 };
        if RINGING.contains(&tone.hertz) {
            self.doubtful = Some((beep, 0));
            return None;
        }
        Some(beep)
    }

    /// A doubtful tone that was not repeated in time was a beep.
    fn settle(&mut self) -> Option<BeepHeard> {
        let (beep, ticks) = self.doubtful.as_mut()?;
        *ticks += 1;
        if *ticks < CADENCE || self.sounding.is_some() {
            return None;
        }
        let beep = *beep;
        self.doubtful = None;
        Some(beep)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ringback, tone};
    use super::*;
    use crate::media::FRAME;

    /// Something with the ways of speech: vowels of gliding pitch with formants, hisses, pauses.
    fn speech(ms: u32, seed: u32) -> Vec<i16> {
        let mut state = seed | 1;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1u32 << 24) as f32
        };
        let (mut out, mut phase) = (Vec::new(), 0.0f32);
        while out.len() < ms as usize * 8 {
            let (kind, length) = (random(), 800 + (random() * 1200.0) as usize);
            let (pitch, glide) = (110.0 + 120.0 * random(), (random() - 0.5) * 0.004);
            let formants = [300.0 + 500.0 * random(), 900.0 + 1300.0 * random()];
            for index in 0..length {
                let swell = (std::f32::consts::PI * index as f32 / length as f32).sin();
                let sample = if kind < 0.15 {
                    0.0
                } else if kind < 0.35 {
                    (random() - 0.5) * 6000.0
                } else {
                    phase += pitch * (1.0 + glide * index as f32 / 8.0) / 8000.0;
                    (1..16)
                        .map(|harmonic| {
                            let hertz = pitch * harmonic as f32;
                            let gain: f32 = formants
                                .iter()
                                .map(|formant| 1.0 / (1.0 + ((hertz - formant) / 90.0).powi(2)))
                                .sum();
                            gain * (std::f32::consts::TAU * phase * harmonic as f32).sin()
                        })
                        .sum::<f32>()
                        * 5000.0
                };
                out.push((sample * swell) as i16);
            }
        }
        out.truncate(ms as usize * 8);
        out
    }

    fn hear(sound: &[i16]) -> Vec<(usize, BeepHeard)> {
        let mut beep = Beep::new();
        let mut heard = Vec::new();
        for (tick, chunk) in sound.chunks(FRAME).enumerate() {
            let mut frame = [0; FRAME];
            frame[..chunk.len()].copy_from_slice(chunk);
            // As it comes over a line.
            heard.extend(beep.push(&over_a_line(&frame)).map(|beep| (tick, beep)));
        }
        heard
    }

    fn over_a_line(frame: &Frame) -> Frame {
        let (mut bytes, mut back) = (Vec::new(), Vec::new());
        crate::media::codec_for_tests::mu_law(frame, &mut bytes, &mut back);
        let mut out = [0; FRAME];
        out.copy_from_slice(&back);
        out
    }

    fn greeting(parts: &[&[i16]]) -> Vec<i16> {
        static SPOKEN: std::sync::OnceLock<Vec<i16>> = std::sync::OnceLock::new();
        let mut sound = SPOKEN.get_or_init(|| speech(2500, 7)).clone();
        sound.extend([0; 3000]);
        for part in parts {
            sound.extend(*part);
        }
        sound.extend([0; 16_000]);
        sound
    }

    #[test]
    fn a_beep_after_a_greeting_is_heard_when_it_ends() {
        for hertz in [400.0, 440.0, 620.0, 850.0, 1000.0, 1004.0, 1400.0, 1850.0, 2000.0] {
            for ms in [130, 250, 500, 1000, 2000] {
                for offset in [0, 37, 101] {
                    let silence = vec![0; offset];
                    let heard = hear(&greeting(&[&silence, &tone(hertz, ms)]));
                    let [(tick, beep)] = heard[..] else {
                        panic!("{hertz} Hz, {ms} ms: {heard:?}");
                    };
                    assert!((beep.hertz - hertz).abs() < 25.0, "{hertz} {beep:?}");
                    assert!(beep.ms.abs_diff(ms) <= 40, "{ms} {beep:?}");
                    let end = (20_000 + 3000 + offset + ms as usize * 8) / FRAME;
                    assert!((end..=end + 3 + CADENCE as usize).contains(&tick));
                }
            }
        }
    }

    #[test]
    fn a_beep_with_noise_on_the_line_is_heard() {
        let mut sound = greeting(&[&tone(1000.0, 400)]);
        let mut state = 3u32;
        for sample in &mut sound {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *sample = sample.saturating_add(((state >> 16) as i16) / 120);
        }
        assert_eq!(hear(&sound).len(), 1);
    }

    #[test]
    fn speech_is_no_beep() {
        for seed in 0..16 {
            let mut sound = speech(10_000, seed);
            sound.extend([0; 8000]);
            assert_eq!(hear(&sound), [], "seed {seed}");
        }
    }

    #[test]
    fn a_melody_is_no_beep() {
        let notes: Vec<i16> = [523.0, 587.0, 659.0, 698.0, 784.0, 880.0, 784.0, 659.0]
            .into_iter()
            .flat_map(|hertz| tone(hertz, 300))
            .collect();
        assert_eq!(hear(&greeting(&[&notes])), []);
    }

    #[test]
    fn ringing_and_busy_tones_are_no_beep() {
        assert_eq!(hear(&greeting(&[&ringback(6500)])), []);
        let mut busy = Vec::new();
        for _ in 0..4 {
            busy.extend(tone(400.0, 750));
            busy.extend([0; 6000]);
        }
        // The last burst stands alone: then it cannot be told from a beep, and the line is dead anyway.
        let heard = hear(&greeting(&[&busy]));
        assert!(heard.len() <= 1, "{heard:?}");
    }

    #[test]
    fn a_tone_before_any_speech_or_too_short_or_endless_is_no_beep() {
        let mut first = tone(1000.0, 300);
        first.extend([0; 8000]);
        assert_eq!(hear(&first), []);
        assert_eq!(hear(&greeting(&[&tone(1000.0, 70)])), []);
        assert_eq!(hear(&greeting(&[&tone(1000.0, 4000)])), []);
    }

    #[test]
    fn a_key_is_no_beep() {
        for key in ['1', '5', '#', 'D'] {
            let sound = super::super::dtmf(key, 200);
            assert_eq!(hear(&greeting(&[&sound])), [], "{key}");
        }
    }
}

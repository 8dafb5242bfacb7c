//! Tone detection: tells a beep, a ringback tone or hum from speech, which a voice activity detector often confuses.
//!
//! A sinusoid of angle `w` a sample satisfies `x[n] + x[n-2] = 2 cos(w) x[n-1]`. The best such `w` is fitted
//! to 30 ms of sound; a tone leaves less than a hundredth of its power unexplained, speech (decaying, with
//! harmonics) far more. Two tones close to each other, as the Indian ringing tone, pass as one.

/// Samples that are looked at: 30 ms.
const WINDOW: usize = 240;
/// Ratio of explained to unexplained power above which it is a tone.
const GAIN: f32 = 120.0;
/// Frequencies of tones, Hz. Lower ones are hum and the fundamental of a voice.
const BAND: std::ops::RangeInclusive<f32> = 350.0..=2200.0;
/// Mean square below which it is silence: -45 dBFS.
const FLOOR: f32 = 185.0 * 185.0;

/// The frequency of a tone, Hz; none if the samples are something else.
pub fn frequency(samples: &[i16]) -> Option<f32> {
    let samples = samples.get(samples.len().saturating_sub(WINDOW)..)?;
    let (mut power, mut across, mut middle) = (0.0f32, 0.0f32, 0.0f32);
    for three in samples.windows(3) {
        let [a, b, c] = [f32::from(three[0]), f32::from(three[1]), f32::from(three[2])];
        across += (a + c) * b;
        middle += b * b;
        power += (a + c) * (a + c);
    }
    let count = samples.len().max(1) as f32;
    if middle / count < FLOOR {
        return None;
    }
    let cosine = across / (2.0 * middle);
    if !(-1.0..=1.0).contains(&cosine) {
        return None;
    }
    let left = (power - across * across / middle).max(1.0);
    let hertz = cosine.acos() * 8000.0 / std::f32::consts::TAU;
    (middle / left > GAIN && BAND.contains(&hertz)).then_some(hertz)
}

/// A beep: one tone, held.
#[derive(Debug, Default)]
pub struct Beep {
    hertz: f32,
    held_ms: u32,
    told: bool,
}

/// How long a tone is held to be a beep, milliseconds.
const BEEP_MS: u32 = 160;
/// How far the frequency of a held tone may stray, Hz.
const STRAY: f32 = 25.0;

impl Beep {
    /// Takes the frequency of the newest 20 ms, if they are a tone. True once, when the tone has been held long
    /// enough to be a beep.
    pub fn tick(&mut self, tone: Option<f32>) -> bool {
        let Some(hertz) = tone else {
            *self = Self::default();
            return false;
        };
        if (hertz - self.hertz).abs() > STRAY {
            *self = Self { hertz, held_ms: 20, told: false };
            return false;
        }
        self.held_ms += 20;
        let now = self.held_ms >= BEEP_MS && !self.told;
        self.told |= now;
        now
    }

    /// Whether a tone sounds now.
    pub fn sounding(&self) -> bool {
        self.held_ms >= 60
    }
}

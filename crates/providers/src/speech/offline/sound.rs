//! From a program's WAV stream to the sound of a line, piece by piece: nothing waits for the end.

use std::f64::consts::PI;

use domain::ports::SAMPLE_RATE;

/// Loudness that speech is brought to, RMS of what is voiced: -18 dB below full scale.
const TARGET: f64 = 0.126 * 32768.0;
/// Quietest voiced block, RMS; below it nothing is learnt about the loudness.
const VOICED: f64 = 160.0;
/// The limiter begins to bend here.
const KNEE: f64 = 0.7 * 32768.0;
/// A sample this loud is sound; before the first one everything is silence.
const AUDIBLE: i16 = 120;
/// Samples of the silence in front that are kept, so that no consonant is cut.
const KEPT_IN_FRONT: usize = 40;
/// Samples of a block of the loudness rule: 10 ms.
const BLOCK: usize = 80;
/// Half the width of the resampling filter, in zero crossings.
const CROSSINGS: f64 = 12.0;

/// A stream that is no 16-bit mono WAV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotWav;

/// Everything from bytes to samples of the line.
pub(super) struct Converter {
    header: Header,
    odd: Option<u8>,
    resampler: Option<Resampler>,
    trim: Trim,
    level: Level,
}

impl Converter {
    pub(super) fn new() -> Self {
        Self {
            header: Header::default(),
            odd: None,
            resampler: None,
            trim: Trim::default(),
            level: Level::default(),
        }
    }

    /// Takes the next bytes and gives the samples that are ready.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<i16>, NotWav> {
        let mut sound = self.header.push(bytes)?;
        let Some(rate) = self.header.rate else { return Ok(Vec::new()) };
        if let Some(odd) = self.odd.take() {
            sound.insert(0, odd);
        }
        if sound.len() % 2 == 1 {
            self.odd = sound.pop();
        }
        let samples: Vec<i16> =
            sound.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
        let resampler = self.resampler.get_or_insert_with(|| Resampler::new(rate));
        Ok(self.level.push(&self.trim.push(resampler.push(&samples))))
    }

    /// The last samples, after the stream's end.
    pub(super) fn finish(&mut self) -> Vec<i16> {
        let Some(resampler) = &mut self.resampler else { return Vec::new() };
        let rest = self.trim.push(resampler.finish());
        let mut rest = self.level.push(&rest);
        rest.extend(self.level.finish());
        rest
    }
}

/// Reads a WAV header that comes in pieces. The lengths in it are not believed: a program that writes to a
/// pipe does not know them.
#[derive(Default)]
struct Header {
    waiting: Vec<u8>,
    rate: Option<u32>,
    /// Rate of the `fmt ` chunk, until `data` begins.
    announced: Option<u32>,
}

/// Longest header, with chunks that are skipped.
const LONGEST_HEADER: usize = 64 * 1024;

impl Header {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>, NotWav> {
        if self.rate.is_some() {
            return Ok(bytes.to_vec());
        }
        self.waiting.extend_from_slice(bytes);
        let mut at = 12;
        if self.waiting.len() >= at
            && (!self.waiting.starts_with(b"RIFF") || self.waiting.get(8..12) != Some(b"WAVE"))
        {
            return Err(NotWav);
        }
        while let Some(chunk) = self.waiting.get(at..at + 8) {
            let size = usize::try_from(u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]))
                .map_err(|_| NotWav)?;
            match &chunk[..4] {
                b"data" => {
                    self.rate = Some(self.announced.ok_or(NotWav)?);
                    let sound = self.waiting.split_off(at + 8);
                    self.waiting = Vec::new();
                    return Ok(sound);
                }
                b"fmt " => {
                    let Some(format) = self.waiting.get(at + 8..at + 24) else { break };
                    let rate = u32::from_le_bytes([format[4], format[5], format[6], format[7]]);
                    if format[..4] != [1, 0, 1, 0]
                        || format[14..16] != [16, 0]
                        || !(8000..=48_000).contains(&rate)
                    {
                        return Err(NotWav);
                    }
                    self.announced = Some(rate);
                }
                _ => {}
            }
            at = at.saturating_add(8).saturating_add(size);
            if at > LONGEST_HEADER {
                return Err(NotWav);
            }
        }
        if self.waiting.len() > LONGEST_HEADER { Err(NotWav) } else { Ok(Vec::new()) }
    }
}

/// A windowed-sinc polyphase filter from any rate down to the line's.
struct Resampler {
    /// Output steps by `step/phases` input samples.
    phases: usize,
    step: usize,
    taps: usize,
    filter: Vec<f32>,
    waiting: Vec<f32>,
    phase: usize,
}

impl Resampler {
    fn new(from: u32) -> Self {
        let divisor = gcd(from, SAMPLE_RATE);
        let (phases, step) = ((SAMPLE_RATE / divisor) as usize, (from / divisor) as usize);
        let cutoff = 0.92 * f64::from(SAMPLE_RATE) / f64::from(from);
        let half = (CROSSINGS / cutoff).ceil();
        let taps = half as usize * 2;
        let filter = (0..phases)
            .flat_map(|phase| {
                let shift = phase as f64 / phases as f64;
                let row: Vec<f64> =
                    (0..taps).map(|tap| kernel(tap as f64 - half + 1.0 - shift, cutoff, half)).collect();
                let sum: f64 = row.iter().sum();
                row.into_iter().map(move |weight| (weight / sum) as f32)
            })
            .collect();
        Self { phases, step, taps, filter, waiting: vec![0.0; taps / 2], phase: 0 }
    }

    fn push(&mut self, samples: &[i16]) -> Vec<i16> {
        self.waiting.extend(samples.iter().map(|sample| f32::from(*sample)));
        let mut out = Vec::with_capacity(samples.len() * self.phases / self.step + 1);
        let mut at = 0;
        while let Some(window) = self.waiting.get(at..at + self.taps) {
            let row = &self.filter[self.phase * self.taps..(self.phase + 1) * self.taps];
            let sum: f32 = window.iter().zip(row).map(|(sample, weight)| sample * weight).sum();
            out.push(sum.round().clamp(-32768.0, 32767.0) as i16);
            self.phase += self.step;
            at += self.phase / self.phases;
            self.phase %= self.phases;
        }
        self.waiting.drain(..at.min(self.waiting.len()));
        out
    }

    fn finish(&mut self) -> Vec<i16> {
        self.push(&vec![0; self.taps / 2])
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A sinc of this cut-off under a Hann window.
fn kernel(distance: f64, cutoff: f64, half: f64) -> f64 {
    if distance.abs() >= half {
        return 0.0;
    }
    let angle = PI * distance * cutoff;
    let sinc = if angle.abs() < 1e-9 { 1.0 } else { angle.sin() / angle };
    sinc * (0.5 + 0.5 * (PI * distance / half).cos())
}

/// Drops the silence in front.
#[derive(Default)]
struct Trim {
    begun: bool,
    before: Vec<i16>,
}

impl Trim {
    fn push(&mut self, samples: Vec<i16>) -> Vec<i16> {
        if self.begun {
            return samples;
        }
        self.before.extend(samples);
        match self.before.iter().position(|sample| sample.saturating_abs() >= AUDIBLE) {
            Some(at) => {
                self.begun = true;
                self.before.split_off(at.saturating_sub(KEPT_IN_FRONT))
            }
            None => {
                let surplus = self.before.len().saturating_sub(KEPT_IN_FRONT);
                self.before.drain(..surplus);
                Vec::new()
            }
        }
    }
}

/// Brings speech to one loudness, slowly, and bends what is too loud.
struct Level {
    waiting: Vec<i16>,
    loudness: Option<f64>,
    gain: f64,
}

impl Default for Level {
    fn default() -> Self {
        Self { waiting: Vec::new(), loudness: None, gain: 1.0 }
    }
}

impl Level {
    fn push(&mut self, samples: &[i16]) -> Vec<i16> {
        self.waiting.extend_from_slice(samples);
        let whole = self.waiting.len() - self.waiting.len() % BLOCK;
        let blocks: Vec<i16> = self.waiting.drain(..whole).collect();
        blocks.chunks(BLOCK).flat_map(|block| self.block(block)).collect()
    }

    fn finish(&mut self) -> Vec<i16> {
        let rest = std::mem::take(&mut self.waiting);
        self.block(&rest)
    }

    fn block(&mut self, block: &[i16]) -> Vec<i16> {
        if block.is_empty() {
            return Vec::new();
        }
        let power: f64 = block.iter().map(|sample| f64::from(*sample).powi(2)).sum();
        let rms = (power / block.len() as f64).sqrt();
        let before = self.gain;
        if rms >= VOICED {
            // The peak of a vowel says more about how loud a voice is than the breath around it: rise fast,
            // fall slowly.
            let known = self.loudness.unwrap_or(TARGET);
            let weight = if rms > known { 0.2 } else { 0.02 };
            let loudness = known + (rms - known) * weight;
            self.loudness = Some(loudness);
            let wanted = (TARGET / loudness).clamp(0.1, 4.0);
            self.gain += (wanted - self.gain) * 0.2;
        }
        let steps = block.len() as f64;
        block
            .iter()
            .enumerate()
            .map(|(at, sample)| {
                limited(f64::from(*sample) * (before + (self.gain - before) * (at as f64 + 1.0) / steps))
            })
            .collect()
    }
}

/// Loud samples approach full scale and never reach it.
fn limited(sample: f64) -> i16 {
    let size = sample.abs();
    let bent = if size <= KNEE {
        size
    } else {
        KNEE + (32_767.0 - KNEE) * (1.0 - (-(size - KNEE) / (32_767.0 - KNEE)).exp())
    };
    bent.copysign(sample).round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(rate: u32, hertz: f64, amplitude: f64, seconds: f64) -> Vec<i16> {
        (0..(f64::from(rate) * seconds) as usize)
            .map(|at| (amplitude * (2.0 * PI * hertz * at as f64 / f64::from(rate)).sin()) as i16)
            .collect()
    }

    fn rms(samples: &[i16]) -> f64 {
        (samples.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / samples.len().max(1) as f64)
            .sqrt()
    }

    fn wav(rate: u32, samples: &[i16]) -> Vec<u8> {
        let mut bytes = b"RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
        bytes.extend(rate.to_le_bytes());
        bytes.extend((rate * 2).to_le_bytes());
        bytes.extend(b"\x02\0\x10\0data\0\0\0\0");
        bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
        bytes
    }

    #[test]
    fn tones_below_the_cut_off_pass_and_those_above_do_not() {
        for rate in [8000, 16_000, 22_050, 44_100] {
            let mut resampler = Resampler::new(rate);
            let mut out = resampler.push(&tone(rate, 1000.0, 10_000.0, 1.0));
            out.extend(resampler.finish());
            assert!(out.len().abs_diff(8000) <= 2, "{rate}: {}", out.len());
            let loud = rms(&out[400..7600]);
            assert!((6800.0..7300.0).contains(&loud), "{rate}: {loud}");
            if rate > 12_000 {
                let alias = rms(&Resampler::new(rate).push(&tone(rate, 5500.0, 10_000.0, 1.0))[400..]);
                assert!(alias < 40.0, "{rate}: {alias}");
            }
        }
    }

    #[test]
    fn a_stream_in_any_pieces_gives_the_same_sound() {
        let bytes = wav(22_050, &[vec![0; 4000], tone(22_050, 500.0, 3000.0, 0.5)].concat());
        let whole = |size: usize| {
            let mut converter = Converter::new();
            let mut out: Vec<i16> =
                bytes.chunks(size).flat_map(|piece| converter.push(piece).expect("a WAV")).collect();
            out.extend(converter.finish());
            out
        };
        let at_once = whole(bytes.len());
        assert_eq!(whole(1), at_once);
        assert_eq!(whole(977), at_once);
        assert!((3900..4150).contains(&at_once.len()), "the silence in front is gone: {}", at_once.len());
    }

    #[test]
    fn quiet_and_loud_speech_come_out_alike() {
        for amplitude in [1500.0, 6000.0, 30_000.0] {
            let mut level = Level::default();
            let out = level.push(&tone(8000, 300.0, amplitude, 3.0));
            let loud = rms(&out[16_000..]);
            assert!((0.8..1.25).contains(&(loud / TARGET)), "{amplitude}: {loud}");
        }
        assert_eq!(limited(1e9), 32_767);
        assert_eq!(limited(-100.0), -100);
    }

    #[test]
    fn what_is_no_wav_is_refused() {
        assert_eq!(Converter::new().push(b"this is an error message"), Err(NotWav));
        let mut stereo = wav(8000, &[]);
        stereo[22] = 2;
        assert_eq!(Converter::new().push(&stereo), Err(NotWav));
        assert_eq!(Converter::new().push(b"RIFF"), Ok(Vec::new()));
    }
}

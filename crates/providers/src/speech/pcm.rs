//! Samples out of bytes, and other sampling rates.

use std::f64::consts::PI;

use domain::ports::SAMPLE_RATE;

/// Little-endian bytes of samples.
pub(crate) fn bytes(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

/// A WAV file of mono samples at `rate` a second.
pub(crate) fn wav(samples: &[i16], rate: u32) -> Vec<u8> {
    let length = u32::try_from(samples.len() * 2).unwrap_or(u32::MAX - 36);
    let mut file = Vec::with_capacity(44 + samples.len() * 2);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(length + 36).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend_from_slice(&rate.to_le_bytes());
    file.extend_from_slice(&(rate * 2).to_le_bytes());
    file.extend_from_slice(b"\x02\0\x10\0data");
    file.extend_from_slice(&length.to_le_bytes());
    file.extend(bytes(samples));
    file
}

/// Reads 16-bit mono sound as it arrives, cut anywhere, with a WAV header before it or without, and gives
/// samples at [`SAMPLE_RATE`].
pub(crate) struct Reader {
    /// Bytes that are not yet a sample, or not yet a whole header.
    held: Vec<u8>,
    begun: bool,
    rate: u32,
    resampler: Option<Resampler>,
}

/// Most steps in which a rate and [`SAMPLE_RATE`] meet: 441 for the rates of music. A rate that has no large
/// divisor in common with ours would need a filter of megabytes.
const MOST_STEPS: u32 = 2048;

/// Whether a service may speak at this rate.
pub(crate) fn is_usual(rate: u32) -> bool {
    (4000..=192_000).contains(&rate) && rate.max(SAMPLE_RATE) / gcd(rate, SAMPLE_RATE) <= MOST_STEPS
}

/// The longest header that is waited for, bytes.
const LONGEST_HEADER: usize = 4096;

impl Reader {
    /// Sound of this rate, unless a header says otherwise.
    pub(crate) fn new(rate: u32) -> Self {
        Self { held: Vec::new(), begun: false, rate, resampler: None }
    }

    /// The samples that are whole now.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<i16> {
        self.held.extend_from_slice(bytes);
        if !self.begun && !self.begin() {
            return Vec::new();
        }
        let even = self.held.len() & !1;
        let samples: Vec<i16> =
            self.held[..even].chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
        self.held.drain(..even);
        match &mut self.resampler {
            Some(resampler) => resampler.push(&samples),
            None => samples,
        }
    }

    /// The last samples, which the resampler still holds.
    pub(crate) fn finish(&mut self) -> Vec<i16> {
        let mut last = if self.begun { Vec::new() } else { self.start_with(0) };
        if let Some(resampler) = &mut self.resampler {
            last.extend(resampler.finish());
        }
        last
    }

    /// What was held back for a header that never came.
    fn start_with(&mut self, skipped: usize) -> Vec<i16> {
        self.start(skipped);
        self.push(&[])
    }

    fn start(&mut self, skipped: usize) {
        self.held.drain(..skipped.min(self.held.len()));
        self.begun = true;
        self.resampler = (self.rate != SAMPLE_RATE).then(|| Resampler::new(self.rate, SAMPLE_RATE));
    }

    /// Passes over a header. False when more bytes are needed.
    fn begin(&mut self) -> bool {
        let start = &self.held[..self.held.len().min(4)];
        if !b"RIFF".starts_with(start) {
            self.start(0);
            return true;
        }
        if let Some((at, rate)) = header(&self.held) {
            // A rate that no service speaks at is a damaged header.
            if let Some(rate) = rate.filter(|rate| is_usual(*rate)) {
                self.rate = rate;
            }
            self.start(at);
            return true;
        }
        if self.held.len() > LONGEST_HEADER {
            self.start(0);
            return true;
        }
        false
    }
}

/// Where the sound of a WAV file begins, and its rate. Lengths of the chunks before it count, the length of
/// the sound does not: streams leave it open.
fn header(file: &[u8]) -> Option<(usize, Option<u32>)> {
    let mut at = 12;
    let mut rate = None;
    loop {
        let head = file.get(at..at + 8)?;
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        at += 8;
        match &head[..4] {
            b"data" => return Some((at, rate)),
            b"fmt " => {
                let found = file.get(at + 4..at + 8)?;
                rate = Some(u32::from_le_bytes([found[0], found[1], found[2], found[3]]));
            }
            _ => {}
        }
        at = at.checked_add(length + (length & 1))?;
    }
}

/// From one sampling rate to another, in a stream: a windowed sinc in phases, flat to 90 % of the lower
/// rate's band.
pub(crate) struct Resampler {
    /// Filter, `phases` taps apart for one output.
    filter: Vec<f32>,
    phases: usize,
    step: usize,
    taps: usize,
    /// Input that later outputs still need.
    held: Vec<f32>,
    /// Place of the next output in the held input, in 1/phases of a sample.
    at: usize,
}

impl Resampler {
    /// Rates in samples a second, above 0.
    pub(crate) fn new(from: u32, to: u32) -> Self {
        let (from, to) = (from.max(1), to.max(1));
        let common = gcd(from, to);
        let (phases, step) = ((to / common) as usize, (from / common) as usize);
        let taps = 32 * step.div_ceil(phases).max(1);
        let length = taps * phases;
        let cutoff = 0.92 / (phases.max(step) as f64);
        // The middle lies on an input sample, so that outputs are not moved by a fraction of one.
        let middle = (taps / 2 * phases) as f64;
        let tap = |at: usize| {
            let away = at as f64 - middle;
            let x = away * cutoff;
            let sinc = if x.abs() < 1e-9 { 1.0 } else { (PI * x).sin() / (PI * x) };
            let turn = PI * away / middle;
            let window = 0.42 + 0.5 * turn.cos() + 0.08 * (2.0 * turn).cos();
            (sinc * window * cutoff * phases as f64) as f32
        };
        // Half a filter of silence before the first sample, so that nothing is delayed against the input.
        let held = vec![0.0; taps / 2 - 1];
        Self { filter: (0..length).map(tap).collect(), phases, step, taps, held, at: (taps - 1) * phases }
    }

    /// The outputs that the input so far decides.
    pub(crate) fn push(&mut self, samples: &[i16]) -> Vec<i16> {
        self.held.extend(samples.iter().map(|sample| f32::from(*sample)));
        let mut out = Vec::with_capacity(samples.len() * self.phases / self.step + 1);
        while self.at / self.phases < self.held.len() {
            let (newest, phase) = (self.at / self.phases, self.at % self.phases);
            let sum: f32 = (0..self.taps)
                .map(|tap| self.held[newest - tap] * self.filter[tap * self.phases + phase])
                .sum();
            out.push(sum.round().clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16);
            self.at += self.step;
        }
        let spent = (self.at / self.phases + 1).saturating_sub(self.taps).min(self.held.len());
        self.held.drain(..spent);
        self.at -= spent * self.phases;
        out
    }

    /// The last outputs.
    pub(crate) fn finish(&mut self) -> Vec<i16> {
        self.push(&vec![0; self.taps / 2])
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The part of `samples` in which somebody may be speaking, with 300 ms on both sides; empty when there is
/// none. Services that transcribe files invent words for silence.
pub(crate) fn spoken_part(samples: &[i16]) -> &[i16] {
    const FRAME: usize = SAMPLE_RATE as usize / 50;
    const MARGIN: usize = 15;
    let loudness = |frame: &[i16]| {
        (frame.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / frame.len() as f64).sqrt()
    };
    let loud: Vec<f64> = samples.chunks(FRAME).map(loudness).collect();
    let mut sorted = loud.clone();
    sorted.sort_by(f64::total_cmp);
    // The floor is what a tenth of the time stays below, but never so high that steady speech counts as
    // noise.
    let floor = sorted.get(sorted.len() / 10).copied().unwrap_or_default().min(300.0);
    let threshold = (floor * 3.0).max(120.0);
    let Some(first) = loud.iter().position(|frame| *frame > threshold) else { return &[] };
    let last = loud.iter().rposition(|frame| *frame > threshold).unwrap_or(first);
    let from = first.saturating_sub(MARGIN) * FRAME;
    let to = ((last + 1 + MARGIN) * FRAME).min(samples.len());
    &samples[from..to]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(rate: u32, hertz: f64, samples: usize) -> Vec<i16> {
        (0..samples)
            .map(|at| (8000.0 * (2.0 * PI * hertz * at as f64 / f64::from(rate)).sin()) as i16)
            .collect()
    }

    fn strength(samples: &[i16]) -> f64 {
        (samples.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / samples.len() as f64).sqrt()
    }

    #[test]
    fn every_rate_keeps_the_voice_and_loses_what_would_fold_back() {
        for from in [8000, 16_000, 22_050, 24_000, 44_100, 48_000] {
            let second = from as usize;
            let mut resampler = Resampler::new(from, 8000);
            let mut out = Vec::new();
            for piece in tone(from, 1000.0, second).chunks(441) {
                out.extend(resampler.push(piece));
            }
            out.extend(resampler.finish());
            assert!(out.len().abs_diff(8000) <= 2, "{from}: {}", out.len());
            let expected = tone(8000, 1000.0, 8000);
            let difference: Vec<i16> =
                out[200..7800].iter().zip(&expected[200..7800]).map(|(a, b)| a - b).collect();
            assert!(strength(&difference) < 100.0, "{from}: delayed or bent: {}", strength(&difference));
            assert!(
                (strength(&out[200..7800]) - 5657.0).abs() < 200.0,
                "{from}: {}",
                strength(&out[200..7800])
            );
            if from > 8000 {
                let high = Resampler::new(from, 8000).push(&tone(from, 6000.0, second));
                assert!(strength(&high[200..7000]) < 60.0, "{from}: {}", strength(&high[200..7000]));
            }
        }
        let up = Resampler::new(8000, 16_000).push(&tone(8000, 1000.0, 8000));
        assert!((strength(&up[400..15_000]) - 5657.0).abs() < 200.0);
    }

    #[test]
    fn sound_may_be_cut_anywhere_and_carry_a_header() {
        let samples = tone(8000, 440.0, 800);
        let plain = bytes(&samples);
        let mut open_ended = wav(&samples, 8000);
        open_ended[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
        for file in [plain, wav(&samples, 8000), open_ended] {
            for cut in [1, 2, 3, 7, 43, 45, 4000] {
                let mut reader = Reader::new(8000);
                let mut out = Vec::new();
                file.chunks(cut).for_each(|piece| out.extend(reader.push(piece)));
                out.extend(reader.finish());
                assert!(out == samples, "cut in pieces of {cut}");
            }
        }
        let mut reader = Reader::new(8000);
        assert_eq!(reader.push(&wav(&tone(24_000, 440.0, 2400), 24_000)).len() + reader.finish().len(), 800);
    }

    #[test]
    fn a_rate_that_would_need_a_large_filter_is_a_damaged_header() {
        for usual in [
            8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400,
            192_000,
        ] {
            assert!(is_usual(usual), "{usual}");
        }
        let samples = tone(8000, 440.0, 800);
        for unusual in [0, 3999, 7993, 191_999, u32::MAX] {
            assert!(!is_usual(unusual), "{unusual}");
            let mut file = wav(&samples, 8000);
            file[24..28].copy_from_slice(&unusual.to_le_bytes());
            assert_eq!(Reader::new(8000).push(&file), samples, "{unusual}");
        }
    }

    #[test]
    fn the_spoken_part_is_cut_out_of_silence() {
        let mut samples = vec![3; 16_000];
        assert!(spoken_part(&samples).is_empty());
        samples.extend(tone(8000, 300.0, 4000));
        samples.extend(vec![-3; 16_000]);
        let part = spoken_part(&samples);
        assert_eq!(part.len(), 4000 + 2 * 2400);
        assert_eq!(spoken_part(&tone(8000, 300.0, 4000)).len(), 4000, "speech from end to end");
        assert!(spoken_part(&[]).is_empty());
    }
}

//! From one sampling rate to another, in a stream.
//!
//! `rubato` filters: a windowed sinc in as many phases as the two rates need, so nothing is interpolated
//! between them. This file cuts the stream into its chunks and keeps the output in step with the input.

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{
    Async, FixedAsync, Resampler as _, SincInterpolationParameters, SincInterpolationType, WindowFunction,
};

use domain::ports::SAMPLE_RATE;

/// Most steps in which a rate and [`SAMPLE_RATE`] meet: 441 for the rates of music. A rate that has no large
/// divisor in common with ours would need a filter of megabytes.
const MOST_STEPS: u32 = 2048;
/// Chunks a second: each waits for 5 ms of input.
const CHUNKS: u32 = 200;
/// Taps of the filter for each sample of the lower rate.
const TAPS: u32 = 32;
/// End of the band that is kept, as a part of the lower rate's.
const CUT_OFF: f32 = 0.92;

/// Whether a service may speak at this rate, samples a second.
pub(crate) fn is_usual(rate: u32) -> bool {
    (4000..=192_000).contains(&rate) && rate.max(SAMPLE_RATE) / gcd(rate, SAMPLE_RATE) <= MOST_STEPS
}

/// Converts mono sound, piece by piece. The output is not delayed against the input, and n samples in give
/// n · to / from out, rounded up.
pub(crate) struct Resampler {
    filter: Async<f32>,
    /// Input that does not fill a chunk yet.
    waiting: Vec<f32>,
    /// Samples of one run of the filter.
    made: Vec<f32>,
    /// The first outputs, which are older than the input.
    early: usize,
    /// `phases` outputs for `step` inputs.
    phases: u64,
    step: u64,
    taken: u64,
    given: u64,
}

impl Resampler {
    /// From and to so many samples a second, both [usual](is_usual). None when there is nothing to convert.
    pub(crate) fn new(from: u32, to: u32) -> Option<Self> {
        if from == to {
            return None;
        }
        let common = gcd(from, to);
        let (phases, step) = (to / common, from / common);
        // The filter's own count of taps is a multiple of 8.
        let taps = (TAPS * step.div_ceil(phases)).next_multiple_of(8);
        let parameters = SincInterpolationParameters::new(taps as usize, WindowFunction::Blackman)
            .f_cutoff(CUT_OFF)
            .oversampling_factor(phases as usize)
            .interpolation(SincInterpolationType::Nearest);
        let chunk = from.div_ceil(CHUNKS) as usize;
        let ratio = f64::from(to) / f64::from(from);
        // Its only errors are a ratio and a number of channels that make no sense.
        let filter = Async::new_sinc(ratio, 1.0, &parameters, chunk, 1, FixedAsync::Input).ok()?;
        // The n-th output, counted from 1, stands for the place n · step / phases - taps / 2 + 1 / phases of
        // the input. Silence in front makes it the place of the first sample for a whole n.
        let of_first = |silence: &u32| (silence + taps / 2) * phases - 1;
        let silence = (0..step).find(|silence| of_first(silence).is_multiple_of(step))?;
        let early = (of_first(&silence) / step - 1) as usize;
        Some(Self {
            made: vec![0.0; filter.output_frames_max()],
            filter,
            waiting: vec![0.0; silence as usize],
            early,
            phases: phases.into(),
            step: step.into(),
            taken: 0,
            given: 0,
        })
    }

    /// The outputs that the input so far decides.
    pub(crate) fn push(&mut self, samples: &[i16]) -> Vec<i16> {
        self.taken += samples.len() as u64;
        self.waiting.extend(samples.iter().map(|sample| f32::from(*sample)));
        let mut out = Vec::with_capacity(samples.len() * self.phases as usize / self.step as usize + 1);
        let chunk = self.filter.input_frames_next();
        let mut at = 0;
        while let Some(input) = self.waiting.get(at..at + chunk) {
            at += chunk;
            let room = self.made.len();
            let (Ok(input), Ok(mut output)) =
                (InterleavedSlice::new(input, 1, chunk), InterleavedSlice::new_mut(&mut self.made, 1, room))
            else {
                continue;
            };
            // Its only errors are buffers that are too small.
            let made = self.filter.process_into_buffer(&input, &mut output, None).map_or(0, |(_, made)| made);
            let skipped = self.early.min(made);
            self.early -= skipped;
            let bounds = (f32::from(i16::MIN), f32::from(i16::MAX));
            out.extend(
                self.made[skipped..made].iter().map(|sample| sample.round().clamp(bounds.0, bounds.1) as i16),
            );
        }
        self.waiting.drain(..at);
        self.given += out.len() as u64;
        out
    }

    pub(crate) fn finish(&mut self) -> Vec<i16> {
        let owed = (self.taken * self.phases).div_ceil(self.step);
        let silence = vec![0; self.filter.input_frames_next()];
        let mut rest = Vec::new();
        while self.given < owed {
            rest.extend(self.push(&silence));
        }
        rest.truncate(rest.len() - (self.given - owed) as usize);
        self.given = owed;
        rest
    }
}

/// All of `samples`, from and to so many a second.
pub(crate) fn resampled(samples: &[i16], from: u32, to: u32) -> Vec<i16> {
    let Some(mut resampler) = Resampler::new(from, to) else { return samples.to_vec() };
    let mut out = resampler.push(samples);
    out.extend(resampler.finish());
    out
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn tone(rate: u32, hertz: f64, samples: usize) -> Vec<i16> {
        (0..samples)
            .map(|at| (8000.0 * (2.0 * PI * hertz * at as f64 / f64::from(rate)).sin()) as i16)
            .collect()
    }

    fn strength(samples: &[i16]) -> f64 {
        (samples.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / samples.len() as f64).sqrt()
    }

    /// The whole of `samples` in pieces of this size.
    fn converted(from: u32, to: u32, samples: &[i16], piece: usize) -> Vec<i16> {
        let mut resampler = Resampler::new(from, to).expect("two rates");
        let mut out: Vec<i16> = samples.chunks(piece).flat_map(|piece| resampler.push(piece)).collect();
        out.extend(resampler.finish());
        out
    }

    const RATES: [u32; 7] = [11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000];

    #[test]
    fn every_rate_keeps_the_voice_and_loses_what_would_fold_back() {
        assert!(Resampler::new(8000, 8000).is_none());
        for from in RATES {
            let second = from as usize;
            let out = converted(from, 8000, &tone(from, 1000.0, second), 441);
            assert_eq!(out.len(), 8000, "{from}");
            let expected = tone(8000, 1000.0, 8000);
            let difference: Vec<i16> =
                out[200..7800].iter().zip(&expected[200..7800]).map(|(a, b)| a - b).collect();
            assert!(strength(&difference) < 60.0, "{from}: delayed or bent: {}", strength(&difference));
            assert!((strength(&out[200..7800]) - 5657.0).abs() < 60.0, "{from}");
            for high in [5400.0, 6000.0] {
                let folded = strength(&converted(from, 8000, &tone(from, high, second), 441)[200..7800]);
                assert!(folded < 40.0, "{from}: {high} Hz: {folded}");
            }
        }
        let up = converted(8000, 16_000, &tone(8000, 1000.0, 8000), 160);
        assert_eq!(up.len(), 16_000);
        assert!((strength(&up[400..15_000]) - 5657.0).abs() < 60.0);
    }

    #[test]
    fn where_a_stream_is_cut_does_not_matter() {
        for from in RATES {
            let samples = tone(from, 700.0, 5003);
            let whole = converted(from, 8000, &samples, samples.len());
            for piece in [1, 7, 160, 977] {
                assert_eq!(converted(from, 8000, &samples, piece), whole, "{from} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn little_waits_in_the_filter() {
        for from in RATES {
            let tenth = from as usize / 10;
            let out = Resampler::new(from, 8000).expect("two rates").push(&tone(from, 700.0, tenth));
            assert!(out.len() >= 800 - 70, "{from}: {} of 800 samples", out.len());
        }
    }
}

//! Other sample rates: speech services speak at 16, 22.05, 24 or 48 kHz, telephones at 8.

use std::fmt;

use audio_codec::BoxedResampler;

/// Highest rate that is taken.
const HIGHEST: u32 = 192_000;

/// A rate that sound does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadRate(
    /// Samples a second.
    pub u32,
);

impl fmt::Display for BadRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a sample rate of {} is not possible", self.0)
    }
}

impl std::error::Error for BadRate {}

/// Converts a stream of 16-bit mono samples from one rate to another, piece by piece: the pieces' edges
/// cannot be heard, and n samples in give exactly n · to / from out, rounded up over the whole stream.
pub struct Resampler {
    // None: both rates are the same. Two: a filter of 24 taps is too short for a long way, so that goes by
    // twice the target.
    stages: Vec<BoxedResampler>,
    between: Vec<i16>,
    out: Vec<i16>,
    rates: (u32, u32),
}

impl fmt::Debug for Resampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resampler({} -> {})", self.rates.0, self.rates.1)
    }
}

impl Resampler {
    /// From `from` samples a second to `to`.
    ///
    /// # Errors
    /// When a rate is 0 or above 192,000.
    pub fn new(from: u32, to: u32) -> Result<Resampler, BadRate> {
        for rate in [from, to] {
            if rate == 0 || rate > HIGHEST {
                return Err(BadRate(rate));
            }
        }
        let twice = to * 2;
        let way = if from > twice { vec![from, twice, to] } else { vec![from, to] };
        let mut stages = Vec::new();
        for step in way.windows(2).filter(|step| step[0] != step[1]) {
            stages.push(BoxedResampler::new(step[0] as usize, step[1] as usize).map_err(|_| BadRate(from))?);
        }
        Ok(Resampler { stages, between: Vec::new(), out: Vec::new(), rates: (from, to) })
    }

    /// To the 8000 a second that [`super::Line::play`] takes.
    ///
    /// # Errors
    /// When the rate is 0 or above 192,000.
    pub fn to_line(from: u32) -> Result<Resampler, BadRate> {
        Resampler::new(from, 8000)
    }

    /// The next piece of the stream, converted.
    pub fn push(&mut self, samples: &[i16]) -> &[i16] {
        self.out.clear();
        self.out.extend_from_slice(samples);
        for stage in &mut self.stages {
            std::mem::swap(&mut self.between, &mut self.out);
            self.out.resize(stage.max_output_samples(self.between.len()), 0);
            let made = stage.resample_into(&self.between, &mut self.out).unwrap_or(0);
            self.out.truncate(made);
        }
        &self.out
    }

    /// Forgets the stream: the next piece starts a new one.
    pub fn reset(&mut self) {
        self.stages.iter_mut().for_each(BoxedResampler::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rate: u32, hertz: f64, ms: u32) -> Vec<i16> {
        (0..rate * ms / 1000)
            .map(|index| {
                ((std::f64::consts::TAU * hertz * f64::from(index) / f64::from(rate)).sin() * 8000.0) as i16
            })
            .collect()
    }

    fn level(sound: &[i16]) -> f64 {
        (sound.iter().map(|one| f64::from(*one).powi(2)).sum::<f64>() / sound.len().max(1) as f64).sqrt()
    }

    #[test]
    fn every_rate_keeps_what_a_telephone_can_carry_and_drops_the_rest() {
        for from in [8000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000] {
            for to in [8000, 16_000] {
                let mut resampler = Resampler::new(from, to).expect("common rates");
                let kept = resampler.push(&wave(from, 1000.0, 500)).to_vec();
                assert_eq!(
                    kept.len(),
                    (u64::from(from / 2) * u64::from(to)).div_ceil(u64::from(from)) as usize,
                    "{from} {to}"
                );
                let level_kept = level(&kept[kept.len() / 4..]);
                assert!((5400.0..5900.0).contains(&level_kept), "{from} {to}: {level_kept}");
                let (half, fits) = (f64::from(to) / 2.0, f64::from(from) / 2.0);
                if half * 1.4 < fits {
                    resampler.reset();
                    let dropped = resampler.push(&wave(from, half * 1.4, 500)).to_vec();
                    assert!(level(&dropped[200..]) < 600.0, "{from} {to}: {}", level(&dropped[200..]));
                }
            }
        }
    }

    #[test]
    fn pieces_of_any_size_make_the_same_stream() {
        let sound = wave(22_050, 700.0, 300);
        let whole = Resampler::to_line(22_050).expect("a common rate").push(&sound).to_vec();
        for size in [1, 7, 160, 441, 1000] {
            let mut resampler = Resampler::to_line(22_050).expect("a common rate");
            let pieces: Vec<i16> =
                sound.chunks(size).flat_map(|piece| resampler.push(piece).to_vec()).collect();
            assert_eq!(pieces, whole, "{size}");
        }
    }

    #[test]
    fn rates_that_cannot_be_are_refused() {
        assert_eq!(Resampler::new(0, 8000).map(|_| ()), Err(BadRate(0)));
        assert_eq!(Resampler::to_line(4_000_000_000).map(|_| ()), Err(BadRate(4_000_000_000)));
    }
}

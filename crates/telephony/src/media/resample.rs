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

/// Converts a stream of 16-bit mono samples from one rate to another, piece by piece: the pieces' edges cannot be heard, and n samples in give exactly
/// n · to / from out, rounded up over the whole stream.
pub struct Resampler {
    // None: both rates are the same.
    inner: Option<BoxedResampler>,
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
        let inner = if from == to {
            None
        } else {
            let made = BoxedResampler::new(from as usize, to as usize);
            Some(made.map_err(|_| BadRate(from))?)
        };
        Ok(Resampler { inner, out: Vec::new(), rates: (from, to) })
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
        match &mut self.inner {
            None => self.out.extend_from_slice(samples),
            Some(inner) => {
                self.out.resize(inner.max_output_samples(samples.len()), 0);
                let made = inner.resample_into(samples, &mut self.out).unwrap_or(0);
                self.out.truncate(made);
            }
        }
        &self.out
    }

    /// Forgets the stream: the next piece starts a new one.
    pub fn reset(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.reset();
        }
    }
}

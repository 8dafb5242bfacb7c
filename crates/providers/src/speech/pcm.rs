//! Bytes and samples: 16-bit mono sound in a stream, with a WAV header before it or without.

use std::io::Cursor;

use domain::ports::SAMPLE_RATE;
use hound::{SampleFormat, WavSpec, WavWriter};

use super::resample::{Resampler, is_usual};

/// Little-endian bytes of samples.
pub(crate) fn bytes(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

/// A WAV file of mono samples at `rate` a second.
///
/// # Errors
/// When the sound is longer than a WAV file can be, 4 GiB.
pub(crate) fn wav(samples: &[i16], rate: u32) -> Result<Vec<u8>, hound::Error> {
    let spec =
        WavSpec { channels: 1, sample_rate: rate, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let mut file = Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut file, spec)?;
    let mut sound = writer.get_i16_writer(samples.len() as u32);
    samples.iter().for_each(|sample| sound.write_sample(*sample));
    sound.flush()?;
    writer.finalize()?;
    Ok(file.into_inner())
}

/// What the beginning of a stream is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// More bytes are needed.
    Unknown,
    /// Not a WAV header.
    Other,
    /// A WAV header.
    Wav(Header),
}

/// What a WAV header says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Where the sound begins, bytes.
    pub(crate) length: usize,
    /// Samples a second, if it names a usual rate.
    pub(crate) rate: Option<u32>,
    /// Whether it announces 16-bit linear samples of one channel.
    pub(crate) is_mono_16: bool,
}

/// The longest header that is waited for, bytes.
const LONGEST_HEADER: usize = 4096;

/// Reads the beginning of a stream. `hound` reads files: it needs the whole header at once and the length of the sound,
/// which programs that write to a pipe and services that stream do not know.
pub(crate) fn beginning(bytes: &[u8]) -> Beginning {
    for (at, tag) in [(0, b"RIFF"), (8, b"WAVE")] {
        let found = bytes.get(at..bytes.len().min(at + 4)).unwrap_or_default();
        if !tag.starts_with(found) {
            return Beginning::Other;
        }
    }
    let (mut at, mut rate, mut is_mono_16) = (12, None, false);
    while let Some([kind @ .., a, b, c, d]) = bytes.get(at..at + 8) {
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        at += 8;
        match kind {
            b"data" => return Beginning::Wav(Header { length: at, rate, is_mono_16 }),
            b"fmt " => {
                let Some(format) = bytes.get(at..at + 16) else { break };
                is_mono_16 = format[..4] == [1, 0, 1, 0] && format[14..] == [16, 0];
                let named = u32::from_le_bytes([format[4], format[5], format[6], format[7]]);
                rate = Some(named).filter(|rate| is_usual(*rate));
            }
            _ => {}
        }
        // Chunks of an odd length are padded.
        at = at.saturating_add(length).saturating_add(length & 1);
        if at > LONGEST_HEADER {
            return Beginning::Other;
        }
    }
    Beginning::Unknown
}

/// Reads 16-bit mono sound in a stream, split anywhere, with a WAV header before it or without, and returns samples at
/// [`SAMPLE_RATE`].
pub(crate) struct Reader {
    /// Bytes that are not yet a sample, or not yet a whole header.
    held: Vec<u8>,
    begun: bool,
    rate: u32,
    resampler: Option<Resampler>,
}

impl Reader {
    /// Sound of this rate, unless a header says otherwise.
    pub(crate) fn new(rate: u32) -> Self {
        Self { held: Vec::new(), begun: false, rate, resampler: None }
    }

    /// Sound of this rate, without a header.
    pub(crate) fn without_header(rate: u32) -> Self {
        Self { begun: true, resampler: Resampler::new(rate, SAMPLE_RATE), ..Self::new(rate) }
    }

    /// The samples that are complete now.
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
        let mut last = Vec::new();
        if !self.begun {
            // The header never ended: it is sound.
            self.start(0);
            last = self.push(&[]);
        }
        if let Some(resampler) = &mut self.resampler {
            last.extend(resampler.finish());
        }
        last
    }

    fn start(&mut self, skipped: usize) {
        self.held.drain(..skipped);
        self.begun = true;
        self.resampler = Resampler::new(self.rate, SAMPLE_RATE);
    }

    /// Skips a header. False when more bytes are needed.
    fn begin(&mut self) -> bool {
        match beginning(&self.held) {
            Beginning::Unknown => return false,
            Beginning::Other => self.start(0),
            Beginning::Wav(header) => {
                // A rate that no service speaks at is a damaged header.
                self.rate = header.rate.unwrap_or(self.rate);
                self.start(header.length);
            }
        }
        true
    }
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
    use std::f64::consts::PI;

    use super::*;

    fn file(samples: &[i16], rate: u32) -> Vec<u8> {
        wav(samples, rate).expect("a file")
    }

    fn tone(rate: u32, hertz: f64, samples: usize) -> Vec<i16> {
        (0..samples)
            .map(|at| (8000.0 * (2.0 * PI * hertz * at as f64 / f64::from(rate)).sin()) as i16)
            .collect()
    }

    #[test]
    fn sound_may_be_cut_anywhere_and_carry_a_header() {
        let samples = tone(8000, 440.0, 800);
        let plain = bytes(&samples);
        let mut open_ended = file(&samples, 8000);
        open_ended[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
        for stream in [plain, file(&samples, 8000), open_ended] {
            for cut in [1, 2, 3, 7, 43, 45, 4000] {
                let mut reader = Reader::new(8000);
                let mut out = Vec::new();
                stream.chunks(cut).for_each(|piece| out.extend(reader.push(piece)));
                out.extend(reader.finish());
                assert!(out == samples, "cut in pieces of {cut}");
            }
        }
        let mut reader = Reader::new(8000);
        assert_eq!(reader.push(&file(&tone(24_000, 440.0, 2400), 24_000)).len() + reader.finish().len(), 800);
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
            let mut damaged = file(&samples, 8000);
            damaged[24..28].copy_from_slice(&unusual.to_le_bytes());
            assert_eq!(Reader::new(8000).push(&damaged), samples, "{unusual}");
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

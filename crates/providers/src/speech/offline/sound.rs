//! From a program's WAV stream to the sound of a line, in a stream: nothing waits for the end.

use crate::speech::pcm::{self, Beginning, Header, Reader};

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

/// A stream that is not a 16-bit mono WAV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotWav;

/// Everything from bytes to samples of the line.
#[derive(Default)]
pub(super) struct Converter {
    /// Bytes of a header that is not whole yet.
    header: Vec<u8>,
    reader: Option<Reader>,
    trim: Trim,
    level: Level,
}

impl Converter {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and gives the samples that are ready.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<i16>, NotWav> {
        let samples = match &mut self.reader {
            Some(reader) => reader.push(bytes),
            None => {
                self.header.extend_from_slice(bytes);
                match pcm::beginning(&self.header) {
                    Beginning::Unknown => return Ok(Vec::new()),
                    Beginning::Wav(Header { length, rate: Some(rate), is_mono_16: true }) => {
                        let sound = self.header.split_off(length);
                        self.reader.insert(Reader::without_header(rate)).push(&sound)
                    }
                    Beginning::Wav(_) | Beginning::Other => return Err(NotWav),
                }
            }
        };
        Ok(self.level.push(&self.trim.push(samples)))
    }

    /// The last samples, after the stream's end.
    pub(super) fn finish(&mut self) -> Vec<i16> {
        let Some(reader) = &mut self.reader else { return Vec::new() };
        let rest = self.trim.push(reader.finish());
        let mut rest = self.level.push(&rest);
        rest.extend(self.level.finish());
        rest
    }
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
    use std::f64::consts::PI;

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

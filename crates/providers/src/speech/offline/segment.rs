//! From the sound of a turn to the pieces that hold speech, each as the recognition program wants it: 16 kHz,
//! one loudness, a little silence around it, and a floor of noise, because its model has never heard digital
//! silence (docs/offline-speech.md#recogniser).

use domain::ports::SAMPLE_RATE;

use crate::speech::resample::resampled;

/// Samples a second that the recognition program wants.
const RATE: u32 = 16_000;
/// Samples of a frame at 8 kHz: 20 ms.
const FRAME: usize = 160;
/// A frame is voiced when it is this much louder than the quiet of the turn.
const ABOVE_QUIET: f64 = 2.5;
/// Quietest voiced frame, RMS.
const FAINTEST: f64 = 60.0;
/// Frames between two words of one piece, at most: 500 ms. A longer pause makes two pieces.
const PAUSE: usize = 25;
/// Fewest voiced frames of a piece: 60 ms. A click is shorter.
const SHORTEST: usize = 3;
/// Frames of the turn kept around a piece: 200 ms.
const AROUND: usize = 10;
/// Longest piece, in frames: 8 s. Of a longer one only the end is used.
const LONGEST: usize = 400;
/// Most pieces of a turn; of more, only the last are used.
pub(super) const MOST_PIECES: usize = 4;
/// Silence before and after, at 16 kHz: 0.4 s.
const PAD: usize = 6400;
/// Peak after normalisation: -6 dB.
const PEAK: f64 = 0.5 * 32_767.0;
/// Amplitude of the noise floor.
const NOISE: f64 = 98.0;

/// The pieces of a turn that hold speech, as little-endian 16-bit samples at 16 kHz; none when it was silent.
pub(super) fn pieces(turn: &[i16]) -> Vec<Vec<u8>> {
    let frames: Vec<f64> = turn.chunks_exact(FRAME).map(rms).collect();
    let mut spans = voiced_spans(&frames);
    let surplus = spans.len().saturating_sub(MOST_PIECES);
    spans.drain(..surplus);
    spans
        .into_iter()
        .map(|(from, to)| {
            let from = from.saturating_sub(AROUND).max(to.saturating_sub(LONGEST));
            let to = (to + AROUND).min(frames.len());
            prepared(&turn[from * FRAME..to * FRAME])
        })
        .collect()
}

fn rms(frame: &[i16]) -> f64 {
    (frame.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / frame.len().max(1) as f64).sqrt()
}

/// First frame and the one after the last of every stretch of speech.
fn voiced_spans(frames: &[f64]) -> Vec<(usize, usize)> {
    let mut sorted = frames.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(loudest) = sorted.last() else { return Vec::new() };
    let quiet = sorted[sorted.len() / 10].min(loudest / 8.0);
    let threshold = (quiet * ABOVE_QUIET).max(FAINTEST).max(loudest / 30.0);
    let mut spans: Vec<(usize, usize, usize)> = Vec::new();
    for (at, _) in frames.iter().enumerate().filter(|(_, loudness)| **loudness > threshold) {
        match spans.last_mut() {
            Some((_, end, count)) if at - *end <= PAUSE => (*end, *count) = (at + 1, *count + 1),
            _ => spans.push((at, at + 1, 1)),
        }
    }
    spans.into_iter().filter(|(_, _, count)| *count >= SHORTEST).map(|(from, to, _)| (from, to)).collect()
}

fn prepared(samples: &[i16]) -> Vec<u8> {
    let peak = samples.iter().map(|sample| sample.unsigned_abs()).max().unwrap_or(0).max(1);
    let gain = PEAK / f64::from(peak);
    let mut noise = Noise(0x2545_F491_4F6C_DD1D);
    let silence = || std::iter::repeat_n(0.0, PAD);
    silence()
        .chain(resampled(samples, SAMPLE_RATE, RATE).into_iter().map(|sample| f64::from(sample) * gain))
        .chain(silence())
        .flat_map(|sample| {
            ((sample + noise.next() * NOISE).round().clamp(-32_768.0, 32_767.0) as i16).to_le_bytes()
        })
        .collect()
}

/// White noise, the same every time, so that the same sound is heard the same way.
struct Noise(u64);

impl Noise {
    /// From -1 to 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(frames: usize, amplitude: f64) -> Vec<i16> {
        (0..frames * FRAME).map(|at| (amplitude * (at as f64 * 0.4).sin()) as i16).collect()
    }

    #[test]
    fn speech_is_found_between_silences() {
        let quiet = |frames: usize| tone(frames, 5.0);
        let turn = [
            quiet(50),
            tone(20, 4000.0),
            quiet(10),
            tone(20, 4000.0),
            quiet(60),
            tone(10, 4000.0),
            quiet(50),
        ]
        .concat();
        let found = pieces(&turn);
        assert_eq!(found.len(), 2, "a short pause joins, a long one parts");
        let bytes = |frames: usize| (frames * FRAME * 2 + 2 * PAD) * 2;
        assert_eq!(
            found.iter().map(Vec::len).collect::<Vec<_>>(),
            [bytes(50 + 2 * AROUND), bytes(10 + 2 * AROUND)]
        );
        assert!(pieces(&quiet(200)).is_empty());
        assert!(pieces(&[]).is_empty());
        assert!(pieces(&[quiet(50), tone(1, 9000.0), quiet(50)].concat()).is_empty(), "a click");
    }

    #[test]
    fn a_whole_turn_of_speech_is_speech() {
        assert_eq!(pieces(&tone(100, 3000.0)).len(), 1);
    }

    #[test]
    fn long_turns_are_bounded() {
        let turn = [tone(1, 0.0), tone(2000, 3000.0)].concat();
        assert!(
            pieces(&turn)
                .iter()
                .all(|piece| piece.len() <= ((LONGEST + 2 * AROUND) * FRAME * 2 + 2 * PAD) * 2)
        );
        let many = (0..20).flat_map(|_| [tone(10, 3000.0), tone(40, 1.0)].concat()).collect::<Vec<_>>();
        assert_eq!(pieces(&many).len(), MOST_PIECES);
    }
}

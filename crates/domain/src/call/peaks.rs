//! How loud both sides of a recording are, for a picture of it.

/// Most steps of a picture.
pub const MAX_STEPS: i64 = 2_000;
/// Shortest step, milliseconds.
const SHORTEST_STEP: i64 = 100;
/// Bytes before the sound of a WAV file.
pub const WAV_HEAD: u64 = 44;
/// Bytes of a millisecond of sound: two channels of 8,000 samples of 16 bits a second.
pub const WAV_MILLISECOND: u64 = 32;
/// Bytes of a pair of samples: the customer is left, the agent right.
const PAIR: usize = 4;

/// The loudest sample of each side in each step, from a WAV file that is read piece by piece.
#[derive(Debug)]
pub struct PeakMeter {
    step_ms: i64,
    /// Bytes of the head that are still to come.
    head: u64,
    /// The beginning of a pair whose rest is in the next piece.
    begun: Vec<u8>,
    pairs_of_step: u64,
    pairs: u64,
    loudest: [u8; 2],
    peaks: Vec<u8>,
}

impl PeakMeter {
    /// For a file of so many bytes.
    pub fn new(bytes: u64) -> Self {
        let duration_ms = i64::try_from(bytes.saturating_sub(WAV_HEAD) / WAV_MILLISECOND).unwrap_or(i64::MAX);
        let step_ms = (duration_ms.saturating_add(MAX_STEPS - 1) / MAX_STEPS).max(SHORTEST_STEP);
        Self {
            step_ms,
            head: WAV_HEAD,
            begun: Vec::with_capacity(PAIR),
            pairs_of_step: step_ms.unsigned_abs() * WAV_MILLISECOND / PAIR as u64,
            pairs: 0,
            loudest: [0; 2],
            peaks: Vec::new(),
        }
    }

    /// Takes the next bytes of the file.
    pub fn read(&mut self, mut bytes: &[u8]) {
        let head = self.head.min(bytes.len() as u64);
        self.head -= head;
        bytes = &bytes[usize::try_from(head).unwrap_or(bytes.len())..];
        if !self.begun.is_empty() {
            let missing = (PAIR - self.begun.len()).min(bytes.len());
            self.begun.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.begun.len() < PAIR {
                return;
            }
            let pair = std::mem::take(&mut self.begun);
            self.pair(&pair);
        }
        let pairs = bytes.chunks_exact(PAIR);
        self.begun.extend_from_slice(pairs.remainder());
        for pair in pairs {
            self.pair(pair);
        }
    }

    fn pair(&mut self, pair: &[u8]) {
        for (loudest, sample) in self.loudest.iter_mut().zip(pair.chunks_exact(2)) {
            let sample = i16::from_le_bytes([sample[0], sample[1]]).unsigned_abs();
            *loudest = (*loudest).max(u8::try_from(sample >> 7).unwrap_or(u8::MAX));
        }
        self.pairs += 1;
        if self.pairs.is_multiple_of(self.pairs_of_step) {
            self.end_step();
        }
    }

    fn end_step(&mut self) {
        // A file may be longer than was said.
        if (self.peaks.len() as i64) < 2 * MAX_STEPS {
            self.peaks.extend_from_slice(&std::mem::take(&mut self.loudest));
        }
    }

    /// The length of a step in milliseconds, and two bytes for each: customer and agent.
    pub fn finish(mut self) -> (i64, Vec<u8>) {
        if !self.pairs.is_multiple_of(self.pairs_of_step) {
            self.end_step();
        }
        (self.step_ms, self.peaks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(pairs: impl IntoIterator<Item = (i16, i16)>) -> Vec<u8> {
        let mut file = vec![0xff; 44];
        for (left, right) in pairs {
            file.extend_from_slice(&left.to_le_bytes());
            file.extend_from_slice(&right.to_le_bytes());
        }
        file
    }

    fn peaks(file: &[u8], piece: usize) -> (i64, Vec<u8>) {
        let mut meter = PeakMeter::new(file.len() as u64);
        file.chunks(piece).for_each(|piece| meter.read(piece));
        meter.finish()
    }

    #[test]
    fn each_side_has_its_loudest_sample_whatever_the_pieces() {
        // 250 ms: the customer is loud in the first step, the agent in the last one.
        let file =
            wav((0..2_000)
                .map(|n| (if n == 5 { i16::MIN } else { 128 }, if n == 1_900 { 12_800 } else { 0 })));
        let expected = (100, vec![255, 0, 1, 0, 1, 100]);
        for piece in [1, 3, 7, 45, 1_000, 100_000] {
            assert_eq!(peaks(&file, piece), expected, "{piece}");
        }
        assert_eq!(peaks(&[], 1), (100, Vec::new()));
        assert_eq!(peaks(&file[..20], 9), (100, Vec::new()));
    }

    #[test]
    fn an_hour_has_at_most_two_thousand_steps() {
        let mut meter = PeakMeter::new(WAV_HEAD + 3_600_000 * WAV_MILLISECOND);
        meter.read(&[0; 44]);
        for _ in 0..3_700 {
            meter.read(&[1; 32_000]);
        }
        let (step_ms, peaks) = meter.finish();
        assert_eq!((step_ms, peaks.len()), (1_800, 4_000), "longer than was said, and bounded");
    }
}

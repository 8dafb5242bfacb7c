//! Generated sound.

/// A sound similar to speech: harmonics of a gliding pitch, in syllables, as 16-bit samples at this rate.
pub fn voice(samples: usize, rate: usize) -> Vec<i16> {
    (0..samples)
        .map(|index| {
            let at = index as f64 / rate as f64;
            let pitch = 140.0 * at + 3.0 * (at * 2.7).sin();
            let syllable = 0.25 + 0.75 * (at * 4.0 * std::f64::consts::PI).sin().abs();
            let voice: f64 =
                (1..12).map(|of| (std::f64::consts::TAU * pitch * f64::from(of)).sin() / f64::from(of)).sum();
            (voice * syllable * 5000.0) as i16
        })
        .collect()
}

/// A sample in µ-law (ITU-T G.711).
pub fn mu_law(sample: i16) -> u8 {
    let magnitude = sample.unsigned_abs().min(32_635) + 132;
    let exponent = 8 - magnitude.leading_zeros() as u16;
    let mantissa = (magnitude >> (exponent + 3)) & 0x0f;
    let sign = if sample < 0 { 0x80 } else { 0 };
    !(sign | (exponent << 4) as u8 | mantissa as u8)
}

/// Whether µ-law sound is louder than the noise of a silent line.
pub fn is_loud(payload: &[u8]) -> bool {
    payload.iter().filter(|byte| (**byte | 0x80) < 0xd0).count() > payload.len() / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mu_law_is_that_of_the_recommendation() {
        // Values of G.711 as 16-bit samples.
        for (sample, byte) in [
            (0, 0xff),
            (-1, 0x7f),
            (32_124, 0x80),
            (-32_124, 0x00),
            (1_000, 0xce),
            (-1_000, 0x4e),
            (8, 0xfe),
            (16, 0xfd),
        ] {
            assert_eq!(mu_law(sample), byte, "{sample}");
        }
    }

    #[test]
    fn speech_is_loud_and_silence_is_not() {
        let sound: Vec<u8> = voice(8000, 8000).into_iter().map(mu_law).collect();
        assert!(sound.chunks(160).filter(|tick| is_loud(tick)).count() >= 48);
        assert!(!is_loud(&[0xff; 160]) && !is_loud(&[0x7e; 160]));
    }
}

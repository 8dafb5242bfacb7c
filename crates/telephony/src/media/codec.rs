//! G.711 codec (PCMU, PCMA): one byte a sample, 8000 Hz.

use audio_codec_algorithms::{decode_alaw, decode_ulaw, encode_alaw, encode_ulaw};

use super::Codec;

/// Appends the samples of `bytes` to `out`.
pub(super) fn decode(codec: Codec, bytes: &[u8], out: &mut Vec<i16>) {
    match codec {
        Codec::Pcmu => out.extend(bytes.iter().map(|byte| decode_ulaw(*byte))),
        Codec::Pcma => out.extend(bytes.iter().map(|byte| decode_alaw(*byte))),
    }
}

/// Appends the bytes of `samples` to `out`.
pub(super) fn encode(codec: Codec, samples: &[i16], out: &mut Vec<u8>) {
    match codec {
        Codec::Pcmu => out.extend(samples.iter().map(|sample| encode_ulaw(*sample))),
        Codec::Pcma => out.extend(samples.iter().map(|sample| encode_alaw(*sample))),
    }
}

impl Codec {
    /// Its static payload type (RFC 3551).
    pub(super) fn payload_type(self) -> u8 {
        match self {
            Codec::Pcmu => 0,
            Codec::Pcma => 8,
        }
    }

    /// Its name in SDP.
    pub(super) fn name(self) -> &'static str {
        match self {
            Codec::Pcmu => "PCMU",
            Codec::Pcma => "PCMA",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_survives_within_a_step_of_its_size() {
        for codec in [Codec::Pcmu, Codec::Pcma] {
            for sample in (i16::MIN..=i16::MAX).step_by(37) {
                let (mut bytes, mut back) = (Vec::new(), Vec::new());
                encode(codec, &[sample], &mut bytes);
                decode(codec, &bytes, &mut back);
                let (sample, back) = (i32::from(sample), i32::from(back[0]));
                assert!((sample - back).abs() <= 16 + sample.abs() / 16, "{codec:?} {sample} {back}");
            }
        }
    }

    #[test]
    fn silence_is_the_byte_that_every_switch_knows() {
        let (mut mu, mut a) = (Vec::new(), Vec::new());
        encode(Codec::Pcmu, &[0], &mut mu);
        encode(Codec::Pcma, &[0], &mut a);
        assert_eq!((mu, a), (vec![0xff], vec![0xd5]));
    }
}

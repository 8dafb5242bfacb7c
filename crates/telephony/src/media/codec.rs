//! G.711: one byte a sample, 8000 a second.

use audio_codec::pcma::{PcmaDecoder, PcmaEncoder};
use audio_codec::pcmu::{PcmuDecoder, PcmuEncoder};
use audio_codec::{Decoder, Encoder};

use super::Codec;

/// Appends the samples of `bytes` to `out`.
pub(super) fn decode(codec: Codec, bytes: &[u8], out: &mut Vec<i16>) {
    let start = out.len();
    out.resize(start + bytes.len(), 0);
    let decoded = match codec {
        Codec::Pcmu => PcmuDecoder::new().decode_into(bytes, &mut out[start..]),
        Codec::Pcma => PcmaDecoder::new().decode_into(bytes, &mut out[start..]),
    };
    out.truncate(start + decoded.unwrap_or(0));
}

/// Appends the bytes of `samples` to `out`.
pub(super) fn encode(codec: Codec, samples: &[i16], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + samples.len(), 0);
    let encoded = match codec {
        Codec::Pcmu => PcmuEncoder::new().encode_into(samples, &mut out[start..]),
        Codec::Pcma => PcmaEncoder::new().encode_into(samples, &mut out[start..]),
    };
    out.truncate(start + encoded.unwrap_or(0));
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

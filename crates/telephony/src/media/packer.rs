//! Packetisation: repacks 20 ms ticks into packets of the peer's ptime.

use super::Codec;
use super::codec;
use domain::ports::Frame;

/// Gathers ticks to packets of the agreed length.
#[derive(Debug)]
pub(super) struct Packer {
    codec: Codec,
    /// Bytes, and samples, of a packet.
    length: usize,
    pending: Vec<u8>,
    sent: usize,
}

impl Packer {
    pub(super) fn new(codec: Codec, ptime_ms: u32) -> Packer {
        Packer { codec, length: 8 * ptime_ms.clamp(10, 60) as usize, pending: Vec::new(), sent: 0 }
    }

    /// Adds a tick.
    pub(super) fn push(&mut self, frame: &Frame) {
        self.pending.drain(..self.sent);
        self.sent = 0;
        codec::encode(self.codec, frame, &mut self.pending);
    }

    /// The next whole packet.
    pub(super) fn packet(&mut self) -> Option<&[u8]> {
        let next = self.pending.get(self.sent..self.sent + self.length)?;
        self.sent += self.length;
        Some(next)
    }

    /// Gives up what is not a whole packet; returns its samples.
    pub(super) fn flush(&mut self) -> usize {
        let rest = self.pending.len() - self.sent;
        self.pending.clear();
        self.sent = 0;
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_carries_every_sample() {
        for ptime in [10, 20, 30, 40, 50, 60] {
            let mut packer = Packer::new(Codec::Pcmu, ptime);
            let mut samples = 0;
            for _ in 0..30 {
                packer.push(&[0; 160]);
                while let Some(packet) = packer.packet() {
                    assert_eq!(packet.len(), 8 * ptime as usize);
                    samples += packet.len();
                }
            }
            assert_eq!(samples + packer.flush(), 30 * 160, "{ptime}");
        }
    }
}

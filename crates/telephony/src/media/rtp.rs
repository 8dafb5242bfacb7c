//! Parsing and writing RTP packets (RFC 3550 section 5.1).

/// Bytes of the header that we write.
pub(super) const HEADER: usize = 12;

/// A packet that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) payload_type: u8,
    pub(super) sequence: u16,
    pub(super) timestamp: u32,
    pub(super) ssrc: u32,
    pub(super) payload: &'a [u8],
}

fn be32(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// Length of the header with its contributors and extension; none when this is not RTP (RTCP included, RFC
/// 5761 section 4).
pub(super) fn header_length(bytes: &[u8]) -> Option<usize> {
    if bytes.len() < HEADER || bytes[0] >> 6 != 2 || (192..=223).contains(&bytes[1]) {
        return None;
    }
    let mut length = HEADER + 4 * usize::from(bytes[0] & 0x0f);
    if bytes[0] & 0x10 != 0 {
        let words = bytes.get(length + 2..length + 4)?;
        length += 4 + 4 * (usize::from(words[0]) << 8 | usize::from(words[1]));
    }
    (length <= bytes.len()).then_some(length)
}

/// Sequence number and source of what has a header.
pub(super) fn identity(bytes: &[u8]) -> Option<(u16, u32)> {
    header_length(bytes)?;
    Some((u16::from_be_bytes([bytes[2], bytes[3]]), be32(&bytes[8..])))
}

/// Reads a packet that is not encrypted.
pub(super) fn parse(bytes: &[u8]) -> Option<Packet<'_>> {
    let start = header_length(bytes)?;
    let mut end = bytes.len();
    if bytes[0] & 0x20 != 0 {
        let padding = usize::from(*bytes.last()?);
        end = end.checked_sub(padding).filter(|end| padding > 0 && *end >= start)?;
    }
    Some(Packet {
        payload_type: bytes[1] & 0x7f,
        sequence: u16::from_be_bytes([bytes[2], bytes[3]]),
        timestamp: be32(&bytes[4..]),
        ssrc: be32(&bytes[8..]),
        payload: &bytes[start..end],
    })
}

/// What the next packet of ours carries in its header.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub(super) ssrc: u32,
    sequence: u16,
    /// Timestamp of the sound that comes next.
    pub(super) timestamp: u32,
}

impl Sender {
    /// Starts anywhere, as RFC 3550 asks for.
    pub(super) fn new(random: [u8; 10]) -> Sender {
        Sender {
            ssrc: be32(&random),
            // A start in the lower half: the roll-over counter of SRTP is the same for both sides although
            // the first packets may be lost.
            sequence: u16::from_be_bytes([random[4], random[5]]) & 0x7fff,
            timestamp: be32(&random[6..]),
        }
    }

    /// Writes a header and `payload` to `out`.
    pub(super) fn write(
        &mut self,
        out: &mut Vec<u8>,
        marker: bool,
        payload_type: u8,
        timestamp: u32,
        payload: &[u8],
    ) {
        out.clear();
        out.push(0x80);
        out.push(u8::from(marker) << 7 | payload_type);
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&timestamp.to_be_bytes());
        out.extend_from_slice(&self.ssrc.to_be_bytes());
        out.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(random in any::<[u8; 10]>(), marker: bool, payload_type in 0u8..64, timestamp: u32, payload in prop::collection::vec(any::<u8>(), 0..500)) {
            let mut sender = Sender::new(random);
            let mut out = Vec::new();
            sender.write(&mut out, marker, payload_type, timestamp, &payload);
            let packet = parse(&out).expect("a packet");
            prop_assert_eq!(packet.payload, &payload[..]);
            prop_assert_eq!((packet.payload_type, packet.timestamp, packet.ssrc), (payload_type, timestamp, sender.ssrc));
            prop_assert_eq!(identity(&out), Some((packet.sequence, packet.ssrc)));
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80), rtp: bool) {
            if rtp && let Some(first) = bytes.first_mut() {
                *first = *first & 0x3f | 0x80;
            }
            if let Some(packet) = parse(&bytes) {
                prop_assert!(packet.payload.len() + HEADER <= bytes.len());
            }
        }
    }

    #[test]
    fn contributors_extension_and_padding_are_not_sound() {
        let mut bytes = vec![0x80 | 0x20 | 0x10 | 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 5];
        bytes.extend([1, 1, 1, 1]); // contributor
        bytes.extend([0xbe, 0xde, 0, 1, 2, 2, 2, 2]); // extension
        bytes.extend([10, 11, 12]);
        bytes.extend([0, 2]); // padding
        let packet = parse(&bytes).expect("a packet");
        assert_eq!(packet.payload, [10, 11, 12]);
        assert_eq!((packet.sequence, packet.timestamp, packet.ssrc), (7, 9, 5));
    }

    #[test]
    fn reports_are_not_sound() {
        let mut bytes = [0u8; 28];
        bytes[0] = 0x80;
        bytes[1] = 200;
        assert_eq!(parse(&bytes), None);
    }
}

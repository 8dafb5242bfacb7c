//! Voice notes: Opus in Ogg (RFC 7845), as the messaging channel carries them.

use std::io::Cursor;

use domain::ports::{SAMPLE_RATE, Unreadable};
use ogg::PacketReader;
use opus_rs::OpusDecoder;

/// Most sound that is decoded, seconds; the rest is skipped.
pub const MAX_SECONDS: usize = 300;
/// Most samples of a packet: 120 ms (RFC 6716).
const MAX_PACKET: usize = 120 * SAMPLE_RATE as usize / 1000;
/// Samples of the rate in which the head counts, for one of ours.
const HEAD_RATE: usize = 48_000 / SAMPLE_RATE as usize;
/// Most packets that are looked at, with those that cannot be decoded: 2.5 ms is the shortest.
const MAX_PACKETS: usize = MAX_SECONDS * 400;

/// Decodes a voice note to samples of [`SAMPLE_RATE`], one channel.
///
/// # Errors
/// It is no Opus in Ogg, or nothing of it can be decoded.
pub fn decode(bytes: &[u8]) -> Result<Vec<i16>, Unreadable> {
    let damaged = |why: &str| Unreadable::Damaged(format!("its sound cannot be read: {why}"));
    if !bytes.starts_with(b"OggS") {
        return Err(Unreadable::Unsupported("a sound that is not Ogg".into()));
    }
    let mut packets = PacketReader::new(Cursor::new(bytes));
    let Ok(Some(head)) = packets.read_packet() else { return Err(damaged("it has no head")) };
    let (stream, head) = (head.stream_serial(), head.data);
    if head.len() < 19 || !head.starts_with(b"OpusHead") {
        return Err(Unreadable::Unsupported("a sound that is not Opus".into()));
    }
    if !(1..=2).contains(&head[9]) || head[18] != 0 {
        return Err(Unreadable::Unsupported("a sound of more than two channels".into()));
    }
    let lead = usize::from(u16::from_le_bytes([head[10], head[11]])) / HEAD_RATE;
    let rate = i32::try_from(SAMPLE_RATE).unwrap_or(i32::MAX);
    let mut decoder = OpusDecoder::new(rate, 1).map_err(damaged)?;
    let most = lead + MAX_SECONDS * SAMPLE_RATE as usize;
    let mut samples: Vec<i16> = Vec::new();
    let mut piece = [0.0_f32; MAX_PACKET];
    // The comments come first.
    let mut comments = true;
    for _ in 0..MAX_PACKETS {
        // A truncated note is decoded up to there.
        let Ok(Some(packet)) = packets.read_packet() else { break };
        if packet.stream_serial() != stream || std::mem::take(&mut comments) {
            continue;
        }
        // A broken packet is skipped, like a lost packet of a call.
        let Ok(length) = decoder.decode(&packet.data, MAX_PACKET, &mut piece) else { continue };
        let heard = piece.iter().take(length.min(MAX_PACKET));
        // Out of range, and not a number, becomes the nearest sample, or none.
        samples.extend(heard.map(|sample| (sample * f32::from(i16::MAX)) as i16));
        if samples.len() >= most {
            break;
        }
    }
    samples.truncate(most);
    samples.drain(..lead.min(samples.len()));
    if samples.is_empty() {
        return Err(damaged("nothing of it can be decoded"));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use std::f32::consts::TAU;

    use ogg::{PacketWriteEndInfo, PacketWriter};
    use opus_rs::{Application, OpusEncoder};

    use super::*;

    /// A tone of this many hertz, two seconds of it.
    fn note(hertz: f32, channels: u8) -> Vec<u8> {
        let mut head = b"OpusHead\x01".to_vec();
        head.extend([channels, 0x38, 0x01, 0x80, 0x3e, 0, 0, 0, 0, 0]);
        let mut encoder = OpusEncoder::new(16_000, 1, Application::Voip).unwrap();
        let mut writer = PacketWriter::new(Vec::new());
        writer.write_packet(head, 7, PacketWriteEndInfo::EndPage, 0).unwrap();
        writer.write_packet(b"OpusTags\0\0\0\0\0\0\0\0".to_vec(), 7, PacketWriteEndInfo::EndPage, 0).unwrap();
        for packet in 0..100_u64 {
            let at = |sample: u64| (packet * 320 + sample) as f32 / 16_000.0;
            let tone: Vec<f32> = (0..320).map(|sample| 0.5 * (TAU * hertz * at(sample)).sin()).collect();
            let mut bytes = [0; 400];
            let length = encoder.encode(&tone, 320, &mut bytes).unwrap();
            let end =
                if packet == 99 { PacketWriteEndInfo::EndStream } else { PacketWriteEndInfo::NormalPacket };
            writer.write_packet(bytes[..length].to_vec(), 7, end, (packet + 1) * 960).unwrap();
        }
        writer.into_inner()
    }

    /// How strong a tone is in a sound.
    fn strength(samples: &[i16], hertz: f32) -> f32 {
        let (mut sine, mut cosine) = (0.0, 0.0);
        for (at, sample) in samples.iter().enumerate() {
            let angle = TAU * hertz * at as f32 / SAMPLE_RATE as f32;
            sine += f32::from(*sample) * angle.sin();
            cosine += f32::from(*sample) * angle.cos();
        }
        sine.hypot(cosine) / samples.len() as f32
    }

    #[test]
    fn a_note_sounds_as_it_was_spoken() {
        let samples = decode(&note(440.0, 1)).unwrap();
        assert_eq!(samples.len(), 2 * SAMPLE_RATE as usize - 0x138 / HEAD_RATE);
        assert!(strength(&samples, 440.0) > 20.0 * strength(&samples, 700.0).max(1.0));
    }

    #[test]
    fn a_note_that_was_cut_off_is_heard_up_to_there() {
        let whole = note(440.0, 1);
        // Its packets fill more than one page, so a part of it is whole.
        for keep in (0..whole.len()).step_by(61) {
            if let Ok(samples) = decode(&whole[..keep]) {
                assert!(!samples.is_empty());
            }
        }
    }

    #[test]
    fn what_is_no_voice_note_is_refused() {
        for (bytes, what) in [
            (&b""[..], "not Ogg"),
            (b"OggS", "no head"),
            (b"RIFF....WAVEfmt ", "not Ogg"),
            (&note(440.0, 6), "more than two channels"),
        ] {
            let why = decode(bytes).unwrap_err().to_string();
            assert!(why.contains(what), "{why}");
        }
    }
}

//! Entry points of the fuzz targets: untrusted RTP, SDP and SRTP, parsed as a call parses them.

use std::net::{IpAddr, Ipv4Addr};

use super::codec;
use super::digits;
use super::jitter::Jitter;
use super::rtp;
use super::sdp::{self, OfferSettings};
use super::srtp::{Keys, MasterKey, Suite, Unprotect};
use crate::settings::{Codec, Encryption};
use domain::ports::FRAME;

fn ours(encryption: Encryption) -> OfferSettings {
    OfferSettings::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4000, vec![Codec::Pcmu, Codec::Pcma], encryption)
}

/// An offer and an answer of the other side; what we answer must be readable as an offer again.
pub fn sdp(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for encryption in [Encryption::WhenOffered, Encryption::Required] {
        let ours = ours(encryption);
        if let Ok((answer, _)) = sdp::answer(&text, &ours) {
            assert!(answer.starts_with("v=0\r\n"), "not a description");
        }
        drop(sdp::agree(&ours, &text));
    }
}

/// One packet of sound.
pub fn rtp(bytes: &[u8]) {
    let Some(packet) = rtp::parse(bytes) else { return };
    let mut sound = Vec::new();
    for codec in [Codec::Pcmu, Codec::Pcma] {
        sound.clear();
        codec::decode(codec, packet.payload, &mut sound);
    }
    assert!(rtp::identity(bytes).is_some(), "a packet without an identity");
}

/// Packets one after the other, each with its length before it, through the jitter buffer and the reader of
/// keys.
pub fn stream(mut bytes: &[u8]) {
    let (mut jitter, mut keys, mut sound) = (Jitter::new(), digits::Receiver::default(), Vec::new());
    let mut out = [0i16; FRAME];
    while let Some((length, rest)) = bytes.split_first() {
        let (packet, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        bytes = rest;
        match rtp::parse(packet) {
            Some(packet) if jitter.count(packet.ssrc, packet.sequence) => {
                let _ = keys.packet(packet.timestamp, packet.payload);
                sound.clear();
                codec::decode(Codec::Pcmu, packet.payload, &mut sound);
                jitter.push(packet.timestamp, &sound);
            }
            _ => {
                jitter.take(&mut out);
            }
        }
    }
}

/// The payload of a telephone event (RFC 4733).
pub fn digits(bytes: &[u8]) {
    let mut keys = digits::Receiver::default();
    for timestamp in 0..3 {
        let _ = keys.packet(timestamp, bytes);
    }
}

/// One packet of encrypted sound, written without the key.
pub fn srtp(bytes: &[u8]) {
    for suite in [Suite::AesCm128HmacSha1_80, Suite::AesCm128HmacSha1_32] {
        let Some(key) = MasterKey::from_text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") else { return };
        let mut reader = Unprotect::new(&Keys { suite, local: key.clone(), remote: key });
        let mut packet = bytes.to_vec();
        let _ = reader.packet(&mut packet);
        let _ = reader.packet(&mut packet);
    }
}

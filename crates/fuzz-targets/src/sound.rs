//! What the other side of a call sends: session descriptions, packets, sound.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex};

use telephony::fuzzing::media;
use telephony::media::sdp::{OfferSettings, agree, answer, offer};
use telephony::media::{Agreed, Codec, Direction, Ear, Keys, Sources, Suite, Tick};
use telephony::settings::Encryption;

use crate::draw::Draw;

fn ours(draw: &mut Draw<'_>, address: IpAddr) -> OfferSettings {
    let codecs = match draw.below(3) {
        0 => vec![Codec::Pcmu, Codec::Pcma],
        1 => vec![Codec::Pcma],
        _ => vec![Codec::Pcma, Codec::Pcmu],
    };
    let encryption = draw.of(&[Encryption::WhenOffered, Encryption::Required, Encryption::WhenOffered]);
    let mut settings = OfferSettings::new(address, 4000, codecs, encryption);
    settings.direction =
        draw.of(&[Direction::SendRecv, Direction::SendOnly, Direction::RecvOnly, Direction::Inactive]);
    settings
}

fn sensible(agreed: &Agreed) {
    assert!(
        (10..=60).contains(&agreed.ptime_ms) && agreed.ptime_ms.is_multiple_of(10),
        "{}",
        agreed.ptime_ms
    );
    assert!(
        agreed.payload_type < 128
            && agreed.telephone_event.is_none_or(|event| event < 128 && event != agreed.payload_type)
    );
    assert_ne!(agreed.remote.port(), 0);
}

/// One byte of settings, then a session description of the other side, read as an offer and as an answer.
///
/// The service's answer can be read as an offer by another instance, and as the answer to that instance's
/// offer. It has a line for each line of the offer and is not much longer, and what was agreed on can be
/// sent.
pub fn sdp(data: &[u8]) {
    let mut draw = Draw::new(data);
    let ours = ours(&mut draw, IpAddr::V4(Ipv4Addr::LOCALHOST));
    let text = String::from_utf8_lossy(draw.rest()).into_owned();
    if let Ok(agreed) = agree(&ours, &text) {
        sensible(&agreed);
    }
    let Ok((written, agreed)) = answer(&text, &ours) else { return };
    sensible(&agreed);
    assert!(written.len() <= 2 * text.len() + 1024, "{} bytes answer {}", written.len(), text.len());
    assert!(written.split("\r\n").all(|line| !line.contains(['\r', '\n'])), "a line break within a line");
    let lines =
        |text: &str| text.split(['\r', '\n']).filter(|line| line.trim_start().starts_with("m=")).count();
    assert_eq!(lines(&written), lines(&text).min(32), "a line for each line");

    // Another instance that made such an offer understands the answer.
    let theirs =
        OfferSettings::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 5000, vec![agreed.codec], ours.encryption);
    if let Ok((written, ours_agreed)) = answer(&offer(&theirs), &ours) {
        let theirs_agreed = agree(&theirs, &written).expect("the service's answer to its own offer");
        assert_eq!(
            (theirs_agreed.codec, theirs_agreed.payload_type),
            (ours_agreed.codec, ours_agreed.payload_type)
        );
        assert_eq!(theirs_agreed.srtp.is_some(), ours_agreed.srtp.is_some());
        assert_eq!(theirs_agreed.direction.sends(), ours_agreed.direction.receives());
    }
}

/// Counts the reports to a call's ear.
#[derive(Default)]
struct Told(Arc<Mutex<(u64, u64)>>);

impl Ear for Told {
    fn tick(&mut self, _: Tick<'_>) {
        self.0.lock().expect("one thread").0 += 1;
    }

    fn digit(&mut self, key: char) {
        assert!(key.is_ascii_digit() || "*#ABCD".contains(key), "{key}");
        self.0.lock().expect("one thread").1 += 1;
    }

    fn starved(&mut self, ms: u32) {
        assert!(ms >= 5000, "starved after {ms} ms");
    }
}

/// One packet of sound, as on the wire.
///
/// What is read lies within the packet, reports (RTCP) are not sound, and a packet that the service wrote is
/// read unchanged.
pub fn rtp(data: &[u8]) {
    telephony::fuzzing::media::rtp(data);
    let Some(packet) = media::read(data) else { return };
    assert!(data.len() >= 12 + packet.payload.len() && packet.payload_type < 128);
    assert!(!(192..=223).contains(&data[1]), "a report was read as sound");
    let mut plain = vec![0x80, data[1]];
    plain.extend(packet.sequence.to_be_bytes());
    plain.extend(packet.timestamp.to_be_bytes());
    plain.extend(packet.ssrc.to_be_bytes());
    plain.extend(packet.payload);
    assert_eq!(media::read(&plain), Some(packet), "written and read again");
}

const KEYS: [&str; 2] =
    ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd", "HRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgEA"];

fn keys(suite: Suite) -> (Keys, Keys) {
    let [local, remote] = KEYS.map(|text| media::key(text).expect("a key"));
    (
        Keys { suite, local: local.clone(), remote: remote.clone() },
        Keys { suite, local: remote, remote: local },
    )
}

fn agreed(draw: &mut Draw<'_>) -> Agreed {
    let address = draw.of(&["192.0.2.1:4000", "192.0.2.1:4002", "0.0.0.0:4000", "[2001:db8::1]:9"]);
    let suite = draw.of(&[None, Some(Suite::AesCm128HmacSha1_80), None, Some(Suite::AesCm128HmacSha1_32)]);
    let (payload_type, codec) = draw.of(&[(0, Codec::Pcmu), (8, Codec::Pcma), (97, Codec::Pcma)]);
    Agreed {
        remote: address.parse().expect("an address"),
        codec,
        payload_type,
        telephone_event: draw.of(&[Some(101), None, Some(96)]),
        ptime_ms: draw.of(&[20, 10, 30, 60]),
        direction: draw.of(&[
            Direction::SendRecv,
            Direction::RecvOnly,
            Direction::SendOnly,
            Direction::Inactive,
        ]),
        srtp: suite.map(|suite| keys(suite).0),
    }
}

fn header(draw: &mut Draw<'_>, sequence: &mut u16, timestamp: &mut u32) -> Vec<u8> {
    *sequence = match draw.below(6) {
        0 => draw.short(),
        1 => sequence.wrapping_add(draw.short() % 130),
        2 => sequence.wrapping_sub(u16::from(draw.byte() % 80)),
        _ => sequence.wrapping_add(1),
    };
    *timestamp = match draw.below(8) {
        0 => u32::from(draw.short()) << 16 | u32::from(draw.short()),
        1 => timestamp.wrapping_add(u32::from(draw.short())),
        2 => timestamp.wrapping_sub(u32::from(draw.short())),
        3 => *timestamp,
        _ => timestamp.wrapping_add(160),
    };
    let kind = draw.of(&[0, 8, 97, 101, 0x80, 0xe5, 13, 96]);
    let mut packet = vec![0x80, kind];
    packet.extend(sequence.to_be_bytes());
    packet.extend(timestamp.to_be_bytes());
    packet.extend([0, 0, 0, draw.of(&[1, 1, 1, 2, 3])]);
    packet
}

/// A call generated from the bytes: packets with and without keys from several addresses in any order, ticks,
/// holds, changes, keys.
///
/// Every packet is counted once, as heard, foreign or unreadable. Every key is heard at most once for each
/// press. The wait for sound is bounded. Each tick is reported to the ear.
pub fn call(data: &[u8]) {
    let mut draw = Draw::new(data);
    let told = Arc::new(Mutex::new((0, 0)));
    let mut agreed_now = agreed(&mut draw);
    let sources = Sources(draw.of(&["", "198.51.100.0/24", "2001:db8::/32"]).parse().into_iter().collect());
    let mut call = media::Call::new(agreed_now.clone(), sources, Box::new(Told(told.clone())));
    let mut peer = agreed_now.srtp.as_ref().map(|own| media::Peer::new(&keys(own.suite).1));
    let (mut sequence, mut timestamp, mut packets, mut pressed) = (draw.short(), 0u32, 0u64, 0u64);
    let mut ticks = 0u64;
    while !draw.is_empty() {
        match draw.below(12) {
            0..=5 => {
                let mut packet = header(&mut draw, &mut sequence, &mut timestamp);
                match draw.below(4) {
                    0 => packet.extend(draw.bytes()),
                    1 => packet.extend([draw.byte() % 18, 0x8a, 3, 0x20]),
                    _ => packet.extend([draw.byte(); 160]),
                }
                if let (Some(peer), false) = (&mut peer, draw.one_in(5)) {
                    peer.seal(&mut packet);
                }
                if draw.one_in(6) {
                    let at = usize::from(draw.byte()) % packet.len();
                    packet[at] ^= draw.byte();
                }
                let from = draw.of(&[
                    "192.0.2.1:4000",
                    "192.0.2.1:4000",
                    "198.51.100.7:5000",
                    "[::ffff:192.0.2.1]:4000",
                ]);
                packets += 1;
                pressed += u64::from(call.packet(from.parse().expect("an address"), &packet).is_some());
            }
            6 => {
                packets += 1;
                pressed += u64::from(
                    call.packet("192.0.2.1:4000".parse().expect("an address"), draw.bytes()).is_some(),
                );
            }
            7 | 8 => {
                for _ in 0..=draw.below(10) {
                    assert!(call.tick());
                    ticks += 1;
                }
            }
            9 => {
                call.skip(u32::from(draw.byte()));
                ticks = told.lock().expect("one thread").0;
            }
            10 => {
                call.hold(draw.one_in(2));
                call.press(draw.of(&["1", "*#", "12345", "x"]));
            }
            _ => {
                let before = agreed_now.srtp.as_ref().map(|keys| keys.suite);
                agreed_now = agreed(&mut draw);
                if agreed_now.srtp.as_ref().map(|keys| keys.suite) != before {
                    peer = agreed_now.srtp.as_ref().map(|own| media::Peer::new(&keys(own.suite).1));
                }
                call.update(agreed_now.clone());
                assert!(call.tick());
                ticks += 1;
            }
        }
    }
    assert!(call.tick());
    ticks += 1;
    let figures = call.figures();
    assert_eq!(figures.packets_in + figures.foreign + figures.unreadable, packets, "{figures:?}");
    assert!(figures.delay_ms <= 600, "sound waits {} ms", figures.delay_ms);
    assert!(pressed <= figures.packets_in);
    assert_eq!(told.lock().expect("one thread").0, ticks, "ticks");
}

/// Encrypted packets generated from the bytes, delivered out of order, twice or changed.
///
/// A packet is opened at most once, to what was sealed. A changed packet is never opened.
pub fn srtp(data: &[u8]) {
    telephony::fuzzing::media::srtp(data);
    let mut draw = Draw::new(data);
    let (ours, theirs) = keys(draw.of(&[Suite::AesCm128HmacSha1_80, Suite::AesCm128HmacSha1_32]));
    let (mut sender, mut receiver) = (media::Peer::new(&theirs), media::Peer::new(&ours));
    let (mut sequence, mut timestamp) = (draw.short() & 0x7fff, 0);
    let mut sent: Vec<(Vec<u8>, Vec<u8>, bool)> = Vec::new();
    while !draw.is_empty() && sent.len() < 300 {
        // Senders count up by one; sealing in another order would produce a different packet with the same
        // counter.
        let mut plain = header(&mut draw, &mut { sequence }, &mut timestamp);
        sequence = sequence.wrapping_add(1 + u16::from(draw.one_in(8)) * 50);
        plain[2..4].copy_from_slice(&sequence.to_be_bytes());
        plain[8..12].copy_from_slice(&[0, 0, 0, 1]);
        plain.extend(draw.bytes());
        let mut sealed = plain.clone();
        sender.seal(&mut sealed);
        sent.push((plain, sealed, false));
        let at = sent.len() - 1 - draw.below(sent.len().min(30));
        if draw.one_in(4) {
            let mut changed = sent[at].1.clone();
            let place = usize::from(draw.byte()) % changed.len();
            changed[place] ^= draw.byte().max(1);
            assert_eq!(receiver.open(&mut changed), None, "a changed packet was opened");
        }
        let (plain, sealed, opened) = &mut sent[at];
        let mut packet = sealed.clone();
        if let Some(length) = receiver.open(&mut packet) {
            assert!(!*opened, "opened twice");
            assert_eq!(&packet[..length], &plain[..], "a different packet came out");
            *opened = true;
        }
    }
}

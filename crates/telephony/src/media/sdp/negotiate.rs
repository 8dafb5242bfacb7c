//! What both sides can do.

use std::fmt::Write as _;
use std::net::SocketAddr;

use super::parse::{Crypto, Format, Media, is_hold, parse};
use super::{Agreed, Direction, OfferSettings, SdpError};
use crate::media::srtp::Keys;
use crate::settings::{Codec, Encryption};

const LARGEST: usize = 64 * 1024;

fn read(text: &str) -> Result<Vec<Media>, SdpError> {
    if text.len() > LARGEST {
        return Err(SdpError::TooLarge);
    }
    Ok(parse(text))
}

/// Whether the transport of a line is RTP that we can do, and whether it must be encrypted.
fn transport(media: &Media) -> Option<bool> {
    match media.protocol.to_ascii_uppercase().as_str() {
        "RTP/AVP" | "RTP/AVPF" => Some(false),
        "RTP/SAVP" | "RTP/SAVPF" => Some(true),
        _ => None,
    }
}

/// The first of the line's formats that is one of our codecs: the other side's order decides (RFC 3264
/// section 6.1).
fn codec(media: &Media, ours: &OfferSettings) -> Option<(u8, Codec)> {
    media.formats.iter().find_map(|payload_type| {
        let Some(Format::Sound(codec)) = media.format(*payload_type) else {
            return None;
        };
        ours.codecs.contains(&codec).then_some((*payload_type, codec))
    })
}

/// What we may do when both sides have said what they want.
fn direction(media: &Media, ours: Direction) -> Direction {
    let theirs = media.direction;
    let hold = media.address.is_some_and(is_hold);
    Direction::new(ours.sends() && theirs.receives() && !hold, ours.receives() && theirs.sends())
}

fn settle(media: &Media, ours: &OfferSettings, crypto: Option<&Crypto>) -> Result<Agreed, SdpError> {
    let address = media.address.ok_or(SdpError::NoAudio)?;
    let (payload_type, codec) = codec(media, ours).ok_or(SdpError::NoCodec)?;
    Ok(Agreed {
        remote: SocketAddr::new(address, media.port),
        codec,
        payload_type,
        telephone_event: media.telephone_event(),
        ptime_ms: media.packet_ms(),
        direction: direction(media, ours.direction),
        srtp: crypto.map(|theirs| Keys {
            suite: theirs.suite,
            local: ours.key.clone(),
            remote: theirs.key.clone(),
        }),
    })
}

/// The key of a line that we take up; `Ok(None)` is sound in the clear.
fn choose<'a>(media: &'a Media, ours: &OfferSettings) -> Result<Option<&'a Crypto>, SdpError> {
    let encrypted = transport(media).ok_or(SdpError::UnknownEncryption)?;
    let required = ours.encryption == Encryption::Required;
    // Keys beside RTP/AVP are an offer to encrypt that may be left: taken up only where we demand it.
    let wanted = encrypted || required;
    match media.cryptos.first() {
        Some(crypto) if wanted => Ok(Some(crypto)),
        _ if encrypted => Err(SdpError::UnknownEncryption),
        _ if required => Err(SdpError::NotEncrypted),
        _ => Ok(None),
    }
}

fn usable(media: &Media, ours: &OfferSettings) -> Result<Agreed, SdpError> {
    if !media.is_audio() || media.port == 0 {
        return Err(SdpError::NoAudio);
    }
    let crypto = choose(media, ours)?;
    settle(media, ours, crypto)
}

/// Answers an offer: the first audio line that we can do is taken, every other line is refused with port 0.
/// Returns the text of the answer and what was agreed.
///
/// # Errors
/// The reason why the first audio line cannot be taken (`488 Not Acceptable Here`).
pub fn answer(offer: &str, ours: &OfferSettings) -> Result<(String, Agreed), SdpError> {
    let lines = read(offer)?;
    let mut taken: Option<(usize, Agreed)> = None;
    let mut why = SdpError::NoAudio;
    for (index, media) in lines.iter().enumerate() {
        match usable(media, ours) {
            Ok(agreed) => {
                taken = Some((index, agreed));
                break;
            }
            Err(reason) if why == SdpError::NoAudio => why = reason,
            Err(_) => {}
        }
    }
    let (taken, agreed) = taken.ok_or(why)?;
    let mut text = ours.head();
    for (index, media) in lines.iter().enumerate() {
        if index == taken {
            accept(&mut text, media, ours, &agreed);
        } else {
            let formats = match media.formats_text.as_str() {
                "" => "0",
                formats => formats,
            };
            let _ = write!(text, "m={} 0 {} {formats}\r\n", media.kind, media.protocol);
        }
    }
    Ok((text, agreed))
}

fn accept(text: &mut String, media: &Media, ours: &OfferSettings, agreed: &Agreed) {
    let payload_type = agreed.payload_type;
    let _ = write!(text, "m=audio {} {} {payload_type}", ours.port, media.protocol);
    if let Some(event) = agreed.telephone_event {
        let _ = write!(text, " {event}");
    }
    let _ = write!(text, "\r\na=rtpmap:{payload_type} {}/8000\r\n", agreed.codec.name());
    if let Some(event) = agreed.telephone_event {
        let _ = write!(text, "a=rtpmap:{event} telephone-event/8000\r\na=fmtp:{event} 0-15\r\n");
    }
    let _ = write!(text, "a=ptime:{}\r\n", agreed.ptime_ms);
    if let (Some(keys), Some(theirs)) = (&agreed.srtp, media.cryptos.first()) {
        text.push_str(&ours.crypto(theirs.tag, keys.suite));
    }
    // An offer that holds by address alone is answered as if it were `sendonly`.
    let _ = write!(text, "a={}\r\n", agreed.direction.text());
}

/// Reads the answer to the offer that was written from `ours`.
///
/// # Errors
/// When the answer refuses our audio line or cannot be understood.
pub fn agree(ours: &OfferSettings, answer: &str) -> Result<Agreed, SdpError> {
    let lines = read(answer)?;
    let media = lines.iter().find(|media| media.is_audio() && media.port != 0).ok_or(SdpError::NoAudio)?;
    let offered = ours.encryption == Encryption::Required;
    let encrypted = transport(media).ok_or(SdpError::UnknownEncryption)?;
    let crypto = match (offered, media.cryptos.first()) {
        (true, Some(crypto)) => Some(crypto),
        (true, None) => return Err(SdpError::NotEncrypted),
        (false, _) if encrypted => return Err(SdpError::UnknownEncryption),
        (false, _) => None,
    };
    settle(media, ours, crypto)
}

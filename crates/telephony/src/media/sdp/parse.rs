//! Reads a session description, forgiving what can be understood.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Direction;
use crate::media::srtp::{MasterKey, Suite};
use crate::settings::Codec;

/// Media lines looked at; more are refused by the answer as they come.
const MOST_LINES: usize = 32;
/// Attributes of one kind kept for a media line.
const MOST_ATTRIBUTES: usize = 64;

/// What a payload type stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Sound(Codec),
    TelephoneEvent,
}

/// Keys offered in one `a=crypto` line that we can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Crypto {
    pub(super) tag: u32,
    pub(super) suite: Suite,
    pub(super) key: MasterKey,
}

/// One `m=` line and what belongs to it.
#[derive(Debug, Clone)]
pub(super) struct Media {
    /// `audio`, `video` and so on, as written.
    pub(super) kind: String,
    pub(super) port: u16,
    pub(super) protocol: String,
    /// Payload types, in order of preference.
    pub(super) formats: Vec<u8>,
    /// The formats as written, for the answer that refuses the line.
    pub(super) formats_text: String,
    pub(super) address: Option<IpAddr>,
    /// What the line itself or the session says.
    pub(super) direction: Direction,
    pub(super) ptime: Option<u32>,
    pub(super) maxptime: Option<u32>,
    pub(super) cryptos: Vec<Crypto>,
    maps: Vec<(u8, Option<Format>)>,
}

impl Media {
    pub(super) fn is_audio(&self) -> bool {
        self.kind.eq_ignore_ascii_case("audio")
    }

    /// What `payload_type` stands for: its `rtpmap`, or the static meaning of 0 and 8.
    pub(super) fn format(&self, payload_type: u8) -> Option<Format> {
        match self.maps.iter().find(|(of, _)| *of == payload_type) {
            Some((_, format)) => *format,
            None => match payload_type {
                0 => Some(Format::Sound(Codec::Pcmu)),
                8 => Some(Format::Sound(Codec::Pcma)),
                _ => None,
            },
        }
    }

    pub(super) fn telephone_event(&self) -> Option<u8> {
        self.formats.iter().copied().find(|of| self.format(*of) == Some(Format::TelephoneEvent))
    }

    /// Milliseconds of sound a packet that the line asks for.
    pub(super) fn packet_ms(&self) -> u32 {
        let wanted = self.ptime.unwrap_or(20);
        let most = self.maxptime.unwrap_or(60).max(10);
        let ms = wanted.min(most).min(60) / 10 * 10;
        if ms == 0 { 20 } else { ms }
    }
}

/// What holds for every line that does not say otherwise.
#[derive(Debug, Clone, Default)]
struct Session {
    address: Option<IpAddr>,
    direction: Option<Direction>,
    ptime: Option<u32>,
}

fn address(value: &str) -> Option<IpAddr> {
    let mut words = value.split_ascii_whitespace();
    let (_net, _family, address) = (words.next()?, words.next()?, words.next()?);
    // A multicast address carries its lifetime: `224.2.1.1/127`.
    let address = address.split('/').next()?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    address.parse().ok()
}

fn direction(name: &str) -> Option<Direction> {
    [
        ("sendrecv", Direction::SendRecv),
        ("sendonly", Direction::SendOnly),
        ("recvonly", Direction::RecvOnly),
        ("inactive", Direction::Inactive),
    ]
    .into_iter()
    .find(|(text, _)| name.eq_ignore_ascii_case(text))
    .map(|(_, direction)| direction)
}

fn rtpmap(value: &str) -> Option<(u8, Option<Format>)> {
    let (payload_type, rest) = value.trim_start().split_once(char::is_whitespace)?;
    let mut parts = rest.trim().split('/');
    let name = parts.next()?.trim();
    let rate = parts.next().map_or("8000", |rate| rate.trim()).parse::<u32>();
    let format = match rate {
        Ok(8000) if name.eq_ignore_ascii_case("PCMU") => Some(Format::Sound(Codec::Pcmu)),
        Ok(8000) if name.eq_ignore_ascii_case("PCMA") => Some(Format::Sound(Codec::Pcma)),
        Ok(8000) if name.eq_ignore_ascii_case("telephone-event") => Some(Format::TelephoneEvent),
        _ => None,
    };
    Some((payload_type.trim().parse().ok().filter(|of| *of < 128)?, format))
}

fn crypto(value: &str) -> Option<Crypto> {
    let mut words = value.split_ascii_whitespace();
    let tag = words.next()?.parse().ok()?;
    let suite = Suite::from_name(words.next()?)?;
    let keys = words.next()?;
    // A session parameter that is not understood makes the line unusable, unless it starts with a dash (RFC
    // 4568 section 6.3.7); of those that exist, none is done here.
    if words.any(|parameter| !parameter.starts_with('-')) {
        return None;
    }
    let inline = keys.get(..7).filter(|method| method.eq_ignore_ascii_case("inline:")).map(|_| &keys[7..])?;
    // Several keys need a master key index in every packet, and so does a third part with a colon.
    if inline.contains(';') {
        return None;
    }
    let mut parts = inline.split('|');
    let key = MasterKey::from_text(parts.next()?)?;
    if parts.any(|part| part.contains(':')) {
        return None;
    }
    Some(Crypto { tag, suite, key })
}

fn media(value: &str, session: &Session) -> Media {
    let mut words = value.split_ascii_whitespace();
    let kind = words.next().unwrap_or("audio").to_owned();
    let port = words.next().unwrap_or("0");
    let port = port.split('/').next().and_then(|port| port.parse().ok());
    let protocol = words.next().unwrap_or("RTP/AVP").to_owned();
    let formats_text: Vec<&str> = words.take(MOST_ATTRIBUTES).collect();
    Media {
        kind,
        port: port.unwrap_or(0),
        protocol,
        formats: formats_text.iter().filter_map(|word| word.parse().ok()).collect(),
        formats_text: formats_text.join(" "),
        address: session.address,
        direction: session.direction.unwrap_or(Direction::SendRecv),
        ptime: session.ptime,
        maxptime: None,
        cryptos: Vec::new(),
        maps: Vec::new(),
    }
}

fn attribute(media: &mut Media, name: &str, value: &str) {
    if let Some(direction) = direction(name) {
        media.direction = direction;
    } else if name.eq_ignore_ascii_case("rtpmap") {
        if media.maps.len() < MOST_ATTRIBUTES {
            media.maps.extend(rtpmap(value));
        }
    } else if name.eq_ignore_ascii_case("ptime") {
        media.ptime = milliseconds(value);
    } else if name.eq_ignore_ascii_case("maxptime") {
        media.maxptime = milliseconds(value);
    } else if name.eq_ignore_ascii_case("crypto") && media.cryptos.len() < MOST_ATTRIBUTES {
        media.cryptos.extend(crypto(value));
    }
}

fn milliseconds(value: &str) -> Option<u32> {
    // Some write `20.0`.
    let whole = value.trim().split('.').next()?;
    whole.parse().ok().filter(|ms| *ms > 0)
}

/// Reads every media line. What cannot be understood is left out.
pub(super) fn parse(text: &str) -> Vec<Media> {
    let mut session = Session::default();
    let mut lines: Vec<Media> = Vec::new();
    for line in text.split(['\r', '\n']) {
        let Some((kind, value)) = line.trim_start().split_once('=') else {
            continue;
        };
        let (name, argument) = value.split_once(':').unwrap_or((value, ""));
        match (kind, lines.last_mut()) {
            ("m", _) => {
                if lines.len() == MOST_LINES {
                    break;
                }
                lines.push(media(value, &session));
            }
            ("c", Some(media)) => media.address = address(value).or(media.address),
            ("c", None) => session.address = address(value),
            // The owner's address stands in for a missing `c=`.
            ("o", None) if session.address.is_none() => session.address = owner(value),
            ("a", Some(media)) => attribute(media, name.trim(), argument),
            ("a", None) => {
                session.direction = direction(name.trim()).or(session.direction);
                if name.trim().eq_ignore_ascii_case("ptime") {
                    session.ptime = milliseconds(argument);
                }
            }
            _ => {}
        }
    }
    lines
}

fn owner(value: &str) -> Option<IpAddr> {
    let rest: Vec<&str> = value.split_ascii_whitespace().skip(3).collect();
    address(&rest.join(" "))
}

/// Whether `address` is the one that says "hold" (RFC 2543; RFC 6157 for IPv6).
pub(super) fn is_hold(address: IpAddr) -> bool {
    address == IpAddr::V4(Ipv4Addr::UNSPECIFIED) || address == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
}

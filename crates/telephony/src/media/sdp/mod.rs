//! Offers and answers (SDP RFC 8866, their exchange RFC 3264, keys RFC 4568).
//!
//! Written by hand: a call needs one audio line out of a format of which most never occurs in telephony, and
//! peers break the grammar in ways that a strict parser refuses although the meaning is plain (no `s=` line,
//! bare line feeds, no `rtpmap` for static types, a missing `c=`).

mod negotiate;
mod parse;

use std::fmt;
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use super::srtp::{Keys, MasterKey, Suite};
use crate::settings::{Codec, Encryption};

pub use negotiate::{agree, answer};

/// Our payload type of telephone events in offers.
pub(super) const OFFERED_EVENT: u8 = 101;

/// Which way sound may go, seen from us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    SendRecv,
    /// Only from us.
    SendOnly,
    /// Only to us.
    RecvOnly,
    Inactive,
}

impl Direction {
    pub(super) fn new(send: bool, receive: bool) -> Direction {
        match (send, receive) {
            (true, true) => Direction::SendRecv,
            (true, false) => Direction::SendOnly,
            (false, true) => Direction::RecvOnly,
            (false, false) => Direction::Inactive,
        }
    }

    /// Whether we may send.
    pub fn sends(self) -> bool {
        matches!(self, Direction::SendRecv | Direction::SendOnly)
    }

    /// Whether we may expect to receive.
    pub fn receives(self) -> bool {
        matches!(self, Direction::SendRecv | Direction::RecvOnly)
    }

    fn text(self) -> &'static str {
        match self {
            Direction::SendRecv => "sendrecv",
            Direction::SendOnly => "sendonly",
            Direction::RecvOnly => "recvonly",
            Direction::Inactive => "inactive",
        }
    }
}

/// How a call's sound travels, once both sides have spoken.
#[derive(Clone, PartialEq, Eq)]
pub struct Agreed {
    /// Where the other side says it receives. Behind a NAT it is wrong; the line then follows the packets
    /// that arrive.
    pub remote: SocketAddr,
    pub codec: Codec,
    /// The payload type it is sent and received with; the static types 0 and 8 are always understood.
    pub payload_type: u8,
    /// The payload type of telephone events (RFC 4733) as the other side wants them; none: it does not take
    /// them, and keys are sent as tones.
    pub telephone_event: Option<u8>,
    /// Milliseconds of sound in each packet that we send: 10 to 60, by tens.
    pub ptime_ms: u32,
    /// Which way sound may go, seen from us.
    pub direction: Direction,
    /// Keys, when sound is encrypted.
    pub srtp: Option<Keys>,
}

// Keys do not go into logs.
impl fmt::Debug for Agreed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agreed")
            .field("codec", &self.codec)
            .field("telephone_event", &self.telephone_event)
            .field("ptime_ms", &self.ptime_ms)
            .field("direction", &self.direction)
            .field("encrypted", &self.srtp.is_some())
            .finish_non_exhaustive()
    }
}

impl Agreed {
    /// Whether the other side has put us on hold: it does not want to hear us.
    pub fn held(&self) -> bool {
        !self.direction.sends()
    }
}

/// Why no sound can be agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SdpError {
    /// No audio line with an address and a port.
    NoAudio,
    /// None of our codecs.
    NoCodec,
    /// The trunk demands encryption and the other side gives no usable key.
    NotEncrypted,
    /// The other side encrypts in a way we do not know (DTLS, an unknown suite, or keys in an answer that we
    /// did not offer).
    UnknownEncryption,
    /// The text is larger than 64 KiB.
    TooLarge,
}

impl fmt::Display for SdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SdpError::NoAudio => "no audio line with an address and a port",
            SdpError::NoCodec => "no common codec",
            SdpError::NotEncrypted => "encryption is required and was refused",
            SdpError::UnknownEncryption => "encryption of an unknown kind",
            SdpError::TooLarge => "session description too large",
        })
    }
}

impl std::error::Error for SdpError {}

/// Our side of a call's sound: what offers and answers are written from. Kept for the whole call, so that a
/// re-INVITE carries the same session id and keys and the next version.
#[derive(Clone)]
pub struct OfferSettings {
    /// The address that the other side should send to.
    pub address: IpAddr,
    /// Our RTP port.
    pub port: u16,
    /// Codecs in order of preference, at least one.
    pub codecs: Vec<Codec>,
    /// Whether sound is encrypted.
    pub encryption: Encryption,
    /// Which way sound may go as far as we are concerned: `SendOnly` or `Inactive` puts the other side on
    /// hold.
    pub direction: Direction,
    /// Session id of the `o=` line.
    pub session: u64,
    /// Version of the `o=` line: one more for each text that is sent (RFC 3264 section 8).
    pub version: u64,
    key: MasterKey,
}

impl OfferSettings {
    /// A new session with a key of its own.
    pub fn new(address: IpAddr, port: u16, codecs: Vec<Codec>, encryption: Encryption) -> OfferSettings {
        let mut id = [0u8; 8];
        super::srtp::random(&mut id);
        OfferSettings {
            address,
            port,
            codecs,
            encryption,
            direction: Direction::SendRecv,
            // Fits in a signed 64-bit number: some peers read it into one.
            session: u64::from_be_bytes(id) >> 2,
            version: 1,
            key: MasterKey::random(),
        }
    }

    /// The same session for the next text, with `direction`.
    #[must_use]
    pub fn next(&self, direction: Direction) -> OfferSettings {
        OfferSettings { direction, version: self.version + 1, ..self.clone() }
    }

    fn head(&self) -> String {
        let family = if self.address.is_ipv6() { "IP6" } else { "IP4" };
        let (session, version, address) = (self.session, self.version, self.address);
        format!(
            "v=0\r\no=- {session} {version} IN {family} {address}\r\ns=-\r\nc=IN {family} {address}\r\nt=0 0\r\n"
        )
    }

    fn crypto(&self, tag: u32, suite: Suite) -> String {
        format!("a=crypto:{tag} {} inline:{}\r\n", suite.name(), self.key.text())
    }
}

/// Writes an offer: one audio line with our codecs and telephone events, 20 ms a packet.
pub fn offer(ours: &OfferSettings) -> String {
    let mut text = ours.head();
    let encrypted = ours.encryption == Encryption::Required;
    let protocol = if encrypted { "RTP/SAVP" } else { "RTP/AVP" };
    let _ = write!(text, "m=audio {} {protocol}", ours.port);
    for codec in &ours.codecs {
        let _ = write!(text, " {}", codec.payload_type());
    }
    let _ = write!(text, " {OFFERED_EVENT}\r\n");
    for codec in &ours.codecs {
        let _ = write!(text, "a=rtpmap:{} {}/8000\r\n", codec.payload_type(), codec.name());
    }
    let _ = write!(
        text,
        "a=rtpmap:{OFFERED_EVENT} telephone-event/8000\r\na=fmtp:{OFFERED_EVENT} 0-15\r\na=ptime:20\r\n"
    );
    if encrypted {
        text.push_str(&ours.crypto(1, Suite::AesCm128HmacSha1_80));
        text.push_str(&ours.crypto(2, Suite::AesCm128HmacSha1_32));
    }
    let _ = write!(text, "a={}\r\n", ours.direction.text());
    text
}

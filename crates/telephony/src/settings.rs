//! What an operator says about telephone lines (`operating.md`, `[telephony.sip]`).

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// How messages travel to a trunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Datagrams.
    Udp,
    /// A connection.
    Tcp,
    /// An encrypted connection.
    Tls,
}

/// A way to encode sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// G.711 µ-law, payload type 0.
    Pcmu,
    /// G.711 A-law, payload type 8.
    Pcma,
}

/// Form of the user part of a dialled address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFormat {
    /// `+919812345678`
    E164,
    /// `919812345678`
    Plain,
    /// `09812345678`
    National,
}

/// Whether sound is encrypted (SRTP with keys in the SDP, RFC 4568).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// Never offered; accepted where the peer offers it.
    WhenOffered,
    /// Offered, and a peer that refuses is not called.
    Required,
}

/// A SIP trunk.
#[derive(Clone, PartialEq, Eq)]
pub struct Trunk {
    /// Its name in logs, metrics and `doctor`.
    pub name: String,
    /// Host or address, with a port or without (then SRV records of a host name are asked, and 5060 or 5061 is the default).
    pub address: String,
    /// How messages travel.
    pub transport: Transport,
    /// Where messages are sent instead of `address`, which stays in the request line.
    pub outbound_proxy: Option<String>,
    /// Digest user.
    pub username: Option<String>,
    /// Digest password.
    pub password: Option<String>,
    /// Whether to register there.
    pub register: bool,
    /// Codecs in order of preference, at least one.
    pub codecs: Vec<Codec>,
    /// Form of dialled numbers.
    pub number_format: NumberFormat,
    /// The number shown when the call names none, and the user part of `From` when the carrier wants its own; the call's own number goes into
    /// `P-Asserted-Identity` as well.
    pub caller_id: Option<String>,
    /// Whether sound is encrypted.
    pub encryption: Encryption,
    /// Seconds between two OPTIONS; 0 sends none, and the trunk counts as healthy.
    pub options_interval: Duration,
    /// Most calls at once over it.
    pub channels: u32,
    /// Addresses that inbound calls come from beside `address`; others get 403.
    pub inbound_from: Vec<IpAddr>,
}

/// Everything about telephone lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// UDP and TCP.
    pub listen: SocketAddr,
    /// TLS, with certificate chain and key (PEM files).
    pub tls: Option<(SocketAddr, PathBuf, PathBuf)>,
    /// Certificates (PEM) to trust for TLS trunks, beside the well-known ones.
    pub tls_ca: Option<PathBuf>,
    /// What SDP and Contact say behind a NAT; the local address toward the trunk otherwise.
    pub public_address: Option<IpAddr>,
    /// First and last RTP port, both included.
    pub rtp_ports: (u16, u16),
    /// An unanswered dial is ended with CANCEL after this.
    pub ring_timeout: Duration,
    /// A trunk that has said nothing at all to an INVITE after this leaves the dial uncertain.
    pub response_timeout: Duration,
    /// Threads that carry sound; each carries some hundred calls.
    pub media_threads: usize,
    /// Name in `User-Agent` and `Server`.
    pub user_agent: String,
    /// Trunks, the preferred first.
    pub trunks: Vec<Trunk>,
}

// Written by hand: the password is not shown.
impl std::fmt::Debug for Trunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trunk").field("name", &self.name).field("address", &self.address).field("transport", &self.transport).finish_non_exhaustive()
    }
}

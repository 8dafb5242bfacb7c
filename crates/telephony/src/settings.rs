//! Settings of the SIP user agent and its trunks (`[telephony.sip]`, docs/operating/trunks.md).

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;

/// How messages travel to a trunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Udp,
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

/// How a trunk may bring calls to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboundTransport {
    /// Over any transport. The sender of a datagram can be forged.
    Any,
    /// Over a connection, encrypted or not: its sender cannot be forged.
    Tcp,
    /// An encrypted connection.
    Tls,
}

impl InboundTransport {
    /// Whether a new call may come over this transport.
    pub fn takes(self, transport: Transport) -> bool {
        match self {
            InboundTransport::Any => true,
            InboundTransport::Tcp => transport != Transport::Udp,
            InboundTransport::Tls => transport == Transport::Tls,
        }
    }
}

/// A network, `203.0.113.0/24`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// Whether the address belongs to it. IPv4 within IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical().into())
    }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.trim();
        text.parse().map(Self).or_else(|_| text.parse::<IpAddr>().map(Self::from)).map_err(drop)
    }
}

/// The carrier of trunks that name none.
pub const DEFAULT_CARRIER: &str = "main";

/// A SIP trunk.
#[derive(Clone, PartialEq, Eq)]
pub struct Trunk {
    /// Its name in logs, metrics and `doctor`.
    pub name: String,
    /// The carrier that it leads to. A call tries the trunks of one carrier, in their order.
    pub carrier: String,
    /// Host or address, with or without a port. Without one, SRV records of a host name are looked up, and 5060
    /// or 5061 is the default.
    pub address: String,
    /// How messages travel.
    pub transport: Transport,
    /// Where messages are sent instead of `address`, which stays in the request line.
    pub outbound_proxy: Option<String>,
    pub username: Option<String>,
    pub password: Option<String>,
    /// Whether to register there.
    pub register: bool,
    /// Codecs in order of preference, at least one.
    pub codecs: Vec<Codec>,
    /// Form of dialled numbers.
    pub number_format: NumberFormat,
    /// Whether addresses that hold a number say so, with `;user=phone` (RFC 3261 section 19.1.1).
    pub user_phone: bool,
    /// The caller's number in `From`, for carriers that want their own there; the number of the call goes into
    /// `P-Asserted-Identity`.
    pub caller_id: Option<String>,
    /// Whether sound is encrypted.
    pub encryption: Encryption,
    /// Seconds between two OPTIONS; 0 sends none, and the trunk counts as healthy.
    pub options_interval: Duration,
    /// How many calls it carries at once.
    pub channels: u32,
    /// Networks that its messages come from, besides `address`. Messages from elsewhere get no answer.
    pub inbound_from: Vec<Network>,
    /// How calls may come in.
    pub inbound_transport: InboundTransport,
    /// Whether calls that come in must prove that they know `username` and `password`.
    pub inbound_auth: bool,
    /// Networks that its sound comes from, besides the address that the SDP names and the one that signals.
    pub media_from: Vec<Network>,
}

/// Everything about telephone lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// UDP and TCP.
    pub listen: SocketAddr,
    /// TLS, with certificate chain and key (PEM files).
    pub tls: Option<(SocketAddr, PathBuf, PathBuf)>,
    /// Certificates (PEM) to trust for TLS trunks, besides the well-known ones.
    pub tls_ca: Option<PathBuf>,
    /// The address that SDP and Contact name behind a NAT; if none, the local address toward the trunk.
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
    /// Whether other nodes use the same trunks, so that this one has no channel and no registration of its own until
    /// it is given some.
    pub shared: bool,
    /// Trunks, the preferred first.
    pub trunks: Vec<Trunk>,
}

impl Settings {
    /// Names of the carriers, in the order of their first trunks. The first one is the default.
    pub fn carriers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for trunk in &self.trunks {
            if !names.contains(&trunk.carrier.as_str()) {
                names.push(&trunk.carrier);
            }
        }
        names
    }
}

// Written by hand: the password is not shown.
impl std::fmt::Debug for Trunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trunk")
            .field("name", &self.name)
            .field("address", &self.address)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        let within = |network: &str, address: &str| {
            network.parse::<Network>().expect("a network").contains(address.parse().expect("an address"))
        };
        for (network, address) in [
            ("203.0.113.7", "203.0.113.7"),
            ("203.0.113.7", "::ffff:203.0.113.7"),
            ("203.0.113.0/24", "203.0.113.255"),
            ("0.0.0.0/0", "198.51.100.1"),
            ("2001:db8::/32", "2001:db8:1::1"),
            ("::/0", "2001:db8::1"),
        ] {
            assert!(within(network, address), "{network} {address}");
        }
        for (network, address) in [
            ("203.0.113.7", "203.0.113.8"),
            ("203.0.113.0/24", "203.0.114.0"),
            ("0.0.0.0/0", "2001:db8::1"),
            ("2001:db8::/32", "2001:db9::1"),
        ] {
            assert!(!within(network, address), "{network} {address}");
        }
        for wrong in ["", "x", "203.0.113.7/33", "::1/129", "203.0.113.7/", "/8"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}

//! Addressing: DNS resolution (SRV, A), hops of a trunk, and number formats of the request URI.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use rsipstack::resolver::SipResolver;
use rsipstack::sip::{Domain, Host, HostWithPort, Transport as Carried, Uri};
use rsipstack::transport::SipAddr;

use crate::settings::{NumberFormat, Transport};

impl Transport {
    /// The stack's name for it.
    pub(super) fn carried(self) -> Carried {
        match self {
            Transport::Udp => Carried::Udp,
            Transport::Tcp => Carried::Tcp,
            Transport::Tls => Carried::Tls,
        }
    }

    /// The word in a `Via`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Transport::Udp => "UDP",
            Transport::Tcp => "TCP",
            Transport::Tls => "TLS",
        }
    }

    /// The parameter of an address that demands it; UDP is the default.
    pub(super) fn parameter(self) -> &'static str {
        match self {
            Transport::Udp => "",
            Transport::Tcp => ";transport=tcp",
            Transport::Tls => ";transport=tls",
        }
    }
}

/// The next hop of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hop {
    pub transport: Transport,
    pub address: SocketAddr,
    /// The name that a TLS certificate must carry.
    pub host: String,
}

impl Hop {
    pub fn sip_addr(&self) -> SipAddr {
        SipAddr { r#type: Some(self.transport.carried()), addr: self.address.into() }
    }
}

/// Host and port of `host`, `host:port`, `1.2.3.4`, `[::1]:5070`.
pub(super) fn split_host(text: &str) -> Option<(String, Option<u16>)> {
    let text = text.trim();
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some((address.ip().to_string(), Some(address.port())));
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Some((ip.to_string(), None));
    }
    match text.split_once(':') {
        Some((host, port)) if !host.is_empty() => Some((host.to_owned(), Some(port.parse().ok()?))),
        None if !text.is_empty() => Some((text.to_owned(), None)),
        _ => None,
    }
}

/// Addresses of a host in the order in which they should be tried: SRV records for a name without a port (RFC
/// 3263, RFC 2782), else A and AAAA.
///
/// # Errors
/// A text for logs: the name does not resolve.
pub(super) async fn resolve(
    resolver: &SipResolver,
    text: &str,
    transport: Transport,
) -> Result<Vec<Hop>, String> {
    let (host, port) = split_host(text).ok_or_else(|| format!("{text} is not a host"))?;
    let hop = |address: SocketAddr| Hop { transport, address, host: host.clone() };
    if let Ok(ip) = host.parse::<IpAddr>() {
        let default = u16::from(transport.carried().default_port());
        return Ok(vec![hop(SocketAddr::new(ip, port.unwrap_or(default)))]);
    }
    let found = resolver
        .lookup(
            &Domain::from(host.as_str()),
            port.map(Into::into),
            Some(transport.carried()),
            transport == Transport::Tls,
        )
        .await
        .map_err(|error| format!("cannot resolve {host}: {error}"))?;
    Ok(found.into_iter().map(|target| hop(target.addr)).collect())
}

/// Host text, port and transport of an address in a dialog. A `transport` parameter wins over `default`.
pub(super) fn hop_of(uri: &Uri, default: Transport) -> (String, Transport) {
    let named = uri.params.iter().find_map(|parameter| match parameter {
        rsipstack::sip::Param::Transport(Carried::Udp) => Some(Transport::Udp),
        rsipstack::sip::Param::Transport(Carried::Tcp) => Some(Transport::Tcp),
        rsipstack::sip::Param::Transport(Carried::Tls) => Some(Transport::Tls),
        _ => None,
    });
    let secure = uri.scheme == Some(rsipstack::sip::Scheme::Sips);
    let transport = if secure { Transport::Tls } else { named.unwrap_or(default) };
    (uri.host_with_port.to_string(), transport)
}

/// Address of this machine that packets to `remote` leave from; nothing is sent.
pub(super) fn local_toward(remote: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr = if remote.is_ipv6() { ([0u16; 8], 0).into() } else { ([0u8; 4], 0).into() };
    let probe = UdpSocket::bind(any).ok()?;
    probe.connect(remote).ok()?;
    Some(probe.local_addr().ok()?.ip())
}

/// `host:port` as it stands in addresses, IPv6 in brackets.
pub(super) fn host_port(ip: IpAddr, port: u16) -> String {
    HostWithPort { host: Host::IpAddr(ip), port: Some(port.into()) }.to_string()
}

/// The user part for a number. Anything but an Indian number in E.164 (a short code, a SIP user) is left as it
/// is.
pub(super) fn number(format: NumberFormat, number: &str) -> String {
    let national = number
        .strip_prefix("+91")
        .filter(|rest| rest.len() == 10 && rest.bytes().all(|byte| byte.is_ascii_digit()));
    match (format, national) {
        (NumberFormat::National, Some(rest)) => format!("0{rest}"),
        (NumberFormat::Plain, _) => number.strip_prefix('+').unwrap_or(number).to_owned(),
        _ => number.to_owned(),
    }
}

/// The parameter of an address whose user is a telephone number (RFC 3261 section 19.1.1); none for a user with
/// a name.
pub(super) fn user_parameter(user: &str) -> &'static str {
    let digits = user.strip_prefix('+').unwrap_or(user);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { ";user=phone" } else { "" }
}

/// A text without the characters that may not stand in the user part of an address as they are: no text of a
/// client may become part of the syntax.
pub(super) fn safe_user(text: &str) -> String {
    text.chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "+-_.*#".contains(*letter))
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsipstack::resolver::sip_resolver::{LookupSource, SrvRecord, resolve_logic};

    #[test]
    fn hosts() {
        let of = |text| split_host(text).map(|(host, port)| (host, port.unwrap_or(0)));
        assert_eq!(of("sip.example.in"), Some(("sip.example.in".into(), 0)));
        assert_eq!(of("sip.example.in:5070"), Some(("sip.example.in".into(), 5070)));
        assert_eq!(of("10.0.0.1"), Some(("10.0.0.1".into(), 0)));
        assert_eq!(of("[::1]:5070"), Some(("::1".into(), 5070)));
        assert_eq!(of("[::1]"), Some(("::1".into(), 0)));
        for wrong in ["", ":5060", "a:b", "a:99999"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn forms_of_numbers() {
        for (format, expected) in [
            (NumberFormat::E164, "+919812345678"),
            (NumberFormat::Plain, "919812345678"),
            (NumberFormat::National, "09812345678"),
        ] {
            assert_eq!(number(format, "+919812345678"), expected);
        }
        assert_eq!(number(NumberFormat::National, "1800123"), "1800123");
        assert_eq!(safe_user("+91 98>;tag=<é*#"), "+9198tag*#");
        for (user, expected) in
            [("+919812345678", ";user=phone"), ("1800", ";user=phone"), ("office", ""), ("+", ""), ("9a", "")]
        {
            assert_eq!(user_parameter(user), expected, "{user}");
        }
    }

    #[test]
    fn the_transport_of_an_address() {
        let of = |text: &str| hop_of(&Uri::try_from(text).expect("an address"), Transport::Udp);
        assert_eq!(of("sip:a@10.0.0.1:5070;transport=tcp"), ("10.0.0.1:5070".into(), Transport::Tcp));
        assert_eq!(of("sips:a@h"), ("h".into(), Transport::Tls));
        assert_eq!(of("sip:a@h;lr"), ("h".into(), Transport::Udp));
        assert_eq!(
            local_toward("127.0.0.1:9".parse().expect("an address")),
            Some("127.0.0.1".parse().expect("an address"))
        );
    }

    struct Zone;

    #[async_trait::async_trait]
    impl LookupSource for Zone {
        async fn lookup_srv(&self, name: &str) -> Result<Vec<SrvRecord>, String> {
            assert_eq!(name, "_sip._tcp.carrier.example");
            let record =
                |target: &str, priority| SrvRecord { target: target.into(), port: 5080, priority, weight: 1 };
            Ok(vec![record("second", 20), record("first", 10)])
        }

        async fn lookup_a_aaaa(&self, name: &str) -> Result<Vec<IpAddr>, String> {
            match name {
                "first" => Ok(vec![IpAddr::from([10, 0, 0, 1])]),
                "second" => Ok(vec![IpAddr::from([10, 0, 0, 2])]),
                other => Err(other.to_owned()),
            }
        }
    }

    #[tokio::test]
    async fn srv_records_by_priority() {
        let found = resolve_logic(&Zone, &Domain::from("carrier.example"), None, Some(Carried::Tcp), false)
            .await
            .expect("two targets");
        let addresses: Vec<String> = found.iter().map(|target| target.addr.to_string()).collect();
        assert_eq!(addresses, ["10.0.0.1:5080", "10.0.0.2:5080"]);
    }
}

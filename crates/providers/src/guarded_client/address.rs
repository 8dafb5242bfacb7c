//! Which addresses a request may reach.
//!
//! From the IANA special-purpose address registries: what is not globally reachable is refused. For IPv4 the
//! refused blocks are listed. Most of IPv6 is unassigned, so there only `2000::/3` is accepted, without the
//! blocks below, and with NAT64, through which an IPv6-only host reaches IPv4 addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::Ipv4Net;

/// Which addresses are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public addresses only.
    Public,
    /// Also loopback and private networks (a receiver beside the service, or in the next container);
    /// link-local addresses, where clouds keep their metadata services, stay refused.
    Development,
}

impl Reach {
    pub(super) fn allows(self, address: IpAddr) -> bool {
        match self {
            Reach::Public => is_public(address),
            Reach::Development => is_public(address) || is_near(address),
        }
    }
}

/// Whether the address is one of the public Internet. An IPv6 address that embeds an IPv4 address (mapped, NAT64,
/// ISATAP) is checked by that one; the retired tunnels (6to4, Teredo) are refused whatever they embed.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// Refused blocks of IPv4.
const REFUSED_V4: [Ipv4Net; 17] = [
    net([0, 0, 0, 0], 8),        // this network; 0.0.0.0 reaches the host itself
    net([10, 0, 0, 0], 8),       // private
    net([100, 64, 0, 0], 10),    // carrier-grade NAT; a cloud's metadata at 100.100.100.200
    net([127, 0, 0, 0], 8),      // loopback
    net([168, 63, 129, 16], 32), // a cloud's host agent: public by number, local by routing
    net([169, 254, 0, 0], 16),   // link-local, cloud metadata
    net([172, 16, 0, 0], 12),    // private
    net([192, 0, 0, 0], 24),     // protocol assignments
    net([192, 0, 2, 0], 24),     // documentation
    net([192, 88, 99, 0], 24),   // 6to4 relays, retired
    net([192, 168, 0, 0], 16),   // private
    net([198, 18, 0, 0], 15),    // benchmarks
    net([198, 51, 100, 0], 24),  // documentation
    net([203, 0, 113, 0], 24),   // documentation
    net([224, 0, 0, 0], 4),      // multicast
    net([240, 0, 0, 0], 4),      // reserved, with the broadcast address
    net([192, 175, 48, 0], 24),  // sink of reverse look-ups of private addresses
];

const fn net([a, b, c, d]: [u8; 4], length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !REFUSED_V4.iter().any(|network| network.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(v4) = carried_v4(address) {
        return is_public_v4(v4);
    }
    let s = address.segments();
    let global_unicast = s[0] & 0xe000 == 0x2000;
    let refused = match s[0] {
        0x2001 => s[1] < 0x0200 || s[1] == 0x0db8, // protocol assignments with Teredo and ORCHID; documentation
        0x2002 => true,                            // 6to4
        0x3fff => s[1] < 0x1000,                   // documentation
        _ => false,
    };
    let isatap = matches!(s[4], 0x0000 | 0x0200) && s[5] == 0x5efe;
    global_unicast && !refused && (!isatap || is_public_v4(last_v4(s)))
}

/// The IPv4 address behind `::ffff:0:0/96` (mapped) or `64:ff9b::/96` (NAT64).
fn carried_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let mapped = s[..6] == [0, 0, 0, 0, 0, 0xffff];
    let nat64 = s[..6] == [0x0064, 0xff9b, 0, 0, 0, 0];
    (mapped || nat64).then(|| last_v4(s))
}

fn last_v4(segments: [u16; 8]) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(segments[6]) << 16) | u32::from(segments[7]))
}

/// Loopback and private networks.
fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private(),
        IpAddr::V6(v6) => match carried_v4(v6) {
            Some(v4) => v4.is_loopback() || v4.is_private(),
            None => v6.is_loopback() || v6.segments()[0] & 0xfe00 == 0xfc00,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(addresses: &[&str], reach: Reach) -> Vec<String> {
        let allowed = |text: &&&str| text.parse().is_ok_and(|address| reach.allows(address));
        addresses.iter().filter(allowed).map(|text| text.to_string()).collect()
    }

    const PUBLIC: [&str; 9] = [
        "8.8.8.8",
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2001:4860:4860::8888",
    ];
    const NEAR: [&str; 7] =
        ["127.0.0.1", "127.9.9.9", "10.1.2.3", "192.168.1.1", "::1", "fd00:ec2::254", "::ffff:127.0.0.1"];
    const NEVER: [&str; 24] = [
        "0.0.0.0",
        "0.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "169.254.169.254",
        "192.0.0.192",
        "192.0.2.1",
        "198.18.0.1",
        "198.19.255.255",
        "203.0.113.9",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "::",
        "::8.8.8.8",
        "fe80::1",
        "ff02::1",
        "2001::1",
        "2002:0808:0808::1",
        "2001:db8::1",
        "::ffff:169.254.169.254",
        "64:ff9b:1::a00:1",
        "2600::5efe:a9fe:a9fe",
    ];

    #[test]
    fn public_addresses_are_allowed_and_nothing_else() {
        assert_eq!(verdicts(&PUBLIC, Reach::Public), PUBLIC);
        assert_eq!(verdicts(&NEAR, Reach::Public), [""; 0]);
        assert_eq!(verdicts(&NEVER, Reach::Public), [""; 0]);
    }

    #[test]
    fn development_reaches_near_networks_but_never_metadata() {
        assert_eq!(verdicts(&PUBLIC, Reach::Development), PUBLIC);
        assert_eq!(verdicts(&NEAR, Reach::Development), NEAR);
        assert_eq!(verdicts(&NEVER, Reach::Development), [""; 0]);
    }
}

//! Latching: learns the peer's RTP address from its packets (symmetric RTP, RFC 4961; media latching, RFC 7362).
//!
//! The port in the SDP is wrong behind a NAT, and sometimes the address is, so packets are sent to where
//! packets come from. A stranger who guesses our port could use this to take the call over, so:
//! - packets are taken from the signalled address and from the trunk's networks only ([`Sources`]), whatever
//!   they hold and however they are encrypted;
//! - among those, the signalled address and port are followed from their first packet, another port only
//!   after [`FIRST`] packets of one sender in a row, each the successor of the one before, at the pace of
//!   speech ([`RUN`]); an authentic packet (SRTP) settles it at once, and again whenever the other side
//!   moves;
//! - once followed, an address is followed until it has been silent for [`SILENCE`] ticks: other packets in
//!   the middle of a call change nothing and are not heard;
//! - a re-INVITE that names another address starts afresh.
//!
//! What is left is somebody at an address that the operator or the call itself names: against that only
//! encryption helps.

use std::net::{IpAddr, SocketAddr};

use crate::settings::Network;

/// Packets in a row that an address must send to be followed although it is not the signalled one.
const FIRST: u32 = 3;
/// Ticks without a packet after which another address may be followed: two seconds.
const SILENCE: u32 = 100;
/// Ticks within which the packets of such a run must come: an attacker who sprays a range of ports is slower
/// on each.
const RUN: u32 = 15;

/// Where a call's packets may come from beside the signalled address.
#[derive(Debug, Clone, Default)]
pub struct Sources(pub Vec<Network>);

impl Sources {
    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

#[derive(Debug)]
struct Candidate {
    from: SocketAddr,
    ssrc: u32,
    sequence: u16,
    packets: u32,
    /// Ticks since the first of them.
    age: u32,
}

/// Decides which address is heard and where packets are sent.
#[derive(Debug)]
pub(super) struct Latch {
    sources: Sources,
    signalled: SocketAddr,
    followed: Option<SocketAddr>,
    candidate: Option<Candidate>,
    silent: u32,
}

impl Latch {
    pub(super) fn new(signalled: SocketAddr, sources: Sources) -> Latch {
        Latch { sources, signalled, followed: None, candidate: None, silent: 0 }
    }

    /// Whether packets from this address may belong to the call.
    pub(super) fn may_come_from(&self, address: IpAddr) -> bool {
        self.signalled.ip().to_canonical() == address.to_canonical() || self.sources.contains(address)
    }

    /// The other side has named an address (again).
    pub(super) fn signal(&mut self, address: SocketAddr) {
        if address != self.signalled {
            *self = Latch::new(address, std::mem::take(&mut self.sources));
        }
    }

    /// Where to send; none on hold by address (0.0.0.0).
    pub(super) fn target(&self) -> Option<SocketAddr> {
        self.followed.or_else(|| {
            (!self.signalled.ip().is_unspecified() && self.signalled.port() != 0).then_some(self.signalled)
        })
    }

    /// A tick has passed.
    pub(super) fn tick(&mut self) {
        self.silent = self.silent.saturating_add(1);
        if let Some(candidate) = &mut self.candidate {
            candidate.age += 1;
            if candidate.age > RUN {
                self.candidate = None;
            }
        }
    }

    /// Whether a well-formed packet is the call's.
    pub(super) fn accept(&mut self, from: SocketAddr, authentic: bool, ssrc: u32, sequence: u16) -> bool {
        if !self.may_come_from(from.ip()) {
            return false;
        }
        let known = self.followed == Some(from);
        let open = self.followed.is_none() || self.silent > SILENCE;
        if known || authentic || (open && (from == self.signalled || self.proven(from, ssrc, sequence))) {
            self.followed = Some(from);
            self.candidate = None;
            self.silent = 0;
            return true;
        }
        false
    }

    fn proven(&mut self, from: SocketAddr, ssrc: u32, sequence: u16) -> bool {
        let (packets, age) = match &self.candidate {
            Some(last) if last.from == from && last.ssrc == ssrc => {
                // Some loss is no proof against it, a repetition is.
                let step = sequence.wrapping_sub(last.sequence);
                if step == 0 {
                    (last.packets, last.age)
                } else if step < 16 {
                    (last.packets + 1, last.age)
                } else {
                    (1, 0)
                }
            }
            _ => (1, 0),
        };
        self.candidate = Some(Candidate { from, ssrc, sequence, packets, age });
        packets >= FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, last], 4000))
    }

    /// Port `last` of the signalled address.
    fn port(last: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 4000 + last))
    }

    fn latch() -> Latch {
        Latch::new(port(1), Sources::default())
    }

    #[test]
    fn the_signalled_address_is_followed_at_once() {
        let mut latch = latch();
        assert_eq!(latch.target(), Some(port(1)));
        assert!(latch.accept(port(1), false, 7, 1));
    }

    #[test]
    fn another_port_is_followed_after_three_packets_in_a_row() {
        let mut latch = latch();
        assert!(!latch.accept(port(2), false, 7, 1));
        assert!(!latch.accept(port(2), false, 7, 1), "a repetition");
        assert!(!latch.accept(port(2), false, 7, 2));
        assert_eq!(latch.target(), Some(port(1)));
        assert!(latch.accept(port(2), false, 7, 3));
        assert_eq!(latch.target(), Some(port(2)));
    }

    #[test]
    fn a_row_that_takes_longer_than_speech_proves_nothing() {
        let mut latch = latch();
        for sequence in 0..50 {
            assert!(!latch.accept(port(2), false, 7, sequence));
            for _ in 0..RUN {
                latch.tick();
            }
        }
        assert_eq!(latch.target(), Some(port(1)));
    }

    #[test]
    fn another_address_is_never_followed() {
        let mut latch = latch();
        for sequence in 0..50 {
            assert!(!latch.accept(at(2), false, 7, sequence));
            assert!(
                !latch.accept(at(2), true, 7, sequence),
                "whoever plays an authentic packet again from elsewhere"
            );
        }
        assert_eq!(latch.target(), Some(port(1)));
    }

    #[test]
    fn a_network_of_the_trunk_is_followed() {
        let mut latch = Latch::new(at(1), Sources(vec!["127.0.0.2/31".parse().expect("a network")]));
        for sequence in 0..3 {
            assert_eq!(latch.accept(at(3), false, 7, sequence), sequence == 2);
        }
        assert_eq!(latch.target(), Some(at(3)));
        assert!(!latch.may_come_from(at(4).ip()) && latch.may_come_from(at(1).ip()));
    }

    #[test]
    fn a_stranger_in_the_middle_of_a_call_changes_nothing() {
        let mut latch = latch();
        assert!(latch.accept(port(1), false, 7, 1));
        for sequence in 0..200 {
            assert!(!latch.accept(port(3), false, 9, sequence));
            latch.tick();
            assert!(latch.accept(port(1), false, 7, sequence + 2));
        }
        assert_eq!(latch.target(), Some(port(1)));
    }

    #[test]
    fn strangers_that_alternate_prove_nothing() {
        let mut latch = latch();
        for sequence in 0..50 {
            assert!(!latch.accept(port(2), false, 7, sequence));
            assert!(!latch.accept(port(3), false, 7, sequence));
        }
    }

    #[test]
    fn who_has_moved_is_followed_after_silence() {
        let mut latch = latch();
        assert!(latch.accept(port(1), false, 7, 1));
        for _ in 0..=SILENCE {
            latch.tick();
        }
        assert!(!latch.accept(port(2), false, 7, 2));
        assert!(!latch.accept(port(2), false, 7, 3));
        assert!(latch.accept(port(2), false, 7, 4));
        assert!(!latch.accept(port(1), false, 7, 5));
    }

    #[test]
    fn an_authentic_packet_is_the_calls_on_any_port() {
        let mut latch = latch();
        assert!(latch.accept(port(1), true, 7, 1));
        assert!(latch.accept(port(2), true, 7, 2));
        assert_eq!(latch.target(), Some(port(2)));
    }

    #[test]
    fn a_new_signalled_address_starts_afresh() {
        let mut latch = latch();
        assert!(latch.accept(port(2), true, 7, 1));
        latch.signal(port(1));
        assert_eq!(latch.target(), Some(port(2)), "nothing new was said");
        latch.signal(at(4));
        assert_eq!(latch.target(), Some(at(4)));
        assert!(!latch.accept(port(1), true, 7, 2), "the address before");
        latch.signal(SocketAddr::from(([0, 0, 0, 0], 4000)));
        assert_eq!(latch.target(), None);
    }
}

//! Which address a call's packets come from (symmetric RTP, RFC 4961; the risk, RFC 7362).
//!
//! The address in the SDP is wrong behind a NAT, so packets are sent to where packets come from. A stranger who guesses the port could use this to take
//! the call over, so:
//! - an authentic packet (SRTP) settles it at once, and again whenever the other side moves;
//! - otherwise the signalled address is followed from its first packet, another one only after [`FIRST`] packets of one sender in a row, each the
//!   successor of the one before;
//! - once followed, an address is followed until it has been silent for [`SILENCE`] ticks: a stranger's packets in the middle of a call change nothing and
//!   are not heard;
//! - a re-INVITE that names another address starts afresh.
//!
//! What is left is a stranger who is there before the other side's first packet and sends whole runs of RTP: against that only encryption helps.

use std::net::SocketAddr;

/// Packets in a row that an address must send to be followed although it is not the signalled one.
const FIRST: u32 = 3;
/// Ticks without a packet after which another address may be followed: two seconds.
const SILENCE: u32 = 100;

#[derive(Debug)]
struct Candidate {
    from: SocketAddr,
    ssrc: u32,
    sequence: u16,
    packets: u32,
}

/// Decides whom we listen to and where we send.
#[derive(Debug)]
pub(super) struct Latch {
    signalled: SocketAddr,
    followed: Option<SocketAddr>,
    candidate: Option<Candidate>,
    silent: u32,
}

impl Latch {
    pub(super) fn new(signalled: SocketAddr) -> Latch {
        Latch { signalled, followed: None, candidate: None, silent: 0 }
    }

    /// The other side has named an address (again).
    pub(super) fn signal(&mut self, address: SocketAddr) {
        if address != self.signalled {
            *self = Latch::new(address);
        }
    }

    /// Where to send; none while nobody is there (hold by address).
    pub(super) fn target(&self) -> Option<SocketAddr> {
        self.followed.or_else(|| (!self.signalled.ip().is_unspecified() && self.signalled.port() != 0).then_some(self.signalled))
    }

    /// A tick has passed.
    pub(super) fn tick(&mut self) {
        self.silent = self.silent.saturating_add(1);
    }

    /// Whether a well-formed packet is the call's.
    pub(super) fn accept(&mut self, from: SocketAddr, authentic: bool, ssrc: u32, sequence: u16) -> bool {
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
        let packets = match &self.candidate {
            Some(last) if last.from == from && last.ssrc == ssrc => {
                // Some loss is no proof against it, a repetition is.
                let step = sequence.wrapping_sub(last.sequence);
                if step == 0 {
                    last.packets
                } else if step < 16 {
                    last.packets + 1
                } else {
                    1
                }
            }
            _ => 1,
        };
        self.candidate = Some(Candidate { from, ssrc, sequence, packets });
        packets >= FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, last], 4000))
    }

    #[test]
    fn the_signalled_address_is_followed_at_once() {
        let mut latch = Latch::new(at(1));
        assert_eq!(latch.target(), Some(at(1)));
        assert!(latch.accept(at(1), false, 7, 1));
    }

    #[test]
    fn another_address_is_followed_after_three_packets_in_a_row() {
        let mut latch = Latch::new(at(1));
        assert!(!latch.accept(at(2), false, 7, 1));
        assert!(!latch.accept(at(2), false, 7, 1), "a repetition");
        assert!(!latch.accept(at(2), false, 7, 2));
        assert_eq!(latch.target(), Some(at(1)));
        assert!(latch.accept(at(2), false, 7, 3));
        assert_eq!(latch.target(), Some(at(2)));
    }

    #[test]
    fn a_stranger_in_the_middle_of_a_call_changes_nothing() {
        let mut latch = Latch::new(at(1));
        assert!(latch.accept(at(1), false, 7, 1));
        for sequence in 0..200 {
            assert!(!latch.accept(at(3), false, 9, sequence));
            latch.tick();
            assert!(latch.accept(at(1), false, 7, sequence + 2));
        }
        assert_eq!(latch.target(), Some(at(1)));
    }

    #[test]
    fn strangers_that_alternate_prove_nothing() {
        let mut latch = Latch::new(at(1));
        for sequence in 0..50 {
            assert!(!latch.accept(at(2), false, 7, sequence));
            assert!(!latch.accept(at(3), false, 7, sequence));
        }
    }

    #[test]
    fn who_has_moved_is_followed_after_silence() {
        let mut latch = Latch::new(at(1));
        assert!(latch.accept(at(1), false, 7, 1));
        for _ in 0..=SILENCE {
            latch.tick();
        }
        assert!(!latch.accept(at(2), false, 7, 2));
        assert!(!latch.accept(at(2), false, 7, 3));
        assert!(latch.accept(at(2), false, 7, 4));
        assert!(!latch.accept(at(1), false, 7, 5));
    }

    #[test]
    fn an_authentic_packet_is_always_the_calls() {
        let mut latch = Latch::new(at(1));
        assert!(latch.accept(at(1), true, 7, 1));
        assert!(latch.accept(at(2), true, 7, 2));
        assert_eq!(latch.target(), Some(at(2)));
    }

    #[test]
    fn a_new_signalled_address_starts_afresh() {
        let mut latch = Latch::new(at(1));
        assert!(latch.accept(at(2), true, 7, 1));
        latch.signal(at(1));
        assert_eq!(latch.target(), Some(at(2)), "nothing new was said");
        latch.signal(at(4));
        assert_eq!(latch.target(), Some(at(4)));
        latch.signal(SocketAddr::from(([0, 0, 0, 0], 4000)));
        assert_eq!(latch.target(), None);
    }
}

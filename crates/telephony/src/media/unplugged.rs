//! A media stream without sockets, for the fuzz targets: packets and ticks are passed in one by one.

use std::net::SocketAddr;
use std::sync::Arc;

use super::figures::{LineFigures, Totals};
use super::flow::{Flow, Scratch};
use super::latch::Sources;
use super::line::Shared;
use super::rtp;
use super::sdp::Agreed;
use super::srtp::{Keys, MasterKey, Protect, Unprotect};
use domain::ports::Ear;

/// What stands in a packet of sound that is not encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    pub payload_type: u8,
    /// Its place among the sender's packets.
    pub sequence: u16,
    /// Its place in the sender's time.
    pub timestamp: u32,
    pub ssrc: u32,
    pub payload: &'a [u8],
}

pub fn read(bytes: &[u8]) -> Option<Packet<'_>> {
    let rtp::Packet { payload_type, sequence, timestamp, ssrc, payload } = rtp::parse(bytes)?;
    Some(Packet { payload_type, sequence, timestamp, ssrc, payload })
}

/// The key in the text of an `inline:` parameter.
pub fn key(text: &str) -> Option<MasterKey> {
    MasterKey::from_text(text)
}

/// The sound of a call.
pub struct Call {
    flow: Flow,
    shared: Arc<Shared>,
    scratch: Scratch,
    totals: Totals,
}

impl Call {
    /// A call that this was agreed on for.
    pub fn new(agreed: Agreed, sources: Sources, ear: Box<dyn Ear>) -> Call {
        let shared = Arc::new(Shared::default());
        Call {
            flow: Flow::unplugged(agreed, sources, ear, shared.clone()),
            shared,
            scratch: Scratch::new(),
            totals: Totals::default(),
        }
    }

    /// A datagram arrives. The key that it presses.
    pub fn packet(&mut self, from: SocketAddr, bytes: &[u8]) -> Option<char> {
        let length = bytes.len().min(self.scratch.packet.len());
        self.scratch.packet[..length].copy_from_slice(&bytes[..length]);
        self.flow.packet(from, length, &mut self.scratch)
    }

    /// 20 ms pass. False: the call's sound has ended.
    pub fn tick(&mut self) -> bool {
        self.flow.tick(0, &mut self.scratch, &self.totals)
    }

    /// Passes over ticks for which the thread had no time.
    pub fn skip(&mut self, ticks: u32) -> bool {
        self.flow.skip(ticks, 100, &self.totals)
    }

    /// The other side has spoken again.
    pub fn update(&mut self, agreed: Agreed) {
        self.shared.lock().agreed = Some(agreed);
    }

    /// Puts it on hold, or ends that.
    pub fn hold(&mut self, hold: bool) {
        self.shared.lock().hold = hold;
    }

    pub fn press(&mut self, keys: &str) {
        self.shared.lock().digits.push_str(keys);
    }

    pub fn figures(&self) -> LineFigures {
        self.shared.lock().figures
    }
}

/// The other side of an encrypted call: its packets, and its ears.
pub struct Peer {
    protect: Protect,
    unprotect: Unprotect,
}

impl Peer {
    /// With these keys, as it sees them.
    pub fn new(keys: &Keys) -> Peer {
        Peer { protect: Protect::new(keys), unprotect: Unprotect::new(keys) }
    }

    pub fn seal(&mut self, packet: &mut Vec<u8>) {
        self.protect.packet(packet);
    }

    /// Decrypts a packet in place; its length.
    pub fn open(&mut self, packet: &mut [u8]) -> Option<usize> {
        self.unprotect.packet(packet)
    }
}

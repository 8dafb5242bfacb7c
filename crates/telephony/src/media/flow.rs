//! The media stream of one call: each 20 ms tick reads RTP, feeds the ear, and sends RTP.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::codec;
use super::digits::{self, Press};
use super::figures::{LineFigures, Totals};
use super::jitter::Jitter;
use super::latch::{Latch, Sources};
use super::line::Shared;
use super::packer::Packer;
use super::ports::Socket;
use super::rtp;
use super::sdp::{Agreed, OFFERED_EVENT};
use super::srtp::{Protect, Unprotect};
use crate::settings::Codec;
use domain::ports::{Ear, FRAME, Frame, Tick};

/// Packets of the call read in one tick; a flood waits in the system's buffer and is dropped there.
const MOST_PACKETS: usize = 64;
/// Packets of strangers read in one tick beside them. They cost a look at their address, and must not take
/// the place of the call's.
const MOST_FOREIGN: usize = 256;
/// Packets that are thrown away when the sound starts: more than the system's buffer holds.
const MOST_EARLY: usize = 8192;
/// Ticks a second, and ticks of silence before the ear is notified.
const SECOND: u32 = 50;
const STARVED: u32 = 5 * SECOND;
/// A tick worked later than this is a late one, milliseconds.
pub(super) const LATE_MS: u32 = 30;

/// Memory that the lines of a thread share.
pub(super) struct Scratch {
    pub(super) packet: Box<[u8; 2048]>,
    sound: Vec<i16>,
    out: Vec<u8>,
}

impl Scratch {
    pub(super) fn new() -> Scratch {
        Scratch {
            packet: Box::new([0; 2048]),
            sound: Vec::with_capacity(2048),
            out: Vec::with_capacity(2048),
        }
    }
}

/// One call's sound.
pub(super) struct Flow {
    shared: Arc<Shared>,
    // None once closed.
    ear: Option<Box<dyn Ear>>,
    socket: Option<Socket>,
    agreed: Agreed,
    hold: bool,
    latch: Latch,
    jitter: Jitter,
    protect: Option<Protect>,
    unprotect: Option<Unprotect>,
    sender: rtp::Sender,
    packer: Packer,
    talking: bool,
    /// The next packet starts a talk spurt.
    mark: bool,
    keys_in: digits::Receiver,
    keys_out: digits::Sender,
    /// When the key that is sent was pressed. Not what has passed since: ticks may be given up meanwhile, and
    /// another timestamp is another press.
    pressed_at: u32,
    silent: u32,
    failed: bool,
    figures: LineFigures,
    reported: LineFigures,
}

impl Flow {
    pub(super) fn new(
        socket: Socket,
        agreed: Agreed,
        sources: Sources,
        ear: Box<dyn Ear>,
        shared: Arc<Shared>,
    ) -> Flow {
        // What came while the phone rang is dropped. Otherwise an attacker who sprays ports would be heard first.
        let figures = LineFigures { early: drain(&socket), ..LineFigures::default() };
        Flow { socket: Some(socket), figures, ..Flow::unplugged(agreed, sources, ear, shared) }
    }

    /// A call without a port: its packets are handed to it.
    pub(super) fn unplugged(
        agreed: Agreed,
        sources: Sources,
        ear: Box<dyn Ear>,
        shared: Arc<Shared>,
    ) -> Flow {
        let mut random = [0u8; 10];
        super::srtp::random(&mut random);
        Flow {
            shared,
            ear: Some(ear),
            socket: None,
            hold: false,
            latch: Latch::new(agreed.remote, sources),
            jitter: Jitter::new(),
            protect: agreed.srtp.as_ref().map(Protect::new),
            unprotect: agreed.srtp.as_ref().map(Unprotect::new),
            sender: rtp::Sender::new(random),
            packer: Packer::new(agreed.codec, agreed.ptime_ms),
            talking: false,
            mark: false,
            keys_in: digits::Receiver::default(),
            keys_out: digits::Sender::default(),
            pressed_at: 0,
            silent: 0,
            failed: false,
            figures: LineFigures::default(),
            reported: LineFigures::default(),
            agreed,
        }
    }

    /// Works a tick. False: the line is closed.
    pub(super) fn tick(&mut self, late_ms: u32, scratch: &mut Scratch, totals: &Totals) -> bool {
        let mut said: Frame = [0; FRAME];
        let Some((speaks, press)) = self.wishes(&mut said) else {
            self.close(totals);
            return false;
        };
        self.figures.ticks += 1;
        self.figures.late_ticks += u64::from(late_ms > LATE_MS);
        totals.lateness(late_ms);

        let mut keys = [None; 8];
        self.receive(scratch, &mut keys);
        let mut heard: Frame = [0; FRAME];
        let hears = if self.listens() {
            self.jitter.take(&mut heard)
        } else {
            self.jitter.restart();
            false
        };
        let starved = self.starved();
        let tick = Tick { heard: hears.then_some(&heard), said: speaks.then_some(&said), late_ms };
        self.failed |= !self.with_ear(|ear| {
            for key in keys.into_iter().flatten() {
                ear.digit(key);
            }
            if let Some(ms) = starved {
                ear.starved(ms);
            }
            ear.tick(tick);
        });
        if self.failed {
            totals.failed_ears.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            tracing::error!("the ear of a line has failed; the line is closed");
            self.close(totals);
            return false;
        }
        if self.speaks() {
            self.send(&said, speaks, press, scratch);
        } else {
            self.pass_time(1);
        }
        self.report(totals);
        true
    }

    /// Passes over ticks for which the thread had no time. The ear gets as many empty ones, so that its own
    /// time goes on; of a gap longer than a minute (a machine that slept), only the first minute. False: the
    /// line is closed. A thread without time must notice that here, or lines that are over would take the time
    /// of the others.
    pub(super) fn skip(&mut self, ticks: u32, late_ms: u32, totals: &Totals) -> bool {
        if self.shared.lock().close {
            self.close(totals);
            return false;
        }
        self.pass_time(ticks);
        self.silent = self.silent.saturating_add(ticks);
        let empty = Tick { heard: None, said: None, late_ms };
        let alive = self.with_ear(|ear| {
            for _ in 0..ticks.min(60 * SECOND) {
                ear.tick(empty);
            }
        });
        // The next tick closes a line whose ear has failed.
        self.failed |= !alive;
        true
    }

    /// Our time line goes on although nothing is sent.
    fn pass_time(&mut self, ticks: u32) {
        let rest = self.packer.flush() as u32;
        let samples = ticks.wrapping_mul(FRAME as u32).wrapping_add(rest);
        self.sender.timestamp = self.sender.timestamp.wrapping_add(samples);
        self.talking = false;
    }

    /// Reads what the handle wants. None: the end.
    fn wishes(&mut self, said: &mut Frame) -> Option<(bool, Option<Press>)> {
        let shared = self.shared.clone();
        let mut wishes = shared.lock();
        if wishes.close {
            return None;
        }
        if let Some(agreed) = wishes.agreed.take() {
            self.update(agreed);
        }
        self.hold = wishes.hold;
        if !wishes.digits.is_empty() {
            self.keys_out.press(&std::mem::take(&mut wishes.digits));
        }
        if !self.speaks() {
            return Some((false, None));
        }
        let press = self.keys_out.tick(self.agreed.telephone_event.is_some());
        let speaks = press.is_none() && wishes.take(said);
        Some((speaks, press))
    }

    fn update(&mut self, agreed: Agreed) {
        self.latch.signal(agreed.remote);
        let (before, after) = (self.agreed.srtp.as_ref(), agreed.srtp.as_ref());
        // The same key goes on counting where it was: a packet index must not be used twice.
        let same = |one: fn(&super::Keys) -> &super::MasterKey| {
            before.map(|keys| (keys.suite, one(keys))) == after.map(|keys| (keys.suite, one(keys)))
        };
        if !same(|keys| &keys.local) {
            self.protect = after.map(Protect::new);
        }
        if !same(|keys| &keys.remote) {
            self.unprotect = after.map(Unprotect::new);
        }
        if (agreed.codec, agreed.ptime_ms) != (self.agreed.codec, self.agreed.ptime_ms) {
            let rest = self.packer.flush() as u32;
            self.sender.timestamp = self.sender.timestamp.wrapping_add(rest);
            self.packer = Packer::new(agreed.codec, agreed.ptime_ms);
        }
        self.agreed = agreed;
    }

    fn speaks(&self) -> bool {
        !self.hold && self.agreed.direction.sends()
    }

    fn listens(&self) -> bool {
        !self.hold && self.agreed.direction.receives()
    }

    fn receive(&mut self, scratch: &mut Scratch, keys: &mut [Option<char>; 8]) {
        self.latch.tick();
        self.silent = self.silent.saturating_add(1);
        let (mut ours, mut foreign) = (0, 0);
        while ours < MOST_PACKETS && foreign < MOST_FOREIGN {
            let Some(socket) = &self.socket else { return };
            match socket.udp.recv_from(&mut scratch.packet[..]) {
                // Checked first: packets from elsewhere are not worth decrypting.
                Ok((_, from)) if !self.latch.may_come_from(from.ip()) => {
                    foreign += 1;
                    self.stranger();
                }
                Ok((length, from)) => {
                    ours += 1;
                    let key = self.packet(from, length, scratch);
                    if let (Some(key), Some(place)) = (key, keys.iter_mut().find(|place| place.is_none())) {
                        *place = Some(key);
                    }
                }
                // The ICMP report that nothing received an earlier packet of ours.
                Err(why) if why.kind() == std::io::ErrorKind::ConnectionRefused => foreign += 1,
                Err(_) => return,
            }
        }
    }

    /// Counts a packet from an address that is not the call's. A second of nothing else is logged: sound may
    /// come from a network that is missing in the settings.
    fn stranger(&mut self) {
        self.figures.foreign += 1;
        if self.figures.foreign == u64::from(SECOND) && self.figures.packets_in == 0 {
            tracing::warn!(
                "sound comes from other addresses than the call's only, and is dropped: is the trunk's media_from complete?"
            );
        }
    }

    pub(super) fn packet(
        &mut self,
        from: SocketAddr,
        mut length: usize,
        scratch: &mut Scratch,
    ) -> Option<char> {
        if let Some(unprotect) = &mut self.unprotect {
            let Some(plain) = unprotect.packet(&mut scratch.packet[..length]) else {
                self.figures.unreadable += 1;
                return None;
            };
            length = plain;
        }
        let packet = rtp::parse(&scratch.packet[..length]);
        let codec = packet.and_then(|packet| self.meaning(packet.payload_type));
        let (Some(packet), Some(meaning)) = (packet, codec) else {
            self.figures.unreadable += 1;
            return None;
        };
        let authentic = self.unprotect.is_some();
        if !self.latch.accept(from, authentic, packet.ssrc, packet.sequence) {
            self.figures.foreign += 1;
            return None;
        }
        self.silent = 0;
        self.figures.packets_in += 1;
        if !self.jitter.count(packet.ssrc, packet.sequence) || !self.listens() {
            return None;
        }
        match meaning {
            Meaning::Sound(codec) => {
                scratch.sound.clear();
                codec::decode(codec, packet.payload, &mut scratch.sound);
                self.jitter.push(packet.timestamp, &scratch.sound);
                None
            }
            Meaning::Key => self.keys_in.packet(packet.timestamp, packet.payload),
            Meaning::Silence => None,
        }
    }

    fn meaning(&self, payload_type: u8) -> Option<Meaning> {
        match payload_type {
            of if Some(of) == self.agreed.telephone_event => Some(Meaning::Key),
            of if of == self.agreed.payload_type => Some(Meaning::Sound(self.agreed.codec)),
            0 => Some(Meaning::Sound(Codec::Pcmu)),
            8 => Some(Meaning::Sound(Codec::Pcma)),
            // Comfort noise (RFC 3389), under its old number too.
            13 | 19 => Some(Meaning::Silence),
            // A peer may answer with a number of its own for events and still send them with the one that we
            // offered.
            OFFERED_EVENT if self.agreed.telephone_event.is_some() => Some(Meaning::Key),
            _ => None,
        }
    }

    /// Milliseconds without a packet, when the ear is to be notified.
    fn starved(&mut self) -> Option<u32> {
        if !self.listens() {
            self.silent = 0;
            return None;
        }
        (self.silent >= STARVED && self.silent.is_multiple_of(SECOND)).then(|| self.silent * 20)
    }

    fn send(&mut self, said: &Frame, speaks: bool, press: Option<Press>, scratch: &mut Scratch) {
        let mut frame = said;
        match &press {
            Some(Press::Event { marker, payload }) => {
                self.pass_time(0);
                if *marker {
                    self.pressed_at = self.sender.timestamp;
                }
                let timestamp = self.pressed_at;
                let payload_type = self.agreed.telephone_event.unwrap_or_default();
                let out = &mut scratch.out;
                self.sender.write(out, *marker, payload_type, timestamp, payload);
                self.put(scratch);
                return self.pass_time(1);
            }
            Some(Press::Tone(tone)) => frame = tone,
            Some(Press::Pause) | None => {}
        }
        self.packer.push(frame);
        // The first packet after silence starts a talk spurt (RFC 3551 section 4.1).
        self.mark |= speaks && !self.talking;
        self.talking = speaks;
        let Scratch { out, .. } = scratch;
        while let Some(payload) = self.packer.packet() {
            let timestamp = self.sender.timestamp;
            let payload_type = self.agreed.payload_type;
            self.sender.write(out, std::mem::take(&mut self.mark), payload_type, timestamp, payload);
            self.sender.timestamp = timestamp.wrapping_add(payload.len() as u32);
            put(&self.socket, &self.latch, &mut self.protect, out, &mut self.figures);
        }
    }

    fn put(&mut self, scratch: &mut Scratch) {
        put(&self.socket, &self.latch, &mut self.protect, &mut scratch.out, &mut self.figures);
    }

    /// Lets the ear do something. False: it failed.
    fn with_ear(&mut self, work: impl FnOnce(&mut dyn Ear)) -> bool {
        let Some(ear) = self.ear.as_deref_mut() else {
            return false;
        };
        catch_unwind(AssertUnwindSafe(|| work(ear))).is_ok()
    }

    fn report(&mut self, totals: &Totals) {
        let counts = self.jitter.counts();
        self.figures.lost = counts.lost;
        self.figures.duplicate = counts.duplicate;
        self.figures.reordered = counts.reordered;
        self.figures.late_packets = counts.late;
        self.figures.concealed = counts.concealed;
        self.figures.delay_ms = self.jitter.delay_ms();
        totals.add(&self.reported, &self.figures);
        self.reported = self.figures;
        self.shared.lock().figures = self.figures;
    }

    /// Closes the line: the ear is notified last, when the port is free.
    pub(super) fn close(&mut self, totals: &Totals) {
        if self.ear.is_none() {
            return;
        }
        self.report(totals);
        self.socket = None;
        self.shared.lock().closed = true;
        self.with_ear(|ear| ear.closed());
        let ear = self.ear.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(ear)));
    }
}

/// Throws away what has come so far, and counts it.
fn drain(socket: &Socket) -> u64 {
    let (mut packet, mut count) = ([0u8; 16], 0);
    for _ in 0..MOST_EARLY {
        match socket.udp.recv_from(&mut packet) {
            Ok(_) => count += 1,
            Err(why) if why.kind() == std::io::ErrorKind::ConnectionRefused => {}
            Err(_) => break,
        }
    }
    count
}

/// What a packet carries.
enum Meaning {
    Sound(Codec),
    Key,
    Silence,
}

fn put(
    socket: &Option<Socket>,
    latch: &Latch,
    protect: &mut Option<Protect>,
    out: &mut Vec<u8>,
    figures: &mut LineFigures,
) {
    let (Some(socket), Some(target)) = (socket, latch.target()) else {
        return;
    };
    if let Some(protect) = protect {
        protect.packet(out);
    }
    match socket.udp.send_to(out, target) {
        Ok(_) => figures.packets_out += 1,
        Err(_) => figures.packets_unsent += 1,
    }
}

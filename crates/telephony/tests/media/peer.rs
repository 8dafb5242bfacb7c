//! What the tests share: an ear that notes, sound to compare, a peer made by hand.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use audio_codec_algorithms::{decode_alaw, decode_ulaw, encode_alaw, encode_ulaw};
use telephony::media::{Agreed, Codec, Direction, Ear, Engine, Keys, MasterKey, Settings, Suite, Tick};

pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// An engine with ports of its own. Each test takes another range, so that they can run at once.
pub fn engine(ports: (u16, u16)) -> Engine {
    Engine::start(Settings { ports, threads: 1 }).expect("an engine")
}

/// What an ear noted.
#[derive(Debug, Default)]
pub struct Notes {
    pub heard: Vec<i16>,
    pub ticks: usize,
    pub silent_ticks: usize,
    pub said: Vec<i16>,
    pub digits: String,
    pub starved: Vec<u32>,
    pub closed: usize,
}

/// Notes what a line hears.
#[derive(Clone, Default)]
pub struct Notebook(Arc<Mutex<Notes>>);

impl Notebook {
    pub fn ear(&self) -> Box<dyn Ear> {
        Box::new(self.clone())
    }

    pub fn read<T>(&self, look: impl FnOnce(&mut Notes) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Ear for Notebook {
    fn tick(&mut self, tick: Tick<'_>) {
        self.read(|notes| {
            notes.ticks += 1;
            match tick.heard {
                Some(frame) => notes.heard.extend(frame),
                None => notes.silent_ticks += 1,
            }
            if let Some(frame) = tick.said {
                notes.said.extend(frame);
            }
        });
    }

    fn digit(&mut self, key: char) {
        self.read(|notes| notes.digits.push(key));
    }

    fn starved(&mut self, ms: u32) {
        self.read(|notes| notes.starved.push(ms));
    }

    fn closed(&mut self) {
        self.read(|notes| notes.closed += 1);
    }
}

/// Waits until something is so; a test that waits for half a minute has failed.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

pub fn agreed(remote: SocketAddr) -> Agreed {
    Agreed {
        remote,
        codec: Codec::Pcmu,
        payload_type: 0,
        telephone_event: Some(101),
        ptime_ms: 20,
        direction: Direction::SendRecv,
        srtp: None,
    }
}

pub fn keys(suite: Suite) -> (Keys, Keys) {
    let (one, other) = (MasterKey::random(), MasterKey::random());
    let keys =
        |local: &MasterKey, remote: &MasterKey| Keys { suite, local: local.clone(), remote: remote.clone() };
    (keys(&one, &other), keys(&other, &one))
}

/// Sound without repetition.
pub fn sound(ms: usize, seed: u64) -> Vec<i16> {
    let from = seed as f64 * 3.0;
    (0..ms * 8)
        .map(|index| {
            let at = from + index as f64 / 8000.0;
            let phase = 500.0 * at + 60.0 * (at * 2.3).sin() + 40.0 * (at * 7.1).cos();
            ((std::f64::consts::TAU * phase).sin() * 8000.0) as i16
        })
        .collect()
}

/// The part of `said` that is found in `heard`, in pieces of 10 ms that came over a line with this codec
/// unchanged and in order: 1 is all of it.
pub fn share(codec: Codec, said: &[i16], heard: &[i16]) -> f64 {
    let over_the_line = |sample: &i16| match codec {
        Codec::Pcmu => decode_ulaw(encode_ulaw(*sample)),
        Codec::Pcma => decode_alaw(encode_alaw(*sample)),
    };
    let expected: Vec<i16> = said.iter().map(over_the_line).collect();
    let (mut from, mut found, mut pieces) = (0, 0, 0);
    for piece in expected.chunks_exact(80) {
        pieces += 1;
        let rest = &heard[from..];
        if let Some(at) = rest.windows(80).position(|part| part == piece) {
            found += 1;
            from += at + 80;
        }
    }
    f64::from(found) / f64::from(pieces.max(1))
}

/// A peer made by hand: it sends what it is told and reads what comes.
pub struct Peer {
    pub udp: UdpSocket,
    pub sequence: u16,
    pub timestamp: u32,
    pub ssrc: u32,
}

/// An RTP packet as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub marker: bool,
    pub payload_type: u8,
    pub sequence: u16,
    pub timestamp: u32,
    pub payload: Vec<u8>,
}

impl Peer {
    pub fn new() -> Peer {
        let udp = UdpSocket::bind((HERE, 0)).expect("a port");
        udp.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        Peer { udp, sequence: 1, timestamp: 1000, ssrc: 77 }
    }

    pub fn address(&self) -> SocketAddr {
        self.udp.local_addr().expect("an address")
    }

    pub fn bytes(&self, payload_type: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x80, payload_type];
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.timestamp.to_be_bytes());
        bytes.extend(self.ssrc.to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    /// Sends 20 ms of µ-law.
    pub fn send(&mut self, to: SocketAddr, payload: &[u8]) {
        let bytes = self.bytes(0, payload);
        self.udp.send_to(&bytes, to).expect("sent");
        self.sequence = self.sequence.wrapping_add(1);
        self.timestamp = self.timestamp.wrapping_add(160);
    }

    /// The next packet that comes.
    pub fn receive(&self) -> Packet {
        let mut bytes = [0u8; 2048];
        let length = loop {
            match self.udp.recv_from(&mut bytes) {
                Ok((length, _)) => break length,
                // A process that was stopped and goes on.
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(why) => panic!("no packet: {why}"),
            }
        };
        let word = |at: usize| bytes[at..at + 4].iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        Packet {
            marker: bytes[1] & 0x80 != 0,
            payload_type: bytes[1] & 0x7f,
            sequence: word(0) as u16,
            timestamp: word(4),
            payload: bytes[12..length].to_vec(),
        }
    }
}

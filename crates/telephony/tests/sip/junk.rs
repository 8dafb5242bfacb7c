//! Nonsense does no harm.

use std::net::UdpSocket;
use std::sync::Arc;

use telephony::sip::{Inbound, IncomingCall};
use tokio::sync::mpsc;

use super::sipp;
use super::support::{Kit, answered, order, rest, settings, trunk};

/// Declines every call that comes in by dropping it.
struct Drops;

impl Inbound for Drops {
    fn invite(&self, _: IncomingCall) {}
}

/// Small and repeatable (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

const SEEDS: [&str; 5] = [
    "INVITE sip:1@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKx;rport\r\nFrom: \"a\" <sip:a@h>;tag=1\r\nTo: <sip:b@h>\r\nCall-ID: x@h\r\nCSeq: 1 INVITE\r\nContact: <sip:a@127.0.0.1:9>\r\nSession-Expires: 90;refresher=uac\r\nRequire: timer\r\nContent-Type: application/sdp\r\nContent-Length: 54\r\n\r\nv=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\na=rtcp:9",
    "BYE sip:1@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP [::1]:9;branch=z9hG4bKy;received=1.2.3.4;rport=99999\r\nFrom: <sip:a@h>;tag=1\r\nTo: <sip:b@h>;tag=2\r\nCall-ID: y@h\r\nCSeq: 4294967295 BYE\r\nReason: Q.850;cause=16\r\nContent-Length: 0\r\n\r\n",
    "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKz\r\nFrom: <sip:a@h>;tag=1\r\nTo: <sip:b@h>;tag=2\r\nCall-ID: z@h\r\nCSeq: 1 INVITE\r\nContact: <sip:[::1]:70000;lr>\r\nRecord-Route: <sip:p;lr>,\"q\" <sip:r>\r\nContent-Length: 0\r\n\r\n",
    "OPTIONS sip:h SIP/2.0\r\nv: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKo\r\nf: <sip:a@h>;tag=1\r\nt: <sip:b@h>\r\ni: o@h\r\nCSeq: 1 OPTIONS\r\nl: 0\r\n\r\n",
    "CANCEL sip:1@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKx\r\nFrom: <sip:a@h>;tag=1\r\nTo: <sip:b@h>\r\nCall-ID: x@h\r\nCSeq: 1 CANCEL\r\nContent-Length: 0\r\n\r\n",
];

fn datagram(random: &mut Random) -> Vec<u8> {
    if random.below(10) == 0 {
        let length = random.below(300);
        return (0..length).map(|_| random.below(256) as u8).collect();
    }
    let mut bytes = SEEDS[random.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, b";:,<>\"=@ \r\n\t[]%\\\0\xff"[random.below(18)]),
            3 => bytes.truncate(at.max(1)),
            4 => {
                let end = (at + random.below(40)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let end = (at + random.below(20)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
        if bytes.is_empty() {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// Run by `main`: it waits for half a minute.
pub async fn ten_thousand_datagrams_and_then_a_call() {
    let seed = 0x5eed_0001;
    let peer = sipp::callee("answer", &[("code", "200")]).await;
    let (_sender, nothing) = mpsc::unbounded_channel();
    let kit = Kit::answering(settings(vec![trunk(peer.port)]), Arc::new(Drops), nothing).await;
    let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("a port");
    let stranger = UdpSocket::bind(("127.0.0.8", 0)).expect("a port");
    let mut random = Random(seed);
    for number in 0..10_000u32 {
        let from = if number % 5 == 0 { &stranger } else { &socket };
        drop(from.send_to(&datagram(&mut random), kit.user_agent.local_address()));
        if number % 50 == 49 {
            // At the pace at which they are read: what overflows the system's buffer tests nothing.
            let before = kit.user_agent.figures().junk;
            drop(socket.send_to(b"nonsense", kit.user_agent.local_address()));
            super::support::until("they are read", || {
                (kit.user_agent.figures().junk > before).then_some(()).ok_or(before.to_string())
            })
            .await;
        }
    }
    let mut leg =
        kit.user_agent.dial(order("after")).await.unwrap_or_else(|error| panic!("seed {seed:#x}: {error:?}"));
    answered(&mut leg).await;
    leg.control.hang_up().await;
    rest(&mut leg).await;
    peer.succeeds().await;
    let figures = kit.user_agent.figures();
    assert!(figures.junk > 100 && figures.refused > 10, "{figures:?}");
    kit.finish().await;
}

//! A line against networks and strangers.

use std::net::SocketAddr;

use telephony::media::{Codec, Line, Sources};

use super::peer::{HERE, Notebook, Peer, agreed, engine, share, sound, until};

struct Alone {
    line: Line,
    notes: Notebook,
    ours: SocketAddr,
    _engine: telephony::media::Engine,
}

fn alone(ports: (u16, u16), peer: SocketAddr) -> Alone {
    let engine = engine(ports);
    let socket = engine.open(HERE).expect("a port");
    let ours = socket.address();
    let notes = Notebook::default();
    let line = engine.connect(socket, agreed(peer), Sources::default(), notes.ear());
    Alone { line, notes, ours, _engine: engine }
}

fn mu_law(samples: &[i16]) -> Vec<u8> {
    samples.iter().map(|sample| audio_codec_algorithms::encode_ulaw(*sample)).collect()
}

#[test]
fn silence_is_sent_until_there_is_something_to_say() {
    let peer = Peer::new();
    let call = alone((31_200, 31_208), peer.address());
    let first = peer.receive();
    assert_eq!(first.payload, [0xff; 160]);
    call.line.play(&[8000; 1600]);
    let (mut last, mut spoken) = (first, 0);
    while spoken < 10 {
        let next = peer.receive();
        assert_eq!(next.sequence, last.sequence.wrapping_add(1));
        // More only where a busy machine gave ticks up.
        let passed = next.timestamp.wrapping_sub(last.timestamp);
        assert!(passed > 0 && passed.is_multiple_of(160), "{passed}");
        if next.payload != [0xff; 160] {
            assert_eq!(next.marker, spoken == 0 || passed > 160, "the start of a talk spurt is marked");
            spoken += 1;
        }
        last = next;
    }
}

#[test]
fn a_key_is_what_the_rfc_says() {
    let peer = Peer::new();
    let call = alone((31_210, 31_218), peer.address());
    let mut before = peer.receive();
    assert!(call.line.send_digits("#"));
    let mut events = Vec::new();
    while events.len() < 7 {
        let packet = peer.receive();
        if packet.payload_type == 101 {
            events.push(packet);
        } else if events.is_empty() {
            before = packet;
        }
    }
    let after = peer.receive();
    let pressed_at = events[0].timestamp;
    // More only where a busy machine gave ticks up.
    let (passed, took) =
        (pressed_at.wrapping_sub(before.timestamp), after.timestamp.wrapping_sub(pressed_at));
    assert!(passed > 0 && passed.is_multiple_of(160), "{passed}");
    assert!(took >= 7 * 160 && took.is_multiple_of(160), "{took}");
    for (index, event) in events.iter().enumerate() {
        let duration = 160 * (index as u16 + 1).min(5);
        let end = if index >= 4 { 0x80 } else { 0 };
        let [high, low] = duration.to_be_bytes();
        assert_eq!(event.payload, [11, end | 10, high, low]);
        assert_eq!(event.timestamp, pressed_at);
        assert_eq!(event.sequence, before.sequence.wrapping_add(1 + index as u16));
        assert_eq!(event.marker, index == 0);
    }
}

#[test]
fn loss_repetition_and_disorder_leave_the_words() {
    let mut peer = Peer::new();
    let call = alone((31_220, 31_228), peer.address());
    let said = sound(3000, 6);
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % below
    };
    let mut held: Option<Vec<u8>> = None;
    for frame in said.chunks(160) {
        // Our packets are the clock.
        call_tick(&peer);
        let bytes = peer.bytes(0, &mu_law(frame));
        peer.sequence = peer.sequence.wrapping_add(1);
        peer.timestamp = peer.timestamp.wrapping_add(160);
        match random(100) {
            0..5 => continue,
            5..15 if held.is_none() => {
                held = Some(bytes);
                continue;
            }
            15..25 => {
                peer.udp.send_to(&bytes, call.ours).expect("sent");
            }
            _ => {}
        }
        peer.udp.send_to(&bytes, call.ours).expect("sent");
        if let Some(late) = held.take() {
            peer.udp.send_to(&late, call.ours).expect("sent");
        }
    }
    let ticks = call.line.figures().ticks;
    until("the rest is heard", || call.line.figures().ticks > ticks + 12);
    let heard = call.notes.read(|notes| notes.heard.clone());
    let whole = share(Codec::Pcmu, &said, &heard);
    assert!(whole > 0.7, "{whole}");
    let figures = call.line.figures();
    assert!(figures.lost > 0 && figures.duplicate > 0 && figures.reordered > 0, "{figures:?}");
}

fn call_tick(peer: &Peer) {
    peer.receive();
}

#[test]
fn packets_are_followed_to_where_they_come_from() {
    let (signalled, mut real) = (Peer::new(), Peer::new());
    let call = alone((31_230, 31_238), signalled.address());
    signalled.receive();
    for _ in 0..3 {
        real.send(call.ours, &[0x12; 160]);
    }
    // Ours arrive there now.
    assert_eq!(real.receive().payload_type, 0);
    until("heard", || call.notes.read(|notes| !notes.heard.is_empty()));
    assert_eq!(call.line.figures().foreign, 2, "what came before it was sure");
}

#[test]
fn a_stranger_is_neither_heard_nor_spoken_to() {
    let (mut peer, mut stranger) = (Peer::new(), Peer::new());
    let call = alone((31_240, 31_248), peer.address());
    peer.send(call.ours, &[0xff; 160]);
    until("followed", || call.line.figures().packets_in == 1);
    stranger.udp.set_nonblocking(true).expect("non-blocking");
    stranger.ssrc = 5;
    for _ in 0..60 {
        call_tick(&peer);
        peer.send(call.ours, &[0xff; 160]);
        stranger.send(call.ours, &[0x00; 160]);
    }
    until("all came", || call.line.figures().foreign == 60);
    assert!(call.notes.read(|notes| notes.heard.iter().all(|sample| sample.abs() < 100)));
    let mut bytes = [0u8; 100];
    assert!(stranger.udp.recv_from(&mut bytes).is_err(), "spoken to");
}

#[test]
fn noise_on_the_port_does_no_harm() {
    let mut peer = Peer::new();
    let call = alone((31_250, 31_258), peer.address());
    let mut state = 7u32;
    for length in 0..300usize {
        let noise: Vec<u8> = (0..length * 5)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        peer.udp.send_to(&noise, call.ours).expect("sent");
        if length % 50 == 0 {
            call_tick(&peer);
        }
    }
    until("counted", || call.line.figures().unreadable > 200);
    let before = call.notes.read(|notes| notes.heard.len());
    for _ in 0..10 {
        call_tick(&peer);
        peer.send(call.ours, &[0x12; 160]);
    }
    until("heard after it", || call.notes.read(|notes| notes.heard.len()) > before);
}

#[test]
fn silence_of_the_network_is_told_each_second_from_the_fifth() {
    let peer = Peer::new();
    let call = alone((31_260, 31_268), peer.address());
    until("told twice", || call.notes.read(|notes| notes.starved.len()) >= 2);
    // A busy machine may tell one of them a second later.
    let told = call.notes.read(|notes| notes.starved.clone());
    assert!(
        told[0] >= 5000 && told[1] > told[0] && told.iter().all(|ms| ms.is_multiple_of(1000)),
        "{told:?}"
    );
}

//! DTMF, sent and received.

use proptest::prelude::*;

use super::{FRAME, PAUSE, PRESSED, Press, Receiver, Sender};
use crate::tones;

/// The packets of `keys`: (tick, timestamp, payload).
fn packets(keys: &str) -> Vec<(u32, u32, [u8; 4])> {
    let mut sender = Sender::default();
    sender.press(keys);
    let (mut out, mut pressed_at) = (Vec::new(), 0);
    for tick in 0u32.. {
        match sender.tick(true) {
            Some(Press::Event { marker, payload }) => {
                if marker {
                    pressed_at = tick * 160;
                }
                out.push((tick, pressed_at, payload));
            }
            Some(_) => {}
            None => break,
        }
    }
    out
}

#[test]
fn a_key_is_pressed_for_100_ms_and_its_end_said_three_times() {
    let sent = packets("5x");
    let durations: Vec<u16> =
        sent.iter().map(|(.., payload)| u16::from_be_bytes([payload[2], payload[3]])).collect();
    assert_eq!(durations, [160, 320, 480, 640, 800, 800, 800]);
    let ends: Vec<bool> = sent.iter().map(|(.., payload)| payload[1] & 0x80 != 0).collect();
    assert_eq!(ends, [false, false, false, false, true, true, true]);
    assert!(sent.iter().all(|(_, timestamp, payload)| *timestamp == 0 && payload[0] == 5));
}

#[test]
fn only_the_first_packet_of_a_key_is_marked() {
    let mut sender = Sender::default();
    sender.press("12");
    let mut marks = Vec::new();
    while let Some(press) = sender.tick(true) {
        if let Press::Event { marker, .. } = press {
            marks.push(marker);
        }
    }
    let once = [true, false, false, false, false, false, false];
    assert_eq!(marks, [once, once].concat());
}

#[test]
fn a_pause_is_half_a_second_between_two_keys() {
    let begins = |keys| -> Vec<u32> {
        let mut ticks: Vec<u32> = packets(keys).iter().map(|(_, pressed_at, _)| pressed_at / 160).collect();
        ticks.dedup();
        ticks
    };
    assert_eq!(begins("12"), [0, PRESSED + PAUSE]);
    assert_eq!(begins("1w2"), [0, PRESSED + PAUSE + 25]);
    assert_eq!(begins("1,W2"), [0, PRESSED + PAUSE + 50]);
    assert_eq!(begins("w1"), [25]);
    let mut sender = Sender::default();
    sender.press("w");
    assert!((0..25).all(|_| sender.tick(false) == Some(Press::Pause)) && sender.tick(false).is_none());
}

#[test]
fn tones_are_sent_where_events_are_not_taken() {
    let mut sender = Sender::default();
    sender.press("7#");
    let mut sent = Vec::new();
    while let Some(press) = sender.tick(false) {
        sent.extend(match press {
            Press::Tone(frame) => *frame,
            _ => [0; FRAME],
        });
    }
    let pause = vec![0; PAUSE as usize * FRAME];
    let pressed = |key| tones::dtmf(key, PRESSED * 20);
    assert_eq!(sent, [pressed('7'), pause.clone(), pressed('#'), pause].concat());
}

#[test]
fn a_key_that_is_held_long_is_one_key() {
    let mut receiver = Receiver::default();
    assert_eq!(receiver.packet(1000, &[3, 10, 0xff, 0xff]), Some('3'));
    assert_eq!(receiver.packet(1000 + 0xffff, &[3, 10, 1, 0]), None);
    assert_eq!(receiver.packet(1000 + 0xffff + 9000, &[3, 10, 1, 0]), Some('3'));
}

proptest! {
    #[test]
    fn keys_arrive_once_whatever_is_lost_or_comes_twice(keys in "[0-9*#A-D]{1,12}", seed: u64) {
        let mut receiver = Receiver::default();
        let (mut heard, mut state) = (String::new(), seed | 1);
        let sent = packets(&keys);
        for key in sent.chunks(7) {
            // At least one packet of each key comes.
            let sure = (seed % 7) as usize;
            for (index, (_, timestamp, payload)) in key.iter().enumerate() {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let copies = if index == sure { 1 + state % 2 } else { state % 3 };
                for _ in 0..copies {
                    heard.extend(receiver.packet(*timestamp, payload));
                }
            }
        }
        prop_assert_eq!(heard, keys);
    }

    #[test]
    fn no_payload_makes_it_panic(packets in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..8)), 0..50)) {
        let mut receiver = Receiver::default();
        for (timestamp, payload) in packets {
            let _ = receiver.packet(timestamp, &payload);
        }
        prop_assert!(receiver.seen.len() <= 8);
    }
}

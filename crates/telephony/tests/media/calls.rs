//! Two engines talk.

use telephony::media::{Agreed, Codec, Direction, Engine, Line, Sources, Suite};

use super::peer::{HERE, Notebook, Peer, agreed, engine, keys, share, sound, until};

struct Call {
    line: Line,
    notes: Notebook,
}

/// Connects two lines, each with its side of what was agreed.
fn pair(one: &Engine, other: &Engine, change: impl Fn(&mut Agreed, bool)) -> (Call, Call) {
    let (left, right) = (one.open(HERE).expect("a port"), other.open(HERE).expect("a port"));
    let (mut at_left, mut at_right) = (agreed(right.address()), agreed(left.address()));
    change(&mut at_left, true);
    change(&mut at_right, false);
    let (left_notes, right_notes) = (Notebook::default(), Notebook::default());
    let call = |engine: &Engine, socket, agreed, notes: Notebook| Call {
        line: engine.connect(socket, agreed, Sources::default(), notes.ear()),
        notes,
    };
    (call(one, left, at_left, left_notes), call(other, right, at_right, right_notes))
}

/// Both speak at once; each hears the other. Words that a machine without time for them lost are said again.
fn talk(name: &str, codec: Codec, left: &Call, right: &Call) {
    let (hello, answer) = (sound(500, 1), sound(500, 2));
    for call in [left, right] {
        call.notes.read(|notes| notes.heard.clear());
    }
    left.line.play(&hello);
    right.line.play(&answer);
    for (from, said, to) in [(left, &hello, right), (right, &answer, left)] {
        let mut ticks = from.line.figures().ticks;
        until(&format!("{name}: heard"), || {
            let now = from.line.figures().ticks;
            if from.line.queued_ms() == 0 && now > ticks + 100 {
                ticks = now;
                to.notes.read(|notes| notes.heard.clear());
                from.line.play(said);
            }
            to.notes.read(|notes| notes.heard.len() >= said.len() && share(codec, said, &notes.heard) > 0.7)
        });
    }
}

#[test]
fn every_codec_packet_length_and_encryption_carries_both_voices() {
    let (one, other) = (engine((31_000, 31_018)), engine((31_020, 31_038)));
    for codec in [Codec::Pcmu, Codec::Pcma] {
        let (left, right) = pair(&one, &other, |agreed, _| {
            agreed.codec = codec;
            agreed.payload_type = if codec == Codec::Pcma { 8 } else { 96 };
        });
        talk(&format!("{codec:?}"), codec, &left, &right);
    }
    for ptime in [10, 30, 40, 60] {
        let (left, right) = pair(&one, &other, |agreed, is_left| {
            agreed.ptime_ms = if is_left { ptime } else { 20 };
        });
        talk(&format!("{ptime} ms"), Codec::Pcmu, &left, &right);
    }
    for suite in [Suite::AesCm128HmacSha1_80, Suite::AesCm128HmacSha1_32] {
        let (ours, theirs) = keys(suite);
        let (left, right) = pair(&one, &other, |agreed, is_left| {
            agreed.srtp = Some(if is_left { ours.clone() } else { theirs.clone() });
        });
        talk(&format!("{suite:?}"), Codec::Pcmu, &left, &right);
        assert_eq!(right.line.figures().unreadable, 0);
        // A re-INVITE with the same keys goes on where it was.
        let mut again = agreed(right_address(&left));
        again.srtp = Some(ours.clone());
        left.line.update(again);
        talk(&format!("{suite:?} again"), Codec::Pcmu, &left, &right);
        assert_eq!(right.line.figures().unreadable, 0);
    }
}

/// Nowhere in particular: encrypted packets are followed to where they come from.
fn right_address(_: &Call) -> std::net::SocketAddr {
    std::net::SocketAddr::new(HERE, 9)
}

#[test]
fn the_wrong_key_is_not_heard() {
    let (one, other) = (engine((31_040, 31_048)), engine((31_050, 31_058)));
    let (ours, _) = keys(Suite::AesCm128HmacSha1_80);
    let (_, theirs) = keys(Suite::AesCm128HmacSha1_80);
    let (left, right) = pair(&one, &other, |agreed, is_left| {
        agreed.srtp = Some(if is_left { ours.clone() } else { theirs.clone() });
    });
    left.line.play(&sound(400, 1));
    until("packets came", || right.line.figures().unreadable > 10);
    assert!(right.notes.read(|notes| notes.heard.is_empty()));
}

#[test]
fn keys_arrive_once_both_ways() {
    let (one, other) = (engine((31_060, 31_068)), engine((31_070, 31_078)));
    let (left, right) = pair(&one, &other, |agreed, _| agreed.telephone_event = Some(96));
    assert!(left.line.send_digits("0123456789*#"));
    assert!(right.line.send_digits("ABCD11"));
    until("keys", || {
        right.notes.read(|notes| notes.digits == "0123456789*#")
            && left.notes.read(|notes| notes.digits == "ABCD11")
    });
    // Speech goes on afterwards.
    talk("after keys", Codec::Pcmu, &left, &right);
    assert!(right.notes.read(|notes| notes.digits == "0123456789*#"));
}

#[test]
fn keys_arrive_once_although_ticks_are_given_up() {
    /// An ear that blocks its thread for longer than the engine catches up.
    struct Slow(u32);
    impl telephony::media::Ear for Slow {
        fn tick(&mut self, tick: telephony::media::Tick<'_>) {
            // Ticks that were given up are reported late.
            self.0 += u32::from(tick.late_ms < 100);
            if tick.late_ms < 100 && self.0.is_multiple_of(4) {
                std::thread::sleep(std::time::Duration::from_millis(130));
            }
        }
        fn digit(&mut self, _: char) {}
        fn starved(&mut self, _: u32) {}
    }
    let (one, other) = (engine((31_192, 31_194)), engine((31_196, 31_198)));
    let (left, right) = (one.open(HERE).expect("a port"), other.open(HERE).expect("a port"));
    let (at_left, at_right) = (agreed(right.address()), agreed(left.address()));
    let notes = Notebook::default();
    let _right = other.connect(right, at_right, Sources::default(), notes.ear());
    let left = one.connect(left, at_left, Sources::default(), Box::new(Slow(0)));
    assert!(left.send_digits("1234#"));
    until("the last key", || notes.read(|notes| notes.digits.ends_with('#')));
    assert!(one.figures().skipped_ticks > 0);
    let ticks = left.figures().ticks;
    until("its packets", || left.figures().ticks > ticks + 10);
    assert_eq!(notes.read(|notes| notes.digits.clone()), "1234#");
}

#[test]
fn keys_become_tones_where_events_are_not_taken() {
    let (one, other) = (engine((31_080, 31_088)), engine((31_090, 31_098)));
    let (left, right) = pair(&one, &other, |agreed, _| agreed.telephone_event = None);
    let expected = telephony::tones::dtmf('2', 100);
    let mut ticks = 0;
    until("the tone of 2", || {
        let now = left.line.figures().ticks;
        if ticks == 0 || now > ticks + 100 {
            ticks = now.max(1);
            assert!(left.line.send_digits("42"));
        }
        let heard = right.notes.read(|notes| notes.heard.clone());
        share(Codec::Pcmu, &expected[..640], &heard) > 0.7
    });
    assert!(right.notes.read(|notes| notes.digits.is_empty()));
}

#[test]
fn what_was_said_is_known_and_can_be_taken_back() {
    let (one, other) = (engine((31_100, 31_108)), engine((31_110, 31_118)));
    let (left, right) = pair(&one, &other, |_, _| {});
    let speech = sound(3000, 3);
    assert_eq!(left.line.play(&speech), speech.len());
    assert!(left.line.queued_ms() > 2500);
    until("a while said", || left.line.played_ms() >= 400);
    let dropped = left.line.clear();
    let played = left.line.played_ms();
    assert_eq!(left.line.queued_ms(), 0);
    assert_eq!(played as usize * 8 + dropped, speech.len());
    // Nothing of the rest is said; what was said is what the ear of our own side noted.
    left.line.play(&sound(60, 9));
    until("the next words", || left.line.played_ms() == played + 60);
    until("noted", || left.notes.read(|notes| notes.said.len()) >= played as usize * 8 + 480);
    assert!(left.notes.read(|notes| notes.said[..played as usize * 8] == speech[..played as usize * 8]));
    until("heard", || {
        let heard = right.notes.read(|notes| notes.heard.clone());
        // A machine without time may lose most of it.
        share(Codec::Pcmu, &speech[..3200], &heard) > 0.2
    });
    let heard = right.notes.read(|notes| notes.heard.clone());
    assert_eq!(share(Codec::Pcmu, &speech[22_000..24_000], &heard), 0.0);
}

/// Waits until the line has sent nothing for five ticks.
fn until_quiet(line: &Line) {
    let mut last = line.figures();
    until("nothing is sent", || {
        let now = line.figures();
        if now.packets_out != last.packets_out {
            last = now;
        }
        now.ticks >= last.ticks + 5
    });
}

#[test]
fn hold_stops_both_ways_and_speech_waits() {
    let (one, other) = (engine((31_120, 31_128)), engine((31_130, 31_138)));
    let (left, right) = pair(&one, &other, |_, _| {});
    talk("before", Codec::Pcmu, &left, &right);
    left.line.hold(true);
    let sent = || left.line.figures().packets_out;
    until_quiet(&left.line);
    left.line.play(&sound(200, 4));
    let (ticks, packets) = (left.line.figures().ticks, sent());
    until("ticks pass", || left.line.figures().ticks > ticks + 20);
    assert_eq!(sent(), packets);
    assert_eq!(left.line.queued_ms(), 200);
    left.notes.read(|notes| notes.heard.clear());
    right.line.play(&sound(200, 5));
    until("spoken into the hold", || right.line.queued_ms() == 0);
    assert!(left.notes.read(|notes| notes.heard.is_empty()));
    left.line.hold(false);
    until("said after the hold", || left.line.queued_ms() == 0);
    talk("after", Codec::Pcmu, &left, &right);
}

#[test]
fn the_other_sides_hold_is_kept_and_ended() {
    let mut peer = Peer::new();
    let engine = engine((31_140, 31_148));
    let socket = engine.open(HERE).expect("a port");
    let ours = socket.address();
    let notes = Notebook::default();
    // A hold by address names nobody: music is taken from the trunk's networks then.
    let trunk = Sources(vec![HERE.into()]);
    let line = engine.connect(socket, agreed(peer.address()), trunk, notes.ear());
    peer.receive();
    let mut held = agreed(([0, 0, 0, 0], 4000).into());
    held.direction = Direction::RecvOnly;
    line.update(held);
    until_quiet(&line);
    // Music on hold is heard.
    for _ in 0..20 {
        peer.send(ours, &[0x12; 160]);
    }
    until("music", || notes.read(|notes| !notes.heard.is_empty()));
    // What comes after the next update would be followed again.
    until("all of it came", || line.figures().packets_in + line.figures().foreign == 20);
    // Elsewhere after the hold.
    let elsewhere = Peer::new();
    line.update(agreed(elsewhere.address()));
    line.play(&[1000; 160]);
    assert_eq!(elsewhere.receive().payload.len(), 160);
}

#[test]
fn an_ear_that_panics_closes_its_line_only() {
    struct Bad(Notebook);
    impl telephony::media::Ear for Bad {
        fn tick(&mut self, _: telephony::media::Tick<'_>) {
            panic!("an ear that fails on purpose");
        }
        fn digit(&mut self, _: char) {}
        fn starved(&mut self, _: u32) {}
        fn closed(&mut self) {
            self.0.read(|notes| notes.closed += 1);
        }
    }
    let (one, other) = (engine((31_150, 31_158)), engine((31_160, 31_168)));
    let (left, right) = pair(&one, &other, |_, _| {});
    let notes = Notebook::default();
    let socket = one.open(HERE).expect("a port");
    let bad = one.connect(
        socket,
        agreed(([127, 0, 0, 1], 9).into()),
        Sources::default(),
        Box::new(Bad(notes.clone())),
    );
    until("closed", || bad.is_closed());
    until("told", || notes.read(|notes| notes.closed) == 1);
    assert_eq!(one.figures().failed_ears, 1);
    talk("beside it", Codec::Pcmu, &left, &right);
    assert_eq!(one.figures().lines, 1);
}

/// Lines that are over take no time from those that go on, least of all when there is none: their ears are
/// not asked again, and their ports are free.
#[test]
fn a_thread_that_never_catches_up_still_closes_lines() {
    struct Slow(std::sync::mpsc::SyncSender<()>);
    impl telephony::media::Ear for Slow {
        fn tick(&mut self, _: telephony::media::Tick<'_>) {
            let _ = self.0.try_send(());
            // Longer than a tick: eight of these lines are twelve times what a thread can do.
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        fn digit(&mut self, _: char) {}
        fn starved(&mut self, _: u32) {}
    }
    let engine = engine((31_170, 31_190));
    let (begun, began) = std::sync::mpsc::sync_channel(1);
    let lines: Vec<_> = (0..8)
        .map(|_| {
            let socket = engine.open(HERE).expect("a port");
            engine.connect(
                socket,
                agreed(([127, 0, 0, 1], 9).into()),
                Sources::default(),
                Box::new(Slow(begun.clone())),
            )
        })
        .collect();
    began.recv().expect("a tick");
    drop(lines);
    until("the lines are closed", || engine.figures().lines == 0 && engine.figures().ports_in_use == 0);
}

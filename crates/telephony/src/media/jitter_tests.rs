//! The jitter buffer on simulated networks (loss, jitter, reordering, clock drift).

use proptest::prelude::*;

use super::{Counts, Jitter};
use domain::ports::{FRAME, Frame};

/// A repeatable generator.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        if below == 0 { 0 } else { (self.0 >> 11) as u32 % below }
    }
}

/// Sound without repetition: a tone that never stops gliding.
fn sample(index: u64) -> i16 {
    let at = index as f64 / 8000.0;
    let phase = 300.0 * at + 40.0 * (at * 1.7).sin() + 90.0 * (at * 0.31).cos();
    ((std::f64::consts::TAU * phase).sin() * 9000.0) as i16
}

#[derive(Clone, Copy)]
struct Network {
    ptime_ms: u64,
    /// Most extra time on the way.
    jitter_ms: u32,
    /// Lost of a thousand.
    loss: u32,
    /// Sent twice of a thousand.
    twice: u32,
    /// Micro-seconds the sender's 20 ms are longer.
    drift_us: i64,
    start: (u16, u32),
}

const CLEAN: Network = Network { ptime_ms: 20, jitter_ms: 0, loss: 0, twice: 0, drift_us: 0, start: (1, 0) };

struct Outcome {
    heard: Vec<Option<Frame>>,
    counts: Counts,
    most_delay: u32,
    last_delay: u32,
}

fn run(network: Network, seconds: u64, seed: u64) -> Outcome {
    let mut random = Random(seed | 1);
    // (arrival in µs, sequence, first sample)
    let mut packets = Vec::new();
    let length = network.ptime_ms * 8;
    for number in 0..seconds * 1000 / network.ptime_ms {
        let sent = number as i64
            * (network.ptime_ms as i64 * 1000 + network.drift_us * network.ptime_ms as i64 / 20);
        let copies = 1 + u64::from(random.next(1000) < network.twice);
        for _ in 0..copies {
            let way = 3000 + i64::from(random.next(network.jitter_ms * 1000 + 1));
            if random.next(1000) >= network.loss {
                packets.push((sent + way, number, number * length));
            }
        }
    }
    packets.sort();
    let mut jitter = Jitter::new();
    let (mut heard, mut most_delay, mut next) = (Vec::new(), 0, 0);
    for tick in 0..seconds * 50 {
        let now = tick as i64 * 20_000;
        while let Some((_, number, first)) = packets.get(next).filter(|(arrives, ..)| *arrives <= now) {
            next += 1;
            let sound: Vec<i16> = (0..length).map(|index| sample(first + index)).collect();
            if jitter.count(9, network.start.0.wrapping_add(*number as u16)) {
                jitter.push(network.start.1.wrapping_add(*first as u32), &sound);
            }
        }
        let mut frame = [0; FRAME];
        heard.push(jitter.take(&mut frame).then_some(frame));
        if tick > 10 {
            most_delay = most_delay.max(jitter.delay_ms());
        }
    }
    // What is still on the way is not lost.
    for (_, number, _) in &packets[next..] {
        jitter.count(9, network.start.0.wrapping_add(*number as u16));
    }
    Outcome { heard, counts: jitter.counts(), most_delay, last_delay: jitter.delay_ms() }
}

/// The ticks that are exactly something that was said within half a second: the delay of each in samples.
fn intact(outcome: &Outcome) -> Vec<i64> {
    let mut last = 0;
    let mut found = Vec::new();
    for (tick, frame) in outcome.heard.iter().enumerate() {
        let Some(frame) = frame else { continue };
        let now = tick as i64 * FRAME as i64;
        let fits = |behind: &i64| {
            u64::try_from(now - behind).is_ok_and(|first| {
                (0..FRAME as u64).all(|index| sample(first + index) == frame[index as usize])
            })
        };
        // A faster sender is ahead of our time.
        let behind = Some(last).filter(fits).or_else(|| (-1500..4000).find(fits));
        last = behind.unwrap_or(last);
        found.extend(behind);
    }
    found
}

#[test]
fn a_clean_network_is_heard_whole_and_with_little_delay() {
    for ptime_ms in [10, 20, 30, 40, 60] {
        // The sequence number and the timestamp wrap around on the way.
        let network = Network { ptime_ms, start: (65_500, u32::MAX - 20_000), ..CLEAN };
        let outcome = run(network, 8, 1);
        let intact = intact(&outcome);
        assert!(intact.len() >= 390, "{ptime_ms} ms: {}", intact.len());
        // A packet's own length, two ticks, and one more for the packets that are longer than a tick.
        let most = (ptime_ms as i64 + 60) * 8;
        assert!(intact.iter().all(|delay| *delay <= most), "{ptime_ms} ms");
        let expected = Counts { concealed: outcome.counts.concealed, ..Counts::default() };
        assert_eq!(outcome.counts, expected);
        assert!(outcome.counts.concealed <= 2);
    }
}

#[test]
fn jitter_is_taken_up_by_delay_and_given_back() {
    for (jitter_ms, seed) in [(15, 1), (30, 2), (50, 3), (80, 4)] {
        let outcome = run(Network { jitter_ms, ..CLEAN }, 30, seed);
        let share = intact(&outcome).len() as f64 / outcome.heard.len() as f64;
        assert!(share > 0.85, "{jitter_ms} ms of jitter: {share}");
        assert!(outcome.most_delay <= 140, "{}", outcome.most_delay);
        assert_eq!(outcome.counts.lost, 0);
    }
}

#[test]
fn a_loss_is_concealed_and_costs_nothing_else() {
    let network = Network { loss: 50, ..CLEAN };
    let outcome = run(network, 20, 5);
    let lost = outcome.counts.lost;
    assert!((20..90).contains(&lost), "{lost} of 1000");
    assert!(outcome.heard.iter().skip(3).all(Option::is_some));
    assert!(intact(&outcome).len() as u64 >= 1000 - lost - 30);
    assert!(outcome.last_delay <= 60, "{}", outcome.last_delay);
}

#[test]
fn everything_at_once_keeps_the_sound() {
    for seed in 10..20 {
        let network = Network { jitter_ms: 40, loss: 20, twice: 30, ..CLEAN };
        let outcome = run(network, 20, seed);
        let share = intact(&outcome).len() as f64 / outcome.heard.len() as f64;
        assert!(share > 0.8, "seed {seed}: {share}");
        assert!(outcome.counts.duplicate > 0 && outcome.counts.reordered > 0);
        assert!(outcome.most_delay <= 140);
    }
}

#[test]
fn a_clock_that_runs_faster_or_slower_does_not_add_up() {
    // 1000 millionths: ten times what telephones do.
    for drift_us in [-20, 20] {
        let network = Network { drift_us, ..CLEAN };
        let outcome = run(network, 120, 6);
        assert!(outcome.most_delay <= 80, "{drift_us}: {}", outcome.most_delay);
        // The faster one is done 120 ms before the end.
        let silent = outcome.heard[3..5990].iter().filter(|heard| heard.is_none());
        assert_eq!(silent.count(), 0, "{drift_us}");
        let share = intact(&outcome).len() as f64 / outcome.heard.len() as f64;
        assert!(share > 0.97, "{drift_us}: {share}");
    }
}

#[test]
fn a_stall_is_caught_up_with() {
    let mut jitter = Jitter::new();
    let mut frame = [0; FRAME];
    let mut tick = |jitter: &mut Jitter, numbers: std::ops::Range<u16>| {
        for number in numbers {
            if jitter.count(9, number) {
                let first = u64::from(number) * 160;
                let sound: Vec<i16> = (0..160).map(|index| sample(first + index)).collect();
                jitter.push(first as u32, &sound);
            }
        }
        jitter.take(&mut frame)
    };
    for number in 0..100 {
        tick(&mut jitter, number..number + 1);
    }
    // 400 ms without a packet: two made-up ticks, then silence.
    let heard: Vec<bool> = (0..20).map(|_| tick(&mut jitter, 0..0)).collect();
    assert_eq!(heard.iter().filter(|heard| **heard).count(), 3);
    // All at once: at most 120 ms are kept.
    assert!(tick(&mut jitter, 100..121));
    assert!(jitter.delay_ms() <= 140);
    let mut delays = Vec::new();
    for number in 121..900 {
        assert!(tick(&mut jitter, number..number + 1));
        delays.push(jitter.delay_ms());
    }
    assert!(delays[0] <= 140, "{}", delays[0]);
    assert!(delays[700] <= 60, "given back: {}", delays[700]);
    assert_eq!(jitter.counts().lost, 0);
}

#[test]
fn another_sender_and_another_time_line_are_followed() {
    let mut jitter = Jitter::new();
    let mut frame = [0; FRAME];
    let mut heard = 0;
    for (number, ssrc, jump) in (0..50)
        .map(|number| (number, 1, 0))
        .chain((50..100).map(|number| (number, 1, 1_000_000)))
        .chain((100..150).map(|number| (number, 2, 77)))
    {
        assert!(jitter.count(ssrc, number));
        jitter.push(u32::from(number) * 160 + jump, &[1000; 160]);
        heard += usize::from(jitter.take(&mut frame));
    }
    assert!(heard >= 146, "{heard}");
    assert_eq!(jitter.counts().lost, 0);
}

#[test]
fn silence_suppression_starts_anew_without_delay() {
    let mut jitter = Jitter::new();
    let mut frame = [0; FRAME];
    let mut sequence = 0;
    for spurt in 0..10u32 {
        for number in 0..50 {
            jitter.count(1, sequence);
            sequence += 1;
            jitter.push(spurt * 32_000 + number * 160, &[1000; 160]);
            jitter.take(&mut frame);
        }
        assert!(jitter.delay_ms() <= 60, "{}", jitter.delay_ms());
        for _ in 0..150 {
            jitter.take(&mut frame);
        }
    }
    assert_eq!(jitter.counts().lost, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_packets_make_it_panic_or_grow(packets in prop::collection::vec((0u32..3, any::<u16>(), any::<u32>(), 0usize..3000, 0u32..4), 0..400), near: bool) {
        let mut jitter = Jitter::new();
        let mut frame = [0; FRAME];
        let mut expected = 0u64;
        for (ssrc, sequence, timestamp, length, takes) in packets {
            let (sequence, timestamp) = if near {
                (sequence % 200, timestamp % 20_000)
            } else {
                (sequence, timestamp)
            };
            expected += 1;
            if jitter.count(ssrc, sequence) {
                jitter.push(timestamp, &vec![1; length]);
            }
            for _ in 0..takes {
                jitter.take(&mut frame);
            }
            prop_assert!(jitter.delay_ms() <= 520);
        }
        prop_assert!(jitter.counts().duplicate + jitter.counts().reordered <= expected);
    }
}

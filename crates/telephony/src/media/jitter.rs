//! Adaptive jitter buffer: packets arrive with jitter, playout takes 20 ms each tick.
//!
//! Samples lie in a ring at their timestamps, so the length of packets does not matter. The delay is the sound
//! that is ready ahead of the reader. It is not computed from arrival times but adapts: a tick that finds
//! nothing makes up sound and does not move the reader, which adds 20 ms of delay. When more was ready than
//! needed for some seconds, 10 ms are cut out and the ends are joined inaudibly. The same two moves keep pace
//! with a peer whose clock is faster or slower.

use domain::ports::{FRAME, Frame};

/// Samples that fit: 512 ms.
const RING: usize = 4096;
/// Most samples that may wait beyond the tick that is taken: 120 ms.
const MOST: i32 = 960;
/// What is kept ready beyond the tick when nothing jitters: 20 ms.
const TARGET: i32 = FRAME as i32;
/// What is cut out at once, 10 ms, and how many ticks lie between two cuts.
const CUT: usize = 80;
const BETWEEN_CUTS: u32 = 25;
/// Ticks of a window in which the least readiness is looked for; two are kept.
const WINDOW: u32 = 125;
/// Ticks without sound after which the stream counts as interrupted.
const DRY: u32 = 6;
/// A timestamp this far behind is another time line, 1 s.
const BEHIND: i32 = -8000;
/// A sequence number this far ahead or behind starts a new count (RFC 3550 appendix A.1).
const DROPOUT: u16 = 3000;
const MISORDER: u16 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is known of the time line.
    Empty,
    /// The first packet is there; ticks waited since.
    Waiting(u32),
    Playing,
}

/// Counts of a line's received packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) lost: u64,
    pub(super) duplicate: u64,
    pub(super) reordered: u64,
    pub(super) late: u64,
    pub(super) concealed: u64,
}

/// Sequence numbers of one sender.
#[derive(Debug, Clone, Copy)]
struct Sequence {
    ssrc: u32,
    newest: u16,
    /// Bit n: `newest - n` was received.
    seen: u64,
    expected: u64,
    received: u64,
}

/// One line's buffer.
pub(super) struct Jitter {
    samples: Box<[i16; RING]>,
    have: Box<[bool; RING]>,
    state: State,
    /// Timestamp of the sample that is taken next.
    play: u32,
    /// Timestamp after the newest sample.
    end: u32,
    /// Samples made up while nothing was there, without moving the reader.
    owed: usize,
    dry: u32,
    /// The least that was ready beyond a tick, in this window and the one before.
    low: (i32, i32),
    window: u32,
    since_cut: u32,
    last: Frame,
    faded: u32,
    depth: i32,
    sequence: Option<Sequence>,
    lost_before: u64,
    counts: Counts,
}

impl Jitter {
    pub(super) fn new() -> Jitter {
        Jitter {
            samples: Box::new([0; RING]),
            have: Box::new([false; RING]),
            state: State::Empty,
            play: 0,
            end: 0,
            owed: 0,
            dry: 0,
            low: (i32::MAX, 0),
            window: 0,
            since_cut: 0,
            last: [0; FRAME],
            faded: u32::MAX,
            depth: 0,
            sequence: None,
            lost_before: 0,
            counts: Counts::default(),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let lost = self.sequence.map_or(0, |sequence| sequence.expected.saturating_sub(sequence.received));
        Counts { lost: self.lost_before + lost, ..self.counts }
    }

    /// Milliseconds that sound waited at the last tick.
    pub(super) fn delay_ms(&self) -> u32 {
        u32::try_from(self.depth / 8).unwrap_or(0)
    }

    /// Forgets the time line: on hold, after a jump, with another sender.
    pub(super) fn restart(&mut self) {
        if self.state == State::Empty {
            return;
        }
        self.have.fill(false);
        self.state = State::Empty;
        self.owed = 0;
        self.dry = 0;
        self.depth = 0;
        self.low = (i32::MAX, 0);
        self.window = 0;
    }

    /// Counts a packet. False when it was here before.
    pub(super) fn count(&mut self, ssrc: u32, number: u16) -> bool {
        let fresh = Sequence { ssrc, newest: number, seen: 1, expected: 1, received: 1 };
        let Some(sequence) = self.sequence.as_mut().filter(|known| known.ssrc == ssrc) else {
            self.lost_before = self.counts().lost;
            if self.sequence.is_some() {
                self.restart();
            }
            self.sequence = Some(fresh);
            return true;
        };
        let ahead = number.wrapping_sub(sequence.newest);
        let behind = sequence.newest.wrapping_sub(number);
        if ahead != 0 && ahead < DROPOUT {
            sequence.seen = sequence.seen.checked_shl(u32::from(ahead)).unwrap_or(0) | 1;
            sequence.newest = number;
            sequence.expected += u64::from(ahead);
            sequence.received += 1;
            return true;
        }
        if behind >= MISORDER {
            self.lost_before = self.counts().lost;
            self.sequence = Some(fresh);
            return true;
        }
        let bit = 1u64.checked_shl(u32::from(behind)).unwrap_or(0);
        // Beyond the 64 that are remembered it is too late for its sound anyway.
        if bit == 0 || sequence.seen & bit != 0 {
            self.counts.duplicate += 1;
            return false;
        }
        sequence.seen |= bit;
        sequence.received += 1;
        self.counts.reordered += 1;
        true
    }

    /// Puts the sound of a packet to its place.
    pub(super) fn push(&mut self, timestamp: u32, sound: &[i16]) {
        let sound = &sound[..sound.len().min(RING / 2)];
        if sound.is_empty() {
            return;
        }
        let length = sound.len() as i32;
        let mut offset = timestamp.wrapping_sub(self.play) as i32;
        match self.state {
            State::Empty => {}
            State::Waiting(_) if (-MOST..0).contains(&offset) => {
                self.play = timestamp;
                offset = 0;
            }
            _ if offset < BEHIND || offset > RING as i32 - length => self.restart(),
            _ => {}
        }
        if self.state == State::Empty {
            self.state = State::Waiting(0);
            self.play = timestamp;
            self.end = timestamp;
            offset = 0;
        }
        if offset + length <= 0 {
            self.counts.late += 1;
            return;
        }
        for (index, sample) in sound.iter().enumerate() {
            if offset + index as i32 >= 0 {
                let at = timestamp.wrapping_add(index as u32) as usize % RING;
                self.samples[at] = *sample;
                self.have[at] = true;
            }
        }
        let end = timestamp.wrapping_add(sound.len() as u32);
        if end.wrapping_sub(self.end) as i32 > 0 {
            self.end = end;
        }
    }

    fn ready(&self) -> i32 {
        self.end.wrapping_sub(self.play) as i32
    }

    /// Takes the sound of a tick. False: there is none.
    pub(super) fn take(&mut self, out: &mut Frame) -> bool {
        self.depth = match self.state {
            State::Empty => 0,
            _ => self.ready(),
        };
        match self.state {
            State::Empty => self.conceal(out),
            State::Waiting(ticks) => {
                if ticks == 0 && self.depth < 2 * TARGET {
                    self.state = State::Waiting(1);
                    return self.conceal(out);
                }
                self.state = State::Playing;
                self.low = (i32::MAX, 0);
                self.play_tick(out)
            }
            State::Playing if self.depth <= 0 => {
                self.low.0 = self.low.0.min(0);
                self.dry += 1;
                self.owed += FRAME;
                if self.dry > DRY {
                    self.restart();
                }
                self.conceal(out)
            }
            State::Playing => self.play_tick(out),
        }
    }

    fn play_tick(&mut self, out: &mut Frame) -> bool {
        self.dry = 0;
        let excess = self.ready() - TARGET - MOST;
        if excess > 0 {
            self.skip(excess as usize);
            self.depth -= excess;
        }
        self.low.0 = self.low.0.min(self.ready() - TARGET);
        self.window += 1;
        if self.window == WINDOW {
            self.window = 0;
            self.low = (i32::MAX, self.low.0);
        }
        self.since_cut += 1;
        self.close_hole();
        if (0..FRAME.min(self.ready().max(0) as usize)).all(|index| !self.has(index)) {
            self.skip(FRAME.min(self.ready().max(0) as usize));
            return self.conceal(out);
        }
        if self.surplus() >= CUT && self.since_cut >= BETWEEN_CUTS {
            self.cut(out);
        } else {
            self.copy(out);
        }
        self.owed = 0;
        self.last = *out;
        self.faded = 0;
        true
    }

    fn at(&self, index: usize) -> usize {
        self.play.wrapping_add(index as u32) as usize % RING
    }

    fn has(&self, index: usize) -> bool {
        self.have[self.at(index)]
    }

    /// Moves the reader over `samples`.
    fn skip(&mut self, samples: usize) {
        for index in 0..samples.min(RING) {
            let at = self.at(index);
            self.have[at] = false;
        }
        self.play = self.play.wrapping_add(samples as u32);
    }

    /// Samples that were always ready beyond what is needed, in the last two windows.
    fn surplus(&self) -> usize {
        let low = self.low.0.min(self.low.1);
        usize::try_from(low - TARGET).unwrap_or(0)
    }

    fn used(&mut self, samples: usize) {
        let samples = samples as i32;
        self.low = (self.low.0.saturating_sub(samples), self.low.1.saturating_sub(samples));
    }

    /// Sound that is missing although later sound is there: passed over as far as its time was made up for
    /// already, or there is too much delay.
    fn close_hole(&mut self) {
        let ready = self.ready().max(0) as usize;
        let hole = (0..ready.min(RING)).take_while(|index| !self.has(*index)).count();
        if hole == 0 || hole == ready {
            return;
        }
        let owed = hole.min(self.owed);
        let rest = (hole - owed).min(self.surplus());
        self.skip(owed + rest);
        self.owed -= owed;
        self.used(rest);
    }

    fn copy(&mut self, out: &mut Frame) {
        let ready = FRAME.min(self.ready().max(0) as usize);
        for (index, sample) in out.iter_mut().enumerate() {
            let at = self.at(index);
            *sample = if index < ready && self.have[at] { self.samples[at] } else { 0 };
        }
        self.skip(ready);
    }

    /// A tick out of 30 ms of sound: the 10 ms in the middle pass into the 10 ms that follow them.
    fn cut(&mut self, out: &mut Frame) {
        if self.ready() < (FRAME + CUT) as i32 {
            return self.copy(out);
        }
        let read = |index: usize| {
            let at = self.at(index);
            if self.have[at] { i32::from(self.samples[at]) } else { 0 }
        };
        for (index, sample) in out.iter_mut().enumerate() {
            let mixed = match index.checked_sub(FRAME - CUT) {
                None => read(index),
                Some(into) => {
                    let (into, of) = (into as i32, CUT as i32);
                    (read(index) * (of - into) + read(index + CUT) * into) / of
                }
            };
            *sample = mixed.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        }
        self.skip(FRAME + CUT);
        self.used(CUT);
        self.since_cut = 0;
    }

    /// Makes up a tick: the last one again, fading within 40 ms; then nothing.
    fn conceal(&mut self, out: &mut Frame) -> bool {
        if self.faded > 1 {
            return false;
        }
        let start = (2 - self.faded as i32) * FRAME as i32;
        for (index, sample) in out.iter_mut().enumerate() {
            let level = start - index as i32;
            *sample = (i32::from(self.last[index]) * level / (2 * FRAME as i32)) as i16;
        }
        self.faded += 1;
        self.counts.concealed += 1;
        true
    }
}

#[cfg(test)]
#[path = "jitter_tests.rs"]
mod tests;

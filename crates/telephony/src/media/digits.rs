//! DTMF: telephone-event packets (RFC 4733), or in-band tones for peers without telephone-event.

use std::collections::VecDeque;

use crate::tones;
use domain::ports::{FRAME, Frame, KEY_PAUSE_MS};

/// Order of the event codes.
const KEYS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '#', 'A', 'B', 'C', 'D'];
/// Ticks that a key is pressed, 100 ms; ticks in which its end is said again; ticks until the next key.
const PRESSED: u32 = 5;
const AGAIN: u32 = 2;
const PAUSE: u32 = 5;
/// Ticks of a pause that was asked for.
const LONG_PAUSE: u32 = (KEY_PAUSE_MS / 20) as u32;
/// Keys that may wait.
const MOST: usize = 256;
/// A longer event goes on under a later timestamp (RFC 4733 section 2.5.1.3).
const SEGMENT: u32 = 0xffff;
/// −10 dBm0, as telephones press.
const VOLUME: u8 = 10;

/// Whether it asks for a pause between keys.
pub(super) fn is_pause(key: char) -> bool {
    matches!(key.to_ascii_lowercase(), 'w' | ',')
}

fn code(key: char) -> Option<u8> {
    let key = key.to_ascii_uppercase();
    let position = KEYS.iter().position(|known| *known == key)?;
    u8::try_from(position).ok()
}

/// Tells key presses apart although each comes in a dozen packets, of which any may be missing.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// Timestamps of the events last seen: a press has one timestamp, whatever its packets.
    seen: VecDeque<(u32, u8)>,
}

impl Receiver {
    /// The key of a packet, if it is the first of its press.
    pub(super) fn packet(&mut self, timestamp: u32, payload: &[u8]) -> Option<char> {
        let [event, _, _, _, ..] = payload else {
            return None;
        };
        let key = *KEYS.get(usize::from(*event))?;
        let known = self
            .seen
            .iter()
            .any(|(at, code)| code == event && (*at == timestamp || at.wrapping_add(SEGMENT) == timestamp));
        if self.seen.iter().all(|(at, _)| *at != timestamp) {
            if self.seen.len() == 8 {
                self.seen.pop_front();
            }
            self.seen.push_back((timestamp, *event));
        } else if !known {
            // Another key at the same time is a broken packet.
            return None;
        }
        (!known).then_some(key)
    }
}

/// What a tick sends for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Press {
    /// A telephone event; the marker is on the first of a press, whose timestamp all of them have.
    Event {
        marker: bool,
        payload: [u8; 4],
    },
    Tone(Box<Frame>),
    /// Nothing but the pause between two keys.
    Pause,
}

/// Presses keys, one after the other.
#[derive(Debug, Default)]
pub(super) struct Sender {
    /// Events; `None` is a pause.
    waiting: VecDeque<Option<u8>>,
    /// The key that is being pressed, or the pause, and ticks since.
    pressed: Option<(Option<u8>, u32)>,
}

impl Sender {
    /// Adds keys and pauses; anything else is left out.
    pub(super) fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            let event = code(key);
            if (event.is_some() || is_pause(key)) && self.waiting.len() < MOST {
                self.waiting.push_back(event);
            }
        }
    }

    /// What this tick sends instead of speech; none when no key is pressed. `events`: whether the other side
    /// takes telephone events.
    pub(super) fn tick(&mut self, events: bool) -> Option<Press> {
        let (event, tick) = match self.pressed {
            Some(pressed) => pressed,
            None => (self.waiting.pop_front()?, 0),
        };
        let ticks = if event.is_some() { PRESSED + PAUSE } else { LONG_PAUSE };
        self.pressed = (tick + 1 < ticks).then_some((event, tick + 1));
        let Some(event) = event else { return Some(Press::Pause) };
        if !events {
            return Some(if tick < PRESSED { Press::Tone(tone(event, tick)) } else { Press::Pause });
        }
        if tick >= PRESSED + AGAIN {
            return Some(Press::Pause);
        }
        let duration = ((tick + 1).min(PRESSED) * FRAME as u32) as u16;
        let [high, low] = duration.to_be_bytes();
        let end = if tick + 1 >= PRESSED { 0x80 } else { 0 };
        Some(Press::Event { marker: tick == 0, payload: [event, end | VOLUME, high, low] })
    }
}

fn tone(event: u8, tick: u32) -> Box<Frame> {
    let key = KEYS.get(usize::from(event)).copied().unwrap_or('0');
    let sound = tones::dtmf(key, PRESSED * 20);
    let mut frame = Box::new([0; FRAME]);
    let from = sound.get(tick as usize * FRAME..).unwrap_or_default();
    for (sample, tone) in frame.iter_mut().zip(from) {
        *sample = *tone;
    }
    frame
}

#[cfg(test)]
#[path = "digits_tests.rs"]
mod tests;

//! The handle of a media stream: playout queue, DTMF, hold, close.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::figures::LineFigures;
use super::sdp::Agreed;
use domain::ports::{FRAME, Frame};

/// Samples that may wait to be said: five minutes.
const MOST: usize = 5 * 60 * 8000;

/// What the handle and the sound thread share.
#[derive(Default)]
pub(super) struct Wishes {
    queue: VecDeque<i16>,
    played: u64,
    pub(super) digits: String,
    pub(super) agreed: Option<Agreed>,
    pub(super) hold: bool,
    pub(super) close: bool,
    pub(super) closed: bool,
    pub(super) figures: LineFigures,
}

impl Wishes {
    /// The next tick of what is to be said.
    pub(super) fn take(&mut self, frame: &mut Frame) -> bool {
        let samples = self.queue.len().min(FRAME);
        if samples == 0 {
            return false;
        }
        for (place, sample) in frame.iter_mut().zip(self.queue.drain(..samples)) {
            *place = sample;
        }
        frame[samples..].fill(0);
        self.played += samples as u64;
        true
    }
}

#[derive(Default)]
pub(super) struct Shared(Mutex<Wishes>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Handle {
    shared: Arc<Shared>,
    // The threads live as long as a line does.
    _threads: Arc<dyn Send + Sync>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.lock().close = true;
    }
}

/// Speaks into a call. Cheap to clone; the call's sound ends with [`Line::close`] or when the last clone is
/// dropped. An ear that holds a clone of its own line keeps it open.
#[derive(Clone)]
pub struct Line(Arc<Handle>);

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl Line {
    pub(super) fn new(shared: Arc<Shared>, threads: Arc<dyn Send + Sync>) -> Line {
        Line(Arc::new(Handle { shared, _threads: threads }))
    }

    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.0.shared.lock()
    }

    /// Adds 16-bit mono samples, 8000 a second, to what is to be said. Returns how many were taken: all,
    /// until five minutes of sound wait.
    pub fn play(&self, samples: &[i16]) -> usize {
        let mut wishes = self.lock();
        let taken = samples.len().min(MOST.saturating_sub(wishes.queue.len()));
        wishes.queue.extend(&samples[..taken]);
        taken
    }

    /// Drops what is still to be said and returns how many samples that were.
    pub fn clear(&self) -> usize {
        let mut wishes = self.lock();
        let dropped = wishes.queue.len();
        wishes.queue = VecDeque::new();
        dropped
    }

    /// Milliseconds of sound that are still to be said, rounded up.
    pub fn queued_ms(&self) -> u32 {
        u32::try_from(self.lock().queue.len().div_ceil(8)).unwrap_or(u32::MAX)
    }

    /// Milliseconds of what was given to [`Line::play`] that have been sent.
    pub fn played_ms(&self) -> u64 {
        self.lock().played / 8
    }

    /// Presses keys (`0`-`9`, `*`, `#`, `A`-`D`; `w` and `,` are half a second of pause; anything else is left out), 100 ms
    /// each with 100 ms between, as telephone events, or as tones when the other side takes none. Speech waits
    /// meanwhile. False when the sound has ended, or too many wait.
    pub fn send_digits(&self, keys: &str) -> bool {
        let mut wishes = self.lock();
        let taken = !wishes.closed && !wishes.close && wishes.digits.len() + keys.len() <= 1024;
        if taken {
            wishes.digits.push_str(keys);
        }
        taken
    }

    /// The other side has spoken again (re-INVITE): address, codec, direction or keys may be others.
    pub fn update(&self, agreed: Agreed) {
        self.lock().agreed = Some(agreed);
    }

    /// Puts the other side on hold, or ends that: nothing is sent or heard, what is to be said waits. The
    /// other side must be notified by a re-INVITE.
    pub fn hold(&self, hold: bool) {
        self.lock().hold = hold;
    }

    /// What the line did so far; one tick old.
    pub fn figures(&self) -> LineFigures {
        self.lock().figures
    }

    /// Ends the sound, with the next tick at the latest; what is still to be said is dropped.
    pub fn close(&self) {
        self.lock().close = true;
    }

    /// Whether the sound has ended: closed, or its ear has failed. The port is free again then.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }
}

//! Media between two parties of this process: 20 ms frames go from one playout queue to the other party's ear, without
//! codec, RTP or jitter buffer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::ports::{Ear, FRAME, Frame, KEY_MS, KEY_PAUSE_MS, Tick};
use tokio::time::{Instant, sleep_until};

use super::digits;
use super::line::{Line, Shared};

/// Length of a tick.
const TICK: Duration = Duration::from_millis(20);
/// Ticks from one key press to the next: 100 ms of tone, 100 ms of pause.
const PRESS: u32 = (KEY_MS / 20) as u32;
/// Ticks of a pause between keys.
const PAUSE: u32 = (KEY_PAUSE_MS / 20) as u32;
/// Ticks a second, and ticks without audio before the ear is notified.
const SECOND: u32 = 50;
const STARVED: u32 = 5 * SECOND;

/// The two parties of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Caller,
    Callee,
}

/// The media of one call.
#[derive(Default)]
pub(crate) struct Patch(Mutex<State>);

#[derive(Default)]
struct State {
    caller: Party,
    callee: Party,
    closed: bool,
}

/// One party. Without an ear it neither sends nor receives.
#[derive(Default)]
struct Party {
    shared: Arc<Shared>,
    line: Option<Line>,
    ear: Option<Box<dyn Ear>>,
    /// Ticks until the next key may be pressed.
    pressing: u32,
    /// Ticks without audio.
    silent: u32,
}

/// What a party sends in a tick.
struct Sent {
    frame: Frame,
    /// Whether the frame holds queued audio, rather than silence.
    speaks: bool,
    key: Option<char>,
}

impl Party {
    fn ends(&self) -> bool {
        self.ear.is_some() && self.shared.lock().close
    }

    fn send(&mut self) -> Option<Sent> {
        self.ear.as_ref()?;
        let mut sent = Sent { frame: [0; FRAME], speaks: false, key: None };
        let mut wishes = self.shared.lock();
        self.pressing = self.pressing.saturating_sub(1);
        if self.pressing == 0 && !wishes.digits.is_empty() {
            let key = wishes.digits.remove(0).to_ascii_uppercase();
            sent.key = Some(key).filter(|key| "0123456789*#ABCD".contains(*key));
            self.pressing = match sent.key {
                Some(_) => PRESS,
                None if digits::is_pause(key) => PAUSE,
                None => 0,
            };
        }
        // Speech waits while keys are pressed.
        sent.speaks = self.pressing == 0 && wishes.take(&mut sent.frame);
        Some(sent)
    }

    /// Passes a tick to the ear; `false` when the ear panicked.
    fn receive(&mut self, from_peer: Option<&Sent>, own: Option<&Sent>, late_ms: u32) -> bool {
        let Some(ear) = self.ear.as_deref_mut() else { return true };
        self.silent = if from_peer.is_some() { 0 } else { self.silent.saturating_add(1) };
        let starved = self.silent >= STARVED && self.silent.is_multiple_of(SECOND);
        let silent_ms = self.silent.saturating_mul(20);
        let tick = Tick {
            heard: from_peer.map(|sent| &sent.frame),
            said: own.filter(|sent| sent.speaks).map(|sent| &sent.frame),
            late_ms,
        };
        catch_unwind(AssertUnwindSafe(|| {
            if let Some(key) = from_peer.and_then(|sent| sent.key) {
                ear.digit(key);
            }
            if starved {
                ear.starved(silent_ms);
            }
            ear.tick(tick);
        }))
        .is_ok()
    }

    fn close(&mut self) {
        self.shared.lock().closed = true;
        self.line = None;
        if let Some(mut ear) = self.ear.take() {
            let closed = catch_unwind(AssertUnwindSafe(move || {
                ear.closed();
                drop(ear);
            }));
            if closed.is_err() {
                tracing::error!("the audio receiver of a leg panicked while it was closed");
            }
        }
    }
}

impl State {
    fn party(&mut self, side: Side) -> &mut Party {
        match side {
            Side::Caller => &mut self.caller,
            Side::Callee => &mut self.callee,
        }
    }

    fn close(&mut self) {
        self.closed = true;
        self.caller.close();
        self.callee.close();
    }

    /// Works one tick; `false` when the media has ended.
    fn tick(&mut self, late_ms: u32) -> bool {
        if self.closed {
            return false;
        }
        if self.caller.ends() || self.callee.ends() {
            self.close();
            return false;
        }
        let (caller, callee) = (self.caller.send(), self.callee.send());
        let fine = self.caller.receive(callee.as_ref(), caller.as_ref(), late_ms)
            & self.callee.receive(caller.as_ref(), callee.as_ref(), late_ms);
        if !fine {
            tracing::error!("the audio receiver of a leg panicked; the media is closed");
            self.close();
        }
        fine
    }
}

impl Patch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the media of a party; `None` after the end, and the second time.
    pub(crate) fn connect(&self, side: Side, ear: Box<dyn Ear>) -> Option<Line> {
        let mut state = self.state();
        if state.closed {
            return None;
        }
        let party = state.party(side);
        if party.line.is_some() {
            return None;
        }
        let line = Line::new(party.shared.clone(), Arc::new(()));
        party.ear = Some(ear);
        party.line = Some(line.clone());
        Some(line)
    }

    /// The playout queue of a party, while its media runs.
    pub(crate) fn line(&self, side: Side) -> Option<Line> {
        self.state().party(side).line.clone()
    }

    /// Ends the media of both parties.
    pub(crate) fn close(&self) {
        self.state().close();
    }

    /// Carries the media until it ends.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut due = Instant::now();
        loop {
            let late = Instant::now().saturating_duration_since(due);
            if !self.state().tick(u32::try_from(late.as_millis()).unwrap_or(u32::MAX)) {
                return;
            }
            due += TICK;
            sleep_until(due).await;
        }
    }
}

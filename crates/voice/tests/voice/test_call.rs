//! A call without a network: the test takes the place of the line's sound thread and ticks the ear itself. So a
//! call runs as fast as the machine can, and every time in it is a number of ticks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::ports::{Ear, FRAME, Frame, Mouth, Tick};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use voice::{Command, Held};

/// What is queued to be said, and what was sent.
#[derive(Default)]
pub struct Line(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<i16>,
    cleared: usize,
    pressed: Vec<String>,
    /// It takes no keys.
    keyless: bool,
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().expect("a lock")
    }

    fn take(&self) -> Option<Frame> {
        let mut queue = self.lock();
        let count = queue.waiting.len().min(FRAME);
        let mut frame = [0; FRAME];
        for (to, from) in frame.iter_mut().zip(queue.waiting.drain(..count)) {
            *to = from;
        }
        (count > 0).then_some(frame)
    }

    /// The keys that were pressed, a request each.
    pub fn pressed(&self) -> Vec<String> {
        self.lock().pressed.clone()
    }

    /// It takes no keys from now on.
    pub fn take_no_keys(&self) {
        self.lock().keyless = true;
    }

    /// How often it was told to fall silent.
    pub fn cleared(&self) -> usize {
        self.lock().cleared
    }
}

impl Mouth for Line {
    fn play(&self, samples: &[i16]) {
        let mut queue = self.lock();
        queue.waiting.extend(samples);
        assert!(queue.waiting.len() <= 8000, "the line is more than a second ahead");
    }

    fn clear(&self) -> usize {
        let mut queue = self.lock();
        queue.cleared += 1;
        let dropped = queue.waiting.len();
        queue.waiting.clear();
        dropped
    }

    fn queued_ms(&self) -> u32 {
        u32::try_from(self.lock().waiting.len().div_ceil(8)).expect("less than a second")
    }

    fn send_digits(&self, keys: &str) -> bool {
        let mut queue = self.lock();
        if !queue.keyless {
            queue.pressed.push(keys.to_owned());
        }
        !queue.keyless
    }
}

/// A call under way.
pub struct TestCall {
    pub ear: Option<Box<dyn Ear>>,
    pub line: Arc<Line>,
    pub commands: mpsc::Sender<Command>,
    pub call: JoinHandle<Held>,
    /// Milliseconds since the answer.
    pub now: u64,
    /// What the agent said, with silence between.
    pub agent: Vec<i16>,
    /// What the customer said.
    pub customer: Vec<i16>,
    /// If n, every n-th tick is lost on the way to us.
    pub loses: Option<usize>,
}

impl TestCall {
    /// One tick of 20 ms.
    pub async fn tick(&mut self, heard: Option<&Frame>) -> bool {
        let said = self.tick_now(heard).await;
        tokio::time::advance(Duration::from_millis(20)).await;
        for _ in 0..40 {
            tokio::task::yield_now().await;
        }
        said
    }

    /// The same, without moving any time.
    pub async fn tick_now(&mut self, heard: Option<&Frame>) -> bool {
        let said = self.line.take();
        self.now += 20;
        let lost = self.loses.is_some_and(|every| (self.now / 20).is_multiple_of(every as u64));
        let heard = heard.filter(|_| !lost);
        if let Some(ear) = &mut self.ear {
            ear.tick(Tick { heard, said: said.as_ref(), late_ms: 0 });
        }
        self.agent.extend(said.unwrap_or([0; FRAME]));
        self.customer.extend(heard.unwrap_or(&[0; FRAME]));
        tokio::task::yield_now().await;
        said.is_some()
    }

    /// The customer says this.
    pub async fn say(&mut self, sound: &[i16]) {
        for frame in frames(sound) {
            self.tick(Some(&frame)).await;
        }
    }

    /// Nobody says anything for this long: the noise of a quiet line.
    pub async fn quiet(&mut self, ms: u64) {
        for _ in 0..ms / 20 {
            self.tick(Some(&[3; FRAME])).await;
        }
    }

    /// The agent speaks now, within this time.
    pub async fn until_agent_speaks(&mut self, within_ms: u64) {
        for _ in 0..within_ms / 20 {
            if self.tick(Some(&[3; FRAME])).await {
                return;
            }
        }
        panic!("the agent said nothing within {within_ms} ms, at {} ms", self.now);
    }

    /// The agent has fallen silent for this long, within a minute.
    pub async fn until_agent_is_silent(&mut self, for_ms: u64) {
        let mut silent = 0;
        for _ in 0..3000 {
            silent = if self.tick(Some(&[3; FRAME])).await { 0 } else { silent + 20 };
            if silent >= for_ms || self.call.is_finished() {
                return;
            }
        }
        panic!("the agent never stops");
    }

    /// The call ends by itself, within this time.
    pub async fn until_over(mut self, within_ms: u64) -> Held {
        for _ in 0..within_ms / 20 {
            if self.call.is_finished() {
                return self.call.await.expect("no panic");
            }
            self.tick(Some(&[3; FRAME])).await;
        }
        panic!("the call did not end within {within_ms} ms");
    }

    /// The customer hangs up.
    pub async fn hang_up(mut self) -> Held {
        if let Some(mut ear) = self.ear.take() {
            ear.closed();
        }
        self.call.await.expect("no panic")
    }

    pub async fn command(&mut self, command: Command) {
        self.commands.send(command).await.expect("a call");
    }

    pub fn press(&mut self, keys: &str) {
        if let Some(ear) = &mut self.ear {
            keys.chars().for_each(|key| ear.digit(key));
        }
    }

    /// How long the agent was silent at the end of what it said so far, milliseconds.
    pub fn silent_for(&self) -> u64 {
        self.agent.iter().rev().take_while(|sample| **sample == 0).count() as u64 / 8
    }
}

/// Sound in ticks, the last one filled up with silence.
pub fn frames(sound: &[i16]) -> Vec<Frame> {
    let frame = |samples: &[i16]| {
        let mut frame = [0; FRAME];
        frame.iter_mut().zip(samples).for_each(|(to, from)| *to = *from);
        frame
    };
    sound.chunks(FRAME).map(frame).collect()
}

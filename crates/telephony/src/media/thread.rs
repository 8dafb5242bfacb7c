//! A media thread: schedules the ticks of its streams, spread over the 20 ms period.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::figures::Totals;
use super::flow::{Flow, Scratch};

/// Milliseconds of a tick; lines are spread over as many places.
const PERIOD: u32 = 20;
/// A thread that is further behind gives ticks up.
const MOST_BEHIND: Duration = Duration::from_millis(100);

/// What the thread shares with the engine.
#[derive(Default)]
pub(super) struct Desk {
    inbox: Mutex<Vec<Flow>>,
    news: AtomicBool,
    stop: AtomicBool,
    /// Lines given to the thread and not closed yet.
    pub(super) lines: AtomicUsize,
    pub(super) totals: Totals,
}

impl Desk {
    pub(super) fn hand(&self, flow: Flow) {
        self.lines.fetch_add(1, Ordering::Relaxed);
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push(flow);
        self.news.store(true, Ordering::Release);
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    fn close(&self, mut flow: Flow) {
        flow.close(&self.totals);
        self.lines.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The lines of a thread by the millisecond of the period in which they tick.
struct Slab {
    places: [Vec<Flow>; PERIOD as usize],
    lines: usize,
}

impl Slab {
    fn add(&mut self, flow: Flow) {
        if let Some(place) = self.places.iter_mut().min_by_key(|place| place.len()) {
            place.push(flow);
            self.lines += 1;
        }
    }

    /// Milliseconds from `place` to the next place with lines.
    fn next(&self, place: u32) -> u32 {
        (0..PERIOD).find(|step| !self.places[((place + step) % PERIOD) as usize].is_empty()).unwrap_or(0)
    }
}

/// Runs until [`Desk::stop`].
pub(super) fn run(desk: &Arc<Desk>) {
    let mut slab = Slab { places: std::array::from_fn(|_| Vec::new()), lines: 0 };
    let mut scratch = Scratch::new();
    // When the place `place` is due.
    let (mut due, mut place) = (Instant::now(), 0u32);
    while !desk.stop.load(Ordering::Acquire) {
        if desk.news.swap(false, Ordering::Acquire) {
            let mut inbox = desk.inbox.lock().unwrap_or_else(PoisonError::into_inner);
            for flow in inbox.drain(..) {
                slab.add(flow);
            }
        }
        if slab.lines == 0 {
            // `news` may have arrived since. Its sender unparks this thread, so parking ends at once then.
            thread::park();
            due = Instant::now();
            continue;
        }
        let step = slab.next(place);
        let at = due + Duration::from_millis(u64::from(step));
        let now = Instant::now();
        if let Some(wait) = at.checked_duration_since(now)
            && !wait.is_zero()
        {
            thread::park_timeout(wait);
            continue;
        }
        (due, place) = (at, (place + step) % PERIOD);
        let behind = now.duration_since(at);
        if behind > MOST_BEHIND {
            let periods = (behind.as_millis() / u128::from(PERIOD)) as u32;
            due += Duration::from_millis(u64::from(PERIOD)) * periods;
            give_up(&mut slab, periods, desk);
        }
        work(&mut slab, place, due, &mut scratch, desk);
        (due, place) = (due + Duration::from_millis(1), (place + 1) % PERIOD);
    }
    let inbox = std::mem::take(&mut *desk.inbox.lock().unwrap_or_else(PoisonError::into_inner));
    for flow in slab.places.into_iter().flatten().chain(inbox) {
        desk.close(flow);
    }
}

fn give_up(slab: &mut Slab, periods: u32, desk: &Desk) {
    for place in &mut slab.places {
        let mut index = 0;
        while let Some(flow) = place.get_mut(index) {
            if flow.skip(periods, periods.saturating_mul(PERIOD), &desk.totals) {
                index += 1;
            } else {
                desk.close(place.swap_remove(index));
                slab.lines -= 1;
            }
        }
    }
    let ticks = u64::from(periods) * slab.lines as u64;
    desk.totals.skipped_ticks.fetch_add(ticks, Ordering::Relaxed);
}

fn work(slab: &mut Slab, place: u32, due: Instant, scratch: &mut Scratch, desk: &Desk) {
    let Some(flows) = slab.places.get_mut(place as usize) else {
        return;
    };
    let mut index = 0;
    while let Some(flow) = flows.get_mut(index) {
        let late = Instant::now().saturating_duration_since(due);
        let late_ms = u32::try_from(late.as_millis()).unwrap_or(u32::MAX);
        if flow.tick(late_ms, scratch, &desk.totals) {
            index += 1;
        } else {
            desk.close(flows.swap_remove(index));
            slab.lines -= 1;
        }
    }
}

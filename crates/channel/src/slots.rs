//! Reserves send slots of busy numbers for the requests of this node (PostgreSQL only;
//! docs/contract/channel.md#limits). A transaction that takes a slot locks its number's send queue until the commit, so
//! all messages of a number would wait for each other. Instead, one statement reserves a slot for each waiting request,
//! and some more under load, fewer towards the limit. A reserved slot is used at its own time or never, so a node that
//! dies wastes some, and no number sends faster than its rate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::App;
use domain::channel::limits::Pace;
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::channel_messages;

use crate::numbers::Number;

/// Messages a second from which on slots are reserved: below, the extra statement does not pay.
const BUSY: i64 = 20;
/// What is reserved beyond waiting requests: this part of a second's demand, at most this part of a burst.
const PART_OF_SECOND: i64 = 16;
const PART_OF_BURST: i64 = 2;
/// Most numbers that a node remembers.
const REMEMBERED: usize = 10_000;

#[derive(Debug, Clone)]
pub struct Slot {
    /// The provider's id of the number.
    pub number: String,
    /// When it may be used.
    pub at: Timestamp,
    /// Its position in the rate limiter of the number, microseconds.
    place: i64,
}

/// The slots of this node.
#[derive(Default)]
pub(crate) struct Slots {
    /// By workspace and by how requests name the number.
    known: Mutex<HashMap<(Tenant, String), Arc<SlotPool>>>,
}

struct SlotPool {
    number: String,
    kept: Mutex<ReservedSlots>,
    /// Requests that wait for a slot.
    waiting: AtomicI64,
    /// Held by the task that reserves slots in the store.
    turn: tokio::sync::Mutex<()>,
}

/// The slots of a number that this node has reserved and not used, and the demand.
struct ReservedSlots {
    pace: Pace,
    /// Consecutive slots: the position before the first, and that of the last.
    from: i64,
    until: i64,
    /// Slots that were handed out and returned unused.
    back: Vec<i64>,
    /// The current second, its demand, and that of the second before.
    second: i64,
    asked: i64,
    before: i64,
}

impl ReservedSlots {
    fn new(pace: Pace) -> Self {
        Self { pace, from: 0, until: 0, back: Vec::new(), second: 0, asked: 0, before: 0 }
    }

    fn ask(&mut self, now: Timestamp) {
        let second = now.0.div_euclid(SECOND);
        if second != self.second {
            self.before = if second == self.second + 1 { self.asked } else { 0 };
            (self.second, self.asked) = (second, 0);
        }
        self.asked += 1;
    }

    fn demand(&self) -> i64 {
        self.asked.max(self.before)
    }

    /// A slot that can be used by `latest`.
    fn take(&mut self, now: Timestamp, latest: Timestamp) -> Option<(i64, Timestamp)> {
        while let Some(place) = self.back.pop() {
            if let Some(at) = self.pace.moment(place, now).filter(|at| *at <= latest) {
                return Some((place, at));
            }
        }
        while self.from + self.pace.gap <= self.until {
            let place = self.from + self.pace.gap;
            match self.pace.moment(place, now) {
                // It was not used in its time.
                None => self.from = place,
                Some(at) if at <= latest => {
                    self.from = place;
                    return Some((place, at));
                }
                Some(_) => return None,
            }
        }
        None
    }
}

impl SlotPool {
    fn kept(&self) -> MutexGuard<'_, ReservedSlots> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, now: Timestamp, latest: Timestamp) -> Option<Slot> {
        let (place, at) = self.kept().take(now, latest)?;
        Some(Slot { number: self.number.clone(), at, place })
    }
}

/// Counts a request that waits for a slot.
struct SlotWaiter<'a>(&'a AtomicI64);

impl<'a> SlotWaiter<'a> {
    fn new(waiting: &'a AtomicI64) -> Self {
        waiting.fetch_add(1, Ordering::AcqRel);
        Self(waiting)
    }
}

impl Drop for SlotWaiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Slots {
    fn lines(&self) -> MutexGuard<'_, HashMap<(Tenant, String), Arc<SlotPool>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, tenant: Tenant, named: &str) -> Option<Arc<SlotPool>> {
        self.lines().get(&(tenant, named.to_owned())).cloned()
    }
}

/// A slot no later than `latest` for a request that names its number so, if the number is busy. Without one, the
/// transaction of the message takes it.
pub(crate) async fn take(app: &App, tenant: Tenant, named: &str, latest: Timestamp) -> Option<Slot> {
    if !app.store.shared() {
        return None;
    }
    let line = app.state.of(Slots::default).line(tenant, named)?;
    let pace = {
        let mut kept = line.kept();
        kept.ask(app.clock.now());
        if kept.demand() < BUSY || kept.pace.burst < 2 {
            return None;
        }
        kept.pace
    };
    if let Some(slot) = line.take(app.clock.now(), latest) {
        return Some(slot);
    }
    let _waiting = SlotWaiter::new(&line.waiting);
    let _turn = line.turn.lock().await;
    // The one before may have reserved for this one, too.
    let now = app.clock.now();
    if let Some(slot) = line.take(now, latest) {
        return Some(slot);
    }
    let more = (line.kept().demand() / PART_OF_SECOND).min(pace.burst / PART_OF_BURST);
    let wanted = line.waiting.load(Ordering::Acquire).max(1) + more;
    let (number, latest_place) = (line.number.clone(), pace.last_place(latest));
    let reserve = move |tx: &mut store::Tx<'_>| {
        let now = now.0.saturating_mul(1_000);
        channel_messages::reserve_slots(&mut tx.of(tenant), &number, now, pace.gap, wanted, latest_place)
    };
    // If the store cannot be asked, the transaction of the message says so.
    let (from, until) = app.store.tx_single(reserve).await.ok().flatten()?;
    {
        let mut kept = line.kept();
        (kept.from, kept.until) = (from, until);
    }
    line.take(app.clock.now(), latest)
}

/// Returns an unused slot.
pub(crate) fn give_back(app: &App, tenant: Tenant, named: &str, slot: &Slot) {
    if let Some(line) =
        app.state.of(Slots::default).line(tenant, named).filter(|line| line.number == slot.number)
    {
        line.kept().back.push(slot.place);
    }
}

/// Remembers which number sends for requests that name it so, and its rate.
pub(crate) fn learn(app: &App, tenant: Tenant, named: &str, number: &Number) {
    if !app.store.shared() {
        return;
    }
    let (slots, pace) = (app.state.of(Slots::default), Pace::of_number(number.rate));
    let mut lines = slots.lines();
    if let Some(line) = lines.get(&(tenant, named.to_owned()))
        && line.number == number.phone_number_id
        && line.kept().pace == pace
    {
        return;
    }
    if lines.len() >= REMEMBERED {
        lines.clear();
    }
    // Two words for one number share its line.
    let same = lines.iter().find(|((of, _), line)| *of == tenant && line.number == number.phone_number_id);
    let line = match same.map(|(_, line)| line.clone()).filter(|line| line.kept().pace == pace) {
        Some(line) => line,
        None => Arc::new(SlotPool {
            number: number.phone_number_id.clone(),
            kept: Mutex::new(ReservedSlots::new(pace)),
            waiting: AtomicI64::new(0),
            turn: tokio::sync::Mutex::new(()),
        }),
    };
    lines.insert((tenant, named.to_owned()), line);
}

/// Drops the reserved slots of a number that the provider throttles.
pub(crate) fn forget(app: &App, tenant: Tenant, number: &str) {
    let slots = app.state.of(Slots::default);
    for ((of, _), line) in slots.lines().iter() {
        if *of == tenant && line.number == number {
            let mut kept = line.kept();
            kept.from = kept.until;
            kept.back.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_slots_are_used_in_their_time_or_not_at_all() {
        let pace = Pace::of_number(80);
        let mut kept = ReservedSlots::new(pace);
        let now = Timestamp(1_000_000);
        (kept.from, kept.until) = (now.0 * 1_000, now.0 * 1_000 + 3 * pace.gap);
        assert_eq!(kept.take(now, now), Some((now.0 * 1_000 + pace.gap, now)));
        let given = kept.take(now, now).unwrap();
        kept.back.push(given.0);
        assert_eq!(kept.take(now, now), Some(given));
        // Much later the third one is gone, and so is one that was given back.
        kept.back.push(given.0);
        assert_eq!(kept.take(now.plus(SECOND), now.plus(SECOND)), None);
        assert!(kept.back.is_empty());
    }

    #[test]
    fn slots_that_lie_ahead_wait_for_their_moment() {
        let pace = Pace::of_number(80);
        let mut kept = ReservedSlots::new(pace);
        let now = Timestamp(1_000_000);
        let ahead = now.0 * 1_000 + 10 * pace.gap;
        (kept.from, kept.until) = (ahead, ahead + pace.gap);
        assert_eq!(kept.take(now, now), None);
        let (_, at) = kept.take(now, now.plus(SECOND)).unwrap();
        assert!(at > now && at < now.plus(SECOND));
    }

    #[test]
    fn whatever_part_of_the_slots_is_used_no_second_has_more_than_the_rate() {
        let pace = Pace::of_number(1_000);
        let start = Timestamp(1_000_000);
        let (mut used, mut sent, mut draw) = (start.0 * 1_000, Vec::new(), 7_u64);
        let mut kept = ReservedSlots::new(pace);
        for now in (start.0..start.0 + 5_000).map(Timestamp) {
            loop {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if draw >> 60 == 0 {
                    break;
                }
                match kept.take(now, now) {
                    Some((_, at)) => sent.push(at.0),
                    None if used - now.0 * 1_000 < pace.gap * pace.burst => {
                        used = used.max(now.0 * 1_000);
                        (kept.from, kept.until) = (used, used + 5 * pace.gap);
                        used = kept.until;
                        if used > pace.last_place(now) {
                            break;
                        }
                    }
                    None => break,
                }
            }
        }
        for from in &sent {
            assert!(sent.iter().filter(|at| (*from..from + 1_000).contains(*at)).count() <= 1_000);
        }
        assert!(sent.len() > 4_000, "{}", sent.len());
    }
}

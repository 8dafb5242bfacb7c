//! Lanes: the deliveries in this node's memory, by endpoint. Bounded in number of deliveries, and in concurrent
//! attempts for each endpoint and in all.

use std::collections::{HashMap, VecDeque};

use domain::ids::{Delivery, Id, WebhookEndpoint};
use domain::time::{SECOND, Timestamp};

use super::pending::PendingAttempt;

/// Deliveries in a lane while its endpoint is healthy.
const QUEUE: usize = 2_000;
/// Deliveries in a lane while its endpoint fails.
const QUEUE_FAILING: usize = 32;
/// Deliveries in memory in all, and their bytes; beyond, a lane gets [`QUEUE_FULL`].
const HELD: usize = 40_000;
const HELD_BYTES: usize = 128 * 1024 * 1024;
const QUEUE_FULL: usize = 8;
/// Concurrent attempts to one endpoint: at first, at least, at most.
const FIRST: usize = 8;
const LEAST: usize = 2;
const MOST: usize = 64;
/// Concurrent attempts in all, and how many of them may go to failing endpoints.
const IN_FLIGHT: usize = 1_024;
const IN_FLIGHT_FAILING: usize = 512;
/// Deliveries that a worker makes before it yields to other lanes, when all workers are busy.
const TURN: usize = 32;
/// A delivery whose lease expires sooner than this is not begun.
const LEASE_LEFT: i64 = 15 * SECOND;
/// Idle lanes that are remembered, with their limits.
const IDLE_LANES: usize = 10_000;

/// All lanes of a node.
#[derive(Default)]
pub(super) struct Lanes {
    by_endpoint: HashMap<Id<WebhookEndpoint>, Lane>,
    /// Lanes that have work and may have one more worker, each once.
    ready: VecDeque<Id<WebhookEndpoint>>,
    /// Deliveries in this node's memory, with their rounds: queued, in flight, or not recorded yet.
    held: HashMap<Id<Delivery>, i64>,
    queued: usize,
    bytes: usize,
    workers: usize,
    workers_failing: usize,
}

struct Lane {
    queue: VecDeque<PendingAttempt>,
    workers: usize,
    limit: usize,
    failing: bool,
    ready: bool,
    /// Whether deliveries may be queued in the store.
    in_line: bool,
    /// Counts deliveries that were queued in the store, so that a refill can tell whether it has seen all.
    lined_up: u64,
    /// Whether a refill was requested.
    feeding: bool,
}

impl Lane {
    fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            workers: 0,
            limit: FIRST,
            failing: false,
            ready: false,
            in_line: false,
            lined_up: 0,
            feeding: false,
        }
    }

    fn capacity(&self) -> usize {
        if self.failing { QUEUE_FAILING } else { QUEUE }
    }

    /// Requests a refill when the queue runs low. Returns whether it had not been requested yet.
    fn wants_feed(&mut self) -> bool {
        let wants = self.in_line && !self.feeding && self.queue.len() <= self.capacity() / 4;
        self.feeding |= wants;
        wants
    }
}

/// What a worker does next.
pub(super) enum Assignment {
    Begin(Box<PendingAttempt>),
    /// Nothing: it ends. The flags say whether lanes wait for a worker, and whether this lane needs a refill.
    End {
        dispatch: bool,
        feed: bool,
    },
}

impl Lanes {
    pub(super) fn queued(&self) -> usize {
        self.queued
    }

    pub(super) fn workers(&self) -> usize {
        self.workers
    }

    fn full(&self) -> bool {
        self.queued >= HELD || self.bytes >= HELD_BYTES
    }

    /// How many new deliveries fit into a lane. None while older ones are queued in the store.
    pub(super) fn room(&self, endpoint: Id<WebhookEndpoint>) -> usize {
        match self.by_endpoint.get(&endpoint) {
            Some(lane) if lane.in_line => 0,
            _ => self.room_for_older(endpoint),
        }
    }

    /// How many deliveries fit into a lane.
    pub(super) fn room_for_older(&self, endpoint: Id<WebhookEndpoint>) -> usize {
        let (capacity, length) =
            self.by_endpoint.get(&endpoint).map_or((QUEUE, 0), |lane| (lane.capacity(), lane.queue.len()));
        let capacity = if self.full() { QUEUE_FULL.min(capacity) } else { capacity };
        capacity.saturating_sub(length)
    }

    /// Whether this node has a delivery in this round.
    pub(super) fn holds(&self, id: Id<Delivery>, round: i64) -> bool {
        self.held.get(&id) == Some(&round)
    }

    /// Adds a delivery that is leased to this node.
    pub(super) fn push(&mut self, item: PendingAttempt) {
        self.held.insert(item.key.id, item.round);
        self.queued += 1;
        self.bytes += item.body.len();
        let endpoint = item.key.endpoint;
        let lane = self.by_endpoint.entry(endpoint).or_insert_with(Lane::new);
        lane.queue.push_back(item);
        if !lane.ready && lane.workers < lane.limit {
            lane.ready = true;
            self.ready.push_back(endpoint);
        }
    }

    /// Marks that deliveries are queued in the store. Returns whether the lane needs a refill.
    pub(super) fn wait_in_line(&mut self, endpoint: Id<WebhookEndpoint>) -> bool {
        let lane = self.by_endpoint.entry(endpoint).or_insert_with(Lane::new);
        lane.in_line = true;
        lane.lined_up += 1;
        lane.wants_feed()
    }

    /// Lanes that need a refill: how many deliveries fit, and the count to pass to [`Lanes::fed`].
    pub(super) fn hungry(&self) -> Vec<(Id<WebhookEndpoint>, usize, u64, bool)> {
        let hungry = self.by_endpoint.iter().filter(|(_, lane)| lane.feeding);
        hungry
            .map(|(endpoint, lane)| (*endpoint, self.room_for_older(*endpoint), lane.lined_up, lane.failing))
            .collect()
    }

    /// Marks that a lane was refilled; `all` when no more were queued at that time. Returns whether it needs more.
    pub(super) fn fed(&mut self, endpoint: Id<WebhookEndpoint>, lined_up: u64, all: bool) -> bool {
        let Some(lane) = self.by_endpoint.get_mut(&endpoint) else { return false };
        lane.feeding = false;
        if all && lane.lined_up == lined_up {
            lane.in_line = false;
        }
        lane.wants_feed()
    }

    /// The endpoints that get a worker now, one entry each.
    pub(super) fn dispatch(&mut self) -> Vec<Id<WebhookEndpoint>> {
        let mut chosen = Vec::new();
        let mut later = Vec::new();
        while self.workers < IN_FLIGHT
            && let Some(endpoint) = self.ready.pop_front()
        {
            let Some(lane) = self.by_endpoint.get_mut(&endpoint) else { continue };
            if lane.failing && self.workers_failing >= IN_FLIGHT_FAILING {
                later.push(endpoint);
                continue;
            }
            let others = self.ready.len() + 1;
            let share = (IN_FLIGHT - self.workers).div_ceil(others);
            let count = lane.queue.len().min(lane.limit.saturating_sub(lane.workers)).min(share);
            lane.workers += count;
            lane.ready = false;
            self.workers += count;
            if lane.failing {
                self.workers_failing += count;
            }
            chosen.extend(std::iter::repeat_n(endpoint, count));
        }
        self.ready.extend(later);
        chosen
    }

    /// What a worker of this lane does after `done` deliveries.
    pub(super) fn next(
        &mut self,
        endpoint: Id<WebhookEndpoint>,
        done: usize,
        now: Timestamp,
        stopping: bool,
    ) -> Assignment {
        let contended = self.workers >= IN_FLIGHT && !self.ready.is_empty() && done >= TURN;
        let Some(lane) = self.by_endpoint.get_mut(&endpoint) else {
            return Assignment::End { dispatch: false, feed: false };
        };
        if !stopping && !contended && lane.workers <= lane.limit {
            while let Some(item) = lane.queue.pop_front() {
                self.queued -= 1;
                self.bytes -= item.body.len();
                let held = self.held.get(&item.key.id) == Some(&item.round);
                if held && now.plus(LEASE_LEFT) < item.lease {
                    return Assignment::Begin(Box::new(item));
                }
                if held {
                    // The scan finds it when its lease expires.
                    self.held.remove(&item.key.id);
                }
            }
        }
        lane.workers -= 1;
        self.workers -= 1;
        if lane.failing {
            self.workers_failing -= 1;
        }
        if !lane.queue.is_empty() && !lane.ready && lane.workers < lane.limit {
            lane.ready = true;
            self.ready.push_back(endpoint);
        }
        let feed = lane.wants_feed();
        if lane.workers == 0 && lane.queue.is_empty() && !lane.in_line && self.by_endpoint.len() > IDLE_LANES
        {
            self.by_endpoint.remove(&endpoint);
        }
        Assignment::End { dispatch: !self.ready.is_empty(), feed }
    }

    /// Whether the queue of a lane with deliveries in the store runs low.
    pub(super) fn runs_low(&mut self, endpoint: Id<WebhookEndpoint>) -> bool {
        self.by_endpoint.get_mut(&endpoint).is_some_and(Lane::wants_feed)
    }

    /// Records the end of an attempt, which raises or lowers the endpoint's concurrency. Returns whether lanes wait for
    /// a worker.
    pub(super) fn judge(&mut self, endpoint: Id<WebhookEndpoint>, well: bool) -> bool {
        let Some(lane) = self.by_endpoint.get_mut(&endpoint) else { return false };
        if lane.failing == well {
            lane.failing = !well;
            if well { self.workers_failing -= lane.workers } else { self.workers_failing += lane.workers }
        }
        lane.limit = if well { (lane.limit + 1).min(MOST) } else { (lane.limit / 2).max(LEAST) };
        if well && !lane.ready && !lane.queue.is_empty() && lane.workers < lane.limit {
            lane.ready = true;
            self.ready.push_back(endpoint);
            return true;
        }
        false
    }

    /// Removes a delivery, in any round.
    pub(super) fn let_go(&mut self, id: Id<Delivery>) {
        self.held.remove(&id);
    }

    /// Removes a delivery of this round.
    pub(super) fn finish(&mut self, id: Id<Delivery>, round: i64) {
        if self.holds(id, round) {
            self.held.remove(&id);
        }
    }

    /// Clears the queue of a lane: none of it is begun any more.
    pub(super) fn drop_queue(&mut self, endpoint: Id<WebhookEndpoint>) {
        let Some(lane) = self.by_endpoint.get_mut(&endpoint) else { return };
        for item in lane.queue.drain(..) {
            self.queued -= 1;
            self.bytes -= item.body.len();
            self.held.remove(&item.key.id);
        }
    }

    /// Clears all queues, at the end of the service.
    pub(super) fn drain(&mut self) -> Vec<PendingAttempt> {
        let items: Vec<PendingAttempt> =
            self.by_endpoint.values_mut().flat_map(|lane| lane.queue.drain(..)).collect();
        self.held.clear();
        (self.queued, self.bytes) = (0, 0);
        items
    }
}

#[cfg(test)]
mod tests {
    use store::deliveries::Key;

    use super::*;

    fn item(endpoint: u128, delivery: u128) -> PendingAttempt {
        let key =
            Key { tenant: Id::from_bits(1), endpoint: Id::from_bits(endpoint), id: Id::from_bits(delivery) };
        let now = Timestamp(0);
        PendingAttempt {
            key,
            kind: "call.started".into(),
            body: "{}".into(),
            transcript: None,
            round: 0,
            round_at: now,
            made: 0,
            created_at: now,
            lease: now.plus(super::super::pending::LEASE),
            trace: None,
        }
    }

    fn begins(turn: Assignment) -> Option<u128> {
        match turn {
            Assignment::Begin(item) => Some(item.key.id.bits()),
            Assignment::End { .. } => None,
        }
    }

    #[test]
    fn one_lane_cannot_take_all_places() {
        let mut lanes = Lanes::default();
        for endpoint in 0..100 {
            for delivery in 0..100 {
                lanes.push(item(endpoint, endpoint * 1000 + delivery));
            }
        }
        let chosen = lanes.dispatch();
        assert_eq!(chosen.len(), 100 * FIRST);
        for endpoint in 0..100 {
            assert_eq!(chosen.iter().filter(|chosen| chosen.bits() == endpoint).count(), FIRST);
        }
    }

    #[test]
    fn endpoints_that_fail_get_half_of_all_places_at_most() {
        let mut lanes = Lanes::default();
        for endpoint in 0..1000 {
            lanes.push(item(endpoint, endpoint));
            lanes.judge(Id::from_bits(endpoint), false);
        }
        assert_eq!(lanes.dispatch().len(), IN_FLIGHT_FAILING);
        lanes.push(item(5000, 5000));
        assert_eq!(lanes.dispatch(), [Id::from_bits(5000)], "a healthy one passes those that wait");
    }

    #[test]
    fn a_failing_endpoint_gets_less_and_earns_it_back() {
        let mut lanes = Lanes::default();
        let endpoint = Id::from_bits(1);
        lanes.push(item(1, 1));
        for _ in 0..10 {
            lanes.judge(endpoint, false);
        }
        assert_eq!((lanes.by_endpoint[&endpoint].limit, lanes.room(endpoint)), (LEAST, QUEUE_FAILING - 1));
        for _ in 0..100 {
            lanes.judge(endpoint, true);
        }
        assert_eq!((lanes.by_endpoint[&endpoint].limit, lanes.room(endpoint)), (MOST, QUEUE - 1));
    }

    #[test]
    fn what_waits_in_line_goes_first() {
        let mut lanes = Lanes::default();
        let endpoint = Id::from_bits(1);
        assert!(lanes.wait_in_line(endpoint), "an empty lane wants a refill");
        assert_eq!((lanes.room(endpoint), lanes.room_for_older(endpoint)), (0, QUEUE));
        let (_, _, seen, _) = lanes.hungry()[0];
        assert!(!lanes.wait_in_line(endpoint), "it was asked for already");
        assert!(lanes.fed(endpoint, seen, true), "something lined up meanwhile");
        let (_, _, seen, _) = lanes.hungry()[0];
        assert!(!lanes.fed(endpoint, seen, true));
        assert_eq!(lanes.room(endpoint), QUEUE);
    }

    #[test]
    fn what_was_let_go_or_waited_too_long_is_not_begun() {
        let mut lanes = Lanes::default();
        let endpoint = Id::from_bits(1);
        for delivery in 1..=3 {
            lanes.push(item(1, delivery));
        }
        lanes.let_go(Id::from_bits(1));
        assert_eq!(lanes.dispatch().len(), 3);
        assert_eq!(begins(lanes.next(endpoint, 0, Timestamp(0), false)), Some(2));
        assert_eq!(begins(lanes.next(endpoint, 0, Timestamp(50 * SECOND), false)), None);
        assert!(
            lanes.holds(Id::from_bits(2), 0) && !lanes.holds(Id::from_bits(3), 0),
            "the scan takes it when its lease ends"
        );
        assert_eq!((lanes.queued(), lanes.workers()), (0, 2));
    }
}

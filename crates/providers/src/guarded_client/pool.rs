//! The connection pool: idle connections, by origin. Each was opened to a checked address, so a request that takes one
//! needs no new check.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::link::Link;
use super::target::Origin;

/// How many connections a client keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Idle connections of one origin (scheme, host, port). Default 64.
    pub idle_per_origin: usize,
    /// Idle connections in all; above it the one that has been idle longest is closed. Default 1024.
    pub idle_total: usize,
    /// Open connections in all, idle or in use; above it [`Overloaded`](super::SendError::Overloaded). Default 8192.
    pub open_total: usize,
    /// A connection that has been idle this long is closed. Default 30 s.
    pub idle_timeout: Duration,
    /// A connection older than this is not reused, so that changes of a host's address take effect. Default 5 min.
    pub max_age: Duration,
}

impl Default for PoolLimits {
    fn default() -> PoolLimits {
        PoolLimits {
            idle_per_origin: 64,
            idle_total: 1024,
            open_total: 8192,
            idle_timeout: Duration::from_secs(30),
            max_age: Duration::from_secs(300),
        }
    }
}

pub(super) struct Pool {
    limits: PoolLimits,
    permits: Arc<Semaphore>,
    resting: Mutex<Resting>,
    closing: Arc<Notify>,
}

#[derive(Default)]
struct Resting {
    by_origin: HashMap<Arc<Origin>, VecDeque<Idle>>,
    count: usize,
    reaped: bool,
}

struct Idle {
    link: Box<Link>,
    since: Instant,
}

impl Pool {
    pub(super) fn new(limits: PoolLimits) -> Pool {
        let permits = Arc::new(Semaphore::new(limits.open_total.min(Semaphore::MAX_PERMITS)));
        Pool { limits, permits, resting: Mutex::default(), closing: Arc::default() }
    }

    /// The permit to open one more connection; an idle one is closed for it if necessary.
    pub(super) fn permit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Some(permit);
        }
        let evicted = self.lock().evict();
        drop(evicted);
        self.permits.clone().try_acquire_owned().ok()
    }

    /// The most recently used idle connection of this origin.
    pub(super) fn take(&self, origin: &Arc<Origin>) -> Option<Box<Link>> {
        let now = Instant::now();
        let mut resting = self.lock();
        let idle = resting.by_origin.get_mut(origin)?.pop_back()?;
        resting.count -= 1;
        drop(resting);
        self.is_fresh(&idle, now).then_some(idle.link)
    }

    /// Keeps a connection whose exchange is complete.
    pub(super) fn put(self: &Arc<Self>, origin: &Arc<Origin>, link: Box<Link>) {
        let idle = Idle { link, since: Instant::now() };
        if self.limits.idle_per_origin == 0
            || self.limits.idle_total == 0
            || !self.is_fresh(&idle, idle.since)
        {
            return;
        }
        let mut resting = self.lock();
        let row = match resting.by_origin.get_mut(origin) {
            Some(row) => row,
            None => resting.by_origin.entry(origin.clone()).or_default(),
        };
        row.push_back(idle);
        let crowded_out = if row.len() > self.limits.idle_per_origin { row.pop_front() } else { None };
        resting.count += usize::from(crowded_out.is_none());
        let evicted = if resting.count > self.limits.idle_total { resting.evict() } else { None };
        let start_reaper = !std::mem::replace(&mut resting.reaped, true);
        drop(resting);
        // Sockets are closed outside the lock.
        drop((crowded_out, evicted));
        if start_reaper {
            tokio::spawn(reap(Arc::downgrade(self), self.closing.clone(), self.limits.idle_timeout / 2));
        }
    }

    fn is_fresh(&self, idle: &Idle, now: Instant) -> bool {
        now.duration_since(idle.since) < self.limits.idle_timeout
            && now.duration_since(idle.link.opened()) < self.limits.max_age
    }

    /// Closes connections that have been idle too long. Returns whether none are left.
    fn sweep(&self) -> bool {
        let now = Instant::now();
        let mut stale = Vec::new();
        let mut resting = self.lock();
        resting.by_origin.retain(|_, row| {
            while row.front().is_some_and(|idle| !self.is_fresh(idle, now)) {
                stale.extend(row.pop_front());
            }
            !row.is_empty()
        });
        resting.count -= stale.len();
        resting.reaped = !resting.by_origin.is_empty();
        let empty = !resting.reaped;
        drop(resting);
        drop(stale);
        empty
    }

    fn lock(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resting {
    /// Removes the connection that has been idle longest.
    fn evict(&mut self) -> Option<Idle> {
        let rows = self.by_origin.values_mut();
        let row = rows.filter(|row| !row.is_empty()).min_by_key(|row| row.front().map(|idle| idle.since))?;
        let idle = row.pop_front();
        self.count -= usize::from(idle.is_some());
        idle
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.closing.notify_one();
    }
}

/// Sweeps while there are idle connections; ends with the last of them, or with the pool. Network time is real time, so
/// this does not wait on the service's clock.
async fn reap(pool: Weak<Pool>, closing: Arc<Notify>, pause: Duration) {
    while timeout(pause.max(Duration::from_millis(1)), closing.notified()).await.is_err() {
        match pool.upgrade() {
            Some(pool) if !pool.sweep() => {}
            _ => return,
        }
    }
}

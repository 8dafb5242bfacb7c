//! A provider that keeps failing is passed over for a while.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::http::Monotonic;

/// When a breaker opens and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Failures that open it, at least 1. They are counted among the newest outcomes, four times as many as
    /// this number, so that a provider which fails now and then under load stays in use.
    pub failures: usize,
    /// Outcomes older than this do not count.
    pub window: Duration,
    /// How long it stays open. Then single requests probe whether the provider works again.
    pub pause: Duration,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self { failures: 5, window: Duration::from_secs(60), pause: Duration::from_secs(30) }
    }
}

/// The breaker of one provider in one role.
pub(crate) struct Breaker {
    limits: BreakerLimits,
    clock: Monotonic,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The newest outcomes: when, and whether it failed.
    outcomes: VecDeque<(Duration, bool)>,
    /// When it opened, or when the newest probe was admitted.
    open_since: Option<Duration>,
}

impl Breaker {
    pub(crate) fn new(limits: BreakerLimits, clock: Monotonic) -> Self {
        Self {
            limits: BreakerLimits { failures: limits.failures.max(1), ..limits },
            clock,
            state: Mutex::default(),
        }
    }

    /// Whether the provider may be asked now. An open breaker whose pause is over admits one probe per pause.
    pub(crate) fn admits(&self) -> bool {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.open_since {
            None => true,
            Some(since) if now.saturating_sub(since) < self.limits.pause => false,
            Some(_) => {
                state.open_since = Some(now);
                true
            }
        }
    }

    /// The provider did what it was asked.
    pub(crate) fn succeeded(&self) {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.open_since.take().is_some() {
            state.outcomes.clear();
        }
        self.record(&mut state, now, false);
    }

    /// It failed.
    pub(crate) fn failed(&self) {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.record(&mut state, now, true);
        let failures = state.outcomes.iter().filter(|(_, failed)| *failed).count();
        if state.open_since.is_some() || failures >= self.limits.failures {
            state.open_since = Some(now);
        }
    }

    fn record(&self, state: &mut State, now: Duration, failed: bool) {
        let window = self.limits.window;
        while state.outcomes.front().is_some_and(|(at, _)| now.saturating_sub(*at) >= window) {
            state.outcomes.pop_front();
        }
        if state.outcomes.len() >= self.limits.failures.saturating_mul(4) {
            state.outcomes.pop_front();
        }
        state.outcomes.push_back((now, failed));
    }

    /// Whether it is open, also while it is being probed.
    pub(crate) fn is_open(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).open_since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn breaker(failures: usize) -> (Breaker, impl Fn(u64)) {
        let seconds = Arc::new(AtomicU64::new(0));
        let read = seconds.clone();
        let limits =
            BreakerLimits { failures, window: Duration::from_secs(60), pause: Duration::from_secs(30) };
        let clock: Monotonic = Arc::new(move || Duration::from_secs(read.load(Ordering::SeqCst)));
        (Breaker::new(limits, clock), move |to| seconds.store(to, Ordering::SeqCst))
    }

    #[test]
    fn it_opens_after_failures_in_the_window_and_probes_once_a_pause() {
        let (breaker, at) = breaker(3);
        breaker.failed();
        breaker.failed();
        assert!(breaker.admits());
        breaker.failed();
        assert!(!breaker.admits() && breaker.is_open());
        at(29);
        assert!(!breaker.admits());
        at(30);
        assert!(breaker.admits(), "the probe");
        assert!(!breaker.admits(), "one at a time");
        breaker.failed();
        at(59);
        assert!(!breaker.admits(), "a failed probe begins the pause again");
        at(60);
        assert!(breaker.admits());
        breaker.succeeded();
        assert!(breaker.admits() && breaker.admits() && !breaker.is_open());
    }

    #[test]
    fn one_failure_in_eight_is_borne_and_one_in_two_is_not() {
        let (breaker, _) = breaker(2);
        for _ in 0..20 {
            breaker.failed();
            for _ in 0..7 {
                breaker.succeeded();
            }
        }
        assert!(breaker.admits() && !breaker.is_open());
        breaker.failed();
        breaker.succeeded();
        breaker.failed();
        assert!(breaker.is_open(), "a provider that begins well and breaks off each time");
    }

    #[test]
    fn old_failures_are_forgotten() {
        let (breaker, at) = breaker(2);
        breaker.failed();
        at(60);
        breaker.failed();
        assert!(breaker.admits());
        at(119);
        breaker.failed();
        assert!(!breaker.admits());
    }

    #[test]
    fn a_probe_that_never_reports_does_not_close_the_way_for_ever() {
        let (breaker, at) = breaker(1);
        breaker.failed();
        at(30);
        assert!(breaker.admits());
        at(60);
        assert!(breaker.admits());
    }
}

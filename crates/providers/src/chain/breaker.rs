//! Circuit breaker: a provider that keeps failing is skipped for a while.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::tenant::Tenant;

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

/// The breaker of one provider in one role. Failures of one workspace open it for that workspace only: it opens for all
/// only on failures of several workspaces, and of each at most half of the limit counts toward that.
pub(crate) struct Breaker {
    limits: BreakerLimits,
    clock: Monotonic,
    state: Mutex<State>,
}

/// The outcome of a request.
struct Outcome {
    at: Duration,
    /// Whose request it was; none for those that no workspace made.
    of: Option<Tenant>,
    failed: bool,
}

#[derive(Default)]
struct State {
    /// The newest outcomes.
    outcomes: VecDeque<Outcome>,
    /// When it opened for all, or when the newest probe was admitted.
    open_since: Option<Duration>,
    /// The same for single workspaces.
    open_for: HashMap<Tenant, Duration>,
}

/// Workspaces for which a breaker can be open at once; the longest open are dropped first.
const OPEN_FOR: usize = 1_000;

/// Whether a breaker that opened at `since` admits a request, as its probe.
fn probed(since: &mut Duration, now: Duration, pause: Duration) -> bool {
    let over = now.saturating_sub(*since) >= pause;
    if over {
        *since = now;
    }
    over
}

impl Breaker {
    pub(crate) fn new(limits: BreakerLimits, clock: Monotonic) -> Self {
        Self {
            limits: BreakerLimits { failures: limits.failures.max(1), ..limits },
            clock,
            state: Mutex::default(),
        }
    }

    /// Whether the provider may be used now for `of`. An open breaker whose pause is over admits one probe per pause.
    pub(crate) fn admits(&self, of: Option<Tenant>) -> bool {
        let (now, pause) = ((self.clock)(), self.limits.pause);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = of.and_then(|of| state.open_for.get_mut(&of))
            && !probed(since, now, pause)
        {
            return false;
        }
        state.open_since.as_mut().is_none_or(|since| probed(since, now, pause))
    }

    /// The provider succeeded.
    pub(crate) fn succeeded(&self, of: Option<Tenant>) {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of) = of
            && state.open_for.remove(&of).is_some()
        {
            state.outcomes.retain(|outcome| outcome.of != Some(of));
        }
        if state.open_since.take().is_some() {
            state.outcomes.clear();
        }
        self.record(&mut state, Outcome { at: now, of, failed: false });
    }

    pub(crate) fn failed(&self, of: Option<Tenant>) {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.record(&mut state, Outcome { at: now, of, failed: true });
        if state.open_since.is_some() || self.several(&state) {
            state.open_since = Some(now);
        }
        let Some(of) = of else { return };
        let own = state.outcomes.iter().filter(|outcome| outcome.failed && outcome.of == Some(of)).count();
        if own >= self.limits.failures || state.open_for.contains_key(&of) {
            let longest = state.open_for.iter().min_by_key(|(_, since)| **since).map(|(of, _)| *of);
            if state.open_for.len() >= OPEN_FOR
                && let Some(longest) = longest
            {
                state.open_for.remove(&longest);
            }
            state.open_for.insert(of, now);
        }
    }

    /// Whether the counted failures reach the limit and come from more than one workspace.
    fn several(&self, state: &State) -> bool {
        let mut by: HashMap<Option<Tenant>, usize> = HashMap::new();
        for outcome in state.outcomes.iter().filter(|outcome| outcome.failed) {
            *by.entry(outcome.of).or_default() += 1;
        }
        let most = self.limits.failures.div_ceil(2);
        let counted: usize = by.iter().map(|(of, failed)| of.map_or(*failed, |_| (*failed).min(most))).sum();
        counted >= self.limits.failures && (by.len() > 1 || by.contains_key(&None))
    }

    fn record(&self, state: &mut State, outcome: Outcome) {
        let (window, now) = (self.limits.window, outcome.at);
        while state.outcomes.front().is_some_and(|outcome| now.saturating_sub(outcome.at) >= window) {
            state.outcomes.pop_front();
        }
        if state.outcomes.len() >= self.limits.failures.saturating_mul(4) {
            state.outcomes.pop_front();
        }
        state.outcomes.push_back(outcome);
    }

    /// Whether it is open for all, also while it is being probed.
    pub(crate) fn is_open(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).open_since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use domain::ids::Id;

    use super::*;

    fn workspace(number: u128) -> Tenant {
        Id::from_bits(number)
    }

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
        breaker.failed(None);
        breaker.failed(None);
        assert!(breaker.admits(None));
        breaker.failed(None);
        assert!(!breaker.admits(None) && breaker.is_open());
        at(29);
        assert!(!breaker.admits(None));
        at(30);
        assert!(breaker.admits(None), "the probe");
        assert!(!breaker.admits(None), "one at a time");
        breaker.failed(None);
        at(59);
        assert!(!breaker.admits(None), "a failed probe begins the pause again");
        at(60);
        assert!(breaker.admits(None));
        breaker.succeeded(None);
        assert!(breaker.admits(None) && breaker.admits(None) && !breaker.is_open());
    }

    #[test]
    fn one_failure_in_eight_is_borne_and_one_in_two_is_not() {
        let (breaker, _) = breaker(2);
        for _ in 0..20 {
            breaker.failed(None);
            for _ in 0..7 {
                breaker.succeeded(None);
            }
        }
        assert!(breaker.admits(None) && !breaker.is_open());
        breaker.failed(None);
        breaker.succeeded(None);
        breaker.failed(None);
        assert!(breaker.is_open(), "a provider that begins well and breaks off each time");
    }

    #[test]
    fn old_failures_are_forgotten() {
        let (breaker, at) = breaker(2);
        breaker.failed(None);
        at(60);
        breaker.failed(None);
        assert!(breaker.admits(None));
        at(119);
        breaker.failed(None);
        assert!(!breaker.admits(None));
    }

    #[test]
    fn a_probe_that_never_reports_does_not_close_the_way_for_ever() {
        let (breaker, at) = breaker(1);
        breaker.failed(None);
        at(30);
        assert!(breaker.admits(None));
        at(60);
        assert!(breaker.admits(None));
    }

    /// Repeated failures of one workspace are its own: its prompt, its tools, its flood.
    #[test]
    fn failures_of_one_workspace_close_the_way_for_it_alone() {
        let (breaker, at) = breaker(4);
        let (one, other) = (Some(workspace(1)), Some(workspace(2)));
        for _ in 0..20 {
            breaker.failed(one);
        }
        assert!(!breaker.is_open() && !breaker.admits(one) && breaker.admits(other) && breaker.admits(None));
        // A single failure of another one does not make it the provider's fault.
        breaker.failed(other);
        assert!(!breaker.is_open() && breaker.admits(other));
        breaker.failed(other);
        assert!(breaker.is_open() && !breaker.admits(other), "several workspaces meet it");
        at(30);
        assert!(breaker.admits(other) && !breaker.admits(other), "the probe");
        breaker.succeeded(other);
        assert!(breaker.admits(other) && breaker.admits(one) && !breaker.admits(one), "and one of its own");
        breaker.succeeded(one);
        assert!(breaker.admits(one) && breaker.admits(one));
    }

    #[test]
    fn workspaces_for_which_it_is_open_have_a_bound() {
        let (breaker, _) = breaker(1);
        for number in 0..2 * OPEN_FOR as u128 {
            breaker.failed(Some(workspace(number)));
        }
        assert_eq!(breaker.state.lock().unwrap().open_for.len(), OPEN_FOR);
    }
}

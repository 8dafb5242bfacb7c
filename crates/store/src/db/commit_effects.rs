//! Side effects of a transaction after its commit: jobs to wake, closures to run.

use std::sync::Arc;

/// Jobs to wake after a commit, as bits, whose meaning the caller defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WakeSet(pub u32);

/// Called after a commit with the jobs that it wakes; on PostgreSQL also for commits of other nodes.
pub type OnWake = Arc<dyn Fn(WakeSet) + Send + Sync>;

/// The side effects of a closure, run once the outcome of its commit is known, or known to be uncertain.
#[derive(Default)]
pub(super) struct CommitEffects {
    pub(super) wakes: u32,
    pub(super) after: Vec<Box<dyn FnOnce() + Send>>,
    pub(super) uncertain: Vec<Box<dyn FnOnce() + Send>>,
}

impl CommitEffects {
    pub(super) fn run(self, on_wake: &OnWake) {
        for effect in self.after {
            effect();
        }
        if self.wakes != 0 {
            on_wake(WakeSet(self.wakes));
        }
    }

    /// Runs the effects for an uncertain commit.
    pub(super) fn run_uncertain(self) {
        for effect in self.uncertain {
            effect();
        }
    }
}

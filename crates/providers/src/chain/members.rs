//! The providers of one role in their order, with what is counted of each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use domain::ports::{ProviderError, ProviderFault};

use super::breaker::{Breaker, BreakerLimits};
use super::figures::{Figure, Role};
use crate::http::Monotonic;

/// All kinds of failure, in the order of the counters.
const FAULTS: [ProviderFault; 7] = [
    ProviderFault::TimedOut,
    ProviderFault::Unreachable,
    ProviderFault::Forbidden,
    ProviderFault::Limited,
    ProviderFault::Refused,
    ProviderFault::Broken,
    ProviderFault::NotInstalled,
];

/// One provider in one role.
pub(super) struct Member<T: ?Sized> {
    pub(super) provider: Arc<T>,
    pub(super) name: String,
    breaker: Breaker,
    asked: AtomicU64,
    answered: AtomicU64,
    faults: [AtomicU64; 7],
}

impl<T: ?Sized> Member<T> {
    fn failed(&self, error: &ProviderError) {
        if let Some(at) = FAULTS.iter().position(|fault| *fault == error.fault) {
            self.faults[at].fetch_add(1, Ordering::Relaxed);
        }
        // A request that is refused says nothing of the provider: the same request fails everywhere, the next
        // one may not.
        if error.fault != ProviderFault::Refused {
            self.breaker.failed();
        }
    }

    fn figure(&self, role: Role) -> Figure {
        let count =
            |(fault, counter): (&ProviderFault, &AtomicU64)| (*fault, counter.load(Ordering::Relaxed));
        Figure {
            role,
            provider: self.name.clone(),
            asked: self.asked.load(Ordering::Relaxed),
            answered: self.answered.load(Ordering::Relaxed),
            faults: FAULTS.iter().zip(&self.faults).map(count).filter(|(_, count)| *count > 0).collect(),
            open: self.breaker.is_open(),
        }
    }
}

/// The providers of one role, the preferred first.
pub(super) struct Members<T: ?Sized> {
    pub(super) role: Role,
    list: Vec<Arc<Member<T>>>,
}

impl<T: ?Sized> Members<T> {
    pub(super) fn new(
        role: Role,
        providers: Vec<(String, Arc<T>)>,
        limits: BreakerLimits,
        clock: &Monotonic,
    ) -> Self {
        let member = |(name, provider)| {
            let breaker = Breaker::new(limits, clock.clone());
            Arc::new(Member {
                provider,
                name,
                breaker,
                asked: AtomicU64::new(0),
                answered: AtomicU64::new(0),
                faults: Default::default(),
            })
        };
        Self { role, list: providers.into_iter().map(member).collect() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.list.iter().map(|member| &member.provider)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.list.iter().map(|member| member.name.clone()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn figures(&self) -> impl Iterator<Item = Figure> {
        self.list.iter().map(|member| member.figure(self.role))
    }

    /// Those that fit, in order, each once.
    pub(super) fn tries(&self, fits: impl Fn(&T) -> bool) -> Tries<T> {
        self.tries_after(None, fits)
    }

    /// The same, beginning behind `last` and coming round to it at the end.
    pub(super) fn tries_after(&self, last: Option<&Member<T>>, fits: impl Fn(&T) -> bool) -> Tries<T> {
        let from = last
            .and_then(|last| self.list.iter().position(|member| std::ptr::eq(member.as_ref(), last)))
            .map_or(0, |at| at + 1);
        let turned = self.list[from..].iter().chain(&self.list[..from]);
        Tries {
            waiting: turned.filter(|member| fits(&member.provider)).cloned().collect(),
            passed_over: VecDeque::new(),
        }
    }

    /// What is said when nobody is left to ask.
    pub(super) fn nobody(&self, why: &str) -> ProviderError {
        ProviderError::new(self.role.setting(), ProviderFault::NotInstalled, why)
    }
}

/// Whom to ask next. Providers whose breaker is open come last: a caller on the line is better served by a
/// try than by silence.
pub(super) struct Tries<T: ?Sized> {
    waiting: VecDeque<Arc<Member<T>>>,
    passed_over: VecDeque<Arc<Member<T>>>,
}

impl<T: ?Sized> Tries<T> {
    /// These, and when they have failed `others`.
    pub(super) fn then(mut self, others: Self) -> Self {
        self.waiting.extend(others.waiting);
        self
    }

    /// The next to ask.
    pub(super) fn next(&mut self) -> Option<Asked<T>> {
        while let Some(member) = self.waiting.pop_front() {
            if member.breaker.admits() {
                return Some(Asked::new(member));
            }
            self.passed_over.push_back(member);
        }
        self.passed_over.pop_front().map(Asked::new)
    }
}

/// A provider that is being asked; says once how it went.
pub(super) struct Asked<T: ?Sized> {
    pub(super) member: Arc<Member<T>>,
    answered: AtomicBool,
}

impl<T: ?Sized> Asked<T> {
    fn new(member: Arc<Member<T>>) -> Self {
        member.asked.fetch_add(1, Ordering::Relaxed);
        Self { member, answered: AtomicBool::new(false) }
    }

    /// It works: counted once.
    pub(super) fn succeeded(&self) {
        if !self.answered.swap(true, Ordering::Relaxed) {
            self.member.answered.fetch_add(1, Ordering::Relaxed);
            self.member.breaker.succeeded();
        }
    }

    /// It failed.
    pub(super) fn failed(&self, error: &ProviderError) {
        self.member.failed(error);
    }
}

//! Providers of one kind in order of preference: which to use next, and counters for each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use domain::ports::{Answer, LanguageModel, ProviderError, ProviderFault, Recogniser, Synthesiser};
use domain::tenant::Tenant;
use futures_util::future::join_all;

use super::breaker::{Breaker, BreakerLimits};
use super::figures::{Check, Figure, Role};
use crate::http::Monotonic;

/// All kinds of failure, in the order of the counters.
pub(crate) const FAULTS: [ProviderFault; 8] = [
    ProviderFault::TimedOut,
    ProviderFault::Unreachable,
    ProviderFault::Forbidden,
    ProviderFault::Limited,
    ProviderFault::Refused,
    ProviderFault::Broken,
    ProviderFault::Silent,
    ProviderFault::NotInstalled,
];

/// One provider in one role.
pub(super) struct Member<T: ?Sized> {
    pub(super) provider: Arc<T>,
    pub(super) name: String,
    breaker: Breaker,
    asked: AtomicU64,
    answered: AtomicU64,
    faults: [AtomicU64; FAULTS.len()],
}

impl<T: ?Sized> Member<T> {
    fn failed(&self, error: &ProviderError, of: Option<Tenant>) {
        if let Some(at) = FAULTS.iter().position(|fault| *fault == error.fault) {
            self.faults[at].fetch_add(1, Ordering::Relaxed);
        }
        // A refused request, or a turn without a word, is not the provider's fault: other requests may succeed.
        if !matches!(error.fault, ProviderFault::Refused | ProviderFault::Silent) {
            self.breaker.failed(of);
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

/// What a chain needs to know about its kind of provider.
pub trait Kind: Send + Sync {
    /// What providers of this kind are used for.
    const ROLE: Role;
    /// The error message when no provider is available.
    const NONE: &'static str;

    /// As the settings name it.
    fn name(&self) -> &str;

    /// Whether its data stays in India.
    fn resident(&self) -> bool;

    /// Whether it can be used, with a short description for a person.
    fn check(&self) -> Answer<'_, Result<String, ProviderError>>;
}

macro_rules! kinds {
    ($($port:ident: $role:ident, $none:literal;)*) => {$(
        impl Kind for dyn $port {
            const ROLE: Role = Role::$role;
            const NONE: &'static str = $none;

            fn name(&self) -> &str {
                $port::name(self)
            }

            fn resident(&self) -> bool {
                $port::resident(self)
            }

            fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
                $port::check(self)
            }
        }
    )*};
}

kinds! {
    Recogniser: ToText, "no recogniser is set up for this language";
    Synthesiser: FromText, "no synthesiser is set up for this language";
    LanguageModel: Model, "no language model is set up";
}

/// Providers of one kind in order of preference, as one. Clones share the counters.
pub struct Chain<T: ?Sized> {
    list: Arc<[Arc<Member<T>>]>,
    name: Arc<str>,
}

impl<T: ?Sized> Clone for Chain<T> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), name: self.name.clone() }
    }
}

impl<T: ?Sized + Kind> Chain<T> {
    /// A chain of these, the preferred first.
    pub fn new(providers: Vec<Arc<T>>, limits: BreakerLimits, clock: &Monotonic) -> Self {
        let names: Vec<&str> = providers.iter().map(|provider| provider.name()).collect();
        let name = names.join(",").into();
        let member = |provider: Arc<T>| {
            Arc::new(Member {
                name: provider.name().to_owned(),
                provider,
                breaker: Breaker::new(limits, clock.clone()),
                asked: AtomicU64::new(0),
                answered: AtomicU64::new(0),
                faults: Default::default(),
            })
        };
        Self { list: providers.into_iter().map(member).collect(), name }
    }

    /// The names of all, in order, with commas between them.
    pub(super) fn names(&self) -> &str {
        &self.name
    }

    /// The names of its providers, in order, each once.
    pub fn member_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for member in self.list.iter().filter(|member| !names.contains(&member.name)).collect::<Vec<_>>() {
            names.push(member.name.clone());
        }
        names
    }

    /// The same providers with this one first; their counters and breakers stay the same ones.
    pub fn preferring(&self, name: &str) -> Self {
        let (first, others): (Vec<_>, Vec<_>) =
            self.list.iter().cloned().partition(|member| member.name == name);
        let list: Vec<Arc<Member<T>>> = first.into_iter().chain(others).collect();
        let names: Vec<&str> = list.iter().map(|member| member.name.as_str()).collect();
        Self { name: names.join(",").into(), list: list.into() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.list.iter().map(|member| &member.provider)
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is no provider.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn all_resident(&self) -> bool {
        self.iter().all(|provider| provider.resident())
    }

    pub(super) fn figures(&self) -> impl Iterator<Item = Figure> {
        self.list.iter().map(|member| member.figure(T::ROLE))
    }

    /// Runs the health check of every provider, all at once.
    pub(super) async fn checks(&self) -> Vec<Check> {
        let checks = self.iter().map(|provider| async {
            Check { name: provider.name().to_owned(), role: T::ROLE, outcome: provider.check().await }
        });
        join_all(checks).await
    }

    /// The first provider that can be used; otherwise why the last one cannot.
    pub(super) async fn check_in_order(&self) -> Result<String, ProviderError> {
        let mut last = self.none();
        for provider in self.iter() {
            match provider.check().await {
                Ok(words) => return Ok(format!("{}: {words}", provider.name())),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The matching providers, in order, each once.
    pub(super) fn tries(&self, fits: impl Fn(&T) -> bool) -> Tries<T> {
        self.tries_after(None, fits)
    }

    /// The same, beginning after `last`, which comes at the end.
    pub(super) fn tries_after(&self, last: Option<&Member<T>>, fits: impl Fn(&T) -> bool) -> Tries<T> {
        let from = last
            .and_then(|last| self.list.iter().position(|member| std::ptr::eq(member.as_ref(), last)))
            .map_or(0, |at| at + 1);
        let turned = self.list[from..].iter().chain(&self.list[..from]);
        Tries {
            waiting: turned.filter(|member| fits(&member.provider)).cloned().collect(),
            of: None,
            passed_over: VecDeque::new(),
            failure: None,
        }
    }

    /// The error when no provider is available.
    pub(super) fn none(&self) -> ProviderError {
        ProviderError::new(T::ROLE.setting(), ProviderFault::NotInstalled, T::NONE)
    }
}

/// The order of providers to try. Those with an open breaker come last: a try serves a caller on the line better than
/// silence.
pub(super) struct Tries<T: ?Sized> {
    waiting: VecDeque<Arc<Member<T>>>,
    /// The workspace of the request.
    of: Option<Tenant>,
    passed_over: VecDeque<Arc<Member<T>>>,
    failure: Option<ProviderError>,
}

impl<T: ?Sized> Tries<T> {
    /// For a workspace: failures count as its own.
    pub(super) fn of(mut self, workspace: Option<Tenant>) -> Self {
        self.of = workspace;
        self
    }

    /// These, and the `others` when all of these have failed.
    pub(super) fn then(mut self, others: Self) -> Self {
        self.waiting.extend(others.waiting);
        self
    }

    /// Tries one after the other until one accepts; `None` when all have failed.
    pub(super) async fn begin<R>(
        &mut self,
        ask: impl for<'a> Fn(&'a T) -> Answer<'a, Result<R, ProviderError>>,
    ) -> Option<(R, Asked<T>)> {
        while let Some(asked) = self.next() {
            match ask(&asked.member.provider).await {
                Ok(begun) => return Some((begun, asked)),
                Err(error) => {
                    asked.failed(&error);
                    self.failure = Some(error);
                }
            }
        }
        None
    }

    /// The newest failure in [`begin`](Self::begin) that was not taken yet.
    pub(super) fn take_failure(&mut self) -> Option<ProviderError> {
        self.failure.take()
    }

    fn next(&mut self) -> Option<Asked<T>> {
        while let Some(member) = self.waiting.pop_front() {
            if member.breaker.admits(self.of) {
                return Some(Asked::new(member, self.of));
            }
            self.passed_over.push_back(member);
        }
        self.passed_over.pop_front().map(|member| Asked::new(member, self.of))
    }
}

/// A provider in use. The caller reports the outcome.
pub(super) struct Asked<T: ?Sized> {
    pub(super) member: Arc<Member<T>>,
    of: Option<Tenant>,
    answered: AtomicBool,
}

impl<T: ?Sized> Asked<T> {
    fn new(member: Arc<Member<T>>, of: Option<Tenant>) -> Self {
        member.asked.fetch_add(1, Ordering::Relaxed);
        Self { member, of, answered: AtomicBool::new(false) }
    }

    /// It answered. Further answers to the same request are not counted.
    pub(super) fn succeeded(&self) {
        if !self.answered.swap(true, Ordering::Relaxed) {
            self.member.answered.fetch_add(1, Ordering::Relaxed);
            self.member.breaker.succeeded(self.of);
        }
    }

    pub(super) fn failed(&self, error: &ProviderError) {
        self.member.failed(error, self.of);
    }
}

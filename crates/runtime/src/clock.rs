//! The one clock. Everything that reads the time or sleeps does so here, so that with `clock = manual` a test can move
//! the time and know when all work that it started has settled (docs/contract/sandbox.md#clock).
//!
//! The manual clock counts running work. A job is counted from its start, but not while it waits in [`Job::wait`]; a
//! task of [`Clock::spawn`] is counted until it ends, but not while it sleeps; waits in [`Clock::outside`] are counted
//! apart. Waking work counts it in the same step, so there is no moment at which woken work is not counted.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::time::Timestamp;
use tokio::sync::{Notify, oneshot, watch};
use tokio_util_lite::TaskCount;

use crate::steady::Steady;

/// Real time that the manual clock gives outside waits before it steps on.
const OUTSIDE_GRACE: Duration = Duration::from_millis(300);
/// Real time after which the manual clock logs an error and steps on although inside work has not settled: a defect.
const STUCK: Duration = Duration::from_secs(60);
/// Longest interval between two polls of a job on the real clock.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The service's clock; cloning it is cheap.
#[derive(Clone)]
pub struct Clock(Arc<Inner>);

struct Inner {
    manual: Option<Mutex<Manual>>,
    /// Milliseconds by which a clock that runs is ahead of the system's.
    ahead: i64,
    steady: Steady,
    outside_grace: Duration,
    settled: Notify,
    moving: tokio::sync::Mutex<()>,
    stop: watch::Sender<bool>,
    tasks: TaskCount,
}

struct Manual {
    now: Timestamp,
    sleepers: BTreeMap<(i64, u64), oneshot::Sender<()>>,
    next_sleeper: u64,
    /// Running inside work.
    busy: usize,
    /// Work in outside waits.
    outside: usize,
}

/// Why a job woke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// It was signalled, or its due time has come.
    Work,
    Stop,
}

/// Wakes one job; raising it again before the job has polled changes nothing.
#[derive(Clone)]
pub struct Signal(Arc<SignalInner>);

struct SignalInner {
    clock: Clock,
    pending: AtomicBool,
    /// Its job is in an outside wait: a raise counts as work only when it is back.
    away: AtomicBool,
    notify: Notify,
}

tokio::task_local! {
    /// The signal of the job that runs in this task.
    static OF_JOB: Signal;
    /// Whether this task is counted, and not outside.
    static INSIDE: Cell<bool>;
}

mod tokio_util_lite {
    //! A count of running tasks that can be waited for.

    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Notify;

    #[derive(Default)]
    pub(super) struct TaskCount {
        running: AtomicUsize,
        none: Notify,
    }

    impl TaskCount {
        pub(super) fn enter(&self) {
            self.running.fetch_add(1, Ordering::SeqCst);
        }

        pub(super) fn leave(&self) {
            if self.running.fetch_sub(1, Ordering::SeqCst) == 1 {
                self.none.notify_waiters();
            }
        }

        pub(super) async fn wait_for_none(&self) {
            loop {
                let none = self.none.notified();
                if self.running.load(Ordering::SeqCst) == 0 {
                    return;
                }
                none.await;
            }
        }
    }
}

impl Clock {
    pub fn real() -> Self {
        Self::new(None, 0, OUTSIDE_GRACE)
    }

    /// A clock that shows `now` and runs on as the real one does: for tests that need an hour of the day.
    pub fn running_from(now: Timestamp) -> Self {
        Self::new(None, now.0 - system_now().0, OUTSIDE_GRACE)
    }

    /// A clock that stops at the present time until it is set.
    pub fn manual() -> Self {
        Self::manual_at(system_now())
    }

    /// A clock that stops at `now` until it is set.
    pub fn manual_at(now: Timestamp) -> Self {
        Self::manual_with(now, OUTSIDE_GRACE)
    }

    /// The same, with this much real time for outside waits: none in a simulation, where the outside is part of the
    /// test.
    pub fn manual_with(now: Timestamp, outside_grace: Duration) -> Self {
        Self::new(
            Some(Mutex::new(Manual { now, sleepers: BTreeMap::new(), next_sleeper: 0, busy: 0, outside: 0 })),
            0,
            outside_grace,
        )
    }

    fn new(manual: Option<Mutex<Manual>>, ahead: i64, outside_grace: Duration) -> Self {
        Self(Arc::new(Inner {
            manual,
            ahead,
            steady: Steady::new(system_now().0),
            outside_grace,
            settled: Notify::new(),
            moving: tokio::sync::Mutex::new(()),
            stop: watch::Sender::new(false),
            tasks: TaskCount::default(),
        }))
    }

    fn lock(&self) -> Option<MutexGuard<'_, Manual>> {
        self.0.manual.as_ref().map(|manual| manual.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The current time. The real clock follows a sudden step of the machine's clock after a minute.
    pub fn now(&self) -> Timestamp {
        let system = || Timestamp(self.0.steady.now(system_now().0)).plus(self.0.ahead);
        self.lock().map_or_else(system, |manual| manual.now)
    }

    /// Whether this is a manual clock.
    pub fn is_manual(&self) -> bool {
        self.0.manual.is_some()
    }

    fn begin(&self) {
        if let Some(mut manual) = self.lock() {
            manual.busy += 1;
        }
    }

    fn end(&self) {
        if let Some(mut manual) = self.lock() {
            // A runtime that shuts down drops sleeping tasks, which are not counted.
            manual.busy = manual.busy.saturating_sub(1);
            if manual.busy == 0 {
                self.0.settled.notify_waiters();
            }
        }
    }

    /// A signal for one job.
    pub fn signal(&self) -> Signal {
        Signal(Arc::new(SignalInner {
            clock: self.clone(),
            pending: AtomicBool::new(false),
            away: AtomicBool::new(false),
            notify: Notify::new(),
        }))
    }

    /// Starts a job that lives as long as the service. It must spend its idle time in [`Job::wait`] and end on
    /// [`Woken::Stop`].
    pub fn start_job<F: Future<Output = ()> + Send + 'static>(
        &self,
        signal: Signal,
        job: impl FnOnce(Job) -> F,
    ) {
        let stop = self.0.stop.subscribe();
        let future = job(Job { clock: self.clone(), signal: signal.clone(), stop });
        self.spawn(OF_JOB.scope(signal, future));
    }

    /// Runs a task that the manual clock waits for. A shutdown waits for it too, within its grace.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_boxed(Box::pin(task));
    }

    /// A future that the manual clock waits for, to be spawned in a `JoinSet`. In the task of a job its waits would be
    /// counted as those of the job.
    pub fn counted<T, F: Future<Output = T>>(&self, work: F) -> impl Future<Output = T> + use<T, F> {
        self.begin();
        self.0.tasks.enter();
        let guard = Counted(self.clone());
        INSIDE.scope(Cell::new(true), async move {
            let result = work.await;
            drop(guard);
            result
        })
    }

    /// [`Clock::spawn`] with the task's type erased, so that the runtime's part of a task is compiled once.
    fn spawn_boxed(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.begin();
        self.0.tasks.enter();
        let guard = Counted(self.clone());
        tokio::spawn(INSIDE.scope(Cell::new(true), async move {
            task.await;
            drop(guard);
        }));
    }

    /// Waits for something outside the process (the network, a program), for which the manual clock waits a bounded
    /// real time only. Use it inside counted work, and do not nest it: otherwise the count becomes too low, and the
    /// manual clock waits until it gives up.
    pub async fn outside<T>(&self, work: impl Future<Output = T>) -> T {
        let job = OF_JOB.try_with(Signal::clone).ok();
        if let Some(mut manual) = self.lock() {
            let inside = INSIDE.try_with(|inside| inside.replace(false));
            debug_assert_eq!(
                inside.ok(),
                Some(true),
                "Clock::outside in work that is not counted, or in itself"
            );
            manual.busy = manual.busy.saturating_sub(1);
            manual.outside += 1;
            if let Some(job) = &job {
                job.0.away.store(true, Ordering::SeqCst);
                if job.0.pending.load(Ordering::SeqCst) {
                    manual.busy = manual.busy.saturating_sub(1);
                }
            }
            if manual.busy == 0 {
                self.0.settled.notify_waiters();
            }
        }
        let _back = Back(self, job);
        work.await
    }

    /// Sleeps until `due`, inside a task of [`Clock::spawn`]. Ends early, with `Stop`, when the service
    /// stops.
    pub async fn sleep_until(&self, due: Timestamp) -> Woken {
        let mut stop = self.0.stop.subscribe();
        if *stop.borrow_and_update() {
            return Woken::Stop;
        }
        let Some((key, mut fired)) = self.register(due) else {
            let wait = Duration::from_millis(u64::try_from(due.0 - self.now().0).unwrap_or(0));
            if self.is_manual() || wait.is_zero() {
                return Woken::Work;
            }
            return tokio::select! {
                () = real_sleep(wait) => Woken::Work,
                _ = stop.changed() => Woken::Stop,
            };
        };
        self.end();
        tokio::select! {
            biased;
            _ = &mut fired => Woken::Work,
            _ = stop.changed() => {
                self.unregister(key);
                Woken::Stop
            }
        }
    }

    /// Registers a sleeper with the manual clock; `None` on the real one or when `due` has passed.
    fn register(&self, due: Timestamp) -> Option<((i64, u64), oneshot::Receiver<()>)> {
        let mut manual = self.lock()?;
        if due <= manual.now {
            return None;
        }
        let key = (due.0, manual.next_sleeper);
        manual.next_sleeper += 1;
        let (fire, fired) = oneshot::channel();
        manual.sleepers.insert(key, fire);
        Some((key, fired))
    }

    /// Removes a sleeper and counts its owner as running, unless the clock has fired it and did that already.
    fn unregister(&self, key: (i64, u64)) {
        if let Some(mut manual) = self.lock()
            && manual.sleepers.remove(&key).is_some()
        {
            manual.busy += 1;
        }
    }

    /// Signals the stop to all jobs and sleepers, and waits until all tasks have ended or `grace` is over. Returns
    /// whether all ended.
    pub async fn shut_down(&self, grace: Duration) -> bool {
        self.0.stop.send_replace(true);
        tokio::time::timeout(grace, self.0.tasks.wait_for_none()).await.is_ok()
    }

    /// Whether the service stops.
    pub fn stopping(&self) -> bool {
        *self.0.stop.borrow()
    }

    /// A watch receiver that changes when the service stops.
    pub fn stopped(&self) -> watch::Receiver<bool> {
        let mut stopped = self.0.stop.subscribe();
        // A late subscriber sees the stop, too: a service may be stopped before its listener has begun.
        if *stopped.borrow() {
            stopped.mark_changed();
        }
        stopped
    }

    /// Moves a manual clock to `target`, firing every timer due up to it in order and waiting for the work of each.
    /// Returns the new time; `None` on a real clock or when `target` is in the past.
    pub async fn advance_to(&self, target: Timestamp) -> Option<Timestamp> {
        let _one_at_a_time = self.0.moving.lock().await;
        if target < self.lock()?.now {
            return None;
        }
        loop {
            self.settle().await;
            if self.lock()?.outside > 0 {
                // The task that moves the clock may itself be in an outside wait.
                tokio::task::yield_now().await;
            }
            let mut manual = self.lock()?;
            let due = manual.sleepers.keys().next().copied().filter(|(due, _)| *due <= target.0);
            let Some(key) = due else {
                manual.now = manual.now.max(target);
                break;
            };
            manual.now = manual.now.max(Timestamp(key.0));
            if let Some(fire) = manual.sleepers.remove(&key)
                && fire.send(()).is_ok()
            {
                manual.busy += 1;
            }
        }
        self.settle().await;
        Some(self.now())
    }

    /// When the next timer of a manual clock fires; `None` without one, and on a real clock. A test that moves the
    /// clocks of several nodes steps from one such time to the next.
    pub fn next_timer(&self) -> Option<Timestamp> {
        self.lock()?.sleepers.keys().next().map(|(due, _)| Timestamp(*due))
    }

    /// Whether no inside work runs. Outside waits do not count.
    pub fn is_idle(&self) -> bool {
        self.lock().is_some_and(|manual| manual.busy == 0)
    }

    /// Sets a manual clock at once, like a correction of the system's clock or a machine that slept: no timer fires on
    /// the way. Due timers fire with the next [`Clock::advance_to`]; after a step back all do, since waits measure
    /// elapsed time. `false` on a real clock.
    pub fn step_to(&self, now: Timestamp) -> bool {
        let Some(mut manual) = self.lock() else { return false };
        let back = now < manual.now;
        manual.now = now;
        if back {
            for (_, fire) in std::mem::take(&mut manual.sleepers) {
                if fire.send(()).is_ok() {
                    manual.busy += 1;
                }
            }
        }
        true
    }

    /// Waits until no inside work runs, and a bounded real time for outside waits.
    async fn settle(&self) {
        let stuck = tokio::time::Instant::now() + STUCK;
        let mut grace_ends = None;
        loop {
            let settled = self.0.settled.notified();
            let mut settled = std::pin::pin!(settled);
            settled.as_mut().enable();
            let Some((busy, outside)) = self.lock().map(|manual| (manual.busy, manual.outside)) else {
                return;
            };
            let now = tokio::time::Instant::now();
            if busy == 0 && outside == 0 {
                return;
            }
            if now >= stuck {
                tracing::error!(
                    busy,
                    outside,
                    "work that the manual clock counts has not settled in a minute"
                );
                return;
            }
            let until = if busy > 0 { stuck } else { *grace_ends.get_or_insert(now + self.0.outside_grace) };
            if busy == 0 && now >= until {
                return;
            }
            let _ = tokio::time::timeout_at(until, settled).await;
        }
    }
}

/// Stops counting a task, however it ends.
struct Counted(Clock);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.end();
        self.0.0.tasks.leave();
    }
}

/// Counts work as inside again after an outside wait.
struct Back<'a>(&'a Clock, Option<Signal>);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        if let Some(mut manual) = self.0.lock() {
            // A runtime that shuts down drops tasks outside of a task context.
            let _ = INSIDE.try_with(|inside| inside.set(true));
            manual.outside -= 1;
            manual.busy += 1;
            if let Some(job) = &self.1 {
                job.0.away.store(false, Ordering::SeqCst);
                manual.busy += usize::from(job.0.pending.load(Ordering::SeqCst));
            }
            if manual.outside == 0 {
                self.0.0.settled.notify_waiters();
            }
        }
    }
}

impl Signal {
    /// Wakes the job.
    pub fn raise(&self) {
        if let Some(mut manual) = self.0.clock.lock() {
            if self.0.pending.swap(true, Ordering::SeqCst) {
                return;
            }
            manual.busy += usize::from(!self.0.away.load(Ordering::SeqCst));
        } else {
            self.0.pending.store(true, Ordering::SeqCst);
        }
        self.0.notify.notify_one();
    }
}

/// A job's handle on the clock.
pub struct Job {
    clock: Clock,
    signal: Signal,
    stop: watch::Receiver<bool>,
}

impl Job {
    /// Waits until the signal is raised or `due` comes; with neither pending the job counts as idle.
    pub async fn wait(&mut self, due: Option<Timestamp>) -> Woken {
        if *self.stop.borrow_and_update() {
            return Woken::Stop;
        }
        if self.clock.is_manual() { self.wait_manual(due).await } else { self.wait_real(due).await }
    }

    async fn wait_real(&mut self, due: Option<Timestamp>) -> Woken {
        if self.signal.0.pending.swap(false, Ordering::SeqCst) {
            return Woken::Work;
        }
        let now = self.clock.now();
        // `Instant` is not the clock: poll again after a while, since the clock may have been set or the machine may
        // have slept.
        let wait = due.map_or(LONGEST_WAIT, |due| {
            Duration::from_millis(u64::try_from(due.0 - now.0).unwrap_or(0)).min(LONGEST_WAIT)
        });
        let woken = tokio::select! {
            () = self.signal.0.notify.notified() => Woken::Work,
            () = real_sleep(wait) => Woken::Work,
            _ = self.stop.changed() => Woken::Stop,
        };
        self.signal.0.pending.store(false, Ordering::SeqCst);
        woken
    }

    async fn wait_manual(&mut self, due: Option<Timestamp>) -> Woken {
        let sleeper = {
            let Some(mut manual) = self.clock.lock() else { return Woken::Work };
            if self.signal.0.pending.swap(false, Ordering::SeqCst) {
                // The raise was counted and so is this job; it is one unit of work.
                manual.busy -= 1;
                return Woken::Work;
            }
            if due.is_some_and(|due| due <= manual.now) {
                return Woken::Work;
            }
            manual.busy -= 1;
            if manual.busy == 0 {
                self.clock.0.settled.notify_waiters();
            }
            due.map(|due| {
                let key = (due.0, manual.next_sleeper);
                manual.next_sleeper += 1;
                let (fire, fired) = oneshot::channel();
                manual.sleepers.insert(key, fire);
                (key, fired)
            })
        };
        let (key, mut fired) = sleeper.map_or((None, None), |(key, fired)| (Some(key), Some(fired)));
        loop {
            let time = async {
                match &mut fired {
                    Some(fired) => drop(fired.await),
                    None => std::future::pending().await,
                }
            };
            let stopped = tokio::select! {
                biased;
                () = self.signal.0.notify.notified() => false,
                () = time => false,
                _ = self.stop.changed() => true,
            };
            let Some(mut manual) = self.clock.lock() else { return Woken::Work };
            let slept = key.is_some_and(|key| manual.sleepers.remove(&key).is_some());
            // The waker has counted us: the timer if it is gone, the signal if it is pending; if both, once too often.
            let by_time = key.is_some() && !slept;
            let by_signal = self.signal.0.pending.swap(false, Ordering::SeqCst);
            match (by_time, by_signal) {
                (true, true) => manual.busy -= 1,
                (true, false) | (false, true) => {}
                (false, false) if stopped => manual.busy += 1,
                (false, false) => {
                    // A late notification of a signal that was already consumed: sleep on.
                    if let (Some(key), true) = (key, slept) {
                        let (fire, again) = oneshot::channel();
                        manual.sleepers.insert(key, fire);
                        fired = Some(again);
                    }
                    continue;
                }
            }
            return if stopped { Woken::Stop } else { Woken::Work };
        }
    }
}

#[allow(clippy::disallowed_methods)]
fn system_now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[allow(clippy::disallowed_methods)]
async fn real_sleep(wait: Duration) {
    tokio::time::sleep(wait).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::SECOND;
    use std::sync::atomic::AtomicUsize;

    #[tokio::test]
    async fn timers_fire_in_order_and_their_work_settles() {
        let clock = Clock::manual_at(Timestamp(0));
        let seen = Arc::new(Mutex::new(Vec::new()));
        for seconds in [3, 1, 2, 9] {
            let (clock_, seen) = (clock.clone(), seen.clone());
            clock.spawn(async move {
                clock_.sleep_until(Timestamp(seconds * SECOND)).await;
                seen.lock().unwrap().push((seconds, clock_.now().0 / SECOND));
                tokio::task::yield_now().await;
                let later = clock_.now().plus(SECOND / 2);
                clock_.sleep_until(later).await;
                seen.lock().unwrap().push((seconds * 10, clock_.now().0));
            });
        }
        assert!(!clock.is_idle());
        assert_eq!(clock.advance_to(Timestamp(4 * SECOND)).await, Some(Timestamp(4 * SECOND)));
        assert_eq!((clock.next_timer(), clock.is_idle()), (Some(Timestamp(9 * SECOND)), true));
        assert_eq!(*seen.lock().unwrap(), vec![(1, 1), (10, 1500), (2, 2), (20, 2500), (3, 3), (30, 3500)]);
        assert_eq!(clock.advance_to(Timestamp(SECOND)).await, None);
    }

    #[tokio::test]
    async fn a_signal_is_never_lost_and_its_work_is_waited_for() {
        let clock = Clock::manual_at(Timestamp(0));
        let signal = clock.signal();
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = runs.clone();
        clock.start_job(signal.clone(), |mut job| async move {
            while job.wait(Some(Timestamp(60 * SECOND))).await == Woken::Work {
                tokio::task::yield_now().await;
                counted.fetch_add(1, Ordering::SeqCst);
                if job.clock.now() >= Timestamp(60 * SECOND) {
                    break;
                }
            }
        });
        for round in 1..50 {
            signal.raise();
            signal.raise();
            clock.advance_to(Timestamp(round)).await;
            assert_eq!(runs.load(Ordering::SeqCst), round as usize);
        }
        clock.advance_to(Timestamp(61 * SECOND)).await;
        assert_eq!(runs.load(Ordering::SeqCst), 50);
        assert!(clock.shut_down(Duration::from_secs(5)).await);
    }

    #[tokio::test]
    async fn a_step_fires_what_it_passed_and_a_step_back_wakes_everybody() {
        let clock = Clock::manual_at(Timestamp(100 * SECOND));
        let woken = Arc::new(Mutex::new(Vec::new()));
        let seen = woken.clone();
        clock.start_job(clock.signal(), |mut job| async move {
            while job.wait(Some(Timestamp(200 * SECOND))).await == Woken::Work {
                let now = job.clock.now();
                seen.lock().unwrap().push(now.0 / SECOND);
                if now >= Timestamp(200 * SECOND) {
                    break;
                }
            }
        });
        clock.advance_to(Timestamp(110 * SECOND)).await;
        assert!(clock.step_to(Timestamp(50 * SECOND)));
        assert_eq!(clock.advance_to(Timestamp(60 * SECOND)).await, Some(Timestamp(60 * SECOND)));
        assert!(clock.step_to(Timestamp(500 * SECOND)));
        assert_eq!(clock.advance_to(Timestamp(500 * SECOND)).await, Some(Timestamp(500 * SECOND)));
        assert_eq!(
            *woken.lock().unwrap(),
            vec![50, 500],
            "early after the step back, late after the step forward"
        );
        assert!(!Clock::real().step_to(Timestamp(0)));
    }

    #[tokio::test]
    async fn a_job_that_waits_outside_is_woken_when_it_is_back() {
        let clock = Clock::manual_with(Timestamp(0), Duration::ZERO);
        let signal = clock.signal();
        let (send, receive) = oneshot::channel::<()>();
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = runs.clone();
        let mut receive = Some(receive);
        clock.start_job(signal.clone(), |mut job| async move {
            while job.wait(None).await == Woken::Work {
                counted.fetch_add(1, Ordering::SeqCst);
                if let Some(receive) = receive.take() {
                    drop(job.clock.outside(receive).await);
                }
            }
        });
        signal.raise();
        clock.advance_to(Timestamp(1)).await;
        signal.raise();
        // It cannot poll before the answer is here, and nobody waits for that.
        assert_eq!(clock.advance_to(Timestamp(SECOND)).await, Some(Timestamp(SECOND)));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        drop(send);
        tokio::task::yield_now().await;
        clock.advance_to(Timestamp(2 * SECOND)).await;
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn what_waits_outside_is_given_a_while_only() {
        let clock = Clock::manual_at(Timestamp(0));
        let inner = clock.clone();
        clock.spawn(async move { inner.outside(std::future::pending::<()>()).await });
        assert_eq!(clock.advance_to(Timestamp(SECOND)).await, Some(Timestamp(SECOND)));
    }

    #[cfg(debug_assertions)]
    #[tokio::test]
    #[should_panic(expected = "not counted")]
    async fn work_that_is_not_counted_does_not_go_outside() {
        Clock::manual_at(Timestamp(0)).outside(async {}).await;
    }

    #[tokio::test]
    async fn who_comes_back_from_outside_may_go_again() {
        let clock = Clock::manual_at(Timestamp(0));
        let (inner, times) = (clock.clone(), Arc::new(AtomicUsize::new(0)));
        let counted = times.clone();
        clock.spawn(async move {
            for _ in 0..3 {
                inner.outside(tokio::task::yield_now()).await;
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        clock.advance_to(Timestamp(SECOND)).await;
        assert_eq!(times.load(Ordering::SeqCst), 3);
    }
}

//! Batches concurrent requests into one transaction, so that a row which all of them update is locked once: on a shared
//! store each transaction costs round trips and a commit, and transactions that update the same row wait for each
//! other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::tenant::Tenant;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::time::Instant;

use crate::Failure;

/// The result of a piece of work; `None` when it needs a transaction of its own.
pub type Shared<A> = Option<Result<A, Failure>>;

/// The results of `count` pieces of work in one batch, one for each.
pub fn share_out<A>(count: usize, stored: Result<Vec<Shared<A>>, Failure>) -> Vec<Shared<A>> {
    match stored {
        Ok(answers) => answers,
        // The store is away, or the outcome is uncertain.
        Err(failure) if failure.of_store => (0..count).map(|_| Some(Err(failure.clone()))).collect(),
        // One of them may be the cause.
        Err(_) => (0..count).map(|_| None).collect(),
    }
}

/// A queued piece, with the receiver of its result.
type Waiting<T, A> = Vec<(T, oneshot::Sender<A>)>;

/// Batching delay: how long a batch waits for as many pieces as the last one had. Clients that are answered together
/// send their next requests within milliseconds, and the first of them would run alone. In real time, whatever the
/// clock shows.
const LINGER: Duration = Duration::from_millis(4);

/// A batcher.
pub struct Batcher<T, A> {
    waiting: Mutex<Waiting<T, A>>,
    /// The workers, which run their own pieces and others'.
    first: Semaphore,
    /// Further workers, once enough pieces wait. Without that bound the first piece would run alone, and many more
    /// pieces right after it.
    more: Semaphore,
    enough: usize,
    /// Most pieces in one batch.
    most: usize,
    /// Pieces in the last batch.
    last: AtomicUsize,
    /// A piece has arrived.
    came: Notify,
}

impl<T, A> Batcher<T, A> {
    /// A batcher with at most `most` pieces in a batch, and this many concurrent batches (at least one).
    pub fn new(most: usize, turns: usize) -> Self {
        let (first, more) = (Semaphore::new(1), Semaphore::new(turns - 1));
        let (last, came) = (AtomicUsize::new(0), Notify::new());
        Self { waiting: Mutex::default(), first, more, enough: (most / 4).max(1), most, last, came }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T, A>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the batching delay, if it pays.
    async fn linger(&self) {
        let wanted = self.last.load(Ordering::Relaxed);
        let enough = async {
            while self.lock().len() < wanted {
                self.came.notified().await;
            }
        };
        let _ = tokio::time::timeout(LINGER, enough).await;
    }

    /// Waits until a piece was run, by `work` of this caller or of another one, and returns its result: `work` has one
    /// for each piece, in their order. `None` when the caller that ran it was cancelled.
    pub async fn ask<F: Future<Output = Vec<A>>>(&self, piece: T, work: impl Fn(Vec<T>) -> F) -> Option<A> {
        // The record of its request is written in its transaction, and in nobody else's.
        if store::db::is_accompanied() {
            return work(vec![piece]).await.pop();
        }
        let (send, mut answer) = oneshot::channel();
        let waiting = {
            let mut waiting = self.lock();
            waiting.push((piece, send));
            waiting.len()
        };
        self.came.notify_one();
        let beside = if waiting >= self.enough { self.more.try_acquire().ok() } else { None };
        let turn = match beside {
            Some(turn) => turn,
            None => tokio::select! {
                biased;
                answer = &mut answer => return answer.ok(),
                turn = self.first.acquire() => turn.ok()?,
            },
        };
        // There may be many older ones: this one is run in the end, or another caller has it.
        loop {
            match answer.try_recv() {
                Ok(answer) => return Some(answer),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) => {}
            }
            self.linger().await;
            let (pieces, callers): (Vec<T>, Vec<_>) = {
                let mut waiting = self.lock();
                let count = waiting.len().min(self.most);
                waiting.drain(..count).unzip()
            };
            if pieces.is_empty() {
                drop(turn);
                return answer.await.ok();
            }
            self.last.store(pieces.len(), Ordering::Relaxed);
            for (caller, answer) in callers.into_iter().zip(work(pieces).await) {
                let _ = caller.send(answer);
            }
        }
    }
}

/// Batchers, one for each workspace, so that none delays another.
pub struct Batchers<T, A> {
    known: Mutex<HashMap<Tenant, Arc<Batcher<T, A>>>>,
    most: usize,
    turns: usize,
}

/// Remembered batchers. Beyond that all are replaced: pieces waiting at an old one are run there.
const REMEMBERED: usize = 10_000;

impl<T, A> Batchers<T, A> {
    /// Places as of [`Batcher::new`].
    pub fn new(most: usize, turns: usize) -> Self {
        Self { known: Mutex::default(), most, turns }
    }

    /// The batcher of a workspace.
    pub fn of(&self, tenant: Tenant) -> Arc<Batcher<T, A>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.entry(tenant).or_insert_with(|| Arc::new(Batcher::new(self.most, self.turns))).clone()
    }
}

/// Outstanding pieces of a workspace in the shared batches.
const SHARE: usize = 8;
/// How long a workspace with more keeps to its own batches: its clients are answered together, and send more.
const BUSY: Duration = Duration::from_millis(100);
/// How long a workspace keeps to its own batches after a piece of it could not share any other's.
const APART: Duration = Duration::from_secs(1);

/// Outstanding pieces of a workspace.
#[derive(Default)]
struct Load {
    pieces: usize,
    busy_until: Option<Instant>,
}

/// Batches across workspaces. Pieces of workspaces with few outstanding share a transaction, so its cost does not
/// depend on the number of workspaces. A workspace with many has batches of its own, and so has everybody's work when
/// it could not be shared: nobody waits long for another workspace.
pub struct Pool<T, A> {
    common: Batcher<T, Shared<A>>,
    own: Batchers<T, Shared<A>>,
    loads: Mutex<HashMap<Tenant, Load>>,
}

/// One piece, counted until this is dropped.
struct Outstanding<'a> {
    loads: &'a Mutex<HashMap<Tenant, Load>>,
    tenant: Tenant,
}

impl Outstanding<'_> {
    fn load(&self, change: impl FnOnce(&mut Load)) {
        let mut loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(load) = loads.get_mut(&self.tenant) {
            change(load);
        }
    }

    /// The workspace keeps to its own batches for a while.
    fn apart(&self) {
        self.load(|load| load.busy_until = Some(Instant::now() + APART));
    }
}

impl Drop for Outstanding<'_> {
    fn drop(&mut self) {
        self.load(|load| load.pieces -= 1);
    }
}

/// The scope of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchScope {
    /// With pieces of other workspaces, for whose locks it must not wait long ([`store::Store::tx_hasty`]).
    Others,
    /// With pieces of their own workspace.
    Own,
}

impl<T: Clone, A> Pool<T, A> {
    /// Batchers with at most `most` pieces in a batch, and this many concurrent batches for a workspace and for all
    /// others.
    pub fn new(most: usize, turns: usize) -> Self {
        Self { common: Batcher::new(most, turns), own: Batchers::new(most, turns), loads: Mutex::default() }
    }

    /// Counts a piece, and returns whether its workspace has few.
    fn enter(&self, tenant: Tenant) -> (Outstanding<'_>, bool) {
        let (mut loads, now) = (self.loads.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
        if loads.len() >= REMEMBERED {
            loads.retain(|_, load| load.pieces > 0);
        }
        let load = loads.entry(tenant).or_default();
        load.pieces += 1;
        if load.pieces > SHARE {
            load.busy_until = Some(now + BUSY);
        }
        let few = load.busy_until.is_none_or(|until| until < now);
        (Outstanding { loads: &self.loads, tenant }, few)
    }

    /// Waits until a piece of a workspace was run, like [`Batcher::ask`]. If `work` cannot run a piece together with
    /// those of others (`None`), it runs it with those of its own workspace.
    pub async fn ask<F: Future<Output = Vec<Shared<A>>>>(
        &self,
        tenant: Tenant,
        piece: T,
        work: impl Fn(Vec<T>, BatchScope) -> F,
    ) -> Shared<A> {
        let (outstanding, few) = self.enter(tenant);
        if few {
            let done = self.common.ask(piece.clone(), |pieces| work(pieces, BatchScope::Others)).await;
            if let Some(Some(done)) = done {
                return Some(done);
            }
        }
        let done = self.own.of(tenant).ask(piece, |pieces| work(pieces, BatchScope::Own)).await.flatten();
        if done.is_none() {
            // It may be the cause that others could not share.
            outstanding.apart();
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_piece_waits_a_moment_for_as_many_as_were_worked_last() {
        let (gather, sizes) = (Arc::new(Batcher::new(8, 1)), Arc::new(Mutex::new(Vec::new())));
        let ask = |count: u32| {
            let asked: Vec<_> = (0..count)
                .map(|number| {
                    let (gather, sizes) = (gather.clone(), sizes.clone());
                    tokio::spawn(async move {
                        let work = |pieces: Vec<u32>| {
                            sizes.lock().expect("a lock").push(pieces.len());
                            async move { pieces }
                        };
                        gather.ask(number, work).await
                    })
                })
                .collect();
            async move {
                let began = tokio::time::Instant::now();
                for (number, answer) in (0..).zip(asked) {
                    assert_eq!(answer.await.expect("a task"), Some(number));
                }
                began.elapsed()
            }
        };
        gather.last.store(8, Ordering::Relaxed);
        assert_eq!(ask(8).await, Duration::ZERO);
        // Tokio's clock moves on when all wait, to the next millisecond.
        let waited = ask(1).await;
        assert!(waited >= LINGER && waited <= 2 * LINGER, "{waited:?}");
        assert_eq!(ask(1).await, Duration::ZERO);
        assert_eq!(*sizes.lock().expect("a lock"), [8, 1, 1]);
    }

    #[tokio::test]
    async fn what_waits_together_is_worked_together() {
        let (gather, sizes) = (Arc::new(Batcher::new(3, 1)), Arc::new(Mutex::new(Vec::new())));
        let asked: Vec<_> = (0..7_u32)
            .map(|number| {
                let (gather, sizes) = (gather.clone(), sizes.clone());
                tokio::spawn(async move {
                    let work = |pieces: Vec<u32>| {
                        sizes.lock().expect("a lock").push(pieces.len());
                        async move {
                            tokio::task::yield_now().await;
                            pieces.into_iter().map(|piece| piece * 10).collect()
                        }
                    };
                    gather.ask(number, work).await
                })
            })
            .collect();
        for (number, answer) in (0..).zip(asked) {
            assert_eq!(answer.await.expect("a task"), Some(number * 10));
        }
        let sizes = sizes.lock().expect("a lock").clone();
        assert_eq!(sizes.iter().sum::<usize>(), 7);
        assert!(sizes.len() < 7 && sizes.iter().all(|size| *size <= 3), "{sizes:?}");
    }

    #[tokio::test]
    async fn who_is_given_no_answer_hears_so() {
        let gather = Batcher::<u32, u32>::new(3, 1);
        assert_eq!(gather.ask(1, |_| async { Vec::new() }).await, None);
    }

    /// Which pieces were worked together, and in what scope.
    type Worked = Arc<Mutex<Vec<(Vec<(Tenant, u32)>, BatchScope)>>>;

    fn tenants() -> [Tenant; 3] {
        [1, 2, 3].map(Tenant::from_bits)
    }

    /// Sends these pieces at once. `can` says what succeeds.
    async fn asked(
        pool: &Arc<Pool<(Tenant, u32), u32>>,
        pieces: Vec<(Tenant, u32)>,
        can: fn(&[(Tenant, u32)], BatchScope) -> bool,
    ) -> Vec<(Vec<(Tenant, u32)>, BatchScope)> {
        let worked = Worked::default();
        let asked: Vec<_> = pieces
            .into_iter()
            .map(|piece| {
                let (pool, worked) = (pool.clone(), worked.clone());
                tokio::spawn(async move {
                    let work = |pieces: Vec<(Tenant, u32)>, scope| {
                        worked.lock().expect("a lock").push((pieces.clone(), scope));
                        async move {
                            tokio::task::yield_now().await;
                            let done = can(&pieces, scope);
                            pieces.into_iter().map(|(_, n)| done.then_some(Ok(n))).collect()
                        }
                    };
                    (pool.ask(piece.0, piece, work).await.map(Result::unwrap), piece.1)
                })
            })
            .collect();
        for answer in asked {
            let (done, number) = answer.await.expect("a task");
            assert!(done.is_none_or(|done| done == number));
        }
        worked.lock().expect("a lock").clone()
    }

    #[tokio::test(start_paused = true)]
    async fn few_pieces_are_worked_with_those_of_others_and_many_are_not() {
        let (pool, [one, two, three]) = (Arc::new(Pool::new(64, 1)), tenants());
        let worked = asked(&pool, vec![(one, 1), (two, 2), (three, 3)], |_, _| true).await;
        assert!(worked.iter().all(|(_, scope)| *scope == BatchScope::Others), "{worked:?}");
        let mut flood: Vec<_> = (10..60).map(|n| (two, n)).collect();
        flood.push((one, 4));
        let worked = asked(&pool, flood, |_, _| true).await;
        let of_two: usize = worked
            .iter()
            .filter(|(_, scope)| *scope == BatchScope::Others)
            .map(|(pieces, _)| pieces.iter().filter(|(tenant, _)| *tenant == two).count())
            .sum();
        assert_eq!(of_two, SHARE);
        assert!(
            worked.iter().any(|(pieces, scope)| pieces.contains(&(one, 4)) && *scope == BatchScope::Others)
        );
        // Its clients send more within a moment.
        assert_eq!(asked(&pool, vec![(two, 5)], |_, _| true).await, [(vec![(two, 5)], BatchScope::Own)]);
        tokio::time::advance(BUSY * 2).await;
        assert_eq!(asked(&pool, vec![(two, 6)], |_, _| true).await, [(vec![(two, 6)], BatchScope::Others)]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_worked_with_others_is_worked_by_its_workspace() {
        let (pool, [one, two, _]) = (Arc::new(Pool::new(64, 1)), tenants());
        let alone = |_: &[(Tenant, u32)], scope| scope == BatchScope::Own;
        let worked = asked(&pool, vec![(one, 1), (two, 2)], alone).await;
        for piece in [(one, 1), (two, 2)] {
            assert!(worked.contains(&(vec![piece], BatchScope::Own)), "{worked:?}");
        }
        // The one that fails by itself, too, stays apart from the others.
        let not_two = |pieces: &[(Tenant, u32)], _| pieces.iter().all(|(_, n)| *n != 2);
        let _ = asked(&pool, vec![(two, 2)], not_two).await;
        let worked = asked(&pool, vec![(one, 3), (two, 2)], not_two).await;
        assert_eq!(worked.len(), 2, "{worked:?}");
        assert!(worked.contains(&(vec![(one, 3)], BatchScope::Others)), "{worked:?}");
        assert!(worked.contains(&(vec![(two, 2)], BatchScope::Own)), "{worked:?}");
    }
}

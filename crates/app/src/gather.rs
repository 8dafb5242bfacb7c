//! Pieces of work that wait at the same moment and are worked together, so that what they all change is held once for all of
//! them: on a shared store each transaction costs turns on the wire and a commit, and those that change the same row wait
//! for each other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::tenant::Tenant;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::time::Instant;

use crate::Failure;

/// What came of a piece of work; `None` when it needs a transaction of its own.
pub type Shared<A> = Option<Result<A, Failure>>;

/// What came of `count` pieces of work that shared a transaction, one answer for each.
pub fn share_out<A>(count: usize, stored: Result<Vec<Shared<A>>, Failure>) -> Vec<Shared<A>> {
    match stored {
        Ok(answers) => answers,
        // The store is away, or it is not known what it did.
        Err(failure) if failure.of_store => (0..count).map(|_| Some(Err(failure.clone()))).collect(),
        // Perhaps one of them is to blame.
        Err(_) => (0..count).map(|_| None).collect(),
    }
}

/// What waits, with the one who wants to hear of it.
type Waiting<T, A> = Vec<(T, oneshot::Sender<A>)>;

/// How long work waits for as many pieces as were worked together last. Clients that are answered together ask again within
/// milliseconds, and the piece of the first of them would be worked alone. In real time, whatever the clock shows.
const LINGER: Duration = Duration::from_millis(4);

/// Where pieces of work wait for each other.
pub struct Gather<T, A> {
    waiting: Mutex<Waiting<T, A>>,
    /// Who works pieces, its own and others'.
    first: Semaphore,
    /// Those who work beside it, once enough pieces wait. Without that bound the first piece that comes would be worked
    /// alone, and many more pieces right after it.
    more: Semaphore,
    enough: usize,
    /// Pieces that are worked together at most.
    most: usize,
    /// Pieces that were worked together last.
    last: AtomicUsize,
    /// A piece has come.
    came: Notify,
}

impl<T, A> Gather<T, A> {
    /// A place where at most `most` pieces are worked together, and so many times at once (at least one).
    pub fn new(most: usize, turns: usize) -> Self {
        let (first, more) = (Semaphore::new(1), Semaphore::new(turns - 1));
        let (last, came) = (AtomicUsize::new(0), Notify::new());
        Self { waiting: Mutex::default(), first, more, enough: (most / 4).max(1), most, last, came }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T, A>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is worth it, for a moment at most.
    async fn linger(&self) {
        let wanted = self.last.load(Ordering::Relaxed);
        let enough = async {
            while self.lock().len() < wanted {
                self.came.notified().await;
            }
        };
        let _ = tokio::time::timeout(LINGER, enough).await;
    }

    /// Waits until a piece was worked, by `work` of this caller or of another one, and gives the answer: `work` has one for
    /// each piece, in their order. `None` when the caller that worked it was broken off.
    pub async fn ask<F: Future<Output = Vec<A>>>(&self, piece: T, work: impl Fn(Vec<T>) -> F) -> Option<A> {
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
        // Older ones may be many: this one is worked in the end, or somebody else has it.
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

/// Such places, one for each workspace, so that the work of one holds no other up.
pub struct Gathers<T, A> {
    known: Mutex<HashMap<Tenant, Arc<Gather<T, A>>>>,
    most: usize,
    turns: usize,
}

/// Workspaces whose places are remembered. Beyond that all are made anew: who waits at an old one is worked there.
const REMEMBERED: usize = 10_000;

impl<T, A> Gathers<T, A> {
    /// Places as of [`Gather::new`].
    pub fn new(most: usize, turns: usize) -> Self {
        Self { known: Mutex::default(), most, turns }
    }

    /// The place of a workspace.
    pub fn of(&self, tenant: Tenant) -> Arc<Gather<T, A>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.entry(tenant).or_insert_with(|| Arc::new(Gather::new(self.most, self.turns))).clone()
    }
}

/// Pieces of a workspace that may be outstanding among those of others.
const SHARE: usize = 8;
/// For how long a workspace with more keeps to its own place: its clients are answered together, and ask again.
const BUSY: Duration = Duration::from_millis(100);
/// For how long a workspace keeps to its own place after a piece of it could not be worked together with any other.
const APART: Duration = Duration::from_secs(1);

/// What a workspace has outstanding.
#[derive(Default)]
struct Load {
    pieces: usize,
    busy_until: Option<Instant>,
}

/// Places for the work of all workspaces. The pieces of those that have few are worked together, so that a transaction is
/// worth its turns however many workspaces there are. One that has many has a place of its own, and so has the work of
/// everybody when it could not be done together: nobody waits long for another workspace.
pub struct Pool<T, A> {
    common: Gather<T, Shared<A>>,
    own: Gathers<T, Shared<A>>,
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

    /// The workspace keeps to its own place for a while.
    fn apart(&self) {
        self.load(|load| load.busy_until = Some(Instant::now() + APART));
    }
}

impl Drop for Outstanding<'_> {
    fn drop(&mut self) {
        self.load(|load| load.pieces -= 1);
    }
}

/// With whom pieces share a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// With pieces of other workspaces, for which it must not wait long ([`store::Store::tx_hasty`]).
    Others,
    /// With those of their own workspace.
    Own,
}

impl<T: Clone, A> Pool<T, A> {
    /// Places where at most `most` pieces are worked together, and so many times at once for a workspace and for all others.
    pub fn new(most: usize, turns: usize) -> Self {
        Self { common: Gather::new(most, turns), own: Gathers::new(most, turns), loads: Mutex::default() }
    }

    /// Counts a piece, and says whether its workspace has few.
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

    /// Waits until a piece of a workspace was worked, like [`Gather::ask`]. What `work` could not do for a piece together with
    /// those of others (`None`) it is asked to do together with those of its own workspace.
    pub async fn ask<F: Future<Output = Vec<Shared<A>>>>(
        &self,
        tenant: Tenant,
        piece: T,
        work: impl Fn(Vec<T>, Company) -> F,
    ) -> Shared<A> {
        let (outstanding, few) = self.enter(tenant);
        if few {
            let done = self.common.ask(piece.clone(), |pieces| work(pieces, Company::Others)).await;
            if let Some(Some(done)) = done {
                return Some(done);
            }
        }
        let done = self.own.of(tenant).ask(piece, |pieces| work(pieces, Company::Own)).await.flatten();
        if done.is_none() {
            // Perhaps it is to blame that others could not be worked together.
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
        let (gather, sizes) = (Arc::new(Gather::new(8, 1)), Arc::new(Mutex::new(Vec::new())));
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
        let (gather, sizes) = (Arc::new(Gather::new(3, 1)), Arc::new(Mutex::new(Vec::new())));
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
        let gather = Gather::<u32, u32>::new(3, 1);
        assert_eq!(gather.ask(1, |_| async { Vec::new() }).await, None);
    }

    /// Which pieces were worked together, and in what company.
    type Worked = Arc<Mutex<Vec<(Vec<(Tenant, u32)>, Company)>>>;

    fn tenants() -> [Tenant; 3] {
        [1, 2, 3].map(Tenant::from_bits)
    }

    /// Asks for these pieces at once. `can` says what is done.
    async fn asked(
        pool: &Arc<Pool<(Tenant, u32), u32>>,
        pieces: Vec<(Tenant, u32)>,
        can: fn(&[(Tenant, u32)], Company) -> bool,
    ) -> Vec<(Vec<(Tenant, u32)>, Company)> {
        let worked = Worked::default();
        let asked: Vec<_> = pieces
            .into_iter()
            .map(|piece| {
                let (pool, worked) = (pool.clone(), worked.clone());
                tokio::spawn(async move {
                    let work = |pieces: Vec<(Tenant, u32)>, company| {
                        worked.lock().expect("a lock").push((pieces.clone(), company));
                        async move {
                            tokio::task::yield_now().await;
                            let done = can(&pieces, company);
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
        assert!(worked.iter().all(|(_, company)| *company == Company::Others), "{worked:?}");
        let mut flood: Vec<_> = (10..60).map(|n| (two, n)).collect();
        flood.push((one, 4));
        let worked = asked(&pool, flood, |_, _| true).await;
        let of_two: usize = worked
            .iter()
            .filter(|(_, company)| *company == Company::Others)
            .map(|(pieces, _)| pieces.iter().filter(|(tenant, _)| *tenant == two).count())
            .sum();
        assert_eq!(of_two, SHARE);
        assert!(
            worked.iter().any(|(pieces, company)| pieces.contains(&(one, 4)) && *company == Company::Others)
        );
        // Its clients come again within a moment.
        assert_eq!(asked(&pool, vec![(two, 5)], |_, _| true).await, [(vec![(two, 5)], Company::Own)]);
        tokio::time::advance(BUSY * 2).await;
        assert_eq!(asked(&pool, vec![(two, 6)], |_, _| true).await, [(vec![(two, 6)], Company::Others)]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_worked_with_others_is_worked_by_its_workspace() {
        let (pool, [one, two, _]) = (Arc::new(Pool::new(64, 1)), tenants());
        let alone = |_: &[(Tenant, u32)], company| company == Company::Own;
        let worked = asked(&pool, vec![(one, 1), (two, 2)], alone).await;
        for piece in [(one, 1), (two, 2)] {
            assert!(worked.contains(&(vec![piece], Company::Own)), "{worked:?}");
        }
        // The one that fails by itself, too, stays apart from the others.
        let not_two = |pieces: &[(Tenant, u32)], _| pieces.iter().all(|(_, n)| *n != 2);
        let _ = asked(&pool, vec![(two, 2)], not_two).await;
        let worked = asked(&pool, vec![(one, 3), (two, 2)], not_two).await;
        assert_eq!(worked.len(), 2, "{worked:?}");
        assert!(worked.contains(&(vec![(one, 3)], Company::Others)), "{worked:?}");
        assert!(worked.contains(&(vec![(two, 2)], Company::Own)), "{worked:?}");
    }
}

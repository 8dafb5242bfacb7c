//! Tasks that a job starts and does not wait for, at most so many at once.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::app::{App, Failure};
use crate::runtime::clock::{Clock, Signal};

/// The slots of a job on this node.
pub struct Slots {
    at_once: usize,
    /// The job, which is woken when a task ends.
    signal: Signal,
    running: AtomicUsize,
}

impl Slots {
    pub fn new(at_once: usize, signal: &Signal) -> Arc<Self> {
        Arc::new(Self { at_once, signal: signal.clone(), running: AtomicUsize::new(0) })
    }

    pub fn free(&self) -> usize {
        self.at_once.saturating_sub(self.running.load(Ordering::SeqCst))
    }

    pub fn all_free(&self) -> bool {
        self.running.load(Ordering::SeqCst) == 0
    }

    /// Starts a task in a slot, which is released however the task ends.
    pub fn start(self: &Arc<Self>, clock: &Clock, task: impl Future<Output = ()> + Send + 'static) {
        self.running.fetch_add(1, Ordering::SeqCst);
        let slot = Slot(self.clone());
        clock.spawn(async move {
            task.await;
            drop(slot);
        });
    }

    /// Starts a task for each item that `take` leases, until nothing is due or no slot is free. `take` is given the number
    /// of free slots. Returns whether a slot is free.
    pub async fn fill<T, E, L, F>(
        self: &Arc<Self>,
        app: &Arc<App>,
        take: impl Fn(Arc<App>, usize) -> L,
        work: impl Fn(Arc<App>, T) -> F,
    ) -> Result<bool, Failure>
    where
        Failure: From<E>,
        L: Future<Output = Result<Vec<T>, E>> + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        loop {
            let free = self.free();
            if free == 0 {
                return Ok(false);
            }
            let taken = take(app.clone(), free).await?;
            if taken.is_empty() {
                return Ok(true);
            }
            for item in taken {
                self.start(&app.clock, work(app.clone(), item));
            }
        }
    }
}

struct Slot(Arc<Slots>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.signal.raise();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::runtime::clock::Woken;

    #[tokio::test]
    async fn the_end_of_a_task_wakes_the_job_and_frees_its_slot_even_if_it_panics() {
        let clock = Clock::manual();
        let signal = clock.signal();
        let slots = Slots::new(2, &signal);
        let (tell, mut woken) = mpsc::unbounded_channel();
        let seen = slots.clone();
        clock.start_job(signal, move |mut job| async move {
            while job.wait(None).await == Woken::Work {
                tell.send(seen.free()).unwrap();
            }
        });
        slots.start(&clock, async { panic!("a task that is broken on purpose") });
        assert_eq!((slots.free(), slots.all_free()), (1, false));
        assert_eq!(woken.recv().await, Some(2));
        assert!(slots.all_free());
    }
}

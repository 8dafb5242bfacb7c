//! Work that computes for long or waits for a disk: not on a thread that serves other tasks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::runtime::{Handle, RuntimeFlavor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the work panicked")
    }
}

impl std::error::Error for Panicked {}

/// Runs `work` on one of the runtime's threads for blocking work. A single-threaded runtime, such as that of a
/// simulation, runs it inline: the end of a separate thread would come at a random time, and no run would be
/// reproducible.
///
/// # Errors
/// [`Panicked`] when the work did.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Panicked> {
    if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked);
    }
    tokio::task::spawn_blocking(work).await.map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_runtime_of_one_thread_works_in_place() {
        let here = std::thread::current().id();
        assert_eq!(run(move || std::thread::current().id() == here).await, Ok(true));
        assert_eq!(run(|| panic!("on purpose")).await, Err::<(), _>(Panicked));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_get_a_thread() {
        let here = std::thread::current().id();
        assert_eq!(run(move || std::thread::current().id() == here).await, Ok(false));
        assert_eq!(run(|| panic!("on purpose")).await, Err::<(), _>(Panicked));
    }
}

//! A burst: due dials have priority.
//!
//! While the dialler works through a burst, facts of earlier dials wait: each of their transactions would delay a due
//! dial. A burst lasts seconds: the dialler ends and bounds it.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether the dialler of this node is in a burst. Waiters go on in the order of their arrival.
#[derive(Debug, Default)]
pub struct Burst {
    begun: AtomicBool,
    ended: Notify,
}

impl Burst {
    /// Begins a burst, which ends when the returned value is dropped.
    pub fn begin(&self) -> Begun<'_> {
        self.begun.store(true, Ordering::SeqCst);
        Begun(self)
    }

    /// Waits for the end of the burst, if there is one. Wrap it in `Clock::outside`: the dialler may need the
    /// clock to move.
    pub async fn over(&self) {
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            // An end between the check and the wait is not missed.
            ended.as_mut().enable();
            if !self.begun.load(Ordering::SeqCst) {
                return;
            }
            ended.await;
        }
    }
}

/// A burst that lasts until this is dropped.
#[derive(Debug)]
pub struct Begun<'a>(&'a Burst);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.begun.store(false, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}

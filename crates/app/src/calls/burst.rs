//! A burst: many dials that are due at once go first.
//!
//! While the dialler works through a burst, facts of calls that were dialled already wait: each of their
//! transactions would delay a dial whose time has come. A burst lasts seconds: the dialler ends and bounds
//! it.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether the dialler of this node is in the middle of a burst. Those who wait for its end go on in the order in
/// which they came.
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
            // An end between the look and the wait is not missed.
            ended.as_mut().enable();
            if !self.begun.load(Ordering::SeqCst) {
                return;
            }
            ended.await;
        }
    }
}

/// A burst that goes on until this is dropped.
#[derive(Debug)]
pub struct Begun<'a>(&'a Burst);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.begun.store(false, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}

//! A burst: many dials that are due at once go first.
//!
//! While the dialler works through a burst, facts of calls that were dialled already wait: each of their
//! transactions would delay a dial whose time has come. A burst lasts seconds: the dialler ends and bounds
//! it.

use tokio::sync::watch;

/// Whether the dialler of this node is in the middle of a burst.
#[derive(Debug)]
pub struct Burst(watch::Sender<bool>);

impl Default for Burst {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Burst {
    /// Begins a burst, which ends when the returned value is dropped.
    pub fn begin(&self) -> Begun<'_> {
        self.0.send_replace(true);
        Begun(self)
    }

    /// Waits for the end of the burst, if there is one. Wrap it in `Clock::outside`: the dialler may need the
    /// clock to move.
    pub async fn over(&self) {
        // The sender is `self`: it cannot be gone.
        let _ = self.0.subscribe().wait_for(|begun| !begun).await;
    }
}

/// A burst that goes on until this is dropped.
#[derive(Debug)]
pub struct Begun<'a>(&'a Burst);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.0.send_replace(false);
    }
}

//! Many dials that are due at once go first.
//!
//! While the dialler works through them, what is learned of the calls that were dialled already waits: each
//! of its transactions would take the place of a dial whose time has come. It is a matter of seconds: the
//! dialler says when it ends, and bounds it.

use tokio::sync::watch;

/// Whether the dialler of this node is in the middle of many due dials.
#[derive(Debug)]
pub struct Burst(watch::Sender<bool>);

impl Default for Burst {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Burst {
    /// Begins one; it ends with what is returned.
    pub fn begin(&self) -> Begun<'_> {
        self.0.send_replace(true);
        Begun(self)
    }

    /// Waits for its end, if there is one. For the clock that is waiting outside: the dialler may need its
    /// time to pass.
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

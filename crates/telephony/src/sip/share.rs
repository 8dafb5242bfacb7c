//! The channels of a trunk that several nodes share: how many calls this node may carry over it, and whether this
//! node registers there (docs/contract/telephony.md#nodes).
//!
//! Nothing here knows how nodes agree. The caller that does gives this node a grant and renews it ([`Share::grant`]), is
//! told when a call waits for a channel, and takes channels back that are not in use ([`Share::hold`]). A trunk of
//! a service with one node has all its channels, for ever.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::trunk::{Slot, Trunk};

/// Longest wait of a call for a channel that another node may give.
const ASK: Duration = Duration::from_secs(1);
/// For how long nobody asks again after no node has given a channel.
const FULL: Duration = Duration::from_millis(500);

/// Called when a share wants to be looked at: a call waits for a channel, or the address of our registration is
/// known.
pub type Wanted = Box<dyn Fn() + Send + Sync>;

/// Channels of a trunk on this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub used: u32,
    /// How many there may be.
    pub granted: u32,
    /// Calls that wait for a channel.
    pub waiting: u32,
}

/// Who keeps us registered at a trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registrar {
    /// This node, until the moment if there is one; later it sends nothing, but does not unregister either: it does
    /// not know whether another node has taken over.
    Here {
        until: Option<Instant>,
        /// The contact of a node that did it before and cannot take it back itself.
        replaces: Option<String>,
    },
    /// Another node, or nobody.
    Elsewhere,
}

#[derive(Debug)]
struct Counts {
    used: u32,
    granted: u32,
    waiting: u32,
    /// From when on no call is added; none: never.
    until: Option<Instant>,
    /// No node had a channel left: nobody asks before.
    full_until: Option<Instant>,
}

/// The share of this node in a trunk.
pub(super) struct Channels {
    shared: bool,
    counts: Mutex<Counts>,
    /// Calls that wait for a channel.
    changed: Notify,
    wanted: Arc<OnceLock<Wanted>>,
    pub registrar: watch::Sender<Registrar>,
}

impl std::fmt::Debug for Channels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channels").field("counts", &*self.counts()).finish_non_exhaustive()
    }
}

impl Channels {
    /// All `channels` of a trunk, or nothing yet of one that is shared.
    pub fn new(channels: u32, shared: bool, wanted: Arc<OnceLock<Wanted>>) -> Self {
        let (granted, until) = if shared { (0, Some(Instant::now())) } else { (channels, None) };
        let counts = Counts { used: 0, granted, waiting: 0, until, full_until: None };
        let registrar =
            if shared { Registrar::Elsewhere } else { Registrar::Here { until: None, replaces: None } };
        Self {
            shared,
            counts: Mutex::new(counts),
            changed: Notify::new(),
            wanted,
            registrar: watch::Sender::new(registrar),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn usage(&self) -> Usage {
        let counts = self.counts();
        Usage { used: counts.used, granted: counts.granted, waiting: counts.waiting }
    }

    /// Takes a channel; whether there was one.
    pub fn take(&self) -> bool {
        let mut counts = self.counts();
        let free = counts.used < counts.granted && counts.until.is_none_or(|until| Instant::now() < until);
        counts.used += u32::from(free);
        free
    }

    /// Whether another node may give a channel.
    pub fn may_ask(&self) -> bool {
        self.shared && self.counts().full_until.is_none_or(|until| until <= Instant::now())
    }

    pub fn give_back(&self) {
        let mut counts = self.counts();
        counts.used -= 1;
        drop(counts);
        self.changed.notify_one();
    }

    /// Asks for a look at this share.
    pub fn want(&self) {
        if let Some(wanted) = self.wanted.get() {
            wanted();
        }
    }
}

/// A call that waits for a channel.
struct Waiting<'a>(&'a Channels);

impl<'a> Waiting<'a> {
    fn begin(channels: &'a Channels) -> Self {
        channels.counts().waiting += 1;
        channels.want();
        Self(channels)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut counts = self.0.counts();
        counts.waiting -= 1;
        let last = counts.waiting == 0;
        drop(counts);
        if last {
            // Other nodes need not look for a channel any more.
            self.0.want();
        }
    }
}

/// Takes a channel of a trunk for a call, and waits for one that another node may give; none if all are in use.
pub(super) async fn channel(trunk: &Arc<Trunk>) -> Option<Slot> {
    if let Some(slot) = trunk.slot() {
        return Some(slot);
    }
    let channels = &trunk.channels;
    if !channels.may_ask() {
        return None;
    }
    let _waiting = Waiting::begin(channels);
    let until = Instant::now() + ASK;
    loop {
        let changed = channels.changed.notified();
        tokio::pin!(changed);
        // From here on no change is missed.
        changed.as_mut().enable();
        if let Some(slot) = trunk.slot() {
            return Some(slot);
        }
        tokio::select! {
            () = &mut changed => {}
            () = tokio::time::sleep_until(until) => {
                channels.counts().full_until = Some(Instant::now() + FULL);
                return None;
            }
        }
    }
}

/// The share of this node in a trunk that other nodes use, too.
#[derive(Debug, Clone)]
pub struct Share(pub(super) Arc<Trunk>);

impl Share {
    /// Name of the trunk.
    pub fn name(&self) -> &str {
        &self.0.settings.name
    }

    /// How many calls all nodes together may carry over it.
    pub fn channels(&self) -> u32 {
        self.0.settings.channels
    }

    /// Whether one of the nodes registers there.
    pub fn registers(&self) -> bool {
        self.0.settings.register
    }

    /// How it is used now.
    pub fn usage(&self) -> Usage {
        self.0.channels.usage()
    }

    /// Holds the grant down to `most` channels, or to those that are in use if they are more; after the grant has
    /// lapsed, always to those. What is left of the grant is safe to be written down as this node's.
    pub fn hold(&self, most: u32) -> Usage {
        let mut counts = self.0.channels.counts();
        let lapsed = counts.until.is_some_and(|until| until <= Instant::now());
        let most = if lapsed { 0 } else { most };
        counts.granted = counts.granted.min(most).max(counts.used);
        Usage { used: counts.used, granted: counts.granted, waiting: counts.waiting }
    }

    /// Grants so many channels, until a moment: no call is added after it.
    pub fn grant(&self, channels: u32, until: Instant) {
        let mut counts = self.0.channels.counts();
        counts.granted = channels.max(counts.used);
        counts.until = Some(until);
        drop(counts);
        self.0.channels.changed.notify_waiters();
    }

    /// Says who registers there.
    pub fn set_registrar(&self, registrar: Registrar) {
        self.0.channels.registrar.send_if_modified(|known| {
            let changes = *known != registrar;
            *known = registrar;
            changes
        });
    }

    /// The contact under which this node is registered there, or tries to be.
    pub fn contact(&self) -> Option<String> {
        self.0.contact()
    }
}

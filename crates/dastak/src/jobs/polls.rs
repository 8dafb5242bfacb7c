//! Checks streams that are read from connected systems (docs/contract/integrations.md#checks). Any node may:
//! the one that holds the claim checks. Slow systems hold up their own streams only, and those of one
//! workspace do not keep others waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ids::{DataStream, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use integrations::ConnectedSystems;

use super::{Next, NodeParts, Poll, Polled, poll};
use crate::app::{App, Failure};
use crate::runtime::clock::Signal;

/// Checks at once, and the share of one workspace.
const AT_ONCE: usize = 16;
const SHARE: usize = 4;
/// Streams that are looked at for a place.
const LOOKED_AT: i64 = 64;

pub fn work(node: &NodeParts<'_>) -> Option<Poll> {
    let (app, connected, signal) = (node.app.clone(), node.connected?.clone(), node.signal.clone());
    let checks = Arc::new(Checks { app, connected, signal, running: Mutex::default() });
    poll(move |_| {
        let checks = checks.clone();
        async move { checks.poll().await }
    })
}

/// The checks that run on this node.
struct Checks {
    app: Arc<App>,
    connected: Arc<ConnectedSystems>,
    signal: Signal,
    running: Mutex<HashMap<Id<DataStream>, Tenant>>,
}

impl Checks {
    fn lock(&self) -> MutexGuard<'_, HashMap<Id<DataStream>, Tenant>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts as many due checks as there are free slots. The end of a check raises the signal.
    async fn poll(self: &Arc<Self>) -> Polled {
        let now = self.app.clock.now();
        let free = self.start_due(now).await?;
        Ok(if free { Next::Due(self.connected.next_check(now).await?) } else { Next::At(None) })
    }

    /// Starts what is due; `false` when something is left for which no slot is free.
    async fn start_due(self: &Arc<Self>, now: Timestamp) -> Result<bool, Failure> {
        loop {
            let full = self.full_shares();
            let due = self.connected.due_checks(now, full, LOOKED_AT).await?;
            let all = (due.len() as i64) < LOOKED_AT;
            let mut started = 0;
            for (tenant, stream) in due {
                match self.place(tenant, stream) {
                    Some(place) => {
                        started += 1;
                        self.app.clock.spawn(async move {
                            place.0.connected.check(tenant, stream).await;
                        });
                    }
                    None if self.lock().len() >= AT_ONCE => return Ok(false),
                    None => {}
                }
            }
            if all || started == 0 {
                return Ok(true);
            }
        }
    }

    /// Workspaces that use their whole share.
    fn full_shares(&self) -> Vec<Tenant> {
        let mut shares: HashMap<Tenant, usize> = HashMap::new();
        for tenant in self.lock().values() {
            *shares.entry(*tenant).or_default() += 1;
        }
        shares.into_iter().filter(|(_, share)| *share >= SHARE).map(|(tenant, _)| tenant).collect()
    }

    /// A slot for a check, unless it runs already, or none is free for the workspace.
    fn place(self: &Arc<Self>, tenant: Tenant, stream: Id<DataStream>) -> Option<Place> {
        let mut running = self.lock();
        let share = running.values().filter(|other| **other == tenant).count();
        if running.len() >= AT_ONCE || share >= SHARE || running.contains_key(&stream) {
            return None;
        }
        running.insert(stream, tenant);
        Some(Place(self.clone(), stream))
    }
}

/// The slot of a running check, released however the check ends.
struct Place(Arc<Checks>, Id<DataStream>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
        self.0.signal.raise();
    }
}

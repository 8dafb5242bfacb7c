//! State shared by the tasks of a user agent.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rsipstack::platform::CancellationToken;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::door::Dialogs;
use super::incoming::Inbound;
use super::net::Net;
use super::nonces::Nonces;
use super::share::Wanted;
use super::trunk::Trunk;
use crate::media::Engine;
use crate::settings::Settings;

/// Everything that the tasks of a user agent share.
pub(super) struct Core {
    pub net: Arc<Net>,
    pub engine: Engine,
    pub trunks: Vec<Arc<Trunk>>,
    pub inbound: Arc<dyn Inbound>,
    pub agent: String,
    pub settings: Settings,
    pub dialogs: Arc<Dialogs>,
    pub token: CancellationToken,
    pub farewell: CancellationToken,
    pub stopping: AtomicBool,
    pub draining: AtomicBool,
    pub legs: AtomicUsize,
    pub leg_left: Notify,
    pub nonces: Nonces,
    pub wanted: Arc<OnceLock<Wanted>>,
    pub tasks: Mutex<JoinSet<()>>,
}

impl Core {
    /// Whether [`UserAgent::stop`] was called.
    pub fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Whether calls that come in go to somebody else ([`UserAgent::drain`](super::UserAgent::drain)).
    pub fn draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst) || self.stopping()
    }

    /// Runs the task of a leg, which is counted until it ends.
    pub fn spawn_leg(self: Arc<Self>, leg: impl Future<Output = ()> + Send + 'static) {
        self.legs.fetch_add(1, Ordering::SeqCst);
        let counted = Counted(self.clone());
        tokio::spawn(async move {
            let _counted = counted;
            tokio::select! {
                () = leg => {}
                () = _counted.0.token.cancelled() => {}
            }
        });
    }
}

struct Counted(Arc<Core>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.legs.fetch_sub(1, Ordering::SeqCst);
        self.0.leg_left.notify_waiters();
    }
}

//! The live calls of this node: which it holds, which it dials, and how they end with the node.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use api::agents::AgentModels;
use domain::call::{EndCause, HangupRequest};
use domain::ids::{Call, Id};
use domain::ports::{DialFailed, Leg, LegControl, LegGateway, LegOrder};
use domain::tenant::Tenant;
use domain::time::SECOND;
use providers::chain::Set;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::carriers::Carriers;
use super::room::Room;
use super::sandbox::Phones;
use crate::app::App;
use crate::sip_trunks::SipTrunks;
use voice::{Command, Recordings, Speech};

/// Lease of a node on its live calls, milliseconds.
pub const LEASE: i64 = 45 * SECOND;
/// Time that goodbyes get after the grace of a shutdown is over.
const LAST_FACTS: Duration = Duration::from_secs(3);

/// The live calls of this node, and what they are dialled with.
pub struct Lines {
    pub(super) carriers: Carriers,
    /// The SIP side; `None` with the sandbox.
    pub(super) trunks: Option<Arc<SipTrunks>>,
    /// The phones of the sandbox; `None` with SIP trunks.
    pub(super) phones: Option<Phones>,
    /// Concurrent calls to the sandbox's phones; trunks have channels of their own.
    pub(super) cap: usize,
    pub(crate) speech: Speech,
    pub(super) recordings: Recordings,
    pub(super) held: Mutex<HashMap<Id<Call>, Held>>,
    /// Reservations of the sandbox's concurrent calls.
    pub(super) room: Mutex<Room>,
    pub(super) app: OnceLock<Weak<App>>,
    /// Dials that wait for the carrier's response.
    pub(super) dialling: Mutex<HashMap<Id<Call>, Tenant>>,
    /// Incremented when a call or a dial ends; the shutdown waits on it until none is left.
    pub(super) ended: watch::Sender<u64>,
}

/// A call that this node holds.
pub(super) struct Held {
    pub(super) tenant: Tenant,
    pub(super) provider_call: String,
    pub(super) control: Arc<dyn LegControl>,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) settled: Option<oneshot::Sender<bool>>,
    /// The hang-up request that was carried out last.
    pub(super) requested: Option<HangupRequest>,
}

impl Lines {
    /// The providers of a call, those first that its agent prefers.
    pub(super) fn speech_of(&self, set: &Set, models: &AgentModels) -> Speech {
        let mut speech = self.speech.clone();
        if let Some(name) = &models.recogniser {
            speech.to_text = Arc::new(set.to_text.preferring(name));
        }
        if let Some(name) = &models.synthesiser {
            speech.from_text = Arc::new(set.from_text.preferring(name));
        }
        if let Some(name) = &models.language_model {
            speech.model = Arc::new(set.model.preferring(name));
        }
        speech
    }

    /// Lets calls reach the use cases. Called once, before the first dial.
    pub fn attach(&self, app: &Arc<App>) {
        let _ = self.app.set(Arc::downgrade(app));
    }

    pub(super) fn app(&self) -> Option<Arc<App>> {
        self.app.get()?.upgrade()
    }

    /// The SIP side of this node, if it has one.
    pub fn trunks(&self) -> Option<&Arc<SipTrunks>> {
        self.trunks.as_ref()
    }

    /// Calls that this node holds.
    pub fn held(&self) -> Vec<(Tenant, Id<Call>)> {
        self.lock().iter().map(|(id, held)| (held.tenant, *id)).collect()
    }

    /// Those, and calls that are being dialled here: nobody else knows what becomes of them.
    pub fn in_hand(&self) -> Vec<(Tenant, Id<Call>)> {
        let mut all = self.held();
        all.extend(self.lock_dialling().iter().map(|(id, tenant)| (*tenant, *id)));
        all
    }

    /// Carries out a hang-up request of a call that this node holds. A repeated request does nothing.
    pub fn carry_out(&self, id: Id<Call>, wish: HangupRequest) {
        let new = self.lock().get_mut(&id).is_some_and(|held| {
            let new = held.requested.is_none_or(|known| wish.replaces(known));
            if new {
                held.requested = Some(wish);
            }
            new
        });
        match new {
            true if wish.takes_leave() => self.order(id, Command::TakeLeave(wish.cause())),
            true => self.end(id, wish.cause()),
            false => {}
        }
    }

    /// Ends a call that this node holds: it was asked for.
    pub fn end(&self, id: Id<Call>, cause: EndCause) {
        self.order(id, Command::HangUp(cause));
    }

    fn order(&self, id: Id<Call>, command: Command) {
        let found = self.lock().get(&id).map(|held| (held.commands.clone(), held.control.clone()));
        let Some((commands, control)) = found else { return };
        // A conversation that is under way says what it leaves behind; before there is one the signalling
        // does.
        if commands.try_send(command).is_err() {
            tokio::spawn(async move { control.hang_up().await });
        }
    }

    /// Lets calls end within the grace, those that are being dialled included, then ends those that are left. New ones
    /// are refused by then: the node is not in service.
    pub async fn drain(&self, grace: Duration) {
        if tokio::time::timeout(grace, self.until_none_left()).await.is_ok() {
            return;
        }
        let left = self.held();
        tracing::warn!(calls = left.len(), "the grace is over: ending the calls that are left");
        for (_, id) in left {
            self.end(id, EndCause::Error);
        }
        let _ = tokio::time::timeout(LAST_FACTS, self.until_none_left()).await;
    }

    async fn until_none_left(&self) {
        let mut ended = self.ended.subscribe();
        while self.count() > 0 {
            if ended.changed().await.is_err() {
                return;
            }
        }
    }

    /// Calls that this node holds, and dials that are on their way.
    fn count(&self) -> usize {
        self.lock().len() + self.lock_dialling().len()
    }

    pub async fn close(&self) {
        self.carriers.stop().await;
    }

    /// Gives channels and registrations that are shared with other nodes back; after [`Lines::close`].
    pub async fn release(&self, app: &App) {
        if let Some(trunks) = &self.trunks {
            trunks.release(app).await;
        }
    }

    /// Dials over the carrier of the order. The sandbox stands in for all of them.
    pub(super) async fn dial_leg(&self, order: LegOrder) -> Result<Leg, DialFailed> {
        let carrier = order.carrier.filter(|_| self.phones.is_none());
        self.carriers.dial(LegOrder { carrier, ..order }).await
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Id<Call>, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_dialling(&self) -> std::sync::MutexGuard<'_, HashMap<Id<Call>, Tenant>> {
        self.dialling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves one of the sandbox's lines for a call that is being written down; whether one was free.
    pub(super) fn reserve(&self) -> bool {
        let used = self.used();
        self.lock_room().reserve(self.cap, used, Instant::now())
    }

    pub(super) fn lock_room(&self) -> std::sync::MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls that this node holds or dials, each once.
    fn used(&self) -> usize {
        let (held, dialling) = (self.lock(), self.lock_dialling());
        held.len() + dialling.keys().filter(|call| !held.contains_key(call)).count()
    }

    pub(super) fn forget(&self, id: Id<Call>) {
        self.lock().remove(&id);
        self.ended.send_modify(|ended| *ended += 1);
    }

    /// Whether this node takes new calls.
    pub(super) fn in_service(&self) -> bool {
        self.app().is_some_and(|app| app.node.in_service())
    }
}

impl crate::app::lines::Lines for Lines {
    fn trunks(&self) -> Vec<api::system::TrunkHealth> {
        self.trunks.as_ref().map(|trunks| trunks.health()).unwrap_or_default()
    }

    fn held(&self) -> usize {
        self.count()
    }

    fn drain(&self, draining: bool) {
        self.carriers.drain(draining);
    }

    fn address(&self) -> Option<SocketAddr> {
        self.trunks.as_ref().map(|trunks| trunks.address())
    }
}

//! Live calls of this node, from the dial to the last fact. A call is a leg (`domain::ports::Leg`) with a `voice`
//! conversation; over which carrier the leg runs is not known here. `open` alone chooses between SIP trunks and the
//! sandbox's phones.
//!
//! | file | holds |
//! |---|---|
//! | `open` | the composition root: which gateways dial |
//! | `carriers` | the list of carriers: which gateway dials over which |
//! | `session` | one call: its leg, its conversation, its facts in order |
//! | `facts` | storing facts in order, with retries while the store is unavailable |
//! | `services` | what a conversation requests of the service: tools, knowledge, transfers |
//! | `passages` | prefetch of knowledge base passages while the customer speaks |
//! | `transfer` | transfers: blind (referral) and attended (a second leg, bridged) |
//! | `inbound` | incoming calls |
//! | `figures` | metrics of calls and of speech and language providers |
//! | `sandbox`, `room` | the phones of the sandbox, and the limit of its concurrent calls |
//!
//! One node owns a call. It is dialled after its intent is stored; its facts are reported after the outcome of the dial is
//! stored ([`Carrier::settled`]). The node renews its lease on live calls every few seconds (`jobs/lines`); the store ends
//! the calls of a node whose lease expired. What a fact means is decided in `app::calls`.

#![allow(
    clippy::disallowed_methods,
    reason = "lines exist on a real clock only: the peers at their other end have one"
)]

mod carriers;
mod facts;
mod figures;
mod inbound;
mod open;
mod passages;
mod room;
mod sandbox;
mod services;
mod session;
mod transfer;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use api::agents::AgentModels;
use domain::call::{EndCause, Fact, Network, Wish, script};
use domain::ids::{Call, Id};
use domain::phone::Phone as Number;
use domain::ports::{
    Answer, Carrier, DialError, DialFailed, DialOrder, DialStatus, HangUpFailed, Leg, LegControl, LegGateway,
    LegOrder, Scripted,
};
use domain::tenant::Tenant;
use domain::time::SECOND;
use providers::chain::Set;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::app::App;
use crate::sip_trunks::SipTrunks;
use voice::{Command, Recordings, Speech};

pub use figures::{LineFigures, ProviderFigures};
use room::Room;

/// Lease of a node on its live calls, milliseconds.
pub const LEASE: i64 = 45 * SECOND;
/// Time that goodbyes get after the grace of a shutdown is over.
const LAST_FACTS: Duration = Duration::from_secs(3);

/// The live calls of this node, and what they are dialled with.
pub struct Lines {
    carriers: carriers::Carriers,
    /// The SIP side; `None` with the sandbox.
    trunks: Option<Arc<SipTrunks>>,
    /// The phones of the sandbox; `None` with SIP trunks.
    phones: Option<sandbox::Phones>,
    /// Concurrent calls to the sandbox's phones; trunks have channels of their own.
    cap: usize,
    pub(crate) speech: Speech,
    recordings: Recordings,
    held: Mutex<HashMap<Id<Call>, Held>>,
    /// Reservations of the sandbox's concurrent calls.
    room: Mutex<Room>,
    app: OnceLock<Weak<App>>,
    /// Dials that wait for the carrier's response.
    dialling: Mutex<HashMap<Id<Call>, Tenant>>,
    /// Incremented when a call or a dial ends; the shutdown waits on it until none is left.
    ended: watch::Sender<u64>,
}

/// A call that this node holds.
struct Held {
    tenant: Tenant,
    provider_call: String,
    control: Arc<dyn LegControl>,
    commands: mpsc::Sender<Command>,
    settled: Option<oneshot::Sender<bool>>,
    /// The hang-up request that was carried out last.
    requested: Option<Wish>,
}

impl Lines {
    /// The providers of a call, those first that its agent prefers.
    fn speech_of(&self, set: &Set, models: &AgentModels) -> Speech {
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

    fn app(&self) -> Option<Arc<App>> {
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

    /// Carries out a wish for a call, if this node holds it; once, however often it is told.
    pub fn carry_out(&self, id: Id<Call>, wish: Wish) {
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
    async fn dial_leg(&self, order: LegOrder) -> Result<Leg, DialFailed> {
        let carrier = order.carrier.filter(|_| self.phones.is_none());
        self.carriers.dial(LegOrder { carrier, ..order }).await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Id<Call>, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_dialling(&self) -> std::sync::MutexGuard<'_, HashMap<Id<Call>, Tenant>> {
        self.dialling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves one of the sandbox's lines for a call that is being written down; whether one was free.
    fn reserve(&self) -> bool {
        let used = self.used();
        self.lock_room().reserve(self.cap, used, Instant::now())
    }

    fn lock_room(&self) -> std::sync::MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls that this node holds or dials, each once.
    fn used(&self) -> usize {
        let (held, dialling) = (self.lock(), self.lock_dialling());
        held.len() + dialling.keys().filter(|call| !held.contains_key(call)).count()
    }

    fn forget(&self, id: Id<Call>) {
        self.lock().remove(&id);
        self.ended.send_modify(|ended| *ended += 1);
    }

    /// Whether this node takes new calls.
    fn in_service(&self) -> bool {
        self.app().is_some_and(|app| app.node.in_service())
    }
}

/// A dial that is on its way.
struct Dialling<'a>(&'a Lines, Id<Call>);

impl<'a> Dialling<'a> {
    fn begin(lines: &'a Lines, order: &DialOrder) -> Self {
        lines.lock_dialling().insert(order.call, order.workspace);
        lines.lock_room().take_up();
        Self(lines, order.call)
    }
}

impl Drop for Dialling<'_> {
    fn drop(&mut self) {
        self.0.lock_dialling().remove(&self.1);
        self.0.ended.send_modify(|ended| *ended += 1);
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

/// The lines as the carrier of live calls.
pub struct LineCarrier(pub Arc<Lines>);

impl Carrier for LineCarrier {
    fn simulated(&self) -> bool {
        self.0.phones.is_some()
    }

    fn network(&self, _: Number) -> Option<Network> {
        self.0.phones.as_ref().map(|_| Network::Sandbox)
    }

    /// The sandbox plays as many calls with audio as it has lines. The rest, and all calls of a drained node, are played
    /// by the table, which any node works; so are calls whose agent fails, since nothing that a phone does causes that.
    fn takes_line(&self, to: Number) -> bool {
        self.0.phones.is_some()
            && self.0.in_service()
            && !script(Network::Sandbox, to).iter().any(|step| step.fact == Fact::AgentFailed)
    }

    fn reserve_line(&self) -> bool {
        self.0.reserve()
    }

    fn lease(&self) -> Option<i64> {
        Some(LEASE)
    }

    fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>> {
        Box::pin(async move {
            let lines = &self.0;
            if let Some(network) = order.network {
                return Scripted(network).dial(order).await;
            }
            // What was decided before the node was drained is dialled; until then a stop waits for it.
            let Some(app) = lines.app().filter(|app| !app.clock.stopping()) else {
                return Err(DialError::ProviderErrorBeforeRing);
            };
            let _dialling = Dialling::begin(lines, &order);
            let dial = LegOrder {
                id: order.call.to_string(),
                to: order.to,
                from: order.from.clone(),
                carrier: order.carrier.clone(),
                ring_timeout: None,
            };
            let leg = match lines.dial_leg(dial).await {
                Ok(leg) => leg,
                Err(DialFailed::ProviderErrorBeforeRing { status, reason }) => {
                    tracing::warn!(call = %order.call, status, reason, "no trunk took the call");
                    return Err(DialError::ProviderErrorBeforeRing);
                }
                Err(DialFailed::Uncertain { reason }) => {
                    tracing::warn!(call = %order.call, reason, "it is not known whether a dial went out");
                    return Err(DialError::Uncertain);
                }
            };
            Ok(session::begin(lines, &app, &order, leg))
        })
    }

    fn ask(&self, order: DialOrder) -> Answer<'_, DialStatus> {
        Box::pin(async move {
            if let Some(network) = order.network {
                return Scripted(network).ask(order).await;
            }
            // In this order: a dial that is answered is held first, and then no longer on its way.
            let on_its_way = self.0.lock_dialling().contains_key(&order.call);
            match self.0.lock().get(&order.call) {
                Some(held) => DialStatus::Taken(held.provider_call.clone()),
                None if on_its_way => DialStatus::OnItsWay,
                // Another node, or this one before a crash, may have sent the INVITE.
                None => DialStatus::Unknown,
            }
        })
    }

    fn settled(&self, call: Id<Call>, kept: bool) {
        if let Some(settled) = self.0.lock().get_mut(&call).and_then(|held| held.settled.take()) {
            let _ = settled.send(kept);
        }
    }

    fn hang_up(&self, provider_call: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        let found =
            self.0.lock().iter().find(|(_, held)| held.provider_call == provider_call).map(|(id, _)| *id);
        if let Some(id) = found {
            self.0.carry_out(id, Wish::HangUp);
        }
        // Otherwise the node that holds the call finds the wish in the store.
        Box::pin(std::future::ready(Ok(())))
    }

    fn carry_out(&self, call: Id<Call>, wish: Wish) {
        self.0.carry_out(call, wish);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The first line of a source that names SIP.
    fn names_sip(source: &str) -> Option<&str> {
        source.lines().find(|line| line.contains("telephony::sip") || line.contains("telephony::{"))
    }

    /// Calls are written on the port of legs. What chooses the implementation is `open`, which names no SIP either.
    #[test]
    fn calls_know_no_sip() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lines");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("a file").path();
            let source = std::fs::read_to_string(&path).expect("a text");
            // Not this test.
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            assert_eq!(names_sip(source), None, "{}", path.display());
            read += 1;
        }
        assert!(read > 8, "the sources were read: {read}");
        assert!(
            names_sip("use telephony::sip::Leg;").is_some() && names_sip("use telephony::{sip};").is_some()
        );
    }
}

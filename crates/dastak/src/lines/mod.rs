//! Telephone lines of this node: calls on SIP trunks and on the sandbox's phones, from the dial to the last
//! fact.
//!
//! | file | holds |
//! |---|---|
//! | `session` | one call: its signalling, its conversation, its facts in order |
//! | `facts` | getting facts into the store, however long the store takes |
//! | `services` | what a conversation asks of the service: tools, people |
//! | `passages` | what the agent knows about what the customer says |
//! | `transfer` | bringing a person in, by referral or beside the call |
//! | `inbound` | calls that come in |
//! | `probe`, `figures` | health and figures |
//! | `shares` | what this node has of trunks that other nodes use, too |
//! | `sandbox` | the phones of the sandbox network, a SIP peer in this process |
//!
//! A call is held by one node. It is dialled after its intent is stored; its facts are reported after the
//! outcome of the dial is stored ([`Carrier::settled`]). The node says every few seconds which calls it still
//! holds (`jobs/lines`); the store gives up those of a node that has died. Nothing here decides what a fact
//! means: `app::calls` does.

#![allow(
    clippy::disallowed_methods,
    reason = "lines exist on a real clock only: the peers at their other end have one"
)]

mod facts;
mod figures;
mod inbound;
mod passages;
mod probe;
mod room;
mod sandbox;
mod services;
mod session;
mod shares;
mod transfer;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use domain::call::{EndCause, Fact, Network, Wish, script};
use domain::ids::{Call, Id};
use domain::phone::Phone as Number;
use domain::ports::{Answer, Carrier, DialError, DialOrder, DialStatus, HangUpFailed, Scripted};
use domain::tenant::Tenant;
use domain::time::SECOND;
use telephony::media::Engine;
use telephony::settings::{Codec, Encryption, InboundTransport, NumberFormat, Settings, Transport, Trunk};
use telephony::sip::{Dial, DialFailed, Inbound, LegControl, TrunkHealth, UserAgent};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::app::App;
use crate::config::{Carrier as Kind, Config};
use crate::speech::Offline;
use voice::{Command, Recordings, Speech};

pub use figures::{LineFigures, ProviderFigures};
pub use probe::probe;
use room::Room;

/// For how long a call counts as held after its node said so, milliseconds.
pub const LEASE: i64 = 45 * SECOND;
/// Time that goodbyes get after the grace of a shutdown is over.
const LAST_FACTS: Duration = Duration::from_secs(3);

/// The lines of this node.
pub struct Lines {
    user_agent: UserAgent,
    engine: Engine,
    network: Option<sandbox::Phones>,
    /// Calls at once over the sandbox's phones; trunks have their own caps.
    cap: usize,
    pub(crate) speech: Speech,
    recordings: Recordings,
    held: Mutex<HashMap<Id<Call>, Held>>,
    /// Reserved lines of the sandbox.
    room: Mutex<Room>,
    app: OnceLock<Weak<App>>,
    shares: OnceLock<Arc<shares::Shares>>,
    /// Dials that wait for the carrier's answer.
    dialling: Mutex<HashMap<Id<Call>, Tenant>>,
    /// Grows with every call and every dial that ends; a shutdown waits on it until none is left.
    ended: watch::Sender<u64>,
}

/// A call that this node holds.
struct Held {
    tenant: Tenant,
    provider_call: String,
    control: LegControl,
    commands: mpsc::Sender<Command>,
    settled: Option<oneshot::Sender<bool>>,
    /// What the conversation was told last of what is wanted of it.
    told: Option<Wish>,
}

impl Lines {
    /// Opens the lines that the settings ask for; `None` when there are none (carrier `none`, a manual clock,
    /// a sandbox without offline speech).
    ///
    /// # Errors
    /// The setting that cannot be carried out, and why.
    pub async fn start(
        config: &Config,
        speech: Speech,
        offline: &Offline,
    ) -> Result<Option<Arc<Self>>, String> {
        let sandbox = match config.telephony.carrier {
            Kind::None => return Ok(None),
            Kind::Sandbox if config.manual_clock || config.telephony.sandbox_lines == 0 => return Ok(None),
            Kind::Sandbox => true,
            Kind::Sip => false,
        };
        if sandbox && let Err(why) = offline.check().await {
            tracing::warn!(%why, "the sandbox plays calls by its table alone, without sound");
            return Ok(None);
        }
        let mut settings = config.telephony.sip.clone();
        // The phones of the sandbox are in this process.
        settings.shared = !sandbox && config.database_url.is_some();
        let engine = engine(&settings)?;
        let network = if sandbox {
            let phones = sandbox::Phones::start(engine.clone(), offline.from_text.clone()).await?;
            settings.listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
            settings.public_address = None;
            settings.tls = None;
            settings.response_timeout = sandbox::RESPONSE_TIMEOUT;
            settings.trunks = vec![sandbox_trunk(phones.address())];
            Some(phones)
        } else {
            None
        };
        let (inbound, answering) = inbound::Doorbell::new();
        let user_agent = open_user_agent(settings, engine.clone(), Arc::new(inbound)).await?;
        let lines = Arc::new(Self {
            user_agent,
            engine,
            network,
            cap: if sandbox { config.telephony.sandbox_lines } else { usize::MAX },
            speech,
            recordings: Recordings::start().map_err(|why| why.to_string())?,
            held: Mutex::new(HashMap::new()),
            room: Mutex::default(),
            app: OnceLock::new(),
            shares: OnceLock::new(),
            dialling: Mutex::default(),
            ended: watch::channel(0).0,
        });
        answering.start(&lines);
        Ok(Some(lines))
    }

    /// Lets calls reach the use cases. Called once, before the first dial.
    pub fn attach(&self, app: &Arc<App>) {
        let _ = self.app.set(Arc::downgrade(app));
    }

    fn app(&self) -> Option<Arc<App>> {
        self.app.get()?.upgrade()
    }

    pub fn trunks(&self) -> Vec<TrunkHealth> {
        self.user_agent.trunks()
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
            let new = held.told.is_none_or(|known| wish.replaces(known));
            if new {
                held.told = Some(wish);
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
        self.user_agent.stop().await;
        if let Some(network) = &self.network {
            network.stop().await;
        }
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

/// Opens the SIP side. With port 0 the datagrams' port is free, but the same one for connections may be
/// another program's: another is tried.
async fn open_user_agent(
    settings: Settings,
    engine: Engine,
    inbound: Arc<dyn Inbound>,
) -> Result<UserAgent, String> {
    const TRIES: usize = 10;
    let mut tries = if settings.listen.port() == 0 { TRIES } else { 1 };
    loop {
        tries -= 1;
        match UserAgent::start(settings.clone(), engine.clone(), inbound.clone()).await {
            Err(why) if tries > 0 => tracing::debug!(why, "another port is tried for SIP"),
            outcome => return outcome,
        }
    }
}

fn engine(settings: &Settings) -> Result<Engine, String> {
    let (first, last) = settings.rtp_ports;
    let started =
        Engine::start(telephony::media::Settings { ports: (first, last), threads: settings.media_threads });
    started.map_err(|why| format!("telephony.sip.rtp_ports: {why}"))
}

fn sandbox_trunk(address: SocketAddr) -> Trunk {
    Trunk {
        name: "sandbox".into(),
        address: address.to_string(),
        transport: Transport::Udp,
        outbound_proxy: None,
        username: None,
        password: None,
        register: false,
        codecs: vec![Codec::Pcmu, Codec::Pcma],
        number_format: NumberFormat::E164,
        user_phone: true,
        caller_id: None,
        encryption: Encryption::WhenOffered,
        options_interval: Duration::from_secs(30),
        channels: u32::MAX,
        inbound_from: Vec::new(),
        inbound_transport: InboundTransport::Any,
        inbound_auth: false,
        media_from: Vec::new(),
    }
}

impl crate::app::lines::Lines for Lines {
    fn trunks(&self) -> Vec<crate::app::lines::TrunkHealth> {
        let health = |trunk: TrunkHealth| crate::app::lines::TrunkHealth {
            name: trunk.name,
            healthy: trunk.healthy,
            registered: trunk.registered,
            calls: trunk.calls,
            channels: trunk.channels,
        };
        self.user_agent.trunks().into_iter().map(health).collect()
    }

    fn held(&self) -> usize {
        self.count()
    }

    fn drain(&self, draining: bool) {
        self.user_agent.drain(draining);
    }

    fn address(&self) -> SocketAddr {
        self.user_agent.local_address()
    }
}

/// The lines as the carrier of live calls.
pub struct LineCarrier(pub Arc<Lines>);

impl Carrier for LineCarrier {
    fn simulated(&self) -> bool {
        self.0.network.is_some()
    }

    fn network(&self, _: Number) -> Option<Network> {
        self.0.network.as_ref().map(|_| Network::Sandbox)
    }

    /// The sandbox plays as many calls as it has lines over SIP, the rest by its table, which any node works: so does a
    /// node that is drained. Nothing that a phone
    /// does makes our agent fail, so these calls are always played by the table.
    fn takes_line(&self, to: Number) -> bool {
        self.0.network.is_some()
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
            let dial = Dial {
                id: order.call.to_string(),
                to: order.to,
                from: order.from.clone(),
                trunk: None,
                ring_timeout: None,
            };
            let leg = match lines.user_agent.dial(dial).await {
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

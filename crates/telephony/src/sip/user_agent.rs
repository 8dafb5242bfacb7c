//! The user agent: opens sockets and trunks, dispatches incoming requests to dialogs.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use domain::ports::DialFailed;
use rsipstack::platform::CancellationToken;
use rsipstack::resolver::SipResolver;
use rsipstack::sip::{Header, Method};
use rsipstack::transaction::endpoint::EndpointOption;
use rsipstack::transaction::{EndpointBuilder, Transaction};
use rsipstack::transport::udp::UdpConnection;
use rsipstack::transport::{SipConnection, TransportLayer};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::core::Core;
use super::door::{Dialogs, Door, Queues, Turnstile};
use super::doorman::Doorman;
use super::inbound;
use super::incoming::Inbound;
use super::leg::Leg;
use super::mail::Mail;
use super::message::{ALLOW, SUPPORTED, header, parameter, value};
use super::net::{Gate, Locator, Mender, Net, Unresolved, carried_by};
use super::nonces::Nonces;
use super::outbound::{self, Dial};
use super::share::{Share, Wanted};
use super::stream::Streams;
use super::trunk::{Trunk, TrunkHealth};
use crate::media::Engine;
use crate::settings::{Settings, Transport};

/// How long the goodbyes of [`UserAgent::stop`] may take.
const GOODBYES: Duration = Duration::from_secs(5);

/// What is alive in a user agent: a soak test holds it against zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Tasks of legs, including those that only wait for the answer to their BYE.
    pub legs: usize,
    /// Dialogs that take messages.
    pub dialogs: usize,
    /// Transactions of the stack.
    pub transactions: usize,
    /// Channels of trunks in use.
    pub channels: usize,
    /// Open TCP and TLS connections.
    pub streams: usize,
    /// Bytes that wait for connections to take them.
    pub queued: usize,
    /// What was refused since the start, without an answer: datagrams and connections of strangers, and requests
    /// over a transport that their trunk may not use.
    pub refused: u64,
    /// Messages since the start that could not be read, or were too large or too slow.
    pub junk: u64,
    /// Datagrams and connections since the start that exceeded the limit of one peer.
    pub crowded: u64,
}

/// Our user agent. Clones are handles to the same.
#[derive(Clone)]
pub struct UserAgent(Arc<Core>);

impl std::fmt::Debug for UserAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserAgent").field("listen", &self.local_address()).finish_non_exhaustive()
    }
}

impl UserAgent {
    /// Binds, registers, and starts to probe the trunks. Calls that come in from a trunk go to
    /// `inbound`; strangers get no answer.
    ///
    /// # Errors
    /// A text for the operator: an address cannot be bound, or a certificate cannot be read.
    pub async fn start(
        settings: Settings,
        engine: Engine,
        inbound: Arc<dyn Inbound>,
    ) -> Result<UserAgent, String> {
        let wanted = Arc::new(OnceLock::new());
        let made =
            |trunk: &crate::settings::Trunk| Trunk::new(trunk.clone(), settings.shared, wanted.clone());
        let trunks: Vec<Arc<Trunk>> = settings.trunks.iter().map(made).collect();
        let dialogs = Arc::new(Dialogs::default());
        let door: Arc<dyn Door> = Arc::new(Doorman { trunks: trunks.clone(), dialogs: dialogs.clone() });
        let agent = settings.user_agent.clone();
        let queues = Arc::new(Queues::default());
        let gate = Gate::bind(settings.listen, door.clone(), queues.clone())
            .map_err(|error| format!("{}: {error}", settings.listen))?;
        let token = CancellationToken::new();
        let layer = TransportLayer::new_with_domain_resolver(token.clone(), Box::new(Unresolved));
        let udp = UdpConnection::from_socket(gate.clone(), None, Some(token.child_token()))
            .await
            .map_err(|error| error.to_string())?;
        let udp = SipConnection::Udp(udp);
        layer.add_transport(udp.clone());
        let streams = Streams::new(&layer, door, queues.clone(), &agent, &token).await?;
        let bind = |address: SocketAddr| async move {
            TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))
        };
        let mut listeners = vec![(bind(gate.local()).await?, None)];
        if let Some((address, chain, key)) = &settings.tls {
            listeners.push((bind(*address).await?, Some(super::tls::acceptor(chain, key)?)));
        }

        let resolver = SipResolver::default();
        for trunk in &trunks {
            trunk.settle(&resolver).await;
        }
        let mut builder = EndpointBuilder::new();
        builder
            .with_transport_layer(layer)
            .with_cancel_token(token.clone())
            .with_user_agent(&agent)
            .with_option(EndpointOption {
                callid_suffix: Some("dastak".into()),
                timerc: Duration::from_secs(24 * 3600),
                ..EndpointOption::default()
            })
            .with_inspector(Box::new(Mender))
            .with_target_locator(Box::new(Locator(resolver.clone())))
            .with_transport_inspector(Box::new(Turnstile(queues)));
        let endpoint = builder.build();
        streams.serve(&endpoint.inner);
        let incoming = endpoint.incoming_transactions().map_err(|error| error.to_string())?;

        let needs_tls = settings.trunks.iter().any(|trunk| trunk.transport == Transport::Tls);
        let connector =
            if needs_tls { Some(super::tls::connector(settings.tls_ca.as_deref())?) } else { None };
        let net =
            Net::new(&settings, endpoint.inner.clone(), gate, streams.clone(), udp, resolver, connector);
        let nonces = Nonces::new(&agent)?;
        let core = Arc::new(Core {
            net: Arc::new(net),
            engine,
            trunks,
            inbound,
            agent,
            dialogs,
            settings,
            token: token.clone(),
            farewell: CancellationToken::new(),
            stopping: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            legs: AtomicUsize::new(0),
            leg_left: Notify::new(),
            nonces,
            wanted,
            tasks: Mutex::new(JoinSet::new()),
        });
        core.clone().run(endpoint, incoming);
        for (listener, tls) in listeners {
            tokio::spawn(streams.clone().accept(listener, tls));
        }
        Ok(UserAgent(core))
    }

    /// Calls: tries the trunks in order, and answers when one took the call (a 180 or 183, a final answer
    /// other than a provider error, or 20 s after a 100). A trunk that refuses before any ring, is down,
    /// cannot be reached or has no channel left is passed over. One that says nothing at all within
    /// `response_timeout` ends it: the INVITE may have arrived. Dropping the future hangs up.
    ///
    /// # Errors
    /// [`DialFailed`]
    pub async fn dial(&self, order: Dial) -> Result<Leg, DialFailed> {
        outbound::dial(&self.0, order).await
    }

    /// Names of the carriers that the trunks lead to, in the order of their first trunks.
    pub fn carriers(&self) -> Vec<String> {
        self.0.settings.carriers().into_iter().map(str::to_owned).collect()
    }

    /// The health of the trunks, in their order.
    pub fn trunks(&self) -> Vec<TrunkHealth> {
        self.0.trunks.iter().map(|trunk| trunk.health()).collect()
    }

    /// The shares of this node in the trunks, which say through `wanted` when they want to be looked at; empty where
    /// no other node uses the trunks. `wanted` is set once.
    pub fn share(&self, wanted: Wanted) -> Vec<Share> {
        drop(self.0.wanted.set(wanted));
        let shared = if self.0.settings.shared { &self.0.trunks[..] } else { &[] };
        shared.iter().cloned().map(Share).collect()
    }

    /// The address that it listens on; the system has chosen a port if the settings say 0.
    pub fn local_address(&self) -> SocketAddr {
        self.0.net.listen()
    }

    /// What is alive now.
    pub fn figures(&self) -> Figures {
        let core = &self.0;
        let stats = core.net.endpoint.get_stats();
        let sum = |one: &std::sync::atomic::AtomicU64, other: &std::sync::atomic::AtomicU64| {
            one.load(Ordering::Relaxed) + other.load(Ordering::Relaxed)
        };
        Figures {
            legs: core.legs.load(Ordering::Relaxed),
            dialogs: core.dialogs.len(),
            transactions: stats.running_transactions,
            channels: core.trunks.iter().map(|trunk| trunk.calls() as usize).sum(),
            streams: core.net.streams.open(),
            queued: core.net.streams.waiting(),
            refused: sum(&core.net.gate.refused, &core.net.streams.refused),
            junk: sum(&core.net.gate.junk, &core.net.streams.junk),
            crowded: sum(&core.net.gate.crowded, &core.net.streams.crowded),
        }
    }

    /// Whether new calls are to go to somebody else: until told otherwise an INVITE that begins a call and an OPTIONS
    /// outside of calls are answered with 503, without `Retry-After`, so that a carrier or a dispatcher takes the next
    /// node. Calls that are on go on, and registrations stay.
    pub fn drain(&self, draining: bool) {
        self.0.draining.store(draining, Ordering::SeqCst);
    }

    /// Ends every call with BYE, CANCEL or a refusal, unregisters and closes the sockets. Takes at most some
    /// seconds. May be called again.
    pub async fn stop(&self) {
        let core = &self.0;
        if core.stopping.swap(true, Ordering::SeqCst) {
            return;
        }
        for mailbox in core.dialogs.all() {
            drop(timeout(Duration::from_secs(1), mailbox.send(Mail::Stop)).await);
        }
        core.farewell.cancel();
        let empty = async {
            while core.legs.load(Ordering::SeqCst) > 0 {
                let left = core.leg_left.notified();
                if core.legs.load(Ordering::SeqCst) > 0 {
                    left.await;
                }
            }
        };
        drop(timeout(GOODBYES, empty).await);
        let tasks = std::mem::take(&mut *core.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let mut registrations = tasks;
        let over = async { while registrations.join_next().await.is_some() {} };
        drop(timeout(Duration::from_secs(3), over).await);
        registrations.shutdown().await;
        core.token.cancel();
        core.net.gate.close();
    }
}

impl Core {
    fn run(
        self: Arc<Self>,
        endpoint: rsipstack::transaction::Endpoint,
        mut incoming: rsipstack::transaction::TransactionReceiver,
    ) {
        let token = self.token.clone();
        tokio::spawn(async move {
            endpoint.serve().await;
            drop(endpoint);
        });
        let mut tasks = JoinSet::new();
        for trunk in &self.trunks {
            let (probing, net, farewell) = (trunk.clone(), self.net.clone(), self.farewell.clone());
            if !trunk.settings.options_interval.is_zero() {
                tasks.spawn(async move {
                    tokio::select! {
                        () = probing.probe(net) => {}
                        () = farewell.cancelled() => {}
                    }
                });
            } else {
                tasks.spawn(async move {
                    tokio::select! {
                        () = probing.keep_resolved(net) => {}
                        () = farewell.cancelled() => {}
                    }
                });
            }
            if trunk.settings.register {
                tasks.spawn(trunk.clone().keep_registered(self.net.clone(), self.farewell.clone()));
            }
        }
        *self.tasks.lock().unwrap_or_else(PoisonError::into_inner) = tasks;
        tokio::spawn(async move {
            loop {
                let transaction = tokio::select! {
                    transaction = incoming.recv() => transaction,
                    () = token.cancelled() => None,
                };
                match transaction {
                    Some(transaction) => self.on_transaction(transaction).await,
                    None => return,
                }
            }
        });
    }

    /// A request that begins a transaction.
    async fn on_transaction(self: &Arc<Self>, transaction: Transaction) {
        let request = &transaction.original;
        let call = value(request, "Call-ID").unwrap_or_default();
        if let Some(tag) = value(request, "To").and_then(|to| parameter(to, "tag")) {
            match self.dialogs.find(call, tag) {
                Some(mailbox) => drop(mailbox.try_send(Mail::Request(Box::new(transaction)))),
                None => self.answer_outside(transaction, 481, vec![]).await,
            }
            return;
        }
        // The door lets nobody else pass.
        let Some(trunk) = self.trunk_of(&transaction) else { return };
        match request.method {
            Method::Invite => {
                if let Some((transaction, (status, headers))) = inbound::invite(self, &trunk, transaction) {
                    self.answer_outside(transaction, status, headers).await;
                }
            }
            Method::Options => {
                let headers = vec![
                    header("Allow", ALLOW),
                    header("Supported", SUPPORTED),
                    header("Accept", "application/sdp"),
                ];
                let status = if self.draining() { 503 } else { 200 };
                self.answer_outside(transaction, status, headers).await;
            }
            Method::Bye | Method::Update | Method::PRack | Method::Info | Method::Notify => {
                self.answer_outside(transaction, 481, vec![]).await
            }
            _ => self.answer_outside(transaction, 405, vec![header("Allow", ALLOW)]).await,
        }
    }

    /// The trunk that a request comes from: by address and port, else by address alone; one that takes calls
    /// this way.
    fn trunk_of(&self, transaction: &Transaction) -> Option<Arc<Trunk>> {
        let connection = transaction.connection.as_ref()?;
        let transport = carried_by(connection);
        let from = connection.get_remote_addr()?.get_socketaddr().ok()?;
        let ip = from.ip().to_canonical();
        let takes = |trunk: &&Arc<Trunk>| trunk.settings.inbound_transport.takes(transport);
        let mut owners = self.trunks.iter().filter(takes).filter(|trunk| trunk.owns(ip));
        let exact =
            self.trunks.iter().filter(takes).find(|trunk| trunk.is_at(SocketAddr::new(ip, from.port())));
        exact.or_else(|| owners.next()).cloned()
    }

    /// Answers a request that belongs to no call, statelessly (RFC 3261 section 8.2.7): if it comes again, it
    /// gets the same answer. So a datagram with a forged sender costs no memory, and makes us send no more than
    /// its sender has sent.
    pub(super) async fn answer_outside(&self, transaction: Transaction, status: u16, more: Vec<Header>) {
        let request = &transaction.original;
        let answer =
            super::message::response(request, status, &self.nonces.tag(request), &self.agent, more, vec![]);
        if let Some(connection) = &transaction.connection {
            // Sending does not block, neither for datagrams nor for connections ([`Gate`], [`super::stream`]).
            drop(connection.send(answer.into(), None).await);
        }
    }
}

//! Sockets, and requests with their answers.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rsipstack::platform::CancellationToken;
use rsipstack::platform::net::UdpSocket as Datagrams;
use rsipstack::resolver::SipResolver;
use rsipstack::sip::{HasHeaders, Header, Method, Request, Response, SipMessage, StatusCodeKind, Uri};
use rsipstack::transaction::Transaction;
use rsipstack::transaction::endpoint::{EndpointInnerRef, MessageInspector, TargetLocator};
use rsipstack::transaction::key::{TransactionKey, TransactionRole};
use rsipstack::transport::tcp::TcpConnection;
use rsipstack::transport::tls::TlsConnection;
use rsipstack::transport::{SipAddr, SipConnection, TlsConfig};
use rustls::client::danger::ServerCertVerifier;
use tokio::net::UdpSocket;

use super::address::{Hop, hop_of, host_port, local_toward, resolve};
use super::auth::{self, Credentials};
use super::message::{MADE_UP, header, new_branch, new_tag, parameter, request, response, uri_of, value};
use crate::settings::{Settings, Transport};

/// How long opening a connection may take before the hop counts as one that cannot be reached.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long a request is repeated and its answer waited for (RFC 3261: 64 times T1).
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(32);

/// Who may speak to us: asked for every datagram.
pub(super) trait Door: Send + Sync {
    /// Whether this address is a trunk's.
    fn knows(&self, ip: IpAddr) -> bool;
    /// Whether there is a dialog of this Call-ID and tag of ours.
    fn has_dialog(&self, call_id: &str, tag: &str) -> bool;
}

/// The datagram socket. What cannot be read, and requests of strangers, never reach the stack: they cost neither memory nor a panic.
pub(super) struct Gate {
    socket: RwLock<Option<Arc<UdpSocket>>>,
    local: SocketAddr,
    door: Arc<dyn Door>,
    agent: String,
    /// Requests of strangers that were refused.
    pub refused: AtomicU64,
    /// Datagrams that are no SIP message.
    pub junk: AtomicU64,
}

impl Gate {
    pub async fn bind(listen: SocketAddr, door: Arc<dyn Door>, agent: &str) -> std::io::Result<Arc<Self>> {
        let socket = UdpSocket::bind(listen).await?;
        let local = socket.local_addr()?;
        let socket = RwLock::new(Some(Arc::new(socket)));
        Ok(Arc::new(Self { socket, local, door, agent: agent.to_owned(), refused: AtomicU64::new(0), junk: AtomicU64::new(0) }))
    }

    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Frees the port.
    pub fn close(&self) {
        self.socket.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn socket(&self) -> Option<Arc<UdpSocket>> {
        self.socket.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a datagram may pass; the answer to a stranger's request otherwise.
    fn judge(&self, datagram: &[u8], from: IpAddr) -> Verdict {
        if datagram.iter().all(u8::is_ascii_whitespace) {
            return Verdict::Pass;
        }
        let read = catch_unwind(AssertUnwindSafe(|| readable(datagram)));
        let Ok(Some(message)) = read else {
            self.junk.fetch_add(1, Ordering::Relaxed);
            return Verdict::Drop;
        };
        let SipMessage::Request(request) = message else { return Verdict::Pass };
        let tag = value(&request, "To").and_then(|to| parameter(to, "tag"));
        let call = value(&request, "Call-ID").unwrap_or_default();
        if self.door.knows(from) || tag.is_some_and(|tag| self.door.has_dialog(call, tag)) {
            return Verdict::Pass;
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        if request.method == Method::Ack {
            return Verdict::Drop;
        }
        Verdict::Answer(response(&request, 403, &new_tag(), &self.agent, vec![], vec![]).to_bytes())
    }
}

enum Verdict {
    Pass,
    Drop,
    Answer(Vec<u8>),
}

/// Reads a message and what the stack will read of it, so that whatever goes wrong goes wrong here.
fn readable(datagram: &[u8]) -> Option<SipMessage> {
    let message = SipMessage::try_from(datagram).ok()?;
    let source = SocketAddr::from(([127, 0, 0, 1], 5060));
    let message = SipConnection::update_msg_received(message, source, rsipstack::sip::Transport::Udp).ok()?;
    match &message {
        SipMessage::Request(request) => TransactionKey::from_request(request, TransactionRole::Server).ok()?,
        SipMessage::Response(response) => TransactionKey::from_response(response, TransactionRole::Client).ok()?,
    };
    let _ = message.to_bytes();
    SipMessage::try_from(datagram).ok()
}

#[async_trait::async_trait]
impl Datagrams for Gate {
    async fn recv_from(&self, buf: &mut [u8]) -> Result<(usize, SocketAddr), rsipstack::Error> {
        loop {
            let Some(socket) = self.socket() else { return std::future::pending().await };
            // An error here is an earlier datagram's that found no reader; the socket goes on.
            let Ok((length, from)) = socket.recv_from(buf).await else { continue };
            match self.judge(&buf[..length], from.ip().to_canonical()) {
                Verdict::Pass => return Ok((length, from)),
                Verdict::Drop => {}
                Verdict::Answer(answer) => drop(socket.try_send_to(&answer, from)),
            }
        }
    }

    async fn send_to(&self, buf: &[u8], to: SocketAddr) -> Result<usize, rsipstack::Error> {
        match self.socket() {
            Some(socket) => Ok(socket.send_to(buf, to).await?),
            None => Err(rsipstack::Error::Error("closed".into())),
        }
    }

    fn local_addr(&self) -> Result<SocketAddr, rsipstack::Error> {
        Ok(self.local)
    }
}

/// Mends what the stack stumbles over. A 2xx to an INVITE that names no usable Contact gets the address it came from: it can be acknowledged and
/// ended then. An answer that nobody sent is marked, so that a time-out is told from a real 408.
pub(super) struct Mender;

impl MessageInspector for Mender {
    fn before_send(&self, message: SipMessage, _: Option<&SipAddr>) -> SipMessage {
        message
    }

    fn after_received(&self, message: SipMessage, from: Option<&SipAddr>) -> SipMessage {
        let SipMessage::Response(mut response) = message else { return message };
        response.headers_mut().retain(|one| !one.name().eq_ignore_ascii_case(MADE_UP));
        match from {
            None => response.headers_mut().push(header(MADE_UP, "1")),
            Some(from) if response.status_code.kind() == StatusCodeKind::Successful => {
                let usable = value(&response, "Contact").and_then(uri_of).is_some_and(|uri| Uri::try_from(uri).is_ok());
                if !usable {
                    response.headers_mut().retain(|one| !matches!(one, Header::Contact(_)));
                    response.headers_mut().push(header("Contact", format!("<{}>", Uri::from(from))));
                }
            }
            Some(_) => {}
        }
        response.into()
    }
}

/// Finds the address of an ACK's target.
pub(super) struct Locator(pub SipResolver);

#[async_trait::async_trait]
impl TargetLocator for Locator {
    async fn locate(&self, uri: &Uri) -> Result<SipAddr, rsipstack::Error> {
        let (host, transport) = hop_of(uri, Transport::Udp);
        let found = resolve(&self.0, &host, transport).await.map_err(rsipstack::Error::Error)?;
        found.first().map(Hop::sip_addr).ok_or_else(|| rsipstack::Error::Error(format!("{host} has no address")))
    }
}

/// A request without `Via`, `CSeq` and credentials.
#[derive(Clone)]
pub(super) struct Ask {
    pub method: Method,
    pub uri: String,
    pub headers: Vec<Header>,
    pub body: Vec<u8>,
}

/// The network half of a phone.
pub(super) struct Net {
    pub endpoint: EndpointInnerRef,
    pub gate: Arc<Gate>,
    pub resolver: SipResolver,
    udp: SipConnection,
    streams: Mutex<HashMap<(&'static str, SocketAddr), SipConnection>>,
    token: CancellationToken,
    verifier: Option<Arc<dyn ServerCertVerifier>>,
    listen: SocketAddr,
    tls_port: Option<u16>,
    public: Option<IpAddr>,
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net").field("listen", &self.listen).finish_non_exhaustive()
    }
}

impl Net {
    pub fn new(
        settings: &Settings,
        endpoint: EndpointInnerRef,
        gate: Arc<Gate>,
        udp: SipConnection,
        resolver: SipResolver,
        token: CancellationToken,
        verifier: Option<Arc<dyn ServerCertVerifier>>,
    ) -> Self {
        let listen = gate.local();
        let tls_port = settings.tls.as_ref().map(|(address, ..)| address.port());
        Self { endpoint, gate, resolver, udp, streams: Mutex::default(), token, verifier, listen, tls_port, public: settings.public_address }
    }

    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The address of this machine toward a peer.
    pub fn local_ip(&self, remote: SocketAddr) -> IpAddr {
        let bound = self.listen.ip();
        if bound.is_unspecified() { local_toward(remote).unwrap_or(bound) } else { bound }
    }

    /// The address that a peer is told.
    pub fn shown_ip(&self, remote: SocketAddr) -> IpAddr {
        self.public.unwrap_or_else(|| self.local_ip(remote))
    }

    /// `host:port` where a peer of this transport reaches us.
    pub fn shown(&self, hop: &Hop) -> String {
        let port = match hop.transport {
            Transport::Tls => self.tls_port.unwrap_or(self.listen.port()),
            _ => self.listen.port(),
        };
        host_port(self.shown_ip(hop.address), port)
    }

    /// The connection to a hop, opened when there is none.
    ///
    /// # Errors
    /// The hop cannot be reached: refused, no answer, no valid certificate.
    pub async fn connection(&self, hop: &Hop) -> Result<SipConnection, String> {
        if hop.transport == Transport::Udp {
            return Ok(self.udp.clone());
        }
        let key = (hop.transport.word(), hop.address);
        let open = |one: &SipConnection| !one.cancel_token().is_some_and(|token| token.is_cancelled());
        let known = {
            let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
            streams.retain(|_, one| open(one));
            streams.get(&key).cloned()
        };
        if let Some(connection) = known {
            return Ok(connection);
        }
        let opening = async {
            let token = Some(self.token.child_token());
            if hop.transport == Transport::Tcp {
                return TcpConnection::connect(&hop.sip_addr(), token).await.map(SipConnection::Tcp);
            }
            let config = TlsConfig { sni_hostname: Some(hop.host.clone()), ca_certs: Some(Vec::new()), ..TlsConfig::default() };
            TlsConnection::connect(&hop.sip_addr(), Some(&config), self.verifier.clone(), token).await.map(SipConnection::Tls)
        };
        let opened = tokio::time::timeout(CONNECT_LIMIT, opening).await.map_err(|_| "no connection in time".to_owned())?;
        let connection = opened.map_err(|error| format!("no connection: {error}"))?;
        self.endpoint.transport_layer.add_connection(connection.clone());
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).insert(key, connection.clone());
        Ok(connection)
    }

    /// A request that is ready to go, with a `Via` of its own and this CSeq.
    pub fn build(&self, ask: &Ask, hop: &Hop, seq: u32, credentials: &[Header]) -> Result<Request, String> {
        let uri = Uri::try_from(ask.uri.as_str()).map_err(|error| format!("not an address: {error}"))?;
        let via = format!("SIP/2.0/{} {};branch={};rport", hop.transport.word(), self.shown(hop), new_branch());
        let mut headers = vec![header("Via", via), header("Max-Forwards", "70")];
        headers.extend(ask.headers.iter().cloned());
        headers.push(header("CSeq", format!("{seq} {}", ask.method)));
        headers.push(header("User-Agent", self.endpoint.user_agent.clone()));
        headers.extend(credentials.iter().cloned());
        Ok(request(ask.method, uri, headers, ask.body.clone()))
    }

    /// The transaction of a request, not yet sent.
    pub fn transaction(&self, request: Request, hop: &Hop, connection: SipConnection) -> Result<Transaction, String> {
        let key = TransactionKey::from_request(&request, TransactionRole::Client).map_err(|error| error.to_string())?;
        let mut transaction = Transaction::new_client(key, request, self.endpoint.clone(), Some(connection));
        transaction.destination = Some(hop.sip_addr());
        Ok(transaction)
    }

    /// Sends a request and waits for its final answer, which may be made up ([`super::message::made_up`]).
    ///
    /// # Errors
    /// It could not be sent, or nothing came within the limit.
    pub async fn exchange(&self, request: Request, hop: &Hop, connection: SipConnection, limit: Duration) -> Result<Response, String> {
        let mut transaction = self.transaction(request, hop, connection)?;
        let waiting = async {
            transaction.send().await.map_err(|error| error.to_string())?;
            while let Some(message) = transaction.receive().await {
                match message {
                    SipMessage::Response(response) if response.status_code.kind() != StatusCodeKind::Provisional => return Ok(response),
                    _ => {}
                }
            }
            Err("no answer".to_owned())
        };
        tokio::time::timeout(limit, waiting).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }

    /// [`Net::exchange`], with credentials when they are asked for. `seq` holds the CSeq used last.
    pub async fn ask(
        &self,
        ask: &Ask,
        hop: &Hop,
        flow: Option<SipConnection>,
        seq: &AtomicU32,
        login: Option<&Credentials>,
        limit: Duration,
    ) -> Result<Response, String> {
        let mut credentials = Vec::new();
        for round in 0..3 {
            let connection = match flow.clone().filter(|flow| !flow.cancel_token().is_some_and(|token| token.is_cancelled())) {
                Some(flow) => flow,
                None => self.connection(hop).await?,
            };
            let request = self.build(ask, hop, seq.fetch_add(1, Ordering::Relaxed) + 1, &credentials)?;
            let response = self.exchange(request.clone(), hop, connection, limit).await?;
            if !matches!(response.status_code.code(), 401 | 407) {
                return Ok(response);
            }
            credentials = login.map(|login| auth::answer(&response, &request, login, round > 0)).unwrap_or_default();
            if credentials.is_empty() {
                return Ok(response);
            }
        }
        Err("challenged without end".to_owned())
    }
}

//! UDP socket, client transactions, and the choice of transport and local address.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rsipstack::platform::net::UdpSocket as Datagrams;
use rsipstack::resolver::SipResolver;
use rsipstack::sip::{HasHeaders, Header, Method, Request, Response, SipMessage, StatusCodeKind, Uri};
use rsipstack::transaction::Transaction;
use rsipstack::transaction::endpoint::{EndpointInnerRef, MessageInspector, TargetLocator};
use rsipstack::transaction::key::{TransactionKey, TransactionRole};
use rsipstack::transport::transport_layer::DomainResolver;
use rsipstack::transport::{SipAddr, SipConnection};
use tokio::net::UdpSocket;
use tokio_rustls::TlsConnector;

use super::address::{Hop, hop_of, host_port, local_toward, resolve};
use super::auth::{self, Credentials};
use super::door::{Door, Queues, may_pass};
use super::message::{MADE_UP, header, new_branch, plain_uri, read_uri, readable, request, uri_of, value};
use super::stream::{LARGEST, Streams};
use crate::settings::{Settings, Transport};

/// How long opening a connection may take before the hop counts as one that cannot be reached.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long a request is repeated and its answer waited for (RFC 3261: 64 times T1).
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(32);

/// The datagram socket. Datagrams of strangers, those that cannot be parsed and those there is no room for
/// never reach the stack. They cost no memory, cannot make it panic, and get no answer.
pub(super) struct Gate {
    socket: RwLock<Option<Arc<Socket>>>,
    local: SocketAddr,
    door: Arc<dyn Door>,
    queues: Arc<Queues>,
    /// Datagrams of strangers.
    pub refused: AtomicU64,
    /// Datagrams that are no SIP message, or too large.
    pub junk: AtomicU64,
    /// Datagrams of peers of which too many wait.
    pub crowded: AtomicU64,
}

/// One socket with two handles.
struct Socket {
    reads: UdpSocket,
    /// Never blocks, and asks the system each time: the runtime's idea of the room in the buffer is too
    /// pessimistic, above all in the beginning.
    writes: std::net::UdpSocket,
}

impl Gate {
    /// Binds the address.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn bind(listen: SocketAddr, door: Arc<dyn Door>, queues: Arc<Queues>) -> std::io::Result<Arc<Self>> {
        let writes = std::net::UdpSocket::bind(listen)?;
        writes.set_nonblocking(true)?;
        let local = writes.local_addr()?;
        let reads = UdpSocket::from_std(writes.try_clone()?)?;
        let socket = RwLock::new(Some(Arc::new(Socket { reads, writes })));
        let none = || AtomicU64::new(0);
        Ok(Arc::new(Self { socket, local, door, queues, refused: none(), junk: none(), crowded: none() }))
    }

    /// The address that it is bound to.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Frees the port.
    pub fn close(&self) {
        self.socket.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn socket(&self) -> Option<Arc<Socket>> {
        self.socket.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a datagram may pass.
    fn judge(&self, datagram: &[u8], from: SocketAddr) -> Verdict {
        let ip = from.ip().to_canonical();
        let drop_and = |count: &AtomicU64| {
            count.fetch_add(1, Ordering::Relaxed);
            Verdict::Drop
        };
        // Before anything of it is parsed.
        if !self.door.hears(ip) {
            return drop_and(&self.refused);
        }
        if datagram.iter().all(u8::is_ascii_whitespace) {
            return if datagram == b"\r\n\r\n" { Verdict::KeepAlive } else { Verdict::Drop };
        }
        let read = if datagram.len() > LARGEST { None } else { readable(datagram, from, Transport::Udp) };
        let Some(message) = read else { return drop_and(&self.junk) };
        if !may_pass(&*self.door, &message, ip, Transport::Udp) {
            return drop_and(&self.refused);
        }
        if self.queues.enter(ip) { Verdict::Pass } else { drop_and(&self.crowded) }
    }
}

enum Verdict {
    Pass,
    Drop,
    /// Answered with an empty line.
    KeepAlive,
}

#[async_trait::async_trait]
impl Datagrams for Gate {
    async fn recv_from(&self, buf: &mut [u8]) -> Result<(usize, SocketAddr), rsipstack::Error> {
        loop {
            let Some(socket) = self.socket() else { return std::future::pending().await };
            // An error here is about an earlier datagram that found no reader; the socket still works.
            let Ok((length, from)) = socket.reads.recv_from(buf).await else { continue };
            match self.judge(&buf[..length], from) {
                Verdict::Pass => return Ok((length, from)),
                Verdict::Drop => {}
                Verdict::KeepAlive => drop(socket.writes.send_to(b"\r\n", from)),
            }
        }
    }

    /// Never blocks: a datagram that the system has no room for is lost, as it may be on the way.
    async fn send_to(&self, buf: &[u8], to: SocketAddr) -> Result<usize, rsipstack::Error> {
        match self.socket() {
            Some(socket) => match socket.writes.send_to(buf, to) {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(buf.len()),
                sent => Ok(sent?),
            },
            None => Err(rsipstack::Error::Error("closed".into())),
        }
    }

    fn local_addr(&self) -> Result<SocketAddr, rsipstack::Error> {
        Ok(self.local)
    }
}

/// The transport that a message came over. The stack sees connections as channels; their address names it.
pub(super) fn carried_by(connection: &SipConnection) -> Transport {
    let named = connection.get_remote_addr().and_then(|address| address.r#type);
    match named {
        Some(rsipstack::sip::Transport::Tcp) => Transport::Tcp,
        Some(rsipstack::sip::Transport::Tls) => Transport::Tls,
        _ => Transport::Udp,
    }
}

/// Resolves no name. The stack asks on the loop that all peers share, where nobody may wait for a name
/// server; what has to be resolved is resolved by the task of the call ([`Locator`],
/// [`super::dialog::Dialog::hop`]).
pub(super) struct Unresolved;

#[async_trait::async_trait]
impl DomainResolver for Unresolved {
    async fn resolve(&self, target: &SipAddr) -> Result<SipAddr, rsipstack::Error> {
        Err(rsipstack::Error::DnsResolutionError(target.addr.to_string()))
    }
}

/// Mends messages that the stack cannot handle. A 2xx to an INVITE without a usable Contact gets the address it
/// came from, so that it can be acknowledged and the call ended. An answer that the stack made up is marked,
/// so that a time-out can be distinguished from a real 408.
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
                let contact =
                    value(&response, "Contact").and_then(uri_of).filter(|uri| Uri::try_from(*uri).is_ok());
                let mended = match contact {
                    None => Some(Uri::from(from).to_string()),
                    // The stack makes the ACK, and would percent-encode the address once more.
                    Some(uri) => uri.contains('%').then(|| plain_uri(uri)),
                };
                if let Some(uri) = mended {
                    response.headers_mut().retain(|one| !matches!(one, Header::Contact(_)));
                    response.headers_mut().push(header("Contact", format!("<{uri}>")));
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
        found
            .first()
            .map(Hop::sip_addr)
            .ok_or_else(|| rsipstack::Error::Error(format!("{host} has no address")))
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

/// The network half of a user agent.
pub(super) struct Net {
    pub endpoint: EndpointInnerRef,
    pub gate: Arc<Gate>,
    pub resolver: SipResolver,
    pub streams: Arc<Streams>,
    udp: SipConnection,
    /// Connections that we opened.
    opened: Mutex<HashMap<(&'static str, SocketAddr), SipConnection>>,
    connector: Option<TlsConnector>,
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
        streams: Arc<Streams>,
        udp: SipConnection,
        resolver: SipResolver,
        connector: Option<TlsConnector>,
    ) -> Self {
        let listen = gate.local();
        let tls_port = settings.tls.as_ref().map(|(address, ..)| address.port());
        Self {
            endpoint,
            gate,
            resolver,
            streams,
            udp,
            opened: Mutex::default(),
            connector,
            listen,
            tls_port,
            public: settings.public_address,
        }
    }

    /// The address that it listens on.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The address of this machine that a peer is reached from.
    pub fn local_ip(&self, remote: SocketAddr) -> IpAddr {
        let bound = self.listen.ip();
        if bound.is_unspecified() { local_toward(remote).unwrap_or(bound) } else { bound }
    }

    /// The address that is advertised to a peer.
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
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.retain(|_, one| open(one));
            opened.get(&key).cloned()
        };
        if let Some(connection) = known {
            return Ok(connection);
        }
        let opening = self.streams.connect(hop, self.connector.as_ref());
        let opened = tokio::time::timeout(CONNECT_LIMIT, opening)
            .await
            .map_err(|_| "no connection in time".to_owned())?;
        let connection = opened.map_err(|error| format!("no connection: {error}"))?;
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(key, connection.clone());
        Ok(connection)
    }

    /// A complete request, with a `Via` of its own and this CSeq.
    pub fn build(&self, ask: &Ask, hop: &Hop, seq: u32, credentials: &[Header]) -> Result<Request, String> {
        let uri = read_uri(&ask.uri).ok_or("not an address")?;
        let via =
            format!("SIP/2.0/{} {};branch={};rport", hop.transport.word(), self.shown(hop), new_branch());
        let mut headers = vec![header("Via", via), header("Max-Forwards", "70")];
        headers.extend(ask.headers.iter().cloned());
        headers.push(header("CSeq", format!("{seq} {}", ask.method)));
        headers.push(header("User-Agent", self.endpoint.user_agent.clone()));
        headers.extend(credentials.iter().cloned());
        Ok(request(ask.method, uri, headers, ask.body.clone()))
    }

    /// The transaction of a request, not yet sent.
    pub fn transaction(
        &self,
        request: Request,
        hop: &Hop,
        connection: SipConnection,
    ) -> Result<Transaction, String> {
        let key = TransactionKey::from_request(&request, TransactionRole::Client)
            .map_err(|error| error.to_string())?;
        let mut transaction = Transaction::new_client(key, request, self.endpoint.clone(), Some(connection));
        transaction.destination = Some(hop.sip_addr());
        Ok(transaction)
    }

    /// Sends a request and waits for its final answer, which may be made up ([`super::message::made_up`]).
    ///
    /// # Errors
    /// It could not be sent, or nothing came within the limit.
    pub async fn exchange(
        &self,
        request: Request,
        hop: &Hop,
        connection: SipConnection,
        limit: Duration,
    ) -> Result<Response, String> {
        // No answer comes over a connection that has broken; the datagram socket breaks with the user agent.
        let token = connection.cancel_token();
        let broken = async {
            match token {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let mut transaction = self.transaction(request, hop, connection)?;
        let waiting = async {
            transaction.send().await.map_err(|error| error.to_string())?;
            while let Some(message) = transaction.receive().await {
                match message {
                    SipMessage::Response(response)
                        if response.status_code.kind() != StatusCodeKind::Provisional =>
                    {
                        return Ok(response);
                    }
                    _ => {}
                }
            }
            Err("no answer".to_owned())
        };
        tokio::select! {
            biased;
            answer = waiting => answer,
            () = broken => Err("the connection broke".to_owned()),
            () = tokio::time::sleep_until(tokio::time::Instant::now() + limit) => Err("no answer in time".to_owned()),
        }
    }

    /// [`Net::exchange`] that answers a challenge with credentials. `seq` holds the CSeq that was used last.
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
            let connection = match flow
                .clone()
                .filter(|flow| !flow.cancel_token().is_some_and(|token| token.is_cancelled()))
            {
                Some(flow) => flow,
                None => self.connection(hop).await?,
            };
            let request = self.build(ask, hop, seq.fetch_add(1, Ordering::Relaxed) + 1, &credentials)?;
            let response = self.exchange(request.clone(), hop, connection, limit).await?;
            if !matches!(response.status_code.code(), 401 | 407) {
                return Ok(response);
            }
            credentials =
                login.map(|login| auth::answer(&response, &request, login, round > 0)).unwrap_or_default();
            if credentials.is_empty() {
                return Ok(response);
            }
        }
        Err("challenged without end".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contact_that_an_ack_goes_to_is_mended() {
        let from = SipAddr::from(SocketAddr::from(([192, 0, 2, 1], 5060)));
        for (contact, expected) in [
            ("Contact: <sip:%2B91%40@h>;expires=5\r\n", "<sip:+91%40@h>"),
            ("Contact: <sip:a@h>;q=1\r\n", "<sip:a@h>;q=1"),
            ("", "<sip:192.0.2.1:5060>"),
        ] {
            let answer =
                Response::try_from(format!("SIP/2.0 200 OK\r\nCSeq: 1 INVITE\r\n{contact}\r\n").as_str())
                    .expect("an answer");
            let SipMessage::Response(mended) = Mender.after_received(answer.into(), Some(&from)) else {
                panic!("an answer")
            };
            assert_eq!(value(&mended, "Contact"), Some(expected), "{contact}");
        }
    }
}

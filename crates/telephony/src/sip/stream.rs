//! TCP and TLS connections, incoming and outgoing: framing, bounded send queues, idle timeouts.
//!
//! The stack could read and write streams itself, but then a peer that takes nothing would block the loop that
//! all peers share, and its queues are unbounded. So connections are handled here, each by a task of its own,
//! and the stack sees them as channels: what it sends is queued at once, and what was read reaches it through
//! one channel for all ([`Streams::new`]).
//!
//! A connection ends when its peer takes nothing for [`STALLED`], when more than [`MOST_MESSAGES`] or
//! [`MOST_BYTES`] wait for it, when a message is larger than [`LARGEST`], cannot be parsed or is not complete
//! after [`WHOLE_WITHIN`], and when nothing has come for [`IDLE`].

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rsipstack::platform::CancellationToken;
use rsipstack::sip::{Domain, Host, HostWithPort, Method, Request, SipMessage};
use rsipstack::transaction::endpoint::EndpointInner;
use rsipstack::transaction::key::{TransactionKey, TransactionRole};
use rsipstack::transaction::transaction::TransactionEvent;
use rsipstack::transport::channel::ChannelConnection;
use rsipstack::transport::{SipAddr, SipConnection, TransportEvent, TransportLayer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::address::Hop;
use super::door::{Door, Queues, may_pass};
use super::message::{MADE_UP, header, readable, response};
use super::timers::until;
use crate::settings::Transport;

/// The largest message, headers and body.
pub(super) const LARGEST: usize = 16 * 1024;
/// Connections that peers may hold open: all peers, and one address.
const ACCEPTED: usize = 256;
const ACCEPTED_OF_ONE: usize = 32;
/// Messages and bytes that may wait for one connection.
const MOST_MESSAGES: usize = 512;
const MOST_BYTES: usize = 256 * 1024;
/// How long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long the rest of a message may take.
const WHOLE_WITHIN: Duration = Duration::from_secs(10);
/// How long a peer may take nothing while something waits for it.
const STALLED: Duration = Duration::from_secs(10);
/// How long a connection may be silent.
const IDLE: Duration = Duration::from_secs(300);
/// How long accepting rests after a failure.
const REST: Duration = Duration::from_millis(100);

pub(super) struct Streams {
    door: Arc<dyn Door>,
    queues: Arc<Queues>,
    token: CancellationToken,
    agent: String,
    /// The way into the stack.
    ingress: mpsc::UnboundedSender<TransportEvent>,
    endpoint: OnceLock<Weak<EndpointInner>>,
    /// Connections that peers opened.
    accepted: Mutex<HashMap<IpAddr, usize>>,
    open: AtomicUsize,
    waiting: AtomicUsize,
    /// Connections of strangers, and requests over a transport that their trunk may not use.
    pub refused: AtomicU64,
    /// Connections that exceeded a limit.
    pub crowded: AtomicU64,
    /// Messages that could not be read, or were too large or too slow.
    pub junk: AtomicU64,
}

/// One of the connections that peers may hold.
struct Place(Arc<Streams>, IpAddr);

impl Drop for Place {
    fn drop(&mut self) {
        let mut accepted = self.0.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = accepted.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                accepted.remove(&self.1);
            }
        }
    }
}

/// Who is at the other end.
#[derive(Clone)]
struct Peer {
    address: SocketAddr,
    transport: Transport,
}

impl Peer {
    fn sip_addr(&self) -> SipAddr {
        SipAddr { r#type: Some(self.transport.carried()), addr: self.address.into() }
    }

    fn ip(&self) -> IpAddr {
        self.address.ip().to_canonical()
    }
}

impl Streams {
    /// Connects to the stack.
    pub async fn new(
        layer: &TransportLayer,
        door: Arc<dyn Door>,
        queues: Arc<Queues>,
        agent: &str,
        token: &CancellationToken,
    ) -> Result<Arc<Self>, String> {
        let (ingress, events) = mpsc::unbounded_channel();
        let (nowhere, _) = mpsc::unbounded_channel();
        // A name that nothing is ever sent to.
        let host = Host::Domain(Domain::from("streams.invalid"));
        let name =
            SipAddr { r#type: Some(Transport::Tcp.carried()), addr: HostWithPort { host, port: None } };
        let channel = ChannelConnection::create_connection(events, nowhere, name, Some(token.child_token()))
            .await
            .map_err(|error| error.to_string())?;
        layer.add_connection(SipConnection::Channel(channel));
        Ok(Arc::new(Self {
            door,
            queues,
            token: token.clone(),
            agent: agent.to_owned(),
            ingress,
            endpoint: OnceLock::new(),
            accepted: Mutex::default(),
            open: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            crowded: AtomicU64::new(0),
            junk: AtomicU64::new(0),
        }))
    }

    /// Sets the stack's endpoint, whose transactions learn of requests that could not be sent.
    pub fn serve(&self, endpoint: &Arc<EndpointInner>) {
        drop(self.endpoint.set(Arc::downgrade(endpoint)));
    }

    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Bytes that wait for peers to take them.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Accepts connections of trunks; any other is closed before a byte of it is read.
    pub async fn accept(self: Arc<Self>, listener: TcpListener, tls: Option<TlsAcceptor>) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.token.cancelled() => return,
            };
            let (socket, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    until(Some(Instant::now() + REST)).await;
                    continue;
                }
            };
            let ip = address.ip().to_canonical();
            if !self.door.knows(ip) {
                self.refused.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let Some(place) = self.place(ip) else {
                self.crowded.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            let transport = if tls.is_some() { Transport::Tls } else { Transport::Tcp };
            let (streams, tls, peer) = (self.clone(), tls.clone(), Peer { address, transport });
            drop(socket.set_nodelay(true));
            tokio::spawn(async move {
                let Some(acceptor) = tls else {
                    drop(streams.start(socket, peer, Some(place)).await);
                    return;
                };
                // The place is taken during the handshake, too.
                let secured = tokio::select! {
                    secured = timeout(HANDSHAKE, acceptor.accept(socket)) => secured,
                    () = streams.token.cancelled() => return,
                };
                let Ok(Ok(socket)) = secured else {
                    streams.junk.fetch_add(1, Ordering::Relaxed);
                    return;
                };
                drop(streams.start(socket, peer, Some(place)).await);
            });
        }
    }

    fn place(self: &Arc<Self>, ip: IpAddr) -> Option<Place> {
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, one) = (accepted.values().sum::<usize>(), accepted.get(&ip).copied().unwrap_or(0));
        if all >= ACCEPTED || one >= ACCEPTED_OF_ONE {
            return None;
        }
        accepted.insert(ip, one + 1);
        Some(Place(self.clone(), ip))
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// It is refused, or has no valid certificate.
    pub async fn connect(
        self: &Arc<Self>,
        hop: &Hop,
        tls: Option<&TlsConnector>,
    ) -> Result<SipConnection, String> {
        let socket = TcpStream::connect(hop.address).await.map_err(|error| error.to_string())?;
        drop(socket.set_nodelay(true));
        let peer = Peer { address: hop.address, transport: hop.transport };
        if hop.transport != Transport::Tls {
            return self.start(socket, peer, None).await;
        }
        let tls = tls.ok_or("no trunk is set up for TLS")?;
        let name = ServerName::try_from(hop.host.clone())
            .map_err(|_| format!("{} is no name of a certificate", hop.host))?;
        let socket = tls.connect(name, socket).await.map_err(|error| error.to_string())?;
        self.start(socket, peer, None).await
    }

    /// Starts the task of a connection.
    async fn start<S>(
        self: &Arc<Self>,
        socket: S,
        peer: Peer,
        place: Option<Place>,
    ) -> Result<SipConnection, String>
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        // This channel's reading end is not used: everything comes in through the one that all share.
        let (_, nothing) = mpsc::unbounded_channel();
        let (sender, orders) = mpsc::unbounded_channel();
        let token = self.token.child_token();
        let channel =
            ChannelConnection::create_connection(nothing, sender, peer.sip_addr(), Some(token.clone()))
                .await
                .map_err(|error| error.to_string())?;
        let connection = SipConnection::Channel(channel);
        let carried = Carried {
            streams: self.clone(),
            peer,
            connection: connection.clone(),
            token,
            orders,
            out: Outgoing::default(),
            _place: place,
        };
        self.open.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(carried.run(socket));
        Ok(connection)
    }

    /// Tells a transaction that its request was not sent.
    fn lost(&self, request: &Request) {
        if request.method == Method::Ack {
            return;
        }
        let Some(endpoint) = self.endpoint.get().and_then(Weak::upgrade) else { return };
        let Ok(key) = TransactionKey::from_request(request, TransactionRole::Client) else { return };
        if let Some(transaction) = endpoint.transactions.get(&key) {
            let answer = response(request, 503, "", &self.agent, vec![header(MADE_UP, "1")], vec![]);
            drop(transaction.send(TransactionEvent::Received(answer.into(), None)));
        }
    }
}

/// A connection and its task.
struct Carried {
    streams: Arc<Streams>,
    peer: Peer,
    connection: SipConnection,
    token: CancellationToken,
    orders: mpsc::UnboundedReceiver<TransportEvent>,
    out: Outgoing,
    _place: Option<Place>,
}

impl Carried {
    async fn run<S: AsyncRead + AsyncWrite>(mut self, socket: S) {
        let (mut reader, mut writer) = tokio::io::split(Box::pin(socket));
        self.carry(&mut reader, &mut writer).await;
        drop((reader, writer));
    }

    async fn carry(&mut self, reader: &mut (impl AsyncRead + Unpin), writer: &mut (impl AsyncWrite + Unpin)) {
        let places = self.streams.queues.of(self.peer.ip());
        let mut chunk = vec![0u8; 4096];
        let mut incoming = Incoming::default();
        // A message that was read and waits for a place in the queue: nothing more is read meanwhile.
        let mut held: Option<SipMessage> = None;
        let mut heard = Instant::now();
        loop {
            let stalled = self.out.stalled_since.map(|since| since + STALLED);
            let whole = incoming.began.filter(|_| held.is_none()).map(|began| began + WHOLE_WITHIN);
            let end = [Some(heard + IDLE), stalled, whole].into_iter().flatten().min();
            tokio::select! {
                () = self.token.cancelled() => return,
                order = self.orders.recv() => {
                    if let Some(TransportEvent::Incoming(message, ..)) = order
                        && !self.out.push(message, &self.streams.waiting)
                    {
                        return;
                    }
                }
                wrote = self.out.write(writer, &self.streams.waiting), if self.out.unsent() => {
                    if wrote.is_err() {
                        return;
                    }
                }
                read = reader.read(&mut chunk), if held.is_none() => match read {
                    Ok(length) if length > 0 => {
                        heard = Instant::now();
                        incoming.add(&chunk[..length]);
                    }
                    _ => return,
                },
                place = places.acquire(), if held.is_some() => {
                    let Ok(place) = place else { return };
                    place.forget();
                    if let Some(message) = held.take() {
                        drop(self.streams.ingress.send(TransportEvent::Incoming(message, self.connection.clone(), self.peer.sip_addr())));
                    }
                }
                () = until(end) => {
                    if whole.is_some_and(|at| at <= Instant::now()) {
                        self.streams.junk.fetch_add(1, Ordering::Relaxed);
                    }
                    return;
                }
            }
            while held.is_none() {
                match incoming.next() {
                    Ok(Some(Frame::Message(bytes))) => match self.read(&bytes) {
                        Ok(message) => held = message,
                        Err(()) => return,
                    },
                    Ok(Some(Frame::KeepAlive)) => {
                        if !self.out.push_bytes(b"\r\n".to_vec(), None, &self.streams.waiting) {
                            return;
                        }
                    }
                    Ok(None) => break,
                    Err(TooLarge) => {
                        self.streams.junk.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                }
            }
        }
    }

    /// Parses a message; none if it is dropped. An error ends the connection: it is not known where the next
    /// message begins.
    fn read(&self, bytes: &[u8]) -> Result<Option<SipMessage>, ()> {
        let Some(message) = readable(bytes, self.peer.address, self.peer.transport) else {
            self.streams.junk.fetch_add(1, Ordering::Relaxed);
            return Err(());
        };
        if may_pass(&*self.streams.door, &message, self.peer.ip(), self.peer.transport) {
            return Ok(Some(message));
        }
        self.streams.refused.fetch_add(1, Ordering::Relaxed);
        Ok(None)
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        // In this order: the connection counts as closed, then nothing more can be queued, then the transactions
        // of what is queued learn that it was not sent.
        self.token.cancel();
        self.orders.close();
        while let Ok(order) = self.orders.try_recv() {
            if let TransportEvent::Incoming(SipMessage::Request(request), ..) = order {
                self.streams.lost(&request);
            }
        }
        for waiting in self.out.queue.drain(..) {
            if let Some(request) = waiting.request {
                self.streams.lost(&request);
            }
        }
        self.streams.waiting.fetch_sub(std::mem::take(&mut self.out.bytes), Ordering::Relaxed);
        self.streams.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Messages that wait for a peer.
#[derive(Default)]
struct Outgoing {
    queue: VecDeque<Waiting>,
    /// Bytes of the first that have left.
    sent: usize,
    bytes: usize,
    /// Something was written and may not be flushed yet.
    unflushed: bool,
    /// Since when nothing was taken although something waits.
    stalled_since: Option<Instant>,
}

struct Waiting {
    bytes: Vec<u8>,
    /// The request, whose transaction learns if it is not sent.
    request: Option<Box<Request>>,
}

impl Outgoing {
    fn unsent(&self) -> bool {
        self.unflushed || !self.queue.is_empty()
    }

    /// Adds a message; false if too much waits.
    fn push(&mut self, message: SipMessage, total: &AtomicUsize) -> bool {
        let bytes = message.to_bytes();
        let request = match message {
            SipMessage::Request(request) => Some(Box::new(request)),
            SipMessage::Response(_) => None,
        };
        self.push_bytes(bytes, request, total)
    }

    fn push_bytes(&mut self, bytes: Vec<u8>, request: Option<Box<Request>>, total: &AtomicUsize) -> bool {
        let room = self.queue.len() < MOST_MESSAGES && self.bytes + bytes.len() <= MOST_BYTES;
        self.bytes += bytes.len();
        total.fetch_add(bytes.len(), Ordering::Relaxed);
        // Added in any case, so that its transaction learns that it was not sent.
        self.queue.push_back(Waiting { bytes, request });
        self.stalled_since.get_or_insert_with(Instant::now);
        room
    }

    /// Writes what waits. Cancelling it loses nothing.
    async fn write(
        &mut self,
        writer: &mut (impl AsyncWrite + Unpin),
        total: &AtomicUsize,
    ) -> std::io::Result<()> {
        std::future::poll_fn(|cx| self.poll(cx, Pin::new(&mut *writer), total)).await
    }

    fn poll<W: AsyncWrite>(
        &mut self,
        cx: &mut Context<'_>,
        mut writer: Pin<&mut W>,
        total: &AtomicUsize,
    ) -> Poll<std::io::Result<()>> {
        while let Some(first) = self.queue.front() {
            let written = ready!(writer.as_mut().poll_write(cx, &first.bytes[self.sent..]))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.unflushed = true;
            self.sent += written;
            self.bytes -= written;
            total.fetch_sub(written, Ordering::Relaxed);
            self.stalled_since = Some(Instant::now());
            if self.sent == first.bytes.len() {
                self.sent = 0;
                self.queue.pop_front();
            }
        }
        ready!(writer.as_mut().poll_flush(cx))?;
        self.unflushed = false;
        self.stalled_since = None;
        Poll::Ready(Ok(()))
    }
}

/// Bytes of messages that are not complete yet.
#[derive(Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
    /// Up to here there is no end of headers.
    searched: usize,
    /// When the first byte of the message came.
    began: Option<Instant>,
}

/// What comes over a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Message(Vec<u8>),
    /// Two empty lines, which are answered with one (RFC 5626 section 4.4.1).
    KeepAlive,
}

/// A message is larger than [`LARGEST`], or does not say how long it is in a way that can be understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Incoming {
    /// Adds bytes that were read.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.began.get_or_insert_with(Instant::now);
    }

    /// The next complete message.
    pub fn next(&mut self) -> Result<Option<Frame>, TooLarge> {
        if self.bytes.starts_with(b"\r\n\r\n") {
            self.take(4);
            return Ok(Some(Frame::KeepAlive));
        }
        // The answer to a keep-alive, or an empty line before a message (RFC 3261 section 7.5).
        while self.bytes.starts_with(b"\r\n") {
            self.take(2);
        }
        let Some(headers) = self.headers() else {
            return if self.bytes.len() > LARGEST { Err(TooLarge) } else { Ok(None) };
        };
        let length = headers + body_length(&self.bytes[..headers]).ok_or(TooLarge)?;
        if length > LARGEST {
            return Err(TooLarge);
        }
        Ok((self.bytes.len() >= length).then(|| Frame::Message(self.take(length))))
    }

    /// Length of the headers with the empty line behind them.
    fn headers(&mut self) -> Option<usize> {
        let from = self.searched.saturating_sub(3);
        let found =
            self.bytes[from..].windows(4).position(|four| four == b"\r\n\r\n").map(|at| from + at + 4);
        self.searched = found.map_or(self.bytes.len(), |end| end - 4);
        found
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.bytes.split_off(length);
        self.searched = 0;
        self.began = (!rest.is_empty()).then(Instant::now);
        std::mem::replace(&mut self.bytes, rest)
    }
}

/// The `Content-Length` of headers, 0 without one; none if it is not a valid length.
fn body_length(headers: &[u8]) -> Option<usize> {
    for line in headers.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = line[..colon].trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") || name.eq_ignore_ascii_case(b"l") {
            let digits = line[colon + 1..].trim_ascii();
            if digits.is_empty() || digits.len() > 9 || !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            return std::str::from_utf8(digits).ok()?.parse().ok();
        }
    }
    Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: &str, body: &str) -> Vec<u8> {
        format!("OPTIONS sip:a SIP/2.0\r\nl : {length}\r\n\r\n{body}").into_bytes()
    }

    #[test]
    fn messages_are_found_wherever_they_are_cut() {
        let (one, two) = (message("3", "abc"), message("0", ""));
        let all = [b"\r\n\r\n".as_slice(), &one, b"\r\n", &two, &one].concat();
        for step in 1..all.len() {
            let mut incoming = Incoming::default();
            let mut found = Vec::new();
            for piece in all.chunks(step) {
                incoming.add(piece);
                while let Some(frame) = incoming.next().expect("small") {
                    found.push(frame);
                }
            }
            found.retain(|frame| *frame != Frame::KeepAlive);
            assert_eq!(
                found,
                [Frame::Message(one.clone()), Frame::Message(two.clone()), Frame::Message(one.clone())],
                "{step}"
            );
            assert!(incoming.bytes.is_empty() && incoming.began.is_none());
        }
    }

    #[test]
    fn what_is_too_large_is_known_before_it_is_there() {
        for length in ["16384", "999999999", "99999999999999999999", "-1", "+5", "0x10", ""] {
            let mut incoming = Incoming::default();
            incoming.add(&message(length, ""));
            assert_eq!(incoming.next(), Err(TooLarge), "{length}");
        }
        let mut incoming = Incoming::default();
        incoming.add(&vec![b'x'; LARGEST]);
        assert_eq!(incoming.next(), Ok(None));
        incoming.add(b"x");
        assert_eq!(incoming.next(), Err(TooLarge));
    }
}

//! Peers to send to, and name servers to ask.

use std::collections::HashMap;
use std::future::{Future, pending};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use providers::guarded_client::{
    GuardedClient, Limits, Policy, PoolLimits, Request, Resolver, Resolving, Response, SendError,
    SystemResolver,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

/// Longer than any test takes; what runs into it has hung.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Limits that a healthy exchange never meets.
pub const LIMITS: Limits = Limits { deadline: PATIENCE, max_response_bytes: 1000 };

/// A plain answer that leaves the connection open.
pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A peer on a local port, and what it has seen.
pub struct Peer {
    pub address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    closed: watch::Receiver<usize>,
}

impl Peer {
    /// Runs `serve` for each connection, with the connection's number from 0.
    pub async fn start<F, S>(serve: S) -> Peer
    where
        S: Fn(usize, TcpStream) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let (ended, closed) = watch::channel(0);
        let count = accepted.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let connection = serve(count.fetch_add(1, Ordering::SeqCst), stream);
                let ended = ended.clone();
                tokio::spawn(async move {
                    connection.await;
                    ended.send_modify(|n| *n += 1);
                });
            }
        });
        Peer { address, accepted, closed }
    }

    /// Answers every request on every connection with the same bytes, until the client closes.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> Peer {
        let answer: Arc<[u8]> = answer.into().into();
        Peer::start(move |_, mut stream| {
            let answer = answer.clone();
            async move {
                while read_request(&mut stream).await.is_some() && stream.write_all(&answer).await.is_ok() {}
            }
        })
        .await
    }

    /// Answers one request with the bytes and closes.
    pub async fn answering_once(answer: impl Into<Vec<u8>>) -> Peer {
        let answer: Arc<[u8]> = answer.into().into();
        Peer::start(move |_, mut stream| {
            let answer = answer.clone();
            async move {
                read_request(&mut stream).await;
                let _ = stream.write_all(&answer).await;
            }
        })
        .await
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook?a=b", self.address)
    }

    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Waits until so many connections have ended, as the peer sees it.
    pub async fn closed(&self, connections: usize) {
        let mut closed = self.closed.clone();
        timeout(PATIENCE, closed.wait_for(|n| *n >= connections))
            .await
            .expect("the client keeps the connection open")
            .unwrap();
    }
}

/// Reads one request with a content-length body; none when the connection ends before it is complete.
pub async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                return Some(text);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Writes the same bytes until the client has had enough, with a breath between them.
pub async fn drip(stream: &mut (impl AsyncWrite + Unpin), drop: &[u8], breath: Duration) {
    while stream.write_all(drop).await.is_ok() && stream.flush().await.is_ok() {
        if !breath.is_zero() {
            let _ = timeout(breath, pending::<()>()).await;
        }
    }
}

/// A name server that gives each name a list of answers, one a look-up, the last one for ever, and counts.
#[derive(Default)]
pub struct Names {
    answers: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: Mutex<HashMap<String, usize>>,
}

impl Names {
    pub fn new(rows: &[(&'static str, &[&[&str]])]) -> Arc<Names> {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let answers = rows.iter().map(|(name, lists)| (*name, lists.iter().map(parse).collect())).collect();
        Arc::new(Names { answers, asked: Mutex::default() })
    }

    pub fn asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap().get(name).copied().unwrap_or(0)
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let mut asked = self.asked.lock().unwrap();
            let count = asked.entry(host.to_owned()).or_default();
            *count += 1;
            let lists = self.answers.get(host).ok_or(io::ErrorKind::NotFound)?;
            Ok(lists[(*count - 1).min(lists.len() - 1)].clone())
        })
    }
}

/// A client that may reach this machine.
pub fn near_client() -> GuardedClient {
    near_client_with(PoolLimits::default())
}

pub fn near_client_with(pool: PoolLimits) -> GuardedClient {
    let policy = Policy { allow_insecure: true, user_agent: "tester/1".into(), pool, ..Policy::default() };
    GuardedClient::new(policy, Arc::new(SystemResolver::new())).unwrap()
}

pub fn post(client: &GuardedClient, url: &str, body: &str) -> Request {
    Request::post(client.check_url(url).unwrap(), HeaderMap::new(), Bytes::from(body.to_owned()))
}

/// Sends a small body within the usual limits.
pub async fn send(client: &GuardedClient, url: &str) -> Result<Response, SendError> {
    client.send(post(client, url, "hello"), LIMITS).await
}

/// What a test compares: status, body and whether it was cut, or the error.
pub fn said(outcome: Result<Response, SendError>) -> Result<(u16, String, bool), SendError> {
    outcome.map(|response| {
        (response.status.as_u16(), String::from_utf8_lossy(&response.body).into_owned(), response.truncated)
    })
}

pub fn whole(status: u16, body: &str) -> Result<(u16, String, bool), SendError> {
    Ok((status, body.to_owned(), false))
}

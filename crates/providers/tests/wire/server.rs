//! Servers: WebSocket and HTTP, one handler a connection.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{
    ErrorResponse, Request as Handshake, Response as Accepted,
};

use crate::head::read_head;

/// Longer than any test takes; what runs into it has hung.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for something that must come.
pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("came to nothing")
}

/// What servers have seen, for tests to wait for and compare.
#[derive(Clone)]
pub struct Log(Arc<watch::Sender<Vec<String>>>);

impl Log {
    pub fn new() -> Log {
        Log(Arc::new(watch::channel(Vec::new()).0))
    }

    pub fn add(&self, line: impl Into<String>) {
        let line = line.into();
        self.0.send_modify(|lines| lines.push(line));
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Waits for a line that fits.
    pub async fn seen(&self, fits: impl Fn(&str) -> bool) -> String {
        let mut lines = self.0.subscribe();
        let all = soon(lines.wait_for(|lines| lines.iter().any(|line| fits(line)))).await.unwrap();
        all.iter().find(|line| fits(line)).unwrap().clone()
    }
}

/// A WebSocket connection on the server's side.
pub struct Conn {
    /// Number of the connection, from 0.
    pub number: usize,
    /// Path and query that were asked for.
    pub path: String,
    pub headers: http::HeaderMap,
    pub ws: WebSocketStream<TcpStream>,
}

impl Conn {
    /// The next message; none when the client has gone.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            match self.ws.next().await {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(message)) => return Some(message),
            }
        }
    }

    /// The next message as JSON.
    pub async fn json(&mut self) -> Option<Value> {
        let message = self.next().await?;
        Some(serde_json::from_str(message.to_text().expect("a text message")).expect("JSON"))
    }

    /// Sends JSON; a client that has gone is no matter.
    pub async fn send(&mut self, value: Value) {
        let _ = self.ws.send(Message::text(value.to_string())).await;
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.ws.send(Message::binary(bytes.to_vec())).await;
    }
}

/// A server on a local port.
pub struct Server {
    pub url: String,
    pub accepted: Arc<AtomicUsize>,
}

impl Server {
    /// Answers WebSocket handshakes with `header: value` and refuses others with 401; then `serve` has the
    /// connection.
    pub async fn ws<F, S>(header: &'static str, value: &'static str, serve: S) -> Server
    where
        S: Fn(Conn) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let serve = Arc::new(serve);
        Server::tcp(move |number, stream| {
            let serve = serve.clone();
            async move {
                let asked = Arc::new(Mutex::new((String::new(), http::HeaderMap::new())));
                let kept = asked.clone();
                #[allow(clippy::result_large_err)]
                let judge = move |request: &Handshake, answer: Accepted| {
                    if request.headers().get(header).is_none_or(|given| given != value) {
                        let mut refused = ErrorResponse::new(None);
                        *refused.status_mut() = http::StatusCode::UNAUTHORIZED;
                        return Err(refused);
                    }
                    *kept.lock().unwrap() = (request.uri().to_string(), request.headers().clone());
                    Ok(answer)
                };
                let Ok(ws) = tokio_tungstenite::accept_hdr_async(stream, judge).await else { return };
                let (path, headers) = asked.lock().unwrap().clone();
                serve(Conn { number, path, headers, ws }).await;
            }
        })
        .await
    }

    /// Reads one request on each connection; `serve` answers it.
    pub async fn http<F, S>(serve: S) -> Server
    where
        S: Fn(Request, Answer) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let serve = Arc::new(serve);
        Server::tcp(move |_, mut stream| {
            let serve = serve.clone();
            async move {
                if let Some(request) = read_request(&mut stream).await {
                    serve(request, Answer { stream }).await;
                }
            }
        })
        .await
    }

    /// Answers every connection's first request with the same bytes and closes.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> Server {
        let answer: Arc<Vec<u8>> = Arc::new(answer.into());
        Server::http(move |_, mut to| {
            let answer = answer.clone();
            async move { to.raw(&answer).await }
        })
        .await
    }

    pub async fn tcp<F, S>(serve: S) -> Server
    where
        S: Fn(usize, TcpStream) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = accepted.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                tokio::spawn(serve(count.fetch_add(1, Ordering::SeqCst), stream));
            }
        });
        Server { url, accepted }
    }

    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// A request as it came.
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let (head, mut body) = read_head(stream).await?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Request { method, path, headers, body })
}

/// The way back to the client; what cannot be written is no matter.
pub struct Answer {
    pub stream: TcpStream,
}

impl Answer {
    pub async fn raw(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.flush().await;
    }

    /// A whole answer.
    pub async fn whole(&mut self, status: u16, kind: &str, body: &[u8]) {
        self.raw(format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).as_bytes())
            .await;
        self.raw(body).await;
    }

    /// The head of an answer that ends with the connection.
    pub async fn begin(&mut self, kind: &str) {
        self.raw(format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n").as_bytes())
            .await;
    }

    /// Waits until the client has hung up.
    pub async fn hung_up(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.stream.read(&mut bytes).await, Ok(count) if count > 0) {}
    }
}

/// A whole answer as bytes.
pub fn answer(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

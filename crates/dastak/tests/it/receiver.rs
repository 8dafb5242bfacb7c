//! A webhook receiver on a local port that keeps what it got and behaves as told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ring::hmac;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::head::read_head;

/// Longer than any condition takes: a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Got {
    pub head: String,
    pub body: String,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    pub fn header(&self, name: &str) -> &str {
        header(&self.head, name)
    }

    /// Seconds in the signature.
    pub fn t(&self, prefix: &str) -> i64 {
        let signature = self.header(&format!("{prefix}-Signature")).to_owned();
        signature.strip_prefix("t=").and_then(|rest| rest.split(',').next()?.parse().ok()).expect("t=")
    }

    /// Whether the signature is made with this secret, computed anew.
    pub fn signed_with(&self, secret: &str) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let t = self.t("X-Service");
        let tag = hmac::sign(&key, format!("{t}.{}", self.body).as_bytes());
        let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        self.header("X-Service-Signature") == format!("t={t},v1={hex}")
    }
}

/// What a receiver does with a request.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// Answers with these bytes and keeps the connection.
    Answer(String),
    /// Never answers.
    Hang,
    /// Closes without an answer.
    Close,
    /// Answers 200 with a body that never ends.
    Endless,
    /// Answers 200 and then a byte of the body from time to time.
    Drip,
    /// Answers with a length and closes before the body is complete.
    CutShort,
}

impl Behaviour {
    pub fn status(status: u16) -> Self {
        Self::Answer(format!("HTTP/1.1 {status} X\r\ncontent-length: 2\r\n\r\nok"))
    }
}

/// The receiver.
pub struct Receiver {
    pub url: String,
    behaviour: Arc<Mutex<Behaviour>>,
    got: Arc<Mutex<Vec<Got>>>,
    count: watch::Receiver<usize>,
}

impl Receiver {
    pub async fn start(behaviour: Behaviour) -> Self {
        let listener = listener().await;
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let (send, count) = watch::channel(0);
        let (behaviour, got) = (Arc::new(Mutex::new(behaviour)), Arc::new(Mutex::new(Vec::new())));
        let (how, kept) = (behaviour.clone(), got.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (how, kept, send) = (how.clone(), kept.clone(), send.clone());
                tokio::spawn(async move { serve(stream, &how, &kept, &send).await });
            }
        });
        Self { url, behaviour, got, count }
    }

    pub async fn ok() -> Self {
        Self::start(Behaviour::status(200)).await
    }

    pub fn behave(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// Waits until there are `count` requests.
    pub async fn wait_for(&self, count: usize) -> Vec<Got> {
        let mut seen = self.count.clone();
        let waited = tokio::time::timeout(PATIENCE, seen.wait_for(|seen| *seen >= count)).await;
        assert!(waited.is_ok(), "{} of {count} requests came", self.got().len());
        self.got()
    }
}

/// A port of this machine. The guarded client refuses some well-known ones, which the system may hand out.
pub async fn listener() -> TcpListener {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        if listener.local_addr().expect("an address").port() > 30_000 {
            return listener;
        }
    }
}

/// The value of a header in the head of a request.
pub fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    lines
        .into_iter()
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map_or("", |(_, value)| value.trim())
}

/// The head and the body of the next request, as they came.
pub async fn read_message(stream: &mut TcpStream) -> Option<(String, String)> {
    let (head, mut body) = read_head(stream).await?;
    let length = header(&head, "content-length").parse().unwrap_or(0);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, String::from_utf8_lossy(&body).into_owned()))
}

async fn serve(
    mut stream: TcpStream,
    how: &Mutex<Behaviour>,
    kept: &Mutex<Vec<Got>>,
    count: &watch::Sender<usize>,
) {
    while let Some((head, body)) = read_message(&mut stream).await {
        let got = Got { head, body };
        kept.lock().unwrap().push(got);
        count.send_modify(|count| *count += 1);
        let behaviour = how.lock().unwrap().clone();
        match behaviour {
            Behaviour::Answer(bytes) => {
                if stream.write_all(bytes.as_bytes()).await.is_err() {
                    return;
                }
            }
            Behaviour::Hang => std::future::pending::<()>().await,
            Behaviour::Close => return,
            Behaviour::Endless => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
                let chunk = [b"4000\r\n".as_slice(), &[b'x'; 0x4000], b"\r\n"].concat();
                while stream.write_all(&chunk).await.is_ok() {}
                return;
            }
            Behaviour::Drip => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await;
                let mut drips = 0;
                while stream.write_all(b"x").await.is_ok() && drips < 100_000 {
                    drips += 1;
                    let _ =
                        tokio::time::timeout(Duration::from_millis(100), std::future::pending::<()>()).await;
                }
                return;
            }
            Behaviour::CutShort => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await;
                return;
            }
        }
    }
}

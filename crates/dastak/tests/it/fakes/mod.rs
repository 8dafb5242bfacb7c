//! Outside systems that speak their real wire over a socket and misbehave as told.

pub mod cloud;
pub mod google_sheets;
pub mod hubspot;
pub mod salesforce;
pub mod shopify;
pub mod zoho;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::time::Timestamp;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};

use crate::receiver::{listener, read_message};

/// Longer than any condition takes: a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Decoded, without the query.
    pub path: String,
    /// Decoded.
    pub query: BTreeMap<String, String>,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Request {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("a JSON body: {}", self.body))
    }

    /// The fields of a form.
    pub fn form(&self) -> BTreeMap<String, String> {
        assert_eq!(self.header("content-type"), "application/x-www-form-urlencoded");
        pairs(&self.body)
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// What comes back.
#[derive(Debug, Clone)]
pub enum Reply {
    /// JSON.
    Json(u16, Value),
    /// JSON with a header beside it.
    With(u16, &'static str, String, Value),
    /// A text of this content type.
    Text(u16, String, String),
    /// Nothing but a status.
    Bare(u16),
    /// No answer at all.
    Hang,
    /// As it should, once there is a permit.
    Held(Arc<Semaphore>),
    /// 200 and a body that never ends.
    Endless,
    /// The request is carried out, and the connection closes before the answer.
    Lost,
}

impl Reply {
    pub fn ok(body: Value) -> Self {
        Self::Json(200, body)
    }
}

/// A system.
pub trait System: Send + Sync + 'static {
    fn answer(&self, request: &Request) -> Reply;
}

/// A fault: the path that it is about, and how often it comes; `None` for always.
struct Planned {
    path: &'static str,
    /// Requests that are answered as they should before it.
    before: usize,
    times: Option<usize>,
    reply: Reply,
}

/// A system behind an address.
pub struct Fake<S> {
    pub url: String,
    pub system: Arc<S>,
    log: Arc<Mutex<Vec<Request>>>,
    plan: Arc<Mutex<VecDeque<Planned>>>,
    count: watch::Receiver<usize>,
}

impl<S: System> Fake<S> {
    /// Starts a system, which is told its own address.
    pub async fn start(make: impl FnOnce(&str) -> S) -> Self {
        let listener = listener().await;
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let system = Arc::new(make(&url));
        let (send, count) = watch::channel(0);
        let fake = Self { url, system, log: Arc::default(), plan: Arc::default(), count };
        let (system, log, plan, send) =
            (fake.system.clone(), fake.log.clone(), fake.plan.clone(), Arc::new(send));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (system, log, plan, send) = (system.clone(), log.clone(), plan.clone(), send.clone());
                tokio::spawn(async move { serve(stream, &*system, &log, &plan, &send).await });
            }
        });
        fake
    }

    /// Answers the next `times` requests whose path contains `path` with this.
    pub fn fail(&self, path: &'static str, times: usize, reply: Reply) {
        self.plan.lock().unwrap().push_back(Planned { path, before: 0, times: Some(times), reply });
    }

    /// Answers all requests whose path contains `path` with this.
    pub fn fail_always(&self, path: &'static str, reply: Reply) {
        self.plan.lock().unwrap().push_back(Planned { path, before: 0, times: None, reply });
    }

    /// Answers one request whose path contains `path` with this, after so many that are answered as they should.
    pub fn fail_after(&self, path: &'static str, before: usize, reply: Reply) {
        self.plan.lock().unwrap().push_back(Planned { path, before, times: Some(1), reply });
    }

    /// Answers as it should again.
    pub fn mend(&self) {
        self.plan.lock().unwrap().clear();
    }

    /// Requests whose path contains `path`.
    pub fn got(&self, path: &str) -> Vec<Request> {
        self.log.lock().unwrap().iter().filter(|request| request.path.contains(path)).cloned().collect()
    }

    pub fn count(&self, path: &str) -> usize {
        self.got(path).len()
    }

    /// Waits until there are `count` requests whose path contains `path`.
    pub async fn wait_for(&self, path: &str, count: usize) {
        let mut seen = self.count.clone();
        let enough = seen.wait_for(|_| self.count(path) >= count);
        let waited = tokio::time::timeout(PATIENCE, enough).await;
        assert!(waited.is_ok(), "{} of {count} requests for {path} came", self.count(path));
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let (head, body) = read_message(stream).await?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(Request {
        method,
        path: percent_decode_str(path).decode_utf8_lossy().into_owned(),
        query: pairs(query),
        headers,
        body,
    })
}

async fn serve(
    mut stream: TcpStream,
    system: &dyn System,
    log: &Mutex<Vec<Request>>,
    plan: &Mutex<VecDeque<Planned>>,
    count: &watch::Sender<usize>,
) {
    while let Some(request) = read_request(&mut stream).await {
        let planned = {
            let mut plan = plan.lock().unwrap();
            let at = plan.iter().position(|planned| request.path.contains(planned.path));
            at.and_then(|at| {
                if plan[at].before > 0 {
                    plan[at].before -= 1;
                    return None;
                }
                let reply = plan[at].reply.clone();
                if let Some(times) = &mut plan[at].times {
                    *times -= 1;
                    if *times == 0 {
                        plan.remove(at);
                    }
                }
                Some(reply)
            })
        };
        let noted = |request: Request| {
            log.lock().unwrap().push(request);
            count.send_modify(|count| *count += 1);
        };
        let reply = match planned {
            Some(Reply::Lost) => {
                system.answer(&request);
                noted(request);
                Reply::Lost
            }
            Some(Reply::Held(gate)) => {
                noted(request.clone());
                gate.acquire().await.expect("it stays open").forget();
                system.answer(&request)
            }
            Some(reply) => {
                noted(request);
                reply
            }
            None => {
                let reply = system.answer(&request);
                noted(request);
                reply
            }
        };
        let mut kind = "application/json".to_owned();
        let (status, header, body) = match reply {
            Reply::Json(status, body) => (status, String::new(), body.to_string()),
            Reply::Text(status, content_type, body) => {
                kind = content_type;
                (status, String::new(), body)
            }
            Reply::With(status, name, value, body) => {
                (status, format!("{name}: {value}\r\n"), body.to_string())
            }
            Reply::Bare(status) => (status, String::new(), String::new()),
            Reply::Hang | Reply::Held(_) => return std::future::pending().await,
            Reply::Lost => return,
            Reply::Endless => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
                let chunk = [b"4000\r\n".as_slice(), &[b' '; 0x4000], b"\r\n"].concat();
                while stream.write_all(&chunk).await.is_ok() {}
                return;
            }
        };
        let length =
            if status == 204 { String::new() } else { format!("content-length: {}\r\n", body.len()) };
        let whole = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n{header}{length}\r\n{body}");
        if stream.write_all(whole.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Access tokens of a system: one at a time is good.
pub struct Tokens {
    state: Mutex<TokenState>,
}

pub struct TokenState {
    /// The one that renews.
    pub refresh_token: String,
    /// How many were given.
    pub given: usize,
    /// Whether the one that was given last is still good.
    pub good: bool,
    /// Whether each renewal brings another refresh token.
    pub rotates: bool,
    /// Whether the consent was withdrawn.
    pub revoked: bool,
}

impl Tokens {
    pub fn new(rotates: bool) -> Self {
        let state = TokenState {
            refresh_token: "refresh-hush-0".into(),
            given: 0,
            good: false,
            rotates,
            revoked: false,
        };
        Self { state: Mutex::new(state) }
    }

    /// The token that was given last is not accepted any more.
    pub fn expire(&self) {
        self.state.lock().unwrap().good = false;
    }

    /// `access-hush-0` is accepted, as the token of a private application.
    pub fn accept_private(&self) {
        self.state.lock().unwrap().good = true;
    }

    pub fn revoke(&self, revoked: bool) {
        self.state.lock().unwrap().revoked = revoked;
    }

    pub fn given(&self) -> usize {
        self.state.lock().unwrap().given
    }

    /// Whether a request presents the good token.
    pub fn accepts(&self, presented: &str) -> bool {
        let state = self.state.lock().unwrap();
        state.good && presented == format!("access-hush-{}", state.given)
    }

    /// A renewal: `(access token, refresh token if it changed)`, or the word of the refusal.
    pub fn renew(&self, fields: &BTreeMap<String, String>) -> Result<(String, Option<String>), &'static str> {
        let mut state = self.state.lock().unwrap();
        assert_eq!(fields["grant_type"], "refresh_token");
        if fields["client_id"] != "client" || fields["client_secret"] != "secret-hush" {
            return Err("invalid_client");
        }
        if state.revoked || fields["refresh_token"] != state.refresh_token {
            return Err("invalid_grant");
        }
        state.given += 1;
        state.good = true;
        let access = format!("access-hush-{}", state.given);
        if !state.rotates {
            return Ok((access, None));
        }
        state.refresh_token = format!("refresh-hush-{}", state.given);
        Ok((access, Some(state.refresh_token.clone())))
    }
}

/// Credentials that [`Tokens`] accept.
pub fn credentials() -> Value {
    json!({"clientId": "client", "clientSecret": "secret-hush", "refreshToken": "refresh-hush-0"})
}

/// A moment as most systems write it, to the second.
pub fn iso(at: Timestamp, zone: &str) -> String {
    format!("{}{zone}", &at.to_string()[..19])
}

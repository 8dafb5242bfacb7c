//! The only client for addresses that users give: webhook receivers, tools, their own systems.
//!
//! Guarantees:
//! - **Only public addresses.** [`GuardedClient::check_url`] refuses what the URL alone shows. When a
//!   connection is opened, every address of the host is checked, one that is not public refuses the host, and
//!   the connection goes to one of the checked addresses. There is no second look-up that an attacker's name
//!   server could answer differently (DNS rebinding).
//! - **One deadline** for the whole exchange, also for a peer that is silent or sends a byte at a time.
//! - **Bounded connections**: in all, idle, idle per origin, by idle time and by age; see
//!   [`PoolLimits`]. A request that is dropped closes its connection.
//! - **Bounded answers**: 64 KiB of headers, and as much body as the caller asked for; the rest is not read.
//! - **No redirects, no proxies**: a 3xx is returned as it is, and the environment is not consulted.
//! - **TLS** 1.2 or 1.3, verified against the host name with Mozilla's roots and those of the policy.
//!
//! Connections are pooled by scheme, host and port. If a pooled connection closes before a byte of the response
//! arrives, the request is retried once, on a new connection. The peer may then have received it twice, so every
//! request sent through here must be idempotent or carry an id that shows the repetition, as webhook deliveries do.
//! [`GuardedClient::send_once`] is for other requests.
//!
//! Deadlines here are network deadlines and run in real time, not on the service's clock.

mod address;
mod dial;
mod error;
mod exchange;
mod link;
mod pool;
mod resolver;
mod target;
mod transport;

use std::fmt;
use std::sync::Arc;

use http::header::{HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::Full;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

pub use address::is_public;
pub use error::{Phase, SendError};
pub use exchange::{Enough, Limits, Request, Response};
pub use pool::PoolLimits;
pub use resolver::{Resolver, Resolving, SystemResolver};
pub use rustls::pki_types::CertificateDer;
pub use target::{MAX_URL_LENGTH, Target, UrlRefused};
pub use transport::{Sending, Transport};

use address::Reach;
use exchange::{OWN_HEADERS, Open, Rest};
use link::Link;
use pool::Pool;

use crate::socket;

/// What a client may do.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// For development only: also `http://`, loopback and private networks, and local host names.
    pub allow_insecure: bool,
    /// Sent as `User-Agent` unless the request has its own.
    pub user_agent: String,
    /// Certificate authorities trusted beside Mozilla's.
    pub extra_roots: Vec<CertificateDer<'static>>,
    pub pool: PoolLimits,
}

impl Policy {
    /// The static check of [`GuardedClient::check_url`], where a URL is stored and there is no client.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn check_url(&self, url: &str) -> Result<Target, UrlRefused> {
        target::check(url, self.reach())
    }

    fn reach(&self) -> Reach {
        if self.allow_insecure { Reach::Development } else { Reach::Public }
    }
}

/// Why a client could not be built; each is a mistake in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyError {
    /// The user agent is not a valid header value.
    UserAgent,
    /// One of the extra roots is not a certificate, or the TLS library refuses the settings; the reason is
    /// the library's.
    Tls(String),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyError::UserAgent => f.write_str("the user agent is not a valid header value"),
            PolicyError::Tls(reason) => write!(f, "TLS cannot be set up: {reason}"),
        }
    }
}

impl std::error::Error for PolicyError {}

/// The client. Clones share connections; a process needs only one.
#[derive(Clone)]
pub struct GuardedClient(Arc<Inner>);

/// Whether a request may use a pooled connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It may, and is retried on a new one when the pooled one was dead: [`GuardedClient::send`].
    Again,
    /// It may, and is not retried: [`GuardedClient::send_unrepeated`].
    Once,
    /// It may not: [`GuardedClient::send_once`].
    No,
}

struct Inner {
    reach: Reach,
    user_agent: HeaderValue,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
    pool: Arc<Pool>,
}

impl GuardedClient {
    /// A client with no connections.
    ///
    /// # Errors
    /// When the policy's user agent or roots are unusable.
    pub fn new(policy: Policy, resolver: Arc<dyn Resolver>) -> Result<GuardedClient, PolicyError> {
        let reach = policy.reach();
        let user_agent = HeaderValue::from_str(&policy.user_agent).map_err(|_| PolicyError::UserAgent)?;
        let tls = socket::tls(policy.extra_roots, &[b"http/1.1"])
            .map_err(|error| PolicyError::Tls(error.to_string()))?;
        let pool = Arc::new(Pool::new(policy.pool));
        Ok(GuardedClient(Arc::new(Inner { reach, user_agent, resolver, tls, pool })))
    }

    /// The static check, for the moment a user gives a URL: no packet is sent. Passing it says nothing about the
    /// addresses of the host name; they are checked with every new connection.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn check_url(&self, url: &str) -> Result<Target, UrlRefused> {
        target::check(url, self.0.reach)
    }

    /// Sends a request and reads its answer, within the limits. Any status is an answer. Dropping the future
    /// closes the connection.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn send(&self, request: Request, limits: Limits) -> Result<Response, SendError> {
        self.exchange(request, limits, Kept::Again, &mut whole).await
    }

    /// The same, but a request that may have reached the peer is not retried: if a pooled connection closes under it,
    /// the outcome is unknown. For requests that are not idempotent and too frequent for a connection each.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn send_unrepeated(&self, request: Request, limits: Limits) -> Result<Response, SendError> {
        self.exchange(request, limits, Kept::Once, &mut whole).await
    }

    /// The same on a connection of its own, so that the peer cannot receive the request twice: for requests that are
    /// neither idempotent nor recognised when repeated.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn send_once(&self, request: Request, limits: Limits) -> Result<Response, SendError> {
        self.exchange(request, limits, Kept::No, &mut whole).await
    }

    /// The same for an answer that may go on after what is wanted of it: it is read until `enough` says so.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn send_until(
        &self,
        request: Request,
        limits: Limits,
        kept: Kept,
        enough: &mut Enough<'_>,
    ) -> Result<Response, SendError> {
        self.exchange(request, limits, kept, enough).await
    }

    async fn exchange(
        &self,
        request: Request,
        limits: Limits,
        kept: Kept,
        enough: &mut Enough<'_>,
    ) -> Result<Response, SendError> {
        let started = Instant::now();
        let mut phase = Phase::Dns;
        let exchange = async {
            let mut open = self.open(request, kept, &mut phase).await?;
            phase = open.phase();
            let (body, rest) = open.read(limits.max_response_bytes, enough).await?;
            let headers = std::mem::take(&mut open.headers);
            let status = open.status;
            if rest == Rest::None {
                open.finish().await;
            }
            let truncated = rest == Rest::TooLong;
            Ok(Response { status, headers, body, truncated, duration: started.elapsed() })
        };
        match timeout(limits.deadline, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(SendError::Timeout(phase)),
        }
    }

    /// Sends the request and waits for the head of its response: on a pooled connection if there is one and it may be
    /// used, and again on a new one if the pooled one was dead.
    async fn open(&self, request: Request, kept: Kept, phase: &mut Phase) -> Result<Open, SendError> {
        let Request { method, target, mut headers, body } = request;
        if method == Method::CONNECT {
            return Err(SendError::RequestRefused("CONNECT"));
        }
        if !target.is_https() && self.0.reach == Reach::Public {
            return Err(SendError::RequestRefused("not https"));
        }
        self.own_headers(&mut headers, &target);
        if kept != Kept::No
            && let Some(mut link) = self.kept(&target).await
        {
            *phase = Phase::Head;
            match link.request(build(method.clone(), &target, headers.clone(), body.clone())).await {
                Ok(answer) => return Ok(Open::new(answer, link, self.0.pool.clone(), target)),
                Err(error) if link.heard() || error.is_user() => {
                    return Err(SendError::from_hyper(&error, Phase::Head));
                }
                // Nothing of it was written.
                Err(error) if error.is_canceled() => {}
                Err(error) if kept == Kept::Once => return Err(SendError::from_hyper(&error, Phase::Head)),
                Err(_) => {}
            }
        }
        let mut link = self.fresh(&target, phase).await?;
        *phase = Phase::Head;
        let answer = link.request(build(method, &target, headers, body)).await;
        let answer = answer.map_err(|error| SendError::from_hyper(&error, Phase::Head))?;
        Ok(Open::new(answer, link, self.0.pool.clone(), target))
    }

    fn own_headers(&self, headers: &mut HeaderMap, target: &Target) {
        for name in &OWN_HEADERS {
            headers.remove(name);
        }
        headers.insert(HOST, target.host_header().clone());
        if !headers.contains_key(USER_AGENT) && !self.0.user_agent.is_empty() {
            headers.insert(USER_AGENT, self.0.user_agent.clone());
        }
    }

    /// A pooled connection of the target's origin that is still open as far as can be told.
    async fn kept(&self, target: &Target) -> Option<Box<Link>> {
        loop {
            let mut link = self.0.pool.take(target.origin())?;
            if link.is_ready().await {
                return Some(link);
            }
        }
    }

    async fn fresh(&self, target: &Target, phase: &mut Phase) -> Result<Box<Link>, SendError> {
        let permit = self.0.pool.permit().ok_or(SendError::Overloaded)?;
        let io = dial::dial(target, &*self.0.resolver, self.0.reach, &self.0.tls, phase).await?;
        let link =
            Link::new(io, permit).await.map_err(|error| SendError::from_hyper(&error, Phase::Connect))?;
        Ok(Box::new(link))
    }
}

/// A body that is wanted to its end.
fn whole(_: Option<&HeaderValue>, _: &[u8]) -> bool {
    false
}

fn build(
    method: Method,
    target: &Target,
    headers: HeaderMap,
    body: bytes::Bytes,
) -> http::Request<Full<bytes::Bytes>> {
    let mut request = http::Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = target.uri().clone();
    *request.headers_mut() = headers;
    request
}

//! Opening connections to providers.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::lookup_host;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::socket::{self, Stream};

/// Longest wait for look-up, connection and TLS together, whatever the provider's own time-out.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// Idle connections to one host that are kept.
const IDLE_CONNECTIONS: usize = 32;
/// How long they are kept.
const IDLE_FOR: Duration = Duration::from_secs(50);

/// Shared by all adapters: TLS settings and the HTTP connection pool. Clones share them; a process needs only one.
#[derive(Clone)]
pub struct Net(Arc<Inner>);

struct Inner {
    connector: Connector,
    http: Client<Connector, Full<Bytes>>,
    dropped_samples: AtomicU64,
}

impl fmt::Debug for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Net")
    }
}

impl Net {
    /// With Mozilla's certificate authorities and `extra_roots` (DER).
    ///
    /// # Errors
    /// What is wrong with the roots or the TLS settings.
    pub fn new(extra_roots: Vec<CertificateDer<'static>>) -> Result<Net, String> {
        let connector = Connector(socket::tls(extra_roots, &[]).map_err(|error| error.to_string())?);
        let http = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_FOR)
            .pool_timer(TokioTimer::new())
            .build(connector.clone());
        Ok(Net(Arc::new(Inner { connector, http, dropped_samples: AtomicU64::new(0) })))
    }

    /// A new connection.
    pub(crate) async fn connect(&self, tls: bool, host: &str, port: u16) -> io::Result<Stream> {
        self.0.connector.open(tls, host, port).await
    }

    /// Sends a request to an address that its own user names, and waits for the head of the answer.
    ///
    /// # Errors
    /// No connection, or one that broke before the head of the answer was there.
    pub async fn send(&self, request: http::Request<Full<Bytes>>) -> Result<Response<Incoming>, Broken> {
        self.0.http.request(request).await.map_err(|why| Broken {
            sent: !why.is_connect(),
            reason: std::error::Error::source(&why).map_or_else(|| why.to_string(), innermost),
        })
    }

    /// The client with the connection pool.
    pub(crate) fn http(&self) -> &Client<Connector, Full<Bytes>> {
        &self.0.http
    }

    /// Samples that recognisers did not get because their connections were too slow, since the start.
    pub fn dropped_samples(&self) -> u64 {
        self.0.dropped_samples.load(Ordering::Relaxed)
    }

    /// Counts samples that were not sent.
    pub(crate) fn count_dropped(&self, samples: usize) {
        self.0.dropped_samples.fetch_add(samples as u64, Ordering::Relaxed);
    }
}

/// Why an answer did not begin.
#[derive(Debug, Clone)]
pub struct Broken {
    /// Whether there was a connection, so that the other side may have the request.
    pub sent: bool,
    /// The cause in a few words.
    pub reason: String,
}

/// The cause behind all causes.
fn innermost(mut error: &(dyn std::error::Error + 'static)) -> String {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

/// Opens connections for hyper.
#[derive(Clone)]
pub(crate) struct Connector(TlsConnector);

impl Connector {
    async fn open(&self, tls: bool, host: &str, port: u16) -> io::Result<Stream> {
        let opening = async {
            let stream = socket::connect(lookup_host((host, port)).await?).await?;
            if !tls {
                return Ok(Stream::Plain(stream));
            }
            let name = ServerName::try_from(host.to_owned()).map_err(|_| io::ErrorKind::InvalidInput)?;
            Ok(Stream::Tls(Box::new(self.0.connect(name, stream).await?)))
        };
        timeout(CONNECT_DEADLINE, opening).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<Stream>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let tls = uri.scheme_str() == Some("https");
            let host =
                uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
            let port = uri.port_u16().unwrap_or(if tls { 443 } else { 80 });
            connector.open(tls, &host, port).await.map(TokioIo::new)
        })
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

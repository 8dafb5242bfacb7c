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
use http::Uri;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Longest wait for look-up, connection and TLS together, whatever the provider's own time-out.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// Connections to one host that are kept while nothing is asked.
const IDLE_CONNECTIONS: usize = 32;
/// How long they are kept.
const IDLE_FOR: Duration = Duration::from_secs(50);

/// What all adapters share: TLS settings and kept HTTP connections. Clones share them; one a process is
/// meant.
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
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for root in extra_roots {
            roots.add(root).map_err(|error| error.to_string())?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = Connector(TlsConnector::from(Arc::new(config)));
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

    /// The client that keeps connections.
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

/// Opens connections for hyper.
#[derive(Clone)]
pub(crate) struct Connector(TlsConnector);

impl Connector {
    async fn open(&self, tls: bool, host: &str, port: u16) -> io::Result<Stream> {
        let opening = async {
            let stream = TcpStream::connect((host, port)).await?;
            // Without it small frames may wait for an acknowledgement; a socket that refuses the option still
            // works.
            let _ = stream.set_nodelay(true);
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

/// A connection.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}

//! TCP and TLS as every client of this crate opens them.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Addresses of one host that are tried.
const ADDRESSES_TRIED: usize = 8;

/// When an address has not answered for this long, the next one is tried in parallel (RFC 8305, section 5).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// TLS 1.2 and 1.3 with Mozilla's certificate authorities and `extra_roots`; `alpn` is offered to the peer.
///
/// # Errors
/// When a root is not a certificate.
pub(crate) fn tls(
    extra_roots: Vec<CertificateDer<'static>>,
    alpn: &[&[u8]],
) -> Result<TlsConnector, rustls::Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in extra_roots {
        roots.add(root)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The first connection that is established ("happy eyeballs", RFC 8305): the two address families alternate, and each
/// attempt gets a head start over the next. At most eight addresses are tried.
///
/// # Errors
/// That of the last attempt that failed.
pub(crate) async fn connect(addresses: impl IntoIterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = in_turns(addresses).into_iter();
    let mut running = JoinSet::new();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(address) = waiting.next() {
            if running.is_empty() && waiting.len() == 0 {
                return open(address).await;
            }
            running.spawn(open(address));
        }
        let joined = match waiting.len() {
            0 => running.join_next().await,
            _ => match timeout(NEXT_ADDRESS_AFTER, running.join_next()).await {
                Ok(joined) => joined,
                Err(_) => continue,
            },
        };
        match joined {
            // Dropping the set cancels the other attempts.
            Some(Ok(Ok(stream))) => return Ok(stream),
            Some(Ok(Err(error))) => failure = error,
            Some(Err(_)) => {}
            None if waiting.len() == 0 => return Err(failure),
            None => {}
        }
    }
}

async fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    // Small requests would wait for an acknowledgement otherwise. A socket that refuses the option still works.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// Without repetitions, in the resolver's order within a family; the family of the first address begins.
fn in_turns(addresses: impl IntoIterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut known: Vec<SocketAddr> = Vec::new();
    for address in addresses {
        if !known.contains(&address) {
            known.push(address);
        }
    }
    let first_is_v4 = known.first().is_some_and(SocketAddr::is_ipv4);
    let (one, other): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|address| address.is_ipv4() == first_is_v4);
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let mut turns = Vec::new();
    while turns.len() < ADDRESSES_TRIED && one.len() + other.len() > 0 {
        turns.extend(one.next());
        turns.extend(other.next());
    }
    turns.truncate(ADDRESSES_TRIED);
    turns
}

/// A connection, encrypted or not.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use tokio::net::TcpListener;

    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    }

    #[test]
    fn the_families_take_turns() {
        let found = addresses(&["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::1]:1", "192.0.2.1:1"]);
        let turns = addresses(&["[2001:db8::1]:1", "192.0.2.1:1", "[2001:db8::2]:1"]);
        assert_eq!(in_turns(found), turns);
        let many = (0..20).map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        assert_eq!(in_turns(many).len(), ADDRESSES_TRIED);
    }

    #[tokio::test]
    async fn a_family_that_does_not_work_is_passed_over() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let works = listener.local_addr().expect("an address");
        // Nothing listens there: port 1 of the loopback address refuses at once, with or without IPv6.
        let broken = SocketAddr::from((Ipv6Addr::LOCALHOST, 1));
        let stream = connect([broken, works]).await.expect("a connection");
        assert_eq!(stream.peer_addr().expect("connected"), works);
        assert!(connect([broken]).await.is_err() && connect([]).await.is_err());
    }
}

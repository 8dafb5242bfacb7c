//! Opening a connection: look up, judge every address, connect to one of those very addresses, agree on TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address::Reach;
use super::error::{Phase, SendError};
use super::link::Io;
use super::resolver::Resolver;
use super::target::{Host, Origin, Target};

/// Addresses of one host that are tried.
const ADDRESSES_TRIED: usize = 8;

/// An address that has not answered for this long gets company: the next one is tried beside it (RFC 8305).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// Opens a connection to the target. Stores in `phase` how far it has come, for whoever gives up waiting.
pub(super) async fn dial(
    target: &Target,
    resolver: &dyn Resolver,
    reach: Reach,
    tls: &TlsConnector,
    phase: &mut Phase,
) -> Result<Io, SendError> {
    *phase = Phase::Dns;
    let addresses = addresses(target.origin(), resolver, reach).await?;
    *phase = Phase::Connect;
    let stream = connect(&addresses).await.map_err(|error| SendError::ConnectFailed(error.kind()))?;
    // Without it small requests may wait for an acknowledgement; a socket that refuses the option still
    // works.
    let _ = stream.set_nodelay(true);
    if !target.is_https() {
        return Ok(Io::plain(stream));
    }
    *phase = Phase::Tls;
    match tls.connect(target.server_name().clone(), stream).await {
        Ok(stream) => Ok(Io::tls(stream)),
        Err(error) => Err(SendError::TlsFailed(tls_reason(&error))),
    }
}

/// The addresses of the origin. One address out of reach refuses the host: a mixed answer is a
/// misconfiguration at best, and an attempt to slip past at worst.
pub(super) async fn addresses(
    origin: &Origin,
    resolver: &dyn Resolver,
    reach: Reach,
) -> Result<Vec<SocketAddr>, SendError> {
    let found = match &origin.host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => resolver.resolve(name).await.map_err(|_| SendError::DnsFailed)?,
    };
    if let Some(refused) = found.iter().find(|address| !reach.allows(**address)) {
        return Err(SendError::AddressRefused(*refused));
    }
    if found.is_empty() {
        return Err(SendError::DnsFailed);
    }
    Ok(tried(&found, origin.port))
}

/// At most eight addresses, without repetitions, in the resolver's order.
fn tried(found: &[IpAddr], port: u16) -> Vec<SocketAddr> {
    let mut addresses: Vec<SocketAddr> = Vec::with_capacity(found.len().min(ADDRESSES_TRIED));
    for address in found {
        let address = SocketAddr::new(*address, port);
        if addresses.len() < ADDRESSES_TRIED && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}

/// The first connection that stands. The losers are closed when the set is dropped.
async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    if let [only] = addresses {
        return TcpStream::connect(*only).await;
    }
    let mut waiting = addresses.iter();
    let mut running = JoinSet::new();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(address) = waiting.next() {
            running.spawn(TcpStream::connect(*address));
        }
        let joined = match waiting.len() {
            0 => running.join_next().await,
            _ => match timeout(NEXT_ADDRESS_AFTER, running.join_next()).await {
                Ok(joined) => joined,
                Err(_) => continue,
            },
        };
        match joined {
            Some(Ok(Ok(stream))) => return Ok(stream),
            Some(Ok(Err(error))) => failure = error,
            Some(Err(_)) => {}
            None if waiting.len() == 0 => return Err(failure),
            None => {}
        }
    }
}

/// What rustls says, without the wrapping; a peer that hangs up during the handshake says nothing.
fn tls_reason(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(reason) => reason.to_string(),
        None => format!("the handshake was cut short ({})", error.kind()),
    }
}

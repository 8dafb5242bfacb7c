//! Opening a connection: DNS look-up, check of every address, connection to one of the checked addresses, and the TLS
//! handshake.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio_rustls::TlsConnector;

use super::address::Reach;
use super::error::{Phase, SendError};
use super::link::Io;
use super::resolver::Resolver;
use super::target::{Host, Origin, Target};
use crate::socket::{self, Stream};

/// Opens a connection to the target. `phase` is the progress, for the error of a caller that stops waiting.
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
    let port = target.origin().port;
    let stream = socket::connect(addresses.into_iter().map(|address| SocketAddr::new(address, port)))
        .await
        .map_err(|error| SendError::ConnectFailed(error.kind()))?;
    if !target.is_https() {
        return Ok(Io::new(Stream::Plain(stream)));
    }
    *phase = Phase::Tls;
    match tls.connect(target.server_name().clone(), stream).await {
        Ok(stream) => Ok(Io::new(Stream::Tls(Box::new(stream)))),
        Err(error) => Err(SendError::TlsFailed(tls_reason(&error))),
    }
}

/// The addresses of the origin. One forbidden address refuses the host: a mixed answer is a misconfiguration or an
/// attack.
async fn addresses(origin: &Origin, resolver: &dyn Resolver, reach: Reach) -> Result<Vec<IpAddr>, SendError> {
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
    Ok(found)
}

/// The reason that rustls gives; there is none when the peer hangs up during the handshake.
fn tls_reason(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(reason) => reason.to_string(),
        None => format!("the handshake was cut short ({})", error.kind()),
    }
}

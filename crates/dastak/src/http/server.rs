//! The listener: sockets, TLS, the client's address, and a stop that lets requests finish.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::router::Router;
use crate::app::App;
use crate::config::Network;

/// Longest wait for the head of a request, and for a TLS handshake.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// Accepts connections until the clock says stop, then lets those in flight finish within `grace`.
pub async fn serve(app: Arc<App>, router: Arc<Router>, listener: TcpListener, tls: Option<TlsAcceptor>, grace: Duration) {
    let mut stop = app.clock.stopped();
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(why) => {
                // Out of file descriptors: existing connections go on, new ones wait.
                tracing::warn!(%why, "cannot accept");
                tokio::task::yield_now().await;
                continue;
            }
        };
        let _ = socket.set_nodelay(true);
        let (app, router, tls, watcher) = (app.clone(), router.clone(), tls.clone(), graceful.watcher());
        tokio::spawn(async move { connection(app, router, socket, peer, tls, watcher).await });
    }
    drop(listener);
    let _ = tokio::time::timeout(grace, graceful.shutdown()).await;
}

async fn connection(
    app: Arc<App>,
    router: Arc<Router>,
    socket: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let (app, router) = (app.clone(), router.clone());
        async move {
            let client = client_address(&app.config.network, peer.ip(), request.headers());
            Ok::<_, std::convert::Infallible>(router.serve(&app, request, client).await)
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_headers(100).half_close(false);
    // A connection that breaks has nobody to tell.
    match tls {
        None => drop(watcher.watch(builder.serve_connection(TokioIo::new(socket), service)).await),
        Some(tls) => {
            if let Ok(Ok(socket)) = tokio::time::timeout(HEAD_TIME, tls.accept(socket)).await {
                drop(watcher.watch(builder.serve_connection(TokioIo::new(socket), service)).await);
            }
        }
    }
}

/// The address of the client: the peer's, or behind trusted proxies the last address in `X-Forwarded-For` that is not one of them.
fn client_address(network: &Network, peer: IpAddr, headers: &http::HeaderMap) -> IpAddr {
    if !network.trusts(peer) {
        return peer;
    }
    let hops: Vec<IpAddr> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|hop| hop.trim().parse().ok())
        .collect();
    hops.iter().rev().copied().find(|hop| !network.trusts(*hop)).unwrap_or(peer)
}

/// Reads certificate and key files for the listener.
pub fn tls_acceptor(certificates: &std::path::Path, key: &std::path::Path) -> Result<TlsAcceptor, String> {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificates).map_err(|why| format!("tls_cert: {why}"))?.collect();
    let chain = chain.map_err(|why| format!("tls_cert: {why}"))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|why| format!("tls_key: {why}"))?;
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| format!("tls: {why}"))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|why| format!("tls_cert and tls_key: {why}"))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_speak_for_clients() {
        let network = Network::parse(&["10.0.0.0/8".into(), "::1".into()]).unwrap();
        let headers = |value: &str| [("x-forwarded-for".parse().unwrap(), value.parse().unwrap())].into_iter().collect::<http::HeaderMap>();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (peer, forwarded, expected) in [
            ("203.0.113.9", "1.2.3.4", "203.0.113.9"),
            ("10.1.1.1", "6.6.6.6, 1.2.3.4, 10.2.2.2", "1.2.3.4"),
            ("::1", "1.2.3.4", "1.2.3.4"),
            ("10.1.1.1", "rubbish", "10.1.1.1"),
        ] {
            assert_eq!(client_address(&network, ip(peer), &headers(forwarded)), ip(expected), "{peer} {forwarded}");
        }
    }
}

//! The listener: sockets and how many of them, TLS, the client's address, and a stop that lets requests
//! finish.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::connection::Paced;
use super::parse_errors::Enveloped;
use super::router::Router;
use crate::app::App;
use crate::app::access::network_of;
use crate::app::limits::shares::Share;
use crate::config::Network;

/// Largest head of a request, and most bytes that a connection reads ahead.
const HEAD_LIMIT: usize = 32 * 1024;
/// Rest after a connection could not be accepted: there are no file descriptors left, and asking again at
/// once would only keep a core busy.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// Accepts connections until the node stops, then lets those in flight finish within `grace`.
pub async fn serve(
    app: Arc<App>,
    router: Arc<Router>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    grace: Duration,
) {
    let mut stop = app.node.stopped();
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.wait() => break,
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(why) => {
                // Out of file descriptors: existing connections go on, new ones wait.
                tracing::warn!(%why, "cannot accept");
                tokio::select! {
                    () = tokio::time::sleep_until(tokio::time::Instant::now() + ACCEPT_REST) => continue,
                    () = stop.wait() => break,
                }
            }
        };
        let Some(place) = Place::take(&app, peer.ip()) else {
            app.metrics.connections_refused.inc();
            continue;
        };
        let _ = socket.set_nodelay(true);
        let (app, router, tls, watcher) = (app.clone(), router.clone(), tls.clone(), graceful.watcher());
        tokio::spawn(async move {
            connection(app, router, socket, peer, tls, watcher).await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(grace, graceful.shutdown()).await;
}

/// A connection among those that are allowed.
struct Place {
    _all: Share<()>,
    _address: Option<Share<IpAddr>>,
    open: prometheus_client::metrics::gauge::Gauge,
}

impl Place {
    fn take(app: &App, peer: IpAddr) -> Option<Self> {
        let limits = &app.config.limits;
        // Behind a proxy, the proxy is everybody.
        let address = if app.config.network.trusts(peer) {
            None
        } else {
            Some(app.shares.addresses.take(network_of(peer), 1, limits.connections_per_address)?)
        };
        let all = app.shares.connections.take((), 1, limits.connections)?;
        let open = app.metrics.connections.clone();
        open.inc();
        Some(Self { _all: all, _address: address, open })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.dec();
    }
}

async fn connection(
    app: Arc<App>,
    router: Arc<Router>,
    socket: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let limits = app.config.limits;
    let unread = Arc::new(AtomicBool::new(false));
    let socket = Paced::new(socket, limits.answer_time, unread.clone());
    let (app_of_errors, unread_of_errors) = (app.clone(), unread.clone());
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let (app, router, unread) = (app.clone(), router.clone(), unread.clone());
        async move {
            let client = client_address(&app.config.network, peer.ip(), request.headers());
            let answer = router.serve(&app, request, client).await;
            if answer.headers().contains_key(http::header::CONNECTION) {
                unread.store(true, Ordering::Relaxed);
            }
            Ok::<_, std::convert::Infallible>(answer)
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(100)
        .max_buf_size(HEAD_LIMIT)
        .half_close(false);
    // A broken connection needs no report.
    match tls {
        None => {
            let socket = Enveloped::new(socket, app_of_errors, unread_of_errors);
            drop(watcher.watch(builder.serve_connection(TokioIo::new(socket), service)).await);
        }
        Some(tls) => {
            if let Ok(Ok(socket)) = tokio::time::timeout(limits.head_time, tls.accept(socket)).await {
                let socket = Enveloped::new(socket, app_of_errors, unread_of_errors);
                drop(watcher.watch(builder.serve_connection(TokioIo::new(socket), service)).await);
            }
        }
    }
}

/// The address of the client: the peer's, or behind trusted proxies the last address in `X-Forwarded-For`
/// that is not one of them. A trusted proxy does not write an unreadable address, so the host that passed one on
/// is the client.
pub(crate) fn client_address(network: &Network, peer: IpAddr, headers: &http::HeaderMap) -> IpAddr {
    if !network.trusts(peer) {
        return peer;
    }
    let mut nearest = peer;
    let values: Vec<_> = headers.get_all("x-forwarded-for").iter().collect();
    for value in values.into_iter().rev() {
        for hop in value.to_str().unwrap_or("unreadable").rsplit(',') {
            let Some(hop) = read_hop(hop.trim()) else { return nearest };
            nearest = hop;
            if !network.trusts(hop) {
                return nearest;
            }
        }
    }
    nearest
}

/// An address, or an address with a port, as some proxies write it.
fn read_hop(hop: &str) -> Option<IpAddr> {
    hop.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_speak_for_clients() {
        let network = Network::parse(&["10.0.0.0/8".into(), "::1".into()]).unwrap();
        let headers = |value: &str| {
            [("x-forwarded-for".parse().unwrap(), value.parse().unwrap())]
                .into_iter()
                .collect::<http::HeaderMap>()
        };
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (peer, forwarded, expected) in [
            ("203.0.113.9", "1.2.3.4", "203.0.113.9"),
            ("10.1.1.1", "6.6.6.6, 1.2.3.4, 10.2.2.2", "1.2.3.4"),
            ("::1", "1.2.3.4", "1.2.3.4"),
            ("10.1.1.1", "rubbish", "10.1.1.1"),
            ("10.1.1.1", "6.6.6.6, unknown, 10.2.2.2", "10.2.2.2"),
            ("10.1.1.1", "6.6.6.6, 1.2.3.4, ", "10.1.1.1"),
            ("10.1.1.1", "6.6.6.6, 1.2.3.4:5678", "1.2.3.4"),
            ("10.1.1.1", "[2001:db8::1]:443", "2001:db8::1"),
            ("10.1.1.1", "10.3.3.3, 10.2.2.2", "10.3.3.3"),
        ] {
            assert_eq!(
                client_address(&network, ip(peer), &headers(forwarded)),
                ip(expected),
                "{peer} {forwarded}"
            );
        }
    }
}

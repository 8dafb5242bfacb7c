//! The address of a server, how to connect to it, and whether it was reachable a moment ago.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::error::DbError;
use super::error::classify;

/// Timeout of a connection to one host, with the setup of its session.
const CONNECT: Duration = Duration::from_secs(3);
/// Timeout of one address of a host.
const ADDRESS: Duration = Duration::from_millis(1500);
/// Time after a failure without a new attempt.
const PAUSE: Duration = Duration::from_millis(500);

/// The setup of every session. A node that dies in the middle of a transaction holds its locks only so long, and nobody
/// waits longer for one. There is no statement timeout: a commit that the server cancels while it waits for its standby
/// would be acknowledged although the standby lacks it. Random page reads cost about as much as sequential ones: with
/// the server's default, made for spinning disks, a statement for a hundred rows scans a whole table of up to some
/// thousand pages.
const SESSION: &str =
    "set idle_in_transaction_session_timeout = '5s'; set lock_timeout = '2s'; set random_page_cost = 1.1";
/// The addition for a session that only reads.
const READ_ONLY: &str = "; set default_transaction_read_only = on";

/// Time without an answer after which the host is probed.
const PROBE_AFTER: Duration = Duration::from_secs(3);

/// A session, and the index of its host.
type Session = (Client, Connection<Socket, Tls>, usize);
type Tls = <MakeRustlsConnect as tokio_postgres::tls::MakeTlsConnect<Socket>>::Stream;

/// The purpose of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Purpose {
    Write,
    Read,
    Wake,
}

/// Whether the server was reachable at the last attempt.
enum Health {
    Well,
    /// It was not. One session retries after `next`; until it succeeds, all others fail at once.
    Unreachable {
        retrying: bool,
        next: Instant,
        why: String,
    },
}

/// A server: its hosts, and whether to use TLS, which verifies the certificate, as the URL says with `sslmode=require`.
#[derive(Clone)]
pub(in crate::db) struct Server {
    /// One for each host of the URL.
    hosts: Arc<[Config]>,
    /// The last host that answered, which is tried first.
    last_good: Arc<AtomicUsize>,
    health: Arc<Mutex<Health>>,
    tls: MakeRustlsConnect,
}

impl Server {
    /// Parses the URL; `setting` is its name in errors.
    pub(in crate::db) fn new(setting: &str, url: &str, ca: Option<&Path>) -> Result<Self, DbError> {
        let wrong = |why: String| DbError::Unavailable(why);
        let mut config: Config =
            url.parse().map_err(|_| wrong(format!("{setting} is not a PostgreSQL connection string")))?;
        config
            .connect_timeout(ADDRESS)
            .keepalives_idle(Duration::from_secs(20))
            .tcp_user_timeout(Duration::from_secs(20));
        if config.get_application_name().is_none() {
            config.application_name("dastak");
        }
        if config.get_ssl_mode() != SslMode::Require {
            // `prefer` would accept any certificate, or none, which gives no protection.
            config.ssl_mode(SslMode::Disable);
        }
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(file) = ca {
            let unreadable = |why: String| wrong(format!("database_ca: {}: {why}", file.display()));
            for certificate in
                CertificateDer::pem_file_iter(file).map_err(|why| unreadable(why.to_string()))?
            {
                let certificate = certificate.map_err(|why| unreadable(why.to_string()))?;
                roots.add(certificate).map_err(|why| unreadable(why.to_string()))?;
            }
        }
        let tls =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|why| wrong(why.to_string()))?
                .with_root_certificates(roots)
                .with_no_client_auth();
        Ok(Self {
            hosts: each_host(&config).map_err(|why| wrong(format!("{setting}: {why}")))?.into(),
            last_good: Arc::default(),
            health: Arc::new(Mutex::new(Health::Well)),
            tls: MakeRustlsConnect::new(tls),
        })
    }

    /// Connects to the last host that answered, or else to the next.
    ///
    /// # Errors
    /// Why not. While the server is unreachable, only one session retries, and all others get the last error at once.
    pub(in crate::db) async fn connect(&self, purpose: Purpose) -> Result<Session, DbError> {
        let attempt = self.enter()?;
        let outcome = self.try_hosts(purpose).await;
        attempt.end(&outcome);
        outcome
    }

    async fn try_hosts(&self, purpose: Purpose) -> Result<Session, DbError> {
        let first = self.last_good.load(Ordering::Relaxed);
        let mut outcome = Err(DbError::Unavailable("database_url names no host".into()));
        for turn in 0..self.hosts.len() {
            let place = (first + turn) % self.hosts.len();
            let connected = tokio::time::timeout(CONNECT, self.begin(&self.hosts[place], purpose)).await;
            match connected {
                Ok(Ok((client, connection))) => {
                    self.last_good.store(place, Ordering::Relaxed);
                    return Ok((client, connection, place));
                }
                Ok(Err(why)) => outcome = Err(classify(&why)),
                Err(_) => outcome = Err(DbError::Unavailable("the server does not answer".into())),
            }
        }
        outcome
    }

    async fn begin(
        &self,
        host: &Config,
        purpose: Purpose,
    ) -> Result<(Client, Connection<Socket, Tls>), tokio_postgres::Error> {
        let (client, mut connection) = host.connect(self.tls.clone()).await?;
        let words = match purpose {
            Purpose::Write | Purpose::Wake => SESSION.to_owned(),
            Purpose::Read => format!("{SESSION}{READ_ONLY}"),
        };
        let sent = {
            let pump = std::future::poll_fn(|context| {
                loop {
                    match connection.poll_message(context) {
                        std::task::Poll::Ready(Some(Ok(_))) => {}
                        std::task::Poll::Ready(Some(Err(why))) => return std::task::Poll::Ready(Some(why)),
                        std::task::Poll::Ready(None) => return std::task::Poll::Ready(None),
                        std::task::Poll::Pending => return std::task::Poll::Pending,
                    }
                }
            });
            tokio::select! {
                sent = client.batch_execute(&words) => sent,
                Some(why) = pump => Err(why),
            }
        };
        sent.map(|()| (client, connection))
    }

    /// Waits for an answer of a host. Meanwhile the host is probed from time to time, to tell a slow one from a dead one.
    pub(in crate::db) async fn answer<T>(
        &self,
        place: usize,
        most: Duration,
        answer: impl Future<Output = T>,
    ) -> Option<T> {
        let (mut answer, began) = (pin!(answer), Instant::now());
        while began.elapsed() < most {
            if let Ok(answer) = tokio::time::timeout(PROBE_AFTER, answer.as_mut()).await {
                return Some(answer);
            }
            tokio::select! {
                answer = answer.as_mut() => return Some(answer),
                there = self.is_reachable(place) => if !there { return None },
            }
        }
        None
    }

    /// Whether a host accepts a session, or refuses it with an error.
    async fn is_reachable(&self, place: usize) -> bool {
        match tokio::time::timeout(CONNECT, self.hosts[place].connect(self.tls.clone())).await {
            Ok(Ok(_)) => true,
            Ok(Err(why)) => why.code().is_some(),
            Err(_) => false,
        }
    }

    /// Marks the server as unreachable until a session connects.
    pub(in crate::db) fn mark_unreachable(&self, why: &str) {
        let mut health = self.health();
        if matches!(*health, Health::Well) {
            *health = Health::Unreachable { retrying: false, next: Instant::now(), why: why.to_owned() };
        }
    }

    fn health(&self) -> std::sync::MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) -> Result<Attempt<'_>, DbError> {
        let mut health = self.health();
        let alone = match &mut *health {
            Health::Well => false,
            Health::Unreachable { retrying, next, why } => {
                if *retrying || Instant::now() < *next {
                    return Err(DbError::Unavailable(why.clone()));
                }
                *retrying = true;
                true
            }
        };
        Ok(Attempt { server: self, alone })
    }
}

/// An attempt to connect.
struct Attempt<'a> {
    server: &'a Server,
    /// Whether it is the only attempt.
    alone: bool,
}

impl Attempt<'_> {
    fn end<T>(mut self, outcome: &Result<T, DbError>) {
        let mut health = self.server.health();
        match outcome {
            Ok(_) => *health = Health::Well,
            Err(why) => {
                let why = match why {
                    DbError::Unavailable(why) => why.clone(),
                    other => other.to_string(),
                };
                *health = Health::Unreachable { retrying: false, next: Instant::now() + PAUSE, why };
            }
        }
        self.alone = false;
    }
}

impl Drop for Attempt<'_> {
    /// It was cancelled: the next may retry.
    fn drop(&mut self) {
        if self.alone
            && let Health::Unreachable { retrying, .. } = &mut *self.server.health()
        {
            *retrying = false;
        }
    }
}

/// Splits the settings of a URL by host, so that each has its own timeout.
fn each_host(all: &Config) -> Result<Vec<Config>, String> {
    let (hosts, addresses, ports) = (all.get_hosts(), all.get_hostaddrs(), all.get_ports());
    let count = hosts.len().max(addresses.len());
    if count <= 1 {
        return Ok(vec![all.clone()]);
    }
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
        return Err("as many hosts as addresses are needed".into());
    }
    if ports.len() > 1 && ports.len() != count {
        return Err("one port is needed, or one for each host".into());
    }
    let one = |place: usize| {
        let mut config = Config::new();
        if let Some(user) = all.get_user() {
            config.user(user);
        }
        if let Some(password) = all.get_password() {
            config.password(password);
        }
        if let Some(name) = all.get_dbname() {
            config.dbname(name);
        }
        if let Some(options) = all.get_options() {
            config.options(options);
        }
        if let Some(name) = all.get_application_name() {
            config.application_name(name);
        }
        if let Some(wait) = all.get_connect_timeout() {
            config.connect_timeout(*wait);
        }
        if let Some(wait) = all.get_tcp_user_timeout() {
            config.tcp_user_timeout(*wait);
        }
        if let Some(pause) = all.get_keepalives_interval() {
            config.keepalives_interval(pause);
        }
        if let Some(count) = all.get_keepalives_retries() {
            config.keepalives_retries(count);
        }
        config
            .keepalives(all.get_keepalives())
            .keepalives_idle(all.get_keepalives_idle())
            .ssl_mode(all.get_ssl_mode())
            .ssl_negotiation(all.get_ssl_negotiation())
            .channel_binding(all.get_channel_binding())
            .load_balance_hosts(all.get_load_balance_hosts())
            .target_session_attrs(all.get_target_session_attrs());
        match hosts.get(place) {
            Some(Host::Tcp(name)) => config.host(name),
            Some(Host::Unix(path)) => config.host_path(path),
            None => &mut config,
        };
        if let Some(address) = addresses.get(place) {
            config.hostaddr(*address);
        }
        if let Some(port) = ports.get(place).or_else(|| ports.first()) {
            config.port(*port);
        }
        config
    };
    Ok((0..count).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_keeps_what_belongs_to_all() {
        let url =
            "postgres://me:secret@one:1,two:2/data?target_session_attrs=read-write&keepalives_retries=3";
        let hosts = each_host(&url.parse().unwrap()).unwrap();
        assert_eq!(hosts.len(), 2);
        for (host, (name, port)) in hosts.iter().zip([("one", 1), ("two", 2)]) {
            let alone: Config = url.replace("one:1,two:2", &format!("{name}:{port}")).parse().unwrap();
            assert_eq!(*host, alone);
        }
    }

    #[test]
    fn one_session_retries_an_unreachable_server_and_the_others_fail_at_once() {
        let server = Server::new("database_url", "postgres://me@one/data", None).unwrap();
        assert!(server.enter().is_ok_and(|attempt| !attempt.alone), "any may try a server that is well");
        server.mark_unreachable("no answer");
        let attempt = server.enter().unwrap();
        let refused = server.enter().map(|_| ());
        assert_eq!(refused, Err(DbError::Unavailable("no answer".into())));
        attempt.end(&Ok(()));
        let (one, other) = (server.enter().unwrap(), server.enter().unwrap());
        one.end(&Err::<(), _>(DbError::Unavailable("nobody there".into())));
        assert!(server.enter().is_err(), "not at once again");
        other.end(&Ok(()));
        server.mark_unreachable("no answer");
        drop(server.enter().unwrap());
        assert!(server.enter().is_ok(), "one that was broken off holds nobody up");
    }
}

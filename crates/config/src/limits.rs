//! Limits of the listener for clients (`docs/operating/README.md` «Limits»).

use std::time::Duration;

use super::Values;

/// Limits of connections and bodies.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections at once of one IPv4 address or IPv6 network of 64 bits; trusted proxies have no such
    /// limit.
    pub connections_per_address: usize,
    /// Longest wait for the head of a request, for the next request on a connection, and for a TLS handshake.
    pub head_time: Duration,
    /// Longest wait for a body.
    pub body_time: Duration,
    /// Longest wait for a client that does not read its answer.
    pub answer_time: Duration,
    /// Bytes of all bodies in progress.
    pub bodies: usize,
    /// The same for one workspace.
    pub bodies_per_client: usize,
    /// Bytes of all unread answers.
    pub answers: usize,
    /// The same for one workspace.
    pub answers_per_client: usize,
    /// Bytes of records that a stream stores on a day.
    pub stream_bytes_per_day: i64,
    /// Bytes of records that the streams of a workspace keep.
    pub stream_bytes_per_workspace: i64,
    /// Bytes that must be free on the disk of the data folder for a request that stores something.
    pub disk_reserve: u64,
}

/// Who may read the metrics, besides the operator.
#[derive(Clone, Default)]
pub struct Figures {
    /// A bearer token for `/metrics` and the details of `/readyz`.
    pub token: Option<String>,
    /// Addresses that need none.
    pub networks: super::Network,
}

impl std::fmt::Debug for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Figures")
            .field("token", &self.token.as_ref().map(|_| "********"))
            .field("networks", &self.networks)
            .finish()
    }
}

pub(super) fn read(values: &Values) -> Result<Limits, String> {
    let count = |name: &str| values.number(name).map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let seconds = |name: &str| count(name).map(|seconds| Duration::from_secs(seconds as u64));
    let megabytes = |name: &str| count(name).map(|number| number.saturating_mul(1024 * 1024));
    Ok(Limits {
        connections: count("limits.connections")?,
        connections_per_address: count("limits.connections_per_address")?,
        head_time: seconds("limits.head_time")?,
        body_time: seconds("limits.body_time")?,
        answer_time: seconds("limits.answer_time")?,
        bodies: megabytes("limits.bodies_mb")?,
        bodies_per_client: megabytes("limits.bodies_mb_per_client")?,
        answers: megabytes("limits.answers_mb")?,
        answers_per_client: megabytes("limits.answers_mb_per_client")?,
        stream_bytes_per_day: values.number("limits.stream_mb_per_day")?.saturating_mul(1 << 20),
        stream_bytes_per_workspace: values.number("limits.streams_mb_per_workspace")?.saturating_mul(1 << 20),
        disk_reserve: megabytes("limits.disk_reserve_mb")? as u64,
    })
}

pub(super) fn read_figures(values: &Values) -> Result<Figures, String> {
    let token = values.some_text("metrics_token")?;
    if token.as_ref().is_some_and(|token| token.len() < 16) {
        return Err("metrics_token: found a value that is too short; allowed: 16 characters and more".into());
    }
    Ok(Figures {
        token,
        networks: super::Network::parse_setting("metrics_networks", &values.list("metrics_networks")?)?,
    })
}

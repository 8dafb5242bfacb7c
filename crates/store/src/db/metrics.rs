//! The metrics of the store.

/// Buckets of times from 10 µs to 10 s.
fn time_buckets() -> impl Iterator<Item = f64> {
    [0.000_01, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0].into_iter()
}

/// Metrics of the store, for `/metrics`.
#[derive(Debug, Clone)]
pub struct StoreMetrics {
    /// Seconds of one commit, with the wait for the disk or the server.
    pub commit_seconds: prometheus_client::metrics::histogram::Histogram,
    /// Closures that shared one commit.
    pub batch_size: prometheus_client::metrics::histogram::Histogram,
    /// Closures queued for a writer.
    pub queued: prometheus_client::metrics::gauge::Gauge,
    /// Connections in use (readers of SQLite, all of PostgreSQL).
    pub in_use: prometheus_client::metrics::gauge::Gauge,
    /// Retries of closures after a conflict.
    pub conflicts: prometheus_client::metrics::counter::Counter,
    /// Whether the replica serves [`Store::read_far`](super::Store::read_far).
    pub replica_reads: prometheus_client::metrics::gauge::Gauge,
    /// Last measured replication lag, seconds.
    pub replica_behind: prometheus_client::metrics::gauge::Gauge<f64, std::sync::atomic::AtomicU64>,
    /// Reads that failed on the replica and ran on the primary.
    pub replica_failures: prometheus_client::metrics::counter::Counter,
}

impl StoreMetrics {
    pub(super) fn new() -> Self {
        use prometheus_client::metrics::{counter::Counter, gauge::Gauge, histogram::Histogram};
        Self {
            commit_seconds: Histogram::new(time_buckets()),
            batch_size: Histogram::new([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]),
            queued: Gauge::default(),
            in_use: Gauge::default(),
            conflicts: Counter::default(),
            replica_reads: Gauge::default(),
            replica_behind: Gauge::default(),
            replica_failures: Counter::default(),
        }
    }

    /// Registers them in the metrics of a process.
    pub fn register(&self, registry: &mut prometheus_client::registry::Registry) {
        registry.register("store_commit_seconds", "Time of one commit", self.commit_seconds.clone());
        registry.register("store_batch_size", "Transactions that shared one commit", self.batch_size.clone());
        registry.register("store_queued", "Transactions that wait for a writer", self.queued.clone());
        registry.register("store_connections_in_use", "Connections in use", self.in_use.clone());
        registry.register(
            "store_conflicts",
            "Transactions that ran again after a conflict",
            self.conflicts.clone(),
        );
        registry.register(
            "store_replica_reads",
            "Whether long reads go to the replica",
            self.replica_reads.clone(),
        );
        registry.register(
            "store_replica_behind_seconds",
            "Time by which the replica was behind when it was last known",
            self.replica_behind.clone(),
        );
        registry.register(
            "store_replica_failures",
            "Reads that the replica failed and the primary did",
            self.replica_failures.clone(),
        );
    }
}

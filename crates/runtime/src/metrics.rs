//! Metrics for `/metrics`.

use std::fmt::Write as _;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use domain::call::TurnLatency;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeLabelValue, EncodeMetric, LabelSetEncoder,
};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RouteLabels {
    method: &'static str,
    route: &'static str,
}

fn label(
    encoder: &mut LabelSetEncoder<'_>,
    name: &str,
    value: impl EncodeLabelValue,
) -> Result<(), std::fmt::Error> {
    let mut label = encoder.encode_label();
    let mut key = label.encode_label_key()?;
    key.write_str(name)?;
    let mut out = key.encode_label_value()?;
    value.encode(&mut out)?;
    out.finish()
}

impl EncodeLabelSet for RequestLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        label(encoder, "method", self.method)?;
        label(encoder, "route", self.route)?;
        label(encoder, "status", u32::from(self.status))
    }
}

impl EncodeLabelSet for RouteLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        label(encoder, "method", self.method)?;
        label(encoder, "route", self.route)
    }
}

/// All metrics of the process.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    /// Invalid keys in requests.
    pub invalid_keys: Counter,
    /// HTTP connections that are open.
    pub connections: Gauge,
    /// HTTP connections that were closed at once because there were too many.
    pub connections_refused: Counter,
    /// Whether this node is drained.
    pub node_draining: Gauge,
    /// Whether PostgreSQL may lose commits that it has acknowledged.
    pub database_may_forget: Gauge,
    /// Seconds by which the clock of this machine is ahead of PostgreSQL's.
    pub clock_skew: Gauge<f64, AtomicU64>,
    /// Bytes of request bodies in progress.
    pub bodies: Gauge,
    /// Bytes of unread answers.
    pub answers: Gauge,
    /// Bytes that are free on the disk of the data folder.
    pub disk_free: Gauge,
    /// All bytes of that disk.
    pub disk_size: Gauge,
    turns: Family<StageLabel, Histogram, fn() -> Histogram>,
    tools: Family<ToolOutcome, Histogram, fn() -> Histogram>,
    without_vectors: Family<WithoutVectors, Counter>,
    vectors_made: Counter,
    bases_without_vectors: Gauge,
}

/// Why a search used words alone although an embeddings service is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WithoutVectors {
    /// The passages have no vectors yet, or they are not in memory yet.
    NotThere,
    /// The vector of the query came too late.
    Late,
    Failed,
    /// The circuit breaker of the service is open.
    PassedOver,
}

impl EncodeLabelSet for WithoutVectors {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        let why = match self {
            Self::NotThere => "not_there",
            Self::Late => "late",
            Self::Failed => "failed",
            Self::PassedOver => "passed_over",
        };
        label(encoder, "why", why)
    }
}

/// How a call of a tool went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolOutcome {
    /// It answered with success.
    Answered,
    /// It did not answer, refused, or cannot be called.
    Failed,
    /// It was not called: the arguments do not match its schema.
    WrongArguments,
}

impl EncodeLabelSet for ToolOutcome {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        let outcome = match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::WrongArguments => "wrong_arguments",
        };
        label(encoder, "outcome", outcome)
    }
}

/// Label of a stage of an answer on a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct StageLabel(&'static str);

impl EncodeLabelSet for StageLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        label(encoder, "stage", self.0)
    }
}

/// Running tasks of the process; a value that only grows is a leak.
#[derive(Debug)]
struct Running;

impl Collector for Running {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        // Outside a runtime there is nothing to count.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Ok(()) };
        let tasks = ConstGauge::new(i64::try_from(runtime.metrics().num_alive_tasks()).unwrap_or(i64::MAX));
        tasks.encode(encoder.encode_descriptor(
            "tasks",
            "Tasks that are alive",
            None,
            tasks.metric_type(),
        )?)?;
        let Some(heap) = HEAP.get() else { return Ok(()) };
        let heap = ConstGauge::new(i64::try_from(heap()).unwrap_or(i64::MAX));
        heap.encode(encoder.encode_descriptor(
            "heap_bytes",
            "Bytes that are allocated",
            None,
            heap.metric_type(),
        )?)
    }
}

/// Returns the allocated bytes, in a program whose allocator counts them.
static HEAP: std::sync::OnceLock<fn() -> usize> = std::sync::OnceLock::new();

/// Exports the allocated bytes as a metric, for a program whose allocator counts them. Only the first of several is
/// used.
pub fn count_heap(allocated: fn() -> usize) {
    let _ = HEAP.set(allocated);
}

fn turn_seconds() -> Histogram {
    Histogram::new([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0])
}

fn request_seconds() -> Histogram {
    Histogram::new([0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0])
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Registers the metrics of requests and calls. The store and the other rooms register their own in
    /// [`Metrics::registry`].
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("dastak");
        let requests = Family::<RequestLabels, Counter>::default();
        let seconds =
            Family::<RouteLabels, Histogram, fn() -> Histogram>::new_with_constructor(request_seconds);
        let invalid_keys = Counter::default();
        let (connections, connections_refused, bodies) =
            (Gauge::default(), Counter::default(), Gauge::default());
        registry.register("http_requests", "Requests by route and status", requests.clone());
        registry.register(
            "http_request_seconds",
            "Time from the last byte of the request to the first of the answer",
            seconds.clone(),
        );
        registry.register("http_connections", "Connections that are open", connections.clone());
        registry.register(
            "http_connections_refused",
            "Connections that were closed at once: too many",
            connections_refused.clone(),
        );
        registry.register("http_bodies_bytes", "Bytes of request bodies in work", bodies.clone());
        let (answers, disk_free, disk_size) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register(
            "http_answers_bytes",
            "Bytes of answers that clients have not taken",
            answers.clone(),
        );
        registry.register("disk_free_bytes", "Bytes free on the disk of the data folder", disk_free.clone());
        registry.register("disk_size_bytes", "Bytes of the disk of the data folder", disk_size.clone());
        registry.register("invalid_keys", "Requests with an invalid API key", invalid_keys.clone());
        let turns = Family::<StageLabel, Histogram, fn() -> Histogram>::new_with_constructor(turn_seconds);
        registry.register(
            "turn_seconds",
            "Time from the end of the customer's speech to a stage of the answer",
            turns.clone(),
        );
        let tools = Family::<ToolOutcome, Histogram, fn() -> Histogram>::new_with_constructor(turn_seconds);
        registry.register("tool_seconds", "Calls of webhook tools by outcome", tools.clone());
        let without_vectors = Family::<WithoutVectors, Counter>::default();
        let (vectors_made, bases_without_vectors) = (Counter::default(), Gauge::default());
        registry.register(
            "knowledge_searches_by_words_alone",
            "Searches without vectors, though a service makes them, by reason",
            without_vectors.clone(),
        );
        registry.register(
            "knowledge_vectors_made",
            "Vectors of passages that were made",
            vectors_made.clone(),
        );
        registry.register(
            "knowledge_bases_without_vectors",
            "Bases that have passages without a vector, up to 20",
            bases_without_vectors.clone(),
        );
        let (node_draining, database_may_forget, clock_skew) =
            (Gauge::default(), Gauge::default(), Gauge::<f64, AtomicU64>::default());
        registry.register(
            "node_draining",
            "Whether this node takes no new calls, because it is drained or stops",
            node_draining.clone(),
        );
        registry.register(
            "database_may_forget",
            "Whether PostgreSQL may forget what it has acknowledged",
            database_may_forget.clone(),
        );
        registry.register(
            "clock_skew_seconds",
            "Seconds by which the clock of this machine is ahead of PostgreSQL's",
            clock_skew.clone(),
        );
        registry.register_collector(Box::new(Running));
        Self {
            registry,
            requests,
            seconds,
            invalid_keys,
            connections,
            connections_refused,
            node_draining,
            database_may_forget,
            clock_skew,
            bodies,
            answers,
            disk_free,
            disk_size,
            turns,
            tools,
            without_vectors,
            vectors_made,
            bases_without_vectors,
        }
    }

    /// Registers metrics of a part of the service, during assembly.
    pub fn registry(&mut self) -> &mut Registry {
        &mut self.registry
    }

    pub fn request(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
        self.seconds.get_or_create(&RouteLabels { method, route }).observe(took.as_secs_f64());
    }

    /// Records the latencies of an answer on a call.
    pub fn turn_answered(&self, latency: &TurnLatency) {
        let stages = [
            ("endpoint", Some(latency.endpoint_ms)),
            ("transcript", latency.transcript_ms),
            ("first_token", latency.first_token_ms),
            ("first_audio", latency.first_audio_ms),
            ("first_packet", latency.first_packet_ms),
        ];
        for (stage, ms) in stages {
            if let Some(ms) = ms {
                self.turns.get_or_create(&StageLabel(stage)).observe(ms as f64 / 1000.0);
            }
        }
    }

    /// Records a call of a tool.
    pub fn tool_called(&self, outcome: ToolOutcome, took: Duration) {
        self.tools.get_or_create(&outcome).observe(took.as_secs_f64());
    }

    /// Counts a search by words alone.
    pub fn without_vectors(&self, why: WithoutVectors) {
        self.without_vectors.get_or_create(&why).inc();
    }

    /// Counts vectors of passages.
    pub fn vectors_made(&self, count: usize) {
        self.vectors_made.inc_by(count as u64);
    }

    /// Records how many bases lack vectors.
    pub fn bases_without_vectors(&self, count: usize) {
        self.bases_without_vectors.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// The text in OpenMetrics.
    pub fn render(&self) -> String {
        let mut out = String::new();
        if prometheus_client::encoding::text::encode(&mut out, &self.registry).is_err() {
            let _ = writeln!(out, "# could not be written");
        }
        out
    }
}

//! Traces of requests, as spans that are exported to an OpenTelemetry collector (docs/operating/traces.md).
//!
//! Spans begin and end here, on any task or thread; the current one is task-local ([`current`]) and is stored in rows
//! to continue later. The library's thread batches them. Nothing here ever blocks: at most [`QUEUE`] spans are
//! buffered, and further ones are dropped and counted. Times of spans are the machine's, also with a manual clock.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use domain::trace::TraceContext;
pub use opentelemetry::trace::SpanKind;
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer,
    TracerProvider,
};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider, Span as SdkSpan, SpanData,
    SpanExporter, SpanProcessor,
};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use prost::Message;

/// Most spans buffered for the collector, including the request in flight.
pub const QUEUE: usize = 8_192;
/// Spans in one request.
const BATCH: usize = 512;
/// Longest time that a span waits for its batch.
const PAUSE: Duration = Duration::from_secs(1);

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// The span of this task.
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(|current| *current).ok()
}

/// Runs the same work in the current span, on a task of its own.
pub fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> {
    within(current(), work)
}

/// Runs work in a span that is over by now, or of another task.
pub async fn within<F: Future>(span: Option<TraceContext>, work: F) -> F::Output {
    match span {
        Some(span) => CURRENT.scope(span, work).await,
        None => work.await,
    }
}

/// The response of the collector, as a future.
pub type Sending = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// The transport to a collector.
pub trait Collector: Send + Sync {
    /// Sends an `ExportTraceServiceRequest` in protobuf. It must end within a few seconds. The error is for the log.
    fn send(&self, request: Vec<u8>) -> Sending;
}

/// Settings of traces.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `service.name` of the resource.
    pub service_name: String,
    /// `service.instance.id` of the resource.
    pub instance: String,
    /// `service.version` of the resource.
    pub version: &'static str,
    /// Sampled share of the traces that begin here, from 0 to 1. A trace that began elsewhere is recorded if its parent
    /// is.
    pub sample_ratio: f64,
}

/// Makes spans, or does nothing. Cheap to clone.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<Running>>);

struct Running {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Traces(on)" } else { "Traces(off)" })
    }
}

impl Traces {
    /// Starts to export spans to a collector. Call it within a runtime, on which its requests run.
    pub fn start(settings: Settings, collector: Arc<dyn Collector>, registry: &mut Registry) -> Self {
        let (waiting, sent, dropped) =
            (Arc::<AtomicUsize>::default(), Counter::default(), Counter::default());
        registry.register("trace_spans_sent", "Spans that the collector took", sent.clone());
        registry.register(
            "trace_spans_dropped",
            "Spans that the collector did not get, because it did not take them or too many waited",
            dropped.clone(),
        );
        let exporter = Exporter {
            collector,
            runtime: tokio::runtime::Handle::current(),
            resource: ResourceAttributesWithSchema::default(),
            waiting: waiting.clone(),
            sent,
            dropped: dropped.clone(),
            refused: AtomicBool::new(false),
        };
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(PAUSE)
            .build();
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let resource = Resource::builder_empty()
            .with_service_name(settings.service_name)
            .with_attribute(KeyValue::new("service.instance.id", settings.instance))
            .with_attribute(KeyValue::new("service.version", settings.version))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(Bounded { batches, waiting, dropped })
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.sample_ratio))))
            .with_resource(resource)
            .build();
        let tracer = provider.tracer("dastak");
        Self(Some(Arc::new(Running { provider, tracer })))
    }

    /// Whether traces are enabled.
    pub fn on(&self) -> bool {
        self.0.is_some()
    }

    /// Begins a span below `parent`; without one, a new trace.
    pub fn begin(
        &self,
        kind: SpanKind,
        name: impl Into<Cow<'static, str>>,
        parent: Option<TraceContext>,
    ) -> Span {
        let Some(running) = &self.0 else { return Span(None) };
        let parent = match parent {
            Some(parent) => Context::new().with_remote_span_context(SpanContext::new(
                TraceId::from(parent.trace),
                SpanId::from(parent.span),
                TraceFlags::default().with_sampled(parent.sampled),
                true,
                TraceState::NONE,
            )),
            None => Context::new(),
        };
        let builder = running.tracer.span_builder(name).with_kind(kind);
        Span(Some(running.tracer.build_with_context(builder, &parent)))
    }

    /// Flushes the buffer and ends, within `grace`; spans that are left are dropped.
    pub async fn stop(&self, grace: Duration) {
        let Some(running) = &self.0 else { return };
        let provider = running.provider.clone();
        let ended = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(grace)).await;
        if let Ok(Err(why)) = ended {
            tracing::warn!(%why, "spans were not sent before the end");
        }
    }
}

/// A span. It ends when it is dropped.
#[derive(Debug, Default)]
pub struct Span(Option<SdkSpan>);

impl Span {
    /// The context for children of this span; `None` when traces are disabled.
    pub fn context(&self) -> Option<TraceContext> {
        let context = self.0.as_ref()?.span_context();
        Some(TraceContext {
            trace: u128::from_be_bytes(context.trace_id().to_bytes()),
            span: u64::from_be_bytes(context.span_id().to_bytes()),
            sampled: context.is_sampled(),
        })
    }

    /// Sets an attribute: never what a person said, a name, an id of a person, a query or a secret.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.0 {
            span.set_attribute(KeyValue::new(name, value));
        }
    }

    /// Renames it, when more is known.
    pub fn rename(&mut self, name: impl Into<Cow<'static, str>>) {
        if let Some(span) = &mut self.0 {
            span.update_name(name);
        }
    }

    /// Marks it as failed, with the kind of failure.
    pub fn failed(&mut self, kind: impl Into<Cow<'static, str>>) {
        if let Some(span) = &mut self.0 {
            let kind = kind.into();
            span.set_attribute(KeyValue::new("error.type", kind));
            span.set_status(Status::error(""));
        }
    }

    /// Runs this inside the span.
    pub async fn within<F: Future>(&self, work: F) -> F::Output {
        within(self.context(), work).await
    }
}

/// Bounds the buffer for the collector.
#[derive(Debug)]
struct Bounded {
    batches: BatchSpanProcessor,
    waiting: Arc<AtomicUsize>,
    dropped: Counter,
}

impl SpanProcessor for Bounded {
    fn on_start(&self, span: &mut SdkSpan, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if !span.span_context.is_sampled() {
            return;
        }
        if self.waiting.fetch_add(1, Ordering::AcqRel) >= QUEUE {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            self.dropped.inc();
            return;
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// Encodes batches and sends them, one after the other. A failed batch is dropped: after an outage the collector gets
/// only new spans.
struct Exporter {
    collector: Arc<dyn Collector>,
    runtime: tokio::runtime::Handle,
    resource: ResourceAttributesWithSchema,
    waiting: Arc<AtomicUsize>,
    sent: Counter,
    dropped: Counter,
    /// Whether the last request failed.
    refused: AtomicBool,
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exporter")
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let request = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        // The library's thread has no runtime of its own.
        let sent = match self.runtime.spawn(self.collector.send(request)).await {
            Ok(sent) => sent,
            Err(_) => Err("the service has ended".to_owned()),
        };
        self.waiting.fetch_sub(count, Ordering::AcqRel);
        let refused = self.refused.swap(sent.is_err(), Ordering::AcqRel);
        match sent {
            Ok(()) => {
                if refused {
                    tracing::info!("the collector of traces takes spans again");
                }
                self.sent.inc_by(count as u64);
                Ok(())
            }
            Err(why) => {
                if !refused {
                    tracing::warn!(%why, "the collector of traces takes no spans; they are dropped");
                }
                self.dropped.inc_by(count as u64);
                Err(OTelSdkError::InternalFailure(why))
            }
        }
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Collects the names of the spans it gets; fails while it is closed.
    #[derive(Default)]
    struct Kept {
        names: Mutex<Vec<String>>,
        closed: AtomicBool,
    }

    struct Fake(Arc<Kept>);

    impl Collector for Fake {
        fn send(&self, request: Vec<u8>) -> Sending {
            let kept = self.0.clone();
            Box::pin(async move {
                if kept.closed.load(Ordering::Acquire) {
                    return Err("closed".to_owned());
                }
                let request =
                    ExportTraceServiceRequest::decode(&request[..]).map_err(|why| why.to_string())?;
                let spans = request.resource_spans.into_iter().flat_map(|all| all.scope_spans);
                let names = spans.flat_map(|scope| scope.spans).map(|span| span.name);
                kept.names.lock().map_err(|why| why.to_string())?.extend(names);
                Ok(())
            })
        }
    }

    fn start(kept: &Arc<Kept>, sample_ratio: f64) -> (Traces, Registry) {
        let mut registry = Registry::default();
        let settings =
            Settings { service_name: "test".into(), instance: "one".into(), version: "0", sample_ratio };
        let traces = Traces::start(settings, Arc::new(Fake(kept.clone())), &mut registry);
        (traces, registry)
    }

    fn figures(registry: &Registry) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, registry).unwrap();
        text
    }

    #[tokio::test]
    async fn a_stop_sends_what_waits() {
        let kept = Arc::default();
        let (traces, registry) = start(&kept, 1.0);
        let span = traces.begin(SpanKind::Server, "above", None);
        let context = span.context().unwrap();
        assert!(context.sampled && current().is_none());
        span.within(async {
            assert_eq!(current(), Some(context));
            let carried = tokio::spawn(carried(async { current() })).await.unwrap();
            assert_eq!(carried, Some(context));
            let below = traces.begin(SpanKind::Client, "below", current());
            assert_eq!(below.context().unwrap().trace, context.trace);
        })
        .await;
        drop(span);
        traces.stop(Duration::from_secs(10)).await;
        assert_eq!(*kept.names.lock().unwrap(), ["below", "above"]);
        assert!(figures(&registry).contains("trace_spans_sent_total 2"), "{}", figures(&registry));
    }

    #[tokio::test]
    async fn what_a_dead_collector_does_not_take_is_dropped_and_counted() {
        let kept = Arc::new(Kept { closed: AtomicBool::new(true), ..Kept::default() });
        let (traces, registry) = start(&kept, 1.0);
        for _ in 0..QUEUE + BATCH {
            drop(traces.begin(SpanKind::Internal, "lost", None));
        }
        traces.stop(Duration::from_secs(30)).await;
        let (all, figures) = (QUEUE + BATCH, figures(&registry));
        assert!(figures.contains(&format!("trace_spans_dropped_total {all}")), "{figures}");
        assert!(figures.contains("trace_spans_sent_total 0"), "{figures}");
    }

    #[tokio::test]
    async fn a_trace_that_is_not_recorded_keeps_its_name() {
        let kept = Arc::default();
        let (traces, _) = start(&kept, 0.0);
        let of_somebody = TraceContext { trace: 7, span: 8, sampled: true };
        let (own, asked) = (
            traces.begin(SpanKind::Server, "own", None),
            traces.begin(SpanKind::Server, "asked", Some(of_somebody)),
        );
        assert_eq!(own.context().map(|own| own.sampled), Some(false));
        assert_eq!(asked.context().map(|asked| (asked.trace, asked.sampled)), Some((7, true)));
        drop((own, asked));
        traces.stop(Duration::from_secs(10)).await;
        assert_eq!(*kept.names.lock().unwrap(), ["asked"]);
    }

    #[test]
    fn without_traces_nothing_is_made() {
        let traces = Traces::default();
        assert!(!traces.on());
        assert_eq!(traces.begin(SpanKind::Server, "nothing", None).context(), None);
    }
}

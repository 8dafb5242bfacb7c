//! Tracing: the collector that the settings name, and the store's transactions as spans.

use std::sync::Arc;

use domain::trace::TraceContext;
use prometheus_client::registry::Registry;
use store::db::{TxReport, TxSpan, TxTracer};

use crate::config::Config;
use crate::runtime::traces::{Collector, Sending, Settings, Span, SpanKind, Traces, current};

/// The client of the collector.
struct Way(providers::collector::Collector);

impl Collector for Way {
    fn send(&self, request: Vec<u8>) -> Sending {
        let collector = self.0.clone();
        Box::pin(async move { collector.send(request).await })
    }
}

/// The client of the collector that the settings name, if any.
///
/// # Errors
/// The setting that is invalid, and why.
pub fn collector(config: &Config) -> Result<Option<providers::collector::Collector>, String> {
    let new = |wanted: &crate::config::Traces| {
        providers::collector::Collector::new(&wanted.endpoint, wanted.authorization.as_deref())
    };
    config.traces.as_ref().map(new).transpose()
}

/// Starts tracing as configured; without a collector it is off.
///
/// # Errors
/// The setting that is invalid, and why.
pub fn start(
    config: &Config,
    instance: &str,
    store: &store::Store,
    registry: &mut Registry,
) -> Result<Traces, String> {
    let (Some(wanted), Some(collector)) = (&config.traces, collector(config)?) else {
        return Ok(Traces::default());
    };
    let settings = Settings {
        service_name: wanted.service_name.clone(),
        instance: instance.to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        sample_ratio: wanted.sample_ratio,
    };
    let traces = Traces::start(settings, Arc::new(Way(collector)), registry);
    let engine = if store.shared() { "postgresql" } else { "sqlite" };
    store.trace_with(Arc::new(Transactions { traces: traces.clone(), engine }));
    Ok(traces)
}

/// Follows the transactions of requests and dials.
struct Transactions {
    traces: Traces,
    engine: &'static str,
}

impl TxTracer for Transactions {
    fn begin(&self) -> Option<Box<dyn TxSpan>> {
        // What no span asks for, such as the rounds of jobs, would be traces of no interest.
        let parent = current()?;
        let mut span = self.traces.begin(SpanKind::Client, "transaction", Some(parent));
        span.set("db.system.name", self.engine);
        let context = span.context()?;
        Some(Box::new(Transaction { span, context }))
    }
}

struct Transaction {
    span: Span,
    context: TraceContext,
}

impl TxSpan for Transaction {
    fn context(&self) -> TraceContext {
        self.context
    }

    fn end(mut self: Box<Self>, report: TxReport) {
        self.span.set("dastak.transaction.stored", report.stored);
        self.span.set("dastak.transaction.runs", i64::from(report.runs));
        let waited = i64::try_from(report.waited.as_micros()).unwrap_or(i64::MAX);
        self.span.set("dastak.transaction.waited_us", waited);
    }
}

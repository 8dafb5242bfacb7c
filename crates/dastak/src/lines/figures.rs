//! Figures of telephone lines and of the providers of speech and language, read when they are asked for
//! `/metrics`.

use std::fmt;
use std::sync::{Arc, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use providers::chain::Set;

use super::live::Lines;

/// What lines and providers are doing.
pub struct LineFigures {
    lines: Weak<Lines>,
}

impl LineFigures {
    /// The figures of these lines, for as long as there are any.
    pub fn of(lines: &Arc<Lines>) -> Self {
        Self { lines: Arc::downgrade(lines) }
    }
}

impl fmt::Debug for LineFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineFigures")
    }
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: usize) -> fmt::Result {
    let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}

impl Collector for LineFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(lines) = self.lines.upgrade() else { return Ok(()) };
        let e = &mut encoder;
        gauge(e, "calls_held", "Calls that this node holds", lines.lock().len())?;
        crate::sip_trunks::encode_metrics(e, lines.trunks.as_deref())
    }
}

/// What is asked of providers, and how they answer.
pub struct ProviderFigures(pub Set);

impl fmt::Debug for ProviderFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProviderFigures")
    }
}

impl Collector for ProviderFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let figures = self.0.figures();
        let mut asked = encoder.encode_descriptor(
            "provider_requests",
            "Conversations, sentences or turns begun with a provider",
            None,
            prometheus_client::metrics::MetricType::Counter,
        )?;
        for figure in &figures {
            let labels = [("role", figure.role.label()), ("provider", figure.provider.as_str())];
            ConstCounter::new(figure.asked).encode(asked.encode_family(&labels)?)?;
        }
        let mut faults = encoder.encode_descriptor(
            "provider_faults",
            "Failures of a provider by kind",
            None,
            prometheus_client::metrics::MetricType::Counter,
        )?;
        for figure in &figures {
            for (fault, count) in &figure.faults {
                let kind = format!("{fault:?}");
                let labels = [
                    ("role", figure.role.label()),
                    ("provider", figure.provider.as_str()),
                    ("kind", kind.as_str()),
                ];
                ConstCounter::new(*count).encode(faults.encode_family(&labels)?)?;
            }
        }
        let mut open = encoder.encode_descriptor(
            "provider_passed_over",
            "Whether a provider is passed over because it kept failing",
            None,
            prometheus_client::metrics::MetricType::Gauge,
        )?;
        for figure in &figures {
            let labels = [("role", figure.role.label()), ("provider", figure.provider.as_str())];
            ConstGauge::new(i64::from(figure.open)).encode(open.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

//! Traces (`docs/operating/traces.md`).

use domain::secret::Secret;

use super::Values;

/// The trace collector, and what is sampled.
#[derive(Debug, Clone)]
pub struct Traces {
    /// The collector, without `/v1/traces`.
    pub endpoint: String,
    /// Value of the header `Authorization` for the collector.
    pub authorization: Option<Secret>,
    /// `service.name` of the spans.
    pub service_name: String,
    /// Sampled share of the traces that begin here, from 0 to 1.
    pub sample_ratio: f64,
}

/// Reads and checks the settings; `None` when there is no collector.
pub(super) fn read(values: &Values) -> Result<Option<Traces>, String> {
    let text = values.text("traces.sample_ratio")?;
    let sample_ratio = text
        .parse()
        .ok()
        .filter(|ratio| (0.0..=1.0).contains(ratio))
        .ok_or_else(|| format!("traces.sample_ratio: found «{text}»; allowed: a number from 0 to 1"))?;
    let service_name = values.text("traces.service_name")?;
    if service_name.trim().is_empty() {
        return Err(format!("traces.service_name: found «{service_name}»; allowed: a name"));
    }
    let authorization = values.some_text("traces.authorization")?.map(Secret::from);
    let Some(endpoint) = values.some_text("traces.otlp_endpoint")? else { return Ok(None) };
    ::providers::http::Base::parse(&endpoint).map_err(|why| format!("traces.otlp_endpoint: {why}"))?;
    Ok(Some(Traces { endpoint, authorization, service_name, sample_ratio }))
}

//! The two text formats of `/metrics`: OpenMetrics 1.0 where a client asks for it, Prometheus' own 0.0.4 otherwise.

use std::borrow::Cow;

/// A text format of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposition {
    /// Prometheus' text format, which every monitor reads.
    Prometheus,
    /// OpenMetrics.
    OpenMetrics,
}

impl Exposition {
    /// The format that a request's `Accept` header prefers; Prometheus' own when it says nothing of OpenMetrics, or likes
    /// both equally and does not say which version.
    #[must_use]
    pub fn accepted(accept: &str) -> Self {
        let weight = |wanted: &dyn Fn(&str) -> bool| {
            accept
                .split(',')
                .filter_map(|range| {
                    let mut parts = range.split(';').map(str::trim);
                    let kind = parts.next().filter(|kind| wanted(&kind.to_ascii_lowercase()))?;
                    let quality = parts
                        .find_map(|part| part.strip_prefix("q="))
                        .map_or(Some(1.0), |q| q.parse::<f64>().ok());
                    (!kind.is_empty()).then_some(quality?)
                })
                .fold(0.0, f64::max)
        };
        let open = weight(&|kind| kind == "application/openmetrics-text");
        let plain = weight(&|kind| kind == "text/plain");
        if open > 0.0 && open >= plain { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// Value of the answer's `Content-Type`.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// A text in OpenMetrics in this format.
    #[must_use]
    pub fn of(self, open_metrics: String) -> String {
        match self {
            Self::OpenMetrics => open_metrics,
            Self::Prometheus => to_prometheus(&open_metrics),
        }
    }
}

/// OpenMetrics names a counter without the `_total` of its samples, has a line for the unit, and ends in `# EOF`; in
/// Prometheus' format a family has the name of its samples.
fn to_prometheus(open_metrics: &str) -> String {
    let mut out = String::with_capacity(open_metrics.len());
    // The help of a family comes before its type, which says what its name is.
    let mut help: Option<&str> = None;
    for line in open_metrics.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = Some(rest);
            continue;
        }
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            let (name, kind): (Cow<'_, str>, _) = match kind {
                "counter" => (format!("{name}_total").into(), kind),
                "info" => (format!("{name}_info").into(), "gauge"),
                "stateset" => (name.into(), "gauge"),
                "unknown" => (name.into(), "untyped"),
                other => (name.into(), other),
            };
            if let Some((_, words)) = help.take().and_then(|help| help.split_once(' ')) {
                out.push_str(&format!("# HELP {name} {words}\n"));
            }
            out.push_str(&format!("# TYPE {name} {kind}\n"));
            continue;
        }
        if !line.starts_with('#') {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monitor_gets_the_format_that_it_asks_for() {
        let prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        for (accept, format) in [
            (prometheus, Exposition::OpenMetrics),
            ("", Exposition::Prometheus),
            ("*/*", Exposition::Prometheus),
            ("text/plain", Exposition::Prometheus),
            ("text/plain;version=0.0.4;q=1, application/openmetrics-text;q=0.5", Exposition::Prometheus),
            ("application/openmetrics-text;q=0", Exposition::Prometheus),
            ("application/openmetrics-text; q=rubbish", Exposition::Prometheus),
            ("Application/OpenMetrics-Text; version=1.0.0", Exposition::OpenMetrics),
        ] {
            assert_eq!(Exposition::accepted(accept), format, "{accept}");
        }
    }

    #[test]
    fn a_counter_has_the_name_of_its_samples_in_prometheus_format() {
        let open = "# HELP a_calls Calls.\n# TYPE a_calls counter\na_calls_total{to=\"b\"} 3\n# HELP a_s Time.\n# TYPE a_s histogram\n# UNIT a_s seconds\na_s_sum 1.0\na_s_count 1\na_s_bucket{le=\"+Inf\"} 1\n# EOF\n";
        let expected = "# HELP a_calls_total Calls.\n# TYPE a_calls_total counter\na_calls_total{to=\"b\"} 3\n# HELP a_s Time.\n# TYPE a_s histogram\na_s_sum 1.0\na_s_count 1\na_s_bucket{le=\"+Inf\"} 1\n";
        assert_eq!(Exposition::Prometheus.of(open.to_owned()), expected);
        assert_eq!(Exposition::OpenMetrics.of(open.to_owned()), open);
    }
}

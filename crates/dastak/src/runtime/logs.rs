//! Structured logs on standard error. No secret and no personal data is ever logged: lines carry ids.

use tracing_subscriber::layer::SubscriberExt as _;

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The SIP stack writes whole messages at `info`, phone numbers and all: from it only warnings are taken.
fn quiet() -> tracing_subscriber::filter::FilterFn {
    tracing_subscriber::filter::filter_fn(|line| *line.level() <= tracing::Level::WARN || !line.target().starts_with("rsipstack"))
}

/// Starts logging; a second call does nothing.
pub fn start(format: Format, verbose: bool) {
    let level = if verbose { tracing::Level::DEBUG } else { tracing::Level::INFO };
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).with_target(false);
    let started = match format {
        Format::Text => tracing::subscriber::set_global_default(builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).finish().with(quiet())),
        Format::Json => tracing::subscriber::set_global_default(builder.json().flatten_event(true).finish().with(quiet())),
    };
    // Only a test process starts twice.
    drop(started);
}

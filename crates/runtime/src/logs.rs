//! Structured logs on standard error. No secret and no personal data is ever logged: lines carry ids.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts logging; a second call does nothing.
pub fn start(format: Format, verbose: bool) {
    let level = if verbose { tracing::Level::DEBUG } else { tracing::Level::INFO };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    // The SIP stack logs whole messages, which contain numbers.
    let wanted = Targets::new().with_default(level).with_target("rsipstack", LevelFilter::OFF);
    // The library of MCP logs arguments and answers of tools.
    let wanted = wanted.with_target("rmcp", LevelFilter::OFF);
    let started = match format {
        Format::Text => {
            let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
            tracing::subscriber::set_global_default(tracing_subscriber::registry().with(wanted).with(lines))
        }
        Format::Json => tracing::subscriber::set_global_default(
            tracing_subscriber::registry().with(wanted).with(lines.json().flatten_event(true)),
        ),
    };
    // Only a test process starts twice.
    drop(started);
}

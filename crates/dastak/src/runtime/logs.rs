//! Structured logs on standard error. No secret and no personal data is ever logged: lines carry ids.

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts logging; a second call does nothing.
pub fn start(format: Format, verbose: bool) {
    let level = if verbose { tracing::Level::DEBUG } else { tracing::Level::INFO };
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).with_target(false);
    let started = match format {
        Format::Text => tracing::subscriber::set_global_default(builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).finish()),
        Format::Json => tracing::subscriber::set_global_default(builder.json().flatten_event(true).finish()),
    };
    // Only a test process starts twice.
    drop(started);
}

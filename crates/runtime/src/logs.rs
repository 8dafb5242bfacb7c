//! Structured logs on standard error. No secret and no personal data is ever logged: lines carry ids.

use std::sync::OnceLock;

use tracing::Level;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload;

/// Target of the line that each request writes.
pub const REQUESTS: &str = "requests";

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    /// One JSON object a line.
    Json,
}

/// Which lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The least level.
    pub level: Level,
    /// Whether each request writes a line; at [`Level::DEBUG`] it does in any case.
    pub requests: bool,
}

impl Wanted {
    fn targets(self) -> Targets {
        let requests = self.requests || self.level >= Level::DEBUG;
        // The SIP stack logs whole messages, which contain numbers.
        Targets::new()
            .with_default(self.level)
            .with_target(REQUESTS, if requests { LevelFilter::INFO } else { LevelFilter::OFF })
            .with_target("rsipstack", LevelFilter::OFF)
            // The library of MCP logs arguments and answers of tools.
            .with_target("rmcp", LevelFilter::OFF)
    }
}

static TARGETS: OnceLock<reload::Handle<Targets, Registry>> = OnceLock::new();

/// Starts logging; a second call does nothing.
pub fn start(format: Format, wanted: Wanted) {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let (targets, handle) = reload::Layer::new(wanted.targets());
    let lines_of = tracing_subscriber::registry().with(targets);
    let started = match format {
        Format::Text => {
            let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
            tracing::subscriber::set_global_default(lines_of.with(lines))
        }
        Format::Json => {
            tracing::subscriber::set_global_default(lines_of.with(lines.json().flatten_event(true)))
        }
    };
    // Only a test process starts twice.
    if started.is_ok() {
        let _ = TARGETS.set(handle);
    }
}

/// Changes which lines are written from now on.
pub fn change(wanted: Wanted) {
    if let Some(targets) = TARGETS.get() {
        // It fails only when logging has ended.
        let _ = targets.reload(wanted.targets());
    }
}

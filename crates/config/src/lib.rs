//! Settings (docs/contract/operator.md#settings): built-in default, file, environment, flags, lowest to highest. One
//! table lists them; an invalid setting stops the start with its name, its value and what is allowed.

mod chats;
mod integrations;
mod limits;
mod network;
mod providers;
mod reference;
mod sign_in;
mod smtp;
mod table;
mod telephony;
#[cfg(test)]
mod tests;
mod traces;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use domain::secret::Secret;
use runtime::logs::{Format, Wanted};

pub use chats::Chats;
pub use limits::{Figures, Limits};
pub use network::Network;
pub use providers::{Providers, SPEECH_PROVIDERS};
pub use reference::reference;
pub use sign_in::OpenId;
pub use smtp::Smtp;
pub use table::{REREAD, SETTINGS, Setting};
pub use telephony::{Carrier, MachineAnswer, Telephony};
pub use traces::Traces;
pub use values::{CLIENT_VARIABLES, Values};

/// Effective settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// HTTP address.
    pub listen: String,
    /// Data folder.
    pub data: PathBuf,
    /// PostgreSQL connection string.
    pub database_url: Option<Secret>,
    /// PostgreSQL connections for writing.
    pub database_connections: usize,
    /// Certificates to trust for PostgreSQL.
    pub database_ca: Option<PathBuf>,
    /// Connection string of a read replica.
    pub database_replica_url: Option<Secret>,
    /// Whether nodes poll instead of using LISTEN and NOTIFY.
    pub database_polls: bool,
    /// Bearer token of the operator API; empty until the start has read or created it.
    pub operator_token: Secret,
    /// Master key in text form, if set.
    pub master_key: Option<Secret>,
    /// Base URL of links; empty until the address is known.
    pub public_url: String,
    /// Name in webhook headers.
    pub brand: String,
    /// Prefix of API keys.
    pub key_prefix: String,
    /// Certificate and key files of the listener.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Trusted proxies.
    pub network: Network,
    /// Who may read the metrics, besides the operator.
    pub figures: Figures,
    /// Limits of clients.
    pub limits: Limits,
    /// Grace of a shutdown.
    pub shutdown_grace: Duration,
    /// Clock skew against the database from which on the operator is warned.
    pub max_clock_skew: Duration,
    /// Form of log lines.
    pub log_format: Format,
    /// Which log lines are written.
    pub logs: Wanted,
    /// Whether the clock is manual.
    pub manual_clock: bool,
    /// The carrier of live calls, and its settings.
    pub telephony: Telephony,
    /// Speech, language models and storage.
    pub providers: Providers,
    /// File to which signed heads of the decision log are appended, and how often.
    pub head_file: Option<PathBuf>,
    /// Time between two heads of a chain there.
    pub head_interval: Duration,
    /// Days after which recordings are removed; 0 keeps them.
    pub recording_days: i64,
    /// Days after which calls expire; 0 keeps them.
    pub call_days: i64,
    /// Days after which documents of customers are removed; 0 keeps them.
    pub document_days: i64,
    /// Chats.
    pub chats: Chats,
    /// The mail server for e-mail notifications.
    pub smtp: Option<Smtp>,
    /// The identity provider over which people may sign in.
    pub openid: Option<OpenId>,
    /// The trace collector, if any.
    pub traces: Option<Traces>,
    /// Accept http:// and private webhook addresses.
    pub allow_insecure_webhooks: bool,
    /// Addresses of external systems.
    pub integrations: ::providers::settings::Integrations,
    /// Address of the messaging channel's Cloud API.
    pub cloud_api: ::providers::settings::CloudApi,
    /// Expected prices of the messaging channel's provider.
    pub channel_prices: domain::channel::preflight::Prices,
    /// Folder of the console's files in place of those in the binary, in `dastak dev`.
    pub console: Option<PathBuf>,
    /// Whether this is `dastak dev`.
    pub dev: bool,
    /// The program that extracts documents when it is called with `extract`: this one. Tests, which are another
    /// program, change it.
    pub extract_program: PathBuf,
}

/// The program of this process, also after its file was replaced by a newer one.
fn this_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { running } else { std::env::current_exe().unwrap_or_else(|_| "dastak".into()) }
}

/// The least level of log lines by its word in the table.
fn level(word: &str) -> tracing::Level {
    match word {
        "error" => tracing::Level::ERROR,
        "warn" => tracing::Level::WARN,
        "debug" => tracing::Level::DEBUG,
        _ => tracing::Level::INFO,
    }
}

/// Reads `calls.keep_days`. Events about calls, and what is written to connected systems, are kept for 30 days and would
/// outlive the calls.
fn call_days(values: &Values) -> Result<i64, String> {
    match values.number("calls.keep_days")? {
        days @ 1..30 => Err(format!("calls.keep_days: found {days}; allowed: 0, or 30 to 36500")),
        days => Ok(days),
    }
}

impl Values {
    /// Validates everything and builds the settings.
    pub fn config(&self, dev: bool) -> Result<Config, String> {
        let tls = match (self.some_text("tls_cert")?, self.some_text("tls_key")?) {
            (Some(cert), Some(key)) => Some((cert.into(), key.into())),
            (None, None) => None,
            (Some(_), None) => return Err("tls_key: missing; tls_cert and tls_key go together".into()),
            (None, Some(_)) => return Err("tls_cert: missing; tls_cert and tls_key go together".into()),
        };
        let key_prefix = self.text("key_prefix")?;
        if key_prefix.is_empty() || !key_prefix.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(format!("key_prefix: found «{key_prefix}»; allowed: letters and digits"));
        }
        let brand = self.text("brand")?;
        if brand.is_empty() || !brand.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(format!("brand: found «{brand}»; allowed: letters, digits and dashes"));
        }
        let operator_token = self.text("operator_token")?;
        if !operator_token.is_empty() && operator_token.len() < 16 {
            return Err(
                "operator_token: found a value that is too short; allowed: 16 characters and more".into()
            );
        }
        let replica = self.some_text("database_replica_url")?.map(Secret::from);
        if replica.is_some() && self.some_text("database_url")?.is_none() {
            return Err("database_replica_url: found without database_url, whose standby it is".into());
        }
        let console = self.some_text("console")?.map(PathBuf::from);
        if console.is_some() && !dev {
            return Err("console: found a folder; only `dastak dev` takes the console from one".into());
        }
        let connected = integrations::read(self, dev, self.text("clock")? == "manual")?;
        Ok(Config {
            listen: self.text("listen")?,
            data: self.text("data")?.into(),
            database_url: self.some_text("database_url")?.map(Secret::from),
            database_connections: usize::try_from(self.number("database_connections")?).unwrap_or(8),
            database_ca: self.some_text("database_ca")?.map(PathBuf::from),
            database_replica_url: replica,
            database_polls: self.text("database_wake")? == "poll",
            operator_token: operator_token.into(),
            master_key: self.some_text("master_key")?.map(Secret::from),
            public_url: network::read_public_url(&self.text("public_url")?)?,
            brand,
            key_prefix,
            tls,
            network: Network::parse(&self.list("trusted_proxies")?)?,
            figures: limits::read_figures(self)?,
            limits: limits::read(self)?,
            shutdown_grace: Duration::from_secs(u64::try_from(self.number("shutdown_grace")?).unwrap_or(20)),
            max_clock_skew: Duration::from_secs(self.number("max_clock_skew")?.unsigned_abs()),
            log_format: if self.text("log_format")? == "json" { Format::Json } else { Format::Text },
            logs: Wanted { level: level(&self.text("log_level")?), requests: self.flag("log_requests")? },
            manual_clock: self.text("clock")? == "manual",
            telephony: telephony::read(self)?,
            providers: providers::read(self)?,
            head_file: self.some_text("audit.head_file")?.map(PathBuf::from),
            head_interval: Duration::from_secs(self.number("audit.head_minutes")?.unsigned_abs() * 60),
            recording_days: self.number("recordings.keep_days")?,
            call_days: call_days(self)?,
            document_days: self.number("documents.keep_days")?,
            chats: chats::read(self)?,
            smtp: smtp::read(self)?,
            openid: sign_in::read(self)?,
            traces: traces::read(self)?,
            allow_insecure_webhooks: self.flag("webhooks.allow_insecure")?,
            cloud_api: integrations::cloud_api(self, connected.allow_insecure)?,
            channel_prices: integrations::channel_prices(self)?,
            integrations: connected,
            console,
            dev,
            extract_program: this_program(),
        })
    }
}

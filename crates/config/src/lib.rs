//! Settings (docs/contract/operator.md#settings): built-in default, file, environment, flags, lowest to
//! highest. One table says what exists; a wrong setting stops the start with its name, what was found and
//! what is allowed.

mod chats;
mod integrations;
mod limits;
mod providers;
mod smtp;
mod telephony;
#[cfg(test)]
mod tests;
mod traces;
mod values;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use domain::secret::Secret;
use ipnet::IpNet;

use runtime::logs::Format;

pub use chats::Chats;
pub use limits::{Figures, Limits};
pub use providers::{Providers, SPEECH_PROVIDERS};
pub use smtp::Smtp;
pub use telephony::{Carrier, MachineAnswer, Telephony};
pub use traces::Traces;
pub use values::Values;

/// What a setting holds.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Words(&'static [&'static str]),
    Number(i64, i64),
    Flag,
    List,
    /// A list of sections, each read by its own table.
    Sections,
}

/// A row of the table of settings.
#[derive(Debug)]
pub struct Setting {
    /// Dotted name, as in the file; `*` stands for a name that the operator chooses.
    pub name: &'static str,
    kind: Kind,
    /// Default, in text form; empty for none.
    pub default: &'static str,
    /// Whether its value is never shown.
    pub secret: bool,
    /// What it means.
    pub meaning: &'static str,
}

const fn setting(name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Setting {
    Setting { name, kind, default, secret: false, meaning }
}

const fn secret(name: &'static str, meaning: &'static str) -> Setting {
    Setting { name, kind: Kind::Text, default: "", secret: true, meaning }
}

/// Every setting.
pub const SETTINGS: &[Setting] = &[
    setting("listen", Kind::Text, "127.0.0.1:8080", "HTTP address; port 0 picks a free one"),
    setting(
        "data",
        Kind::Text,
        "./dastak-data",
        "folder of the embedded store, recordings, operator.token and master.key",
    ),
    secret(
        "database_url",
        "PostgreSQL instead of the embedded store; with ?sslmode=require over TLS, the certificate verified",
    ),
    setting(
        "database_connections",
        Kind::Number(1, 200),
        "8",
        "PostgreSQL connections for writing, and as many for reading",
    ),
    setting(
        "database_ca",
        Kind::Text,
        "",
        "certificates (PEM) to trust for PostgreSQL with sslmode=require, beside the well-known ones",
    ),
    secret(
        "database_replica_url",
        "a standby of that PostgreSQL, for analytics and other long reads that may be some seconds old; none: the primary",
    ),
    setting(
        "database_wake",
        Kind::Words(&["listen", "poll"]),
        "listen",
        "how nodes hear of each other: LISTEN and NOTIFY, or looks at short intervals for engines without them",
    ),
    secret(
        "operator_token",
        "bearer token of the operator API; made at the first start into <data>/operator.token",
    ),
    secret(
        "master_key",
        "32 bytes in base64 that protect stored secrets; made at the first start into <data>/master.key. Nodes that share a database share it",
    ),
    setting("public_url", Kind::Text, "", "base of links; default http://<listen>"),
    setting("brand", Kind::Text, "Service", "name in webhook headers and the API's title"),
    setting("key_prefix", Kind::Text, "dastak", "leading part of API keys"),
    setting(
        "tls_cert",
        Kind::Text,
        "",
        "certificate chain (PEM) of the listener; with tls_key, HTTPS instead of HTTP",
    ),
    setting("tls_key", Kind::Text, "", "private key (PEM) of the listener"),
    setting("trusted_proxies", Kind::List, "", "addresses or networks whose X-Forwarded-For is believed"),
    secret(
        "metrics_token",
        "bearer token for /metrics and the details of /readyz, for a monitor that is not to have the operator's",
    ),
    setting(
        "metrics_networks",
        Kind::List,
        "",
        "addresses or networks that see /metrics and the details of /readyz without a token",
    ),
    setting(
        "limits.connections",
        Kind::Number(1, 1_000_000),
        "10000",
        "HTTP connections at once; more are closed at once",
    ),
    setting(
        "limits.connections_per_address",
        Kind::Number(1, 1_000_000),
        "1000",
        "HTTP connections at once of one IPv4 address or IPv6 /64; trusted proxies have no such limit",
    ),
    setting(
        "limits.head_time",
        Kind::Number(1, 600),
        "15",
        "seconds that the head of a request may take, the wait for the next request included",
    ),
    setting("limits.body_time", Kind::Number(1, 600), "30", "seconds that the body of a request may take"),
    setting(
        "limits.answer_time",
        Kind::Number(1, 600),
        "30",
        "seconds after which a client that takes nothing of its answer is given up",
    ),
    setting(
        "limits.bodies_mb",
        Kind::Number(5, 100_000),
        "64",
        "megabytes of bodies in work at once; more are refused with 503",
    ),
    setting(
        "limits.bodies_mb_per_client",
        Kind::Number(5, 100_000),
        "16",
        "the same for one workspace; more are refused with 429",
    ),
    setting(
        "max_clock_skew",
        Kind::Number(1, 15),
        "5",
        "seconds by which the clock of this machine may differ from that of PostgreSQL before the operator is warned; leases of calls bear 30 between two nodes",
    ),
    setting(
        "shutdown_grace",
        Kind::Number(0, 600),
        "20",
        "seconds that requests and jobs get to finish on SIGTERM",
    ),
    setting("log_format", Kind::Words(&["text", "json"]), "text", "form of log lines on standard error"),
    setting(
        "clock",
        Kind::Words(&["real", "manual"]),
        "real",
        "manual: the clock stands still until told over /dev/clock; for tests only",
    ),
    setting(
        "telephony.carrier",
        Kind::Words(&["none", "sandbox", "sip"]),
        "none",
        "who dials live calls; with none a live placement answers 503",
    ),
    setting(
        "telephony.concurrent_calls",
        Kind::Number(0, 1_000_000),
        "500",
        "calls at once on the whole platform",
    ),
    setting(
        "telephony.may_dial_twice_after_failover",
        Kind::Flag,
        "false",
        "true lets trunks dial although PostgreSQL may forget what it has acknowledged (synchronous_commit is off or local, or no standby is synchronous): after a failover the same people may be called a second time",
    ),
    setting(
        "telephony.ring_timeout",
        Kind::Number(5, 180),
        "45",
        "seconds after which an unanswered dial is given up",
    ),
    setting(
        "telephony.max_duration",
        Kind::Number(10, 14_400),
        "1800",
        "seconds of talk after which the agent says goodbye",
    ),
    setting(
        "telephony.silence_prompt",
        Kind::Number(2, 60),
        "8",
        "seconds of silence after which the agent asks whether somebody is there",
    ),
    setting(
        "telephony.filler_after",
        Kind::Number(0, 30),
        "2",
        "seconds that a tool or a model may take before the agent says that it is looking; 0 never",
    ),
    setting(
        "telephony.machine_answer",
        Kind::Words(&["off", "hang_up", "leave_message"]),
        "hang_up",
        "what happens when an answering machine picks up; leave_message says telephony.machine_message after the beep",
    ),
    setting("telephony.machine_message", Kind::Text, "", "what is left on answering machines"),
    setting(
        "telephony.sandbox_lines",
        Kind::Number(0, 500),
        "8",
        "calls at once that the sandbox plays over SIP and RTP; those beyond go by its table alone",
    ),
    setting("telephony.sip.listen", Kind::Text, "0.0.0.0:5060", "UDP and TCP address of the SIP side"),
    setting(
        "telephony.sip.tls_listen",
        Kind::Text,
        "",
        "TLS address of the SIP side; with tls_cert and tls_key beside it",
    ),
    setting("telephony.sip.tls_cert", Kind::Text, "", "certificate chain (PEM) of the SIP side"),
    setting("telephony.sip.tls_key", Kind::Text, "", "private key (PEM) of the SIP side"),
    setting(
        "telephony.sip.tls_ca",
        Kind::Text,
        "",
        "certificates (PEM) to trust for TLS trunks, beside the well-known ones",
    ),
    setting(
        "telephony.sip.public_address",
        Kind::Text,
        "",
        "what SDP and Contact say behind NAT; default: the local address toward the trunk",
    ),
    setting("telephony.sip.rtp_ports", Kind::Text, "20000-29999", "first and last port of sound"),
    setting(
        "telephony.sip.response_timeout",
        Kind::Number(1, 25),
        "8",
        "seconds without any answer to an INVITE after which the dial counts as uncertain",
    ),
    setting(
        "telephony.sip.media_threads",
        Kind::Number(0, 64),
        "0",
        "threads that carry sound; 0: one for each core but one",
    ),
    setting(
        "telephony.sip.trunks",
        Kind::Sections,
        "",
        "the trunks, the preferred first; see docs/operating/trunks.md",
    ),
    setting(
        "speech.to_text",
        Kind::List,
        "offline",
        "recognisers in order of preference: sarvam, deepgram, elevenlabs, cartesia, openai, offline",
    ),
    setting(
        "speech.from_text",
        Kind::List,
        "offline",
        "voices in order of preference: sarvam, deepgram, elevenlabs, cartesia, openai, offline",
    ),
    setting(
        "speech.india_resident_only",
        Kind::Flag,
        "true",
        "use only providers that keep what they hear in India; without one live placements answer 503",
    ),
    setting("speech.*.base_url", Kind::Text, "", "address of the provider; its public one by default"),
    secret("speech.*.api_key", "credentials of the provider"),
    setting("speech.*.stt_model", Kind::Text, "", "recognition model"),
    setting("speech.*.tts_model", Kind::Text, "", "synthesis model"),
    setting("speech.*.voice", Kind::Text, "", "the provider's voice for agents whose voice is not its own"),
    setting(
        "speech.*.resident",
        Kind::Words(&["", "true", "false"]),
        "",
        "whether it keeps what it hears in India; by its address when empty",
    ),
    setting(
        "speech.*.timeout_ms",
        Kind::Number(100, 60_000),
        "5000",
        "longest wait for a connection, and for an answer once it is due",
    ),
    setting(
        "language_model.providers",
        Kind::List,
        "offline",
        "language models in order of preference: names of sections, and offline",
    ),
    setting(
        "language_model.*.base_url",
        Kind::Text,
        "",
        "OpenAI-compatible service, with the version: http://127.0.0.1:8000/v1",
    ),
    secret("language_model.*.api_key", "its credentials"),
    setting("language_model.*.model", Kind::Text, "", "its model"),
    setting(
        "language_model.*.vision",
        Kind::Flag,
        "false",
        "whether it sees pictures: documents that customers hand in are then read by it",
    ),
    setting("language_model.*.temperature", Kind::Text, "0.3", "sampling temperature, 0 to 2"),
    setting("language_model.*.max_tokens", Kind::Number(16, 32_000), "300", "most tokens of one turn"),
    setting(
        "language_model.*.resident",
        Kind::Words(&["", "true", "false"]),
        "",
        "whether it keeps what it reads in India; by its address when empty",
    ),
    setting(
        "language_model.*.timeout_ms",
        Kind::Number(100, 120_000),
        "8000",
        "longest wait for the first token, and between two",
    ),
    setting(
        "knowledge.embeddings.url",
        Kind::Text,
        "",
        "OpenAI-compatible service that makes vectors of texts, with the version: http://127.0.0.1:8000/v1; empty: searches go by words alone",
    ),
    setting(
        "knowledge.embeddings.model",
        Kind::Text,
        "",
        "its model; with another one all vectors are made anew",
    ),
    secret("knowledge.embeddings.api_key", "its credentials"),
    setting(
        "knowledge.embeddings.dimensions",
        Kind::Number(0, 4096),
        "0",
        "numbers of a vector that the service is asked for; 0: as many as the model makes",
    ),
    setting("knowledge.embeddings.batch", Kind::Number(1, 256), "32", "passages in one request"),
    setting(
        "knowledge.embeddings.resident",
        Kind::Words(&["", "true", "false"]),
        "",
        "whether it keeps what it reads in India; by its address when empty",
    ),
    setting(
        "knowledge.embeddings.timeout_ms",
        Kind::Number(100, 120_000),
        "30000",
        "longest wait for the vectors of one request; a question waits 150 ms at most",
    ),
    setting(
        "knowledge.embeddings.memory_mb",
        Kind::Number(1, 1_000_000),
        "256",
        "megabytes of vectors in memory; the bases that were asked last are kept",
    ),
    setting(
        "storage.kind",
        Kind::Words(&["files", "s3"]),
        "files",
        "where recordings are kept: <data>/recordings, or an S3-compatible bucket",
    ),
    setting("storage.endpoint", Kind::Text, "", "https:// address of the S3-compatible service"),
    setting("storage.region", Kind::Text, "ap-south-1", "region of its signature"),
    setting("storage.bucket", Kind::Text, "", "bucket"),
    secret("storage.access_key", "key id"),
    secret("storage.secret_key", "secret"),
    setting(
        "audit.head_file",
        Kind::Text,
        "",
        "file to which signed heads of the decision log are added as it grows; keep it outside this machine",
    ),
    setting(
        "audit.head_minutes",
        Kind::Number(1, 10_080),
        "60",
        "minutes between two heads of a chain in audit.head_file",
    ),
    setting(
        "recordings.keep_days",
        Kind::Number(0, 36_500),
        "0",
        "days after which recordings are removed; 0 keeps them",
    ),
    setting(
        "documents.keep_days",
        Kind::Number(0, 36_500),
        "0",
        "days after which documents of customers are removed, with their files and details; 0 keeps them",
    ),
    setting(
        "chats.idle_minutes",
        Kind::Number(1, 10_080),
        "30",
        "minutes without a message after which a chat ends by itself",
    ),
    setting("chats.max_hours", Kind::Number(1, 720), "24", "hours after which a chat ends in any case"),
    setting(
        "chats.replies",
        Kind::Number(1, 100_000),
        "2000",
        "replies in chats that a node writes at once; more messages are refused with 503",
    ),
    setting(
        "chats.replies_per_workspace",
        Kind::Number(1, 100_000),
        "240",
        "the same for one workspace; more are refused with 429",
    ),
    setting(
        "chats.keep_days",
        Kind::Number(0, 36_500),
        "0",
        "days after which chats that are over are deleted with their messages; 0 keeps them",
    ),
    secret(
        "smtp.url",
        "mail server for e-mail notifications: smtps://user:password@host:465, or smtp://…:587?tls=required; none: nothing is sent",
    ),
    setting("smtp.from", Kind::Text, "", "address that e-mail notifications come from"),
    setting(
        "traces.otlp_endpoint",
        Kind::Text,
        "",
        "collector of traces, OTLP over HTTP, without /v1/traces: http://127.0.0.1:4318; none: no traces",
    ),
    secret("traces.authorization", "value of the header Authorization for the collector of traces"),
    setting("traces.service_name", Kind::Text, "dastak", "service.name of the traces"),
    setting(
        "traces.sample_ratio",
        Kind::Text,
        "1",
        "share of the traces that begin here which is recorded, from 0 to 1; a client's own traceparent decides for its requests",
    ),
    setting(
        "webhooks.allow_insecure",
        Kind::Flag,
        "false",
        "accept http:// and private endpoint addresses; for development only",
    ),
    setting(
        "integrations.poll_seconds",
        Kind::Number(1, 86_400),
        "120",
        "seconds between two checks of a stream that is read from a spreadsheet, a CRM or a shop",
    ),
    setting(
        "integrations.timeout_ms",
        Kind::Number(100, 120_000),
        "30000",
        "longest wait for one answer of an outside system",
    ),
    setting(
        "integrations.allow_insecure",
        Kind::Flag,
        "false",
        "accept http:// and private addresses of outside systems; for tests and systems of your own",
    ),
    setting("integrations.hubspot.base_url", Kind::Text, "https://api.hubapi.com", "HubSpot"),
    setting(
        "integrations.salesforce.login_url",
        Kind::Text,
        "https://login.salesforce.com",
        "Salesforce's sign-in; its answer says where the rest is",
    ),
    setting(
        "integrations.zoho.accounts_url",
        Kind::Text,
        "https://accounts.zoho.in",
        "Zoho's sign-in; each region has one of its own",
    ),
    setting(
        "integrations.zoho.base_url",
        Kind::Text,
        "",
        "Zoho CRM; by the answer of the sign-in when empty",
    ),
    setting(
        "integrations.shopify.base_url",
        Kind::Text,
        "",
        "the shop's address; https://<shop>.myshopify.com when empty",
    ),
    setting(
        "integrations.google_sheets.base_url",
        Kind::Text,
        "https://sheets.googleapis.com",
        "Google Sheets",
    ),
    setting(
        "integrations.google_sheets.token_url",
        Kind::Text,
        "https://oauth2.googleapis.com/token",
        "where Google gives access tokens",
    ),
    setting(
        "chatapp.cloud.base_url",
        Kind::Text,
        "https://graph.facebook.com",
        "the messaging channel's Cloud API; what integrations.allow_insecure allows holds here, too",
    ),
    setting("chatapp.cloud.version", Kind::Text, "v25.0", "version of the Cloud API"),
    setting(
        "chatapp.cloud.timeout_ms",
        Kind::Number(100, 120_000),
        "20000",
        "longest wait for one answer of the Cloud API",
    ),
    setting(
        "chatapp.prices.currency",
        Kind::Text,
        "INR",
        "currency of the prices in the preflight of campaigns on the messaging channel",
    ),
    setting(
        "chatapp.prices.marketing",
        Kind::Text,
        "0.8631",
        "what the provider is expected to charge for a marketing template; not verified",
    ),
    setting(
        "chatapp.prices.utility",
        Kind::Text,
        "0.115",
        "what the provider is expected to charge for a utility template; not verified",
    ),
    setting(
        "chatapp.prices.authentication",
        Kind::Text,
        "0.115",
        "what the provider is expected to charge for an authentication template; not verified",
    ),
];

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
    /// Connection string of a standby for long reads.
    pub database_replica_url: Option<Secret>,
    /// Whether nodes go without LISTEN and NOTIFY.
    pub database_polls: bool,
    /// Bearer token of the operator API; empty until the start has read or made it.
    pub operator_token: Secret,
    /// Master key in text form, if set.
    pub master_key: Option<Secret>,
    /// Base of links; empty until the address is known.
    pub public_url: String,
    /// Name in webhook headers.
    pub brand: String,
    /// Leading part of API keys.
    pub key_prefix: String,
    /// Certificate and key files of the listener.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whom to believe about client addresses.
    pub network: Network,
    /// Who may see the figures, beside the operator.
    pub figures: Figures,
    /// What is allowed to those who connect.
    pub limits: Limits,
    /// How long a stop waits.
    pub shutdown_grace: Duration,
    /// Difference between this machine's clock and the database's from which on the operator is warned.
    pub max_clock_skew: Duration,
    /// Form of log lines.
    pub log_format: Format,
    /// Whether the clock stands still until told.
    pub manual_clock: bool,
    /// Who dials live calls, and how.
    pub telephony: Telephony,
    /// Speech, language models and storage.
    pub providers: Providers,
    /// File to which signed heads of the decision log are added, and how often.
    pub head_file: Option<PathBuf>,
    /// Time between two heads of a chain there.
    pub head_interval: Duration,
    /// Days after which recordings are removed; 0 keeps them.
    pub recording_days: i64,
    /// Days after which documents of customers are removed; 0 keeps them.
    pub document_days: i64,
    /// Chats.
    pub chats: Chats,
    /// Where e-mail notifications are handed in.
    pub smtp: Option<Smtp>,
    /// Where traces go; none without a collector.
    pub traces: Option<Traces>,
    /// Accept http:// and private webhook addresses.
    pub allow_insecure_webhooks: bool,
    /// Where outside systems are.
    pub integrations: ::providers::settings::Integrations,
    /// Where the messaging channel's Cloud API is.
    pub cloud_api: ::providers::settings::CloudApi,
    /// What the provider of the messaging channel is expected to charge.
    pub channel_prices: domain::channel::preflight::Prices,
    /// Whether this is `dastak dev`.
    pub dev: bool,
    /// The program that reads documents when it is called with `extract`: this one. Tests, which are another
    /// program, change it.
    pub extract_program: PathBuf,
}

/// The program of this process, also after its file was replaced by a newer one.
fn this_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { running } else { std::env::current_exe().unwrap_or_else(|_| "dastak".into()) }
}

/// Networks of trusted proxies.
#[derive(Debug, Clone, Default)]
pub struct Network(Vec<IpNet>);

impl Network {
    /// Reads addresses and networks such as `10.0.0.0/8`.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        Self::parse_setting("trusted_proxies", texts)
    }

    /// The same, for a setting of this name.
    fn parse_setting(name: &str, texts: &[String]) -> Result<Self, String> {
        let read = |text: &String| text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        texts
            .iter()
            .map(|text| {
                read(text).map_err(|_| {
                    format!("{name}: found «{text}», allowed are addresses and networks such as 10.0.0.0/8")
                })
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether an address belongs to one of the networks.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl Values {
    /// Checks everything and puts it together.
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
            public_url: self.text("public_url")?.trim_end_matches('/').to_owned(),
            brand,
            key_prefix,
            tls,
            network: Network::parse(&self.list("trusted_proxies")?)?,
            figures: limits::read_figures(self)?,
            limits: limits::read(self)?,
            shutdown_grace: Duration::from_secs(u64::try_from(self.number("shutdown_grace")?).unwrap_or(20)),
            max_clock_skew: Duration::from_secs(self.number("max_clock_skew")?.unsigned_abs()),
            log_format: if self.text("log_format")? == "json" { Format::Json } else { Format::Text },
            manual_clock: self.text("clock")? == "manual",
            telephony: telephony::read(self)?,
            providers: providers::read(self)?,
            head_file: self.some_text("audit.head_file")?.map(PathBuf::from),
            head_interval: Duration::from_secs(self.number("audit.head_minutes")?.unsigned_abs() * 60),
            recording_days: self.number("recordings.keep_days")?,
            document_days: self.number("documents.keep_days")?,
            chats: chats::read(self)?,
            smtp: smtp::read(self)?,
            traces: traces::read(self)?,
            allow_insecure_webhooks: self.flag("webhooks.allow_insecure")?,
            cloud_api: integrations::cloud_api(self, connected.allow_insecure)?,
            channel_prices: integrations::channel_prices(self)?,
            integrations: connected,
            dev,
            extract_program: this_program(),
        })
    }
}

//! The table of settings: every one that exists, what it holds, its default and what it means.

/// What a setting holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
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
    pub(crate) kind: Kind,
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

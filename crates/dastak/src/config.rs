//! Settings (`operating.md` «Commands»): built-in default, file, environment, flags, lowest to highest. One table says what exists; a wrong
//! setting stops the start with its name, what was found and what is allowed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::runtime::logs::Format;

/// What a setting holds.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Words(&'static [&'static str]),
    Number(i64, i64),
    Flag,
    List,
}

/// A row of the table of settings.
#[derive(Debug)]
pub struct Setting {
    /// Dotted name, as in the file.
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
    setting("data", Kind::Text, "./dastak-data", "folder of the embedded store, recordings, operator.token and master.key"),
    secret("database_url", "PostgreSQL instead of the embedded store; with ?sslmode=require over TLS, the certificate verified"),
    setting("database_connections", Kind::Number(1, 200), "8", "PostgreSQL connections for writing, and as many for reading"),
    setting("database_ca", Kind::Text, "", "certificates (PEM) to trust for PostgreSQL with sslmode=require, beside the well-known ones"),
    secret("operator_token", "bearer token of the operator API; made at the first start into <data>/operator.token"),
    secret(
        "master_key",
        "32 bytes in base64 that protect stored secrets; made at the first start into <data>/master.key. Nodes that share a database share it",
    ),
    setting("public_url", Kind::Text, "", "base of links; default http://<listen>"),
    setting("brand", Kind::Text, "Service", "name in webhook headers and the API's title"),
    setting("key_prefix", Kind::Text, "dastak", "leading part of API keys"),
    setting("tls_cert", Kind::Text, "", "certificate chain (PEM) of the listener; with tls_key, HTTPS instead of HTTP"),
    setting("tls_key", Kind::Text, "", "private key (PEM) of the listener"),
    setting("trusted_proxies", Kind::List, "", "addresses or networks whose X-Forwarded-For is believed"),
    setting("shutdown_grace", Kind::Number(0, 600), "20", "seconds that requests and jobs get to finish on SIGTERM"),
    setting("log_format", Kind::Words(&["text", "json"]), "text", "form of log lines on standard error"),
    setting("clock", Kind::Words(&["real", "manual"]), "real", "manual: the clock stands still until told over /dev/clock; for tests only"),
    setting("telephony.carrier", Kind::Words(&["none", "sandbox"]), "none", "who dials live calls; with none a live placement answers 503"),
    setting("telephony.concurrent_calls", Kind::Number(0, 1_000_000), "500", "calls at once on the whole platform"),
    setting("recordings.keep_days", Kind::Number(0, 36_500), "0", "days after which recordings are dropped; 0 keeps them for ever"),
    setting("webhooks.allow_insecure", Kind::Flag, "false", "accept http:// and private endpoint addresses; for development only"),
];

/// Effective settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// HTTP address.
    pub listen: String,
    /// Data folder.
    pub data: PathBuf,
    /// PostgreSQL connection string.
    pub database_url: Option<String>,
    /// PostgreSQL connections for writing.
    pub database_connections: usize,
    /// Certificates to trust for PostgreSQL.
    pub database_ca: Option<PathBuf>,
    /// Bearer token of the operator API; empty until the start has read or made it.
    pub operator_token: String,
    /// Master key in text form, if set.
    pub master_key: Option<String>,
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
    /// How long a stop waits.
    pub shutdown_grace: Duration,
    /// Form of log lines.
    pub log_format: Format,
    /// Whether the clock stands still until told.
    pub manual_clock: bool,
    /// Whether live calls go to the sandbox phone network; otherwise nowhere.
    pub sandbox_carrier: bool,
    /// Calls at once on the whole platform.
    pub concurrent_calls: i64,
    /// Days after which recordings are dropped; 0 for never.
    pub recordings_keep_days: i64,
    /// Accept http:// and private webhook addresses.
    pub allow_insecure_webhooks: bool,
    /// Whether this is `dastak dev`.
    pub dev: bool,
}

/// Networks of trusted proxies.
#[derive(Debug, Clone, Default)]
pub struct Network(Vec<(IpAddr, u8)>);

impl Network {
    /// Reads addresses and networks such as `10.0.0.0/8`.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        let read = |text: &String| {
            let (address, bits) = text.split_once('/').map_or((text.as_str(), None), |(address, bits)| (address, Some(bits)));
            let address: IpAddr = address.parse().ok()?;
            let width = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.map_or(Some(width), |bits| bits.parse().ok()).filter(|bits| *bits <= width)?;
            Some((address, bits))
        };
        texts
            .iter()
            .map(|text| read(text).ok_or_else(|| format!("trusted_proxies: found «{text}», allowed are addresses and networks such as 10.0.0.0/8")))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether an address belongs to a trusted proxy.
    pub fn trusts(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(four) => u128::from(four.to_bits()) << 96,
            IpAddr::V6(six) => six.to_bits(),
        };
        self.0.iter().any(|(network, length)| {
            network.is_ipv4() == address.is_ipv4() && (*length == 0 || (bits(*network) ^ bits(address)) >> (128 - u32::from(*length)) == 0)
        })
    }
}

/// Values by setting name, each with where it came from.
#[derive(Debug, Default, Clone)]
pub struct Values(BTreeMap<&'static str, (toml::Value, String)>);

fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

fn unknown(name: &str, source: &str) -> String {
    let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    format!("{name}: no such setting (found in {source}); allowed are {}", known.join(", "))
}

impl Values {
    /// Adds a TOML file, over what is there.
    pub fn add_file(&mut self, file: &std::path::Path) -> Result<(), String> {
        let source = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|why| format!("--config {source}: {why}"))?;
        let table: toml::Table = text.parse().map_err(|why| format!("{source}: {why}"))?;
        self.add_table("", table, &source)
    }

    fn add_table(&mut self, prefix: &str, table: toml::Table, source: &str) -> Result<(), String> {
        for (key, value) in table {
            let name = format!("{prefix}{key}");
            match value {
                toml::Value::Table(inner) if find(&name).is_none() => self.add_table(&format!("{name}."), inner, source)?,
                value => {
                    let setting = find(&name).ok_or_else(|| unknown(&name, source))?;
                    self.0.insert(setting.name, (value, source.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Adds `DASTAK_…` variables, over what is there; two underscores step into a section.
    pub fn add_environment(&mut self, variables: impl Iterator<Item = (String, String)>) -> Result<(), String> {
        for (variable, text) in variables {
            let Some(rest) = variable.strip_prefix("DASTAK_") else { continue };
            self.add_text(&rest.to_lowercase().replace("__", "."), text, &format!("the environment variable {variable}"))?;
        }
        Ok(())
    }

    /// Adds one value in text form, over what is there.
    pub fn add_text(&mut self, name: &str, text: String, source: &str) -> Result<(), String> {
        let setting = find(name).ok_or_else(|| unknown(name, source))?;
        self.0.insert(setting.name, (from_text(setting.kind, text), source.to_owned()));
        Ok(())
    }

    /// Sets a default of its own, below everything that was said.
    pub fn default_to(&mut self, name: &'static str, text: &str) {
        if let Some(setting) = find(name) {
            self.0.entry(name).or_insert_with(|| (from_text(setting.kind, text.to_owned()), "the defaults of `dastak dev`".into()));
        }
    }

    fn value(&self, name: &str) -> Result<toml::Value, String> {
        let setting = find(name).ok_or_else(|| unknown(name, "the program"))?;
        let Some((value, source)) = self.0.get(name) else { return Ok(from_text(setting.kind, setting.default.to_owned())) };
        let allowed = match (setting.kind, value) {
            (Kind::Text, toml::Value::String(_)) | (Kind::Flag, toml::Value::Boolean(_)) => None,
            (Kind::Text, _) => Some("text".to_owned()),
            (Kind::Words(words), toml::Value::String(text)) if words.contains(&text.as_str()) => None,
            (Kind::Words(words), _) => Some(words.join(", ")),
            (Kind::Number(min, max), toml::Value::Integer(number)) if (min..=max).contains(number) => None,
            (Kind::Number(min, max), _) => Some(format!("a whole number from {min} to {max}")),
            (Kind::Flag, _) => Some("true, false".to_owned()),
            (Kind::List, toml::Value::Array(items)) if items.iter().all(toml::Value::is_str) => None,
            (Kind::List, _) => Some("a list of texts".to_owned()),
        };
        match allowed {
            None => Ok(value.clone()),
            Some(allowed) => {
                let found = if setting.secret { "a value that is not shown".to_owned() } else { value.to_string() };
                Err(format!("{name}: found {found} in {source}; allowed: {allowed}"))
            }
        }
    }

    fn text(&self, name: &str) -> Result<String, String> {
        Ok(self.value(name)?.as_str().unwrap_or_default().to_owned())
    }

    fn some_text(&self, name: &str) -> Result<Option<String>, String> {
        Ok(Some(self.text(name)?).filter(|text| !text.is_empty()))
    }

    fn number(&self, name: &str) -> Result<i64, String> {
        Ok(self.value(name)?.as_integer().unwrap_or_default())
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        Ok(self.value(name)?.as_bool().unwrap_or_default())
    }

    fn list(&self, name: &str) -> Result<Vec<String>, String> {
        Ok(self.value(name)?.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect())
    }

    /// The effective settings as TOML, secrets masked.
    pub fn print(&self) -> Result<String, String> {
        let mut root = toml::Table::new();
        for setting in SETTINGS {
            let value = self.value(setting.name)?;
            let empty = value.as_str().is_some_and(str::is_empty);
            let shown = if setting.secret && !empty { toml::Value::String("********".into()) } else { value };
            let mut table = &mut root;
            let mut name = setting.name;
            while let Some((section, rest)) = name.split_once('.') {
                let inner = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
                let Some(inner) = inner.as_table_mut() else { return Err(format!("{section}: not a section")) };
                table = inner;
                name = rest;
            }
            table.insert(name.to_owned(), shown);
        }
        toml::to_string(&root).map_err(|why| why.to_string())
    }

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
            return Err("operator_token: found a value that is too short; allowed: 16 characters and more".into());
        }
        Ok(Config {
            listen: self.text("listen")?,
            data: self.text("data")?.into(),
            database_url: self.some_text("database_url")?,
            database_connections: usize::try_from(self.number("database_connections")?).unwrap_or(8),
            database_ca: self.some_text("database_ca")?.map(PathBuf::from),
            operator_token,
            master_key: self.some_text("master_key")?,
            public_url: self.text("public_url")?.trim_end_matches('/').to_owned(),
            brand,
            key_prefix,
            tls,
            network: Network::parse(&self.list("trusted_proxies")?)?,
            shutdown_grace: Duration::from_secs(u64::try_from(self.number("shutdown_grace")?).unwrap_or(20)),
            log_format: if self.text("log_format")? == "json" { Format::Json } else { Format::Text },
            manual_clock: self.text("clock")? == "manual",
            sandbox_carrier: self.text("telephony.carrier")? == "sandbox",
            concurrent_calls: self.number("telephony.concurrent_calls")?,
            recordings_keep_days: self.number("recordings.keep_days")?,
            allow_insecure_webhooks: self.flag("webhooks.allow_insecure")?,
            dev,
        })
    }
}

fn from_text(kind: Kind, text: String) -> toml::Value {
    match kind {
        Kind::Number(..) => text.parse().map_or(toml::Value::String(text), toml::Value::Integer),
        Kind::Flag => text.parse().map_or(toml::Value::String(text), toml::Value::Boolean),
        Kind::List => {
            toml::Value::Array(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(|item| toml::Value::String(item.into())).collect())
        }
        Kind::Text | Kind::Words(_) => toml::Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Values {
        let mut values = Values::default();
        values.add_environment(pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))).unwrap();
        values
    }

    #[test]
    fn flags_win_over_environment_over_file_over_default() {
        let folder = std::env::temp_dir().join(format!("dastak-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("dastak.toml");
        std::fs::write(&file, "brand = \"File\"\nkey_prefix = \"file\"\nlisten = \"f:1\"\n[telephony]\ncarrier = \"sandbox\"\n").unwrap();
        let mut values = Values::default();
        values.add_file(&file).unwrap();
        values.add_environment([("DASTAK_BRAND".to_owned(), "Env".to_owned()), ("DASTAK_LISTEN".to_owned(), "e:1".to_owned())].into_iter()).unwrap();
        values.add_text("listen", "flag:1".into(), "--listen").unwrap();
        let config = values.config(false).unwrap();
        assert_eq!((config.listen.as_str(), config.brand.as_str(), config.key_prefix.as_str()), ("flag:1", "Env", "file"));
        assert!(config.sandbox_carrier);
        assert_eq!(config.concurrent_calls, 500);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_wrong_setting_says_its_name_what_was_found_and_what_is_allowed() {
        for (name, text, expected) in [
            ("DASTAK_CLOCK", "fast", "clock: found \"fast\" in the environment variable DASTAK_CLOCK; allowed: real, manual"),
            (
                "DASTAK_TELEPHONY__CONCURRENT_CALLS",
                "many",
                "telephony.concurrent_calls: found \"many\" in the environment variable DASTAK_TELEPHONY__CONCURRENT_CALLS; allowed: a whole number from 0 to 1000000",
            ),
            ("DASTAK_TRUSTED_PROXIES", "10.0.0.0/99", "trusted_proxies: found «10.0.0.0/99», allowed are addresses and networks such as 10.0.0.0/8"),
            ("DASTAK_TLS_CERT", "a.pem", "tls_key: missing; tls_cert and tls_key go together"),
        ] {
            assert_eq!(environment(&[(name, text)]).config(false).unwrap_err(), expected);
        }
        let strange = Values::default().add_environment([("DASTAK_CLOK".to_owned(), "x".to_owned())].into_iter()).unwrap_err();
        assert!(strange.starts_with("clok: no such setting (found in the environment variable DASTAK_CLOK)"), "{strange}");
    }

    #[test]
    fn printed_settings_mask_secrets() {
        let text = environment(&[("DASTAK_OPERATOR_TOKEN", "0123456789abcdef")]).print().unwrap();
        assert!(text.contains("operator_token = \"********\"") && !text.contains("0123456789abcdef"), "{text}");
    }
}

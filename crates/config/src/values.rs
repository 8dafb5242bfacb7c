//! Values of settings from all sources, by name: validation, precedence, and printing.

use std::collections::BTreeMap;

use domain::nearest::nearest;

use crate::table::Kind;
use crate::{SETTINGS, Setting, telephony};

/// Values by setting name, each with its source.
#[derive(Default, Clone)]
pub struct Values(BTreeMap<String, (toml::Value, String)>);

/// Names only: a value may be a secret, also one in a section of a list.
impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

fn find(name: &str) -> Option<&'static Setting> {
    let plain = |setting: &&Setting| setting.name == name;
    SETTINGS.iter().find(plain).or_else(|| SETTINGS.iter().find(|setting| fits(setting.name, name)))
}

/// Whether a name matches a row with a `*` in it.
fn fits(row: &str, name: &str) -> bool {
    let Some((before, after)) = row.split_once('*') else { return false };
    let chosen = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap_or_default();
    !chosen.is_empty()
        && chosen.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Variables of the command line's commands for clients (docs/cli.md#environment), of the SDKs and of the shell in which `demo.env`
/// was read. They share their beginning with the settings and are none.
pub const CLIENT_VARIABLES: [&str; 4] = ["DASTAK_API_KEY", "DASTAK_BASE_URL", "DASTAK_PROFILE", "DASTAK_URL"];

fn unknown(name: &str, source: &str) -> String {
    // A row with a `*` is compared as if it had the section that was chosen.
    let known: Vec<String> = SETTINGS
        .iter()
        .map(|setting| match setting.name.split_once('*') {
            None => setting.name.to_owned(),
            Some((before, after)) => {
                let chosen = name.strip_prefix(before).and_then(|rest| rest.split('.').next());
                format!("{before}{}{after}", chosen.filter(|chosen| !chosen.is_empty()).unwrap_or("NAME"))
            }
        })
        .collect();
    let meant = match nearest(name, known.iter().map(String::as_str)) {
        Some(meant) if source.contains(VARIABLE) => {
            format!("did you mean {meant} (DASTAK_{})?", meant.replace('.', "__").to_uppercase())
        }
        Some(meant) => format!("did you mean {meant}?"),
        None => "`dastak serve --print-config` shows all".to_owned(),
    };
    format!("{name}: no such setting (found in {source}); {meant}")
}

/// How the source of a variable begins.
const VARIABLE: &str = "the environment variable ";

fn find_or_unknown(name: &str, source: &str) -> Result<&'static Setting, String> {
    find(name).ok_or_else(|| unknown(name, source))
}

impl Values {
    /// Adds a TOML file, overriding earlier values.
    pub fn add_file(&mut self, file: &std::path::Path) -> Result<(), String> {
        let source = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|why| format!("settings file {source}: {why}"))?;
        self.add_toml(&text, &source)
    }

    /// Adds the text of a TOML file, overriding earlier values.
    pub fn add_toml(&mut self, text: &str, source: &str) -> Result<(), String> {
        let table: toml::Table = text.parse().map_err(|why| format!("{source}: {why}"))?;
        self.add_table("", table, source)
    }

    fn add_table(&mut self, prefix: &str, table: toml::Table, source: &str) -> Result<(), String> {
        for (key, value) in table {
            let name = format!("{prefix}{key}");
            match value {
                toml::Value::Table(inner) if find(&name).is_none() => {
                    self.add_table(&format!("{name}."), inner, source)?
                }
                value => {
                    find_or_unknown(&name, source)?;
                    self.0.insert(name, (value, source.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Adds `DASTAK_…` variables, overriding earlier values; two underscores step into a section. Those of clients are passed over.
    pub fn add_environment(
        &mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<(), String> {
        for (variable, text) in variables {
            let Some(rest) = variable.strip_prefix("DASTAK_") else { continue };
            // DASTAK_CONFIG names the settings file.
            if variable == "DASTAK_CONFIG" || CLIENT_VARIABLES.contains(&variable.as_str()) {
                continue;
            }
            self.add_text(&rest.to_lowercase().replace("__", "."), text, &format!("{VARIABLE}{variable}"))?;
        }
        Ok(())
    }

    /// Adds one value as text, overriding earlier values.
    pub fn add_text(&mut self, name: &str, text: String, source: &str) -> Result<(), String> {
        let setting = find_or_unknown(name, source)?;
        self.0.insert(name.to_owned(), (from_text(setting.kind, text), source.to_owned()));
        Ok(())
    }

    /// Whether a source has set it.
    pub fn is_set(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Names of settings whose effective values differ from those of `other`.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let fixed = SETTINGS.iter().map(|setting| setting.name.to_owned()).filter(|name| !name.contains('*'));
        let names: std::collections::BTreeSet<String> =
            fixed.chain(self.0.keys().cloned()).chain(other.0.keys().cloned()).collect();
        names.into_iter().filter(|name| self.value(name).ok() != other.value(name).ok()).collect()
    }

    /// Sets a default with the lowest priority.
    pub fn default_to(&mut self, name: &'static str, text: &str) {
        if let Some(setting) = find(name) {
            self.0.entry(name.to_owned()).or_insert_with(|| {
                (from_text(setting.kind, text.to_owned()), "the defaults of `dastak dev`".into())
            });
        }
    }

    pub(crate) fn value(&self, name: &str) -> Result<toml::Value, String> {
        let setting = find(name).ok_or_else(|| unknown(name, "the program"))?;
        let Some((value, source)) = self.0.get(name) else {
            return Ok(from_text(setting.kind, setting.default.to_owned()));
        };
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
            (Kind::Sections, toml::Value::Array(items)) if items.iter().all(toml::Value::is_table) => None,
            (Kind::Sections, _) => Some("a list of sections".to_owned()),
        };
        match allowed {
            None => Ok(value.clone()),
            Some(allowed) => {
                let found =
                    if setting.secret { "a value that is not shown".to_owned() } else { value.to_string() };
                Err(format!("{name}: found {found} in {source}; allowed: {allowed}"))
            }
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<String, String> {
        Ok(self.value(name)?.as_str().unwrap_or_default().to_owned())
    }

    pub(crate) fn some_text(&self, name: &str) -> Result<Option<String>, String> {
        Ok(Some(self.text(name)?).filter(|text| !text.is_empty()))
    }

    pub(crate) fn number(&self, name: &str) -> Result<i64, String> {
        Ok(self.value(name)?.as_integer().unwrap_or_default())
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        Ok(self.value(name)?.as_bool().unwrap_or_default())
    }

    pub(crate) fn list(&self, name: &str) -> Result<Vec<String>, String> {
        Ok(self
            .value(name)?
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect())
    }

    /// The parts of the rows with a `*` that are set, such as `openai` of `language_model.*.model`.
    pub(crate) fn chosen(&self, section: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.0.keys() {
            let Some((chosen, _)) = name
                .strip_prefix(section)
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.split_once('.'))
            else {
                continue;
            };
            if !names.iter().any(|known| known == chosen) {
                names.push(chosen.to_owned());
            }
        }
        names
    }

    /// The effective settings as TOML, secrets masked.
    pub fn print(&self) -> Result<String, String> {
        let mut root = toml::Table::new();
        let fixed = SETTINGS.iter().map(|setting| setting.name.to_owned()).filter(|name| !name.contains('*'));
        let names: std::collections::BTreeSet<String> = fixed.chain(self.0.keys().cloned()).collect();
        for name in &names {
            let setting = find_or_unknown(name, "the program")?;
            let value = self.value(name)?;
            let empty = value.as_str().is_some_and(str::is_empty);
            let shown = match value {
                _ if setting.secret && !empty => toml::Value::String("********".into()),
                toml::Value::Array(items) if matches!(setting.kind, Kind::Sections) => {
                    toml::Value::Array(items.into_iter().map(telephony::masked).collect())
                }
                value => value,
            };
            let mut table = &mut root;
            let mut name = name.as_str();
            while let Some((section, rest)) = name.split_once('.') {
                let inner = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
                let Some(inner) = inner.as_table_mut() else {
                    return Err(format!("{section}: not a section"));
                };
                table = inner;
                name = rest;
            }
            table.insert(name.to_owned(), shown);
        }
        toml::to_string(&root).map_err(|why| why.to_string())
    }
}

fn from_text(kind: Kind, text: String) -> toml::Value {
    match kind {
        Kind::Number(..) => text.parse().map_or(toml::Value::String(text), toml::Value::Integer),
        Kind::Flag => text.parse().map_or(toml::Value::String(text), toml::Value::Boolean),
        Kind::List => toml::Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| toml::Value::String(item.into()))
                .collect(),
        ),
        Kind::Sections if text.trim().is_empty() => toml::Value::Array(Vec::new()),
        // In an environment variable: [{name = "main", address = "sip.carrier.example"}]
        Kind::Sections => format!("it = {text}")
            .parse::<toml::Table>()
            .ok()
            .and_then(|mut table| table.remove("it"))
            .unwrap_or(toml::Value::String(text)),
        Kind::Text | Kind::Words(_) => toml::Value::String(text),
    }
}

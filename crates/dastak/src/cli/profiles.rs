//! Profiles of the commands for clients (docs/cli.md#profiles): the address of a service and a key for it, by name, in a file that
//! only its owner reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};
use domain::nearest::hint;
use providers::http::Base;
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::failed::Failed;
use crate::runtime::files;

/// The address of a service that `dastak dev` starts.
pub const LOCAL: &str = "http://127.0.0.1:8080";
/// Profiles in a file.
const MOST: usize = 100;
/// Bytes of the file.
const LARGEST: u64 = 256 * 1024;
/// Bytes of a file that holds a key.
const LARGEST_KEY_FILE: u64 = 4096;

/// The contents of `profiles.toml`: named services with their keys.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    /// The one that is used when nothing names another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, Profile>,
}

/// A service and a key for it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub base_url: String,
    pub key: String,
}

/// Without the key.
impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profile").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// `$XDG_CONFIG_HOME/dastak/profiles.toml`, by default in `~/.config`.
pub fn file() -> Result<PathBuf, Failed> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let configs = folder("XDG_CONFIG_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| Some(folder("HOME")?.join(".config")))
        .ok_or_else(|| Failed::usage("there is no HOME, so no profiles; set DASTAK_API_KEY"))?;
    Ok(configs.join("dastak").join("profiles.toml"))
}

/// Refuses a file that others read, since it holds keys.
fn refuse_open(file: &Path, metadata: &std::fs::Metadata) -> Result<(), Failed> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(Failed::usage(format!(
                "{}: other users can read it (mode {mode:o}), and it holds keys; run `chmod 600 {}`, and replace the keys if somebody else may have them",
                file.display(),
                file.display()
            )));
        }
    }
    #[cfg(not(unix))]
    let _ = (file, metadata);
    Ok(())
}

impl Profiles {
    /// Reads the file; empty without one.
    pub fn read(file: &Path) -> Result<Self, Failed> {
        let failed = |why: String| Failed::usage(format!("{}: {why}", file.display()));
        let metadata = match std::fs::metadata(file) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(why) => return Err(failed(why.to_string())),
            Ok(metadata) => metadata,
        };
        refuse_open(file, &metadata)?;
        if metadata.len() > LARGEST {
            return Err(failed(format!("has more than {} KB", LARGEST / 1024)));
        }
        let text = std::fs::read_to_string(file).map_err(|why| failed(why.to_string()))?;
        toml::from_str(&text).map_err(|why| failed(why.message().to_owned()))
    }

    /// Replaces the file, mode 0600.
    pub fn write(&self, file: &Path) -> Result<(), Failed> {
        let failed = |why: String| Failed::from(format!("{}: {why}", file.display()));
        let text = toml::to_string(self).map_err(|why| failed(why.to_string()))?;
        if let Some(folder) = file.parent() {
            files::make_folder(folder).map_err(|why| failed(why.to_string()))?;
        }
        files::replace(file, text.as_bytes()).map_err(|why| failed(why.to_string()))
    }

    /// The profile with this name.
    pub fn find(&self, name: &str) -> Result<&Profile, Failed> {
        self.profiles.get(name).ok_or_else(|| {
            let meant = hint(name, self.profiles.keys().map(String::as_str));
            Failed::usage(format!("there is no profile {name}{meant}; `dastak profiles list` shows all"))
        })
    }

    /// Adds or replaces a profile; the first one is used from then on.
    pub fn add(&mut self, name: &str, profile: Profile) -> Result<(), Failed> {
        if name.is_empty()
            || name.len() > 64
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        {
            return Err(Failed::usage("a profile's name has 1 to 64 letters, digits, dots and dashes"));
        }
        if self.profiles.len() >= MOST && !self.profiles.contains_key(name) {
            return Err(Failed::usage(format!("there are {MOST} profiles; remove one first")));
        }
        Base::parse(&profile.base_url)
            .map_err(|why| Failed::usage(format!("{}: {why}", profile.base_url)))?;
        check_key(&profile.key)?;
        self.profiles.insert(name.to_owned(), profile);
        self.current.get_or_insert_with(|| name.to_owned());
        Ok(())
    }

    /// Removes a profile.
    pub fn remove(&mut self, name: &str) -> Result<(), Failed> {
        self.find(name)?;
        self.profiles.remove(name);
        if self.current.as_deref() == Some(name) {
            self.current = None;
        }
        Ok(())
    }
}

/// Refuses what cannot be a key, without repeating it.
pub fn check_key(key: &str) -> Result<(), Failed> {
    if key.is_empty() || key.len() > 512 || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failed::usage(
            "that is no API key: a key has up to 512 letters, digits and signs, without spaces",
        ));
    }
    Ok(())
}

/// A key from a file, or from standard input for `-`.
pub fn key_from(file: &str) -> Result<String, Failed> {
    use std::io::Read as _;
    let mut text = String::new();
    let read = if file == "-" {
        std::io::stdin().take(LARGEST_KEY_FILE).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|opened| opened.take(LARGEST_KEY_FILE).read_to_string(&mut text))
    };
    read.map_err(|why| Failed::usage(format!("{file}: {why}")))?;
    let key = text.trim();
    check_key(key)?;
    Ok(key.to_owned())
}

/// The service that a command calls, with which key, and where both are from.
pub struct Access {
    pub base_url: String,
    pub key: String,
    /// For messages: `the profile demo`.
    pub origin: String,
}

/// Ids of the options that choose the service and the key: no field of an operation has such an id.
const BASE_URL: &str = "@base-url";
const PROFILE: &str = "@profile";
const KEY_FILE: &str = "@key-file";
const KEY: &str = "@key";

/// `--base-url`, also `--url` unless the command has a field of that name.
fn base_url(has_url: bool) -> Arg {
    let base = Arg::new(BASE_URL)
        .long("base-url")
        .value_name("URL")
        .help("The service; default: that of the profile, else DASTAK_BASE_URL, else http://127.0.0.1:8080");
    if has_url { base } else { base.alias("url") }
}

/// Options that name the service and the token of one of its data streams.
pub fn stream_options(command: Command) -> Command {
    command
        .next_help_heading("The service and the token")
        .arg(base_url(false))
        .arg(
            Arg::new(KEY_FILE)
                .long("token-file")
                .value_name("FILE")
                .help("File that holds the token of the stream; - for standard input"),
        )
        .arg(
            Arg::new(KEY)
                .long("token")
                .value_name("TOKEN")
                .conflicts_with(KEY_FILE)
                .required_unless_present(KEY_FILE)
                .help("Token of the stream"),
        )
}

/// Options that choose the service and the key. `has_url`: the command has a field `--url` of its own.
pub fn options(command: Command, has_url: bool) -> Command {
    command
        .next_help_heading("The service and the key")
        .arg(base_url(has_url))
        .arg(Arg::new(PROFILE).long("profile").value_name("NAME").conflicts_with(KEY_FILE).help(
            "Profile of `dastak login`; default: DASTAK_PROFILE, else the one of `dastak profiles use`",
        ))
        .arg(
            Arg::new(KEY_FILE)
                .long("key-file")
                .value_name("FILE")
                .help("File that holds the API key; - for standard input"),
        )
}

/// `--key`, which other users of the machine can read while the command runs.
pub fn key_option(command: Command) -> Command {
    command.arg(
        Arg::new(KEY)
            .long("key")
            .value_name("KEY")
            .conflicts_with_all([KEY_FILE, PROFILE])
            .help("API key; a profile or --key-file keeps it out of the shell's history"),
    )
}

/// The service and the key of these options, the environment and the profiles (docs/cli.md#which-key). A profile's key goes to the
/// profile's address, unless `--base-url` names another.
pub fn access(matches: &ArgMatches) -> Result<Access, Failed> {
    let option = |id: &str| matches.try_get_one::<String>(id).ok().flatten().cloned();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let base_url = option(BASE_URL);
    let beside = |key: String, origin: &str| Access {
        base_url: base_url
            .clone()
            .or_else(|| variable("DASTAK_BASE_URL"))
            .unwrap_or_else(|| LOCAL.to_owned()),
        key,
        origin: origin.to_owned(),
    };
    if let Some(key) = option(KEY) {
        return Ok(beside(key, "--key"));
    }
    if let Some(file) = option(KEY_FILE) {
        return Ok(beside(key_from(&file)?, "--key-file"));
    }
    let chosen = option(PROFILE);
    if chosen.is_none()
        && let Some(key) = variable("DASTAK_API_KEY")
    {
        check_key(&key)?;
        return Ok(beside(key, "DASTAK_API_KEY"));
    }
    let profiles = Profiles::read(&file()?)?;
    let Some(name) = chosen.or_else(|| variable("DASTAK_PROFILE")).or_else(|| profiles.current.clone())
    else {
        return Err(Failed::usage(
            "there is no API key: `dastak login` stores one, DASTAK_API_KEY or --key-file names one; `dastak dev` prints two at its start",
        ));
    };
    let profile = profiles.find(&name)?;
    Ok(Access {
        base_url: base_url.unwrap_or_else(|| profile.base_url.clone()),
        key: profile.key.clone(),
        origin: format!("the profile {name}"),
    })
}

impl Access {
    /// A client for it.
    pub fn client(&self) -> Result<Client, Failed> {
        Client::new(&self.base_url, &self.key)
    }

    /// What to do when the key is refused.
    pub fn advice(&self) -> String {
        format!(
            "The key is that of {}, sent to {}. `dastak login` stores another one; --profile, --key-file or DASTAK_API_KEY chooses one.",
            self.origin, self.base_url
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(key: &str) -> Profile {
        Profile { base_url: LOCAL.into(), key: key.into() }
    }

    #[test]
    fn profiles_have_names_and_plain_keys() {
        let mut profiles = Profiles::default();
        profiles.add("demo", profile("dastak_test_abc")).unwrap();
        profiles.add("live", profile("dastak_live_abc")).unwrap();
        assert_eq!(profiles.current.as_deref(), Some("demo"));
        for (name, key) in [("", "k"), ("a b", "k"), ("a", ""), ("a", "k k"), ("a", "k\nk")] {
            let refused = profiles.add(name, profile(key)).unwrap_err();
            assert!(key.len() < 2 || !refused.message.contains(key), "{refused:?}");
        }
        assert!(profiles.find("demi").unwrap_err().message.contains("did you mean demo?"));
        profiles.remove("demo").unwrap();
        assert!(profiles.current.is_none() && profiles.profiles.len() == 1);
        assert!(!format!("{profiles:?}").contains("dastak_live_abc"));
    }

    #[test]
    fn there_is_a_ceiling() {
        let mut profiles = Profiles::default();
        for number in 0..MOST {
            profiles.add(&format!("p{number}"), profile("k")).unwrap();
        }
        profiles.add("p1", profile("other")).unwrap();
        assert!(profiles.add("more", profile("k")).unwrap_err().message.contains("remove one first"));
    }
}

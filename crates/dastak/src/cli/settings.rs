//! The settings of a command that is a service or works on its data: its options, the settings file, the environment.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::config::Values;

/// Name of the settings file where none is chosen.
const SETTINGS_FILE: &str = "dastak.toml";
/// The data folder where none is chosen.
const DATA: &str = "./dastak-data";

/// Settings that have a flag of their own.
const FLAGS: &[&str] = &["listen", "data", "database-url", "clock", "log-format"];

/// A command with the options of settings.
pub fn settings(command: Command) -> Command {
    let mut command = command
        .arg(
            Arg::new("config")
                .long("config")
                .value_name("FILE")
                .help("Settings file (TOML); default: DASTAK_CONFIG, else dastak.toml in the data folder, else in this one"),
        )
        .arg(
            Arg::new("verbose")
                .long("verbose")
                .short('v')
                .action(ArgAction::SetTrue)
                .help("As with log_level = \"debug\""),
        );
    for flag in FLAGS {
        let name = flag.replace('-', "_");
        let meaning = crate::config::SETTINGS
            .iter()
            .find(|setting| setting.name == name)
            .map_or("", |setting| setting.meaning);
        command = command.arg(Arg::new(*flag).long(*flag).value_name("VALUE").help(meaning));
    }
    command
}

/// The file of settings: that of `--config`, else of `DASTAK_CONFIG`, else `dastak.toml` of the data folder, else of the
/// working folder.
pub struct SettingsFile {
    pub path: PathBuf,
    /// Whether it was found in the data folder.
    pub in_data: bool,
}

impl SettingsFile {
    /// The file of this command line; none where nothing is chosen and nothing lies in either folder.
    pub fn find(matches: &ArgMatches) -> Result<Option<Self>, String> {
        let variable = |name| std::env::var(name).ok().filter(|text: &String| !text.is_empty());
        let chosen = matches.get_one::<String>("config").cloned().or_else(|| variable("DASTAK_CONFIG"));
        if let Some(path) = chosen {
            return Ok(Some(Self { path: path.into(), in_data: false }));
        }
        let data = matches.get_one::<String>("data").cloned().or_else(|| variable("DASTAK_DATA"));
        let data = PathBuf::from(data.unwrap_or_else(|| DATA.to_owned()));
        for (path, in_data) in [(data.join(SETTINGS_FILE), true), (PathBuf::from(SETTINGS_FILE), false)] {
            match path.metadata() {
                Ok(_) => return Ok(Some(Self { path, in_data })),
                Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                // One that cannot be looked at is not passed over.
                Err(why) => return Err(format!("settings file {}: {why}", path.display())),
            }
        }
        Ok(None)
    }

    fn read(&self, values: &mut Values) -> Result<(), String> {
        values.add_file(&self.path)?;
        if self.in_data && values.is_set("data") {
            return Err(format!(
                "data: found in {}, which lies in the data folder; say where that is with --data or DASTAK_DATA",
                self.path.display()
            ));
        }
        Ok(())
    }
}

/// Settings of this process: file, environment, flags; with the defaults of `dastak dev` for that.
pub fn read_values(
    name: &str,
    matches: &ArgMatches,
    file: Option<&SettingsFile>,
    dev: bool,
) -> Result<Values, String> {
    let mut values = Values::default();
    if let Some(file) = file {
        file.read(&mut values)?;
    }
    values.add_environment(std::env::vars())?;
    for flag in FLAGS {
        if let Some(text) = matches.get_one::<String>(flag) {
            values.add_text(&flag.replace('-', "_"), text.clone(), &format!("--{flag}"))?;
        }
    }
    if matches.get_flag("verbose") {
        values.add_text("log_level", "debug".into(), "--verbose")?;
    }
    if name == "dev"
        && let Some(folder) = matches.get_one::<String>("console")
    {
        values.add_text("console", folder.clone(), "--console")?;
    }
    if dev {
        values.default_to("telephony.carrier", "sandbox");
        values.default_to("webhooks.allow_insecure", "true");
    }
    Ok(values)
}

//! `dastak login` and `dastak profiles` (docs/cli.md#profiles).

use std::io::{BufRead, IsTerminal, Write};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;

use super::client::Client;
use super::failed::Failed;
use super::output::say;
use super::profiles::{LOCAL, Profile, Profiles, file, key_from};

/// The command `login`.
pub fn login_command() -> Command {
    adding(
        Command::new("login")
            .about("Store the address of a service and an API key for it as a profile, and check them")
            .long_about(
                "Store the address of a service and an API key for it as a profile, and check them.\n\n\
                 The key is asked for without showing it, or read from standard input; no option takes it, since other \
                 users of this machine see the options of running commands.",
            ),
        Arg::new("NAME").default_value("default").help("Name of the profile"),
    )
}

/// The command `profiles`.
pub fn profiles_command() -> Command {
    let name = || Arg::new("NAME").required(true).help("Name of the profile");
    Command::new("profiles")
        .about("Services and API keys of the commands for clients, by name")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(adding(Command::new("add").about("Add a profile, or replace it"), name()))
        .subcommand(
            Command::new("list")
                .about("All profiles, without their keys")
                .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("JSON for programs")),
        )
        .subcommand(Command::new("use").about("Use a profile from now on").arg(name()))
        .subcommand(Command::new("remove").about("Remove a profile with its key").arg(name()))
}

fn adding(command: Command, name: Arg) -> Command {
    command
        .arg(name)
        .arg(
            Arg::new("base-url")
                .long("base-url")
                .alias("url")
                .value_name("URL")
                .help("The service; asked for in a terminal, else http://127.0.0.1:8080"),
        )
        .arg(
            Arg::new("key-file")
                .long("key-file")
                .value_name("FILE")
                .help("File that holds the API key; default: ask in a terminal, else standard input"),
        )
        .arg(
            Arg::new("demo")
                .long("demo")
                .value_name("FILE")
                .num_args(0..=1)
                .default_missing_value("dastak-data/demo.env")
                .conflicts_with_all(["base-url", "key-file"])
                .help(
                    "Address and test key of the demo workspace, from the demo.env that `dastak dev` writes",
                ),
        )
        .arg(
            Arg::new("live")
                .long("live")
                .action(ArgAction::SetTrue)
                .requires("demo")
                .help("The live key of the demo workspace instead"),
        )
        .arg(
            Arg::new("unchecked")
                .long("unchecked")
                .action(ArgAction::SetTrue)
                .help("Store it without asking the service whether the key is valid"),
        )
}

/// Runs `dastak login`.
pub async fn login(matches: &ArgMatches) -> Result<(), Failed> {
    let name = matches.get_one::<String>("NAME").map_or("default", String::as_str);
    add(name, matches, true).await
}

/// Runs `dastak profiles …`.
pub async fn profiles(matches: &ArgMatches) -> Result<(), Failed> {
    let (command, chosen) = matches.subcommand().ok_or("no command; see dastak profiles --help")?;
    let named = || chosen.try_get_one::<String>("NAME").ok().flatten().map_or("", String::as_str);
    let path = file()?;
    match command {
        "add" => return add(named(), chosen, false).await,
        "list" => list(&Profiles::read(&path)?, chosen.get_flag("json")),
        "use" => {
            let mut known = Profiles::read(&path)?;
            known.find(named())?;
            known.current = Some(named().to_owned());
            known.write(&path)?;
            say(&format!("{} is used from now on", named()))
        }
        _ => {
            let mut known = Profiles::read(&path)?;
            known.remove(named())?;
            known.write(&path)?;
            say(&format!("removed {}", named()))
        }
    }
}

fn list(known: &Profiles, as_json: bool) -> Result<(), Failed> {
    let is_used = |name: &str| known.current.as_deref() == Some(name);
    if as_json {
        let rows: Vec<_> = known
            .profiles
            .iter()
            .map(|(name, profile)| json!({"name": name, "baseUrl": profile.base_url, "used": is_used(name)}))
            .collect();
        return say(&json!(rows).to_string());
    }
    if known.profiles.is_empty() {
        return say("no profiles; `dastak login` adds one");
    }
    let width = known.profiles.keys().map(String::len).max().unwrap_or(0);
    for (name, profile) in &known.profiles {
        say(&format!("{} {name:width$}  {}", if is_used(name) { "*" } else { " " }, profile.base_url))?;
    }
    Ok(())
}

async fn add(name: &str, matches: &ArgMatches, then_use: bool) -> Result<(), Failed> {
    let path = file()?;
    let mut known = Profiles::read(&path)?;
    let profile = match matches.get_one::<String>("demo") {
        Some(demo) => from_demo(demo, matches.get_flag("live"))?,
        None => ask(matches)?,
    };
    known.add(name, profile.clone())?;
    let whose = if matches.get_flag("unchecked") { String::new() } else { check(&profile).await? };
    if then_use {
        known.current = Some(name.to_owned());
    }
    known.write(&path)?;
    let used = if known.current.as_deref() == Some(name) { "" } else { "; `dastak profiles use` chooses it" };
    say(&format!("{name} is stored in {}{whose}{used}", path.display()))
}

/// Asks the service for the workspace of the key.
async fn check(profile: &Profile) -> Result<String, Failed> {
    let (status, answer) = Client::new(&profile.base_url, &profile.key)?.send("GET", "/v1/me", None).await?;
    if status >= 400 {
        let why = answer["error"].as_str().unwrap_or("the service refused the key");
        return Err(Failed::answered(status, format!("{why} ({status}); nothing was stored")));
    }
    let data = &answer["data"];
    let text = |value: &serde_json::Value| super::operations::show::plain(value.as_str().unwrap_or_default());
    let mode = if profile.key.contains("_test_") { "test" } else { "live" };
    Ok(format!(
        ": the {mode} key {} of the workspace {}",
        text(&data["key"]["name"]),
        text(&data["workspace"]["name"])
    ))
}

/// The address and the key, from options, a terminal or standard input.
fn ask(matches: &ArgMatches) -> Result<Profile, Failed> {
    let terminal = std::io::stdin().is_terminal();
    let base_url = match matches.get_one::<String>("base-url") {
        Some(url) => url.clone(),
        None if terminal => {
            eprint!("Address of the service [{LOCAL}]: ");
            let _ = std::io::stderr().flush();
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map_err(|why| why.to_string())?;
            if line.trim().is_empty() { LOCAL.to_owned() } else { line.trim().to_owned() }
        }
        None => LOCAL.to_owned(),
    };
    let key = match matches.get_one::<String>("key-file") {
        Some(file) => key_from(file)?,
        None if terminal => rpassword::prompt_password("API key (not shown): ")
            .map_err(|why| Failed::usage(format!("no key: {why}")))?
            .trim()
            .to_owned(),
        None => key_from("-")?,
    };
    Ok(Profile { base_url, key })
}

/// What `dastak dev` wrote for shells.
fn from_demo(file: &str, live: bool) -> Result<Profile, Failed> {
    let text = std::fs::read_to_string(file).map_err(|why| {
        Failed::usage(format!("{file}: {why}; name the demo.env in the data folder of `dastak dev`"))
    })?;
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .map(str::to_owned)
            .ok_or_else(|| {
                Failed::usage(format!("{file}: has no {name}; is it the demo.env of `dastak dev`?"))
            })
    };
    Ok(Profile { base_url: value("DASTAK_URL")?, key: value(if live { "LIVE_KEY" } else { "TEST_KEY" })? })
}

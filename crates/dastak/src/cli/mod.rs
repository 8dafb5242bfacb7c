//! The command line. It speaks to people; `--json` speaks to programs.

mod admin;
mod backup;
mod client;
mod completions;
mod demo;
pub(crate) mod dnd_import;
mod extract;
mod failed;
pub(crate) mod list_import;
mod listen;
mod login;
mod maintenance;
mod mcp;
mod operations;
mod output;
mod profiles;
pub mod restore;
mod running;
mod settings;
mod signals;
mod trigger;
mod verify_log;

pub use backup::back_up;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

use self::failed::Failed;
use self::output::{json_flag, print};
use self::settings::{SettingsFile, read_values, settings};
use crate::config::{Config, Values};
use crate::http::console_files;
use crate::runtime::logs::{self, Format};
use crate::service::Service;
use running::Running;
use signals::{Signal, Signals};

/// How much of the command line is made. Making the commands of all operations takes longer than most of them run.
#[derive(Clone, Copy)]
enum Extent<'a> {
    /// The words of the first level, and what is below this one.
    Below(&'a str),
    Whole,
}

fn command(extent: Extent<'_>) -> Command {
    let (admin, wanted) = match extent {
        Extent::Below(word) => (word == "admin", Some(word)),
        Extent::Whole => (true, None),
    };
    service_commands()
        .subcommand(admin::command(admin))
        .subcommand(login::login_command())
        .subcommand(login::profiles_command())
        .subcommand(listen::command())
        .subcommand(trigger::command())
        .subcommand(mcp::command())
        .subcommand(completions::completions_command())
        .subcommand(completions::man_command())
        .subcommands(operations::client_commands(wanted))
}

fn service_commands() -> Command {
    let print = Arg::new("print-config")
        .long("print-config")
        .action(ArgAction::SetTrue)
        .help("Show the effective settings, secrets masked, and exit");
    Command::new("dastak")
        .about("Voice and chat AI agents for India, self-hosted")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(settings(
            Command::new("dev")
                .about("Everything on this machine, with no account anywhere, and a seeded demo workspace")
                .arg(
                    Arg::new("console")
                        .long("console")
                        .value_name("DIR")
                        .help("Serve the console from this folder, as it is at each request"),
                ),
        ))
        .subcommand(settings(Command::new("serve").about("Production")).arg(print))
        .subcommand(Command::new("openapi").about("Write the OpenAPI document to standard output").arg(
            Arg::new("operator").long("operator").action(ArgAction::SetTrue).help("That of the operator API"),
        ))
        .subcommand(
            Command::new("settings").about("Write the page of all settings, in Markdown, to standard output"),
        )
        .subcommand(Command::new("licenses").about("Write the licences of the software in this binary"))
        .subcommand(verify_log::command())
        .subcommand(extract::command())
        .subcommand(settings(Command::new("migrate").about("Bring the schema up to date and exit")))
        .subcommand(settings(
            Command::new("backup")
                .about("Copy what a restore needs, consistently while the service runs")
                .arg(Arg::new("PATH").required(true).help(
                    "A folder, existing and empty or ending in /: all that a restore needs. A new file: the embedded store alone, with its master key beside it",
                )),
        ))
        .subcommand(settings(
            Command::new("restore")
                .about("Put a backup folder back into a data folder that has no installation, and check it")
                .arg(Arg::new("DIR").required(true).help("The folder that dastak backup wrote")),
        ))
        .subcommand(settings(
            Command::new("rotate-master-key")
                .about(
                    "Change the master key of a service that is stopped, and seal every stored secret anew",
                )
                .arg(
                    Arg::new("new-key")
                        .long("new-key")
                        .value_name("FILE")
                        .help("Where the key is a setting: new file for the new key"),
                )
                .arg(
                    Arg::new("new-signing-key")
                        .long("new-signing-key")
                        .action(ArgAction::SetTrue)
                        .help("Sign exports and heads with another key, too"),
                )
                .arg(
                    Arg::new("discard-old-keys")
                        .long("discard-old-keys")
                        .action(ArgAction::SetTrue)
                        .help("Remove old keys: backups made before cannot be restored with what is in the data folder"),
                )
                .arg(
                    Arg::new("nodes-stopped")
                        .long("nodes-stopped")
                        .action(ArgAction::SetTrue)
                        .help("On PostgreSQL: every node of the database is stopped"),
                ),
        ))
        .subcommand(
            settings(Command::new("doctor").about("Check every configured component")).arg(json_flag()),
        )
}

/// Every crate that is linked in, every package of the console, and their licence texts; `scripts/licenses.py` and
/// `console/scripts/licenses.mjs` write them.
const THIRD_PARTY_LICENSES: &str = concat!(
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../THIRD_PARTY_LICENSES.txt")),
    "\n",
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/THIRD_PARTY_LICENSES.txt")),
);

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).take(2).map(|word| word.to_string_lossy().into_owned()).collect();
    // `dastak help calls` is about `calls`.
    let word = words.iter().map(String::as_str).find(|word| *word != "help").unwrap_or_default();
    let matches = command(Extent::Below(word)).get_matches();
    crate::runtime::files::keep_private();
    if let Some(outcome) = matches.subcommand().and_then(|(name, matches)| run_client(name, matches)) {
        return match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => failed.end(),
        };
    }
    let outcome = match matches.subcommand() {
        Some(("openapi", matches)) => openapi(matches.get_flag("operator")),
        Some(("settings", _)) => print(&crate::config::reference()),
        Some(("licenses", _)) => print(THIRD_PARTY_LICENSES),
        Some(("extract", matches)) => extract::run(matches),
        Some(("verify-log", matches)) => match verify_log::run(matches) {
            Ok(code) => return code,
            Err(why) => Err(why),
        },
        Some((name, matches)) => run(name, matches),
        None => Err("no command; see dastak --help".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) if why.is_empty() => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("dastak: {why}");
            ExitCode::FAILURE
        }
    }
}

/// What calls a service, or is about the command line itself; none for what is a service or works on its data.
fn run_client(name: &str, matches: &ArgMatches) -> Option<Result<(), Failed>> {
    match name {
        "completions" => return Some(completions::completions(matches, command(Extent::Whole))),
        "man" => return Some(completions::man(matches, command(Extent::Whole))),
        "admin" | "listen" | "trigger" | "login" | "profiles" => {}
        name if operations::is_group(name) => {}
        _ => return None,
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(why) => return Some(Err(why.to_string().into())),
    };
    Some(runtime.block_on(async {
        match name {
            "admin" => admin::run(matches).await,
            "listen" => listen::run(matches).await,
            "trigger" => trigger::run(matches).await,
            "login" => login::login(matches).await,
            "profiles" => login::profiles(matches).await,
            group => call(group, matches).await,
        }
    }))
}

/// Calls the operation of a client's command.
async fn call(group: &str, matches: &ArgMatches) -> Result<(), Failed> {
    let (verb, chosen) = matches.subcommand().ok_or("no command")?;
    let operation = operations::of_command(group, verb).ok_or("no such command")?;
    let caller = || {
        let access = profiles::access(chosen)?;
        Ok(operations::Caller { client: access.client()?, refused_key: access.advice() })
    };
    operations::run(operation, chosen, caller).await
}

fn run(name: &str, matches: &ArgMatches) -> Result<(), String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|why| why.to_string())?;
    if name == "mcp" {
        let outcome = runtime.block_on(mcp::run(matches));
        // A read of standard input that waits does not keep the process.
        runtime.shutdown_background();
        return outcome;
    }
    let file = SettingsFile::find(matches)?;
    let mut values = read_values(name, matches, file.as_ref(), name == "dev")?;
    if name == "serve" && matches.get_flag("print-config") {
        values.config(false)?;
        print!("{}", values.print()?);
        return Ok(());
    }
    let mut config = values.config(name == "dev")?;
    // Beside `dastak dev` its settings are those to check.
    if name == "doctor" && Running::of(&config.data).is_some_and(|running| running.dev) {
        values = read_values(name, matches, file.as_ref(), true)?;
        config = values.config(true)?;
    }
    logs::start(config.log_format, config.logs);
    let outcome = match name {
        "dev" | "serve" => {
            tracing::info!(
                version = env!("CARGO_PKG_VERSION"),
                command = name,
                settings = file.as_ref().map(|file| file.path.display().to_string()),
                data = %config.data.display(),
                store = if config.database_url.is_some() { "postgresql" } else { "sqlite" },
                "starting"
            );
            runtime.block_on(serve(config, signals::Settings::new(name, matches, values)))
        }
        "migrate" => runtime.block_on(maintenance::migrate(config)),
        "backup" => backup::backup(&config, matches.get_one::<String>("PATH").map_or("", String::as_str)),
        "restore" => {
            let folder = matches.get_one::<String>("DIR").map_or("", String::as_str);
            runtime.block_on(restore::restore(config, folder.as_ref(), &|_| ()))
        }
        "rotate-master-key" => {
            let new_key = matches.get_one::<String>("new-key").map(String::as_str);
            let [signing, stopped, discard] =
                ["new-signing-key", "nodes-stopped", "discard-old-keys"].map(|name| matches.get_flag(name));
            runtime.block_on(maintenance::rotate_master_key(config, new_key, signing, stopped, discard))
        }
        "doctor" => runtime.block_on(maintenance::doctor(config, matches.get_flag("json"))),
        other => Err(format!("{other}: no such command")),
    };
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    outcome
}

async fn serve(config: Config, mut settings: signals::Settings<'_>) -> Result<(), String> {
    let mut signals = Signals::new()?;
    if config.allow_insecure_webhooks {
        tracing::warn!(
            "webhooks.allow_insecure: webhook addresses may be http:// and private; never do this in production"
        );
    }
    if config.manual_clock {
        tracing::warn!("clock = manual: time stands still until POST /dev/clock moves it");
    }
    let (dev, format) = (config.dev, config.log_format);
    let service = Service::start(config).await?;
    let demo = if dev { Some(demo::seed(&service.app).await?) } else { None };
    let mark = running::Mark::write(&service)?;
    println!("{}", service.ready_line());
    if let Some(demo) = demo
        && format == Format::Text
    {
        eprintln!(
            "{}",
            demo.welcome(&service.app.config.public_url, console_files::built(&service.app.config))
        );
    }
    // The terminal of a `dastak dev` that hangs up is gone, and so is who used it.
    while signals.next().await == Signal::HangUp && !dev {
        settings.read_again(&service);
    }
    tracing::info!("stopping");
    let done = service.stop().await;
    mark.remove();
    if !done {
        tracing::warn!("some work did not finish in time; it is taken up again at the next start");
    }
    Ok(())
}

fn openapi(operator: bool) -> Result<(), String> {
    use api::openapi::{Document, document, to_text};
    let values = Values::default().config(false)?;
    let which = if operator { Document::Operator } else { Document::Public };
    print(&to_text(&document(which, &values.brand, &values.key_prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_command_line_holds_together() {
        command(Extent::Whole).debug_assert();
    }

    #[test]
    fn no_noun_has_the_name_of_another_command() {
        let whole = command(Extent::Below("serve"));
        let mut names: Vec<&str> = whole.get_subcommands().map(Command::get_name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_service_starts_without_the_commands_of_operations() {
        let whole = command(Extent::Below("serve"));
        for name in ["admin", "calls", "nudges"] {
            assert_eq!(whole.find_subcommand(name).unwrap().get_subcommands().count(), 0, "{name}");
        }
        assert!(whole.clone().try_get_matches_from(["dastak", "serve", "--listen", "127.0.0.1:0"]).is_ok());
    }
}

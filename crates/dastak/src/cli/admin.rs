//! `dastak admin`: the operator API from a terminal.

use clap::{Arg, ArgMatches, Command};

use super::client::Client;
use super::failed::Failed;
use super::operations::{self, Caller};
use super::profiles::LOCAL;
use super::{dnd_import, list_import};

/// The command, with its subcommands if they are wanted.
pub fn command(whole: bool) -> Command {
    let command =
        Command::new("admin")
            .about("The operator API from a terminal")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .arg(
                Arg::new("url")
                    .long("url")
                    .alias("base-url")
                    .global(true)
                    .value_name("URL")
                    .help("The service; default http://127.0.0.1:8080"),
            )
            .arg(Arg::new("token").long("token").global(true).value_name("TOKEN").help(
                "Operator token; default: DASTAK_OPERATOR_TOKEN, else the file operator.token of --data",
            ))
            .arg(
                Arg::new("data")
                    .long("data")
                    .global(true)
                    .value_name("DIR")
                    .help("Data folder of the service; default ./dastak-data"),
            )
            .arg(operations::json_flag().global(true));
    if !whole {
        return command;
    }
    command
        .subcommands(operations::operator_commands())
        .subcommand(dnd_import::command())
        .subcommand(list_import::command())
}

/// Sends what the arguments say and prints the answer.
pub async fn run(matches: &ArgMatches) -> Result<(), Failed> {
    let (name, chosen) = matches.subcommand().ok_or("no command; see dastak admin --help")?;
    let client = || Client::new(&base(chosen), &token(chosen)?);
    match name {
        dnd_import::NAME => return dnd_import::run(&client()?, chosen).await.map_err(Failed::from),
        list_import::NAME => return list_import::run(&client()?, chosen).await.map_err(Failed::from),
        _ => {}
    }
    let operation = operations::of_operator()
        .find(|operation| operations::kebab(operation.id) == name)
        .ok_or("no such command")?;
    let caller = || {
        Ok(Caller {
            client: client()?,
            refused_key: "It is the operator token that was refused: --data DIR names the folder of the service, whose operator.token is read; DASTAK_OPERATOR_TOKEN or --token gives another."
                .into(),
        })
    };
    operations::run(operation, chosen, caller).await
}

fn base(matches: &ArgMatches) -> String {
    matches.get_one::<String>("url").cloned().unwrap_or_else(|| LOCAL.into())
}

fn token(matches: &ArgMatches) -> Result<String, Failed> {
    if let Some(token) = matches.get_one::<String>("token") {
        return Ok(token.clone());
    }
    // From the environment variable that the service itself reads, so that no command line shows it.
    if let Some(token) = std::env::var("DASTAK_OPERATOR_TOKEN").ok().filter(|token| !token.is_empty()) {
        return Ok(token);
    }
    let folder = matches.get_one::<String>("data").map_or("./dastak-data", String::as_str);
    let file = std::path::Path::new(folder).join("operator.token");
    let text = std::fs::read_to_string(&file).map_err(|why| {
        Failed::usage(format!("{}: {why}; give --data DIR of the service, or --token", file.display()))
    })?;
    Ok(text.trim().to_owned())
}

//! `dastak trigger TYPE`: a sample event to the endpoints that subscribe to its type, and to `dastak listen`.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use serde_json::json;

use super::failed::Failed;
use super::listen::{accepted, service_options};
use super::profiles;

/// `dastak trigger`: has the service send a sample event.
pub fn command() -> Command {
    let kinds = PossibleValuesParser::new(api::events::names());
    service_options(Command::new("trigger").about(
        "Send a sample event, livemode false, to the endpoints that subscribe to it and to `dastak listen`",
    ))
    .arg(Arg::new("TYPE").required(true).value_parser(kinds).help("Event type, such as call.completed"))
}

/// Sends one sample.
pub async fn run(matches: &ArgMatches) -> Result<(), Failed> {
    let kind = matches.get_one::<String>("TYPE").map_or("", String::as_str);
    let access = profiles::access(matches)?;
    let (status, answer) =
        access.client()?.send("POST", "/v1/events/trigger", Some(&json!({"type": kind}))).await?;
    let answer = accepted(&access, status, answer)?;
    if matches.get_flag("json") {
        println!("{answer}");
        return Ok(());
    }
    println!(
        "{kind}  {}  to {} endpoints",
        answer["data"]["eventId"].as_str().unwrap_or_default(),
        answer["data"]["deliveries"]
    );
    Ok(())
}

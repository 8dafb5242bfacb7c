//! `dastak extract`: the subprocess that reads one untrusted document (`extraction::inside`). The service starts it; it
//! is not meant for people.

use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use extraction::inside::{self, MAX_TIME};

/// `dastak extract`, hidden: the sandboxed process of the service that reads uploaded files.
pub fn command() -> Command {
    let seconds =
        Arg::new("seconds").long("seconds").value_parser(value_parser!(u64).range(1..=MAX_TIME.as_secs()));
    Command::new("extract")
        .hide(true)
        .about("Read one document from standard input, confined")
        .arg(seconds.help("Time of a processor that it may take; at most, and without it, 20"))
}

/// Reads one document.
pub fn run(matches: &ArgMatches) -> Result<(), String> {
    inside::run(matches.get_one::<u64>("seconds").map_or(MAX_TIME, |seconds| Duration::from_secs(*seconds)))
}

//! Standard output.

use std::io::ErrorKind;

use clap::{Arg, ArgAction};

use super::failed::Failed;

/// The option `--json`.
pub fn json_flag() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("JSON for programs")
}

/// A line on standard output.
pub fn say(line: &str) -> Result<(), Failed> {
    write(format!("{line}\n").as_bytes())
}

/// Writes to standard output at once. A reader that has seen enough and closes the pipe ends the command without a word.
pub fn write(bytes: &[u8]) -> Result<(), Failed> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|why| match why.kind() {
        ErrorKind::BrokenPipe => Failed::from(""),
        _ => Failed::from(why.to_string()),
    })
}

/// Writes to standard output. A reader that has seen enough and closes the pipe is no error.
pub fn print(text: &str) -> Result<(), String> {
    match std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => Err(why.to_string()),
        _ => Ok(()),
    }
}

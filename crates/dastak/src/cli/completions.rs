//! `dastak completions SHELL` and `dastak man`, made from the commands themselves.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use clap_complete::Shell;

use super::failed::Failed;
use super::output::{say, write};

/// The command `completions`.
pub fn completions_command() -> Command {
    Command::new("completions").about("Write the completions of a shell to standard output").arg(
        Arg::new("SHELL")
            .required(true)
            .value_parser(PossibleValuesParser::new(["bash", "zsh", "fish"]))
            .help("bash: source <(dastak completions bash)"),
    )
}

/// The command `man`.
pub fn man_command() -> Command {
    Command::new("man").about("Write the manual page to standard output, or all pages into a folder").arg(
        Arg::new("DIR").help("Folder for dastak.1 and a page for each command, such as dastak-calls-place.1"),
    )
}

/// Writes the completions of the whole command line.
pub fn completions(matches: &ArgMatches, mut whole: Command) -> Result<(), Failed> {
    let shell = match matches.get_one::<String>("SHELL").map(String::as_str) {
        Some("zsh") => Shell::Zsh,
        Some("fish") => Shell::Fish,
        _ => Shell::Bash,
    };
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut whole, "dastak", &mut out);
    write(&out)
}

/// Writes the manual.
pub fn man(matches: &ArgMatches, mut whole: Command) -> Result<(), Failed> {
    whole.build();
    let Some(folder) = matches.get_one::<String>("DIR").map(Path::new) else {
        return write(&page(&whole, "dastak")?);
    };
    let made = if folder.is_dir() {
        Ok(())
    } else {
        std::fs::create_dir_all(folder).and_then(|()| readable(folder))
    };
    made.map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut pages = 0;
    let mut left = vec![("dastak".to_owned(), whole)];
    while let Some((name, command)) = left.pop() {
        let file = folder.join(format!("{name}.1"));
        let written = std::fs::write(&file, page(&command, &name)?).and_then(|()| readable(&file));
        written.map_err(|why| format!("{}: {why}", file.display()))?;
        pages += 1;
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            left.push((format!("{name}-{}", inner.get_name()), inner.clone()));
        }
    }
    say(&format!("{pages} pages in {}", folder.display()))
}

/// Lets everybody read it: other files of this program are for its owner only.
fn readable(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn page(command: &Command, name: &str) -> Result<Vec<u8>, Failed> {
    let mut out = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_owned()))
        .render(&mut out)
        .map_err(|why| why.to_string())?;
    Ok(out)
}

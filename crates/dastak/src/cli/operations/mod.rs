//! Commands that the table of operations makes: those of clients (`dastak calls place`) and those of the operator
//! (`dastak admin create-workspace`). Path parameters are arguments, fields of query and body are options (docs/cli.md).

mod arguments;
mod command;
mod run;
pub mod show;
mod stream;
#[cfg(test)]
mod tests;

use api::operation::{Access, Operation};
use api::operations;
use clap::Command;

pub use command::{JSON, json_flag, kebab};
pub use run::{Caller, run};

use super::profiles;

/// Nouns of clients in the order of the table, each with its operations.
fn groups() -> Vec<(&'static str, Vec<&'static Operation>)> {
    let mut groups: Vec<(&'static str, Vec<&'static Operation>)> = Vec::new();
    for operation in operations::all() {
        let Some(name) = operation.command() else { continue };
        match groups.iter_mut().find(|(group, _)| *group == name.group) {
            Some((_, rows)) => rows.push(operation),
            None => groups.push((name.group, vec![operation])),
        }
    }
    groups
}

/// The operations of the operator that have a command.
pub fn of_operator() -> impl Iterator<Item = &'static Operation> {
    operations::all().filter(|operation| operation.access == Access::Operator)
}

/// The commands of clients. Only those of the noun `wanted` are made in full, since making all takes longer than most of them run;
/// `None` makes all.
pub fn client_commands(wanted: Option<&str>) -> Vec<Command> {
    groups()
        .into_iter()
        .map(|(group, rows)| {
            let verbs: Vec<&str> =
                rows.iter().filter_map(|row| row.command()).map(|name| name.verb).collect();
            let command = Command::new(group)
                .about(verbs.join(", "))
                .subcommand_required(true)
                .arg_required_else_help(true);
            if wanted.is_some_and(|wanted| wanted != group) {
                return command;
            }
            command.subcommands(rows.into_iter().filter_map(|row| Some(of_client(row, row.command()?.verb))))
        })
        .collect()
}

fn of_client(operation: &'static Operation, verb: &'static str) -> Command {
    let takes = command::Takes::new(operation);
    let has_url = takes.fields().any(|field| field.name == "url");
    let command = command::command(&takes, verb).arg(command::json_flag());
    // A stream has a token of its own, an option of the command.
    let command = if operation.access == Access::StreamToken {
        profiles::stream_options(command)
    } else {
        profiles::options(command, has_url)
    };
    command.next_help_heading(None::<&str>)
}

/// The commands of the operator, below `admin`.
pub fn operator_commands() -> impl Iterator<Item = Command> {
    of_operator().map(|operation| command::command(&command::Takes::new(operation), kebab(operation.id)))
}

/// The operation of a client's command.
pub fn of_command(group: &str, verb: &str) -> Option<&'static Operation> {
    operations::all()
        .find(|operation| operation.command().is_some_and(|name| name.group == group && name.verb == verb))
}

/// Whether a word begins commands of clients.
pub fn is_group(word: &str) -> bool {
    operations::all().any(|operation| operation.command().is_some_and(|name| name.group == word))
}

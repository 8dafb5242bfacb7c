//! `dastak admin`: the operator API from a terminal. The commands are the operator rows of the table of
//! operations: path parameters are arguments, body fields and query parameters are options.

use api::operations::{self, Access, Operation};
use api::schema::{Field, Schema};
use clap::{Arg, ArgAction, ArgMatches, Command};
use providers::http::encoded;
use serde_json::{Map, Value};

use super::client::Client;
use super::{dnd_import, list_import};

fn rows() -> impl Iterator<Item = &'static Operation> {
    operations::all().filter(|operation| operation.access == Access::Operator && !operation.upload)
}

/// `createWorkspace` as `create-workspace`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

fn path_parameters(operation: &Operation) -> impl Iterator<Item = &'static str> + use<> {
    operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn fields(operation: &Operation) -> Vec<Field> {
    let mut fields = operation.query.map(|query| query()).unwrap_or_default();
    fields.extend(operation.body.map(|body| body()).iter().flat_map(Schema::fields).cloned());
    fields
}

/// The command and its subcommands.
pub fn command() -> Command {
    let mut command =
        Command::new("admin")
            .about("The operator API from a terminal")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .arg(
                Arg::new("url")
                    .long("url")
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
            .arg(
                Arg::new("json")
                    .long("json")
                    .global(true)
                    .action(ArgAction::SetTrue)
                    .help("The JSON answer as it is, for programs"),
            );
    for operation in rows() {
        let mut sub = Command::new(kebab(operation.id)).about(operation.summary);
        for name in path_parameters(operation) {
            sub = sub.arg(Arg::new(name).required(true).value_name(name.to_uppercase()));
        }
        for field in fields(operation) {
            let json = field.schema.to_json();
            let help = format!(
                "{}{}",
                json["type"].as_str().unwrap_or("JSON"),
                field.default.as_ref().map(|value| format!(", default {value}")).unwrap_or_default()
            );
            sub = sub.arg(
                Arg::new(field.name.to_string())
                    .long(kebab(&field.name))
                    .required(field.required)
                    .value_name("VALUE")
                    .help(help)
                    .allow_hyphen_values(true),
            );
        }
        command = command.subcommand(sub);
    }
    command.subcommand(dnd_import::command()).subcommand(list_import::command())
}

/// An option's text as JSON: text where text is expected, else JSON, a list also with commas.
fn value(field: &Field, text: &str) -> Value {
    let shape = field.schema.to_json();
    let kinds: Vec<&str> = match &shape["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if kinds.contains(&"string") {
        return Value::from(text);
    }
    if kinds.contains(&"array") && !text.trim_start().starts_with('[') {
        return text.split(',').map(|item| Value::from(item.trim())).collect();
    }
    serde_json::from_str(text).unwrap_or_else(|_| {
        // `scopes` is one word or a list.
        if text.contains(',') {
            text.split(',').map(|item| Value::from(item.trim())).collect()
        } else {
            Value::from(text)
        }
    })
}

/// Sends what the arguments say and prints the answer.
pub async fn run(matches: &ArgMatches) -> Result<(), String> {
    let (name, chosen) = matches.subcommand().ok_or("no command; see dastak admin --help")?;
    if name == dnd_import::NAME {
        return dnd_import::run(&Client::new(&base(chosen), &token(chosen)?)?, chosen).await;
    }
    if name == list_import::NAME {
        return list_import::run(&Client::new(&base(chosen), &token(chosen)?)?, chosen).await;
    }
    let operation = rows().find(|operation| kebab(operation.id) == name).ok_or("no such command")?;
    let mut path = operation.path.to_owned();
    for parameter in path_parameters(operation) {
        let text = chosen.get_one::<String>(parameter).map_or("", String::as_str);
        path = path.replace(&format!("{{{parameter}}}"), &encoded(text).to_string());
    }
    let query = operation.query.map(|query| query()).unwrap_or_default();
    let (mut body, mut pairs) = (Map::new(), Vec::new());
    for field in fields(operation) {
        let Some(text) = chosen.get_one::<String>(&field.name) else { continue };
        if query.iter().any(|known| known.name == field.name) {
            pairs.push(format!("{}={}", field.name, encoded(text)));
        } else {
            body.insert(field.name.to_string(), value(&field, text));
        }
    }
    if !pairs.is_empty() {
        path = format!("{path}?{}", pairs.join("&"));
    }
    let client = Client::new(&base(chosen), &token(chosen)?)?;
    let body = operation.body.map(|_| Value::Object(body));
    let (status, answer) = client.send(operation.method.as_str(), &path, body.as_ref()).await?;
    if chosen.get_flag("json") {
        println!("{answer}");
        return if status < 400 { Ok(()) } else { Err(String::new()) };
    }
    if status >= 400 {
        return Err(format!("{} ({status})", answer["error"].as_str().unwrap_or("the service refused")));
    }
    match &answer["data"] {
        Value::Array(rows) => print_rows(rows),
        data => print_object(data, ""),
    }
    if let Some(cursor) = answer["nextCursor"].as_str() {
        println!("\nmore: --cursor {cursor}");
    }
    Ok(())
}

fn base(matches: &ArgMatches) -> String {
    matches.get_one::<String>("url").cloned().unwrap_or_else(|| "http://127.0.0.1:8080".into())
}

fn token(matches: &ArgMatches) -> Result<String, String> {
    if let Some(token) = matches.get_one::<String>("token") {
        return Ok(token.clone());
    }
    // From the environment variable that the service itself reads, so that no command line shows it.
    if let Some(token) = std::env::var("DASTAK_OPERATOR_TOKEN").ok().filter(|token| !token.is_empty()) {
        return Ok(token);
    }
    let folder = matches.get_one::<String>("data").map_or("./dastak-data", String::as_str);
    let file = std::path::Path::new(folder).join("operator.token");
    let text = std::fs::read_to_string(&file)
        .map_err(|why| format!("{}: {why}; give --data DIR of the service, or --token", file.display()))?;
    Ok(text.trim().to_owned())
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".into(),
        other => other.to_string(),
    }
}

fn print_object(value: &Value, indent: &str) {
    match value {
        Value::Object(map) => {
            let width = map.keys().map(String::len).max().unwrap_or(0);
            for (name, inner) in map {
                if inner.is_object() {
                    println!("{indent}{name}:");
                    print_object(inner, &format!("{indent}  "));
                } else {
                    println!("{indent}{name:width$}  {}", plain(inner));
                }
            }
        }
        other => println!("{indent}{}", plain(other)),
    }
}

fn print_rows(rows: &[Value]) {
    let Some(Value::Object(first)) = rows.first() else {
        println!("none");
        return;
    };
    let names: Vec<&String> =
        first.iter().filter(|(_, value)| !value.is_object()).map(|(name, _)| name).collect();
    let cell = |row: &Value, name: &str| plain(&row[name]).chars().take(44).collect::<String>();
    let widths: Vec<usize> = names
        .iter()
        .map(|name| {
            rows.iter().map(|row| cell(row, name).chars().count()).chain([name.len()]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: Vec<String>| {
        cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect::<Vec<_>>().join("  ")
    };
    println!("{}", line(names.iter().map(|name| (*name).clone()).collect()));
    for row in rows {
        println!("{}", line(names.iter().map(|name| cell(row, name)).collect()));
    }
}

//! The command of one operation: its arguments and options, with their help.

use api::operation::{Access, Idempotency, Operation};
use api::schema::{Field, Schema};
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Arg, ArgAction, Command};
use serde_json::Value;

/// Ids of our own options. Fields and path parameters have ids with a prefix, so that none is the same.
pub const BODY: &str = "@body";
pub const JSON: &str = "@json";
pub const ALL: &str = "@all";
pub const OUTPUT: &str = "@output";
pub const FILE: &str = "@file";
pub const IDEMPOTENCY_KEY: &str = "@idempotency-key";

/// The id of a field's option.
pub fn field_id(name: &str) -> String {
    format!("field:{name}")
}

/// The id of a path parameter.
pub fn path_id(name: &str) -> String {
    format!("path:{name}")
}

/// What an operation takes, read once from its schemas.
pub struct Takes {
    pub operation: &'static Operation,
    pub query: Vec<Field>,
    pub body: Option<Schema>,
}

impl Takes {
    pub fn new(operation: &'static Operation) -> Self {
        let mut query = operation.query.map(|query| query()).unwrap_or_default();
        if operation.access == Access::StreamToken {
            // It is sent as bearer token: an address is in logs.
            query.retain(|field| field.name != "token");
        }
        Self { operation, query, body: operation.body.map(|body| body()) }
    }

    /// Fields of the query, then those of the body.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.query.iter().chain(self.body_fields())
    }

    pub fn body_fields(&self) -> &[Field] {
        self.body.as_ref().map(Schema::fields).unwrap_or_default()
    }

    /// Path parameters in their order.
    pub fn path(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// The parameter with which a list goes on.
    pub fn page_parameter(&self) -> Option<&'static str> {
        ["cursor", "offset"].into_iter().find(|name| self.query.iter().any(|field| field.name == *name))
    }
}

/// `createWorkspace` as `create-workspace`. Options have names of few letters, made once a start, so they are never freed.
pub fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (at, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && at > 0 {
            out.push('-');
        }
        out.push(if letter == '_' || letter == '.' { '-' } else { letter.to_ascii_lowercase() });
    }
    out
}

/// `--json`.
pub fn json_flag() -> Arg {
    Arg::new(JSON).long("json").action(ArgAction::SetTrue).help("The answer as it is, for programs")
}

/// The command of an operation, without the options that name the service and the key.
pub fn command(takes: &Takes, name: impl Into<clap::builder::Str>) -> Command {
    let operation = takes.operation;
    let mut command = Command::new(name).about(operation.summary);
    if !operation.about.is_empty() {
        command = command.long_about(format!("{}.\n\n{}", operation.summary, operation.about));
    }
    for name in takes.path() {
        let before = operation.path.split('/').take_while(|part| *part != format!("{{{name}}}")).last();
        command = command.arg(
            Arg::new(path_id(name))
                .required(true)
                .value_name(kebab(name).replace('-', "_").to_uppercase())
                .value_parser(NonEmptyStringValueParser::new())
                .help(format!("Of {}, as in {}", before.unwrap_or_default(), operation.path)),
        );
    }
    for field in &takes.query {
        command = command.arg(option(field).required(field.required));
    }
    let fields = takes.body_fields();
    for field in fields {
        let option = option(field);
        command = command.arg(if field.required { option.required_unless_present(BODY) } else { option });
    }
    command = own_options(command, takes);
    command.after_help(format!("Sends {} {}", operation.method.as_str(), operation.path))
}

/// Options that no field has.
fn own_options(mut command: Command, takes: &Takes) -> Command {
    let operation = takes.operation;
    if operation.upload {
        command = command.arg(
            Arg::new(FILE)
                .long("file")
                .value_name("FILE")
                .required(true)
                .action(ArgAction::Append)
                .help("The file; repeat it for the parts of one document"),
        );
    } else if takes.body.is_some() {
        let only = takes.body_fields().is_empty() && !operation.body_optional;
        command =
            command.arg(
                Arg::new(BODY).long("body").value_name("JSON").required(only).allow_hyphen_values(true).help(
                    "The whole body: JSON, @FILE, or - for standard input; options replace fields of it",
                ),
            );
    }
    if takes.page_parameter().is_some() {
        command = command.arg(
            Arg::new(ALL)
                .long("all")
                .action(ArgAction::SetTrue)
                .help("All pages; with --json, one item a line"),
        );
    }
    if operation.content_type.is_some() {
        command = command.arg(
            Arg::new(OUTPUT)
                .long("output")
                .short('o')
                .value_name("FILE")
                .help("Where the file is written; default: standard output"),
        );
    }
    if operation.idempotency != Idempotency::Ignored {
        command = command.arg(
            Arg::new(IDEMPOTENCY_KEY)
                .long("idempotency-key")
                .value_name("TEXT")
                .value_parser(NonEmptyStringValueParser::new())
                .help("The same text within 24 hours gives the first answer and does nothing again; default: a new one"),
        );
    }
    command
}

/// The option of a field.
fn option(field: &Field) -> Arg {
    let shape = field.schema.to_json();
    let arg = Arg::new(field_id(&field.name))
        .long(kebab(&field.name))
        .help(help(field, &shape))
        .allow_hyphen_values(true);
    let kinds = kinds(&shape);
    if let Some(words) = shape["enum"].as_array() {
        let words: Vec<String> =
            words.iter().map(|word| word.as_str().unwrap_or("null").to_owned()).collect();
        return arg.value_name("WORD").value_parser(PossibleValuesParser::new(words));
    }
    match kinds.as_slice() {
        ["boolean", ..] => arg.value_name("BOOL").num_args(0..=1).default_missing_value("true").value_parser(
            PossibleValuesParser::new(match kinds.contains(&"null") {
                true => vec!["true", "false", "null"],
                false => vec!["true", "false"],
            }),
        ),
        ["array", ..] => arg.value_name("LIST").action(ArgAction::Append),
        ["object", ..] if is_map(&shape) => arg.value_name("JSON|NAME=VALUE").action(ArgAction::Append),
        ["object", ..] | [] if shape["anyOf"].is_null() => arg.value_name("JSON"),
        ["integer" | "number", ..] => arg.value_name("NUMBER"),
        ["string", ..] => arg.value_name(text_name(&shape)),
        _ => arg.value_name("VALUE"),
    }
}

/// The types that a schema allows, `null` last.
pub fn kinds(shape: &Value) -> Vec<&str> {
    let mut kinds: Vec<&str> = match &shape["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    kinds.sort_by_key(|kind| *kind == "null");
    kinds
}

/// Whether a schema is an object whose names are the sender's own.
pub fn is_map(shape: &Value) -> bool {
    shape["additionalProperties"].is_object()
        && shape["properties"].as_object().is_none_or(serde_json::Map::is_empty)
}

fn text_name(shape: &Value) -> String {
    match (shape["format"].as_str(), shape["pattern"].as_str()) {
        (Some("date-time"), _) => "TIME".into(),
        (Some("date"), _) => "DATE".into(),
        (_, Some(pattern)) if pattern.starts_with('^') && pattern.ends_with('_') => {
            format!("{}…", pattern.trim_start_matches('^'))
        }
        _ => "TEXT".into(),
    }
}

/// What a field is, its default, and how lists and objects are written.
fn help(field: &Field, shape: &Value) -> String {
    let doc = shape["description"].as_str().unwrap_or_default().replace('`', "");
    let mut parts = vec![doc.split("\n\n").next().unwrap_or_default().to_owned()];
    let kinds = kinds(shape);
    if kinds.first() == Some(&"array") {
        let of_objects = kinds_of_items(shape).first() == Some(&"object");
        parts.push(if of_objects { "JSON, or @FILE.".into() } else { "With commas, or repeated.".into() });
    }
    if kinds.first() == Some(&"object") || (kinds.is_empty() && shape["anyOf"].is_null()) {
        let names: Vec<&str> = shape["properties"]
            .as_object()
            .into_iter()
            .flat_map(|map| map.keys().map(String::as_str))
            .collect();
        parts.push(match (is_map(shape), names.is_empty()) {
            (true, _) => "JSON, @FILE, or NAME=VALUE, repeated.".into(),
            (_, true) => "JSON, or @FILE.".into(),
            _ => format!("JSON, or @FILE, with {}.", names.join(", ")),
        });
    }
    if let Some(default) = &field.default
        && !default.is_null()
    {
        parts.push(format!("Default {default}."));
    }
    if kinds.last() == Some(&"null") {
        parts.push("May be null.".into());
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// The types of a list's items.
pub fn kinds_of_items(shape: &Value) -> Vec<&str> {
    kinds(&shape["items"])
}

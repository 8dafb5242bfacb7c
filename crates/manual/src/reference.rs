//! The reference: a page for each chapter of the public document, with all operations of the chapter.

use api::operation::{Access, Operation, TestKeys};
use serde_json::Value;

use crate::page::{Block, Card, Form, Input, Kind, Page};
use crate::samples::{Call, samples};
use crate::schema::{Field, Schemas};

/// An operation of the document.
#[derive(Debug, Clone, Copy)]
pub struct Described<'a> {
    /// Its row in the table.
    pub row: &'static Operation,
    /// What the document says of it.
    pub about: &'a Value,
}

impl Described<'_> {
    /// Where its chapter has it.
    pub fn href(&self) -> String {
        format!("{}#{}", chapter_path(self.row.tag), self.row.id)
    }
}

/// The path of a chapter's page.
pub fn chapter_path(tag: &str) -> String {
    format!("/docs/reference/{}", tag.to_lowercase().replace(' ', "-"))
}

/// All operations of the document, in its order.
pub fn operations(document: &Value) -> Vec<Described<'_>> {
    let mut out = Vec::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, about) in methods.as_object().into_iter().flatten() {
            let row = api::operations::all()
                .find(|row| row.path == path && row.method.as_str().eq_ignore_ascii_case(method));
            out.extend(row.map(|row| Described { row, about }));
        }
    }
    out
}

/// The chapters with their operations, in the order of the document's tags where it has them.
pub fn chapters<'a>(
    document: &Value,
    all: &[Described<'a>],
) -> Vec<(&'static str, String, Vec<Described<'a>>)> {
    let mut out: Vec<(&'static str, String, Vec<Described<'a>>)> = Vec::new();
    for one in all {
        match out.iter_mut().find(|(tag, ..)| *tag == one.row.tag) {
            Some((.., list)) => list.push(*one),
            None => out.push((one.row.tag, introduction(document, one.row.tag), vec![*one])),
        }
    }
    let order: Vec<&str> =
        document["tags"].as_array().into_iter().flatten().filter_map(|tag| tag["name"].as_str()).collect();
    out.sort_by_key(|(tag, ..)| order.iter().position(|name| name == tag).unwrap_or(order.len()));
    out
}

fn introduction(document: &Value, tag: &str) -> String {
    let tags = document["tags"].as_array();
    let found = tags.into_iter().flatten().find(|each| each["name"] == tag);
    found.and_then(|tag| tag["description"].as_str()).unwrap_or_default().to_owned()
}

/// The pages: the index, and one a chapter.
pub fn pages<'a>(document: &'a Value, all: &[Described<'a>]) -> Vec<Page> {
    let schemas = Schemas::new(document);
    let mut blocks = vec![Block::Markdown(
        "Every operation of `/v1`, by noun. Each has its fields, its errors, the request in curl, Python and TypeScript, and \
         a form that sends it with a test key. For programs: [`/v1/openapi.json`](/v1/openapi.json). What all operations \
         share (errors, pages, idempotency, limits) is in [the contract](/docs/contract); what a key may do is in \
         [scopes](/docs/scopes).\n"
            .into(),
    )];
    let mut out = Vec::new();
    for (tag, introduction, list) in chapters(document, all) {
        blocks.push(Block::Heading {
            level: 2,
            id: chapter_path(tag).rsplit('/').next().unwrap_or_default().to_owned(),
            text: tag.to_owned(),
        });
        if !introduction.is_empty() {
            blocks.push(Block::Markdown(introduction.clone()));
        }
        blocks.push(Block::Cards(list.iter().map(card).collect()));
        out.push(chapter(&schemas, tag, &introduction, &list));
    }
    out.insert(
        0,
        Page {
            path: "/docs/reference".into(),
            title: "API reference".into(),
            about: "Every operation of the API, by noun.".into(),
            kind: Kind::Index,
            blocks,
        },
    );
    out
}

/// A link to an operation.
pub fn card(one: &Described<'_>) -> Card {
    Card {
        title: one.row.summary.to_owned(),
        href: one.href(),
        about: format!("`{} {}`", one.row.method.as_str(), one.row.path),
    }
}

fn chapter<'a>(schemas: &Schemas<'a>, tag: &str, introduction: &str, list: &[Described<'a>]) -> Page {
    let mut blocks = Vec::new();
    if !introduction.is_empty() {
        blocks.push(Block::Markdown(introduction.to_owned()));
    }
    for one in list {
        push_operation(&mut blocks, schemas, one);
    }
    Page {
        path: chapter_path(tag),
        title: tag.to_owned(),
        about: about_chapter(introduction, list),
        kind: Kind::Reference,
        blocks,
    }
}

/// The first sentence of the introduction, else what some of the operations do.
fn about_chapter(introduction: &str, list: &[Described<'_>]) -> String {
    match introduction.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None if !introduction.is_empty() => introduction.to_owned(),
        None => list.iter().map(|one| one.row.summary).take(3).collect::<Vec<_>>().join("; "),
    }
}

fn push_operation<'a>(blocks: &mut Vec<Block>, schemas: &Schemas<'a>, one: &Described<'a>) {
    let row = one.row;
    let heading = |part: &str| Block::Heading {
        level: 3,
        id: format!("{}-{}", row.id, part.to_lowercase()),
        text: part.to_owned(),
    };
    blocks.push(Block::Heading { level: 2, id: row.id.to_owned(), text: row.summary.to_owned() });
    blocks.push(Block::Endpoint { method: row.method.as_str().to_owned(), path: row.path.to_owned() });
    let mut about = one.about["description"].as_str().unwrap_or_default().to_owned();
    if let Some(command) = row.command() {
        about.push_str(&format!("\n\nOn the command line: `dastak {} {}`.", command.group, command.verb));
    }
    blocks.push(Block::Markdown(about));
    // What takes a session is called by the console, in a browser.
    if !matches!(row.access, Access::Member | Access::Person) {
        blocks.push(Block::Samples(samples(&call(schemas, one))));
    }
    let parameters: Vec<Field> =
        list(&one.about["parameters"]).iter().map(|each| parameter(schemas, each)).collect();
    if !parameters.is_empty() {
        blocks.push(heading("Parameters"));
        blocks.push(Block::Fields(parameters));
    }
    if let Some(schema) = body_schema(schemas, one.about) {
        blocks.push(heading("Body"));
        let fields = schemas.fields(schema);
        if fields.is_empty() {
            blocks.push(Block::Markdown("An object whose members the summary describes.".into()));
        } else {
            blocks.push(Block::Fields(fields));
        }
    }
    push_answer(blocks, schemas, one, heading("Answer"));
    blocks.push(Block::Folded {
        title: format!("Errors ({})", row.all_errors().len()),
        cards: row
            .all_errors()
            .iter()
            .map(|error| Card {
                title: error.code.to_owned(),
                href: format!("/docs/errors/{}", error.code),
                about: format!("{}: {}", error.status, error.meaning),
            })
            .collect(),
    });
    blocks.extend(form(schemas, one).map(Block::Try));
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn parameter<'a>(schemas: &Schemas<'a>, each: &'a Value) -> Field {
    let name = each["name"].as_str().unwrap_or_default();
    let place = each["in"].as_str().unwrap_or_default();
    let made = schemas.named_field(name, &each["schema"]);
    Field {
        kind: format!("{}, {place}", made.kind),
        required: each["required"] == Value::Bool(true),
        about: each["description"].as_str().unwrap_or_default().to_owned(),
        nested: Vec::new(),
        ..made
    }
}

/// The schema of the JSON body, or of the form of an upload.
fn body_schema<'a>(schemas: &Schemas<'a>, about: &'a Value) -> Option<&'a Value> {
    let (body, _) = schemas.resolve(&about["requestBody"]);
    let content = body["content"].as_object()?;
    content.values().next().map(|media| &media["schema"])
}

fn push_answer<'a>(blocks: &mut Vec<Block>, schemas: &Schemas<'a>, one: &Described<'a>, heading: Block) {
    blocks.push(heading);
    for (status, answer) in one.about["responses"].as_object().into_iter().flatten() {
        if !status.starts_with(['2', '3']) {
            continue;
        }
        let (answer, _) = schemas.resolve(answer);
        let description = answer["description"].as_str().unwrap_or_default();
        blocks.push(Block::Markdown(format!("**{status}** {description}")));
        for (kind, media) in answer["content"].as_object().into_iter().flatten() {
            let fields =
                if media["schema"].is_object() { schemas.fields(&media["schema"]) } else { Vec::new() };
            if fields.is_empty() && kind != "application/json" {
                blocks.push(Block::Markdown(format!("Content type `{kind}`.")));
            } else if !fields.is_empty() {
                blocks.push(Block::Fields(fields));
            }
            if let Some(example) = example(media) {
                let (language, code) = match example {
                    Value::String(text) if kind != "application/json" => ("text", text.clone()),
                    other => ("json", serde_json::to_string_pretty(other).unwrap_or_default()),
                };
                blocks.push(Block::Samples(vec![crate::page::Sample { label: "Example", language, code }]));
            }
        }
    }
}

/// The first example of a media type.
fn example(media: &Value) -> Option<&Value> {
    if let Some(example) = media.get("example") {
        return Some(example);
    }
    media["examples"].as_object()?.values().next()?.get("value")
}

fn body_value<'a>(schemas: &Schemas<'a>, one: &Described<'a>) -> Option<Value> {
    if one.row.upload {
        return None;
    }
    let (body, _) = schemas.resolve(&one.about["requestBody"]);
    let media = body["content"].as_object()?.values().next()?;
    if let Some(found) = example(media) {
        return Some(found.clone());
    }
    let least = schemas.value("", &media["schema"], false);
    let empty = least.as_object().is_some_and(serde_json::Map::is_empty);
    Some(if empty { schemas.value("", &media["schema"], true) } else { least })
}

fn keyed(row: &Operation) -> bool {
    !matches!(row.access, Access::Public | Access::Signed)
}

fn call<'a>(schemas: &Schemas<'a>, one: &Described<'a>) -> Call<'static> {
    let row = one.row;
    let parameters = list(&one.about["parameters"]);
    let named = |place: &str, required: bool| -> Vec<(String, String)> {
        parameters
            .iter()
            .filter(|each| each["in"] == place)
            .filter(|each| {
                !required || each["required"] == Value::Bool(true) || each.get("example").is_some()
            })
            .map(|each| {
                let name = each["name"].as_str().unwrap_or_default();
                (name.to_owned(), parameter_value(schemas, row, each, name))
            })
            .collect()
    };
    Call {
        method: row.method.as_str(),
        path: row.path,
        keyed: keyed(row),
        command: row.command().map(|command| (command.group, command.verb)),
        path_values: named("path", false),
        query: named("query", true),
        idempotency_key: parameters.iter().any(|each| {
            each["in"] == "header" && (each["required"] == Value::Bool(true) || each.get("example").is_some())
        }),
        body: body_value(schemas, one),
        upload: row.upload,
    }
}

/// A value such as the parameter may have: an id of the kind that its description names.
fn parameter_value<'a>(schemas: &Schemas<'a>, row: &Operation, each: &'a Value, name: &str) -> String {
    if let Some(example) = each.get("example") {
        return example.as_str().map_or_else(|| example.to_string(), str::to_owned);
    }
    let about = each["description"].as_str().unwrap_or_default();
    if let Some((prefix, _)) = about.split_once("_…").filter(|_| each["in"] == "path") {
        let prefix = prefix.rsplit('`').next().unwrap_or_default();
        return format!("{prefix}_01h00000000000000000000000");
    }
    match (name, row.path) {
        ("q", _) => "Meera".into(),
        ("number" | "phone", _) => "+919812345678".into(),
        _ => match schemas.value(name, &each["schema"], false) {
            Value::String(text) if text == "text" && each["in"] == "path" => "1".into(),
            Value::String(text) => text,
            other => other.to_string(),
        },
    }
}

/// The form of an operation that a test key may call from a page.
fn form<'a>(schemas: &Schemas<'a>, one: &Described<'a>) -> Option<Form> {
    let row = one.row;
    let takes_key = matches!(row.access, Access::AnyKey | Access::Scope(_) | Access::Scopes(..));
    let open = row.access == Access::Public && row.path.starts_with("/v1/");
    if !(takes_key || open) || row.test_keys == TestKeys::Refused || row.upload {
        return None;
    }
    let inputs = list(&one.about["parameters"])
        .iter()
        .map(|each| Input {
            name: each["name"].as_str().unwrap_or_default().to_owned(),
            place: each["in"].as_str().unwrap_or_default().to_owned(),
            required: each["required"] == Value::Bool(true),
        })
        .collect();
    Some(Form {
        method: row.method.as_str().to_owned(),
        path: row.path.to_owned(),
        keyed: takes_key,
        inputs,
        body: body_value(schemas, one).map(|body| serde_json::to_string_pretty(&body).unwrap_or_default()),
    })
}

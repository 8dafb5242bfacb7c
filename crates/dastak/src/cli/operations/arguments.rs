//! The request of a command: its options as JSON, checked against the schema before anything is sent.

use api::operation::Idempotency;
use api::schema::{Field, Misfit};
use bytes::Bytes;
use clap::ArgMatches;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, Method};
use providers::http::encoded;
use ring::digest;
use serde_json::{Map, Value};

use super::super::client::Request;
use super::super::failed::Failed;
use super::command::{
    BODY, FILE, IDEMPOTENCY_KEY, Takes, field_id, is_map, kebab, kinds, kinds_of_items, path_id,
};
use crate::runtime::clock::Clock;
use crate::runtime::ids::Ids;

/// Bytes of a body or a file that is read here. The service's own ceilings are lower.
const LARGEST: u64 = 256 * 1024 * 1024;

/// A request that is ready to be sent, again if need be.
pub struct Prepared {
    pub method: Method,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub content_type: String,
    pub body: Bytes,
    pub idempotency_key: Option<String>,
}

impl Prepared {
    /// The request of these options.
    pub fn new(takes: &Takes, matches: &ArgMatches) -> Result<Self, Failed> {
        let operation = takes.operation;
        let path = takes.path().fold(operation.path.to_owned(), |path, name| {
            let text = matches.get_one::<String>(&path_id(name)).map_or("", String::as_str);
            path.replace(&format!("{{{name}}}"), &encoded(text).to_string())
        });
        let mut query = Vec::new();
        for field in &takes.query {
            let Some(texts) = texts(matches, field) else { continue };
            let text = texts.join(",");
            field
                .schema
                .check(&mut field.schema.from_text(text.clone()))
                .map_err(|misfit| named(&misfit, &field.name))?;
            query.push((field.name.to_string(), text));
        }
        let (content_type, body) = match operation.upload {
            true => upload(matches)?,
            false => ("application/json".to_owned(), body(takes, matches)?),
        };
        let idempotency_key = (operation.idempotency != Idempotency::Ignored).then(|| {
            matches
                .get_one::<String>(IDEMPOTENCY_KEY)
                .cloned()
                .unwrap_or_else(|| new_key(operation.id, &path, &body))
        });
        let method =
            Method::from_bytes(operation.method.as_str().as_bytes()).map_err(|why| why.to_string())?;
        Ok(Self { method, path, query, content_type, body, idempotency_key })
    }

    /// It as a request, for this kind of answer.
    pub fn request(&self, accept: &str) -> Request {
        let mut path = self.path.clone();
        for (at, (name, value)) in self.query.iter().enumerate() {
            path.push(if at == 0 { '?' } else { '&' });
            path.push_str(&format!("{}={}", encoded(name), encoded(value)));
        }
        let mut headers = vec![(ACCEPT, accept.to_owned())];
        if !self.body.is_empty() {
            headers.push((CONTENT_TYPE, self.content_type.clone()));
        }
        if let Some(key) = &self.idempotency_key {
            headers.push((HeaderName::from_static("idempotency-key"), key.clone()));
        }
        Request { method: self.method.clone(), path, headers, body: self.body.clone() }
    }

    /// Sets a parameter of the query.
    pub fn ask_for(&mut self, name: &str, value: String) {
        self.query.retain(|(known, _)| known != name);
        self.query.push((name.to_owned(), value));
    }
}

/// The key of a request that was given none: a new one. A wallet entry that is the same in all it says, its reference among it, has
/// the same key, so that a command that is repeated books nothing twice.
fn new_key(id: &str, path: &str, body: &[u8]) -> String {
    if id != "createWalletEntry" {
        return format!("cli-{}", Ids::new(Clock::real()).random_text(32));
    }
    let mut context = digest::Context::new(&digest::SHA256);
    for part in [path.as_bytes(), b"\n", body] {
        context.update(part);
    }
    let hex: String = context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("cli-entry-{hex}")
}

/// What was given for a field's option.
fn texts<'a>(matches: &'a ArgMatches, field: &Field) -> Option<Vec<&'a str>> {
    Some(matches.get_many::<String>(&field_id(&field.name))?.map(String::as_str).collect())
}

fn body(takes: &Takes, matches: &ArgMatches) -> Result<Bytes, Failed> {
    let (operation, Some(schema)) = (takes.operation, &takes.body) else { return Ok(Bytes::new()) };
    let whole = matches.get_one::<String>(BODY).map(|text| read("--body", text)).transpose()?;
    if takes.body_fields().is_empty() || operation.body_raw {
        // What its handler reads by itself: an object, a list, or a sender's own form.
        let text = whole.unwrap_or_default();
        if !text.trim().is_empty() {
            json("--body", &text)?;
        }
        return Ok(text.into());
    }
    let mut body = match &whole {
        None => Map::new(),
        Some(text) => match json("--body", text)? {
            Value::Object(map) => map,
            _ => return Err(Failed::usage("--body must be an object")),
        },
    };
    for field in takes.body_fields() {
        if let Some(texts) = texts(matches, field) {
            let value = value(&format!("--{}", kebab(&field.name)), &field.schema.to_json(), &texts)?;
            body.insert(field.name.to_string(), value);
        }
    }
    if body.is_empty() && operation.body_optional && whole.is_none() {
        return Ok(Bytes::new());
    }
    let body = Value::Object(body);
    let mut tried = body.clone();
    schema.drop_nulls(&mut tried);
    schema.clone().closed().check(&mut tried).map_err(|misfit| {
        let first = misfit.field.split(['.', '[']).next().unwrap_or_default();
        let known = takes.body_fields().iter().any(|field| field.name == first);
        let from_option = known && matches.contains_id(&field_id(first));
        if from_option {
            named(&misfit, first)
        } else {
            Failed::usage(format!("--body: {} {}", misfit.field, misfit.must))
        }
    })?;
    Ok(body.to_string().into())
}

/// A misfit by the name of the option: `--settings: retryCount must be …`.
fn named(misfit: &Misfit, field: &str) -> Failed {
    let option = format!("--{}", kebab(field));
    let inner = misfit.field.strip_prefix(field).unwrap_or_default().trim_start_matches('.');
    Failed::usage(match inner.is_empty() {
        true => format!("{option} {}", misfit.must),
        false => format!("{option}: {inner} {}", misfit.must),
    })
}

/// The text of an option that takes JSON: itself, of a file, or of standard input.
fn read(option: &str, text: &str) -> Result<String, Failed> {
    use std::io::Read as _;
    let mut out = String::new();
    let read = match text.strip_prefix('@') {
        Some(file) => std::fs::File::open(file)
            .and_then(|opened| opened.take(LARGEST).read_to_string(&mut out))
            .map_err(|why| Failed::usage(format!("{option}: {file}: {why}")))?,
        None if text == "-" => std::io::stdin()
            .take(LARGEST)
            .read_to_string(&mut out)
            .map_err(|why| Failed::usage(format!("{option}: standard input: {why}")))?,
        None => return Ok(text.to_owned()),
    };
    if read as u64 >= LARGEST {
        return Err(Failed::usage(format!("{option}: more than {} MB", LARGEST >> 20)));
    }
    Ok(out)
}

fn json(option: &str, text: &str) -> Result<Value, Failed> {
    serde_json::from_str(text).map_err(|why| Failed::usage(format!("{option}: not JSON: {why}")))
}

/// An option's texts as the JSON that its schema describes. What fits no type stays text, and the check names it.
pub fn value(option: &str, shape: &Value, texts: &[&str]) -> Result<Value, Failed> {
    let kinds = kinds(shape);
    if let ["null"] = texts
        && kinds.contains(&"null")
    {
        return Ok(Value::Null);
    }
    let first = texts.first().copied().unwrap_or_default();
    match kinds.first() {
        Some(&"array") => list(option, shape, texts),
        Some(&"object") if is_map(shape) && !is_json(first) => pairs(option, shape, texts),
        Some(&"object") => json(option, &read(option, first)?),
        Some(kind) => Ok(scalar(kind, first)),
        None => untyped(option, shape, first),
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) || text.starts_with('@') || text == "-"
}

fn scalar(kind: &str, text: &str) -> Value {
    match kind {
        "integer" => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        "number" => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
        "boolean" => text.parse::<bool>().map_or_else(|_| Value::from(text), Value::from),
        _ => Value::from(text),
    }
}

/// A list: JSON, words with commas between them, or the option repeated.
fn list(option: &str, shape: &Value, texts: &[&str]) -> Result<Value, Failed> {
    let items = kinds_of_items(shape);
    let mut out = Vec::new();
    for text in texts {
        if is_json(text) {
            match json(option, &read(option, text)?)? {
                Value::Array(more) => out.extend(more),
                one => out.push(one),
            }
        } else if items.first() == Some(&"object") {
            return Err(Failed::usage(format!("{option} takes JSON: a list of objects, or @FILE")));
        } else {
            let kind = items.first().copied().unwrap_or("string");
            out.extend(
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(|item| scalar(kind, item)),
            );
        }
    }
    Ok(Value::Array(out))
}

/// `NAME=VALUE`, as often as one likes.
fn pairs(option: &str, shape: &Value, texts: &[&str]) -> Result<Value, Failed> {
    let kinds = kinds(&shape["additionalProperties"]);
    let kind = kinds.first().copied().unwrap_or("string");
    let mut map = Map::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failed::usage(format!("{option} takes JSON, @FILE or NAME=VALUE; found «{text}»")));
        };
        if map.insert(name.to_owned(), scalar(kind, value)).is_some() {
            return Err(Failed::usage(format!("{option}: {name} is there twice")));
        }
    }
    Ok(Value::Object(map))
}

/// A value of several types: JSON where it looks like it, a list where the schema has one and there are commas, else text.
fn untyped(option: &str, shape: &Value, text: &str) -> Result<Value, Failed> {
    if is_json(text) {
        return json(option, &read(option, text)?);
    }
    let Some(choices) = shape["anyOf"].as_array() else {
        return Ok(serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)));
    };
    let words = choices.iter().flat_map(|choice| choice["enum"].as_array().into_iter().flatten());
    if words.clone().any(|word| word == text) {
        return Ok(Value::from(text));
    }
    if let Some(array) = choices.iter().find(|choice| kinds(choice).first() == Some(&"array")) {
        return list(option, array, &[text]);
    }
    let takes = |kind: &str| choices.iter().any(|choice| kinds(choice).contains(&kind));
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Null) if takes("null") => Ok(Value::Null),
        Ok(number @ Value::Number(_)) if takes("integer") || takes("number") => Ok(number),
        Ok(flag @ Value::Bool(_)) if takes("boolean") => Ok(flag),
        _ => Ok(Value::from(text)),
    }
}

/// The files as `multipart/form-data`.
fn upload(matches: &ArgMatches) -> Result<(String, Bytes), Failed> {
    use std::io::Read as _;
    let boundary = format!("dastak-{}", Ids::new(Clock::real()).random_text(32));
    let mut body = Vec::new();
    for file in matches.get_many::<String>(FILE).into_iter().flatten() {
        let path = std::path::Path::new(file);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
        let name: String =
            name.chars().map(|c| if c == '"' || c == '\\' || c.is_control() { '_' } else { c }).collect();
        body.extend_from_slice(
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
            )
            .as_bytes(),
        );
        let room = LARGEST.saturating_sub(body.len() as u64);
        let read = std::fs::File::open(path)
            .and_then(|opened| opened.take(room).read_to_end(&mut body))
            .map_err(|why| Failed::usage(format!("--file: {file}: {why}")))?;
        if read as u64 >= room {
            return Err(Failed::usage(format!("--file: more than {} MB", LARGEST >> 20)));
        }
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), body.into()))
}

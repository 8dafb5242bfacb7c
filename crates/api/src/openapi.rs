//! The OpenAPI 3.1 documents, made from the table of operations.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error_codes::{ErrorCode, ErrorWord};
use crate::events;
use crate::operation::{Access, Idempotency, Operation, TestKeys};
use crate::operations;
use crate::schema::{Components, Field, answer, open_set};

use examples::Examples;

mod examples;
mod tags;
mod webhooks;
pub mod word_meanings;

/// Which of the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// `/v1`, for customers.
    Public,
    /// `/operator/v1`, for the operator.
    Operator,
}

/// The document, with info version `1` (docs/contract/README.md#versioning).
pub fn document(which: Document, brand: &str, key_prefix: &str) -> Value {
    let mut shared = Shared::default();
    let rows: Vec<&Operation> = operations::all().filter(|row| is_in(row, which)).collect();
    // Answers and events come first, for the names of types that requests have, too.
    let answers: Vec<Value> = rows.iter().map(|row| responses(row, &mut shared)).collect();
    let webhooks = match which {
        Document::Public => webhooks::section(brand, &mut shared.schemas),
        Document::Operator => Map::new(),
    };
    let examples = Examples::new(key_prefix);
    let mut paths: Map<String, Value> = Map::new();
    for (operation, answers) in rows.into_iter().zip(answers) {
        let entry = paths.entry(operation.path.to_owned()).or_insert_with(|| json!({}));
        let mut described = describe(operation, answers, &mut shared);
        examples::add(&mut described, operation, examples.of(operation));
        entry[operation.method.as_str().to_lowercase()] = described;
    }
    let (title, about, scheme) = match which {
        Document::Public => (
            format!("{brand} API"),
            "Voice and chat agents: calls, nudges, campaigns, chats, and everything around them. Send your API key as \
             `Authorization: Bearer KEY`. Bodies are JSON; success is `{\"data\": …}`, an error has a `code`. The version \
             changes by additions only, so ignore fields and words that your program does not know.",
            json!({"type": "http", "scheme": "bearer", "description": format!("API key, `{key_prefix}_live_…` or `{key_prefix}_test_…`.")}),
        ),
        Document::Operator => (
            format!("{brand} operator API"),
            "What the operator of an installation administers: workspaces, keys, wallets, numbers and the node itself. Send \
             the operator token as `Authorization: Bearer TOKEN`.",
            json!({"type": "http", "scheme": "bearer", "description": "The operator token of this installation."}),
        ),
    };
    let mut out = json!({
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1", "description": about},
        "servers": servers(),
        "tags": tags(which),
        "paths": paths,
    });
    if !webhooks.is_empty() {
        out["webhooks"] = json!(webhooks);
    }
    out["components"] = json!({
        "securitySchemes": {"bearer": scheme, "session": {
            "type": "apiKey", "in": "cookie", "name": format!("__Host-{}-session", brand.to_lowercase()),
            "description": "Session of a member in the console; the same paths below `/console/api/{workspace}/{mode}`.",
        }},
        "responses": shared.responses,
        "schemas": with_meanings(shared.schemas.into_json()),
    });
    out
}

/// The schemas with the meaning of each word in the descriptions of sets.
fn with_meanings(mut schemas: Map<String, Value>) -> Map<String, Value> {
    let events = events::ALL.iter().map(|kind| (kind.name, kind.about.trim()));
    let known = word_meanings::WORDS.iter().map(|(name, words)| (*name, words.to_vec()));
    for (name, words) in known.chain([("EventType", events.collect())]) {
        if let Some(schema) = schemas.get_mut(name) {
            let said = schema["description"].as_str().unwrap_or_default();
            let lines = words.iter().map(|(word, meaning)| format!("- `{word}`: {}", sentence(meaning)));
            schema["description"] = json!(format!("{said}\n\n{}", lines.collect::<Vec<_>>().join("\n")));
        }
    }
    schemas
}

/// With a full stop.
fn sentence(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// Whether a document describes an operation.
fn is_in(operation: &Operation, which: Document) -> bool {
    let operator = operation.access == Access::Operator || operation.path.starts_with("/operator/");
    let other = operation.path.starts_with("/dev/") || operation.id == crate::mcp::ID;
    !other && operator == (which == Document::Operator)
}

/// The service that serves the document, and any other one.
fn servers() -> Value {
    json!([
        {"url": "/", "description": "The service that serves this document."},
        {"url": "{scheme}://{host}", "description": "An installation at another address.", "variables": {
            "scheme": {"default": "https", "enum": ["https", "http"], "description": "`http` only on your own machine."},
            "host": {"default": "localhost:8080", "description": "Its host name, with the port if it has its own."},
        }},
    ])
}

fn tags(which: Document) -> Vec<Value> {
    let tags = match which {
        Document::Public => tags::PUBLIC,
        Document::Operator => tags::OPERATOR,
    };
    tags.iter().map(|(name, introduction)| json!({"name": name, "description": introduction})).collect()
}

/// A document as text for people and version control: what fits into a line is written in one.
pub fn to_text(document: &Value) -> String {
    let mut out = String::new();
    write(document, 0, 0, &mut out);
    out.push('\n');
    out
}

/// Widest line of [`to_text`], bytes.
const WIDTH: usize = 110;

/// Writes a value at this level of nesting, after so many bytes of the same line.
fn write(value: &Value, level: usize, before: usize, out: &mut String) {
    let line = value.to_string();
    let (open, close, items): (char, char, Vec<(String, &Value)>) = match value {
        Value::Object(map) if level + before + line.len() > WIDTH => {
            ('{', '}', map.iter().map(|(name, inner)| (format!("{}: ", json!(name)), inner)).collect())
        }
        Value::Array(items) if level + before + line.len() > WIDTH => {
            ('[', ']', items.iter().map(|inner| (String::new(), inner)).collect())
        }
        _ => return out.push_str(&line),
    };
    out.push(open);
    for (index, (name, inner)) in items.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(level + 1));
        out.push_str(name);
        write(inner, level + 1, name.len() + 1, out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(level));
    out.push(close);
}

/// What operations refer to, described once.
#[derive(Default)]
struct Shared {
    schemas: Components,
    responses: Map<String, Value>,
}

impl Shared {
    /// A reference to the response with these errors, which have one status.
    fn failure(&mut self, errors: &[&ErrorCode]) -> Value {
        let name = errors.iter().map(|error| error.code).collect::<Vec<_>>().join(".");
        let reference = json!({"$ref": format!("#/components/responses/{name}")});
        if !self.responses.contains_key(&name) {
            let mut schema = self.schemas.answer(&answer::<Error>());
            let codes: Vec<&str> = errors.iter().map(|error| error.code).collect();
            schema["properties"]["code"] = open_set(json!({"type": "string", "enum": codes}));
            let content = json!({"application/json": {"schema": schema}});
            self.responses.insert(name, json!({"description": meanings(errors), "content": content}));
        }
        reference
    }
}

/// A line for each error.
fn meanings(errors: &[&ErrorCode]) -> String {
    errors.iter().map(|error| format!("`{}`: {}", error.code, error.meaning)).collect::<Vec<_>>().join("\n")
}

/// The body of every answer that is an error.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Error {
    /// What is wrong and what to do, for people. The text may change; branch on `code`.
    pub error: String,
    /// Machine-readable code of the error. New codes may be added.
    #[schemars(with = "ErrorWord")]
    pub code: String,
    /// Path of the page about the code, `/docs/errors/<code>` at the address of the service: what it means and what to do.
    pub doc_url: String,
    /// Details, such as `field` (the first wrong field), `missing` or `nudgeId`; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Id of the request, the same as the header `X-Request-Id`; only with status 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

fn describe(operation: &Operation, answers: Value, shared: &mut Shared) -> Value {
    let mut out = json!({
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": parameters(operation, shared),
        "responses": answers,
    });
    match operation.access {
        Access::Public | Access::Signed => out["security"] = json!([]),
        Access::Member | Access::Person => out["security"] = json!([{"session": []}]),
        Access::StreamToken | Access::AnyKey | Access::Operator | Access::Figures => {
            out["security"] = json!([{"bearer": []}]);
        }
        Access::Scope(scope) => {
            out["security"] = json!([{"bearer": []}]);
            out["x-scope"] = json!(scope.0);
        }
        Access::Scopes(one, other) => {
            out["security"] = json!([{"bearer": []}]);
            out["x-scope"] = json!(format!("{} {}", one.0, other.0));
        }
    }
    out["description"] = json!(about(operation));
    if let Some(command) = operation.command() {
        out["x-command"] = json!(format!("{} {}", command.group, command.verb));
    }
    if let Some(role) = operation.least_role() {
        out["x-role"] = json!(role.as_str());
    }
    if operation.test_keys == TestKeys::Refused {
        out["x-test-keys"] = json!("refused");
    }
    if operation.upload {
        out["requestBody"] = json!({"required": true, "content": {"multipart/form-data": {"schema": {
            "type": "object", "required": ["file"], "properties": {"file": {
                "type": "string", "format": "binary", "description": "The file, a part of the form with a file name."}}}}}});
    } else if let Some(body) = operation.body {
        out["requestBody"] = json!({"required": !operation.body_optional, "content": {"application/json": {"schema": shared.schemas.request(&body())}}});
    }
    out
}

/// What the header `Idempotency-Key` does.
const IDEMPOTENCY_KEY: &str = "A text of your own for this request. The same key with the same body within 24 hours \
    returns the first answer and does nothing again; with another body it is 422 `idempotency_key_reused`.";

/// What an operation does beyond its summary, and which key it needs.
fn about(operation: &Operation) -> String {
    let access = match operation.access {
        Access::Public => "Needs no API key.".to_owned(),
        Access::AnyKey => "Needs a valid key, with any scopes.".to_owned(),
        Access::Scope(scope) => format!("Needs the scope `{}`.", scope.0),
        Access::Scopes(one, other) => format!("Needs the scopes `{}` and `{}`.", one.0, other.0),
        Access::Member => "Needs the session of a member; no key will do.".to_owned(),
        Access::Person => "Needs the session of a signed-in person.".to_owned(),
        Access::StreamToken => {
            "Needs the token of the stream, not a key: as bearer token, or in the parameter `token`."
                .to_owned()
        }
        Access::Signed => "Needs no key: the body is signed with the secret of the connection.".to_owned(),
        Access::Operator => "Needs the operator token.".to_owned(),
        Access::Figures => {
            "Needs no key. Details are shown with the operator token, with the metrics token, and in \
             the networks of the operator."
                .to_owned()
        }
    };
    let test_keys = match operation.test_keys {
        TestKeys::Refused => "A test key is refused with 403 `test_mode_read_only`.",
        TestKeys::Allowed => "",
    };
    let role = match operation.least_role() {
        Some(role) => format!("Members may call it from the role `{}` on.", role.as_str()),
        None => String::new(),
    };
    let sentences = [operation.about, &access, &role, test_keys];
    sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The description of a path parameter, by the segment before it. Empty for an unknown segment, which a test refuses.
fn path_parameter(segment: &str) -> &'static str {
    match segment {
        "agents" => "Id of the agent, `agt_…`.",
        "boards" => "Id of the outcome board.",
        "calls" => "Id of the call, `call_…`.",
        "campaign-runs" => "Id of the campaign's run.",
        "campaigns" => "Id of the campaign, `cmp_…`.",
        "cards" => "Id of the card on the board.",
        "chat-labels" => "Id of the label.",
        "chats" | "sessions" => "Id of the chat, `chatsess_…`.",
        "contacts" => "Id of the contact, `con_…`.",
        "conversations" => "Id of the conversation, `chatsess_…`.",
        "data-streams" | "streams" => "Id of the data stream.",
        "deliveries" => "Id of the delivery, `whd_…`.",
        "dnc" | "dnd" | "transfer-numbers" => "The phone number, in any usual notation.",
        "dnd-imports" | "list-imports" => "Number of the import (`importId`).",
        "documents" => "Id of the document, `doc_…`.",
        "inbox" => "Id of the chat, `chatsess_…`.",
        "integrations" => "Id of the integration.",
        "invitations" => "Id of the invitation.",
        "members" | "team" => "Id of the member, `usr_…`.",
        "records" => "Id of the record.",
        "rows" => "Number of the row, from 1.",
        "runs" => "Id of the evaluation, `evr_…`.",
        "saved-answers" => "Id of the saved answer, `ans_…`.",
        "staged-lists" => "Id of the staged list.",
        "sweeps" => "Id of the sweep.",
        "keys" => "Id of the key, `key_…`.",
        "knowledge-bases" => "Id of the knowledge base.",
        "messages" => "Id of the message, `camsg_…`.",
        "nudges" => "Id of the nudge, `ndg_…`.",
        "numbers" => "Id of the phone number.",
        "recordings" => "Id of the recording, `rec_…`.",
        "scheduled-calls" => "Id of the scheduled call, `scall_…`.",
        "templates" => "Id of the template, `tpl_…`.",
        "tools" => "Id of the tool, `tool_…`.",
        "test-chats" => "The secret of the test link: the last part of its address.",
        "test-links" => "Id of the test link, `tlnk_…`.",
        "try" => "Id of the run of the flow, `try_…`.",
        "versions" => "Number of the published flow, from 1.",
        "webhooks" => "Id of the webhook endpoint, `whe_…`.",
        "workspaces" => "Id of the workspace, `ws_…`.",
        _ => "",
    }
}

fn parameters(operation: &Operation, shared: &mut Shared) -> Vec<Value> {
    let segments: Vec<&str> = operation.path.split('/').collect();
    let mut out: Vec<Value> = segments
        .windows(2)
        .filter_map(|pair| {
            let name = pair[1].strip_prefix('{')?.strip_suffix('}')?;
            let schema = json!({"type": "string", "minLength": 1});
            let description = match name {
                "connection" => "Id of the connection, as in its `webhookUrl`.",
                "chat" => "Id of the test chat, `chatsess_…`.",
                "id" if operation.path.starts_with("/console/api/me/sessions/") => {
                    "Id of the session, `sess_…`, as in the list of sessions."
                }
                _ => path_parameter(pair[0]),
            };
            Some(json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema}))
        })
        .collect();
    for field in operation.query.map(|query| query()).unwrap_or_default() {
        out.push(query_parameter(&field, shared));
    }
    if operation.idempotency != Idempotency::Ignored {
        out.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": operation.idempotency == Idempotency::Required,
            "description": IDEMPOTENCY_KEY,
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }));
    }
    out
}

fn query_parameter(field: &Field, shared: &mut Shared) -> Value {
    let mut schema = shared.schemas.request(&field.schema);
    // A named type keeps a description of its own where it is defined; this one is about the parameter.
    let description = schema.as_object_mut().and_then(|schema| schema.shift_remove("description"));
    if let Some(default) = &field.default {
        schema["default"] = default.clone();
    }
    let description = description.unwrap_or_default();
    json!({"name": field.name, "in": "query", "required": field.required, "description": description, "schema": schema})
}

/// What a status of success means.
fn success(status: u16) -> &'static str {
    match status {
        201 => "The object was created.",
        202 => "The request was accepted; its work follows.",
        303 => "The browser is sent to another page.",
        304 => "What you have is the newest (`If-None-Match`); there is no body.",
        _ => "The request succeeded; the body is the result.",
    }
}

fn responses(operation: &Operation, shared: &mut Shared) -> Value {
    let mut out: Map<String, Value> = Map::new();
    for (status, body) in operation.answers {
        let mut answer = json!({"description": success(*status)});
        if let Some(content_type) = operation.content_type {
            answer["content"] = content_type.split(", ").map(|each| (each.to_owned(), json!({}))).collect();
        } else if let Some(body) = body {
            let schema = shared.schemas.answer(&body());
            answer["content"] = json!({"application/json": {"schema": schema}});
        }
        out.insert(status.to_string(), answer);
    }
    for errors in operation.all_errors().chunk_by(|one, other| one.status == other.status) {
        match out.get_mut(&errors[0].status.to_string()) {
            None => {
                out.insert(errors[0].status.to_string(), shared.failure(errors));
            }
            // A success with the same status, as when a service says that it is not ready.
            Some(answer) => answer["description"] = json!(meanings(errors)),
        }
    }
    Value::Object(out)
}

#[cfg(test)]
mod descriptions;
#[cfg(test)]
mod promises;

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of what a client could make as large as it likes. Inside a value with a bound of its own
    /// (`x-maxBytes`) nothing else needs one.
    fn unbounded(shape: &Value, path: &str, bounded: bool, out: &mut Vec<String>) {
        let bounded = bounded || shape.get("x-maxBytes").is_some();
        let kinds: Vec<&str> = match &shape["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut need = |ceiling: bool| {
            if !ceiling && !bounded {
                out.push(path.to_owned());
            }
        };
        if kinds.contains(&"string") {
            // A time, a day and an id have a length of their own.
            let formed = ["enum", "format", "pattern"].iter().any(|keyword| shape.get(keyword).is_some());
            need(shape.get("maxLength").is_some() || formed);
        }
        if kinds.contains(&"array") {
            need(shape.get("maxItems").is_some());
            unbounded(&shape["items"], &format!("{path}[]"), bounded, out);
        }
        if kinds.contains(&"object") {
            let open = shape.get("additionalProperties").is_some_and(|more| *more != json!(false));
            if open {
                if shape.get("maxProperties").is_none() || !bounded {
                    out.push(path.to_owned());
                }
                unbounded(&shape["additionalProperties"], &format!("{path}.*"), bounded, out);
            }
            for (name, inner) in shape["properties"].as_object().into_iter().flatten() {
                unbounded(inner, &format!("{path}.{name}"), bounded, out);
            }
        }
        if let Some(choices) = shape["anyOf"].as_array() {
            choices.iter().for_each(|choice| unbounded(choice, path, bounded, out));
        } else if kinds.is_empty() && !bounded {
            out.push(path.to_owned());
        }
    }

    #[test]
    fn everything_that_a_client_can_make_grow_has_a_ceiling() {
        let (mut found, mut walked) = (Vec::new(), 0);
        for operation in operations::all() {
            for field in operation.query.map(|query| query()).unwrap_or_default() {
                unbounded(
                    &field.schema.to_json(),
                    &format!("{} ?{}", operation.id, field.name),
                    false,
                    &mut found,
                );
            }
            if let Some(body) = operation.body {
                walked += 1;
                unbounded(&body().to_json(), operation.id, false, &mut found);
            }
        }
        assert!(found.is_empty() && walked > 20, "{walked} bodies; without a ceiling: {found:#?}");
    }

    #[test]
    fn what_has_no_ceiling_is_named() {
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        struct Loose {
            a: Option<String>,
        }
        let mut loose = Vec::new();
        unbounded(&crate::schema::request::<Loose>().to_json(), "x", false, &mut loose);
        assert_eq!(loose, ["x.a"]);
    }

    /// Calls `look` with each schema, parameter and answer of a document.
    fn walk(value: &Value, path: &str, look: &mut impl FnMut(&str, &Map<String, Value>)) {
        match value {
            Value::Object(map) => {
                look(path, map);
                map.iter().for_each(|(name, inner)| walk(inner, &format!("{path}.{name}"), look));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, path, look)),
            _ => {}
        }
    }

    #[test]
    fn the_documents_say_the_least_role_of_each_operation() {
        let documents = [Document::Public, Document::Operator].map(|which| document(which, "Acme", "acme"));
        let mut described = 0;
        for operation in operations::all().filter(|operation| !operation.path.starts_with("/dev/")) {
            if operation.id == crate::mcp::ID {
                continue;
            }
            let method = operation.method.as_str().to_lowercase();
            let found = documents.iter().find_map(|document| document["paths"][operation.path].get(&method));
            let role = operation.least_role().map(|role| role.as_str());
            let said = found.map(|found| found.get("x-role").and_then(Value::as_str));
            assert_eq!(said, Some(role), "{}", operation.id);
            described += usize::from(role.is_some());
        }
        assert!(described > 200, "{described}");
    }

    #[test]
    fn the_documents_name_types_as_people_do() {
        for (which, names) in [
            (
                Document::Public,
                vec!["Agent", "Call", "CallPage", "Contact", "Event", "Nudge", "WebhookEndpoint"],
            ),
            (Document::Operator, vec!["ApiKey", "Member", "Workspace", "WorkspaceResponse"]),
        ] {
            let document = document(which, "Acme", "acme");
            let schemas = document["components"]["schemas"].as_object().unwrap();
            for name in names {
                assert!(schemas.contains_key(name), "{name} is missing: {:?}", schemas.keys());
            }
            let numbered: Vec<_> =
                schemas.keys().filter(|name| name.ends_with(|last: char| last.is_ascii_digit())).collect();
            assert!(numbered.is_empty(), "two types have the same name: {numbered:?}");
            let text = document.to_string();
            walk(&document, "", &mut |path, map| {
                if let Some(Value::String(description)) = map.get("description") {
                    let internal = description.contains("docs/contract") || description.contains("[`");
                    assert!(!internal, "{path} is of use only to who reads the code: {description}");
                }
                if let Some(Value::String(reference)) = map.get("$ref") {
                    let known = document.pointer(reference.trim_start_matches('#'));
                    assert!(known.is_some(), "{path}: {reference} is not described");
                }
            });
            for name in schemas.keys() {
                assert!(text.contains(&format!("#/components/schemas/{name}\"")), "nothing refers to {name}");
            }
        }
    }
}

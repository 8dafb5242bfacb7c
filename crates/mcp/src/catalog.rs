//! Tools as clients see them, and the request that a call of one becomes. Both are read from the OpenAPI document.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use api::openapi::{Document, document};
use api::operation::{Access, Idempotency, Method, Operation, TestKeys};
use api::operations;
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::tools::{Effect, TOOLS};
use crate::{Key, Request};

/// The argument with which a person's consent is passed on.
pub(crate) const CONFIRM: &str = "confirm";
/// The argument that is sent as `Idempotency-Key`.
const IDEMPOTENCY_KEY: &str = "idempotencyKey";
/// The parameter with the most items of a page.
const LIMIT: &str = "limit";
/// Most items of a page when a call does not say how many: a model reads each of them.
const PAGE: i64 = 20;
/// Bytes that stand for themselves in a path or a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// All tools.
static ALL: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    // The brand stands in the title of the document only.
    let document = document(Document::Public, "Service", "dastak");
    TOOLS.iter().filter_map(|(command, effect)| Tool::new(&document, command, *effect)).collect()
});

/// A tool: an operation that a model may call.
pub(crate) struct Tool {
    pub(crate) operation: &'static Operation,
    effect: Effect,
    definition: Definition,
    /// Names of its arguments, by where they go.
    path: Vec<String>,
    query: Vec<String>,
    body: Vec<String>,
    /// Items of a page when a call does not say how many.
    page: i64,
}

/// Those that a key may call.
pub(crate) fn of_key(key: &Key) -> impl Iterator<Item = &'static Tool> {
    ALL.iter().filter(move |tool| tool.missing(key).is_none())
}

/// The tool with this name, whether the key may call it or not.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|tool| tool.definition.name == name)
}

/// The name of a tool: `scheduled_calls_create` of `scheduled-calls create`.
fn name_of(command: &str) -> String {
    command.replace([' ', '-'], "_")
}

impl Tool {
    fn new(document: &Value, command: &str, effect: Effect) -> Option<Self> {
        let operation = operations::all().find(|operation| {
            operation.command().is_some_and(|known| command == format!("{} {}", known.group, known.verb))
        })?;
        let described = &document["paths"][operation.path][operation.method.as_str().to_lowercase()];
        let mut tool = Self {
            operation,
            effect,
            definition: Definition::default(),
            path: Vec::new(),
            query: Vec::new(),
            body: Vec::new(),
            page: PAGE,
        };
        let schema = tool.arguments(document, described);
        let description = tool.description(&answered(document, described));
        tool.definition = Definition::new(name_of(command), description, schema)
            .with_title(operation.summary)
            .with_annotations(tool.annotations());
        Some(tool)
    }

    /// The schema of the arguments; notes where each goes.
    fn arguments(&mut self, document: &Value, described: &Value) -> JsonObject {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for parameter in described["parameters"].as_array().into_iter().flatten() {
            let parameter = resolved(document, parameter);
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            let list = match parameter["in"].as_str() {
                Some("path") => &mut self.path,
                Some("query") => &mut self.query,
                _ => continue,
            };
            let mut schema = without_extensions(&parameter["schema"]);
            schema["description"] = parameter["description"].clone();
            if name == LIMIT {
                self.page = schema["default"].as_i64().unwrap_or(PAGE).min(PAGE);
                schema["default"] = json!(self.page);
            }
            if parameter["required"] == true {
                required.push(name.clone());
            }
            list.push(name.clone());
            properties.insert(name, schema);
        }
        let body = resolved(document, &described["requestBody"]["content"]["application/json"]["schema"]);
        let needed = body["required"].as_array().cloned().unwrap_or_default();
        for (name, schema) in body["properties"].as_object().into_iter().flatten() {
            self.body.push(name.clone());
            properties.insert(name.clone(), without_extensions(schema));
        }
        if described["requestBody"]["required"] == true {
            required.extend(needed.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        if self.operation.idempotency != Idempotency::Ignored {
            let description = "A text of your own for this request; by default each call has a new one. To call again because no answer came, \
                give the same: it is then done once.";
            properties.insert(
                IDEMPOTENCY_KEY.into(),
                json!({"type": "string", "minLength": 1, "maxLength": 255, "description": description}),
            );
        }
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        schema.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        schema.insert("additionalProperties".into(), json!(false));
        self_contained(document, schema)
    }

    /// What the tool does and answers, for a model.
    fn description(&self, answer: &str) -> String {
        let effect = match self.effect {
            Effect::Reads => "",
            Effect::Changes | Effect::Replaces => "It changes the workspace.",
            Effect::Reaches(says) | Effect::ReachesWith { says, .. } => says,
        };
        let test = match self.effect {
            Effect::Reaches(_) if self.operation.test_keys == TestKeys::Allowed => {
                "With a test key it is only simulated."
            }
            _ => "",
        };
        let summary = format!("{}.", self.operation.summary.trim_end_matches('.'));
        let sentences = [&summary, self.operation.about, effect, test, answer];
        sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn annotations(&self) -> ToolAnnotations {
        let reads = self.effect == Effect::Reads;
        let reaches = matches!(self.effect, Effect::Reaches(_) | Effect::ReachesWith { .. });
        let repeats = matches!(self.operation.method, Method::GET | Method::PUT | Method::DELETE);
        ToolAnnotations::with_title(self.operation.summary)
            .read_only(reads)
            .destructive(reaches || self.effect == Effect::Replaces)
            .idempotent(reads || repeats)
            .open_world(reaches)
    }

    /// The tool as this key sees it: with a live key, what dials, sends or spends takes a confirmation.
    pub(crate) fn shown(&self, key: &Key) -> Definition {
        let mut definition = self.definition.clone();
        if key.live && self.may_reach() {
            let description = "Whether the person whom you work for has agreed to exactly this. Without true nothing is done, and the \
                answer says what would be.";
            let schema = Arc::make_mut(&mut definition.input_schema);
            if let Some(properties) = schema.get_mut("properties") {
                properties[CONFIRM] =
                    json!({"type": "boolean", "default": false, "description": description});
            }
        }
        definition
    }

    fn may_reach(&self) -> bool {
        matches!(self.effect, Effect::Reaches(_) | Effect::ReachesWith { .. })
    }

    /// What a call with these arguments does beyond the workspace, if it does.
    pub(crate) fn reaches(&self, arguments: &JsonObject) -> Option<&'static str> {
        match self.effect {
            Effect::Reads | Effect::Changes | Effect::Replaces => None,
            Effect::Reaches(says) => Some(says),
            Effect::ReachesWith { argument, value, says } => {
                (arguments.get(argument).and_then(Value::as_str) == Some(value)).then_some(says)
            }
        }
    }

    /// Why a key may not call it.
    pub(crate) fn missing(&self, key: &Key) -> Option<String> {
        let scopes = match self.operation.access {
            Access::Scope(scope) => vec![scope],
            Access::Scopes(one, other) => vec![one, other],
            _ => Vec::new(),
        };
        if let Some(scope) = scopes.into_iter().find(|scope| !key.has(*scope)) {
            return Some(format!("the key lacks the scope {}", scope.0));
        }
        let refused = !key.live && self.operation.test_keys == TestKeys::Refused;
        refused.then(|| "a test key cannot do this; it takes a live key".to_owned())
    }

    /// The request that a call becomes; `new_key` makes the key of idempotency if the call has none.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub(crate) fn request(
        &self,
        mut arguments: JsonObject,
        new_key: impl FnOnce() -> String,
    ) -> Result<Request, String> {
        arguments.shift_remove(CONFIRM);
        let mut idempotency_key = None;
        if self.operation.idempotency != Idempotency::Ignored {
            idempotency_key = match arguments.shift_remove(IDEMPOTENCY_KEY) {
                None | Some(Value::Null) => Some(new_key()),
                Some(Value::String(key)) if is_header_text(&key) => Some(key),
                Some(_) => {
                    return Err(format!("{IDEMPOTENCY_KEY} must be a text of 1 to 255 characters of ASCII"));
                }
            };
        }
        let mut target = self.operation.path.to_owned();
        for name in &self.path {
            let value = arguments.shift_remove(name).and_then(|value| plain(&value));
            let value = value
                .filter(|value| !value.is_empty())
                .ok_or_else(|| format!("{name} is required: a text"))?;
            target = target.replace(&format!("{{{name}}}"), &encoded(&value));
        }
        let mut query = Vec::new();
        for name in &self.query {
            let value = match arguments.shift_remove(name) {
                None | Some(Value::Null) if name == LIMIT => json!(self.page),
                None | Some(Value::Null) => continue,
                Some(value) => value,
            };
            let value =
                plain(&value).ok_or_else(|| format!("{name} must be a text, a number, true or false"))?;
            query.push(format!("{name}={}", encoded(&value)));
        }
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        if let Some(unknown) = arguments.keys().find(|name| !self.body.contains(name)) {
            let known: Vec<&str> =
                self.path.iter().chain(&self.query).chain(&self.body).map(String::as_str).collect();
            return Err(format!("{unknown} is no argument of this tool; it has: {}", known.join(", ")));
        }
        let no_body = self.operation.body.is_none() || arguments.is_empty() && self.operation.body_optional;
        let body = if no_body { Bytes::new() } else { Value::Object(arguments).to_string().into() };
        Ok(Request { method: self.operation.method.as_str(), target, body, idempotency_key })
    }
}

/// Whether a header can carry it as a key of idempotency.
fn is_header_text(text: &str) -> bool {
    (1..=255).contains(&text.len())
        && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && !text.trim().is_empty()
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// A value as the text of a path or a query.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Fields of an answer that a description names.
const FIELDS: usize = 40;

/// What an operation answers, in a sentence; empty where that is no data with fields.
fn answered(document: &Value, described: &Value) -> String {
    let success =
        described["responses"].as_object().into_iter().flatten().find(|(status, _)| status.starts_with('2'));
    let Some((_, response)) = success else { return String::new() };
    let body = &resolved(document, response)["content"]["application/json"]["schema"];
    let data = resolved(document, &resolved(document, body)["properties"]["data"]);
    let (of, fields) = match data["items"].is_object() {
        true => ("Each item of data has", &resolved(document, &data["items"])["properties"]),
        false => ("data has", &data["properties"]),
    };
    let names: Vec<&str> = fields.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() {
        return String::new();
    }
    let more = if names.len() > FIELDS { " and more" } else { "" };
    format!("{of}: {}{more}.", names[..names.len().min(FIELDS)].join(", "))
}

/// What a reference of the document leads to, or the value itself.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let target = value["$ref"].as_str().and_then(|name| document.pointer(name.trim_start_matches('#')));
    target.unwrap_or(value)
}

/// A schema without what only this API's documents know, and without examples: a model pays for each word.
fn without_extensions(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let keep = |name: &str| !name.starts_with("x-") && name != "example" && name != "examples";
            let entries = map.iter().filter(|(name, _)| keep(name)).map(|(name, inner)| {
                let inner = match (name.as_str(), inner) {
                    // Their names are of the data.
                    ("properties", Value::Object(fields)) => fields
                        .iter()
                        .map(|(field, schema)| (field.clone(), without_extensions(schema)))
                        .collect(),
                    ("default" | "enum" | "const", value) => value.clone(),
                    (_, inner) => without_extensions(inner),
                };
                (name.clone(), inner)
            });
            Value::Object(entries.collect())
        }
        Value::Array(items) => items.iter().map(without_extensions).collect(),
        other => other.clone(),
    }
}

const COMPONENTS: &str = "#/components/schemas/";

/// The schema with all that it refers to in `$defs`.
fn self_contained(document: &Value, schema: JsonObject) -> JsonObject {
    let mut schema = Value::Object(schema);
    let (mut wanted, mut definitions) = (BTreeSet::new(), Map::new());
    refer_within(&mut schema, &mut wanted);
    while let Some(name) = wanted.pop_first() {
        if definitions.contains_key(&name) {
            continue;
        }
        let mut definition = without_extensions(&document["components"]["schemas"][&name]);
        refer_within(&mut definition, &mut wanted);
        definitions.insert(name, definition);
    }
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Turns references to the document into ones to `$defs`, and notes their names.
fn refer_within(schema: &mut Value, wanted: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (name, inner) in map {
                match inner {
                    Value::String(reference) if name == "$ref" => {
                        if let Some(component) = reference.strip_prefix(COMPONENTS) {
                            wanted.insert(component.to_owned());
                            *inner = json!(format!("#/$defs/{component}"));
                        }
                    }
                    inner => refer_within(inner, wanted),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer_within(item, wanted)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn key(live: bool) -> Key {
        Key { live, scopes: api::scopes::ALL.iter().map(|scope| scope.0.to_owned()).collect() }
    }

    fn called(name: &str, arguments: Value) -> Result<Request, String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        find(name).expect("a tool").request(arguments, || "made".into())
    }

    /// References to the document or out of the schema.
    fn strays(value: &Value, schema: &Value) -> Vec<String> {
        match value {
            Value::Object(map) => map
                .iter()
                .flat_map(|(name, inner)| match inner {
                    Value::String(reference) if name == "$ref" => {
                        let found = schema.pointer(reference.trim_start_matches('#')).is_some();
                        if found { Vec::new() } else { vec![reference.clone()] }
                    }
                    inner => strays(inner, schema),
                })
                .collect(),
            Value::Array(items) => items.iter().flat_map(|item| strays(item, schema)).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_command_of_the_list_is_a_tool_that_stands_alone() {
        assert_eq!(ALL.len(), TOOLS.len(), "a command of the list has no operation");
        let mut names = HashSet::new();
        for tool in ALL.iter() {
            let name = &tool.definition.name;
            assert!(names.insert(name.clone()), "{name} is there twice");
            assert!(
                name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{name}"
            );
            let schema = Value::Object((*tool.definition.input_schema).clone());
            assert_eq!(strays(&schema, &schema), Vec::<String>::new(), "{name}");
            assert!(!schema.to_string().contains("\"x-"), "{name}: {schema}");
            let arguments: Vec<&String> = tool.path.iter().chain(&tool.query).chain(&tool.body).collect();
            let different: HashSet<&&String> = arguments.iter().collect();
            assert_eq!(
                different.len(),
                arguments.len(),
                "{name}: two arguments have one name: {arguments:?}"
            );
            let own =
                arguments.iter().any(|argument| [CONFIRM, IDEMPOTENCY_KEY].contains(&argument.as_str()));
            assert!(!own, "{name}: an argument has the name of another");
            if tool.operation.body.is_some() {
                assert!(!tool.body.is_empty(), "{name}: its body is no object with fields");
            }
            for argument in arguments {
                let described = schema["properties"][argument].to_string().contains("description");
                assert!(described, "{name}: {argument} is not described");
            }
            let description = tool.definition.description.clone().unwrap_or_default();
            assert!(description.split(' ').count() >= 4, "{name}: {description}");
        }
        let text: usize = ALL.iter().map(|tool| json!(tool.definition).to_string().len()).sum();
        assert!(text < 112 * 1024, "a model reads {text} bytes of tools");
    }

    /// What the method says of an operation, and what the list says of its effect.
    #[test]
    fn only_what_reads_is_marked_so() {
        for tool in ALL.iter() {
            let (reads, name) = (tool.effect == Effect::Reads, &tool.definition.name);
            let checks_only = tool.operation.id.starts_with("preflight");
            assert_eq!(reads, tool.operation.method == Method::GET || checks_only, "{name}");
            // A scope of reading is what operations have that change nothing.
            let scope = match tool.operation.access {
                Access::Scope(scope) => scope.0,
                _ => ":read",
            };
            assert_eq!(reads, scope.ends_with(":read"), "{name} {scope}");
            let annotations = tool.definition.annotations.clone().unwrap();
            assert_eq!(annotations.read_only_hint, Some(reads));
        }
    }

    #[test]
    fn what_dials_sends_or_spends_takes_a_confirmation_of_live_keys() {
        let confirmed: Vec<String> = of_key(&key(true))
            .map(|tool| tool.shown(&key(true)))
            .filter(|shown| shown.input_schema["properties"].get(CONFIRM).is_some())
            .map(|shown| shown.name.into_owned())
            .collect();
        assert_eq!(
            confirmed,
            [
                "calls_place",
                "scheduled_calls_create",
                "nudges_create",
                "campaigns_set_status",
                "campaigns_run",
                "chats_open",
                "chats_send",
                "webhooks_create",
                "webhooks_test"
            ]
        );
        for tool in of_key(&key(false)) {
            assert!(tool.shown(&key(false)).input_schema["properties"].get(CONFIRM).is_none());
        }
        let pause = json!({"id": "cmp_1", "status": "paused"});
        let start = json!({"id": "cmp_1", "status": "active"});
        let tool = find("campaigns_set_status").unwrap();
        assert_eq!(tool.reaches(pause.as_object().unwrap()), None);
        assert!(tool.reaches(start.as_object().unwrap()).is_some());
    }

    #[test]
    fn a_key_sees_what_it_may_call() {
        let reader = Key { live: true, scopes: vec!["calls:read".into()] };
        let names: Vec<_> = of_key(&reader).map(|tool| tool.definition.name.clone()).collect();
        assert!(
            names.iter().any(|name| name == "calls_list") && names.iter().any(|name| name == "account_get"),
            "{names:?}"
        );
        assert!(names.iter().all(|name| name != "calls_place" && name != "agents_list"), "{names:?}");
        let test: Vec<_> = of_key(&key(false)).map(|tool| tool.definition.name.clone()).collect();
        assert!(test.iter().any(|name| name == "calls_place"), "{test:?}");
        assert!(test.iter().all(|name| name != "agents_create"), "a test key makes no agent: {test:?}");
        assert_eq!(
            find("agents_create").unwrap().missing(&reader).as_deref(),
            Some("the key lacks the scope agents:write")
        );
    }

    #[test]
    fn arguments_go_where_the_operation_takes_them() {
        let placed =
            called("calls_place", json!({"agentId": "agt_1", "toNumber": "+919812345678", "confirm": true}))
                .unwrap();
        assert_eq!((placed.method, placed.target.as_str()), ("POST", "/v1/calls"));
        assert_eq!(&placed.body[..], br#"{"agentId":"agt_1","toNumber":"+919812345678"}"#);
        assert_eq!(placed.idempotency_key.as_deref(), Some("made"));
        let again = called("calls_place", json!({"idempotencyKey": "mine"})).unwrap();
        assert_eq!(again.idempotency_key.as_deref(), Some("mine"));
        let read = called("calls_get", json!({"id": "call/../1"})).unwrap();
        assert_eq!((read.target.as_str(), read.body.len()), ("/v1/calls/call%2F..%2F1", 0));
        let listed = called("calls_list", json!({"agentId": "a&b", "limit": null})).unwrap();
        assert_eq!(listed.target, "/v1/calls?limit=20&agentId=a%26b");
        let found = called("knowledge_bases_search", json!({"id": "kb_1", "q": "opening hours"})).unwrap();
        assert_eq!(found.target, "/v1/knowledge-bases/kb_1/search?q=opening%20hours&limit=5");
        assert_eq!(called("calls_list", json!({"limit": 3})).unwrap().target, "/v1/calls?limit=3");
        let saved = called("flows_save", json!({"id": "agt_1", "graph": {"nodes": []}})).unwrap();
        assert_eq!(
            (saved.target.as_str(), &saved.body[..]),
            ("/v1/agents/agt_1/flow", &br#"{"graph":{"nodes":[]}}"#[..])
        );
        assert_eq!(called("campaigns_run", json!({"id": "cmp_1"})).unwrap().body.len(), 0);
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (tool, arguments, named) in [
            ("calls_get", json!({}), "id is required"),
            ("calls_get", json!({"id": ""}), "id is required"),
            ("calls_get", json!({"id": {}}), "id is required"),
            ("calls_list", json!({"agentId": ["a"]}), "agentId must be"),
            ("calls_list", json!({"agent": "a"}), "agent is no argument"),
            ("calls_place", json!({"to": "+91"}), "to is no argument of this tool; it has: agentId"),
            ("calls_place", json!({"idempotencyKey": "a\nb"}), "idempotencyKey must be"),
            ("calls_place", json!({"idempotencyKey": " "}), "idempotencyKey must be"),
        ] {
            let why = called(tool, arguments).unwrap_err();
            assert!(why.starts_with(named), "{why}");
        }
    }
}

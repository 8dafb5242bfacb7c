//! From a client's JSON to a [`Flow`] and back. A body that is not a flow graph is refused, and the error
//! names the field (docs/contract/flows.md#drafts-and-publishing). What a draft may lack is left empty and
//! judged by `check.rs`. Unknown fields are ignored here; the store keeps the client's own JSON.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde_json::{Map, Value};

use super::graph::{
    Branch, Case, Collect, Converse, DEFAULT_ATTEMPTS, DEFAULT_MAX_TURNS, Document, End, Exit, Field,
    FieldKind, Flow, Message, Node, NodeKind, Op, Say, Tool, Transfer, TransferMode, Variable,
};
use super::template;
use crate::speech::LANGUAGES;

/// Most nodes in a flow.
pub const MAX_NODES: usize = 500;
/// Most declared variables: more than a text of 16,000 characters can use.
pub const MAX_VARIABLES: usize = 3000;
/// Longest text or prompt, in characters, the same as for a `systemPrompt` (docs/contract/flows.md#size).
pub const MAX_TEXT: usize = 16_000;
/// Most exits, cases, choices, tools, numbers or fields of one node.
pub const MAX_LIST: usize = 50;
/// Longest JSON of a tool's arguments or a message's template, in bytes.
pub const MAX_JSON: usize = 64 * 1024;
const MAX_ID: usize = 64;
const MAX_LINE: usize = 1000;
const MAX_ATTEMPTS: u64 = 10;
const MAX_MAX_TURNS: u64 = 200;

/// The body is not a flow graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphError {
    /// The invalid field, such as `nodes[2].attempts`; `graph` for the whole.
    pub field: String,
    /// What it must be.
    pub message: String,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.message)
    }
}

impl std::error::Error for GraphError {}

type Parsed<T> = Result<T, GraphError>;

impl Flow {
    /// Reads `{startNodeId, nodes, variables}`. `null` counts as absent everywhere; only `nodes` is required.
    ///
    /// # Errors
    /// The first field with a wrong type, an unknown node type, operator or mode, a duplicate id, or a value
    /// over its limit.
    pub fn parse(graph: &Value) -> Parsed<Self> {
        let root = Fields { map: object(graph, "graph")?, path: String::new() };
        let start_node_id = root.id("startNodeId")?;
        let Some(nodes) = root.present("nodes") else { return root.refuse("nodes", "is required") };
        let nodes = list(nodes, "nodes", MAX_NODES)?;
        let mut seen = HashSet::new();
        let mut parsed = Vec::with_capacity(nodes.len());
        for (index, value) in nodes.iter().enumerate() {
            let path = format!("nodes[{index}]");
            let node = node(&Fields { map: object(value, &path)?, path })?;
            if !seen.insert(node.id.clone()) {
                return Err(GraphError {
                    field: format!("nodes[{index}].id"),
                    message: format!("must be unique; {} is used twice", node.id),
                });
            }
            parsed.push(node);
        }
        let variables = root.each("variables", MAX_VARIABLES, variable)?;
        let mut names = HashSet::new();
        if let Some(index) = variables.iter().position(|variable| !names.insert(variable.name.as_str())) {
            return Err(GraphError {
                field: format!("variables[{index}].name"),
                message: format!("must be unique; {} is used twice", variables[index].name),
            });
        }
        Ok(Self { start_node_id, nodes: parsed, variables })
    }

    /// The graph as JSON; [`Flow::parse`] reads the same flow from it.
    pub fn to_json(&self) -> Value {
        let mut root = Writer::default();
        root.put("startNodeId", self.start_node_id.clone().map_or(Value::Null, Value::from));
        root.put("nodes", Value::Array(self.nodes.iter().map(node_json).collect()));
        root.put("variables", Value::Array(self.variables.iter().map(variable_json).collect()));
        root.done()
    }
}

/// An object being read, with the path that leads to it.
struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> Fields<'a> {
    fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn refuse<T>(&self, key: &str, message: impl Into<String>) -> Parsed<T> {
        Err(GraphError { field: self.at(key), message: message.into() })
    }

    fn present(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn line(&self, key: &str, max: usize) -> Parsed<Option<String>> {
        self.present(key).map(|value| text(value, &self.at(key), max)).transpose()
    }

    fn text(&self, key: &str) -> Parsed<String> {
        Ok(self.line(key, MAX_TEXT)?.unwrap_or_default())
    }

    /// An id, or an edge to a node; an empty text counts as absent.
    fn id(&self, key: &str) -> Parsed<Option<String>> {
        Ok(self.line(key, MAX_ID)?.filter(|id| !id.is_empty()))
    }

    fn flag(&self, key: &str) -> Parsed<bool> {
        match self.present(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => self.refuse(key, "must be true or false"),
        }
    }

    fn count(&self, key: &str, max: u64, default: u32) -> Parsed<u32> {
        let Some(value) = self.present(key) else { return Ok(default) };
        match value
            .as_u64()
            .filter(|count| (1..=max).contains(count))
            .and_then(|count| u32::try_from(count).ok())
        {
            Some(count) => Ok(count),
            None => self.refuse(key, format!("must be a whole number from 1 to {max}")),
        }
    }

    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Parsed<Option<T>> {
        let Some(value) = self.present(key) else { return Ok(None) };
        match words.iter().find(|(word, _)| value.as_str() == Some(*word)) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => self.refuse(
                key,
                format!(
                    "must be one of {}",
                    words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
                ),
            ),
        }
    }

    fn texts(&self, key: &str, max: usize) -> Parsed<Vec<String>> {
        let Some(value) = self.present(key) else { return Ok(Vec::new()) };
        let path = self.at(key);
        list(value, &path, MAX_LIST)?
            .iter()
            .enumerate()
            .map(|(index, item)| text(item, &format!("{path}[{index}]"), max))
            .collect()
    }

    fn each<T>(&self, key: &str, max: usize, parse: impl Fn(&Fields<'_>) -> Parsed<T>) -> Parsed<Vec<T>> {
        let Some(value) = self.present(key) else { return Ok(Vec::new()) };
        let path = self.at(key);
        let item = |(index, item)| {
            let path = format!("{path}[{index}]");
            parse(&Fields { map: object(item, &path)?, path })
        };
        list(value, &path, max)?.iter().enumerate().map(item).collect()
    }

    fn sized(&self, key: &str, value: &Value) -> Parsed<()> {
        if value.to_string().len() > MAX_JSON {
            self.refuse(key, format!("is longer than {MAX_JSON} bytes"))
        } else {
            Ok(())
        }
    }
}

fn object<'a>(value: &'a Value, path: &str) -> Parsed<&'a Map<String, Value>> {
    value
        .as_object()
        .ok_or_else(|| GraphError { field: path.to_owned(), message: "must be an object".into() })
}

fn list<'a>(value: &'a Value, path: &str, max: usize) -> Parsed<&'a [Value]> {
    let refused = |message: String| Err(GraphError { field: path.to_owned(), message });
    match value.as_array() {
        None => refused("must be a list".into()),
        Some(items) if items.len() > max => refused(format!("has more than {max} entries")),
        Some(items) => Ok(items),
    }
}

fn text(value: &Value, path: &str, max: usize) -> Parsed<String> {
    let refused = |message: String| Err(GraphError { field: path.to_owned(), message });
    match value.as_str() {
        None => refused("must be a string".into()),
        Some(text) if text.chars().nth(max).is_some() => refused(format!("is longer than {max} characters")),
        Some(text) => Ok(text.to_owned()),
    }
}

fn variable(fields: &Fields<'_>) -> Parsed<Variable> {
    let name = fields.text("name")?;
    if !template::is_name(&name) {
        return fields
            .refuse("name", "must be a letter or _, then letters, digits and _, at most 64 characters");
    }
    let default = fields.present("default");
    match default {
        None | Some(Value::Bool(_) | Value::Number(_)) => {}
        Some(Value::String(_)) => drop(fields.line("default", MAX_LINE)?),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) => {
            return fields.refuse("default", "must be a string, a number or a boolean");
        }
    }
    let description = fields.line("description", MAX_LINE)?;
    Ok(Variable { name, required: fields.flag("required")?, default: default.cloned(), description })
}

fn node(fields: &Fields<'_>) -> Parsed<Node> {
    let Some(id) = fields.id("id")? else { return fields.refuse("id", "is required") };
    let name = fields.line("name", MAX_LINE)?;
    let Some(kind) = fields.present("type") else { return fields.refuse("type", "is required") };
    let kind = match kind.as_str() {
        Some("say") => NodeKind::Say(Say { text: fields.text("text")?, next: fields.id("next")? }),
        Some("collect") => NodeKind::Collect(collect(fields)?),
        Some("converse") => NodeKind::Converse(converse(fields)?),
        Some("branch") => NodeKind::Branch(Branch {
            cases: fields.each("cases", MAX_LIST, case)?,
            otherwise: fields.id("otherwise")?,
        }),
        Some("tool") => NodeKind::Tool(tool(fields)?),
        Some("transfer") => NodeKind::Transfer(transfer(fields)?),
        Some("message") => NodeKind::Message(message(fields)?),
        Some("document") => NodeKind::Document(document(fields)?),
        Some("end") => NodeKind::End(End { text: fields.text("text")?, outcome: fields.id("outcome")? }),
        _ => {
            return fields.refuse(
                "type",
                "must be one of say, collect, converse, branch, tool, transfer, message, document, end",
            );
        }
    };
    let texts = texts(fields, &kind)?;
    Ok(Node { id, name, kind, texts })
}

/// The text of a node in further languages.
fn texts(fields: &Fields<'_>, kind: &NodeKind) -> Parsed<BTreeMap<String, String>> {
    let Some(value) = fields.present("texts") else { return Ok(BTreeMap::new()) };
    if !kind.has_text() {
        return fields.refuse("texts", "is only for the types say, collect, transfer, message and end");
    }
    let path = fields.at("texts");
    let inner = Fields { map: object(value, &path)?, path };
    let mut texts = BTreeMap::new();
    for language in inner.map.keys() {
        if !LANGUAGES.contains(&language.as_str()) {
            let names = LANGUAGES.join(", ");
            return inner.refuse(language, format!("is not a language of agents: {names}"));
        }
        texts.insert(language.clone(), inner.text(language)?);
    }
    Ok(texts)
}

fn collect(fields: &Fields<'_>) -> Parsed<Collect> {
    let field = match fields.present("field") {
        None => Field::default(),
        Some(value) => {
            let path = fields.at("field");
            let inner = Fields { map: object(value, &path)?, path };
            let kind = inner.word("type", &FieldKind::WORDS)?.unwrap_or_default();
            let confirm = inner.flag("confirm")?;
            if confirm && !kind.is_read_back() {
                return inner
                    .refuse("confirm", "is only for the types date, time, amount, phone, email and pincode");
            }
            let secret = inner.flag("secret")?;
            if secret && !kind.may_be_secret() {
                return inner.refuse("secret", "is only for the types text and number");
            }
            Field {
                key: inner.id("key")?.unwrap_or_default(),
                label: inner.line("label", MAX_LINE)?.unwrap_or_default(),
                kind,
                choices: inner.texts("choices", MAX_LINE)?,
                confirm,
                secret,
            }
        }
    };
    Ok(Collect {
        text: fields.text("text")?,
        field,
        attempts: fields.count("attempts", MAX_ATTEMPTS, DEFAULT_ATTEMPTS)?,
        next: fields.id("next")?,
        on_fail: fields.id("onFail")?,
    })
}

fn converse(fields: &Fields<'_>) -> Parsed<Converse> {
    let exit = |fields: &Fields<'_>| {
        Ok(Exit { when: fields.line("when", MAX_LINE)?.unwrap_or_default(), next: fields.id("next")? })
    };
    Ok(Converse {
        prompt: fields.text("prompt")?,
        use_knowledge: fields.flag("useKnowledge")?,
        tool_ids: fields.texts("toolIds", MAX_ID)?,
        exits: fields.each("exits", MAX_LIST, exit)?,
        max_turns: fields.count("maxTurns", MAX_MAX_TURNS, DEFAULT_MAX_TURNS)?,
    })
}

/// A variable may be written in its braces: `{{plan}}` means `plan`.
fn case(fields: &Fields<'_>) -> Parsed<Case> {
    let variable = fields.line("variable", MAX_LINE)?.unwrap_or_default();
    let variable = match template::names(&variable).as_slice() {
        [name] => (*name).to_owned(),
        _ => variable.trim().to_owned(),
    };
    let value = fields.present("value");
    value.map_or(Ok(()), |value| fields.sized("value", value))?;
    Ok(Case {
        variable,
        op: fields.word("op", &Op::WORDS)?.unwrap_or(Op::Eq),
        value: value.cloned(),
        next: fields.id("next")?,
    })
}

fn tool(fields: &Fields<'_>) -> Parsed<Tool> {
    let arguments = match fields.present("arguments") {
        None => Map::new(),
        Some(value) => {
            fields.sized("arguments", value)?;
            object(value, &fields.at("arguments"))?.clone()
        }
    };
    let save_as = fields.id("saveAs")?;
    if save_as.as_deref().is_some_and(|name| !template::is_name(name)) {
        return fields
            .refuse("saveAs", "must be a letter or _, then letters, digits and _, at most 64 characters");
    }
    Ok(Tool {
        tool_id: fields.id("toolId")?.unwrap_or_default(),
        arguments,
        save_as,
        next: fields.id("next")?,
        on_error: fields.id("onError")?,
    })
}

fn transfer(fields: &Fields<'_>) -> Parsed<Transfer> {
    Ok(Transfer {
        transfer_numbers: fields.texts("transferNumbers", MAX_ID)?,
        text: fields.text("text")?,
        mode: fields.word("mode", &MODES)?.unwrap_or_default(),
        on_fail: fields.id("onFail")?,
    })
}

fn message(fields: &Fields<'_>) -> Parsed<Message> {
    let template = fields.present("template");
    match template {
        None => {}
        Some(value @ (Value::String(_) | Value::Object(_))) => fields.sized("template", value)?,
        Some(_) => return fields.refuse("template", "must be a template's name or an object"),
    }
    Ok(Message { template: template.cloned(), text: fields.text("text")?, next: fields.id("next")? })
}

/// A field to extract from a document: a key, or an object with a `key`.
fn document(fields: &Fields<'_>) -> Parsed<Document> {
    let mut keys = Vec::new();
    if let Some(value) = fields.present("fields") {
        let path = fields.at("fields");
        for (index, item) in list(value, &path, MAX_LIST)?.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match item.as_object() {
                None => keys.push(text(item, &path, MAX_ID)?),
                Some(map) => {
                    let inner = Fields { map, path };
                    let Some(key) = inner.id("key")? else { return inner.refuse("key", "is required") };
                    keys.push(key);
                }
            }
        }
    }
    Ok(Document {
        label: fields.line("label", MAX_LINE)?.unwrap_or_default(),
        fields: keys,
        attempts: fields.count("attempts", MAX_ATTEMPTS, DEFAULT_ATTEMPTS)?,
        next: fields.id("next")?,
        on_fail: fields.id("onFail")?,
    })
}

const MODES: [(&str, TransferMode); 2] = [("warm", TransferMode::Warm), ("cold", TransferMode::Cold)];

fn word_of<T: PartialEq>(words: &[(&'static str, T)], meaning: &T) -> &'static str {
    words.iter().find(|(_, other)| other == meaning).map_or("", |(word, _)| word)
}

/// A JSON object being built, without empty texts and absent edges.
#[derive(Default)]
struct Writer(Map<String, Value>);

impl Writer {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.put(key, text);
        }
    }

    fn id(&mut self, key: &str, id: &Option<String>) {
        if let Some(id) = id {
            self.put(key, id.as_str());
        }
    }

    fn value(&mut self, key: &str, value: &Option<Value>) {
        if let Some(value) = value {
            self.put(key, value.clone());
        }
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn variable_json(variable: &Variable) -> Value {
    let mut to = Writer::default();
    to.put("name", variable.name.as_str());
    to.put("required", variable.required);
    to.value("default", &variable.default);
    to.id("description", &variable.description);
    to.done()
}

fn node_json(node: &Node) -> Value {
    let mut to = Writer::default();
    to.put("id", node.id.as_str());
    let kind = |to: &mut Writer, kind: &str| {
        to.put("type", kind);
        to.id("name", &node.name);
    };
    match &node.kind {
        NodeKind::Say(say) => {
            kind(&mut to, "say");
            to.text("text", &say.text);
            to.id("next", &say.next);
        }
        NodeKind::Collect(collect) => {
            kind(&mut to, "collect");
            collect_json(&mut to, collect);
        }
        NodeKind::Converse(converse) => {
            kind(&mut to, "converse");
            converse_json(&mut to, converse);
        }
        NodeKind::Branch(branch) => {
            kind(&mut to, "branch");
            to.put("cases", Value::Array(branch.cases.iter().map(case_json).collect()));
            to.id("otherwise", &branch.otherwise);
        }
        NodeKind::Tool(tool) => {
            kind(&mut to, "tool");
            to.text("toolId", &tool.tool_id);
            to.put("arguments", tool.arguments.clone());
            to.id("saveAs", &tool.save_as);
            to.id("next", &tool.next);
            to.id("onError", &tool.on_error);
        }
        NodeKind::Transfer(transfer) => {
            kind(&mut to, "transfer");
            to.put("transferNumbers", transfer.transfer_numbers.clone());
            to.text("text", &transfer.text);
            to.put("mode", word_of(&MODES, &transfer.mode));
            to.id("onFail", &transfer.on_fail);
        }
        NodeKind::Message(message) => {
            kind(&mut to, "message");
            to.value("template", &message.template);
            to.text("text", &message.text);
            to.id("next", &message.next);
        }
        NodeKind::Document(document) => {
            kind(&mut to, "document");
            to.text("label", &document.label);
            to.put("fields", document.fields.clone());
            to.put("attempts", document.attempts);
            to.id("next", &document.next);
            to.id("onFail", &document.on_fail);
        }
        NodeKind::End(end) => {
            kind(&mut to, "end");
            to.text("text", &end.text);
            to.id("outcome", &end.outcome);
        }
    }
    if !node.texts.is_empty() {
        let texts = node.texts.iter().map(|(language, text)| (language.clone(), text.as_str().into()));
        to.put("texts", texts.collect::<Map<String, Value>>());
    }
    to.done()
}

fn collect_json(to: &mut Writer, collect: &Collect) {
    let mut field = Writer::default();
    field.text("key", &collect.field.key);
    field.text("label", &collect.field.label);
    field.put("type", word_of(&FieldKind::WORDS, &collect.field.kind));
    if !collect.field.choices.is_empty() {
        field.put("choices", collect.field.choices.clone());
    }
    if collect.field.confirm {
        field.put("confirm", true);
    }
    if collect.field.secret {
        field.put("secret", true);
    }
    to.text("text", &collect.text);
    to.put("field", field.done());
    to.put("attempts", collect.attempts);
    to.id("next", &collect.next);
    to.id("onFail", &collect.on_fail);
}

fn converse_json(to: &mut Writer, converse: &Converse) {
    let exit = |exit: &Exit| {
        let mut to = Writer::default();
        to.text("when", &exit.when);
        to.id("next", &exit.next);
        to.done()
    };
    to.text("prompt", &converse.prompt);
    to.put("useKnowledge", converse.use_knowledge);
    to.put("toolIds", converse.tool_ids.clone());
    to.put("exits", Value::Array(converse.exits.iter().map(exit).collect()));
    to.put("maxTurns", converse.max_turns);
}

fn case_json(case: &Case) -> Value {
    let mut to = Writer::default();
    to.text("variable", &case.variable);
    to.put("op", word_of(&Op::WORDS, &case.op));
    to.value("value", &case.value);
    to.id("next", &case.next);
    to.done()
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;

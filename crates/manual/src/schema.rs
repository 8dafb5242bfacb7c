//! Reads the JSON Schemas of the OpenAPI document: the fields of an object for people, and values that fit.

use serde_json::{Map, Value, json};

/// Deepest nesting of fields that is shown, and of values that are made.
const DEEPEST: usize = 7;

/// A field of an object.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name on the wire.
    pub name: String,
    /// Its type in words: `string or null`.
    pub kind: String,
    /// Limits, formats and defaults.
    pub notes: Vec<String>,
    /// Whether it must be sent, or is always there.
    pub required: bool,
    /// Its description, Markdown.
    pub about: String,
    /// The words that it may have.
    pub words: Vec<String>,
    /// Whether new words may come.
    pub open: bool,
    /// The fields of the objects that it holds.
    pub nested: Vec<Field>,
}

/// The schemas of a document.
#[derive(Debug, Clone, Copy)]
pub struct Schemas<'a> {
    document: &'a Value,
}

impl<'a> Schemas<'a> {
    /// Of an OpenAPI document.
    pub fn new(document: &'a Value) -> Self {
        Self { document }
    }

    /// What a reference stands for, and its name; anything else is itself.
    pub fn resolve(&self, value: &'a Value) -> (&'a Value, Option<&'a str>) {
        let (mut found, mut name) = (value, None);
        // A document of ours refers to itself a few times at most.
        for _ in 0..8 {
            let Some(reference) = found["$ref"].as_str() else { break };
            let Some(next) = self.document.pointer(reference.trim_start_matches('#')) else { break };
            found = next;
            name = Some(reference);
        }
        (found, name)
    }

    /// The fields of an object, or of the items of a list.
    pub fn fields(&self, schema: &'a Value) -> Vec<Field> {
        self.inside(schema, &mut Vec::new())
    }

    /// A value with a name, such as a parameter, as a field.
    pub fn named_field(&self, name: &str, schema: &'a Value) -> Field {
        self.field(name, schema, false, &mut Vec::new())
    }

    fn inside(&self, schema: &'a Value, open: &mut Vec<&'a str>) -> Vec<Field> {
        if open.len() > DEEPEST {
            return Vec::new();
        }
        let (shape, name) = self.resolve(schema);
        let name = name.unwrap_or("");
        if !name.is_empty() && open.contains(&name) {
            return Vec::new();
        }
        open.push(name);
        let mut out = Vec::new();
        let required: Vec<&str> = texts(&shape["required"]);
        for (name, inner) in shape["properties"].as_object().into_iter().flatten() {
            out.push(self.field(name, inner, required.contains(&name.as_str()), open));
        }
        for part in shape["allOf"].as_array().into_iter().flatten() {
            out.extend(self.inside(part, open));
        }
        let choices = self.choices(shape);
        match choices.as_slice() {
            [] => {}
            [only] => {
                let only: &'a Value = only;
                out.extend(self.inside(only, open));
            }
            several => {
                for choice in several.iter().copied() {
                    if self.is_object(choice) {
                        out.push(self.variant(choice, open));
                    }
                }
            }
        }
        if shape["items"].is_object() {
            out.extend(self.inside(&shape["items"], open));
        }
        if shape["additionalProperties"].is_object() {
            out.extend(self.inside(&shape["additionalProperties"], open));
        }
        open.pop();
        out
    }

    /// One of several kinds of objects, as a field whose name says which.
    fn variant(&self, choice: &'a Value, open: &mut Vec<&'a str>) -> Field {
        let (shape, name) = self.resolve(choice);
        let constant = shape["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .find_map(|(name, inner)| Some(format!("{name}: {}", inner["const"].as_str()?)));
        let short = name.and_then(|name| name.rsplit('/').next()).map(str::to_owned);
        let title = shape["title"].as_str().map(str::to_owned);
        Field {
            name: constant.or(short).or(title).unwrap_or_else(|| "or".into()),
            kind: "one kind of object".into(),
            notes: Vec::new(),
            required: false,
            about: description(choice, shape),
            words: Vec::new(),
            open: false,
            nested: self.inside(choice, open),
        }
    }

    fn is_object(&self, schema: &'a Value) -> bool {
        let (shape, _) = self.resolve(schema);
        shape["properties"].is_object() || shape["allOf"].is_array() || !self.choices(shape).is_empty()
    }

    /// The members of `anyOf` or `oneOf` apart from null.
    fn choices(&self, shape: &'a Value) -> Vec<&'a Value> {
        let list = shape["anyOf"].as_array().or_else(|| shape["oneOf"].as_array());
        list.into_iter().flatten().filter(|choice| choice["type"] != json!("null")).collect()
    }

    fn field(&self, name: &str, schema: &'a Value, required: bool, open: &mut Vec<&'a str>) -> Field {
        let (shape, _) = self.resolve(schema);
        let mut words = Vec::new();
        let mut known = false;
        self.words(schema, &mut words, &mut known);
        Field {
            name: name.to_owned(),
            kind: self.kind(schema, 0),
            notes: self.notes(schema, shape),
            required,
            about: description(schema, shape),
            open: !words.is_empty() && known,
            words,
            nested: self.inside(schema, open),
        }
    }

    /// The words of a closed or an open set; `open` becomes true where any other text may come, too.
    fn words(&self, schema: &'a Value, words: &mut Vec<String>, open: &mut bool) {
        let (shape, _) = self.resolve(schema);
        let mut add = |word: &Value| match word {
            Value::Null => {}
            Value::String(word) => words.push(word.clone()),
            other => words.push(other.to_string()),
        };
        if let Some(all) = shape["enum"].as_array() {
            all.iter().for_each(&mut add);
        } else if !shape["const"].is_null() {
            add(&shape["const"]);
        }
        for choice in self.choices(shape) {
            let (inner, _) = self.resolve(choice);
            if inner["type"] == json!("string") && inner["enum"].is_null() && inner["const"].is_null() {
                *open = true;
            }
            if !self.is_object(choice) {
                self.words(choice, words, open);
            }
        }
        if shape["type"] == json!("array") && shape["items"].is_object() && !self.is_object(&shape["items"]) {
            self.words(&shape["items"], words, open);
        }
    }

    /// The type of a value in words.
    pub fn kind(&self, schema: &'a Value, depth: usize) -> String {
        let (shape, _) = self.resolve(schema);
        if depth > 3 {
            return "value".into();
        }
        let mut kinds: Vec<String> = match &shape["type"] {
            Value::String(kind) => vec![self.named(kind, shape, depth)],
            Value::Array(kinds) => {
                kinds.iter().filter_map(Value::as_str).map(|kind| self.named(kind, shape, depth)).collect()
            }
            _ => Vec::new(),
        };
        let list = shape["anyOf"].as_array().or_else(|| shape["oneOf"].as_array());
        kinds.extend(list.into_iter().flatten().map(|choice| self.kind(choice, depth + 1)));
        if kinds.is_empty() {
            kinds.push(match (&shape["const"], &shape["enum"]) {
                (Value::Null, Value::Null) if shape["properties"].is_object() => "object".into(),
                (Value::Null, Value::Null) => "any value".into(),
                _ => "string".into(),
            });
        }
        let mut seen = Vec::new();
        kinds.retain(|kind| {
            !seen.contains(kind) && {
                seen.push(kind.clone());
                true
            }
        });
        kinds.join(" or ")
    }

    fn named(&self, kind: &str, shape: &'a Value, depth: usize) -> String {
        match kind {
            "array" if shape["items"].is_object() => {
                format!("array of {}", self.kind(&shape["items"], depth + 1))
            }
            "object" if shape["additionalProperties"].is_object() && shape["properties"].is_null() => {
                format!("map to {}", self.kind(&shape["additionalProperties"], depth + 1))
            }
            kind => kind.to_owned(),
        }
    }

    fn notes(&self, schema: &'a Value, shape: &'a Value) -> Vec<String> {
        let mut notes = Vec::new();
        let number = |name: &str| shape.get(name).filter(|value| value.is_number()).map(Value::to_string);
        match shape["format"].as_str() {
            Some("date-time") => notes.push("time, ISO 8601".into()),
            Some("date") => notes.push("day, YYYY-MM-DD".into()),
            Some("binary" | "uri") | None => {}
            Some(other) if other.starts_with("int") || other.starts_with("uint") || other == "double" => {}
            Some(other) => notes.push(other.to_owned()),
        }
        let range = |least: Option<String>, most: Option<String>, unit: &str| match (least, most) {
            (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
            (Some(least), None) => Some(format!("at least {least}{unit}")),
            (None, Some(most)) => Some(format!("at most {most}{unit}")),
            (None, None) => None,
        };
        notes.extend(range(number("minLength").filter(|n| n != "0"), number("maxLength"), " characters"));
        notes.extend(range(number("minimum"), number("maximum"), ""));
        notes.extend(range(number("minItems").filter(|n| n != "0"), number("maxItems"), " items"));
        notes.extend(range(None, number("maxProperties"), " members"));
        let default = schema.get("default").or_else(|| shape.get("default"));
        if let Some(default) = default.filter(|default| !default.is_null()) {
            notes.push(format!("default {default}"));
        }
        notes
    }

    /// A value that fits: the example of the schema where it has one, else one made by its type. Of an object the
    /// required fields, and all of them where `all` is set.
    pub fn value(&self, name: &str, schema: &'a Value, all: bool) -> Value {
        self.value_at(name, schema, all, 0)
    }

    fn value_at(&self, name: &str, schema: &'a Value, all: bool, depth: usize) -> Value {
        let (shape, _) = self.resolve(schema);
        for source in [schema, shape] {
            let example =
                source["examples"].as_array().and_then(|list| list.first()).or_else(|| source.get("example"));
            if let Some(example) = example {
                return example.clone();
            }
        }
        for keyword in ["const", "default"] {
            if let Some(value) = shape.get(keyword).filter(|value| !value.is_null()) {
                return value.clone();
            }
        }
        if let Some(word) = shape["enum"].as_array().and_then(|words| words.first()) {
            return word.clone();
        }
        if depth > DEEPEST {
            return Value::Null;
        }
        if let Some(choice) = self.choices(shape).first() {
            return self.value_at(name, choice, all, depth + 1);
        }
        let kind = match &shape["type"] {
            Value::String(kind) => kind.as_str(),
            Value::Array(kinds) => {
                kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
            }
            _ => "object",
        };
        match kind {
            "string" => json!(text_named(name, shape)),
            "integer" | "number" => {
                shape.get("minimum").filter(|least| **least != json!(0)).cloned().unwrap_or(json!(1))
            }
            "boolean" => json!(true),
            "array" => json!([self.value_at(
                name.strip_suffix('s').unwrap_or(name),
                &shape["items"],
                all,
                depth + 1
            )]),
            "object" => {
                let required: Vec<&str> = texts(&shape["required"]);
                let mut out = Map::new();
                for (name, inner) in shape["properties"].as_object().into_iter().flatten() {
                    let wanted = required.contains(&name.as_str());
                    if wanted || (all && depth < 2) {
                        out.insert(name.clone(), self.value_at(name, inner, all && !wanted, depth + 1));
                    }
                }
                for part in shape["allOf"].as_array().into_iter().flatten() {
                    if let Value::Object(more) = self.value_at(name, part, all, depth + 1) {
                        out.extend(more);
                    }
                }
                Value::Object(out)
            }
            _ => Value::Null,
        }
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn description(schema: &Value, shape: &Value) -> String {
    let own = schema["description"].as_str().or_else(|| shape["description"].as_str());
    own.unwrap_or_default().to_owned()
}

/// A text such as fields with this name have.
fn text_named(name: &str, shape: &Value) -> String {
    match shape["format"].as_str() {
        Some("date-time") => return "2026-01-15T10:00:00.000Z".into(),
        Some("date") => return "2026-01-15".into(),
        _ => {}
    }
    let lower = name.to_lowercase();
    let ids = [
        ("agent", "agt"),
        ("call", "call"),
        ("contact", "con"),
        ("campaign", "cmp"),
        ("nudge", "ndg"),
        ("tool", "tool"),
        ("template", "tpl"),
        ("session", "chatsess"),
        ("chat", "chatsess"),
        ("stream", "dst"),
        ("endpoint", "whe"),
        ("knowledgebase", "kb"),
        ("message", "camsg"),
        ("document", "doc"),
        ("user", "usr"),
        ("number", "num"),
    ];
    if lower.ends_with("id") || lower.ends_with("ids") {
        let found = ids.iter().find(|(noun, _)| lower.starts_with(noun));
        if let Some((_, prefix)) = found {
            return format!("{prefix}_01h00000000000000000000000");
        }
    }
    match lower.as_str() {
        "tonumber" | "phone" | "tonumbers" | "to" | "phones" => "+919812345678".into(),
        "fromnumber" | "from" => "+918045670001".into(),
        "url" => "https://example.com/hook".into(),
        "email" => "meera@example.com".into(),
        "name" => "Meera".into(),
        "text" => "When does my parcel arrive?".into(),
        "language" => "en".into(),
        "systemprompt" => "Ask whether the parcel arrived, and thank them.".into(),
        "externalref" => "order-1042".into(),
        "id" => "id_01h00000000000000000000000".into(),
        _ => "text".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_say_what_a_client_needs() {
        let document = json!({"components": {"schemas": {
            "Node": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string", "maxLength": 40, "description": "Its id."},
                "state": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "string"}]},
                "next": {"anyOf": [{"$ref": "#/components/schemas/Node"}, {"type": "null"}]},
                "many": {"type": "array", "maxItems": 5, "items": {"$ref": "#/components/schemas/Leaf"}},
            }},
            "Leaf": {"type": "object", "properties": {"at": {"type": ["string", "null"], "format": "date-time"}}},
        }}});
        let schemas = Schemas::new(&document);
        let reference = json!({"$ref": "#/components/schemas/Node"});
        let fields = schemas.fields(&reference);
        let shown: Vec<_> =
            fields.iter().map(|field| (field.name.as_str(), field.kind.as_str(), field.required)).collect();
        assert_eq!(
            shown,
            [
                ("id", "string", true),
                ("state", "string", false),
                ("next", "object or null", false),
                ("many", "array of object", false)
            ]
        );
        assert_eq!(fields[0].notes, ["at most 40 characters"]);
        assert!(fields[1].open && fields[1].words == ["a", "b"], "{:?}", fields[1]);
        assert!(fields[2].nested.is_empty(), "a schema inside itself is shown once");
        assert_eq!(
            (fields[3].nested[0].kind.as_str(), fields[3].notes[0].as_str()),
            ("string or null", "at most 5 items")
        );
    }

    #[test]
    fn made_values_have_what_is_required() {
        let document = json!({});
        let schemas = Schemas::new(&document);
        let schema = json!({"type": "object", "required": ["agentId", "n"], "properties": {
            "agentId": {"type": "string"}, "n": {"type": "integer", "minimum": 10}, "more": {"type": "boolean"}}});
        let value = schemas.value("", &schema, false);
        assert_eq!(value, json!({"agentId": "agt_01h00000000000000000000000", "n": 10}));
        assert_eq!(schemas.value("", &schema, true)["more"], json!(true));
    }
}

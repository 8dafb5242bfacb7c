//! Schemas of Rust types. `schemars` derives JSON Schema from the types of a noun, with their serde attributes
//! and doc comments; here it is read into a [`Schema`], which checks requests and becomes the OpenAPI document.
//!
//! A field that is an `Option` may be absent. It may be null only where a type is written, since serde writes
//! null for `None`, and in a request where the field says `x-nullable`, where null has a meaning of its own; elsewhere an
//! optional field of a request that is null is taken for absent ([`Schema::drop_nulls`]). The other extensions are `x-maxBytes`,
//! a bound on the bytes of names and texts in a value, `x-maxValues`, the bound on the values in a body, and
//! `x-refusedAs`, the error code for a value above its ceiling and for a wrong value in a map.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::{Component, Field, Format, Schema, Shape, Unknown, schema};
use crate::envelope;
use crate::error_codes;

/// The schema of a request's body or of a part of it.
///
/// # Panics
/// The type says something that no [`Schema`] can hold; a test builds the schemas of all operations.
pub fn request<T: JsonSchema>() -> Schema {
    derived::<T>(Contract::Deserialize)
}

/// The schema of an answer that has no envelope.
///
/// # Panics
/// As [`request`].
pub fn answer<T: JsonSchema>() -> Schema {
    derived::<T>(Contract::Serialize)
}

/// The schema of `{data: …}`.
pub fn data<T: JsonSchema>() -> Schema {
    enveloped::<envelope::Data<T>>(format!("An answer with one object of the type `{}`.", T::schema_name()))
}

/// The schema of `{data: […]}`.
pub fn list<T: JsonSchema>() -> Schema {
    enveloped::<envelope::List<T>>(format!("All objects of the type `{}`, without paging.", T::schema_name()))
}

/// The schema of `{data: […], nextCursor}`.
pub fn page<T: JsonSchema + 'static>() -> Schema {
    let name = T::schema_name();
    enveloped::<envelope::Page<'static, T>>(format!(
        "A page of objects of the type `{name}`, with the cursor of the next page."
    ))
}

/// The schema of `{data: […], total}`.
pub fn counted<T: JsonSchema>() -> Schema {
    let name = T::schema_name();
    enveloped::<envelope::Counted<T>>(format!(
        "A page of objects of the type `{name}`, with their total number."
    ))
}

/// The schema of an envelope, which says what it holds.
fn enveloped<T: JsonSchema>(doc: String) -> Schema {
    let envelope = answer::<T>();
    let component = envelope.component.map(|known| {
        let schema = Schema { doc: Cow::Owned(doc), ..known.schema.clone() };
        Arc::new(Component { name: known.name.clone(), schema })
    });
    Schema { component, ..envelope }
}

fn derived<T: JsonSchema>(contract: Contract) -> Schema {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = contract;
    let mut generator = SchemaGenerator::new(settings);
    let root = generator.subschema_for::<T>();
    Reader { definitions: generator.definitions() }.read(root.as_value(), &T::schema_name())
}

struct Reader<'a> {
    definitions: &'a Map<String, Value>,
}

/// The keywords of one JSON Schema. Each is taken out when it is read, and none may be left.
struct Keywords<'a> {
    left: Map<String, Value>,
    place: &'a str,
}

impl Keywords<'_> {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.left.shift_remove(name)
    }

    fn number(&mut self, name: &str) -> Option<i64> {
        let value = self.take(name)?;
        Some(value.as_i64().unwrap_or_else(|| panic!("{}: {name} is no whole number: {value}", self.place)))
    }

    fn size(&mut self, name: &str) -> Option<usize> {
        self.number(name).and_then(|number| usize::try_from(number).ok())
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            other => panic!("{}: {name} is no text: {other}", self.place),
        }
    }

    fn list(&mut self, name: &str) -> Option<Vec<Value>> {
        match self.take(name)? {
            Value::Array(items) => Some(items),
            other => panic!("{}: {name} is no list: {other}", self.place),
        }
    }
}

fn is_null(value: &Value) -> bool {
    value.is_null() || value["type"] == "null"
}

/// The words of `enum` or `const`.
fn words(values: Vec<Value>) -> Vec<Cow<'static, str>> {
    values.into_iter().filter_map(|value| value.as_str().map(|word| Cow::Owned(word.to_owned()))).collect()
}

/// A doc comment as one line a paragraph.
fn unwrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

impl Reader<'_> {
    fn read(&self, json: &Value, place: &str) -> Schema {
        let keywords = match json {
            Value::Bool(true) => Map::new(),
            Value::Object(keywords) => keywords.clone(),
            other => panic!("{place}: no schema: {other}"),
        };
        let mut keywords = Keywords { left: keywords, place };
        let doc = keywords.text("description");
        let bytes = keywords.size("x-maxBytes");
        let values = keywords.size("x-maxValues");
        let refusal = keywords.text("x-refusedAs");
        let nullable = keywords.take("x-nullable").is_some();
        let mut out = self.shape(&mut keywords);
        assert!(keywords.left.is_empty(), "{place}: not understood: {:?}", keywords.left);
        if let Some(doc) = doc {
            out.doc = Cow::Owned(unwrapped(&doc));
        }
        if let Some(bytes) = bytes {
            out.bytes = bytes;
        }
        if let Some(values) = values {
            out.values = values;
        }
        if let Some(code) = refusal {
            let error = error_codes::ALL.iter().find(|error| error.code == code);
            out.refusal = Some(error.unwrap_or_else(|| panic!("{place}: {code} is no error code")));
        }
        out.nullable |= nullable;
        out
    }

    fn shape(&self, keywords: &mut Keywords<'_>) -> Schema {
        if let Some(name) = keywords.text("$ref") {
            return self.component(name.trim_start_matches("#/$defs/"));
        }
        if let Some(choices) = keywords.list("anyOf") {
            return self.any_of(choices, keywords.place);
        }
        if let Some(choices) = keywords.list("oneOf") {
            // An enum whose variants have doc comments: a `const` each.
            let all = choices.into_iter().flat_map(|mut choice| match choice["enum"].take() {
                Value::Array(words) => words,
                _ => vec![choice["const"].take()],
            });
            return schema(Shape::Choice(words(all.collect())));
        }
        let (kind, nullable) = match keywords.take("type") {
            None => (String::new(), false),
            Some(Value::String(kind)) => (kind, false),
            Some(Value::Array(kinds)) => {
                let kind = kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null");
                (kind.unwrap_or_default().to_owned(), kinds.iter().any(|kind| kind == "null"))
            }
            Some(other) => panic!("{}: type {other}", keywords.place),
        };
        let mut out = schema(self.kind(&kind, keywords));
        out.nullable = nullable;
        out
    }

    fn kind(&self, kind: &str, keywords: &mut Keywords<'_>) -> Shape {
        if let Some(values) = keywords.list("enum") {
            return Shape::Choice(words(values));
        }
        if let Some(word) = keywords.take("const") {
            return Shape::Choice(words(vec![word]));
        }
        match kind {
            "" => Shape::Any,
            "string" => text(keywords),
            "integer" => integer(keywords),
            "number" => {
                keywords.take("format");
                Shape::Number
            }
            "boolean" => Shape::Boolean,
            "array" => Shape::Array {
                items: Box::new(self.read(&keywords.take("items").unwrap_or(true.into()), keywords.place)),
                min: keywords.size("minItems").unwrap_or(0),
                max: keywords.size("maxItems").unwrap_or(usize::MAX),
            },
            "object" => self.object(keywords),
            other => panic!("{}: type {other}", keywords.place),
        }
    }

    fn component(&self, name: &str) -> Schema {
        let definition = self.definitions.get(name).unwrap_or_else(|| panic!("{name} is not defined"));
        let described = self.read(definition, name);
        let used = Schema { doc: Cow::Borrowed(""), ..described.clone() };
        Schema { component: Some(Arc::new(Component { name: name.to_owned(), schema: described })), ..used }
    }

    fn any_of(&self, choices: Vec<Value>, place: &str) -> Schema {
        let nullable = choices.iter().any(is_null);
        let mut choices: Vec<Schema> =
            choices.iter().filter(|choice| !is_null(choice)).map(|choice| self.read(choice, place)).collect();
        let mut out = if choices.len() == 1 { choices.remove(0) } else { schema(Shape::AnyOf(choices)) };
        out.nullable |= nullable;
        out
    }

    fn object(&self, keywords: &mut Keywords<'_>) -> Shape {
        let more = keywords.take("additionalProperties");
        let Some(Value::Object(properties)) = keywords.take("properties") else {
            let values = self.read(&more.unwrap_or(true.into()), keywords.place);
            let max = keywords.size("maxProperties").unwrap_or(usize::MAX);
            return Shape::Map { values: Box::new(values), max };
        };
        let unknown = match more {
            None => Unknown::Ignored,
            Some(Value::Bool(false)) => Unknown::Refused,
            Some(Value::Bool(true)) => Unknown::Kept,
            Some(other) => panic!("{}: additionalProperties {other}", keywords.place),
        };
        let required = keywords.list("required").unwrap_or_default();
        let fields = properties.into_iter().map(|(name, mut property)| {
            let default = property.as_object_mut().and_then(|keywords| keywords.shift_remove("default"));
            let null = property["x-nullable"] == true;
            let mut schema = self.read(&property, &format!("{}.{name}", keywords.place));
            let required = default.is_none() && required.contains(&Value::String(name.clone()));
            if !required {
                schema.nullable = null;
            }
            Field { name: Cow::Owned(name), schema, required, default }
        });
        Shape::Object { fields: fields.collect(), unknown }
    }
}

fn text(keywords: &mut Keywords<'_>) -> Shape {
    let format = match (keywords.text("format").as_deref(), keywords.text("pattern")) {
        (None, None) => None,
        (Some("date-time"), None) => Some(Format::Time),
        (Some("date"), None) => Some(Format::Date),
        (None, Some(pattern)) => {
            let prefix = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('_'));
            let prefix = prefix.unwrap_or_else(|| panic!("{}: pattern {pattern}", keywords.place));
            Some(Format::Id(Cow::Owned(prefix.to_owned())))
        }
        other => panic!("{}: {other:?}", keywords.place),
    };
    let (least, most) = match format {
        None => (0, usize::MAX),
        Some(Format::Date) => (10, 10),
        Some(_) => (1, 64),
    };
    let min = keywords.size("minLength").unwrap_or(least);
    Shape::Text { min, max: keywords.size("maxLength").unwrap_or(most), format }
}

/// Bounds that only say how wide the Rust type is are left out.
fn integer(keywords: &mut Keywords<'_>) -> Shape {
    let widest = match keywords.text("format").as_deref() {
        Some("uint8") => Some(i64::from(u8::MAX)),
        Some("uint16") => Some(i64::from(u16::MAX)),
        _ => None,
    };
    let min = keywords.number("minimum").unwrap_or(i64::MIN);
    let max = keywords.number("maximum").filter(|max| Some(*max) != widest).unwrap_or(i64::MAX);
    Shape::Integer { min, max }
}

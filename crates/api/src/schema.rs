//! Shapes of bodies and queries. One description both checks a request (naming the first wrong field) and
//! becomes JSON Schema in the OpenAPI document, so that the two cannot drift.

mod body;

use domain::ids::{Id, Kind};
use domain::time::Timestamp;
use serde_json::{Map, Value, json};

use crate::error_codes::ErrorCode;

pub use body::{MAX_DEPTH, MAX_VALUES, Unread, parse};

/// What a JSON value must look like.
#[derive(Debug, Clone)]
pub struct Schema {
    kind: Shape,
    nullable: bool,
    doc: &'static str,
    /// Most bytes of names and texts in it, wherever they stand; `usize::MAX` for no bound of its own.
    bytes: usize,
    /// What more than it may hold is refused with, instead of `invalid_request`.
    refusal: Option<&'static ErrorCode>,
}

#[derive(Debug, Clone)]
enum Shape {
    Any,
    Text { min: usize, max: usize, format: Option<Format> },
    Choice(Vec<&'static str>),
    Integer { min: i64, max: i64 },
    Number,
    Boolean,
    Array { items: Box<Schema>, min: usize, max: usize },
    Object { fields: Vec<Field>, unknown: Unknown },
    Map { values: Box<Schema>, max: usize },
    AnyOf(Vec<Schema>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Time,
    Id(&'static str),
    Url,
    Date,
}

/// What happens to fields that a body has and its schema has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// They are ignored: the contract grows additively.
    Ignored,
    /// They are refused with `unknown_field`.
    Refused,
    /// They are kept as they are sent.
    Kept,
}

/// One field of an object, or one parameter of a query.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its shape.
    pub schema: Schema,
    /// Whether it must be there.
    pub required: bool,
    /// What stands for it when it is absent.
    pub default: Option<Value>,
}

/// Why a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Path of the first field that does not fit, such as `settings.retryCount` or `contacts[2].phone`; empty
    /// for the body itself.
    pub field: String,
    /// What it must be, to be read after the field's name.
    pub must: String,
    /// Names of fields that do not exist, where those are refused.
    pub unknown: Vec<String>,
    /// What it is refused with, if not with `invalid_request`.
    pub error: Option<&'static ErrorCode>,
}

fn schema(kind: Shape) -> Schema {
    Schema { kind, nullable: false, doc: "", bytes: usize::MAX, refusal: None }
}

/// Any JSON value.
pub fn any() -> Schema {
    schema(Shape::Any)
}
/// Text of any length.
pub fn text() -> Schema {
    schema(Shape::Text { min: 0, max: usize::MAX, format: None })
}
/// Text of `min` to `max` characters.
pub fn text_of(min: usize, max: usize) -> Schema {
    schema(Shape::Text { min, max, format: None })
}
/// An id of a kind, in answers.
pub fn id<K: Kind>() -> Schema {
    schema(Shape::Text { min: 1, max: 64, format: Some(Format::Id(K::PREFIX)) })
}
/// An ISO 8601 date-time with `Z` or an offset.
pub fn time() -> Schema {
    schema(Shape::Text { min: 1, max: 64, format: Some(Format::Time) })
}
/// A calendar day, `YYYY-MM-DD`.
pub fn date() -> Schema {
    schema(Shape::Text { min: 10, max: 10, format: Some(Format::Date) })
}
/// An address; whether it may be used is judged elsewhere.
pub fn url() -> Schema {
    schema(Shape::Text { min: 1, max: 2048, format: Some(Format::Url) })
}
/// One of these words.
pub fn choice(words: &[&'static str]) -> Schema {
    schema(Shape::Choice(words.to_vec()))
}
/// A whole number from `min` to `max`.
pub fn integer(min: i64, max: i64) -> Schema {
    schema(Shape::Integer { min, max })
}
/// Any whole number.
pub fn count() -> Schema {
    schema(Shape::Integer { min: i64::MIN, max: i64::MAX })
}
/// Any number.
pub fn number() -> Schema {
    schema(Shape::Number)
}
/// `true` or `false`.
pub fn boolean() -> Schema {
    schema(Shape::Boolean)
}
/// A list of `min` to `max` items.
pub fn list_of(items: Schema, min: usize, max: usize) -> Schema {
    schema(Shape::Array { items: Box::new(items), min, max })
}
/// A list of any length.
pub fn list(items: Schema) -> Schema {
    list_of(items, 0, usize::MAX)
}
/// An object with these fields; others are ignored.
pub fn object(fields: Vec<Field>) -> Schema {
    schema(Shape::Object { fields, unknown: Unknown::Ignored })
}
/// An object with exactly these fields.
pub fn closed_object(fields: Vec<Field>) -> Schema {
    schema(Shape::Object { fields, unknown: Unknown::Refused })
}
/// An object with these fields; others are kept as they are sent, so it needs a bound ([`Schema::within`]).
pub fn open_object(fields: Vec<Field>) -> Schema {
    schema(Shape::Object { fields, unknown: Unknown::Kept })
}
/// An object whose values all have one shape.
pub fn map(values: Schema) -> Schema {
    map_of(values, usize::MAX)
}
/// An object of up to `max` names whose values all have one shape.
pub fn map_of(values: Schema, max: usize) -> Schema {
    schema(Shape::Map { values: Box::new(values), max })
}
/// A value that fits one of these.
pub fn any_of(choices: Vec<Schema>) -> Schema {
    schema(Shape::AnyOf(choices))
}
/// `{data: …}`, the success envelope (docs/contract/README.md#requests-and-answers).
pub fn data(inner: Schema) -> Schema {
    object(vec![need("data", inner)])
}
/// `{data: […], nextCursor}`.
pub fn page(item: Schema) -> Schema {
    object(vec![need("data", list(item)), need("nextCursor", text().or_null())])
}
/// A field that must be there.
pub fn need(name: &'static str, schema: Schema) -> Field {
    Field { name, schema, required: true, default: None }
}
/// A field that may be absent.
pub fn may(name: &'static str, schema: Schema) -> Field {
    Field { name, schema, required: false, default: None }
}
/// A field that has `default` when absent.
pub fn or(name: &'static str, schema: Schema, default: Value) -> Field {
    Field { name, schema, required: false, default: Some(default) }
}
/// `limit` of a list that goes up to `max` (default 50).
pub fn limit(max: i64) -> Field {
    or("limit", integer(1, max), json!(50))
}
/// `cursor` of a list.
pub fn cursor() -> Field {
    may("cursor", text_of(1, 512))
}
/// `offset` of a list.
pub fn offset() -> Field {
    or("offset", integer(0, 1_000_000_000), json!(0))
}

impl Schema {
    /// The same, or `null`.
    pub fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// The same with a sentence for the API reference.
    pub fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// The same, with at most so many bytes of names and texts in it, wherever they stand; other values count
    /// as 8 each. It bounds what a body costs while it is read: where the rule is about the length as JSON,
    /// which may be shorter, the use case holds it to that.
    pub fn within(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The same; more than it may hold is refused with this instead of `invalid_request`, by the name with
    /// which it was passed.
    pub fn refused_as(mut self, error: &'static ErrorCode) -> Self {
        self.refusal = Some(error);
        self
    }

    /// Fields of an object schema; none of any other.
    pub fn fields(&self) -> &[Field] {
        match &self.kind {
            Shape::Object { fields, .. } => fields,
            _ => &[],
        }
    }

    /// The same object with more fields.
    pub fn and(mut self, more: Vec<Field>) -> Self {
        if let Shape::Object { fields, .. } = &mut self.kind {
            fields.extend(more);
        }
        self
    }

    /// A query parameter's text as the JSON value that this shape expects; text that does not fit stays text,
    /// and the check names it.
    pub fn from_text(&self, text: String) -> Value {
        match &self.kind {
            Shape::Integer { .. } => text.parse::<i64>().map_or(Value::String(text), Value::from),
            Shape::Boolean if text == "true" => Value::Bool(true),
            Shape::Boolean if text == "false" => Value::Bool(false),
            _ => Value::String(text),
        }
    }

    /// Checks a value and fills in defaults. The error names the first field that does not fit.
    pub fn check(&self, value: &mut Value) -> Result<(), Misfit> {
        self.check_at(value, "")
    }

    fn check_at(&self, value: &mut Value, path: &str) -> Result<(), Misfit> {
        if value.is_null() {
            return if self.nullable || matches!(self.kind, Shape::Any) {
                Ok(())
            } else {
                Err(misfit(path, self.must()))
            };
        }
        let fits = match (&self.kind, &mut *value) {
            (Shape::Any, _) => true,
            (Shape::Text { min, max, format }, Value::String(text)) => {
                let length = text.chars().count();
                (*min..=*max).contains(&length)
                    && !text.contains('\0')
                    && format.is_none_or(|format| format.fits(text))
            }
            (Shape::Choice(words), Value::String(text)) => words.contains(&text.as_str()),
            (Shape::Integer { min, max }, value) => {
                match whole(value).filter(|number| (*min..=*max).contains(number)) {
                    Some(number) => {
                        // 5.0 is the whole number 5.
                        *value = Value::from(number);
                        true
                    }
                    None => false,
                }
            }
            (Shape::Number, Value::Number(_)) | (Shape::Boolean, Value::Bool(_)) => true,
            (Shape::Array { items, min, max }, Value::Array(values)) => {
                if !(*min..=*max).contains(&values.len()) {
                    return Err(misfit(path, self.must()));
                }
                for (index, value) in values.iter_mut().enumerate() {
                    items.check_at(value, &format!("{path}[{index}]"))?;
                }
                true
            }
            (Shape::Object { fields, unknown }, Value::Object(map)) => {
                return check_fields(fields, *unknown, map, path);
            }
            (Shape::Map { values, max }, Value::Object(map)) => {
                if map.len() > *max {
                    return Err(misfit(path, self.must()));
                }
                for (key, value) in map.iter_mut() {
                    values.check_at(value, &join(path, key))?;
                }
                true
            }
            (Shape::AnyOf(choices), value) => choices.iter().any(|choice| {
                let mut tried = value.clone();
                let fits = choice.check_at(&mut tried, path).is_ok();
                if fits {
                    *value = tried;
                }
                fits
            }),
            _ => false,
        };
        if fits { Ok(()) } else { Err(misfit(path, self.must())) }
    }

    /// What a value must be, to be read after its name.
    fn must(&self) -> String {
        let or_null = if self.nullable { ", or null" } else { "" };
        match &self.kind {
            Shape::Any => "must be JSON".into(),
            Shape::Text { format: Some(Format::Time), .. } => {
                format!("must be an ISO 8601 date-time with a time zone{or_null}")
            }
            Shape::Text { format: Some(Format::Date), .. } => format!("must be a date, YYYY-MM-DD{or_null}"),
            Shape::Text { format: Some(Format::Url), .. } => format!("must be a URL{or_null}"),
            Shape::Text { format: Some(Format::Id(prefix)), .. } => {
                format!("must be an id that starts with {prefix}_{or_null}")
            }
            Shape::Text { min: 0, max: usize::MAX, .. } => format!("must be a string{or_null}"),
            Shape::Text { min: 0, max, .. } => {
                format!("must be a string of at most {max} characters{or_null}")
            }
            Shape::Text { min, max: usize::MAX, .. } => {
                format!("must be a string of at least {min} characters{or_null}")
            }
            Shape::Text { min, max, .. } => format!("must be a string of {min} to {max} characters{or_null}"),
            Shape::Choice(words) => format!("must be one of {}{or_null}", words.join(", ")),
            Shape::Integer { min: i64::MIN, max: i64::MAX } => format!("must be a whole number{or_null}"),
            Shape::Integer { min, max } => format!("must be a whole number from {min} to {max}{or_null}"),
            Shape::Number => format!("must be a number{or_null}"),
            Shape::Boolean => format!("must be true or false{or_null}"),
            Shape::Array { min: 0, max: usize::MAX, .. } => format!("must be a list{or_null}"),
            Shape::Array { min, max: usize::MAX, .. } => {
                format!("must be a list of at least {min} items{or_null}")
            }
            Shape::Array { min, max, .. } => format!("must be a list of {min} to {max} items{or_null}"),
            Shape::Map { max, .. } if *max < usize::MAX => {
                format!("must be an object of at most {max} names{or_null}")
            }
            Shape::Object { .. } | Shape::Map { .. } => format!("must be an object{or_null}"),
            Shape::AnyOf(choices) => choices.iter().map(Schema::must).collect::<Vec<_>>().join(", or it "),
        }
    }

    /// This shape as JSON Schema 2020-12.
    pub fn to_json(&self) -> Value {
        let mut out = match &self.kind {
            Shape::Any => json!({}),
            Shape::Text { min, max, format } => {
                let mut out = json!({"type": "string"});
                if *min > 0 {
                    out["minLength"] = json!(min);
                }
                if *max < usize::MAX {
                    out["maxLength"] = json!(max);
                }
                match format {
                    Some(Format::Time) => out["format"] = json!("date-time"),
                    Some(Format::Date) => out["format"] = json!("date"),
                    Some(Format::Url) => out["format"] = json!("uri"),
                    Some(Format::Id(prefix)) => out["pattern"] = json!(format!("^{prefix}_")),
                    None => {}
                }
                out
            }
            Shape::Choice(words) => {
                let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
                if self.nullable {
                    words.push(Value::Null);
                }
                json!({"type": "string", "enum": words})
            }
            Shape::Integer { min, max } => {
                let mut out = json!({"type": "integer"});
                if *min > i64::MIN {
                    out["minimum"] = json!(min);
                }
                if *max < i64::MAX {
                    out["maximum"] = json!(max);
                }
                out
            }
            Shape::Number => json!({"type": "number"}),
            Shape::Boolean => json!({"type": "boolean"}),
            Shape::Array { items, min, max } => {
                let mut out = json!({"type": "array", "items": items.to_json()});
                if *min > 0 {
                    out["minItems"] = json!(min);
                }
                if *max < usize::MAX {
                    out["maxItems"] = json!(max);
                }
                out
            }
            Shape::Object { fields, unknown } => object_json(fields, *unknown),
            Shape::Map { values, max } => {
                let mut out = json!({"type": "object", "additionalProperties": values.to_json()});
                if *max < usize::MAX {
                    out["maxProperties"] = json!(max);
                }
                out
            }
            Shape::AnyOf(choices) => {
                json!({"anyOf": choices.iter().map(Schema::to_json).collect::<Vec<_>>()})
            }
        };
        if self.nullable
            && let Some(kind) = out.get("type").cloned()
        {
            out["type"] = json!([kind, "null"]);
        }
        if self.bytes < usize::MAX {
            out["x-maxBytes"] = json!(self.bytes);
        }
        if !self.doc.is_empty() {
            out["description"] = json!(self.doc);
        }
        out
    }
}

fn object_json(fields: &[Field], unknown: Unknown) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            let mut shape = field.schema.to_json();
            if let Some(default) = &field.default {
                shape["default"] = default.clone();
            }
            (field.name.to_owned(), shape)
        })
        .collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut out = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    if unknown == Unknown::Refused {
        out["additionalProperties"] = json!(false);
    }
    out
}

fn check_fields(
    fields: &[Field],
    unknown: Unknown,
    map: &mut Map<String, Value>,
    path: &str,
) -> Result<(), Misfit> {
    if unknown == Unknown::Refused {
        let strange: Vec<String> = map
            .keys()
            .filter(|key| !fields.iter().any(|field| field.name == *key))
            .map(|key| join(path, key))
            .collect();
        if let Some(first) = strange.first() {
            return Err(Misfit {
                field: first.clone(),
                must: "is not a field of this request".into(),
                unknown: strange,
                error: None,
            });
        }
    }
    for field in fields {
        match map.get_mut(field.name) {
            Some(value) => field.schema.check_at(value, &join(path, field.name))?,
            None if field.required => return Err(misfit(&join(path, field.name), "is required".into())),
            None => {
                if let Some(default) = &field.default {
                    map.insert(field.name.to_owned(), default.clone());
                }
            }
        }
    }
    Ok(())
}

fn misfit(path: &str, must: String) -> Misfit {
    Misfit { field: path.to_owned(), must, unknown: Vec::new(), error: None }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A whole number, written as such or with a zero fraction.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        value
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 9e15)
            .map(|number| number as i64)
    })
}

impl Format {
    fn fits(self, text: &str) -> bool {
        match self {
            Format::Time => Timestamp::parse(text).is_some(),
            Format::Date => text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_some(),
            Format::Url => text.contains("://"),
            Format::Id(prefix) => text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('_')),
        }
    }
}

/// Reads a checked body into its type; a misfit here means that type and schema disagree.
pub fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|why| why.to_string())
}

/// Reads an id from a body or path: an id of another form is simply not there.
pub fn read_id<K: Kind>(text: &str) -> Option<Id<K>> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Schema {
        object(vec![
            need("name", text_of(1, 5)),
            may("at", time()),
            or("mode", choice(&["queue", "reject"]), json!("queue")),
            may("rows", list_of(object(vec![need("phone", text_of(8, 20))]), 1, 2)),
            may("retry", closed_object(vec![or("maxRetries", integer(0, 2), json!(0))])),
            may("note", text().or_null()),
        ])
    }

    #[test]
    fn the_first_wrong_field_is_named() {
        for (body, field, must) in [
            (json!([]), "", "must be an object"),
            (json!({}), "name", "is required"),
            (json!({"name": null}), "name", "must be a string of 1 to 5 characters"),
            (json!({"name": "toolong"}), "name", "must be a string of 1 to 5 characters"),
            (json!({"name": "a\0b"}), "name", "must be a string of 1 to 5 characters"),
            (
                json!({"name": "a", "at": "2026-01-01T00:00:00"}),
                "at",
                "must be an ISO 8601 date-time with a time zone",
            ),
            (json!({"name": "a", "mode": "x"}), "mode", "must be one of queue, reject"),
            (json!({"name": "a", "rows": []}), "rows", "must be a list of 1 to 2 items"),
            (
                json!({"name": "a", "rows": [{"phone": "12345678"}, {"phone": 5}]}),
                "rows[1].phone",
                "must be a string of 8 to 20 characters",
            ),
            (
                json!({"name": "a", "retry": {"maxRetries": 3}}),
                "retry.maxRetries",
                "must be a whole number from 0 to 2",
            ),
            (json!({"name": "a", "retry": {"x": 1}}), "retry.x", "is not a field of this request"),
        ] {
            let misfit = sample().check(&mut body.clone()).unwrap_err();
            assert_eq!((misfit.field.as_str(), misfit.must.as_str()), (field, must), "{body}");
        }
    }

    #[test]
    fn defaults_are_filled_in() {
        let mut body =
            json!({"name": "नमस्ते"[..9].to_owned(), "retry": {"maxRetries": 2.0}, "extra": 1, "note": null});
        sample().check(&mut body).unwrap();
        assert_eq!(body["mode"], "queue");
        assert_eq!(body["retry"]["maxRetries"], json!(2));
        let mut empty = json!({"name": "a", "retry": {}});
        sample().check(&mut empty).unwrap();
        assert_eq!(empty["retry"]["maxRetries"], 0);
    }
}

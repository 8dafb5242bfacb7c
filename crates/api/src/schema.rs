//! Shapes of bodies and queries. One description checks a request, naming the first wrong field, and becomes
//! JSON Schema in the OpenAPI document, so that the two cannot drift. Bodies and answers are derived from Rust
//! types ([`request`], [`answer`], [`data`]); lists of query parameters are put together from fields.

mod body;
mod derived;
mod document;
mod items;

use std::borrow::Cow;
use std::sync::Arc;

use domain::nearest::hint;
use domain::time::Timestamp;
use serde_json::{Map, Value, json};

use crate::error_codes::ErrorCode;

pub use body::{MAX_DEPTH, MAX_VALUES, Unread, parse};
pub use derived::{answer, counted, data, list, page, request};
pub use document::Components;
pub(crate) use document::open_set;
pub use items::{Items, Piece};

/// What a JSON value must look like.
#[derive(Debug, Clone)]
pub struct Schema {
    kind: Shape,
    nullable: bool,
    doc: Cow<'static, str>,
    /// Most bytes of names and texts in it, wherever they stand; other values count as 8 each. It bounds what a
    /// body costs while it is read. Where the contract bounds the length as JSON, which may be less, the use
    /// case checks that. `usize::MAX` for no bound of its own.
    bytes: usize,
    /// Most values in a body of this shape; [`MAX_VALUES`] unless it says so.
    values: usize,
    /// What a value above its ceiling is refused with, by the name under which it was passed, instead of
    /// `invalid_request`.
    refusal: Option<&'static ErrorCode>,
    /// The named type that it is, which the OpenAPI document describes once.
    component: Option<Arc<Component>>,
}

/// A type with a name of its own in the OpenAPI document.
#[derive(Debug)]
struct Component {
    name: String,
    schema: Schema,
}

#[derive(Debug, Clone)]
enum Shape {
    Any,
    Text { min: usize, max: usize, format: Option<Format> },
    Choice(Vec<Cow<'static, str>>),
    Integer { min: i64, max: i64 },
    Number,
    Boolean,
    Array { items: Box<Schema>, min: usize, max: usize },
    Object { fields: Vec<Field>, unknown: Unknown },
    Map { values: Box<Schema>, max: usize },
    AnyOf(Vec<Schema>),
}

#[derive(Debug, Clone, PartialEq)]
enum Format {
    Time,
    Id(Cow<'static, str>),
    Date,
}

/// What happens to fields that a body has and its schema has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// They are ignored, since later versions may add fields.
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
    pub name: Cow<'static, str>,
    /// Its shape.
    pub schema: Schema,
    /// Whether it must be there.
    pub required: bool,
    /// Its value when it is absent.
    pub default: Option<Value>,
}

/// Why a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Path of the first field that does not fit, such as `settings.retryCount` or `contacts[2].phone`; empty
    /// for the body itself.
    pub field: String,
    /// What it must be; an error puts the name of the field before it.
    pub must: String,
    /// Names of fields that do not exist, where those are refused.
    pub unknown: Vec<String>,
    /// What it is refused with, if not with `invalid_request`.
    pub error: Option<&'static ErrorCode>,
}

fn schema(kind: Shape) -> Schema {
    Schema {
        kind,
        nullable: false,
        doc: Cow::Borrowed(""),
        bytes: usize::MAX,
        values: MAX_VALUES,
        refusal: None,
        component: None,
    }
}

/// Text of `min` to `max` characters.
pub fn text_of(min: usize, max: usize) -> Schema {
    schema(Shape::Text { min, max, format: None })
}
/// An ISO 8601 date-time with `Z` or an offset.
pub fn time() -> Schema {
    schema(Shape::Text { min: 1, max: 64, format: Some(Format::Time) })
}
/// A calendar day, `YYYY-MM-DD`.
pub fn date() -> Schema {
    schema(Shape::Text { min: 10, max: 10, format: Some(Format::Date) })
}
/// One of these words.
pub fn choice(words: &[&'static str]) -> Schema {
    schema(Shape::Choice(words.iter().map(|word| Cow::Borrowed(*word)).collect()))
}
/// A whole number from `min` to `max`.
pub fn integer(min: i64, max: i64) -> Schema {
    schema(Shape::Integer { min, max })
}
/// An object with these fields; others are ignored.
pub fn object(fields: Vec<Field>) -> Schema {
    schema(Shape::Object { fields, unknown: Unknown::Ignored })
}
/// A value that fits one of these.
pub fn any_of(choices: Vec<Schema>) -> Schema {
    schema(Shape::AnyOf(choices))
}
/// Reads a field that may be null: `None` when it is absent, `Some(None)` when it is null.
///
/// # Errors
/// The value is of another type.
pub fn given<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: serde::Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    serde::Deserialize::deserialize(deserializer).map(Some)
}

/// A field that must be there.
pub fn need(name: &'static str, schema: Schema) -> Field {
    Field { name: Cow::Borrowed(name), schema, required: true, default: None }
}
/// A field that may be absent.
pub fn may(name: &'static str, schema: Schema) -> Field {
    Field { name: Cow::Borrowed(name), schema, required: false, default: None }
}
/// A field that has `default` when absent.
pub fn or(name: &'static str, schema: Schema, default: Value) -> Field {
    Field { name: Cow::Borrowed(name), schema, required: false, default: Some(default) }
}
/// `limit` of a list that goes up to `max` (default 50).
pub fn limit(max: i64) -> Field {
    let doc = "Most items of the page. A page of large items ends earlier, after 4 MB.";
    or("limit", integer(1, max).doc(doc), json!(50))
}
/// `cursor` of a list.
pub fn cursor() -> Field {
    may("cursor", text_of(1, 512).doc("`nextCursor` of the previous page; absent for the first page."))
}
/// `offset` of a list.
pub fn offset() -> Field {
    or("offset", integer(0, 1_000_000_000).doc("Number of items to skip; 0 for the first page."), json!(0))
}

impl Schema {
    /// Most values in a body of this shape.
    pub fn most_values(&self) -> usize {
        self.values
    }

    /// The same with a sentence for the API reference.
    pub fn doc(mut self, doc: &'static str) -> Self {
        self.doc = Cow::Borrowed(doc);
        self
    }

    /// The same type in another role, with a name of its own: `change` says what becomes of each field, and
    /// `None` leaves it out.
    pub fn variant(mut self, name: &str, change: impl FnMut(Field) -> Option<Field>) -> Self {
        let doc = self.component.take().map_or_else(|| self.doc.clone(), |known| known.schema.doc.clone());
        if let Shape::Object { fields, .. } = &mut self.kind {
            *fields = std::mem::take(fields).into_iter().filter_map(change).collect();
        }
        let schema = Schema { doc, ..self.clone() };
        Self { component: Some(Arc::new(Component { name: name.to_owned(), schema })), ..self }
    }

    /// The same, but a field that is not described is refused. Tests hold answers against it.
    pub fn closed(self) -> Self {
        self.strict("")
    }

    /// The same for one use of a shape that ignores such fields elsewhere: the types in it that become stricter have
    /// `prefix` before their names.
    pub fn strict(self, prefix: &str) -> Self {
        if !self.ignores() {
            return self;
        }
        let kind = match self.kind {
            Shape::Object { fields, unknown } => Shape::Object {
                fields: fields
                    .into_iter()
                    .map(|field| Field { schema: field.schema.strict(prefix), ..field })
                    .collect(),
                unknown: if unknown == Unknown::Ignored { Unknown::Refused } else { unknown },
            },
            Shape::Array { items, min, max } => {
                Shape::Array { items: Box::new(items.strict(prefix)), min, max }
            }
            Shape::Map { values, max } => Shape::Map { values: Box::new(values.strict(prefix)), max },
            Shape::AnyOf(choices) => {
                Shape::AnyOf(choices.into_iter().map(|choice| choice.strict(prefix)).collect())
            }
            other => other,
        };
        let component = self.component.map(|known| {
            let schema = Schema { kind: kind.clone(), ..known.schema.clone() };
            Arc::new(Component { name: format!("{prefix}{}", known.name), schema })
        });
        Self { kind, component, ..self }
    }

    /// Whether a field that is not described is ignored anywhere in it.
    fn ignores(&self) -> bool {
        match &self.kind {
            Shape::Object { fields, unknown } => {
                *unknown == Unknown::Ignored || fields.iter().any(|field| field.schema.ignores())
            }
            Shape::Array { items, .. } => items.ignores(),
            Shape::Map { values, .. } => values.ignores(),
            Shape::AnyOf(choices) => choices.iter().any(Schema::ignores),
            Shape::Any
            | Shape::Text { .. }
            | Shape::Choice(_)
            | Shape::Integer { .. }
            | Shape::Number
            | Shape::Boolean => false,
        }
    }

    /// Fields of an object schema; none of any other.
    pub fn fields(&self) -> &[Field] {
        match &self.kind {
            Shape::Object { fields, .. } => fields,
            _ => &[],
        }
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

    /// Takes out of a request what is null and means nothing by it: an optional field that is null is absent. Where null has
    /// a meaning of its own, and where any value is kept, it stays.
    pub fn drop_nulls(&self, value: &mut Value) {
        match (&self.kind, value) {
            (Shape::Object { fields, .. }, Value::Object(map)) => {
                for field in fields {
                    let Some(value) = map.get_mut(&*field.name) else { continue };
                    let schema = &field.schema;
                    let means_nothing =
                        !field.required && !schema.nullable && !matches!(schema.kind, Shape::Any);
                    if value.is_null() && means_nothing {
                        map.shift_remove(&*field.name);
                    } else {
                        schema.drop_nulls(value);
                    }
                }
            }
            (Shape::Array { items, .. }, Value::Array(values)) => {
                values.iter_mut().for_each(|value| items.drop_nulls(value));
            }
            (Shape::Map { values, .. }, Value::Object(map)) => {
                map.values_mut().for_each(|value| values.drop_nulls(value));
            }
            (Shape::AnyOf(choices), value) => {
                let fits = |choice: &Schema| {
                    let mut tried = value.clone();
                    choice.drop_nulls(&mut tried);
                    choice.check(&mut tried.clone()).is_ok().then_some(tried)
                };
                if let Some(fitting) = choices.iter().find_map(fits) {
                    *value = fitting;
                }
            }
            _ => {}
        }
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
            (Shape::Text { .. }, Value::String(text)) if text.contains('\0') => {
                return Err(misfit(path, "must not contain the character U+0000".into()));
            }
            (Shape::Text { min, max, format }, Value::String(text)) => {
                let length = text.chars().count();
                (*min..=*max).contains(&length) && format.as_ref().is_none_or(|format| format.fits(text))
            }
            (Shape::Choice(words), Value::String(text)) => words.iter().any(|word| word == text),
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
                    let fits = values.check_at(value, &join(path, key));
                    fits.map_err(|misfit| Misfit { error: misfit.error.or(self.refusal), ..misfit })?;
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
            .filter(|key| !fields.iter().any(|field| field.name == **key))
            .map(|key| join(path, key))
            .collect();
        if let Some(first) = strange.first() {
            return Err(Misfit {
                field: first.clone(),
                must: format!(
                    "is not a field of this request{}",
                    hint(first.rsplit('.').next().unwrap_or(first), fields.iter().map(|field| &*field.name))
                ),
                unknown: strange,
                error: None,
            });
        }
    }
    for field in fields {
        match map.get_mut(&*field.name) {
            Some(value) => field.schema.check_at(value, &join(path, &field.name))?,
            None if field.required => return Err(misfit(&join(path, &field.name), "is required".into())),
            None => {
                if let Some(default) = &field.default {
                    map.insert(field.name.to_string(), default.clone());
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
    fn fits(&self, text: &str) -> bool {
        match self {
            Format::Time => Timestamp::parse(text).is_some(),
            Format::Date => text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_some(),
            Format::Id(prefix) => {
                let begins =
                    |prefix: &str| text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('_'));
                begins(prefix) || domain::ids::former_prefix(prefix).is_some_and(begins)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::nudge::OutsideWindow;

    use super::*;

    #[derive(schemars::JsonSchema)]
    #[schemars(rename_all = "camelCase")]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Sample {
        #[schemars(length(min = 1, max = 5))]
        name: String,
        at: Option<Timestamp>,
        #[schemars(extend("default" = "queue"))]
        mode: OutsideWindow,
        #[schemars(length(min = 1, max = 2))]
        rows: Option<Vec<Row>>,
        retry: Option<Retry>,
        #[schemars(extend("x-nullable" = true))]
        note: Option<String>,
    }

    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Row {
        #[schemars(length(min = 8, max = 20))]
        phone: String,
    }

    #[derive(schemars::JsonSchema)]
    #[schemars(rename_all = "camelCase", deny_unknown_fields)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Retry {
        #[schemars(range(min = 0, max = 2), extend("default" = 0))]
        max_retries: i64,
    }

    fn sample() -> Schema {
        request::<Sample>()
    }

    #[test]
    fn the_first_wrong_field_is_named() {
        for (body, field, must) in [
            (json!([]), "", "must be an object"),
            (json!({}), "name", "is required"),
            (json!({"name": null}), "name", "must be a string of 1 to 5 characters"),
            (json!({"name": "toolong"}), "name", "must be a string of 1 to 5 characters"),
            (json!({"name": "a\0b"}), "name", "must not contain the character U+0000"),
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

    #[test]
    fn a_closed_schema_refuses_what_is_not_described() {
        let body = json!({"name": "a", "rows": [{"phone": "12345678", "more": 1}]});
        sample().check(&mut body.clone()).unwrap();
        assert_eq!(sample().closed().check(&mut body.clone()).unwrap_err().field, "rows[0].more");
    }

    #[test]
    fn a_stricter_use_of_a_type_has_a_name_of_its_own_and_leaves_the_other_as_it_is() {
        let mut components = Components::default();
        components.request(&sample());
        let strict = sample().strict("Strict");
        assert_eq!(components.request(&strict), json!({"$ref": "#/components/schemas/StrictSample"}));
        let known = components.into_json();
        // What refuses such fields anyway is one type.
        let names = ["OutsideWindow", "Retry", "Row", "Sample", "StrictRow", "StrictSample"];
        assert_eq!(known.keys().collect::<Vec<_>>(), names);
        assert_eq!(known["StrictRow"]["additionalProperties"], false);
        assert!(known["Row"]["additionalProperties"] != false);
    }

    #[test]
    fn a_type_in_another_role_has_another_name() {
        let change = sample()
            .variant("Change", |field| (field.name != "mode").then(|| Field { required: false, ..field }));
        change.check(&mut json!({})).unwrap();
        let mut components = Components::default();
        assert_eq!(components.request(&change), json!({"$ref": "#/components/schemas/Change"}));
        components.request(&sample());
        let known = components.into_json();
        assert_eq!(known.keys().collect::<Vec<_>>(), ["Change", "OutsideWindow", "Retry", "Row", "Sample"]);
        assert!(known["Change"]["required"].is_null() && known["Change"]["properties"]["mode"].is_null());
        assert_eq!(known["Sample"]["required"], json!(["name"]));
    }
}

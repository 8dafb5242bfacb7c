//! Reads a JSON body by its schema, so that a body never takes much more memory than its bytes: reading stops
//! at the ceilings of lists and maps, fields that the schema ignores are skipped, and of a value of the wrong
//! kind only a short piece is kept for the error.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{Field, Misfit, Schema, Shape, Unknown};

/// Most values in one body, skipped fields not counted, unless its schema has a bound of its own.
pub const MAX_VALUES: usize = 65_536;
/// Deepest nesting of JSON that no schema describes.
pub const MAX_DEPTH: usize = 32;
/// Most unknown fields that an error names.
const STRANGE: usize = 20;
/// Bytes that are kept of a text where another kind of value is expected, and of a name in an error.
const SHORT: usize = 200;
/// Most bytes of a value with several possible shapes, unless it has a bound of its own.
const ONE_OF: usize = 64 * 1024;
/// What is said of a text or a name with U+0000.
const UNSTORABLE: &str = "must not contain the character U+0000";
/// Bytes that a value other than text counts as.
const PLAIN: usize = 8;

/// Why a body cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It is not JSON; where and why.
    Malformed(String),
    /// It holds more than its schema allows.
    Misfit(Misfit),
}

/// Reads a body. The result has yet to be [checked](Schema::check): it may hold values of the wrong kind,
/// shortened.
///
/// # Errors
/// The body is not JSON, holds U+0000, or passes a ceiling; the first one is named.
pub fn parse(schema: &Schema, body: &[u8]) -> Result<Value, Unread> {
    let state = State { most: schema.values, ..State::default() };
    // RFC 8259, 8.1: a byte order mark may be passed over.
    let body = body.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(body);
    let mut reader = serde_json::Deserializer::from_slice(body);
    let seed = Seed { schema: Some(schema), state: &state, path: &Path::Root, bound: None, depth: 0 };
    let read = seed.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|why| match state.misfit.take() {
        Some(misfit) => Unread::Misfit(misfit),
        None => Unread::Malformed(why.to_string()),
    })
}

#[derive(Default)]
struct State {
    most: usize,
    values: Cell<usize>,
    misfit: RefCell<Option<Misfit>>,
}

/// Where the reader is; formatted only for an error.
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(short(name)),
            Path::Field(above, name) => write!(f, "{above}.{}", short(name)),
            Path::Item(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}

/// The beginning of a text.
fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHORT)]
}

/// A bound on the bytes of names and texts inside a value.
struct Bound<'a> {
    schema: &'a Schema,
    path: &'a Path<'a>,
    limit: usize,
    used: Cell<usize>,
}

#[derive(Clone, Copy)]
struct Seed<'a> {
    /// `None` for JSON that no schema describes.
    schema: Option<&'a Schema>,
    state: &'a State,
    path: &'a Path<'a>,
    bound: Option<&'a Bound<'a>>,
    /// Levels of JSON above this value that no schema describes.
    depth: usize,
}

impl<'a> Seed<'a> {
    fn shape(&self) -> Option<&'a Shape> {
        self.schema.map(|schema| &schema.kind).filter(|kind| !matches!(kind, Shape::Any | Shape::AnyOf(_)))
    }

    fn refuse<E: Error>(&self, schema: Option<&Schema>, field: String, must: String) -> E {
        let error = schema.and_then(|schema| schema.refusal);
        *self.state.misfit.borrow_mut() = Some(Misfit { field, must, unknown: Vec::new(), error });
        E::custom("over a ceiling")
    }

    /// Refuses U+0000, which no store keeps in text, also where no schema describes the value.
    fn storable<E: Error>(&self, text: &str) -> Result<(), E> {
        if !text.contains('\0') {
            return Ok(());
        }
        let named = self.bound.map(|bound| bound.schema).filter(|schema| schema.refusal.is_some());
        let field = self.path.to_string().replace('\0', "\\u0000");
        Err(self.refuse(named.or(self.schema), field, UNSTORABLE.into()))
    }

    fn over<E: Error>(&self, schema: &Schema) -> E {
        self.refuse(Some(schema), self.path.to_string(), schema.must())
    }

    /// Counts a value with so many bytes of text.
    fn count<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let values = self.state.values.get() + 1;
        self.state.values.set(values);
        let most = self.state.most;
        if values > most {
            return Err(self.refuse(None, String::new(), format!("has more than {most} values")));
        }
        self.charge(bytes)
    }

    fn charge<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let Some(bound) = self.bound else { return Ok(()) };
        bound.used.set(bound.used.get() + bytes);
        if bound.used.get() <= bound.limit {
            return Ok(());
        }
        let (limit, named) = (bound.limit, bound.schema.refusal.is_some());
        if named && !std::ptr::eq(self.path, bound.path) {
            let must = format!("is over the limit of {limit} bytes for all of {}", bound.path);
            return Err(self.refuse(Some(bound.schema), self.path.to_string(), must));
        }
        Err(self.refuse(
            Some(bound.schema),
            bound.path.to_string(),
            format!("must have at most {limit} bytes of names and texts"),
        ))
    }

    /// The seed of a value below this one.
    fn below<'b>(&'b self, schema: Option<&'b Schema>, path: &'b Path<'b>) -> Seed<'b> {
        Seed {
            schema,
            state: self.state,
            path,
            bound: self.bound,
            depth: if schema.is_some() { self.depth } else { self.depth + 1 },
        }
    }

    fn deepen<E: Error>(&self) -> Result<(), E> {
        if self.depth < MAX_DEPTH {
            return Ok(());
        }
        Err(self.refuse(
            None,
            self.path.to_string(),
            format!("must not be nested deeper than {MAX_DEPTH} levels"),
        ))
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        let own = self.schema.and_then(|schema| match (&schema.kind, schema.bytes) {
            (Shape::AnyOf(_), usize::MAX) => Some((schema, ONE_OF)),
            (_, usize::MAX) => None,
            (_, bytes) => Some((schema, bytes)),
        });
        match own {
            None => reader.deserialize_any(self),
            Some((schema, limit)) => {
                let bound = Bound { schema, path: self.path, limit, used: Cell::new(0) };
                reader.deserialize_any(Seed {
                    schema: self.schema,
                    state: self.state,
                    path: self.path,
                    bound: Some(&bound),
                    depth: self.depth,
                })
            }
        }
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.count(PLAIN).map(|()| Value::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        self.count(PLAIN).map(|()| Value::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        self.count(PLAIN).map(|()| number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        self.count(PLAIN).map(|()| number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.count(PLAIN).map(|()| Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.count(text.len())?;
        self.storable(text)?;
        let kept = match (self.shape(), self.schema) {
            (None, _) => text,
            (Some(Shape::Text { max, .. }), Some(schema)) => {
                if text.len() > *max && text.chars().nth(*max).is_some() {
                    return Err(self.over(schema));
                }
                text
            }
            // Another kind of value is expected here; the check says so.
            _ => short(text),
        };
        Ok(Value::String(kept.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.count(PLAIN)?;
        let (shape, most) = match (self.shape(), self.schema) {
            (None, _) => {
                self.deepen()?;
                (None, usize::MAX)
            }
            (Some(Shape::Array { items, max, .. }), _) => (Some(&**items), *max),
            _ => {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Value::Array(Vec::new()));
            }
        };
        let mut kept = Vec::new();
        loop {
            let path = Path::Item(self.path, kept.len());
            if kept.len() == most {
                return match (items.next_element::<IgnoredAny>()?, self.schema) {
                    (Some(_), Some(schema)) => Err(self.over(schema)),
                    _ => Ok(Value::Array(kept)),
                };
            }
            match items.next_element_seed(self.below(shape, &path))? {
                Some(value) => kept.push(value),
                None => return Ok(Value::Array(kept)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Value, A::Error> {
        self.count(PLAIN)?;
        match (self.shape(), self.schema) {
            (Some(Shape::Object { fields, unknown }), _) => self.object(fields, *unknown, entries),
            (Some(Shape::Map { values, max }), Some(schema)) => {
                self.map(Some((schema, values, *max)), entries)
            }
            (None, _) => {
                self.deepen()?;
                self.map(None, entries)
            }
            _ => {
                let mut entries = entries;
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Object(Map::new()))
            }
        }
    }
}

impl Seed<'_> {
    fn object<'de, A: MapAccess<'de>>(
        &self,
        fields: &[Field],
        unknown: Unknown,
        mut entries: A,
    ) -> Result<Value, A::Error> {
        let (mut kept, mut strange) = (Map::new(), 0);
        while let Some(key) = entries.next_key_seed(Key { fields, strange: unknown })? {
            match key {
                Name::Known(field) => {
                    let path = Path::Field(self.path, &field.name);
                    let value = entries.next_value_seed(self.below(Some(&field.schema), &path))?;
                    kept.insert(field.name.to_string(), value);
                }
                Name::Strange(name) if unknown == Unknown::Kept => {
                    let path = Path::Field(self.path, &name);
                    self.charge(name.len())?;
                    self.below(None, &path).storable(&name)?;
                    let value = entries.next_value_seed(self.below(None, &path))?;
                    kept.insert(name, value);
                }
                Name::Strange(name) => {
                    entries.next_value::<IgnoredAny>()?;
                    if unknown == Unknown::Refused && strange < STRANGE {
                        strange += 1;
                        kept.insert(name, Value::Null);
                    }
                }
            }
        }
        Ok(Value::Object(kept))
    }

    fn map<'de, A: MapAccess<'de>>(
        &self,
        of: Option<(&Schema, &Schema, usize)>,
        mut entries: A,
    ) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let path = Path::Field(self.path, &name);
            if let Some((schema, _, max)) = of
                && kept.len() >= max
                && !kept.contains_key(&name)
            {
                return Err(match schema.refusal {
                    Some(_) => self.refuse(
                        Some(schema),
                        path.to_string(),
                        format!("is one too many: at most {max} are allowed"),
                    ),
                    None => self.over(schema),
                });
            }
            let below = self.below(of.map(|(_, values, _)| values), &path);
            below.charge(name.len())?;
            below.storable(&name)?;
            let value = entries.next_value_seed(below)?;
            kept.insert(name, value);
        }
        Ok(Value::Object(kept))
    }
}

/// A name in an object with fields.
enum Name<'a> {
    Known(&'a Field),
    /// Not a field of the object; the name as far as it is needed.
    Strange(String),
}

struct Key<'a> {
    fields: &'a [Field],
    strange: Unknown,
}

impl<'de, 'a> DeserializeSeed<'de> for Key<'a> {
    type Value = Name<'a>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Name<'a>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Key<'a> {
    type Value = Name<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name<'a>, E> {
        if let Some(field) = self.fields.iter().find(|field| field.name == name) {
            return Ok(Name::Known(field));
        }
        Ok(Name::Strange(match self.strange {
            Unknown::Ignored => String::new(),
            Unknown::Refused => short(name).to_owned(),
            Unknown::Kept => name.to_owned(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::super::request;
    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Sample {
        #[schemars(length(min = 1, max = 5))]
        name: String,
        #[schemars(length(min = 1, max = 2))]
        rows: Option<Vec<Row>>,
        #[schemars(extend("maxProperties" = 2, "x-maxBytes" = 30, "x-refusedAs" = "invalid_variables"))]
        variables: Option<Map<String, Value>>,
        retry: Option<Retry>,
        graph: Option<Graph>,
        #[schemars(extend("enum" = ["a"]))]
        mode: Option<String>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Row {
        #[schemars(length(min = 1, max = 4))]
        phone: String,
    }

    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Retry {
        on: Option<bool>,
    }

    #[derive(JsonSchema)]
    #[schemars(extend("additionalProperties" = true, "x-maxBytes" = 60))]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Graph {
        nodes: Value,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Wide {
        graph: Value,
    }

    fn sample() -> Schema {
        request::<Sample>()
    }

    fn refused(body: &str) -> (String, Option<&'static str>) {
        match parse(&sample(), body.as_bytes()) {
            Err(Unread::Misfit(misfit)) => {
                (format!("{} {}", misfit.field, misfit.must), misfit.error.map(|error| error.code))
            }
            other => panic!("{body}: {other:?}"),
        }
    }

    #[test]
    fn described_fields_are_kept_and_others_skipped() {
        let body = r#"{"x": [{"y": []}], "name": "a", "name": "b", "rows": [{"phone": "1", "z": 1}], "variables": {"b": 1, "a": "x"},
            "graph": {"nodes": [{"q": 1.5}], "left": null}}"#;
        let kept = json!({"name": "b", "rows": [{"phone": "1"}], "variables": {"b": 1, "a": "x"}, "graph": {"nodes": [{"q": 1.5}], "left": null}});
        assert_eq!(
            parse(&sample(), body.as_bytes()).unwrap().to_string(),
            kept.to_string(),
            "in the order of the body"
        );
    }

    #[test]
    fn a_ceiling_names_what_passed_it() {
        for (body, expected, code) in [
            (r#"{"name": "toolong"}"#, "name must be a string of 1 to 5 characters", None),
            (r#"{"rows": [{}, {}, {}]}"#, "rows must be a list of 1 to 2 items", None),
            (
                r#"{"rows": [{"phone": "12345"}]}"#,
                "rows[0].phone must be a string of 1 to 4 characters",
                None,
            ),
            (
                r#"{"variables": {"a": 1, "b": 2, "c": 3}}"#,
                "variables.c is one too many: at most 2 are allowed",
                Some("invalid_variables"),
            ),
            (
                r#"{"variables": {"a": 1, "b": "12345678901234567890"}}"#,
                "variables.b is over the limit of 30 bytes for all of variables",
                Some("invalid_variables"),
            ),
            (
                r#"{"graph": {"nodes": [1, 2, 3, 4, 5, 6, 7, 8]}}"#,
                "graph must have at most 60 bytes of names and texts",
                None,
            ),
        ] {
            assert_eq!(refused(body), (expected.to_owned(), code), "{body}");
        }
        let deep = format!("{{\"graph\": {{\"nodes\": {}", "[".repeat(40));
        let wide = request::<Wide>();
        let misfit = parse(&wide, format!("{{\"graph\": {}", "[".repeat(40)).as_bytes()).unwrap_err();
        assert!(
            matches!(&misfit, Unread::Misfit(misfit) if misfit.must == "must not be nested deeper than 32 levels"),
            "{misfit:?} {deep}"
        );
        let many = format!("{{\"graph\": [{}1]}}", "1,".repeat(MAX_VALUES));
        assert!(
            matches!(parse(&wide, many.as_bytes()), Err(Unread::Misfit(misfit)) if misfit.must == "has more than 65536 values")
        );
    }

    #[test]
    fn what_no_store_keeps_in_text_is_refused_wherever_it_stands() {
        for (body, field, code) in [
            (r#"{"name": "a\u0000"}"#, "name", None),
            (r#"{"mode": "\u0000"}"#, "mode", None),
            (r#"{"variables": {"a": "\u0000"}}"#, "variables.a", Some("invalid_variables")),
            (r#"{"variables": {"a": {"b": ["\u0000"]}}}"#, "variables.a.b[0]", Some("invalid_variables")),
            (r#"{"variables": {"a": {"\u0000": 1}}}"#, r"variables.a.\u0000", Some("invalid_variables")),
            (r#"{"variables": {"\u0000": 1}}"#, r"variables.\u0000", Some("invalid_variables")),
            (r#"{"graph": {"nodes": [["x\u0000"]]}}"#, "graph.nodes[0][0]", None),
            (r#"{"graph": {"nodes": {"\u0000": 1}}}"#, r"graph.nodes.\u0000", None),
        ] {
            let said = format!("{field} must not contain the character U+0000");
            assert_eq!(refused(body), (said, code), "{body}");
        }
        let skipped = parse(&sample(), br#"{"name": "a", "other": "\u0000", "\u0000": 1}"#);
        assert_eq!(skipped, Ok(json!({"name": "a"})));
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_shortened_for_the_check() {
        for (body, field) in [
            (format!("{{\"name\": [{}1]}}", "1,".repeat(100_000)), "name"),
            (format!("{{\"name\": \"a\", \"mode\": \"{}\"}}", "a".repeat(100_000)), "mode"),
            ("{\"name\": {\"a\": 1}}".to_owned(), "name"),
            ("[]".to_owned(), ""),
            (
                format!("{{\"name\": \"a\", \"retry\": {{{}\"y\": 1}}}}", "\"x\": [], ".repeat(1000)),
                "retry.x",
            ),
        ] {
            let mut value = parse(&sample(), body.as_bytes()).unwrap();
            assert!(value.to_string().len() < 400);
            assert_eq!(sample().check(&mut value).unwrap_err().field, field);
        }
        for body in ["{", "{}}", "[[[[", "nul", "{\"name\": \"\u{1}\"}", "{\"name\" 1}", &"[".repeat(100_000)]
        {
            assert!(
                matches!(parse(&sample(), body.as_bytes()), Err(Unread::Malformed(_))),
                "{}",
                short(body)
            );
        }
    }
}

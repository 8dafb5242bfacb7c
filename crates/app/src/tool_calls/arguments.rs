//! JSON Schema of a tool's arguments (docs/contract/agents.md#arguments-of-a-tool): parsed when the tool is created,
//! and used to validate what a model or a flow sends.
//!
//! The supported part of JSON Schema is decided completely: an unsupported keyword that would affect validation is
//! refused when the tool is created, so no tool is called with arguments that its schema forbids.

use std::collections::BTreeSet;
use std::fmt;

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// Deepest nesting of a schema, references followed.
const MAX_DEPTH: usize = 16;
/// Most schemas within a schema, references followed.
const MAX_SCHEMAS: usize = 1000;
/// Longest pattern, bytes.
const MAX_PATTERN: usize = 500;
/// Most memory of a compiled pattern, bytes.
const MAX_COMPILED: usize = 64 * 1024;
/// Longest JSON of the arguments, bytes.
pub const MAX_ARGUMENTS: usize = 64 * 1024;
/// Length of a model's made-up name in an error, characters.
const SHOWN: usize = 60;

/// Unsupported keywords that affect validation.
const NOT_UNDERSTOOD: [&str; 16] = [
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// What is wrong, and where: `parameters.properties.count.minimum`, or `count` of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Where; empty for the whole.
    pub field: String,
    /// Reads on after the field: `must be an integer`.
    pub must: String,
}

impl Wrong {
    fn new(field: &str, must: impl Into<String>) -> Self {
        Self { field: field.to_owned(), must: must.into() }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.must)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    List,
    Object,
}

impl Type {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::Text,
            "array" => Self::List,
            "object" => Self::Object,
            _ => return None,
        })
    }

    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            Self::Number => value.is_number(),
            Self::Text => value.is_string(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "true or false",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Object => "an object",
        }
    }
}

/// A bound of a number.
#[derive(Debug, Clone, Copy)]
struct Bound {
    at: f64,
    /// Whether the bound itself is outside.
    exclusive: bool,
}

/// What properties that are not named may be.
#[derive(Debug, Default)]
enum Others {
    #[default]
    Anything,
    Nothing,
    Like(Box<Node>),
}

/// One schema, its references resolved.
#[derive(Debug, Default)]
struct Node {
    /// No value fits (`false`).
    never: bool,
    /// Empty for any.
    types: Vec<Type>,
    values: Option<Vec<Value>>,
    least: Option<Bound>,
    most: Option<Bound>,
    multiple_of: Option<f64>,
    length: (Option<u64>, Option<u64>),
    pattern: Option<Regex>,
    items: Option<Box<Node>>,
    count: (Option<u64>, Option<u64>),
    unique: bool,
    properties: Vec<(String, Node)>,
    required: Vec<String>,
    others: Others,
    size: (Option<u64>, Option<u64>),
    all: Vec<Node>,
    any: Vec<Node>,
    one: Vec<Node>,
}

/// The schema of a tool's arguments.
#[derive(Debug)]
pub struct Schema(Node);

impl Schema {
    /// Reads a schema; places are named from `parameters` on.
    ///
    /// # Errors
    /// What is wrong with it. References may point into the schema itself (`#/$defs/…`, `#/definitions/…`), and must
    /// not be cyclic.
    pub fn read(schema: &Value) -> Result<Self, Wrong> {
        let at = "parameters";
        if !schema.is_object() {
            return Err(Wrong::new(at, "must be an object"));
        }
        let root = Reader { root: schema, left: MAX_SCHEMAS, following: Vec::new() }.node(schema, at, 0)?;
        if !root.types.is_empty() && root.types != [Type::Object] {
            return Err(Wrong::new("parameters.type", "must be object: arguments have names"));
        }
        Ok(Self(root))
    }

    /// Validates arguments against the schema. A text that spells the wanted number or boolean is converted, since what
    /// a customer said is captured as text.
    ///
    /// # Errors
    /// The first field that is wrong, with a message for a model.
    pub fn fit(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, Wrong> {
        let mut arguments = Value::Object(arguments);
        self.0.convert(&mut arguments);
        self.0.check(&arguments, "")?;
        match arguments {
            Value::Object(arguments)
                if Value::Object(arguments.clone()).to_string().len() <= MAX_ARGUMENTS =>
            {
                Ok(arguments)
            }
            _ => Err(Wrong::new("the arguments", format!("must not be longer than {MAX_ARGUMENTS} bytes"))),
        }
    }
}

struct Reader<'a> {
    root: &'a Value,
    /// Remaining budget of schemas.
    left: usize,
    /// References that are being followed.
    following: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn node(&mut self, schema: &'a Value, at: &str, depth: usize) -> Result<Node, Wrong> {
        if depth > MAX_DEPTH {
            return Err(Wrong::new(at, format!("must not be nested deeper than {MAX_DEPTH} levels")));
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Wrong::new(
                "parameters",
                format!("must not hold more than {MAX_SCHEMAS} schemas, references followed"),
            )
        })?;
        let fields = match schema {
            Value::Bool(anything) => return Ok(Node { never: !anything, ..Node::default() }),
            Value::Object(fields) => fields,
            _ => return Err(Wrong::new(at, "must be a schema: an object, true or false")),
        };
        if let Some(keyword) = NOT_UNDERSTOOD.iter().find(|keyword| fields.contains_key(**keyword)) {
            return Err(Wrong::new(&format!("{at}.{keyword}"), "is not supported here"));
        }
        let mut node = Node {
            types: types(fields, at)?,
            values: values(fields, at)?,
            least: bound(fields, at, "minimum", "exclusiveMinimum")?,
            most: bound(fields, at, "maximum", "exclusiveMaximum")?,
            multiple_of: multiple_of(fields, at)?,
            length: range(fields, at, "minLength", "maxLength")?,
            pattern: pattern(fields, at)?,
            count: range(fields, at, "minItems", "maxItems")?,
            unique: flag(fields, at, "uniqueItems")?,
            required: names(fields, at, "required")?,
            size: range(fields, at, "minProperties", "maxProperties")?,
            ..Node::default()
        };
        if let Some(items) = fields.get("items") {
            node.items = Some(Box::new(self.node(items, &format!("{at}.items"), depth + 1)?));
        }
        if let Some(properties) = fields.get("properties") {
            let at = format!("{at}.properties");
            let named = properties.as_object().ok_or_else(|| Wrong::new(&at, "must be an object"))?;
            for (name, schema) in named {
                let child = self.node(schema, &format!("{at}.{}", shown(name)), depth + 1)?;
                node.properties.push((name.clone(), child));
            }
        }
        node.others = match fields.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Others::Anything,
            Some(Value::Bool(false)) => Others::Nothing,
            Some(schema) => {
                Others::Like(Box::new(self.node(schema, &format!("{at}.additionalProperties"), depth + 1)?))
            }
        };
        node.all = self.list(fields, at, "allOf", depth)?;
        node.any = self.list(fields, at, "anyOf", depth)?;
        node.one = self.list(fields, at, "oneOf", depth)?;
        if let Some(reference) = fields.get("$ref") {
            node.all.push(self.referred(reference, &format!("{at}.$ref"), depth)?);
        }
        Ok(node)
    }

    fn list(
        &mut self,
        fields: &'a Map<String, Value>,
        at: &str,
        keyword: &str,
        depth: usize,
    ) -> Result<Vec<Node>, Wrong> {
        let Some(list) = fields.get(keyword) else { return Ok(Vec::new()) };
        let at = format!("{at}.{keyword}");
        let list = list.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| Wrong::new(&at, "must be a list of schemas, not empty"))?;
        list.iter()
            .enumerate()
            .map(|(index, schema)| self.node(schema, &format!("{at}[{index}]"), depth + 1))
            .collect()
    }

    fn referred(&mut self, reference: &'a Value, at: &str, depth: usize) -> Result<Node, Wrong> {
        let wrong = |must: &str| Wrong::new(at, must);
        let reference = reference.as_str().ok_or_else(|| wrong("must be a text"))?;
        let pointer = reference
            .strip_prefix('#')
            .filter(|pointer| pointer.starts_with("/$defs/") || pointer.starts_with("/definitions/"))
            .ok_or_else(|| wrong("must begin with #/$defs/ or #/definitions/: nothing is fetched"))?;
        if self.following.contains(&reference) {
            return Err(wrong("must not come back to itself"));
        }
        let target = self.root.pointer(pointer).ok_or_else(|| wrong("points to nothing"))?;
        self.following.push(reference);
        let node = self.node(target, at, depth + 1);
        self.following.pop();
        node
    }
}

fn types(fields: &Map<String, Value>, at: &str) -> Result<Vec<Type>, Wrong> {
    let wrong = || {
        Wrong::new(
            &format!("{at}.type"),
            "must be null, boolean, integer, number, string, array or object, or a list of these",
        )
    };
    let read = |word: &Value| word.as_str().and_then(Type::read).ok_or_else(wrong);
    match fields.get("type") {
        None => Ok(Vec::new()),
        Some(Value::Array(words)) if !words.is_empty() => words.iter().map(read).collect(),
        Some(word) => Ok(vec![read(word)?]),
    }
}

fn values(fields: &Map<String, Value>, at: &str) -> Result<Option<Vec<Value>>, Wrong> {
    if let Some(only) = fields.get("const") {
        return Ok(Some(vec![only.clone()]));
    }
    match fields.get("enum") {
        None => Ok(None),
        Some(Value::Array(values)) if !values.is_empty() => Ok(Some(values.clone())),
        Some(_) => Err(Wrong::new(&format!("{at}.enum"), "must be a list, not empty")),
    }
}

fn number(fields: &Map<String, Value>, at: &str, keyword: &str) -> Result<Option<f64>, Wrong> {
    match fields.get(keyword) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) => Ok(Some(number)),
            None => Err(Wrong::new(&format!("{at}.{keyword}"), "must be a number")),
        },
    }
}

fn bound(
    fields: &Map<String, Value>,
    at: &str,
    inclusive: &str,
    exclusive: &str,
) -> Result<Option<Bound>, Wrong> {
    // Drafts up to 4 had a flag beside the bound.
    if let Some(Value::Bool(exclusive)) = fields.get(exclusive) {
        return Ok(number(fields, at, inclusive)?.map(|at| Bound { at, exclusive: *exclusive }));
    }
    let outer = number(fields, at, exclusive)?.map(|at| Bound { at, exclusive: true });
    let inner = number(fields, at, inclusive)?.map(|at| Bound { at, exclusive: false });
    match (inner, outer) {
        (Some(_), Some(_)) => {
            Err(Wrong::new(&format!("{at}.{exclusive}"), format!("cannot be combined with {inclusive}")))
        }
        (inner, outer) => Ok(inner.or(outer)),
    }
}

fn multiple_of(fields: &Map<String, Value>, at: &str) -> Result<Option<f64>, Wrong> {
    match number(fields, at, "multipleOf")? {
        Some(number) if number <= 0.0 => Err(Wrong::new(&format!("{at}.multipleOf"), "must be above 0")),
        number => Ok(number),
    }
}

fn range(
    fields: &Map<String, Value>,
    at: &str,
    least: &str,
    most: &str,
) -> Result<(Option<u64>, Option<u64>), Wrong> {
    let read = |keyword: &str| match fields.get(keyword) {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| Wrong::new(&format!("{at}.{keyword}"), "must be an integer from 0 on")),
    };
    Ok((read(least)?, read(most)?))
}

fn flag(fields: &Map<String, Value>, at: &str, keyword: &str) -> Result<bool, Wrong> {
    match fields.get(keyword) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(Wrong::new(&format!("{at}.{keyword}"), "must be true or false")),
    }
}

fn names(fields: &Map<String, Value>, at: &str, keyword: &str) -> Result<Vec<String>, Wrong> {
    let wrong = || Wrong::new(&format!("{at}.{keyword}"), "must be a list of names");
    match fields.get(keyword) {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) => {
            names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn pattern(fields: &Map<String, Value>, at: &str) -> Result<Option<Regex>, Wrong> {
    let Some(pattern) = fields.get("pattern") else { return Ok(None) };
    let wrong = |must: String| Wrong::new(&format!("{at}.pattern"), must);
    let pattern = pattern.as_str().ok_or_else(|| wrong("must be a text".into()))?;
    if pattern.len() > MAX_PATTERN {
        return Err(wrong(format!("must not be longer than {MAX_PATTERN} bytes")));
    }
    let compiled = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
    compiled.map(Some).map_err(|_| {
        wrong("must be a regular expression without look-around, back-references and Unicode classes".into())
    })
}

/// What of a name is shown; quotes for one that nobody could see.
fn shown(name: &str) -> String {
    let shown: String = name.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect();
    if shown.trim().is_empty() { "\"\"".to_owned() } else { shown }
}

fn below(at: &str, name: &str) -> String {
    let name = shown(name);
    if at.is_empty() { name } else { format!("{at}.{name}") }
}

impl Node {
    /// Converts texts to numbers and booleans where the schema wants these and no text.
    fn convert(&self, value: &mut Value) {
        for node in &self.all {
            node.convert(value);
        }
        match value {
            Value::String(text) if !self.types.is_empty() && !self.types.contains(&Type::Text) => {
                let read: Option<Value> = serde_json::from_str(text.trim()).ok();
                let read = read.filter(|read| read.is_number() || read.is_boolean());
                if let Some(read) = read.filter(|read| self.types.iter().any(|kind| kind.holds(read))) {
                    *value = read;
                }
            }
            Value::Array(entries) => {
                if let Some(items) = &self.items {
                    entries.iter_mut().for_each(|entry| items.convert(entry));
                }
            }
            Value::Object(entries) => {
                for (name, node) in &self.properties {
                    if let Some(entry) = entries.get_mut(name) {
                        node.convert(entry);
                    }
                }
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn check(&self, value: &Value, at: &str) -> Result<(), Wrong> {
        let here = if at.is_empty() { "the arguments" } else { at };
        let wrong = |must: String| Err(Wrong::new(here, must));
        if self.never {
            return wrong("must be left out".into());
        }
        if !self.types.is_empty() && !self.types.iter().any(|kind| kind.holds(value)) {
            let words: Vec<&str> = self.types.iter().map(|kind| kind.words()).collect();
            return wrong(format!("must be {}", words.join(" or ")));
        }
        if let Some(values) = &self.values
            && !values.iter().any(|allowed| same(allowed, value))
        {
            return wrong(format!("must be {}", listed(values)));
        }
        match value {
            Value::Number(number) => self.check_number(number.as_f64().unwrap_or(f64::NAN), here)?,
            Value::String(text) => self.check_text(text, here)?,
            Value::Array(entries) => self.check_list(entries, at, here)?,
            Value::Object(entries) => self.check_object(entries, at, here)?,
            Value::Null | Value::Bool(_) => {}
        }
        for node in &self.all {
            node.check(value, at)?;
        }
        // Of several ways, the reason of a single one would mislead; an object tells which it means to be by
        // the fields that it has, which the model reads in the schema.
        if !self.any.is_empty() && !self.any.iter().any(|node| node.check(value, at).is_ok()) {
            return wrong("must fit one of the forms that the schema allows".into());
        }
        if !self.one.is_empty() && self.one.iter().filter(|node| node.check(value, at).is_ok()).count() != 1 {
            return wrong("must fit exactly one of the forms that the schema allows".into());
        }
        Ok(())
    }

    fn check_number(&self, number: f64, here: &str) -> Result<(), Wrong> {
        let wrong = |must: String| Err(Wrong::new(here, must));
        if let Some(Bound { at, exclusive }) = self.least
            && (number < at || exclusive && number == at)
        {
            return wrong(format!("must be {} {at}", if exclusive { "above" } else { "at least" }));
        }
        if let Some(Bound { at, exclusive }) = self.most
            && (number > at || exclusive && number == at)
        {
            return wrong(format!("must be {} {at}", if exclusive { "below" } else { "at most" }));
        }
        if let Some(step) = self.multiple_of {
            let steps = number / step;
            // Tenths and hundredths have no exact binary form.
            if (steps - steps.round()).abs() > 1e-9 * steps.abs().max(1.0) {
                return wrong(format!("must be a multiple of {step}"));
            }
        }
        Ok(())
    }

    fn check_text(&self, text: &str, here: &str) -> Result<(), Wrong> {
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        within(length, self.length, "characters", here)?;
        match &self.pattern {
            Some(pattern) if !pattern.is_match(text) => {
                Err(Wrong::new(here, format!("must match the pattern {}", pattern.as_str())))
            }
            _ => Ok(()),
        }
    }

    fn check_list(&self, entries: &[Value], at: &str, here: &str) -> Result<(), Wrong> {
        within(u64::try_from(entries.len()).unwrap_or(u64::MAX), self.count, "entries", here)?;
        if let Some(items) = &self.items {
            for (index, entry) in entries.iter().enumerate() {
                items.check(entry, &format!("{at}[{index}]"))?;
            }
        }
        if self.unique {
            let mut seen = BTreeSet::new();
            if !entries.iter().all(|entry| seen.insert(entry.to_string())) {
                return Err(Wrong::new(here, "must have distinct entries"));
            }
        }
        Ok(())
    }

    fn check_object(&self, entries: &Map<String, Value>, at: &str, here: &str) -> Result<(), Wrong> {
        if let Some(missing) = self.required.iter().find(|name| !entries.contains_key(*name)) {
            return Err(Wrong::new(&below(at, missing), "is required"));
        }
        within(u64::try_from(entries.len()).unwrap_or(u64::MAX), self.size, "entries", here)?;
        for (name, entry) in entries {
            let named = self.properties.iter().find(|(known, _)| known == name);
            match (named, &self.others) {
                (Some((_, node)), _) => node.check(entry, &below(at, name))?,
                (None, Others::Anything) => {}
                (None, Others::Nothing) => {
                    return Err(Wrong::new(&below(at, name), "is not an argument of this tool"));
                }
                (None, Others::Like(node)) => node.check(entry, &below(at, name))?,
            }
        }
        Ok(())
    }
}

fn within(found: u64, (least, most): (Option<u64>, Option<u64>), of: &str, here: &str) -> Result<(), Wrong> {
    match (least, most) {
        (Some(least), _) if found < least => {
            Err(Wrong::new(here, format!("must have at least {least} {of}")))
        }
        (_, Some(most)) if found > most => Err(Wrong::new(here, format!("must have at most {most} {of}"))),
        _ => Ok(()),
    }
}

/// Equality of JSON: 1 and 1.0 are the same number.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

/// The values that are allowed, as many as help.
fn listed(values: &[Value]) -> String {
    let mut words: Vec<String> = values.iter().take(20).map(Value::to_string).collect();
    if values.len() > words.len() {
        words.push("…".into());
    }
    words.join(" or ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order() -> Value {
        json!({
            "type": "object",
            "properties": {
                "order": {"$ref": "#/$defs/order"},
                "count": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10},
                "weight": {"type": ["number", "null"], "multipleOf": 0.1},
                "size": {"enum": ["S", "M", "L"]},
                "notes": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 2, "uniqueItems": true},
                "where": {"oneOf": [{"type": "string"}, {"type": "object", "required": ["pin"]}]},
                "who": {"anyOf": [{"type": "string", "minLength": 2}, {"const": 0}]},
                "gone": false,
                "gift": {"type": "boolean"},
                "extra": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}}
            },
            "required": ["order"],
            "additionalProperties": false,
            "$defs": {"order": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$", "description": "As printed."}}
        })
    }

    fn fit(arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let schema = Schema::read(&order()).unwrap();
        schema.fit(arguments).map(Value::Object).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn arguments_that_fit_pass() {
        for fits in [
            json!({"order": "AB1"}),
            json!({"order": "AB1", "count": 9, "weight": 1.3, "size": "M", "notes": ["a", "b"]}),
            json!({"order": "AB1", "weight": null, "where": {"pin": 1}, "who": 0.0, "extra": {"a": 1}}),
        ] {
            assert_eq!(fit(fits.clone()), Ok(fits));
        }
    }

    #[test]
    fn the_first_wrong_field_is_named() {
        for (arguments, said) in [
            (json!({}), "order is required"),
            (json!({"order": "1"}), "order must match the pattern ^[A-Z]{2}[0-9]+$"),
            (json!({"order": 1}), "order must be a text"),
            (json!({"order": "AB1", "count": 0}), "count must be at least 1"),
            (json!({"order": "AB1", "count": 10}), "count must be below 10"),
            (json!({"order": "AB1", "count": 1.5}), "count must be an integer"),
            (json!({"order": "AB1", "count": "many"}), "count must be an integer"),
            (json!({"order": "AB1", "weight": 0.25}), "weight must be a multiple of 0.1"),
            (json!({"order": "AB1", "weight": "x"}), "weight must be a number or null"),
            (json!({"order": "AB1", "size": "XL"}), r#"size must be "S" or "M" or "L""#),
            (json!({"order": "AB1", "notes": "a"}), "notes must be a list"),
            (json!({"order": "AB1", "notes": ["a", "b", "c"]}), "notes must have at most 2 entries"),
            (json!({"order": "AB1", "notes": ["a", "abcdef"]}), "notes[1] must have at most 5 characters"),
            (json!({"order": "AB1", "notes": ["a", "a"]}), "notes must have distinct entries"),
            (
                json!({"order": "AB1", "where": 1}),
                "where must fit exactly one of the forms that the schema allows",
            ),
            (json!({"order": "AB1", "who": "a"}), "who must fit one of the forms that the schema allows"),
            (json!({"order": "AB1", "gone": 1}), "gone must be left out"),
            (json!({"order": "AB1", "extra": {"a": "x"}}), "extra.a must be an integer"),
            (json!({"order": "AB1", "extra": {"a": 1, "b": 2}}), "extra must have at most 1 entries"),
            (json!({"order": "AB1", "colour": 1}), "colour is not an argument of this tool"),
            (json!({"order": "AB1", "": 1}), "\"\" is not an argument of this tool"),
        ] {
            assert_eq!(fit(arguments.clone()), Err(said.to_owned()), "{arguments}");
        }
    }

    #[test]
    fn a_text_becomes_the_number_that_is_wanted_and_nothing_else_changes() {
        let sent = fit(json!({"order": "AB1", "count": " 3 ", "gift": "true", "extra": {"a": 1}})).unwrap();
        assert_eq!(sent, json!({"order": "AB1", "count": 3, "gift": true, "extra": {"a": 1}}));
        assert_eq!(fit(json!({"order": "AB1", "who": "12"})).unwrap()["who"], "12");
        assert!(fit(json!({"order": "AB1", "count": "3.5"})).is_err());
    }

    #[test]
    fn arguments_have_a_ceiling() {
        let long = "x".repeat(MAX_ARGUMENTS);
        let schema = Schema::read(&json!({"type": "object"})).unwrap();
        let wrong = schema.fit(Map::from_iter([("a".to_owned(), json!(long))])).unwrap_err();
        assert_eq!(wrong.to_string(), "the arguments must not be longer than 65536 bytes");
    }

    #[test]
    fn a_schema_that_cannot_be_held_to_is_refused_when_it_is_read() {
        let nested = (0..20).fold(json!({"type": "string"}), |inner, _| json!({"items": inner}));
        // Each of these refers three times to the next: followed, they are thousands.
        let mut doubled = Map::new();
        for level in 0..7 {
            let next = json!({"$ref": format!("#/$defs/a{}", level + 1)});
            doubled.insert(format!("a{level}"), json!({"allOf": [next, next, next]}));
        }
        doubled.insert("a7".into(), json!({"type": "string"}));
        let property = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        for (schema, field) in [
            (json!([]), "parameters"),
            (json!({"type": "array"}), "parameters.type"),
            (property(json!({"type": "text"})), "parameters.properties.a.type"),
            (property(json!(1)), "parameters.properties.a"),
            (property(json!({"enum": []})), "parameters.properties.a.enum"),
            (property(json!({"minimum": "1"})), "parameters.properties.a.minimum"),
            (
                property(json!({"minimum": 1, "exclusiveMinimum": 0})),
                "parameters.properties.a.exclusiveMinimum",
            ),
            (property(json!({"multipleOf": 0})), "parameters.properties.a.multipleOf"),
            (property(json!({"maxLength": -1})), "parameters.properties.a.maxLength"),
            (property(json!({"uniqueItems": 1})), "parameters.properties.a.uniqueItems"),
            (property(json!({"pattern": "("})), "parameters.properties.a.pattern"),
            (property(json!({"pattern": "(?=a)"})), "parameters.properties.a.pattern"),
            (property(json!({"pattern": "(a{500}){500}"})), "parameters.properties.a.pattern"),
            (property(json!({"pattern": "a".repeat(501)})), "parameters.properties.a.pattern"),
            (property(json!({"anyOf": []})), "parameters.properties.a.anyOf"),
            (property(json!({"if": {}})), "parameters.properties.a.if"),
            (property(json!({"required": [1]})), "parameters.properties.a.required"),
            (property(json!({"$ref": "https://example.com/a"})), "parameters.properties.a.$ref"),
            (property(json!({"$ref": "#"})), "parameters.properties.a.$ref"),
            (property(json!({"$ref": "#/$defs/none"})), "parameters.properties.a.$ref"),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}),
                "parameters.$ref.items.$ref",
            ),
            (json!({"$ref": "#/$defs/a0", "$defs": doubled}), "parameters"),
        ] {
            assert_eq!(Schema::read(&schema).unwrap_err().field, field, "{schema}");
        }
        let deep = Schema::read(&property(nested)).unwrap_err();
        assert_eq!(deep.must, "must not be nested deeper than 16 levels");
    }

    #[test]
    fn what_describes_and_does_not_decide_is_passed_over() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "T", "description": "d",
            "type": "object", "x-own": {"if": 1},
            "properties": {"when": {"type": "string", "format": "date", "examples": ["x"], "default": "y"}}
        });
        assert!(Schema::read(&schema).is_ok());
    }
}

//! A schema as JSON Schema 2020-12.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Component, Field, Format, Schema, Shape, Unknown};

/// The named schemas of a document, each described once.
///
/// In answers and events a set of several words is open: `anyOf` of the known words and any string, since later versions
/// may add words (docs/contract/README.md#versioning). In requests it is closed. A type that is used in both and holds such
/// a set is two components: the request's has `Input` at the end of its name.
#[derive(Debug, Default)]
pub struct Components {
    known: BTreeMap<String, Known>,
    /// Whether sets of words are being written as open.
    open: bool,
}

#[derive(Debug)]
struct Known {
    json: Value,
    /// Where it comes from; none for what was added as JSON.
    component: Option<Arc<Component>>,
}

impl Components {
    /// The schema of an answer or an event as the document has it: named types are references, and are added to the
    /// components.
    ///
    /// # Panics
    /// Two types of different shape have one name; a test writes both documents.
    pub fn answer(&mut self, schema: &Schema) -> Value {
        self.open = true;
        schema.write(&mut Some(self))
    }

    /// The same for a body or a parameter of a request. Answers are described before requests.
    ///
    /// # Panics
    /// As [`Components::answer`].
    pub fn request(&mut self, schema: &Schema) -> Value {
        self.open = false;
        schema.write(&mut Some(self))
    }

    /// Adds a schema that no type has; a reference to it.
    ///
    /// # Panics
    /// There is one with this name.
    pub fn add(&mut self, name: &str, json: Value) -> Value {
        let former = self.known.insert(name.to_owned(), Known { json, component: None });
        assert!(former.is_none(), "two schemas are named {name}");
        reference(name)
    }

    /// All of them by name.
    pub fn into_json(self) -> Map<String, Value> {
        self.known.into_iter().map(|(name, known)| (name, known.json)).collect()
    }

    fn refer(&mut self, component: &Arc<Component>) -> Value {
        // A set of words is one component: where it is open, that is written beside the reference.
        let open = self.open;
        let opened = open && component.schema.is_several_words();
        self.open = open && !opened;
        let json = component.schema.write_definition(&mut Some(self));
        self.open = open;
        let name = self.name_of(component, &json);
        let reference = reference(&name);
        match self.known.get(&name) {
            Some(known) => {
                assert!(known.json == json, "two schemas are named {name}: {} and {json}", known.json)
            }
            None => {
                self.known.insert(name, Known { json, component: Some(component.clone()) });
            }
        }
        if opened { open_set(reference) } else { reference }
    }

    /// The name under which a component with this description is kept.
    fn name_of(&self, component: &Component, json: &Value) -> String {
        let name = &component.name;
        let Some(known) = self.known.get(name).filter(|known| known.json != *json) else {
            return name.clone();
        };
        let shape = known.component.as_ref().map(|known| known.schema.to_json());
        let is_same = shape.is_some_and(|shape| shape == component.schema.to_json());
        assert!(is_same, "two schemas are named {name}: {} and {json}", known.json);
        assert!(!self.open, "{name} was described for a request before it was for an answer");
        format!("{name}Input")
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The known words, or one that a later version adds.
pub(crate) fn open_set(known: Value) -> Value {
    json!({"anyOf": [known, {"type": "string"}]})
}

impl Schema {
    /// This schema with everything that it refers to written out.
    pub fn to_json(&self) -> Value {
        self.write(&mut None)
    }

    /// The schema where it is used: a reference when it has a name.
    fn write(&self, components: &mut Option<&mut Components>) -> Value {
        let (Some(component), Some(known)) = (&self.component, components.as_mut()) else {
            return self.write_definition(components);
        };
        let mut out = known.refer(component);
        if self.nullable {
            out = or_null(out);
        }
        if !self.doc.is_empty() {
            out["description"] = json!(self.doc);
        }
        out
    }

    /// Whether it is a set of more than one word.
    fn is_several_words(&self) -> bool {
        matches!(&self.kind, Shape::Choice(words) if words.len() > 1)
    }

    fn write_definition(&self, components: &mut Option<&mut Components>) -> Value {
        let mut out = match &self.kind {
            Shape::Any => json!({}),
            Shape::Text { min, max, format } => text(*min, *max, format.as_ref()),
            Shape::Choice(words) => {
                let open = self.is_several_words() && components.as_ref().is_some_and(|known| known.open);
                let null = (self.nullable && !open).then_some(Value::Null);
                let words: Vec<Value> = words.iter().map(|word| json!(word)).chain(null).collect();
                let known = json!({"type": "string", "enum": words});
                if open { open_set(known) } else { known }
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
                let mut out = json!({"type": "array", "items": items.write(components)});
                if *min > 0 {
                    out["minItems"] = json!(min);
                }
                if *max < usize::MAX {
                    out["maxItems"] = json!(max);
                }
                out
            }
            Shape::Object { fields, unknown } => object(fields, *unknown, components),
            Shape::Map { values, max } => {
                let mut out = json!({"type": "object", "additionalProperties": values.write(components)});
                if *max < usize::MAX {
                    out["maxProperties"] = json!(max);
                }
                out
            }
            Shape::AnyOf(choices) => {
                let choices: Vec<Value> = choices.iter().map(|choice| choice.write(components)).collect();
                json!({"anyOf": choices})
            }
        };
        if self.nullable {
            out = or_null(out);
        }
        if self.values != super::MAX_VALUES {
            out["x-maxValues"] = json!(self.values);
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

/// The same, or null.
fn or_null(mut schema: Value) -> Value {
    if let Some(kind) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    } else if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.push(json!({"type": "null"}));
    } else if schema.get("$ref").is_some() {
        return json!({"anyOf": [schema, {"type": "null"}]});
    }
    schema
}

/// A time, a day and an id are as long as their form makes them.
fn text(min: usize, max: usize, format: Option<&Format>) -> Value {
    match format {
        Some(Format::Time) => json!({"type": "string", "format": "date-time"}),
        Some(Format::Date) => json!({"type": "string", "format": "date"}),
        Some(Format::Id(prefix)) => json!({"type": "string", "pattern": format!("^{prefix}_")}),
        None => {
            let mut out = json!({"type": "string"});
            if min > 0 {
                out["minLength"] = json!(min);
            }
            if max < usize::MAX {
                out["maxLength"] = json!(max);
            }
            out
        }
    }
}

fn object(fields: &[Field], unknown: Unknown, components: &mut Option<&mut Components>) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            let mut shape = field.schema.write(components);
            if let Some(default) = &field.default {
                shape["default"] = default.clone();
            }
            (field.name.to_string(), shape)
        })
        .collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| field.required).map(|field| &*field.name).collect();
    let mut out = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    if unknown == Unknown::Refused {
        out["additionalProperties"] = json!(false);
    }
    out
}

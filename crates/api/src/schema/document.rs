//! A schema as JSON Schema 2020-12.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Component, Field, Format, Schema, Shape, Unknown};

/// The named schemas of a document, each described once.
#[derive(Debug, Default)]
pub struct Components(BTreeMap<String, Value>);

impl Components {
    /// The schema as the document has it: named types are references, and are added to the components.
    ///
    /// # Panics
    /// Two types of different shape have one name; a test writes both documents.
    pub fn describe(&mut self, schema: &Schema) -> Value {
        schema.write(&mut Some(self))
    }

    /// All of them by name.
    pub fn into_json(self) -> Map<String, Value> {
        self.0.into_iter().collect()
    }

    fn refer(&mut self, component: &Component) -> Value {
        let described = component.schema.write_definition(&mut Some(self));
        let known = self.0.entry(component.name.clone()).or_insert_with(|| described.clone());
        assert!(*known == described, "two schemas are named {}: {known} and {described}", component.name);
        json!({"$ref": format!("#/components/schemas/{}", component.name)})
    }
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
            out = json!({"anyOf": [out, {"type": "null"}]});
        }
        if !self.doc.is_empty() {
            out["description"] = json!(self.doc);
        }
        out
    }

    fn write_definition(&self, components: &mut Option<&mut Components>) -> Value {
        let mut out = match &self.kind {
            Shape::Any => json!({}),
            Shape::Text { min, max, format } => text(*min, *max, format.as_ref()),
            Shape::Choice(words) => {
                let null = self.nullable.then_some(Value::Null);
                let words: Vec<Value> = words.iter().map(|word| json!(word)).chain(null).collect();
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
        if self.nullable
            && let Some(kind) = out.get("type").cloned()
        {
            out["type"] = json!([kind, "null"]);
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

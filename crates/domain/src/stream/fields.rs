//! A record as a list of fields (docs/contract/streams.md#fields).

use serde_json::{Map, Value};

use super::{MAX_BYTES, MAX_FIELD_NAME, MAX_FIELDS, MAX_LEVELS};

/// Bytes that a value other than text counts as.
const PLAIN: usize = 8;

/// The id of a record at its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnId {
    /// The id of a record of a connected system.
    Record(String),
    /// The canonical text of a row of a spreadsheet: equal for equal rows. It is an identity and is not shown.
    Content(String),
}

/// A record that has arrived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrival {
    /// Its fields, in the order in which they arrived.
    pub fields: Map<String, Value>,
    /// Whether fields were left out.
    pub cut: bool,
    /// Its id at its source.
    pub own_id: Option<OwnId>,
}

/// A record whose fields are being collected.
#[derive(Debug, Default)]
pub(super) struct Collector {
    arrival: Arrival,
    bytes: usize,
}

impl Collector {
    /// Bytes that still fit.
    pub(super) fn room(&self) -> usize {
        MAX_BYTES - self.bytes
    }

    /// Whether a field of this name would be kept, if its value fits.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.arrival.fields.contains_key(name) || (self.arrival.fields.len() < MAX_FIELDS && self.fits(name))
    }

    fn fits(&self, name: &str) -> bool {
        name.len() <= self.room().min(4 * MAX_FIELD_NAME) && name.chars().count() <= MAX_FIELD_NAME
    }

    /// Keeps a field, or records that one was left out. The last of two fields of one name wins.
    pub(super) fn put(&mut self, name: String, value: Value) {
        let size = |value: &Value| value.as_str().map_or(PLAIN, str::len);
        let known = self.arrival.fields.get(&name).map(size);
        let more = size(&value) + if known.is_some() { 0 } else { name.len() };
        if !self.takes(&name) || more > self.room() + known.unwrap_or(0) {
            self.arrival.cut = true;
            return;
        }
        self.bytes = self.bytes - known.unwrap_or(0) + more;
        self.arrival.fields.insert(name, value);
    }

    /// Records that a field was left out.
    pub(super) fn leave_out(&mut self) {
        self.arrival.cut = true;
    }

    pub(super) fn finish(self) -> Arrival {
        self.arrival
    }
}

/// The name of a field inside another one.
pub(super) fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The fields of a record that is a JSON value, such as one of a connected system.
pub fn flatten(record: &Map<String, Value>) -> Arrival {
    let mut out = Collector::default();
    collect(&mut out, record, "", 1);
    out.finish()
}

fn collect(out: &mut Collector, object: &Map<String, Value>, path: &str, level: usize) {
    for (name, value) in object {
        let path = below(path, name);
        match value {
            Value::Object(inner) if !inner.is_empty() && level < MAX_LEVELS => {
                collect(out, inner, &path, level + 1);
            }
            Value::Object(_) | Value::Array(_) => out.put(path, Value::String(value.to_string())),
            plain => out.put(path, plain.clone()),
        }
    }
}

/// A field as text, for a variable. `None` for null and for an absent field.
pub fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number_text(number)),
        other => Some(other.to_string()),
    }
}

/// A number without exponent or empty fraction: a phone number may arrive as `9.8e9` or `9812345678.0`.
fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(value) if !number.is_i64() && !number.is_u64() && value.fract() == 0.0 && value.abs() < 1e15 => {
            format!("{value:.0}")
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(record: Value) -> Arrival {
        flatten(record.as_object().unwrap())
    }

    #[test]
    fn nested_objects_become_fields_with_dots() {
        let flat = fields(json!({
            "name": "Asha", "lead": {"city": "Pune", "owner": {"name": "Ravi", "ids": [1, {"a": 2}]}}, "none": null, "empty": {}, "yes": true, "n": 1.5,
        }));
        assert_eq!(
            Value::Object(flat.fields).to_string(),
            json!({
                "name": "Asha", "lead.city": "Pune", "lead.owner.name": "Ravi", "lead.owner.ids": "[1,{\"a\":2}]", "none": null, "empty": "{}",
                "yes": true, "n": 1.5,
            })
            .to_string()
        );
        assert!(!flat.cut);
    }

    #[test]
    fn the_record_is_level_one_and_level_nine_is_text() {
        let flat =
            fields(json!({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": 1, "i": {"j": {"k": 2}}}}}}}}}}));
        assert_eq!(
            Value::Object(flat.fields),
            json!({"a.b.c.d.e.f.g.h": 1, "a.b.c.d.e.f.g.i": "{\"j\":{\"k\":2}}"})
        );
    }

    #[test]
    fn the_first_hundred_fields_are_kept() {
        let many: Map<String, Value> = (0..150).map(|number| (format!("f{number}"), json!(number))).collect();
        let flat = flatten(&many);
        assert_eq!(flat.fields.len(), 100);
        assert!(flat.cut && flat.fields.contains_key("f99") && !flat.fields.contains_key("f100"));
        let exact: Map<String, Value> =
            (0..100).map(|number| (format!("f{number}"), json!(number))).collect();
        assert!(!flatten(&exact).cut);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_rest_stays() {
        let flat = fields(
            json!({"note": "x".repeat(MAX_BYTES), "phone": "9812345678", "n".repeat(201): 1, "q": "y".repeat(1000)}),
        );
        assert_eq!(flat.fields.keys().collect::<Vec<_>>(), ["phone", "q"]);
        assert!(flat.cut);
        let full = fields(json!({"a": "x".repeat(MAX_BYTES - 2), "b": "y"}));
        assert_eq!(full.fields.keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn of_two_fields_of_one_name_the_last_holds() {
        let flat = fields(json!({"a.b": 1, "a": {"b": 2}}));
        assert_eq!(Value::Object(flat.fields), json!({"a.b": 2}));
    }

    #[test]
    fn numbers_are_written_out() {
        for (value, text) in [
            (json!(9812345678_i64), Some("9812345678")),
            (json!(9.812345678e9), Some("9812345678")),
            (json!(1.5), Some("1.5")),
            (json!(true), Some("true")),
            (json!(null), None),
            (json!("x"), Some("x")),
        ] {
            let record = json!({"a": value});
            assert_eq!(text_of(record.as_object().unwrap(), "a").as_deref(), text, "{record}");
        }
    }
}

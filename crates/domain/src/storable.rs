//! Sanitising external data that cannot be refused, such as the output of a model, so that every store can keep it.

use serde_json::Value;

/// A text without U+0000, which PostgreSQL cannot store.
pub fn text(mut text: String) -> String {
    text.retain(|letter| letter != '\0');
    text
}

/// A value whose texts and names are without U+0000.
pub fn value(value: Value) -> Value {
    match value {
        Value::String(words) => Value::String(text(words)),
        Value::Array(items) => items.into_iter().map(self::value).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, part)| (text(name), self::value(part))).collect())
        }
        other => other,
    }
}

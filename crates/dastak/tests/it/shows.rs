//! What an answer, a row or an event shows.

use serde_json::Value;

pub trait Shows {
    /// The fields at these paths have these values. A path is written as in `meta.field`: `error.code`, `turns[0].text`.
    fn shows(&self, fields: Value);
}

impl Shows for Value {
    #[track_caller]
    fn shows(&self, fields: Value) {
        for (path, expected) in fields.as_object().expect("paths and values") {
            assert_eq!(at(self, path), expected, "{path} of {self}");
        }
    }
}

/// A field that is not there is read as null.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    let pointer = path.replace('[', "/").replace(']', "").replace('.', "/");
    value.pointer(&format!("/{pointer}")).unwrap_or(&Value::Null)
}

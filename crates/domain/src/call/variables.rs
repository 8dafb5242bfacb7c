//! The values and the metadata that a call is placed with (spec 1 «Endpoints», `POST /v1/calls`).

use serde_json::{Map, Value};

use crate::conversation::is_name;

/// Most variables of a call.
pub const MAX_COUNT: usize = 50;
/// Longest value, in characters.
pub const MAX_VALUE: usize = 120;
/// Largest total of names and values, in bytes.
pub const MAX_TOTAL: usize = 16 * 1024;

const MAX_KEYS: usize = 20;
const MAX_KEY: usize = 40;
const MAX_TEXT: usize = 500;
const MAX_BYTES: usize = 4 * 1024;

/// Something over a limit that was accepted all the same.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// `variable_truncated` or `variables_over_limit`.
    pub code: &'static str,
    /// Path of the value, such as `variables.name`, or `variables`.
    pub field: String,
    /// For people.
    pub message: String,
}

/// A variable whose value is not a string, a number or a boolean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidValue {
    /// Its name.
    pub key: String,
}

/// The variables as they are used: values over 120 characters are cut, and every limit that is passed is named.
///
/// # Errors
/// The first value that is not a string, a number or a boolean.
pub fn accept(variables: Map<String, Value>) -> Result<(Map<String, Value>, Vec<Warning>), InvalidValue> {
    let mut warnings = Vec::new();
    let over = |field: String, message: String| Warning { code: "variables_over_limit", field, message };
    if variables.len() > MAX_COUNT {
        warnings.push(over("variables".into(), format!("{} variables; the limit is {MAX_COUNT}", variables.len())));
    }
    let total: usize = variables.iter().map(|(name, value)| name.len() + text_length(value)).sum();
    if total > MAX_TOTAL {
        warnings.push(over("variables".into(), format!("{total} bytes in all; the limit is {MAX_TOTAL}")));
    }
    let mut accepted = Map::new();
    for (name, value) in variables {
        let value = match value {
            Value::String(text) => {
                let cut: String = text.chars().take(MAX_VALUE).collect();
                if cut.len() < text.len() {
                    let message = format!("the value was cut to {MAX_VALUE} characters");
                    warnings.push(Warning { code: "variable_truncated", field: format!("variables.{name}"), message });
                }
                Value::String(cut)
            }
            Value::Number(_) | Value::Bool(_) => value,
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(InvalidValue { key: name }),
        };
        if !is_name(&name) {
            let message = "a name has letters, digits and _, does not start with a digit, and has at most 64 characters".to_owned();
            warnings.push(over(format!("variables.{name}"), message));
        }
        accepted.insert(name, value);
    }
    Ok((accepted, warnings))
}

fn text_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}

/// Holds metadata against its limits.
///
/// # Errors
/// The field at fault and what it must be, to be read after its name.
pub fn check_metadata(metadata: &Map<String, Value>) -> Result<(), (String, String)> {
    if metadata.len() > MAX_KEYS {
        return Err(("metadata".into(), format!("must have at most {MAX_KEYS} keys")));
    }
    for (key, value) in metadata {
        let field = || format!("metadata.{key}");
        if !(1..=MAX_KEY).contains(&key.chars().count()) || key.contains('\0') {
            return Err((field(), format!("must have a key of 1 to {MAX_KEY} characters")));
        }
        match value {
            Value::String(text) if text.chars().count() > MAX_TEXT || text.contains('\0') => {
                return Err((field(), format!("must be a string of at most {MAX_TEXT} characters")));
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
            Value::Array(_) | Value::Object(_) => return Err((field(), "must be a string, a number, true or false, or null".into())),
        }
    }
    let bytes = Value::Object(metadata.clone()).to_string().len();
    if bytes > MAX_BYTES {
        return Err(("metadata".into(), format!("must have at most {MAX_BYTES} bytes as JSON")));
    }
    Ok(())
}

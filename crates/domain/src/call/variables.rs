//! The variables and metadata of a call (docs/contract/calls.md#variables).

use serde_json::{Map, Value};

use crate::conversation::is_name;

/// Most variables of a call.
pub const MAX_COUNT: usize = 50;
/// Longest value, in characters.
pub const MAX_VALUE: usize = 120;
/// Largest total of names and values, in bytes.
pub const MAX_TOTAL: usize = 16 * 1024;
/// Most variables that are accepted at all.
pub const CEILING_COUNT: usize = 500;
/// Most bytes of names and values that are accepted at all.
pub const CEILING_BYTES: usize = 64 * 1024;
/// How many warnings are listed one by one.
const MAX_WARNINGS: usize = 50;
/// Characters of a name that a warning shows.
const SHOWN: usize = 200;

/// Most keys of metadata.
pub const MAX_KEYS: usize = 20;
const MAX_KEY: usize = 40;
const MAX_TEXT: usize = 500;
/// Most bytes of metadata, as JSON.
pub const MAX_BYTES: usize = 4 * 1024;

/// Whether a variable has a value: a text that is empty or only spaces has none.
pub fn has_value(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => true,
    }
}

/// A variable that exceeds a limit and was accepted anyway.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "VariableWarning")]
pub struct Warning {
    /// `variable_truncated`: the text was cut; `variables_over_limit`: used unchanged.
    #[schemars(extend("enum" = ["variable_truncated", "variables_over_limit"]))]
    pub code: &'static str,
    /// Path of the value, such as `variables.name`, or `variables`.
    pub field: String,
    /// Description of the warning, for people.
    pub message: String,
}

/// A variable whose value is not a string, a number or a boolean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidValue {
    pub key: String,
}

/// The effective variables. Values over 120 characters are truncated, and each exceeded limit gives a warning; the
/// first 50 are listed one by one. The request schema has already refused more than 500 names or 64 KB.
///
/// # Errors
/// The first value that is not a string, a number or a boolean.
pub fn accept(variables: Map<String, Value>) -> Result<(Map<String, Value>, Vec<Warning>), InvalidValue> {
    let mut warnings = Warnings::default();
    let over = |field: String, message: String| Warning { code: "variables_over_limit", field, message };
    if variables.len() > MAX_COUNT {
        warnings.push(over(
            "variables".into(),
            format!("{} variables; the limit is {MAX_COUNT}", variables.len()),
        ));
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
                    warnings.push(Warning { code: "variable_truncated", field: field(&name), message });
                }
                Value::String(cut)
            }
            Value::Number(_) | Value::Bool(_) => value,
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(InvalidValue { key: name }),
        };
        if !is_name(&name) {
            let message = "a name has letters, digits and _, does not start with a digit, and has at most 64 characters".to_owned();
            warnings.push(over(field(&name), message));
        }
        accepted.insert(name, value);
    }
    Ok((accepted, warnings.told()))
}

/// Collects warnings; only the first ones are listed.
#[derive(Default)]
struct Warnings {
    told: Vec<Warning>,
    more: usize,
}

impl Warnings {
    fn push(&mut self, warning: Warning) {
        if self.told.len() < MAX_WARNINGS {
            self.told.push(warning);
        } else {
            self.more += 1;
        }
    }

    fn told(mut self) -> Vec<Warning> {
        if self.more > 0 {
            let message = format!("{} more warnings are not listed", self.more);
            self.told.push(Warning { code: "variables_over_limit", field: "variables".into(), message });
        }
        self.told
    }
}

/// The path of a variable. A name that is too long is cut.
fn field(name: &str) -> String {
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("variables.{}…", &name[..end]),
        None => format!("variables.{name}"),
    }
}

fn text_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}

/// Checks metadata against its limits.
///
/// # Errors
/// The wrong field, and what it must be, as a text that follows the field's name.
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
            Value::Array(_) | Value::Object(_) => {
                return Err((field(), "must be a string, a number, true or false, or null".into()));
            }
        }
    }
    let bytes = Value::Object(metadata.clone()).to_string().len();
    if bytes > MAX_BYTES {
        return Err(("metadata".into(), format!("must have at most {MAX_BYTES} bytes as JSON")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fifty_warnings_are_listed_and_the_rest_counted() {
        let variables: Map<String, Value> =
            (0..500).map(|number| (format!("bad name {number}{}", "x".repeat(300)), json!(1))).collect();
        let (accepted, warnings) = accept(variables).unwrap();
        assert_eq!((accepted.len(), warnings.len()), (500, 51));
        let last = &warnings[50];
        // Two warnings about all variables come first: their number and their bytes.
        assert_eq!(
            (last.field.as_str(), last.message.as_str()),
            ("variables", "452 more warnings are not listed")
        );
        assert!(warnings.iter().all(|warning| warning.field.chars().count() <= 211));
    }
}

//! The variables of a nudge (docs/contract/nudges.md#variables). A value over a limit is refused, never
//! shortened.

use serde_json::{Map, Value};

use crate::conversation::is_name;

/// Most variables of a nudge.
pub const MAX_COUNT: usize = 50;
/// Most characters of a value.
const MAX_VALUE: usize = 120;
/// Most bytes of all names and values together.
pub const MAX_TOTAL: usize = 16 * 1024;

/// 400 `invalid_variables`: the invalid name and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidVariable {
    /// `meta.key`. For a limit on all variables, the name that exceeded it.
    pub key: String,
    /// A text that follows the name.
    pub problem: &'static str,
}

/// The variables as they are stored: every value as text.
///
/// # Errors
/// The first name, value or total that is over a limit.
pub fn accept_variables(variables: Map<String, Value>) -> Result<Map<String, Value>, InvalidVariable> {
    let mut accepted = Map::new();
    let mut total = 0;
    for (key, value) in variables {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(InvalidVariable { key, problem: "must be a string, a number, true or false" });
            }
        };
        total += key.len() + text.len();
        let problem = if !is_name(&key) {
            Some("is no name: a letter or _, then letters, digits and _, 64 characters at most")
        } else if text.chars().count() > MAX_VALUE || text.contains('\0') {
            Some("must have at most 120 characters")
        } else if accepted.len() == MAX_COUNT {
            Some("is one too many: 50 variables at most")
        } else if total > MAX_TOTAL {
            Some("is over the limit of 16 KB for all variables")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(InvalidVariable { key, problem });
        }
        accepted.insert(key, Value::String(text));
    }
    Ok(accepted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn accept(body: Value) -> Result<Map<String, Value>, InvalidVariable> {
        accept_variables(body.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn values_become_text() {
        let kept = accept(json!({"name": "Asha", "due": 1200.5, "_vip": true})).unwrap();
        assert_eq!(Value::Object(kept), json!({"name": "Asha", "due": "1200.5", "_vip": "true"}));
    }

    #[test]
    fn every_limit_names_the_variable() {
        for (body, key) in [
            (json!({"a": null}), "a"),
            (json!({"a": "x", "b": ["x"]}), "b"),
            (json!({"1st": "x"}), "1st"),
            (json!({"with space": "x"}), "with space"),
            (json!({"": "x"}), ""),
            (json!({"a": "x".repeat(121)}), "a"),
        ] {
            assert_eq!(accept(body).map_err(|refused| refused.key), Err(key.to_owned()));
        }
        assert!(accept(json!({"a": "न".repeat(120)})).is_ok());
        let many = |count: usize| {
            (0..count).map(|number| (format!("v{number:02}"), json!("x"))).collect::<Map<_, _>>()
        };
        assert!(accept_variables(many(50)).is_ok());
        assert_eq!(accept_variables(many(51)).map_err(|refused| refused.key), Err("v50".to_owned()));
        let large: Map<String, Value> =
            (0..40).map(|number| (format!("v{number:02}"), json!("न".repeat(120)))).collect();
        assert!(accept_variables(large.clone()).is_ok());
        let larger: Map<String, Value> =
            (0..50).map(|number| (format!("v{number:02}"), json!("न".repeat(110)))).collect();
        assert!(accept_variables(larger).map_err(|refused| refused.key).is_err());
    }
}

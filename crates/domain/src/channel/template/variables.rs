//! The variables of a template's texts: `{{name}}`, `{{1}}`.

use serde_json::Value;

/// The variables of a text in their order, each once: `{{name}}`, `{{1}}`.
pub fn variables(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        rest = &rest[at + 2..];
        let Some(end) = rest.find("}}") else { break };
        let name = rest[..end].trim();
        if !name.is_empty() && !name.contains('{') && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
        rest = &rest[end + 2..];
    }
    found
}

/// A text with its variables replaced; one without a value stays as it is.
pub(super) fn replaced(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let Some(end) = rest[at..].find("}}") else { break };
        out.push_str(&rest[..at]);
        let name = rest[at + 2..at + end].trim();
        match value(name) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[at..at + end + 2]),
        }
        rest = &rest[at + end + 2..];
    }
    out.push_str(rest);
    out
}

pub(super) fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether these components have values with names: a format that says so, or a variable that is no number.
pub fn is_named(components: &[Value], format: Option<&str>) -> bool {
    format.is_some_and(|format| format.eq_ignore_ascii_case("named"))
        || components
            .iter()
            .filter_map(|component| component.get("text").and_then(Value::as_str))
            .any(|text| variables(text).iter().any(|name| !is_number(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_once_each() {
        assert_eq!(variables("a {{x}} b {{ y }} c {{x}} {{}} {{"), ["x", "y"]);
        assert_eq!(variables("{{{x}}"), Vec::<String>::new());
    }
}

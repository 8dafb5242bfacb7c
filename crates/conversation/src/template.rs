//! `{{name}}` in texts. Spaces inside the braces are allowed, a name without a value becomes the empty
//! string, and the content of a value is never treated as a template. Braces around anything but a name are
//! left unchanged.
//!
//! The total size that values may add is limited: a text of 16,000 characters can name a value three thousand
//! times, and a tool's answer may have 64 KiB.

use serde_json::{Map, Value};

/// Longest variable name, in characters (docs/contract/flows.md#variables).
pub const MAX_NAME: usize = 64;

/// Whether the text is a valid name of a variable: a letter or `_`, then letters, digits and `_`, at most 64
/// (docs/contract/flows.md#variables).
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text.len() <= MAX_NAME
}

/// Most bytes that values may add to a text, or to all texts of a JSON value together; the rest is left out.
pub const MAX_FILLED: usize = 128 * 1024;

/// The text with every `{{name}}` replaced by what `value` returns for it, up to [`MAX_FILLED`].
pub fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut room = MAX_FILLED;
    fill_within(text, value, &mut room)
}

/// `room`: bytes that values may still add.
fn fill_within(text: &str, value: impl Fn(&str) -> Option<String>, room: &mut usize) -> String {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Name(_) if *room == 0 => {}
            Piece::Name(name) => {
                let value = value(name).unwrap_or_default();
                let fits = &value[..value.floor_char_boundary(*room)];
                filled.push_str(fits);
                *room = if fits.len() < value.len() { 0 } else { *room - fits.len() };
            }
            Piece::Braces => filled.push('{'),
        }
    }
    filled
}

/// The names used in a text, each once, in order of first use.
pub fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for piece in pieces(text) {
        if let Piece::Name(name) = piece
            && seen.insert(name)
        {
            names.push(name);
        }
    }
    names
}

/// Whether there are double braces around something that is not a name, such as `{{first name}}`, which would
/// be spoken literally.
pub fn has_stray_braces(text: &str) -> bool {
    pieces(text).any(|piece| matches!(piece, Piece::Braces))
}

/// A value as text: strings unchanged, the empty string for null, lists and objects as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The value with every text inside it filled, up to [`MAX_FILLED`] in total. A text that is a single
/// placeholder becomes the variable's own value, so that a number stays a number.
pub fn fill_value(template: &Value, value: &impl Fn(&str) -> Option<Value>) -> Value {
    let mut room = MAX_FILLED;
    fill_value_within(template, value, &mut room)
}

/// Like [`fill_value`], for an object.
pub fn fill_object(
    template: &Map<String, Value>,
    value: &impl Fn(&str) -> Option<Value>,
) -> Map<String, Value> {
    let mut room = MAX_FILLED;
    template.iter().map(|(key, item)| (key.clone(), fill_value_within(item, value, &mut room))).collect()
}

fn fill_value_within(template: &Value, value: &impl Fn(&str) -> Option<Value>, room: &mut usize) -> Value {
    match template {
        Value::String(text) => match whole(text) {
            Some(name) => {
                let nothing = || Value::String(String::new());
                if *room == 0 {
                    return nothing();
                }
                let value = value(name).unwrap_or_else(nothing);
                match room.checked_sub(text_of(&value).len()) {
                    Some(left) => {
                        *room = left;
                        value
                    }
                    None => {
                        *room = 0;
                        nothing()
                    }
                }
            }
            None => Value::String(fill_within(text, |name| value(name).as_ref().map(text_of), room)),
        },
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| fill_value_within(item, value, room)).collect())
        }
        Value::Object(map) => Value::Object(
            map.iter().map(|(key, item)| (key.clone(), fill_value_within(item, value, room))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
    }
}

/// Every text inside a JSON value except keys.
pub fn texts_in<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_in(item, into)),
        Value::Object(map) => map.values().for_each(|item| texts_in(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
    /// The first of two opening braces that are not followed by a name.
    Braces,
}

/// The name, if the text is a single placeholder.
fn whole(text: &str) -> Option<&str> {
    let mut pieces = pieces(text.trim());
    match (pieces.next(), pieces.next()) {
        (Some(Piece::Name(name)), None) => Some(name),
        _ => None,
    }
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        match rest.find("{{") {
            Some(0) => match placeholder(rest) {
                Some((name, after)) => {
                    rest = after;
                    Some(Piece::Name(name))
                }
                None => {
                    rest = &rest[1..];
                    Some(Piece::Braces)
                }
            },
            at => {
                let (piece, after) = rest.split_at(at.unwrap_or(rest.len()));
                rest = after;
                Some(Piece::Text(piece))
            }
        }
    })
}

/// Reads `{{ name }}` at the start of the text and returns the name and the rest.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("{{")?.trim_start();
    let end =
        inner.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(inner.len());
    let (name, after) = inner.split_at(end);
    let after = after.trim_start().strip_prefix("}}")?;
    is_name(name).then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(text: &str) -> String {
        fill(text, |name| match name {
            "name" => Some("Asha".into()),
            "sly" => Some("{{name}}".into()),
            _ => None,
        })
    }

    #[test]
    fn texts_are_filled() {
        for (text, expected) in [
            ("Hello {{name}}.", "Hello Asha."),
            ("Hello {{ name }}{{name}}", "Hello AshaAsha"),
            ("Hello {{unknown}}!", "Hello !"),
            ("{{sly}}", "{{name}}"),
            ("{{{name}}}", "{Asha}"),
            ("{{first name}} {{9}} {{", "{{first name}} {{9}} {{"),
            ("{{ {{name}}", "{{ Asha"),
            ("नमस्ते {{name}} जी", "नमस्ते Asha जी"),
            ("", ""),
        ] {
            assert_eq!(filled(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_listed_once_in_order() {
        assert_eq!(names("{{b}} {{ a }} {{b}} {{no name}}"), ["b", "a"]);
        assert!(has_stray_braces("Hi {{first name}}"));
        assert!(!has_stray_braces("Hi {{first_name}} {once}"));
    }

    #[test]
    fn a_name_is_a_letter_then_letters_digits_and_underscores() {
        for (name, ok) in
            [("a", true), ("_a1", true), ("1a", false), ("", false), ("a-b", false), ("नाम", false)]
        {
            assert_eq!(is_name(name), ok, "{name}");
        }
        assert!(is_name(&"a".repeat(64)) && !is_name(&"a".repeat(65)));
    }

    #[test]
    fn what_values_add_is_bounded() {
        let answer = "न".repeat(20_000);
        let value = |name: &str| (name == "s").then(|| json!(answer));
        let text = "{{s}}".repeat(3200);
        let most = MAX_FILLED + text.len();
        let filled = fill(&text, |name| value(name).as_ref().map(text_of));
        assert!((MAX_FILLED - 2..=MAX_FILLED).contains(&filled.len()), "{} bytes", filled.len());
        assert_eq!(
            fill("{{s}}!", |_| Some(answer.clone())).len(),
            answer.len() + 1,
            "an answer of a tool fits"
        );
        let many: Vec<Value> = (0..1000)
            .map(|index| if index % 2 == 0 { json!("{{s}}") } else { json!({"a": "x {{s}}"}) })
            .collect();
        assert!(fill_value(&Value::Array(many.clone()), &value).to_string().len() < most);
        let object = many.into_iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect();
        assert!(Value::Object(fill_object(&object, &value)).to_string().len() < most + 20_000);
    }

    #[test]
    fn values_keep_their_type_when_a_text_is_one_placeholder() {
        let value = |name: &str| (name == "n").then(|| json!(42));
        assert_eq!(
            fill_value(&json!({"a": "{{n}}", "b": ["no {{n}}", true], "c": "{{x}}"}), &value),
            json!({"a": 42, "b": ["no 42", true], "c": ""})
        );
    }
}

//! Masks numbers in a JSON document in one pass. Everything else stays as it was written, to the byte.

use super::{mask_number, mask_text, masked};
use crate::phone::{E164, Phone};

/// Fields whose text is a number as a whole.
const NUMBERS: [&str; 14] = [
    "phone",
    "phones",
    "to",
    "from",
    "number",
    "numbers",
    "toNumber",
    "fromNumber",
    "phoneNumber",
    "mobile",
    "waId",
    "recipient",
    "customerNumber",
    "caller",
];
/// Fields that are never a person's number.
const KEPT: [&str; 3] = ["businessNumber", "nextCursor", "cursor"];
/// Objects whose fields the customer names: a number there may be written without quotes.
const FREE: [&str; 8] =
    ["metadata", "variables", "customFields", "fields", "values", "captured", "collected", "arguments"];
/// A link to sound holds these.
const SOUND: [&str; 2] = ["/v1/recordings/", "signature="];
/// What stands in place of text with such a link.
const WITHHELD: &str = "[not shown to viewers]";

/// What a reader may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sound {
    /// Links to recordings are shown.
    Shown,
    /// They are not: the reader is a viewer.
    Withheld,
}

/// What the name of a field says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Plain,
    Number,
    Kept,
}

/// An open object or array.
struct Open {
    object: bool,
    /// The next text is a name.
    at_name: bool,
    name: Name,
    /// Within an object of [`FREE`].
    free: bool,
    /// The next value is such an object.
    opens_free: bool,
}

/// The document with each number masked that `stays` does not keep. `None` when it stays as it is. A document that is
/// not valid JSON is masked all the same, as far as its texts can be told apart.
pub fn mask(json: &str, sound: Sound, stays: &mut dyn FnMut(E164) -> bool) -> Option<String> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    let mut open =
        vec![Open { object: false, at_name: false, name: Name::Plain, free: false, opens_free: false }];
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_text(bytes, at),
            b'0'..=b'9' | b'-' => end_of_number(bytes, at),
            _ => at + 1,
        };
        let Some(inner) = open.last_mut() else { break };
        let new = match byte {
            b'"' if inner.at_name => name(inner, &json[at..end], stays),
            b'"' => text(inner.name, &json[at..end], sound, stays),
            b'0'..=b'9' if inner.free => number(&json[at..end], stays),
            b'{' | b'[' => {
                let object = *byte == b'{';
                let free = inner.free || inner.opens_free;
                let name = if object { Name::Plain } else { inner.name };
                let opens_free = !object && inner.opens_free;
                open.push(Open { object, at_name: object, name, free, opens_free });
                None
            }
            b'}' | b']' => {
                if open.len() > 1 {
                    open.pop();
                }
                None
            }
            b':' => {
                inner.at_name = false;
                None
            }
            b',' => {
                inner.at_name = inner.object;
                None
            }
            _ => None,
        };
        if let Some(new) = new {
            out.push_str(&json[copied..at]);
            out.push_str(&new);
            copied = end;
        }
        at = end;
    }
    (copied > 0).then(|| out + &json[copied..])
}

/// The place after a text that begins here.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    start
        + rest
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .count()
}

/// What a text in quotes says.
fn unquoted(quoted: &str) -> Option<String> {
    if quoted.contains('\\') {
        return serde_json::from_str(quoted).ok();
    }
    Some(quoted.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn quoted(text: &str) -> Option<String> {
    serde_json::to_string(text).ok()
}

/// Reads a name, and masks it if it is a number.
fn name(inner: &mut Open, written: &str, stays: &mut dyn FnMut(E164) -> bool) -> Option<String> {
    let name = unquoted(written)?;
    inner.name = match &*name {
        name if NUMBERS.contains(&name) => Name::Number,
        name if KEPT.contains(&name) => Name::Kept,
        _ => Name::Plain,
    };
    inner.opens_free = FREE.contains(&&*name);
    mask_text(&name, stays).and_then(|masked| quoted(&masked))
}

fn text(name: Name, written: &str, sound: Sound, stays: &mut dyn FnMut(E164) -> bool) -> Option<String> {
    if name == Name::Kept {
        return None;
    }
    let text = unquoted(written)?;
    if sound == Sound::Withheld && SOUND.iter().all(|part| text.contains(part)) {
        let link = text.starts_with("http") && !text.contains(char::is_whitespace);
        return if link { Some("null".to_owned()) } else { quoted(WITHHELD) };
    }
    let masked = match name {
        Name::Number => mask_number(&text, stays),
        Name::Plain | Name::Kept => mask_text(&text, stays),
    };
    masked.and_then(|masked| quoted(&masked))
}

/// A number without quotes, where a customer may have written somebody's.
fn number(written: &str, stays: &mut dyn FnMut(E164) -> bool) -> Option<String> {
    if !(10..=14).contains(&written.len()) || !written.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = Phone::normalize(written).ok().map(E164::from)?;
    if stays(number) { None } else { quoted(&masked(number)) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn masked_json(value: &Value) -> Value {
        let text = value.to_string();
        let masked = mask(&text, Sound::Withheld, &mut |_| false).unwrap_or(text);
        serde_json::from_str(&masked).unwrap()
    }

    #[test]
    fn numbers_are_masked_wherever_they_stand() {
        let whole = json!({"data": [{
            "id": "call_01jdxyz0000000000000000000", "to": "+919812345678", "from": "12025550100",
            "businessNumber": "+918023456789", "amountMinor": 9_812_345_678_i64, "at": "2026-11-27T10:42:31.123Z",
            "metadata": {"mobile": 9_812_345_678_i64, "plan": 3, "9812345678": true, "deep": [{"n": 9_812_345_678_i64}]},
            "transcript": [{"text": "मेरा \"नंबर\" ९८१२३४५६७८"}], "phones": ["9812345678", "12025550100"],
            "recordingUrl": "https://a.example/v1/recordings/rec_1?expires=1&signature=x",
            "body": "{\"recordingUrl\": \"https://a.example/v1/recordings/rec_1?signature=x\"}",
        }], "nextCursor": "9812345678.x"});
        assert_eq!(
            masked_json(&whole),
            json!({"data": [{
                "id": "call_01jdxyz0000000000000000000", "to": "98••• ••678", "from": "+1 ••• ••00",
                "businessNumber": "+918023456789", "amountMinor": 9_812_345_678_i64, "at": "2026-11-27T10:42:31.123Z",
                "metadata": {"mobile": "98••• ••678", "plan": 3, "98••• ••678": true, "deep": [{"n": "98••• ••678"}]},
                "transcript": [{"text": "मेरा \"नंबर\" 98••• ••678"}], "phones": ["98••• ••678", "+1 ••• ••00"],
                "recordingUrl": null,
                "body": "[not shown to viewers]",
            }], "nextCursor": "9812345678.x"})
        );
        let link = json!({"recordingUrl": "https://a.example/v1/recordings/rec_1?expires=1&signature=x"});
        assert_eq!(mask(&link.to_string(), Sound::Shown, &mut |_| false), None);
    }

    #[test]
    fn what_is_not_valid_is_answered() {
        for text in ["", "\"", "\"\\", "{", "}}}]", "{\"to\": \"9812345678", "[1,,2]", "-", "\"\\u12\""] {
            let _ = mask(text, Sound::Shown, &mut |_| false);
        }
        let escaped = r#"{"phone":"\u0039812345678"}"#;
        assert_eq!(
            mask(escaped, Sound::Shown, &mut |_| false).as_deref(),
            Some("{\"phone\":\"98••• ••678\"}")
        );
    }

    fn value() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
            "(\\+91|0)?[6-9][0-9]{9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("[a-z]{1,6}|metadata|to", inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn texts<'a>(value: &'a Value, all: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => all.push(text),
            Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
            Value::Object(fields) => fields.values().for_each(|item| texts(item, all)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    proptest::proptest! {
        #[test]
        fn a_document_stays_one_and_keeps_its_shape(whole in value()) {
            let masked = masked_json(&whole);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            texts(&whole, &mut before);
            texts(&masked, &mut after);
            proptest::prop_assert!(after.len() >= before.len());
            for text in after {
                proptest::prop_assert!(Phone::normalize(text).is_err() || crate::masking::is_masked(text), "{text}");
            }
            proptest::prop_assert_eq!(masked_json(&masked), masked);
        }
    }
}

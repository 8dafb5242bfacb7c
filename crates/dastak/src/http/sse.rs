//! Server-sent events as text.

use bytes::Bytes;
use serde_json::Value;

/// An event. JSON has no line ends, so that it fits into one line of data. What Unicode counts as a line end, too, is
/// escaped: clients that part lines by that would cut the data there.
pub fn event(name: &str, id: Option<&str>, data: &Value) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let mut text = format!("{id}event: {name}\ndata: {data}\n\n");
    for (end, escaped) in [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")] {
        if text.contains(end) {
            text = text.replace(end, escaped);
        }
    }
    Bytes::from(text)
}

/// A line that clients pass over, and perhaps another id to go on from.
pub fn comment(id: Option<&str>) -> Bytes {
    Bytes::from(id.map_or_else(|| ":\n\n".to_owned(), |id| format!(":\nid: {id}\n\n")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_with_line_ends_stay_in_their_event() {
        let sent = event("text", None, &json!({"text": "a\n\nevent: done"}));
        assert_eq!(&sent[..], b"event: text\ndata: {\"text\":\"a\\n\\nevent: done\"}\n\n");
        let sent = event("text", None, &json!({"text": "a\u{85}b\u{2028}c\u{2029}"}));
        assert_eq!(&sent[..], b"event: text\ndata: {\"text\":\"a\\u0085b\\u2028c\\u2029\"}\n\n");
        assert_eq!(&comment(Some("x"))[..], b":\nid: x\n\n");
    }
}

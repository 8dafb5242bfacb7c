//! What a model or a flow wants to send to a tool, and what an MCP server answers.

use dastak::app::tool_calls::arguments::{MAX_ARGUMENTS, Schema};
use providers::mcp;
use serde_json::{Map, Value};

/// The schema of a tool, and after a line feed arguments as JSON.
///
/// A refusal names a place and says what must be, in a text of one line. Accepted arguments have the names that were
/// given, in their order, and are no longer than is allowed. A value is as it was given, or a number or truth value that its
/// text spells. What was accepted is accepted again without change.
pub fn arguments(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (schema, given) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return };
    let Ok(given) = serde_json::from_str::<Map<String, Value>>(given) else { return };
    let schema = match Schema::read(&schema) {
        Ok(schema) => schema,
        Err(wrong) => {
            assert!(wrong.field.starts_with("parameters") && !wrong.must.is_empty(), "{wrong}");
            return;
        }
    };
    match schema.fit(given.clone()) {
        Ok(fitted) => {
            assert!(Value::Object(fitted.clone()).to_string().len() <= MAX_ARGUMENTS);
            assert!(fitted.keys().eq(given.keys()), "names and their order");
            for (name, value) in &given {
                spelt(value, &fitted[name]);
            }
            assert_eq!(schema.fit(fitted.clone()), Ok(fitted), "accepted again");
        }
        Err(wrong) => assert!(!wrong.field.is_empty() && !wrong.must.is_empty(), "{wrong:?}"),
    }
}

/// Nothing but the spelling of numbers and truth values changes.
fn spelt(given: &Value, fitted: &Value) {
    match (given, fitted) {
        (Value::String(text), Value::Number(_) | Value::Bool(_)) => {
            assert_eq!(serde_json::from_str::<Value>(text.trim()).ok().as_ref(), Some(fitted));
        }
        (Value::Array(given), Value::Array(fitted)) => {
            assert_eq!(given.len(), fitted.len());
            given.iter().zip(fitted).for_each(|(given, fitted)| spelt(given, fitted));
        }
        (Value::Object(given), Value::Object(fitted)) => {
            assert!(given.keys().eq(fitted.keys()));
            given.iter().for_each(|(name, given)| spelt(given, &fitted[name]));
        }
        (given, fitted) => assert_eq!(given, fitted),
    }
}

/// The answer of an MCP server, as one document and as a stream of events.
///
/// A result is an object, and a text of it can be made. A stream that was enough at some length gives the same result when it is
/// read to there and to its end, however it was cut.
pub fn mcp_answer(data: &[u8]) {
    for kind in ["application/json", "text/event-stream"] {
        if let Ok(result) = mcp::result(kind, data) {
            assert!(result.is_object(), "{result}");
            if let mcp::Said::Value(value) = mcp::said(&result) {
                assert!(!value.to_string().is_empty());
            }
            let _ = mcp::revision(&result);
        }
    }
    let mut messages = mcp::Messages::default();
    let mut enough = None;
    for end in 0..=data.len() {
        if messages.read_stream(&data[..end]) {
            enough = Some(end);
            break;
        }
    }
    let stream = "text/event-stream";
    if let Some(end) = enough {
        assert_eq!(mcp::result(stream, &data[..end]), mcp::result(stream, data));
        assert!(mcp::Messages::default().read_stream(data), "the same in one piece");
    }
}

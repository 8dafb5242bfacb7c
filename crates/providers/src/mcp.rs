//! The client's side of the Model Context Protocol over HTTP: messages to a server, and what its answers hold. Pure; the
//! caller sends them through the guarded client.
//!
//! A server is not trusted: an answer counts only if it has the id of the request, requests and notifications of the server
//! are passed over, and nothing of what it says decides where anything is sent.

use bytes::Bytes;
use serde_json::{Map, Value, json};

/// The revision that is offered to a server, which may choose an older one.
pub const REVISION: &str = "2025-06-18";
/// Header with the revision that was agreed on.
pub const REVISION_HEADER: &str = "mcp-protocol-version";
/// Header with the id of the session.
pub const SESSION_HEADER: &str = "mcp-session-id";
/// What an answer may be.
pub const ACCEPTED: &str = "application/json, text/event-stream";
/// Longest id of a session, and longest revision, bytes.
pub const MAX_SESSION_ID: usize = 512;
const MAX_REVISION: usize = 32;

/// Id of the request that an exchange makes; each exchange makes one.
const ID: u64 = 1;

fn request(method: &str, params: &Value) -> Bytes {
    json!({"jsonrpc": "2.0", "id": ID, "method": method, "params": params}).to_string().into()
}

/// Opens a session.
pub fn initialize(client: &str, version: &str) -> Bytes {
    let params = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": client, "version": version}});
    request("initialize", &params)
}

/// Says that the session is open; nothing answers it.
pub fn initialized() -> Bytes {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string().into()
}

/// Asks for a page of the tools.
pub fn list_tools(cursor: Option<&str>) -> Bytes {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    request("tools/list", &params)
}

/// Calls a tool.
pub fn call_tool(name: &str, arguments: &Map<String, Value>) -> Bytes {
    request("tools/call", &json!({"name": name, "arguments": arguments}))
}

/// Why an answer holds no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResult {
    /// It is no answer to the request.
    Unreadable,
    /// The server refused the request; its own words.
    Refused(String),
}

/// The messages of a body as it arrives: each is read once, so that a body in many pieces costs no more than a whole one.
#[derive(Debug, Default)]
pub struct Messages {
    /// Where the event begins that is not complete yet.
    start: usize,
    /// Up to where its end was looked for.
    seen: usize,
    answer: Option<Value>,
}

impl Messages {
    /// Reads the events that are complete in what has arrived so far of a stream; whether the answer is among them.
    pub fn read_stream(&mut self, body: &[u8]) -> bool {
        while self.answer.is_none()
            && let Some((end, next)) = end_of_event(body, self.seen.max(self.start))
        {
            self.take(&data_of(&body[self.start..end]));
            (self.start, self.seen) = (next, next);
        }
        // The end of an event may begin with the last three bytes.
        self.seen = body.len().saturating_sub(3).max(self.start);
        self.answer.is_some()
    }

    /// Reads a body that is complete.
    fn read_whole(mut self, stream: bool, body: &[u8]) -> Option<Value> {
        if !stream {
            self.take(body);
        } else if !self.read_stream(body) && self.start < body.len() {
            // The last event may end with the stream.
            self.take(&data_of(&body[self.start..]));
        }
        self.answer
    }

    /// Takes the answer out of a message, or of a batch of them.
    fn take(&mut self, text: &[u8]) {
        let message = match serde_json::from_slice(text) {
            Ok(Value::Array(batch)) => batch.into_iter().find(is_answer),
            Ok(message) => Some(message).filter(is_answer),
            Err(_) => None,
        };
        self.answer = message;
    }
}

/// Whether a message answers the request, whatever it says.
fn is_answer(message: &Value) -> bool {
    let answers = message.get("result").is_some() != message.get("error").is_some();
    message["jsonrpc"] == "2.0" && message["id"] == ID && message.get("method").is_none() && answers
}

/// Where the next event ends, and where the one behind it begins.
fn end_of_event(body: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = &body[from.min(body.len())..];
    let ends = [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"];
    (0..rest.len()).find_map(|at| {
        let end = ends.iter().find(|end| rest[at..].starts_with(end))?;
        Some((from + at, from + at + end.len()))
    })
}

/// The data of an event.
fn data_of(event: &[u8]) -> Vec<u8> {
    let lines = event.split(|byte| *byte == b'\n' || *byte == b'\r');
    let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
    data.map(|line| line.strip_prefix(b" ").unwrap_or(line)).collect::<Vec<_>>().join(&b'\n')
}

/// Whether a body with this content type is a stream of events.
pub fn is_stream(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("text/event-stream")
}

/// The result of the request in a complete answer.
///
/// # Errors
/// There is none.
pub fn result(content_type: &str, body: &[u8]) -> Result<Value, NoResult> {
    let answer = Messages::default().read_whole(is_stream(content_type), body);
    let mut answer = answer.ok_or(NoResult::Unreadable)?;
    match answer.get_mut("result").map(Value::take) {
        Some(result @ Value::Object(_)) => Ok(result),
        Some(_) => Err(NoResult::Unreadable),
        None => Err(NoResult::Refused(answer["error"]["message"].as_str().unwrap_or_default().to_owned())),
    }
}

/// The revision that a server has chosen, if it can be sent as a header.
pub fn revision(initialized: &Value) -> Option<&str> {
    let chosen = initialized["protocolVersion"].as_str()?;
    let plain = chosen.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    (plain && (1..=MAX_REVISION).contains(&chosen.len())).then_some(chosen)
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Its structured content, else its text, as JSON where it is.
    Value(Value),
    /// The tool says that it failed; its text.
    Failure(String),
}

/// What the result of `tools/call` says. Pictures, sounds and resources are named by their type, since an agent gets text.
pub fn said(result: &Value) -> Said {
    let blocks = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let words: Vec<String> = blocks
        .iter()
        .map(|block| match block["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("[{}]", block["type"].as_str().unwrap_or("content")),
        })
        .collect();
    let text = words.join("\n");
    if result["isError"] == true {
        return Said::Failure(text);
    }
    match &result["structuredContent"] {
        structured @ Value::Object(_) => Said::Value(structured.clone()),
        _ => Said::Value(serde_json::from_str(&text).unwrap_or(Value::String(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "application/json";
    const STREAM: &str = "text/event-stream; charset=utf-8";

    #[test]
    fn an_answer_counts_only_with_the_id_of_the_request() {
        let ok = json!({"tools": []});
        let right = json!({"jsonrpc": "2.0", "id": 1, "result": ok}).to_string();
        assert_eq!(result(JSON, right.as_bytes()), Ok(ok.clone()));
        for wrong in [
            json!({"jsonrpc": "2.0", "id": 2, "result": ok}),
            json!({"jsonrpc": "2.0", "id": "1", "result": ok}),
            json!({"jsonrpc": "2.0", "id": null, "result": ok}),
            json!({"jsonrpc": "2.0", "result": ok}),
            json!({"jsonrpc": "1.0", "id": 1, "result": ok}),
            json!({"id": 1, "result": ok}),
            json!({"jsonrpc": "2.0", "id": 1, "result": []}),
            json!({"jsonrpc": "2.0", "id": 1, "result": ok, "error": {}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": ok}),
            json!({"jsonrpc": "2.0", "id": 1}),
            json!("text"),
        ] {
            assert_eq!(result(JSON, wrong.to_string().as_bytes()), Err(NoResult::Unreadable), "{wrong}");
        }
        assert_eq!(result(JSON, b"{"), Err(NoResult::Unreadable));
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":{}{}}}}}"#,
            "[".repeat(9999),
            "]".repeat(9999)
        );
        assert_eq!(result(JSON, deep.as_bytes()), Err(NoResult::Unreadable));
        let refused =
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such tool"}});
        assert_eq!(
            result(JSON, refused.to_string().as_bytes()),
            Err(NoResult::Refused("no such tool".into()))
        );
        let batch = format!("[{},{right}]", json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
        assert_eq!(result(JSON, batch.as_bytes()), Ok(ok));
    }

    #[test]
    fn requests_of_the_server_in_a_stream_are_passed_over() {
        let stream = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}\n\n: still here\r\n\r\n\
            id: 4\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{\"a\":1}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":2}}\n\n";
        assert_eq!(result(STREAM, stream.as_bytes()), Ok(json!({"a": 1})));
        // Without its last line end it is complete at the end of the body.
        let cut = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}";
        assert_eq!(result(STREAM, cut.as_bytes()), Ok(json!({"a": 1})));
        assert_eq!(result(STREAM, b"data: {\n\n"), Err(NoResult::Unreadable));
    }

    #[test]
    fn a_stream_in_pieces_is_enough_with_the_answer() {
        let before = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n";
        let stream =
            format!("{before}data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\r\n\r\n: and on");
        let enough = stream.find(": and on").unwrap();
        let mut messages = Messages::default();
        for end in 0..=stream.len() {
            let read = messages.read_stream(&stream.as_bytes()[..end]);
            assert_eq!(read, end >= enough, "{end}");
        }
    }

    #[test]
    fn what_a_tool_says_becomes_a_value() {
        for (answered, expected) in [
            (json!({"content": [{"type": "text", "text": "{\"a\":1}"}]}), Said::Value(json!({"a": 1}))),
            (json!({"content": [{"type": "text", "text": "on its way"}]}), Said::Value(json!("on its way"))),
            (
                json!({"content": [{"type": "text", "text": "x"}], "structuredContent": {"a": 2}}),
                Said::Value(json!({"a": 2})),
            ),
            (
                json!({"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "…"}]}),
                Said::Value(json!("a\n[image]")),
            ),
            (json!({"content": "odd"}), Said::Value(json!(""))),
            (
                json!({"content": [{"type": "text", "text": "sold out"}], "isError": true}),
                Said::Failure("sold out".into()),
            ),
        ] {
            assert_eq!(said(&answered), expected, "{answered}");
        }
    }

    #[test]
    fn a_revision_that_no_header_takes_is_none() {
        for (chosen, expected) in [
            (json!("2025-03-26"), Some("2025-03-26")),
            (json!("a\r\nb: c"), None),
            (json!(""), None),
            (json!("9".repeat(33)), None),
            (json!(3), None),
        ] {
            assert_eq!(revision(&json!({"protocolVersion": chosen})), expected);
        }
    }
}

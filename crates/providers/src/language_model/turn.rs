//! The model's turn while it is streamed. Servers deviate from the protocol (docs/providers.md#models): whole calls in
//! one chunk, calls without an index, repeated roles, thoughts beside the text, errors in the stream, no `[DONE]`, or
//! no stream at all.

use std::collections::VecDeque;

use domain::conversation::ModelToolCall;
use domain::ports::{Answer, ProviderError, ProviderFault, Said, Talking};
use domain::storable;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::events::Events;
use super::request::{END_CALL, Names, TAKE_EXIT};
use super::speakable::Speakable;
use crate::http::{Body, Peer, error_code};

/// Longest text of a turn, bytes; a model that repeats itself without end is cut off.
const LONGEST_TURN: usize = 64 * 1024;
/// Most calls of a turn.
const MOST_CALLS: usize = 32;
/// Longest disposition, letters.
const LONGEST_OUTCOME: usize = 64;

/// A turn in progress.
pub(super) struct Turn {
    peer: Peer,
    /// None when it has ended.
    body: Option<Body>,
    /// Nothing more is read.
    over: bool,
    /// The answer is one JSON value and no stream.
    whole: bool,
    events: Events,
    ready: VecDeque<Said>,
    failure: Option<ProviderError>,
    reading: Reading,
    /// When the last useful content arrived.
    progress: Instant,
}

/// The state of the parser.
struct Reading {
    names: Names,
    text: Speakable,
    given: usize,
    calls: Vec<Call>,
    filtered: bool,
    /// The model has ended its turn; without that, the stream broke off.
    ended: bool,
}

#[derive(Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The arguments were longer than [`LONGEST_TURN`]: the call is invalid.
    too_long: bool,
}

impl Call {
    fn more(&mut self, arguments: &Value) {
        let text = arguments_text(arguments);
        self.too_long |= self.arguments.len() + text.len() > LONGEST_TURN;
        if !self.too_long {
            self.arguments.push_str(&text);
        }
    }
}

impl Turn {
    pub(super) fn new(peer: Peer, body: Body, names: Names, spoken: bool) -> Turn {
        let whole = body.content_type().contains("application/json");
        Turn { body: Some(body), whole, ..Turn::without_body(peer, names, spoken) }
    }

    /// A turn whose bytes are fed to it.
    pub(super) fn without_body(peer: Peer, names: Names, spoken: bool) -> Turn {
        let reading = Reading {
            names,
            text: Speakable::new(spoken),
            given: 0,
            calls: Vec::new(),
            filtered: false,
            ended: false,
        };
        let (events, ready, progress) = (Events::default(), VecDeque::new(), Instant::now());
        Turn { peer, body: None, over: false, whole: false, events, ready, failure: None, reading, progress }
    }

    /// Reads until there is something to say, or nothing more to read.
    async fn advance(&mut self) -> Result<(), ProviderError> {
        while self.ready.is_empty() {
            let Some(body) = &mut self.body else { return Ok(()) };
            if self.whole {
                let Some(body) = self.body.take() else { return Ok(()) };
                let body = body.whole(1 << 20).await?;
                let value = serde_json::from_slice(&body)
                    .map_err(|_| self.peer.broken("an answer that is not JSON"))?;
                return self.whole(&value);
            }
            // Comments and thoughts keep the connection alive, but a caller does not wait for them for ever.
            let due = self.progress + self.peer.timeout;
            let Ok(piece) = timeout_at(due, body.next()).await else {
                return Err(self.peer.timed_out("the next words"));
            };
            let Some(bytes) = piece? else {
                return self.end();
            };
            self.take(&bytes)?;
        }
        Ok(())
    }

    /// The next bytes of the stream.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        let lines = self.events.push(bytes).map_err(|_| self.peer.broken("a line without end"))?;
        for line in lines {
            if !self.over {
                self.line(&line)?;
            }
        }
        Ok(())
    }

    /// The stream has ended.
    pub(super) fn end(&mut self) -> Result<(), ProviderError> {
        if let Some(line) = self.events.finish().filter(|_| !self.over) {
            self.line(&line)?;
        }
        if self.over { Ok(()) } else { self.finish() }
    }

    /// An answer that is no stream.
    pub(super) fn whole(&mut self, answer: &Value) -> Result<(), ProviderError> {
        self.read(answer)?;
        self.finish()
    }

    /// The content that can be passed on.
    pub(super) fn ready(&mut self) -> Option<Said> {
        self.ready.pop_front()
    }

    fn line(&mut self, line: &str) -> Result<(), ProviderError> {
        if line == "[DONE]" {
            self.reading.ended = true;
            return self.finish();
        }
        let value: Value =
            serde_json::from_str(line).map_err(|_| self.peer.broken("an event that is not JSON"))?;
        self.read(&value)
    }

    fn read(&mut self, value: &Value) -> Result<(), ProviderError> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(refused(&self.peer, value));
        }
        // With usage asked for, the last event has no choice.
        let Some(choice) = value["choices"].get(0) else { return Ok(()) };
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        let text = match &delta["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        };
        if !text.is_empty() {
            let text = self.reading.text.push(&text);
            self.say(text);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.progress = Instant::now();
            self.reading.add(call);
        }
        self.reading.ended |= !choice["finish_reason"].is_null();
        if choice["finish_reason"] == "content_filter" {
            self.reading.filtered = true;
        }
        Ok(())
    }

    fn say(&mut self, text: String) {
        let mut text = storable::text(text);
        let room = LONGEST_TURN - self.reading.given;
        let cut = text.len() > room;
        text.truncate(text.floor_char_boundary(room));
        if text.is_empty() {
            return;
        }
        // Leading white space is no word yet.
        if self.reading.given == 0 && text.trim().is_empty() {
            return;
        }
        self.progress = Instant::now();
        self.reading.given = if cut { LONGEST_TURN } else { self.reading.given + text.len() };
        self.ready.push_back(Said::Text(text));
    }

    /// The stream is over: calls are whole now.
    fn finish(&mut self) -> Result<(), ProviderError> {
        self.body = None;
        self.over = true;
        let text = self.reading.text.finish();
        self.say(text);
        let (calls, damaged) = self.reading.decide();
        self.ready.extend(calls);
        if !self.ready.is_empty() || self.reading.given > 0 {
            return Ok(());
        }
        Err(match (self.reading.filtered, damaged) {
            (true, _) => {
                self.peer.error(ProviderFault::Refused, "the server's filter left nothing of the turn")
            }
            (false, true) => self.peer.broken("calls that cannot be understood"),
            (false, false) if self.reading.ended => {
                self.peer.error(ProviderFault::Silent, "a turn without a word")
            }
            (false, false) => self.peer.broken("a stream without a turn"),
        })
    }
}

/// The failure of an error in the stream; its text is not repeated.
fn refused(peer: &Peer, value: &Value) -> ProviderError {
    let code = error_code(value).unwrap_or_else(|| "no code".to_owned());
    let fault = if code.contains("rate_limit") || code.contains("quota") || code == "429" {
        ProviderFault::Limited
    } else {
        ProviderFault::Broken
    };
    peer.error(fault, format!("an error in the stream: {code}"))
}

impl Reading {
    fn add(&mut self, piece: &Value) {
        let function = &piece["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let id = piece["id"].as_str().unwrap_or_default();
        let index = piece["index"].as_u64();
        let at = self.place(index, id, name);
        let Some(at) = at else {
            if self.calls.len() < MOST_CALLS {
                let mut call = Call { index, id: id.to_owned(), name: name.to_owned(), ..Call::default() };
                call.more(&function["arguments"]);
                self.calls.push(call);
            }
            return;
        };
        let call = &mut self.calls[at];
        if call.name.is_empty() {
            call.name = name.to_owned();
        }
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        call.more(&function["arguments"]);
    }

    /// The call to which a chunk belongs; `None` for a new one.
    fn place(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        if let Some(index) = index {
            // Some servers count every call 0; then the id distinguishes them.
            let same = |call: &Call| {
                call.index == Some(index)
                    && (id.is_empty() || call.id.is_empty() || call.id == id || name.is_empty())
            };
            return self.calls.iter().rposition(same);
        }
        if !id.is_empty() {
            if let Some(at) = self.calls.iter().position(|call| call.id == id) {
                return Some(at);
            }
            if !name.is_empty() {
                return None;
            }
        }
        if name.is_empty() { self.calls.len().checked_sub(1) } else { None }
    }

    /// The meaning of the calls: tools, then the exit, then the end; and whether one was invalid.
    fn decide(&mut self) -> (Vec<Said>, bool) {
        let (mut tools, mut exit, mut end, mut damaged) = (Vec::new(), None, None, false);
        for call in std::mem::take(&mut self.calls) {
            let Some(arguments) = parsed(&call.arguments).filter(|_| !call.too_long).map(storable::value)
            else {
                damaged = true;
                continue;
            };
            match call.name.as_str() {
                TAKE_EXIT => match self.names.exit(&arguments) {
                    Some(index) => exit = exit.or(Some(Said::Exit(index))),
                    None => damaged = true,
                },
                END_CALL => end = end.or(Some(Said::End(outcome(&arguments["outcome"])))),
                name => match (self.names.id(name), arguments) {
                    (Some(id), Value::Object(arguments)) => {
                        tools.push(Said::Tool(ModelToolCall { tool_id: id.to_owned(), arguments }))
                    }
                    _ => damaged = true,
                },
            }
        }
        (tools.into_iter().chain(exit).chain(end).collect(), damaged)
    }
}

/// Arguments are JSON in a text; some servers send the JSON itself.
fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The arguments of a whole call; an empty text is an empty object, and JSON wrapped in a JSON text is
/// unwrapped.
fn parsed(text: &str) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(Value::Object(Map::new()));
    }
    match serde_json::from_str(text).ok()? {
        Value::String(inner) => serde_json::from_str(&inner).ok(),
        Value::Null => Some(Value::Object(Map::new())),
        value => Some(value),
    }
}

/// A disposition as the service writes them: lower-case words joined by `_`.
pub(super) fn outcome(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim().to_lowercase();
    let words: Vec<&str> =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let joined: String = words.join("_").chars().take(LONGEST_OUTCOME).collect();
    (!joined.is_empty() && joined != "null" && joined != "none").then_some(joined)
}

impl Talking for Turn {
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>> {
        Box::pin(async move {
            if self.ready.is_empty()
                && let Err(error) = self.advance().await
            {
                // Content before the failure is spoken before it.
                self.body = None;
                self.failure = Some(error);
            }
            match self.ready.pop_front() {
                Some(said) => Some(Ok(said)),
                None => self.failure.take().map(Err),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::ports::TalkOrder;
    use serde_json::json;

    use super::*;
    use crate::http::Net;

    fn turn() -> Turn {
        let peer =
            Peer::new(&Net::new(vec![]).unwrap(), "m", "http://127.0.0.1:9", Duration::ZERO, &[]).unwrap();
        let order = TalkOrder {
            workspace: None,
            prompt: String::new(),
            history: vec![],
            exits: vec![],
            tools: vec![],
            knowledge: vec![],
            opening: true,
            language: "en".into(),
            spoken: false,
        };
        Turn::without_body(peer, Names::of(&order), false)
    }

    fn event(delta: &Value) -> Vec<u8> {
        format!("data: {}\n\n", json!({"choices": [{"delta": delta}]})).into_bytes()
    }

    #[test]
    fn a_turn_in_one_large_piece_is_cut_off_like_one_in_many() {
        for piece in [1, 2000, 200_000] {
            let mut turn = turn();
            let long = "न".repeat(200_000 / 3);
            let letters: Vec<char> = long.chars().collect();
            for part in letters.chunks(piece) {
                turn.take(&event(&json!({"content": part.iter().collect::<String>()}))).unwrap();
            }
            turn.end().unwrap();
            let mut said = 0;
            while let Some(Said::Text(text)) = turn.ready() {
                said += text.len();
            }
            assert!((LONGEST_TURN - 3..=LONGEST_TURN).contains(&said), "pieces of {piece}: {said} bytes");
        }
    }

    #[test]
    fn what_no_store_keeps_in_text_is_left_out() {
        let mut turn = turn();
        turn.take(&event(&json!({"content": "\u{0}"}))).unwrap();
        turn.take(&event(&json!({"content": "Hel\u{0}lo"}))).unwrap();
        let end = json!({"name": "end_call", "arguments": "{\"outcome\": \"pa\\u0000id\"}"});
        turn.take(&event(&json!({"tool_calls": [{"index": 0, "id": "c", "function": end}]}))).unwrap();
        turn.end().unwrap();
        let said: Vec<Said> = std::iter::from_fn(|| turn.ready()).collect();
        assert_eq!(said, [Said::Text("Hello".into()), Said::End(Some("paid".into()))]);
    }

    #[test]
    fn a_call_with_endless_arguments_is_not_understood() {
        let mut turn = turn();
        let arguments = |text: &str| json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "end_call", "arguments": text}}]});
        turn.take(&event(&arguments("{\"outcome\": \""))).unwrap();
        for _ in 0..80 {
            turn.take(&event(&arguments(&"x".repeat(1000)))).unwrap();
        }
        assert!(turn.reading.calls[0].arguments.len() <= LONGEST_TURN);
        turn.take(&event(&arguments("\"}"))).unwrap();
        assert!(turn.end().is_err());
    }
}

//! `/v1/stream`.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use domain::masking::{self, json::Sound};

use crate::app::access::Caller;
use crate::app::member_streams::{self, Beginning, Limits, MemberStream, Message, Requested};
use crate::app::{App, Failure};
use crate::http::console::Cookie;
use crate::http::handler::{Outcome, Reply, Request};
use crate::http::sse;
use crate::http::stream::pieces;

/// Tells proxies that buffer answers to pass this one on as it comes.
const UNBUFFERED: (&str, &str) = ("x-accel-buffering", "no");

pub async fn stream(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let member = caller.member().ok_or_else(|| Failure::internal("a row of members was called by a key"))?;
    let token = Cookie::Session.read(&app.config, &request.headers).unwrap_or_default();
    let last = request.headers.get("last-event-id");
    // One that cannot be read is not known, either.
    let last = last.map(|id| id.to_str().unwrap_or_default().to_owned());
    let beginning = Beginning {
        tenant: caller.tenant(),
        mode: caller.mode(),
        member,
        session: request.signed_in()?.session.id.to_string(),
        requested: Requested::read(request.query_text("topics"))?,
        last,
        still_allowed: {
            let (app, tenant) = (app.clone(), caller.tenant());
            Box::new(move || {
                let (app, token) = (app.clone(), token.clone());
                Box::pin(async move { app.still_member(&token, tenant).await })
            })
        },
    };
    let stream = member_streams::open(&app, Limits::default(), beginning).await?;
    let headers = vec![(UNBUFFERED.0, UNBUFFERED.1.to_owned())];
    let body = pieces(stream, |mut stream: MemberStream| async move {
        let (message, id) = stream.next().await?;
        Some((text(&message, id.as_deref()), stream))
    });
    Ok(Reply::of(200, "text/event-stream; charset=utf-8", headers, body))
}

fn text(message: &Message, id: Option<&str>) -> Bytes {
    match message {
        Message::Ready { resumed } => sse::event("ready", id, &json!({"resumed": resumed})),
        Message::Invalidate { topic, object, version } => {
            sse::event("invalidate", id, &json!({"topic": topic, "id": object, "version": version.0}))
        }
        Message::Delta(data) => {
            let mut data = data.clone();
            mask(&mut data);
            sse::event("delta", id, &data)
        }
        Message::Reset => sse::event("reset", id, &json!({})),
        Message::Heartbeat => sse::comment(id),
    }
}

/// Masks the numbers of people in what was said or captured.
fn mask(data: &mut Value) {
    for field in ["text", "value"] {
        let Some(value) = data.get_mut(field) else { continue };
        if let Some(masked) = masking::json::mask(&value.to_string(), Sound::Shown, &mut |_| false) {
            *value = serde_json::from_str(&masked).unwrap_or(Value::Null);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_and_values_are_masked() {
        let words =
            json!({"kind": "words", "turn": 3, "seq": 1_234_567_890, "text": "call 98765 43210 please"});
        let sent = String::from_utf8(text(&Message::Delta(words), None).to_vec()).unwrap();
        assert!(sent.contains("98••• ••210") && !sent.contains("43210"), "{sent}");
        assert!(sent.contains("1234567890"), "only words are masked: {sent}");
        let value = json!({"kind": "captured", "field": "phone", "value": {"of": ["+919876543210"]}});
        let sent = String::from_utf8(text(&Message::Delta(value), Some("r1.2.3.x")).to_vec()).unwrap();
        assert!(!sent.contains("43210") && sent.starts_with("id: r1.2.3.x\nevent: delta\n"), "{sent}");
    }
}

//! `/v1/chat/sessions`.

use std::sync::Arc;

use ::chats::{Accepted, Feed, Piece, Watch};
use api::chats::{NewChatMessage, NewChatSession};
use api::error_codes;
use bytes::Bytes;
use domain::tenant::Tenant;
use http::HeaderMap;
use serde_json::json;

use crate::app::access::{Caller, feature_on};
use crate::app::idempotency::Answer;
use crate::app::{App, Failure};
use crate::http::handler::{Body, Outcome, Reply, Request};
use crate::http::sse;
use crate::http::stream::pieces;

pub(super) fn need_chat(caller: &Caller) -> Result<Tenant, Failure> {
    if feature_on(&caller.0.workspace, "chat") {
        return Ok(caller.tenant());
    }
    Err(Failure::new(
        error_codes::FEATURE_DISABLED,
        "chats are off for this workspace; ask the operator to switch them on",
    ))
}

pub async fn open(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let tenant = need_chat(&caller)?;
    let body: NewChatSession = request.body()?;
    Reply::data(201, &::chats::open(&app, tenant, &body.agent_id).await?)
}

pub async fn send(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let tenant = need_chat(&caller)?;
    let id = request.id_in_path("id", "chat session")?;
    let once = request.take_once();
    let body: NewChatMessage = request.body()?;
    if !wants_events(&request.headers) {
        return match ::chats::send(&app, tenant, id, once, body.text, Feed::silent()).await? {
            Accepted::Given(answer) => Ok(Reply::answer(answer)),
            Accepted::Writing(writing) => Reply::data(200, &writing.reply().await?),
        };
    }
    let (feed, watch) = Feed::watched();
    let accepted = ::chats::send(&app, tenant, id, once, body.text, feed).await?;
    // Said, because some clients take a text without it for Latin-1.
    let content_type = "text/event-stream; charset=utf-8";
    Ok(Reply::of(200, content_type, Vec::new(), events(Stage::Writing(watch, accepted), request.id)))
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "chat session")?;
    Reply::data(200, &::chats::session(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn end(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "chat session")?;
    Reply::data(200, &::chats::end(&app, caller.tenant(), id).await?)
}

/// Whether the client asks for server-sent events.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(http::header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepts.flat_map(|value| value.split(','));
    kinds.any(|kind| {
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
    })
}

/// How far a stream has got.
enum Stage {
    Writing(Watch, Accepted),
    Over,
}

/// The reply as it is written, then the same data as the answer without a stream.
fn events(stage: Stage, request: String) -> Body {
    pieces((stage, request), |(stage, request)| async move {
        let Stage::Writing(mut watch, accepted) = stage else { return None };
        match watch.next().await {
            Piece::Text(text) => {
                let event = sse::event("text", None, &json!({"text": text}));
                Some((event, (Stage::Writing(watch, accepted), request)))
            }
            Piece::End => Some((last(accepted, &request).await, (Stage::Over, request))),
        }
    })
}

async fn last(accepted: Accepted, request: &str) -> Bytes {
    let outcome = match accepted {
        Accepted::Given(Answer { body, .. }) => {
            serde_json::from_str(&body).map_err(|why| Failure::internal(format!("a kept answer: {why}")))
        }
        Accepted::Writing(writing) => writing.reply().await.map(|reply| json!({"data": reply})),
    };
    match outcome {
        Ok(answer) => sse::event("done", None, &answer),
        Err(failure) => {
            if failure.error.status >= 500 {
                failure.log_about(request, "a reply that was streamed failed");
            }
            sse::event("error", None, &failure.body())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_events() {
        let accepts = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("accept", value.parse().unwrap());
            wants_events(&headers)
        };
        assert!(accepts("text/event-stream") && accepts("application/json, Text/Event-Stream;q=0.9"));
        assert!(!accepts("application/json") && !accepts("*/*") && !wants_events(&HeaderMap::new()));
    }
}
